package sinkcore_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/sinkcore"
)

func newWriter(t testing.TB, fsys afero.Fs, c sinkcore.Config[string]) *sinkcore.Writer[string] {
	t.Helper()
	w, err := sinkcore.NewWriter(fsys, random(1), c, 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func put(t testing.TB, w *sinkcore.Writer[string], now int64, records ...string) {
	t.Helper()
	for _, record := range records {
		if err := w.Write(record, sinkcore.NoTime, sinkcore.NoTime, now); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPartsAreNamedByPrefixBucketNumberAndSuffix(t *testing.T) {
	c := config(afterRecords(1))
	c.Prefix, c.Suffix = "events", ".csv"
	w := newWriter(t, newDisk(), c)
	put(t, w, 0, "a:1", "a:2", "b:1")
	state := func() []string {
		committables, err := w.PrepareCommit(1, 0)
		if err != nil {
			t.Fatal(err)
		}
		s, err := w.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range committables {
			names = append(names, c.Bucket+"/"+c.Name, c.Temp)
		}
		for _, b := range s.Buckets {
			names = append(names, b.Bucket+"/"+b.InProgress.Name, b.InProgress.Temp)
		}
		return names
	}
	uuid := `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`
	want := regexp.MustCompile(`^a/(events-(` + uuid + `)-0\.csv) \.(events-` + uuid + `-0\.csv)\.inprogress\.` + uuid +
		` a/events-(` + uuid + `)-1\.csv \.events-` + uuid + `-1\.csv\.inprogress\.` + uuid +
		` b/events-(` + uuid + `)-0\.csv \.events-` + uuid + `-0\.csv\.inprogress\.` + uuid + `$`)
	names := strings.Join(state(), " ")
	m := want.FindStringSubmatch(names)
	if m == nil || m[1] != m[3] || m[2] != m[4] || m[2] == m[5] {
		t.Errorf("named %s (%q)", names, m)
	}
}

func TestABadOptionIsRefusedAtStart(t *testing.T) {
	for name, change := range map[string]func(*sinkcore.Config[string]){
		"Encoder":         func(c *sinkcore.Config[string]) { c.Encoder = nil },
		"CheckInterval":   func(c *sinkcore.Config[string]) { c.CheckInterval = -1 },
		"CheckInterval 2": func(c *sinkcore.Config[string]) { c.CheckInterval = ms / 2 },
		"Suffix":          func(c *sinkcore.Config[string]) { c.Suffix = "/x" },
		"BufferSize":      func(c *sinkcore.Config[string]) { c.BufferSize = -1 },
	} {
		c := config(nil)
		change(&c)
		_, err := sinkcore.NewWriter(newDisk(), random(1), c, 0, 0)
		if !errors.Is(err, sinkcore.ErrConfig) || !strings.Contains(err.Error(), strings.Fields(name)[0]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := sinkcore.NewWriter(nil, random(1), config(nil), 0, 0); !errors.Is(err, sinkcore.ErrConfig) {
		t.Errorf("no file system: %v", err)
	}
	if _, err := sinkcore.NewWriter(newDisk(), nil, config(nil), 0, 0); !errors.Is(err, sinkcore.ErrConfig) {
		t.Errorf("no random source: %v", err)
	}
	if _, err := sinkcore.NewCommitter(nil, "", 0); !errors.Is(err, sinkcore.ErrConfig) {
		t.Errorf("no file system: %v", err)
	}
}

func TestABucketThatHasNothingLeftIsDroppedAndThenNamedAnew(t *testing.T) {
	w := newWriter(t, newDisk(), config(sinkcore.OnCheckpoint{}))
	var names []string
	for id := int64(1); id <= 6; id++ {
		if id != 3 && id != 4 {
			put(t, w, 0, "a:1")
		}
		committables, err := w.PrepareCommit(id, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range committables {
			names = append(names, c.Name[len(c.Name)-2:])
		}
	}
	if !slices.Equal(names, []string{"-0", "-1", "-0", "-1"}) {
		t.Errorf("numbered %q", names)
	}
}

func TestPreparingTwiceHandsOverOnce(t *testing.T) {
	w := newWriter(t, newDisk(), config(sinkcore.OnCheckpoint{}))
	put(t, w, 0, "a:1")
	for i, want := range []int{1, 0} {
		if got, err := w.PrepareCommit(int64(i), 0); err != nil || len(got) != want {
			t.Errorf("call %d: %v, %v", i, got, err)
		}
	}
}

func TestAfterTheEndOfTheInputNothingIsWrittenAndTheEndCanComeAgain(t *testing.T) {
	d := newDisk()
	w := newWriter(t, d, config(nil))
	if _, err := w.PrepareCommit(41, 0); err != nil {
		t.Fatal(err)
	}
	put(t, w, 0, "a:1", "b:1")
	id, committables, err := w.EndInput()
	if err != nil || id != 42 || len(committables) != 2 || committables[0].Reason != sinkcore.End {
		t.Fatalf("%d %v %v", id, committables, err)
	}
	if err := w.Write("a:2", 0, 0, 0); !errors.Is(err, sinkcore.ErrEndOfInput) {
		t.Errorf("write: %v", err)
	}
	if id, again, err := w.EndInput(); err != nil || id != 42 || again != nil {
		t.Errorf("again: %d %v %v", id, again, err)
	}
	if again, err := w.PrepareCommit(43, 0); err != nil || again != nil {
		t.Errorf("prepare: %v %v", again, err)
	}
	if s, err := w.Snapshot(); err != nil || slices.ContainsFunc(s.Buckets, func(b sinkcore.BucketState) bool { return b.InProgress != nil }) {
		t.Errorf("snapshot: %v %v", s, err)
	}
}

func TestClosingDoesNotFlushPublishOrDeleteAndCanBeDoneAgain(t *testing.T) {
	d := newDisk()
	w := newWriter(t, d, config(nil))
	put(t, w, 0, "a:1")
	if _, err := w.Snapshot(); err != nil {
		t.Fatal(err)
	}
	put(t, w, 0, "a:2")
	d.forget()
	for range 2 {
		if err := w.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if got := d.done("write", "sync", "syncdir", "rename", "remove", "close"); len(got) != 1 || !strings.HasPrefix(got[0], "close") {
		t.Errorf("did %q", got)
	}
	for path, text := range files(t, d, true) {
		if text != "a:1\n" {
			t.Errorf("%s: %q", path, text)
		}
	}
	if err := w.Write("a:3", 0, 0, 0); !errors.Is(err, sinkcore.ErrClosed) {
		t.Errorf("write: %v", err)
	}
	if _, err := w.Tick(sinkcore.Never); !errors.Is(err, sinkcore.ErrClosed) {
		t.Errorf("tick: %v", err)
	}
	if _, _, err := w.EndInput(); !errors.Is(err, sinkcore.ErrClosed) {
		t.Errorf("end: %v", err)
	}
}

func TestClosingReportsTheErrorsOfAllFilesAndTheSameAgain(t *testing.T) {
	d := newDisk()
	w := newWriter(t, d, config(nil))
	put(t, w, 0, "a:1", "b:1")
	d.failing = func(o operation) bool { d.failAt = d.count; return o.kind == "close" } // each of them
	first := w.Close()
	d.failing = nil
	second := w.Close()
	if !errors.Is(first, errDisk) || second == nil || second.Error() != first.Error() {
		t.Errorf("first %v, second %v", first, second)
	}
	if n := strings.Count(first.Error(), errDisk.Error()); n != 2 {
		t.Errorf("%d errors: %v", n, first)
	}
}

func TestAFailedSyncIsNotTriedAgain(t *testing.T) {
	for _, kind := range []string{"sync", "syncdir"} {
		d := newDisk()
		w := newWriter(t, d, config(nil))
		put(t, w, 0, "a:1")
		d.fail(kind, 0, false)
		if _, err := w.Snapshot(); !errors.Is(err, errDisk) {
			t.Fatalf("%s: %v", kind, err)
		}
		d.forget()
		if _, err := w.Snapshot(); !errors.Is(err, sinkcore.ErrFailed) || !errors.Is(err, errDisk) {
			t.Errorf("%s, again: %v", kind, err)
		}
		if len(d.log) != 0 {
			t.Errorf("%s: tried %v", kind, d.log)
		}
	}
}

func TestASnapshotWithNothingNewSyncsNothing(t *testing.T) {
	d := newDisk()
	w := newWriter(t, d, config(nil))
	put(t, w, 0, "a:1", "b:1")
	for i, want := range []int{2, 0} {
		d.forget()
		if _, err := w.Snapshot(); err != nil {
			t.Fatal(err)
		}
		if got := d.done("sync"); len(got) != want {
			t.Errorf("snapshot %d: %q", i, got)
		}
	}
}

func TestARandomSourceThatFailsOrRepeatsItselfIsAnError(t *testing.T) {
	for at := range 2 { // of the bucket's name, of the part's
		name := bytes.NewReader(make([]byte, 16*at))
		w, err := sinkcore.NewWriter(newDisk(), name, config(nil), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write("a:1", 0, 0, 0); err == nil || w.Err() == nil {
			t.Errorf("%d: %v, %v", at, err, w.Err())
		}
	}
	w, err := sinkcore.NewWriter(newDisk(), iotest.ErrReader(errDisk), config(nil), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write("a:1", 0, 0, 0); !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}

	d := newDisk()
	for i := range 2 { // the second writer draws the first one's names
		w, err := sinkcore.NewWriter(d, zeros{}, config(nil), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		err = w.Write("a:1", 0, 0, 0)
		if failed := err != nil; failed != (i == 1) {
			t.Errorf("writer %d: %v", i, err)
		}
		if i == 1 && !strings.Contains(fmt.Sprint(err), "repeat") {
			t.Errorf("does not say why: %v", err)
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestANameThatIsTakenIsDrawnAgain(t *testing.T) {
	d := newDisk()
	source := rand.NewChaCha8([32]byte{1})
	var drawn [32]byte // the bucket's name and the part's
	source.Read(drawn[:])
	first, _ := sinkcore.NewWriter(d, bytes.NewReader(drawn[:]), config(nil), 0, 0)
	put(t, first, 0, "a:1")
	second, _ := sinkcore.NewWriter(d, bytes.NewReader(append(drawn[:], make([]byte, 16)...)), config(nil), 0, 0)
	put(t, second, 0, "a:2")
	if got := files(t, d, true); len(got) != 2 {
		t.Errorf("got %q", got)
	}
}

func TestTheSameCallsGiveTheSameFiles(t *testing.T) {
	run := func() string {
		d := newDisk()
		c := config(afterRecords(3))
		w := newWriter(t, d, c)
		for i := range 300 {
			put(t, w, int64(i), fmt.Sprintf("%c:%d", 'a'+i%26, i))
			if i%40 == 39 {
				if _, err := w.Tick(int64(i) * 10_000); err != nil {
					t.Fatal(err)
				}
				if _, err := w.PrepareCommit(int64(i), 0); err != nil {
					t.Fatal(err)
				}
				if _, err := w.Snapshot(); err != nil {
					t.Fatal(err)
				}
			}
		}
		return fmt.Sprint(d.log)
	}
	if first := run(); first != run() {
		t.Error("another run did other things")
	}
}

func TestMergingClosesTheSecondPartOfABucket(t *testing.T) {
	d := newDisk()
	job, err := sinkcore.NewJob(d, random(1), config(nil), 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	for subtask := range 2 {
		if err := job.Write(subtask, fmt.Sprint("a:", subtask), 0, 0, int64(subtask)); err != nil {
			t.Fatal(err)
		}
	}
	c := checkpoint(t, job, 1)
	if err := job.Write(0, "a:lost", 0, 0, 9); err != nil { // after the barrier
		t.Fatal(err)
	}
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	job = restore(t, d, config(nil), 1, c)
	if s := job.Stats(); s.Rolled.For(sinkcore.Merge) != 1 || s.Resumed != 2 || s.OpenParts != 1 || s.PendingParts != 1 || s.OldestInvisible != 0 {
		t.Errorf("%+v", s)
	}
	write(t, job, 20, "a:2")
	checkpoint(t, job, 2)
	published := complete(t, job, 2)
	if len(published) != 1 || published[0].Reason != sinkcore.Merge || published[0].CreationTime != 1 {
		t.Errorf("published %+v", published)
	}
	if err := job.EndInput(); err != nil {
		t.Fatal(err)
	}
	checkpoint(t, job, 3)
	complete(t, job, 3)
	wantVisible(t, d, "a:0", "a:1", "a:2")
}

// The second element of a bucket is closed also where the first has no open part
// (FileWriterBucket:168-178).
func TestMergingClosesTheSecondPartAlsoWhereTheFirstElementHasNone(t *testing.T) {
	d := newDisk()
	c := config(sinkcore.Default{Size: 5})
	job, err := sinkcore.NewJob(d, random(1), c, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	for subtask, record := range []string{"a:long", "a:s"} {
		if err := job.Write(subtask, record, 0, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	taken := checkpoint(t, job, 1) // closes the long one
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	job = restore(t, d, c, 1, taken)
	if s := job.Stats(); s.Rolled.For(sinkcore.Merge) != 1 || s.OpenParts != 0 || s.PendingParts != 1 {
		t.Errorf("%+v", s)
	}
	checkpoint(t, job, 2)
	complete(t, job, 2)
	wantVisible(t, d, "a:long", "a:s")
}

// Never is the instant that a check timer does not reach.
func TestNoCheckIsDueAtNever(t *testing.T) {
	d := newDisk()
	job, err := sinkcore.NewJob(d, random(1), config(sinkcore.OnCheckpoint{}), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	write(t, job, 0, "a:1")
	for range 2 {
		if next, err := job.Tick(sinkcore.Never); next != sinkcore.Never || err != nil {
			t.Fatalf("the next check is at %d, %v", next, err)
		}
	}
	if s := job.Stats(); s.OpenParts != 1 {
		t.Errorf("%+v", s)
	}
}

// An empty Dir is the current directory, and a relative one is below it; both on a real
// disk, whose calls take no empty path.
func TestDirMayBeEmptyOrRelative(t *testing.T) {
	for _, dir := range []string{"", ".", "out", "./out/", "a/b"} {
		t.Run(dir, func(t *testing.T) {
			t.Chdir(t.TempDir())
			c := config(sinkcore.OnCheckpoint{})
			c.Dir = dir
			disk := afero.NewOsFs()
			job := newJob(t, disk, c, 1)
			write(t, job, 0, "1", "a:2")
			point := checkpoint(t, job, 1)
			write(t, job, 0, "3")
			if err := job.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := sinkcore.RemoveOrphans(disk, dir, point); err != nil {
				t.Fatal(err)
			}
			job, published, err := sinkcore.RestoreJob(disk, random(2), c, 1, 0, point)
			if err != nil || len(published) != 2 {
				t.Fatalf("%v, %v", published, err)
			}
			for _, p := range published {
				if _, err := disk.Stat(filepath.Join(dir, p.Bucket, p.Name)); err != nil {
					t.Error(err)
				}
			}
			if err := job.Close(); err != nil {
				t.Error(err)
			}
			if orphans, err := sinkcore.Orphans(disk, dir); err != nil || len(orphans) != 0 {
				t.Errorf("left %q, %v", orphans, err)
			}
		})
	}
}

func TestAStepOfTheBufferWritesWholeBlocksAndOneCallAtTheEnd(t *testing.T) {
	d := newDisk()
	c := config(nil)
	c.BufferSize = 8
	w := newWriter(t, d, c)
	for range 10 { // 30 bytes
		put(t, w, 0, "ab")
	}
	if got := d.done("write"); len(got) != 3 {
		t.Errorf("%d writes for 24 bytes in blocks of 8", len(got))
	}
	for _, text := range files(t, d, true) {
		if len(text) != 24 {
			t.Errorf("%d bytes in the file", len(text))
		}
	}
	if _, err := w.Snapshot(); err != nil {
		t.Fatal(err)
	}
	for _, text := range files(t, d, true) {
		if len(text) != 30 {
			t.Errorf("%d bytes in the file after a snapshot", len(text))
		}
	}
}

func TestWritingARecordAllocatesNothing(t *testing.T) {
	record := "bucket:" + strings.Repeat("x", 92)
	date, err := sinkcore.NewDateTime[string](sinkcore.DateTimeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, assigner := range map[string]sinkcore.BucketAssigner[string]{
		"base path": nil, "prefix": sinkcore.Prefix[string](bucketOf), "date-time": date,
	} {
		for _, policy := range []sinkcore.RollingPolicy{sinkcore.Default{}, sinkcore.OnCheckpoint{}, sinkcore.AnyOf{First: sinkcore.OnCheckpoint{}, Second: sinkcore.Default{}}} {
			c := config(policy)
			c.Assigner = assigner
			// Nothing is handed to the file, whose memory is not the sink's.
			c.BufferSize = 1 << 20
			w := newWriter(t, fsmem.New(fsmem.Options{}), c)
			for range 1 << 13 { // until the buffer has grown
				put(t, w, 0, record)
			}
			if _, err := w.Snapshot(); err != nil { // empties it
				t.Fatal(err)
			}
			now := int64(0)
			if got := testing.AllocsPerRun(1000, func() {
				now += 7
				if err := w.Write(record, sinkcore.NoTime, sinkcore.NoTime, now); err != nil {
					t.Fatal(err)
				}
			}); got != 0 {
				t.Errorf("%s, %s: %v allocations a record", name, policy, got)
			}
		}
	}
}
