package flink

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
)

// Both engines and the bare file system are measured in turns, and every record of each is
// read back, or there would be an error.
func TestPeers(t *testing.T) {
	realFlink(t)
	samples, err := Peers(t.Context(), shared.module, PeerOptions{Dir: t.TempDir(), Rounds: 2, Sizes: []int{100}, Buckets: []int{1, 3}, JobTime: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range samples {
		names = append(names, s.Name())
		if s.NS <= 0 || s.Records <= 0 {
			t.Errorf("%s: %v ns/record, %d records", s.Name(), s.NS, s.Records)
		}
	}
	var want []string
	for _, buckets := range []string{"1", "3"} {
		for range 2 {
			for _, engine := range []string{"flink/encoder=simple", "flink/encoder=onecall", "flink/encoder=bulk", "sinklab", "bufio"} {
				want = append(want, "Write/engine="+engine+"/size=100/buckets="+buckets)
			}
		}
	}
	for range 2 {
		want = append(want, "Job/engine=flink/size=100/buckets=1", "Job/engine=sinklab/size=100/buckets=1")
	}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("samples\n%s\nwant\n%s", strings.Join(names, "\n"), strings.Join(want, "\n"))
	}
}

// A record that is lost, doubled, changed or in another bucket is found, by whichever
// engine it was written.
func TestPeerCheck(t *testing.T) {
	good := []string{"b0000/a:0000000000/b0000xxxxxxx\n0000000002/b0000xxxxxxx\n", "b0001/b:0000000001/b0001xxxxxxx\n", "b0001/.c.inprogress:what is hidden does not count\n"}
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"good":         {good, ""},
		"lost":         {good[:1], "record 1 is missing"},
		"doubled":      {append(good[:2:2], "b0000/d:0000000002/b0000xxxxxxx\n"), "record 2 is there twice"},
		"too many":     {append(good[:2:2], "b0001/d:0000000003/b0001xxxxxxx\n"), "record 3 was never written"},
		"other bucket": {[]string{good[0], "b0000/b:0000000001/b0001xxxxxxx\n"}, "record 1 is in bucket b0000"},
		"shortened":    {append(good[:2:2], "b0001/d:0000000003/b00\n"), "has the line"},
	} {
		dir := t.TempDir()
		for _, file := range c.files {
			path, text, _ := strings.Cut(file, ":")
			if err := errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o777), os.WriteFile(filepath.Join(dir, path), []byte(text), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		switch err := peerCheck(dir, 3, len("0000000000/b0000xxxxxxx\n"), 2); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (!errors.Is(err, ErrPeerRecords) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// The records of a job are numbered without a gap.
func TestJobRecords(t *testing.T) {
	for text, want := range map[string]string{
		"5,0,xx\n5,1,xx\n6,2,xx\n": "",
		"5,0,xx\n6,2,xx\n":         "record 1 is missing",
		"5,0,xx\n5,0,xx\n":         "record 0 is there twice",
		"5,0,xx\n5\n":              "is no record",
		"5,-1,xx\n":                "has no offset",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "part"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		n, err := jobRecords(dir)
		if want == "" && (err != nil || n != 3) {
			t.Errorf("%q: %d, %v", text, n, err)
		}
		if want != "" && (!errors.Is(err, ErrPeerRecords) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// The lines are what benchstat reads, with each sample under its name, and the ratios
// are those of medians.
func TestWritePeers(t *testing.T) {
	var samples []PeerSample
	for i, ns := range []float64{100, 900, 200} {
		samples = append(samples,
			PeerSample{Benchmark: "Write", Engine: "flink", Encoder: "simple", Size: 100, Buckets: 1, Records: 7, NS: 10 * ns},
			PeerSample{Benchmark: "Write", Engine: "sinklab", Size: 100, Buckets: 1, Records: 7, NS: ns},
			PeerSample{Benchmark: "Write", Engine: "bufio", Size: 100, Buckets: 1, Records: 7, NS: float64(50 + i)})
	}
	var out bytes.Buffer
	if err := WritePeers(&out, samples); err != nil {
		t.Fatal(err)
	}
	reader, lines := benchfmt.NewReader(&out, "peers"), 0
	for reader.Scan() {
		switch r := reader.Result().(type) {
		case *benchfmt.Result:
			// The reader turns nanoseconds into seconds, and keeps what was written.
			if v := r.Values[0]; v.OrigUnit != "ns/record" || v.OrigValue != samples[lines].NS || string(r.Name) != samples[lines].Name() || r.Iters != 7 {
				t.Errorf("line %d: %s %v", lines, r.Name, r.Values)
			}
			lines++
		case *benchfmt.SyntaxError:
			t.Error(r)
		}
	}
	if lines != len(samples) {
		t.Errorf("%d lines of %d samples", lines, len(samples))
	}
	ratios := PeerRatios(samples)
	want := PeerRatio{Benchmark: "Write", Encoder: "simple", Size: 100, Buckets: 1, FlinkNS: 2000, SinklabNS: 200, BufioNS: 51}
	if len(ratios) != 1 || ratios[0] != want || ratios[0].Times() != 10 {
		t.Errorf("ratios %+v, want %+v", ratios, want)
	}
}

func TestPeerMedian(t *testing.T) {
	for want, values := range map[float64][]float64{2: {9, 1, 2}, 5: {8, 1, 9, 2}, 7: {7}} {
		if got := peerMedian(values); got != want {
			t.Errorf("median of %v is %v, want %v", values, got, want)
		}
	}
}

func TestPeerOptions(t *testing.T) {
	for name, o := range map[string]PeerOptions{
		"rounds":        {Rounds: -1},
		"small records": {Sizes: []int{23}},
		"no bucket":     {Buckets: []int{0}},
		"many buckets":  {Buckets: []int{10_001}},
	} {
		if _, err := Peers(t.Context(), nil, o); !errors.Is(err, ErrPeer) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
