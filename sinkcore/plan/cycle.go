package plan

// cycle adds what happens to a story, and finds out that a lane repeats itself.
//
// What becomes of a file depends on nothing but the place of its first record relative
// to the checks, to the checkpoints and to the other records. If the first records of two
// files are a multiple of the check interval and of the checkpoint interval apart, all that
// follows the one follows the other too, so much later. So the time between the two
// happens again and again, and is counted as often as it fits before the end.
//
// That holds for files whose lives the beginning of the process cannot touch: those made
// after the first checkpoint, by a record that had not to wait.
type cycle struct {
	l       *lane
	s       *story
	period  int64        // of checks and checkpoints together, nanoseconds; 0 if it is too long to be of use
	seen    map[key]mark // when a file of a kind first began
	visible int64        // of the newest visit
}

// maxCycle is how many files a cycle may have to be found. Longer ones are gone through as they
// are: to remember more costs more memory than it saves time.
const maxCycle = 1 << 17

// key is the kind of a file.
type key struct {
	place  int64 // of its first record in the period
	before int64 // how long after the file is made the one before becomes visible: maybe together with it
}

// mark is the story when a file began.
type mark struct {
	from, syncs, opened, publishes int64
	visits                         int
}

func newCycle(l *lane, s *story) *cycle {
	y := &cycle{l: l, s: s, visible: -1}
	whole := l.end - l.start + 1
	check := l.check
	if l.rollover >= never && l.inactivity >= never {
		check = 1 // checks close nothing
	}
	if p := lcm(check, l.every, whole); p < whole && s.spans == nil && l.table == nil {
		y.period = p * nanos
		y.seen = map[key]mark{}
	}
	return y
}

// skip is told of each record that begins a file. If a file of its kind has been there
// before, it counts what has happened since so often as it happens again, and returns the
// record with which the time after that begins.
func (y *cycle) skip(from int64) int64 {
	l, s := y.l, y.s
	created := l.at(from)
	if y.period == 0 || created < l.checkpoint || created > l.end {
		return from
	}
	k := key{mod(l.first+from*l.gap, y.period), max(0, y.visible-created)}
	m, again := y.seen[k]
	if !again && len(y.seen) == maxCycle {
		y.period, y.seen = 0, nil
		return from
	}
	if !again {
		y.seen[k] = mark{from, s.syncs, s.opened, s.publishes, len(s.visits)}
		return from
	}
	y.period, y.seen = 0, nil // what is left is less than a cycle
	records := from - m.from
	shift := records * l.gap / nanos
	n := (l.end - y.visible) / shift // every visit of the last of them is before the end
	if n <= 0 || len(s.visits) == m.visits {
		return from
	}
	for i := m.visits; i < len(s.visits); i++ {
		s.visits[i].times += n
	}
	s.syncs += n * (s.syncs - m.syncs)
	s.opened += n * (s.opened - m.opened)
	s.publishes += n * (s.publishes - m.publishes)
	y.visible += n * shift
	return from + n*records
}

// take adds n files to the story. It tells whether they become visible in this life.
func (y *cycle) take(life int, f file, c closing, n int64) bool {
	l, s := y.l, y.s
	if n > 1 {
		s.syncs += n // each begins and ends between two checkpoints
	} else {
		s.syncs += l.syncs(f, c)
	}
	s.opened += n
	if f.resumed {
		s.opened--
	}
	if s.spans != nil {
		l.spans(s, life, f, c)
	}
	visible := l.handed(c) + l.duration
	if c.at > l.end || visible > l.end {
		return false
	}
	if y.visible != visible {
		s.publishes++
		y.visible = visible
	}
	s.visits = append(s.visits, visit{
		first: l.first, gap: l.gap, table: l.table, visible: visible, from: f.from, to: c.end, files: n, times: 1, file: f, life: life,
	})
	return true
}
