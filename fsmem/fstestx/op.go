package fstestx

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Slots is the number of handles a program can hold at once, h0 to h3.
const Slots = 4

// Op is one call of a method of afero.Fs, afero.Symlinker or afero.File.
// Only the fields that the Kind takes mean anything (see [Kind.Usage]).
//
// Its text form is the verb and the arguments on one line:
//
//	openfile h0 d/a rdwr|create|append 0644
//	writeat h0 "abc" 7
//	symlink ../a d/l
//
// A name or a datum that is empty or has odd bytes is a Go string literal; c*N
// is the byte c, N times.
type Op struct {
	Kind   Kind
	Handle int         // slot, 0 to Slots-1
	Name   string      // relative to the tree; "" is the empty name itself
	New    string      // second name of a rename, name of a symbolic link
	Flag   int         // os.O_*
	Perm   fs.FileMode // permission bits, and setuid, setgid, sticky
	Data   string      // bytes to write
	Count  int         // bytes or entries wanted
	Off    int64       // bytes
	Whence int         // io.Seek*
	Atime  int64       // seconds since the Unix epoch
	Mtime  int64       // seconds since the Unix epoch
	UID    int         // -1 leaves the user
	GID    int         // -1 leaves the group
}

// Kind says which method an Op calls.
type Kind uint8

// The kinds. The first group are the methods of afero.Fs and afero.Symlinker,
// the second those of afero.File; each method has exactly one.
const (
	Create Kind = iota
	Mkdir
	MkdirAll
	Open
	OpenFile
	Remove
	RemoveAll
	Rename
	Stat
	Chmod
	Chown
	Chtimes
	Lstat
	Symlink
	Readlink

	Close
	Read
	ReadAt
	Seek
	Write
	WriteAt
	FileName
	Readdir
	Readdirnames
	FileStat
	Sync
	Truncate
	WriteString

	kinds
)

// syntax gives each kind its verb and, a letter each, its arguments.
var syntax = [kinds]struct{ verb, args string }{
	Create:       {"create", "hn"},
	Mkdir:        {"mkdir", "np"},
	MkdirAll:     {"mkdirall", "np"},
	Open:         {"open", "hn"},
	OpenFile:     {"openfile", "hnfp"},
	Remove:       {"remove", "n"},
	RemoveAll:    {"removeall", "n"},
	Rename:       {"rename", "nN"},
	Stat:         {"stat", "n"},
	Chmod:        {"chmod", "np"},
	Chown:        {"chown", "nug"},
	Chtimes:      {"chtimes", "nam"},
	Lstat:        {"lstat", "n"},
	Symlink:      {"symlink", "nN"},
	Readlink:     {"readlink", "n"},
	Close:        {"close", "h"},
	Read:         {"read", "hc"},
	ReadAt:       {"readat", "hco"},
	Seek:         {"seek", "how"},
	Write:        {"write", "hd"},
	WriteAt:      {"writeat", "hdo"},
	FileName:     {"name", "h"},
	Readdir:      {"readdir", "hc"},
	Readdirnames: {"readdirnames", "hc"},
	FileStat:     {"fstat", "h"},
	Sync:         {"sync", "h"},
	Truncate:     {"truncate", "ho"},
	WriteString:  {"writestring", "hd"},
}

// argument names for Usage, by letter.
var argument = map[byte]string{
	'h': "h0..h3", 'n': "NAME", 'N': "NEW", 'f': "FLAGS", 'p': "PERM", 'd': "DATA", 'c': "COUNT",
	'o': "OFFSET", 'w': "set|cur|end", 'a': "ATIME", 'm': "MTIME", 'u': "UID", 'g': "GID",
}

// Kinds returns every kind, in the order of their declaration.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// maxOffset bounds offsets and sizes: what a program leaves is read as a whole.
const maxOffset = 1 << 28

// validate returns an error for an Op that cannot be called as it is.
func (o Op) validate() error {
	switch {
	case o.Kind >= kinds:
		return fmt.Errorf("no such kind: %s", o.Kind)
	case o.Handle < 0 || o.Handle >= Slots:
		return fmt.Errorf("no such handle: h%d", o.Handle)
	case o.Count > maxRepeat:
		return fmt.Errorf("count %d is more than %d", o.Count, maxRepeat)
	case o.Off > maxOffset:
		return fmt.Errorf("offset %d is more than %d", o.Off, maxOffset)
	}
	return nil
}

