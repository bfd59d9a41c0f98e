package sinkcore_test

import (
	"crypto/rand"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/sinkcore"
)

// Prefix and suffix are refused at the start if a name with them could be longer than a
// disk takes; the longest that are not refused work on a real disk.
func TestLongAffixes(t *testing.T) {
	for _, c := range []struct {
		length int
		want   error
	}{{149, nil}, {150, sinkcore.ErrConfig}} {
		config := sinkcore.Config[string]{
			Dir: filepath.Join(t.TempDir(), "out"), Encoder: sinkcore.Line[string]{},
			Prefix: strings.Repeat("p", 100), Suffix: strings.Repeat("s", c.length-100),
		}
		job, err := sinkcore.NewJob(afero.NewOsFs(), rand.Reader, config, 1, 0)
		if !errors.Is(err, c.want) {
			t.Fatalf("%d bytes: %v, want %v", c.length, err, c.want)
		}
		if err != nil {
			continue
		}
		if err := job.Write(0, "r", sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
			t.Error(err)
		}
		if err := job.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A checkpoint id that is in use is refused before anything is closed, and the job goes
// on.
func TestCheckpointIDInUse(t *testing.T) {
	config := sinkcore.Config[string]{Dir: "/out", Encoder: sinkcore.Line[string]{}, Policy: sinkcore.OnCheckpoint{}}
	job, err := sinkcore.NewJob(fsmem.New(fsmem.Options{}), rand.Reader, config, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	for subtask, record := range []string{"a", "b"} {
		if err := job.Write(subtask, record, sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := job.Checkpoint(1, 0); err != nil {
		t.Fatal(err)
	}
	if err := job.Write(0, "c", sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := job.Checkpoint(1, 0); !errors.Is(err, sinkcore.ErrCheckpointID) {
		t.Errorf("got %v, want ErrCheckpointID", err)
	}
	if open := job.Stats().OpenParts; open != 1 {
		t.Errorf("%d parts are open, want the one that was", open)
	}
	if _, err := job.Checkpoint(2, 0); err != nil {
		t.Error(err)
	}
	if published, err := job.Complete(2); err != nil || len(published) != 3 {
		t.Errorf("published %d parts, %v; want 3", len(published), err)
	}
}
