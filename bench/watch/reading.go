package watch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/afero"
)

// maxLine is the longest line that is taken for a record, in bytes.
const maxLine = 16 << 20

// reading is a file that is being read. One look may be too short for it.
type reading struct {
	*file
	source afero.File
	lines  *bufio.Reader
	parser parser
	long   []byte // the beginning of a line that the buffer of lines is too small for
	line   int64  // number of the line, from 1
	bytes  int64
}

// read reads files that have been found, in their order, until so many bytes are read.
func (w *Watcher) read(budget int64) {
	for budget > 0 {
		if w.open == nil {
			if len(w.queue) == 0 {
				w.queue = nil // so that what was at its beginning is not held
				return
			}
			f := w.queue[0]
			w.queue[0] = nil
			w.queue = w.queue[1:]
			w.begin(f)
			continue
		}
		before := w.open.bytes
		done := w.readLine(w.open)
		budget -= w.open.bytes - before
		if done {
			w.close()
		}
	}
}

// begin opens a file. It may have gone, or have changed, since it was found.
func (w *Watcher) begin(f *file) {
	source, err := w.opts.Fs.Open(f.path())
	if err != nil {
		f.read = true
		w.unread(f, err)
		return
	}
	info, err := source.Stat()
	if err != nil {
		f.read = true
		w.unread(f, errors.Join(err, source.Close()))
		return
	}
	if !f.same(info) {
		w.change(f, info)
	}
	const buffer = 64 << 10
	w.open = &reading{file: f, source: source, lines: bufio.NewReaderSize(source, buffer), parser: w.opts.Format.parser()}
}

func (w *Watcher) unread(f *file, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		w.vanish(f)
		w.counts.VanishedUnread++
		w.problems.add(Problem{Kind: VanishedUnread, Path: w.relative(f.path()), Text: "it had gone before it could be read"})
		return
	}
	w.counts.Unreadable++
	w.problems.add(Problem{Kind: Unreadable, Path: w.relative(f.path()), Text: err.Error()})
}

// close ends the file that is being read, if there is one.
func (w *Watcher) close() {
	r := w.open
	if r == nil {
		return
	}
	w.open = nil
	r.read = true
	if info, err := r.source.Stat(); err == nil && !r.same(info) {
		w.change(r.file, info)
	}
	// Nothing was written, so nothing can be lost in closing.
	_ = r.source.Close()
}

// readLine reads one line, or a piece of one that is very long, and tells whether the file
// has ended.
func (w *Watcher) readLine(r *reading) (done bool) {
	piece, err := r.lines.ReadSlice('\n')
	r.bytes += int64(len(piece))
	if err == bufio.ErrBufferFull || len(r.long) > 0 {
		// Of a line that is too long so much is kept that it is seen to be.
		r.long = append(r.long, piece[:min(len(piece), maxLine+1-len(r.long))]...)
		if err == bufio.ErrBufferFull {
			return false
		}
		piece, r.long = r.long, r.long[:0]
	}
	if err != nil && err != io.EOF {
		w.unread(r.file, err)
		return true
	}
	if len(piece) > 0 {
		r.line++
		w.takeLine(r, piece, err == nil)
	}
	return err != nil
}

// takeLine takes in a line. One without an end is torn, unless it can be seen to be whole.
func (w *Watcher) takeLine(r *reading, line []byte, ended bool) {
	text := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	if len(text) > maxLine {
		w.foreign(r, fmt.Errorf("longer than %d MiB", maxLine>>20), nil)
		return
	}
	rec, err := r.parser.parse(text)
	switch {
	case !ended && (err != nil || !r.parser.whole()):
		w.torn(r, text)
	case err == errHeader:
	case err != nil:
		w.foreign(r, err, text)
	default:
		w.takeRecord(r, rec)
	}
}

// torn and foreign count nothing in a file that was there before. Only its ids matter.
func (w *Watcher) torn(r *reading, text []byte) {
	if r.before {
		return
	}
	w.counts.Torn++
	w.problems.add(Problem{Kind: Torn, Path: w.relative(r.path()), Line: r.line, Text: quote(text)})
}

func (w *Watcher) foreign(r *reading, err error, text []byte) {
	if r.before {
		return
	}
	w.counts.Foreign++
	why := err.Error()
	if text != nil {
		why += ": " + quote(text)
	}
	w.problems.add(Problem{Kind: Foreign, Path: w.relative(r.path()), Line: r.line, Text: why})
}

func quote(text []byte) string {
	return fmt.Sprintf("%q", shortened(strings.ToValidUTF8(string(text[:min(len(text), 100)]), "?")))
}

// takeRecord takes in a record.
func (w *Watcher) takeRecord(r *reading, rec record) {
	if w.ids != nil {
		id := hash(rec.id)
		if _, there := w.ids[id]; there {
			w.counts.Doubled++
			w.problems.add(Problem{Kind: Doubled, Path: w.relative(r.path()), Line: r.line, Text: quote(rec.id)})
		}
		w.ids[id] = struct{}{}
	}
	if r.before {
		return
	}
	w.counts.Records++
	shown := &w.files[r.index]
	shown.Records++
	if !rec.hasTime {
		return
	}
	latency := shown.Seen - rec.time
	if latency < 0 {
		w.counts.Early++
		w.problems.add(Problem{Kind: Early, Path: w.relative(r.path()), Line: r.line, Text: fmt.Sprintf("its time is %d ms after it was seen", -latency)})
	}
	if w.latencies.n == 0 || rec.time > w.newest {
		w.newest = rec.time
	}
	w.latencies.add(latency)
}

// idSize is how many bytes are kept of an id. Two ids of a billion have the same with a
// probability below 10^-20.
const idSize = 16

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func hash(id []byte) (h [idSize]byte) {
	for i, seed := range seeds {
		sum := maphash.Bytes(seed, id)
		for b := range 8 {
			h[8*i+b] = byte(sum >> (8 * b))
		}
	}
	return h
}
