package watch_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"sinklab/bench/watch"
)

// oddRun is a result with one of everything.
func oddRun(t *testing.T) watch.Result {
	w := newWorld(t, true)
	w.publish("/out/there", line(0)+"torn")
	watcher := w.watch(watch.Options{Format: watch.Format{Kind: watch.CSV, Time: "1", ID: "3"}})
	watcher.Look()
	for n := range int64(12) {
		w.publish("/out/part-"+string(rune('a'+n)), line(n * 150)[:14]+","+string(rune('a'+n))+"\n")
		w.tick(watcher)
	}
	w.now += 5
	w.write("/out/part-a", "x")
	w.publish("/out/part-z", line(0)+line(0)[:14]+",a\n"+line(3000)[:14]+",z\n"+"torn")
	w.must(w.fs.Remove("/out/part-b"))
	watcher.Finish()
	return watcher.Result()
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := oddRun(t).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if b.String() != wantTable {
		t.Errorf("got\n%s\nwant\n%s", b.String(), wantTable)
	}
	// A result of nothing says so.
	w := newWorld(t, true)
	watcher := w.watch(watch.Options{})
	watcher.Finish()
	b.Reset()
	if err := watcher.Result().WriteText(&b); err != nil || !strings.Contains(b.String(), "none became visible") || strings.Contains(b.String(), "latency p50") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

const wantTable = `/out, watched for 2.405s, a look every 200ms: a latency may be 200ms too long

first file           200 ms after the watch began
latency p50          450 ms
latency p90          750 ms
latency p99          2.405 s
latency max          2.405 s
files                13, 19459.5 an hour
bytes a file         20
records              14
CHANGED              1 files that were visible and changed afterwards: a violation
DOUBLED              1 records with the id of an earlier one: a violation
torn                 1 files whose last line has no end
foreign              1 lines that are no records of this format
early                1 records that were seen before their own time: do the clocks differ?
vanished             1 files that have gone
there before         1 files that were there at the first look, and are not counted above

changed: part-a: 17 bytes became 1
foreign: part-z:1: there is no column 3, the line has 2: "1777593600000,x"
doubled: part-z:2: "a"
early: part-z:3: its time is 595 ms after it was seen
torn: part-z:4: "torn"
`

// The benchmark line is one that the tools of Go read, with the figures of the result.
func TestBenchmarkLine(t *testing.T) {
	r := oddRun(t)
	r.Dir = "some where/out put-2/"
	var b bytes.Buffer
	if err := r.WriteBenchmark(&b, nil); err != nil || !strings.Contains(b.String(), "\nBenchmarkWatch/dir=out_put-2-") {
		t.Errorf("%v, %s", err, b.String())
	}
	b.Reset()
	if err := r.WriteBenchmark(&b, []string{"engine=flink", "policy=x-1"}); err != nil {
		t.Fatal(err)
	}
	reader := benchfmt.NewReader(&b, "test")
	got := map[string]float64{}
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(rec)
		case *benchfmt.Result:
			base, parts := rec.Name.Parts()
			if string(base) != "Watch" || len(parts) != 3 || string(parts[0]) != "/engine=flink" || string(parts[1]) != "/policy=x-1" {
				t.Errorf("%q %q", base, parts)
			}
			for _, v := range rec.Values {
				got[v.Unit] = v.Value
			}
		}
	}
	want := map[string]float64{
		"first-visible-ms": float64(*r.FirstVisible), "p50-visible-ms": float64(r.Percentiles[50]), "p90-visible-ms": float64(r.Percentiles[90]),
		"p99-visible-ms": float64(r.Percentiles[99]), "max-visible-ms": float64(r.Percentiles[100]), "files/hour": r.FilesPerHour(), "bytes/file": r.BytesPerFile(),
	}
	for unit, value := range want {
		if g, there := got[unit]; !there || g != value || reader.Units().GetBetter(unit) == 0 {
			t.Errorf("%s: %v, want %v", unit, g, value)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
	// What is not known is left out.
	b.Reset()
	if err := (watch.Result{Dir: ".", Watched: 5}).WriteBenchmark(&b, nil); err != nil {
		t.Fatal(err)
	}
	if last := strings.TrimSpace(b.String()); !strings.HasSuffix(last, " 1 0 files/hour") {
		t.Error(last)
	}
}

func TestKeys(t *testing.T) {
	if keys, err := watch.ParseKeys([]string{"engine=flink", "a=b=c"}); err != nil || len(keys) != 2 {
		t.Errorf("%v, %v", keys, err)
	}
	for _, bad := range []string{"", "engine", "=x", "x=", "a=b c", "a=b/c", "a=\x00"} {
		if _, err := watch.ParseKeys([]string{bad}); !errors.Is(err, watch.ErrOptions) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The JSON form has the counts beside the rest.
func TestJSON(t *testing.T) {
	text, err := json.Marshal(oddRun(t))
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Files       int64
		Changed     int64
		Every       int64   `json:"every_ms"`
		First       int64   `json:"first_visible_ms"`
		Percentiles []int64 `json:"percentiles_ms"`
		Problems    []watch.Problem
	}
	if err := json.Unmarshal(text, &r); err != nil || r.Files != 13 || r.Changed != 1 || r.Every != 200 || r.First != 200 || len(r.Percentiles) != 101 || len(r.Problems) == 0 {
		t.Errorf("%v, %s", err, text)
	}
}
