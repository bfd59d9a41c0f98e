package sinkcore

// redistribute spreads a checkpoint over another number of subtasks as Flink does it
// (RoundRobinOperatorStateRepartitioner:294-390): the elements of all subtasks in the
// order of their subtasks are cut into runs of equal length, and where that leaves a
// remainder the first subtasks get one more each. An element of a writer's state is a
// bucket; a committer's state is one element. With the same number each subtask gets
// its own back.
//
// Flink leaves open in which order the elements come, here it is by subtask and within
// one by bucket id. Elements of one bucket may go to different subtasks; each goes on
// with its own file. No bucket's records need go where its element went: names are unique
// over all subtasks, so two of them may write to one bucket.
//
// The checkpoint is not changed, and its slices are shared with what is returned.
func redistribute(c Checkpoint, parallelism int) (writers []WriterState, committers []CommitterState) {
	if c.Parallelism() == parallelism {
		return c.Writers, c.Committers
	}
	var buckets []BucketState
	for _, w := range c.Writers {
		buckets = append(buckets, w.Buckets...)
	}
	writers = make([]WriterState, parallelism)
	committers = make([]CommitterState, parallelism)
	for i, run := range runs(buckets, parallelism) {
		writers[i].Buckets = run
	}
	for i, run := range runs(c.Committers, parallelism) {
		for _, s := range run {
			committers[i] = mergeCommitters(committers[i], s)
		}
	}
	return writers, committers
}

// runs cuts a list into n runs whose lengths differ by one at most, longer ones first.
func runs[E any](list []E, n int) [][]E {
	out := make([][]E, n)
	size, rest := len(list)/n, len(list)%n
	for i := range out {
		length := size
		if i < rest {
			length++
		}
		out[i], list = list[:length:length], list[length:]
	}
	return out
}

// mergeCommitters joins two states; what belongs to one checkpoint comes together
// (SubtaskCommittableManager:158-169).
func mergeCommitters(a, b CommitterState) CommitterState {
	var out CommitterState
	for len(a.Batches) > 0 || len(b.Batches) > 0 {
		switch {
		case len(b.Batches) == 0 || len(a.Batches) > 0 && a.Batches[0].Checkpoint < b.Batches[0].Checkpoint:
			out.Batches, a.Batches = append(out.Batches, a.Batches[0]), a.Batches[1:]
		case len(a.Batches) == 0 || b.Batches[0].Checkpoint < a.Batches[0].Checkpoint:
			out.Batches, b.Batches = append(out.Batches, b.Batches[0]), b.Batches[1:]
		default:
			both := Batch{Checkpoint: a.Batches[0].Checkpoint}
			both.Committables = append(both.Committables, a.Batches[0].Committables...)
			both.Committables = append(both.Committables, b.Batches[0].Committables...)
			out.Batches, a.Batches, b.Batches = append(out.Batches, both), a.Batches[1:], b.Batches[1:]
		}
	}
	return out
}
