package live_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/live"
)

// In these tests time is that of a bubble: it moves when everything waits.

// pipe is a source that gives what a test sends, and cannot be set back.
type pipe chan live.Batch[string]

func (p pipe) Seek([]byte) error { return nil }

func (p pipe) Read(ctx context.Context) (live.Batch[string], error) {
	select {
	case b, more := <-p:
		if !more {
			return b, io.EOF
		}
		return b, nil
	case <-ctx.Done():
		return live.Batch[string]{}, ctx.Err()
	}
}

// A source that pauses delays no timer: what is written becomes visible at the next
// checkpoint after the check that closes it.
func TestTimersRunWhileTheSourceWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := fsmem.New(fsmem.Options{})
		o := options(fsys, sinkcore.Default{Rollover: 50 * time.Millisecond}, 1)
		o.Interval, o.Sink.CheckInterval, o.Parallelism = 100*time.Millisecond, 20*time.Millisecond, 1
		clock := live.SystemClock()
		e := open(t, o, clock.Now())
		source, done := make(pipe), make(chan error)
		go func() { done <- live.Run(t.Context(), clock, e, source, live.EndOfInput) }()
		time.Sleep(130 * time.Millisecond)
		source <- live.Batch[string]{Records: []string{record(0)}, Position: []byte("1")}
		begun := time.Now()
		bound, _ := sinkcore.WorstLatency(o.Sink.Policy, sinkcore.Schedule{Check: o.Sink.CheckInterval, Checkpoint: o.Interval})
		for len(visible(t, fsys)) == 0 {
			if time.Since(begun) > bound+5*time.Millisecond { // a timer may be a millisecond late
				t.Fatalf("not visible after %v, the bound is %v", time.Since(begun), bound)
			}
			time.Sleep(time.Millisecond)
		}
		close(source)
		if err := errors.Join(<-done, e.Close()); err != nil {
			t.Fatal(err)
		}
		checkVisible(t, "end", fsys, 1)
	})
}

// A source that never pauses delays no timer either.
func TestTimersRunWhileTheSourceNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := fsmem.New(fsmem.Options{})
		e := open(t, options(fsys, sinkcore.OnCheckpoint{}, 1), 0)
		// The clock moves only when it is read, and then there always is a batch.
		clock := &counting{}
		if err := errors.Join(live.Run(t.Context(), clock, e, &numbers{n: 100}, live.EndOfInput), e.Close()); err != nil {
			t.Fatal(err)
		}
		if n := e.Stats().Checkpoints; n < 10 {
			t.Errorf("%d checkpoints", n)
		}
		checkVisible(t, "end", fsys, 100)
	})
}

// counting is a clock that a millisecond passes on with each look at it, and all that
// the source can do meanwhile.
type counting struct{ now int64 }

func (c *counting) Now() int64 {
	synctest.Wait()
	c.now++
	return c.now
}

func (c *counting) Timer(int64) (<-chan time.Time, func()) { return nil, func() {} }

// When the context is done the job stops as asked: what was given is stored, and with
// the end of the input visible.
func TestTheContextStopsTheJobAsAsked(t *testing.T) {
	for _, how := range []live.Stop{live.EndOfInput, live.Savepoint} {
		t.Run(how.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fsys := fsmem.New(fsmem.Options{})
				clock := live.SystemClock()
				o := options(fsys, sinkcore.Default{}, 1)
				o.Interval = time.Hour
				e := open(t, o, clock.Now())
				ctx, cancel := context.WithCancel(t.Context())
				source, done := make(pipe), make(chan error)
				go func() { done <- live.Run(ctx, clock, e, source, how) }()
				source <- live.Batch[string]{Records: []string{record(0), record(1)}, Position: []byte("2")}
				synctest.Wait()
				cancel()
				if err := errors.Join(<-done, e.Close()); err != nil {
					t.Fatal(err)
				}
				want := map[live.Stop]int{live.EndOfInput: 2, live.Savepoint: 0}[how]
				checkVisible(t, "stopped", fsys, want)
				e = open(t, options(fsys, sinkcore.Default{}, 2), clock.Now())
				if string(e.Position()) != "2" {
					t.Errorf("position %q", e.Position())
				}
				stop(t, e, live.EndOfInput, clock.Now())
				checkVisible(t, "end", fsys, 2)
			})
		})
	}
}

