package watch

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"
)

// directory is a visible directory.
type directory struct {
	path   string
	parent *directory // nil of the one that is watched
	files  map[string]*file
	dirs   map[string]*directory
	others map[string]int64 // links and the like, which are no files of the sink; by name, the listing
	mark   int64            // number of the parent's listing that it was last in
	gone   bool

	suspected bool // list it at the next look

	noticed bool // there are notices
	silent  bool // one was missing, so they are not relied on any more
	network bool // here nothing can be known but by listing

	listing  int64 // the number of the last listing, from 1
	look     int64 // in which that was
	listedAt int64 // when that was, by our clock
	modified time.Time
	moved    int64 // when that was found to have changed, by our clock
}

// quiet tells whether nothing can have changed since the last listing, as far as the time of
// the directory tells, which is still the one that was found then.
func (d *directory) quiet() bool { return d.listing > 0 && d.listedAt-d.moved >= tick(d.modified) }

// tree is what is known of the directories.
type tree struct {
	root  *directory // nil while it is not there
	dirs  map[string]*directory
	order []*directory // as they were found

	swept    int64 // when everything was last listed
	sweeping bool  // everything is being listed, to see whether something was missed
	times    trust // whether a directory's time tells of changes

	// unannounced are the files that a sweep has found in directories with notices. If the
	// notice does not come by the next look, there are none in truth.
	unannounced map[string]*directory
}

// trust is what is known of the times of directories. Not every store keeps them.
type trust uint8

const (
	unknown trust = iota
	proven        // names were new, and the time as well
	refuted       // names were new, and the time was not
)

// tick is for how long the clock of a file system may stand still, in milliseconds. A
// directory may change again until then without having another time. Linux reads its clock
// at its timer's interrupts, at most 10 ms from one to the next; FAT counts in steps of 2 s,
// and others in whole seconds.
func tick(modified time.Time) int64 {
	const fine, coarse = 50, 2000
	if modified.Nanosecond()%int(10*time.Millisecond) == 0 {
		return coarse
	}
	return fine
}

func (t *tree) init() {
	t.dirs = map[string]*directory{}
	t.unannounced = map[string]*directory{}
}

// discover finds what is new, has changed or has gone since the last look.
func (w *Watcher) discover(everything bool) {
	now := w.opts.Now()
	everything = everything || w.looks == 0 || now-w.tree.swept >= w.opts.Sweep.Milliseconds() || now < w.tree.swept
	lost := false
	if w.opts.Notices != nil {
		var paths []string
		paths, lost = w.opts.Notices.Changed()
		w.notices(paths)
	}
	if w.tree.root == nil {
		w.findRoot()
	}
	if everything = everything || lost; everything {
		w.tree.swept = now
	}
	w.tree.sweeping = everything && !lost
	for i := 0; i < len(w.tree.order); i++ { // listing adds directories
		d := w.tree.order[i]
		if d.gone || d.noticed && !everything || d.look == w.looks+1 {
			continue
		}
		w.list(d, everything)
	}
	w.tree.sweeping = false
	w.tree.order = slices.DeleteFunc(w.tree.order, func(d *directory) bool { return d.gone })
	slices.SortFunc(w.found, func(a, b *file) int {
		return cmp.Or(strings.Compare(a.dir.path, b.dir.path), strings.Compare(a.name, b.name))
	})
}

// notices takes in what has been told.
func (w *Watcher) notices(paths []string) {
	for i, p := range paths {
		paths[i] = filepath.Clean(p)
		delete(w.tree.unannounced, paths[i])
	}
	slices.Sort(paths)
	for _, p := range slices.Sorted(maps.Keys(w.tree.unannounced)) {
		d := w.tree.unannounced[p]
		d.noticed, d.silent = false, true
		w.problems.add(Problem{Kind: Unnoticed, Path: w.relative(d.path), Text: "there was no notice of " + filepath.Base(p)})
	}
	clear(w.tree.unannounced)
	// What has gone comes first: a directory that was moved has an old and a new name, and
	// its old watch has to end before the new one begins.
	var fresh []string
	for _, p := range paths {
		parent := w.tree.dirs[filepath.Dir(p)]
		switch {
		case w.tree.dirs[p] != nil:
			d := w.tree.dirs[p]
			if w.noticedDirectory(d); d.gone {
				fresh = append(fresh, p) // it may be a file now
			}
		case parent == nil || w.hidden(filepath.Base(p)):
		case parent.files[filepath.Base(p)] != nil:
			f := parent.files[filepath.Base(p)]
			if w.again(f); f.gone {
				fresh = append(fresh, p) // it may be a directory now
			}
		default:
			fresh = append(fresh, p)
		}
	}
	for _, p := range fresh {
		parent := w.tree.dirs[filepath.Dir(p)]
		if parent != nil && w.tree.dirs[p] == nil && parent.files[filepath.Base(p)] == nil {
			w.meet(parent, filepath.Base(p))
		}
	}
}

// noticedDirectory is for a directory that is known: it has gone, or it may be another one
// by the same name, of which there are no notices yet.
func (w *Watcher) noticedDirectory(d *directory) {
	info, err := w.opts.Fs.Stat(d.path)
	if err != nil || !info.IsDir() {
		w.forget(d)
		return
	}
	w.subscribe(d)
	w.list(d, true)
}

// findRoot looks for the directory that is watched; it may have been made by now.
func (w *Watcher) findRoot() {
	info, err := w.opts.Fs.Stat(w.opts.Dir)
	if err != nil || !info.IsDir() {
		return
	}
	w.tree.root = w.enter(filepath.Clean(w.opts.Dir), nil)
	w.counts.Found = true
	w.list(w.tree.root, true)
}