// String returns the verb.
func (k Kind) String() string {
	if k >= kinds {
		return "kind(" + strconv.Itoa(int(k)) + ")"
	}
	return syntax[k].verb
}

// Usage returns the verb and the names of its arguments, such as
// "writeat h0..h3 DATA OFFSET".
func (k Kind) Usage() string {
	if k >= kinds {
		return k.String()
	}
	words := []string{syntax[k].verb}
	for i := range len(syntax[k].args) {
		words = append(words, argument[syntax[k].args[i]])
	}
	return strings.Join(words, " ")
}

// onHandle reports whether the kind is a method of afero.File.
func (k Kind) onHandle() bool { return k >= Close && k < kinds }

// takes reports whether the kind has the argument with this letter.
func (k Kind) takes(letter byte) bool {
	return k < kinds && strings.IndexByte(syntax[k].args, letter) >= 0
}

// String returns the text form, which [ParseOp] reads.
func (o Op) String() string {
	if o.Kind >= kinds {
		return o.Kind.String()
	}
	var b strings.Builder
	b.WriteString(syntax[o.Kind].verb)
	for i := range len(syntax[o.Kind].args) {
		b.WriteByte(' ')
		switch syntax[o.Kind].args[i] {
		case 'h':
			b.WriteString("h" + strconv.Itoa(o.Handle))
		case 'n':
			b.WriteString(formatName(o.Name))
		case 'N':
			b.WriteString(formatName(o.New))
		case 'f':
			b.WriteString(formatFlag(o.Flag))
		case 'p':
			b.WriteString(formatPerm(o.Perm))
		case 'd':
			b.WriteString(formatData(o.Data))
		case 'c':
			b.WriteString(strconv.Itoa(o.Count))
		case 'o':
			b.WriteString(strconv.FormatInt(o.Off, 10))
		case 'w':
			b.WriteString(formatWhence(o.Whence))
		case 'a':
			b.WriteString(strconv.FormatInt(o.Atime, 10))
		case 'm':
			b.WriteString(strconv.FormatInt(o.Mtime, 10))
		case 'u':
			b.WriteString(strconv.Itoa(o.UID))
		case 'g':
			b.WriteString(strconv.Itoa(o.GID))
		}
	}
	return b.String()
}

// ParseOp reads the text form of an Op.
func ParseOp(line string) (Op, error) {
	words, err := split(line)
	if err != nil {
		return Op{}, fmt.Errorf("fstestx: %q: %w", line, err)
	}
	o, err := parseWords(words)
	if err != nil {
		return Op{}, fmt.Errorf("fstestx: %q: %w", line, err)
	}
	return o, nil
}

func parseWords(words []string) (Op, error) {
	if len(words) == 0 {
		return Op{}, fmt.Errorf("no verb")
	}
	var o Op
	for o.Kind < kinds && syntax[o.Kind].verb != words[0] {
		o.Kind++
	}
	if o.Kind == kinds {
		return Op{}, fmt.Errorf("unknown verb %q", words[0])
	}
	args := syntax[o.Kind].args
	if len(words)-1 != len(args) {
		return Op{}, fmt.Errorf("want %s", o.Kind.Usage())
	}
	for i, word := range words[1:] {
		var err error
		switch args[i] {
		case 'h':
			if len(word) != 2 || word[0] != 'h' || word[1] < '0' || word[1] >= '0'+Slots {
				err = fmt.Errorf("bad handle %q, want h0 to h%d", word, Slots-1)
			} else {
				o.Handle = int(word[1] - '0')
			}
		case 'n':
			o.Name, err = parseText(word)
		case 'N':
			o.New, err = parseText(word)
		case 'f':
			o.Flag, err = parseFlag(word)
		case 'p':
			o.Perm, err = parsePerm(word)
		case 'd':
			o.Data, err = parseText(word)
		case 'c':
			o.Count, err = strconv.Atoi(word)
		case 'o':
			o.Off, err = strconv.ParseInt(word, 10, 64)
		case 'w':
			o.Whence, err = parseWhence(word)
		case 'a':
			o.Atime, err = strconv.ParseInt(word, 10, 64)
		case 'm':
			o.Mtime, err = strconv.ParseInt(word, 10, 64)
		case 'u':
			o.UID, err = strconv.Atoi(word)
		case 'g':
			o.GID, err = strconv.Atoi(word)
		}
		if err != nil {
			return Op{}, err
		}
	}
	return o, o.validate()
}

