package fsmem

import (
	"io/fs"
	"sync/atomic"
	"time"
)

// attrs are the attributes of an inode, small enough to be copied whole: a version
// has its own, and no version can see those of another change.
type attrs struct {
	mode         fs.FileMode // type and permissions in the form of package fs
	uid, gid     int
	atime, mtime time.Time
}

// stable is the durable version of an inode: what the disk holds. It belongs to
// the file system whose owner token it carries, and is immutable for others. A
// crash gives every stable to both sides at once by dropping the token; who wants
// to change one then copies it, which for a directory copies a list of runs and
// for a file the root of a tree, never entries or bytes.
type stable struct {
	owner  *owner
	attrs  attrs
	links  int    // durable entries that name it; without any it is not on the disk
	data   extent // regular file
	names  table  // directory
	target string // symbolic link

	// sum is the hash of what a reader of a file or link can see, 0 before
	// somebody asks. It is atomic because file systems share stable inodes.
	sum atomic.Uint64
}

// clone returns a copy that belongs to o. sum stays behind: whoever copies is about
// to change what it was the sum of.
func (s *stable) clone(o *owner) *stable {
	return &stable{owner: o, attrs: s.attrs, links: s.links, data: s.data, names: s.names, target: s.target}
}

// inode is the live version of a file, directory or symbolic link. It exists
// from its creation, or from the first use after a crash, for as long as a
// live entry, a handle or a pending change refers to it. So a file that was removed
// can still be read by who has it open (unlink(2)), and can still come back at a
// crash whose survivor does not include the removal.
//
// All fields are guarded by the lock of the core.
type inode struct {
	ino     uint64
	attrs   attrs
	durable *stable
	nlink   int // live entries that name it
	opens   int // open handles
	pending int // halves of pending changes that name it, as directory, old or new

	// Regular files.
	content *content
	target  string // symbolic links

	// Directories: entries are those of durable.names overlaid with delta, in
	// which 0 stands for an absent name. So a directory of a million durable names
	// costs nothing to load after a crash, and a change costs one map entry. A
	// name stays in delta until its directory is synced, or for good if that sync
	// was lost. delta is never iterated over where the order could be seen.
	delta  map[string]uint64
	count  int       // live entries
	parent *inode    // itself for the root
	name   string    // in parent
	dirty  []*change // pending changes of its entries, oldest first
	placed uint64    // its last move of which a half is durable, see change

	// What has been done since the last sync, see pending.go. lost are the bytes
	// that a failed sync forgot: disjoint, in order, within the size.
	log   []run
	lost  []span
	stale bool // times have changed since the last sync; there is no log of them

	queued  bool // in core.changed
	freed   bool // its bytes are no longer counted
	visible bool // readers can see it, or what is in it
}

// The type is part of the mode and never changes.
func (n *inode) isDir() bool  { return n.attrs.mode.IsDir() }
func (n *inode) isLink() bool { return n.attrs.mode&fs.ModeSymlink != 0 }
func (n *inode) isFile() bool { return n.attrs.mode.IsRegular() }

// dirSize is what ext4 reports for a small directory: one block. It is the size of
// all here, so that it cannot tell how many names have come and gone.
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

// lookup returns the inode number of a live entry, 0 if it is absent. The number
// and not the inode, since after a crash most inodes have not been loaded.
func (n *inode) lookup(name string) uint64 {
	if ino, ok := n.delta[name]; ok {
		return ino
	}
	return n.durable.names.get(name)
}

// info returns a snapshot for FileInfo. The name is the caller's: an inode does not
// know by which path it was found.
func (n *inode) info(name string) fs.FileInfo {
	return &fileInfo{
		name: name, size: n.size(), mode: n.attrs.mode, mtime: n.attrs.mtime,
		stat: Stat{Ino: n.ino, Links: n.nlink, UID: n.attrs.uid, GID: n.attrs.gid, Atime: n.attrs.atime},
	}
}
