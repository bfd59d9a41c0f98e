package fsmem

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/spf13/afero"
)

// The open(2) flags beyond those of package os, with their values on Linux. Other
// flags are accepted and have no effect.
const (
	flagNoFollow  = 0x20000
	flagDirectory = 0x10000
	flagDSync     = 0x1000 // O_SYNC contains it
	accessMode    = 3
)

// handle is an open file or directory, what Linux calls an open file description. It
// refers to an inode and not to a path, so it survives renames and removals. Its
// fields are guarded by the lock of the core, and so the offset moves by one read
// or write at a time (read(2), POSIX on concurrent offsets).
type handle struct {
	c      *core
	id     uint64
	path   string // as it was given, for errors and Name; never looked up again
	n      *inode
	flag   int
	off    int64 // of a directory, the number of entries returned
	closed bool
	place  *callers // nil with Options.NoPlaces

	// The names of a directory as they were at the first read of it, so that
	// each entry is seen once whatever happens to the others (readdir(3)); those
	// that were removed since are passed over.
	names []string
	read  bool
}

var _ afero.File = (*handle)(nil)

// readable and writable go by the access mode. The value 3, which is neither, allows
// nothing, as in open(2).
func (h *handle) readable() bool {
	return h.flag&accessMode == os.O_RDONLY || h.flag&accessMode == os.O_RDWR
}
func (h *handle) writable() bool {
	return h.flag&accessMode == os.O_WRONLY || h.flag&accessMode == os.O_RDWR
}

// open is open(2), in the order of the checks of path_openat in fs/namei.c.
//
// Who creates a file may use the handle as it was asked for, whatever the mode of
// the new file says; permissions are checked when it is opened again. A new file
// is a pending entry of its directory, and truncating an old one a pending
// operation of the file: after a crash it may have its old bytes, or none.
func (c *core) open(path string, flag int, perm fs.FileMode, now time.Time) (*handle, error) {
	if flag&flagDirectory != 0 && flag&os.O_CREATE != 0 {
		return nil, syscall.EINVAL
	}
	// A descriptor is taken before the path is looked at (do_sys_openat2).
	if c.opts.OpenFiles > 0 && len(c.handles) >= c.opts.OpenFiles {
		return nil, syscall.EMFILE
	}
	// O_EXCL stops at a link even if it leads nowhere (open(2)): otherwise a link that
	// somebody else has put there could choose the file. With a slash behind the name
	// O_CREATE is EISDIR, whatever there is.
	mode := walkFollow
	if flag&os.O_CREATE != 0 {
		mode = walkCreate
	}
	if flag&flagNoFollow != 0 || flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0 {
		mode = walkNoFollow
	}
	if flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0 {
		mode = walkEntry
	}
	p, err := c.walk(path, mode)
	if err != nil {
		return nil, err
	}
	n := p.node
	if flag&os.O_CREATE != 0 && p.slash {
		return nil, syscall.EISDIR
	}
	created := false
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		return nil, syscall.ENOENT
	case n == nil:
		if err := c.mayChange(p.dir); err != nil {
			return nil, err
		}
		n = c.create(p.dir, perm&modeBits&^c.opts.Umask, now)
		c.link(p.dir, p.name, n, now)
		c.record(half{dir: p.dir, name: p.name, to: n})
		created = true
	case flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, syscall.EEXIST
	case flag&os.O_CREATE != 0 && n.isDir():
		return nil, syscall.EISDIR
	case n.isLink():
		if flag&flagDirectory != 0 {
			return nil, syscall.ENOTDIR
		}
		return nil, syscall.ELOOP
	case !n.isDir() && (p.slash || flag&flagDirectory != 0):
		return nil, syscall.ENOTDIR
	}
	// What exists is checked for the rights that the access mode asks for. O_TRUNC
	// asks for the right to write even without the mode for it.
	if !created {
		if n.isDir() && (flag&accessMode != os.O_RDONLY || flag&os.O_TRUNC != 0) {
			return nil, syscall.EISDIR
		}
		want := [4]uint32{mayRead, mayWrite, mayRead | mayWrite, mayRead | mayWrite}[flag&accessMode]
		if flag&os.O_TRUNC != 0 {
			want |= mayWrite
		}
		if err := c.may(n, want); err != nil {
			return nil, err
		}
		if flag&os.O_TRUNC != 0 { // sets the time of an empty file too
			c.truncate(n, 0, now)
		}
	}
	// Ids go up, so that sorting by them gives the order of opening.
	n.opens++
	c.nextHandle++
	h := &handle{c: c, id: c.nextHandle, path: path, n: n, flag: flag}
	if !c.opts.NoPlaces {
		h.place = new(callers)
		h.place.record()
	}
	if c.handles == nil {
		c.handles = make(map[uint64]*handle)
	}
	c.handles[h.id] = h
	return h, nil
}

