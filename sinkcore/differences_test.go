package sinkcore_test

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sinklab/sinkcore"
)

// One test for each row of the table "Differences from Flink" in doc.go, in its order.

func TestAfterARenameDirectoriesAreSyncedAncestorsFirst(t *testing.T) {
	d := newDisk()
	job := newJob(t, d, config(sinkcore.OnCheckpoint{}), 1)
	write(t, job, 0, "a/b:1", "c:2")
	c := checkpoint(t, job, 1)

	// A second process knows of no directory that its name is durable.
	job = restoreAfter(t, d, job, c)
	got := d.done("rename", "syncdir")
	var renames, syncs []string
	for i, o := range got {
		if strings.HasPrefix(o, "rename") {
			renames = append(renames, o)
			if len(syncs) > 0 {
				t.Errorf("%q comes after a sync: %q", o, got[:i])
			}
		} else {
			syncs = append(syncs, o)
		}
	}
	if len(renames) != 2 {
		t.Errorf("renames: %q", renames)
	}
	if want := []string{"syncdir /", "syncdir /out", "syncdir /out/a", "syncdir /out/a/b", "syncdir /out/c"}; !slices.Equal(syncs, want) {
		t.Errorf("after the renames %q, want %q", syncs, want)
	}

	// Once a directory's own name is durable, a further part costs one sync.
	write(t, job, 0, "a/b:3")
	checkpoint(t, job, 2)
	d.forget()
	complete(t, job, 2)
	if got := d.done("syncdir"); !slices.Equal(got, []string{"syncdir /out/a/b"}) {
		t.Errorf("a second part: %q", got)
	}
}

// restoreAfter crashes a job and restores it; the disk's log holds only the restore then.
func restoreAfter(t *testing.T, d *disk, job *sinkcore.Job[string], c sinkcore.Checkpoint) *sinkcore.Job[string] {
	t.Helper()
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	d.forget()
	return restore(t, d, config(sinkcore.OnCheckpoint{}), 1, c)
}

