package fstestx

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/afero"
)

// Tree is a directory of a file system, and the place for programs and rules
// to work in.
type Tree struct {
	// FS is the file system.
	FS afero.Fs
	// Dir is an existing, empty, absolute directory of FS. Every name is given
	// to FS with Dir and a slash in front, not cleaned; empty means the root.
	//
	// This is in place of afero.BasePathFs, which cleans names (a trailing
	// slash, "." and ".." are lost), leaves its own directory in the errors,
	// has error operations of its own, and follows no rule on absolute links.
	Dir string
}

// full returns the name as FS gets it.
func (t Tree) full(name string) string {
	if name == "" {
		return ""
	}
	return strings.TrimSuffix(t.Dir, "/") + "/" + name
}

// target returns the text of a symbolic link as FS gets it: an absolute one is
// meant from the directory of the tree.
func (t Tree) target(name string) string {
	if strings.HasPrefix(name, "/") {
		return strings.TrimSuffix(t.Dir, "/") + name
	}
	return name
}

// relative undoes full; the directory itself is ".".
func (t Tree) relative(name string) string {
	if t.Dir != "" && name == strings.TrimSuffix(t.Dir, "/") {
		return "."
	}
	if rest, ok := strings.CutPrefix(name, strings.TrimSuffix(t.Dir, "/")+"/"); ok {
		return rest
	}
	return name
}

// untarget undoes target.
func (t Tree) untarget(name string) string {
	if rest, ok := strings.CutPrefix(name, strings.TrimSuffix(t.Dir, "/")+"/"); ok && t.Dir != "" {
		return "/" + rest
	}
	return name
}

// The times that programs set lie in this window of seconds since the Unix
// epoch, so that a time in a FileInfo is known to have been set, whatever the
// clock of the file system says.
const (
	timesFrom = 1_000_000_000
	timesTo   = 1_000_999_999
)

// player makes the calls of a program on one tree.
type player struct {
	tree  Tree
	slots [Slots]slot
	all   []afero.File // every handle ever opened, to be closed at the end
	// broken is set by a panic of the file system. It may still hold its locks:
	// no call is made any more, not even Close.
	broken bool
}

type slot struct {
	file afero.File
	dir  bool
}

// close closes all handles; a second Close is an error that says nothing here.
func (p *player) close() {
	defer func() { _ = recover() }()
	if p.broken {
		return
	}
	for _, f := range p.all {
		f.Close()
	}
}

const (
	noteNoHandle = "no handle"
	noteSkipped  = "skipped: directory offsets mean nothing but 0"
	panicPrefix  = "panic: "
)

// Words for results that are wrong whatever the call.
const (
	wordTwice   = "a-value-with-the-error"
	wordNeither = "neither-value-nor-error"
	wordChanged = "buffer-changed"
	wordCount   = "impossible-count"
)

// play makes one call. A panic of the file system is a result too.
func (p *player) play(o Op) (r Result) {
	defer func() {
		if v := recover(); v != nil {
			p.broken = true
			r = Result{Note: fmt.Sprintf("%s%v%s", panicPrefix, v, panicPlace(debug.Stack()))}
		}
	}()
	if o.Kind.onHandle() {
		return p.playFile(o, p.slots[o.Handle])
	}
	return p.playFS(o)
}

// panicPlace returns the line of the stack that called panic, as " at FILE:LINE".
func panicPlace(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "panic(") && i+3 < len(lines) {
			place, _, _ := strings.Cut(strings.TrimSpace(lines[i+3]), " ")
			return " at " + path.Base(place)
		}
	}
	return ""
}

func (p *player) failed(err error) Result { return Result{Err: failureOf(err, p.tree.relative)} }

