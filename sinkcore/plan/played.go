package plan

import (
	"math"
	"time"
)

// Arrivals that are no lattice are gone through one by one, which Explain does: what a file
// waits for is then looked up among them. All else is as for constant ones.

// maxPlayed bounds the records that are gone through. It takes a tenth of a second and 16 bytes
// for each.
const maxPlayed = 2_000_000

// tables are when the records of each lane arrive, milliseconds, of arrivals that are no lattice. Lane
// k gets every record whose number is k modulo the number of lanes; those without a record
// before the end are left out. If there are too many records the time that is looked at is
// shorter: it ends with the last millisecond of which all are known.
func (s Settings) tables() (tables [][]int64, looked time.Duration) {
	lanes, end := s.lanes(), s.Duration.Milliseconds()
	n := int64(0)
	for a := range s.Arrivals.All() {
		if a.At > end {
			break
		}
		if n == maxPlayed {
			end = a.At - 1
			break
		}
		if n < lanes {
			tables = append(tables, nil)
		}
		tables[n%lanes] = append(tables[n%lanes], a.At)
		n++
	}
	return tables, time.Duration(max(end, 0)) * time.Millisecond
}

// thinned are settings whose bursts have so few records that all can be gone through, and of how
// many records one of them stands for: it arrives with the first of those, and has the bytes of all.
// Only where they come within a millisecond, so that no instant is off by more than that.
func (s Settings) thinned() (Settings, int64) {
	b, bursts := s.Arrivals.(Bursts)
	if !bursts {
		return s, 1
	}
	b = b.Filled()
	room := maxPlayed / int64(s.Duration/b.Every+1) // for each burst
	if room == 0 {
		return s, 1
	}
	f := ceilDiv(int64(b.Size), room)
	if f <= 1 || f > nanos/int64(b.Interval) || int64(b.Size)/f < s.lanes() || int64(s.RecordSize) > math.MaxInt32/f {
		return s, 1
	}
	b.Size, b.Interval = int(ceilDiv(int64(b.Size), f)), b.Interval*time.Duration(f)
	s.Arrivals, s.RecordSize = b, s.RecordSize*int(f)
	return s, f
}

// played is the lane of a table.
func (s Settings) played(limits Limits, table []int64) lane {
	l := s.lane(limits, Constant{}.Filled())
	l.table = table
	if l.inactivity < never {
		for i, at := range table {
			if i == len(table)-1 || table[i+1]-at >= l.inactivity {
				l.pauses = append(l.pauses, int64(i))
			}
		}
	}
	return l
}

// tellPlayed plays every lane of settings that are filled in, through all lives of the process.
func (s Settings) tellPlayed(limits Limits, tables [][]int64) ([]story, error) {
	var stories []story
	steps := 2 * maxPlayed // a file has a record; those of outages come again
	for _, table := range tables {
		t := story{steps: &steps}
		state := resume{}
		for i, life := range s.lives(s.played(limits, table)) {
			var err error
			if state, err = life.play(&t, i, state); err != nil {
				return nil, err
			}
		}
		stories = append(stories, t)
	}
	return stories, nil
}
