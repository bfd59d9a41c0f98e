package fsmem

import (
	"io/fs"
	"time"
)

// Stat is what the Sys method of this package's FileInfo returns a pointer to.
// Two infos describe the same file if their Ino is equal; os.SameFile, which
// knows only its own kind, cannot tell. A file keeps its number over a crash, so that
// infos from before and after can be compared too.
type Stat struct {
	Ino      uint64 // inode number, unique and never used again in one FS, also after a crash
	Links    int    // names of the file; 0 after its removal
	UID, GID int    // owner, as by Options or Chown
	Atime    time.Time
}

// fileInfo is a snapshot: it does not change when the file does, as that of package
// os, on which programs rely that compare sizes before and after.
type fileInfo struct {
	name  string
	size  int64
	mode  fs.FileMode
	mtime time.Time
	stat  Stat
}

func (i *fileInfo) Name() string       { return i.name }
func (i *fileInfo) Size() int64        { return i.size }
func (i *fileInfo) Mode() fs.FileMode  { return i.mode }
func (i *fileInfo) ModTime() time.Time { return i.mtime }
func (i *fileInfo) IsDir() bool        { return i.mode.IsDir() }
func (i *fileInfo) Sys() any           { return &i.stat }
func (i *fileInfo) String() string     { return fs.FormatFileInfo(i) }

// baseName is the last element of a path as package os gives it: without
// trailing slashes, and "/" for the root.
func baseName(path string) string {
	for len(path) > 1 && path[len(path)-1] == '/' {
		path = path[:len(path)-1]
	}
	for i := len(path) - 2; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}
