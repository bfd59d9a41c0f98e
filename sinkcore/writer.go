package sinkcore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
)

// Writer writes the records of one subtask into part files. It publishes nothing;
// that is the [Committer]'s part. A Writer must not be used by two goroutines at once.
//
// Most callers use a [Job], which drives writers and committers in the right order.
//
// After an error of the file system or of the random source it refuses everything but
// Close, Stats and Err: it cannot know any more what is on disk.
type Writer[T any] struct {
	fs      afero.Fs
	random  io.Reader
	config  Config[T]
	subtask int

	buckets   map[string]*bucket // to find one; never ranged over
	order     []*bucket          // the same, oldest first: what goes through all must not depend on chance
	last      *bucket            // of the last record, or nil; always one of buckets. Most streams stay in a bucket for a while
	deadlines deadlines
	dirs      *directories
	spare     [][]byte // buffers of closed parts, used again, at most spareBuffers
	quietSize int64    // see quietSize

	due            int64 // when the next check is due; moved by Tick only
	lastCheckpoint int64 // id of the last one prepared or restored, 0 before the first (SinkWriterOperator:157-158)
	ended          bool  // not in the state: a restored writer takes records again
	closed         error // what Close returned, once isClosed
	isClosed       bool
	failed         error // the first error of the file system

	counts counts
}

// NewWriter starts a writer with no state.
//
// Random gives the random bytes of file names. It must be unpredictable enough never
// to repeat, over all subtasks, restarts and jobs that ever use the directory:
// crypto/rand.Reader, or in a simulation a seeded generator that is not started anew.
// It is read for each part, 16 bytes, and for each bucket as many. Now is the time in
// milliseconds since 1970; the first check is due one interval after it. The error wraps
// [ErrConfig]. The disk is not looked at.
func NewWriter[T any](fsys afero.Fs, random io.Reader, config Config[T], subtask int, now int64) (*Writer[T], error) {
	config, err := checkArguments(fsys, random, config)
	if err != nil {
		return nil, newError("start", err).by(subtask)
	}
	return newWriter(fsys, random, config, subtask, now, newDirectories(fsys, config.Dir)), nil
}

// checkArguments validates what every start needs.
func checkArguments[T any](fsys afero.Fs, random io.Reader, config Config[T]) (Config[T], error) {
	if fsys == nil {
		return config, fmt.Errorf("%w: the file system is missing", ErrConfig)
	}
	if random == nil {
		return config, fmt.Errorf("%w: the source of random bytes is missing", ErrConfig)
	}
	return config.validate()
}

func newWriter[T any](fsys afero.Fs, random io.Reader, config Config[T], subtask int, now int64, dirs *directories) *Writer[T] {
	return &Writer[T]{
		fs: fsys, random: random, config: config, subtask: subtask,
		buckets: map[string]*bucket{}, dirs: dirs, quietSize: quietSize(config.Policy),
		// Armed at a fresh start too, not only on restore (FileSink:149-160); otherwise no
		// part is closed by age before the first failover (FLINK-27910).
		due: addMillis(now, config.CheckInterval.Milliseconds()),
	}
}

