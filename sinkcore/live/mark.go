package live

import (
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/spf13/afero"
)

// markWindow is how many bytes at the beginning of a file and before the offset tell it
// from others. The beginning alone would not do for files that all begin with one header,
// nor the end alone for a log that repeats itself; a checksum of all would have to read
// all at each start.
const markWindow = 4096

// mark is an offset in a file and what is known of the bytes before it. Inode numbers
// would be less: a copy has another, and a file made after a removal can have the same.
type mark struct {
	offset int64
	head   uint32 // CRC-32C of the first bytes, at most a window
	tail   []byte // the last bytes, at most a window
}

// add goes on over bytes that were read.
func (m *mark) add(b []byte) {
	// The head is complete after the first window; what comes later does not change it.
	if left := markWindow - m.offset; left > 0 {
		m.head = crc32.Update(m.head, castagnoli, b[:min(left, int64(len(b)))])
	}
	m.offset += int64(len(b))
	if len(b) >= markWindow {
		m.tail = append(m.tail[:0], b[len(b)-markWindow:]...)
		return
	}
	m.tail = append(m.tail, b...)
	if over := len(m.tail) - markWindow; over > 0 {
		m.tail = slices.Delete(m.tail, 0, over)
	}
}

// tailSum is what a position keeps of the tail.
func (m *mark) tailSum() uint32 { return crc32.Checksum(m.tail, castagnoli) }

// verify checks that a file begins with the bytes that were read, and sets it to the
// offset. Without a tail in memory, in a new process, its checksum is given and it is
// read. The error wraps [ErrSourceShorter] or [ErrSourceChanged].
func (m *mark) verify(f afero.File, tail *uint32) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < m.offset {
		return fmt.Errorf("%w: %d of %d bytes", ErrSourceShorter, info.Size(), m.offset)
	}
	want := m.tailSum()
	if tail != nil {
		want = *tail
	}
	// In a file shorter than the window head and tail are the same bytes.
	window := min(m.offset, markWindow)
	head, last := make([]byte, window), make([]byte, window)
	if _, err := io.ReadFull(f, head); err != nil {
		return err
	}
	if _, err := f.Seek(m.offset-window, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.ReadFull(f, last); err != nil {
		return err
	}
	if crc32.Checksum(head, castagnoli) != m.head || crc32.Checksum(last, castagnoli) != want {
		return fmt.Errorf("%w: the %d bytes that were read have changed", ErrSourceChanged, m.offset)
	}
	m.tail = last
	_, err = f.Seek(m.offset, io.SeekStart) // a file may have no such place, a pipe for example
	return err
}
