package watch_test

import (
	"testing"

	"github.com/spf13/afero"

	"sinklab/bench/watch"
)

// slow is a file system on which opening takes time.
type slow struct {
	afero.Fs
	opening func()
}

func (s slow) Open(path string) (afero.File, error) {
	s.opening()
	return s.Fs.Open(path)
}

// A latency is too long by at most the time from the beginning of a look until the next one
// has found its files: a file may come when its directory has just been passed.
func TestResolution(t *testing.T) {
	w := newWorld(t, false)
	takes := int64(0) // a look, to list the directory
	options := watch.Options{Dir: "/out", Format: csvTimes.Format, Sweep: 1, Now: func() int64 { return w.now }}
	options.Fs = slow{w.fs, func() { w.now += takes }}
	w.mkdir("/out")
	watcher, err := watch.New(options)
	if err != nil {
		t.Fatal(err)
	}
	look := func(listing, before, want int64) {
		t.Helper()
		w.now += before
		takes = listing
		watcher.Look()
		if got := watcher.Result().Resolution; got != want {
			t.Errorf("resolution %d ms, want %d", got, want)
		}
	}
	look(1000, 0, 0) // nothing is counted before the first look
	look(30, 200, 1000+200+30)
	look(30, 1500, 30+1500+30)
	look(30, 200, 30+1500+30)
}