func TestACommittableIsForgottenOnlyAfterItsDirectoriesAreSynced(t *testing.T) {
	for _, after := range []bool{false, true} {
		for n := range 3 { // "/", "/out" and "/out/a"
			d := newDisk()
			job := newJob(t, d, config(sinkcore.OnCheckpoint{}), 1)
			write(t, job, 0, "a:1")
			committables, err := job.Writer(0).PrepareCommit(1, 0)
			if err != nil {
				t.Fatal(err)
			}
			state := sinkcore.CommitterState{Batches: []sinkcore.Batch{{Checkpoint: 1, Committables: committables}}}
			// A committer of another process, which knows of no durable directory.
			committer, err := sinkcore.NewCommitter(d, "/out", 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := committer.Add(1, committables); err != nil {
				t.Fatal(err)
			}
			d.fail("syncdir", n, after)
			if published, err := committer.Complete(1); !errors.Is(err, errDisk) || published != nil {
				t.Fatalf("sync %d: published %v, %v", n, published, err)
			}
			if got := committer.Stats(); got.PendingParts != 1 || got.CommittedParts != 0 {
				t.Errorf("sync %d: forgotten although not durable: %+v", n, got)
			}
			if s, err := committer.Snapshot(); !errors.Is(err, sinkcore.ErrFailed) {
				t.Errorf("sync %d: a snapshot that could forget it: %v, %v", n, s, err)
			}
			if _, published, err := sinkcore.RestoreCommitter(d, "/out", 0, 1, state); err != nil || len(published) != 1 {
				t.Errorf("sync %d: restored: %v, %v", n, published, err)
			}
			wantVisible(t, d, "a:1")
		}
	}
}

func TestDirectoriesOfNewPartsAreSyncedBeforeTheSnapshotReturns(t *testing.T) {
	d := newDisk()
	job := newJob(t, d, config(sinkcore.Default{Size: 4}), 1)
	write(t, job, 0, "a/b:1", "c:1", "c:2", "c:3") // c has a closed and an open part
	d.forget()
	checkpoint(t, job, 1)
	if got, want := d.done("syncdir"), []string{"syncdir /", "syncdir /out", "syncdir /out/a", "syncdir /out/a/b", "syncdir /out/c"}; !slices.Equal(got, want) {
		t.Errorf("synced %q, want %q", got, want)
	}
	syncs := d.done("sync", "syncdir")
	if len(syncs) != 7 || strings.HasPrefix(syncs[0], "syncdir") || strings.HasPrefix(syncs[1], "syncdir") {
		t.Errorf("not the two open parts first: %q", syncs)
	}

	d.forget()
	checkpoint(t, job, 2)
	if got := d.done("sync", "syncdir"); len(got) != 0 {
		t.Errorf("nothing is new, yet %q", got)
	}
	d.fail("syncdir", 0, false)
	write(t, job, 0, "e:1")
	if _, err := job.Checkpoint(3, 0); !errors.Is(err, errDisk) {
		t.Errorf("a checkpoint that names a file whose directory is not durable: %v", err)
	}
}

// prepared returns a job with one closed part in checkpoint 1.
func prepared(t *testing.T, d *disk) (*sinkcore.Job[string], sinkcore.Checkpoint, sinkcore.Committable) {
	t.Helper()
	job := newJob(t, d, config(sinkcore.OnCheckpoint{}), 1)
	write(t, job, 0, "a:1", "a:2")
	c := checkpoint(t, job, 1)
	return job, c, c.Committers[0].Batches[0].Committables[0]
}

func TestATargetWithTheSameContentCountsAsCommitted(t *testing.T) {
	t.Run("temporary file gone", func(t *testing.T) {
		d := newDisk()
		job, c, part := prepared(t, d)
		if err := d.Fs.Rename(tempPath(part), finalPath(part)); err != nil {
			t.Fatal(err)
		}
		d.forget()
		if published := complete(t, job, 1); len(published) != 1 {
			t.Errorf("published %v", published)
		}
		if got := d.done("syncdir"); len(got) == 0 {
			t.Error("the process that renamed it may not have synced the directory; nor does this one")
		}
		for range 3 {
			job = restoreAfter(t, d, job, c)
		}
		wantVisible(t, d, "a:1", "a:2")
	})
	t.Run("temporary file there too", func(t *testing.T) {
		d := newDisk()
		job, _, part := prepared(t, d)
		putFile(t, d, finalPath(part), "a:1\na:2\n")
		complete(t, job, 1)
		if got := files(t, d, true); !maps.Equal(got, map[string]string{finalPath(part): "a:1\na:2\n"}) {
			t.Errorf("got %q", got)
		}
	})
}

func TestATargetWithOtherContentIsRefusedAndNothingTouched(t *testing.T) {
	for name, text := range map[string]string{"shorter": "a:1\n", "longer": "a:1\na:2\na:3\n", "other": "x:1\nx:2\n", "empty": ""} {
		for _, staged := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				d := newDisk()
				job, c, part := prepared(t, d)
				putFile(t, d, finalPath(part), text)
				if !staged {
					if err := d.Fs.Remove(tempPath(part)); err != nil {
						t.Fatal(err)
					}
				}
				before := files(t, d, true)
				_, err := job.Complete(1)
				wantError(t, err, sinkcore.ErrTargetExists, finalPath(part))
				_, _, err = sinkcore.RestoreJob(d, random(2), config(nil), 1, 0, c)
				wantError(t, err, sinkcore.ErrTargetExists, finalPath(part))
				if got := files(t, d, true); !maps.Equal(got, before) {
					t.Errorf("touched: %q, was %q", got, before)
				}
				if !staged {
					return
				}
				// The error is a refusal: with the other file out of the way it works.
				if err := d.Fs.Remove(finalPath(part)); err != nil {
					t.Fatal(err)
				}
				complete(t, job, 1)
				wantVisible(t, d, "a:1", "a:2")
			})
		}
	}
	t.Run("directory", func(t *testing.T) {
		d := newDisk()
		job, _, part := prepared(t, d)
		if err := d.Fs.Mkdir(finalPath(part), 0o777); err != nil {
			t.Fatal(err)
		}
		_, err := job.Complete(1)
		wantError(t, err, sinkcore.ErrTargetExists, finalPath(part))
	})
}

func TestACommitWithNeitherFileIsLost(t *testing.T) {
	d := newDisk()
	job, c, part := prepared(t, d)
	if err := d.Fs.Remove(tempPath(part)); err != nil {
		t.Fatal(err)
	}
	_, err := job.Complete(1)
	wantError(t, err, sinkcore.ErrLost, finalPath(part))
	_, _, err = sinkcore.RestoreJob(d, random(2), config(nil), 1, 0, c)
	wantError(t, err, sinkcore.ErrLost, finalPath(part))
	if got := files(t, d, true); len(got) != 0 {
		t.Errorf("made up %q", got)
	}
}

