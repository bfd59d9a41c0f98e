package fstestx

import (
	"io"
	"io/fs"
	"os"
	"strings"
)

// DrawOp returns an operation made of choices: choose(n) returns a number from 0
// to n-1, from a random source, a fuzzer's bytes or a property-testing library.
// Choice 0 is the simplest one, so that a library which shrinks towards 0
// shrinks towards simple operations.
//
// Names are few and shallow, so that programs meet themselves: d and e are mostly
// directories, a and b mostly files, and each is everything now and then. No name has "..", and few link texts
// have one, so that a program stays in its tree or just above it.
func DrawOp(choose func(n int) int) Op {
	o := Op{Kind: deck[choose(len(deck))]}
	for i := range len(syntax[o.Kind].args) {
		switch syntax[o.Kind].args[i] {
		case 'h':
			o.Handle = handles[choose(len(handles))]
		case 'n':
			o.Name = drawName(choose, leaves[o.Kind])
			if o.Kind == Symlink {
				o.Name = linkTexts[choose(len(linkTexts))]
			}
		case 'N':
			o.New = drawName(choose, nil)
		case 'f':
			o.Flag = drawFlag(choose)
		case 'p':
			o.Perm = perms[choose(len(perms))]
		case 'd':
			o.Data = drawData(choose)
		case 'c':
			o.Count = counts[choose(len(counts))]
		case 'o':
			o.Off = offsets[choose(len(offsets))]
		case 'w':
			o.Whence = []int{io.SeekStart, io.SeekCurrent, io.SeekEnd, io.SeekStart, io.SeekCurrent, io.SeekEnd, io.SeekEnd, 9}[choose(8)]
		case 'a':
			o.Atime = timesFrom
		case 'm':
			o.Mtime = timesFrom + int64(choose(8))
		case 'u':
			o.UID = -1 // what else is allowed depends on the user
		case 'g':
			o.GID = -1
		}
	}
	return o
}

// deck has each kind as often as it should come in so many operations.
var deck = cards(
	OpenFile, 14, Create, 5, Open, 9, Write, 9, Read, 5, Mkdir, 9, Rename, 12, Remove, 4, Stat, 6,
	MkdirAll, 5, RemoveAll, 1, Symlink, 5, Lstat, 3, Readlink, 2, Chmod, 3, Chtimes, 4, Chown, 1,
	Readdir, 5, Readdirnames, 5, Seek, 5, Truncate, 4, WriteAt, 4, ReadAt, 4, WriteString, 2,
	FileStat, 3, Close, 3, Sync, 2, FileName, 1,
)

func cards(kindsAndNumbers ...any) []Kind {
	var all []Kind
	for i := 0; i < len(kindsAndNumbers); i += 2 {
		for range kindsAndNumbers[i+1].(int) {
			all = append(all, kindsAndNumbers[i].(Kind))
		}
	}
	return all
}

var (
	handles = []int{0, 1, 0, 1, 2, 0, 1, 3} // the first are open more often

	anything = []string{"a", "d", "b", "e"}
	parents  = []string{"d", "d", "e", "d", "e", "d", "a", "b"}
	leaves   = [kinds][]string{
		Create: {"a", "b", "a", "b", "a", "b", "d", "e"}, OpenFile: {"a", "b", "a", "b", "a", "b", "d", "e"},
		Mkdir: {"d", "e", "d", "e", "d", "e", "a", "b"}, MkdirAll: {"d", "e", "d", "e", "d", "e", "a", "b"},
		Open: {"d", "a", "d", "e", "d", "b", "e", "d"}, Remove: {"a", "b", "a", "b", "a", "d", "e", "b"},
	}
	linkTexts = []string{"a", "d", "b", "e", "d/a", "e/b", "/a", "/d", "/d/e", "../a", "../d", ".", "a/", "d/", "no", "/"}
	perms     = []fs.FileMode{
		0o700, 0o755, 0o777, 0o744, 0o600, 0o644, 0o400, 0o500, 0o300, 0o200, 0, 0o666, 0o750, 0o770, 0o777 | fs.ModeSticky, 0o711,
	}
	counts  = []int{1, 3, 2, 10, 0, -1, 100, 5000}
	offsets = []int64{0, 1, 2, 3, 5, 8, 13, 100, 4095, 4096, 5000, -1, -3, -100, 0, 4}
)

// drawName is a name of one to three elements, the last one of leaf, seldom
// written in an odd way.
func drawName(choose func(n int) int, leaf []string) string {
	if leaf == nil {
		leaf = anything
	}
	depth := []int{1, 1, 2, 1, 2, 3, 1, 2}[choose(8)]
	parts := make([]string, depth)
	for i := range depth - 1 {
		parts[i] = parents[choose(len(parents))]
	}
	parts[depth-1] = leaf[choose(len(leaf))]
	name := strings.Join(parts, "/")
	switch choose(64) {
	case 63:
		return name + "/"
	case 62:
		return name + "/."
	case 61:
		return "./" + strings.Join(parts, "//")
	case 60:
		return []string{".", "", "n\x00", strings.Repeat("n", 256), "./", name + "//"}[choose(6)]
	}
	return name
}

func drawFlag(choose func(n int) int) int {
	flag := []int{os.O_RDWR, os.O_WRONLY, os.O_RDONLY, os.O_RDWR}[choose(4)]
	if choose(4) != 0 {
		flag |= os.O_CREATE
	}
	for _, rare := range []struct{ bit, oneIn int }{{os.O_APPEND, 3}, {os.O_TRUNC, 5}, {os.O_EXCL, 8}, {os.O_SYNC, 32}} {
		if choose(rare.oneIn) == rare.oneIn-1 {
			flag |= rare.bit
		}
	}
	return flag
}

func drawData(choose func(n int) int) string {
	letter := string(rune('A' + choose(26)))
	switch n := choose(16); n {
	case 15:
		return strings.Repeat(letter, 5000)
	case 14:
		return ""
	default:
		return strings.Repeat(letter, n%7+1)
	}
}
