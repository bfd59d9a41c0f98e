package sim

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"sinklab/sinkcore"
)

// Arrival is one record of a workload. Instants are milliseconds.
//
// At is the intended instant: a record that meets an outage keeps it, so that the time in
// which nobody could take the record counts as waiting. Measuring from when the sink took
// it would make an outage look like a pause of the source (coordinated omission).
type Arrival struct {
	At        int64  // when the record is to arrive, from the start of the job
	EventTime int64  // the record's own time, or sinkcore.NoTime; only the assigner sees it
	Bucket    string // the record's bucket, if the workload leaves that to the arrivals
}

// Arrivals is a stream of records. The built-in ones are small values that print in
// the syntax that [ParseArrivals] reads.
//
// A type of your own needs these two methods; if it has Validate() error as well, that is
// asked before a workload is played. All may be called several times, so it must not keep
// where it is.
type Arrivals interface {
	// All gives the records in the order in which they arrive; the same ones every time.
	// The stream may have no end: who reads it stops.
	All() iter.Seq[Arrival]

	// String gives the stream as key=value words, durations in milliseconds.
	String() string
}

// Constant is one record after the other at an interval. The zero value is ten records a
// second.
//
// An interval below a millisecond gives several records to an instant, and one that is no
// whole number of milliseconds gives gaps that differ by one: each instant is computed from
// the start, so that rounding does not add up.
type Constant struct {
	Interval time.Duration // 0 means 100 ms; instants are rounded down to milliseconds
	First    time.Duration // of the first record; it is Interval if 0
}

// Filled is the value with its defaults in place of zeros; it has the same records.
func (c Constant) Filled() Constant {
	if c.Interval == 0 {
		c.Interval = 100 * time.Millisecond
	}
	if c.First == 0 {
		c.First = c.Interval
	}
	return c
}

// Validate returns an error that wraps sinkcore.ErrConfig if a duration is negative.
func (c Constant) Validate() error {
	return notNegative("arrivals", c.Interval, c.First)
}

// All never ends.
//
// It can be ranged over only with a break, or up to an instant.
func (c Constant) All() iter.Seq[Arrival] {
	c = c.Filled()
	return func(yield func(Arrival) bool) {
		for n := int64(0); ; n++ {
			at := (c.First + time.Duration(n)*c.Interval).Milliseconds()
			if !yield(Arrival{At: at, EventTime: sinkcore.NoTime}) {
				return
			}
		}
	}
}

// String gives "arrivals=constant interval=100 first=50".
func (c Constant) String() string {
	c = c.Filled()
	return "arrivals=constant interval=" + millis(c.Interval) + " first=" + millis(c.First)
}

// Poisson is records that know nothing of each other: the gaps between them have an
// exponential distribution, as those of many independent senders together.
//
// It is what a sink with many users sees, and it has what a constant stream never shows:
// pauses that are longer than an inactivity interval, and records in the very millisecond
// of a check.
type Poisson struct {
	Interval time.Duration // the mean; 0 means 100 ms
	Seed     uint64        // of the random gaps
}

// Filled is the value with its default in place of zero; it has the same records.
func (p Poisson) Filled() Poisson {
	p.Interval = Constant{Interval: p.Interval}.Filled().Interval
	return p
}

// Validate returns an error that wraps sinkcore.ErrConfig if the interval is negative.
func (p Poisson) Validate() error {
	return notNegative("arrivals", p.Interval)
}

// All never ends.
func (p Poisson) All() iter.Seq[Arrival] {
	interval := p.Filled().Interval
	return func(yield func(Arrival) bool) {
		random := rand.New(rand.NewPCG(p.Seed, 0))
		for at := 0.0; ; {
			// The sum is kept with its fraction; only what is given out is cut to
			// milliseconds.
			at += random.ExpFloat64() * float64(interval)
			if !yield(Arrival{At: int64(math.Floor(at)) / int64(time.Millisecond), EventTime: sinkcore.NoTime}) {
				return
			}
		}
	}
}

