package sinkcore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"sinklab/fsmem"
	"sinklab/sinkcore"
)

// A part that would be one too many has the oldest closed, whatever its bucket; a record
// for a part that is open closes none, and the one that is replaced in its own bucket does
// not count.
func TestMaxOpenPartsClosesTheOldest(t *testing.T) {
	c := config(afterRecords(3))
	c.MaxOpenParts = 2
	var closed []string
	c.OnClose = func(subtask int, part sinkcore.Committable) {
		closed = append(closed, fmt.Sprint(subtask, " ", part.Bucket, " ", part.Records, " ", part.Reason))
	}
	fsys := fsmem.New(fsmem.Options{})
	w := newWriter(t, fsys, c)
	put(t, w, 5, "a:1")
	put(t, w, 3, "b:1") // the clock went back: b is older
	put(t, w, 6, "a:2", "b:2", "b:3", "a:3")
	put(t, w, 7, "c:1")               // b goes
	put(t, w, 8, "a:4", "d:1", "a:5") // a's third record was its last, then c goes
	want := "3 b 3 limit,3 a 3 event,3 c 1 limit"
	if got := strings.Join(closed, ","); got != want {
		t.Errorf("closed %s, want %s", got, want)
	}
	if open := len(fsys.OpenHandles()); open != 2 {
		t.Errorf("%d files are open, want 2", open)
	}
	c.MaxOpenParts = -1
	if _, err := sinkcore.NewWriter(fsys, random(1), c, 0, 0); !errors.Is(err, sinkcore.ErrConfig) {
		t.Errorf("MaxOpenParts -1: %v, want ErrConfig", err)
	}
}

// More parts than a smaller limit allows may be restored. They go when one is opened.
func TestMaxOpenPartsAfterARestore(t *testing.T) {
	fsys, c := fsmem.New(fsmem.Options{}), config(sinkcore.Default{})
	job := newJob(t, fsys, c, 1)
	for i, bucket := range []string{"a", "b", "c"} {
		if err := job.Write(0, bucket+":1", sinkcore.NoTime, sinkcore.NoTime, int64(i)); err != nil {
			t.Fatal(err)
		}
	}
	checkpoint, err := job.Checkpoint(1, 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	c.MaxOpenParts = 1
	job = restore(t, fsys, c, 1, checkpoint)
	if open := job.Stats().OpenParts; open != 3 {
		t.Errorf("%d parts open after the restore, want 3", open)
	}
	for i, limited := range []int64{3, 4, 5} {
		if err := job.Write(0, fmt.Sprintf("new%d:1", i), sinkcore.NoTime, sinkcore.NoTime, 20); err != nil {
			t.Fatal(err)
		}
		if s := job.Stats(); s.OpenParts != 1 || s.Rolled.For(sinkcore.Limit) != limited {
			t.Errorf("%d parts open, %d closed for the limit; want 1, %d", s.OpenParts, s.Rolled.For(sinkcore.Limit), limited)
		}
	}
}
