package sinkcore_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"testing"
	"time"

	"sinklab/sinkcore"
)

func TestAnErrorGivesAllThatItKnowsInOneLine(t *testing.T) {
	cause := errors.New("cause")
	for _, c := range []struct {
		err  sinkcore.Error
		want string
	}{
		{sinkcore.Error{Op: "write", Subtask: -1, Checkpoint: sinkcore.NoCheckpoint, Err: cause}, "sinkcore: write: cause"},
		{sinkcore.Error{Op: "write", Subtask: 0, Checkpoint: sinkcore.NoCheckpoint, Err: cause}, "sinkcore: write: subtask 0: cause"},
		{
			sinkcore.Error{Op: "write", Subtask: -1, HasBucket: true, Checkpoint: sinkcore.NoCheckpoint, Err: cause},
			`sinkcore: write: bucket "": cause`,
		},
		{
			sinkcore.Error{Op: "commit", Subtask: 2, Bucket: "a b", HasBucket: true, File: "/x", Checkpoint: 0, Err: cause, Hint: "do this"},
			`sinkcore: commit: subtask 2: bucket "a b": file "/x": checkpoint 0: cause (do this)`,
		},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestAnErrorNamesTheSubtaskTheFileAndTheCheckpoint(t *testing.T) {
	d := newDisk()
	j, err := sinkcore.NewJob(d, random(1), config(sinkcore.OnCheckpoint{}), 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Write(1, "a:1", 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	c, err := j.Checkpoint(5, 0)
	if err != nil {
		t.Fatal(err)
	}
	hidden := "/out/a/" + c.Committers[1].Batches[0].Committables[0].Temp
	if err := d.Fs.Remove(hidden); err != nil {
		t.Fatal(err)
	}
	_, err = j.Complete(5)
	var e *sinkcore.Error
	if !errors.As(err, &e) || !errors.Is(err, sinkcore.ErrLost) {
		t.Fatalf("%v, want ErrLost", err)
	}
	if e.Op != "commit" || e.Subtask != 1 || e.Bucket != "a" || e.Checkpoint != 5 {
		t.Errorf("%q of subtask %d, bucket %q, checkpoint %d", e.Op, e.Subtask, e.Bucket, e.Checkpoint)
	}
}

func TestADamagedStateIsDescribedWhereItIsDamaged(t *testing.T) {
	good := marshal(t, exampleCommitter)
	sealed := func(change func(b []byte) []byte) []byte {
		b := change(append([]byte(nil), good[:len(good)-4]...))
		return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	}
	for _, c := range []struct {
		name    string
		data    []byte
		offset  int
		version int
		problem string
	}{
		{"nothing", nil, 0, 0, "not a state of this package, or cut off"},
		{"a newer version", sealed(func(b []byte) []byte { b[4] = 9; return b }), 4, 9, "version 9, known is 1"},
		{"length", sealed(func(b []byte) []byte { b[13]++; return b }), 6, 1, "the header says 73 bytes of body, there are 72"},
		{"checksum", append(append([]byte(nil), good[:len(good)-1]...), good[len(good)-1]^1), len(good) - 4, 1, "wrong checksum"},
		{"kind", marshal(t, exampleWriter), 5, 1, "it is a WriterState, wanted is a CommitterState"},
		{"no kind", sealed(func(b []byte) []byte { b[5] = 77; return b }), 5, 1, "it is of kind 77, wanted is a CommitterState"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s sinkcore.CommitterState
			err := s.UnmarshalBinary(c.data)
			var e *sinkcore.StateError
			if !errors.As(err, &e) {
				t.Fatalf("%v, want a StateError", err)
			}
			if e.Offset != c.offset || e.Version != c.version || e.Problem != c.problem {
				t.Errorf("at %d, version %d: %s; want at %d, version %d: %s", e.Offset, e.Version, e.Problem, c.offset, c.version, c.problem)
			}
			var outer *sinkcore.Error
			newer := errors.Is(err, sinkcore.ErrStateVersion)
			if !errors.As(err, &outer) || newer != (outer.Hint == "a newer version of sinkcore wrote it; use that one") {
				t.Errorf("the hint does not fit: %v", err)
			}
		})
	}
}

func TestASubtaskThatThereIsNotIsRefused(t *testing.T) {
	for _, subtask := range []int{-1, 2, 3} {
		j, err := sinkcore.NewJob(newDisk(), random(1), config(nil), 2, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Write(subtask, "a:1", 0, 0, 0); !errors.Is(err, sinkcore.ErrSubtask) {
			t.Errorf("write to %d: %v", subtask, err)
		}
		if _, err := j.CompleteOf(1, subtask); !errors.Is(err, sinkcore.ErrSubtask) {
			t.Errorf("completion of %d: %v", subtask, err)
		}
		if err := j.EndInputOf(subtask); !errors.Is(err, sinkcore.ErrSubtask) {
			t.Errorf("end of input of %d: %v", subtask, err)
		}
	}
}

func TestAClosedJobRefusesEverything(t *testing.T) {
	j, err := sinkcore.NewJob(newDisk(), random(1), config(nil), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"write":      func() error { return j.Write(0, "a:1", 0, 0, 0) },
		"checkpoint": func() error { _, err := j.Checkpoint(1, 0); return err },
		"complete":   func() error { _, err := j.Complete(1); return err },
		"one":        func() error { _, err := j.CompleteOf(1, 0); return err },
		"abort":      func() error { return j.Abort(1) },
		"end":        func() error { return j.EndInput() },
		"end of one": func() error { return j.EndInputOf(0) },
		"tick":       func() error { _, err := j.Tick(math.MaxInt64 - 1); return err },
		"writer":     func() error { _, err := j.Writer(0).Snapshot(); return err },
		"committer":  func() error { return j.Committer(0).Add(1, []sinkcore.Committable{{}}) },
	} {
		if err := call(); !errors.Is(err, sinkcore.ErrClosed) {
			t.Errorf("%s: %v, want ErrClosed", name, err)
		}
	}
}

func TestTheOldestInvisibleRecordMayBeInAPendingPart(t *testing.T) {
	j, err := sinkcore.NewJob(newDisk(), random(1), config(afterRecords(1)), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, record := range []string{"a:1", "a:2", "b:3"} { // the second closes the first's part
		if err := j.Write(0, record, 0, 0, int64(100+i)); err != nil {
			t.Fatal(err)
		}
	}
	if got := j.Stats(); got.OldestInvisible != 100 || got.Age(150) != 50 {
		t.Errorf("oldest %d, age %d; want 100, 50", got.OldestInvisible, got.Age(150))
	}
}

func TestAResumedPartIsClosedByTheFirstCheckThatFindsItOldEnough(t *testing.T) {
	d := newDisk()
	c := config(sinkcore.Default{Rollover: time.Second, Inactivity: time.Hour})
	c.CheckInterval = 500 * time.Millisecond
	j, err := sinkcore.NewJob(d, random(1), c, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Write(0, "a:1", 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	checkpoint, err := j.Checkpoint(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = j.Close()
	j, _, err = sinkcore.RestoreJob(d, random(2), c, 1, 200, checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []struct {
		now  int64
		open int
	}{{700, 1}, {1200, 0}} {
		if _, err := j.Tick(at.now); err != nil {
			t.Fatal(err)
		}
		if got := j.Stats().OpenParts; got != at.open {
			t.Errorf("%d open parts at %d, want %d", got, at.now, at.open)
		}
	}
}

func TestTheEndOfTheInputAfterARestoreHandsOverUnderTheNextID(t *testing.T) {
	d := newDisk()
	j, err := sinkcore.NewJob(d, random(1), config(nil), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Write(0, "a:1", 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	checkpoint, err := j.Checkpoint(7, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = j.Close()
	if j, _, err = sinkcore.RestoreJob(d, random(2), config(nil), 1, 0, checkpoint); err != nil {
		t.Fatal(err)
	}
	id, committables, err := j.Writer(0).EndInput()
	if err != nil || id != 8 || len(committables) != 1 {
		t.Errorf("id %d, %d parts, %v; want id 8, one part", id, len(committables), err)
	}
}
