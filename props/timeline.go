package props

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
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

	Arrivals        []int64      // of the records, ascending
	FirstCheckpoint int64        // the others follow at the schedule's interval
	Outages         []sim.Outage // ascending, not overlapping
}

// Visit is what became of the records of a timeline.
type Visit struct {
	Latencies []int64 // by record: from its arrival until it was visible
	Files     int
	Rolled    sinkcore.RollCounts
}

// Run plays the timeline as a [sim.Workload] until every record is visible, or until a long
// time after the last one has arrived; a record that is not visible by then has latency
// -1. No bound is as long: a sink that never shows a record must end the run with a violation
// and not go on for ever.
func (l Timeline) Run() (Visit, error) {
	stream := sim.Recorded{Name: "timeline"}
	last := int64(0)
	for _, at := range l.Arrivals {
		stream.Records = append(stream.Records, sim.Arrival{At: at, EventTime: sinkcore.NoTime})
		last = at
	}
	w := sim.Workload{
		Arrivals: stream, RecordSize: timelineRecord, UntilVisible: true, Outages: l.Outages,
		Policy: l.Policy, CheckInterval: l.Schedule.Check,
		CheckpointInterval: l.Schedule.Checkpoint, CheckpointDuration: l.Schedule.Duration,
		FirstCheckpoint: time.Duration(l.FirstCheckpoint) * time.Millisecond,
	}
	if n := len(l.Outages); n > 0 {
		last = max(last, l.Outages[n-1].To.Milliseconds())
	}
	w.Duration = time.Duration(last)*time.Millisecond + 100*time.Hour
	r, err := w.Run(fsmem.New(fsmem.Options{NoPlaces: true}), rand.NewChaCha8([32]byte{2}), "/out")
	if err != nil {
		return Visit{}, err
	}
	visit := Visit{Files: int(r.Files), Latencies: make([]int64, len(r.Records))}
	for i, record := range r.Records {
		visit.Latencies[i] = -1
		if record.Visible >= 0 {
			visit.Latencies[i] = record.Visible - record.Arrived
		}
	}
	for _, part := range r.Parts {
		if part.Visible >= 0 {
			visit.Rolled[part.Reason]++
		}
	}
	return visit, nil
}

// timelineRecord is the size of each record in bytes, the least that a workload can have.
const timelineRecord = 24

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
			from, to := o.From.Milliseconds(), o.To.Milliseconds()
			if to > l.Arrivals[i] && (latency < 0 || from <= l.Arrivals[i]+latency) {
				bound += worst.Milliseconds() + to - from
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
	least, most, known := l.FileBounds(int64(len(l.Arrivals)) * timelineRecord)
	if !known || len(l.Outages) > 0 || slices.Contains(v.Latencies, -1) {
		return nil
	}
	if v.Files < least || v.Files > most {
		return &Violation{FileCount, len(l.Arrivals), fmt.Sprintf("%d files, the closed form says %d to %d (%v)", v.Files, least, most, l.Policy)}
	}
	return nil
}
