package live

import (
	"bytes"
	"fmt"
	"slices"
)

// MaxLine is how many bytes a line may have, its newline not counted.
const MaxLine = 16 << 20

// chunkSize is how much is read at once, in bytes. It bounds how long a batch takes, and
// with it how late a timer can be.
const chunkSize = 64 << 10

// splitLines cuts whole lines off the front, without their newlines. A carriage return
// stays part of its line. The lines share the memory of b.
func splitLines(b []byte) (lines [][]byte, rest []byte) {
	lines = make([][]byte, 0, bytes.Count(b, newline))
	for {
		line, after, found := bytes.Cut(b, newline)
		if !found {
			return lines, b
		}
		lines = append(lines, line[:len(line):len(line)]) // who appends to one must not reach the next
		b = after
	}
}

var newline = []byte{'\n'}

// room returns an unfinished line with place after it to read more into. What was handed
// out before it may share its memory, and is not touched.
func room(rest []byte) []byte {
	if cap(rest)-len(rest) >= chunkSize/16 {
		return rest
	}
	return slices.Grow(rest, chunkSize)
}

// checkLength refuses a line that is longer than [MaxLine], whole or not. Only the first
// of a chunk can be: a chunk is shorter than that.
func checkLength(lines [][]byte, rest []byte, number int64) error {
	first := rest
	if len(lines) > 0 {
		first = lines[0]
	}
	if len(first) > MaxLine {
		return fmt.Errorf("%w: line %d has more than %d bytes", ErrLineTooLong, number, MaxLine)
	}
	return nil
}
