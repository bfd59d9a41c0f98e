package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"time"
)

// What a look does beyond what has changed is bounded, so that it takes as long with
// 100,000 files as with ten.
const (
	// checkedPerLook is how many files are looked at again for changes that no notice told
	// of, in turn.
	checkedPerLook = 100
	// bytesPerLook is how much is read. The rest waits for the next look; that its file was
	// seen is known by then.
	bytesPerLook = 32 << 20
)

// Watcher watches one directory. New makes one; it is for one goroutine.
type Watcher struct {
	opts    Options
	started int64
	looked  int64 // the last look: when its files were found
	begun   int64 // when it began
	slowest int64 // from the beginning of a look until the next one's files were found, the longest
	looks   int64

	tree  tree
	order []*file // for checking in turn; those that have gone are taken out on the way
	next  int     // in order

	found []*file // in this look
	queue []*file // to be read
	open  *reading
	ids   map[[idSize]byte]struct{} // nil if they are not kept

	counts    Counts
	latencies quantiles
	firstFile int64 // when the first new file was seen; only if counts.Files > 0
	lastFile  int64 // the newest, likewise
	newest    int64 // time of the newest record, only if latencies.n > 0
	files     []File
	problems  problems
}

// file is a visible file.
type file struct {
	dir  *directory
	name string
	mark int64 // number of the listing that it was last in

	size     int64 // when it was first seen or, once it is read, then
	modified time.Time

	before  bool // it was there before the watcher
	gone    bool
	changed bool // and counted
	read    bool // or given up
	index   int  // in Watcher.files; -1 if it was there before
}

func (f *file) path() string { return filepath.Join(f.dir.path, f.name) }

// same tells whether the file is what it was, as far as size and time tell. A file of the
// same size that is put in the place of another has another time.
func (f *file) same(info fs.FileInfo) bool {
	return info.Size() == f.size && info.ModTime().Equal(f.modified)
}

// New begins to watch. Look does the work, and Run calls it. The error wraps [ErrOptions],
// or tells that Dir is no directory; that it is not there yet is none.
func New(o Options) (*Watcher, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	info, err := o.Fs.Stat(o.Dir)
	switch {
	case err == nil && !info.IsDir():
		return nil, fmt.Errorf("%w: %s is not a directory", ErrOptions, o.Dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	w := &Watcher{opts: o}
	w.tree.init()
	if o.Format.ID != "" {
		w.ids = map[[idSize]byte]struct{}{}
	}
	w.started = o.Now()
	w.looked = w.started
	return w, nil
}

// Look looks at the directory once: it finds what is new, then takes the time, which is
// when those files were seen, and then reads them. The first look finds the files that
// were there before; nobody knows when they became visible, and they count for no latency.
//
// Nothing that it meets is an error: what cannot be read is counted, and is among the
// problems of the result.
func (w *Watcher) Look() { w.look(false, bytesPerLook) }

func (w *Watcher) look(everything bool, budget int64) {
	begun := w.opts.Now()
	w.discover(everything)
	// Taken when all is found, so that no file has been visible for less than is said.
	w.looked = w.opts.Now()
	if w.looks > 0 {
		w.slowest = max(w.slowest, w.looked-w.begun)
	}
	w.begun = begun
	w.admit(w.looks == 0)
	w.looks++
	w.check(checkedPerLook)
	w.read(budget)
}

// Finish takes the last look, reads what is still to be read and looks once more at every
// file for changes. It remains to call Result.
func (w *Watcher) Finish() {
	const all = 1<<63 - 1
	w.look(true, all)
	w.check(len(w.order))
	w.close()
}

// Run looks, at once and then at each tick, until ctx is done or more says that it is
// enough, and finishes. Ticks come from a time.Ticker of Options.Every, or from a test.
// More is called after each look; nil is to go on.
func (w *Watcher) Run(ctx context.Context, ticks <-chan time.Time, more func(State) bool) {
	for {
		w.Look()
		if more != nil && !more(w.State()) {
			break
		}
		select {
		case <-ticks:
			continue
		case <-ctx.Done():
		}
		break
	}
	w.Finish()
}

// hidden tells whether a reader passes over a name.
func (w *Watcher) hidden(name string) bool {
	for _, pattern := range w.opts.Hidden {
		if match, _ := path.Match(pattern, name); match { // validate has looked at the error
			return true
		}
	}
	return false
}

// admit takes in what discover has found.
func (w *Watcher) admit(before bool) {
	for _, f := range w.found {
		if f.gone {
			continue // found by a notice, and gone with its directory in the same look
		}
		f.before = before
		f.index = -1
		w.order = append(w.order, f)
		if before {
			w.counts.Before++
			if w.ids != nil {
				w.queue = append(w.queue, f)
			}
			continue
		}
		if w.counts.Files == 0 {
			w.firstFile = w.looked
		}
		w.lastFile = w.looked
		w.counts.Files++
		w.counts.Bytes += f.size
		f.index = len(w.files)
		w.files = append(w.files, File{Path: w.relative(f.path()), Seen: w.looked, Bytes: f.size})
		w.queue = append(w.queue, f)
	}
	w.found = w.found[:0]
}

// relative is a path as results show it.
func (w *Watcher) relative(path string) string {
	if r, err := filepath.Rel(w.opts.Dir, path); err == nil {
		path = r
	}
	return filepath.ToSlash(path)
}

// check looks at some files again, in turn.
func (w *Watcher) check(n int) {
	n = min(n, len(w.order))
	for range n {
		if w.next >= len(w.order) {
			w.next = 0
		}
		f := w.order[w.next]
		if !f.gone {
			w.again(f)
		}
		if f.gone {
			last := len(w.order) - 1
			w.order[w.next] = w.order[last]
			w.order[last] = nil
			w.order = w.order[:last]
			if last == 0 {
				return
			}
			continue
		}
		w.next++
	}
}

// again looks at a file that is known.
func (w *Watcher) again(f *file) {
	info, err := w.lstat(f.path())
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular():
		w.vanish(f)
	case err != nil:
		w.problems.add(Problem{Kind: Unreadable, Path: w.relative(f.path()), Text: err.Error()})
	case !f.same(info):
		w.change(f, info)
	}
}

// change counts a file that is not what it was, once.
func (w *Watcher) change(f *file, info fs.FileInfo) {
	if f.changed {
		return
	}
	f.changed = true
	w.counts.Changed++
	text := fmt.Sprintf("%d bytes became %d", f.size, info.Size())
	if f.size == info.Size() {
		text = fmt.Sprintf("it was written at %s and has been again at %s, its size is the same", f.modified.Format(time.RFC3339Nano), info.ModTime().Format(time.RFC3339Nano))
	}
	w.problems.add(Problem{Kind: Changed, Path: w.relative(f.path()), Text: text})
}

// vanish forgets a file.
func (w *Watcher) vanish(f *file) {
	if f.gone {
		return
	}
	f.gone = true
	delete(f.dir.files, f.name)
	f.dir.suspect()
	if f.index < 0 && !f.before {
		return // in the look that found it
	}
	w.counts.Vanished++
}
