package peers

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// never is an instant that is not reached.
const never = sinkcore.Never

// machine is a peer at work. Instants are milliseconds from the start of the workload.
// It is told what happens in the order of time, and what it makes visible it gives to its
// engine.
//
// Its engine alone calls it, from one goroutine. A machine must not be woken for ever at
// one instant: each call of wake has to move next on, or the clock stands still.
type machine interface {
	// put takes the records that arrive at one instant, in their order. The slice is the
	// engine's.
	put(now int64, batch []record) error

	// next is when the machine wants to be woken, or never; it may be past.
	next() int64

	// wake is called at that instant.
	wake(now int64) error

	// begin starts a checkpoint, complete ends it. A machine without checkpoints ignores both.
	begin(now int64)
	complete(now int64)

	// restart is the end of an outage: the machine goes back to what it had made durable and
	// returns what the source has to send again.
	restart(now int64) (again []record)

	// hidden calls the function with each file that holds records and is not visible.
	hidden(visit func(*file))
}

// record is one record on its way.
type record struct {
	seq             int64 // its number, from 0
	at              int64 // when it arrived, from the start
	event           int64 // its own time, in milliseconds since 1970
	bucket, subtask int32
}

// key is what a file is for. Slot is the peer's own division, such as the hour of the
// record's time; 0 for a peer that makes none.
type key struct {
	subtask, bucket int32
	slot            int64
}

// file is a file, an object, a chunk or a transaction, from its first record until it is
// visible.
//
// It is opened by newFile and gets records by add. From there it has one way out: publish,
// at once or by way of upload; or lose. A machine that merges files makes a new one of
// their runs.
type file struct {
	key   key
	info  sinkcore.PartInfo // instants from the start of the workload
	runs  []run
	event int64 // its first record's own time
}

// run is a number of records that arrived in one file at the same time.
//
// Runs keep a file small: ten thousand records of one millisecond are one run. With outages
// each record is a run, because it may have to be sent again by its number.
type run struct{ seq, at, records int64 }

// engine moves the clock, brings the records and sees what becomes visible.
//
// It does for all peers what does not differ between them: arrivals, the order of what
// happens, outages, uploads and counting. A machine has only the rules of its engine.
type engine struct {
	Workload
	machine machine
	out     Outcome
	counts  map[int64]int64 // records by latency

	now, end             int64
	checkpoint, complete int64 // when the next one starts, when the one under way completes
	outages              []sim.Outage
	down                 bool     // outages[0] has begun
	batch                []record // what arrives at the present instant
	waiting              []record // what arrived in the outage
	sent                 []record // all that arrived, if it may have to be sent again
	uploads              []upload // under way, in the order in which they end
	buckets              map[string]int32
	open                 int   // files open
	lastCommit           int64 // when something became visible last
}

// upload is a file that becomes visible at an instant.
type upload struct {
	at   int64
	file *file
}

// simulate plays a workload on the machine that the function makes.
//
// Bad options and a bad workload are refused before anything is played, with an error that
// wraps sinkcore.ErrConfig; an error from build or play is one of the engine itself.
func simulate(p Peer, w Workload, build func(*engine) (machine, error)) (Outcome, error) {
	if err := p.Validate(); err != nil {
		return Outcome{}, err
	}
	w, err := w.validate()
	if err != nil {
		return Outcome{}, err
	}
	e := &engine{
		Workload: w, counts: map[int64]int64{}, end: w.Duration.Milliseconds(), outages: w.Outages,
		checkpoint: w.FirstCheckpoint.Milliseconds(), complete: never, buckets: map[string]int32{}, lastCommit: -1,
	}
	e.out.FirstVisible, e.out.duration = -1, w.Duration
	if e.machine, err = build(e); err != nil {
		return Outcome{}, err
	}
	if err := e.play(); err != nil {
		return Outcome{}, err
	}
	e.finish()
	return e.out, nil
}

// play brings the records one instant after the other, and before each instant what
// happens until then.
//
// Records of one instant are collected and given to the machine as one batch, as an engine
// gets them in one fetch. Subtask and bucket are dealt as in package sim, by the record's
// number.
func (e *engine) play() error {
	seq := int64(0)
	for a := range e.Arrivals.All() {
		if a.At > e.end {
			break
		}
		if len(e.batch) > 0 && e.batch[0].at != a.At {
			if err := e.flush(); err != nil {
				return err
			}
		}
		if len(e.batch) == 0 {
			if err := e.advance(a.At); err != nil {
				return err
			}
		}
		r := record{seq: seq, at: a.At, event: e.Start + a.At, subtask: int32(seq / int64(max(e.Buckets, 1)) % int64(e.Subtasks))}
		if a.EventTime != sinkcore.NoTime {
			r.event = a.EventTime
		}
		if e.Buckets > 0 {
			r.bucket = int32(seq % int64(e.Buckets))
		} else if a.Bucket != "" {
			r.bucket = e.number(a.Bucket)
		}
		seq++
		if len(e.Outages) > 0 {
			e.sent = append(e.sent, r)
		}
		if e.down {
			e.waiting = append(e.waiting, r)
		} else {
			e.batch = append(e.batch, r)
		}
	}
	e.out.Written = seq
	if err := e.flush(); err != nil {
		return err
	}
	return e.advance(e.end)
}

