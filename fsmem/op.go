package fsmem

import "fmt"

// Op is the kind of an operation. Every method of afero.Fs, afero.File and
// afero.Symlinker is exactly one, so that what a rule says about an operation cannot
// be escaped by calling another method: Create is not OpenFile, nor WriteString
// Write. To mean several, name several, or use a group (Rule). The zero Op is none.
type Op uint8

const (
	opInvalid Op = iota

	// Of afero.Fs and afero.Symlinker, with the errors of the manual pages that a
	// program may meet although it did nothing wrong, and that are worth injecting.
	// EIO can come from all that reads or writes a directory.

	// open(2): EMFILE and ENFILE when descriptors run out, ENOSPC for a new entry,
	// EINTR on a slow device, EROFS after the kernel has remounted read-only.
	OpCreate
	OpOpen
	OpOpenFile

	// mkdir(2): ENOSPC, EDQUOT, EROFS. MkdirAll is one operation, whatever it does
	// inside, and no rule makes it fail half-way.
	OpMkdir
	OpMkdirAll

	// unlink(2), rmdir(2): EBUSY for a mount point, EROFS. With "after" the file is
	// gone, and to try again gives ENOENT, which is success then. RemoveAll is one
	// operation.
	OpRemove
	OpRemoveAll

	// rename(2): EXDEV across mounts, ENOSPC if the directory has to grow, and on
	// NFS an error after the effect. A rule's Path may match either path.
	OpRename

	// stat(2), lstat(2): ESTALE on network file systems, EACCES.
	OpStat
	OpLstat

	// chmod(2), chown(2), utimensat(2): EPERM where the file system has no owners.
	OpChmod
	OpChown
	OpChtimes

	// symlink(2), readlink(2): EPERM where the file system has no links.
	OpSymlink
	OpReadlink
	OpName // cannot fail, is not observed

	// Of afero.File. Those of a directory are among them: Sync of a directory is
	// OpSync with the path of the directory.

	// close(2): EIO, ENOSPC and EDQUOT for bytes written before, EINTR. Whether the
	// descriptor is closed then is unspecified by POSIX; on Linux it is. "after" is
	// that: the handle is closed and the error is given.
	OpClose

	// read(2), pread(2): EIO for a bad sector, and fewer bytes than asked for,
	// which only io.ReadFull and the like put right.
	OpRead
	OpReadAt

	// write(2), pwrite(2): ENOSPC, EDQUOT and EIO, with short=N after a part of the
	// bytes; EFBIG. A program that appends has to cut that part off again.
	OpWrite
	OpWriteAt
	OpWriteString

	// lseek(2) does not fail on a file. ftruncate(2): EIO, EINTR, EFBIG.
	OpSeek
	OpTruncate

	// fsync(2): EIO, ENOSPC, EDQUOT; with "clean" as on Linux, without it as a
	// file system would that keeps the pages.
	OpSync

	// getdents(2): ENOENT for a directory that was removed. A listing that fails
	// may have returned names already.
	OpReaddir
	OpReaddirnames

	// fstat(2).
	OpFileStat
	OpFileName // cannot fail, is not observed

	opEnd
)

