package live

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"sinklab/sinkcore"
)

// Stored is what a checkpoint file holds: all that a new process needs to go on.
type Stored struct {
	Checkpoint sinkcore.Checkpoint
	Position   []byte // of the source, as it gave it; nil before its first batch
	Taken      int64  // when, in milliseconds since 1970
}

// A checkpoint file, integers big-endian:
//
//	offset  bytes  what
//	0       4      "LIVE"
//	4       1      version, 1
//	5       8      id of the checkpoint, int64
//	13      8      when it was taken, int64, milliseconds since 1970
//	21      4      length n of the position
//	25      n      the position
//	25+n    4      length m of the checkpoint
//	29+n    m      the checkpoint, as [sinkcore.Checkpoint.MarshalBinary] makes it
//	29+n+m  4      CRC-32C (Castagnoli) of everything before
const (
	storedMagic   = "LIVE"
	storedVersion = 1
	storedFixed   = 33 // bytes of all but the position and the checkpoint
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MarshalBinary encodes the content of a checkpoint file. It fails only for a
// checkpoint that no job makes.
func (s Stored) MarshalBinary() ([]byte, error) {
	state, err := s.Checkpoint.MarshalBinary()
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, storedFixed+len(s.Position)+len(state))
	b = append(b, storedMagic...)
	b = append(b, storedVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(s.Checkpoint.ID))
	b = binary.BigEndian.AppendUint64(b, uint64(s.Taken))
	b = binary.BigEndian.AppendUint32(b, uint32(len(s.Position)))
	b = append(b, s.Position...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(state)))
	b = append(b, state...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// UnmarshalBinary decodes what MarshalBinary made. The error wraps [ErrDamaged] or
// [ErrVersion]; s is unchanged then.
func (s *Stored) UnmarshalBinary(data []byte) error {
	damaged := func(problem string) error { return fmt.Errorf("%w: %s", ErrDamaged, problem) }
	if len(data) < storedFixed {
		return damaged(fmt.Sprintf("it has %d bytes, the shortest has %d", len(data), storedFixed))
	}
	if string(data[:4]) != storedMagic {
		return damaged("it does not begin with " + storedMagic)
	}
	body, sum := data[:len(data)-4], binary.BigEndian.Uint32(data[len(data)-4:])
	if got := crc32.Checksum(body, castagnoli); got != sum {
		// Before the version: a damaged version byte must not pass for a newer version.
		return damaged(fmt.Sprintf("its checksum is %08x, recorded is %08x", got, sum))
	}
	if version := data[4]; version != storedVersion {
		return fmt.Errorf("%w: %d, this one reads %d", ErrVersion, version, storedVersion)
	}
	// The checksum was right, so what follows only fails for what another program wrote.
	position, rest, ok := cutSized(body[21:])
	if !ok {
		return damaged("its position is cut off")
	}
	state, rest, ok := cutSized(rest)
	if !ok || len(rest) > 0 {
		return damaged("its lengths do not add up")
	}
	read := Stored{Taken: int64(binary.BigEndian.Uint64(data[13:]))}
	// A copy, so that the whole file need not be kept for it. No position and an empty one
	// are the same: the beginning.
	if len(position) > 0 {
		read.Position = append([]byte(nil), position...)
	}
	if err := read.Checkpoint.UnmarshalBinary(state); err != nil {
		if errors.Is(err, sinkcore.ErrStateVersion) {
			return fmt.Errorf("%w: %w", ErrVersion, err)
		}
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if id := int64(binary.BigEndian.Uint64(data[5:])); id != read.Checkpoint.ID {
		return damaged(fmt.Sprintf("it names checkpoint %d and holds %d", id, read.Checkpoint.ID))
	}
	*s = read
	return nil
}

// cutSized takes a length and as many bytes off the front.
func cutSized(b []byte) (field, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := uint64(binary.BigEndian.Uint32(b))
	if b = b[4:]; uint64(len(b)) < n {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// publishes is the number of parts that completing the checkpoint makes visible, as
// [sinkcore.Committer.Complete] has it.
func publishes(c sinkcore.Checkpoint) (n int) {
	for _, committer := range c.Committers {
		for _, batch := range committer.Batches {
			if batch.Checkpoint <= c.ID {
				n += len(batch.Committables)
			}
		}
	}
	return n
}
