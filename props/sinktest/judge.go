package sinktest

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// Play plays one program on a sink, to find out more about it: its text is as in a
// [Table], see props.Operations. Rules that are waived are not judged. The error is for
// a kind or a program that makes no sense; a broken rule is in the verdict.
func Play(k Kind, program string) (props.Verdict, error) {
	k, err := k.validate()
	if err != nil {
		return props.Verdict{}, err
	}
	scenario, err := parse(strings.Split(strings.TrimSpace(program), "\n"))
	if err != nil {
		return props.Verdict{}, err
	}
	return k.play(scenario, k.unpromised(), true)
}

// unpromised lists the rules that are waived.
func (k Kind) unpromised() []props.Rule {
	var rules []props.Rule
	for _, w := range k.Waived {
		rules = append(rules, w.Rule)
	}
	return rules
}

// play plays a program and judges all rules but some; of those that are broken the
// verdict has the one that was first. Twice also plays it a second time and compares.
func (k Kind) play(program sim.Scenario, skip []props.Rule, twice bool) (props.Verdict, error) {
	v, err := k.once(program, skip)
	if err != nil {
		return v, err
	}
	if twice && !slices.Contains(skip, props.Deterministic) {
		v.Exercised[props.Deterministic]++
		again, err := k.once(program, skip)
		if err != nil {
			return v, err
		}
		if what := difference(v, again); what != "" && v.Violation == nil {
			v.Violation = &props.Violation{Rule: props.Deterministic, Step: len(program.Steps), Detail: what}
		}
	}
	return v, nil
}

func (k Kind) once(program sim.Scenario, skip []props.Rule) (props.Verdict, error) {
	v, err := props.Play(program, props.Options{Factory: k.factory(), Seed: k.Seed, Skip: skip})
	if err != nil {
		return v, err
	}
	for _, found := range k.promises(program, v) {
		v.Exercised[found.rule]++
		if found.violation == nil || slices.Contains(skip, found.rule) {
			continue
		}
		if v.Violation == nil || found.violation.Step < v.Violation.Step {
			v.Violation = found.violation
		}
	}
	return v, nil
}

// difference says what a second run has shown otherwise, or "".
func difference(a, b props.Verdict) string {
	for i := range max(len(a.History), len(b.History)) {
		switch {
		case i >= len(a.History):
			return "only the second time: " + seen(b.History[i])
		case i >= len(b.History):
			return "only the first time: " + seen(a.History[i])
		case seen(a.History[i]) != seen(b.History[i]):
			return "the first time " + seen(a.History[i]) + ", the second time " + seen(b.History[i])
		}
	}
	for i := range min(len(a.Played.Steps), len(b.Played.Steps)) {
		if !slices.Equal(a.Played.Steps[i].Answers, b.Played.Steps[i].Answers) {
			return "the second time \"" + a.Played.Steps[i].Operation.String() + "\" was answered otherwise"
		}
	}
	return ""
}

// seen is an event with the whole name of the file, which an answer shortens.
func seen(e sim.Event) string {
	return e.Kind.String() + " " + e.Path + ": " + strings.Join(e.Records, " ")
}

// promise is the outcome of a rule that is about time or the number of files.
type promise struct {
	rule      props.Rule
	violation *props.Violation // nil if it is kept
}

// promises judges Latency and FileCount, if nothing in the program disturbs the sink.
func (k Kind) promises(program sim.Scenario, v props.Verdict) []promise {
	c, ok := courseOf(program)
	if !ok || slices.ContainsFunc(v.Played.Steps, failed) {
		return nil
	}
	var out []promise
	if k.Latency != nil && c.apart > 0 {
		bound := k.Latency(time.Duration(c.apart)*time.Millisecond, time.Duration(c.took)*time.Millisecond)
		out = append(out, promise{props.Latency, c.late(v.History, bound)})
	}
	if k.Files != nil {
		out = append(out, promise{props.FileCount, c.count(k, v.History, len(program.Steps))})
	}
	return out
}

// failed tells whether an operation was answered by an error.
func failed(s sim.Step) bool { return len(s.Answers) > 0 && strings.HasPrefix(s.Answers[0].Text, "!") }

// course is what a program that disturbs nothing does.
type course struct {
	written map[string]int64 // when, by record
	load    map[string]*Load // by bucket
	buckets []string         // in order of their first record
	apart   int64            // longest time from the start of a checkpoint to that of the next, ms
	took    int64            // longest time from its start until it has completed, ms
}

// courseOf reads a program, and tells false if it holds anything but writes, time that
// passes, and checkpoints each of which completes before the next. At the end of the
// program comes one more, see props.Play.
func courseOf(program sim.Scenario) (course, bool) {
	c := course{written: map[string]int64{}, load: map[string]*Load{}}
	var now, last int64
	pending := int64(-1) // id of a checkpoint that has not completed
	touched := map[string]bool{}
	start := func() {
		c.apart, last = max(c.apart, now-last), now
		clear(touched)
	}
	for i, step := range program.Steps {
		switch o := step.Operation.(type) {
		case sim.Open:
			if i > 0 {
				return c, false
			}
		case sim.Write:
			bucket := o.Record[:max(strings.LastIndexByte(o.Record, '/'), 0)]
			l := c.load[bucket]
			if l == nil {
				l = &Load{}
				c.load[bucket] = l
				c.buckets = append(c.buckets, bucket)
			}
			l.Records++
			if !touched[bucket] {
				touched[bucket] = true
				l.Intervals++
			}
			c.written[o.Record] = now
		case sim.Advance:
			now += int64(o)
		case sim.Checkpoint:
			if pending >= 0 {
				return c, false
			}
			start()
			pending = int64(o)
		case sim.Complete:
			if pending != o.ID || o.Subtask != sim.AllSubtasks {
				return c, false
			}
			c.took, pending = max(c.took, now-last), -1
		default:
			return c, false
		}
	}
	if pending >= 0 {
		return c, false
	}
	start()
	return c, true
}

// late finds the first record that a reader has had to wait for longer than promised.
func (c course) late(history sim.History, bound time.Duration) *props.Violation {
	for _, e := range history {
		for _, record := range e.Records {
			written, ok := c.written[record]
			if waited := time.Duration(e.At-written) * time.Millisecond; ok && waited > bound {
				return &props.Violation{Rule: props.Latency, Step: e.Step, Detail: "record " + record + " is visible after " + waited.String() +
					", and after " + bound.String() + " at the latest was promised"}
			}
		}
	}
	return nil
}

// count compares the files of each bucket with what is promised.
func (c course) count(k Kind, history sim.History, step int) *props.Violation {
	files := map[string]int{}
	for _, e := range history {
		if e.Kind == sim.Visible {
			files[strings.TrimPrefix(path.Dir(e.Path), ".")]++
		}
	}
	for _, bucket := range c.buckets {
		least, most := k.Files(*c.load[bucket])
		if n := files[bucket]; n < least || n > most {
			return &props.Violation{Rule: props.FileCount, Step: step, Detail: countText(bucket, n, least, most, *c.load[bucket])}
		}
	}
	return nil
}

func countText(bucket string, n, least, most int, l Load) string {
	return fmt.Sprintf("bucket %q has %d files, and %d to %d were promised for %d records in %d intervals between checkpoints",
		bucket, n, least, most, l.Records, l.Intervals)
}
