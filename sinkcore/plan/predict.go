package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// Bounds is a figure that is known to be at least Low and at most High. Where it is known
// exactly both are the same.
type Bounds[T int64 | float64 | time.Duration] struct {
	Low, High T
}

// exactly is a figure that is known.
func exactly[T int64 | float64 | time.Duration](x T) Bounds[T] { return Bounds[T]{x, x} }

// Exact tells whether the figure is known exactly.
func (b Bounds[T]) Exact() bool { return b.Low == b.High }

// Holds tells whether x is within the bounds.
func (b Bounds[T]) Holds(x T) bool { return b.Low <= x && x <= b.High }

// String gives the figure, or "LOW to HIGH".
func (b Bounds[T]) String() string {
	if b.Exact() {
		return fmt.Sprint(b.Low)
	}
	return fmt.Sprintf("%v to %v", b.Low, b.High)
}

// Prediction is what a reader of the directory will see, and what it will cost. What
// becomes visible after the end of Duration is not counted, as in a simulation: a stream
// has no end. The latency of a record is from its arrival until a reader can see it.
//
// A duration is -1 ns if nothing becomes visible.
type Prediction struct {
	// Exact tells that the latencies, records, files and renames are exact, as they are for
	// constant arrivals. For others they are bounds; see [Predict] for what they rest on.
	Exact bool

	First Bounds[time.Duration] // when the first file can be seen, from the start of the job

	// The least latency, the mean, three quantiles and the longest. Others are given by
	// Latency.
	Least, Mean, P50, P90, P99, Worst Bounds[time.Duration]

	Visible      Bounds[int64]   // records that can be read before the end
	Files        Bounds[int64]   // that can be seen before the end; as many renames
	FilesPerHour Bounds[float64] // the same for an hour; as many renames an hour
	BytesPerFile Bounds[float64] // mean; 0 if there are no files

	// OpenParts is part files open at one instant, at most, of all subtasks. Where records are
	// few and lanes many, so that never all lanes have a part open, and files are millions,
	// there are bounds only.
	OpenParts   Bounds[int64]
	BufferBytes int64 // in the buffers of those, at most

	// FileSyncs is fsyncs of part files until the end, and DirSyncs those of directories. For
	// the second there are bounds only: how many directories are above the sink's
	// own, and which checkpoint finds one synced already, is not worth going into.
	FileSyncs, DirSyncs Bounds[int64]
	SyncsPerHour        Bounds[float64] // both together, for an hour

	latencies latencies // nil if there are bounds only

	// For arrivals that are not constant; see between.
	known latencies
	doubt float64
}

// Latency is a quantile of the latency: the smallest that at least the share q of the
// visible records had; 0 gives the least, 1 the longest.
func (p Prediction) Latency(q float64) Bounds[time.Duration] {
	if p.latencies != nil {
		return exactly(p.latencies.quantile(q))
	}
	return p.between(q)
}

// Predict tells what settings will do, without doing it. The error wraps
// sinkcore.ErrConfig if the settings make no sense, [ErrUnknownPolicy] if the policy does not
// tell how it behaves, and [ErrTooLong] if too many files are written in Duration.
//
// For [Constant] arrivals the result is exact to the millisecond, outages included. It
// costs some microseconds for each lane (a pair of a bucket and a subtask) and for each
// file of one cycle of a lane, and nothing for a record; the package's documentation
// derives it. For other arrivals the result is bounds:
//
//   - For [Bursts] they hold always.
//   - For [Poisson] arrivals they hold but for one stream in a billion or fewer: there must
//     be no longer gap between two records of a lane, no fewer records and no more than a
//     stream in a billion has.
func Predict(s Settings) (Prediction, error) {
	s, err := s.validate()
	if err != nil {
		return Prediction{}, err
	}
	if p, ok := s.Policy.(Predictor); ok {
		return p.Predict(s)
	}
	limits, err := LimitsOf(s.Policy)
	if err != nil {
		return Prediction{}, err
	}
	if _, constant := s.Arrivals.(Constant); !constant {
		return s.bounds(limits), nil
	}
	return s.exact(limits)
}

