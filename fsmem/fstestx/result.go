package fstestx

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Result is what an [Op] returned.
type Result struct {
	// Words are the values: bytes written, bytes read as a string literal,
	// an offset, a name, a FileInfo as "TYPE NAME [size=N] mode=NNNN mtime=N".
	Words []string
	// Entries are what Readdir (as FileInfo) or Readdirnames returned, in that order.
	Entries []string
	// Err is the error, with what can be compared about it.
	Err Failure
	// Note says why the call was not made, or that it panicked.
	Note string
}

// String returns the words, then the error or "ok".
func (r Result) String() string {
	if r.Note != "" {
		return r.Note
	}
	words := r.Words
	if r.Entries != nil {
		words = append(words[:len(words):len(words)], "["+strings.Join(r.Entries, ", ")+"]")
	}
	if !r.Err.IsZero() {
		words = append(words[:len(words):len(words)], r.Err.String())
	}
	if len(words) == 0 {
		return "ok"
	}
	return strings.Join(words, " ")
}

// Failure is the part of an error that a program can rely on: its type, the
// operation and the name it gives, and its cause.
type Failure struct {
	Type  string // "PathError", "LinkError", "SyscallError", or "" for a bare error
	Op    string // the Op field of that type
	Path  string // its Path, or Old and New with " -> " between, as in the program
	Cause string // "EOF", "ENOENT" and the like, "closed", or "other"; "" for no error
	Err   error  // the error itself
}

// IsZero reports whether there was no error.
func (f Failure) IsZero() bool { return f.Cause == "" }

// String returns type, operation and cause, such as "PathError open ENOENT".
func (f Failure) String() string {
	words := []string{f.Type, f.Op, f.Cause}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// causes that stand for errors of package io, io/fs and os.
const (
	causeEOF    = "EOF"
	causeClosed = "closed"
	causeOther  = "other"
)

// classes are the sentinels of io/fs that an errno stands for (errors.Is of
// syscall.Errno): an error that has only the sentinel is taken for the errno
// everywhere except in the rule that demands the errno.
var classes = []struct {
	sentinel error
	errno    string
	all      []string
}{
	{fs.ErrNotExist, "ENOENT", []string{"ENOENT"}},
	{fs.ErrExist, "EEXIST", []string{"EEXIST", "ENOTEMPTY"}},
	{fs.ErrPermission, "EACCES", []string{"EACCES", "EPERM"}},
	{fs.ErrInvalid, "EINVAL", []string{"EINVAL"}},
}

var errnoNames = map[syscall.Errno]string{
	syscall.EACCES: "EACCES", syscall.EBADF: "EBADF", syscall.EBUSY: "EBUSY", syscall.EEXIST: "EEXIST", syscall.EFBIG: "EFBIG",
	syscall.EINVAL: "EINVAL", syscall.EIO: "EIO", syscall.EISDIR: "EISDIR", syscall.ELOOP: "ELOOP", syscall.EMFILE: "EMFILE",
	syscall.ENAMETOOLONG: "ENAMETOOLONG", syscall.ENOENT: "ENOENT", syscall.ENOSPC: "ENOSPC", syscall.ENOTDIR: "ENOTDIR",
	syscall.ENOTEMPTY: "ENOTEMPTY", syscall.EPERM: "EPERM", syscall.EROFS: "EROFS", syscall.ESPIPE: "ESPIPE", syscall.EXDEV: "EXDEV",
}

// failureOf takes an error apart; relative turns the names in it into those of the program.
func failureOf(err error, relative func(string) string) Failure {
	if err == nil {
		return Failure{}
	}
	f := Failure{Cause: causeOf(err), Err: err}
	switch e := err.(type) {
	case *fs.PathError:
		f.Type, f.Op, f.Path = "PathError", e.Op, relative(e.Path)
	case *os.LinkError:
		f.Type, f.Op, f.Path = "LinkError", e.Op, relative(e.Old)+" -> "+relative(e.New)
	case *os.SyscallError:
		f.Type, f.Op = "SyscallError", e.Syscall
	}
	return f
}

func causeOf(err error) string {
	var errno syscall.Errno
	switch {
	case err == io.EOF: // callers compare with ==, as io.Reader demands
		return causeEOF
	case errors.Is(err, fs.ErrClosed):
		return causeClosed
	case errors.As(err, &errno):
		if name, ok := errnoNames[errno]; ok {
			return name
		}
		return "errno(" + strconv.Itoa(int(errno)) + ")"
	}
	for _, c := range classes {
		if errors.Is(err, c.sentinel) {
			return c.sentinel.Error()
		}
	}
	return causeOther
}

// is reports whether the failure has the cause that is wanted. A sentinel of
// io/fs without an errno is as good as any errno of its class.
func (f Failure) is(want string) bool {
	if f.Cause == want || want == "error" && !f.IsZero() {
		return true
	}
	for _, c := range classes {
		if f.Cause == c.sentinel.Error() {
			for _, errno := range c.all {
				if errno == want {
					return true
				}
			}
		}
	}
	return false
}
