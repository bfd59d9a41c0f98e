package props

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// withChecks runs a property on so many draws, or on as many as the flag of rapid asks
// for if that is given, and fails if it was fewer.
func withChecks(t *testing.T, n int, property func(*rapid.T)) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	if checks.Value.String() == checks.DefValue {
		checksMu.Lock()
		_ = checks.Value.Set(strconv.Itoa(n))
		defer func() {
			_ = checks.Value.Set(checks.DefValue)
			checksMu.Unlock()
		}()
	} else if asked, err := strconv.Atoi(checks.Value.String()); err == nil {
		n = asked
	}
	ran := 0
	rapid.Check(t, func(t *rapid.T) {
		property(t)
		ran++
	})
	// With little time left the library stops early and calls that a success.
	if !t.Failed() && ran < n {
		t.Errorf("only %d of %d programs were run", ran, n)
	}
}

// checksMu guards the flag; tests of this package that draw programs take turns.
var checksMu sync.Mutex

// totals sums verdicts over programs.
type totals struct {
	programs  int
	reached   map[string]int // programs that reached a rare state
	exercised map[Rule]int   // programs that could have violated a rule
}

func (n *totals) add(v Verdict) {
	n.programs++
	for state := range v.Reached {
		n.reached[state]++
	}
	for rule := range v.Exercised {
		n.exercised[rule]++
	}
}

// judge prints the totals and fails if something was never put to the test.
func (n *totals) judge(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "%d programs\n\nprograms that could have violated a rule:\n", n.programs)
	for _, r := range Rules {
		switch {
		case r.Rule == Latency || r.Rule == FileCount:
			fmt.Fprintf(&b, "%9s  %s\n", "-", r.Rule+" (TestPropLatency)")
		default:
			fmt.Fprintf(&b, "%9d  %s\n", n.exercised[r.Rule], r.Rule)
			if n.exercised[r.Rule] == 0 {
				t.Errorf("no program could have violated the rule %s", r.Rule)
			}
		}
	}
	b.WriteString("\nprograms that reached a rare state:\n")
	for _, state := range RareStates {
		fmt.Fprintf(&b, "%9d  %s\n", n.reached[state], state)
		if n.reached[state] == 0 {
			t.Errorf("no program reached the rare state %q", state)
		}
	}
	for _, state := range slices.Sorted(maps.Keys(n.reached)) {
		if !slices.Contains(RareStates, state) {
			t.Errorf("the state %q is not in RareStates", state)
		}
	}
	t.Log(b.String())
}

// Random programs with crashes, power cuts and faults break no rule, and they reach what
// they are meant to reach. When one fails, see the package documentation.
func TestPropRandom(t *testing.T) {
	n := totals{reached: map[string]int{}, exercised: map[Rule]int{}}
	withChecks(t, 20_000, func(t *rapid.T) {
		program := DrawProgram(t)
		v, err := Play(program, Options{Seed: 1})
		if err != nil {
			t.Fatalf("%v\n%s", err, Text(program))
		}
		if n.programs%10 == 0 && v.Violation == nil {
			v.Exercised[Deterministic]++
			again, err := Play(program, Options{Seed: 1})
			if a, b := historyText(v), historyText(again); err != nil || a != b {
				v.Violation = &Violation{Deterministic, 0, fmt.Sprintf("once\n%s\nand once\n%s%v", a, b, err)}
			}
		}
		n.add(v)
		if v.Violation != nil {
			t.Fatalf("%v\n%s", v.Violation, Text(program))
		}
	})
	if !t.Failed() {
		n.judge(t)
	}
}

// historyText is all that a run has shown, real paths included.
func historyText(v Verdict) string {
	var b strings.Builder
	for _, e := range v.History {
		fmt.Fprintf(&b, "%d %d %s %s\n", e.Step, e.At, e.Path, e.Answer())
	}
	text, _ := v.Played.AppendText(nil)
	return b.String() + string(text)
}
