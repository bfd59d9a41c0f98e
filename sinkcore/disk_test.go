package sinkcore_test

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/sinkcore"
)

// errDisk is what a disk fails with.
var errDisk = errors.New("the disk failed")

// operation is one call of a file system, in the words of system calls.
type operation struct{ kind, path, to string }

func (o operation) String() string {
	return strings.TrimSpace(o.kind + " " + o.path + " " + o.to)
}

// disk is a file system in memory that keeps a list of what was done to it and can fail
// one operation, before or after its effect.
type disk struct {
	afero.Fs
	log []operation

	failing func(operation) bool // the operations of which one fails; nil: none
	failAt  int                  // how many of them work first
	after   bool                 // it has its effect and returns an error all the same
	dead    bool                 // and so does every operation after it, without effect: the process has died
	count   int                  // of such operations so far
}

func newDisk() *disk { return &disk{Fs: fsmem.New(fsmem.Options{})} }

// fail makes the nth operation of a kind fail from now on, counted from 0; "" is any kind.
func (d *disk) fail(kind string, n int, after bool) {
	d.failing = func(o operation) bool { return kind == "" || o.kind == kind }
	d.failAt, d.after, d.dead, d.count = n, after, false, 0
}

// failed tells whether the operation that was to fail has come.
func (d *disk) failed() bool { return d.count > d.failAt }

// do runs one operation.
func (d *disk) do(kind, path, to string, effect func() error) error {
	o := operation{kind, path, to}
	if d.dead && d.failed() {
		return errDisk
	}
	d.log = append(d.log, o)
	fails := false
	if d.failing != nil && d.failing(o) {
		fails = d.count == d.failAt
		d.count++
	}
	if fails && !d.after {
		return errDisk
	}
	err := effect()
	if fails {
		return errDisk
	}
	return err
}

// done lists the operations of some kinds since the last call of forget.
func (d *disk) done(kinds ...string) []string {
	var out []string
	for _, o := range d.log {
		if slices.Contains(kinds, o.kind) {
			out = append(out, o.String())
		}
	}
	return out
}

func (d *disk) forget() { d.log = nil }

func (d *disk) MkdirAll(path string, mode os.FileMode) error {
	return d.do("mkdir", path, "", func() error { return d.Fs.MkdirAll(path, mode) })
}

func (d *disk) Open(path string) (afero.File, error) { return d.OpenFile(path, os.O_RDONLY, 0) }

func (d *disk) OpenFile(path string, flag int, mode os.FileMode) (afero.File, error) {
	kind := "open"
	if flag&os.O_CREATE != 0 {
		kind = "create"
	}
	var f afero.File
	err := d.do(kind, path, "", func() (err error) { f, err = d.Fs.OpenFile(path, flag, mode); return err })
	if err != nil {
		if f != nil {
			f.Close()
		}
		return nil, err
	}
	return &diskFile{File: f, disk: d, path: path}, nil
}

func (d *disk) Rename(from, to string) error {
	return d.do("rename", from, to, func() error { return d.Fs.Rename(from, to) })
}

func (d *disk) Remove(path string) error {
	return d.do("remove", path, "", func() error { return d.Fs.Remove(path) })
}

func (d *disk) Stat(path string) (info os.FileInfo, err error) {
	err = d.do("stat", path, "", func() error { info, err = d.Fs.Stat(path); return err })
	return info, err
}

func (d *disk) LstatIfPossible(path string) (info os.FileInfo, ok bool, err error) {
	err = d.do("stat", path, "", func() error {
		info, ok, err = d.Fs.(afero.Lstater).LstatIfPossible(path)
		return err
	})
	return info, ok, err
}

type diskFile struct {
	afero.File
	disk *disk
	path string
}

func (f *diskFile) do(kind string, effect func() error) error {
	return f.disk.do(kind, f.path, "", effect)
}

func (f *diskFile) Write(b []byte) (n int, err error) {
	if e := f.do("write", func() error { n, err = f.File.Write(b); return err }); e != nil {
		return 0, e
	}
	return n, nil
}

func (f *diskFile) Read(b []byte) (n int, err error) {
	if e := f.do("read", func() error { n, err = f.File.Read(b); return err }); e != nil {
		return 0, e
	}
	return n, nil
}

func (f *diskFile) Seek(offset int64, whence int) (n int64, err error) {
	err = f.do("seek", func() error { n, err = f.File.Seek(offset, whence); return err })
	return n, err
}

func (f *diskFile) Truncate(size int64) error {
	return f.do("truncate", func() error { return f.File.Truncate(size) })
}

func (f *diskFile) Sync() error {
	info, err := f.File.Stat()
	if err != nil {
		return err
	}
	kind := "sync"
	if info.IsDir() {
		kind = "syncdir"
	}
	return f.do(kind, f.File.Sync)
}

