package flink

import (
	"testing"

	"sinklab/sinkcore"
)

// What the repartitioner may do is accepted in any order of the old subtasks; what it never
// does is not.
func TestAllowed(t *testing.T) {
	sizes := []int{3, 2}
	for _, c := range []struct {
		name  string
		given [][][2]int
		ok    bool
	}{
		{"to one", [][][2]int{{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}}}, true},
		{"to one, the other first", [][][2]int{{{1, 0}, {1, 1}, {0, 0}, {0, 1}, {0, 2}}}, true},
		{"to three", [][][2]int{{{0, 0}, {0, 1}}, {{1, 0}, {0, 2}}, {{1, 1}}}, true},
		{"to six", [][][2]int{{{0, 0}}, {{0, 1}}, {{0, 2}}, {{1, 0}}, {{1, 1}}, {}}, true},
		{"one lost", [][][2]int{{{0, 0}, {0, 1}, {0, 2}, {1, 0}}}, false},
		{"one twice", [][][2]int{{{0, 0}, {0, 1}, {0, 2}}, {{1, 0}, {1, 0}}}, false},
		{"one that was not there", [][][2]int{{{0, 0}, {0, 1}, {0, 2}}, {{1, 0}, {1, 2}}}, false},
		{"backwards", [][][2]int{{{0, 1}, {0, 0}, {0, 2}}, {{1, 0}, {1, 1}}}, false},
		{"a gap", [][][2]int{{{0, 0}, {0, 2}, {1, 0}}, {{0, 1}, {1, 1}}}, false},
		{"one with nothing", [][][2]int{{{0, 0}, {0, 1}}, {{0, 2}, {1, 0}}, {{1, 1}}, {}}, false},
		{"unequal", [][][2]int{{{0, 0}, {0, 1}, {0, 2}, {1, 0}}, {{1, 1}}}, false},
	} {
		if err := allowedRuns(c.given, sizes); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func bucket(id string) sinkcore.BucketState { return sinkcore.BucketState{Bucket: id} }

// The state of sinkcore is spread as Flink has spread its own: buckets are found by their
// ids, whatever their order, and batches of one checkpoint come together.
func TestRedistribute(t *testing.T) {
	batch := func(id int64, name string) sinkcore.Batch {
		return sinkcore.Batch{Checkpoint: id, Committables: []sinkcore.Committable{{Name: name}}}
	}
	c := sinkcore.Checkpoint{
		ID:         5,
		Writers:    []sinkcore.WriterState{{Buckets: []sinkcore.BucketState{bucket("a"), bucket("b")}}, {Buckets: []sinkcore.BucketState{bucket("a")}}},
		Committers: []sinkcore.CommitterState{{Batches: []sinkcore.Batch{batch(5, "x"), batch(6, "z")}}, {Batches: []sinkcore.Batch{batch(4, "w"), batch(5, "y")}}},
	}
	o := &order{
		buckets:    [][]string{{"b", "a"}, {"a"}}, // in the order of their hashes
		writers:    [][][2]int{{{1, 0}, {0, 0}, {0, 1}}},
		committers: [][][2]int{{{0, 0}, {1, 0}}},
	}
	got, err := o.redistribute(c)
	if err != nil || o.allowed() != nil {
		t.Fatal(err, o.allowed())
	}
	var ids, names string
	for _, b := range got.Writers[0].Buckets {
		ids += b.Bucket
	}
	for _, b := range got.Committers[0].Batches {
		for _, p := range b.Committables {
			names += p.Name
		}
	}
	if got.ID != 5 || len(got.Writers) != 1 || ids != "aba" || names != "wxyz" || len(got.Committers[0].Batches) != 3 {
		t.Errorf("buckets %s, committables %s, %+v", ids, names, got)
	}
	if len(c.Committers[0].Batches[0].Committables) != 1 || c.Committers[0].Batches[0].Committables[0].Name != "x" {
		t.Error("the checkpoint given has changed")
	}
	if o.plain() {
		t.Error("this is not sinkcore's own order")
	}

	for name, other := range map[string]*order{
		"another bucket":   {buckets: [][]string{{"b", "c"}, {"a"}}, writers: o.writers, committers: o.committers},
		"more buckets":     {buckets: [][]string{{"b", "a", "c"}, {"a"}}, writers: o.writers, committers: o.committers},
		"another subtasks": {buckets: [][]string{{"b", "a"}}, writers: o.writers, committers: o.committers},
	} {
		if _, err := other.redistribute(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
