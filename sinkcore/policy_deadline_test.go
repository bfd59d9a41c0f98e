package sinkcore_test

import (
	"errors"
	"testing"
	"time"

	"sinklab/sinkcore"
)

// A job has work for a checkpoint if a part waits to be handed over, or an open one would
// be closed by it.
func TestHasWork(t *testing.T) {
	c := config(sinkcore.Deadline{Within: 10 * time.Second, Checkpoint: 2 * time.Second})
	job := newJob(t, newDisk(), c, 2)
	ask := func(now int64, want bool) {
		t.Helper()
		if got := job.HasWork(now); got != want {
			t.Errorf("at %d: %v, want %v", now, got, want)
		}
	}
	ask(0, false)
	if err := job.Write(1, "a:1", sinkcore.NoTime, sinkcore.NoTime, 1000); err != nil {
		t.Fatal(err)
	}
	ask(9000, false) // the checkpoint at 11 s is in time
	ask(9001, true)
	if _, err := job.Checkpoint(1, 9001); err != nil {
		t.Fatal(err)
	}
	ask(0, true) // it waits for the completion
	if published, err := job.Complete(1); err != nil || len(published) != 1 {
		t.Fatalf("%v, %v", published, err)
	}
	ask(99_000, false)
}

// A part that comes from the future, because the clock was set back, is closed at the next
// checkpoint: nobody knows how long its records have waited.
func TestDeadlineAfterTheClockWasSetBack(t *testing.T) {
	p := sinkcore.Deadline{Within: 10 * time.Second, Checkpoint: 2 * time.Second}
	part := sinkcore.PartInfo{CreationTime: 5000, LastUpdate: 5000, Size: 1, Records: 1}
	for now, want := range map[int64]sinkcore.Reason{4999: sinkcore.Age, 5000: sinkcore.None, 13_000: sinkcore.None, 13_001: sinkcore.Age} {
		if got := p.RollOnCheckpoint(part, now); got != want {
			t.Errorf("at %d: %v, want %v", now, got, want)
		}
	}
}

// A promise that the checkpoints do not allow is refused before anything is written.
func TestCheckSchedule(t *testing.T) {
	p := sinkcore.Deadline{Within: 10 * time.Second, Checkpoint: 2 * time.Second, Duration: time.Second}
	for _, c := range []struct {
		policy sinkcore.RollingPolicy
		s      sinkcore.Schedule
		ok     bool
	}{
		{p, sinkcore.Schedule{Checkpoint: 2 * time.Second, Duration: time.Second}, true},
		{p, sinkcore.Schedule{Checkpoint: time.Second}, true},
		{p, sinkcore.Schedule{Checkpoint: 3 * time.Second}, true}, // slower and yet shorter: as good
		{p, sinkcore.Schedule{Checkpoint: 3001 * ms}, false},
		{p, sinkcore.Schedule{Checkpoint: time.Second, Duration: 2 * time.Second}, false},
		{p, sinkcore.Schedule{}, false},
		{sinkcore.AnyOf{First: sinkcore.Default{}, Second: p}, sinkcore.Schedule{Checkpoint: time.Minute}, false},
		{sinkcore.AnyOf{First: p, Second: sinkcore.Default{}}, sinkcore.Schedule{Checkpoint: time.Minute}, false},
		{sinkcore.AnyOf{First: sinkcore.OnCheckpoint{}, Second: sinkcore.Default{}}, sinkcore.Schedule{Checkpoint: time.Hour}, true},
		{nil, sinkcore.Schedule{}, true},
	} {
		if err := sinkcore.CheckSchedule(c.policy, c.s); (err == nil) != c.ok || err != nil && !errors.Is(err, sinkcore.ErrConfig) {
			t.Errorf("%v, %+v: %v", c.policy, c.s, err)
		}
	}
}
