package sinkcore_test

import (
	"testing"
	"time"

	"sinklab/sinkcore"
)

func TestStatsCountWhatIsOpenPendingAndCommitted(t *testing.T) {
	c := config(sinkcore.Default{Size: 7})
	job := newJob(t, newDisk(), c, 2)
	want := func(when string, want sinkcore.Stats) {
		t.Helper()
		want.Rolled = job.Stats().Rolled
		if got := job.Stats(); got != want {
			t.Errorf("%s:\n%+v, want\n%+v", when, got, want)
		}
	}
	want("at first", sinkcore.Stats{OldestInvisible: sinkcore.NoTime})

	write(t, job, 100, "a:1", "a:2", "a:3") // the third closes the first part
	write(t, job, 90, "b:1")                // the clock went backwards
	want("written", sinkcore.Stats{
		Records: 4, Bytes: 16, Opened: 3, OpenParts: 2, PendingParts: 1, PendingBytes: 8, OldestInvisible: 90,
	})
	if got := job.Stats().Age(150); got != 60 {
		t.Errorf("age %d", got)
	}

	point := checkpoint(t, job, 1)
	want("handed over", sinkcore.Stats{
		Records: 4, Bytes: 16, Opened: 3, OpenParts: 2, PendingParts: 1, PendingBytes: 8, OldestInvisible: 90,
	})
	complete(t, job, 1)
	want("published", sinkcore.Stats{
		Records: 4, Bytes: 16, Opened: 3, OpenParts: 2, CommittedParts: 1, CommittedRecords: 2, CommittedBytes: 8, OldestInvisible: 90,
	})

	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	want("closed", job.Stats())
	d := newDisk()
	job = newJob(t, d, c, 1)
	write(t, job, 100, "a:1", "a:2", "a:3")
	point = checkpoint(t, job, 1)
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	job = restore(t, d, c, 1, point)
	want("restored", sinkcore.Stats{
		Resumed: 1, OpenParts: 1, CommittedParts: 1, CommittedRecords: 2, CommittedBytes: 8, OldestInvisible: 100,
	})
	if err := job.EndInput(); err != nil {
		t.Fatal(err)
	}
	checkpoint(t, job, 2)
	complete(t, job, 2)
	want("ended", sinkcore.Stats{
		Resumed: 1, CommittedParts: 2, CommittedRecords: 3, CommittedBytes: 12, OldestInvisible: sinkcore.NoTime,
	})
}

func TestEachReasonIsCounted(t *testing.T) {
	// One bucket for each reason; the policy closes the part for it.
	policy := sinkcore.AnyOf{
		First:  afterRecords(3),
		Second: sinkcore.Default{Size: 20, Rollover: 100 * ms, Inactivity: 50 * ms},
	}
	c := config(policy)
	c.CheckInterval = 60 * ms
	d := newDisk()
	job := newJob(t, d, c, 2)
	for subtask := range 2 {
		if err := job.Write(subtask, "merge:1", 0, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	point := checkpoint(t, job, 1)
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	job = restore(t, d, c, 1, point) // merge; timers at 60, 120, ...
	write(t, job, 0, "event:1", "event:2", "event:3", "event:4")
	write(t, job, 0, "size:567890123456789012345", "size:2")
	write(t, job, 0, "idle:1")
	write(t, job, 11, "size:3", "age:1", "event:5")
	tick(t, job, 60)
	write(t, job, 80, "age:2", "event:6", "size:4")
	tick(t, job, 120)
	write(t, job, 130, "end:1", "checkpoint:56789012345678901")
	checkpoint(t, job, 2)
	if err := job.EndInput(); err != nil {
		t.Fatal(err)
	}
	rolled := job.Stats().Rolled
	for why, want := range map[sinkcore.Reason]int64{
		sinkcore.None: 0, sinkcore.Event: 1, sinkcore.Size: 2, sinkcore.Age: 3, sinkcore.Inactivity: 2,
		sinkcore.AtCheckpoint: 0, sinkcore.End: 1, sinkcore.Merge: 1, 99: 0,
	} {
		if got := rolled.For(why); got != want {
			t.Errorf("%v: %d, want %d", why, got, want)
		}
	}
	if got := rolled.Total(); got != 10 {
		t.Errorf("total %d", got)
	}
	if got := sinkcore.Reason(99).String(); got != "unknown" {
		t.Errorf("a reason that is none prints %q", got)
	}
}

func TestRollsAtCheckpointsAreCounted(t *testing.T) {
	job := newJob(t, newDisk(), config(sinkcore.OnCheckpoint{}), 1)
	write(t, job, 0, "a:1", "b:1")
	checkpoint(t, job, 1)
	if got := job.Stats().Rolled; got.For(sinkcore.AtCheckpoint) != 2 || got.Total() != 2 {
		t.Errorf("%v", got)
	}
}

func TestStatsCanBeReadAfterAFailure(t *testing.T) {
	d := newDisk()
	job := newJob(t, d, config(sinkcore.Default{Rollover: time.Hour}), 1)
	write(t, job, 5, "a:1")
	d.fail("sync", 0, false)
	if _, err := job.Checkpoint(1, 0); err == nil {
		t.Fatal("no error")
	}
	if got := job.Stats(); got.Records != 1 || got.OldestInvisible != 5 {
		t.Errorf("%+v", got)
	}
}
