package plan

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sinklab/sinkcore"
)

// Explanation is the life of the record that waits longest until a reader can see it.
type Explanation struct {
	// Sampled tells that the records are too many to be gone through one by one, so that nothing of
	// them becomes visible in the time that could be looked at. The record is then one that arrives
	// at the worst instant, of a steady stream with as many records.
	Sampled bool

	// Looked is how long the arrivals were gone through. It is less than Duration if that has more
	// than two million records that are not constant. Of [Bursts] that come so fast some are taken together, as
	// long as that is a matter of less than a millisecond.
	Looked time.Duration

	Policy string
	Record int64 // its number, from 0; it is of its lane if Sampled

	Reason sinkcore.Reason // why the part was closed

	Latency time.Duration // -1 if nothing becomes visible before the end

	// What the latency consists of, one after the other. Outage is until the last outage on
	// the way is over, Due until the policy lets the part be closed, Check until that has
	// happened, Checkpoint until a checkpoint has started, and Completion until that one is
	// complete.
	Outage, Due, Check, Checkpoint, Completion time.Duration

	Moments []Moment
}

// Moment is one thing that happens, or does not. At is from the start of the job.
type Moment struct {
	At   time.Duration
	Kind Kind
	Text string
}

// Kind is what happens at a moment.
type Kind int

// The kinds of moments.
const (
	Arrived    Kind = iota
	Down            // the process is down
	Written         // the record is in a part file
	Checked         // a check, or several, left the part open
	Passed          // a checkpoint, or several, could not publish the part because it was open
	Rolled          // the part was closed
	Prepared        // a checkpoint has handed the part over
	Committed       // it is complete: the part is visible
	StillOpen       // the end, before that
	NotVisible      // no record becomes visible
)

var kindNames = [...]string{"arrived", "down", "written", "check", "checkpoint", "rolled", "prepared", "committed", "end", "nothing"}

// String gives the name of the kind in one lower-case word.
func (k Kind) String() string {
	if k >= 0 && int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// MarshalText gives the same, so that JSON has words.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// String gives a line with the latency, a line for each moment, and one with the parts of the
// latency.
func (e Explanation) String() string {
	var b strings.Builder
	if e.Latency < 0 {
		fmt.Fprintf(&b, "%s: nothing becomes visible\n", e.Policy)
	} else {
		which := "the record that waits longest"
		if e.Sampled {
			which = "a record of a steady stream that arrives at the worst instant"
		}
		fmt.Fprintf(&b, "%s: %s waits %s\n", e.Policy, which, spell(e.Latency))
	}
	for _, m := range e.Moments {
		fmt.Fprintf(&b, "%12s  %-10s  %s\n", spell(m.At), m.Kind, m.Text)
	}
	if e.Latency >= 0 {
		var parts []string
		for _, p := range []struct {
			d    time.Duration
			what string
		}{
			{e.Outage, "until the outage is over"}, {e.Due, "until the part may be closed"}, {e.Check, "until that is seen"},
			{e.Checkpoint, "until a checkpoint starts"}, {e.Completion, "until it is complete"},
		} {
			if p.d > 0 {
				parts = append(parts, spell(p.d)+" "+p.what)
			}
		}
		fmt.Fprintf(&b, "%s = %s\n", spell(e.Latency), strings.Join(parts, " + "))
	}
	return b.String()
}

// spell prints a duration as people read it off a clock that counts seconds: "50 ms",
// "59.95 s", and from two hours on "2h3m0s".
func spell(d time.Duration) string {
	switch {
	case d >= 2*time.Hour:
		return d.String()
	case d > 0 && d < time.Second:
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64) + " ms"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
}

// Explain tells the life of the record that waits longest under the settings, and of several
// the first. The errors are those of [Predict]; a policy that predicts itself is
// [ErrUnknownPolicy] here.
func Explain(s Settings) (Explanation, error) {
	s, err := s.validate()
	if err != nil {
		return Explanation{}, err
	}
	limits, err := LimitsOf(s.Policy)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Policy: s.Policy.String(), Latency: -1, Looked: s.Duration}
	var tables [][]int64
	standsFor := int64(1)
	var stories []story
	if _, constant := s.Arrivals.(Constant); constant {
		stories, err = s.tell(limits, false)
	} else {
		whole := s
		s, standsFor = s.thinned()
		tables, s.Duration = s.tables()
		e.Looked = s.Duration
		stories, err = s.tellPlayed(limits, tables)
		if e.Looked < whole.Duration && err == nil && !anyVisible(stories) {
			e.Sampled, tables, e.Looked = true, nil, whole.Duration
			s, standsFor = whole.worstArrivals(limits), 1
			stories, err = s.tell(limits, false)
		}
	}
	if err != nil {
		return Explanation{}, err
	}
	var worst visit
	number := 0 // of the lane
	for k, t := range stories {
		for _, v := range t.visits {
			if w := time.Duration(v.wait(v.from)) * time.Millisecond; w > e.Latency || w == e.Latency && v.visible < worst.visible {
				e.Latency, worst, number = w, v, k
			}
		}
	}
	if e.Latency < 0 {
		e.nothing(s, limits)
		return e, nil
	}
	var l lane
	if c, constant := s.Arrivals.(Constant); constant {
		l = s.lane(limits, c.Filled())
		l.first = worst.first
	} else {
		l = s.played(limits, tables[number])
	}
	e.Record = (int64(number) + worst.from*s.lanes()) * standsFor
	if e.Sampled {
		e.Record = worst.from
	}
	t := teller{e: &e, s: s, limits: limits, l: s.lives(l)[worst.life]}
	t.tell(worst)
	return e, nil
}

