package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goldens are commands with what they print, in testdata/config/golden. Each was read before
// it was put there; a change of it is to be read too.
var goldens = []struct {
	file   string
	args   []string
	status int
}{
	{"explain.txt", []string{"explain"}, statusOK},
	{"explain.json", []string{"explain", "--json"}, statusOK},
	{"explain-deadline.txt", []string{"explain", "--policy", "policy=deadline within=60000 checkpoint=2000"}, statusOK},
	{"explain-outage.txt", []string{"explain", "--rollover", "10s", "--check", "3s", "--checkpoint", "10s", "--checkpoint-duration", "3s", "--outage", "10m-12m", "--arrivals", "poisson rate=2"}, statusOK},
	{"lint-defaults.java.txt", []string{"lint", example("defaults.java")}, statusFound},
	{"lint-builders.java.txt", []string{"lint", example("builders.java")}, statusFound},
	{"lint-nexmark-q10.sql.txt", []string{"lint", example("nexmark-q10.sql")}, statusFound},
	{"lint-tables.sql.txt", []string{"lint", example("tables.sql")}, statusFound},
	{"lint.json", []string{"lint", "--json", example("tables.sql")}, statusFound},
	{"lint-s3-sink.json.txt", []string{"lint", example("s3-sink.json")}, statusFound},
	{"lint-s3-sink.properties.txt", []string{"lint", example("s3-sink.properties")}, statusFound},
	{"lint-misspelt.properties.txt", []string{"lint", example("misspelt.properties")}, statusFound},
	{"plan.txt", []string{"plan", "--worst", "60s"}, statusOK},
	{"plan.json", []string{"plan", "--worst", "60s", "--json"}, statusOK},
	{"plan-file.txt", []string{"plan", "--file", example("plan.toml")}, statusOK},
	{"plan-files.txt", []string{"plan", "--file-size", "64MB", "--rate", "5000", "--record-size", "1KB", "--checkpoint", "10s,1m"}, statusOK},
	{"plan-impossible.txt", []string{"plan", "--worst", "60s", "--files-per-hour", "30"}, statusFound},
	{"simulate.txt", []string{"simulate", "default", "tuned", "kafka-connect-s3 flush.size=1000 rotate.schedule.interval.ms=60000 timezone=UTC", "arroyo-local", "--outage", "10m-12m"}, statusOK},
	{"simulate.json", []string{"simulate", "--json"}, statusOK},
	{"simulate-bench.txt", []string{"simulate", "--bench"}, statusOK},
}

func example(name string) string { return "../../testdata/config/" + name }

// TestConfigGoldens: the commands print what was read, and nothing on standard error.
func TestConfigGoldens(t *testing.T) {
	for _, g := range goldens {
		want, err := os.ReadFile(example("golden/" + g.file))
		if err != nil {
			t.Fatal(err)
		}
		status, out, errs := sinklab(t, "", g.args...)
		if status != g.status || errs != "" || out != string(want) {
			t.Errorf("%s: status %d, want %d; %s\ngot\n%s\nwant\n%s", strings.Join(g.args, " "), status, g.status, errs, out, want)
		}
		if strings.HasSuffix(g.file, ".json") && !json.Valid([]byte(out)) {
			t.Errorf("%s is no JSON", g.file)
		}
	}
	if files, err := filepath.Glob(example("golden/*")); err != nil || len(files) != len(goldens) {
		t.Errorf("%d files in golden, %d commands; %v", len(files), len(goldens), err)
	}
}