func TestAPartThatIsTooShortIsNotCommitted(t *testing.T) {
	d := newDisk()
	job, c, part := prepared(t, d)
	putFile(t, d, tempPath(part), "a:1\n")
	_, err := job.Complete(1)
	wantError(t, err, sinkcore.ErrShort, tempPath(part))
	_, _, err = sinkcore.RestoreJob(d, random(2), config(nil), 1, 0, c)
	wantError(t, err, sinkcore.ErrShort, tempPath(part))
}

// The older checkpoint names as open what the newer one has committed, and it holds a
// committable of another bucket that must not be published by the attempt.
func TestRestoringAnOlderCheckpointIsRefusedBeforeAnythingIsPublished(t *testing.T) {
	d := newDisk()
	job := newJob(t, d, config(sinkcore.Default{Size: 4}), 1)
	write(t, job, 0, "a:1", "b:1", "b:2", "b:3") // a open; b one closed, one open
	old := checkpoint(t, job, 1)
	write(t, job, 0, "a:2") // which closes a's part at the checkpoint
	checkpoint(t, job, 2)
	complete(t, job, 2)
	// Take b's part back, as if its commit had been lost.
	pending := old.Committers[0].Batches[0].Committables[0]
	if err := d.Fs.Rename(finalPath(pending), tempPath(pending)); err != nil {
		t.Fatal(err)
	}
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}

	before := files(t, d, true)
	for parallelism := 1; parallelism <= 3; parallelism++ {
		_, _, err := sinkcore.RestoreJob(d, random(2), config(nil), parallelism, 0, old)
		wantError(t, err, sinkcore.ErrInProgressMissing, filepath.Join("/out/a", old.Writers[0].Buckets[0].InProgress.Temp))
	}
	if got := files(t, d, true); !maps.Equal(got, before) {
		t.Errorf("touched: %q, was %q", got, before)
	}
}

