package fstestx

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing/fstest"
	"time"

	"github.com/spf13/afero"
)

// codeRules are the rules that a script cannot say.
func codeRules() []Rule {
	return []Rule{
		code("open/nil-on-error", "A call that fails returns a nil afero.File, which is == nil.", "package os, Open: If there is an error", "", checkNilOnError),
		code("info/snapshot", "A FileInfo does not change when the file does.", "package os, FileInfo; stat(2)", "", checkSnapshot),
		code("mode/umask", "Create, OpenFile, Mkdir and MkdirAll take the same umask from 0666 or the mode given, and set no other bit.", "umask(2); os.Create", "", checkUmask),
		code("times/zero", "A zero time given to Chtimes leaves that time.", "package os, Chtimes", "", checkZeroTime),
		code("times/nanoseconds", "Chtimes keeps nanoseconds.", "utimensat(2); inode(7)", "", checkNanoseconds),
		code("path/relative", "A relative name is followed from the working directory.", "path_resolution(7), Step 1", "", checkRelative),
		code("readdir/while-removing", "Reading a directory in parts and removing what was read returns each entry once.", "readdir(3), RATIONALE in POSIX.1-2017", "", checkReaddirRemoving),
		code("readdir/while-changing", "Entries that stay are returned exactly once while others come and go.", "readdir(3), DESCRIPTION in POSIX.1-2017", "", checkReaddirChanging),
		code("error/errno", "The cause of an error is a syscall.Errno, so that errors.Is finds it both as errno and as fs.Err*.", "package syscall, Errno.Is", "", checkErrno),
		code("error/sentinel", "Errors answer to fs.ErrNotExist, ErrExist and ErrClosed, and a full read ends with io.EOF itself.", "package io/fs; io.Reader", "", checkSentinel),
		code("error/names", "An error holds the name or the two names exactly as given.", "io/fs.PathError; os.LinkError", "", checkErrorNames),
		code("symlink/supported", "Links can be made and read: the file system is an afero.Symlinker.", "symlink(2)", "", checkSymlinker),
		code("symlink/size", "The size of a link is the length of its text.", "lstat(2), st_size", "symlinks", checkLinkSize),
		code("iofs/fstest", "testing/fstest.TestFS accepts the tree as an io/fs.FS made by afero.NewIOFS.", "package testing/fstest, TestFS", "", checkIOFS),
		code("concurrent/create", "Files made by many goroutines in one directory are all there.", "open(2)", "", checkConcurrentCreate),
		code("concurrent/exclusive", "Of many that make one name with Mkdir or O_EXCL exactly one succeeds.", "mkdir(2), open(2), ERRORS EEXIST", "", checkConcurrentExclusive),
		code("concurrent/append", "Writes with O_APPEND by many goroutines all arrive, none inside another.", "open(2), O_APPEND", "", checkConcurrentAppend),
		code("concurrent/rename-remove", "Renames and removals of one name by many goroutines leave it under at most one name.", "rename(2), atomically replaced", "", checkConcurrentRename),
		code("concurrent/stat", "Writes, Stat, Seek and Close of one handle by several goroutines are safe.", "package os, File: The methods of File are safe for concurrent use", "", checkConcurrentHandle),
	}
}

func code(name, text, source, needs string, f func(*check)) Rule {
	_, file, line, _ := runtime.Caller(1)
	return Rule{Name: name, Text: text, Source: source, Needs: needs, Place: placeOf(file, line), check: f}
}

func checkNilOnError(c *check) {
	for _, call := range []struct {
		name string
		open func(name string) (afero.File, error)
	}{
		{"Open", c.FS.Open},
		{"Create", c.FS.Create},
		{"OpenFile", func(name string) (afero.File, error) { return c.FS.OpenFile(name, os.O_RDWR, 0) }},
	} {
		f, err := call.open(c.full("no/such"))
		if err == nil {
			f.Close()
			c.errorf("%s of a missing name: no error", call.name)
		} else if f != nil {
			c.errorf("%s: a File of type %T with the error", call.name, f)
		}
	}
}

