package fsmem

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/afero"
)

var (
	_ afero.Fs        = (*FS)(nil)
	_ afero.Symlinker = (*FS)(nil)
	_ afero.Fs        = (*core)(nil)
	_ afero.Symlinker = (*core)(nil)
)

// The methods of core put its calls together in the way of package os, down to
// the names in its errors. They take the lock, and before that the time, which is
// the caller's function and may do anything but call back. The contracts are with
// the methods of Layer, which is what a caller sees.
//
// What package os adds to the kernel is here and nowhere else: Remove tries two
// calls and picks an error, Rename refuses directories as targets, MkdirAll makes
// parents by the text of the path, RemoveAll has errors called "unlinkat" and
// "openfdat" with paths put together from pieces, and a NUL is EINVAL. fstestx
// compares all of it with a real disk, call by call.

// Name is how afero tells file systems apart.
func (c *core) Name() string { return "fsmem" }

// pathError is nil for a nil error, so that a call can be wrapped in one line.
func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// linkError is pathError for calls with two paths.
func linkError(op, from, to string, err error) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: op, Old: from, New: to, Err: err}
}

// Create has the flags and the mode of os.Create; the umask is still to come.
func (c *core) Create(path string) (afero.File, error) {
	return c.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open has no mode: it never creates.
func (c *core) Open(path string) (afero.File, error) {
	return c.OpenFile(path, os.O_RDONLY, 0)
}

// OpenFile returns no handle with an error: a nil *handle in the interface would not
// be nil.
func (c *core) OpenFile(path string, flag int, perm fs.FileMode) (afero.File, error) {
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	h, err := c.open(path, flag, perm, now)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	return h, nil
}

// Mkdir is mkdir(2) with the lock and the name of the call in its error, as most
// methods here are.
func (c *core) Mkdir(path string, perm fs.FileMode) error {
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	return pathError("mkdir", path, c.mkdir(path, perm, now))
}

func (c *core) MkdirAll(path string, perm fs.FileMode) error {
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mkdirAll(path, perm, now)
}

// mkdirAll does what os.MkdirAll does, with one lock around it. The path is cut by
// bytes and not cleaned, so "a/../b" makes a first, as package os does. Each
// directory is a change of its own, so a crash may leave the upper ones.
func (c *core) mkdirAll(path string, perm fs.FileMode, now time.Time) error {
	if n, err := c.find(path, walkFollow); err == nil {
		if n.isDir() {
			return nil
		}
		return pathError("mkdir", path, syscall.ENOTDIR)
	}
	// The parent comes before the last element and the slashes on both sides of it.
	i := len(path) - 1
	for i >= 0 && path[i] == '/' {
		i--
	}
	for i >= 0 && path[i] != '/' {
		i--
	}
	if i > 0 {
		if err := c.mkdirAll(path[:i], perm, now); err != nil {
			return err
		}
	}
	err := c.mkdir(path, perm, now)
	if err != nil {
		// For a path such as "a/.", where the name is taken, or cannot be one.
		if n, err := c.find(path, walkNoFollow); err == nil && n.isDir() {
			return nil
		}
	}
	return pathError("mkdir", path, err)
}

// Remove has one lock around the two attempts, where os.Remove can see the file turn
// into a directory in between.
func (c *core) Remove(path string) error {
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	return pathError("remove", path, c.remove(path, now))
}

// remove tries unlink(2), then rmdir(2), and gives the error of the one that
// fits, as os.Remove: ENOTDIR of rmdir says that it was a file, and then unlink knew
// better why not.
func (c *core) remove(path string, now time.Time) error {
	err := c.unlinkFile(path, now)
	if err == nil {
		return nil
	}
	err1 := c.rmdir(path, now)
	if err1 == nil {
		return nil
	}
	if err1 != syscall.ENOTDIR {
		err = err1
	}
	return err
}

// RemoveAll follows os.RemoveAll on systems with unlinkat(2). To remove at once is
// tried first, and the parent is opened only if that fails, which is where the
// "open" of some errors comes from.
func (c *core) RemoveAll(path string) error {
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case path == "":
		return nil // as package os does, for old times' sake
	case path == ".", strings.HasSuffix(path, "/."):
		return pathError("RemoveAll", path, syscall.EINVAL)
	}
	err := c.remove(path, now)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	// Package os opens the parent to read, so it takes the right to read it.
	parent, base := splitPath(path)
	dir, err := c.find(parent, walkFollow)
	if err == nil {
		err = c.may(dir, mayRead)
	}
	if err == nil && !dir.isDir() {
		return pathError("unlinkat", parent+"/"+base, syscall.ENOTDIR)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return pathError("open", parent, err)
	}
	if base == "/" {
		base = ""
		dir = c.root
	}
	if op, at, err := c.removeTree(dir, base, now); err != nil {
		return pathError(op, parent+"/"+at, err)
	}
	return nil
}

// splitPath cuts off the last element as os.RemoveAll does, which keeps the name in
// the path of its errors.
func splitPath(path string) (dir, base string) {
	for len(path) > 1 && path[len(path)-1] == '/' {
		path = path[:len(path)-1]
	}
	if path == "/" {
		return ".", path
	}
	switch i := strings.LastIndexByte(path, '/'); i {
	case -1:
		return ".", path
	case 0:
		return "/", path[1:]
	default:
		return path[:i], path[i+1:]
	}
}