func TestARestoreComparesTheBytesWithTheState(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       error
	}{
		{"other bytes", "a:1\na:X\n", sinkcore.ErrContent},
		{"zeros", "\x00\x00\x00\x00\x00\x00\x00\x00", sinkcore.ErrContent},
		{"short", "a:1\na:", sinkcore.ErrShort},
		{"other bytes and more", "a:1\na:X\na:3\n", sinkcore.ErrContent},
		{"more", "a:1\na:2\na:3\n", nil}, // written after the snapshot
	} {
		for _, policy := range []sinkcore.RollingPolicy{sinkcore.Default{}, sinkcore.OnCheckpoint{}} {
			t.Run(test.name+" "+policy.String(), func(t *testing.T) {
				d := newDisk()
				job := newJob(t, d, config(policy), 1)
				write(t, job, 0, "a:1", "a:2")
				c := checkpoint(t, job, 1)
				if err := job.Close(); err != nil {
					t.Fatal(err)
				}
				var temp string
				for temp = range files(t, d, true) {
				}
				putFile(t, d, temp, test.text)
				job, _, err := sinkcore.RestoreJob(d, random(2), config(policy), 1, 0, c)
				if test.want != nil {
					wantError(t, err, test.want, temp)
					if got := files(t, d, true)[temp]; got != test.text {
						t.Errorf("touched: %q", got)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				for path, text := range files(t, d, true) {
					if text != "a:1\na:2\n" { // cut at once, whether resumed or published
						t.Errorf("%s: %q", path, text)
					}
				}
				if err := job.EndInput(); err != nil {
					t.Fatal(err)
				}
				checkpoint(t, job, 2)
				complete(t, job, 2)
				wantVisible(t, d, "a:1", "a:2")
			})
		}
	}
}

func TestABucketIDThatEscapesOrHidesIsRefusedAndTheSinkGoesOn(t *testing.T) {
	for _, id := range []string{"..", "../x", "a/../../x", "/a", "a/", "a//b", "/", ".", "a/./b", "a\x00b", ".a", "_a", "a/.b", "a/_b"} {
		d := newDisk()
		job := newJob(t, d, config(sinkcore.OnCheckpoint{}), 1)
		write(t, job, 0, "a:1")
		err := job.Write(0, id+":2", sinkcore.NoTime, sinkcore.NoTime, 0)
		var e *sinkcore.Error
		if !errors.Is(err, sinkcore.ErrBucketID) || !errors.As(err, &e) || e.Bucket != id || !e.HasBucket {
			t.Errorf("bucket %q: got %v", id, err)
		}
		write(t, job, 0, "a:3")
		checkpoint(t, job, 1)
		complete(t, job, 1)
		wantVisible(t, d, "a:1", "a:3")
	}
}

func TestAHiddenPrefixIsRefusedAtStart(t *testing.T) {
	for _, prefix := range []string{".part", "_part", ".", "_", "a/b", "a\x00"} {
		c := config(nil)
		c.Prefix = prefix
		if _, err := sinkcore.NewJob(newDisk(), random(1), c, 1, 0); !errors.Is(err, sinkcore.ErrConfig) {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
}

func TestABucketIDWithAColonWorks(t *testing.T) {
	for _, id := range []string{"10:30", "hdfs://x"[:5], "a:b/c:d", ":"} {
		d := newDisk()
		c := config(sinkcore.OnCheckpoint{})
		c.Assigner = sinkcore.Prefix[string](func(string) string { return id })
		job := newJob(t, d, c, 1)
		write(t, job, 0, "1")
		checkpoint(t, job, 1)
		published := complete(t, job, 1)
		if got := files(t, d, false)[filepath.Join("/out", id, published[0].Name)]; got != "1\n" {
			t.Errorf("bucket %q: got %q", id, files(t, d, false))
		}
	}
}

func TestAfterAnIOErrorEverythingIsRefusedWithTheFirstError(t *testing.T) {
	d := newDisk()
	job := newJob(t, d, config(sinkcore.OnCheckpoint{}), 2)
	write(t, job, 0, "a:1")
	d.fail("create", 0, false)
	first := job.Write(0, "b:1", sinkcore.NoTime, sinkcore.NoTime, 0)
	if !errors.Is(first, errDisk) {
		t.Fatalf("got %v", first)
	}
	d.fail("rename", 1000, false) // from now on the disk works
	refusals := allRefused(t, job, sinkcore.ErrFailed)
	for name, err := range refusals {
		if !errors.Is(err, errDisk) || !strings.Contains(err.Error(), first.Error()) {
			t.Errorf("%s: %v does not show the first error %v", name, err, first)
		}
	}
	if !errors.Is(job.Err(), errDisk) || !errors.Is(job.Writer(0).Err(), errDisk) {
		t.Errorf("Err: %v, %v", job.Err(), job.Writer(0).Err())
	}
	if err := job.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	wantVisible(t, d)
}

// allRefused checks that a job takes no more calls, and leaves the disk alone.
func allRefused(t testing.TB, job *sinkcore.Job[string], kind error) map[string]error {
	t.Helper()
	write := job.Write(0, "z:1", sinkcore.NoTime, sinkcore.NoTime, 0)
	_, tick := job.Tick(sinkcore.Never)
	_, checkpoint := job.Checkpoint(1<<40, 0)
	_, complete := job.Complete(1 << 40)
	other := error(kind)
	if job.Parallelism() > 1 {
		other = job.Write(1, "z:1", sinkcore.NoTime, sinkcore.NoTime, 0)
	}
	refusals := map[string]error{
		"write": write, "write to another subtask": other, "tick": tick, "checkpoint": checkpoint, "complete": complete,
		"abort": job.Abort(1), "end of input": job.EndInput(),
	}
	for name, err := range refusals {
		if !errors.Is(err, kind) {
			t.Errorf("%s: got %v, want %v", name, err, kind)
		}
	}
	if job.Parallelism() == 1 {
		delete(refusals, "write to another subtask")
	}
	return refusals
}

func TestAnElementRestoredTwiceIsNoticed(t *testing.T) {
	d := newDisk()
	job := newJob(t, d, config(sinkcore.Default{Size: 4}), 1)
	write(t, job, 0, "b:1", "b:2", "b:3")
	c := checkpoint(t, job, 1)
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	writer, committer := c.Writers[0], c.Committers[0]
	open := *writer.Buckets[0].InProgress
	openTwice := sinkcore.WriterState{Buckets: []sinkcore.BucketState{writer.Buckets[0], writer.Buckets[0]}}
	batch := committer.Batches[0]
	later := sinkcore.Batch{Checkpoint: 2, Committables: batch.Committables}
	pendingTwice := sinkcore.CommitterState{Batches: []sinkcore.Batch{batch, later}}
	openAndPending := sinkcore.CommitterState{Batches: []sinkcore.Batch{{Checkpoint: 1, Committables: []sinkcore.Committable{{
		Bucket: "b", Name: open.Name, Temp: open.Temp, Size: open.Size, Checksum: open.Checksum,
	}}}}}
	before := files(t, d, true)
	for name, c := range map[string]sinkcore.Checkpoint{
		"open in one subtask":   {ID: 1, Writers: []sinkcore.WriterState{openTwice}, Committers: []sinkcore.CommitterState{committer}},
		"open in two subtasks":  {ID: 1, Writers: []sinkcore.WriterState{writer, writer}, Committers: []sinkcore.CommitterState{committer, {}}},
		"pending in one":        {ID: 1, Writers: []sinkcore.WriterState{writer}, Committers: []sinkcore.CommitterState{pendingTwice}},
		"pending in two":        {ID: 1, Writers: []sinkcore.WriterState{writer, {}}, Committers: []sinkcore.CommitterState{committer, committer}},
		"both open and pending": {ID: 1, Writers: []sinkcore.WriterState{writer}, Committers: []sinkcore.CommitterState{openAndPending}},
	} {
		for parallelism := 1; parallelism <= 3; parallelism++ {
			if _, _, err := sinkcore.RestoreJob(d, random(2), config(nil), parallelism, 0, c); !errors.Is(err, sinkcore.ErrRestoredTwice) {
				t.Errorf("%s, to parallelism %d: got %v", name, parallelism, err)
			}
		}
	}
	if _, err := sinkcore.RestoreWriter(d, random(2), config(nil), 0, 0, 1, openTwice); !errors.Is(err, sinkcore.ErrRestoredTwice) {
		t.Errorf("RestoreWriter: %v", err)
	}
	if _, _, err := sinkcore.RestoreCommitter(d, "/out", 0, 1, pendingTwice); !errors.Is(err, sinkcore.ErrRestoredTwice) {
		t.Errorf("RestoreCommitter: %v", err)
	}
	if got := files(t, d, true); !maps.Equal(got, before) {
		t.Errorf("touched: %q, was %q", got, before)
	}
}

func TestARecordThatCannotBeEncodedLeavesNoByte(t *testing.T) {
	broken := errors.New("no such field")
	c := config(sinkcore.OnCheckpoint{})
	c.Encoder = sinkcore.EncoderFunc[string](func(dst []byte, record string) ([]byte, error) {
		if strings.Contains(record, "bad") {
			return append(dst, record[:4]...), broken // half of it
		}
		return append(append(dst, record...), '\n'), nil
	})
	for _, size := range []int{1, 0} { // each record to the file at once, and buffered
		c.BufferSize = size
		d := newDisk()
		job := newJob(t, d, c, 1)
		for _, record := range []string{"a:bad", "a:1", "a:bad", "a:2", "b:bad"} {
			err := job.Write(0, record, sinkcore.NoTime, sinkcore.NoTime, 0)
			if bad := strings.Contains(record, "bad"); bad != errors.Is(err, sinkcore.ErrEncode) || bad != errors.Is(err, broken) {
				t.Errorf("%s: %v", record, err)
			}
		}
		if got := job.Stats(); got.Records != 2 || got.Bytes != 8 || got.Opened != 1 {
			t.Errorf("counted %+v", got)
		}
		checkpoint(t, job, 1)
		complete(t, job, 1)
		wantVisible(t, d, "a:1", "a:2")
		if got := files(t, d, true); len(got) != 1 {
			t.Errorf("left %q", got)
		}
	}
}

func TestAWrongDatePatternOrZoneIsRefusedAtStart(t *testing.T) {
	for _, o := range []sinkcore.DateTimeOptions{{Format: "yyyy-ww"}, {Format: "'"}, {Zone: "Nowhere/Land"}, {Zone: "+25"}} {
		if _, err := sinkcore.NewDateTime[string](o); !errors.Is(err, sinkcore.ErrConfig) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestInProgressFilesNobodyOwnsAreListedAndRemoved(t *testing.T) {
	d := newDisk()
	job := newJob(t, d, config(sinkcore.Default{}), 1)
	write(t, job, 0, "a:1")
	c := checkpoint(t, job, 1)
	write(t, job, 0, "b:1") // after the checkpoint that is restored
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	orphans, err := sinkcore.Orphans(d, "/out", c)
	if err != nil || len(orphans) != 1 || filepath.Dir(orphans[0]) != "/out/b" {
		t.Fatalf("orphans %q, %v", orphans, err)
	}
	removed, err := sinkcore.RemoveOrphans(d, "/out", c)
	if err != nil || !slices.Equal(removed, orphans) {
		t.Errorf("removed %q, %v", removed, err)
	}
	if got := files(t, d, true); len(got) != 1 {
		t.Errorf("left %q", got)
	}
}
