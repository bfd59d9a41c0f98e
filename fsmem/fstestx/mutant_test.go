package fstestx_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sinklab/fsmem"
	"sinklab/fsmem/fstestx"

	"github.com/spf13/afero"
)

// memory is what a mutant is made of.
type memory interface {
	afero.Fs
	afero.Symlinker
}

// brokenFS fails all calls of one kind, or lets lie change a result.
type brokenFS struct {
	memory
	fails fstestx.Kind
	none  bool // nothing fails: only lies
	lie   *lie
}

// lie is one small thing that a file system gets wrong.
type lie struct {
	name     string
	breaks   []string // the rules that must notice, among others
	typedNil bool     // a nil pointer in the afero.File that comes with an error
	flag     func(flag int) int
	perm     func(fs.FileMode) fs.FileMode
	rename   func(m memory, from, to string) error
	remove   func(m memory, name string) error
	err      func(error) error
	file     func(afero.File) afero.File
	symlink  func(m memory, text, name string) error
	lstat    func(m memory, name string) (fs.FileInfo, error)
	readlink func(m memory, name string) (string, error)
}

func (b *brokenFS) check(k fstestx.Kind, op, name string) error {
	if !b.none && b.fails == k {
		return &fs.PathError{Op: op, Path: name, Err: syscall.EIO}
	}
	return nil
}

func (b *brokenFS) result(err error) error {
	if err != nil && b.lie != nil && b.lie.err != nil {
		return b.lie.err(err)
	}
	return err
}

func (b *brokenFS) opened(f afero.File, err error) (afero.File, error) {
	if err != nil {
		if b.lie != nil && b.lie.typedNil {
			return (*brokenFile)(nil), err
		}
		return nil, b.result(err)
	}
	if b.lie != nil && b.lie.file != nil {
		f = b.lie.file(f)
	}
	return &brokenFile{f, b}, nil
}

func (b *brokenFS) Create(name string) (afero.File, error) {
	if err := b.check(fstestx.Create, "open", name); err != nil {
		return nil, err
	}
	return b.openFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

func (b *brokenFS) Open(name string) (afero.File, error) {
	if err := b.check(fstestx.Open, "open", name); err != nil {
		return nil, err
	}
	return b.openFile(name, os.O_RDONLY, 0)
}

func (b *brokenFS) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	if err := b.check(fstestx.OpenFile, "open", name); err != nil {
		return nil, err
	}
	return b.openFile(name, flag, perm)
}

func (b *brokenFS) openFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	if b.lie != nil && b.lie.flag != nil {
		flag = b.lie.flag(flag)
	}
	if b.lie != nil && b.lie.perm != nil {
		perm = b.lie.perm(perm)
	}
	return b.opened(b.memory.OpenFile(name, flag, perm))
}

func (b *brokenFS) Mkdir(name string, perm fs.FileMode) error {
	if err := b.check(fstestx.Mkdir, "mkdir", name); err != nil {
		return err
	}
	return b.result(b.memory.Mkdir(name, perm))
}

func (b *brokenFS) MkdirAll(name string, perm fs.FileMode) error {
	if err := b.check(fstestx.MkdirAll, "mkdir", name); err != nil {
		return err
	}
	return b.result(b.memory.MkdirAll(name, perm))
}

func (b *brokenFS) Remove(name string) error {
	if err := b.check(fstestx.Remove, "remove", name); err != nil {
		return err
	}
	if b.lie != nil && b.lie.remove != nil {
		return b.lie.remove(b.memory, name)
	}
	return b.result(b.memory.Remove(name))
}

func (b *brokenFS) RemoveAll(name string) error {
	if err := b.check(fstestx.RemoveAll, "unlinkat", name); err != nil {
		return err
	}
	return b.result(b.memory.RemoveAll(name))
}

func (b *brokenFS) Rename(from, to string) error {
	if err := b.check(fstestx.Rename, "rename", from); err != nil {
		return err
	}
	if b.lie != nil && b.lie.rename != nil {
		return b.lie.rename(b.memory, from, to)
	}
	return b.result(b.memory.Rename(from, to))
}

