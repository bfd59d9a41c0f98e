package config

import (
	"slices"
	"strings"

	"sinklab/sinkcore/peers"
)

// readSQL finds the sinks in a script of Flink SQL: tables with the connectors filesystem and
// iceberg, and kafka if it is to be exactly once; and the checkpoint interval, if it is set.
// Other statements are passed over.
func readSQL(text string) (File, error) {
	tokens, err := sqlTokens(text)
	if err != nil {
		return File{}, err
	}
	var f File
	var tables []Sink
	var names []string // of each table, with its catalog and database
	in := []string{"default_catalog", "default_database"}
	batch := false
	for _, statement := range statements(tokens) {
		switch {
		case statement.begins("set"):
			o, ok := statement.set()
			if ok && o.Name == "execution.runtime-mode" {
				batch = strings.EqualFold(o.Value, "batch")
			}
			if !ok || o.Name != checkpointInterval.key && o.Name != minPause.key {
				continue
			}
			d, problem := flinkDuration(o.Value)
			switch {
			case problem != "":
				return f, &ReadError{o.Line, o.Name + "=" + o.Value + ": " + problem}
			case o.Name == minPause.key:
				f.MinPause, f.MinPauseLine = d, o.Line
			default:
				f.Checkpoint, f.CheckpointLine = d, o.Line
			}
		case statement.begins("reset"):
			if len(statement) == 1 || statement[1].text == checkpointInterval.key {
				f.Checkpoint, f.CheckpointLine = 0, 0
			}
		case statement.begins("create") && statement.has("table"):
			if s, ok := statement.table("with"); ok {
				tables, names = append(tables, s), append(names, fullName(in, statement.tableName()))
			}
		case statement.begins("use"):
			in = statement.use(in)
		case statement.begins("alter") && statement.has("table"):
			s, ok := statement.table("set")
			name := fullName(in, statement.tableName())
			for i := len(tables) - 1; ok && i >= 0; i-- {
				if names[i] == name {
					tables[i].Options = append(tables[i].Options, s.Options...)
					break
				}
			}
		}
	}
	for _, s := range tables {
		if s.asTable() {
			f.Sinks = append(f.Sinks, s)
		}
	}
	f.withoutCheckpoints(tokens, batch)
	if len(f.Sinks) == 0 {
		return f, &ReadError{1, "there is no sink in it: want CREATE TABLE … WITH ('connector' = 'filesystem', …)"}
	}
	return f, nil
}

// sqlToken is a word, a sign, or a string or a name without its quotes.
type sqlToken struct {
	text   string
	quoted bool // a string
	line   int
	name   bool // in backquotes, and so no word of the language
}

// sqlTokens cuts a script into tokens; comments are left out.
func sqlTokens(text string) ([]sqlToken, error) {
	var tokens []sqlToken
	line := 1
	for i := 0; i < len(text); {
		c := text[i]
		end := i + 1
		switch {
		case strings.HasPrefix(text[i:], "--"):
			end = until(text, i, "\n")
		case strings.HasPrefix(text[i:], "/*"):
			end = min(until(text, i+2, "*/")+2, len(text))
		case c == '\'' || c == '`':
			for end < len(text) && (text[end] != c || end+1 < len(text) && text[end+1] == c) {
				if text[end] == c {
					end++ // a doubled quote stands for itself
				}
				end++
			}
			if end >= len(text) {
				return nil, &ReadError{line, "a quotation mark is not closed"}
			}
			quote := string(c)
			tokens = append(tokens, sqlToken{strings.ReplaceAll(text[i+1:end], quote+quote, quote), c == '\'', line, c == '`'})
			end++
		case isLetter(c) || isDigit(c):
			for end < len(text) && (isLetter(text[end]) || isDigit(text[end]) || text[end] == '.') {
				end++
			}
			tokens = append(tokens, sqlToken{text: text[i:end], line: line})
		case c == '\n' || c == ' ' || c == '\t' || c == '\r':
		default:
			tokens = append(tokens, sqlToken{text: text[i:end], line: line})
		}
		line += strings.Count(text[i:end], "\n")
		i = end
	}
	return tokens, nil
}

