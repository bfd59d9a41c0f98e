package plan

import (
	"math"
	"time"
)

// Guarantee is what settings keep at whatever instants the records arrive. A prediction is for
// given instants; but nobody sets those, and a millisecond there can double a latency. It is
// what [Solve] compares settings by, and [Lint] too.
//
// Worst is for every stream: it may begin late, stop, and go on at any time. The other figures
// are for a steady one, which comes as often as the arrivals say: with the same mean, and no
// longer gap in a lane.
//
// [Bursts] have a shape that does not average out, so all figures are for bursts that are no
// larger and no longer than said, with at least as much silence after each, whenever they come.
//
// A size bounds no latency here: a part that gets full sooner is visible sooner, but not if the
// stream slows down. It is for the time from the first checkpoint on, has no end, and knows no outages.
type Guarantee struct {
	// Worst is the longest latency of any record of any stream. SteadyWorst is the same for a
	// stream that begins with the job, no later than after a gap, and is steady: it is less if the
	// checks that close parts are known then, and never more. P99 is what 99 of 100 records of
	// such a stream have at most, in the long run. Unbounded tells that there are no such
	// bounds; they are 0 then.
	Worst, SteadyWorst, P99 time.Duration
	Unbounded               bool

	FilesPerHour float64 // at most, in the long run, of a steady stream
	BytesPerFile float64 // at least, in the long mean; but no more than all records there are
}

// Guarantees derives what settings keep. Of the arrivals only the rate and the longest gap
// count, and when the first record comes does not. The errors are those of [Predict].
//
// Let K be the time from one check that closes a part to the next: check · ceil((rollover +
// d) / check), where the next part begins d after the check. If d makes no difference up to
// the longest gap of a lane, K is known. Then in each lane all records between two multiples
// of K are visible together, and none waits longer than K until its part is closed. That is
// SteadyWorst. Otherwise K is at least shortest, for d = 0, and a part that is a millisecond
// too young at a check waits for the next: rollover + check - 1 ms. The first part of a
// stream that begins late, or goes on after a pause, may begin anywhere between two checks, so
// Worst is always made of that.
//
// A part that is closed by a check waits up to every - g + first mod g for a checkpoint, with g
// the greatest common divisor of check and every, or of K and every if K is known; see
// lattices. All waits first mod g + i·g below every are equally frequent where K is known: the
// multiples of K go through all multiples of g modulo every before they repeat. So the share
// of records that wait longer than x is the mean over these waits w of the share of [0, K]
// that is longer than x - w - duration; that is P99's definition. It is for records that are many.
// Constant ones come at an interval, so in a time of that length there is one, wherever the time begins: at
// worst as many wait longer than x and the interval as the share says for x.
//
// A checkpoint that closes parts older than a closes the one before after a, at the next
// checkpoint: up to a + every later. The next one is closed no sooner than a whole number of
// intervals after it that is more than a; if the next part begins so soon that this makes no
// difference, just then.
//
// What bursts change is derived at burst.
func Guarantees(s Settings) (Guarantee, error) {
	s, err := s.validate()
	if err != nil {
		return Guarantee{}, err
	}
	limits, err := LimitsOf(s.Policy)
	if err != nil {
		return Guarantee{}, err
	}
	return s.guarantee(limits, s.longestGap()), nil
}

// longestGap is the longest time without a record in a lane, milliseconds, more than is
// needed rather than less.
func (s Settings) longestGap() int64 {
	if c, constant := s.Arrivals.(Constant); constant {
		// Rounding to milliseconds adds one.
		gap := float64(s.lanes())*float64(c.Filled().Interval)/float64(nanos) + 1
		return int64(min(gap, float64(maxDuration.Milliseconds())))
	}
	return s.stream().gap
}

