package props

import (
	"errors"
	"regexp"
	"strings"

	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// text is an error as an answer: a crash and the rules have no text of the sink's own.
// UUIDs are numbered, so a script has the same answers whatever the seed.
func (s *session) text(err error) string {
	if errors.Is(err, errCrashed) {
		return "crashed"
	}
	if errors.Is(err, sinkcore.ErrInProgressMissing) {
		return "in-progress file missing"
	}
	text := uuids.ReplaceAllStringFunc(err.Error(), s.runner.Number)
	return strings.ReplaceAll(text, "\n", "; ") // joined errors; an answer is a line
}

// uuids are the random parts of file names.
var uuids = regexp.MustCompile(`[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}`)

// record adds a step to the program as it was played. One that was passed over is in it
// too, without answers, so that the numbers of steps stay the same.
func (s *session) record(o sim.Operation, line int, answers []sim.Answer) {
	s.verdict.Played.Steps = append(s.verdict.Played.Steps, sim.Step{Operation: o, Line: line, Answers: answers})
}
