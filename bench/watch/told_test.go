package watch_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"sinklab/bench/watch"
	"sinklab/fsmem"
)

// world is a file system in memory with a clock that the test moves, and notices of what
// happens in it.
type world struct {
	t     *testing.T
	fs    *fsmem.FS
	now   int64
	grain int64 // of the file system's clock, in milliseconds; 0 stops it
	told  *told // nil to have none
	calls int   // operations since the test has set it to 0
}

// began is when the clock starts, on 2026-05-01.
const began = 1777593600000

func newWorld(t *testing.T, notices bool) *world {
	w := &world{t: t, now: began, grain: 1}
	stamp := w.now
	w.fs = fsmem.New(fsmem.Options{NoPlaces: true, Now: func() time.Time {
		if w.grain > 0 {
			stamp = w.now - w.now%w.grain
		}
		return time.UnixMilli(stamp)
	}})
	if notices {
		w.told = &told{dirs: map[string]bool{}}
	}
	w.fs.Hook(func(e fsmem.Event) {
		if !e.Done {
			return
		}
		w.calls++
		if w.told != nil {
			w.told.hear(e)
		}
	})
	return w
}

// told is notices of a file system in memory, of the directories that were added.
type told struct {
	dirs   map[string]bool
	paths  []string
	lost   bool // what comes is forgotten, and said to be
	silent bool // what comes is forgotten, and not said to be
	refuse error
}

func (n *told) hear(e fsmem.Event) {
	switch e.Op {
	case fsmem.OpRename:
		n.say(e.Path)
		n.say(e.NewPath)
	case fsmem.OpMkdirAll:
		// Those that are watched are there, of them there is nothing to tell.
		for path := e.Path; path != "/" && !n.dirs[path]; path = filepath.Dir(path) {
			n.say(path)
		}
	case fsmem.OpCreate, fsmem.OpOpenFile, fsmem.OpMkdir, fsmem.OpRemove, fsmem.OpRemoveAll,
		fsmem.OpWrite, fsmem.OpWriteString, fsmem.OpTruncate, fsmem.OpChtimes:
		n.say(e.Path)
	}
}

func (n *told) say(path string) {
	path = filepath.Clean(path)
	if !n.silent && !n.lost && (n.dirs[filepath.Dir(path)] || n.dirs[path]) && !slices.Contains(n.paths, path) {
		n.paths = append(n.paths, path)
	}
}

func (n *told) Add(dir string) error {
	if n.refuse != nil {
		return n.refuse
	}
	n.dirs[dir] = true
	return nil
}

func (n *told) Remove(dir string) { delete(n.dirs, dir) }
func (n *told) Close() error      { return nil }

func (n *told) Changed() ([]string, bool) {
	paths, lost := n.paths, n.lost
	n.paths, n.lost = nil, false
	return paths, lost
}

// watch begins to watch /out.
func (w *world) watch(o watch.Options) *watch.Watcher {
	w.t.Helper()
	o.Dir, o.Fs, o.Now = "/out", w.fs, func() int64 { return w.now }
	if w.told != nil {
		o.Notices = w.told
	}
	watcher, err := watch.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	return watcher
}

// write writes a file in the way of a writer who does not hide it.
func (w *world) write(path, text string) {
	w.t.Helper()
	w.mkdir(filepath.Dir(path))
	f, err := w.fs.Create(path)
	w.must(err)
	_, err = f.WriteString(text)
	w.must(err)
	w.must(f.Close())
}

// mkdir makes a directory and those above it that are not there, each with a notice.
func (w *world) mkdir(path string) {
	w.t.Helper()
	if _, err := w.fs.Stat(path); err == nil {
		return
	}
	w.mkdir(filepath.Dir(path))
	w.must(w.fs.Mkdir(path, 0o777))
}

// publish writes a file under a hidden name and renames it.
func (w *world) publish(path, text string) {
	w.t.Helper()
	hidden := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".inprogress")
	w.write(hidden, text)
	w.must(w.fs.Rename(hidden, path))
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// bothWays runs a test with notices and without.
func bothWays(t *testing.T, test func(t *testing.T, w *world)) {
	t.Run("notices", func(t *testing.T) { test(t, newWorld(t, true)) })
	t.Run("listing", func(t *testing.T) { test(t, newWorld(t, false)) })
}

// tick lets an interval pass and looks.
func (w *world) tick(watcher *watch.Watcher) {
	w.now += 200
	watcher.Look()
}
