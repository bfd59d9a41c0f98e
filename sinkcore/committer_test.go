package sinkcore_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
)

// staged puts closed parts on a disk, one a checkpoint, and gives a committer that has
// taken them.
func staged(t interface{ Fatal(...any) }, d *disk, checkpoints ...int64) *sinkcore.Committer {
	w, err := sinkcore.NewWriter(d, random(1), config(sinkcore.OnCheckpoint{}), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := sinkcore.NewCommitter(d, "/out", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range checkpoints {
		if err := w.Write(fmt.Sprint("a:", id), 0, 0, id); err != nil {
			t.Fatal(err)
		}
		committables, err := w.PrepareCommit(id, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Add(id, committables); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// ids lists by which checkpoints parts were handed over.
func ids(published []sinkcore.Committable) []int64 {
	var out []int64
	for _, p := range published {
		out = append(out, p.CreationTime)
	}
	return out
}

func TestCompletionsMayComeLateTwiceAndInAnyOrder(t *testing.T) {
	d := newDisk()
	c := staged(t, d, 1, 2, 3, 5)
	for _, step := range []struct {
		id   int64
		want []int64
	}{
		{2, []int64{1, 2}}, // all before it, in order
		{1, nil},           // late
		{2, nil},           // twice
		{4, []int64{3}},    // an id that was never handed over
		{3, nil},
		{9, []int64{5}},
		{5, nil},
	} {
		d.forget()
		published, err := c.Complete(step.id)
		if err != nil || !slices.Equal(ids(published), step.want) {
			t.Errorf("complete %d: published %v, %v; want %v", step.id, ids(published), err, step.want)
		}
		if renames := d.done("rename"); len(renames) != len(step.want) {
			t.Errorf("complete %d: %q", step.id, renames)
		}
	}
}

// An id below the largest seen counts as that one: what is handed over late under an
// older id is published by any notice.
func TestAnOlderCompletionCountsAsTheNewest(t *testing.T) {
	d := newDisk()
	state, err := staged(t, d, 4).Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	c := staged(t, d) // another one
	if _, err := c.Complete(9); err != nil {
		t.Fatal(err)
	}
	if err := c.Add(4, state.Batches[0].Committables); err != nil {
		t.Fatal(err)
	}
	if published, err := c.Complete(1); err != nil || !slices.Equal(ids(published), []int64{4}) {
		t.Errorf("published %v, %v", ids(published), err)
	}
}

// Whatever the order of notices, each part is published once, not before its checkpoint
// or a later one has completed, and in order of the checkpoints.
func TestAnyOrderOfCompletionsPublishesEachPartOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDisk()
		added := rapid.SliceOfNDistinct(rapid.Int64Range(1, 9), 1, 5, rapid.ID[int64]).Draw(t, "checkpoints")
		slices.Sort(added)
		c := staged(t, d, added...)
		var got []int64
		newest := int64(0)
		for _, id := range rapid.SliceOfN(rapid.Int64Range(0, 10), 0, 8).Draw(t, "notices") {
			if rapid.Bool().Draw(t, "aborted") {
				if err := c.Abort(id); err != nil {
					t.Fatal(err)
				}
				continue
			}
			published, err := c.Complete(id)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, ids(published)...)
			newest = max(newest, id)
		}
		var want []int64
		for _, id := range added {
			if id <= newest {
				want = append(want, id)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("published %v, want %v", got, want)
		}
		state, err := c.Snapshot()
		if err != nil || len(state.Batches) != len(added)-len(want) {
			t.Fatalf("state %v, %v", state, err)
		}
		if s := c.Stats(); s.PendingParts != len(state.Batches) || s.CommittedParts != int64(len(want)) {
			t.Fatalf("stats %+v", s)
		}
	})
}

func TestACheckpointIDThatStillWaitsIsNotTakenAgain(t *testing.T) {
	d := newDisk()
	c := staged(t, d, 1)
	state, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Add(1, state.Batches[0].Committables); !errors.Is(err, sinkcore.ErrCheckpointID) {
		t.Errorf("got %v", err)
	}
	if err := c.Add(1, nil); err != nil {
		t.Errorf("nothing: %v", err)
	}
	if _, err := c.Complete(1); err != nil { // it goes on
		t.Fatal(err)
	}
	wantVisible(t, d, "a:1")
}

func TestARefusedCommitCanBeCompletedAgainAndKeepsWhatIsDone(t *testing.T) {
	d := newDisk()
	c := staged(t, d, 1, 2, 3)
	state, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	second := state.Batches[1].Committables[0]
	putFile(t, d, finalPath(second), "somebody else's\n")
	if published, err := c.Complete(3); !errors.Is(err, sinkcore.ErrTargetExists) || published != nil {
		t.Fatalf("%v, %v", published, err)
	}
	if c.Err() != nil {
		t.Errorf("a refusal stopped the committer: %v", c.Err())
	}
	if again, err := c.Snapshot(); err != nil || len(again.Batches) != 3 {
		t.Errorf("forgotten: %v, %v", again, err)
	}
	if err := d.Fs.Remove(finalPath(second)); err != nil {
		t.Fatal(err)
	}
	if published, err := c.Complete(1); err != nil || !slices.Equal(ids(published), []int64{1, 2, 3}) {
		t.Errorf("published %v, %v", ids(published), err)
	}
	wantVisible(t, d, "a:1", "a:2", "a:3")
}

func TestASnapshotIsNotChangedByWhatComesAfter(t *testing.T) {
	c := staged(t, newDisk(), 1, 2)
	state, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprint(state)
	if _, err := c.Complete(2); err != nil {
		t.Fatal(err)
	}
	if err := c.Add(3, state.Batches[0].Committables); err != nil {
		t.Fatal(err)
	}
	if after := fmt.Sprint(state); after != before {
		t.Errorf("was %s, is %s", before, after)
	}
}

func TestAClosedCommitterTakesNothing(t *testing.T) {
	c := staged(t, newDisk(), 1)
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	_, complete := c.Complete(1)
	_, snapshot := c.Snapshot()
	for name, err := range map[string]error{"complete": complete, "snapshot": snapshot, "abort": c.Abort(1), "add": c.Add(2, nil)} {
		if !errors.Is(err, sinkcore.ErrClosed) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRestoringACommitterPublishesWhatHadCompleted(t *testing.T) {
	d := newDisk()
	state, err := staged(t, d, 1, 2, 3).Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // again and again: the process dies before it has stored a newer one
		c, published, err := sinkcore.RestoreCommitter(d, "/out", 0, 2, state)
		if err != nil || !slices.Equal(ids(published), []int64{1, 2}) {
			t.Fatalf("published %v, %v", ids(published), err)
		}
		wantVisible(t, d, "a:1", "a:2")
		if s := c.Stats(); s.PendingParts != 1 || s.OldestInvisible != 3 {
			t.Errorf("%+v", s)
		}
	}
}