func (b *brokenFS) Stat(name string) (fs.FileInfo, error) {
	if err := b.check(fstestx.Stat, "stat", name); err != nil {
		return nil, err
	}
	info, err := b.memory.Stat(name)
	return info, b.result(err)
}

func (b *brokenFS) Chmod(name string, mode fs.FileMode) error {
	if err := b.check(fstestx.Chmod, "chmod", name); err != nil {
		return err
	}
	return b.result(b.memory.Chmod(name, mode))
}

func (b *brokenFS) Chown(name string, uid, gid int) error {
	if err := b.check(fstestx.Chown, "chown", name); err != nil {
		return err
	}
	return b.result(b.memory.Chown(name, uid, gid))
}

func (b *brokenFS) Chtimes(name string, a, m time.Time) error {
	if err := b.check(fstestx.Chtimes, "chtimes", name); err != nil {
		return err
	}
	return b.result(b.memory.Chtimes(name, a, m))
}

func (b *brokenFS) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	if err := b.check(fstestx.Lstat, "lstat", name); err != nil {
		return nil, true, err
	}
	if b.lie != nil && b.lie.lstat != nil {
		info, err := b.lie.lstat(b.memory, name)
		return info, true, err
	}
	return b.memory.LstatIfPossible(name)
}

func (b *brokenFS) SymlinkIfPossible(text, name string) error {
	if err := b.check(fstestx.Symlink, "symlink", name); err != nil {
		return err
	}
	if b.lie != nil && b.lie.symlink != nil {
		return b.lie.symlink(b.memory, text, name)
	}
	return b.memory.SymlinkIfPossible(text, name)
}

func (b *brokenFS) ReadlinkIfPossible(name string) (string, error) {
	if err := b.check(fstestx.Readlink, "readlink", name); err != nil {
		return "", err
	}
	return b.memory.ReadlinkIfPossible(name)
}

type brokenFile struct {
	afero.File
	b *brokenFS
}

func (f *brokenFile) check(k fstestx.Kind, op string) error { return f.b.check(k, op, f.File.Name()) }

func (f *brokenFile) Close() error {
	err := f.File.Close()
	if e := f.check(fstestx.Close, "close"); e != nil {
		return e
	}
	return err
}

func (f *brokenFile) Read(p []byte) (int, error) {
	if err := f.check(fstestx.Read, "read"); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *brokenFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.check(fstestx.ReadAt, "read"); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *brokenFile) Seek(off int64, whence int) (int64, error) {
	if err := f.check(fstestx.Seek, "seek"); err != nil {
		return 0, err
	}
	return f.File.Seek(off, whence)
}

