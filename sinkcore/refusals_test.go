package sinkcore_test

import (
	"crypto/rand"
	"errors"
	"math"
	"testing"

	"sinklab/fsmem"
	"sinklab/sinkcore"
)

// Checkpoint ids ascend from 1 on, also over a restore. Each of these was accepted once,
// and published what no completed checkpoint covers.
func TestCheckpointIDsAscend(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	config := sinkcore.Config[string]{Dir: "/out", Encoder: sinkcore.Line[string]{}, Policy: sinkcore.OnCheckpoint{}}
	job, err := sinkcore.NewJob(fsys, rand.Reader, config, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Write(0, "a", sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
		t.Fatal(err)
	}
	refused := func(ids ...int64) {
		t.Helper()
		for _, id := range ids {
			if _, err := job.Checkpoint(id, 0); !errors.Is(err, sinkcore.ErrCheckpointID) {
				t.Errorf("checkpoint %d: %v, want ErrCheckpointID", id, err)
			}
		}
	}
	refused(0, -5, math.MinInt64, math.MaxInt64)
	checkpoint, err := job.Checkpoint(5, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := job.Complete(5); err != nil {
		t.Fatal(err)
	}
	refused(3, 5)
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	if job, _, err = sinkcore.RestoreJob(fsys, rand.Reader, config, 1, 0, checkpoint); err != nil {
		t.Fatal(err)
	}
	refused(5)
	if _, err := job.Checkpoint(6, 0); err != nil {
		t.Error(err)
	}
}

// An encoder that returns a slice of its own, without what stands in the buffer, would
// take the records before with it; it is refused.
func TestEncoderThatDoesNotAppend(t *testing.T) {
	config := sinkcore.Config[string]{Dir: "/out", Encoder: sinkcore.EncoderFunc[string](func(_ []byte, r string) ([]byte, error) {
		return []byte(r + " and much more than was there before\n"), nil
	})}
	job, err := sinkcore.NewJob(fsmem.New(fsmem.Options{}), rand.Reader, config, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Write(0, "a", sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
		t.Fatal(err)
	}
	if err := job.Write(0, "b", sinkcore.NoTime, sinkcore.NoTime, 0); !errors.Is(err, sinkcore.ErrEncode) {
		t.Errorf("got %v, want ErrEncode", err)
	}
}

// What would fail or panic with the first record is refused at the start.
func TestMissingFunctions(t *testing.T) {
	line := sinkcore.Line[string]{}
	for name, config := range map[string]sinkcore.Config[string]{
		"nil encoder":   {Encoder: sinkcore.EncoderFunc[string](nil)},
		"nil prefix":    {Encoder: line, Assigner: sinkcore.Prefix[string](nil)},
		"nil bucket":    {Encoder: line, Assigner: sinkcore.BucketFunc[string](nil)},
		"zero DateTime": {Encoder: line, Assigner: &sinkcore.DateTime[string]{}},
		"NUL in Dir":    {Encoder: line, Dir: "a\x00b"},
	} {
		if _, err := sinkcore.NewJob(fsmem.New(fsmem.Options{}), rand.Reader, config, 1, 0); !errors.Is(err, sinkcore.ErrConfig) {
			t.Errorf("%s: %v, want ErrConfig", name, err)
		}
	}
}

// A file that somebody has put a link in the place of is not published, and the sweep
// knows names with a newline.
func TestNotARegularFile(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	config := sinkcore.Config[string]{Dir: "/out", Encoder: sinkcore.Line[string]{}, Policy: sinkcore.OnCheckpoint{}, Prefix: "a\nb"}
	job, err := sinkcore.NewJob(fsys, rand.Reader, config, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Write(0, "r", sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := job.Checkpoint(1, 0); err != nil {
		t.Fatal(err)
	}
	orphans, err := sinkcore.Orphans(fsys, "/out")
	if err != nil || len(orphans) != 1 {
		t.Fatalf("orphans %q, %v; want the one file", orphans, err)
	}
	if err := errors.Join(fsys.Rename(orphans[0], "/out/.moved"), fsys.SymlinkIfPossible(".moved", orphans[0])); err != nil {
		t.Fatal(err)
	}
	if _, err := job.Complete(1); !errors.Is(err, sinkcore.ErrContent) {
		t.Errorf("got %v, want ErrContent", err)
	}
}
