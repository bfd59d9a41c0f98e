package main

import (
	"fmt"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// judgement is one way to try a sink.
type judgement struct {
	name  string
	timed bool // wants programs in which nothing fails
	play  func(program sim.Scenario, turn int) *props.Violation
}

var judges = map[string]judgement{
	"random":  {"random", false, random},
	"again":   {"again", false, again},
	"timed":   {"timed", true, timing},
	"foreign": {"foreign", false, meddled(foreign, props.Unique, props.Immutable, props.NoLoss)},
	"stolen":  {"stolen", false, meddled(stolen, props.NoLoss)},
	"short":   {"short", false, meddled(short, props.Hidden, props.NoLoss)},
	"flipped": {"flipped", false, meddled(flipped, props.Hidden, props.NoLoss)},
	"doubled": {"doubled", false, meddled(doubled, props.Hidden, props.NoLoss, props.NoDuplicate)},
}

// turns is the order in which judges come, over and over.
var turns = []string{
	"random", "timed", "random", "foreign", "random", "timed", "random", "stolen", "random", "again",
	"random", "timed", "random", "short", "random", "timed", "random", "flipped", "random", "doubled",
}

// random holds the program against all rules.
func random(program sim.Scenario, turn int) *props.Violation {
	verdict, err := props.Play(program, variant(turn))
	if err != nil {
		return nil // a shortened program may make no sense
	}
	return verdict.Violation
}

// variant gives every other turn another buffer size or repeated completions.
func variant(turn int) props.Options {
	return props.Options{Seed: 1, BufferSize: [...]int{0, 1, 7, 64}[turn/2%4], Twice: turn/8%2 == 1}
}

// again plays the program twice.
func again(program sim.Scenario, turn int) *props.Violation {
	var seen [2]string
	for i := range seen {
		verdict, err := props.Play(program, variant(turn))
		if err != nil {
			return nil
		}
		if verdict.Violation != nil {
			return verdict.Violation
		}
		text, _ := verdict.Played.AppendText(nil)
		seen[i] = fmt.Sprintf("%s%v", text, verdict.History)
	}
	if seen[0] != seen[1] {
		return &props.Violation{Rule: props.Deterministic, Step: len(program.Steps), Detail: "the second run differs from the first"}
	}
	return nil
}

// meddled plays the program while somebody meddles with what the sink relies on, and
// judges some rules only: that the sink then fails is right.
func meddled(how interference, judged ...props.Rule) func(sim.Scenario, int) *props.Violation {
	var skip []props.Rule
	for _, r := range props.Rules {
		if !contains(judged, r.Rule) {
			skip = append(skip, r.Rule)
		}
	}
	return func(program sim.Scenario, turn int) *props.Violation {
		options := variant(turn)
		options.Skip = skip
		options.Factory = &meddler{how: how, at: turn / len(turns) % 4}
		verdict, err := props.Play(program, options)
		if err != nil {
			return nil
		}
		return verdict.Violation
	}
}

func contains(rules []props.Rule, rule props.Rule) bool {
	for _, r := range rules {
		if r == rule {
			return true
		}
	}
	return false
}
