package props

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"sinklab/fsmem"
	"sinklab/sinkcore"
)

// Timeline is one bucket of one subtask under arrivals and outages given one by one, for
// the rules on time: [Latency] and [FileCount]. Instants are milliseconds from the start.
//
// A program in text moves the clock in steps and would hide a bound that is one
// millisecond too small. Here the clock goes from one event to the next, and timers fire
// when they are due, which is what the closed forms of sinkcore assume.
type Timeline struct {
	Policy   sinkcore.RollingPolicy
	Schedule sinkcore.Schedule

	Arrivals        []int64  // of the records, ascending
	FirstCheckpoint int64    // the others follow at the schedule's interval
	Outages         []Outage // ascending, not overlapping
}

// Outage is a time in which no process runs. The record that arrives meanwhile waits.
// At its end the sink is restored from the newest completed checkpoint, or begins anew if
// there is none, and the source sends again what that does not cover.
type Outage struct {
	From, To int64
}

// Visit is what became of the records of a timeline, as completions told it; that what they
// tell is true is for other rules.
type Visit struct {
	Latencies []int64 // by record: from its arrival until it was visible
	Files     int
	Rolled    sinkcore.RollCounts
}

// Run plays the timeline until every record is visible, or until a long time after the
// last one has arrived; a record that is not visible by then has latency -1.
//
// What falls on one instant happens in this order: the end of an outage, check timers,
// the completion of a checkpoint, the start of one, records, the start of an outage.
func (l Timeline) Run() (Visit, error) {
	r := &timelineRun{Timeline: l, fs: fsmem.New(fsmem.Options{NoPlaces: true}), random: rand.NewChaCha8([32]byte{2}), now: 0}
	r.visit.Latencies = make([]int64, len(l.Arrivals))
	for i := range r.visit.Latencies {
		r.visit.Latencies[i] = -1
	}
	if err := r.start(); err != nil {
		return r.visit, err
	}
	return r.visit, errors.Join(r.play(), r.job.Close())
}

// timelineRun is a timeline on its way. A record is its number; sent and shown are counts,
// because both go in the order of the arrivals.
type timelineRun struct {
	Timeline
	fs     *fsmem.FS
	random *rand.ChaCha8
	job    *sinkcore.Job[int]
	visit  Visit

	now             int64
	sent            int   // records written in the life that counts
	shown           int   // visible ones
	barrier, finish int64 // when the next checkpoint starts, and when the one under way completes
	id              int64
	taken, stored   sinkcore.Checkpoint // the one under way, and the newest that completed
	takenAt, keptAt int                 // records that they cover
}

func (r *timelineRun) config() sinkcore.Config[int] {
	return sinkcore.Config[int]{
		Dir: "/out", Policy: r.Policy, CheckInterval: r.Schedule.Check,
		Encoder: sinkcore.EncoderFunc[int](func(dst []byte, n int) ([]byte, error) { return fmt.Appendf(dst, "%d\n", n), nil }),
	}
}

func (r *timelineRun) start() (err error) {
	r.job, err = sinkcore.NewJob(r.fs, r.random, r.config(), 1, 0)
	r.barrier, r.finish = r.FirstCheckpoint, sinkcore.Never
	return err
}

