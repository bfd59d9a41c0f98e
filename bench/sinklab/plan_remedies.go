package main

import (
	"fmt"
	"strings"
	"time"

	"sinklab/bench/config"
	"sinklab/sinkcore/plan"
)

// remedy is a change of what is given with which a goal can be kept.
type remedy struct {
	change string // in words
	candidate
}

// checkpointsTried are the intervals among which a shorter one is looked for, longest first.
var checkpointsTried = []time.Duration{
	30 * time.Minute, 10 * time.Minute, 5 * time.Minute, 2 * time.Minute, time.Minute, 30 * time.Second, 10 * time.Second,
	5 * time.Second, 2 * time.Second, time.Second, 500 * time.Millisecond, 200 * time.Millisecond, 100 * time.Millisecond,
}

// remedies finds which changes of what is given let the goal be kept: shorter checkpoints,
// fewer subtasks or buckets, and if neither does, both. What does not help is said too.
func (f planFlags) remedies() (helps []remedy, not []string) {
	if checkpoint, s, ok := f.withShorterCheckpoints(); ok {
		helps = append(helps, remedy{"a checkpoint every " + span(checkpoint), open("", s)})
	} else if checkpoint > 0 {
		not = append(not, "checkpoints more often, down to one every "+span(checkpoint))
	}
	if max(f.Subtasks, 1)*max(f.Buckets, 1) == 1 {
		return helps, not
	}
	if fewer, s, ok := f.withFewerLanes(); ok {
		helps = append(helps, remedy{fewer, open("", s)})
	} else {
		not = append(not, "fewer buckets and subtasks, down to one of each")
	}
	if len(helps) == 0 {
		one := f
		one.Subtasks, one.Buckets = 1, 1
		if checkpoint, s, ok := one.withShorterCheckpoints(); ok {
			helps = append(helps, remedy{"1 bucket, 1 subtask, and a checkpoint every " + span(checkpoint), open("", s)})
		}
	}
	return helps, not
}

// withShorterCheckpoints finds the longest interval, shorter than those given, that keeps the
// goal; if none does it gives the shortest that was tried, 0 if there was none to try.
func (f planFlags) withShorterCheckpoints() (checkpoint time.Duration, s plan.Solution, ok bool) {
	given := 2 * time.Second
	for i, c := range f.Checkpoint {
		if i == 0 || time.Duration(c) < given {
			given = time.Duration(c)
		}
	}
	shortest := time.Duration(0)
	for _, c := range checkpointsTried {
		if c >= given || c < time.Duration(f.CheckpointDuration) {
			continue // one that is shorter than a checkpoint takes is not kept
		}
		f.Checkpoint, shortest = []config.Duration{config.Duration(c)}, c
		if s, ok := f.attempt(); ok {
			return c, s, true
		}
	}
	return shortest, s, false
}

// withFewerLanes finds how many subtasks keep the goal at most, or with one subtask how
// many buckets.
func (f planFlags) withFewerLanes() (change string, s plan.Solution, ok bool) {
	subtasks, buckets := max(f.Subtasks, 1), max(f.Buckets, 1)
	with := func(subtasks, buckets int) (plan.Solution, bool) {
		f.Subtasks, f.Buckets = subtasks, buckets
		return f.attempt()
	}
	if s, ok = with(1, buckets); ok {
		n, s := most(subtasks, func(n int) (plan.Solution, bool) { return with(n, buckets) })
		return fmt.Sprintf("%s in place of %d", count(n, "subtask"), subtasks), s, true
	}
	if s, ok = with(1, 1); ok {
		n, s := most(buckets, func(n int) (plan.Solution, bool) { return with(1, n) })
		change = fmt.Sprintf("%s in place of %d", count(n, "bucket"), buckets)
		if subtasks > 1 {
			change += fmt.Sprintf(", and 1 subtask in place of %d", subtasks)
		}
		return change, s, true
	}
	return "", s, false
}

// most is the largest number below too many that works, as far as halving finds it; 1 works.
func most(tooMany int, works func(int) (plan.Solution, bool)) (n int, best plan.Solution) {
	n = 1
	best, _ = works(1)
	for tooMany-n > 1 {
		middle := n + (tooMany-n)/2
		if s, ok := works(middle); ok {
			n, best = middle, s
		} else {
			tooMany = middle
		}
	}
	return n, best
}

