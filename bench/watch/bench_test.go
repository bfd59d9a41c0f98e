package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkLook is what one look costs on a real disk, with so many files in one directory:
//
//	how=notices  a file became visible since the last look, and the kernel has told
//	how=listing  a file became visible since the last look, and the directory is listed
//	how=idle     nothing did; without notices
//
// Notices and idle looks should cost the same however many files there are. A listing has
// to read all names of a directory that has changed.
func BenchmarkLook(b *testing.B) {
	for _, files := range []int{1000, 100_000} {
		dir := filepath.Join(b.TempDir(), "out")
		if err := os.Mkdir(dir, 0o777); err != nil {
			b.Fatal(err)
		}
		for n := range files {
			if err := publishOnDisk(filepath.Join(dir, fmt.Sprintf("part-%08d", n))); err != nil {
				b.Fatal(err)
			}
		}
		for _, how := range []string{"notices", "listing", "idle"} {
			b.Run(fmt.Sprintf("how=%s/files=%d", how, files), func(b *testing.B) { benchmarkLook(b, dir, how) })
		}
	}
}

func publishOnDisk(path string) error {
	hidden := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	return errors.Join(os.WriteFile(hidden, []byte("1777593600000,x\n"), 0o666), os.Rename(hidden, path))
}

func benchmarkLook(b *testing.B, dir, how string) {
	now := time.Now().UnixMilli()
	o := Options{Dir: dir, Sweep: 24 * time.Hour, Format: Format{Kind: CSV, Time: "1"}, Now: func() int64 { return now }}
	if how == "notices" {
		k, err := NewKernel()
		if err != nil {
			b.Skip(err)
		}
		defer k.Close()
		o.Notices = k
	}
	w, err := New(o)
	if err != nil {
		b.Fatal(err)
	}
	w.Look()
	added := []string{}
	add := func() {
		path := filepath.Join(dir, fmt.Sprintf("new-%s-%d-%d", how, b.N, len(added)))
		added = append(added, path)
		if err := publishOnDisk(path); err != nil {
			b.Fatal(err)
		}
		if k, ok := o.Notices.(*Kernel); ok {
			k.await(path)
		}
		now += 200
	}
	defer func() {
		for _, path := range added {
			if err := os.Remove(path); err != nil {
				b.Error(err)
			}
		}
	}()
	// The time of the directory has been seen to change with its names, and rests.
	add()
	for range 20 {
		w.Look()
		now += 200
	}
	seen := w.State().Files
	looks := int64(0)
	for b.Loop() {
		if how != "idle" {
			b.StopTimer()
			add()
			b.StartTimer()
		}
		w.Look()
		looks++
	}
	if files := w.State().Files; how != "idle" && files != seen+looks || how == "idle" && files != 1 {
		b.Errorf("%d looks found %d files", looks, files-seen)
	}
}

// await waits until the kernel has told of a path.
func (k *Kernel) await(path string) {
	for {
		k.mu.Lock()
		_, told := k.paths[path]
		k.mu.Unlock()
		if told {
			return
		}
		<-k.signal
	}
}
