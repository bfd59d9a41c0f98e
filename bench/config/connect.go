package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"sinklab/sinkcore/peers"
)

// readConnect reads a connector of Kafka Connect: Java properties, or the JSON that its REST
// interface takes and answers, {"name": …, "config": {…}, …} or the configuration alone. Properties of the
// worker may stand beside those of the connector if the text tells that it has them: by a comment
// that names the worker before them, or by a property that every worker must have.
func readConnect(text string) (File, error) {
	var s Sink
	var err error
	worker := 0 // the line from which on properties are those of the worker; 0 if none are
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		s.Options, err = jsonOptions(text)
	} else {
		s.Options, err = properties(text)
		worker = workerLine(text)
	}
	if err != nil {
		return File{}, err
	}
	_, isWorker := s.Option("bootstrap.servers")
	s.Options = slices.DeleteFunc(s.Options, func(o Option) bool {
		misplaced := slices.Contains(workerOptions, o.Name) && !isWorker && (worker == 0 || o.Line < worker)
		if misplaced {
			s.Misplaced = append(s.Misplaced, Refusal{Line: o.Line, Option: o.Name, Value: o.Value,
				Problem: "is an option of the worker, and has no effect among those of a connector; write it into the properties of the worker, such as connect-distributed.properties", Source: "Kafka WorkerConfig, DistributedConfig, StandaloneConfig"})
		}
		return misplaced
	})
	s.Line = 1
	if name, ok := s.Option("name"); ok {
		s.Name = name.Value
	}
	class, ok := s.Option("connector.class")
	if !ok {
		return File{}, &ReadError{1, "connector.class is missing: it says which connector this is, such as io.confluent.connect.s3.S3SinkConnector"}
	}
	s.Line = class.Line
	peer := ""
	for _, c := range connectorClasses {
		if c.class == class.Value || c.class[strings.LastIndexByte(c.class, '.')+1:] == class.Value {
			peer = c.peer
			break
		}
	}
	if peer == "" {
		var classes []string
		for _, c := range connectorClasses {
			classes = append(classes, c.class)
		}
		problem := fmt.Sprintf("connector.class=%s is none that is known: want %s", class.Value, strings.Join(classes, ", "))
		if near := peers.Nearest(class.Value, classes); near != "" {
			problem = fmt.Sprintf("connector.class=%s is none that is known: did you mean %s?", class.Value, near)
		}
		return File{}, &ReadError{class.Line, problem}
	}
	s.asConnector(peer)
	return File{Sinks: []Sink{s}}, nil
}

// workerOptions are those of the worker that decide when it looks at files, or that say where it
// keeps its offsets.
var workerOptions = []string{
	"offset.flush.interval.ms", "offset.flush.timeout.ms", "offset.storage.topic", "offset.storage.file.filename", "offset.storage.replication.factor",
	"config.storage.topic", "status.storage.topic", "group.id", "rebalance.timeout.ms", "scheduled.rebalance.max.delay.ms", "plugin.path",
}

// workerLine is the line of the first comment in properties that names the worker, 0 if none does.
func workerLine(text string) int {
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line != "" && (line[0] == '#' || line[0] == '!') && strings.Contains(strings.ToLower(line), "worker") {
			return i + 1
		}
	}
	return 0
}

// connectorClasses are the connectors that are known. A class may be named without its
// package, and then the first one is meant.
var connectorClasses = []struct{ class, peer string }{
	{"io.confluent.connect.s3.S3SinkConnector", "kafka-connect-s3"},
	{"io.confluent.connect.hdfs.HdfsSinkConnector", "kafka-connect-hdfs"},
	{"io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector", "aiven-s3"},
	{"io.aiven.kafka.connect.s3.S3SinkConnector", "aiven-s3"},
}

// asConnector makes the peer. Kafka Connect takes any option and tells nobody that it does not
// know one, so one that looks like an option that decides about files is refused here.
func (s *Sink) asConnector(peer string) {
	known := optionNames(peer)
	var options []Option
	for _, o := range s.Options {
		if !slices.Contains(known, o.Name) {
			if near := misspelt(o.Name, known); near != "" {
				s.Refusals = append(s.Refusals, Refusal{Line: o.Line, Option: o.Name, Value: o.Value,
					Problem: "no such option, and Kafka Connect says nothing about it; did you mean " + near + "?", Source: "Kafka AbstractConfig.logUnused"})
			}
			continue
		}
		if o.Name == "partitioner.class" || o.Name == "timestamp.extractor" {
			o.Value = o.Value[strings.LastIndexByte(o.Value, '.')+1:]
		}
		if o.Name == "timestamp.extractor" {
			// TimeBasedPartitioner takes the name of the extractor in any case, and that of its class.
			for _, name := range []string{"Wallclock", "Record", "RecordField"} {
				if strings.EqualFold(strings.TrimSuffix(o.Value, "TimestampExtractor"), name) {
					o.Value = name
				}
			}
		}
		options = append(options, o)
	}
	s.asPeer(peer, options)
}