func (p *player) playFS(o Op) Result {
	t := p.tree
	name := t.full(o.Name)
	switch o.Kind {
	case Create:
		f, err := t.FS.Create(name)
		return p.opened(o.Handle, f, err)
	case Open:
		f, err := t.FS.Open(name)
		return p.opened(o.Handle, f, err)
	case OpenFile:
		f, err := t.FS.OpenFile(name, o.Flag, o.Perm)
		return p.opened(o.Handle, f, err)
	case Mkdir:
		return p.failed(t.FS.Mkdir(name, o.Perm))
	case MkdirAll:
		return p.failed(t.FS.MkdirAll(name, o.Perm))
	case Remove:
		return p.failed(t.FS.Remove(name))
	case RemoveAll:
		return p.failed(t.FS.RemoveAll(name))
	case Rename:
		return p.failed(t.FS.Rename(name, t.full(o.New)))
	case Stat:
		return p.info(t.FS.Stat(name))
	case Chmod:
		return p.failed(t.FS.Chmod(name, o.Perm))
	case Chown:
		return p.failed(t.FS.Chown(name, o.UID, o.GID))
	case Chtimes:
		return p.failed(t.FS.Chtimes(name, time.Unix(o.Atime, 0), time.Unix(o.Mtime, 0)))
	case Lstat:
		l, ok := t.FS.(afero.Lstater)
		if !ok {
			return unsupported("LstatIfPossible")
		}
		info, lstat, err := l.LstatIfPossible(name)
		if !lstat {
			return unsupported("LstatIfPossible")
		}
		return p.info(info, err)
	case Symlink:
		l, ok := t.FS.(afero.Linker)
		if !ok {
			return unsupported("SymlinkIfPossible")
		}
		err := l.SymlinkIfPossible(t.target(o.Name), t.full(o.New))
		r := p.failed(err)
		if e, ok := err.(*os.LinkError); ok { // Old is a link text here
			r.Err.Path = t.untarget(e.Old) + " -> " + t.relative(e.New)
		}
		return r
	case Readlink:
		l, ok := t.FS.(afero.LinkReader)
		if !ok {
			return unsupported("ReadlinkIfPossible")
		}
		text, err := l.ReadlinkIfPossible(name)
		if err != nil {
			return p.failed(err)
		}
		return Result{Words: []string{formatName(t.untarget(text))}}
	}
	return Result{Note: o.Kind.String()}
}

func unsupported(method string) Result { return Result{Note: "unsupported: " + method} }

// opened files the handle, or leaves the slot as it is if there is none.
func (p *player) opened(h int, f afero.File, err error) Result {
	if err != nil {
		r := p.failed(err)
		if f != nil {
			r.Words = []string{wordTwice}
		}
		return r
	}
	if f == nil {
		return Result{Words: []string{wordNeither}}
	}
	info, err := f.Stat()
	p.slots[h] = slot{file: f, dir: err == nil && info.IsDir()}
	p.all = append(p.all, f)
	return Result{}
}

func (p *player) playFile(o Op, h slot) Result {
	f := h.file
	if f == nil {
		return Result{Note: noteNoHandle}
	}
	switch o.Kind {
	case Close:
		return p.failed(f.Close())
	case Read:
		b := make([]byte, max(o.Count, 0))
		n, err := f.Read(b)
		return p.bytesRead(b, n, err)
	case ReadAt:
		b := make([]byte, max(o.Count, 0))
		n, err := f.ReadAt(b, o.Off)
		return p.bytesRead(b, n, err)
	case Seek:
		if h.dir && (o.Off != 0 || o.Whence != 0) {
			return Result{Note: noteSkipped}
		}
		at, err := f.Seek(o.Off, o.Whence)
		if err != nil {
			return p.failed(err) // the offset means nothing then
		}
		return Result{Words: []string{strconv.FormatInt(at, 10)}}
	case Write:
		b := []byte(o.Data)
		n, err := f.Write(b)
		return p.bytesWritten(o.Data, b, n, err)
	case WriteAt:
		b := []byte(o.Data)
		n, err := f.WriteAt(b, o.Off)
		return p.bytesWritten(o.Data, b, n, err)
	case WriteString:
		n, err := f.WriteString(o.Data)
		return p.bytesWritten(o.Data, []byte(o.Data), n, err)
	case FileName:
		return Result{Words: []string{formatName(p.tree.relative(f.Name()))}}
	case Readdir:
		infos, err := f.Readdir(o.Count)
		r := p.failed(err)
		r.Entries = make([]string, len(infos))
		for i, info := range infos {
			r.Entries[i] = describe(info)
		}
		return r
	case Readdirnames:
		names, err := f.Readdirnames(o.Count)
		r := p.failed(err)
		r.Entries = make([]string, len(names))
		for i, name := range names {
			r.Entries[i] = formatName(name)
		}
		return r
	case FileStat:
		return p.info(f.Stat())
	case Sync:
		return p.failed(f.Sync())
	case Truncate:
		return p.failed(f.Truncate(o.Off))
	}
	return Result{Note: o.Kind.String()}
}

