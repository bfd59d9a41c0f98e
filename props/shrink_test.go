package props

import (
	"testing"

	"pgregory.net/rapid"

	"sinklab/sinkcore/sim"
)

// What is left of a program has no step that is not needed; the open stays.
func TestShrinkingLeavesNoStepThatIsNotNeeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		program := DrawProgram(t)
		// Fails with a checkpoint and, later, a completion.
		fails := func(p sim.Scenario) bool {
			taken := false
			for _, step := range p.Steps {
				switch step.Operation.(type) {
				case sim.Checkpoint:
					taken = true
				case sim.Complete:
					if taken {
						return true
					}
				}
			}
			return false
		}
		if !fails(program) {
			t.Skip("no such pair")
		}
		if short := Shrink(program, fails); len(short.Steps) != 3 {
			t.Errorf("%d steps are left:\n%s", len(short.Steps), Text(short))
		}
	})
}
