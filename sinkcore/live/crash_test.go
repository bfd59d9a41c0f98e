package live_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/live"
)

// The power fails at every operation, before and after its effect. What is found then
// shows nothing early, and a restart makes every record visible once.
func TestAPowerCutAtAnyOperationLosesAndDoublesNothing(t *testing.T) {
	const n = 6
	survivals := []fsmem.Survival{
		{Keep: fsmem.KeepNothing}, {Keep: fsmem.KeepEverything}, {Keep: fsmem.KeepNames}, {Keep: fsmem.KeepData},
		{Keep: fsmem.KeepDrawn, N: 1}, {Keep: fsmem.KeepDrawn, N: 2}, {Model: fsmem.Unordered, Keep: fsmem.KeepNothing},
	}
	for _, policy := range policies {
		count := 0
		disk := fsmem.New(fsmem.Options{})
		disk.Hook(func(e fsmem.Event) {
			for _, survival := range survivals {
				found, err := disk.Crash(survival)
				if err != nil {
					t.Fatal(err)
				}
				recoverFrom(t, fmt.Sprintf("%v, %v survives, done=%v: %v", policy, survival, e.Done, e), found, policy, n)
				count++
			}
		})
		now := int64(1000)
		if err := run(options(disk, policy, 1), &numbers{n: n}, &now, 0); err != nil {
			t.Fatal(err)
		}
		disk.Hook(nil)
		checkVisible(t, "without a crash", disk, n)
		t.Logf("%v: %d recoveries", policy, count)
	}
}

// Around the checkpoint file and around what it makes visible, every legal state of the
// disk is tried, not only some.
func TestEveryStateThatAPowerCutLeavesAroundACheckpointIsRecovered(t *testing.T) {
	const n = 3
	for _, policy := range policies {
		count := 0
		disk := fsmem.New(fsmem.Options{})
		disk.Hook(func(e fsmem.Event) {
			if e.Op != fsmem.OpRename && e.Op != fsmem.OpSync && !strings.Contains(e.Path, live.CheckpointDir) {
				return
			}
			outcomes, err := disk.Outcomes(fsmem.Ordered)
			if err != nil {
				t.Fatal(err)
			}
			for survival, found := range outcomes.All() {
				recoverFrom(t, fmt.Sprintf("%v, %v survives, done=%v: %v", policy, survival, e.Done, e), found, policy, n)
				count++
			}
		})
		now := int64(1000)
		if err := run(options(disk, policy, 1), &numbers{n: n}, &now, 0); err != nil {
			t.Fatal(err)
		}
		disk.Hook(nil)
		t.Logf("%v: %d states", policy, count)
	}
}

func recoverFrom(t *testing.T, what string, found *fsmem.FS, policy sinkcore.RollingPolicy, n int) {
	t.Helper()
	checkNothingEarly(t, what, found)
	now := int64(2000)
	if err := run(options(found, policy, 2), &numbers{n: n}, &now, 0); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	checkVisible(t, what, found, n)
	for _, open := range found.OpenHandles() {
		if !strings.Contains(what, "close "+open.Path+" = EIO") { // it was told not to close
			t.Fatalf("%s: left open: %v", what, open)
		}
	}
}

// errInjected is what an operation fails with.
const errInjected = syscall.EIO

// failAt makes operation k fail, counted from 1, and runs the job, which must notice.
// It tells whether there was such an operation.
func failAt(t *testing.T, disk *fsmem.FS, k uint64, after bool, policy sinkcore.RollingPolicy, n int) (hit bool, what string) {
	t.Helper()
	fault, err := disk.Inject(fsmem.Rule{Nth: k, Err: errInjected, After: after})
	if err != nil {
		t.Fatal(err)
	}
	disk.KeepJournal(1 << 16)
	now := int64(1000)
	err = run(options(disk, policy, 1), &numbers{n: n}, &now, 0)
	if fault.Fired() == 0 {
		return false, ""
	}
	journal := disk.Journal()
	disk.ClearFaults()
	disk.KeepJournal(0)
	for _, e := range journal {
		if e.Fault != nil {
			what = fmt.Sprintf("%v, operation %d, after=%v: %v", policy, k, after, e)
			if !errors.Is(e.Err, errInjected) {
				return true, what // it failed by itself, as a stat may
			}
			if e.Op == fsmem.OpClose && !strings.Contains(e.Path, "inprogress") && !strings.HasSuffix(e.Path, "checkpoint.new") {
				err = errInjected // what was only read has nothing to lose, and need not be noticed
			}
		}
	}
	if err == errInjected {
		return true, what
	}
	if !errors.Is(err, errInjected) {
		t.Fatalf("%s: not noticed: %v", what, err)
	}
	var own *live.Error
	var sinks *sinkcore.Error
	if !(errors.As(err, &own) && own.File != "") && !(errors.As(err, &sinks) && sinks.File != "") {
		t.Errorf("%s: names no file: %v", what, err)
	}
	return true, what
}

