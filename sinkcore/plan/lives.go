package plan

import "time"

// lane is what the lanes of settings that are filled in have in common, with arrivals that
// are constant, at the start of the first life. Its first record is that of lane 0.
//
// Beyond the end nothing makes a difference; a little more than the end keeps sums small.
func (s Settings) lane(limits Limits, c Constant) lane {
	end := s.Duration.Milliseconds()
	long := end + 1
	cut := func(d time.Duration) int64 { return min(d.Milliseconds(), long) }
	l := lane{
		first: min(int64(c.First), long*nanos), gap: long * nanos,
		perFile: never, rollover: never, inactivity: never, atCheckpoint: limits.AtCheckpoint, olderThan: cut(limits.OlderThan),
		check: cut(s.CheckInterval), checkpoint: cut(s.FirstCheckpoint),
		every: cut(max(s.CheckpointInterval, s.CheckpointDuration)), duration: cut(s.CheckpointDuration),
		end: end,
	}
	if interval := int64(c.Interval); interval <= l.gap/s.lanes() {
		l.gap = s.lanes() * interval
	}
	if limits.Bytes > 0 {
		l.perFile = ceilDiv(limits.Bytes, int64(s.RecordSize))
	}
	if limits.Rollover > 0 {
		l.rollover = cut(limits.Rollover)
	}
	if limits.Inactivity > 0 {
		l.inactivity = cut(limits.Inactivity)
	}
	return l
}

// tell plays every lane of settings that are filled in and have constant arrivals, through
// all lives of the process.
//
// Lane k of n begins with record k and gets every n-th: records go round the buckets, and
// rounds of the buckets go round the subtasks.
func (s Settings) tell(limits Limits, spans bool) ([]story, error) {
	c := s.Arrivals.(Constant).Filled()
	l := s.lane(limits, c)
	first, interval := l.first, min(int64(c.Interval), (l.end+1)*nanos)
	var stories []story
	steps := maxSteps
	for k := range s.lanes() {
		if k > floorDiv((l.end+1)*nanos-1-first, interval) {
			break // it gets no record before the end, nor do those after it
		}
		l.first = first + k*interval
		t := story{steps: &steps}
		if spans {
			t.spans = []span{}
		}
		state := resume{}
		for i, life := range s.lives(l) {
			var err error
			if state, err = life.play(&t, i, state); err != nil {
				return nil, err
			}
		}
		stories = append(stories, t)
	}
	return stories, nil
}

// lives are the lives of the process in a lane: each ends with an outage, the last with the
// end of what is looked at.
func (s Settings) lives(l lane) []lane {
	var out []lane
	end := l.end
	for _, o := range s.Outages {
		if o.From.Milliseconds() > end {
			break
		}
		l.end = o.From.Milliseconds()
		out = append(out, l)
		l.start = o.To.Milliseconds()
		l.checkpoint = l.start + min(s.CheckpointInterval.Milliseconds(), end+1)
		if l.start > end {
			return out
		}
	}
	l.end = end
	return append(out, l)
}