// opTable has for each kind its word in rules and journals, the method that it
// stands for, and the Op of the errors that package os gives for it. The order of the
// kinds is that of the bits in Ops, which is never printed, so kinds can be added.
var opTable = [opEnd]struct{ word, method, inError string }{
	OpCreate:       {"create", "Fs.Create", "open"},
	OpOpen:         {"open", "Fs.Open", "open"},
	OpOpenFile:     {"openfile", "Fs.OpenFile", "open"},
	OpMkdir:        {"mkdir", "Fs.Mkdir", "mkdir"},
	OpMkdirAll:     {"mkdirall", "Fs.MkdirAll", "mkdir"},
	OpRemove:       {"remove", "Fs.Remove", "remove"},
	OpRemoveAll:    {"removeall", "Fs.RemoveAll", "unlinkat"},
	OpRename:       {"rename", "Fs.Rename", "rename"},
	OpStat:         {"stat", "Fs.Stat", "stat"},
	OpLstat:        {"lstat", "Symlinker.LstatIfPossible", "lstat"},
	OpChmod:        {"chmod", "Fs.Chmod", "chmod"},
	OpChown:        {"chown", "Fs.Chown", "chown"},
	OpChtimes:      {"chtimes", "Fs.Chtimes", "chtimes"},
	OpSymlink:      {"symlink", "Symlinker.SymlinkIfPossible", "symlink"},
	OpReadlink:     {"readlink", "Symlinker.ReadlinkIfPossible", "readlink"},
	OpName:         {"name", "Fs.Name", ""},
	OpClose:        {"close", "File.Close", "close"},
	OpRead:         {"read", "File.Read", "read"},
	OpReadAt:       {"readat", "File.ReadAt", "read"},
	OpWrite:        {"write", "File.Write", "write"},
	OpWriteAt:      {"writeat", "File.WriteAt", "write"},
	OpWriteString:  {"writestring", "File.WriteString", "write"},
	OpSeek:         {"seek", "File.Seek", "seek"},
	OpTruncate:     {"truncate", "File.Truncate", "truncate"},
	OpSync:         {"sync", "File.Sync", "sync"},
	OpReaddir:      {"readdir", "File.Readdir", "readdirent"},
	OpReaddirnames: {"readdirnames", "File.Readdirnames", "readdirent"},
	OpFileStat:     {"fstat", "File.Stat", "stat"},
	OpFileName:     {"filename", "File.Name", ""},
}

// String returns the word of the kind, such as "rename". fstat and filename are the
// methods of a file that Fs has too.
func (op Op) String() string {
	if op > opInvalid && op < opEnd {
		return opTable[op].word
	}
	return fmt.Sprintf("op(%d)", uint8(op))
}

// Ops is a set of kinds. The empty set stands for all that can fail, so that the zero
// Rule is about everything.
type Ops uint64

// OpsOf returns the set of the kinds given. Without any it is all that can fail.
func OpsOf(ops ...Op) (s Ops) {
	for _, op := range ops {
		s |= 1 << op
	}
	return s
}

// Has reports whether the set contains a kind. It is false for what is no kind.
func (s Ops) Has(op Op) bool {
	if s == 0 {
		s = canFail
	}
	return op < opEnd && s>>op&1 != 0
}

// canFail has all kinds of operations but those without an error result.
const canFail = Ops(1<<opEnd-2) &^ (1<<OpName | 1<<OpFileName)

// opGroups are words for several kinds at once: the methods between which programs
// choose freely. The first stands for the empty set.
var opGroups = []struct {
	word string
	ops  Ops
}{
	{"any", 0},
	{"opens", 1<<OpCreate | 1<<OpOpen | 1<<OpOpenFile},
	{"reads", 1<<OpRead | 1<<OpReadAt},
	{"writes", 1<<OpWrite | 1<<OpWriteAt | 1<<OpWriteString},
}

// opsNamed is the inverse of the words that Ops.String prints.
func opsNamed(word string) (Ops, bool) {
	for _, g := range opGroups {
		if g.word == word {
			return g.ops, true
		}
	}
	for op := opInvalid + 1; op < opEnd; op++ {
		if opTable[op].word == word {
			return 1 << op, true
		}
	}
	return 0, false
}

// String returns the kinds in the form of rules: words separated by commas,
// "any" for the empty set. Whole groups are printed as such, so that a rule reads as
// its author wrote it, most of the time.
func (s Ops) String() string {
	if s == 0 {
		return opGroups[0].word
	}
	var text []byte
	add := func(word string) {
		if len(text) > 0 {
			text = append(text, ',')
		}
		text = append(text, word...)
	}
	for _, g := range opGroups[1:] {
		if s&g.ops == g.ops {
			add(g.word)
			s &^= g.ops
		}
	}
	for op := Op(0); op < 64; op++ {
		if s>>op&1 != 0 {
			add(op.String())
		}
	}
	return string(text)
}
