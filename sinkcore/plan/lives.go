package plan

import "slices"

// tell plays every lane of settings that are filled in and have constant arrivals, through
// all lives of the process.
//
// Lane k of n begins with record k and gets every n-th: records go round the buckets, and
// rounds of the buckets go round the subtasks.
func (s Settings) tell(limits Limits, spans bool) ([]story, error) {
	c := s.Arrivals.(Constant).filled()
	end := s.Duration.Milliseconds()
	// Beyond the end nothing makes a difference; a little more than the end keeps sums small.
	long := end + 1
	cut := func(ms int64) int64 { return min(ms, long) }
	interval := min(int64(c.Interval), long*nanos)
	first := min(int64(c.First), long*nanos)
	n := s.lanes()
	gap := long * nanos
	if interval <= gap/n {
		gap = n * interval
	}
	every := cut(max(s.CheckpointInterval, s.CheckpointDuration).Milliseconds())
	l := lane{
		gap: gap, perFile: never, rollover: never, inactivity: never, atCheckpoint: limits.AtCheckpoint,
		check: cut(s.CheckInterval.Milliseconds()), every: every, duration: cut(s.CheckpointDuration.Milliseconds()),
	}
	if limits.Size > 0 {
		l.perFile = limits.Size/int64(s.RecordSize) + 1 // the least count that is larger than Size
	}
	if limits.Rollover > 0 {
		l.rollover = cut(limits.Rollover.Milliseconds())
	}
	if limits.Inactivity > 0 {
		l.inactivity = cut(limits.Inactivity.Milliseconds())
	}
	var stories []story
	for k := range n {
		if k > floorDiv(long*nanos-1-first, interval) {
			break // it gets no record before the end, nor do those after it
		}
		l.first = first + k*interval
		var t story
		if spans {
			t.spans = []span{}
		}
		if err := l.live(&t, s); err != nil {
			return nil, err
		}
		stories = append(stories, t)
	}
	return stories, nil
}

// live plays a lane through all lives.
func (l *lane) live(t *story, s Settings) error {
	end := s.Duration.Milliseconds()
	l.start, l.checkpoint = 0, min(s.FirstCheckpoint.Milliseconds(), end+1)
	state := resume{}
	outages := slices.Clone(s.Outages)
	for life := 0; l.start <= end; life++ {
		l.end = end
		down := len(outages) > 0 && outages[0].From.Milliseconds() <= end
		if down {
			l.end = outages[0].From.Milliseconds()
		}
		var err error
		if state, err = l.play(t, life, state); err != nil || !down {
			return err
		}
		l.start = outages[0].To.Milliseconds()
		l.checkpoint = l.start + min(s.CheckpointInterval.Milliseconds(), end+1)
		outages = outages[1:]
	}
	return nil
}