// anyVisible tells whether anything becomes visible.
func anyVisible(stories []story) bool {
	for _, t := range stories {
		if len(t.visits) > 0 {
			return true
		}
	}
	return false
}

// nothing says why nothing becomes visible.
func (e *Explanation) nothing(s Settings, limits Limits) {
	text := "no record arrives before the end"
	arrives := false
	for a := range s.Arrivals.All() {
		arrives = a.At <= s.Duration.Milliseconds()
		break
	}
	switch {
	case arrives && s.FirstCheckpoint+s.CheckpointDuration > s.Duration:
		text = "the first checkpoint is not complete before the end"
	case arrives && limits == (Limits{}):
		text = "the policy closes no part, so no checkpoint can publish one"
	case arrives:
		text = "no part is closed, handed over by a checkpoint and published before the end"
	}
	e.Moments = []Moment{{s.Duration, NotVisible, text}}
}

// worstArrivals are constant arrivals at the mean interval into one lane, of which the first
// waits as long as any record can: see lattices for why.
//
// Where checkpoints close parts, that record comes so that one of them finds it just not old
// enough; if any age is enough, just after one has started. Otherwise it comes so that it is a millisecond too young at a check, and the check that
// closes its part is the one after which the next checkpoint is farthest.
func (s Settings) worstArrivals(limits Limits) Settings {
	limits = limits.finite()
	rate := s.rate() / float64(s.lanes())
	interval := max(1, time.Duration(float64(time.Second)/rate))
	s.Buckets, s.Subtasks = 1, 1
	check, every := s.CheckInterval.Milliseconds(), max(s.CheckpointInterval, s.CheckpointDuration).Milliseconds()
	first := s.FirstCheckpoint.Milliseconds()
	older := limits.OlderThan.Milliseconds()
	at := first + every*ceilDiv(older, every) - older
	if !limits.AtCheckpoint && limits.Rollover > 0 {
		// The check number n, from the first one that is a rollover and a check interval
		// later than the start, waits (first - n·check) mod every, of which every - g + first mod g
		// is the largest.
		g := gcd(check, every)
		n := ceilDiv(limits.Rollover.Milliseconds(), check) + 1
		want := every - g + first%g
		n += firstHit(mod(-check, every), mod(first-n*check, every), every, want, want)
		at = (n-1)*check - limits.Rollover.Milliseconds() + 1
	}
	s.Arrivals = Constant{Interval: interval, First: max(time.Duration(at)*time.Millisecond, 1)}
	return s
}

