package plan

import (
	"math"
	"slices"
	"time"
)

// never is the instant of what does not happen. It is small enough to be added to.
const never int64 = math.MaxInt64 / 4

// nanos is nanoseconds in a millisecond: records arrive at nanoseconds, all else at
// milliseconds.
const nanos = int64(time.Millisecond)

// lane is what one subtask writes to one bucket, in one life of the process. Its records are
// a lattice, and it writes one part at a time, so its files follow one another and hold its
// records in their order. Instants are milliseconds unless they are said to be nanoseconds.
//
// Limits and intervals longer than all that is looked at make no difference, and are cut to
// a little more than that, so that sums have room.
type lane struct {
	first, gap int64 // of the records, nanoseconds

	// table is the records if they are no lattice: when each arrives, milliseconds. Then first and
	// gap mean nothing. pauses are the records, from 0, after which nothing comes for the inactivity
	// interval.
	table  []int64
	pauses []int64

	perFile              int64 // from so many records on a part is over its size; never if there is no limit
	rollover, inactivity int64 // never if there is no limit
	atCheckpoint         bool
	olderThan            int64 // what a checkpoint leaves open

	check      int64 // checks are at start + check, start + 2·check, …
	checkpoint int64 // start of the first checkpoint of this life, after start
	every      int64 // from the start of a checkpoint to the start of the next
	duration   int64 // of a checkpoint

	start int64 // of this life; what arrived before is written then
	end   int64 // of this life: the last instant that happens
}

// at is when record n is written.
//
// That is when it arrives, or the start of the process if that is later.
func (l *lane) at(n int64) int64 {
	if l.table != nil {
		if n >= int64(len(l.table)) {
			return never
		}
		return max(l.start, l.table[n])
	}
	if n > (never-l.first)/l.gap {
		return never
	}
	return max(l.start, (l.first+n*l.gap)/nanos)
}

// from is the first record that arrives at t or later. Rounding an arrival down to
// milliseconds does not bring it to the other side of a whole millisecond, so that is
// the first n with first + n·gap >= t in nanoseconds.
func (l *lane) from(t int64) int64 {
	if l.table != nil {
		n, _ := slices.BinarySearch(l.table, t)
		return int64(n)
	}
	if t > never/nanos {
		return never
	}
	return max(0, ceilDiv(t*nanos-l.first, l.gap))
}

// checkFrom is the first check at t or later, t > start. A check comes before all else of its
// instant, so the first one that sees a part created at a is checkFrom(a + 1).
func (l *lane) checkFrom(t int64) int64 {
	return l.start + l.check*ceilDiv(t-l.start, l.check)
}

// checkpointFrom is the start of the first checkpoint at t or later. It comes after
// the checks and before the records of its instant: a part closed by a check at t is
// handed over by checkpointFrom(t), one closed by a record at t by checkpointFrom(t + 1).
func (l *lane) checkpointFrom(t int64) int64 {
	return l.checkpoint + l.every*max(0, ceilDiv(t-l.checkpoint, l.every))
}

// checkpoints is how many checkpoints start at t or before.
func (l *lane) checkpoints(t int64) int64 {
	return max(0, floorDiv(t-l.checkpoint, l.every)+1)
}

// file is an open part file.
type file struct {
	from    int64 // its first record
	created int64 // when that was written
	resumed bool  // it was opened in an earlier life

	next    int64 // the first record that is not written to it yet
	now     int64 // when that is so: just after created, or at the start of this life
	updated int64 // when its newest record was written, as the policy sees it
}

// open is the file that begins with a record.
func (l *lane) open(n int64) file {
	at := l.at(n)
	return file{from: n, created: at, next: n + 1, now: at, updated: at}
}

// closer is what closes a part, in the order in which they happen within one instant.
type closer int

const (
	byCheck closer = iota
	byCheckpoint
	byRecord
)

// closing is the end of a file.
type closing struct {
	at  int64
	by  closer
	end int64 // the first record that is not in it
}

// close is when a file is closed, and by what: the earliest of
//
//   - Age: the first check at created + rollover or later, and after the file was made.
//   - Inactivity: see idleCheck.
//   - At a checkpoint, if the policy closes parts there: the first that starts after created +
//     olderThan, and after the file was made. One that starts in that very millisecond
//     came before the record.
//   - Size: let q be the record that makes the file too large, so that perFile records are in
//     it. The next record closes it, at(q + 1), unless a checkpoint starts before, at
//     checkpointFrom(at(q) + 1) <= at(q + 1).
func (l *lane) close(f file) closing {
	c := closing{at: never, by: byRecord}
	sooner := func(at int64, by closer) {
		if at < c.at || at == c.at && by < c.by {
			c.at, c.by = at, by
		}
	}
	sooner(l.checkFrom(max(f.created+l.rollover, f.now+1)), byCheck)
	sooner(l.idleCheck(f), byCheck)
	if l.atCheckpoint {
		sooner(l.checkpointFrom(max(f.created+l.olderThan, f.now)+1), byCheckpoint)
	}
	if l.perFile < never {
		full := l.at(f.from + l.perFile - 1)
		sooner(l.checkpointFrom(full+1), byCheckpoint)
		sooner(l.at(f.from+l.perFile), byRecord)
	}
	if c.by == byRecord {
		c.end = f.from + l.perFile
	} else {
		// Checks and checkpoints come before the records of their instant.
		c.end = max(f.next, l.from(c.at))
	}
	return c
}