// Close always closes the file, as close(2) does; only its answer can fail.
func (f *diskFile) Close() error {
	err := f.File.Close()
	return f.do("close", func() error { return err })
}

// Stat of an open file.
func (f *diskFile) Stat() (info os.FileInfo, err error) {
	err = f.do("stat", func() error { info, err = f.File.Stat(); return err })
	return info, err
}

// Records of the tests are "bucket:text", or just "text" for the base directory.
func bucketOf(record string) string {
	bucket, _, ok := strings.Cut(record, ":")
	if !ok {
		return ""
	}
	return bucket
}

// config is a sink of such records below /out.
func config(policy sinkcore.RollingPolicy) sinkcore.Config[string] {
	return sinkcore.Config[string]{
		Dir: "/out", Encoder: sinkcore.Line[string]{}, Assigner: sinkcore.Prefix[string](bucketOf), Policy: policy,
	}
}

// random is a source of file names that is the same in every run of a test.
func random(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

func newJob(t testing.TB, fsys afero.Fs, c sinkcore.Config[string], parallelism int) *sinkcore.Job[string] {
	t.Helper()
	job, err := sinkcore.NewJob(fsys, random(1), c, parallelism, 0)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// restore restores with file names that no other job of the test has drawn.
func restore(t testing.TB, fsys afero.Fs, c sinkcore.Config[string], parallelism int, from sinkcore.Checkpoint) *sinkcore.Job[string] {
	t.Helper()
	job, _, err := sinkcore.RestoreJob(fsys, random(byte(100+from.ID)), c, parallelism, 0, from)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// write writes records to subtask 0 at one instant.
func write(t testing.TB, job *sinkcore.Job[string], now int64, records ...string) {
	t.Helper()
	for _, record := range records {
		if err := job.Write(0, record, sinkcore.NoTime, sinkcore.NoTime, now); err != nil {
			t.Fatal(err)
		}
	}
}

func checkpoint(t testing.TB, job *sinkcore.Job[string], id int64) sinkcore.Checkpoint {
	t.Helper()
	c, err := job.Checkpoint(id, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func complete(t testing.TB, job *sinkcore.Job[string], id int64) []sinkcore.Committable {
	t.Helper()
	published, err := job.Complete(id)
	if err != nil {
		t.Fatal(err)
	}
	return published
}

// files lists the files below /out with their contents: those that readers see, or all.
func files(t testing.TB, fsys afero.Fs, hidden bool) map[string]string {
	t.Helper()
	found := filesOf(fsys)
	if !hidden {
		maps.DeleteFunc(found, func(path, _ string) bool { return strings.HasPrefix(filepath.Base(path), ".") })
	}
	return found
}

// filesOf lists all files; where reading fails it says so in place of the content.
func filesOf(fsys afero.Fs) map[string]string {
	if d, ok := fsys.(*disk); ok {
		fsys = d.Fs
	}
	found := map[string]string{}
	afero.Walk(fsys, "/out", func(path string, info fs.FileInfo, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			found[path] = err.Error()
		case !info.IsDir():
			text, err := afero.ReadFile(fsys, path)
			if err != nil {
				text = []byte(err.Error())
			}
			found[path] = string(text)
		}
		return nil
	})
	return found
}

// visible lists the records that readers see, sorted.
func visible(t testing.TB, fsys afero.Fs) []string {
	t.Helper()
	var records []string
	for _, text := range files(t, fsys, false) {
		records = append(records, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
	}
	slices.Sort(records)
	return records
}

func wantVisible(t testing.TB, fsys afero.Fs, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := visible(t, fsys); !slices.Equal(got, want) {
		t.Errorf("readers see %q, want %q", got, want)
	}
}

// wantError checks that an error is of a kind and names the file and the bucket.
func wantError(t testing.TB, err, kind error, file string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("got error %v, want %v", err, kind)
	}
	var e *sinkcore.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no *Error", err)
	}
	if e.File != file {
		t.Errorf("the error names file %q, want %q", e.File, file)
	}
}

// putFile writes a file past the sink.
func putFile(t testing.TB, fsys afero.Fs, path, text string) {
	t.Helper()
	if d, ok := fsys.(*disk); ok {
		fsys = d.Fs
	}
	if err := fsys.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := afero.WriteFile(fsys, path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// tempPath and finalPath are where a committable is before and after the commit.
func tempPath(c sinkcore.Committable) string  { return filepath.Join("/out", c.Bucket, c.Temp) }
func finalPath(c sinkcore.Committable) string { return filepath.Join("/out", c.Bucket, c.Name) }