// sqlStatement is the tokens of a statement.
type sqlStatement []sqlToken

// statements cuts a script at its semicolons.
func statements(tokens []sqlToken) (all []sqlStatement) {
	from := 0
	for i, t := range tokens {
		if t.is(";") {
			all = append(all, tokens[from:i])
			from = i + 1
		}
	}
	return append(all, tokens[from:])
}

func (s sqlStatement) begins(word string) bool { return len(s) > 0 && s[0].is(word) }

func (s sqlStatement) has(word string) bool { return s.find(word) >= 0 }

func (s sqlStatement) find(word string) int {
	return slices.IndexFunc(s, func(t sqlToken) bool { return t.is(word) })
}

func (t sqlToken) is(word string) bool {
	return !t.quoted && !t.name && strings.EqualFold(t.text, word)
}

// set reads SET 'key' = 'value', also without quotes.
func (s sqlStatement) set() (Option, bool) {
	at := s.find("=")
	if at < 2 || at+1 >= len(s) {
		return Option{}, false
	}
	value := ""
	for _, t := range s[at+1:] {
		value = strings.TrimSpace(value + " " + t.text)
	}
	return Option{s[at-1].text, value, s[at-1].line}, true
}

// tableAt is where the name of a table begins.
func (s sqlStatement) tableAt() int {
	at := s.find("table") + 1
	if at+2 < len(s) && s[at].is("if") {
		for at < len(s) && !s[at].is("exists") {
			at++
		}
		at++
	}
	return at
}

// tableName is the parts of the name of a table.
func (s sqlStatement) tableName() []string {
	parts, _ := s.name(s.tableAt())
	return parts
}

// name reads the parts of a name from a position on, each in backquotes or not, up to where it
// ends.
func (s sqlStatement) name(at int) (parts []string, end int) {
	for more := true; more && at < len(s); {
		t := s[at]
		switch {
		case t.name:
			parts, more = append(parts, t.text), false
		case !t.quoted && (isLetter(t.text[0]) || isDigit(t.text[0])):
			var text string
			text, more = strings.CutSuffix(t.text, ".") // before a part in backquotes
			parts = append(parts, strings.Split(text, ".")...)
		default:
			return parts, at
		}
		if at++; at < len(s) && s[at].is(".") {
			at, more = at+1, true
		}
	}
	return parts, at
}

// spellName puts parts together. One with a point in it has backquotes, as it is another name
// than two parts are.
func spellName(parts []string) string {
	var spelt []string
	for _, part := range parts {
		if strings.ContainsAny(part, ".`") {
			part = "`" + strings.ReplaceAll(part, "`", "``") + "`"
		}
		spelt = append(spelt, part)
	}
	return strings.Join(spelt, ".")
}

// fullName is a name with the catalog and the database that it is in.
func fullName(in, parts []string) string {
	missing := max(0, len(in)+1-len(parts))
	return spellName(append(slices.Clone(in[:min(missing, len(in))]), parts...))
}

// use reads USE database, USE catalog.database and USE CATALOG catalog. Which database a catalog
// begins with is not in the text.
func (s sqlStatement) use(in []string) []string {
	if len(s) > 2 && s[1].is("catalog") {
		if parts, _ := s.name(2); len(parts) == 1 {
			return []string{parts[0], ""}
		}
		return in
	}
	switch parts, _ := s.name(1); len(parts) {
	case 1:
		return []string{in[0], parts[0]}
	case 2:
		return parts
	}
	return in
}

// table reads the name of a table, and the options behind WITH or SET.
func (s sqlStatement) table(word string) (Sink, bool) {
	var t Sink
	parts, at := s.name(s.tableAt())
	if len(parts) == 0 {
		return t, false
	}
	t.Name, t.Line = spellName(parts), s[0].line
	options := -1
	for i := at; i+1 < len(s); i++ {
		if s[i].is(word) && s[i+1].is("(") {
			options = i + 2
		}
	}
	if options < 0 {
		return t, false
	}
	for i := options; i+2 < len(s); i++ {
		if s[i].quoted && s[i+1].is("=") && s[i+2].quoted {
			t.Options = append(t.Options, Option{s[i].text, s[i+2].text, s[i].line})
			i += 2
		}
	}
	return t, true
}

