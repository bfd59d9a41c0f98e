package fsmem

import (
	"io/fs"
	"sort"
	"sync"
	"syscall"
	"time"
)

// core is the file system proper: system calls on inodes and entries, under one
// lock. The calls below the lock are named after those of Linux and return bare
// errno values; fs.go puts them together as package os does.
type core struct {
	mu   sync.Mutex
	opts Options

	// What the disk holds: the durable inodes that some durable entry names.
	owner *owner
	disk  radix[*stable]

	// What is live and not only on the disk.
	root   *inode
	inodes map[uint64]*inode
	next   uint64 // inode number

	pending changeList
	moves   uint64   // of directories, so far
	changed []*inode // those with something to lose, and some that were synced since

	handles    map[uint64]*handle
	nextHandle uint64
	used       usage
	seen       visibleIndex
}

const rootIno = 1

func newCore(o Options) *core {
	c := &core{opts: o, owner: new(owner), next: rootIno + 1}
	a := attrs{mode: fs.ModeDir | 0o777&^o.Umask, uid: o.UID, gid: o.GID}
	a.atime = o.Now()
	a.mtime = a.atime
	*c.disk.slot(c.owner, rootIno) = &stable{owner: c.owner, attrs: a, links: 1}
	c.boot()
	return c
}

// boot begins with what the disk holds and nothing else.
func (c *core) boot() {
	c.inodes = make(map[uint64]*inode)
	c.root = c.load(rootIno, nil, "")
	c.used.known = c.root.count == 0
}

// load makes a live inode of a durable one.
func (c *core) load(ino uint64, dir *inode, name string) *inode {
	st := c.disk.get(ino)
	if st == nil {
		return nil
	}
	n := &inode{ino: ino, attrs: st.attrs, durable: st, nlink: st.links, target: st.target}
	switch {
	case n.isDir():
		n.count = st.names.n
		n.parent = dir
		n.name = name
		if dir == nil {
			n.parent = n
		}
	case n.isFile():
		n.content = newContent(st.data)
	}
	n.visible = dir == nil || dir.visible && !hidden(name)
	if st.links > 1 {
		n.visible = true // by another name perhaps; to be on the safe side
	}
	c.inodes[ino] = n
	return n
}

// child returns the live inode that a directory has under a name, or nil.
func (c *core) child(dir *inode, name string) *inode {
	ino := dir.lookup(name)
	if ino == 0 {
		return nil
	}
	if n := c.inodes[ino]; n != nil {
		return n
	}
	return c.load(ino, dir, name)
}

// create makes an inode without a name.
func (c *core) create(dir *inode, mode fs.FileMode, now time.Time) *inode {
	a := attrs{mode: mode, uid: c.opts.UID, gid: c.opts.GID, atime: now, mtime: now}
	if dir.attrs.mode&fs.ModeSetgid != 0 { // inode(7): the group and the bit are inherited
		a.gid = dir.attrs.gid
		if mode.IsDir() {
			a.mode |= fs.ModeSetgid
		}
	}
	n := &inode{ino: c.next, attrs: a, durable: &stable{owner: c.owner, attrs: a}}
	c.next++
	if n.isFile() {
		n.content = newContent(extent{})
	}
	c.inodes[n.ino] = n
	return n
}

// forget drops an inode that nothing refers to any more.
func (c *core) forget(n *inode) {
	if n.nlink == 0 && n.opens == 0 {
		if n.content != nil && !n.freed {
			n.freed = true
			c.used.add(-n.content.used)
		}
		if n.pending == 0 {
			delete(c.inodes, n.ino)
			n.content, n.log = nil, nil // core.changed may keep n for a while
		}
	}
}

// link and unlink change the live entries only; the caller records the change.
func (c *core) link(dir *inode, name string, n *inode, now time.Time) {
	setDelta(dir, name, n.ino)
	dir.count++
	n.nlink++
	if n.isDir() {
		n.parent, n.name = dir, name
	}
	c.touch(dir, now)
	c.appear(dir, name, n)
}

func (c *core) unlink(dir *inode, name string, n *inode, now time.Time) {
	c.vanish(dir, name, n)
	setDelta(dir, name, 0)
	dir.count--
	n.nlink--
	c.touch(dir, now)
}

func setDelta(dir *inode, name string, ino uint64) {
	if dir.delta == nil {
		dir.delta = make(map[string]uint64)
	}
	dir.delta[name] = ino
}

// touch sets the modification time.
func (c *core) touch(n *inode, now time.Time) {
	n.attrs.mtime = now
	c.markStale(n)
}

func (c *core) markStale(n *inode) {
	n.stale = true
	c.queue(n)
}

