package sinkcore_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
)

const uuid = "01234567-89ab-cdef-0123-456789abcdef"

func TestOrphansAreOnlyFilesNamedAsThisPackageAndFlinkNameThem(t *testing.T) {
	d := newDisk()
	orphans := []string{
		"/out/.part-0-0.inprogress." + uuid,
		"/out/a/b/.x.csv.inprogress." + uuid,
		"/out/a/.part-.inprogress.-1.inprogress." + uuid,
	}
	others := []string{
		"/out/part-0-0", "/out/part.inprogress." + uuid, "/out/.inprogress." + uuid, "/out/.part.inprogress." + uuid + "x",
		"/out/.part.inprogress.0123", "/out/.part.inprogress.", "/out/.compacted-part-0-0", "/out/_SUCCESS", "/out/.crc",
		"/out/.hidden/.part-0-0.inprogress." + uuid, "/out/_temporary/.part-0-0.inprogress." + uuid,
		"/out/.PART.inprogress.01234567-89AB-CDEF-0123-456789ABCDEF", "/elsewhere/.part-0-0.inprogress." + uuid,
	}
	for _, path := range append(slices.Clone(orphans), others...) {
		putFile(t, d, path, "x")
	}
	if err := d.Fs.MkdirAll("/out/.dir.inprogress."+uuid, 0o777); err != nil {
		t.Fatal(err)
	}
	slices.Sort(orphans)
	for _, dir := range []string{"/out", "/out/", "/out/a/.."} {
		if got, err := sinkcore.Orphans(d, dir); err != nil || !slices.Equal(got, orphans) {
			t.Errorf("%s: %q, %v; want %q", dir, got, err, orphans)
		}
	}
	if got, err := sinkcore.RemoveOrphans(d, "/out"); err != nil || !slices.Equal(got, orphans) {
		t.Errorf("removed %q, %v", got, err)
	}
	if got, err := sinkcore.RemoveOrphans(d, "/out"); err != nil || len(got) != 0 {
		t.Errorf("again: %q, %v", got, err)
	}
	for _, path := range others {
		if _, err := d.Fs.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// A run is killed at each operation (B82 of the collected bugs: litter of dead
// attempts). The sweep is given all retained checkpoints; it must leave what they name,
// so that each of them can be restored, and nothing else that is in progress.
func TestTheSweepLeavesExactlyWhatTheRetainedCheckpointsName(t *testing.T) {
	for k := 0; ; k++ {
		d, e := newDisk(), newEngine(2)
		d.fail("", k, true)
		d.dead = true
		if _, err := e.run(d); err == nil {
			break
		}
		d.failing, d.dead = nil, false
		var retained []sinkcore.Checkpoint
		named := map[string]bool{}
		if e.stored != nil {
			var c sinkcore.Checkpoint
			if err := c.UnmarshalBinary(e.stored); err != nil {
				t.Fatal(err)
			}
			retained = append(retained, c)
			for i := range c.Writers {
				for _, b := range c.Writers[i].Buckets {
					if b.InProgress != nil {
						named[filepath.Join("/out", b.Bucket, b.InProgress.Temp)] = true
					}
				}
				for _, batch := range c.Committers[i].Batches {
					for _, p := range batch.Committables {
						named[tempPath(p)] = true
					}
				}
			}
		}
		want := files(t, d, true)
		seen := files(t, d, false)
		maps.DeleteFunc(want, func(path, _ string) bool { return !named[path] && seen[path] == "" })
		for range 2 {
			if _, err := sinkcore.RemoveOrphans(d, "/out", retained...); err != nil {
				t.Fatal(err)
			}
			if got := files(t, d, true); !maps.Equal(got, want) {
				t.Fatalf("killed at %d, %v: left %q, want %q", k, d.log[k], got, want)
			}
		}
		if _, err := e.run(d); err != nil {
			t.Fatalf("killed at %d: %v", k, err)
		}
		e.checkOutput(t, fmt.Sprint("killed at ", k), d)
	}
}

func TestAMissingDirectoryHasNoOrphans(t *testing.T) {
	if got, err := sinkcore.Orphans(newDisk(), "/out"); err != nil || got != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestTheSweepGoesOnAfterAnErrorAndSaysWhatItRemoved(t *testing.T) {
	d := newDisk()
	first, second := "/out/.a.inprogress."+uuid, "/out/.b.inprogress."+uuid
	putFile(t, d, first, "x")
	putFile(t, d, second, "x")
	d.fail("remove", 0, false)
	removed, err := sinkcore.RemoveOrphans(d, "/out")
	wantError(t, err, errDisk, first)
	if !slices.Equal(removed, []string{second}) {
		t.Errorf("removed %q", removed)
	}
	if _, err := d.Fs.Stat(first); errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// The directory may be a link to where the disk is; links below it are not followed,
// they may lead anywhere.
func TestTheSweepLooksIntoADirectoryThatIsALink(t *testing.T) {
	root := t.TempDir()
	disk := afero.NewOsFs()
	link := filepath.Join(root, "link")
	name := ".a.inprogress." + uuid
	putFile(t, disk, filepath.Join(root, "real/b", name), "x")
	putFile(t, disk, filepath.Join(root, "elsewhere", name), "x")
	for from, to := range map[string]string{link: "real", filepath.Join(root, "real/c"): "../elsewhere"} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	got, err := sinkcore.Orphans(disk, link)
	if want := []string{filepath.Join(link, "b", name)}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
