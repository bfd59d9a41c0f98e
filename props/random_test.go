package props

import (
	"testing"

	"pgregory.net/rapid"
)

func TestPropRandom(t *testing.T) {
	reached, exercised := map[string]int{}, map[Rule]int{}
	rapid.Check(t, func(t *rapid.T) {
		program := DrawProgram(t)
		v, err := Play(program, Options{Seed: 1})
		if err != nil {
			t.Fatalf("%v\n%s", err, Text(program))
		}
		for k, n := range v.Reached {
			reached[k] += n
		}
		for k, n := range v.Exercised {
			exercised[k] += n
		}
		if v.Violation != nil {
			t.Fatalf("%v\n%s", v.Violation, Text(program))
		}
	})
	t.Log(reached)
	t.Log(exercised)
}