// teller writes the moments of an explanation.
type teller struct {
	e      *Explanation
	s      Settings
	limits Limits
	l      lane // the life in which the part is closed
}

func (t *teller) add(at int64, kind Kind, format string, args ...any) {
	t.e.Moments = append(t.e.Moments, Moment{time.Duration(at) * time.Millisecond, kind, fmt.Sprintf(format, args...)})
}

// tell tells the life of the first record of a visit. Its file is the first of the visit.
func (t *teller) tell(v visit) {
	l, f := t.l, v.file
	arrived := v.arrived(v.from)
	t.outages(v, arrived)
	if f.created >= l.start {
		t.add(f.created, Written, "the record is written, the first of its part file")
	}
	c := l.close(f)
	t.e.Reason = t.reason(f, c)
	t.checks(f, c)
	t.checkpoints(f, c)
	handed := l.handed(c)
	due := t.due(f, c)
	t.rolled(f, c)
	t.add(handed, Prepared, "a checkpoint starts and hands the part over")
	t.add(v.visible, Committed, "it is complete; the part is renamed, and readers see the record after %s", spell(t.e.Latency))
	ms := func(from, to int64) time.Duration { return time.Duration(to-from) * time.Millisecond }
	begin := max(arrived, l.start) // the record had to wait for the process
	t.e.Outage, t.e.Due, t.e.Check = ms(arrived, begin), ms(begin, due), ms(due, c.at)
	t.e.Checkpoint, t.e.Completion = ms(c.at, handed), ms(handed, v.visible)
}

// outages tells of the outages between the record's arrival and the life in which its part
// is closed. Its part was made either before one, and then the newest completed
// checkpoint had it, or after it; then the record was sent again if it had arrived.
func (t *teller) outages(v visit, arrived int64) {
	made := v.file.created
	sent, written := false, false
	for _, o := range t.s.Outages {
		from, to := o.From.Milliseconds(), o.To.Milliseconds()
		switch {
		case to <= arrived || to > t.l.start:
		case from < arrived:
			t.add(arrived, Arrived, "the record arrives; no process runs until %s", spell(o.To))
			sent = true
		case made < from:
			if !written {
				t.add(made, Written, "the record is written, the first of its part file")
				written = true
			}
			t.add(from, Down, "the process dies; at %s it goes on with the part, as the newest completed checkpoint left it", spell(o.To))
		default:
			if !sent {
				t.add(arrived, Arrived, "the record arrives, and is written")
				sent = true
			}
			t.add(from, Down, "the process dies; no checkpoint that covers the record is complete, so at %s the source sends it again", spell(o.To))
		}
	}
}

// info is a part as the policy sees it at an instant, with all records that arrive before.
func (t *teller) info(f file, at int64) sinkcore.PartInfo {
	next := max(f.next, t.l.from(at))
	updated := f.updated
	if next > f.next {
		updated = t.l.at(next - 1)
	}
	records := next - f.from
	return sinkcore.PartInfo{CreationTime: f.created, LastUpdate: updated, Records: records, Size: records * int64(t.s.RecordSize)}
}

// due is the earliest instant at which the policy would have the part closed.
func (t *teller) due(f file, c closing) int64 {
	if c.by != byCheck {
		return c.at
	}
	at, _ := t.s.Policy.RollAt(t.info(f, c.at))
	return min(max(at, t.l.start), c.at)
}

// checks tells of the checks that left the part open: the first, the last, and how many
// between.
func (t *teller) checks(f file, c closing) {
	l := t.l
	first := l.checkFrom(f.now + 1)
	last := l.checkFrom(c.at) - l.check // the last one before c.at
	if first > last || t.limits.Rollover == 0 && t.limits.Inactivity == 0 {
		return
	}
	t.open(f, first)
	if n := (last-first)/l.check - 1; n == 1 {
		t.open(f, first+l.check)
	} else if n > 1 {
		find := "find it too young too"
		if t.e.Reason == sinkcore.Inactivity {
			find = "leave it open too"
		}
		t.add(first+l.check, Checked, "this check and %d more, up to the one at %s, %s", n-1, clock(last-l.check), find)
	}
	if last > first {
		t.open(f, last)
	}
}

