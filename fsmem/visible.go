package fsmem

import (
	"io/fs"
	"iter"
)

// visibleIndex keeps the visible files by path. It is built at the first use,
// and kept up to date from then on.
//
// A property of a sink asks after each operation what a reader would find. A walk
// for each answer would be most of the test's time, so operations keep the index,
// at a cost that most do not pay: what begins with a dot is not entered, and of
// programs that never ask only the generation is kept. The index is a table, for it
// has to be in the order of paths and is copied by nobody.
//
// gen counts changes and is kept whether or not there is an index.
type visibleIndex struct {
	gen   uint64
	owner *owner // nil before the first use
	files table
}

// hidden reports whether readers pass over a name, and over what is below it:
// the convention of file sinks for unfinished files (Hadoop's FileInputFormat). A
// hidden directory hides everything below it.
func hidden(name string) bool {
	return name[0] == '.' || name[0] == '_'
}

// VisibleGeneration returns a number that changes whenever the set of visible
// files, the contents of one, its mode or its owner change. Equal numbers of one
// FS therefore mean that nothing has changed for a reader; different ones need
// not mean that something has. It takes a lock and reads a number, so a test may ask
// after each operation and list the files only if it has to. Numbers of different
// FS, such as those before and after a crash, say nothing about each other.
func (f *FS) VisibleGeneration() uint64 {
	f.core.mu.Lock()
	defer f.core.mu.Unlock()
	return f.core.seen.gen
}

// Visible returns the visible files by path, sorted: the regular files without a
// path segment that begins with "." or "_". Paths begin with "/", whatever form the
// program uses. Permissions are not asked for.
//
// Only the first call after New or Crash walks over everything; the next ones take
// time in proportion to the visible files alone. The files are those at the moment
// when iteration begins; nothing is locked while the loop body runs, which may
// change them. Each FileInfo is a snapshot of that moment too.
func (f *FS) Visible() iter.Seq2[string, fs.FileInfo] {
	return func(yield func(string, fs.FileInfo) bool) {
		for _, v := range f.core.visible() {
			if !yield(v.path, v.info) {
				return
			}
		}
	}
}

// visibleFile is what Visible yields.
type visibleFile struct {
	path string
	info fs.FileInfo
}

// visible returns the files by path. To walk the live tree loads what is visible or
// may be, and leaves hidden directories alone. An entry of the index whose inode is
// not loaded cannot be: the walk has loaded all, and changes come through inodes.
func (c *core) visible() []visibleFile {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen.owner == nil {
		c.seen.owner = new(owner)
		c.seeTree(c.root, "")
	}
	files := make([]visibleFile, 0, c.seen.files.n)
	c.seen.files.each(func(e entry) bool {
		if n := c.inodes[e.ino]; n != nil {
			files = append(files, visibleFile{e.name, n.info(baseName(e.name))})
		}
		return true
	})
	return files
}

// seeTree enters the visible files below a directory. What is below a hidden name is not
// even loaded from the durable state: after a crash most names of a sink are hidden.
func (c *core) seeTree(dir *inode, path string) {
	for _, name := range c.names(dir) {
		if hidden(name) {
			continue
		}
		n := c.child(dir, name)
		switch {
		case n == nil:
		case n.isDir():
			c.seeTree(n, path+"/"+name)
		case n.isFile():
			c.seen.files.set(c.seen.owner, path+"/"+name, n.ino)
		}
	}
}

// appear and vanish keep the index when n gets or loses an entry. inode.visible is
// kept along with it, so that a write knows at once whether to count: for a file it
// says that some name of it shows, for a directory that it does not hide what is in
// it. With more than one name it stays true; see load.
func (c *core) appear(dir *inode, name string, n *inode) {
	// A file: one entry of the index. Links are no regular files and not entered.
	shown := dir.visible && !hidden(name)
	if !n.isDir() {
		n.visible = shown || n.visible && n.nlink > 1
		if shown && n.isFile() {
			c.seen.gen++
			if c.seen.owner != nil {
				c.seen.files.set(c.seen.owner, dir.path()+"/"+name, n.ino)
			}
		}
		return
	}
	c.showTree(n, c.indexPath(dir, name, n), shown)
}

// indexPath is the path of a directory for the index, or nothing if the index
// will not ask for it. A path takes time in proportion to its depth, which would
// make a deep tree of directories quadratic to build.
func (c *core) indexPath(dir *inode, name string, n *inode) string {
	if c.seen.owner == nil || n.count == 0 {
		return ""
	}
	return dir.path() + "/" + name
}

func (c *core) vanish(dir *inode, name string, n *inode) {
	shown := dir.visible && !hidden(name)
	switch {
	case !shown:
	case n.isFile():
		c.seen.gen++
		if c.seen.owner != nil {
			c.seen.files.set(c.seen.owner, dir.path()+"/"+name, 0)
		}
		n.visible = n.nlink > 1
	case n.isDir():
		c.hideTree(n, c.indexPath(dir, name, n))
	}
}

// showTree and hideTree are for a directory that is moved with what is in it. They
// visit everything below, for each file there gets another path or comes in sight;
// an empty directory, which is what programs make, costs nothing. showTree has
// to go down also where nothing is shown, to tell the inodes so. Inodes that are not
// loaded are loaded here, since load takes visible from the directory as it is.
func (c *core) showTree(dir *inode, path string, shown bool) {
	dir.visible = shown
	if dir.count == 0 {
		return
	}
	c.seen.gen++
	for _, name := range c.names(dir) {
		n := c.child(dir, name)
		if n == nil {
			continue
		}
		visible := shown && !hidden(name)
		switch {
		case n.isDir():
			c.showTree(n, path+"/"+name, visible)
		case n.isFile():
			n.visible = visible || n.nlink > 1
			if visible && c.seen.owner != nil {
				c.seen.files.set(c.seen.owner, path+"/"+name, n.ino)
			}
		}
	}
}

func (c *core) hideTree(dir *inode, path string) {
	if dir.count == 0 {
		return
	}
	c.seen.gen++
	if c.seen.owner == nil {
		return
	}
	for _, name := range c.names(dir) {
		n := c.child(dir, name)
		if n == nil || hidden(name) {
			continue
		}
		if n.isDir() {
			c.hideTree(n, path+"/"+name)
		} else {
			c.seen.files.set(c.seen.owner, path+"/"+name, 0)
		}
	}
}

// path is where a directory is now; the root's is empty. Directories know their place
// and files do not, since a file may have two. One that is removed has the last it had.
func (n *inode) path() string {
	size := 0
	for d := n; d.parent != d; d = d.parent {
		size += 1 + len(d.name)
	}
	path := make([]byte, size)
	for d := n; d.parent != d; d = d.parent { // from the end, to build it in one go
		size -= copy(path[size-len(d.name):], d.name) + 1
		path[size] = '/'
	}
	return string(path)
}
