package watch

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"
)

// metricUnits are the units of the benchmark line, and which way each is better. They are
// named as those of package bench are.
var metricUnits = []struct{ unit, better string }{
	{"first-visible-ms", "lower"},
	{"p50-visible-ms", "lower"},
	{"p90-visible-ms", "lower"},
	{"p99-visible-ms", "lower"},
	{"max-visible-ms", "lower"},
	{"files/hour", "lower"},
	{"bytes/file", "higher"},
}

// ParseKeys reads what is to be added to the name of a benchmark: key=value, without space
// or "/". The error wraps [ErrOptions].
func ParseKeys(words []string) ([]string, error) {
	for _, word := range words {
		key, value, found := strings.Cut(word, "=")
		if !found || key == "" || value == "" || strings.ContainsFunc(word, unnameable) {
			return nil, fmt.Errorf("%w: %q: want key=value without space or slash, as in engine=flink", ErrOptions, word)
		}
	}
	return words, nil
}

func unnameable(r rune) bool { return r == '/' || unicode.IsSpace(r) || !unicode.IsPrint(r) }

// WriteBenchmark writes the result in Go's benchmark format, for benchstat: the units, the
// machine, and one line. It is named BenchmarkWatch/ and the keys, which are what benchstat
// compares, or dir=<last element of Dir> if there are none. A metric that is not known is left out: first-visible-ms and bytes/file if no
// file became visible, those of latency if no record has a time.
func (r Result) WriteBenchmark(out io.Writer, keys []string) error {
	if len(keys) == 0 {
		keys = []string{"dir=" + strings.Map(func(c rune) rune {
			if unnameable(c) {
				return '_'
			}
			return c
		}, filepath.Base(r.Dir))}
	}
	// As go test does it, and also with one processor: otherwise the end of dir=run-2 would be
	// taken for a number of processors.
	procs := fmt.Sprintf("-%d", runtime.GOMAXPROCS(0))
	result := &benchfmt.Result{
		Name:  benchfmt.Name("Watch/" + strings.Join(keys, "/") + procs),
		Iters: 1,
		Config: []benchfmt.Config{
			{Key: "goos", Value: []byte(runtime.GOOS), File: true},
			{Key: "goarch", Value: []byte(runtime.GOARCH), File: true},
		},
	}
	add := func(unit string, value float64) {
		result.Values = append(result.Values, benchfmt.Value{Value: value, Unit: unit})
	}
	if r.FirstVisible != nil {
		add("first-visible-ms", float64(*r.FirstVisible))
	}
	if r.Timed > 0 {
		add("p50-visible-ms", float64(r.Latency(50).Milliseconds()))
		add("p90-visible-ms", float64(r.Latency(90).Milliseconds()))
		add("p99-visible-ms", float64(r.Latency(99).Milliseconds()))
		add("max-visible-ms", float64(r.Latency(100).Milliseconds()))
	}
	add("files/hour", r.FilesPerHour())
	if r.Files > 0 {
		add("bytes/file", r.BytesPerFile())
	}
	var b bytes.Buffer
	w := benchfmt.NewWriter(&b)
	for _, u := range metricUnits {
		_ = w.Write(&benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: u.unit, Key: "better"}, OrigUnit: u.unit, Value: u.better})
	}
	_ = w.Write(result) // to memory, which cannot fail
	_, err := out.Write(b.Bytes())
	return err
}