// fail wraps an errno as *os.File does, with the path given to open.
func (h *handle) fail(op string, err error) error {
	return &fs.PathError{Op: op, Path: h.path, Err: err}
}

// Every method below gives the errors of *os.File: the wrapping is
// *fs.PathError, the Op is that of package os and not always the method's name,
// and the errno is what Linux returns for ext4. What package os answers without
// asking the kernel, such as a WriteAt of no bytes, is answered here without
// looking at the file.

// lock takes the lock for an operation; it fails with fs.ErrClosed, and without the
// lock, if the handle is closed. Package os checks that before anything else but
// arguments that it refuses by itself.
func (h *handle) lock(op string) error {
	h.c.mu.Lock()
	if h.closed {
		h.c.mu.Unlock()
		return h.fail(op, fs.ErrClosed)
	}
	return nil
}

// Name is the path that the handle was opened with, also after a rename.
func (h *handle) Name() string { return h.path }

// Close ends the use of the handle, and that of the file's bytes if it was removed
// and this was the last. It syncs nothing and reports no earlier error (close(2)).
func (h *handle) Close() error {
	if err := h.lock("close"); err != nil {
		return err
	}
	defer h.c.mu.Unlock()
	h.closed = true
	h.names = nil
	h.n.opens--
	delete(h.c.handles, h.id)
	h.c.forget(h.n)
	return nil
}

// Stat is fstat(2). It works on a file that has no name any more; Links is 0 then.
func (h *handle) Stat() (fs.FileInfo, error) {
	if err := h.lock("stat"); err != nil {
		return nil, err
	}
	defer h.c.mu.Unlock()
	return h.n.info(baseName(h.path)), nil
}

// Sync is fsync(2), which a handle that cannot write may call too. By itself it never
// fails; that takes a Rule.
func (h *handle) Sync() error {
	if err := h.lock("sync"); err != nil {
		return err
	}
	defer h.c.mu.Unlock()
	h.c.sync(h.n)
	return nil
}

// loseSync is a Sync that fails and marks the pages clean; see Rule. The Layer gives
// the error, and calls this only on handles of this package: a real disk cannot be
// made to forget.
func (h *handle) loseSync() {
	if h.lock("sync") == nil {
		h.c.failSync(h.n)
		h.c.mu.Unlock()
	}
}

// Read is read(2): EBADF without the right to read, EISDIR, io.EOF at the end.
func (h *handle) Read(p []byte) (int, error) {
	if err := h.lock("read"); err != nil {
		return 0, err
	}
	defer h.c.mu.Unlock()
	if len(p) == 0 {
		return 0, nil // package os does not even ask the kernel
	}
	if err := h.mayRead(); err != nil {
		return 0, h.fail("read", err)
	}
	n := h.n.content.readAt(p, h.off)
	if n == 0 {
		return 0, io.EOF
	}
	h.off += int64(n)
	return n, nil
}

// mayRead has the order of the kernel: the mode of the handle, then the type.
func (h *handle) mayRead() error {
	switch {
	case !h.readable():
		return syscall.EBADF
	case h.n.isDir():
		return syscall.EISDIR
	}
	return nil
}

// errNegativeOffset has the text that package os gives; it has no name there.
var errNegativeOffset = errors.New("negative offset")

// ReadAt is pread(2), repeated until p is full or the file ends, with io.EOF then. It
// does not move the offset.
func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, h.fail("readat", errNegativeOffset)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if err := h.lock("read"); err != nil {
		return 0, err
	}
	defer h.c.mu.Unlock()
	if err := h.mayRead(); err != nil {
		return 0, h.fail("read", err)
	}
	n := h.n.content.readAt(p, off)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Write is write(2): at the end of the file if it was opened with O_APPEND, else at
