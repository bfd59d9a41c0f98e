package main

import (
	"strings"
	"testing"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// What is not broken must not be caught, or the matrix would prove nothing.
func TestNoJudgeFindsAnythingInTheSinkAsItIs(t *testing.T) {
	if f := search(2_000); f.Rule != "" {
		t.Errorf("%s by %s: %s\n%s", f.Rule, f.Judge, f.Detail, f.Program)
	}
}

func TestEveryJudgeHasItsTurn(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range turns {
		if judges[name].name != name {
			t.Errorf("no judge %q", name)
		}
		seen[name] = true
	}
	if len(seen) != len(judges) {
		t.Errorf("%d of %d judges have a turn", len(seen), len(judges))
	}
}

// The predictions of the model are pinned where the closed forms of the policies give the
// figures by hand.
func TestTheModelOfFilesAndTimersGivesTheClosedForms(t *testing.T) {
	for _, c := range []struct {
		name, program string
		files         int
	}{
		{"on checkpoint: a file each", "open policy=oncheckpoint\nwrite r0\ncheckpoint 1\ncomplete 1\nwrite r1\ncheckpoint 2\ncomplete 2", 2},
		{"a part of exactly the size stays open", "open policy=rolling size=6\nwrite r0\nwrite r1\nwrite r2\ncheckpoint 1\ncomplete 1", 1},
		{"one byte more and it does not", "open policy=rolling size=5\nwrite r0\nwrite r1\nwrite r2\ncheckpoint 1\ncomplete 1", 1},
		{"as old as the limit is old enough", "open policy=rolling rollover=100 check=100\nwrite r0\nadvance 100\ncheckpoint 1\ncomplete 1", 1},
		{"a millisecond younger is not", "open policy=rolling rollover=101 check=100\nwrite r0\nadvance 100\ncheckpoint 1\ncomplete 1", 0},
		{"59.95 s at the first check, so 120 s", "open tick=1\nadvance 50\nwrite r0\nadvance 119900\ncheckpoint 1\ncomplete 1\nadvance 50\ncheckpoint 2\ncomplete 2", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			visible, ok := predict(read(t, c.program))
			files := 0
			for _, now := range visible {
				files += len(now)
			}
			if !ok || files != c.files {
				t.Errorf("%d files, %v; want %d", files, ok, c.files)
			}
		})
	}
}

func read(t *testing.T, text string) sim.Scenario {
	t.Helper()
	scenarios, err := sim.Parse(strings.NewReader(text), props.Operations())
	if err != nil || len(scenarios) != 1 {
		t.Fatal(len(scenarios), err)
	}
	return scenarios[0]
}