// play goes from one event to the next. A checkpoint that would start while another is under
// way starts when that completes, as in sim.Workload.
func (r *timelineRun) play() error {
	outages := r.Outages
	end := patience(r)
	for r.shown < len(r.Arrivals) {
		arrival, outage := sinkcore.Never, sinkcore.Never
		if r.sent < len(r.Arrivals) {
			arrival = max(r.now, r.Arrivals[r.sent])
		}
		if len(outages) > 0 {
			outage = outages[0].From
		}
		r.now = max(r.now, min(r.job.NextTick(), r.finish, r.barrier, arrival, outage))
		if r.now > end {
			return nil
		}
		var err error
		switch {
		case r.job.NextTick() <= r.now:
			_, err = r.job.Tick(r.now)
		case r.finish <= r.now:
			err = r.complete()
		case r.barrier <= r.now:
			err = r.checkpoint()
		case arrival <= r.now:
			err = r.job.Write(0, r.sent, sinkcore.NoTime, sinkcore.NoTime, r.now)
			r.sent++
		default:
			r.now = outages[0].To
			outages = outages[1:]
			err = r.restore()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// patience is when to give up: no bound is as long. A sink that never shows a record must
// end the run with a violation and not go on for ever.
func patience(r *timelineRun) int64 {
	last := int64(0)
	if n := len(r.Arrivals); n > 0 {
		last = r.Arrivals[n-1]
	}
	if n := len(r.Outages); n > 0 {
		last = max(last, r.Outages[n-1].To)
	}
	return last + 100*time.Hour.Milliseconds()
}

func (r *timelineRun) checkpoint() (err error) {
	if r.finish != sinkcore.Never {
		r.barrier = r.finish // one at a time
		return nil
	}
	r.id++
	r.taken, err = r.job.Checkpoint(r.id, r.now)
	r.takenAt = r.sent
	r.finish = r.now + r.Schedule.Duration.Milliseconds()
	r.barrier = r.now + r.Schedule.Checkpoint.Milliseconds()
	return err
}

func (r *timelineRun) complete() error {
	r.stored, r.keptAt, r.finish = r.taken, r.takenAt, sinkcore.Never
	published, err := r.job.Complete(r.stored.ID)
	if err != nil {
		return err
	}
	r.show(published)
	return nil
}

// show notes what became visible. Parts hold the records in their order, and a completion
// publishes parts in the order in which they were closed, so counting is enough.
func (r *timelineRun) show(published []sinkcore.Committable) {
	for _, c := range published {
		r.visit.Files++
		r.visit.Rolled[c.Reason]++
		for range c.Records {
			r.visit.Latencies[r.shown] = r.now - r.Arrivals[r.shown]
			r.shown++
		}
	}
}

// restore ends an outage. The records after the newest completed checkpoint arrive again at
// once, before those that have waited; checkpoints start anew one interval later.
func (r *timelineRun) restore() error {
	if err := r.job.Close(); err != nil {
		return err
	}
	r.sent, r.finish, r.barrier = r.keptAt, sinkcore.Never, r.now+r.Schedule.Checkpoint.Milliseconds()
	var published []sinkcore.Committable
	var err error
	if r.stored.ID == 0 {
		r.job, err = sinkcore.NewJob(r.fs, r.random, r.config(), 1, r.now)
	} else {
		r.job, published, err = sinkcore.RestoreJob(r.fs, r.random, r.config(), 1, r.now, r.stored)
	}
	if err != nil {
		return err
	}
	// What the restore publishes was published before: the checkpoint had completed.
	if len(published) > 0 && r.shown < int(published[0].Records) {
		return fmt.Errorf("the restore published a part that no completion had")
	}
	return nil
}

// CheckLatency returns an error if a record is later than the policy's closed form says, and
// nil if the policy has none. Records that are too early are for [Visibility].
//
// An outage starts anew what had not been checkpointed, so a record that waits through
// outages has the bound once more for each of them, and their lengths besides.
func (l Timeline) CheckLatency(v Visit) *Violation {
	worst, bounded := sinkcore.WorstLatency(l.Policy, l.Schedule)
	if !bounded {
		return nil
	}
	for i, latency := range v.Latencies {
		bound := worst.Milliseconds()
		for _, o := range l.Outages {
			if o.To > l.Arrivals[i] && (latency < 0 || o.From <= l.Arrivals[i]+latency) {
				bound += worst.Milliseconds() + o.To - o.From
			}
		}
		if latency < 0 || latency > bound {
			return &Violation{Latency, i, fmt.Sprintf("the record of instant %d waited %d ms, the bound is %d ms (%v)", l.Arrivals[i], latency, bound, l.Policy)}
		}
	}
	return nil
}

// FileBounds gives the least and the most files that a timeline without outages can have,
// in closed form:
//
//   - OnCheckpoint: exactly one for each time between two checkpoints in which a record
//     arrived.
//
//   - Default without a roll by size: each file but the last was open for at least the
//     shorter of rollover and inactivity, and none for longer than rollover plus a check
//     interval less a millisecond.
//
//   - Deadline without a target, told the schedule as it is: exactly as many as no sink with
//     these checkpoints can go below. A file is shown by a checkpoint that starts no later
//     than Within - Duration after its first record, and holds what was written before that
//     start; so to take the last such checkpoint, and to begin the next file with the next
//     record, covers the records with the fewest files.
//
// Bytes is the size of all records together; if a part could be closed by size the form
// does not hold. Known is false then, and for other policies.
func (l Timeline) FileBounds(bytes int64) (least, most int, known bool) {
	n := len(l.Arrivals)
	if n == 0 {
		return 0, 0, true
	}
	switch p := l.Policy.(type) {
	case sinkcore.OnCheckpoint:
		files := map[int64]bool{}
		for _, at := range l.Arrivals {
			files[l.interval(at)] = true
		}
		return len(files), len(files), true
	case sinkcore.Deadline:
		if p.Target > 0 || p.Checkpoint != l.Schedule.Checkpoint || p.Duration != l.Schedule.Duration {
			return 0, 0, false
		}
		files, until := 0, int64(-1)
		for _, at := range l.Arrivals {
			if at < until {
				continue
			}
			files++
			until = l.lastCheckpoint(at + (p.Within - p.Duration).Milliseconds())
		}
		return files, files, true
	case sinkcore.Default:
		p = p.Filled()
		rollover, inactivity := p.Rollover.Milliseconds(), p.Inactivity.Milliseconds()
		if bytes > p.Size {
			return 0, 0, false
		}
		span := l.Arrivals[n-1] - l.Arrivals[0]
		longest := rollover + l.Schedule.Check.Milliseconds() - 1
		// Files begin with records; each covers at most longest from its first one.
		least := 1
		for i, first := 1, l.Arrivals[0]; i < n; i++ {
			if l.Arrivals[i] > first+longest {
				least, first = least+1, l.Arrivals[i]
			}
		}
		return least, 1 + int(span/min(rollover, inactivity)), true
	}
	return 0, 0, false
}

// interval numbers the times between checkpoints; a record at the instant of a
// checkpoint belongs to the next, since checkpoints start before records arrive. It holds
// while no checkpoint is held up by one before it.
func (l Timeline) interval(at int64) int64 {
	if at < l.FirstCheckpoint {
		return 0
	}
	return (at-l.FirstCheckpoint)/l.Schedule.Checkpoint.Milliseconds() + 1
}

// lastCheckpoint is the start of the last checkpoint up to an instant.
func (l Timeline) lastCheckpoint(at int64) int64 {
	return at - (at-l.FirstCheckpoint)%l.Schedule.Checkpoint.Milliseconds()
}

// CheckFiles returns an error if there are fewer or more files than the closed form says.
// It says nothing of a timeline with outages, whose restores open files anew, nor of one
// with a record that never became visible, which [Timeline.CheckLatency] tells.
func (l Timeline) CheckFiles(v Visit) *Violation {
	bytes := int64(0)
	for i := range l.Arrivals {
		bytes += int64(len(fmt.Sprintln(i)))
	}
	least, most, known := l.FileBounds(bytes)
	if !known || len(l.Outages) > 0 || slices.Contains(v.Latencies, -1) {
		return nil
	}
	if v.Files < least || v.Files > most {
		return &Violation{FileCount, len(l.Arrivals), fmt.Sprintf("%d files, the closed form says %d to %d (%v)", v.Files, least, most, l.Policy)}
	}
	return nil
}