// the offset. EBADF without the right to write; ENOSPC beyond the quota and EFBIG
// beyond the largest file, with the count of what was stored before.
func (h *handle) Write(p []byte) (int, error) {
	now := h.c.opts.Now()
	if err := h.lock("write"); err != nil {
		return 0, err
	}
	defer h.c.mu.Unlock()
	if !h.writable() {
		return 0, h.fail("write", syscall.EBADF)
	}
	if h.flag&os.O_APPEND != 0 && len(p) > 0 { // no bytes move no offset
		h.off = h.n.content.size
	}
	// What is stored moves the offset and is synced, also if the rest did not fit.
	n, err := h.c.write(h.n, p, h.off, now)
	h.off += int64(n)
	if h.flag&flagDSync != 0 {
		h.written(n)
	}
	if err != nil {
		return n, h.fail("write", err)
	}
	return n, nil
}

// WriteString is Write.
func (h *handle) WriteString(s string) (int, error) { return h.Write([]byte(s)) }

// errAppendWriteAt has the text of the error that package os keeps to itself.
var errAppendWriteAt = errors.New("os: invalid use of WriteAt on file opened with O_APPEND")

// WriteAt is pwrite(2). On a handle with O_APPEND, where Linux would append, package
// os refuses.
func (h *handle) WriteAt(p []byte, off int64) (int, error) {
	if h.flag&os.O_APPEND != 0 {
		return 0, errAppendWriteAt
	}
	if off < 0 {
		return 0, h.fail("writeat", errNegativeOffset)
	}
	if len(p) == 0 {
		return 0, nil
	}
	now := h.c.opts.Now()
	if err := h.lock("write"); err != nil {
		return 0, err
	}
	defer h.c.mu.Unlock()
	if !h.writable() {
		return 0, h.fail("write", syscall.EBADF)
	}
	n, err := h.c.write(h.n, p, off, now)
	if h.flag&flagDSync != 0 {
		h.written(n)
	}
	if err != nil {
		return n, h.fail("write", err)
	}
	return n, nil
}

// written makes a write durable because the file was opened so (open(2), O_SYNC). For
// O_DSYNC it does more than asked: times are synced too.
func (h *handle) written(n int) {
	if n > 0 {
		h.c.sync(h.n)
	}
}

// The order in write matters: what could fail is found out first, then the log
// takes its snapshot of the file as it was, and only then the bytes change.
//
// write is pwrite(2); it stores a part of p if the rest does not fit.
func (c *core) write(n *inode, p []byte, off int64, now time.Time) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if off >= maxFileSize {
		return 0, syscall.EFBIG
	}
	// Limits shorten the write first, so that everything below is about bytes that
	// will be stored. The file's own limit comes before the disk's.
	var short error
	if int64(len(p)) > maxFileSize-off {
		p, short = p[:maxFileSize-off], syscall.EFBIG
	}
	if c.opts.Quota > 0 {
		room := max(0, c.opts.Quota-c.usedBytes())
		if fits := n.content.fit(int64(len(p)), off, room); fits < len(p) {
			p, short = p[:fits], syscall.ENOSPC
			if fits == 0 {
				return 0, short
			}
		}
	}
	n.logWrite(off, off+int64(len(p)))
	// Bytes written again are dirty again, and not lost.
	if len(n.lost) > 0 {
		n.lost = subtractSpan(n.lost, span{off, off + int64(len(p))})
	}
	before := n.content.used
	done := n.content.writeAt(p, off)
	c.used.add(n.content.used - before)
	c.touch(n, now)
	if n.visible {
		c.seen.gen++
	}
	return done, short
}

// truncate is ftruncate(2) after its checks. To the size that it has already it only
// sets the time.
func (c *core) truncate(n *inode, size int64, now time.Time) {
	if size != n.content.size {
		n.logTruncate(size)
		before := n.content.used
		n.content.truncate(size)
		n.lost = cutSpans(n.lost, size)
		c.used.add(n.content.used - before)
	}
	c.touch(n, now)
	if n.visible {
		c.seen.gen++
	}
}