// attempt finds settings that keep the goal, for one of the checkpoint intervals.
func (f planFlags) attempt() (best plan.Solution, ok bool) {
	checkpoints := f.Checkpoint
	if len(checkpoints) == 0 {
		checkpoints = []config.Duration{config.Duration(2 * time.Second)}
	}
	for _, checkpoint := range checkpoints {
		goal, err := f.goalFor(time.Duration(checkpoint))
		if err != nil {
			return best, false
		}
		if s, err := f.solve(goal); err == nil && (!ok || f.prefers(s, best)) {
			best, ok = s, true
		}
	}
	return best, ok
}

// why is the proof that no settings keep a goal, in words. Of bursts only one thing is proven:
// that a record waits for a checkpoint.
func (f planFlags) why(s plan.Settings, e *plan.ImpossibleError) string {
	var b strings.Builder
	each := "the sink"
	if lanes := max(s.Buckets, 1) * max(s.Subtasks, 1); lanes > 1 {
		each = fmt.Sprintf("each of the %s pairs of a bucket and a subtask", figure(float64(lanes)))
	}
	files := f.FilesPerHour > 0 || f.FileSize > 0 || e.Needed > time.Millisecond
	if _, bursts := s.Arrivals.(plan.Bursts); bursts {
		files = false
	}
	if files {
		bound := "so few files"
		if f.FileSize > 0 {
			bound = "files so large"
		}
		fmt.Fprintf(&b, "For %s, %s may end a file no more often than once in %s.\n", bound, each, span(e.Needed))
	}
	if f.FilesPerHour == 0 && f.FileSize == 0 && e.Needed > time.Millisecond {
		fmt.Fprintf(&b, "(--files-per-hour is not given, and then it is a million a day, %s an hour.)\n", figure(plan.ManyFilesPerHour))
	}
	switch {
	case e.Allowed == 0 || !files && f.Worst > 0 && time.Duration(f.Worst) < max(s.CheckpointInterval, s.CheckpointDuration)+s.CheckpointDuration:
		fmt.Fprintf(&b, "A record waits %s for the next checkpoint and its completion alone.\n", span(max(s.CheckpointInterval, s.CheckpointDuration)+s.CheckpointDuration))
	case files:
		fmt.Fprintf(&b, "To show records in time, it has to end one at least every %s. Both at once cannot be.\n", span(e.Allowed))
	default:
		fmt.Fprintf(&b, "To show records in time, %s has to end a file at least every %s.\n", each, span(e.Allowed))
	}
	return b.String()
}

// whatHelps says what to change so that the goal can be kept.
func (f planFlags) whatHelps(e *plan.ImpossibleError) string {
	var b strings.Builder
	helps, not := f.remedies()
	line := func(text string) { fmt.Fprintf(&b, "- %s\n", wrap(text, 96, "  ")) }
	b.WriteString("\nWhat can be done, each by itself:\n")
	if s := e.ByFiles; s != nil && !s.Guarantee.Unbounded && (f.Worst > 0 || f.P99 > 0) {
		line(fmt.Sprintf("allow more time: every record within %s, 99 of 100 within %s", span(s.Guarantee.Worst), span(s.Guarantee.P99)))
	}
	if s := e.ByLatency; s != nil {
		line(fmt.Sprintf("allow more or smaller files: %s files/hour of %s", figure(s.Guarantee.FilesPerHour), bytesOf(s.Guarantee.BytesPerFile)))
	}
	merged := false
	for _, r := range helps {
		g := r.Guarantee
		line(fmt.Sprintf("have %s: with %s every record is visible within %s, with %s files/hour", r.change, spellPolicy(r.Settings), span(g.Worst), figure(g.FilesPerHour)))
		merged = merged || strings.Contains(r.change, "subtask") || strings.Contains(r.change, "bucket")
	}
	if len(not) > 0 {
		fmt.Fprintf(&b, "What does not help: %s.\n", strings.Join(not, "; "))
	}
	if merged {
		b.WriteString(wrap("Compaction is left out here: 'auto-compaction' = 'true' of Flink SQL and enableCompact of FileSink merge the files of a bucket that its subtasks have written, before they are visible. Files of different buckets are never merged.", 98, "") + "\n")
	}
	return b.String()
}
