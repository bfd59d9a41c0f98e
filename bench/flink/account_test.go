package flink

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sinklab/bench/watch"
)

// A watch of a directory that the real Flink writes to says of each record when it became
// visible, with notices of the kernel and by listing, and the files themselves say the same.
func TestWatchAgreesWithFlink(t *testing.T) {
	realFlink(t)
	if _, ok := statusChange(statOf(t, t.TempDir())); !ok {
		t.Skip("this system is not asked when a file was renamed")
	}
	dir := t.TempDir()
	output := filepath.Join(dir, "out")
	const rate, seconds, buckets = 500, 6, 3
	listing, err := watch.New(watch.Options{Dir: output, Format: watch.Format{Kind: watch.CSV, Time: "1", ID: "2"}})
	if err != nil {
		t.Fatal(err)
	}
	ticker := time.NewTicker(watch.DefaultEvery)
	defer ticker.Stop()
	ctx, stopListing := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		listing.Run(ctx, ticker.C, nil)
	}()
	defer func() { stopListing(); <-done }()
	noticing, stopNoticing, err := startWatch(t.Context(), output)
	if err != nil {
		t.Fatal(err)
	}
	cmd := shared.module.Command(t.Context(), "-Xmx512m", "-Djava.io.tmpdir="+dir, "sinklab.flink.job.RecordsJob", "--output", output,
		"--rate", strconv.Itoa(rate), "--count", strconv.Itoa(rate*seconds), "--buckets", strconv.Itoa(buckets), "--checkpoint", "500 ms", "--policy", "oncheckpoint")
	said, err := cmd.CombinedOutput()
	stopNoticing()
	stopListing()
	<-done
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}

	// The records' own account: each carries its time, and its file the time of the renaming.
	var own []int64
	err = eachRecord(output, func(path, record string) error {
		text, _, _ := strings.Cut(record, ",")
		at, err := strconv.ParseInt(text, 10, 64)
		visible, _ := statusChange(statOf(t, path))
		own = append(own, visible-at)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(own)
	if len(own) != rate*seconds {
		t.Fatalf("%d records are visible, want %d", len(own), rate*seconds)
	}
	for name, w := range map[string]*watch.Watcher{"notices": noticing, "listing": listing} {
		r := w.Result()
		a, err := account(output, w)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d files, seen %d to %d ms after they were renamed; resolution %d ms", name, a.Files, a.Soonest, a.Latest, a.Unlooked)
		const least = buckets * seconds // files; there are about two a second in each bucket
		if a.Files < least || a.Files != r.Files || !a.Agrees() {
			t.Errorf("%s: %+v of %d files", name, a, r.Files)
		}
		if r.Timed != int64(len(own)) || r.Violations() != 0 {
			t.Errorf("%s: %d records with a time, %d violations", name, r.Timed, r.Violations())
		}
		for _, p := range []int{1, 50, 99, 100} {
			exact := own[(len(own)*p+99)/100-1]
			if late := r.Latency(p).Milliseconds() - exact; late < -kernelTick || late > r.Resolution+kernelTick {
				t.Errorf("%s: p%d is %v, by the records' own account %d ms; resolution %d ms", name, p, r.Latency(p), exact, r.Resolution)
			}
		}
	}
}

func statOf(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// What does not agree is found: a file that was seen too late, and one that was seen before
// it was there.
func TestAccount(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system is not asked when a file was renamed")
	}
	for _, test := range []struct {
		name   string
		behind int64 // of the watch's clock
		agrees bool
	}{{"exact", 0, true}, {"seen before it was there", -1000, false}, {"seen late", 1000, false}} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			w, err := watch.New(watch.Options{Dir: dir, Now: func() int64 { return time.Now().UnixMilli() + test.behind }})
			if err != nil {
				t.Fatal(err)
			}
			w.Look()
			if err := os.WriteFile(filepath.Join(dir, ".part"), []byte("a\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(dir, ".part"), filepath.Join(dir, "part")); err != nil {
				t.Fatal(err)
			}
			w.Look()
			a, err := account(dir, w)
			if err != nil || a.Files != 1 || a.Agrees() != test.agrees {
				t.Errorf("%+v, %v; agrees: want %v", a, err, test.agrees)
			}
			if err := os.Remove(filepath.Join(dir, "part")); err != nil {
				t.Fatal(err)
			}
			if _, err := account(dir, w); err == nil {
				t.Error("a file that has gone has no account, and that is no error")
			}
		})
	}
}