// otherTableOptions are options of the filesystem connector that decide neither when a
// file is closed nor when it is seen (FileSystemConnectorOptions).
var otherTableOptions = []string{
	"connector", "path", "partition.default-name", "sink.shuffle-by-partition.enable", "sink.parallelism",
	"sink.partition-commit.watermark-time-zone", "sink.partition-commit.policy.class", "sink.partition-commit.policy.class.parameters",
	"sink.partition-commit.success-file.name", "partition.time-extractor.kind", "partition.time-extractor.class",
	"partition.time-extractor.timestamp-pattern", "partition.time-extractor.timestamp-formatter",
	"compaction.parallelism", "source.monitor-interval", "source.path.regex-pattern", "source.report-statistics",
}

// asTable makes the peer of a table. False if it is none that is known.
func (s *Sink) asTable() bool {
	connector, _ := s.Option("connector")
	guarantee, _ := s.Option("sink.delivery-guarantee")
	switch {
	case connector.Value == "filesystem":
		s.asFileTable()
	case connector.Value == "kafka" && guarantee.Value == "exactly-once":
		s.asPeer("flink-kafka", s.among("flink-kafka"))
	case connector.Value == "iceberg":
		s.asPeer("iceberg-flink", s.among("iceberg-flink"))
	default:
		return false
	}
	return true
}

// among are the options of the sink that a peer has.
func (s *Sink) among(peer string) (options []Option) {
	known := optionNames(peer)
	for _, o := range s.Options {
		if slices.Contains(known, o.Name) {
			options = append(options, o)
		}
	}
	return options
}

// optionNames lists the options of a peer.
func optionNames(peer string) (names []string) {
	for _, p := range peers.All() {
		if p.Name() != peer {
			continue
		}
		for _, o := range p.Options() {
			names = append(names, o.Name)
		}
	}
	return names
}

// sqlBulkFormats are those whose files every checkpoint closes.
var sqlBulkFormats = []string{"csv", "avro", "parquet", "orc"}

// sqlRowFormats are the formats that peers does not know and that are written as rows.
var sqlRowFormats = map[string]bool{
	"avro-confluent": true, "debezium-avro-confluent": true, "canal-json": true, "maxwell-json": true, "ogg-json": true, "protobuf": true,
}

// asFileTable makes the peer of a table of the filesystem connector. Options of the format
// have its name before them.
func (s *Sink) asFileTable() {
	known := append(optionNames("flink-sql"), otherTableOptions...)
	format, ok := s.Option("format")
	if !ok {
		s.Refusals = append(s.Refusals, Refusal{Line: s.Line, Option: "format", Problem: "is required: one of json, raw, csv, avro, parquet, orc", Source: "Flink FileSystemTableFactory"})
	}
	var options []Option
	for _, o := range s.Options {
		switch {
		case strings.HasPrefix(o.Name, format.Value+".") && format.Value != "":
		case slices.Contains(otherTableOptions, o.Name):
		case !slices.Contains(known, o.Name):
			problem := "the filesystem connector has no such option"
			if near := peers.Nearest(o.Name, known); near != "" {
				problem += "; did you mean " + near + "?"
			}
			s.Refusals = append(s.Refusals, Refusal{Line: o.Line, Option: o.Name, Value: o.Value, Problem: problem, Source: "Flink FactoryUtil.validateUnconsumedKeys"})
		case o.Name == "format" && sqlRowFormats[o.Value]:
			o.Value = "json" // is written as JSON is
			options = append(options, o)
		case o.Name == "sink.partition-commit.trigger" && o.Value == "partition-time":
			// It tells when a partition is complete, and leaves the files as they are. The time of
			// a partition is not in the settings, so the process time stands for it.
		default:
			options = append(options, o)
		}
	}
	s.asPeer("flink-sql", options)
}