// mostBytes is how many bytes one lane gets in so many milliseconds at most.
func (s Settings) mostBytes(t int64) float64 {
	var n float64
	switch a := s.Arrivals.(type) {
	case Constant:
		n = float64(t)*float64(nanos)/float64(a.Filled().Interval)/float64(s.lanes()) + 2
	case Poisson:
		n = float64(poissonCount(float64(t) * float64(nanos) / float64(a.Filled().Interval) / float64(s.lanes())).High)
	case Bursts:
		b := a.Filled()
		n = (float64(t)*float64(nanos)/float64(b.Every)+2)*float64(b.Size)/float64(s.lanes()) + 1
	}
	return n * float64(s.RecordSize)
}

// cadence is the rhythm of settings: what of a guarantee depends on the policy.
type cadence struct {
	limits                 Limits
	check, first, every, d int64 // first is that of a checkpoint modulo every
	gap                    int64

	known    bool  // every part of a steady stream is closed by a check at a multiple of shortest
	shortest int64 // of the time from one check that closes a part to the next; never if none does
	spacing  int64 // the same for checkpoints that close parts by age
	open     int64 // a part of a steady stream is open so long at most
	always   int64 // a part of any stream is
	sized    bool  // a part may be full before

	step, laneStep int64 // between constant records of all lanes, and of one; 0 for others
}

func (s Settings) cadence(limits Limits, gap int64) cadence {
	limits = limits.finite()
	c := cadence{
		limits: limits, gap: gap, check: s.CheckInterval.Milliseconds(), d: s.CheckpointDuration.Milliseconds(),
		every: max(s.CheckpointInterval, s.CheckpointDuration).Milliseconds(), shortest: never, spacing: never, open: never, always: never,
	}
	c.first = mod(s.FirstCheckpoint.Milliseconds(), c.every)
	c.step, c.laneStep = s.steps()
	rollover, inactivity := never, never
	if limits.Rollover > 0 {
		rollover = limits.Rollover.Milliseconds()
	}
	if limits.Inactivity > 0 && gap >= limits.Inactivity.Milliseconds() {
		inactivity = limits.Inactivity.Milliseconds()
	}
	if inactivity >= rollover {
		inactivity = never // age comes first
	}
	if rollover < never || inactivity < never {
		c.shortest = roundUp(min(rollover, inactivity), c.check)
	}
	if rollover < never {
		c.always = rollover + c.check - 1
		c.open = c.always
		if !limits.AtCheckpoint && inactivity >= never && roundUp(rollover+gap, c.check) == c.shortest {
			c.known, c.open = true, c.shortest
		}
	}
	if limits.AtCheckpoint {
		older := min(limits.OlderThan.Milliseconds(), never)
		c.spacing = roundUp(older+1, c.every)
		c.always = min(c.always, older+c.every)
		c.open = min(c.open, older+c.every)
		if older+c.every < min(rollover, inactivity) {
			c.shortest = never // checkpoints come first
		}
	}
	if limits.Bytes > 0 && (c.open >= never || s.mostBytes(c.open) >= float64(limits.Bytes)) {
		c.sized, c.known = true, false
		c.open = c.always // the part that follows a full one begins at any instant
	}
	return c
}

// steps are the time between two records of all lanes and of one, if they are constant, milliseconds,
// rounded up; 0 if they are not.
func (s Settings) steps() (all, lane int64) {
	c, constant := s.Arrivals.(Constant)
	if !constant {
		return 0, 0
	}
	interval := float64(c.Filled().Interval) / float64(nanos)
	most := float64(maxDuration.Milliseconds())
	return int64(math.Ceil(min(interval, most))), int64(math.Ceil(min(interval*float64(s.lanes()), most)))
}

// waits is how long a part waits for a checkpoint that was closed at a multiple of an
// interval: low, low + step, …, high.
func (c cadence) waits(interval int64) (low, step, high int64) {
	g := gcd(interval, c.every)
	low = c.first % g
	return low, g, c.every - g + low
}

