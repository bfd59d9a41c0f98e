package flink_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"sinklab/bench/flink"
)

// The engine is shared, since it takes a second to start.
var shared = sync.OnceValues(func() (*flink.Engine, error) {
	module, err := flink.Build(context.Background())
	if err != nil {
		return nil, err
	}
	return flink.Start(context.Background(), module, flink.Options{})
})

func TestMain(m *testing.M) {
	status := m.Run()
	if engine, err := shared(); err == nil && engine.Close() != nil && status == 0 {
		status = 1
	}
	os.Exit(status)
}

// engine returns the real Flink, or skips the test with what is missing.
func engine(t *testing.T) *flink.Engine {
	t.Helper()
	e, err := shared()
	if errors.Is(err, flink.ErrTools) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func read(t *testing.T, file string) []flink.Program {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	programs, err := flink.Parse(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return programs
}

// Flink still gives the answers that were recorded.
func TestTraces(t *testing.T) {
	e := engine(t)
	files, err := filepath.Glob("../../testdata/flink/*.trace")
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, file := range files {
		for _, p := range read(t, file) {
			played, err := e.Record(p)
			if err != nil {
				t.Fatalf("%s: %s: %v", file, p.Name, err)
			}
			if want, got := p.Text(), played.Text(); want != got {
				t.Errorf("%s: %s: recorded\n%s\nnow\n%s", file, p.Name, want, got)
			}
		}
	}
}