// open tells why a check left the part open.
func (t *teller) open(f file, at int64) {
	info := t.info(f, at)
	text := "the check finds the part " + clock(at-f.created) + " old"
	age := at - f.created
	switch r := t.limits.Rollover.Milliseconds(); {
	case t.limits.Rollover == 0:
	case t.limits.Inactivity > 0 && at-info.LastUpdate > t.limits.Inactivity.Milliseconds()/2:
		text += ", rollover is " + clock(r)
	default:
		text += ", " + clock(r-age) + " short of the rollover of " + clock(r)
	}
	if i := t.limits.Inactivity.Milliseconds(); i > 0 && (at-info.LastUpdate > i/2 || t.e.Reason == sinkcore.Inactivity) || t.limits.Rollover == 0 {
		text += "; last written to " + clock(at-info.LastUpdate) + " ago, " + clock(i-(at-info.LastUpdate)) + " short of the inactivity of " + clock(i)
	}
	t.add(at, Checked, "%s: it stays open, the next check is %s later", text, clock(t.l.check))
}

func clock(ms int64) string { return spell(time.Duration(ms) * time.Millisecond) }

// checkpoints tells of the checkpoints at which the part was open.
func (t *teller) checkpoints(f file, c closing) {
	l := t.l
	first := l.checkpointFrom(f.now + 1)
	n := l.checkpoints(l.handed(c)) - l.checkpoints(first)
	if n <= 0 {
		return
	}
	many := "a checkpoint cannot publish the part, which is open"
	if n > 1 {
		many = fmt.Sprintf("from now to %s %d checkpoints cannot publish the part, which is open", clock(first+(n-1)*l.every), n)
	}
	m := Moment{time.Duration(first) * time.Millisecond, Passed, many}
	// It goes where its first one is among the checks.
	at := len(t.e.Moments)
	for at > 0 && t.e.Moments[at-1].At > m.At {
		at--
	}
	t.e.Moments = append(t.e.Moments[:at], append([]Moment{m}, t.e.Moments[at:]...)...)
}

// reason is why the part is closed.
func (t *teller) reason(f file, c closing) sinkcore.Reason {
	info := t.info(f, c.at)
	switch c.by {
	case byCheck:
		_, why := t.s.Policy.RollAt(info)
		return why
	case byCheckpoint:
		return t.s.Policy.RollOnCheckpoint(info, c.at)
	}
	return sinkcore.Size
}

// rolled tells what closed the part, and why.
func (t *teller) rolled(f file, c closing) {
	info := t.info(f, c.at)
	switch c.by {
	case byCheck:
		if t.e.Reason == sinkcore.Inactivity {
			t.add(c.at, Rolled, "the check finds that nothing was written to the part for %s, and closes it", clock(c.at-info.LastUpdate))
		} else {
			t.add(c.at, Rolled, "the check finds the part %s old, and closes it", clock(c.at-f.created))
		}
	case byCheckpoint:
		switch t.e.Reason {
		case sinkcore.Size:
			t.add(c.at, Rolled, "the checkpoint finds that the part has %d bytes, and closes it", info.Size)
		case sinkcore.Age:
			t.add(c.at, Rolled, "the checkpoint finds the part %s old, more than %s, and closes it", clock(c.at-f.created), spell(t.limits.OlderThan))
		default:
			t.add(c.at, Rolled, "the checkpoint closes the part, as it does every part")
		}
	case byRecord:
		size := (c.end - f.from) * int64(t.s.RecordSize)
		t.add(c.at, Rolled, "the part has %d bytes, and the next record closes it", size)
	}
}
