package sim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
)

// run is a workload on its way. It stands for the source, which can send again, for the
// engine, which stores checkpoints and tells of their completion, and for the reader.
//
// Invariants, between two things that happen: records before next have been written in this
// life of the job or are covered by stored; records before due may be visible, and none
// other; each open part of the sink has an entry in open, and each closed one that is not
// yet visible has one in parts by its name. Together they say where each record is.
type run struct {
	Workload
	fs     afero.Fs   // the reader's
	disk   countingFs // the same, for the sink
	random io.Reader
	dir    string
	filler []byte
	job    *sinkcore.Job[record]
	result Result

	arrivals []sent           // all that arrive before the end
	buckets  []string         // their ids
	numbers  map[string]int32 // where an id is in buckets

	now        int64
	next       int    // number of the record that is written next
	seen       []bool // by number: visible
	due        int64  // records before this number are covered by a checkpoint that completed
	id         int64  // of the newest checkpoint
	checkpoint int64  // when the next one starts
	complete   int64  // when the one under way completes
	taken      taken  // the one under way
	stored     taken  // the newest that completed

	open   []int32          // in which part a subtask writes to a bucket, or noPart; see slot
	opened int              // how many are not noPart
	closed []int32          // parts that no checkpoint has handed over yet
	parts  map[string]int32 // parts that have been closed, by their names
	dead   []bool           // by part: it died with a process
	over   bool             // what happens is not measured any more
}

// sent is an arrival, in as few bytes as can be.
//
// A workload keeps all of its arrivals, so their size decides how many can be played.
type sent struct {
	at, eventTime int64
	bucket, part  int32 // the part in which it was written last
}

// taken is a checkpoint with what this side has to know of it.
//
// The sink's own checkpoint says nothing of the source. Covers is its position, which a
// real engine keeps beside it.
type taken struct {
	sinkcore.Checkpoint
	covers int     // records before this number
	open   []int32 // as in run
}

const noPart int32 = -1

// record is the number of a record of a workload, from 0.
type record int64

// takeArrivals lists what arrives until the end, since a source must be able to send
// again.
//
// Buckets get numbers here, so that the order of a map decides nothing later.
func (r *run) takeArrivals() {
	end := r.Duration.Milliseconds()
	r.numbers = map[string]int32{}
	for i := range r.Buckets {
		if r.Buckets == 1 {
			r.number("")
		} else {
			r.number("b" + strconv.Itoa(i))
		}
	}
	for a := range r.Arrivals.All() {
		if a.At > end {
			break
		}
		s := sent{at: a.At, eventTime: a.EventTime, part: noPart}
		if r.Buckets > 0 {
			s.bucket = int32(len(r.arrivals) % r.Buckets)
		} else {
			s.bucket = r.number(a.Bucket)
		}
		r.arrivals = append(r.arrivals, s)
	}
	r.seen = make([]bool, len(r.arrivals))
	r.result.latencies = make([]int64, 0, len(r.arrivals))
	r.result.Records = make([]Visit, len(r.arrivals))
	for i, a := range r.arrivals {
		r.result.Records[i] = Visit{Arrived: a.at, Visible: -1}
	}
	r.open = slices.Repeat([]int32{noPart}, r.Subtasks*len(r.buckets))
	r.parts = map[string]int32{}
}

// number gives the number of a bucket.
//
// The base directory is "" and gets its number when a record goes there first.
func (r *run) number(id string) int32 {
	n, known := r.numbers[id]
	if !known {
		n = int32(len(r.buckets))
		r.numbers[id] = n
		r.buckets = append(r.buckets, id)
	}
	return n
}

// subtask deals the records out.
//
// A round of buckets goes to one subtask and the next round to the next, so that each
// subtask writes to each bucket.
func (r *run) subtask(n int) int { return n / max(r.Buckets, 1) % r.Subtasks }

// slot is the place in open of a subtask's bucket.
func (r *run) slot(subtask int, bucket int32) int { return subtask*len(r.buckets) + int(bucket) }

