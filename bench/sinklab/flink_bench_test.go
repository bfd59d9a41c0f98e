package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sinklab/bench/flink"
)

// What cannot be measured or run is told before Flink is asked for, and without Java the
// commands say how to get it.
func TestFlinkEngineBadInput(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	const java = "needs Java 17 and Maven"
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--rounds must be at least 1", []string{"flink-bench", "--rounds", "0"}},
		{"a record of 10 bytes: must have at least 24", []string{"flink-bench", "--size", "10"}},
		{"0 buckets", []string{"flink-bench", "--buckets", "0"}},
		{java, []string{"flink-bench"}},
		{"a record of 10 bytes: must have at least 34", []string{"flink-cluster", "--size", "10"}},
		{"must be one of", []string{"flink-cluster", "--policy", "nix"}},
		{"bad option", []string{"flink-cluster", "--policy", "deadline", "--within", "1s"}},
		{java, []string{"flink-cluster"}},
		{"--for must be greater than 0", []string{"flink-article", "--for", "0s"}},
		{java, []string{"flink-article"}},
	} {
		status, out, errs := sinklab(t, "", c.args...)
		if status != statusBadInput || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%v: status %d, %q, %q; want %s", c.args, status, out, errs, c.want)
		}
	}
}

// Only what the question is about is judged: the write path as it comes, one bucket, small
// records.
func TestFlinkBenchLeast(t *testing.T) {
	ratio := func(benchmark, encoder string, size, buckets int, times float64) flink.PeerRatio {
		return flink.PeerRatio{Benchmark: benchmark, Encoder: encoder, Size: size, Buckets: buckets, FlinkNS: 100 * times, SinklabNS: 100}
	}
	others := []flink.PeerRatio{ratio("Write", "simple", 10_000, 1, 2), ratio("Write", "simple", 100, 100, 2), ratio("Write", "bulk", 100, 1, 2), ratio("Job", "", 100, 1, 2)}
	var out bytes.Buffer
	for _, c := range []struct {
		times float64
		want  error
	}{{10, nil}, {9.9, errFound}} {
		out.Reset()
		err := flinkBench{Least: 10}.judge(&out, append(others, ratio("Write", "simple", 1000, 1, c.times)))
		if !errors.Is(err, c.want) || (err != nil) != strings.Contains(out.String(), "1000 bytes: 9.9 times as fast, less than 10") {
			t.Errorf("%v times: %v, %q", c.times, err, out.String())
		}
	}
	if err := (flinkBench{Least: 10}).judge(&out, others); err == nil || errors.Is(err, errFound) {
		t.Errorf("nothing to judge: %v", err)
	}
	if err := (flinkBench{}).judge(&out, others); err != nil {
		t.Errorf("not asked to judge: %v", err)
	}
}

// Figures that are there stay until there are new ones.
func TestFlinkBenchKeepsTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "flink.txt")
	if err := os.WriteFile(file, []byte("old\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "") // there is no Java
	t.Setenv("JAVA_HOME", "")
	status, _, errs := sinklab(t, "", "flink-bench", "--bench", file)
	text, err := os.ReadFile(file)
	if status != statusBadInput || errs == "" || err != nil || string(text) != "old\n" {
		t.Errorf("status %d, %s; the file holds %q, %v", status, errs, text, err)
	}
}
