package sinkcore

import (
	"encoding/hex"
	"fmt"
	"io"
)

// newUID reads a random version 4 UUID in lower case (RFC 9562, section 5.4).
// Uniqueness of names rests on it: no clock, no probing of the directory, no counter
// that has to survive a crash. Two parts of a process that starts anew within the same
// millisecond must not collide, nor those of two jobs in one directory.
func newUID(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("reading random bytes: %w", err)
	}
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	// Two names are drawn for each part, so this is not left to package fmt.
	var text [36]byte
	at := 0
	for i, group := range [...][]byte{b[:4], b[4:6], b[6:8], b[8:10], b[10:]} {
		if i > 0 {
			text[at] = '-'
			at++
		}
		at += hex.Encode(text[at:], group)
	}
	return string(text[:]), nil
}
