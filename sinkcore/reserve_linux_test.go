package sinkcore_test

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
)

// ext4Dir is an empty directory on ext4, the file system on which space is reserved.
func ext4Dir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	var at syscall.Statfs_t
	if err := syscall.Statfs(dir, &at); err != nil {
		t.Fatal(err)
	}
	if at.Type != 0xef53 {
		t.Skip("temporary files are not on ext4; set TMPDIR to a directory that is")
	}
	return dir
}

// space is the length of the only file of a directory, and the bytes that it takes on disk.
func space(t testing.TB, dir string) (length, taken int64) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		files++
		length, taken = info.Size(), 512*info.Sys().(*syscall.Stat_t).Blocks
		return nil
	})
	if err != nil || files != 1 {
		t.Fatalf("%d files (%v); want 1", files, err)
	}
	return length, taken
}

// aBlock is what the length of a file may be rounded up by on disk, and its tree of extents.
const aBlock = 16 << 10

// A part that grows has space reserved, no more than it has; closing it gives that back.
func TestSpaceIsReservedAndGivenBack(t *testing.T) {
	record := strings.Repeat("x", 999)
	for _, test := range []struct {
		name    string
		fsys    func(dir string) (afero.Fs, string)
		records int
		reserve bool
	}{
		{"small", func(dir string) (afero.Fs, string) { return afero.NewOsFs(), dir }, 150, false},
		{"large", func(dir string) (afero.Fs, string) { return afero.NewOsFs(), dir }, 3100, true},
		{"below a base path", func(dir string) (afero.Fs, string) {
			return afero.NewBasePathFs(afero.NewBasePathFs(afero.NewOsFs(), dir), "/"), "out"
		}, 3100, true},
		{"not a file of the system", func(dir string) (afero.Fs, string) { return wrapped{afero.NewOsFs()}, dir }, 3100, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := ext4Dir(t)
			fsys, sinkDir := test.fsys(dir)
			config := sinkcore.Config[string]{Dir: sinkDir, Encoder: sinkcore.Line[string]{}}
			job, err := sinkcore.NewJob(fsys, rand.Reader, config, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			for range test.records {
				if err := job.Write(0, record, sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
					t.Fatal(err)
				}
			}
			reserved := func(what string, want bool) {
				t.Helper()
				length, taken := space(t, dir)
				if got := taken > length+aBlock; got != want {
					t.Errorf("%s: %d bytes take %d on disk; reserved: want %v", what, length, taken, want)
				}
				if taken > 2*length+aBlock {
					t.Errorf("%s: %d bytes take %d on disk, more than twice as many", what, length, taken)
				}
			}
			snapshot, err := job.Checkpoint(1, 0)
			if err != nil {
				t.Fatal(err)
			}
			reserved("at a checkpoint", test.reserve)

			// The process dies; the next one cuts the file, though it has the right length.
			if err := job.Close(); err != nil {
				t.Fatal(err)
			}
			reserved("after the process died", test.reserve)
			if job, _, err = sinkcore.RestoreJob(fsys, rand.Reader, config, 1, 0, snapshot); err != nil {
				t.Fatal(err)
			}
			reserved("after a restore", false)
			more := test.records / 3
			for range more {
				if err := job.Write(0, record, sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
					t.Fatal(err)
				}
			}
			reserved("before the end", test.reserve)
			if err := job.EndInput(); err != nil {
				t.Fatal(err)
			}
			reserved("after the end", false)
			if length, _ := space(t, dir); length != int64(1000*(test.records+more)) {
				t.Errorf("the part has %d bytes; want %d", length, 1000*(test.records+more))
			}
			if err := job.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// wrapped hides what a file is.
type wrapped struct{ afero.Fs }

func (w wrapped) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	f, err := w.Fs.OpenFile(name, flag, perm)
	return struct{ afero.File }{f}, err
}

// BenchmarkReserve writes parts of 64 MB with space reserved and without, their closing and
// fsync included.
func BenchmarkReserve(b *testing.B) {
	record := strings.Repeat("x", 999)
	for _, test := range []struct {
		name string
		fsys afero.Fs
	}{{"reserve=no", wrapped{afero.NewOsFs()}}, {"reserve=yes", afero.NewOsFs()}} {
		b.Run(test.name, func(b *testing.B) {
			dir := ext4Dir(b)
			config := sinkcore.Config[string]{Dir: dir, Encoder: sinkcore.Line[string]{}, Policy: sinkcore.Default{Size: 64 << 20}}
			job, err := sinkcore.NewJob(test.fsys, rand.Reader, config, 1, 0)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(1000)
			id := int64(0)
			for n := 0; b.Loop(); n++ {
				if n%(64<<10) == 0 { // what is published is removed, or the disk would be full
					b.StopTimer()
					id++
					if _, err := job.Checkpoint(id, 0); err != nil {
						b.Fatal(err)
					}
					if _, err := job.Complete(id); err != nil {
						b.Fatal(err)
					}
					for _, path := range published(b, dir) {
						if err := os.Remove(path); err != nil {
							b.Fatal(err)
						}
					}
					b.StartTimer()
				}
				if err := job.Write(0, record, sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
					b.Fatal(err)
				}
			}
			if err := job.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// published are the visible files of a directory.
func published(b *testing.B, dir string) []string {
	b.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "part-*"))
	if err != nil {
		b.Fatal(err)
	}
	return paths
}

// On a disk that is nearly full nothing is taken from others, and what is published takes what
// it has.
func TestNothingIsReservedOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	image, mount := filepath.Join(dir, "image"), filepath.Join(dir, "mount")
	run := func(name string, args ...string) {
		t.Helper()
		if said, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Skipf("no file system can be made and mounted here: %s: %v %s", name, err, said)
		}
	}
	err := errors.Join(os.WriteFile(image, nil, 0o666), os.Truncate(image, 40<<20), os.Mkdir(mount, 0o777))
	if err != nil {
		t.Fatal(err)
	}
	run("mkfs.ext4", "-q", "-F", image)
	run("mount", "-o", "loop", image, mount)
	defer func() {
		if said, err := exec.Command("umount", mount).CombinedOutput(); err != nil {
			t.Errorf("%v %s", err, said)
		}
	}()
	free := func() int64 {
		t.Helper()
		var at syscall.Statfs_t
		if err := syscall.Statfs(mount, &at); err != nil {
			t.Fatal(err)
		}
		return int64(at.Bavail) * at.Bsize
	}
	if err := os.WriteFile(filepath.Join(mount, "others"), make([]byte, free()-12<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	before := free()
	config := sinkcore.Config[string]{Dir: filepath.Join(mount, "out"), Encoder: sinkcore.Line[string]{}}
	job, err := sinkcore.NewJob(afero.NewOsFs(), rand.Reader, config, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	record := strings.Repeat("x", 999)
	const records = 6000
	for range records {
		if err := job.Write(0, record, sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := job.Checkpoint(1, 0); err != nil {
		t.Fatal(err)
	}
	const share = 12 << 20 / 64
	if length, taken := space(t, config.Dir); taken > length+share+aBlock {
		t.Errorf("%d bytes take %d on disk", length, taken)
	}
	if err := job.EndInput(); err != nil {
		t.Fatal(err)
	}
	if length, taken := space(t, config.Dir); length != 1000*records || taken > length+aBlock {
		t.Errorf("closed, %d bytes take %d on disk", length, taken)
	}
	if used := before - free(); used > 1000*records+1<<20 {
		t.Errorf("%d bytes are gone", used)
	}
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
}