// number gives the number of a bucket that an arrival names; that of "" is 0.
func (e *engine) number(id string) int32 {
	n, known := e.buckets[id]
	if !known {
		n = int32(len(e.buckets)) + 1
		e.buckets[id] = n
	}
	return n
}

// flush gives the records of the present instant to the machine.
func (e *engine) flush() error {
	if len(e.batch) == 0 {
		return nil
	}
	e.now = e.batch[0].at
	err := e.machine.put(e.now, e.batch)
	e.batch = e.batch[:0]
	return err
}

// advance lets happen what happens until an instant, but for the records of that instant and
// an outage that begins with it.
//
// It is a loop because what happens can make more happen in the same instant: a check
// closes a file, the completion after it shows one. The order of the cases is that of
// [Workload]: end of an outage, timers, uploads and completions, checkpoints. Records come
// after it, by play.
//
// The instant is never before the present: a machine may name a time that is past, such as
// a boundary that it missed while it was down, and is then woken now.
func (e *engine) advance(to int64) error {
	for {
		if e.down {
			// While nothing runs, neither timers nor checkpoints happen; arrivals are kept
			// by play.
			up := e.outages[0].To.Milliseconds()
			if up > to {
				return nil
			}
			e.outages, e.down, e.now = e.outages[1:], false, up
			if err := e.restart(); err != nil {
				return err
			}
			continue
		}
		ends, outage := never, never
		if len(e.uploads) > 0 {
			ends = e.uploads[0].at
		}
		if len(e.outages) > 0 {
			outage = e.outages[0].From.Milliseconds()
		}
		timer := e.machine.next()
		now := max(e.now, min(timer, ends, e.complete, e.checkpoint))
		// An outage is the last thing of its instant, so it waits for all else that is due
		// then, and for the records. The checkpoint that is under way never completes.
		if outage < to && outage < now {
			e.now, e.down, e.complete = outage, true, never
			continue
		}
		if now > to {
			return nil
		}
		e.now = now
		switch {
		case timer <= now:
			if err := e.machine.wake(now); err != nil {
				return err
			}
		case ends <= now:
			e.publish(now, e.uploads[0].file)
			e.uploads = e.uploads[1:]
		case e.complete <= now:
			e.complete = never
			e.machine.complete(now)
		case e.complete != never:
			e.checkpoint = e.complete // one at a time
		default:
			e.machine.begin(now)
			e.complete = now + e.CommitDuration.Milliseconds()
			e.checkpoint = now + e.CheckpointInterval.Milliseconds()
		}
	}
}

// restart ends an outage.
//
// The source has sent nothing while the job was down, so what had arrived by then comes
// first, and what arrived meanwhile after it, all in this instant. Latency counts from the
// first arrival: a record does not become younger by being sent again.
func (e *engine) restart() error {
	e.out.Restarts++
	e.checkpoint = e.now + e.CheckpointInterval.Milliseconds()
	again := e.machine.restart(e.now)
	e.out.Resent += int64(len(again))
	again = append(again, e.waiting...)
	e.waiting = nil
	if len(again) == 0 {
		return nil
	}
	return e.machine.put(e.now, again)
}

// newFile opens a file for its first record.
//
// The file is not yet in the machine's set, because machines keep their files differently.
func (e *engine) newFile(k key, now int64) *file {
	e.open++
	e.out.MaxOpenFiles = max(e.out.MaxOpenFiles, e.open)
	return &file{key: k, info: sinkcore.PartInfo{CreationTime: now}}
}

// add writes a record to a file.
//
// Only instants and sums are kept, so a file of any size costs as much as it has instants.
func (e *engine) add(f *file, r record, now int64) {
	f.info.LastUpdate = now
	f.info.Size += int64(e.RecordSize)
	f.info.Records++
	if f.info.Records == 1 {
		f.event = r.event
	}
	if last := len(f.runs) - 1; last >= 0 && f.runs[last].at == r.at && len(e.Outages) == 0 {
		f.runs[last].records++
		return
	}
	f.runs = append(f.runs, run{r.seq, r.at, 1})
}

