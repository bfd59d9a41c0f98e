package fsmem

import (
	"fmt"
	"runtime"
	"sort"
	"strings"
)

// Usage is what a file system holds at a moment.
type Usage struct {
	Bytes   int64 // in files, holes not counted; also in files removed but open
	Handles int   // open files and directories
}

// usage counts bytes. After a crash it takes a walk over the files to know how
// many there are, which waits until somebody asks.
type usage struct {
	known bool
	bytes int64
}

func (u *usage) add(n int64) { u.bytes += n }

// Usage returns the bytes and handles in use.
func (f *FS) Usage() Usage {
	c := f.core
	c.mu.Lock()
	defer c.mu.Unlock()
	return Usage{Bytes: c.usedBytes(), Handles: len(c.handles)}
}

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

// walkLive calls f for everything below dir, in order; if f says false for a
// directory, it is passed over.
func (c *core) walkLive(dir *inode, path string, f func(path string, n *inode) bool) {
	for _, name := range c.names(dir) {
		n := c.child(dir, name)
		if n != nil && f(path+"/"+name, n) && n.isDir() {
			c.walkLive(n, path+"/"+name, f)
		}
	}
}

// OpenHandle is a handle that has not been closed.
type OpenHandle struct {
	Path string // as it was given to the call that opened it
	Flag int    // of OpenFile
	// Place is the code that opened it, innermost call first, a line for each in
	// the form "function file:line". Calls of this package are left out.
	Place string
}

func (h OpenHandle) String() string {
	return fmt.Sprintf("%s opened at\n\t%s", h.Path, strings.ReplaceAll(h.Place, "\n", "\n\t"))
}

// OpenHandles returns the open handles in the order in which they were opened. A
// test that expects none shows where the others come from.
func (f *FS) OpenHandles() []OpenHandle {
	c := f.core
	c.mu.Lock()
	defer c.mu.Unlock()
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
// names are looked up only when they are printed.
type callers [10]uintptr

func (p *callers) record() { runtime.Callers(3, p[:]) }

func (p *callers) String() string {
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