// idleCheck is the first check at which nothing has been written to the file for the
// inactivity interval I, if nothing else closes it.
//
// The newest record before a check at t arrived at x = first + n·gap nanoseconds, the next
// one arrives at x + gap. The check closes the file if
//
//	floor(x) + I <= t <= floor(x + gap)      in milliseconds, and so
//	(I - 1) ms < t - x <= gap                in nanoseconds
//
// since floor(x) <= t - I says x < t - I + 1. Exactly one n has 0 < t - x <= gap, and for it
// t - x - 1 is (t - first - 1) mod gap. So the question is for which of the checks t = t0 +
// k·check the remainder is in [(I - 1) ms, gap - 1], which [firstHit] answers. If gap is too
// short there is none.
//
// Before that come two instants which are not of the lattice: a record that was written
// before this life began, and those that had waited for it.
func (l *lane) idleCheck(f file) int64 {
	if l.inactivity >= never {
		return never
	}
	next := f.next
	t := l.checkFrom(max(f.updated+l.inactivity, f.now+1))
	if t <= l.at(next) {
		return t
	}
	if l.at(next) == l.start {
		next = l.from(l.start + 1)
		if t = l.checkFrom(l.start + l.inactivity); t <= l.at(next) {
			return t
		}
	}
	if l.table != nil {
		return l.idlePause(next)
	}
	least := never
	if l.inactivity-1 <= (l.gap-1)/nanos {
		least = (l.inactivity - 1) * nanos
	}
	if least > l.gap-1 {
		return never
	}
	t = l.checkFrom(l.at(next) + 1)
	k := firstHit(mod(l.check*nanos, l.gap), mod(t*nanos-l.first-1, l.gap), l.gap, least, l.gap-1)
	if k < 0 || k > (never-t)/l.check {
		return never
	}
	return t + k*l.check
}

// idlePause is the same for a table, after what it begins with: the first check that comes in a
// pause, the inactivity interval or longer after the record before it. next is the first record
// that is not written yet.
func (l *lane) idlePause(next int64) int64 {
	i, _ := slices.BinarySearch(l.pauses, next)
	for _, n := range l.pauses[i:] {
		if t := l.checkFrom(l.at(n) + l.inactivity); t <= l.at(n+1) {
			return t
		}
	}
	return never
}

// handed is the start of the checkpoint that hands a closed file over.
func (l *lane) handed(c closing) int64 {
	if c.by == byRecord {
		return l.checkpointFrom(c.at + 1)
	}
	return l.checkpointFrom(c.at)
}

// syncs is how many fsyncs a file takes, up to the end of this life.
//
// A checkpoint fsyncs an open file that was written to since the last one, and closing does
// so too. So of each time between two checkpoints in which the file got a record one fsync
// comes: at the checkpoint, or when it is closed before. A file that was resumed is
// written to by that, in the time before the first checkpoint.
//
// If the gap between records is no longer than the interval, every time between the first
// and the last record has one. Otherwise each has one at most, and their number is
// that of the records; but the time before the first checkpoint may be longer, and those in
// it count as one.
func (l *lane) syncs(f file, c closing) int64 {
	end := c.end
	last := l.checkpoints(l.end)
	if c.at > l.end {
		// Not closed: the records after the last checkpoint wait for the next one.
		if last == 0 {
			return 0
		}
		end = l.from(l.checkpoint + (last-1)*l.every)
	}
	begin := f.from
	if f.resumed {
		begin = f.next
	}
	if l.table != nil {
		return 0 // nobody asks for those
	}
	if l.gap <= l.every*nanos {
		switch {
		case end <= begin && !f.resumed:
			return 0
		case end <= begin:
			return 1
		case f.resumed:
			return l.checkpoints(l.at(end-1)) + 1
		}
		return l.checkpoints(l.at(end-1)) - l.checkpoints(l.at(begin)) + 1
	}
	later := max(begin, l.from(l.checkpoint)) // the first record after the first checkpoint
	n := max(0, end-later)
	if f.resumed || begin < min(later, end) {
		n++
	}
	return n
}

// visit is a number of files that become visible at one instant: the records [from, to) of
// a lane, all in files of one lane that follow one another. It happens so many times, each
// time a whole number of milliseconds and of records after the one before, so the
// latencies are the same each time.
type visit struct {
	first, gap int64   // of the lane's records, nanoseconds
	table      []int64 // or when they arrive, milliseconds; see lane

	visible  int64 // the first time
	from, to int64 // records
	files    int64
	times    int64

	file file // the first of the files, as this life of the process found or made it
	life int  // of the process, from 0
}

