package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"sinklab/sinkcore/peers"
)

// Form is a language in which people set up sinks.
type Form string

// The forms.
const (
	FlinkJava    Form = "flink-java"    // FileSink and DefaultRollingPolicy in Java, Scala or Kotlin source
	FlinkSQL     Form = "flink-sql"     // CREATE TABLE … WITH (…)
	KafkaConnect Form = "kafka-connect" // the properties of a connector, or their JSON
)

// Forms lists all forms.
func Forms() []Form { return []Form{FlinkJava, FlinkSQL, KafkaConnect} }

// UnmarshalText reads the name of a form. The error names the nearest one.
func (f *Form) UnmarshalText(text []byte) error {
	var names []string
	for _, known := range Forms() {
		if string(known) == string(text) {
			*f = known
			return nil
		}
		names = append(names, string(known))
	}
	if near := peers.Nearest(string(text), names); near != "" {
		return fmt.Errorf("%q is no form: did you mean %s?", text, near)
	}
	return fmt.Errorf("%q is no form: want one of %s", text, strings.Join(names, ", "))
}

var (
	looksLikeConnect = regexp.MustCompile(`(?m)^\s*"?(connector\.class|flush\.size|rotate\.[a-z.]*interval\.ms)"?\s*[=:]`)
	looksLikeSQL     = regexp.MustCompile(`(?i)\b(create\s+(temporary\s+)?table|alter\s+table|set\s+'execution\.)`)
	looksLikeJava    = regexp.MustCompile(`\b(FileSink|StreamingFileSink|DefaultRollingPolicy|OnCheckpointRollingPolicy|DeadlineRollingPolicy)\b`)
)

// Detect tells what form a text has, from what is in it, and if that does not tell, from the
// ending of its file's name. It is "" if neither does.
func Detect(name, text string) Form {
	switch {
	case looksLikeJava.MatchString(text):
		return FlinkJava
	case looksLikeSQL.MatchString(text):
		return FlinkSQL
	case looksLikeConnect.MatchString(text):
		return KafkaConnect
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".java", ".scala", ".kt":
		return FlinkJava
	case ".sql":
		return FlinkSQL
	case ".properties", ".json":
		return KafkaConnect
	}
	return ""
}