// Every operation fails once. The job notices and names the file, and when it is opened
// again it loses and doubles nothing.
func TestAnyFailingOperationIsNoticedAndARestartGoesOn(t *testing.T) {
	const n = 6
	for _, policy := range policies {
		for _, after := range []bool{false, true} {
			for k := uint64(1); ; k++ {
				disk := fsmem.New(fsmem.Options{})
				hit, what := failAt(t, disk, k, after, policy, n)
				if !hit {
					if k < 100 {
						t.Fatalf("only %d operations", k)
					}
					break
				}
				recoverFrom(t, what, disk, policy, n)
			}
		}
	}
}

// A process dies at an operation, so that what it did is there but not durable; the next
// one starts from that, and then the power fails. What the second one has made visible
// must not come back hidden or be sent again.
func TestADeadProcessAndThenAPowerCutLoseAndDoubleNothing(t *testing.T) {
	const n = 4
	count := 0
	for _, policy := range policies {
		for k := uint64(1); ; k++ {
			disk := fsmem.New(fsmem.Options{})
			hit, what := failAt(t, disk, k, true, policy, n)
			if !hit {
				break
			}
			if !strings.Contains(what, live.CheckpointDir) && !strings.Contains(what, "rename") {
				continue
			}
			disk.Hook(func(e fsmem.Event) {
				if e.Op == fsmem.OpRename || e.Op == fsmem.OpSync {
					for _, survival := range []fsmem.Survival{{Keep: fsmem.KeepNothing}, {Model: fsmem.Unordered, Keep: fsmem.KeepNothing}} {
						found, err := disk.Crash(survival)
						if err != nil {
							t.Fatal(err)
						}
						recoverFrom(t, fmt.Sprintf("%s; then %v survives, done=%v: %v", what, survival, e.Done, e), found, policy, n)
						count++
					}
				}
			})
			now := int64(1500)
			if err := run(options(disk, policy, 3), &numbers{n: n}, &now, 0); err != nil {
				t.Fatal(err)
			}
			disk.Hook(nil)
		}
	}
	t.Logf("%d recoveries", count)
}

// The fsync of a checkpoint's directory fails and the kernel forgets what it had not
// written. A restart must not take the next fsync for a proof.
func TestAFailedFsyncOfTheCheckpointDirectoryIsNotTrustedLater(t *testing.T) {
	const n = 6
	for nth := uint64(1); ; nth++ {
		disk := fsmem.New(fsmem.Options{})
		fault, err := disk.Inject(fsmem.Rule{Ops: fsmem.OpsOf(fsmem.OpSync), Path: live.CheckpointDir, Nth: nth, Clean: true})
		if err != nil {
			t.Fatal(err)
		}
		now := int64(1000)
		err = run(options(disk, sinkcore.OnCheckpoint{}, 1), &numbers{n: n}, &now, 0)
		if fault.Fired() == 0 {
			break
		}
		if !errors.Is(err, syscall.EIO) {
			t.Fatalf("not noticed: %v", err)
		}
		disk.ClearFaults()
		what := fmt.Sprintf("fsync %d failed", nth)
		// The restart publishes at once, and then the power fails.
		e := open(t, options(disk, sinkcore.OnCheckpoint{}, 2), now)
		found, err := disk.Crash(fsmem.Survival{})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		recoverFrom(t, what, found, sinkcore.OnCheckpoint{}, n)
	}
}

// When Advance returns the checkpoint is stored for good, even one of a job that never
// made a part, whose directories nobody but the store has made durable.
func TestWhatIsStoredSurvivesEveryPowerCut(t *testing.T) {
	disk := fsmem.New(fsmem.Options{})
	o := options(disk, sinkcore.OnCheckpoint{}, 1)
	o.Refused = func(string, error) error { return nil }
	e := open(t, o, 0)
	if err := e.Write(live.Batch[string]{Records: []string{".dropped:0"}, Position: []byte("1")}, 1); err != nil {
		t.Fatal(err)
	}
	advance(t, e, 2)
	for _, model := range []fsmem.Model{fsmem.Ordered, fsmem.Unordered} {
		outcomes, err := disk.Outcomes(model)
		if err != nil {
			t.Fatal(err)
		}
		for survival, found := range outcomes.All() {
			if s, _, err := live.Newest(found, out); err != nil || string(s.Position) != "1" {
				t.Errorf("%v survives: position %q, %v", survival, s.Position, err)
			}
		}
	}
	stop(t, e, live.Savepoint, 3)
}

// Above the output directory there may be directories that the job may not read.
func TestADirectoryAboveThatCannotBeReadIsNoError(t *testing.T) {
	for place, refused := range map[string]bool{"/": false, "/data": false, out: true} {
		disk := fsmem.New(fsmem.Options{})
		if err := disk.MkdirAll(out, 0o777); err != nil {
			t.Fatal(err)
		}
		if _, err := disk.Inject(fsmem.Rule{Ops: fsmem.OpsOf(fsmem.OpOpen), Path: place, Err: syscall.EACCES}); err != nil {
			t.Fatal(err)
		}
		e, err := live.Open(options(disk, nil, 1), 0)
		if refused != errors.Is(err, syscall.EACCES) || !refused && err != nil {
			t.Errorf("%s: %v", place, err)
		}
		if err == nil {
			stop(t, e, live.Savepoint, 1)
		}
	}
}
