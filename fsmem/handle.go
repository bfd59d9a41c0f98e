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

// The open(2) flags beyond those of package os, with their values on Linux.
const (
	flagNoFollow  = 0x20000
	flagDirectory = 0x10000
	flagDSync     = 0x1000 // O_SYNC contains it
	accessMode    = 3
)

// handle is an open file or directory. Its fields are guarded by the lock.
type handle struct {
	c      *core
	id     uint64
	path   string
	n      *inode
	flag   int
	off    int64
	closed bool
	place  callers

	// The names of a directory as they were at the first read of it, so that
	// each entry is seen once whatever happens to the others (readdir(3)).
	names []string
	read  bool
}

var _ afero.File = (*handle)(nil)

func (h *handle) readable() bool {
	return h.flag&accessMode == os.O_RDONLY || h.flag&accessMode == os.O_RDWR
}
func (h *handle) writable() bool {
	return h.flag&accessMode == os.O_WRONLY || h.flag&accessMode == os.O_RDWR
}

// open is open(2), in the order of the checks of path_openat in fs/namei.c.
func (c *core) open(path string, flag int, perm fs.FileMode, now time.Time) (*handle, error) {
	if flag&flagDirectory != 0 && flag&os.O_CREATE != 0 {
		return nil, syscall.EINVAL
	}
	if c.opts.OpenFiles > 0 && len(c.handles) >= c.opts.OpenFiles {
		return nil, syscall.EMFILE
	}
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
	n.opens++
	c.nextHandle++
	h := &handle{c: c, id: c.nextHandle, path: path, n: n, flag: flag}
	if !c.opts.NoPlaces {
		h.place.record()
	}
	if c.handles == nil {
		c.handles = make(map[uint64]*handle)
	}
	c.handles[h.id] = h
	return h, nil
}

func (h *handle) fail(op string, err error) error {
	return &fs.PathError{Op: op, Path: h.path, Err: err}
}

// Every method below gives the errors of *os.File: the wrapping is
// *fs.PathError, the Op is that of package os and not always the method's name,
// and the errno is what Linux returns for ext4.

// lock takes the lock for an operation; it fails if the handle is closed.
func (h *handle) lock(op string) error {
	h.c.mu.Lock()
	if h.closed {
		h.c.mu.Unlock()
		return h.fail(op, fs.ErrClosed)
	}
	return nil
}

func (h *handle) Name() string { return h.path }

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

func (h *handle) Stat() (fs.FileInfo, error) {
	if err := h.lock("stat"); err != nil {
		return nil, err
	}
	defer h.c.mu.Unlock()
	return h.n.info(baseName(h.path)), nil
}

func (h *handle) Sync() error {
	if err := h.lock("sync"); err != nil {
		return err
	}
	defer h.c.mu.Unlock()
	h.c.sync(h.n)
	return nil
}

// loseSync is a Sync that fails and marks the pages clean; see Rule.
func (h *handle) loseSync() {
	if h.lock("sync") == nil {
		h.c.failSync(h.n)
		h.c.mu.Unlock()
	}
}

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

func (h *handle) mayRead() error {
	switch {
	case !h.readable():
		return syscall.EBADF
	case h.n.isDir():
		return syscall.EISDIR
	}
	return nil
}

var errNegativeOffset = errors.New("negative offset")

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

func (h *handle) WriteString(s string) (int, error) { return h.Write([]byte(s)) }

// errAppendWriteAt has the text of the error that package os keeps to itself.
var errAppendWriteAt = errors.New("os: invalid use of WriteAt on file opened with O_APPEND")

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

// written makes a write durable because the file was opened so (open(2), O_SYNC).
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

// truncate is ftruncate(2) after its checks.
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

// The whence values of lseek(2) that package io does not have.
const (
	seekData = 3
	seekHole = 4
)

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
		// lseek(2) allows a file system to call everything data.
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
	if h.n.isDir() {
		h.names, h.read = nil, false
		if at > 0 {
			h.seekDir(int(at))
		}
	}
	return at, nil
}

// Directories: the offset counts the entries returned.

func (h *handle) seekDir(n int) {
	h.names, h.read = h.c.names(h.n), true
	h.names = h.names[min(n, len(h.names)):]
}

// next calls f for up to max names not yet returned that still exist, or for
// all of them if max is not positive.
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
	if max > 0 && found == 0 {
		return io.EOF
	}
	return nil
}

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

func (h *handle) Readdirnames(count int) ([]string, error) {
	names := []string{}
	err := h.next(count, func(name string, _ *inode) error {
		names = append(names, name)
		return nil
	})
	return names, err
}
