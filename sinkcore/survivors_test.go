package sinkcore_test

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/sinkcore"
)

func TestBytesCutOffBeforeACommitStayCutOffAfterAPowerCut(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	w := newWriter(t, fsys, config(sinkcore.OnCheckpoint{}))
	put(t, w, 0, "a:1")
	committables, err := w.PrepareCommit(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Snapshot(); err != nil {
		t.Fatal(err)
	}
	f, err := fsys.OpenFile("/out/a/"+committables[0].Temp, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("more")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	c, err := sinkcore.NewCommitter(fsys, "/out", 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Add(1, committables); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Complete(1); err != nil {
		t.Fatal(err)
	}
	none, err := fsmem.ParseSurvival("none")
	if err != nil {
		t.Fatal(err)
	}
	after, err := fsys.Crash(none)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := after.Stat("/out/a/" + committables[0].Name); err != nil || info.Size() != committables[0].Size {
		t.Errorf("%v, %v; want %d bytes", info, err, committables[0].Size)
	}
}

func TestTheCheckIntervalIsAMinuteUnlessGiven(t *testing.T) {
	c := config(nil)
	c.CheckInterval = 0
	if got := newWriter(t, newDisk(), c).NextTick(); got != 60_000 {
		t.Errorf("first check at %d ms, want 60000", got)
	}
}

func TestOrphansComeInOrderOfTheirPaths(t *testing.T) {
	d := newDisk()
	// A walk sees the directory a before the directory a-b; the paths sort the other way.
	for _, path := range []string{"/out/a/.p.inprogress." + uuid, "/out/a-b/.p.inprogress." + uuid, "/out/.z.inprogress." + uuid} {
		putFile(t, d, path, "x")
	}
	got, err := sinkcore.Orphans(d, "/out")
	if err != nil || len(got) != 3 || !slices.IsSorted(got) {
		t.Errorf("%q, %v; want three in order", got, err)
	}
}

func TestASweepTellsWhatItCouldNotList(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	if err := fsys.MkdirAll("/out/a", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := afero.WriteFile(fsys, "/out/a/.p.inprogress."+uuid, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	rule, err := fsmem.ParseRule("any path=/out/a error=EIO")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fsys.Inject(rule); err != nil {
		t.Fatal(err)
	}
	if _, err := sinkcore.Orphans(fsys, "/out"); !errors.Is(err, syscall.EIO) {
		t.Errorf("listing: %v, want EIO", err)
	}
	if removed, err := sinkcore.RemoveOrphans(fsys, "/out"); !errors.Is(err, syscall.EIO) || len(removed) > 0 {
		t.Errorf("removing: %q, %v, want EIO", removed, err)
	}
}

func TestASnapshotNamesItsBucketsInOrder(t *testing.T) {
	w := newWriter(t, newDisk(), config(nil))
	put(t, w, 0, "c:1", "a:1", "b:1")
	s, err := w.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, b := range s.Buckets {
		names = append(names, b.Bucket)
	}
	if !slices.Equal(names, []string{"a", "b", "c"}) {
		t.Errorf("%q", names)
	}
}

func TestAWriterThatFailsInAPrepareClosesTheFilesOfAllBucketsLater(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	w := newWriter(t, fsys, config(sinkcore.OnCheckpoint{}))
	put(t, w, 0, "a:1", "b:1", "c:1")
	rule, err := fsmem.ParseRule("sync nth=2 error=EIO")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fsys.Inject(rule); err != nil {
		t.Fatal(err)
	}
	_, err = w.PrepareCommit(1, 0)
	var e *sinkcore.Error
	if !errors.As(err, &e) || e.Subtask != 3 || e.Bucket != "b" {
		t.Fatalf("%v, want an error of subtask 3, bucket b", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if open := fsys.OpenHandles(); len(open) > 0 {
		t.Errorf("%d files are still open, the first is %s", len(open), open[0].Path)
	}
}

func TestAnyNumberCanBeAReason(t *testing.T) {
	for n := range 256 {
		why := sinkcore.Reason(n)
		if known := n <= int(sinkcore.Limit); known == (why.String() == "unknown") {
			t.Errorf("%d is %s", n, why)
		}
		if got := (sinkcore.RollCounts{}).For(why); got != 0 {
			t.Errorf("%d parts of none were closed for %s", got, why)
		}
	}
}
