package watch

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Kind is how the lines of a file are records.
type Kind uint8

const (
	// Lines: each line is a record, and nothing is known of what is in it.
	Lines Kind = iota
	// CSV: each line is a record of fields, quoted as in RFC 4180. A field that goes over
	// more than one line is not read.
	CSV
	// JSON: each line is a record, which is an object.
	JSON
)

// String returns the word of the command line.
func (k Kind) String() string {
	switch k {
	case Lines:
		return "lines"
	case CSV:
		return "csv"
	case JSON:
		return "json"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Format says how to read a record. The zero value is [Lines].
//
// A field of CSV is a number from 1 on, or the name that it has in the first line of its
// file. A field of JSON is a name, names with dots between them for objects in objects, or,
// beginning with "/", a JSON Pointer (RFC 6901).
type Format struct {
	Kind Kind

	// Time is the field with the record's own time: milliseconds since 1970, or a date and
	// time as in RFC 3339. Empty if records have none; then no latency is measured.
	Time string

	// ID is the field that no two records have in common. Empty not to look for records
	// that are there twice. To look takes about 40 bytes of memory for each record.
	ID string

	// Separator stands between the fields of CSV. 0 is a comma.
	Separator byte
}

func (f *Format) validate() error {
	switch {
	case f.Kind > JSON:
		return fmt.Errorf("%w: Format.Kind is %d", ErrOptions, f.Kind)
	case f.Kind == Lines && (f.Time != "" || f.ID != ""):
		return fmt.Errorf("%w: lines have no fields; for a time or an id use csv or json", ErrOptions)
	case f.Separator == '"' || f.Separator == '\n' || f.Separator == '\r' || f.Separator >= 0x80:
		return fmt.Errorf("%w: %q cannot separate the fields of CSV", ErrOptions, f.Separator)
	}
	if f.Separator == 0 {
		f.Separator = ','
	}
	if f.Kind != CSV {
		return nil
	}
	_, byNumber, err := column(f.Time)
	_, idByNumber, idErr := column(f.ID)
	if err = errors.Join(err, idErr); err != nil {
		return err
	}
	// With names the first line of each file is a header, with numbers it is a record.
	if f.Time != "" && f.ID != "" && byNumber != idByNumber {
		return fmt.Errorf("%w: name both columns, or number both", ErrOptions)
	}
	return nil
}

// column reads a number of a column. It is 0 if the text is no number.
func column(text string) (n int, byNumber bool, err error) {
	n, err = strconv.Atoi(text)
	if err != nil {
		return 0, false, nil
	}
	if n < 1 {
		return 0, false, fmt.Errorf("%w: column %s: the first one is 1", ErrOptions, text)
	}
	return n, true, nil
}

// record is what is known of one.
type record struct {
	time    int64 // milliseconds since 1970
	hasTime bool
	id      []byte // nil if there is none; valid until the next line
}

// errHeader is no error: the line is a header.
var errHeader = errors.New("header")

// parser reads the lines of one file.
type parser interface {
	// parse reads a line without its end. The error says why it is none of a record.
	parse(line []byte) (record, error)

	// whole tells whether a line that has no end is a record all the same, because no
	// beginning of one can look so.
	whole() bool
}

// parser returns one for a file. Fields of CSV may stand elsewhere in each.
func (f Format) parser() parser {
	switch f.Kind {
	case CSV:
		return newCSVParser(f)
	case JSON:
		return &jsonParser{time: jsonPath(f.Time), id: jsonPath(f.ID)}
	}
	return linesParser{}
}

type linesParser struct{}

func (linesParser) parse([]byte) (record, error) { return record{}, nil }
func (linesParser) whole() bool                  { return false }

// csvParser finds two fields in each line.
type csvParser struct {
	separator byte
	header    bool     // the next line is one
	names     []string // of time and id, for the header
	columns   [2]int   // of time and id, from 1; 0 is none
	broken    error    // why this file cannot be read
}

func newCSVParser(f Format) *csvParser {
	p := &csvParser{separator: f.Separator, names: []string{f.Time, f.ID}}
	for i, name := range p.names {
		n, byNumber, _ := column(name) // validate has looked at the error
		p.columns[i] = n
		p.header = p.header || name != "" && !byNumber
	}
	return p
}

func (p *csvParser) whole() bool { return false }

func (p *csvParser) parse(line []byte) (record, error) {
	if p.header {
		p.header = false
		p.broken = p.readHeader(line)
		if p.broken == nil {
			return record{}, errHeader
		}
	}
	if p.broken != nil {
		return record{}, p.broken
	}
	var found [2][]byte
	if err := p.fields(line, &found); err != nil {
		return record{}, err
	}
	r := record{id: found[1]}
	if p.columns[0] != 0 {
		var err error
		if r.time, err = parseTime(string(bytes.TrimSpace(found[0]))); err != nil {
			return record{}, err
		}
		r.hasTime = true
	}
	return r, nil
}

func (p *csvParser) readHeader(line []byte) error {
	line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	fields, err := p.quoted(line)
	if err != nil {
		return fmt.Errorf("the header cannot be read: %w", err)
	}
	for i, name := range p.names {
		if name == "" {
			continue
		}
		for n, field := range fields {
			if strings.TrimSpace(field) == name {
				p.columns[i] = n + 1
				break
			}
		}
		if p.columns[i] == 0 {
			return fmt.Errorf("the first line of the file names no column %q", name)
		}
	}
	return nil
}

// fields finds time and id. Most lines have no quotes, and are not taken apart further than
// they need to be.
func (p *csvParser) fields(line []byte, found *[2][]byte) error {
	if bytes.IndexByte(line, '"') >= 0 {
		all, err := p.quoted(line)
		if err != nil {
			return err
		}
		for i, n := range p.columns {
			switch {
			case n > len(all):
				return missing(n, len(all))
			case n > 0:
				found[i] = []byte(all[n-1])
			}
		}
		return nil
	}
	most := max(p.columns[0], p.columns[1])
	rest, n := line, 0
	for n < most {
		n++
		field, after, more := bytes.Cut(rest, []byte{p.separator})
		for i, c := range p.columns {
			if c == n {
				found[i] = field
			}
		}
		if !more && n < most {
			return missing(most, n)
		}
		rest = after
	}
	return nil
}

func missing(want, have int) error {
	return fmt.Errorf("there is no column %d, the line has %d", want, have)
}

// quoted takes a line apart with all that RFC 4180 has.
func (p *csvParser) quoted(line []byte) ([]string, error) {
	r := csv.NewReader(bytes.NewReader(line))
	r.Comma = rune(p.separator)
	r.FieldsPerRecord = -1
	fields, err := r.Read()
	var syntax *csv.ParseError
	if errors.As(err, &syntax) {
		return nil, syntax.Err // its line number is that within the line
	}
	return fields, err
}

// jsonParser finds two fields in each object.
type jsonParser struct{ time, id []string }

func (*jsonParser) whole() bool { return true }

func (p *jsonParser) parse(line []byte) (r record, err error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(line, &object); err != nil || object == nil {
		return r, errors.New("not an object of JSON")
	}
	if p.time != nil {
		value, err := lookUp(object, p.time)
		if err != nil {
			return r, err
		}
		if r.time, err = jsonTime(value); err != nil {
			return r, err
		}
		r.hasTime = true
	}
	if p.id != nil {
		if r.id, err = lookUp(object, p.id); err != nil {
			return r, err
		}
	}
	return r, nil
}

// jsonPath takes the name of a field apart.
func jsonPath(text string) []string {
	switch {
	case text == "":
		return nil
	case text[0] != '/':
		return strings.Split(text, ".")
	}
	path := strings.Split(text[1:], "/")
	for i, name := range path {
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	}
	return path
}

func lookUp(object map[string]json.RawMessage, path []string) (json.RawMessage, error) {
	for i, name := range path {
		value, found := object[name]
		switch {
		case !found:
			return nil, fmt.Errorf("there is no field %q", strings.Join(path, "."))
		case i == len(path)-1:
			return value, nil
		}
		object = nil
		if json.Unmarshal(value, &object) != nil || object == nil {
			return nil, fmt.Errorf("field %q is not an object", name)
		}
	}
	return nil, errors.New("no field is asked for") // not reached: a path has a name
}

func jsonTime(value json.RawMessage) (int64, error) {
	if value[0] != '"' {
		return parseTime(string(value))
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return 0, err
	}
	return parseTime(text)
}

// The years 1 to 9999, which are all that RFC 3339 can say. A number beyond is one of
// microseconds or nanoseconds, and not a time of the far future.
var (
	firstTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	lastTime  = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() - 1
)

// parseTime reads a record's time.
func parseTime(text string) (int64, error) {
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		// Milliseconds until the year 9999 are exact in a float64.
		if math.IsNaN(number) || number < float64(firstTime) || number > float64(lastTime) {
			return 0, fmt.Errorf("%s is beyond the year 9999 as milliseconds since 1970", shortened(text))
		}
		return int64(math.Floor(number)), nil
	}
	if len(text) > 10 && text[10] == ' ' { // as RFC 3339 allows, section 5.6
		text = text[:10] + "T" + text[11:]
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0, fmt.Errorf("%q is neither milliseconds since 1970 nor a time as in RFC 3339", shortened(text))
	}
	return t.UnixMilli(), nil
}

// shortened is the beginning of a text, for a message.
func shortened(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
