package live

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
)

// FilesOptions says what [NewFiles] reads.
type FilesOptions struct {
	// Paths are the files, read one after the other. A job that goes on has to be given
	// those that it has read from, in the same order; new ones may come after them. Files
	// before that of the position need not be there any more.
	Paths []string

	// Follow goes on at the end of the last file when it grows, as tail -f does, so that
	// the input never ends.
	Follow bool

	// Poll is how long to wait with Follow before looking again, in whole milliseconds;
	// 0 means 100 ms. Clock is what to wait on; nil means [SystemClock].
	Poll  time.Duration
	Clock Clock

	// Fs is where the files are; nil means the operating system's file system.
	Fs afero.Fs
}

// Files is a source of the lines of files, which can be set back: its position is a file
// and an offset in it. That the bytes before the offset are the same as when they were
// read is checked by their beginning and their end, wherever the file is opened: at a
// start, and with Follow each time it has grown. So a copy of the file is as good as the
// file, and one that was rotated, truncated or replaced is found out.
//
// A last line without a newline counts as a line, unless the file is followed: then it
// is not whole yet.
type Files struct {
	options FilesOptions
	names   uint32 // see FilesPosition.Names
	index   int    // of the current file
	at      mark   // after the last line given, in the current file
	lines   int64  // given, of all files

	file       afero.File // open, or nil
	rest       []byte     // read beyond at, part of an unfinished line
	unfinished bool       // the last line of the file was given without a newline
}

// FilesPosition is the position of a [Files]; its binary form is JSON.
//
// The paths that were read before are there as a checksum only, so that a position has
// the same size after a thousand files.
type FilesPosition struct {
	Index  int    `json:"index"`  // of the file, from 0
	File   string `json:"file"`   // its path, to be shown
	Names  uint32 `json:"names"`  // CRC-32C of the paths up to it, each with a NUL after it
	Offset int64  `json:"offset"` // of the next line
	Head   uint32 `json:"head"`   // CRC-32C of the first bytes of the file, at most 4 KiB
	Tail   uint32 `json:"tail"`   // CRC-32C of the bytes before the offset, at most 4 KiB
	Lines  int64  `json:"lines"`  // given, of all files

	// Unfinished tells that the last line before the offset had no newline.
	Unfinished bool `json:"unfinished,omitempty"`
}

// filesTag tells the positions of sources apart.
const filesTag = "files "

// MarshalBinary encodes the position. It never fails.
func (p FilesPosition) MarshalBinary() ([]byte, error) { return marshalPosition(filesTag, p) }

// UnmarshalBinary decodes what MarshalBinary made. The error wraps [ErrPosition].
func (p *FilesPosition) UnmarshalBinary(data []byte) error {
	return unmarshalPosition(filesTag, data, p)
}

// NewFiles returns a source of lines. The error wraps [sinkcore.ErrConfig].
func NewFiles(o FilesOptions) (*Files, error) {
	if len(o.Paths) == 0 {
		return nil, newError("start", "", fmt.Errorf("%w: no input files", sinkcore.ErrConfig), "")
	}
	seen := map[string]bool{}
	for _, path := range o.Paths {
		if seen[path] {
			return nil, newError("start", path, fmt.Errorf("%w: the input file is given twice", sinkcore.ErrConfig), "")
		}
		seen[path] = true
	}
	if o.Poll == 0 {
		o.Poll = 100 * time.Millisecond
	}
	if o.Poll < time.Millisecond || o.Poll%time.Millisecond != 0 {
		return nil, newError("start", "", fmt.Errorf("%w: Poll %v: must be whole milliseconds, at least 1", sinkcore.ErrConfig, o.Poll), "")
	}
	if o.Clock == nil {
		o.Clock = SystemClock()
	}
	if o.Fs == nil {
		o.Fs = afero.NewOsFs()
	}
	return &Files{options: o}, nil
}

// addName goes on with the checksum of paths.
func addName(sum uint32, path string) uint32 {
	return crc32.Update(sum, castagnoli, append([]byte(path), 0))
}

// Seek goes to a position and checks that the file is the one that was read. Every file
// that is still to be read must be there, so that a wrong name is not found out hours
// later. The error wraps [ErrPosition], [ErrSourceMissing], [ErrSourceShorter] or
// [ErrSourceChanged].
func (f *Files) Seek(position []byte) error {
	var p FilesPosition
	if position != nil {
		if err := p.UnmarshalBinary(position); err != nil {
			return err
		}
	}
	paths := f.options.Paths
	if p.Index < 0 || p.Index >= len(paths) || p.Offset < 0 {
		return notOnTheList(p)
	}
	sum := uint32(0)
	for _, path := range paths[:p.Index+1] {
		sum = addName(sum, path)
	}
	if position != nil && sum != p.Names {
		return notOnTheList(p)
	}
	f.index, f.names, f.lines, f.unfinished = p.Index, sum, p.Lines, p.Unfinished
	// The bytes at the tail are read when the file is opened.
	f.at = mark{offset: p.Offset, head: p.Head}
	for _, path := range paths[p.Index:] {
		if _, err := f.options.Fs.Stat(path); err != nil {
			return failed("find", path, err)
		}
	}
	if position == nil {
		return nil
	}
	return f.open(&p.Tail)
}

// notOnTheList is the error for a list that is not that of the checkpoint, or shorter.
func notOnTheList(p FilesPosition) error {
	return newError("set back the source", p.File,
		fmt.Errorf("%w: it was read as number %d, and it or one before it has not its place on the list", ErrSourceChanged, p.Index+1),
		"give the files of the checkpoint in its order, and new ones after them")
}