// span is a time in which a lane has a part open: from opened, up to closed by a check
// or a checkpoint or, if that is never, to the end of the life of the process.
type span struct {
	opened, closed int64
	life           int
}

// resume is what the newest completed checkpoint holds of a lane.
type resume struct {
	open    bool
	from    int64 // the first record of the open part
	created int64
	next    int64 // the first record that the checkpoint does not cover
}

// story is what happens in a lane.
type story struct {
	visits []visit
	spans  []span // nil unless asked for

	syncs     int64
	opened    int64 // parts made
	publishes int64 // pairs of a checkpoint and this lane in which something became visible
	steps     *int  // files or runs of files that may still be gone through
}

// maxSteps bounds the files that are gone through for one prediction, over all lanes. It takes
// a second or two and some hundred megabytes.
const maxSteps = 2_000_000

// play goes through the files of a lane in one life, given what the life before left behind,
// and returns what this one leaves behind.
//
// It goes from file to file and not from record to record: close says when a file ends,
// whatever is written to it meanwhile. Two things make long stories short. Files that
// are closed by records within one time between two checkpoints, one after the other, are
// taken together; see run. And a lane repeats itself; see cycle.
func (l *lane) play(s *story, life int, before resume) (after resume, err error) {
	y := newCycle(l, s)
	f := l.begin(before)
	found := false
	for {
		if !f.resumed {
			f.from = y.skip(f.from)
			if l.at(f.from) > l.end {
				break
			}
			f = l.open(f.from)
		}
		if *s.steps--; *s.steps < 0 {
			return after, ErrTooLong
		}
		n, c := l.run(f), closing{by: byRecord}
		if n > 0 {
			c.end = f.from + n*l.perFile
			c.at = l.at(c.end)
		} else {
			n, c = 1, l.close(f)
		}
		if !y.take(life, f, c, n) && !found {
			// The first file that does not become visible tells what the newest completed
			// checkpoint holds: all before it are visible, so they were closed by then.
			found, after = true, l.leave(f, before)
		}
		f = file{from: c.end}
	}
	if !found {
		after = l.leave(f, before)
	}
	return after, nil
}

// begin is the file with which a life begins: one that is resumed, or that of the next record.
func (l *lane) begin(r resume) file {
	if !r.open {
		return file{from: r.next}
	}
	// A part that is resumed counts as last updated when it was made.
	return file{from: r.from, created: r.created, resumed: true, next: r.next, now: l.start, updated: r.created}
}

// run is the number of files from f on, with f, that are closed by records before the
// next checkpoint starts, one after the other; 0 if a check may close one of them, which is
// for close to find out.
//
// The k-th such file ends with record from + k·perFile. All of them are written before the
// checkpoint at b if that one arrives at b - 1 ms or before. No check closes one that is
// younger than rollover when it ends, nor one whose records follow each other within the
// inactivity interval; rounding to milliseconds adds at most one to both.
func (l *lane) run(f file) int64 {
	if l.perFile >= never || f.resumed || l.table != nil {
		return 0
	}
	if l.perFile > (never-l.gap)/l.gap || l.perFile*l.gap/nanos+1 >= l.rollover || l.gap/nanos+1 >= l.inactivity {
		return 0
	}
	b := min(l.checkpointFrom(f.now+1), l.end+1)
	return max(0, l.from(b)-1-f.from) / l.perFile
}

// spans adds the time in which files are open. Where a record closes a file the next
// one is opened in the same instant, so that is one span.
func (l *lane) spans(s *story, life int, f file, c closing) {
	n := len(s.spans)
	if n == 0 || s.spans[n-1].life != life || s.spans[n-1].closed != goesOn {
		opened := f.created
		if f.resumed {
			opened = l.start
		}
		s.spans = append(s.spans, span{opened: opened, life: life})
		n++
	}
	switch last := &s.spans[n-1]; {
	case c.at > l.end:
		last.closed = never
	case c.by == byRecord:
		last.closed = goesOn
	default:
		last.closed = c.at
	}
}

// goesOn is the end of a span that the next file of the lane extends.
const goesOn = -1

// leave is what the newest completed checkpoint of this life holds, given the first file
// that does not become visible in it.
func (l *lane) leave(f file, before resume) resume {
	n := l.checkpoints(l.end - l.duration)
	if n == 0 {
		return before // none completed
	}
	last := l.checkpoint + (n-1)*l.every
	if f.resumed || l.at(f.from) < last {
		created := f.created
		if !f.resumed {
			created = l.at(f.from)
		}
		return resume{open: true, from: f.from, created: created, next: max(f.from+1, f.next, l.from(last))}
	}
	return resume{next: f.from}
}
