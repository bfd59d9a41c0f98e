package gate

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// noiseFile holds samples of ratios of this repository's benchmarks in the order in which
// they were measured, each in a process of its own.
const noiseFile = "../../testdata/bench/noise.txt"

// TestRecordNoise measures noiseFile anew:
//
//	SINKLAB_NOISE=400 SINKLAB_NOISE_BENCH='Write/fs=mem' go test -run TestRecordNoise -timeout 60m -v ./bench/gate
//
// The numbers are those of rounds, and the benchmarks to run as in go test -bench.
func TestRecordNoise(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv("SINKLAB_NOISE"))
	if err != nil {
		t.Skip("SINKLAB_NOISE is the number of rounds to record")
	}
	pattern := os.Getenv("SINKLAB_NOISE_BENCH")
	binary := filepath.Join(t.TempDir(), "bench.test")
	if out, err := exec.Command("go", "test", "-c", "-o", binary, "sinklab/bench").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var all bytes.Buffer
	fmt.Fprintln(&all, "pkg: sinklab/bench")
	for range rounds {
		round := exec.Command(binary, "-test.run", "^$", "-test.bench", pattern, "-test.benchtime", "1x")
		round.Dir = t.TempDir()
		out, err := round.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		all.Write(out)
	}
	run, err := Read(&all, "recorded noise")
	if err != nil {
		t.Fatal(err)
	}
	var noise bytes.Buffer
	if err := run.WriteBaseline(&noise); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(noiseFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(noiseFile, noise.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