// config makes records that can be told apart and checked to the byte: the number, then
// filler up to the size, then the end of the line. The sink knows them by their numbers
// only.
func (r *run) config() sinkcore.Config[record] {
	return sinkcore.Config[record]{
		Dir: r.dir, Policy: r.Policy, CheckInterval: r.CheckInterval,
		Encoder: sinkcore.EncoderFunc[record](func(dst []byte, n record) ([]byte, error) {
			at := len(dst)
			dst = strconv.AppendInt(dst, int64(n), 10)
			dst = append(dst, r.filler[:r.RecordSize-1-(len(dst)-at)]...)
			return append(dst, '\n'), nil
		}),
		Assigner: sinkcore.Prefix[record](func(n record) string { return r.buckets[r.arrivals[n].bucket] }),
		OnClose:  r.onClose,
	}
}

// play moves the clock from one thing that happens to the next. One checkpoint is under way
// at a time, as engines have it by default; one that would start meanwhile starts when the
// other completes.
//
// The order of the cases is the order of what falls on one instant, see [Workload]. Each
// case changes what made it happen: a timer is set anew, next or a checkpoint moves on, an
// outage is taken off the list; so the loop ends.
func (r *run) play() error {
	r.result.FirstVisible, r.result.duration = -1, r.Duration
	r.checkpoint, r.complete = r.FirstCheckpoint.Milliseconds(), sinkcore.Never
	end := r.Duration.Milliseconds()
	outages := r.Outages
	for !r.UntilVisible || r.result.Visible < int64(len(r.arrivals)) {
		arrival, outage := sinkcore.Never, sinkcore.Never
		if r.next < len(r.arrivals) {
			arrival = r.arrivals[r.next].at
		}
		if len(outages) > 0 {
			outage = outages[0].From.Milliseconds()
		}
		// What was due while the job was down is in the past, and happens now.
		r.now = max(r.now, min(r.job.NextTick(), r.complete, r.checkpoint, arrival, outage))
		if r.now > end {
			break
		}
		var err error
		switch {
		case r.job.NextTick() <= r.now:
			_, err = r.job.Tick(r.now)
		case r.complete <= r.now:
			err = r.playComplete()
		case r.checkpoint <= r.now:
			err = r.playCheckpoint()
		case arrival <= r.now:
			err = r.write()
		default:
			// From the death to the restart nothing happens, so the clock goes there at
			// once.
			r.now = outages[0].To.Milliseconds()
			outages = outages[1:]
			if r.now > end {
				r.measured(end) // what the restart does comes after it
			}
			err = r.restart()
		}
		if err != nil {
			return err
		}
	}
	r.measured(end)
	return r.finish()
}

// measured ends the measurement; what comes after it is to check that nothing is lost.
func (r *run) measured(end int64) {
	if r.over {
		return
	}
	r.over = true
	r.result.Written = int64(r.next)
	r.result.Stats = r.job.Stats()
	r.result.Calls = *r.disk.calls
	slices.Sort(r.result.latencies)
	r.result.Parts = r.living(r.result.Parts)
	for _, visit := range r.result.Records {
		if visit.Visible < 0 {
			r.result.Invisible++
			r.result.OldestInvisible = max(r.result.OldestInvisible, time.Duration(end-visit.Arrived)*time.Millisecond)
		}
	}
}

// write writes the next record, and notes in which part: a new one if the one before has
// been closed.
//
// Which part it is is looked up after the write, since the policy may close the one that
// was open within it: then onClose has been called, and the record is the first of another.
func (r *run) write() error {
	n := r.next
	a := &r.arrivals[n]
	subtask := r.subtask(n)
	if err := r.job.Write(subtask, record(n), a.eventTime, sinkcore.NoTime, r.now); err != nil {
		return err
	}
	slot := r.slot(subtask, a.bucket)
	if r.open[slot] == noPart {
		r.open[slot] = int32(len(r.result.Parts))
		r.result.Parts = append(r.result.Parts, Part{
			Subtask: subtask, Bucket: r.buckets[a.bucket], Opened: r.now, Closed: -1, Handed: -1, Visible: -1,
		})
		r.dead = append(r.dead, false)
		r.opened++
		r.result.MaxOpenParts = max(r.result.MaxOpenParts, r.opened)
	}
	a.part = r.open[slot]
	p := &r.result.Parts[a.part]
	p.Records++
	p.Bytes += int64(r.RecordSize)
	r.next++
	return nil
}

