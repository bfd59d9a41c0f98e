package plan

import (
	"fmt"
	"time"

	"sinklab/sinkcore"
)

// LeastFiles is how many files are visible at the end of Duration at the least, if every
// record is visible Within so long of its arrival, whatever policy closes parts. It looks
// at the arrivals, the lanes, the checkpoints and Duration of the settings, and not at the
// policy, the check interval or the size of anything. Outages are refused: they can
// only make more files.
//
// A file that the checkpoint starting at b hands over is visible at b + D, where D is the
// checkpoint's duration. Its records were written before b. If each is visible in time they
// arrived at b + D - Within or later. So the file holds records of one stretch of arrivals,
// [b + D - Within, b), and whoever makes files covers with such stretches, of which there is
// one for each checkpoint, all records of each lane that have to be visible by the end:
// those that arrive at Duration - Within or before.
//
// The least number of stretches is found from the front. The first record must be in a
// stretch; of those that hold it the one that ends last, that of the last checkpoint at a +
// Within - D or before where a is its arrival, holds all that any other would hold of the
// records from it on. Then comes the first record after that stretch. So a file begins
// every Within - D of records, less what it takes to end at a checkpoint; a Deadline makes
// just these files.
//
// For constant arrivals the number is exact: with other arrivals the next record after a
// stretch comes up to the longest gap of a lane later, and the files are counted as
// if it always did, in which case there are no fewer; see [Predict] for what that rests on.
//
// The error wraps [ErrImpossible] if no policy can show a record in time: if Within is less
// than what a record that is written just after a checkpoint has started waits.
func LeastFiles(s Settings, within time.Duration) (int64, error) {
	s, err := s.validate()
	if err != nil {
		return 0, err
	}
	if within < 0 || within%time.Millisecond != 0 {
		return 0, fmt.Errorf("%w: a latency of %v: must be a whole number of milliseconds, not negative", sinkcore.ErrConfig, within)
	}
	if len(s.Outages) > 0 {
		return 0, fmt.Errorf("%w: Outages: the least number of files is known only without", sinkcore.ErrConfig)
	}
	end, stretch := s.Duration.Milliseconds(), (within - s.CheckpointDuration).Milliseconds()
	last := end - within.Milliseconds() // the last arrival that has to be visible
	c, constant := s.Arrivals.(Constant)
	if !constant {
		x := s.stream()
		l := s.lane(Limits{}, Constant{Interval: time.Hour, First: time.Hour})
		if stretch < l.every {
			return 0, l.tooSoon(s, within)
		}
		if last < x.gap {
			return 0, nil
		}
		return s.lanes() * ((last-x.gap)/(stretch+x.gap) + 1), nil
	}
	c = c.Filled()
	l := s.lane(Limits{}, c)
	first, interval := l.first, min(int64(c.Interval), (end+1)*nanos)
	files := int64(0)
	for k := range s.lanes() {
		if k > floorDiv((end+1)*nanos-1-first, interval) {
			break
		}
		l.first = first + k*interval
		for n := int64(0); l.at(n) <= last; {
			a := l.at(n)
			b := l.checkpoint + l.every*floorDiv(a+stretch-l.checkpoint, l.every)
			if b <= a || b < l.checkpoint {
				return 0, l.tooSoon(s, within)
			}
			if files++; files > maxCount {
				return 0, ErrTooLong
			}
			n = l.from(b)
		}
	}
	return files, nil
}

// maxCount bounds the files that are counted one by one, which takes a second or two.
const maxCount = 50_000_000

// tooSoon is the error for a latency that nothing can keep.
func (l *lane) tooSoon(s Settings, within time.Duration) error {
	return fmt.Errorf("%w: a latency of %v: a record may wait %v for the next checkpoint and its completion, whatever the policy; take checkpoints more often",
		ErrImpossible, within, max(s.CheckpointInterval, s.CheckpointDuration, s.FirstCheckpoint)+s.CheckpointDuration)
}