// removeTree removes an entry and what is below it, with the steps of
// removeAllFrom in package os; the root has no name. It removes what it can and
// returns the first error, with the operation and the path from dir on.
func (c *core) removeTree(dir *inode, name string, now time.Time) (op, at string, err error) {
	at = name
	if name == "" {
		at = "/"
	}
	// Removing as a file comes first, since most entries are files. The root, "." and
	// ".." cannot be, and the kernel says EISDIR for them.
	n, unlinkErr := c.entry(dir, name)
	if unlinkErr == nil {
		switch name {
		case "", ".", "..":
			unlinkErr = syscall.EISDIR
		default:
			unlinkErr = c.unlinkEntry(dir, name, n, now)
		}
	}
	// EPERM and EACCES may be for a directory too, on systems where unlink(2) does
	// not say EISDIR, so package os goes on.
	switch unlinkErr {
	case nil, syscall.ENOENT:
		return "", "", nil
	case syscall.EISDIR, syscall.EPERM, syscall.EACCES:
	default:
		return "unlinkat", at, unlinkErr
	}
	// It may be a directory all the same: open it and remove its entries. The names
	// are taken once, for nobody can add to them under the lock.
	var first error
	var firstOp, firstAt string
	n, err = c.entry(dir, name)
	switch {
	case err != nil:
	case n.isLink():
		err = unlinkErr
	case !n.isDir():
		return "unlinkat", at, unlinkErr
	default:
		err = c.may(n, mayRead)
	}
	if err != nil {
		firstOp, firstAt, first = "openfdat", at, err
	} else {
		for _, child := range c.names(n) {
			if op, sub, err := c.removeTree(n, child, now); err != nil && first == nil {
				firstOp, firstAt, first = op, at+"/"+sub, err
			}
		}
	}
	// At last the directory itself, even if something in it could not be removed:
	// the first error counts only if this one fails too.
	switch name {
	case "":
		err = syscall.EBUSY
	case ".":
		err = syscall.EINVAL
	case "..":
		err = syscall.ENOTEMPTY
	default:
		if n, err = c.entry(dir, name); err == nil {
			err = c.rmdirEntry(dir, name, n, now)
		}
	}
	switch {
	case err == nil || err == syscall.ENOENT:
		return "", "", nil
	case first != nil:
		return firstOp, firstAt, first
	}
	return "unlinkat", at, err
}

// entry looks up one name in a directory that is open, as fstatat(2) does with a name
// without slashes; links are not followed.
func (c *core) entry(dir *inode, name string) (*inode, error) {
	if name == "" {
		return c.root, nil
	}
	if hasNUL(name) {
		return nil, syscall.EINVAL
	}
	if err := c.may(dir, mayExec); err != nil {
		return nil, err
	}
	switch {
	case name == ".":
		return dir, nil
	case name == "..":
		return dir.parent, nil
	case len(name) > maxName:
		return nil, syscall.ENAMETOOLONG
	}
	n := c.child(dir, name)
	if n == nil {
		return nil, syscall.ENOENT
	}
	return n, nil
}

// Rename asks what os.Rename asks before it calls the kernel. That takes two look-ups
// more, but under one lock nothing can change in between.
func (c *core) Rename(from, to string) error {
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	// os.Rename refuses a directory as target, which rename(2) does not; to itself
	// it lets a directory be renamed.
	if t, err := c.find(to, walkNoFollow); err == nil && t.isDir() {
		n, err := c.find(from, walkNoFollow)
		if err != nil {
			return linkError("rename", from, to, err)
		}
		if from == to || n != t {
			return linkError("rename", from, to, syscall.EEXIST)
		}
	}
	return linkError("rename", from, to, c.rename(from, to, now))
}

// Stat is stat(2), which looks only at the directories' permissions.
func (c *core) Stat(path string) (fs.FileInfo, error) {
	return c.stat("stat", path, walkFollow)
}

// LstatIfPossible is os.Lstat; the bool says that it is.
func (c *core) LstatIfPossible(path string) (fs.FileInfo, bool, error) {
	info, err := c.stat("lstat", path, walkNoFollow)
	return info, true, err
}

// stat names the result after the path, as package os does, not after the file that
// a link leads to.
func (c *core) stat(op, path string, mode walkMode) (fs.FileInfo, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.find(path, mode)
	if err != nil {
		return nil, pathError(op, path, err)
	}
	return n.info(baseName(path)), nil
}

// Chmod takes no time from Now: only the time of change of status moves, which package
// fs does not show. The same holds for Chown.
func (c *core) Chmod(path string, mode fs.FileMode) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return pathError("chmod", path, c.chmod(path, mode))
}

func (c *core) Chown(path string, uid, gid int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return pathError("chown", path, c.chown(path, uid, gid))
}

func (c *core) Chtimes(path string, atime, mtime time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return pathError("chtimes", path, c.chtimes(path, atime, mtime))
}

// SymlinkIfPossible stores the target as it is given, relative to where the link is.
func (c *core) SymlinkIfPossible(target, path string) error {
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	return linkError("symlink", target, path, c.symlink(target, path, now))
}

// ReadlinkIfPossible is readlink(2): EINVAL for what is not a link.
func (c *core) ReadlinkIfPossible(path string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.find(path, walkNoFollow)
	if err == nil && !n.isLink() {
		err = syscall.EINVAL
	}
	if err != nil {
		return "", pathError("readlink", path, err)
	}
	return n.target, nil
}
