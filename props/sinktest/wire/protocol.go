package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// request is what the process is asked.
type request struct {
	Do         string  `json:"do"`
	Dir        string  `json:"dir,omitempty"`
	Now        *int64  `json:"now,omitempty"`
	Seed       *int64  `json:"seed,omitempty"`
	Checkpoint *int64  `json:"checkpoint,omitempty"`
	State      []byte  `json:"state,omitzero"`
	Record     *string `json:"record,omitempty"`
}

// answer is what it says. A line that has "file" is an operation, and the answer is to come.
type answer struct {
	Next  *int64  `json:"next,omitempty"`
	State []byte  `json:"state,omitzero"`
	Error *string `json:"error,omitempty"`
}

// Operation is an operation on files that has succeeded. Those on an open file carry the
// number that the process knows it by, which may be used again when it is closed.
type Operation struct {
	// Do is one of
	//
	//	mkdir      path
	//	open       path fd flags    for writing
	//	writeat    fd at data       at an offset, wherever the file stands
	//	write      fd data          where the file stands, or at its end if it was opened with append
	//	seek       fd at            from the beginning of the file
	//	truncate   fd or path, at
	//	sync       fd or path       of a file or directory: what a power cut cannot take any more
	//	close      fd
	//	rename     path to
	//	remove     path             a file or an empty directory
	Do    string   `json:"file"`
	Path  string   `json:"path,omitempty"` // absolute; with fd for the human reader only
	To    string   `json:"to,omitempty"`
	FD    int      `json:"fd,omitempty"` // 0 is none
	Flags []string `json:"flags,omitempty"`
	At    int64    `json:"at,omitempty"`
	Data  Bytes    `json:"data,omitempty"`
}

// Flags of open.
const (
	Create   = "create"   // if it is not there
	Excl     = "excl"     // and fail if it is
	Append   = "append"   // write at the end
	Truncate = "truncate" // remove what it holds
)

// Bytes are what is written: in JSON a string if they are text in UTF-8, and otherwise
// {"base64":TEXT}.
type Bytes []byte

type base64 struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (b Bytes) MarshalJSON() ([]byte, error) {
	if utf8.Valid(b) {
		return json.Marshal(string(b))
	}
	return json.Marshal(base64{b})
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *Bytes) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		var s string
		err := json.Unmarshal(text, &s)
		*b = Bytes(s)
		return err
	}
	var coded base64
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	err := strict.Decode(&coded)
	if err == nil && coded.Base64 == nil {
		err = fmt.Errorf(`%s is neither a string nor {"base64":TEXT}`, shown(text))
	}
	*b = coded.Base64
	return err
}

// operationKeys are what a line about files may have, by its operation. Those that are not optional must be there.
var operationKeys = map[string]struct{ must, may []string }{
	"mkdir":    {must: []string{"path"}},
	"open":     {must: []string{"path", "fd"}, may: []string{"flags"}},
	"write":    {must: []string{"fd"}, may: []string{"path", "data"}},
	"writeat":  {must: []string{"fd"}, may: []string{"path", "data", "at"}},
	"seek":     {must: []string{"fd"}, may: []string{"path", "at"}},
	"truncate": {may: []string{"fd", "path", "at"}},
	"sync":     {may: []string{"fd", "path"}},
	"close":    {must: []string{"fd"}, may: []string{"path"}},
	"rename":   {must: []string{"path", "to"}},
	"remove":   {must: []string{"path"}},
}

// answerKeys are what an answer has, by its request.
var answerKeys = map[string]struct{ must, may []string }{
	"prepare": {must: []string{"state"}},
	"tick":    {may: []string{"next"}},
}

// parse reads a line of the process: an operation on files, or the answer to a request. What is not said in the
// package's documentation is an error: a wrong letter in "error" must not make a success of a failure.
func parse(q request, line []byte) (*Operation, answer, error) {
	var a answer
	refuse := func(format string, args ...any) (*Operation, answer, error) {
		return nil, answer{}, fmt.Errorf("%s is no answer: %w", shown(line), fmt.Errorf(format, args...))
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(line, &keys); err != nil {
		return refuse("%w", err)
	}
	if keys == nil {
		return refuse("want a JSON object")
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if string(keys[key]) == "null" {
			return refuse("%q is null: leave it out", key)
		}
	}
	if _, ok := keys["file"]; ok {
		o, err := parseOperation(line, keys)
		if err != nil {
			return refuse("%w", err)
		}
		return o, a, nil
	}
	allowed := answerKeys[q.Do]
	if _, ok := keys["error"]; ok {
		allowed.must, allowed.may = []string{"error"}, nil
	}
	if err := checkKeys(keys, allowed.must, allowed.may); err != nil {
		return refuse("%w, and it is to %q", err, q.Do)
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return refuse("%w", err)
	}
	if a.Next != nil && *a.Next < 0 && q.Now != nil && *q.Now >= 0 { // a clock may stand before 1970
		return refuse(`"next" is before 1970, and now is not: leave it out if no timer is set`)
	}
	return nil, a, nil
}

func parseOperation(line []byte, keys map[string]json.RawMessage) (*Operation, error) {
	var o Operation
	if err := json.Unmarshal(line, &o); err != nil {
		return nil, err
	}
	allowed, known := operationKeys[o.Do]
	if !known {
		return nil, fmt.Errorf("there is no operation on files %q: they are %s", o.Do, strings.Join(slices.Sorted(maps.Keys(operationKeys)), ", "))
	}
	if err := checkKeys(keys, append([]string{"file"}, allowed.must...), allowed.may); err != nil {
		return nil, err
	}
	for _, path := range []struct{ key, is string }{{"path", o.Path}, {"to", o.To}} {
		if _, ok := keys[path.key]; ok && !filepath.IsAbs(path.is) {
			return nil, fmt.Errorf("%q is not absolute", path.key)
		}
	}
	if _, ok := keys["fd"]; ok && o.FD < 1 {
		return nil, errors.New(`"fd" is less than 1`)
	}
	if o.At < 0 {
		return nil, errors.New(`"at" is less than 0`)
	}
	if o.FD == 0 && o.Path == "" {
		return nil, errors.New(`it has neither "path" nor "fd"`)
	}
	return &o, nil
}

// checkKeys tells which key is missing, or not known.
func checkKeys(keys map[string]json.RawMessage, must, may []string) error {
	for _, key := range must {
		if _, ok := keys[key]; !ok {
			return fmt.Errorf("it has no %q", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(must, key) && !slices.Contains(may, key) {
			return fmt.Errorf("%q has no place in it", key)
		}
	}
	return nil
}

// shown is a line of the process in the text of an error.
func shown(line []byte) string {
	const most = 200
	line = bytes.TrimSpace(line)
	if len(line) <= most {
		return fmt.Sprintf("%q", line)
	}
	return fmt.Sprintf("%q…", line[:most])
}