// mayChange checks that entries may be made and removed in a directory.
func (c *core) mayChange(dir *inode) error {
	if dir.nlink == 0 {
		return syscall.ENOENT // removed while a handle or path still leads there
	}
	return c.may(dir, mayWrite|mayExec)
}

// mayDelete checks that n may lose its entry in dir: in a sticky directory only
// the owner of either may remove it (unlink(2), EPERM).
func (c *core) mayDelete(dir, n *inode) error {
	if err := c.mayChange(dir); err != nil {
		return err
	}
	if dir.attrs.mode&fs.ModeSticky != 0 && c.owns(n) != nil && c.owns(dir) != nil {
		return syscall.EPERM
	}
	return nil
}

func (c *core) mkdir(path string, perm fs.FileMode, now time.Time) error {
	p, err := c.walk(path, walkEntry)
	switch {
	case err != nil:
		return err
	case p.node != nil:
		return syscall.EEXIST
	}
	if err := c.mayChange(p.dir); err != nil {
		return err
	}
	// mkdir(2): only the permission bits and the sticky bit of mode are used.
	n := c.create(p.dir, fs.ModeDir|perm&(fs.ModePerm|fs.ModeSticky)&^c.opts.Umask, now)
	c.link(p.dir, p.name, n, now)
	c.record(half{dir: p.dir, name: p.name, to: n})
	return nil
}

func (c *core) symlink(target, path string, now time.Time) error {
	switch {
	case hasNUL(target) || hasNUL(path):
		return syscall.EINVAL
	case target == "":
		return syscall.ENOENT
	case len(target) >= maxPath:
		return syscall.ENAMETOOLONG
	}
	p, err := c.walk(path, walkEntry)
	switch {
	case err != nil:
		return err
	case p.node != nil:
		return syscall.EEXIST
	case p.slash:
		return syscall.ENOENT
	}
	if err := c.mayChange(p.dir); err != nil {
		return err
	}
	n := c.create(p.dir, fs.ModeSymlink|0o777, now)
	n.target, n.durable.target = target, target
	c.link(p.dir, p.name, n, now)
	c.record(half{dir: p.dir, name: p.name, to: n})
	return nil
}

// unlinkFile is unlink(2).
func (c *core) unlinkFile(path string, now time.Time) error {
	p, err := c.walk(path, walkEntry)
	switch {
	case err != nil:
		return err
	case p.last != lastName:
		return syscall.EISDIR
	case p.node == nil:
		return syscall.ENOENT
	case p.slash && !p.node.isDir():
		return syscall.ENOTDIR
	case p.slash:
		return syscall.EISDIR
	}
	return c.unlinkEntry(p.dir, p.name, p.node, now)
}

func (c *core) unlinkEntry(dir *inode, name string, n *inode, now time.Time) error {
	if err := c.mayDelete(dir, n); err != nil {
		return err
	}
	if n.isDir() {
		return syscall.EISDIR
	}
	c.removeEntry(dir, name, n, now)
	return nil
}

// rmdir is rmdir(2).
func (c *core) rmdir(path string, now time.Time) error {
	p, err := c.walk(path, walkEntry)
	switch {
	case err != nil:
		return err
	case p.last == lastDot:
		return syscall.EINVAL
	case p.last == lastDotDot:
		return syscall.ENOTEMPTY
	case p.last == lastRoot:
		return syscall.EBUSY
	case p.node == nil:
		return syscall.ENOENT
	}
	return c.rmdirEntry(p.dir, p.name, p.node, now)
}

func (c *core) rmdirEntry(dir *inode, name string, n *inode, now time.Time) error {
	if err := c.mayDelete(dir, n); err != nil {
		return err
	}
	switch {
	case !n.isDir():
		return syscall.ENOTDIR
	case n.count > 0:
		return syscall.ENOTEMPTY
	}
	c.removeEntry(dir, name, n, now)
	return nil
}

func (c *core) removeEntry(dir *inode, name string, n *inode, now time.Time) {
	c.unlink(dir, name, n, now)
	c.record(half{dir: dir, name: name, from: n})
	c.forget(n)
}