func checkSnapshot(c *check) {
	c.must(c.put("a", "abc"))
	f, err := c.FS.OpenFile(c.full("a"), os.O_RDWR|os.O_APPEND, 0)
	c.must(err)
	c.keep(f)
	old := time.Unix(timesFrom, 0)
	c.must(c.FS.Chtimes(c.full("a"), old, old))
	byName, err := c.FS.Stat(c.full("a"))
	c.must(err)
	byHandle, err := f.Stat()
	c.must(err)
	mode := byName.Mode()
	_, err = f.WriteString("def")
	c.must(err)
	c.must(c.FS.Chmod(c.full("a"), 0o640))
	c.must(c.FS.Rename(c.full("a"), c.full("b")))
	for _, info := range []fs.FileInfo{byName, byHandle} {
		if info.Size() != 3 || info.Name() != "a" || info.Mode() != mode || !info.ModTime().Equal(old) {
			c.errorf("after write, Chmod and Rename it says %s, want file a size=3 mode=%s mtime=%d", describe(info), formatPerm(mode), timesFrom)
		}
	}
}

func checkUmask(c *check) {
	mode := func(name string) fs.FileMode {
		info, err := c.FS.Stat(c.full(name))
		c.must(err)
		return info.Mode()
	}
	f, err := c.FS.OpenFile(c.full("probe"), os.O_CREATE|os.O_WRONLY, 0o777)
	c.must(err)
	f.Close()
	umask := 0o777 &^ mode("probe")
	f, err = c.FS.Create(c.full("a"))
	c.must(err)
	f.Close()
	c.must(c.FS.Mkdir(c.full("d"), 0o777))
	c.must(c.FS.MkdirAll(c.full("e/f"), 0o777))
	for _, want := range []struct {
		name string
		mode fs.FileMode
	}{
		{"a", 0o666 &^ umask},
		{"d", fs.ModeDir | 0o777&^umask},
		{"e", fs.ModeDir | 0o777&^umask},
		{"e/f", fs.ModeDir | 0o777&^umask},
	} {
		if got := mode(want.name); got != want.mode {
			c.errorf("mode of %s is %v, want %v with the umask %03o that a file of mode 0777 got", want.name, got, want.mode, umask)
		}
	}
}

func checkZeroTime(c *check) {
	c.must(c.put("a", "abc"))
	at := time.Unix(timesFrom+1, 0)
	c.must(c.FS.Chtimes(c.full("a"), at, at))
	c.must(c.FS.Chtimes(c.full("a"), time.Unix(timesFrom+2, 0), time.Time{}))
	info, err := c.FS.Stat(c.full("a"))
	c.must(err)
	if !info.ModTime().Equal(at) {
		c.errorf("modification time is %v, want still %v", info.ModTime().UTC(), at.UTC())
	}
}

func checkNanoseconds(c *check) {
	c.must(c.put("a", ""))
	at := time.Unix(timesFrom, 123456789)
	c.must(c.FS.Chtimes(c.full("a"), at, at))
	info, err := c.FS.Stat(c.full("a"))
	c.must(err)
	if !info.ModTime().Equal(at) {
		c.errorf("modification time is %v, want %v", info.ModTime().UTC(), at.UTC())
	}
}

func checkRelative(c *check) {
	work := c.opts.WorkDir
	if work == "" {
		work = "/"
	}
	name, err := filepath.Rel(work, c.full("a"))
	c.must(err)
	c.must(c.put("a", "abc"))
	b, err := afero.ReadFile(c.FS, name)
	if err != nil || string(b) != "abc" {
		c.errorf("%s is %q, %v as seen from %s, but %s is \"abc\"", name, b, err, work, c.full("a"))
	}
	made := filepath.Join(filepath.Dir(name), "b")
	f, err := c.FS.Create(made)
	c.must(err)
	f.Close()
	if _, err := c.FS.Stat(c.full("b")); err != nil {
		c.errorf("%s was created from %s, but: %v", made, work, err)
	}
}

// letters are the names of a directory that is read in parts.
const letters = "abcdefghijklm"

func (c *check) letters(dir string) {
	c.must(c.FS.Mkdir(c.full(dir), 0o700))
	for _, r := range letters {
		c.must(c.put(dir+"/"+string(r), ""))
	}
}

