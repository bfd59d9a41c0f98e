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
// errno values; fs.go puts them together as package os does. So each rule of the
// kernel is in one place, and each quirk of package os in another.
//
// Everything exists twice: as it is live, in inodes, and as it is durable, in disk.
// The live side is complete only for what has been used since the last crash; the
// rest is loaded from the disk when a path leads there. That is why a crash takes
// no time in proportion to the files, and why Usage and Visible walk once.
//
// What holds whenever the lock is free:
//
//   - disk has exactly the stable versions whose links are not 0, and a loaded inode
//     points to the one on the disk, or to its own if no durable entry names it.
//   - An inode is loaded for as long as it has been used and has a live name, an open
//     handle or a pending half. inode.pending is the number of those halves.
//   - A name is in its directory's delta if it has changed since the last sync that
//     did not fail, and its value there is the live one.
//   - Every change in the list has a half that is pending, and is in the dirty list of
//     the directories of its pending halves.
//   - A loaded inode with a log, or with times that are stale, is in changed.
//   - The version after an operation of a log is the before of the next one, and the
//     live file after the last.
//   - A directory has one live name, the root none.
//
// Who reads the package for the first time may take the files in this order:
//
//	core, walk, handle, fs      what is live: the kernel's side, then package os
//	inode, content              a file, and its bytes as versions that share
//	radix, table                the two persistent containers below all that
//	pending                     what is not durable yet, and how it becomes so
//	crash, state, survival      what may be left of that
//	outcomes                    all of it, each once
//	layer, op, event            around any file system: hooks and the journal
//	rule, fault, glob           and what fails
//	usage, visible, info        what can be asked
//
// One lock is enough. Operations are short, and programs under test are judged by
// what they do, not by how much of it at once.
type core struct {
	mu   sync.Mutex
	opts Options

	// What the disk holds: the durable inodes that some durable entry names. owner
	// is the token of what may be changed in place; a crash takes it away.
	owner *owner
	disk  radix[*stable]

	// What is live and not only on the disk. Inode numbers are given out once, and
	// after a crash counting goes on, so that a number in a test's output means one
	// file. 0 is no inode.
	root   *inode
	inodes map[uint64]*inode
	next   uint64 // inode number

	// What has been done and is not durable: names here, the rest in the logs of
	// the inodes in changed.
	pending changeList
	moves   uint64   // of directories, so far
	changed []*inode // those with something to lose, and some that were synced since

	handles    map[uint64]*handle
	nextHandle uint64
	used       usage
	seen       visibleIndex
}

// rootIno is the inode number of the root directory, which has no entry anywhere;
// its durable link count of 1 keeps it on the disk.
const rootIno = 1

// newCore makes a disk with nothing but a durable root, as mkfs leaves it.
func newCore(o Options) *core {
	c := &core{opts: o, owner: new(owner), next: rootIno + 1}
	a := attrs{mode: fs.ModeDir | 0o777&^o.Umask, uid: o.UID, gid: o.GID}
	a.atime = o.Now()
	a.mtime = a.atime
	*c.disk.slot(c.owner, rootIno) = &stable{owner: c.owner, attrs: a, links: 1}
	c.boot()
	return c
}

// boot begins with what the disk holds and nothing else. An empty disk has no bytes
// in use; of any other it is not known until usedBytes is asked.
func (c *core) boot() {
	c.inodes = make(map[uint64]*inode)
	c.root = c.load(rootIno, nil, "")
	c.used.known = c.root.count == 0
}

// load makes a live inode of a durable one, found under a name in dir; the root has
// neither. A link count that is greater than 1 comes from a split rename. Such a
// file may be visible by the name that is not known here, so it counts as visible:
// the generation may change for nothing, but not fail to.
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

