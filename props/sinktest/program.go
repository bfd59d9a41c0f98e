package sinktest

import (
	"fmt"
	"strconv"
	"strings"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// lines is a program as its text, which is what is drawn, shrunk and printed.
type lines []string

func (l lines) text() string { return strings.Join(l, "\n") + "\n" }

// parse reads a program.
func parse(l lines) (sim.Scenario, error) {
	scenarios, err := sim.Parse(strings.NewReader(l.text()), props.Operations())
	if err != nil {
		return sim.Scenario{}, err
	}
	if len(scenarios) != 1 {
		return sim.Scenario{}, fmt.Errorf("sinktest: %w: %d scenarios instead of one", sim.ErrProgram, len(scenarios))
	}
	return scenarios[0], nil
}

// openLine is the first line of a program. The clock goes in steps of a millisecond, so
// that timers are punctual.
func openLine(k Kind, parallelism int) string {
	words := []string{"open", "tick=1"}
	if k.Open != "" {
		words = append(words, k.Open)
	}
	if parallelism > 1 {
		words = append(words, "parallelism="+strconv.Itoa(parallelism))
	}
	return strings.Join(words, " ")
}

// sensible drops the lines that make no sense after others have been taken away: what
// refers to a checkpoint that the program does not take, and writes after the end of the
// input. Shrinking without it would slide from a defect of the sink to one of the program.
func sensible(l lines) lines {
	out := make(lines, 0, len(l))
	taken := map[string]bool{}
	ended := map[string]bool{}
	for _, line := range l {
		words := strings.Fields(line)
		switch words[0] {
		case "checkpoint", "savepoint":
			taken[words[1]] = true
		case "complete", "abort":
			if !taken[words[1]] {
				continue
			}
		case "restore":
			if !taken[words[1]] {
				continue
			}
			clear(ended)
		case "replay":
			// Only the restore before it gives the source something to send again.
			if len(out) == 0 || !strings.HasPrefix(out[len(out)-1], "restore ") {
				continue
			}
		case "recover":
			clear(ended)
		case "write":
			if ended["all"] || ended[subtaskOf(words)] {
				continue
			}
		case "end":
			if len(words) == 1 {
				ended["all"] = true
			} else {
				ended[words[1]] = true
			}
		}
		out = append(out, line)
		if words[0] == "restore" {
			// A source that cannot be set back is not what the rules are about.
			out = append(out, "replay")
		}
	}
	return out
}

// legal tells whether a program holds nothing that the kind lacks. Only aborts can come into
// a program by taking something away: a checkpoint is left without its completion.
func (k Kind) legal(l lines) bool {
	if !k.lacks(Aborts) {
		return true
	}
	pending, saved := "", "" // the newest that have not completed
	for _, line := range l {
		switch words := strings.Fields(line); words[0] {
		case "checkpoint":
			if pending != "" {
				return false
			}
			pending = words[1]
		case "savepoint":
			saved = words[1]
		case "complete":
			switch words[1] {
			case pending:
				pending = ""
			case saved:
				saved = ""
			default:
				return false
			}
		}
	}
	return pending == ""
}

// subtaskOf is the subtask of a write.
func subtaskOf(words []string) string {
	if len(words) < 3 {
		return "0"
	}
	return words[2]
}