func checkReaddirRemoving(c *check) {
	c.letters("d")
	f, err := c.FS.Open(c.full("d"))
	c.must(err)
	c.keep(f)
	seen := make(map[string]int)
	for range 2 * len(letters) { // a broken reader must not keep us for ever
		infos, err := f.Readdir(3)
		for _, info := range infos {
			seen[info.Name()]++
			c.must(c.FS.Remove(c.full("d/" + info.Name())))
		}
		if err == io.EOF {
			break
		}
		c.must(err)
	}
	for _, r := range letters {
		if n := seen[string(r)]; n != 1 {
			c.errorf("%c was returned %d times", r, n)
		}
	}
	c.must(c.FS.Remove(c.full("d")))
}

func checkReaddirChanging(c *check) {
	c.letters("d")
	f, err := c.FS.Open(c.full("d"))
	c.must(err)
	c.keep(f)
	seen := make(map[string]int)
	for i := range 2 * len(letters) {
		names, err := f.Readdirnames(2)
		for _, name := range names {
			seen[name]++
		}
		if err == io.EOF {
			break
		}
		c.must(err)
		if i < 3 { // a, b and c make way for names before and after all others
			gone := string(letters[i])
			c.must(c.FS.Remove(c.full("d/" + gone)))
			c.must(c.put("d/A"+gone, ""))
			c.must(c.put("d/z"+gone, ""))
		}
	}
	for _, r := range letters[3:] {
		if n := seen[string(r)]; n != 1 {
			c.errorf("%c was there all the time and was returned %d times", r, n)
		}
	}
	for name, n := range seen {
		if n > 1 && !strings.Contains(letters, name) {
			c.errorf("%s was returned %d times", name, n)
		}
	}
}

