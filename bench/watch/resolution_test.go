package watch_test

import (
	"os"
	"testing"

	"github.com/spf13/afero"

	"sinklab/bench/watch"
)

// slow is a file system on which calls take time.
type slow struct {
	afero.Fs
	opening, asking, closing func()
}

func (s slow) Open(path string) (afero.File, error) {
	s.opening()
	f, err := s.Fs.Open(path)
	return slowFile{f, s.closing}, err
}

type slowFile struct {
	afero.File
	closing func()
}

func (f slowFile) Close() error {
	f.closing()
	return f.File.Close()
}

func (s slow) Stat(path string) (os.FileInfo, error) {
	s.asking()
	return s.Fs.Stat(path)
}

func nothing() {}

// A latency is too long by at most the time from the beginning of a look until the next one
// has found its files: a file may come when its directory has just been passed.
func TestResolution(t *testing.T) {
	w := newWorld(t, false)
	takes := int64(0) // a look, to list the directory
	options := watch.Options{Dir: "/out", Format: csvTimes.Format, Sweep: 1, Now: func() int64 { return w.now }}
	options.Fs = slow{w.fs, func() { w.now += takes }, nothing, nothing}
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

// A look that is stopped before it asks for the time of a directory takes it for as new as it
// is: a file that comes within the same tick of the file system's clock is seen at the next look.
func TestAStoppedLookTrustsNoOldTime(t *testing.T) {
	w := newWorld(t, false)
	w.grain = 4
	w.now++ // the clock of the file system has no whole hundredths, which would be a coarse one
	asking, closing := nothing, nothing
	w.mkdir("/out")
	watcher, err := watch.New(watch.Options{Dir: "/out", Format: csvTimes.Format, Now: func() int64 { return w.now },
		Fs: slow{w.fs, nothing, func() { asking() }, func() { closing() }}})
	if err != nil {
		t.Fatal(err)
	}
	look := func(want int64) {
		t.Helper()
		if watcher.Look(); watcher.State().Files != want {
			t.Fatalf("%d files are seen, want %d", watcher.State().Files, want)
		}
	}
	look(0)
	w.now += 101
	w.publish("/out/part-1", line(0))
	look(1) // the time of the directory is known to tell
	for range 3 {
		w.now += 50
		look(1)
	}
	stopped := func(n int64, do func()) func() {
		return func() {
			asking, closing = nothing, nothing
			w.now += n
			do()
		}
	}
	// Stopped for 200 ms before the time, with a file just before it goes on.
	asking = stopped(200, func() { w.publish("/out/part-2", line(0)) })
	look(2)
	w.publish("/out/part-3", line(0)) // in the same tick
	w.now += 60
	look(3)
	// Stopped behind the names, with a file just before it goes on.
	w.now += 60
	look(3)
	w.publish("/out/part-4", line(0))
	closing = stopped(200, func() {})
	look(4)
	w.now -= 199 // the file came within the tick, and the look was stopped long after
	w.publish("/out/part-5", line(0))
	w.now += 199
	look(5)
}