// closed notes that files are not open any more.
func (e *engine) closed(files int) { e.open -= files }

// upload makes a file visible when an upload that starts now has ended.
//
// Uploads all take CommitDuration, so they end in the order in which they started and the
// list need not be sorted. Without a duration the file is visible in the same instant.
func (e *engine) upload(now int64, f *file) {
	if e.CommitDuration == 0 {
		e.publish(now, f)
		return
	}
	e.uploads = append(e.uploads, upload{now + e.CommitDuration.Milliseconds(), f})
}

// interrupted returns the files whose upload an outage has stopped, and forgets them.
func (e *engine) interrupted() []*file {
	files := make([]*file, 0, len(e.uploads))
	for _, u := range e.uploads {
		files = append(files, u.file)
	}
	e.uploads = nil
	return files
}

// publish shows files to the reader.
//
// What ends after the end of the workload has not been seen, and is not counted. All that
// becomes visible in one instant is one commit, by however many calls.
func (e *engine) publish(now int64, files ...*file) {
	if len(files) == 0 || now > e.end {
		return
	}
	if now != e.lastCommit {
		e.out.Commits++
		e.lastCommit = now
	}
	if e.out.FirstVisible < 0 {
		e.out.FirstVisible = time.Duration(now) * time.Millisecond
	}
	for _, f := range files {
		e.out.Files++
		e.out.LiveFiles++
		e.out.Bytes += f.info.Size
		e.show(now, f)
	}
}

// show counts the records of a file as visible.
func (e *engine) show(now int64, f *file) {
	e.out.Visible += f.info.Records
	for _, r := range f.runs {
		e.counts[now-r.at] += r.records
	}
}

// lose notes that nobody sends the records of files again.
func (e *engine) lose(files []*file) {
	for _, f := range files {
		e.out.Lost += f.info.Records
		e.wait(f)
	}
}

// wait notes how long the records of a file have waited at the end.
//
// A record that is hidden at the end has a latency that is not known yet. Left out it would
// make a sink that shows nothing look fast; so its wait counts in LongestWait as far as it
// is known.
func (e *engine) wait(f *file) {
	for _, r := range f.runs {
		e.out.LongestWait = max(e.out.LongestWait, time.Duration(e.end-r.at)*time.Millisecond)
	}
}

// records lists the records in files, in the order in which they arrived.
//
// A file can be asked for in any order, so they are sorted: a source sends in its own
// order.
func (e *engine) records(files []*file) []record {
	var list []record
	for _, f := range files {
		for _, r := range f.runs {
			list = append(list, e.sent[r.seq])
		}
	}
	slices.SortFunc(list, func(a, b record) int { return cmp.Compare(a.seq, b.seq) })
	return list
}

// finish sums up.
func (e *engine) finish() {
	e.out.latencies = sorted(e.counts)
	if n := len(e.out.latencies); n > 0 {
		e.out.LongestWait = max(e.out.LongestWait, time.Duration(e.out.latencies[n-1].latency)*time.Millisecond)
	}
	e.machine.hidden(e.wait)
	for _, u := range e.uploads {
		e.wait(u.file)
	}
	for _, r := range e.waiting {
		e.out.LongestWait = max(e.out.LongestWait, time.Duration(e.end-r.at)*time.Millisecond)
	}
}

// fileSet is the files that are open, in the order in which they were opened.
type fileSet struct {
	byKey map[key]*file
	order []*file
	last  *file // asked for last: a stream as a rule has few keys
}

// get gives the open file of a key, or nil.
func (s *fileSet) get(k key) *file {
	if s.last == nil || s.last.key != k {
		s.last = s.byKey[k]
	}
	return s.last
}

// put opens a file.
func (s *fileSet) put(f *file) {
	if s.byKey == nil {
		s.byKey = map[key]*file{}
	}
	s.byKey[f.key] = f
	s.order = append(s.order, f)
	s.last = f
}

// take closes the files that the function picks and returns them.
func (s *fileSet) take(pick func(*file) bool) (taken []*file) {
	kept := s.order[:0]
	for _, f := range s.order {
		if pick(f) {
			delete(s.byKey, f.key)
			taken = append(taken, f)
		} else {
			kept = append(kept, f)
		}
	}
	clear(s.order[len(kept):])
	s.order, s.last = kept, nil
	return taken
}

// takeAll closes every file.
func (s *fileSet) takeAll() []*file { return s.take(func(*file) bool { return true }) }

// millis prints a duration that is whole milliseconds as their number.
func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
