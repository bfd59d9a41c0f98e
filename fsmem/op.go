package fsmem

import "fmt"

// Op is the kind of an operation. Every method of afero.Fs, afero.File and
// afero.Symlinker is exactly one.
type Op uint8

const (
	opInvalid Op = iota

	OpCreate
	OpOpen
	OpOpenFile
	OpMkdir
	OpMkdirAll
	OpRemove
	OpRemoveAll
	OpRename
	OpStat
	OpLstat
	OpChmod
	OpChown
	OpChtimes
	OpSymlink
	OpReadlink
	OpName // cannot fail, is not observed

	OpClose
	OpRead
	OpReadAt
	OpWrite
	OpWriteAt
	OpWriteString
	OpSeek
	OpTruncate
	OpSync
	OpReaddir
	OpReaddirnames
	OpFileStat
	OpFileName // cannot fail, is not observed

	opEnd
)

// opTable has for each kind its word in rules and journals, the method that it
// stands for, and the Op of the errors that package os gives for it.
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

// String returns the word of the kind, such as "rename".
func (op Op) String() string {
	if op > opInvalid && op < opEnd {
		return opTable[op].word
	}
	return fmt.Sprintf("op(%d)", uint8(op))
}

// Ops is a set of kinds. The empty set stands for all that can fail.
type Ops uint64

// OpsOf returns the set of the kinds given.
func OpsOf(ops ...Op) (s Ops) {
	for _, op := range ops {
		s |= 1 << op
	}
	return s
}

// Has reports whether the set contains a kind.
func (s Ops) Has(op Op) bool {
	if s == 0 {
		s = canFail
	}
	return op < opEnd && s>>op&1 != 0
}

// canFail has all kinds of operations but those without an error result.
const canFail = Ops(1<<opEnd-2) &^ (1<<OpName | 1<<OpFileName)

// opGroups are words for several kinds at once.
var opGroups = []struct {
	word string
	ops  Ops
}{
	{"any", 0},
	{"opens", 1<<OpCreate | 1<<OpOpen | 1<<OpOpenFile},
	{"reads", 1<<OpRead | 1<<OpReadAt},
	{"writes", 1<<OpWrite | 1<<OpWriteAt | 1<<OpWriteString},
}

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
// "any" for the empty set.
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