// Truncate is ftruncate(2): EINVAL for a negative size or a handle that cannot write,
// which for a directory is always; EFBIG beyond the largest file.
func (h *handle) Truncate(size int64) error {
	now := h.c.opts.Now()
	if err := h.lock("truncate"); err != nil {
		return err
	}
	defer h.c.mu.Unlock()
	switch {
	case size < 0, !h.writable():
		return h.fail("truncate", syscall.EINVAL)
	case size > maxFileSize:
		return h.fail("truncate", syscall.EFBIG)
	}
	h.c.truncate(h.n, size, now)
	return nil
}

// The whence values of lseek(2) that package io does not have; package os passes them
// to the kernel.
const (
	seekData = 3
	seekHole = 4
)

// Seek is lseek(2): EINVAL for an offset before the beginning or beyond the largest
// file, ENXIO for SEEK_DATA and SEEK_HOLE beyond the end. Beyond the end is allowed,
// and a write there leaves a hole. A directory is listed anew, from the entry with
// that number on.
func (h *handle) Seek(offset int64, whence int) (int64, error) {
	if err := h.lock("seek"); err != nil {
		return 0, err
	}
	defer h.c.mu.Unlock()
	size := int64(0)
	if h.n.isFile() {
		size = h.n.content.size
	}
	at := offset
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		at += h.off
	case io.SeekEnd:
		at += size
	case seekData, seekHole:
		// lseek(2) allows a file system to call everything data, with one hole at
		// the end; programs that ask must live with that on a disk too.
		if offset < 0 || offset >= size {
			return 0, h.fail("seek", syscall.ENXIO)
		}
		if whence == seekHole {
			at = size
		}
	default:
		return 0, h.fail("seek", syscall.EINVAL)
	}
	if at < 0 || at > maxFileSize {
		return 0, h.fail("seek", syscall.EINVAL)
	}
	h.off = at
	// rewinddir(3): the next read takes the names anew.
	if h.n.isDir() {
		h.names, h.read = nil, false
		if at > 0 {
			h.seekDir(int(at))
		}
	}
	return at, nil
}

// Directories: the offset counts the entries returned. On a disk it is a cookie of
// the file system, of which only 0 has a meaning.

// seekDir takes the names as they are now, less the first n.
func (h *handle) seekDir(n int) {
	h.names, h.read = h.c.names(h.n), true
	h.names = h.names[min(n, len(h.names)):]
}

// next calls f for up to max names not yet returned that still exist, or for
// all of them if max is not positive. Names made since the first read are not among
// them, which readdir(3) leaves open. Errors are those of getdents(2): ENOTDIR, and
// ENOENT for a directory that has been removed.
func (h *handle) next(max int, f func(name string, n *inode) error) error {
	if err := h.lock("readdirent"); err != nil {
		return err
	}
	defer h.c.mu.Unlock()
	switch {
	case !h.n.isDir():
		return h.fail("readdirent", syscall.ENOTDIR)
	case h.n.nlink == 0:
		return h.fail("readdirent", syscall.ENOENT)
	}
	if !h.read {
		h.seekDir(0)
	}
	found := 0
	for len(h.names) > 0 && (max <= 0 || found < max) {
		name := h.names[0]
		h.names = h.names[1:]
		h.off++
		if n := h.c.child(h.n, name); n != nil {
			if err := f(name, n); err != nil {
				return err
			}
			found++
		}
	}
	// Only who asked for a number is told of the end.
	if max > 0 && found == 0 {
		return io.EOF
	}
	return nil
}

// Readdir is (*os.File).Readdir: with a positive count io.EOF at the end, without one
// an empty slice and no error.
func (h *handle) Readdir(count int) ([]fs.FileInfo, error) {
	infos := []fs.FileInfo{}
	err := h.next(count, func(name string, n *inode) error {
		if err := h.c.may(h.n, mayExec); err != nil { // package os looks every name up
			return h.fail("fstatat", err)
		}
		infos = append(infos, n.info(name))
		return nil
	})
	return infos, err
}

// Readdirnames is Readdir without looking the names up, and so needs no permission
// to search the directory.
func (h *handle) Readdirnames(count int) ([]string, error) {
	names := []string{}
	err := h.next(count, func(name string, _ *inode) error {
		names = append(names, name)
		return nil
	})
	return names, err
}
