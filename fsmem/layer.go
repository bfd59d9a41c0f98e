package fsmem

import (
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/afero"
)

// Layer is an afero.Fs that passes every call on to another one, and on the way
// lets rules make it fail, calls a hook and keeps a journal. While it has none
// of them it costs next to nothing.
//
// An FS comes with a Layer; Wrap puts one around any other file system.
type Layer struct {
	fs    afero.Fs
	sleep func(time.Duration)
	err   error // of all calls, because of the options

	active atomic.Bool // there is something to do

	// No lock is held while the other file system or the hook runs.
	mu      sync.Mutex
	seq     uint64
	faults  []*Fault
	hook    func(Event)
	journal []Event
	limit   int // of the journal
}

var (
	_ afero.Fs        = (*Layer)(nil)
	_ afero.Symlinker = (*Layer)(nil)
	_ afero.File      = (*layerFile)(nil)
)

// WrapOptions are the settings of Wrap; the zero value is usable.
type WrapOptions struct {
	// Sleep lets time pass for a stalled operation. Nil means that a stall takes
	// no time; time.Sleep makes a real disk slow.
	Sleep func(time.Duration)
}

// Wrap puts a Layer around a file system, such as a real disk.
func Wrap(fsys afero.Fs, o WrapOptions) *Layer {
	if o.Sleep == nil {
		o.Sleep = func(time.Duration) {}
	}
	return &Layer{fs: fsys, sleep: o.Sleep}
}

// Inject puts a rule in force. The rules are tried in the order of their
// injection, each counts what matches it, and the first that selects an
// operation hits it. The error is a *RuleError.
func (l *Layer) Inject(r Rule) (*Fault, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	f := newFault(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, f)
	l.activate()
	return f, nil
}

// ClearFaults takes all rules out of force.
func (l *Layer) ClearFaults() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = nil
	l.activate()
}

// Hook has f called before and after each operation, in place of an earlier
// hook; nil ends that. A hook may use the file system, which calls it again. To
// crash at an operation is to call Crash in a hook and go on with the result.
func (l *Layer) Hook(f func(Event)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hook = f
	l.activate()
}

// KeepJournal keeps the last limit operations for Journal, and none if limit is
// not positive. It begins with an empty journal.
func (l *Layer) KeepJournal(limit int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.journal, l.limit = nil, max(0, limit)
	l.activate()
}

// Journal returns the operations kept, in the order in which they ended.
func (l *Layer) Journal() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Event(nil), l.journal[max(0, len(l.journal)-l.limit):]...)
}

func (l *Layer) activate() {
	l.active.Store(l.err != nil || len(l.faults) > 0 || l.hook != nil || l.limit > 0)
}

// verdict is what the rules make of an operation.
type verdict struct {
	fault   *Fault
	err     error // before or after the effect
	after   bool
	clean   bool
	short   int // bytes, -1 for no limit
	corrupt bool
	stall   time.Duration
}

