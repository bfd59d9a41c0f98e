package fsmem

import (
	"fmt"
	"runtime"
	"sort"
	"strings"
)

// Usage is what a file system holds at a moment. A test that compares it before and
// after finds leaks of both kinds.
type Usage struct {
	Bytes   int64 // in files, holes not counted; also in files removed but open
	Handles int   // open files and directories
}

// usage counts bytes. After a crash it takes a walk over the files to know how
// many there are, which waits until somebody asks. Until then bytes is a sum of
// changes that means nothing, and the walk puts the number in its place.
type usage struct {
	known bool
	bytes int64
}

// add counts what an operation has used or freed.
func (u *usage) add(n int64) { u.bytes += n }

// Usage returns the bytes and handles in use. Bytes are what Options.Quota limits:
// those that the live files store, whether or not they are durable. The first call
// after a crash walks over all files, unless a write under a Quota has done so.
func (f *FS) Usage() Usage {
	c := f.core
	c.mu.Lock()
	defer c.mu.Unlock()
	return Usage{Bytes: c.usedBytes(), Handles: len(c.handles)}
}

// usedBytes counts what is in the tree, and in files without a name that are open.
func (c *core) usedBytes() int64 {
	if !c.used.known {
		c.used = usage{known: true, bytes: c.count(c.root)}
		for _, n := range c.inodes {
			if n.content != nil && n.nlink == 0 && n.opens > 0 {
				c.used.bytes += n.content.used
			}
		}
	}
	return c.used.bytes
}

// count loads everything below dir, each file once.
func (c *core) count(dir *inode) (bytes int64) {
	seen := make(map[uint64]bool) // a file may have two names
	c.walkLive(dir, "", func(_ string, n *inode) bool {
		if n.content != nil && !seen[n.ino] {
			seen[n.ino] = true
			bytes += n.content.used
		}
		return true
	})
	return bytes
}

// walkLive calls f for everything below dir, in the order of names, a directory
// before what is in it; if f says false for a directory, it is passed over. Links are
// not followed. f may look but not change.
func (c *core) walkLive(dir *inode, path string, f func(path string, n *inode) bool) {
	for _, name := range c.names(dir) {
		n := c.child(dir, name)
		if n != nil && f(path+"/"+name, n) && n.isDir() {
			c.walkLive(n, path+"/"+name, f)
		}
	}
}

// OpenHandle is a handle that has not been closed. It is a report, not a handle: there
// is nothing in it to close.
type OpenHandle struct {
	Path string // as it was given to the call that opened it
	Flag int    // of OpenFile
	// Place is the code that opened it, innermost call first, a line for each in
	// the form "function file:line". Calls of this package are left out, and all
	// but the innermost few. It is empty with Options.NoPlaces.
	Place string
}

// String returns the path and the place on lines of their own, for a test's message.
func (h OpenHandle) String() string {
	return fmt.Sprintf("%s opened at\n\t%s", h.Path, strings.ReplaceAll(h.Place, "\n", "\n\t"))
}

// OpenHandles returns the open handles in the order in which they were opened. A
// test that expects none shows where the others come from. A crash leaves those of
// the old FS open and the new one without any.
func (f *FS) OpenHandles() []OpenHandle {
	c := f.core
	c.mu.Lock()
	defer c.mu.Unlock()
	// A map has no order; ids have that of opening.
	ids := make([]uint64, 0, len(c.handles))
	for id := range c.handles {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	open := make([]OpenHandle, len(ids))
	for i, id := range ids {
		h := c.handles[id]
		open[i] = OpenHandle{Path: h.path, Flag: h.flag, Place: h.place.String()}
	}
	return open
}

// callers are the return addresses of the calls that led somewhere; their
// names are looked up only when they are printed. Ten are enough to get out of the
// package and of afero's helpers, and an array needs no allocation.
type callers [10]uintptr

// record begins with whoever called the function that calls it.
func (p *callers) record() { runtime.Callers(3, p[:]) }

// String leaves out the calls within this package that come first; a hook of a test
// that opens files is not among them.
func (p *callers) String() string {
	if p == nil {
		return ""
	}
	var lines []string
	n := 0
	for n < len(p) && p[n] != 0 {
		n++
	}
	frames := runtime.CallersFrames(p[:n])
	inside := true
	for n > 0 {
		f, more := frames.Next()
		if inside = inside && strings.Contains(f.Function, "/fsmem.(*"); !inside {
			lines = append(lines, fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line))
		}
		if !more {
			break
		}
	}
	return strings.Join(lines, "\n")
}
