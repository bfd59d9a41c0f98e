package sinkcore_test

import (
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
)

// engine is what runs a sink in the tests of crashes: a source that can be set back, a
// store of checkpoints that outlives the process, and the sink. A run goes on from the
// newest stored checkpoint until the end of the input.
type engine struct {
	config   sinkcore.Config[string]
	records  []string
	random   io.Reader // goes on over all runs
	parallel []int     // subtasks of the first run, the second, ...; the last one stays

	runs     int
	stored   []byte // the newest checkpoint, nil before the first
	position int    // of the source at that checkpoint
	finished bool   // the input had ended by then
}

func newEngine(parallel ...int) *engine {
	e := &engine{config: config(sinkcore.Default{Size: 9, Rollover: 40 * ms, Inactivity: 30 * ms}), random: random(7), parallel: parallel}
	e.config.CheckInterval = 20 * ms
	e.config.BufferSize = 8
	for i := range 16 {
		e.records = append(e.records, fmt.Sprintf("%s:%d", []string{"a", "b/c", "b/d"}[i*i%3], i))
	}
	return e
}

// run returns the job, if it came that far, and its first error.
func (e *engine) run(fsys afero.Fs) (job *sinkcore.Job[string], err error) {
	parallelism := e.parallel[min(e.runs, len(e.parallel)-1)]
	e.runs++
	var c sinkcore.Checkpoint
	now := int64(10 * e.position)
	if e.stored == nil {
		job, err = sinkcore.NewJob(fsys, e.random, e.config, parallelism, now)
	} else if err = c.UnmarshalBinary(e.stored); err == nil {
		job, _, err = sinkcore.RestoreJob(fsys, e.random, e.config, parallelism, now, c)
	}
	if err != nil {
		return job, err
	}
	for at := e.position; at < len(e.records); at++ {
		now = int64(10 * at)
		if now >= job.NextTick() {
			if _, err := job.Tick(now); err != nil {
				return job, err
			}
		}
		if err := job.Write(at%parallelism, e.records[at], sinkcore.NoTime, sinkcore.NoTime, now); err != nil {
			return job, err
		}
		if at%4 != 3 {
			continue
		}
		if c, err = e.checkpoint(job, c.ID+1, at+1); err != nil {
			return job, err
		}
		if c.ID == 2 {
			continue // the notice that it has completed gets lost
		}
		if _, err := job.Complete(c.ID); err != nil {
			return job, err
		}
	}
	if !e.finished {
		if err := job.EndInput(); err != nil {
			return job, err
		}
		if c, err = e.checkpoint(job, c.ID+1, len(e.records)); err != nil {
			return job, err
		}
		e.finished = true
	}
	_, err = job.Complete(c.ID)
	return job, err
}

// checkpoint takes and stores one.
func (e *engine) checkpoint(job *sinkcore.Job[string], id int64, position int) (sinkcore.Checkpoint, error) {
	c, err := job.Checkpoint(id, 0)
	if err != nil {
		return c, err
	}
	stored, err := c.MarshalBinary()
	if err == nil {
		e.stored, e.position = stored, position
	}
	return c, err
}

// checkOutput checks that readers see each record once, and that a sweep leaves nothing
// but what they see.
func (e *engine) checkOutput(t testing.TB, what string, fsys afero.Fs) {
	t.Helper()
	want := slices.Clone(e.records)
	slices.Sort(want)
	if got := visible(t, fsys); !slices.Equal(got, want) {
		t.Fatalf("%s: readers see %q, want %q", what, got, want)
	}
	var c sinkcore.Checkpoint
	if err := c.UnmarshalBinary(e.stored); err != nil {
		t.Fatal(err)
	}
	if _, err := sinkcore.RemoveOrphans(fsys, "/out", c); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if all, seen := files(t, fsys, true), files(t, fsys, false); len(all) != len(seen) {
		t.Fatalf("%s: left %q", what, all)
	}
}
