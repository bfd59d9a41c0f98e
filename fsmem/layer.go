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
// of them it costs next to nothing: one atomic load for each call.
//
// An FS comes with a Layer; Wrap puts one around any other file system. Its methods
// may be called from any number of goroutines, if those of the file system below
// may. The errors named below are those of an FS. They come in an *fs.PathError or
// *os.LinkError with the errno inside, as from package os, and errors.Is finds
// them by errno or as fs.ErrNotExist, fs.ErrExist and fs.ErrPermission. Every method
// that takes a path may also give ENOENT and ENOTDIR (a directory on the way is
// missing, or is none), EACCES (it may not be searched), ELOOP, ENAMETOOLONG and
// EINVAL (a NUL byte).
type Layer struct {
	fs    afero.Fs
	sleep func(time.Duration)
	err   error // of all calls, because of the options

	active atomic.Bool // there is something to do

	// What follows is guarded by mu. No lock is held while the other file system
	// or the hook runs, because a hook has to be able to call back, and a stalled
	// operation must not stall the others.
	mu      sync.Mutex
	seq     uint64
	faults  []*Fault
	hook    func(Event)
	journal []Event // up to twice limit, so that dropping old ones is seldom
	limit   int     // of the journal
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

// Wrap puts a Layer around a file system, such as a real disk. Rules, hook and journal
// work as on an FS, but for two things: crashing needs an FS, and a Rule with Clean
// makes Sync fail without the call below, and forgets nothing. That holds also for
// a Layer around an FS; inject such a rule into the FS itself.
func Wrap(fsys afero.Fs, o WrapOptions) *Layer {
	if o.Sleep == nil {
		o.Sleep = func(time.Duration) {}
	}
	return &Layer{fs: fsys, sleep: o.Sleep}
}

// Inject puts a rule in force. The rules are tried in the order of their
// injection, each counts what matches it, and the first that selects an
// operation hits it. So several rules do not add up: one operation has one fault.
// It may be called while the program runs, also in a hook. The error is a
// *RuleError, and nothing is injected then.
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

// ClearFaults takes all rules out of force. Their Faults keep their counts; to suspend
// a rule for a while there is Fault.Disarm.
func (l *Layer) ClearFaults() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = nil
	l.activate()
}

// Hook has f called before and after each operation, in place of an earlier
// hook; nil ends that. A hook may use the file system, which calls it again. To
// crash at an operation is to call Crash in a hook and go on with the result.
//
// Before the operation Event.Done is false, and nothing of it has happened; after
// it Done is true, and Result, Err and Fault are known. Both are called on the
// goroutine of the caller, without a lock: with several goroutines a hook must be
// fit for that, and other operations may come in between. The first call comes
// before the rules are asked, so a rule that is injected in it hits the operation.
func (l *Layer) Hook(f func(Event)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hook = f
	l.activate()
}

// KeepJournal keeps the last limit operations for Journal, and none if limit is
// not positive. It begins with an empty journal. An Event is some 200 bytes, and
// holds none of the bytes that were read or written.
func (l *Layer) KeepJournal(limit int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.journal, l.limit = nil, max(0, limit)
	l.activate()
}

// Journal returns the operations kept, in the order in which they ended; Event.Seq
// has that in which they began. The slice is the caller's.
func (l *Layer) Journal() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Event(nil), l.journal[max(0, len(l.journal)-l.limit):]...)
}

// activate finds out whether there is anything to do. It is called, with the lock held
// or before anybody else knows l, after each change of what it looks at.
func (l *Layer) activate() {
	l.active.Store(l.err != nil || len(l.faults) > 0 || l.hook != nil || l.limit > 0)
}

// verdict is what the rules make of an operation: the Rule of the fault that hit it
// in the form in which it is carried out, or nothing.
type verdict struct {
	fault   *Fault
	err     error // before or after the effect
	after   bool
	clean   bool
	short   int // bytes, -1 for no limit
	corrupt bool
	stall   time.Duration
}

// begin numbers the operation, calls the hook and asks the rules. All rules see every
// operation, also those after the one that hits it, so that their counts do not
// depend on each other. The hook is returned, for the one after the operation has to
// be the same although another may have been set meanwhile.
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

// end enters the operation in the journal and calls the hook, in this order: a hook
// finds its own operation in the journal.
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

