package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sinklab/props/sinktest/wire"
)

// kitStep is a request of a program that was played, and what the process has done with files
// until it answered or was killed.
type kitStep struct {
	Request    string   `json:"request"`
	Operations []string `json:"operations,omitempty"`
	Killed     bool     `json:"killed,omitempty"` // at the last operation
}

// kitLog keeps the steps of a program.
type kitLog struct {
	dir   string // of the sink; DIR in the text
	files map[int]string
	steps []kitStep
}

// observe is wire.Options.Observe.
func (l *kitLog) observe(request, answer []byte, operations []wire.Operation) {
	var q struct {
		Do, Record, Dir string
		Checkpoint      *int64
	}
	if json.Unmarshal(request, &q) != nil {
		return
	}
	if q.Dir != "" {
		l.dir, l.files = q.Dir, map[int]string{}
	}
	s := kitStep{Request: q.Do, Killed: answer == nil}
	if q.Record != "" {
		s.Request += " " + q.Record
	}
	if q.Checkpoint != nil {
		s.Request += " " + strconv.FormatInt(*q.Checkpoint, 10)
	}
	for _, o := range operations {
		s.Operations = append(s.Operations, l.operation(o))
	}
	l.steps = append(l.steps, s)
}

// operation is an operation on files as text.
func (l *kitLog) operation(o wire.Operation) string {
	name := func(path string) string {
		if path == filepath.Dir(l.dir) {
			return "DIR/.."
		}
		if rest, inside := strings.CutPrefix(path, l.dir); inside {
			return "DIR" + uuidEnd.ReplaceAllString(rest, "$1")
		}
		return path
	}
	path := name(o.Path)
	switch {
	case o.Do == "open":
		l.files[o.FD] = path
	case path == "":
		path = l.files[o.FD] // a process may tell the number alone
	}
	text := o.Do + " " + path
	switch o.Do {
	case "open":
		text += " " + strings.Join(o.Flags, " ")
	case "write":
		text += fmt.Sprintf(" %q", string(o.Data))
	case "writeat":
		text += fmt.Sprintf(" %d %q", o.At, string(o.Data))
	case "seek", "truncate":
		text += " " + strconv.FormatInt(o.At, 10)
	case "rename":
		text += " " + name(o.To)
	}
	return strings.TrimRight(text, " ")
}

// uuidEnd is a UUID, of which the beginning is enough to tell it from others.
var uuidEnd = regexp.MustCompile(`([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// once leaves out the second time: a program is played twice, to see whether the sink does the
// same again.
func (l *kitLog) once() []kitStep {
	half := len(l.steps) / 2
	same := func(a, b kitStep) bool { return a.Request == b.Request }
	if len(l.steps)%2 == 0 && slices.EqualFunc(l.steps[:half], l.steps[half:], same) {
		return l.steps[:half]
	}
	return l.steps
}

// kitSteps is the log as text. Checks that did nothing are left out.
func kitSteps(steps []kitStep) string {
	var b strings.Builder
	for _, s := range steps {
		if s.Request == "tick" && len(s.Operations) == 0 {
			continue
		}
		fmt.Fprintf(&b, "    %s\n", s.Request)
		for _, o := range s.Operations {
			fmt.Fprintf(&b, "        %s\n", o)
		}
		if s.Killed {
			b.WriteString("        killed here\n")
		}
	}
	return b.String()
}