// otherConnectOptions are options of connectors that look like some that are known.
var otherConnectOptions = []string{"partition.field.name", "timestamp.field", "flush.synchronously", "max.write.duration.ms", "offset.flush.timeout.ms", "rotate.file.on.partition.change"}

// misspelt is the option that was meant by one that is unknown, or "". Most unknown options are
// of converters, clients and file systems; so few changes must do.
func misspelt(name string, known []string) string {
	if slices.Contains(otherConnectOptions, name) {
		return ""
	}
	normal := strings.NewReplacer("_", ".", "-", ".").Replace(strings.ToLower(name))
	for _, k := range known {
		if k == normal || strings.ReplaceAll(k, ".", "") == strings.ReplaceAll(normal, ".", "") {
			return k
		}
	}
	if near := peers.NearestWithin(normal, known, 3); len(near) > 7 {
		return near
	}
	return ""
}

// properties reads Java properties (java.util.Properties), without their escapes for letters.
func properties(text string) (options []Option, err error) {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line, number := strings.TrimLeft(lines[i], " \t\f"), i+1
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		for strings.HasSuffix(line, `\`) && !strings.HasSuffix(line, `\\`) && i+1 < len(lines) {
			i++
			line = strings.TrimSuffix(line, `\`) + strings.TrimLeft(lines[i], " \t\f")
		}
		at := strings.IndexAny(line, "=: \t")
		if at <= 0 {
			return nil, &ReadError{number, fmt.Sprintf("%q: want key=value", line)}
		}
		value := strings.TrimLeft(line[at:], " \t")
		if value != "" && (value[0] == '=' || value[0] == ':') {
			value = value[1:]
		}
		options = append(options, Option{line[:at], strings.TrimSpace(value), number})
	}
	return options, nil
}

// jsonOptions reads an object of strings, numbers and truth values. One with the key config is
// what the REST interface takes or answers: then the options are in there, and of what stands
// beside it only the name counts.
func jsonOptions(text string) ([]Option, error) {
	r := jsonReader{text: text, decoder: json.NewDecoder(strings.NewReader(text))}
	r.decoder.UseNumber()
	if _, err := r.token(); err != nil { // the bracket
		return nil, err
	}
	var tasks error
	options, beside, hasConfig := []Option(nil), []Option(nil), false
	err := r.object(func(key string, delim json.Delim) error {
		switch {
		case key == "config" && delim == '{':
			hasConfig = true
			return r.object(func(key string, delim json.Delim) error {
				return r.refuse(key, delim)
			}, &options)
		case key == "tasks" && delim == '[':
			tasks = r.refuse(key, delim)
			return r.skip()
		}
		return r.refuse(key, delim)
	}, &beside)
	if err != nil {
		return nil, err
	}
	if left := strings.TrimLeft(text[r.decoder.InputOffset():], " \t\r\n"); left != "" {
		return nil, &ReadError{1 + strings.Count(text[:len(text)-len(left)], "\n"), "there is more behind the JSON object: want one object, of one connector"}
	}
	if !hasConfig {
		return beside, tasks
	}
	for _, o := range beside {
		if o.Name == "name" {
			options = append([]Option{o}, options...)
		}
	}
	return options, nil
}

// jsonReader reads JSON with the lines that it has.
type jsonReader struct {
	text    string
	decoder *json.Decoder
}

func (r jsonReader) line() int {
	return 1 + strings.Count(r.text[:min(int(r.decoder.InputOffset()), len(r.text))], "\n")
}

// token is the next one; its error is a *ReadError.
func (r jsonReader) token() (json.Token, error) {
	token, err := r.decoder.Token()
	if err == nil {
		return token, nil
	}
	at := r.line()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = 1 + strings.Count(r.text[:min(int(syntax.Offset), len(r.text))], "\n")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		at, err = 1+strings.Count(r.text, "\n"), errors.New("the JSON object is not closed")
	}
	return nil, &ReadError{at, err.Error()}
}

// refuse is the error of an object or a list that stands where a value should.
func (r jsonReader) refuse(key string, delim json.Delim) error {
	what := "object"
	if delim == '[' {
		what = "list"
	}
	return &ReadError{r.line(), fmt.Sprintf("%q: want a value and no %s", key, what)}
}

// object adds the values of an object, behind its bracket, to options. What is no value is read
// by nested.
func (r jsonReader) object(nested func(key string, delim json.Delim) error, options *[]Option) error {
	for {
		token, err := r.token()
		if err != nil {
			return err
		}
		key, isKey := token.(string)
		if !isKey {
			return nil // the closing bracket
		}
		if token, err = r.token(); err != nil {
			return err
		}
		switch value := token.(type) {
		case json.Delim:
			if err := nested(key, value); err != nil {
				return err
			}
		case nil:
		default:
			*options = append(*options, Option{key, fmt.Sprint(value), r.line()})
		}
	}
}

// skip passes over a list, behind its bracket.
func (r jsonReader) skip() error {
	for depth := 1; depth > 0; {
		token, err := r.token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
	}
	return nil
}
