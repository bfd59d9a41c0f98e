package sinkcore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"sinklab/fsmem"
	"sinklab/sinkcore"
)

// Each operation of a run fails once, without its effect and after it. The job must
// notice, refuse everything from then on, and lose and double nothing once the newest
// checkpoint is restored.
func TestAnyFailingOperationStopsTheJobAndARestoreLosesNothing(t *testing.T) {
	for _, parallel := range [][]int{{1}, {2, 1, 3}} {
		for _, after := range []bool{false, true} {
			for k := 0; ; k++ {
				d, e := newDisk(), newEngine(parallel...)
				d.fail("", k, after)
				what := fmt.Sprintf("parallelism %v, operation %d, after=%v", parallel, k, after)
				job, err := e.run(d)
				if !d.failed() {
					if k < 100 || err != nil {
						t.Fatalf("%s: only %d operations, %v", what, k, err)
					}
					break
				}
				what += ", " + d.log[k].String()
				if !errors.Is(err, errDisk) {
					t.Fatalf("%s: the job did not notice: %v", what, err)
				}
				var named *sinkcore.Error
				if !errors.As(err, &named) || named.File == "" || named.Hint == "" {
					t.Errorf("%s: names no file or does not say what to do: %v", what, err)
				}
				if job != nil {
					operations := len(d.log)
					for name, err := range allRefused(t, job, sinkcore.ErrFailed) {
						if !errors.Is(err, errDisk) {
							t.Errorf("%s: %s does not show the first error: %v", what, name, err)
						}
					}
					if len(d.log) != operations {
						t.Errorf("%s: a refused call did %v", what, d.log[operations:])
					}
					if err := job.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
						t.Errorf("%s: close: %v", what, err)
					}
				}
				if job, err = e.run(d); err != nil {
					t.Fatalf("%s: after the restore: %v", what, err)
				}
				if err := job.Close(); err != nil {
					t.Errorf("%s: close: %v", what, err)
				}
				e.checkOutput(t, what, d)
			}
		}
	}
}

// The power fails at each operation of a run, before and after its effect.
func TestAPowerCutAtAnyOperationLosesNothing(t *testing.T) {
	survivals := []fsmem.Survival{
		{Keep: fsmem.KeepNothing}, {Keep: fsmem.KeepEverything}, {Keep: fsmem.KeepNames}, {Keep: fsmem.KeepData},
		{Keep: fsmem.KeepDrawn, N: 1}, {Keep: fsmem.KeepDrawn, N: 2}, {Keep: fsmem.KeepDrawn, N: 3},
		// Without a journal a rename can leave neither name, and no sink survives that;
		// but nothing unsynced is a state it has been in.
		{Model: fsmem.Unordered, Keep: fsmem.KeepNothing},
	}
	for _, after := range []bool{false, true} {
		for k := 0; ; k++ {
			d, e := newDisk(), newEngine(2, 1, 3)
			d.fail("", k, after)
			d.dead = true
			if _, err := e.run(d); err == nil {
				break
			}
			for _, survival := range survivals {
				what := fmt.Sprintf("power cut at %d, %v, after=%v, %v survives", k, d.log[k], after, survival)
				found, err := d.Fs.(*fsmem.FS).Crash(survival)
				if err != nil {
					t.Fatal(err)
				}
				next := *e
				next.random = random(8)
				job, err := next.run(found)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if err := job.Close(); err != nil {
					t.Errorf("%s: close: %v", what, err)
				}
				next.checkOutput(t, what, found)
			}
		}
	}
}

// cut returns what every legal outcome of a power cut leaves.
func cut(t *testing.T, d *disk, do func(what string, found *disk)) {
	t.Helper()
	for _, model := range []fsmem.Model{fsmem.Ordered, fsmem.Unordered} {
		outcomes, err := d.Fs.(*fsmem.FS).Outcomes(model)
		if err != nil {
			t.Fatal(err)
		}
		for survival, found := range outcomes.All() {
			do(survival.String(), &disk{Fs: found})
		}
	}
}

// deep is a chain of new directories, each of which must be durable.
var deep = []string{"y=2026/m=01/d=02:1", "y=2026/m=01/d=03:2", "y=2027/m=01/d=02:3"}

func TestWhatASnapshotNamesSurvivesEveryPowerCut(t *testing.T) {
	for _, policy := range []sinkcore.RollingPolicy{sinkcore.Default{}, sinkcore.OnCheckpoint{}, sinkcore.Default{Size: 1}} {
		d := newDisk()
		job := newJob(t, d, config(policy), 1)
		write(t, job, 0, deep...)
		c := checkpoint(t, job, 1)
		write(t, job, 0, "y=2026/m=01/d=02:lost", "new/bucket:lost") // after the barrier; nothing of it is synced
		cut(t, d, func(what string, found *disk) {
			job := restore(t, found, config(policy), 1, c)
			if err := job.EndInput(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			checkpoint(t, job, 2)
			complete(t, job, 2)
			wantVisible(t, found, deep...)
		})
	}
}

func TestWhatCompleteReturnsSurvivesEveryPowerCut(t *testing.T) {
	d := newDisk()
	job := newJob(t, d, config(sinkcore.OnCheckpoint{}), 1)
	write(t, job, 0, deep...)
	checkpoint(t, job, 1)
	if published := complete(t, job, 1); len(published) != len(deep) {
		t.Fatalf("published %v", published)
	}
	cut(t, d, func(what string, found *disk) { wantVisible(t, found, deep...) })
}

// A consumer takes a whole directory away; the sink makes it anew.
func TestADirectoryThatWasRemovedMeanwhileIsMadeDurableAnew(t *testing.T) {
	d := newDisk()
	job := newJob(t, d, config(sinkcore.OnCheckpoint{}), 1)
	write(t, job, 0, "a/b:1")
	checkpoint(t, job, 1)
	complete(t, job, 1)
	if err := d.Fs.RemoveAll("/out/a"); err != nil {
		t.Fatal(err)
	}
	root, err := d.Fs.Open("/out")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(root.Sync(), root.Close()); err != nil {
		t.Fatal(err)
	}
	write(t, job, 0, "a/b:2")
	c := checkpoint(t, job, 2)
	cut(t, d, func(what string, found *disk) {
		restore(t, found, config(sinkcore.OnCheckpoint{}), 1, c)
		wantVisible(t, found, "a/b:2")
	})
}