// RestoreWriter starts a writer from elements of a snapshot, in their order: each
// part that was open is cut to its recorded length and written on. Where two elements
// have one bucket the first one's part stays open and the other's is closed
// (FileWriterBucket:168-178). Checkpoint is the id restored from.
//
// The elements may come from several writers and go to several others, but each must
// be restored once. If a part cannot be resumed the error wraps [ErrInProgressMissing],
// [ErrShort], [ErrContent] or [ErrRestoredTwice] and no file was changed. Each part is
// read up to its recorded length.
//
// It deletes nothing: a file that these elements do not name may belong to another
// subtask that is still being restored (FLINK-5054). [RemoveOrphans] is for that.
func RestoreWriter[T any](fsys afero.Fs, random io.Reader, config Config[T], subtask int, now, checkpoint int64, state WriterState) (*Writer[T], error) {
	config, err := checkArguments(fsys, random, config)
	if err != nil {
		return nil, newError("restore", err).by(subtask).of(checkpoint)
	}
	var seen partNames
	if err := seen.addWriter(subtask, state); err != nil {
		return nil, err.of(checkpoint)
	}
	if err := verifyInProgress(fsys, config.Dir, subtask, state); err != nil {
		return nil, err.of(checkpoint)
	}
	w := newWriter(fsys, random, config, subtask, now, newDirectories(fsys, config.Dir))
	if err := w.restore(checkpoint, state); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// restore takes over elements that have been verified. Buckets come back with a new uid
// and counter; a part that is resumed keeps the names that it was given. A bucket without
// an open part is dropped at the first checkpoint, as in Flink.
func (w *Writer[T]) restore(checkpoint int64, state WriterState) error {
	w.lastCheckpoint = checkpoint
	for _, s := range state.Buckets {
		b := w.buckets[s.Bucket]
		merging := b != nil
		if !merging {
			var err error
			if b, err = w.newBucket(s.Bucket); err != nil {
				return w.fail(newError("restore", err).in(s.Bucket).of(checkpoint))
			}
		}
		if s.InProgress == nil {
			continue
		}
		p, err := resumePart(w.fs, b.dir, *s.InProgress)
		if err != nil {
			return w.fail(newError("restore", err).in(b.id).at(filepath.Join(b.dir, s.InProgress.Temp)).of(checkpoint))
		}
		p.bucket = b
		w.counts.resumed++
		// Also where the first element has no open part: FileWriterBucket:168-178 closes
		// the other's without looking.
		if merging {
			if err := w.closePart(p, Merge); err != nil {
				err = errors.Join(err, closeFile(p))
				return w.fail(newError("restore", err).in(b.id).at(p.path()).of(checkpoint))
			}
			continue
		}
		b.part = p
		p.deadline, _ = w.config.Policy.RollAt(p.info)
		w.deadlines.add(p)
	}
	return nil
}

// Write writes a record. EventTime is the record's own time and watermark the time up
// to which the input is complete, [NoTime] for neither; only the bucket assigner sees
// them. Now is the time in milliseconds since 1970; it may go backwards.
//
// The assigner is asked first, then the policy whether the open part takes one more
// record (FileWriterBucket:180-192), then the encoder. So a part may exceed a size limit
// by one record, however large that one is, and none is closed before its first. Time is
// not looked at; only [Writer.Tick] closes a part by age.
//
// If the record is refused ([ErrBucketID], [ErrAssign], [ErrEncode], [ErrEndOfInput])
// nothing has changed and the next record may be written. After any other error the
// writer is of no more use; see [ErrFailed].
//
// A record that was written is in a buffer or in the file. It is safe when a checkpoint
// that covers it is stored; do not tell the source before that it may forget it.
func (w *Writer[T]) Write(record T, eventTime, watermark, now int64) error {
	if w.isClosed || w.failed != nil || w.ended {
		return w.refuse("write", true)
	}
	id, err := w.config.Assigner.BucketID(record, Context{EventTime: eventTime, Watermark: watermark, Now: now})
	if err != nil {
		return newError("write", fmt.Errorf("%w: %w", ErrAssign, err)).by(w.subtask)
	}
	b := w.last
	if b == nil || b.id != id {
		if b, err = w.bucketOf(id); errors.Is(err, ErrBucketID) {
			return newError("write", err).by(w.subtask).in(id)
		} else if err != nil {
			return w.fail(newError("write", err).in(id))
		}
		w.last = b
	}
	p := b.part
	if p == nil {
		return w.writeFirst(b, None, record, now)
	}
	if p.info.Size > w.quietSize {
		if why := w.config.Policy.RollOnEvent(p.info); why != None {
			return w.writeFirst(b, why, record, now)
		}
	}
	before := len(p.buffer)
	buffer, err := w.config.Encoder.Append(p.buffer, record)
	if err != nil || len(buffer) < before || replaced(p.buffer, buffer) {
		return w.refuseEncoding(b, err)
	}
	return w.wrote(p, buffer, len(buffer)-before, now)
}

// writeFirst closes the bucket's open part for a reason, if there is one, opens a new
// part and writes the record into it. The record is encoded before anything is
// changed, so that one that cannot be encoded leaves no empty part and closes none.
func (w *Writer[T]) writeFirst(b *bucket, why Reason, record T, now int64) error {
	buffer, err := w.config.Encoder.Append(w.takeBuffer(), record)
	if err != nil {
		return w.refuseEncoding(b, err)
	}
	if b.part != nil {
		if err := w.closePart(b.part, why); err != nil {
			return w.fail(newError("write", err).in(b.id).at(b.part.path()))
		}
	}
	if err := w.makeRoom(); err != nil {
		return err
	}
	target := b.nextName(w.config.Prefix, w.config.Suffix)
	p, err := createPart(w.fs, w.dirs, w.random, b.dir, target)
	if err != nil {
		return w.fail(newError("write", err).in(b.id).at(filepath.Join(b.dir, target)))
	}
	p.bucket = b
	p.info.CreationTime = now
	p.deadline = Never
	b.part = p
	w.deadlines.add(p)
	w.dirs.note(b.dir)
	w.counts.opened++
	return w.wrote(p, buffer, len(buffer), now)
}

// makeRoom closes the oldest open parts until one more is not too many. As a rule that is one;
// after a restore with a smaller limit it may be more. Of parts of one age it is that of
// the bucket that was first.
func (w *Writer[T]) makeRoom() error {
	for w.config.MaxOpenParts > 0 && len(w.deadlines) >= w.config.MaxOpenParts {
		var oldest *part
		for _, b := range w.order {
			if p := b.part; p != nil && (oldest == nil || p.info.CreationTime < oldest.info.CreationTime) {
				oldest = p
			}
		}
		if err := w.closePart(oldest, Limit); err != nil {
			return w.fail(newError("write", err).in(oldest.bucket.id).at(oldest.path()))
		}
	}
	return nil
}

// wrote accounts for a record of n bytes that has been encoded into the buffer. The counts
// come before the write to the file: if that fails the writer stops, and they tell what it
// was given. With a policy of this package and a clock that does not go back the heap of
// deadlines is left alone, which is what makes a record cheap.
func (w *Writer[T]) wrote(p *part, buffer []byte, n int, now int64) error {
	p.buffer = buffer
	// A policy that says how long it is quiet also promises that its instant moves
	// earlier only with the clock. The first record sets it.
	later := p.info.Records > 0 && w.quietSize >= 0 && now >= p.info.LastUpdate
	p.info.Size += int64(n)
	p.info.Records++
	p.info.LastUpdate = now
	w.counts.records++
	w.counts.bytes += int64(n)
	if len(buffer) >= w.config.BufferSize {
		if err := p.flushBlocks(w.config.BufferSize); err != nil {
			return w.fail(newError("write", err).in(p.bucket.id).at(p.path()))
		}
	}
	if !later {
		if at, _ := w.config.Policy.RollAt(p.info); at < p.deadline {
			w.deadlines.move(p, at)
		}
	}
	return nil
}

// replaced tells that an encoder has returned a slice of its own without the bytes that
// it was to append to. To look at them costs something only where the buffer grows.
func replaced(before, after []byte) bool {
	return len(before) > 0 && &before[0] != &after[0] && !bytes.Equal(before, after[:len(before)])
}

// refuseEncoding is the error for a record that could not be encoded. What the encoder
// appended is beyond the length of the buffer that is kept, and the next record is
// written over it. Flink leaves it in the file (RowWisePartWriter:50-54).
func (w *Writer[T]) refuseEncoding(b *bucket, err error) error {
	if err == nil {
		err = errors.New("it did not append to what it was given")
	}
	return newError("write", fmt.Errorf("%w: %w", ErrEncode, err)).by(w.subtask).in(b.id)
}

// bucketOf finds or makes the bucket of an id. An id is checked when its bucket is made and
// not with every record; one that is in the map is valid.
func (w *Writer[T]) bucketOf(id string) (*bucket, error) {
	if b := w.buckets[id]; b != nil {
		return b, nil
	}
	if err := ValidBucketID(id); err != nil {
		return nil, err
	}
	return w.newBucket(strings.Clone(id)) // the id may be a piece of a large record
}

// newBucket makes a bucket without a part. Its directory is made with its first part, so
// that nothing empty is left behind.
func (w *Writer[T]) newBucket(id string) (*bucket, error) {
	uid, err := newUID(w.random)
	if err != nil {
		return nil, err
	}
	b := &bucket{id: id, dir: bucketDir(w.config.Dir, id), uid: uid}
	w.buckets[id] = b
	w.order = append(w.order, b)
	return b, nil
}

// bucketDir is the directory of a bucket. It is never "", which no system call takes.
func bucketDir(base, id string) string {
	return filepath.Join(cmp.Or(base, "."), filepath.FromSlash(id))
}

// closePart closes an open or a resumed part; it is then pending in its bucket. If that
// fails the part stays where it was, open or half closed: the writer has failed then, and
// only Close looks at it again.
func (w *Writer[T]) closePart(p *part, why Reason) error {
	if why == None || why >= reasons {
		why = Event // a user's policy may answer anything; counts and states must hold it
	}
	c, err := p.close(why)
	if err != nil {
		return err
	}
	b := p.bucket
	if b.part == p {
		b.part = nil
	}
	b.pending = append(b.pending, c)
	w.deadlines.remove(p)
	w.counts.rolled[why]++
	if cap(p.buffer) > 0 && len(w.spare) < spareBuffers {
		w.spare = append(w.spare, p.buffer)
	}
	if w.config.OnClose != nil {
		w.config.OnClose(w.subtask, c)
	}
	return nil
}

// spareBuffers bounds the memory that is kept for parts to come. A few are enough: what
// closes many parts at once opens them one by one again.
const spareBuffers = 16

// takeBuffer returns an empty buffer. A new one grows with what is written, so that a
// hundred thousand buckets with a few records each do not take a full buffer each.
func (w *Writer[T]) takeBuffer() []byte {
	if n := len(w.spare); n > 0 {
		b := w.spare[n-1]
		w.spare = w.spare[:n-1]
		return b[:0]
	}
	return nil
}

// NextTick tells when the check timer is due, in milliseconds since 1970.
func (w *Writer[T]) NextTick() int64 { return w.due }

// Tick is the check timer: it closes the parts that the policy finds old enough. If
// now is before [Writer.NextTick] nothing happens. The policy sees the instant at
// which the timer was due, not now, so a part written to in between stays open
// (StreamTask:1905-1918, FileWriter:267-279). The next check is one interval after
// now, and none is made up for. It returns when that is.
//
// It closes parts and opens none: the next record does. What is closed is fsynced here, a
// part at a time, and waits for the next checkpoint. It looks at the parts that are due
// and no others. It goes on after the end of the input, when no part is open. After an
// error the next check stays due.
func (w *Writer[T]) Tick(now int64) (next int64, err error) {
	if w.isClosed || w.failed != nil {
		return w.due, w.refuse("tick", false)
	}
	if w.due == Never {
		return w.due, nil // no check reaches it, and Never as a part's key means no limit
	}
	if now < w.due {
		return w.due, nil
	}
	for len(w.deadlines) > 0 && w.deadlines[0].deadline <= w.due {
		p := w.deadlines[0]
		at, why := w.config.Policy.RollAt(p.info)
		if at > w.due {
			w.deadlines.move(p, at)
			continue
		}
		if err := w.closePart(p, why); err != nil {
			return w.due, w.fail(newError("tick", err).in(p.bucket.id).at(p.path()))
		}
	}
	w.due = addMillis(now, w.config.CheckInterval.Milliseconds())
	return w.due, nil
}

// PrepareCommit is the first step of a checkpoint: it closes the parts that the policy
// closes at checkpoints, and hands over everything closed since the last checkpoint.
// The caller gives the committables to a [Committer] under the checkpoint's id, before
// the committer's snapshot. Buckets with nothing left to do are dropped. After the end
// of the input there is nothing to hand over (SinkWriterOperator:188-195).
//
// What is handed over is closed and fsynced, but its name is durable only after
// [Writer.Snapshot]. The writer forgets it, so the caller must not lose it: called twice
// it hands over once. The id is kept for [Writer.EndInput] and has no other use; now is the
// time in milliseconds since 1970, which only the policy sees.
func (w *Writer[T]) PrepareCommit(checkpoint, now int64) ([]Committable, error) {
	if w.isClosed || w.failed != nil {
		return nil, w.refuse("prepare commit", false)
	}
	if w.ended {
		return nil, nil
	}
	w.lastCheckpoint = checkpoint
	return w.prepare(checkpoint, now, false)
}

// EndInput ends the input: it closes every part and hands everything over under the id
// that it returns, one more than that of the last checkpoint prepared or restored
// (SinkWriterOperator:206-213). Called again it hands over nothing (FLINK-25920).
//
// Give them to the committer under that id. The checkpoint that publishes them is still to
// be taken; its id is at least as large, since ids ascend. Records are refused from now on
// ([ErrEndOfInput]); to stop and go on later is another thing, and needs no EndInput
// (FLINK-21132).
func (w *Writer[T]) EndInput() (checkpoint int64, _ []Committable, err error) {
	checkpoint = w.lastCheckpoint + 1
	if w.isClosed || w.failed != nil {
		return checkpoint, nil, w.refuse("end of input", false)
	}
	if w.ended {
		return checkpoint, nil, nil
	}
	w.ended = true
	committables, err := w.prepare(checkpoint, NoTime, true)
	return checkpoint, committables, err
}

// prepare is FileWriter:208-226 with FileWriterBucket:194-215. Whether a bucket is active
// is looked at before its parts are handed over, so one that has just handed over all it
// had is kept and stands in the coming snapshot, and goes one checkpoint later. Another
// order would give the next record's part another uid, which traces of Flink show.
func (w *Writer[T]) prepare(checkpoint, now int64, end bool) ([]Committable, error) {
	var out []Committable
	kept := w.order[:0]
	for i, b := range w.order {
		if !b.active() {
			delete(w.buckets, b.id)
			continue
		}
		if p := b.part; p != nil {
			why := w.config.Policy.RollOnCheckpoint(p.info, now)
			if why == None && end {
				why = End
			}
			if why != None {
				if err := w.closePart(p, why); err != nil {
					w.order = append(kept, w.order[i:]...) // nothing is lost from view
					return nil, w.fail(newError("prepare commit", err).in(b.id).at(p.path()).of(checkpoint))
				}
			}
		}
		out = append(out, b.pending...)
		b.pending = nil
		kept = append(kept, b)
	}
	clear(w.order[len(kept):])
	w.order = kept
	w.last = nil // it may be one of those dropped
	return out, nil
}

// Snapshot is the second step of a checkpoint, directly after [Writer.PrepareCommit]:
// it flushes and fsyncs every open part, makes the names of new parts durable, and
// returns the state to restore from. When it returns, everything that the state
// names, and everything that PrepareCommit handed over, survives a power cut.
//
// A part with nothing new since its last fsync costs none, and a checkpoint in which no
// part was made syncs no directory. Parts stay open, and the writer goes on with them; a
// record that comes later is beyond the recorded length. There is one element for each
// bucket, those without an open part included (FileWriterBucket:217-229).
//
// The order of the two kinds of fsync does not matter, since nothing is promised before
// both are done.
func (w *Writer[T]) Snapshot() (WriterState, error) {
	if w.isClosed || w.failed != nil {
		return WriterState{}, w.refuse("snapshot", false)
	}
	state := WriterState{Buckets: make([]BucketState, 0, len(w.order))}
	for _, b := range w.order {
		s := BucketState{Bucket: b.id}
		if p := b.part; p != nil {
			if err := p.sync(); err != nil {
				return WriterState{}, w.fail(newError("snapshot", err).in(b.id).at(p.path()))
			}
			open := p.state()
			s.InProgress = &open
		}
		state.Buckets = append(state.Buckets, s)
	}
	if dir, err := w.dirs.sync(); err != nil {
		return WriterState{}, w.fail(newError("snapshot", err).at(dir))
	}
	sortBuckets(state.Buckets)
	return state, nil
}

// Close closes the files that are open, as they are: nothing is flushed, committed or
// deleted, so what the newest checkpoint names can be restored (FLINK-40595). It goes on after an error, so no file stays open (FLINK-23248). It returns all
// errors of the files, joined; called again, the same.
func (w *Writer[T]) Close() error {
	if w.isClosed {
		return w.closed
	}
	w.isClosed = true
	var errs []error
	for _, b := range w.order {
		if p := b.part; p != nil {
			if err := closeFile(p); err != nil {
				errs = append(errs, newError("close", err).by(w.subtask).in(b.id).at(p.path()))
			}
		}
	}
	w.closed = errors.Join(errs...)
	return w.closed
}

// closeFile closes the file of a part if it is not closed yet. Closing may have failed
// before and have closed the file all the same, as close(2) says.
func closeFile(p *part) error {
	if p.file == nil {
		return nil
	}
	err := p.file.Close()
	p.file = nil
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}

// Err returns the error that stopped the writer, or nil. That of a refused record does not.
func (w *Writer[T]) Err() error { return w.failed }

// fail keeps the first error: from now on the writer refuses everything, because it
// cannot know what is on disk any more. A write may have left a part of the buffer in the
// file, and going on would glue the next record to half of one.
func (w *Writer[T]) fail(err *Error) error {
	err.Subtask = w.subtask
	if err.Hint == "" {
		err.Hint = restoreHint
	}
	if w.failed == nil {
		w.failed = err
	}
	return err
}

const restoreHint = "close the job and restore the newest completed checkpoint"

// refuse is the error for a call that comes too late.
func (w *Writer[T]) refuse(op string, needsInput bool) error {
	return refusal(op, w.subtask, w.isClosed, w.failed, needsInput && w.ended)
}

// refusal says why a writer or committer takes no call: closed, failed or ended.
func refusal(op string, subtask int, closed bool, failed error, ended bool) error {
	e := newError(op, ErrClosed).by(subtask)
	switch {
	case closed:
	case failed != nil:
		e.Err, e.Hint = fmt.Errorf("%w: %w", ErrFailed, failed), restoreHint
	case ended:
		e.Err, e.Hint = ErrEndOfInput, "restore the job to write more"
	}
	return e
}
