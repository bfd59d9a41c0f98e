package sim

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/spf13/afero"
)

// reader is a reader of the sink's directory: it sees regular files whose name does not
// begin with a dot, and notices what is new, changed or gone. It keeps what it has read and
// compares bytes, not times or lengths, since a file that is replaced by another of the
// same length is the kind of thing that it is for.
//
// It stands for any consumer of the directory: one that lists, skips names with a dot as
// Hive and Spark do, and reads what is left. It asks the sink for nothing.
//
// Invariant: after each call of changes that succeeds, files has exactly what was visible
// then.
type reader struct {
	fs    afero.Fs
	dir   string
	files map[string]file // by path relative to dir
	uids  map[string]int  // the number of each UUID met
	seen  uint64          // generation of the file system at the last look
	began bool
}

// file is a visible file as it was read.
type file struct {
	content []byte
}

// generations is a file system that can tell cheaply whether anything visible has
// changed; then the directory need not be listed after every operation. Most operations
// change hidden files only, and listing all of them would make a scenario cost the square
// of its length.
//
// The generation counts up with each change of a name or a content that a listing could
// show. Package fsmem has it.
type generations interface {
	VisibleGeneration() uint64
}

func newReader(fsys afero.Fs, dir string) *reader {
	return &reader{fs: fsys, dir: dir, files: map[string]file{}, uids: map[string]int{}}
}

// changes lists the directory and returns what is different from the last time: first
// what changed, then what vanished, then what is new, each in a fixed order. After an
// error the reader has seen part of the directory and is of no more use.
//
// Labels are given at the end, when the order is known: a UUID gets its number from the
// first answer in which it stands, and the walk's own order depends on the UUIDs.
func (v *reader) changes() ([]Event, error) {
	if g, ok := v.fs.(generations); ok {
		now := g.VisibleGeneration()
		if v.began && now == v.seen {
			return nil, nil
		}
		v.seen = now
	}
	v.began = true
	var events, added []Event
	present := map[string]bool{}
	err := afero.Walk(v.fs, v.dir, func(path string, info fs.FileInfo, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the directory is made with the first part
		}
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() || strings.HasPrefix(info.Name(), ".") {
			return nil
		}
		relative, err := filepath.Rel(v.dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(relative)
		present[name] = true
		content, err := afero.ReadFile(v.fs, path)
		if err != nil {
			return err
		}
		before, known := v.files[name]
		switch {
		case !known:
			added = append(added, Event{Kind: Visible, Path: name, Records: lines(content)})
		case !bytes.Equal(before.content, content):
			events = append(events, Event{Kind: Changed, Path: name})
		}
		v.files[name] = file{content: content}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, name := range v.gone(present) {
		events = append(events, Event{Kind: Vanished, Path: name})
		delete(v.files, name)
	}
	slices.SortStableFunc(added, compareAdded)
	for i := range added {
		added[i].Label = v.label(added[i].Path)
	}
	return append(events, added...), nil
}

// gone lists, in order, the files that were there and are not.
//
// It is called when all that is present is in files, so equal numbers mean that none is
// missing.
func (v *reader) gone(present map[string]bool) []string {
	if len(present) == len(v.files) {
		return nil // every present one is known by now
	}
	var names []string
	for name := range v.files {
		if !present[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// compareAdded orders new files by bucket, then by content, then by name. Strings are
// compared as Java does, by UTF-16 units, because the recorded traces were sorted so;
// the name comes last, because it is random.
func compareAdded(a, b Event) int {
	if c := compareJava(bucketPath(a.Path), bucketPath(b.Path)); c != 0 {
		return c
	}
	if c := compareJava(strings.Join(a.Records, " "), strings.Join(b.Records, " ")); c != 0 {
		return c
	}
	return compareJava(a.Path, b.Path)
}

// compareJava orders as String.compareTo does. Beyond the first 65,536 code points UTF-16
// has another order than UTF-8; within ASCII the two agree, which saves encoding nearly
// always.
func compareJava(a, b string) int {
	if isASCII(a) && isASCII(b) {
		return strings.Compare(a, b)
	}
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// bucketPath is a path up to its last slash, that included.
func bucketPath(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

// lines splits a file as Java's Files.readAllLines does: at \n, \r and \r\n. An empty file
// has no lines, and an end of line at the end begins none.
func lines(content []byte) []string {
	text := strings.ReplaceAll(string(content), "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// partName takes the name of a part file to pieces: prefix, UUID, counter, suffix. A name
// that has no UUID is shown as it is.
var partName = regexp.MustCompile(`^(.*?)-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})-(\d+)(.*)$`)

// label replaces the UUID in a file's name by its number.
func (v *reader) label(path string) string {
	bucket := bucketPath(path)
	m := partName.FindStringSubmatch(path[len(bucket):])
	if m == nil {
		return path
	}
	return bucket + m[1] + "-" + v.number(m[2]) + "-" + m[3] + m[4]
}

// number gives a UUID its name in answers: the n-th one met is u and n, from 0. Its order
// is that of the answers, which the sort makes independent of the UUIDs themselves.
func (v *reader) number(uuid string) string {
	n, ok := v.uids[uuid]
	if !ok {
		n = len(v.uids)
		v.uids[uuid] = n
	}
	return "u" + strconv.Itoa(n)
}