func (p *player) bytesRead(b []byte, n int, err error) Result {
	r := p.failed(err)
	switch {
	case n < 0 || n > len(b):
		r.Words = []string{wordCount, strconv.Itoa(n)}
	case n > 0 || err == nil:
		r.Words = []string{formatData(string(b[:n]))}
	}
	return r
}

// bytesWritten also sees whether the caller's bytes were left alone, as io.Writer demands.
func (p *player) bytesWritten(data string, b []byte, n int, err error) Result {
	r := p.failed(err)
	if n != 0 || err == nil {
		r.Words = []string{strconv.Itoa(n)}
	}
	if string(b) != data {
		r.Words = append(r.Words, wordChanged)
	}
	return r
}

func (p *player) info(info fs.FileInfo, err error) Result {
	if err != nil {
		return p.failed(err)
	}
	if info == nil {
		return Result{Words: []string{wordNeither}}
	}
	return Result{Words: strings.Fields(describe(info))}
}

// describe prints what is promised of a FileInfo: the size of a regular file
// only, and a modification time only if a program set it.
func describe(info fs.FileInfo) string {
	kind := "other"
	size := ""
	switch info.Mode().Type() {
	case 0:
		kind, size = "file", fmt.Sprintf(" size=%d", info.Size())
	case fs.ModeDir:
		kind = "dir"
	case fs.ModeSymlink:
		kind = "symlink"
	}
	if info.IsDir() != (kind == "dir") {
		kind += "-with-wrong-IsDir"
	}
	mtime := "now"
	if s := info.ModTime().Unix(); s >= timesFrom && s <= timesTo {
		mtime = strconv.FormatInt(s, 10)
	}
	return fmt.Sprintf("%s %s%s mode=%s mtime=%s", kind, formatName(info.Name()), size, formatPerm(info.Mode()), mtime)
}

// listing describes everything in the tree, a line each, in the order of names,
// read only: with the bytes of files and the texts of links. What cannot be
// read has a line that says so.
func (t Tree) listing() (lines []string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%s%v", panicPrefix, v)
		}
	}()
	t.list(".", &lines)
	return lines, nil
}

func (t Tree) list(dir string, lines *[]string) {
	add := func(name, text string, err error) {
		if err != nil {
			f := failureOf(err, t.relative)
			text = strings.TrimSpace(text + " " + f.String())
		}
		*lines = append(*lines, name+": "+text)
	}
	names, err := t.names(dir)
	if err != nil {
		add(dir, "", err)
		return
	}
	for _, base := range names {
		name := path.Join(dir, base)
		full := t.full(name)
		var info fs.FileInfo
		if l, ok := t.FS.(afero.Lstater); ok {
			info, _, err = l.LstatIfPossible(full)
		} else {
			info, err = t.FS.Stat(full)
		}
		if err != nil {
			add(name, "", err)
			continue
		}
		text := describe(info)
		switch info.Mode().Type() {
		case 0:
			b, err := afero.ReadFile(t.FS, full)
			add(name, text+" "+formatData(string(b)), err)
		case fs.ModeSymlink:
			link := ""
			if l, ok := t.FS.(afero.LinkReader); ok {
				link, err = l.ReadlinkIfPossible(full)
			}
			add(name, text+" "+formatName(t.untarget(link)), err)
		default:
			add(name, text, nil)
			t.list(name, lines)
		}
	}
}

// empty returns an error unless the tree can be read and is empty. Nothing is
// ever tried on a directory that holds something: a Tree with a disk and no Dir is
// the root of the machine.
func (t Tree) empty() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("fstestx: %s%v", panicPrefix, v)
		}
	}()
	names, err := t.names(".")
	switch {
	case err != nil:
		return fmt.Errorf("fstestx: directory %q: %w", t.Dir, err)
	case len(names) > 0:
		return fmt.Errorf("fstestx: directory %q is not empty: it has %s", t.Dir, names[0])
	}
	return nil
}

// names returns the entries of a directory, sorted.
func (t Tree) names(dir string) ([]string, error) {
	f, err := t.FS.Open(t.full(dir))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	return names, nil
}
