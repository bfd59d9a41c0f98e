package live_test

import (
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/live"
)

func ids(t *testing.T, fsys afero.Fs) (list []int64) {
	t.Helper()
	files, err := live.List(fsys, out)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		list = append(list, f.ID)
	}
	return list
}

// write writes the records from..until-1 in one batch.
func write(t *testing.T, e *live.Engine[string], from, until int, now int64) {
	t.Helper()
	b := live.Batch[string]{Position: fmt.Append(nil, until)}
	for i := from; i < until; i++ {
		b.Records = append(b.Records, record(i))
	}
	if err := e.Write(b, now); err != nil {
		t.Fatal(err)
	}
}

func advance(t *testing.T, e *live.Engine[string], now int64) {
	t.Helper()
	if err := e.Advance(now); err != nil {
		t.Fatal(err)
	}
}

func stop(t *testing.T, e *live.Engine[string], how live.Stop, now int64) {
	t.Helper()
	if err := errors.Join(e.Stop(how, now), e.Close()); err != nil {
		t.Fatal(err)
	}
}

// Stopped anywhere and gone on with under any parallelism and policy, a job shows
// every record once.
func TestAJobGoesOnWhereItStopped(t *testing.T) {
	const n = 9
	for stop := 1; stop <= n; stop++ {
		for parallelism := 1; parallelism <= 3; parallelism++ {
			for i, policy := range policies {
				fsys := fsmem.New(fsmem.Options{})
				now := int64(1000)
				if err := run(options(fsys, policy, 1), &numbers{n: n}, &now, stop); err != nil {
					t.Fatal(err)
				}
				checkNothingEarly(t, "stopped", fsys)
				o := options(fsys, policies[1-i], 2)
				o.Parallelism = parallelism
				if err := run(o, &numbers{n: n}, &now, 0); err != nil {
					t.Fatal(err)
				}
				checkVisible(t, fmt.Sprintf("stop %d, parallelism %d, %v", stop, parallelism, policy), fsys, n)
			}
		}
	}
}

// A savepoint leaves open parts hidden, and the next process writes them on.
func TestASavepointLeavesOpenPartsForTheNextStart(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	o := options(fsys, sinkcore.Default{}, 1)
	o.Parallelism = 1
	e := open(t, o, 0)
	write(t, e, 0, 4, 0)
	stop(t, e, live.Savepoint, 1)
	if got := visible(t, fsys); len(got) > 0 {
		t.Errorf("visible after a savepoint: %v", got)
	}
	e = open(t, o, 2)
	if s := e.Stats(); s.Resumed != 2 || s.ResumedFrom != 1 || s.OldestInvisible != 0 {
		t.Errorf("%+v", s)
	}
	write(t, e, 4, 6, 2)
	stop(t, e, live.EndOfInput, 3)
	checkVisible(t, "end", fsys, 6)
	if s := e.Stats(); s.Opened != 0 || s.CommittedParts != 2 {
		t.Errorf("the parts were not written on: %+v", s)
	}
}

// Opened with a policy that closes what the earlier one left open, a job shows it even
// if nothing more comes.
func TestPartsLeftOpenAreClosedByAnotherPolicyWithoutAnotherRecord(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	e := open(t, options(fsys, sinkcore.Default{}, 1), 0)
	write(t, e, 0, 4, 0)
	stop(t, e, live.Savepoint, 1)
	e = open(t, options(fsys, sinkcore.OnCheckpoint{}, 2), 0)
	advance(t, e, 2)
	checkVisible(t, "after a checkpoint", fsys, 4)
	stop(t, e, live.Savepoint, 3)
}

func TestCheckpointsComeAtTheIntervalFromStartToStart(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	o := options(fsys, sinkcore.OnCheckpoint{}, 1)
	o.Interval, o.Sink.CheckInterval = 10*time.Millisecond, 7*time.Millisecond
	e := open(t, o, 100)
	for _, step := range []struct{ now, due, checkpoints int64 }{
		{100, 107, 0}, {106, 107, 0}, {107, 110, 0}, {109, 110, 0},
		{110, 114, 1}, // the checkpoint; the check is due next
		{135, 142, 2}, // late: none is made up for
		{144, 145, 2}, {145, 151, 3},
	} {
		write(t, e, int(step.now), int(step.now)+1, step.now)
		advance(t, e, step.now)
		if got := e.Stats().Checkpoints; got != step.checkpoints || e.Due() != step.due {
			t.Errorf("at %d: %d checkpoints, due %d; want %d, %d", step.now, got, e.Due(), step.checkpoints, step.due)
		}
	}
	if s := e.Stats(); s.CheckpointAt != 145 || s.CheckpointID != 3 {
		t.Errorf("%+v", s)
	}
	stop(t, e, live.EndOfInput, 200)
}

