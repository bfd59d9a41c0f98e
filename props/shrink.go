package props

import (
	"slices"

	"pgregory.net/rapid"

	"sinklab/sinkcore/sim"
)

// Drawn gives the program that belongs to a number: always the same one. It is for runs
// longer than a test, which have to be able to go on where they stopped.
func Drawn(number int) sim.Scenario {
	return rapid.Custom(DrawProgram).Example(number)
}

// Shrink leaves out steps of a program as long as fails stays true for what is left; the
// open stays. Fails should insist on one rule: else a program that breaks a rare rule
// shrinks to one that breaks a frequent one.
func Shrink(program sim.Scenario, fails func(sim.Scenario) bool) sim.Scenario {
	for size := len(program.Steps) / 2; size >= 1; {
		shorter := false
		for from := len(program.Steps) - size; from >= 1; from -= size {
			if from+size > len(program.Steps) {
				continue
			}
			candidate := program
			candidate.Steps = slices.Delete(slices.Clone(program.Steps), from, from+size)
			if fails(candidate) {
				program, shorter = candidate, true
			}
		}
		if !shorter || size > len(program.Steps)-1 {
			size /= 2
		}
	}
	return program
}