func (l *Layer) begin(e *Event) (v verdict, hook func(Event)) {
	l.mu.Lock()
	l.seq++
	e.Seq = l.seq
	hook = l.hook
	l.mu.Unlock()
	if hook != nil {
		hook(*e)
	}
	v.short = -1
	if l.err != nil {
		v.err = wrapError(e, l.err)
		return v, hook
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.faults {
		if !f.matches(e) || v.fault != nil {
			continue
		}
		f.fired.Add(1)
		r := &f.rule
		v = verdict{fault: f, after: r.After, clean: r.Clean, short: -1, corrupt: r.Corrupt, stall: r.Stall}
		if errno := r.effective(); errno != 0 {
			v.err = wrapError(e, errno)
		}
		if r.Short > 0 {
			v.short = r.Short
		}
	}
	return v, hook
}

func (l *Layer) end(e *Event, hook func(Event)) {
	e.Done = true
	l.mu.Lock()
	if l.limit > 0 {
		if len(l.journal) >= 2*l.limit {
			l.journal = append(l.journal[:0], l.journal[len(l.journal)-l.limit:]...)
		}
		l.journal = append(l.journal, *e)
	}
	l.mu.Unlock()
	if hook != nil {
		hook(*e)
	}
}

// do carries out an operation. The effect reports bytes and the like in
// e.Result; undo takes back what the caller cannot get if there is an error
// after the effect.
func (l *Layer) do(e Event, effect func(e *Event, v verdict) error) error {
	v, hook := l.begin(&e)
	e.Fault = v.fault
	if v.stall > 0 {
		l.sleep(v.stall)
	}
	switch {
	case v.err != nil && !v.after && v.short < 0:
		e.Err = v.err
	default:
		e.Err = effect(&e, v)
		if e.Err == nil && v.after {
			e.Err = v.err
		}
	}
	l.end(&e, hook)
	return e.Err
}

func wrapError(e *Event, err error) error {
	op := opTable[e.Op].inError
	switch e.Op {
	case OpRename:
		return linkError(op, e.Path, e.NewPath, err)
	case OpSymlink:
		return linkError(op, e.NewPath, e.Path, err)
	}
	return pathError(op, e.Path, err)
}

// Name returns the name of the file system below, "fsmem" for an FS.
func (l *Layer) Name() string { return l.fs.Name() }

// Create is os.Create: an existing file keeps its inode and is truncated, so
// that open handles see the change. The name is durable after a Sync of the
// directory only.
func (l *Layer) Create(path string) (afero.File, error) {
	return l.open(Event{Op: OpCreate, Path: path}, func() (afero.File, error) { return l.fs.Create(path) })
}

// Open is os.Open. A directory can be opened too, to list it and to Sync it.
func (l *Layer) Open(path string) (afero.File, error) {
	return l.open(Event{Op: OpOpen, Path: path}, func() (afero.File, error) { return l.fs.Open(path) })
}

// OpenFile is os.OpenFile with the flags of open(2): O_APPEND holds for every
// write, O_EXCL with O_CREATE fails on anything that exists, dangling symbolic
// links included, and O_SYNC follows each write with a Sync.
func (l *Layer) OpenFile(path string, flag int, perm fs.FileMode) (afero.File, error) {
	return l.open(Event{Op: OpOpenFile, Path: path, Flag: flag, Perm: perm}, func() (afero.File, error) { return l.fs.OpenFile(path, flag, perm) })
}

func (l *Layer) open(e Event, effect func() (afero.File, error)) (afero.File, error) {
	if !l.active.Load() {
		f, err := effect()
		if err != nil {
			return nil, err
		}
		return &layerFile{l, f}, nil
	}
	var file afero.File
	err := l.do(e, func(*Event, verdict) (err error) {
		file, err = effect()
		return err
	})
	switch {
	case err != nil && file != nil:
		file.Close() // there is no handle to give to the caller
		return nil, err
	case err != nil:
		return nil, err
	}
	return &layerFile{l, file}, nil
}

// Mkdir is os.Mkdir; the parent must exist (mkdir(2), ENOENT).
func (l *Layer) Mkdir(path string, perm fs.FileMode) error {
	if !l.active.Load() {
		return l.fs.Mkdir(path, perm)
	}
	return l.do(Event{Op: OpMkdir, Path: path, Perm: perm}, func(*Event, verdict) error { return l.fs.Mkdir(path, perm) })
}

// MkdirAll is os.MkdirAll. Each directory made is an entry of its parent, and
// so it takes a Sync of every parent to make the path durable.
func (l *Layer) MkdirAll(path string, perm fs.FileMode) error {
	if !l.active.Load() {
		return l.fs.MkdirAll(path, perm)
	}
	return l.do(Event{Op: OpMkdirAll, Path: path, Perm: perm}, func(*Event, verdict) error { return l.fs.MkdirAll(path, perm) })
}

// Remove is os.Remove: a file or an empty directory (ENOTEMPTY otherwise).
// Handles stay usable, and the bytes in use, until the last is closed
// (unlink(2)).
func (l *Layer) Remove(path string) error {
	if !l.active.Load() {
		return l.fs.Remove(path)
	}
	return l.do(Event{Op: OpRemove, Path: path}, func(*Event, verdict) error { return l.fs.Remove(path) })
}

// RemoveAll is os.RemoveAll; what does not exist is no error. It is one
// operation for rules and hooks, and one change for each entry at a crash.
func (l *Layer) RemoveAll(path string) error {
	if !l.active.Load() {
		return l.fs.RemoveAll(path)
	}
	return l.do(Event{Op: OpRemoveAll, Path: path}, func(*Event, verdict) error { return l.fs.RemoveAll(path) })
}

// Rename is os.Rename: atomic, replacing a file that has the new name, but not
// a directory (rename(2); package os refuses even an empty one). It is durable
// after a Sync of both directories; see the package documentation for what a
// crash may leave before that.
func (l *Layer) Rename(from, to string) error {
	if !l.active.Load() {
		return l.fs.Rename(from, to)
	}
	return l.do(Event{Op: OpRename, Path: from, NewPath: to}, func(*Event, verdict) error { return l.fs.Rename(from, to) })
}

// Chmod is os.Chmod.
func (l *Layer) Chmod(path string, mode fs.FileMode) error {
	if !l.active.Load() {
		return l.fs.Chmod(path, mode)
	}
	return l.do(Event{Op: OpChmod, Path: path, Perm: mode}, func(*Event, verdict) error { return l.fs.Chmod(path, mode) })
}

// Chown is os.Chown; -1 leaves the user or group as it is.
func (l *Layer) Chown(path string, uid, gid int) error {
	if !l.active.Load() {
		return l.fs.Chown(path, uid, gid)
	}
	return l.do(Event{Op: OpChown, Path: path, UID: uid, GID: gid}, func(*Event, verdict) error { return l.fs.Chown(path, uid, gid) })
}

// Chtimes is os.Chtimes; a zero time leaves that time as it is.
func (l *Layer) Chtimes(path string, atime, mtime time.Time) error {
	if !l.active.Load() {
		return l.fs.Chtimes(path, atime, mtime)
	}
	return l.do(Event{Op: OpChtimes, Path: path, Atime: atime, Mtime: mtime}, func(*Event, verdict) error { return l.fs.Chtimes(path, atime, mtime) })
}

// Stat is os.Stat. The FileInfo is a snapshot, and its Sys a *Stat on an FS.
func (l *Layer) Stat(path string) (info fs.FileInfo, err error) {
	if !l.active.Load() {
		return l.fs.Stat(path)
	}
	err = l.do(Event{Op: OpStat, Path: path}, func(*Event, verdict) (err error) {
		info, err = l.fs.Stat(path)
		return err
	})
	return unless(err, info), err
}

// unless drops a result that comes with an error.
func unless[T any](err error, result T) (none T) {
	if err != nil {
		return none
	}
	return result
}

// LstatIfPossible is os.Lstat; without symbolic links below it is Stat, and the
// bool is false.
func (l *Layer) LstatIfPossible(path string) (info fs.FileInfo, possible bool, err error) {
	err = l.do(Event{Op: OpLstat, Path: path}, func(*Event, verdict) (err error) {
		if s, ok := l.fs.(afero.Lstater); ok {
			info, possible, err = s.LstatIfPossible(path)
		} else {
			info, err = l.fs.Stat(path)
		}
		return err
	})
	return unless(err, info), possible, err
}

// SymlinkIfPossible is os.Symlink, or afero.ErrNoSymlink.
func (l *Layer) SymlinkIfPossible(target, path string) error {
	return l.do(Event{Op: OpSymlink, Path: path, NewPath: target}, func(e *Event, _ verdict) error {
		if s, ok := l.fs.(afero.Linker); ok {
			return s.SymlinkIfPossible(target, path)
		}
		return wrapError(e, afero.ErrNoSymlink)
	})
}

// ReadlinkIfPossible is os.Readlink, or afero.ErrNoReadlink.
func (l *Layer) ReadlinkIfPossible(path string) (target string, err error) {
	err = l.do(Event{Op: OpReadlink, Path: path}, func(e *Event, _ verdict) (err error) {
		if s, ok := l.fs.(afero.LinkReader); ok {
			target, err = s.ReadlinkIfPossible(path)
			return err
		}
		return wrapError(e, afero.ErrNoReadlink)
	})
	return unless(err, target), err
}

// layerFile is a handle of the file system below.
type layerFile struct {
	l *Layer
	f afero.File
}

func (f *layerFile) Name() string { return f.f.Name() }

func (f *layerFile) event(op Op) Event { return Event{Op: op, Path: f.f.Name()} }

func (f *layerFile) Close() error {
	if !f.l.active.Load() {
		return f.f.Close()
	}
	return f.l.do(f.event(OpClose), func(*Event, verdict) error { return f.f.Close() })
}

func (f *layerFile) Sync() error {
	if !f.l.active.Load() {
		return f.f.Sync()
	}
	e := f.event(OpSync)
	v, hook := f.l.begin(&e)
	e.Fault = v.fault
	if v.stall > 0 {
		f.l.sleep(v.stall)
	}
	switch h, ok := f.f.(*handle); {
	case v.err != nil && v.clean && ok:
		h.loseSync()
	case v.err == nil || v.after:
		e.Err = f.f.Sync()
	}
	if e.Err == nil {
		e.Err = v.err
	}
	f.l.end(&e, hook)
	return e.Err
}

func (f *layerFile) Truncate(size int64) error {
	if !f.l.active.Load() {
		return f.f.Truncate(size)
	}
	e := f.event(OpTruncate)
	e.Offset = size
	return f.l.do(e, func(*Event, verdict) error { return f.f.Truncate(size) })
}

func (f *layerFile) Seek(offset int64, whence int) (int64, error) {
	if !f.l.active.Load() {
		return f.f.Seek(offset, whence)
	}
	e := f.event(OpSeek)
	e.Offset, e.N = offset, whence
	var at int64
	err := f.l.do(e, func(e *Event, _ verdict) (err error) {
		at, err = f.f.Seek(offset, whence)
		e.Result = at
		return err
	})
	return unless(err, at), err
}

func (f *layerFile) Read(p []byte) (int, error) {
	if !f.l.active.Load() {
		return f.f.Read(p)
	}
	return f.transfer(f.event(OpRead), p, f.f.Read)
}

func (f *layerFile) ReadAt(p []byte, off int64) (int, error) {
	if !f.l.active.Load() {
		return f.f.ReadAt(p, off)
	}
	e := f.event(OpReadAt)
	e.Offset = off
	return f.transfer(e, p, func(p []byte) (int, error) { return f.f.ReadAt(p, off) })
}

func (f *layerFile) Write(p []byte) (int, error) {
	if !f.l.active.Load() {
		return f.f.Write(p)
	}
	return f.transfer(f.event(OpWrite), p, f.f.Write)
}

func (f *layerFile) WriteAt(p []byte, off int64) (int, error) {
	if !f.l.active.Load() {
		return f.f.WriteAt(p, off)
	}
	e := f.event(OpWriteAt)
	e.Offset = off
	return f.transfer(e, p, func(p []byte) (int, error) { return f.f.WriteAt(p, off) })
}

func (f *layerFile) WriteString(s string) (int, error) {
	if !f.l.active.Load() {
		return f.f.WriteString(s)
	}
	return f.transfer(f.event(OpWriteString), []byte(s), func(p []byte) (int, error) { return f.f.WriteString(string(p)) })
}

// transfer reads or writes p, or the part of it that a rule lets through.
func (f *layerFile) transfer(e Event, p []byte, call func([]byte) (int, error)) (int, error) {
	e.N = len(p)
	n := 0
	err := f.l.do(e, func(e *Event, v verdict) (err error) {
		part := p
		if v.short >= 0 && len(p) > 0 {
			part = p[:min(v.short, len(p)-1)] // a rule that fires is felt
		}
		n, err = call(part)
		e.Result = int64(n)
		switch {
		case err != nil:
		case v.corrupt && n > 0:
			p[0] ^= 1
		case v.short >= 0 && v.err != nil:
			err = v.err
		case len(part) < len(p) && e.Op != OpRead:
			err = wrapError(e, io.ErrShortWrite)
		}
		return err
	})
	return n, err
}

func (f *layerFile) Readdir(count int) ([]fs.FileInfo, error) {
	if !f.l.active.Load() {
		return f.f.Readdir(count)
	}
	infos := []fs.FileInfo{}
	e := f.event(OpReaddir)
	e.N = count
	err := f.l.do(e, func(e *Event, _ verdict) (err error) {
		infos, err = f.f.Readdir(count)
		e.Result = int64(len(infos))
		return err
	})
	return infos, err
}

func (f *layerFile) Readdirnames(count int) ([]string, error) {
	if !f.l.active.Load() {
		return f.f.Readdirnames(count)
	}
	names := []string{}
	e := f.event(OpReaddirnames)
	e.N = count
	err := f.l.do(e, func(e *Event, _ verdict) (err error) {
		names, err = f.f.Readdirnames(count)
		e.Result = int64(len(names))
		return err
	})
	return names, err
}

func (f *layerFile) Stat() (info fs.FileInfo, err error) {
	if !f.l.active.Load() {
		return f.f.Stat()
	}
	err = f.l.do(f.event(OpFileStat), func(*Event, verdict) (err error) {
		info, err = f.f.Stat()
		return err
	})
	return unless(err, info), err
}
