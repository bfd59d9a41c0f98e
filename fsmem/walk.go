package fsmem

import (
	"strings"
	"syscall"
)

// Limits of Linux: limits.h, and MAXSYMLINKS in include/linux/namei.h.
const (
	maxName     = 255
	maxPath     = 4096 // with the terminating NUL
	maxSymlinks = 40
)

// lastKind tells how a path ended, which some calls care about: what ends in "." or
// ".." or is the root has no entry that could be made, removed or renamed.
type lastKind uint8

const (
	lastName   lastKind = iota // in a name
	lastDot                    // in "."
	lastDotDot                 // in ".."
	lastRoot                   // it had no name at all
)

// place is where a path leads. What is missing at its end is not an error yet: to
// create needs the directory and the name, and to open needs the node.
type place struct {
	dir   *inode // of name; nil unless last is lastName
	name  string
	node  *inode // nil if there is none
	last  lastKind
	slash bool // the path had slashes at its end
}

// walkMode says what becomes of a symbolic link in the last position. A link before
// that is always followed.
type walkMode uint8

const (
	// Follow it, as stat(2) does.
	walkFollow walkMode = iota
	// Stop at it, as lstat(2) does, unless a slash comes after it.
	walkNoFollow
	// Stop at it in any case, as calls that change an entry do.
	walkEntry
	// Follow it, as open(2) with O_CREAT does, but stop at a slash behind the
	// last name, of the path or of a link, which is EISDIR before any look-up.
	walkCreate
)

// walk resolves a path by the rules of path_resolution(7). Paths without a
// leading slash begin at the root, which is the working directory. A missing
// last element is not an error; ENOTDIR for a slash behind a file is the
// caller's, who may have another idea. If the last element is too long to be
// looked up, the place has its directory all the same, since rename(2) looks at
// both directories before it looks at either name.
//
// Errors are EINVAL (a NUL), ENOENT, ENAMETOOLONG (a name of more than 255 bytes or
// a path of more than 4095), ENOTDIR, EACCES, and ELOOP after 40 links. A link is
// followed by putting its target in front of what is left of the path, so a loop
// takes no stack. A path with "a/.." needs a to exist, as in the kernel, which no
// cleaned path would show.
func (c *core) walk(path string, mode walkMode) (place, error) {
	// What package syscall and getname refuse before any directory is looked at.
	if strings.IndexByte(path, 0) >= 0 {
		return place{}, syscall.EINVAL // as package syscall says before the kernel sees it
	}
	if path == "" {
		return place{}, syscall.ENOENT
	}
	if len(path) >= maxPath {
		return place{}, syscall.ENAMETOOLONG
	}
	links := 0
	cur := c.root
	last := lastRoot
	rest := path
	for {
		// rest begins with slashes, or with the name that is next. Where nothing is
		// left, the path has ended in what the last round made cur.
		for rest != "" && rest[0] == '/' {
			rest = rest[1:]
		}
		if rest == "" {
			return place{node: cur, last: last}, nil
		}
		if !cur.isDir() {
			return place{}, syscall.ENOTDIR
		}
		if err := c.may(cur, mayExec); err != nil {
			return place{}, err
		}
		name := rest
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			name = rest[:i]
		}
		rest = rest[len(name):]
		switch name {
		case ".":
			last = lastDot
			continue
		case "..":
			cur, last = cur.parent, lastDotDot
			continue
		}
		// A slash behind the last name makes the name one that must be a directory, and
		// a link one that is followed (path_resolution(7), "Trailing slashes").
		slash := rest != ""
		final := !slash || strings.Trim(rest, "/") == ""
		if mode == walkCreate && final && slash {
			return place{dir: cur, name: name, slash: true}, nil
		}
		if len(name) > maxName {
			if final {
				return place{dir: cur, name: name, slash: slash}, syscall.ENAMETOOLONG
			}
			return place{}, syscall.ENAMETOOLONG
		}
		node := c.child(cur, name)
		if node != nil && node.isLink() && (!final || mode == walkFollow || mode == walkCreate || mode == walkNoFollow && slash) {
			if links++; links > maxSymlinks {
				return place{}, syscall.ELOOP
			}
			// A relative target begins where the link is, an absolute one at the root.
			if node.target[0] == '/' {
				cur = c.root
			}
			last = lastRoot
			rest = node.target + rest
			continue
		}
		if final {
			return place{dir: cur, name: name, node: node, slash: slash}, nil
		}
		if node == nil {
			return place{}, syscall.ENOENT
		}
		cur, last = node, lastName
	}
}

// find resolves a path that must exist: ENOENT otherwise, and ENOTDIR for a slash
// behind a file.
func (c *core) find(path string, mode walkMode) (*inode, error) {
	p, err := c.walk(path, mode)
	switch {
	case err != nil:
		return nil, err
	case p.node == nil:
		return nil, syscall.ENOENT
	case p.slash && !p.node.isDir():
		return nil, syscall.ENOTDIR
	}
	return p.node, nil
}

// The permissions that may asks for, with the values of access(2).
const (
	mayExec  = 1
	mayWrite = 2
	mayRead  = 4
)

// may returns EACCES if the permission bits of n forbid the access
// (path_resolution(7), "Permissions"). Only the first class that fits counts: an
// owner without a bit is refused, although others may have it. The superuser may do
// everything; nothing here is ever executed as a program.
func (c *core) may(n *inode, want uint32) error {
	if c.opts.UID == 0 {
		return nil
	}
	bits := uint32(n.attrs.mode.Perm())
	switch {
	case n.attrs.uid == c.opts.UID:
		bits >>= 6
	case n.attrs.gid == c.opts.GID:
		bits >>= 3
	}
	if bits&want != want {
		return syscall.EACCES
	}
	return nil
}

// owns returns EPERM unless the user owns n or is the superuser. It is what chmod(2)
// and utimensat(2) ask for, not EACCES, which a permission could cure.
func (c *core) owns(n *inode) error {
	if c.opts.UID != 0 && c.opts.UID != n.attrs.uid {
		return syscall.EPERM
	}
	return nil
}