func TestTheEndOfTheSourceMakesEverythingVisible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := fsmem.New(fsmem.Options{})
		clock := live.SystemClock()
		e := open(t, options(fsys, sinkcore.Default{}, 1), clock.Now())
		if err := errors.Join(live.Run(t.Context(), clock, e, &numbers{n: 5, batch: 2}, live.Savepoint), e.Close()); err != nil {
			t.Fatal(err)
		}
		checkVisible(t, "end", fsys, 5)
	})
}

// What came before a source failed is good, and stored.
func TestASourceThatFailsEndsInASavepoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := fsmem.New(fsmem.Options{})
		bad := errors.New("bad")
		e := open(t, options(fsys, sinkcore.Default{}, 1), 0)
		err := live.Run(t.Context(), live.SystemClock(), e, &numbers{n: 3, batch: 2, err: bad}, live.EndOfInput)
		if !errors.Is(err, bad) {
			t.Errorf("%v", err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		checkVisible(t, "failed", fsys, 0)
		if s, _, err := live.Newest(fsys, out); err != nil || string(s.Position) != "3" {
			t.Errorf("stored position %q, %v", s.Position, err)
		}
		now := int64(10)
		if err := run(options(fsys, sinkcore.Default{}, 2), &numbers{n: 5}, &now, 0); err != nil {
			t.Fatal(err)
		}
		checkVisible(t, "end", fsys, 5)
	})
}

// A job that fails ends Run, and the reader goes with it.
func TestAJobThatFailsEndsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := fsmem.New(fsmem.Options{})
		clock := live.SystemClock()
		e := open(t, options(fsys, sinkcore.OnCheckpoint{}, 1), clock.Now())
		if _, err := fsys.Inject(fsmem.Rule{Ops: fsmem.OpsOf(fsmem.OpRename)}); err != nil {
			t.Fatal(err)
		}
		source := make(pipe, 1)
		source <- live.Batch[string]{Records: []string{record(0)}, Position: []byte("1")}
		if err := live.Run(t.Context(), clock, e, source, live.EndOfInput); !errors.Is(err, errInjected) {
			t.Errorf("%v", err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestASourceThatCannotBeSetBackEndsRun(t *testing.T) {
	e := open(t, options(fsmem.New(fsmem.Options{}), nil, 1), 0)
	defer e.Close()
	err := live.Run(t.Context(), live.SystemClock(), e, unset{}, live.EndOfInput)
	if !errors.Is(err, errUnset) {
		t.Errorf("%v", err)
	}
}

var errUnset = errors.New("cannot")

type unset struct{ numbers }

func (unset) Seek([]byte) error { return errUnset }

func (unset) Read(context.Context) (live.Batch[string], error) { panic("read") }

func TestTheSystemClockKeepsItsTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := live.SystemClock()
		begun := clock.Now()
		if want := time.Now().UnixMilli(); begun != want {
			t.Errorf("it is %d, the clock says %d", want, begun)
		}
		for _, wait := range []int64{-5, 0, 1, 1000} {
			due := clock.Now() + wait
			fired, stop := clock.Timer(due)
			<-fired
			stop()
			if now := clock.Now(); now < due || now > max(due, now)+1 || wait <= 0 && now != due-wait {
				t.Errorf("wait %d: fired at %d, due %d", wait, now, due)
			}
		}
		fired, stop := clock.Timer(clock.Now() + 10)
		stop()
		time.Sleep(time.Second)
		select {
		case <-fired:
			t.Error("fired although stopped")
		default:
		}
		_, stop = clock.Timer(1<<63 - 1) // sinkcore.Never
		stop()
	})
}