// onClose is told by the sink.
//
// It is called while the job works: from Write before the record is written, from Tick,
// from Checkpoint and from EndInput. It only notes, and calls nothing of the job.
func (r *run) onClose(subtask int, c sinkcore.Committable) {
	if r.over {
		return
	}
	slot := r.slot(subtask, r.numbers[c.Bucket])
	i := r.open[slot]
	r.open[slot] = noPart
	r.opened--
	r.parts[c.Name] = i
	r.closed = append(r.closed, i)
	p := &r.result.Parts[i]
	p.Name, p.Closed, p.Reason = c.Name, r.now, c.Reason
}

// playCheckpoint starts a checkpoint, or puts it off until the one under way completes.
// Parts that the policy closes at checkpoints are closed within it, so all of closed is
// handed over by it.
func (r *run) playCheckpoint() (err error) {
	if r.complete != sinkcore.Never {
		r.checkpoint = r.complete // one at a time
		return nil
	}
	r.id++
	r.taken = taken{covers: r.next}
	if r.taken.Checkpoint, err = r.job.Checkpoint(r.id, r.now); err != nil {
		return err
	}
	if len(r.Outages) > 0 {
		r.taken.open = slices.Clone(r.open)
	}
	for _, i := range r.closed {
		r.result.Parts[i].Handed = r.now
	}
	r.closed = r.closed[:0]
	r.complete = r.now + r.CheckpointDuration.Milliseconds()
	r.checkpoint = r.now + r.CheckpointInterval.Milliseconds()
	return nil
}

// playComplete completes a checkpoint and reads what it published. The sink says where to
// look, which saves listing the directory each time; that it has told of everything is
// found out at the end.
//
// From then on what it covers need not be sent again, and may be visible.
func (r *run) playComplete() error {
	published, err := r.job.Complete(r.id)
	if err != nil {
		return err
	}
	r.stored, r.complete = r.taken, sinkcore.Never
	r.due = int64(r.stored.covers)
	if len(published) == 0 {
		r.result.EmptyCheckpoints++
	} else {
		r.result.Commits++
	}
	return r.show(published)
}

