package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"pgregory.net/rapid"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// Finding is what check prints.
type Finding struct {
	Rule     props.Rule // that was broken, "" if none was
	Judge    string     // that noticed
	Detail   string     // what was seen
	Programs int        // played until then
	Length   int        // operations of the shrunk program
	Program  string     // itself, as a trace
}

func main() {
	programs := flag.Int("programs", 20_000, "give up after so many programs")
	flag.Parse()
	finding := search(*programs)
	if err := json.NewEncoder(os.Stdout).Encode(finding); err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

// search plays programs until one breaks a rule.
func search(programs int) Finding {
	drawn, timed := rapid.Custom(props.DrawProgram), rapid.Custom(drawTimed)
	for i := range programs {
		j := judges[turns[i%len(turns)]]
		generator := drawn
		if j.timed {
			generator = timed
		}
		program := generator.Example(i)
		v := judge(j, program, i)
		if v == nil {
			continue
		}
		short := props.Shrink(program, func(p sim.Scenario) bool {
			w := judge(j, p, i)
			return w != nil && w.Rule == v.Rule
		})
		last := judge(j, short, i)
		if last == nil {
			last = v // a sink that is not deterministic may do well this time
		}
		return Finding{last.Rule, j.name, last.Detail, i + 1, len(short.Steps), props.Text(short)}
	}
	return Finding{Programs: programs}
}

// judge lets a judge look at a program. A sink that panics breaks Live.
func judge(j judgement, program sim.Scenario, turn int) (v *props.Violation) {
	defer func() {
		if p := recover(); p != nil {
			v = &props.Violation{Rule: props.Live, Detail: fmt.Sprintf("the sink has panicked: %v", p)}
		}
	}()
	return j.play(program, turn)
}