// rename is rename(2) in the order of the checks of do_renameat2 and vfs_rename
// in fs/namei.c.
func (c *core) rename(from, to string, now time.Time) error {
	if hasNUL(from) || hasNUL(to) {
		return syscall.EINVAL
	}
	// Both directories are found before either name is looked up.
	old, errOld := c.walk(from, walkEntry)
	if errOld != nil && old.dir == nil {
		return errOld
	}
	dst, errDst := c.walk(to, walkEntry)
	if errDst != nil && dst.dir == nil {
		return errDst
	}
	if old.last != lastName || dst.last != lastName {
		return syscall.EBUSY
	}
	n := old.node
	switch {
	case errOld != nil:
		return errOld
	case n == nil:
		return syscall.ENOENT
	case errDst != nil:
		return errDst
	}
	if !n.isDir() && (old.slash || dst.slash) {
		return syscall.ENOTDIR
	}
	if n.isDir() && isAncestor(n, dst.dir) {
		return syscall.EINVAL
	}
	if dst.node != nil && dst.node.isDir() && isAncestor(dst.node, old.dir) {
		return syscall.ENOTEMPTY
	}
	if dst.node == n {
		return nil
	}
	if err := c.mayDelete(old.dir, n); err != nil {
		return err
	}
	var err error
	if dst.node == nil {
		err = c.mayChange(dst.dir)
	} else {
		err = c.mayDelete(dst.dir, dst.node)
	}
	if err != nil {
		return err
	}
	if t := dst.node; t != nil {
		switch {
		case n.isDir() && !t.isDir():
			return syscall.ENOTDIR
		case !n.isDir() && t.isDir():
			return syscall.EISDIR
		}
	}
	if n.isDir() && old.dir != dst.dir {
		if err := c.may(n, mayWrite); err != nil { // its ".." changes
			return err
		}
	}
	halves := [2]half{
		{dir: old.dir, name: old.name, from: n},
		{dir: dst.dir, name: dst.name, to: n},
	}
	replaced := dst.node
	if replaced != nil {
		if replaced.isDir() && replaced.count > 0 {
			return syscall.ENOTEMPTY
		}
		halves[1].from = replaced
		c.unlink(dst.dir, dst.name, replaced, now)
	}
	c.unlink(old.dir, old.name, n, now)
	c.link(dst.dir, dst.name, n, now)
	c.record(halves[0], halves[1])
	if replaced != nil {
		c.forget(replaced)
	}
	return nil
}

// isAncestor reports whether a is n or a directory above it.
func isAncestor(a, n *inode) bool {
	for ; ; n = n.parent {
		if n == a {
			return true
		}
		if n.parent == n {
			return false
		}
	}
}

func hasNUL(s string) bool {
	for i := range len(s) {
		if s[i] == 0 {
			return true
		}
	}
	return false
}

// The modes that chmod(2) can set.
const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

func (c *core) chmod(path string, mode fs.FileMode) error {
	n, err := c.find(path, walkFollow)
	if err != nil {
		return err
	}
	if err := c.owns(n); err != nil {
		return err
	}
	mode &= modeBits
	if c.opts.UID != 0 && n.attrs.gid != c.opts.GID && !n.isDir() {
		mode &^= fs.ModeSetgid
	}
	a := n.attrs
	a.mode = a.mode&^modeBits | mode
	c.setAttrs(n, a)
	return nil
}

func (c *core) chown(path string, uid, gid int) error {
	n, err := c.find(path, walkFollow)
	if err != nil {
		return err
	}
	a := n.attrs
	if uid != -1 {
		a.uid = int(uint32(uid))
	}
	if gid != -1 {
		a.gid = int(uint32(gid))
	}
	// chown(2): only the superuser may give a file away.
	if c.opts.UID != 0 && (c.owns(n) != nil || a.uid != n.attrs.uid || a.gid != n.attrs.gid && a.gid != c.opts.GID) {
		return syscall.EPERM
	}
	if n.isFile() {
		a.mode &^= fs.ModeSetuid
		if a.mode&0o010 != 0 {
			a.mode &^= fs.ModeSetgid
		}
	}
	c.setAttrs(n, a)
	return nil
}

func (c *core) chtimes(path string, atime, mtime time.Time) error {
	n, err := c.find(path, walkFollow)
	if err != nil {
		return err
	}
	if err := c.owns(n); err != nil {
		return err
	}
	// utimensat(2) takes nanoseconds since 1970, and package os a zero time for
	// "leave it".
	if !atime.IsZero() {
		n.attrs.atime = time.Unix(0, atime.UnixNano()).UTC()
	}
	if !mtime.IsZero() {
		n.attrs.mtime = time.Unix(0, mtime.UnixNano()).UTC()
	}
	c.markStale(n)
	return nil
}

// names returns the live entries of a directory, sorted.
func (c *core) names(dir *inode) []string {
	names := make([]string, 0, dir.count)
	dir.durable.names.each(func(e entry) bool {
		if _, ok := dir.delta[e.name]; !ok {
			names = append(names, e.name)
		}
		return true
	})
	if len(dir.delta) > 0 {
		for name, ino := range dir.delta {
			if ino != 0 {
				names = append(names, name)
			}
		}
		sort.Strings(names)
	}
	return names
}