// enter takes in a directory. It has notices before it is listed, so that nothing that is
// made in between is missed.
func (w *Watcher) enter(path string, parent *directory) *directory {
	d := &directory{path: path, parent: parent, files: map[string]*file{}, dirs: map[string]*directory{}, others: map[string]int64{}}
	w.tree.dirs[path] = d
	w.tree.order = append(w.tree.order, d)
	w.counts.Directories++
	w.subscribe(d)
	return d
}

func (w *Watcher) subscribe(d *directory) {
	if w.opts.Notices == nil || d.silent {
		return
	}
	err := w.opts.Notices.Add(d.path)
	d.noticed = err == nil
	d.network = errors.Is(err, ErrNetwork)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.problems.add(Problem{Kind: Unnoticed, Path: w.relative(d.path), Text: err.Error()})
	}
}

// list lists a directory, unless its time tells that nothing can have changed.
func (w *Watcher) list(d *directory, force bool) {
	info, err := w.opts.Fs.Stat(d.path)
	if err != nil || !info.IsDir() {
		w.unlisted(d, err)
		return
	}
	moved := !info.ModTime().Equal(d.modified)
	if moved {
		// A look may be stopped at any point, so the clock is read anew: after the time of the
		// directory, and below before its names.
		d.modified, d.moved = info.ModTime(), w.opts.Now()
	}
	quiet := !moved && d.quiet()
	if !force && quiet && w.tree.times == proven && !d.network && !d.suspected {
		return
	}
	d.suspected = false
	listedAt := w.opts.Now()
	names, err := readNames(w.opts.Fs, d.path)
	if err != nil {
		w.unlisted(d, err)
		return
	}
	w.counts.Listings++
	d.look, d.listedAt = w.looks+1, listedAt
	if !w.compare(d, names) || d.listing == 1 {
		return
	}
	switch {
	case moved && w.tree.times == unknown:
		w.tree.times = proven
	case quiet:
		// It may also have changed between the two calls.
		if info, err := w.opts.Fs.Stat(d.path); err == nil && info.ModTime().Equal(d.modified) {
			w.tree.times = refuted
		}
	}
}

// unlisted is for a directory that cannot be listed: it has gone, or it may be possible
// next time.
func (w *Watcher) unlisted(d *directory, err error) {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		w.forget(d)
		return
	}
	w.problems.add(Problem{Kind: Unreadable, Path: w.relative(d.path), Text: err.Error()})
}

func readNames(fsys afero.Fs, dir string) ([]string, error) {
	d, err := fsys.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(-1)
	return names, errors.Join(err, d.Close())
}

// compare takes in the names of a directory and tells whether any is new or gone. Only of
// new ones more is asked.
func (w *Watcher) compare(d *directory, names []string) (differs bool) {
	d.listing++
	known := 0
	for _, name := range names {
		if f := d.files[name]; f != nil {
			f.mark = d.listing
			known++
			continue
		}
		if sub := d.dirs[name]; sub != nil {
			sub.mark = d.listing
			known++
			continue
		}
		if _, is := d.others[name]; is {
			d.others[name] = d.listing
			known++
			continue
		}
		if w.hidden(name) {
			continue
		}
		if w.meet(d, name) {
			differs = true
			known++
			if w.tree.sweeping && d.noticed && d.listing > 1 {
				w.tree.unannounced[filepath.Join(d.path, name)] = d
			}
		}
	}
	if known == len(d.files)+len(d.dirs)+len(d.others) {
		return differs
	}
	for name, sub := range d.dirs {
		if sub.mark != d.listing {
			w.forget(d.dirs[name])
		}
	}
	for _, f := range d.files {
		if f.mark != d.listing {
			w.vanish(f)
		}
	}
	for name, mark := range d.others {
		if mark != d.listing {
			delete(d.others, name)
		}
	}
	return true
}

// meet looks at a name that is new, and tells whether it is there.
func (w *Watcher) meet(d *directory, name string) bool {
	path := filepath.Join(d.path, name)
	info, err := w.lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil:
		w.problems.add(Problem{Kind: Unreadable, Path: w.relative(path), Text: err.Error()})
		return false
	case info.IsDir():
		sub := w.enter(path, d)
		sub.mark = d.listing
		d.dirs[name] = sub
		w.list(sub, true)
	case info.Mode().IsRegular():
		f := &file{dir: d, name: name, mark: d.listing, size: info.Size(), modified: info.ModTime(), index: -1}
		d.files[name] = f
		w.found = append(w.found, f)
	default:
		d.others[name] = d.listing
	}
	return true
}

// forget takes out a directory that has gone, with all that was in it.
func (w *Watcher) forget(d *directory) {
	if d.gone {
		return
	}
	d.gone = true
	for _, sub := range d.dirs {
		w.forget(sub)
	}
	for _, f := range d.files {
		w.vanish(f)
	}
	if w.opts.Notices != nil {
		w.opts.Notices.Remove(d.path)
	}
	delete(w.tree.dirs, d.path)
	w.counts.Directories--
	if d.parent == nil {
		w.tree.root = nil
		return
	}
	delete(d.parent.dirs, filepath.Base(d.path))
}

// suspect has a directory listed at the next look, whatever its time: there may be something
// else now by the name of a file that has gone, and when the directory was listed the name
// was taken for that of the file.
func (d *directory) suspect() { d.suspected = true }

// lstat does not follow links.
func (w *Watcher) lstat(path string) (fs.FileInfo, error) {
	if l, ok := w.opts.Fs.(afero.Lstater); ok {
		info, _, err := l.LstatIfPossible(path)
		return info, err
	}
	return w.opts.Fs.Stat(path)
}
