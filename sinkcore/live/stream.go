package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
)

// Stream is a source of the lines of a reader that cannot be set back, such as standard
// input or a pipe. Its positions count what was read, over all processes that went on
// from one another.
//
// What a stream gives and a crash takes before the next checkpoint is not given again.
// So the one who feeds it must go on after the line that [StreamPosition] names, or send
// all again and set Resent.
//
// Like wc -l's, a last line may lack its newline: it counts as a line at the end of the
// input. When the context is done first, an unfinished line is not given.
type Stream struct {
	reader io.Reader
	resent bool

	chunks   chan chunk
	rest     []byte // of an unfinished line
	position StreamPosition
	skip     int64 // lines to pass over

	err        error // how the reader ended
	unfinished bool  // the last line has no newline
}

// StreamPosition is the position of a [Stream]; its binary form is JSON.
type StreamPosition struct {
	Lines int64 `json:"lines"` // given, those of earlier processes included
	Bytes int64 `json:"bytes"` // of them, newlines included
}

// chunk is what one call of the reader returned.
type chunk struct {
	data []byte
	err  error
}

// NewStream returns a source of lines. Resent says that the reader begins again with the
// first line that was ever sent, and what a checkpoint covers is to be passed over.
func NewStream(reader io.Reader, resent bool) *Stream {
	return &Stream{reader: reader, resent: resent}
}

// streamTag tells the positions of sources apart.
const streamTag = "stream "

// MarshalBinary encodes the position. It never fails.
func (p StreamPosition) MarshalBinary() ([]byte, error) { return marshalPosition(streamTag, p) }

// UnmarshalBinary decodes what MarshalBinary made. The error wraps [ErrPosition].
func (p *StreamPosition) UnmarshalBinary(data []byte) error {
	return unmarshalPosition(streamTag, data, p)
}

func marshalPosition(tag string, p any) ([]byte, error) {
	b, err := json.Marshal(p)
	return append([]byte(tag), b...), err
}

func unmarshalPosition(tag string, data []byte, p any) error {
	b, ok := bytes.CutPrefix(data, []byte(tag))
	if !ok {
		return newError("set back the source", "", ErrPosition, "give the kind of input that the checkpoint was taken of")
	}
	if err := json.Unmarshal(b, p); err != nil {
		return newError("set back the source", "", fmt.Errorf("%w: %w", ErrPosition, err), "")
	}
	return nil
}

// Seek takes over the count, and with Resent passes over as many lines as it says. The
// error wraps [ErrPosition].
func (s *Stream) Seek(position []byte) error {
	if position == nil {
		return nil
	}
	if err := s.position.UnmarshalBinary(position); err != nil {
		return err
	}
	if s.resent {
		s.skip = s.position.Lines
	}
	return nil
}

// Read returns the lines that the reader gives at once. With Resent the error wraps
// [ErrSourceShorter] if the input ends before the first line that is new.
//
// A call of the reader cannot be broken off, so when ctx is done a goroutine may stay
// behind in it until the reader returns.
func (s *Stream) Read(ctx context.Context) (Batch[[]byte], error) {
	// Reading starts with the first call, when somebody wants to know.
	if s.chunks == nil {
		s.chunks = make(chan chunk)
		go s.pump(ctx)
	}
	// Chunks come one at a time, so no more than one is read that is not given.
	for s.err == nil {
		select {
		case <-ctx.Done():
			return Batch[[]byte]{}, ctx.Err()
		case c := <-s.chunks:
			if lines := s.passOver(s.take(c)); len(lines) > 0 {
				return s.batch(lines)
			}
		}
	}
	// The reader has ended, and all before it is given.
	switch {
	case s.err == io.EOF && s.skip > 0:
		return Batch[[]byte]{}, newError("read", "", fmt.Errorf("%w: %d lines are missing that were read before", ErrSourceShorter, s.skip),
			"send the whole input again")
	case s.err == io.EOF:
		return Batch[[]byte]{}, io.EOF
	}
	return Batch[[]byte]{}, newError("read", "", s.err, "")
}

// take returns the lines that a chunk ends, and keeps the rest and the error.
func (s *Stream) take(c chunk) [][]byte {
	s.err = c.err
	lines, rest := splitLines(append(s.rest, c.data...))
	s.rest = rest
	if err := checkLength(lines, rest, s.position.Lines+1); err != nil {
		s.err = err
		return nil
	}
	if s.err == io.EOF && len(rest) > 0 {
		s.unfinished = true
		lines = append(lines, rest)
	}
	return lines
}

// batch counts lines.
func (s *Stream) batch(lines [][]byte) (Batch[[]byte], error) {
	s.position.Lines += int64(len(lines))
	for _, line := range lines {
		s.position.Bytes += int64(len(line)) + 1
	}
	if s.unfinished {
		s.position.Bytes-- // the newline that is not there
	}
	position, err := s.position.MarshalBinary()
	return Batch[[]byte]{lines, position}, err
}

// passOver drops the lines that a checkpoint covers.
func (s *Stream) passOver(lines [][]byte) [][]byte {
	n := min(s.skip, int64(len(lines)))
	s.skip -= n
	return lines[n:]
}

// pump calls the reader until it fails or nobody wants to know any more.
func (s *Stream) pump(ctx context.Context) {
	buffer := make([]byte, chunkSize)
	for {
		// A terminal or a pipe often gives a single line; a copy of it costs less than a
		// new buffer for each.
		n, err := s.reader.Read(buffer)
		select {
		case s.chunks <- chunk{bytes.Clone(buffer[:n]), err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

var _ Source[[]byte] = (*Stream)(nil)