// exact is the prediction for constant arrivals.
func (s Settings) exact(limits Limits) (Prediction, error) {
	stories, err := s.tell(limits, false)
	if err != nil {
		return Prediction{}, err
	}
	p := Prediction{Exact: true, First: exactly[time.Duration](-1), latencies: latencies{}}
	var files, syncs, opened, publishes int64
	for _, t := range stories {
		p.latencies = append(p.latencies, t.visits...)
		syncs += t.syncs
		opened += t.opened
		publishes += t.publishes
	}
	for i, v := range p.latencies {
		files += v.files * v.times
		if at := time.Duration(v.visible) * time.Millisecond; i == 0 || at < p.First.Low {
			p.First = exactly(at)
		}
	}
	p.Visible, p.Files = exactly(p.latencies.records()), exactly(files)
	p.Mean = exactly(p.latencies.mean())
	p.Least, p.Worst = p.Latency(0), p.Latency(1)
	p.P50, p.P90, p.P99 = p.Latency(.5), p.Latency(.9), p.Latency(.99)
	if files > 0 {
		p.BytesPerFile = exactly(float64(p.Visible.Low) * float64(s.RecordSize) / float64(files))
	}
	p.OpenParts = s.openParts(limits, int64(len(stories)))
	p.BufferBytes = s.buffers(p.OpenParts.High, limits)
	p.FileSyncs = exactly(syncs)
	p.DirSyncs = s.dirSyncs(exactly(publishes), exactly(opened))
	s.perHour(&p)
	return p, nil
}

// perHour fills in what follows from other figures.
func (s Settings) perHour(p *Prediction) {
	hours := float64(s.Duration) / float64(time.Hour)
	p.FilesPerHour = Bounds[float64]{float64(p.Files.Low) / hours, float64(p.Files.High) / hours}
	p.SyncsPerHour = Bounds[float64]{
		float64(p.FileSyncs.Low+p.DirSyncs.Low) / hours,
		float64(p.FileSyncs.High+p.DirSyncs.High) / hours,
	}
}

// buffers is the bytes in the buffers of so many open parts, at most. A buffer is written
// out when it has BufferSize bytes or more, so it holds one record more at most; and no
// more than the whole part, which exceeds its size limit by one record at most.
func (s Settings) buffers(open int64, limits Limits) int64 {
	each := int64(s.BufferSize)
	if limits.Bytes > 0 {
		each = min(each, limits.Bytes)
	}
	return open * (each + int64(s.RecordSize))
}

// dirSyncs is the fsyncs of directories. A completed checkpoint syncs the directory of
// each lane in which it has published something. A checkpoint syncs each directory
// in which a part has been made since, unless a completion was first: once for each part at
// most. The directories above come once for each bucket and each life of the process, and a
// restore publishes once more what the newest checkpoint had.
func (s Settings) dirSyncs(publishes, opened Bounds[int64]) Bounds[int64] {
	lives := int64(len(s.Outages) + 1)
	above := int64(s.Buckets) + 8 // as deep as paths to a sink are
	return Bounds[int64]{publishes.Low, publishes.High + opened.High + lives*above + (lives-1)*s.lanes()}
}

// openParts is the number of parts open at one instant, at most, of so many lanes that get a
// record.
//
// A lane has a part open from its first record on but for the times between a check or
// checkpoint that closes one and the next record. So all are open at once just before any
// check or checkpoint that comes longer after the one before than a round of records takes.
// Where there is none, the times in which each lane has a part open are added up.
func (s Settings) openParts(limits Limits, lanes int64) Bounds[int64] {
	if len(s.Outages) == 0 && (lanes <= 1 || s.quietRound(lanes)) {
		return exactly(lanes)
	}
	stories, err := s.tell(limits, true)
	if err != nil {
		return Bounds[int64]{0, lanes} // too many files to add up one by one
	}
	// Within one instant checks and checkpoints close parts before records open others. A
	// process that dies closes nothing before that, so each life is added up by itself.
	most := int64(0)
	for life := range len(s.Outages) + 1 {
		var changes []change
		for _, t := range stories {
			for _, p := range t.spans {
				if p.life == life {
					changes = append(changes, change{p.opened, 1}, change{p.closed, -1})
				}
			}
		}
		slices.SortFunc(changes, func(a, b change) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by))
		})
		open := int64(0)
		for _, c := range changes {
			open += c.by
			most = max(most, open)
		}
	}
	return exactly(most)
}

// change is a part that is opened or closed.
type change struct{ at, by int64 }

// quietRound looks for a time without checks and checkpoints in which every lane gets a
// record, among the first that there are after the first round.
func (s Settings) quietRound(lanes int64) bool {
	if lanes < s.lanes() {
		return false
	}
	c := s.Arrivals.(Constant).Filled()
	if c.Interval > time.Duration(math.MaxInt64/2/lanes) {
		return false
	}
	round := int64(time.Duration(lanes)*c.Interval)/nanos + 2 // a millisecond more at each end
	end, check := s.Duration.Milliseconds(), s.CheckInterval.Milliseconds()
	every := max(s.CheckpointInterval, s.CheckpointDuration).Milliseconds()
	first := s.FirstCheckpoint.Milliseconds()
	t := c.First.Milliseconds() + 1
	for range 100 {
		next := min(end, (t/check+1)*check)
		if t < first {
			next = min(next, first)
		} else {
			next = min(next, first+((t-first)/every+1)*every)
		}
		if next-t >= round {
			return true
		}
		if next == end {
			return false
		}
		t = next
	}
	return false
}
