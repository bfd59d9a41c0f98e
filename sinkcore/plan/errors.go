package plan

import "errors"

var (
	// ErrUnknownPolicy is wrapped by the error for a rolling policy that does not say how it
	// behaves. Give it a method Limits or Predict, or play it in a simulation.
	ErrUnknownPolicy = errors.New("the policy cannot be predicted")

	// ErrTooLong is wrapped by the error for settings under which so many files with
	// different lives are written that to go through them takes too long and too much
	// memory: some millions. Look at a shorter Duration, or fewer lanes.
	ErrTooLong = errors.New("too many files to go through")

	// ErrImpossible is wrapped by the error for bounds that no settings meet. From [Solve]
	// it is an [*ImpossibleError], which has the proof and the nearest settings.
	ErrImpossible = errors.New("no settings meet the bounds")
)