func checkErrno(c *check) {
	c.must(c.put("a", "A"))
	c.must(c.FS.Mkdir(c.full("d"), 0o700))
	c.must(c.put("d/x", ""))
	read, err := c.FS.Open(c.full("a"))
	c.must(err)
	c.keep(read)
	_, openMissing := c.FS.Open(c.full("no"))
	_, statMissing := c.FS.Stat(c.full("no"))
	_, statThrough := c.FS.Stat(c.full("a/x"))
	_, exclusive := c.FS.OpenFile(c.full("a"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	_, overDir := c.FS.Create(c.full("d"))
	_, write := read.Write([]byte("x"))
	_, seek := read.Seek(-1, io.SeekStart)
	for _, got := range []struct {
		call string
		err  error
		want syscall.Errno
	}{
		{"Open of a missing name", openMissing, syscall.ENOENT},
		{"Stat of a missing name", statMissing, syscall.ENOENT},
		{"Stat through a file", statThrough, syscall.ENOTDIR},
		{"OpenFile O_CREATE|O_EXCL of an existing name", exclusive, syscall.EEXIST},
		{"Create over a directory", overDir, syscall.EISDIR},
		{"Mkdir of an existing name", c.FS.Mkdir(c.full("d"), 0o700), syscall.EEXIST},
		{"Remove of a directory that is not empty", c.FS.Remove(c.full("d")), syscall.ENOTEMPTY},
		{"Remove of a missing name", c.FS.Remove(c.full("no")), syscall.ENOENT},
		{"Rename of a missing name", c.FS.Rename(c.full("no"), c.full("b")), syscall.ENOENT},
		{"Chmod of a missing name", c.FS.Chmod(c.full("no"), 0o600), syscall.ENOENT},
		{"Write to a handle opened O_RDONLY", write, syscall.EBADF},
		{"Seek to -1", seek, syscall.EINVAL},
		{"Truncate of a handle opened O_RDONLY", read.Truncate(0), syscall.EINVAL},
	} {
		var errno syscall.Errno
		if !errors.As(got.err, &errno) || errno != got.want {
			c.errorf("%s: %v, want %v", got.call, got.err, errnoNames[got.want])
		}
	}
}

func checkSentinel(c *check) {
	c.must(c.put("a", "A"))
	f, err := c.FS.Open(c.full("a"))
	c.must(err)
	if b, err := io.ReadAll(f); err != nil || string(b) != "A" {
		c.errorf("io.ReadAll: %q, %v", b, err)
	}
	c.must(f.Close())
	_, missing := c.FS.Open(c.full("no"))
	_, exclusive := c.FS.OpenFile(c.full("a"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	_, closed := f.Read(make([]byte, 1))
	for _, got := range []struct {
		call      string
		err, want error
	}{
		{"Open of a missing name", missing, fs.ErrNotExist},
		{"OpenFile O_CREATE|O_EXCL of an existing name", exclusive, fs.ErrExist},
		{"Mkdir of an existing name", c.FS.Mkdir(c.full("a"), 0o700), fs.ErrExist},
		{"Read after Close", closed, fs.ErrClosed},
		{"Close after Close", f.Close(), fs.ErrClosed},
	} {
		if !errors.Is(got.err, got.want) {
			c.errorf("%s: %v, want %v", got.call, got.err, got.want)
		}
	}
}

func checkErrorNames(c *check) {
	name := c.full("d/./no//such")
	c.must(c.FS.Mkdir(c.full("d"), 0o700))
	_, open := c.FS.Open(name)
	_, create := c.FS.Create(name)
	_, stat := c.FS.Stat(name)
	for _, got := range []struct {
		call string
		err  error
	}{
		{"Open", open}, {"Create", create}, {"Stat", stat},
		{"Mkdir", c.FS.Mkdir(name, 0o700)}, {"Remove", c.FS.Remove(name)},
		{"Chmod", c.FS.Chmod(name, 0o600)}, {"Chtimes", c.FS.Chtimes(name, time.Unix(timesFrom, 0), time.Unix(timesFrom, 0))},
	} {
		var e *fs.PathError
		if !errors.As(got.err, &e) {
			c.errorf("%s: %T, want *fs.PathError", got.call, got.err)
		} else if e.Path != name {
			c.errorf("%s of %q: error names %q", got.call, name, e.Path)
		}
	}
	var e *os.LinkError
	to := c.full("d//x")
	if err := c.FS.Rename(name, to); !errors.As(err, &e) {
		c.errorf("Rename: %T, want *os.LinkError", err)
	} else if e.Old != name || e.New != to {
		c.errorf("Rename of %q to %q: error names %q and %q", name, to, e.Old, e.New)
	}
}

func checkSymlinker(c *check) {
	l, ok := c.FS.(afero.Symlinker)
	if !ok {
		c.errorf("%T is no afero.Symlinker", c.FS)
		return
	}
	c.must(l.SymlinkIfPossible("a", c.full("l")))
	if text, err := l.ReadlinkIfPossible(c.full("l")); err != nil || text != "a" {
		c.errorf("ReadlinkIfPossible: %q, %v", text, err)
	}
	if info, lstat, err := l.LstatIfPossible(c.full("l")); err != nil || !lstat || info.Mode().Type() != fs.ModeSymlink {
		c.errorf("LstatIfPossible does not see the link: %v, %v", lstat, err)
	}
}

func checkLinkSize(c *check) {
	l := c.FS.(afero.Symlinker) // Rule.Needs
	const text = "../no/such/name"
	c.must(l.SymlinkIfPossible(text, c.full("l")))
	info, _, err := l.LstatIfPossible(c.full("l"))
	c.must(err)
	if info.Size() != int64(len(text)) {
		c.errorf("size %d of a link to %q", info.Size(), text)
	}
}

func checkIOFS(c *check) {
	c.must(c.FS.MkdirAll(c.full("d/e"), 0o700))
	c.must(c.put("a", "some text"))
	c.must(c.put("d/b", ""))
	c.must(c.put("d/e/c.txt", strings.Repeat("0123456789", 1000)))
	fsys := c.FS
	if c.Dir != "" {
		// io/fs has names below a root only: here, and only here, a wrapper must do.
		fsys = afero.NewBasePathFs(c.FS, c.Dir)
	}
	if err := fstest.TestFS(afero.NewIOFS(fsys), "a", "d/b", "d/e/c.txt"); err != nil {
		c.errorf("%v", err)
	}
}