func (f *brokenFile) Write(p []byte) (int, error) {
	if err := f.check(fstestx.Write, "write"); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f *brokenFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.check(fstestx.WriteAt, "write"); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

func (f *brokenFile) WriteString(s string) (int, error) {
	if err := f.check(fstestx.WriteString, "write"); err != nil {
		return 0, err
	}
	return f.File.WriteString(s)
}

func (f *brokenFile) Name() string {
	if f.check(fstestx.FileName, "name") != nil {
		return "?"
	}
	return f.File.Name()
}

func (f *brokenFile) Readdir(n int) ([]fs.FileInfo, error) {
	if err := f.check(fstestx.Readdir, "readdirent"); err != nil {
		return nil, err
	}
	return f.File.Readdir(n)
}

func (f *brokenFile) Readdirnames(n int) ([]string, error) {
	if err := f.check(fstestx.Readdirnames, "readdirent"); err != nil {
		return nil, err
	}
	return f.File.Readdirnames(n)
}

func (f *brokenFile) Stat() (fs.FileInfo, error) {
	if err := f.check(fstestx.FileStat, "stat"); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f *brokenFile) Sync() error {
	if err := f.check(fstestx.Sync, "sync"); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *brokenFile) Truncate(size int64) error {
	if err := f.check(fstestx.Truncate, "truncate"); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// broken returns the names of the rules that a mutant breaks.
func (b brokenFS) broken(t *testing.T) []string {
	t.Helper()
	err := fstestx.TestFS(func() fstestx.Tree {
		c := b
		c.memory = fsmem.New(fsmem.Options{UID: 1000, GID: 1000})
		return fstestx.Tree{FS: &c}
	}, fstestx.Options{Permissions: true})
	var names []string
	for _, v := range fstestx.Violations(err) {
		names = append(names, v.Rule.Name)
	}
	return names
}

func TestAnUnbrokenWrapperKeepsEveryRule(t *testing.T) {
	if names := (brokenFS{none: true}).broken(t); names != nil {
		t.Errorf("broken: %v", names)
	}
}

// A method that never works is seen, and each rule sees one at least, or a lie.
func TestEveryMethodAndEveryRuleCanFail(t *testing.T) {
	seen := make(map[string]bool)
	for _, k := range fstestx.Kinds() {
		names := brokenFS{fails: k}.broken(t)
		if names == nil {
			t.Errorf("no rule sees that %s always fails", k)
		}
		for _, name := range names {
			seen[name] = true
		}
	}
	for _, l := range lies {
		for _, name := range (brokenFS{none: true, lie: &l}).broken(t) {
			seen[name] = true
		}
	}
	for _, r := range fstestx.Rules() {
		if !seen[r.Name] {
			t.Errorf("%s: rule %s has never failed", r.Place, r.Name)
		}
	}
}

type fileLie struct {
	afero.File
	write    func(f afero.File, p []byte) (int, error)
	writeAt  func(f afero.File, p []byte, off int64) (int, error)
	read     func(f afero.File, p []byte) (int, error)
	readAt   func(f afero.File, p []byte, off int64) (int, error)
	close    func(f afero.File) error
	truncate func(f afero.File, size int64) error
	readdir  func(f afero.File, n int) ([]string, error)
	sync     func(f afero.File) error
}

func (f *fileLie) Write(p []byte) (int, error) {
	if f.write != nil {
		return f.write(f.File, p)
	}
	return f.File.Write(p)
}

func (f *fileLie) WriteAt(p []byte, off int64) (int, error) {
	if f.writeAt != nil {
		return f.writeAt(f.File, p, off)
	}
	return f.File.WriteAt(p, off)
}

func (f *fileLie) Read(p []byte) (int, error) {
	if f.read != nil {
		return f.read(f.File, p)
	}
	return f.File.Read(p)
}

func (f *fileLie) ReadAt(p []byte, off int64) (int, error) {
	if f.readAt != nil {
		return f.readAt(f.File, p, off)
	}
	return f.File.ReadAt(p, off)
}

func (f *fileLie) Close() error {
	if f.close != nil {
		return f.close(f.File)
	}
	return f.File.Close()
}

func (f *fileLie) Truncate(size int64) error {
	if f.truncate != nil {
		return f.truncate(f.File, size)
	}
	return f.File.Truncate(size)
}

func (f *fileLie) Readdirnames(n int) ([]string, error) {
	if f.readdir != nil {
		return f.readdir(f.File, n)
	}
	return f.File.Readdirnames(n)
}

func (f *fileLie) Sync() error {
	if f.sync != nil {
		return f.sync(f.File)
	}
	return f.File.Sync()
}

// lies are file systems that are nearly right, and the rules that must find them out.
var lies = []lie{
	{name: "a File comes with an error", breaks: []string{"open/nil-on-error", "open/missing"}, typedNil: true},
	{name: "O_APPEND is ignored", breaks: []string{"append/every-write", "append/seek", "append/truncated", "append/writeat", "concurrent/append"},
		flag: func(flag int) int { return flag &^ os.O_APPEND }},
	{name: "O_EXCL is ignored", breaks: []string{"open/exclusive", "open/exclusive-symlink", "concurrent/exclusive"},
		flag: func(flag int) int { return flag &^ os.O_EXCL }},
	{name: "O_TRUNC is ignored", breaks: []string{"open/truncate", "create/truncates", "append/open-truncate"},
		flag: func(flag int) int { return flag &^ os.O_TRUNC }},
	{name: "every handle reads and writes", breaks: []string{"handle/read-only", "handle/write-only", "error/handle", "open/directory"},
		flag: func(flag int) int { return flag&^(os.O_WRONLY|os.O_RDWR) | os.O_RDWR }},
	{name: "new files have mode 0600", breaks: []string{"mode/open", "mode/umask"},
		perm: func(fs.FileMode) fs.FileMode { return 0o600 }},
	{name: "rename replaces directories", breaks: []string{"rename/file-over-directory", "rename/directory-over-directory"},
		rename: func(m memory, from, to string) error {
			if _, err := m.Stat(from); err == nil && from != to {
				if info, err := m.Stat(to); err == nil && info.IsDir() {
					m.RemoveAll(to)
				}
			}
			return m.Rename(from, to)
		}},
	{name: "rename copies", breaks: []string{"rename/over-open-file", "rename/open-file", "rename/file"},
		rename: func(m memory, from, to string) error {
			info, err := m.Stat(from)
			if err != nil || !info.Mode().IsRegular() || from == to {
				return m.Rename(from, to)
			}
			b, err := afero.ReadFile(m, from)
			if err != nil {
				return m.Rename(from, to)
			}
			if err := afero.WriteFile(m, to, b, 0o600); err != nil {
				return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
			}
			return m.Remove(from)
		}},
	{name: "rename makes parents", breaks: []string{"rename/into-missing-parent"},
		rename: func(m memory, from, to string) error {
			if i := strings.LastIndexByte(to, '/'); i > 0 {
				m.MkdirAll(to[:i], 0o700)
			}
			return m.Rename(from, to)
		}},
	{name: "remove takes whole trees", breaks: []string{"remove/not-empty"},
		remove: func(m memory, name string) error {
			if _, _, err := m.LstatIfPossible(name); err != nil {
				return m.Remove(name)
			}
			return m.RemoveAll(name)
		}},
	{name: "errors have no errno", breaks: []string{"error/errno"},
		err: func(err error) error {
			for _, class := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission} {
				if e, ok := err.(*fs.PathError); ok && e.Err.(syscall.Errno).Is(class) {
					return &fs.PathError{Op: e.Op, Path: e.Path, Err: class}
				}
			}
			return err
		}},
	{name: "errors have cleaned names", breaks: []string{"error/names"},
		err: func(err error) error {
			if e, ok := err.(*fs.PathError); ok {
				return &fs.PathError{Op: e.Op, Path: strings.ReplaceAll(e.Path, "//", "/"), Err: e.Err}
			}
			return err
		}},
	{name: "errors have operations of their own", breaks: []string{"error/path-error"},
		err: func(err error) error {
			if e, ok := err.(*fs.PathError); ok {
				return &fs.PathError{Op: "my" + e.Op, Path: e.Path, Err: e.Err}
			}
			return err
		}},
	{name: "errors are bare", breaks: []string{"error/path-error", "error/names"},
		err: func(err error) error {
			if e, ok := err.(*fs.PathError); ok {
				return e.Err
			}
			return err
		}},
	{name: "writes keep the caller's bytes and change them", breaks: []string{"handle/overwrite"},
		file: func(f afero.File) afero.File {
			return &fileLie{File: f, write: func(f afero.File, p []byte) (int, error) {
				n, err := f.Write(p)
				clear(p)
				return n, err
			}}
		}},
	{name: "the end of a read comes with its last bytes", breaks: []string{"handle/read-end"},
		file: func(f afero.File) afero.File {
			return &fileLie{File: f, read: func(f afero.File, p []byte) (int, error) {
				n, err := f.Read(p)
				if err == nil && n < len(p) {
					err = io.EOF
				}
				return n, err
			}}
		}},
	{name: "a short ReadAt is no error", breaks: []string{"handle/readat"},
		file: func(f afero.File) afero.File {
			return &fileLie{File: f, readAt: func(f afero.File, p []byte, off int64) (int, error) {
				n, err := f.ReadAt(p, off)
				if n > 0 && err == io.EOF {
					err = nil
				}
				return n, err
			}}
		}},
	{name: "WriteAt moves the offset", breaks: []string{"handle/writeat"},
		file: func(f afero.File) afero.File {
			return &fileLie{File: f, writeAt: func(f afero.File, p []byte, off int64) (int, error) {
				n, err := f.WriteAt(p, off)
				if err == nil {
					f.Seek(off+int64(n), io.SeekStart)
				}
				return n, err
			}}
		}},
	{name: "a second Close succeeds", breaks: []string{"close/twice", "error/closed", "error/sentinel", "concurrent/stat"},
		file: func(f afero.File) afero.File {
			return &fileLie{File: f, close: func(f afero.File) error { f.Close(); return nil }}
		}},
	{name: "truncate moves the offset", breaks: []string{"truncate/offset"},
		file: func(f afero.File) afero.File {
			return &fileLie{File: f, truncate: func(f afero.File, size int64) error {
				err := f.Truncate(size)
				if err == nil {
					f.Seek(size, io.SeekStart)
				}
				return err
			}}
		}},
	{name: "no io.EOF from a directory", breaks: []string{"readdir/end"},
		file: func(f afero.File) afero.File {
			return &fileLie{File: f, readdir: func(f afero.File, n int) ([]string, error) {
				names, err := f.Readdirnames(n)
				if err == io.EOF {
					err = nil
				}
				return names, err
			}}
		}},
	{name: "directories cannot be synced", breaks: []string{"sync/directory"},
		file: func(f afero.File) afero.File {
			return &fileLie{File: f, sync: func(f afero.File) error {
				if info, err := f.Stat(); err == nil && info.IsDir() {
					return syscall.EINVAL
				}
				return f.Sync()
			}}
		}},
	{name: "links are followed by Lstat", breaks: []string{"symlink/to-file", "symlink/supported", "symlink/loop"},
		lstat: func(m memory, name string) (fs.FileInfo, error) { return m.Stat(name) }},
	{name: "link texts are made absolute", breaks: []string{"symlink/relative", "symlink/size"},
		symlink: func(m memory, text, name string) error {
			if text != "" && text[0] != '/' {
				text = name[:strings.LastIndexByte(name, '/')+1] + text
			}
			return m.SymlinkIfPossible(text, name)
		}},
}

func TestLiesAreFoundOut(t *testing.T) {
	for _, l := range lies {
		t.Run(strings.ReplaceAll(l.name, " ", "_"), func(t *testing.T) {
			names := brokenFS{none: true, lie: &l}.broken(t)
			for _, want := range l.breaks {
				if !slices.Contains(names, want) {
					t.Errorf("rule %s does not see it; these do: %v", want, names)
				}
			}
		})
	}
}

// The comparison finds every lie too, within the programs of one test run.
func TestLiesMakeADifference(t *testing.T) {
	for _, l := range lies {
		t.Run(strings.ReplaceAll(l.name, " ", "_"), func(t *testing.T) {
			for seed := range uint64(programs) {
				a := fstestx.Tree{FS: fsmem.New(fsmem.Options{})}
				b := fstestx.Tree{FS: &brokenFS{memory: fsmem.New(fsmem.Options{}), none: true, lie: &l}}
				if fstestx.Compare(a, b, seeded(seed, 60)) != nil {
					t.Logf("found by program %d", seed)
					return
				}
			}
			t.Errorf("%d programs see no difference", programs)
		})
	}
}

// Of a directory only what is promised is compared, and all of that.
func TestDirectoriesAreComparedByWhatIsPromised(t *testing.T) {
	const begin = "mkdir d 0700\ncreate h0 d/a\ncreate h0 d/b\nopen h1 d\n"
	// The directory has a and b; answers are what the other file system says, call by call.
	for _, tc := range []struct {
		name, program string
		answers       [][]string
		reason        string // "" is no difference
	}{
		{"the order may be another", "readdirnames h1 1\nreaddirnames h1 1\nreaddirnames h1 1\n", [][]string{{"b"}, {"a"}, {}}, ""},
		{"the number may not", "readdirnames h1 -1\n", [][]string{{"a"}}, "another number of entries"},
		{"nor the names", "readdirnames h1 -1\n", [][]string{{"a", "c"}}, "other entries"},
		{"nor one more than asked for", "readdirnames h1 1\n", [][]string{{"a", "b"}}, "more entries than asked for"},
		{"nor one twice", "readdirnames h1 1\nreaddirnames h1 1\n", [][]string{{"a"}, {"a"}}, "an entry was returned twice: a"},
		{"nor one left out in the end", "readdirnames h1 1\nreaddirnames h1 1\nreaddirnames h1 1\n", [][]string{{"a"}, {"c"}, {}}, "an entry was left out"},
		{"a Seek begins again", "readdirnames h1 1\nseek h1 0 set\nreaddirnames h1 1\n", [][]string{{"a"}, {"a"}}, ""},
		{"a name that came may be left out", "readdirnames h1 1\ncreate h0 d/c\nreaddirnames h1 -1\n", [][]string{{"a"}, {"b"}}, ""},
		{"a name that came may be there", "readdirnames h1 1\ncreate h0 d/c\nreaddirnames h1 -1\n", [][]string{{"a"}, {"b", "c"}}, ""},
		{"a name that came hides no other", "readdirnames h1 1\ncreate h0 d/c\nreaddirnames h1 -1\n", [][]string{{"a"}, {"c"}}, "an entry was left out"},
		{"a name that went may be there", "readdirnames h1 1\nremove d/b\nreaddirnames h1 -1\n", [][]string{{"a"}, {"b"}}, ""},
		{"a call that fails may use up any name", "chmod d 0644\nreaddir h1 9\nreaddirnames h1 -1\nchmod d 0700\n", [][]string{{"a"}}, ""},
	} {
		t.Run(strings.ReplaceAll(tc.name, " ", "_"), func(t *testing.T) {
			program, err := fstestx.ParseProgram(begin + tc.program)
			if err != nil {
				t.Fatal(err)
			}
			answers := tc.answers
			l := lie{file: func(f afero.File) afero.File {
				return &fileLie{File: f, readdir: func(f afero.File, n int) ([]string, error) {
					if len(answers) == 0 {
						return f.Readdirnames(n) // what is left, at the end
					}
					names := answers[0]
					answers = answers[1:]
					if len(names) == 0 {
						return names, io.EOF
					}
					return names, nil
				}}
			}}
			user := fsmem.Options{UID: 1000, GID: 1000} // whom mode bits keep out
			a := fstestx.Tree{FS: fsmem.New(user)}
			b := fstestx.Tree{FS: fsmem.New(user)}
			b.FS = &lazyLie{brokenFS{memory: b.FS.(memory), none: true, lie: &l}}
			err = fstestx.Compare(a, b, program)
			var d *fstestx.Difference
			switch {
			case tc.reason == "" && err == nil:
			case errors.As(err, &d) && d.Reason == tc.reason && tc.reason != "":
			default:
				t.Errorf("got %v, want reason %q", err, tc.reason)
			}
		})
	}
}

// lazyLie tells the truth about the root of the tree, which Compare reads for itself.
type lazyLie struct{ brokenFS }

func (l *lazyLie) Open(name string) (afero.File, error) {
	if name == "/." {
		return l.memory.Open(name)
	}
	return l.brokenFS.Open(name)
}
