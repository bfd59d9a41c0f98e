package watch

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// onDisk is a watch of a directory on a real disk in which nothing is found but by notices.
type onDisk struct {
	t      *testing.T
	dir    string
	kernel *Kernel
	*Watcher
}

func newOnDisk(t *testing.T, dir string) *onDisk {
	t.Helper()
	k, err := NewKernel()
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(k.Close(), k.Close()); err != nil {
			t.Error(err)
		}
	})
	if network, err := onNetwork(t.TempDir()); err != nil || network {
		t.Skip("the directory for temporary files is on a network file system; set TMPDIR to one that is not", err)
	}
	w, err := New(Options{Dir: dir, Notices: k, Sweep: time.Hour, Format: Format{Kind: CSV, Time: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	w.Look()
	return &onDisk{t, dir, k, w}
}

// until looks whenever the kernel has told something, until it has told what is waited for.
func (d *onDisk) until(what string, seen func(State) bool) {
	d.t.Helper()
	failsafe := time.After(time.Minute)
	for {
		if d.Look(); seen(d.State()) {
			return
		}
		select {
		case <-d.kernel.signal:
		case <-failsafe:
			d.t.Fatalf("no notice of %s: %+v", what, d.State())
		}
	}
}

func (d *onDisk) publish(name string) {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	hidden := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	err := os.WriteFile(hidden, []byte("1000,x\n"), 0o666)
	if err = errors.Join(err, os.Rename(hidden, path)); err != nil {
		d.t.Fatal(err)
	}
}

func (d *onDisk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func files(n int64) func(State) bool { return func(s State) bool { return s.Files == n } }

// The operating system tells of files, of directories that are made, moved and removed, and
// of changes; so nothing is listed twice.
func TestTheKernelTells(t *testing.T) {
	dir := t.TempDir()
	d := newOnDisk(t, dir)
	d.publish("part-1")
	d.until("a file", files(1))
	d.must(os.MkdirAll(filepath.Join(dir, "a/b"), 0o777))
	d.publish("a/b/part-2")
	d.until("a directory", files(2))
	d.publish("a/b/part-3")
	d.until("a file in a directory", files(3))

	d.must(os.Rename(filepath.Join(dir, "a/b"), filepath.Join(dir, "c")))
	d.until("a directory that was moved", files(5))
	if s := d.State(); s.Vanished != 2 || s.Directories != 3 {
		t.Errorf("%+v", s)
	}
	d.publish("c/part-4")
	d.until("a file in a directory that was moved", files(6))

	f, err := os.OpenFile(filepath.Join(dir, "c/part-4"), os.O_WRONLY|os.O_APPEND, 0)
	d.must(err)
	_, err = f.WriteString("2000,y\n")
	d.must(errors.Join(err, f.Close()))
	d.until("a change", func(s State) bool { return s.Changed == 1 })

	d.must(os.RemoveAll(filepath.Join(dir, "c")))
	d.until("a directory that was removed", func(s State) bool { return s.Vanished == 5 && s.Directories == 2 })

	r := d.Result()
	if r.Records != 6 || r.Noticed != 2 {
		t.Errorf("%+v", r)
	}
	// Of a directory that is moved or removed the kernel may tell twice.
	if r.Listings > 6 {
		t.Errorf("%d listings; were the notices of any use?", r.Listings)
	}
	d.Finish()
	if after := d.Result(); after.Files != r.Files || len(after.Problems) != 1 {
		t.Errorf("the last look found more: %+v", after)
	}
}

// What has happened before a look is known to it, however much that is: the kernel's notices are
// waited for.
func TestALookKnowsWhatWasBefore(t *testing.T) {
	d := newOnDisk(t, t.TempDir())
	const n = 1000
	for i := range int64(5) {
		for k := range n {
			d.publish(strconv.Itoa(int(i)*n + k))
		}
		if d.Look(); d.State().Files != (i+1)*n {
			t.Fatalf("%d of %d files are seen", d.State().Files, (i+1)*n)
		}
	}
	own := d.kernel.own
	if err := d.kernel.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(own); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", own, err)
	}
	if paths, lost := d.kernel.Changed(); len(paths) > 0 || !lost {
		t.Errorf("after the end: %v, lost %v", paths, lost)
	}
}

// The watched directory may be made while it is watched, and may go and come again.
func TestTheWatchedDirectoryComesAndGoes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	d := newOnDisk(t, dir)
	for i := range int64(3) {
		d.must(os.Mkdir(dir, 0o777))
		d.Look()
		d.publish("part-1")
		d.until("a file", files(i+1))
		d.must(os.RemoveAll(dir))
		d.until("its end", func(s State) bool { return s.Directories == 0 })
	}
	if r := d.Result(); !r.Found || r.Vanished != 3 || r.Noticed != 0 {
		t.Errorf("%+v", r)
	}
}

// A directory that is not there has no notices to give, and says so.
func TestKernelAddErrors(t *testing.T) {
	d := newOnDisk(t, t.TempDir())
	nowhere := filepath.Join(d.dir, "nowhere")
	if err := d.kernel.Add(nowhere); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	d.kernel.Remove(nowhere)
}

// A full queue of the kernel is told.
func TestAFullQueueIsTold(t *testing.T) {
	d := newOnDisk(t, t.TempDir())
	d.kernel.watcher.Errors <- fsnotify.ErrEventOverflow
	<-d.kernel.signal
	if _, lost := d.kernel.Changed(); !lost {
		t.Error("not told")
	}
	if _, lost := d.kernel.Changed(); lost {
		t.Error("told twice")
	}
}
