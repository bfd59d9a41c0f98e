package fsmem

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Event is an operation as a hook and the journal see it. Arguments that the
// operation does not have are zero. It is a value: what a hook changes in it
// changes nothing, and it holds no handle and no bytes.
type Event struct {
	Seq     uint64 // number of the operation on its Layer, from 1
	Op      Op
	Path    string      // as given; of a handle, the path it was opened with; of Symlink, the new name
	NewPath string      // Rename: the new path; Symlink: the target
	Flag    int         // OpenFile
	Perm    fs.FileMode // OpenFile, Mkdir, MkdirAll, Chmod
	Offset  int64       // ReadAt, WriteAt, Seek; Truncate: the size
	N       int         // bytes or entries asked for; Seek: whence
	UID     int         // Chown
	GID     int         // Chown
	Atime   time.Time   // Chtimes
	Mtime   time.Time   // Chtimes

	Done   bool   // the operation is over, and the rest is known
	Result int64  // bytes or entries returned; Seek: the new offset
	Err    error  // as the caller gets it
	Fault  *Fault // that hit the operation, or nil; Err may be nil all the same, as after a stall
}

// String returns the operation as a line: the kind, the path, further arguments
// as key=value, and if it is over an equals sign with the result: a number,
// "ok", or the name of the error. If a rule hit it, the rule follows in brackets:
//
//	openfile /a flag=O_RDWR|O_CREATE perm=0644 = ok
//	write /a n=100 = 100
//	rename /a /b = EIO (rename error=EIO after)
//
// Paths and errors are quoted, as by strconv.Quote, where they hold a space or one of
// the signs that the line uses. Flags have the names of package os, what it has no
// name for is a number; modes are octal with u, g and t in front for the special
// bits; a time that Chtimes leaves as it is reads "omit".
//
// Nothing in it depends on addresses, the machine or the clock, but for the times
// given to Chtimes, so journals of two runs can be compared as text.
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(e.Op.String())
	b.WriteString(" " + quoted(e.Path))
	arg := func(format string, args ...any) { fmt.Fprintf(&b, " "+format, args...) }
	switch e.Op {
	case OpRename, OpSymlink:
		arg("%s", quoted(e.NewPath))
	case OpOpenFile:
		arg("flag=%s perm=%s", flagText(e.Flag), octal(e.Perm))
	case OpMkdir, OpMkdirAll, OpChmod:
		arg("perm=%s", octal(e.Perm))
	case OpChown:
		arg("uid=%d gid=%d", e.UID, e.GID)
	case OpChtimes:
		arg("atime=%s mtime=%s", timeText(e.Atime), timeText(e.Mtime))
	case OpRead, OpWrite, OpWriteString, OpReaddir, OpReaddirnames:
		arg("n=%d", e.N)
	case OpReadAt, OpWriteAt:
		arg("n=%d offset=%d", e.N, e.Offset)
	case OpSeek:
		arg("offset=%d whence=%d", e.Offset, e.N)
	case OpTruncate:
		arg("size=%d", e.Offset)
	}
	if !e.Done {
		return b.String()
	}
	b.WriteString(" =")
	// A transfer that failed in the middle shows both, the count and the error.
	counts := OpsOf(OpRead, OpReadAt, OpWrite, OpWriteAt, OpWriteString, OpSeek, OpReaddir, OpReaddirnames).Has(e.Op)
	if counts && (e.Err == nil || e.Result != 0) {
		arg("%d", e.Result)
	}
	if e.Err != nil {
		arg("%s", errorName(e.Err))
	} else if !counts {
		arg("ok")
	}
	if e.Fault != nil {
		arg("(%s)", e.Fault.rule)
	}
	return b.String()
}

// timeText has a word for the zero time, which leaves a time as it is.
func timeText(t time.Time) string {
	if t.IsZero() {
		return "omit"
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// octal puts letters in front for the bits that package fs keeps elsewhere.
func octal(m fs.FileMode) string {
	special := ""
	for _, s := range []struct {
		bit  fs.FileMode
		name string
	}{{fs.ModeSetuid, "u"}, {fs.ModeSetgid, "g"}, {fs.ModeSticky, "t"}} {
		if m&s.bit != 0 {
			special += s.name
		}
	}
	return special + fmt.Sprintf("%#o", uint32(m.Perm()))
}

// quoted leaves a path bare unless a line could not be read back: journals are mostly
// read by people, and most paths are harmless.
func quoted(path string) string {
	if q := strconv.Quote(path); path == "" || q[1:len(q)-1] != path || strings.ContainsAny(path, " =()") {
		return q
	}
	return path
}

// flagText names the flags of package os. O_SYNC comes first because it contains a bit
// that is a flag by itself.
func flagText(flag int) string {
	access := []string{"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"}[flag&accessMode]
	flag &^= accessMode
	for _, f := range []struct {
		bit  int
		name string
	}{
		{os.O_SYNC, "O_SYNC"}, {os.O_APPEND, "O_APPEND"}, {os.O_CREATE, "O_CREATE"}, {os.O_EXCL, "O_EXCL"}, {os.O_TRUNC, "O_TRUNC"},
	} {
		if flag&f.bit == f.bit {
			access += "|" + f.name
			flag &^= f.bit
		}
	}
	if flag != 0 {
		access += fmt.Sprintf("|%#x", flag)
	}
	return access
}

// errorName is the short name of an error: the errno, or what package io and
// fs call it. The path in an error is left out, for the line has it. An error of
// another file system than this, that wraps none of these, is quoted.
func errorName(err error) string {
	var errno syscall.Errno
	// The errno first: it is exact where fs.ErrNotExist and the like are classes.
	switch {
	case errors.As(err, &errno):
		return errnoName(errno)
	case errors.Is(err, io.EOF):
		return "EOF"
	case errors.Is(err, io.ErrShortWrite):
		return "short"
	case errors.Is(err, fs.ErrClosed):
		return "closed"
	case errors.Is(err, fs.ErrNotExist):
		return "ENOENT"
	case errors.Is(err, fs.ErrExist):
		return "EEXIST"
	}
	return strconv.Quote(err.Error())
}