// worst is the longest latency of any stream, or never.
func (c cadence) worst() int64 { return c.latest(c.always, c.check) }

// steadyWorst is the longest latency of a steady stream, or never.
func (c cadence) steadyWorst() int64 {
	if c.known {
		return min(c.worst(), c.latest(c.open, c.shortest))
	}
	return c.worst()
}

// latest is the longest latency, or never, if a part is open for so long at most and closed at
// a multiple of an interval.
func (c cadence) latest(open, interval int64) int64 {
	w := never
	if open < never {
		// A part that a record or a checkpoint closes before the check that would have done so
		// is visible no later than that check would have made it.
		_, _, wait := c.waits(interval)
		w = open + wait
	}
	if c.limits.AtCheckpoint {
		w = min(w, c.limits.OlderThan.Milliseconds()+c.every)
	}
	if w >= never {
		return never
	}
	return w + c.d
}

// later is the share of records that wait for longer than x milliseconds, if the closing of
// parts is known: closed every k milliseconds, with the waits of the cadence after that.
//
// A record of the time t before the closing waits t + w + d, where t is as likely as any
// other in [0, k]. So longer than x are (k + w + d - x) / k of them, within 0 and 1. Over
// the waits low + i·step that is a sum of an arithmetic progression that begins at the first
// wait for which it is positive and stops growing at the first for which it is 1.
func later(k, x, d, low, step, high int64) float64 {
	n := (high-low)/step + 1
	begin := max(0, ceilDiv(x-d-k-low, step)) // the first i that counts
	full := max(begin, ceilDiv(x-d-low, step))
	full = min(full, n)
	begin = min(begin, n)
	sum := float64(n - full)
	if m := full - begin; m > 0 {
		least := float64(k + low + begin*step + d - x)
		sum += float64(m) * (least + float64(m-1)*float64(step)/2) / float64(k)
	}
	return sum / float64(n)
}

// p99 is the latency that 99 of 100 records have at most, milliseconds, or never.
func (c cadence) p99() int64 {
	older := c.limits.OlderThan.Milliseconds()
	switch {
	case c.known:
		low, step, high := c.waits(c.shortest)
		return least99(c.shortest, c.d, low, step, high) + c.step
	case c.limits.AtCheckpoint && older == 0:
		// Whatever else closes parts, each checkpoint publishes all that was written before.
		return least99(c.every, c.d, 0, 1, 0) + c.step
	case c.limits.AtCheckpoint && c.limits.Rollover == 0 && !c.sized && roundUp(older+c.gap+1, c.every) == c.spacing:
		return least99(c.spacing, c.d, 0, 1, 0) + c.laneStep // lanes need not be closed together
	}
	return c.worst()
}

// least99 is the least x that at most one of 100 records waits longer than.
func least99(k, d, low, step, high int64) int64 {
	from, to := int64(0), k+d+high
	for from < to {
		if x := from + (to-from)/2; later(k, x, d, low, step, high) <= .01 {
			to = x
		} else {
			from = x + 1
		}
	}
	return from
}

const hour = int64(time.Hour / time.Millisecond)

// guarantee is what settings keep.
func (s Settings) guarantee(limits Limits, gap int64) Guarantee {
	c := s.cadence(limits, gap)
	records := s.rate() * 3600
	files := 0.0
	for _, k := range []int64{c.shortest, c.spacing} {
		if k < never {
			files += float64(s.lanes()) * float64(hour) / float64(k)
		}
	}
	if c.sized {
		files += records / math.Ceil(float64(limits.Bytes)/float64(s.RecordSize))
	}
	g := Guarantee{FilesPerHour: min(files, records)}
	worst, steady, p99 := c.worst(), c.steadyWorst(), c.p99()
	if b, bursts := s.Arrivals.(Bursts); bursts {
		x := s.burst(b.Filled(), c)
		g.FilesPerHour = min(g.FilesPerHour, x.files)
		worst = min(worst, c.latest(x.open, c.check))
		steady = min(steady, worst)
		p99 = steady // all records of a burst may wait as long as its first one, but for its length
	}
	g.BytesPerFile = records * float64(s.RecordSize) / max(g.FilesPerHour, 1e-300)
	if worst >= never {
		g.Unbounded = true
		return g
	}
	g.Worst = time.Duration(worst) * time.Millisecond
	g.SteadyWorst = time.Duration(steady) * time.Millisecond
	g.P99 = min(g.SteadyWorst, time.Duration(p99)*time.Millisecond)
	return g
}

