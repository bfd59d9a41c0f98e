package sim_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"sinklab/fsmem"
	"sinklab/sinkcore/sim"
)

// newRunner returns a runner in memory whose file names are the same every time.
func newRunner(t testing.TB) *sim.Runner {
	t.Helper()
	r, err := sim.NewRunner(sim.Options{Fs: fsmem.New(fsmem.Options{}), Random: rand.NewChaCha8([32]byte{1})})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFlink replays the recorded traces of the real FileSink; every answer must be the
// same. If one differs, ask the real Flink before touching anything: the trace is what
// it answered.
func TestFlink(t *testing.T) {
	files, err := filepath.Glob("../../testdata/flink/*.trace")
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	scenarios := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		recorded, err := sim.Parse(bytes.NewReader(text), sim.Operations())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, scenario := range recorded {
			scenarios++
			_, played, err := newRunner(t).Play(scenario)
			if err != nil {
				t.Errorf("%s: %s: %v", name, scenario.Name, err)
				continue
			}
			want, _ := scenario.AppendText(nil)
			got, _ := played.AppendText(nil)
			if !bytes.Equal(want, got) {
				t.Errorf("%s: %s: want\n%s\ngot\n%s", name, scenario.Name, want, got)
			}
		}
	}
	if scenarios != 577 {
		t.Errorf("%d scenarios replayed, there are 577", scenarios)
	}
}