// show reads what has become visible.
//
// Each record is taken off the file and not off a list of what was written, so what counts
// as visible is what a reader has found there.
func (r *run) show(published []sinkcore.Committable) error {
	if r.over {
		return nil
	}
	for _, c := range published {
		i, closed := r.parts[c.Name]
		if !closed {
			return fmt.Errorf("%w: %s was published and never closed", ErrNotExactlyOnce, c.Name)
		}
		p := &r.result.Parts[i]
		if p.Visible >= 0 {
			continue // a restore tells again of what was there
		}
		p.Visible = r.now
		if r.result.FirstVisible < 0 {
			r.result.FirstVisible = time.Duration(r.now) * time.Millisecond
		}
		r.result.Files++
		r.result.Bytes += c.Size
		path := filepath.Join(r.dir, c.Bucket, c.Name)
		err := r.read(path, func(n int64) error {
			if err := r.mark(n); err != nil {
				return err
			}
			r.result.Visible++
			visit := &r.result.Records[n]
			visit.Visible = r.now
			r.result.latencies = append(r.result.latencies, r.now-visit.Arrived)
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// restart ends an outage: what the newest completed checkpoint does not cover is given up,
// and sent again.
//
// A job that died before its first checkpoint completed begins anew, without state and with
// all records to come again. Otherwise the restore itself publishes what the checkpoint had
// handed over, if the process died between the completion and the commit.
func (r *run) restart() error {
	if err := r.close(); err != nil {
		return err
	}
	if !r.over {
		r.countRewritten()
		r.reopen()
	}
	r.next, r.complete, r.checkpoint = r.stored.covers, sinkcore.Never, r.now+r.CheckpointInterval.Milliseconds()
	var err error
	if r.stored.ID == 0 {
		r.job, err = sinkcore.NewJob(r.disk, r.random, r.config(), r.Subtasks, r.now)
		return err
	}
	var published []sinkcore.Committable
	if r.job, published, err = sinkcore.RestoreJob(r.disk, r.random, r.config(), r.Subtasks, r.now, r.stored.Checkpoint); err != nil {
		return err
	}
	return r.show(published)
}

// countRewritten counts what was written in the life that has ended and has to be written
// again.
func (r *run) countRewritten() {
	r.result.Restarts++
	rewritten := map[int32]bool{}
	for i := r.stored.covers; i < r.next; i++ {
		p := &r.result.Parts[r.arrivals[i].part]
		p.Records--
		p.Bytes -= int64(r.RecordSize)
		rewritten[r.arrivals[i].part] = true
	}
	r.result.RewrittenFiles += int64(len(rewritten))
	r.result.RewrittenRecords += int64(r.next - r.stored.covers)
	r.result.RewrittenBytes += int64(r.next-r.stored.covers) * int64(r.RecordSize)
}

// reopen takes the parts back to where they were at the newest completed checkpoint.
// Whatever it does not name has died.
func (r *run) reopen() {
	if r.stored.ID == 0 {
		r.open = slices.Repeat([]int32{noPart}, len(r.open))
	} else {
		r.open = slices.Clone(r.stored.open)
	}
	r.closed, r.opened = nil, 0
	alive := map[int32]bool{}
	for _, i := range r.open {
		if i != noPart {
			alive[i] = true
			r.opened++
			p := &r.result.Parts[i]
			p.Closed, p.Reason, p.Handed = -1, sinkcore.None, -1
		}
	}
	for i, p := range r.result.Parts {
		if p.Visible < 0 && !alive[int32(i)] {
			r.dead[i] = true
		}
	}
}

// living drops the parts that died.
//
// Their records were written again and are in other parts, so that to count them would
// count twice.
func (r *run) living(parts []Part) []Part {
	n := 0
	for i, p := range parts {
		if !r.dead[i] {
			parts[n] = p
			n++
		}
	}
	return parts[:n]
}

// close ends the process.
func (r *run) close() error {
	if r.job == nil {
		return nil
	}
	err := r.job.Close()
	r.job = nil
	return err
}

// mark notes that a record is visible.
//
// Both are checked at each file, at the instant at which it is seen: that all is well in
// the end does not make a record right that was seen too early.
func (r *run) mark(n int64) error {
	switch {
	case n < 0 || n >= r.due:
		return fmt.Errorf("%w: record %d is visible before a checkpoint that covers it has completed", ErrNotExactlyOnce, n)
	case r.seen[n]:
		return fmt.Errorf("%w: record %d is visible twice", ErrNotExactlyOnce, n)
	}
	r.seen[n] = true
	return nil
}

// read calls f with the number of each record of a file. A record is its number and filler
// up to its size, all of which is compared: a sink that loses or doubles a few bytes is
// noticed, not only one that loses whole records.
func (r *run) read(path string, f func(n int64) error) error {
	content, err := afero.ReadFile(r.fs, path)
	if err != nil {
		return err
	}
	for len(content) > 0 {
		if len(content) < r.RecordSize || content[r.RecordSize-1] != '\n' {
			return fmt.Errorf("%w: a record is torn", ErrNotExactlyOnce)
		}
		n, digits := int64(0), 0
		for digits < minRecordSize-1 && content[digits] >= '0' && content[digits] <= '9' {
			n = n*10 + int64(content[digits]-'0')
			digits++
		}
		if digits == 0 || !bytes.Equal(content[digits:r.RecordSize-1], r.filler[:r.RecordSize-1-digits]) {
			return fmt.Errorf("%w: a record has other bytes than were written", ErrNotExactlyOnce)
		}
		if err := f(n); err != nil {
			return err
		}
		content = content[r.RecordSize:]
	}
	return nil
}

// finish ends the input and checks that every record can be read exactly once by one
// who knows nothing of the sink and lists the directory.
//
// What was seen is forgotten first, and all files are read again from the listing: that
// finds files of which the sink told nobody, and files that have changed since they were
// read. A record is missing only now, since until the last checkpoint it may just be
// hidden.
func (r *run) finish() error {
	r.id++
	if err := r.job.EndInput(); err != nil {
		return err
	}
	if _, err := r.job.Checkpoint(r.id, r.now); err != nil {
		return err
	}
	if _, err := r.job.Complete(r.id); err != nil {
		return err
	}
	r.due = int64(r.next)
	clear(r.seen)
	err := afero.Walk(r.fs, r.dir, func(path string, info fs.FileInfo, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == r.dir {
			return nil
		}
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(info.Name(), ".") {
			return err
		}
		if err := r.read(path, r.mark); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if lost := slices.Index(r.seen[:r.next], false); lost >= 0 {
		return fmt.Errorf("%w: record %d is lost", ErrNotExactlyOnce, lost)
	}
	return nil
}