// String gives "arrivals=poisson interval=100 seed=1".
func (p Poisson) String() string {
	return fmt.Sprintf("arrivals=poisson interval=%s seed=%d", millis(p.Filled().Interval), p.Seed)
}

// Bursts is records in bursts with silence between them. The zero value is a burst of
// 600 records every minute, one a millisecond: ten a second on average.
//
// Bursts are where limits of size and of idleness meet: a file fills up in the burst, and
// is idle in the silence after it.
type Bursts struct {
	Size     int           // records in a burst; 0 means 600
	Every    time.Duration // from the start of a burst to that of the next; 0 means a minute
	Interval time.Duration // between two records of a burst; 0 means 1 ms
	First    time.Duration // start of the first burst
}

// Filled is the value with its defaults in place of zeros; it has the same records.
func (b Bursts) Filled() Bursts {
	if b.Size == 0 {
		b.Size = 600
	}
	if b.Every == 0 {
		b.Every = time.Minute
	}
	if b.Interval == 0 {
		b.Interval = time.Millisecond
	}
	return b
}

// Validate returns an error that wraps sinkcore.ErrConfig if a value is negative or a burst
// is not over before the next one.
func (b Bursts) Validate() error {
	if err := notNegative("arrivals", b.Every, b.Interval, b.First); err != nil {
		return err
	}
	f := b.Filled()
	if f.Size < 0 || time.Duration(f.Size-1) > (f.Every-1)/f.Interval {
		return fmt.Errorf("%w: arrivals: a burst of %d records %v apart must be over before the next one, %v later", sinkcore.ErrConfig, f.Size, f.Interval, f.Every)
	}
	return nil
}

// All never ends.
func (b Bursts) All() iter.Seq[Arrival] {
	b = b.Filled()
	return func(yield func(Arrival) bool) {
		for burst := time.Duration(0); ; burst++ {
			for n := range b.Size {
				at := b.First + burst*b.Every + time.Duration(n)*b.Interval
				if !yield(Arrival{At: at.Milliseconds(), EventTime: sinkcore.NoTime}) {
					return
				}
			}
		}
	}
}

// String gives "arrivals=bursts size=600 every=60000 interval=1 first=0".
func (b Bursts) String() string {
	b = b.Filled()
	return fmt.Sprintf("arrivals=bursts size=%d every=%s interval=%s first=%s", b.Size, millis(b.Every), millis(b.Interval), millis(b.First))
}

// Recorded is records one by one, for example those of a real stream. They must be in
// the order in which they arrive.
//
// The records are not copied, so they must not change while a workload is played.
type Recorded struct {
	Name    string // for String
	Records []Arrival
}

// Validate returns an error that wraps sinkcore.ErrConfig if the records are out of order.
func (r Recorded) Validate() error {
	last := int64(0)
	for i, a := range r.Records {
		if a.At < last {
			return fmt.Errorf("%w: arrivals: record %d arrives at %d ms, before the one in front of it or before the start", sinkcore.ErrConfig, i, a.At)
		}
		last = a.At
	}
	return nil
}

// All ends with the last record.
func (r Recorded) All() iter.Seq[Arrival] { return slices.Values(r.Records) }

// String gives "arrivals=" and the name. [ParseArrivals] cannot read it: the records are
// not in it.
func (r Recorded) String() string { return "arrivals=" + r.Name }

// validArrivals asks a stream that can tell whether it makes sense.
//
// Validate is not part of [Arrivals], since most streams of a caller's own cannot be wrong.
func validArrivals(a Arrivals) error {
	if v, ok := a.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

func notNegative(what string, durations ...time.Duration) error {
	for _, d := range durations {
		if d < 0 {
			return fmt.Errorf("%w: %s: %v is negative", sinkcore.ErrConfig, what, d)
		}
	}
	return nil
}