// do carries out an operation between begin and end. The effect reports bytes and the
// like in e.Result, and sees to short and corrupt transfers itself. An error of the
// rule replaces success only: what really went wrong is what the caller hears.
func (l *Layer) do(e Event, effect func(e *Event, v verdict) error) error {
	v, hook := l.begin(&e)
	e.Fault = v.fault
	if v.stall > 0 {
		l.sleep(v.stall)
	}
	switch {
	// With a short transfer the effect comes first, and the error goes with it.
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

// wrapError gives the error of a rule the form that package os gives it for that
// operation, so that a program cannot tell it from a real one.
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

// Name returns the name of the file system below, "fsmem" for an FS. It is no
// operation for rules and hooks, since it cannot fail.
func (l *Layer) Name() string { return l.fs.Name() }

// Create is os.Create: an existing file keeps its inode and is truncated, so
// that open handles see the change. The name is durable after a Sync of the
// directory only, and the truncation after one of the file. EISDIR, EMFILE beyond
// Options.OpenFiles, EACCES. To write a file anew without losing the old one at a
// crash, create another, Sync it, Rename it, and Sync the directory.
func (l *Layer) Create(path string) (afero.File, error) {
	return l.open(Event{Op: OpCreate, Path: path}, func() (afero.File, error) { return l.fs.Create(path) })
}

// Open is os.Open. A directory can be opened too, to list it and to Sync it, which is
// how a name is made durable. EMFILE, EACCES.
func (l *Layer) Open(path string) (afero.File, error) {
	return l.open(Event{Op: OpOpen, Path: path}, func() (afero.File, error) { return l.fs.Open(path) })
}

// OpenFile is os.OpenFile with the flags of open(2): O_APPEND holds for every
// write, O_EXCL with O_CREATE fails with EEXIST on anything that exists, dangling
// symbolic links included, and O_SYNC follows each write with a Sync. perm loses
// the bits of the umask and holds for a new file only. EISDIR for writing to a
// directory, EMFILE, EACCES; ELOOP for a link with O_NOFOLLOW.
func (l *Layer) OpenFile(path string, flag int, perm fs.FileMode) (afero.File, error) {
	return l.open(Event{Op: OpOpenFile, Path: path, Flag: flag, Perm: perm}, func() (afero.File, error) { return l.fs.OpenFile(path, flag, perm) })
}

// open is do for the three calls that return a handle. If the effect succeeded and a
// rule gives an error after it, the file is there and nobody has the handle, so it is
// closed here and not counted as open.
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

// Mkdir is os.Mkdir; the parent must exist (mkdir(2), ENOENT), and the name must not
// (EEXIST). It is durable after a Sync of the parent.
func (l *Layer) Mkdir(path string, perm fs.FileMode) error {
	if !l.active.Load() {
		return l.fs.Mkdir(path, perm)
	}
	return l.do(Event{Op: OpMkdir, Path: path, Perm: perm}, func(*Event, verdict) error { return l.fs.Mkdir(path, perm) })
}

// MkdirAll is os.MkdirAll. Each directory made is an entry of its parent, and
// so it takes a Sync of every parent to make the path durable. To sync the last one
// only is the most common way to lose a whole tree. ENOTDIR if a file is in the way.
func (l *Layer) MkdirAll(path string, perm fs.FileMode) error {
	if !l.active.Load() {
		return l.fs.MkdirAll(path, perm)
	}
	return l.do(Event{Op: OpMkdirAll, Path: path, Perm: perm}, func(*Event, verdict) error { return l.fs.MkdirAll(path, perm) })
}

// Remove is os.Remove: a file or an empty directory (ENOTEMPTY otherwise).
// Handles stay usable, and the bytes in use, until the last is closed
// (unlink(2)). Until a Sync of the directory a crash may bring the file back. EBUSY
// for the root, EACCES, EPERM for another's file in a sticky directory.
func (l *Layer) Remove(path string) error {
	if !l.active.Load() {
		return l.fs.Remove(path)
	}
	return l.do(Event{Op: OpRemove, Path: path}, func(*Event, verdict) error { return l.fs.Remove(path) })
}

// RemoveAll is os.RemoveAll; what does not exist is no error. It is one
// operation for rules and hooks, and one change for each entry at a crash. It goes on
// after an error and returns the first, so part of the tree may be gone. EINVAL for
// a path that ends in "."; the root loses what is in it, and is EBUSY itself.
func (l *Layer) RemoveAll(path string) error {
	if !l.active.Load() {
		return l.fs.RemoveAll(path)
	}
	return l.do(Event{Op: OpRemoveAll, Path: path}, func(*Event, verdict) error { return l.fs.RemoveAll(path) })
}

// Rename is os.Rename: atomic, replacing a file that has the new name, but not
// a directory (rename(2); package os refuses even an empty one). It is durable
// after a Sync of both directories; see the package documentation for what a
// crash may leave before that. The bytes of the file are another matter: Sync it
// before, or the new name may lead to an empty file. EEXIST for a directory as
// target, ENOTDIR, EINVAL for a directory into itself, EACCES, EPERM.
func (l *Layer) Rename(from, to string) error {
	if !l.active.Load() {
		return l.fs.Rename(from, to)
	}
	return l.do(Event{Op: OpRename, Path: from, NewPath: to}, func(*Event, verdict) error { return l.fs.Rename(from, to) })
}

// Chmod is os.Chmod: permission, set-ID and sticky bits; others are ignored. A link is
// followed. It is durable after a Sync of the file. EPERM for another's file.
func (l *Layer) Chmod(path string, mode fs.FileMode) error {
	if !l.active.Load() {
		return l.fs.Chmod(path, mode)
	}
	return l.do(Event{Op: OpChmod, Path: path, Perm: mode}, func(*Event, verdict) error { return l.fs.Chmod(path, mode) })
}

// Chown is os.Chown; -1 leaves the user or group as it is. EPERM unless the caller is
// the superuser, or the owner who changes the group to his own.
func (l *Layer) Chown(path string, uid, gid int) error {
	if !l.active.Load() {
		return l.fs.Chown(path, uid, gid)
	}
	return l.do(Event{Op: OpChown, Path: path, UID: uid, GID: gid}, func(*Event, verdict) error { return l.fs.Chown(path, uid, gid) })
}

// Chtimes is os.Chtimes; a zero time leaves that time as it is. Times are durable
// with the next Sync, and may survive a crash before it. EPERM for another's file.
func (l *Layer) Chtimes(path string, atime, mtime time.Time) error {
	if !l.active.Load() {
		return l.fs.Chtimes(path, atime, mtime)
	}
	return l.do(Event{Op: OpChtimes, Path: path, Atime: atime, Mtime: mtime}, func(*Event, verdict) error { return l.fs.Chtimes(path, atime, mtime) })
}

// Stat is os.Stat: a link is followed. The FileInfo is a snapshot, and its Sys a *Stat
// on an FS.
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

// unless drops a result that comes with an error, which a fault after the effect makes
// possible and no caller expects.
func unless[T any](err error, result T) (none T) {
	if err != nil {
		return none
	}
	return result
}

// LstatIfPossible is os.Lstat: it tells about a link itself. Where the file system
// below has no Lstat it is Stat, and the bool is false; on an FS it is true.
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

// SymlinkIfPossible is os.Symlink, or afero.ErrNoSymlink where the file system below
// has none. The target need not exist, but must not be empty (ENOENT). EEXIST.
func (l *Layer) SymlinkIfPossible(target, path string) error {
	return l.do(Event{Op: OpSymlink, Path: path, NewPath: target}, func(e *Event, _ verdict) error {
		if s, ok := l.fs.(afero.Linker); ok {
			return s.SymlinkIfPossible(target, path)
		}
		return wrapError(e, afero.ErrNoSymlink)
	})
}

// ReadlinkIfPossible is os.Readlink, or afero.ErrNoReadlink. EINVAL for what is not a
// link.
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

// layerFile is a handle of the file system below, around which the Layer does for
// File what it does for Fs. The path of its events is the one it was opened with,
// also after a rename, because that is what the caller's code says.
type layerFile struct {
	l *Layer
	f afero.File
}

func (f *layerFile) Name() string { return f.f.Name() }

// event is the beginning of an Event of this handle.
func (f *layerFile) event(op Op) Event { return Event{Op: op, Path: f.f.Name()} }

// Close closes the handle below unless a rule fails it before the effect: then it is
// still open, and to be closed again. Linux never does that (close(2), "Dealing
// with error returns"); use after to do as Linux.
func (f *layerFile) Close() error {
	if !f.l.active.Load() {
		return f.f.Close()
	}
	return f.l.do(f.event(OpClose), func(*Event, verdict) error { return f.f.Close() })
}

// Sync does not go through do, because a rule with Clean has an effect of its own in
// place of the real one. An error before the effect leaves what is unsynced as it
// was, to be tried again; one after it tells the caller of a failure that was none.
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
	// In this order: forget, or sync (and perhaps lie about it), or neither.
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

// Seek reports an offset of 0 with an error, also if a fault came after the effect and
// the offset has moved.
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

// WriteString passes on a string, so that a file system below with a faster way for
// those can use it.
func (f *layerFile) WriteString(s string) (int, error) {
	if !f.l.active.Load() {
		return f.f.WriteString(s)
	}
	return f.transfer(f.event(OpWriteString), []byte(s), func(p []byte) (int, error) { return f.f.WriteString(string(p)) })
}

// transfer reads or writes p, or the part of it that a rule lets through. A short
// read is no error (read(2)), a short write is one for every io.Writer, which is
// why the rule's error, or io.ErrShortWrite without one, comes with the count. To
// corrupt a read changes the caller's copy only: another read finds it whole, as
// with a bad cable and not a bad disk.
func (f *layerFile) transfer(e Event, p []byte, call func([]byte) (int, error)) (int, error) {
	e.N = len(p)
	n := 0
	err := f.l.do(e, func(e *Event, v verdict) (err error) {
		part := p
		if v.short >= 0 && len(p) > 0 {
			part = p[:min(v.short, len(p)-1)] // a rule that fires is felt; of one byte nothing is left
		}
		// What really goes wrong comes first; then what the rule says about a
		// transfer that went well.
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

// Readdir and Readdirnames keep what they have read if there is an error, as those of
// package os do.
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