func TestTheNewestFilesAreRetainedAndTheOldestPrunedFirst(t *testing.T) {
	for retain := 1; retain <= 3; retain++ {
		fsys := fsmem.New(fsmem.Options{})
		o := options(fsys, sinkcore.OnCheckpoint{}, 1)
		o.Retain = retain
		var removed []string
		fsys.Hook(func(e fsmem.Event) {
			if e.Op == fsmem.OpRemove && e.Done {
				removed = append(removed, path.Base(e.Path))
			}
		})
		e := open(t, o, 0)
		for i := range 5 {
			write(t, e, i, i+1, int64(2*i))
			advance(t, e, int64(2*i+2))
		}
		var want []int64
		for id := int64(5); id > 5-int64(retain); id-- {
			want = append(want, id)
		}
		if got := ids(t, fsys); !slices.Equal(got, want) {
			t.Errorf("retain %d: got %v, want %v", retain, got, want)
		}
		if !slices.IsSorted(removed) || len(removed) != 5-retain {
			t.Errorf("removed %v", removed)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		// With a smaller number later, what is too much goes too.
		o.Retain = 1
		e = open(t, o, 20)
		write(t, e, 5, 6, 20)
		advance(t, e, 22)
		if got := ids(t, fsys); !slices.Equal(got, []int64{6}) {
			t.Errorf("retain 1 after %d: got %v", retain, got)
		}
		stop(t, e, live.EndOfInput, 23)
	}
}

func TestIDsAscendOverRestarts(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	last := int64(0)
	for i := range 4 {
		e := open(t, options(fsys, sinkcore.OnCheckpoint{}, byte(i)), 0)
		if s := e.Stats(); s.ResumedFrom != last || s.CheckpointID != last {
			t.Errorf("resumed from %d, at %d; want %d", s.ResumedFrom, s.CheckpointID, last)
		}
		write(t, e, i, i+1, 0)
		advance(t, e, 2)
		last++
		if got := ids(t, fsys); got[0] != last {
			t.Errorf("got %v, want %d", got, last)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The id of a damaged file that was gone back from is not used again.
func TestIDsAscendPastADamagedCheckpoint(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	e := open(t, options(fsys, sinkcore.Default{}, 1), 0)
	for i := range 2 {
		write(t, e, i, i+1, int64(2*i))
		advance(t, e, int64(2*i+2))
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, fsys, name(2, 0), nil)
	e = open(t, options(fsys, sinkcore.Default{}, 2), 5)
	if s := e.Stats(); s.ResumedFrom != 1 || s.CheckpointID != 2 || string(s.Position) != "1" {
		t.Errorf("%+v", s)
	}
	write(t, e, 1, 2, 5)
	advance(t, e, 7)
	if got := ids(t, fsys); !slices.Equal(got, []int64{3, 2}) {
		t.Errorf("got %v", got)
	}
	stop(t, e, live.EndOfInput, 8)
	checkVisible(t, "end", fsys, 2)
}

// A job with nothing to do leaves the disk alone, but first stores what lets a consumer
// take the files away.
func TestAnIdleJobTakesNoCheckpoints(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	e := open(t, options(fsys, sinkcore.OnCheckpoint{}, 1), 0)
	advance(t, e, 2)
	if n := e.Stats().Checkpoints; n != 0 {
		t.Errorf("%d checkpoints of nothing", n)
	}
	write(t, e, 0, 1, 2)
	for now := int64(4); now < 20; now += 2 {
		advance(t, e, now)
	}
	if n := e.Stats().Checkpoints; n != 2 {
		t.Errorf("%d checkpoints, want one that publishes and one that no longer names it", n)
	}
	// A part that the check timer closes is worth one.
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, options(fsys, sinkcore.Default{Rollover: 10 * time.Millisecond}, 2), 100)
	write(t, e, 1, 2, 100)
	for now := int64(101); now < 150; now++ {
		advance(t, e, now)
	}
	checkVisible(t, "closed by the check timer", fsys, 2)
	if n := e.Stats().Checkpoints; n != 3 {
		t.Errorf("%d checkpoints, want one with the record, one that publishes, one that no longer names it", n)
	}
	stop(t, e, live.EndOfInput, 150)
	if n := e.Stats().Checkpoints; n != 3 {
		t.Errorf("stopping added %d", n-3)
	}
}

// A stream that has gone quiet is kept its promise too: the checkpoint that closes the part
// is taken though nothing has come. What the interval does not allow is refused at once.
func TestADeadlineHoldsOnAQuietStream(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	promise := sinkcore.Deadline{Within: 10 * time.Millisecond, Checkpoint: 2 * time.Millisecond}
	o := options(fsys, promise, 1)
	o.Interval = 2 * time.Millisecond
	e := open(t, o, 0)
	write(t, e, 0, 1, 1)
	for now := int64(2); now <= 11; now++ {
		advance(t, e, now)
	}
	checkVisible(t, "within 10 ms", fsys, 1)
	if n := e.Stats().Checkpoints; n != 2 {
		t.Errorf("%d checkpoints, want one with the record and one that publishes", n)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	o.Interval = 3 * time.Millisecond
	if _, err := live.Open(o, 20); !errors.Is(err, sinkcore.ErrConfig) {
		t.Errorf("a checkpoint every 3 ms: %v, want ErrConfig", err)
	}
}

func TestAfterACleanStopVisibleFilesMayBeTakenAway(t *testing.T) {
	for _, how := range []live.Stop{live.EndOfInput, live.Savepoint} {
		for _, policy := range policies {
			fsys := fsmem.New(fsmem.Options{})
			e := open(t, options(fsys, policy, 1), 0)
			write(t, e, 0, 4, 0)
			advance(t, e, 2)
			write(t, e, 4, 8, 5)
			advance(t, e, 6)
			write(t, e, 8, 12, 6)
			stop(t, e, how, 7)
			for name := range fsys.Visible() {
				if err := fsys.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
			e = open(t, options(fsys, policy, 2), 10)
			write(t, e, 12, 13, 10)
			stop(t, e, live.EndOfInput, 11)
		}
	}
}

// After a crash the files of the newest checkpoint must be there: to go on without them
// would be to lose their records unnoticed.
func TestAFileTakenAwayTooEarlyIsNamed(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	e := open(t, options(fsys, sinkcore.OnCheckpoint{}, 1), 0)
	write(t, e, 0, 1, 0)
	advance(t, e, 2)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	var gone string
	for name := range fsys.Visible() {
		gone = name
	}
	if err := fsys.Remove(gone); err != nil {
		t.Fatal(err)
	}
	_, err := live.Open(options(fsys, sinkcore.OnCheckpoint{}, 2), 3)
	if !errors.Is(err, sinkcore.ErrLost) || !strings.Contains(err.Error(), gone) {
		t.Errorf("%v", err)
	}
}

// In-progress files of dead processes go, those of any retained checkpoint stay.
func TestAStartSweepsWhatNoRetainedCheckpointNames(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	e := open(t, options(fsys, sinkcore.Default{}, 1), 0)
	write(t, e, 0, 2, 0)
	if err := e.Close(); err != nil { // before any checkpoint
		t.Fatal(err)
	}
	o := options(fsys, sinkcore.Default{}, 2)
	o.Parallelism = 3
	e = open(t, o, 0)
	if s := e.Stats(); s.Swept != 2 {
		t.Errorf("swept %d of 2 without a checkpoint", s.Swept)
	}
	write(t, e, 0, 2, 0)
	advance(t, e, 2)
	write(t, e, 2, 6, 2) // in turn to subtasks that have no part of the bucket yet: four new ones
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	// An older retained checkpoint names a file that the newest one does not.
	s, _, err := live.Newest(fsys, out)
	if err != nil {
		t.Fatal(err)
	}
	owned := ".part-x-0.inprogress.00000000-0000-4000-8000-000000000000"
	if err := afero.WriteFile(fsys, path.Join(out, owned), []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	s.Checkpoint.ID = 0
	s.Checkpoint.Writers = []sinkcore.WriterState{{Buckets: []sinkcore.BucketState{{InProgress: &sinkcore.InProgress{Name: "part-x-0", Temp: owned, Size: 3}}}}}
	s.Checkpoint.Committers = s.Checkpoint.Committers[:1]
	put(t, fsys, name(0, 0), encode(t, s))
	e = open(t, options(fsys, sinkcore.Default{}, 3), 5)
	if got := e.Stats().Swept; got != 4 {
		t.Errorf("swept %d of 4", got)
	}
	if ok, _ := afero.Exists(fsys, path.Join(out, owned)); !ok {
		t.Error("swept a file of a retained checkpoint")
	}
	write(t, e, 2, 6, 5)
	stop(t, e, live.EndOfInput, 6)
	checkVisible(t, "end", fsys, 6)
}

func TestRefusedRecordsStopTheJobOrAreCounted(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	o := options(fsys, sinkcore.OnCheckpoint{}, 1)
	bad := live.Batch[string]{Records: []string{"b0:0", ".hidden:1", "b1:1"}, Position: []byte("2")}
	e := open(t, o, 0)
	if err := e.Write(bad, 0); !errors.Is(err, sinkcore.ErrBucketID) {
		t.Errorf("%v", err)
	}
	if err := e.Advance(2); !errors.Is(err, sinkcore.ErrFailed) || !errors.Is(err, sinkcore.ErrBucketID) {
		t.Errorf("goes on: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	var refused []string
	o.Refused = func(r string, err error) error {
		refused = append(refused, r)
		if !errors.Is(err, sinkcore.ErrBucketID) {
			t.Errorf("%v", err)
		}
		return nil
	}
	e = open(t, o, 0)
	if err := e.Write(bad, 0); err != nil {
		t.Fatal(err)
	}
	stop(t, e, live.EndOfInput, 1)
	checkVisible(t, "end", fsys, 2)
	if s := e.Stats(); s.Refused != 1 || s.Records != 2 || !slices.Equal(refused, []string{".hidden:1"}) {
		t.Errorf("%+v, %v", s, refused)
	}
}

func TestBadOptionsTouchNothing(t *testing.T) {
	for what, change := range map[string]func(*live.Options[string]){
		"Interval":    func(o *live.Options[string]) { o.Interval = -1 },
		"whole":       func(o *live.Options[string]) { o.Interval = 1500 * time.Microsecond },
		"Retain":      func(o *live.Options[string]) { o.Retain = -1 },
		"parallelism": func(o *live.Options[string]) { o.Parallelism = -1 },
		"Encoder":     func(o *live.Options[string]) { o.Sink.Encoder = nil },
	} {
		fsys := fsmem.New(fsmem.Options{})
		o := options(fsys, nil, 1)
		change(&o)
		_, err := live.Open(o, 0)
		if !errors.Is(err, sinkcore.ErrConfig) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
		if ok, _ := afero.Exists(fsys, "/data"); ok {
			t.Errorf("%s: the directory was made", what)
		}
	}
}

func TestTheZeroOptionsWork(t *testing.T) {
	o := live.Options[string]{Sink: sinkcore.Config[string]{Encoder: sinkcore.Line[string]{}, Dir: path.Join(t.TempDir(), "out")}}
	e := open(t, o, 0)
	if due := e.Due(); due != live.DefaultInterval.Milliseconds() {
		t.Errorf("due %d", due)
	}
	write(t, e, 0, 2, 0)
	stop(t, e, live.EndOfInput, 1)
	if s := e.Stats(); s.CommittedParts != 1 || s.CommittedRecords != 2 {
		t.Errorf("%+v", s)
	}
}

// Calls that come too late say why, and Stats can be read all the same.
func TestAfterTheEndNothingIsTaken(t *testing.T) {
	calls := func(e *live.Engine[string]) map[string]error {
		return map[string]error{"write": e.Write(live.Batch[string]{}, 9), "advance": e.Advance(9), "stop": e.Stop(live.EndOfInput, 9)}
	}
	e := open(t, options(fsmem.New(fsmem.Options{}), nil, 1), 0)
	if err := e.Stop(live.Savepoint, 1); err != nil {
		t.Fatal(err)
	}
	for call, err := range calls(e) {
		if !errors.Is(err, sinkcore.ErrEndOfInput) {
			t.Errorf("%s after the end: %v", call, err)
		}
	}
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	for call, err := range calls(e) {
		if !errors.Is(err, sinkcore.ErrClosed) {
			t.Errorf("%s after Close: %v", call, err)
		}
	}
	if s := e.Stats(); s.Checkpoints != 0 || s.Position != nil {
		t.Errorf("%+v", s)
	}
}

// One batch is written to the subtasks in turn, and Stats may be read meanwhile.
func TestStatsMayBeReadMeanwhile(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	e := open(t, options(fsys, sinkcore.OnCheckpoint{}, 1), 0)
	var wait sync.WaitGroup
	wait.Go(func() {
		for range 100 {
			if s := e.Stats(); s.CommittedRecords > s.Records || s.Records > 50 {
				t.Errorf("%+v", s)
			}
		}
	})
	for i := range 50 {
		write(t, e, i, i+1, int64(i))
		advance(t, e, int64(i))
	}
	wait.Wait()
	s := e.Stats()
	if s.Records != 50 || string(s.Position) != "50" {
		t.Errorf("%+v", s)
	}
	stop(t, e, live.EndOfInput, 60)
	checkVisible(t, "end", fsys, 50)
}

// The same calls leave the same files, byte for byte.
func TestARunIsDeterministic(t *testing.T) {
	var first string
	for range 3 {
		fsys := fsmem.New(fsmem.Options{})
		now := int64(1000)
		for _, stop := range []int{5, 0} {
			if err := run(options(fsys, policies[1], 1+byte(stop)), &numbers{n: 20}, &now, stop); err != nil {
				t.Fatal(err)
			}
		}
		got := contents(t, fsys)
		if first == "" {
			first = got
		}
		if !reflect.DeepEqual(got, first) {
			t.Fatalf("got\n%s\nthen\n%s", first, got)
		}
	}
}
