package gate

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/sinkcore"
)

// noiseFile holds samples of BenchmarkNoise in the order in which they were measured, each
// in a process of its own.
const noiseFile = "../../testdata/bench/noise.txt"

// TestRecordNoise measures noiseFile anew; the number is that of rounds:
//
//	SINKLAB_NOISE=700 go test -count=1 -run TestRecordNoise -timeout 30m ./bench/gate
func TestRecordNoise(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv("SINKLAB_NOISE"))
	if err != nil {
		t.Skip("SINKLAB_NOISE is the number of rounds to record")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := bytes.NewBufferString("Unit x-bufio better=lower\nUnit x-bufio-large better=lower least=10%\npkg: sinklab/bench/gate\n")
	for range rounds {
		out, err := exec.Command(program, "-test.run", "^$", "-test.bench", "Noise", "-test.benchtime", "1x").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		all.Write(out)
	}
	run, err := Read(all, "recorded noise")
	if err != nil {
		t.Fatal(err)
	}
	var noise bytes.Buffer
	if err := run.WriteBaseline(&noise); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(noiseFile, noise.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkNoise is a ratio as those that the gate judges, measured in about the time
// that each of them has: lines written through a sink and through a bufio.Writer, in turn, to a
// file system in memory.
func BenchmarkNoise(b *testing.B) {
	for _, size := range []int{30, 100, 1000} {
		b.Run("size="+strconv.Itoa(size), func(b *testing.B) { benchmarkNoise(b, size) })
	}
}

// benchmarkNoise collects garbage only between the pairs, or it would be paid for by
// whichever of the two happens to write then.
func benchmarkNoise(b *testing.B, size int) {
	const (
		bytesEach = 500_000
		pairs     = 100
		between   = 25 // pairs from one collection to the next
	)
	record, records := bytes.Repeat([]byte{'x'}, size-1), bytesEach/size
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var sink, plain []time.Duration
	for b.Loop() {
		for pair := range pairs {
			if pair%between == 0 {
				runtime.GC()
			}
			for turn := range 2 {
				write, times := throughSink, &sink
				if (pair+turn)%2 == 1 {
					write, times = throughBuffer, &plain
				}
				start := time.Now()
				if err := write(fsmem.New(fsmem.Options{}), record, records); err != nil {
					b.Fatal(err)
				}
				*times = append(*times, time.Since(start))
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	unit := "x-bufio"
	if size == 1000 {
		unit = "x-bufio-large" // copying takes most of the time, and depends on what others do to the caches
	}
	b.ReportMetric(lowerQuartile(sink)/lowerQuartile(plain), unit)
}

// lowerQuartile is hardly moved by interruptions, which only ever make times longer.
func lowerQuartile(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/4])
}

func throughSink(fs afero.Fs, record []byte, records int) error {
	config := sinkcore.Config[[]byte]{Dir: "out", Encoder: sinkcore.Line[[]byte]{}}
	w, err := sinkcore.NewWriter(fs, rand.Reader, config, 0, 0)
	if err != nil {
		return err
	}
	for range records {
		if err := w.Write(record, sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
			return err
		}
	}
	_, _, err = w.EndInput()
	return errors.Join(err, w.Close())
}

func throughBuffer(fs afero.Fs, record []byte, records int) error {
	f, err := fs.Create("plain")
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, sinkcore.DefaultBufferSize)
	for range records {
		w.Write(record) // the error is kept for Flush
		w.WriteByte('\n')
	}
	return errors.Join(w.Flush(), f.Sync(), f.Close())
}
