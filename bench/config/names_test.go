package config

import (
	"errors"
	"testing"
	"time"

	"sinklab/sinkcore/peers"
)

// Names of tables have up to three parts, each in backquotes or not, and ALTER TABLE is for the
// table of the name.
func TestReadSQLNames(t *testing.T) {
	const with = " (a INT) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = 'p');\n"
	const set = " SET ('sink.rolling-policy.check-interval' = '5s');\n"
	for _, c := range []struct {
		text  string
		name  string // of the first table
		alter int    // which table is altered; -1 for none
	}{
		{"CREATE TABLE cat.db.`a`" + with + "CREATE TABLE cat.db.`b`" + with + "ALTER TABLE cat.db.`b`" + set, "cat.db.a", 1},
		{"CREATE TABLE `cat`.`db`.`a`" + with + "ALTER TABLE cat.db.a" + set, "cat.db.a", 0},
		{"CREATE TABLE `cat`.db.`a`" + with + "ALTER TABLE cat . `db` . a" + set, "cat.db.a", 0},
		{"CREATE TABLE IF NOT EXISTS db.`a`" + with + "CREATE TABLE a" + with + "ALTER TABLE IF EXISTS a" + set, "db.a", 1},
		{"CREATE TABLE `db.a`" + with + "CREATE TABLE db.a" + with + "ALTER TABLE db.a" + set, "`db.a`", 1},
		{"CREATE TABLE `db.a`" + with + "CREATE TABLE db.a" + with + "ALTER TABLE `db.a`" + set, "`db.a`", 0},
		{"CREATE TABLE `table`" + with + "ALTER TABLE `table`" + set, "table", 0},
		{"CREATE TABLE `if`" + with + "ALTER TABLE `if`" + set, "if", 0},
		{"CREATE TABLE cat.db.a" + with + "CREATE TABLE a" + with + "USE CATALOG `cat`; USE db;\nALTER TABLE a" + set, "cat.db.a", 0},
		{"USE cat.db; CREATE TABLE a" + with + "ALTER TABLE cat.db.`a`" + set, "a", 0},
		{"USE db; CREATE TABLE a" + with + "USE other; ALTER TABLE a" + set, "a", -1},
		{"CREATE TABLE a" + with + "ALTER TABLE default_catalog.default_database.a" + set, "a", 0},
		{"CREATE TABLE A" + with + "ALTER TABLE a" + set, "A", -1},
		{"CREATE TABLE a" + with + "DROP TABLE a; CREATE TABLE a" + with + "ALTER TABLE a" + set, "a", 1},
	} {
		f, err := Read(FlinkSQL, c.text)
		if err != nil || f.Sinks[0].Name != c.name {
			t.Errorf("%s: %+v, %v; want %s", c.text, f.Sinks, err, c.name)
			continue
		}
		for i, s := range f.Sinks {
			if altered := s.Check == 5*time.Second; altered != (i == c.alter) {
				t.Errorf("%s: table %d is altered: %v", c.text, i, altered)
			}
		}
	}
}

// What the REST interface of Kafka Connect answers is read as what it takes is.
func TestReadConnectAnswer(t *testing.T) {
	for _, text := range []string{
		`{"name":"c","config":{"connector.class":"S3SinkConnector","flush.size":"5","name":"c"},"tasks":[{"connector":"c","task":0},{"connector":"c","task":1}],"type":"sink"}`,
		`{"config":{"connector.class":"S3SinkConnector","flush.size":"5"},"name":"c","tasks":[],"type":"sink"}` + "\r\n",
		`{"tasks":[[1]],"flush.size":7,"name":"c","config":{"connector.class":"S3SinkConnector","flush.size":5}, "flush.size":8}`,
	} {
		f, err := Read(KafkaConnect, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if p, ok := f.Sinks[0].Peer.(peers.KafkaConnectS3); !ok || p.FlushSize != 5 || f.Sinks[0].Name != "c" || len(f.Sinks[0].Refusals) > 0 {
			t.Errorf("%s: %+v", text, f.Sinks)
		}
	}
	for text, line := range map[string]int{
		"{\"connector.class\":\"S3SinkConnector\",\"flush.size\":5}\n\nflush.size=6":        3,
		"{\"connector.class\":\"S3SinkConnector\",\"flush.size\":5}\n{}":                    2,
		"{\"connector.class\":\"S3SinkConnector\",\n\"tasks\":[]}":                          2,
		"{\"config\":{\"connector.class\":\"S3SinkConnector\",\n\"config\":{\"a\":\"b\"}}}": 2,
		"{\"config\":{\"connector.class\":\"S3SinkConnector\"},\"tasks\":[\n":               2,
	} {
		_, err := Read(KafkaConnect, text)
		var read *ReadError
		if !errors.As(err, &read) || read.Line != line {
			t.Errorf("%s: %v; want an error in line %d", text, err, line)
		}
	}
}