// burst is what is known of the parts of a lane if records come in bursts.
type burst struct {
	span  int64   // from the first record of a burst to its last, at most, milliseconds
	open  int64   // a part is open so long at most; never if that is not known
	files float64 // an hour, of all lanes, at most
}

// burstLength is from the first record of a burst to its last, nanoseconds.
func burstLength(b Bursts) int64 { return int64(b.Interval) * int64(b.Size-1) }

// burstSpan is the same in milliseconds, rounded up.
func burstSpan(b Bursts) int64 { return ceilDiv(burstLength(b), nanos) }

// burst derives what bursts change. A burst gives records to m lanes, the smaller of its size
// and of the number of lanes.
//
//   - The silence from the last record of a lane's burst to its next record is every - span or
//     longer. If a check comes in it that finds the part idle long enough, as the first one after
//     Inactivity does if the silence is Inactivity + check - 1 ms, then a part is closed no later than
//     that after the last record: open for span + Inactivity + check - 1 ms at most.
//   - Each file belongs to the burst that its first record is of. The first file of a burst begins with a
//     record, each other one follows a closing after the first record of the burst and no later than the
//     last. In a window of span, closings that are k apart are span / k at most, rounded up.
//   - If silence closes every part, by inactivity or by age, what is closed in a burst began in it:
//     by a check no sooner than the limit after the first record. So there are none if the
//     limit is longer than span, and the burst is one file in each lane.
//   - A part that is closed by its size has as many records as that takes.
func (s Settings) burst(b Bursts, c cadence) burst {
	lanes, size := s.lanes(), int64(b.Size)
	x := burst{span: burstSpan(b), open: c.always}
	silence := floorDiv(int64(b.Every)-burstLength(b), nanos)

	age, idle := never, never
	if c.limits.Rollover > 0 {
		age = c.limits.Rollover.Milliseconds()
	}
	if c.limits.Inactivity > 0 {
		idle = c.limits.Inactivity.Milliseconds()
	}
	if idle < never && silence >= idle+c.check-1 {
		x.open = min(x.open, x.span+idle+c.check-1)
	}
	limit := age // what a check may close a part for within a burst
	if size > lanes && ceilDiv(lanes*int64(b.Interval), nanos) >= idle {
		limit = min(limit, idle)
	}
	older := c.limits.OlderThan.Milliseconds()
	alone := min(age, idle) < never && silence >= min(age, idle)+c.check-1 || c.limits.AtCheckpoint && silence >= older+c.every

	closings := int64(0)
	switch k := roundUp(min(limit, never), c.check); {
	case k >= never || alone && limit > x.span:
	case alone:
		closings += (x.span-limit)/k + 1
	default:
		closings += ceilDiv(x.span, k)
	}
	if c.limits.AtCheckpoint {
		closings += ceilDiv(x.span, c.spacing)
	}
	x.files = float64(min(lanes, size)) * float64(1+closings) * float64(time.Hour) / float64(b.Every)
	if each := float64(ceilDiv(size, lanes)) * float64(s.RecordSize); c.limits.Bytes > 0 && (each >= float64(c.limits.Bytes) || c.sized && !alone) {
		x.files += s.rate() * 3600 / math.Ceil(float64(c.limits.Bytes)/float64(s.RecordSize))
	}
	return x
}