// create makes an inode without a name. Its durable version is an empty file with
// the attributes of its creation: what a crash leaves that keeps the name and
// nothing else. It is not on the disk before a durable entry names it.
func (c *core) create(dir *inode, mode fs.FileMode, now time.Time) *inode {
	a := attrs{mode: mode, uid: c.opts.UID, gid: c.opts.GID, atime: now, mtime: now}
	// The group is that of the process, unless the directory hands on its own.
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

// forget drops an inode that nothing refers to any more. Its bytes are free once it
// has neither a name nor a handle (unlink(2)), although a pending removal may still
// keep them for a crash: the disk's space is the program's business, memory is not.
func (c *core) forget(n *inode) {
	if n.nlink == 0 && n.opens == 0 {
		if n.content != nil && !n.freed {
			n.freed = true
			c.used.add(-n.content.used)
		}
		// Until its changes are settled a crash may still need its versions.
		if n.pending == 0 {
			delete(c.inodes, n.ino)
			n.content, n.log = nil, nil // core.changed may keep n for a while
		}
	}
}

// link and unlink change the live entries only; the caller records the change. They
// keep the counts, the times and the visible index. unlink tells the index before
// the entry is gone, because the index needs the path.
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

// setDelta overlays a durable name, also with 0 for a name that never was durable: a
// sync deletes both.
func setDelta(dir *inode, name string, ino uint64) {
	if dir.delta == nil {
		dir.delta = make(map[string]uint64)
	}
	dir.delta[name] = ino
}

// touch sets the modification time. The time alone makes the inode something to sync,
// and nothing to lose that a reader could tell.
func (c *core) touch(n *inode, now time.Time) {
	n.attrs.mtime = now
	c.markStale(n)
}

// markStale notes that the times differ from the durable ones.
func (c *core) markStale(n *inode) {
	n.stale = true
	c.queue(n)
}

// mayChange checks that entries may be made and removed in a directory: EACCES, or
// ENOENT for one that is removed itself, as Linux says for a dead directory.
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

// mkdir is mkdir(2). A name that is taken is EEXIST also where the directory may not
// be changed.
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

// symlink is symlink(2). The target is not looked at, and may lead nowhere. A link is
// durable with its name: its target never changes, so there is nothing to sync.
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

// unlinkFile is unlink(2). Linux says EISDIR for a directory, where POSIX has EPERM.
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

// unlinkEntry is unlinkat(2) in a directory that is open, for RemoveAll too.
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

// rmdir is rmdir(2), with the errors of do_rmdir in fs/namei.c for paths that do not
// end in a name.
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

// rmdirEntry is unlinkat(2) with AT_REMOVEDIR.
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

// removeEntry removes what may be removed. The removal is pending as a creation is:
// until the directory is synced a crash may bring the entry back.
func (c *core) removeEntry(dir *inode, name string, n *inode, now time.Time) {
	c.unlink(dir, name, n, now)
	c.record(half{dir: dir, name: name, from: n})
	c.forget(n)
}

// rename is rename(2) in the order of the checks of do_renameat2 and vfs_rename
// in fs/namei.c. Where several things are wrong, the order decides which error a
// program sees, and random programs on a real disk find every deviation.
//
// It is one change with two halves, made under one lock: nobody sees both names, or
// neither. What a crash may see is another matter (change). The file that had the
// new name loses it by the half that sets the new one, so a durable name that is
// replaced always leads to one of the two, in both models.
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
	// Then the old name, then the new one: an error of the new one, such as being
	// too long, is told only if the old one exists.
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
	// Neither may lie in the way to the other. lock_rename finds that by walking up,
	// before any permission is looked at.
	if n.isDir() && isAncestor(n, dst.dir) {
		return syscall.EINVAL
	}
	if dst.node != nil && dst.node.isDir() && isAncestor(dst.node, old.dir) {
		return syscall.ENOTEMPTY
	}
	// Two names of one file: rename(2) does nothing and both stay.
	if dst.node == n {
		return nil
	}
	if err := c.mayDelete(old.dir, n); err != nil {
		return err
	}
	// Permissions come before the types: who may not remove the target is not told
	// what it is.
	var err error
	if dst.node == nil {
		err = c.mayChange(dst.dir)
	} else {
		err = c.mayDelete(dst.dir, dst.node)
	}
	if err != nil {
		return err
	}
	// may_delete compares the types after the permissions.
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
	// Nothing can fail from here on but a target that is not empty, which is found
	// before anything has changed.
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

// isAncestor reports whether a is n or a directory above it. It ends, because no
// directory has two names; see change.
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

// hasNUL is for the paths that package syscall refuses with EINVAL before the kernel
// sees them, because a C string would end there.
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

// chmod is chmod(2). A user who is not in the group of a file loses its set-group-ID
// bit without an error, as the manual says.
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

// chown is chown(2); -1 leaves an id as it is. Both set-ID bits of a file fall, the
// second only if it is executable by its group, for it would mean mandatory locking
// otherwise.
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

// chtimes is utimensat(2). It sets times and logs nothing; see setFile.
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

// names returns the live entries of a directory, sorted: those of the durable table
// that delta does not overlay, which come in order, and those of delta, which is
// a map and does not.
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