// Read returns the lines that one read of the file ends. The error, besides io.EOF and
// that of ctx, wraps [ErrSourceShorter] or [ErrSourceChanged] where a followed file is
// not what it was, [ErrLineTooLong], or is one of the file system.
func (f *Files) Read(ctx context.Context) (Batch[[]byte], error) {
	for {
		if err := ctx.Err(); err != nil {
			return Batch[[]byte]{}, errors.Join(err, f.close())
		}
		if f.file == nil {
			if err := f.open(nil); err != nil {
				return Batch[[]byte]{}, err
			}
		}
		lines, ended, err := f.readLines()
		if err != nil {
			return Batch[[]byte]{}, errors.Join(f.failed("read", err), f.close())
		}
		if len(lines) > 0 {
			return f.batch(lines)
		}
		// A read that ends no line is within a long one, or at the end of the file.
		if !ended {
			continue
		}
		switch last := f.index == len(f.options.Paths)-1; {
		case last && f.options.Follow:
			err = f.await(ctx)
		case last:
			if err := f.close(); err != nil {
				return Batch[[]byte]{}, err
			}
			return Batch[[]byte]{}, io.EOF
		default:
			err = f.next()
		}
		if err != nil {
			return Batch[[]byte]{}, err
		}
	}
}

// readLines reads once, and returns the lines that it ends, or at the end of the file the
// unfinished one.
func (f *Files) readLines() (lines [][]byte, ended bool, err error) {
	buffer := room(f.rest)
	n, err := f.file.Read(buffer[len(buffer):cap(buffer)])
	if err != nil && err != io.EOF {
		return nil, false, err
	}
	buffer = buffer[:len(buffer)+n]
	if f.unfinished && len(buffer) > 0 {
		// The last line given had no newline yet; only one may come now.
		if buffer[0] != '\n' {
			return nil, false, fmt.Errorf("%w: its last line had no newline when it was read, and has grown since", ErrSourceChanged)
		}
		f.unfinished = false
		f.at.add(buffer[:1])
		f.rest = buffer[1:]
		return nil, false, nil
	}
	// The mark moves over whole lines only: the rest is read again by whoever opens the
	// file at it.
	lines, rest := splitLines(buffer)
	if err := checkLength(lines, rest, f.lines+1); err != nil {
		return nil, false, err
	}
	f.at.add(buffer[:len(buffer)-len(rest)])
	f.rest = rest
	// A file may give its last bytes together with io.EOF; then the next read says it
	// once more.
	ended = n == 0 && err == io.EOF
	if ended && len(rest) > 0 && !f.follows() {
		lines = append(lines, rest)
		f.at.add(rest)
		f.rest, f.unfinished = nil, true
	}
	f.lines += int64(len(lines))
	return lines, ended, nil
}

// follows tells whether more may come after the end of the file that is read.
func (f *Files) follows() bool { return f.options.Follow && f.index == len(f.options.Paths)-1 }

// next begins with the next file.
func (f *Files) next() error {
	if err := f.close(); err != nil {
		return err
	}
	// From the next batch on the position is in the new file, and this one is done with.
	f.index++
	f.names = addName(f.names, f.path())
	f.at, f.unfinished = mark{}, false
	return nil
}

// await waits until the file has grown. It is closed while it does not, and found again by
// its path, so that one put into its place is noticed.
func (f *Files) await(ctx context.Context) error {
	seen := f.at.offset + int64(len(f.rest))
	if err := f.close(); err != nil {
		return err
	}
	for {
		fired, stop := f.options.Clock.Timer(f.options.Clock.Now() + f.options.Poll.Milliseconds())
		select {
		case <-ctx.Done():
			stop()
			return ctx.Err()
		case <-fired:
		}
		info, err := f.options.Fs.Stat(f.path())
		if err != nil {
			return f.failed("follow", err)
		}
		// A file put into its place that happens to have the same size is found out when it
		// grows; until then there is nothing to read from it either.
		if info.Size() != seen {
			return nil // opening it looks whether it has grown or is another
		}
	}
}

// open opens the file at the mark, after a look at whether the bytes before it are those
// that were read. Tail is their checksum if the mark does not have them itself.
func (f *Files) open(tail *uint32) error {
	file, err := f.options.Fs.Open(f.path())
	if err != nil {
		return f.failed("open", err)
	}
	f.file, f.rest = file, nil
	if err := f.at.verify(file, tail); err != nil {
		return errors.Join(f.failed("open", err), f.close())
	}
	return nil
}

// close closes the file, if one is open. What was read beyond the mark is read again.
func (f *Files) close() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file, f.rest = nil, nil
	if err != nil {
		return f.failed("close", err)
	}
	return nil
}

// path is that of the current file.
func (f *Files) path() string { return f.options.Paths[f.index] }

func (f *Files) failed(op string, err error) error { return failed(op, f.path(), err) }

// failed says what is to be done about an error of an input file.
func failed(op, path string, err error) error {
	hint := ""
	switch {
	case errors.Is(err, ErrSourceShorter), errors.Is(err, ErrSourceChanged):
		hint = "put the file back as it was and under its name; what is new goes into a file of its own, given after it"
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%w: %w", ErrSourceMissing, err)
		hint = "put the file back or correct its name"
	}
	return newError(op, path, err, hint)
}

// batch puts lines together with the position after them.
func (f *Files) batch(lines [][]byte) (Batch[[]byte], error) {
	position, err := FilesPosition{
		Index: f.index, File: f.path(), Names: f.names, Lines: f.lines, Unfinished: f.unfinished,
		Offset: f.at.offset, Head: f.at.head, Tail: f.at.tailSum(),
	}.MarshalBinary()
	return Batch[[]byte]{lines, position}, err
}

var _ Source[[]byte] = (*Files)(nil)
