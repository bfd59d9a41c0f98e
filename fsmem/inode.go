package fsmem

import (
	"io/fs"
	"sync/atomic"
	"time"
)

// attrs are the attributes of an inode.
type attrs struct {
	mode         fs.FileMode // type and permissions in the form of package fs
	uid, gid     int
	atime, mtime time.Time
}

// stable is the durable version of an inode: what the disk holds. It belongs to
// the file system whose owner token it carries, and is immutable for others.
type stable struct {
	owner  *owner
	attrs  attrs
	links  int    // durable entries that name it
	data   extent // regular file
	names  table  // directory
	target string // symbolic link

	// sum is the hash of what a reader of a file or link can see, 0 before
	// somebody asks. It is atomic because file systems share stable inodes.
	sum atomic.Uint64
}

// clone returns a copy that belongs to o.
func (s *stable) clone(o *owner) *stable {
	return &stable{owner: o, attrs: s.attrs, links: s.links, data: s.data, names: s.names, target: s.target}
}

// inode is the live version of a file, directory or symbolic link. It exists
// from its creation, or from the first use after a crash, for as long as a
// live entry, a handle or a pending change refers to it.
type inode struct {
	ino     uint64
	attrs   attrs
	durable *stable
	nlink   int // live entries that name it
	opens   int // open handles
	pending int // halves of pending changes that name it

	// Regular files.
	content *content
	target  string // symbolic links

	// Directories: entries are those of durable.names overlaid with delta, in
	// which 0 stands for an absent name.
	delta  map[string]uint64
	count  int       // live entries
	parent *inode    // itself for the root
	name   string    // in parent
	dirty  []*change // pending changes of its entries, oldest first
	placed uint64    // its last move of which a half is durable, see change

	// What has been done since the last sync, see pending.go.
	log   []run
	lost  []span
	stale bool // times have changed since the last sync

	queued  bool // in core.changed
	freed   bool // its bytes are no longer counted
	visible bool // readers can see it, or what is in it
}

func (n *inode) isDir() bool  { return n.attrs.mode.IsDir() }
func (n *inode) isLink() bool { return n.attrs.mode&fs.ModeSymlink != 0 }
func (n *inode) isFile() bool { return n.attrs.mode.IsRegular() }

// dirSize is what ext4 reports for a small directory: one block.
const dirSize = 4096

// size is what stat(2) reports.
func (n *inode) size() int64 {
	switch {
	case n.isDir():
		return dirSize
	case n.isLink():
		return int64(len(n.target))
	}
	return n.content.size
}

// lookup returns the inode number of a live entry, 0 if it is absent.
func (n *inode) lookup(name string) uint64 {
	if ino, ok := n.delta[name]; ok {
		return ino
	}
	return n.durable.names.get(name)
}

// info returns a snapshot for FileInfo.
func (n *inode) info(name string) fs.FileInfo {
	return &fileInfo{
		name: name, size: n.size(), mode: n.attrs.mode, mtime: n.attrs.mtime,
		stat: Stat{Ino: n.ino, Links: n.nlink, UID: n.attrs.uid, GID: n.attrs.gid, Atime: n.attrs.atime},
	}
}
