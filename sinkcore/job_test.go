package sinkcore_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
)

func TestAJobNeedsASubtask(t *testing.T) {
	for _, n := range []int{0, -1} {
		if _, err := sinkcore.NewJob(newDisk(), random(1), config(nil), n, 0); !errors.Is(err, sinkcore.ErrConfig) {
			t.Errorf("%d: %v", n, err)
		}
		if _, _, err := sinkcore.RestoreJob(newDisk(), random(1), config(nil), n, 0, exampleCheckpoint); !errors.Is(err, sinkcore.ErrConfig) {
			t.Errorf("restore %d: %v", n, err)
		}
	}
	job := newJob(t, newDisk(), config(nil), 2)
	for _, subtask := range []int{-1, 2} {
		if err := job.Write(subtask, "a:1", 0, 0, 0); !errors.Is(err, sinkcore.ErrSubtask) {
			t.Errorf("write to %d: %v", subtask, err)
		}
		if err := job.EndInputOf(subtask); !errors.Is(err, sinkcore.ErrSubtask) {
			t.Errorf("end of %d: %v", subtask, err)
		}
	}
}

func TestACheckpointThatIsNoCheckpointIsNotRestored(t *testing.T) {
	for _, c := range []sinkcore.Checkpoint{{}, {Writers: make([]sinkcore.WriterState, 2), Committers: make([]sinkcore.CommitterState, 1)}} {
		if _, _, err := sinkcore.RestoreJob(newDisk(), random(1), config(nil), 1, 0, c); !errors.Is(err, sinkcore.ErrStateDamaged) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A chain of restores to drawn numbers of subtasks, with records in between; from time
// to time a checkpoint is aborted or its completion gets lost, and records after the
// barrier are lost with the process and sent again.
func TestRestoringToAnyParallelismKeepsEachRecordOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDisk()
		source := random(byte(rapid.IntRange(0, 255).Draw(t, "seed")))
		c := config(builtIn(1).Draw(t, "policy"))
		c.CheckInterval = 10 * ms
		parallelism := rapid.IntRange(1, 4)
		n := parallelism.Draw(t, "parallelism")
		job, err := sinkcore.NewJob(d, source, c, n, 0)
		var want []string
		now, id := int64(0), int64(0)
		record := func(text string) {
			now += 3
			if now >= job.NextTick() {
				_, err = job.Tick(now)
			}
			if err == nil {
				bucket := rapid.SampledFrom([]string{"a", "b", "c/d"}).Draw(t, "bucket")
				err = job.Write(rapid.IntRange(0, n-1).Draw(t, "subtask"), bucket+":"+text, 0, 0, now)
				if err == nil && text != "again" {
					want = append(want, bucket+":"+text)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for life := range rapid.IntRange(1, 4).Draw(t, "lives") {
			for i := range rapid.IntRange(0, 12).Draw(t, "records") {
				record(fmt.Sprint(life, ".", i))
				if rapid.IntRange(0, 5).Draw(t, "checkpoint") > 0 {
					continue
				}
				id++
				if _, err := job.Checkpoint(id, 0); err != nil {
					t.Fatal(err)
				}
				switch rapid.IntRange(0, 2).Draw(t, "notice") {
				case 0:
					_, err = job.Complete(id)
				case 1:
					err = job.Abort(id)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			id++
			point, err := job.Checkpoint(id, 0)
			if err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "after the barrier") {
				record("again")
			}
			if err := job.Close(); err != nil {
				t.Fatal(err)
			}
			n = parallelism.Draw(t, "new parallelism")
			if job, _, err = sinkcore.RestoreJob(d, source, c, n, now, point); err != nil {
				t.Fatal(err)
			}
		}
		if err := job.EndInput(); err != nil {
			t.Fatal(err)
		}
		id++
		if _, err := job.Checkpoint(id, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := job.Complete(id); err != nil {
			t.Fatal(err)
		}
		var got []string
		for path, text := range filesOf(d) {
			if strings.HasPrefix(filepath.Base(path), ".") {
				continue // of a process that died
			}
			got = append(got, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("readers see %q, want %q", got, want)
		}
		if s := job.Stats(); s.OpenParts != 0 || s.PendingParts != 0 || s.PendingBytes != 0 || s.OldestInvisible != sinkcore.NoTime || s.Age(now) != 0 {
			t.Fatalf("something is left: %+v", s)
		}
	})
}

func TestStateIsSpreadAsFlinkSpreadsIt(t *testing.T) {
	d := newDisk()
	job := newJob(t, d, config(nil), 3)
	for subtask, records := range [][]string{{"a:1", "b:1", "c:1"}, {"a:2", "d:2"}, {}} {
		for _, record := range records {
			if err := job.Write(subtask, record, 0, 0, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := checkpoint(t, job, 1)
	for parallelism, want := range map[int]string{
		1: "[a b c d]", // and a's second part is merged
		2: "[a b c] [a d]",
		3: "[a b c] [a d] []",
		4: "[a b] [c] [a] [d]",
		5: "[a] [b] [c] [a] [d]",
		6: "[a] [b] [c] [a] [d] []",
	} {
		restored := restore(t, d, config(nil), parallelism, c)
		var got []string
		for i := range parallelism {
			s, err := restored.Writer(i).Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, b := range s.Buckets {
				ids = append(ids, b.Bucket)
			}
			got = append(got, fmt.Sprint(ids))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d subtasks: %s, want %s", parallelism, got, want)
		}
	}
}

func TestAnAbortedCheckpointDeletesNothingAndTheNextOnePublishes(t *testing.T) {
	d := newDisk()
	job := newJob(t, d, config(sinkcore.OnCheckpoint{}), 1)
	write(t, job, 0, "a:1")
	checkpoint(t, job, 5)
	if err := job.Abort(5); err != nil {
		t.Fatal(err)
	}
	write(t, job, 0, "a:2")
	c := checkpoint(t, job, 6)
	wantVisible(t, d)
	if got := c.Committers[0].Batches; len(got) != 2 || got[0].Checkpoint != 5 || got[1].Checkpoint != 6 {
		t.Errorf("batches %v", got)
	}
	complete(t, job, 6)
	wantVisible(t, d, "a:1", "a:2")
}

func TestNothingIsVisibleBeforeItsCheckpointCompletes(t *testing.T) {
	d := newDisk()
	job := newJob(t, d, config(afterRecords(1)), 1)
	write(t, job, 0, "a:1", "a:2")
	wantVisible(t, d)
	checkpoint(t, job, 1)
	wantVisible(t, d)
	write(t, job, 0, "a:3")
	complete(t, job, 1)
	wantVisible(t, d, "a:1")
}

func TestASavepointThatNeverCompletesIsPublishedByTheNextCheckpointOrItsRestore(t *testing.T) {
	d := newDisk()
	job := newJob(t, d, config(sinkcore.OnCheckpoint{}), 1)
	write(t, job, 0, "a:1")
	savepoint := checkpoint(t, job, 1)
	write(t, job, 0, "a:2")
	checkpoint(t, job, 2)
	if published := complete(t, job, 2); len(published) != 2 {
		t.Errorf("published %v", published)
	}
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	// With on checkpoint nothing that the savepoint names has been taken further.
	_, published, err := sinkcore.RestoreJob(d, random(9), config(sinkcore.OnCheckpoint{}), 1, 0, savepoint)
	if err != nil || len(published) != 1 {
		t.Errorf("published %v, %v", published, err)
	}
}

func TestStopWithSavepoint(t *testing.T) {
	notStored := errors.New("the store is full")
	for _, test := range []struct {
		name    string
		drain   bool
		store   error
		visible []string // after stopping
	}{
		{"without drain", false, nil, nil},
		{"with drain", true, nil, []string{"a:1", "b:1"}},
		{"not stored", true, notStored, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDisk()
			job := newJob(t, d, config(sinkcore.Default{}), 1)
			write(t, job, 0, "a:1", "b:1")
			var stored sinkcore.Checkpoint
			_, err := job.StopWithSavepoint(1, 0, test.drain, func(c sinkcore.Checkpoint) error {
				wantVisible(t, d)
				stored = c
				return test.store
			})
			if test.store == nil && err != nil || !errors.Is(err, test.store) {
				t.Errorf("got %v", err)
			}
			wantVisible(t, d, test.visible...)
			allRefused(t, job, sinkcore.ErrClosed)

			// Another job goes on from it.
			next := restore(t, d, config(sinkcore.Default{}), 2, stored)
			write(t, next, 0, "a:2")
			if _, err := next.StopWithSavepoint(2, 0, true, func(sinkcore.Checkpoint) error { return nil }); err != nil {
				t.Fatal(err)
			}
			wantVisible(t, d, "a:1", "b:1", "a:2")
		})
	}
}

func TestStopWithSavepointThatCannotTakeOneClosesTheJob(t *testing.T) {
	for _, drain := range []bool{false, true} {
		d := newDisk()
		job := newJob(t, d, config(nil), 1)
		write(t, job, 0, "a:1")
		d.fail("sync", 0, false)
		if _, err := job.StopWithSavepoint(1, 0, drain, func(sinkcore.Checkpoint) error { return nil }); !errors.Is(err, errDisk) {
			t.Errorf("got %v", err)
		}
		allRefused(t, job, sinkcore.ErrClosed)
		wantVisible(t, d)
	}
	job := newJob(t, newDisk(), config(nil), 1)
	if _, err := job.StopWithSavepoint(1, 0, false, nil); !errors.Is(err, sinkcore.ErrConfig) {
		t.Errorf("nowhere to store it: %v", err)
	}
}

func TestTheEndOfOneSubtasksInputLeavesTheOthers(t *testing.T) {
	d := newDisk()
	job := newJob(t, d, config(sinkcore.OnCheckpoint{}), 2)
	write(t, job, 0, "a:1")
	for range 2 {
		if err := job.EndInputOf(0); err != nil {
			t.Fatal(err)
		}
	}
	if err := job.Write(0, "a:2", 0, 0, 0); !errors.Is(err, sinkcore.ErrEndOfInput) {
		t.Errorf("got %v", err)
	}
	for id := int64(1); id <= 2; id++ {
		if err := job.Write(1, fmt.Sprint("b:", id), 0, 0, 0); err != nil {
			t.Fatal(err)
		}
		checkpoint(t, job, id)
		complete(t, job, id)
	}
	wantVisible(t, d, "a:1", "b:1", "b:2")
	for range 2 {
		if err := job.EndInput(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheNextTickIsThatOfTheEarliestSubtask(t *testing.T) {
	c := config(nil)
	c.CheckInterval = 10 * ms
	job := newJob(t, newDisk(), c, 2)
	if got := job.NextTick(); got != 10 {
		t.Errorf("armed for %d", got)
	}
	if next, err := job.Writer(0).Tick(13); err != nil || next != 23 {
		t.Errorf("%d, %v", next, err)
	}
	if got := job.NextTick(); got != 10 {
		t.Errorf("the other is due at %d", got)
	}
	if next, err := job.Tick(14); err != nil || next != 23 || job.Writer(1).NextTick() != 24 {
		t.Errorf("%d, %d, %v", next, job.Writer(1).NextTick(), err)
	}
	if next, err := job.Tick(22); err != nil || next != 23 {
		t.Errorf("too early: %d, %v", next, err)
	}
}

func TestAFailedSubtaskStopsTheWholeJob(t *testing.T) {
	d := newDisk()
	job := newJob(t, d, config(nil), 3)
	d.fail("create", 0, true)
	if err := job.Write(2, "a:1", 0, 0, 0); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	allRefused(t, job, sinkcore.ErrFailed)
}