// split cuts a line into words; blanks inside a string literal do not cut.
func split(line string) ([]string, error) {
	var words []string
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" || line[0] == '#' {
			return words, nil
		}
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		if line[0] == '"' {
			literal, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("bad string literal in %q", line)
			}
			end = len(literal)
		}
		words = append(words, line[:end])
		line = line[end:]
	}
}

// formatName prints a name bare where that can be read back.
func formatName(s string) string {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && strings.IndexByte("/._-", c) < 0 {
			return formatData(s)
		}
	}
	if s == "" || s == "->" || len(s) > 64 {
		return formatData(s)
	}
	return s
}

// formatData prints bytes as a string literal, or as c*N where long and uniform.
func formatData(s string) string {
	if len(s) > 16 && strings.Count(s, s[:1]) == len(s) && s[0] > ' ' && s[0] < 0x7f && s[0] != '"' && s[0] != '#' {
		return s[:1] + "*" + strconv.Itoa(len(s))
	}
	return strconv.Quote(s)
}

// maxRepeat bounds c*N, so that a program cannot ask for all the memory.
const maxRepeat = 1 << 24

func parseText(word string) (string, error) {
	if strings.HasPrefix(word, `"`) {
		return strconv.Unquote(word)
	}
	if len(word) > 2 && word[1] == '*' {
		n, err := strconv.Atoi(word[2:])
		if err != nil || n < 0 || n > maxRepeat {
			return "", fmt.Errorf("bad repetition %q", word)
		}
		return strings.Repeat(word[:1], n), nil
	}
	return word, nil
}

var flagNames = []struct {
	bit  int
	name string
}{
	{os.O_CREATE, "create"}, {os.O_EXCL, "excl"}, {os.O_TRUNC, "trunc"}, {os.O_APPEND, "append"}, {os.O_SYNC, "sync"},
}

const accessMode = os.O_RDONLY | os.O_WRONLY | os.O_RDWR

func formatFlag(flag int) string {
	s := [4]string{"rdonly", "wronly", "rdwr", "3"}[flag&accessMode]
	for _, f := range flagNames {
		if flag&f.bit == f.bit {
			s += "|" + f.name
		}
	}
	return s
}

func parseFlag(word string) (int, error) {
	access, rest, _ := strings.Cut(word, "|")
	flag, ok := map[string]int{"rdonly": os.O_RDONLY, "wronly": os.O_WRONLY, "rdwr": os.O_RDWR}[access]
	if !ok {
		return 0, fmt.Errorf("bad flags %q", word)
	}
next:
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "|")
		for _, f := range flagNames {
			if f.name == name {
				flag |= f.bit
				continue next
			}
		}
		return 0, fmt.Errorf("bad flag %q", name)
	}
	return flag, nil
}

// formatPerm prints a mode the way chmod(1) takes it, with the special bits in front.
func formatPerm(m fs.FileMode) string {
	n := uint32(m.Perm())
	for i, bit := range []fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if m&bit != 0 {
			n |= 0o1000 << i
		}
	}
	return fmt.Sprintf("%04o", n)
}

func parsePerm(word string) (fs.FileMode, error) {
	n, err := strconv.ParseUint(word, 8, 32)
	if err != nil || n > 0o7777 {
		return 0, fmt.Errorf("bad mode %q", word)
	}
	m := fs.FileMode(n & 0o777)
	for i, bit := range []fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if n&(0o1000<<i) != 0 {
			m |= bit
		}
	}
	return m, nil
}

// formatWhence keeps values that mean nothing as numbers: they are calls worth making.
func formatWhence(w int) string {
	switch w {
	case io.SeekStart:
		return "set"
	case io.SeekCurrent:
		return "cur"
	case io.SeekEnd:
		return "end"
	}
	return strconv.Itoa(w)
}

func parseWhence(word string) (int, error) {
	switch word {
	case "set":
		return io.SeekStart, nil
	case "cur":
		return io.SeekCurrent, nil
	case "end":
		return io.SeekEnd, nil
	}
	return strconv.Atoi(word)
}
