package fstestx

import (
	"fmt"
	"strings"
)

// Program is a sequence of calls. Its text form has one [Op] a line; blank
// lines and lines that begin with # are not read.
type Program []Op

// String returns the text form, which [ParseProgram] reads.
func (p Program) String() string {
	var b strings.Builder
	for _, o := range p {
		b.WriteString(o.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// GoString returns the text form, so that tools which print with %#v show
// what can be replayed.
func (p Program) GoString() string { return "\n" + p.String() }

// ParseProgram reads the text form of a Program. The error names the line.
func ParseProgram(text string) (Program, error) {
	var p Program
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		o, err := ParseOp(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		p = append(p, o)
	}
	return p, nil
}

// Shrink returns a shorter program for which fails still holds, by leaving out
// runs of operations, long ones first, until no single one can be left out.
// It returns p itself if fails does not hold for it. fails must give the same
// answer for the same program.
func Shrink(p Program, fails func(Program) bool) Program {
	if !fails(p) {
		return p
	}
	for size := len(p) / 2; size > 0; {
		shorter := false
		for at := 0; at+size <= len(p); {
			rest := append(append(Program(nil), p[:at]...), p[at+size:]...)
			if fails(rest) {
				p, shorter = rest, true
			} else {
				at++
			}
		}
		if size > 1 || !shorter {
			size /= 2
		}
	}
	return p
}
