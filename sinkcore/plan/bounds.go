package plan

import (
	"math"
	"time"
)

// What can be said of arrivals whose instants are not known. Everything here follows from
// how many records arrive, from the longest gap between two of a lane, and from the
// lattices of checks and checkpoints, which are known.

// stream is what is known of arrivals beforehand.
type stream struct {
	// before is how many records arrive before an instant, of all lanes.
	before func(t int64) Bounds[int64]

	// gap is longer than any time without a record in a lane, from the start on,
	// milliseconds.
	gap int64
}

// rare is the share of Poisson streams for which one of the bounds may fail: a third of a
// billionth, since three are used.
const rare = 1e-9 / 3

// stream describes arrivals that are not constant. Settings are filled in.
func (s Settings) stream() stream {
	end := s.Duration.Milliseconds()
	lanes := s.lanes()
	switch a := s.Arrivals.(type) {
	case Bursts:
		b := a.Filled()
		size, every, interval, first := int64(b.Size), int64(b.Every), int64(b.Interval), int64(b.First)
		before := func(t int64) Bounds[int64] {
			x := t*nanos - first
			if x <= 0 {
				return exactly[int64](0)
			}
			// Whole bursts, and those of the last one that arrive before x.
			return exactly(x/every*size + min(size, ceilDiv(x%every, interval)))
		}
		// Two records of a lane are lanes records apart: so many bursts, and a rest which
		// either stays in a burst or comes into the next one.
		bursts, rest := lanes/size, lanes%size
		gap := float64(bursts)*float64(every) + float64(rest*interval)
		if rest > 0 {
			gap = max(gap, float64(bursts+1)*float64(every)-float64((size-rest)*interval))
		}
		gap += float64(first) // the first record of the last lane comes no later
		return stream{before, int64(min(gap/float64(nanos)+2, float64(end+1)))}
	case Poisson:
		mean := float64(a.Filled().Interval) / float64(nanos)
		before := func(t int64) Bounds[int64] { return poissonCount(float64(max(t, 0)) / mean) }
		gap := poissonGap(float64(lanes), float64(before(end).High+1))
		return stream{before, int64(min(gap*mean+2, float64(end+1)))}
	}
	return stream{}
}

// poissonCount bounds a Poisson variable of mean m, by the inequalities of Bernstein: it
// is m + x or more with a probability of at most exp(-x² / (2 (m + x/3))), and m - x or
// less with one of at most exp(-x² / (2 m)).
func poissonCount(m float64) Bounds[int64] {
	log := -math.Log(rare)
	return Bounds[int64]{
		Low:  max(0, int64(math.Floor(m-math.Sqrt(2*log*m)))),
		High: int64(math.Ceil(m + log/3 + math.Sqrt(log*log/9+2*log*m))),
	}
}

// poissonGap is longer than any sum of so many gaps that follow each other in a stream of
// that many records, in mean gaps. A sum of k exponential variables of mean 1 is y > k or
// more with a probability of at most exp(k - y + k·ln(y/k)), the bound of Chernoff; over all
// places in the stream the probabilities add up.
func poissonGap(k, records float64) float64 {
	want := -math.Log(rare / records)
	low, high := k, 2*k+2*want // at the upper end y - k - k·ln(y/k) is large enough
	for y := high; y-k-k*math.Log(y/k) < want; y *= 2 {
		high = 2 * y
	}
	for range 100 {
		y := (low + high) / 2
		if y-k-k*math.Log(y/k) < want {
			low = y
		} else {
			high = y
		}
	}
	return high
}

// lattices are checks and checkpoints of settings, in milliseconds, and what follows for
// any arrivals.
type lattices struct {
	end, check                  int64
	first, every, duration      int64 // of checkpoints
	rollover, inactivity        int64 // never if there is no limit
	olderThan                   int64 // what a checkpoint leaves open
	spacing                     int64 // of checkpoints that close parts of one lane; never if they close none
	size                        bool  // a part may be closed by size
	gap                         int64 // see stream
	completed, last             int64 // checkpoints that complete by the end, and the start of the last one
	shortest, longest           int64 // of the time from one check that closes a part to the next
	open                        int64 // a part is open for so long at most
	toCheckpoint                int64 // a closed part waits for so long at most until it is handed over
	checkpointOnly, checksAlone bool
}

func (s Settings) lattices(limits Limits, records, gap int64) lattices {
	x := lattices{
		end: s.Duration.Milliseconds(), check: s.CheckInterval.Milliseconds(), first: s.FirstCheckpoint.Milliseconds(),
		every: max(s.CheckpointInterval, s.CheckpointDuration).Milliseconds(), duration: s.CheckpointDuration.Milliseconds(),
		rollover: never, inactivity: never, gap: gap,
	}
	if limits.Rollover > 0 {
		x.rollover = min(limits.Rollover.Milliseconds(), never)
	}
	if limits.Inactivity > 0 && gap >= limits.Inactivity.Milliseconds() {
		x.inactivity = min(limits.Inactivity.Milliseconds(), never) // or it never fires
	}
	x.size = limits.Bytes > 0 && float64(records)*float64(s.RecordSize) >= float64(limits.Bytes)
	if last := x.end - x.duration; last >= x.first {
		x.completed = (last-x.first)/x.every + 1
		x.last = x.first + (x.completed-1)*x.every
	}
	if len(s.Outages) > 0 {
		// Checkpoints are at other instants then, maybe earlier ones.
		x.completed, x.last = 1, x.end
	}
	x.checkpointOnly = limits.AtCheckpoint && limits.OlderThan == 0 && !x.size && min(x.rollover, x.inactivity) > max(x.first, x.every)
	x.checksAlone = !limits.AtCheckpoint && !x.size && x.inactivity >= never && len(s.Outages) == 0

	// A check at t closes a part created at t - rollover or before. The part begins up to gap
	// after the check that closed the one before, if only checks close parts: then the
	// time between two such checks is check · ceil((rollover + d) / check) for some d <= gap.
	x.shortest = roundUp(min(x.rollover, x.inactivity), x.check)
	x.longest, x.open = never, never
	if x.rollover < never {
		x.longest = roundUp(x.rollover+gap, x.check)
		x.open = x.rollover + x.check - 1
		if x.checksAlone && x.longest == x.shortest {
			x.open = x.shortest
		}
	}
	x.spacing = never
	if limits.AtCheckpoint {
		// The part that follows one closed at b was made at b or later, and is closed by a
		// checkpoint after b + olderThan.
		x.olderThan = min(limits.OlderThan.Milliseconds(), x.end+1)
		x.spacing = roundUp(x.olderThan+1, x.every)
		x.open = min(x.open, x.olderThan+max(x.first, x.every))
	}

	// A check waits (first - t) mod every for the next checkpoint. As t goes through the
	// multiples of check, that goes through all numbers that are first modulo g = gcd(check,
	// every), of which the largest below every is every - g + first mod g. A part that a record or
	// a checkpoint closes before the check that would have done so is visible no later
	// than that check would have made it.
	// If every part is closed by a multiple of longest, only those count.
	g := gcd(x.check, x.every)
	if x.checksAlone && x.longest == x.shortest {
		g = gcd(x.longest, x.every)
	}
	x.toCheckpoint = max(x.every-g+x.first%g, x.first-x.check)
	if len(s.Outages) > 0 {
		x.toCheckpoint = max(x.every, x.first) // checks are at other instants then
	}
	return x
}

// roundUp is the least multiple of m that is at least x, or never.
func roundUp(x, m int64) int64 {
	if x >= never {
		return never
	}
	return ceilDiv(x, m) * m
}

// worst is longer than any record that becomes visible waits, or as long.
//
// Each outage may start anew what a record has waited for, and lasts besides. Under a
// policy with no bound, a record that becomes visible before the end waited no longer than
// that.
func (s Settings) worst(x lattices, limits Limits) int64 {
	w := x.open + x.toCheckpoint
	if x.open >= never {
		w = never
	}
	if limits.AtCheckpoint {
		w = min(w, x.olderThan+max(x.every, x.first))
	}
	if w < never {
		w += x.duration
		once := w
		for _, o := range s.Outages {
			w += once + (o.To - o.From).Milliseconds()
		}
	}
	return min(w, x.end)
}

// bounds is the prediction for arrivals that are not constant.
func (s Settings) bounds(limits Limits) Prediction {
	a := s.stream()
	records := a.before(s.Duration.Milliseconds() + 1)
	x := s.lattices(limits, records.High, a.gap)
	p := Prediction{
		OpenParts: Bounds[int64]{0, min(s.lanes(), records.High)},
		Visible:   s.visible(x, a),
		Files:     s.files(x, limits, records),
	}
	if len(s.Outages) == 0 {
		p.OpenParts.Low = min(1, records.Low)
	}
	p.BufferBytes = s.buffers(p.OpenParts.High, limits)
	p.Files.High = min(p.Files.High, p.Visible.High)
	p.Files.Low = max(p.Files.Low, min(1, p.Visible.Low))
	if p.Files.High > 0 {
		size := float64(s.RecordSize)
		if p.Files.Low > 0 {
			p.BytesPerFile.Low = max(1, float64(p.Visible.Low)/float64(p.Files.High)) * size
		}
		p.BytesPerFile.High = float64(p.Visible.High) / float64(max(1, p.Files.Low)) * size
		if limits.Bytes > 0 {
			p.BytesPerFile.High = min(p.BytesPerFile.High, float64(limits.Bytes)+size)
		}
	}
	s.waits(&p, x, a, limits)

	// Each file takes one fsync at least. Each part takes one in each time between two
	// checkpoints at most, and one more when a check or a record closes it there.
	lives := int64(len(s.Outages) + 1)
	checkpoints := (x.end+x.every)/x.every + lives
	p.FileSyncs = Bounds[int64]{p.Files.Low, s.lanes()*checkpoints + s.closings(x, limits, records) + s.lanes()*lives}
	p.DirSyncs = s.dirSyncs(Bounds[int64]{min(1, p.Files.Low), s.lanes() * checkpoints}, Bounds[int64]{0, s.closings(x, limits, records) + s.lanes()*lives})
	s.perHour(&p)
	return p
}

// visible is how many records become visible: those that arrive before the last checkpoint
// that completes, but for those in a part that is open then. Such a part was made within
// the time for which a part is open at most.
func (s Settings) visible(x lattices, a stream) Bounds[int64] {
	if x.completed == 0 {
		return Bounds[int64]{}
	}
	v := Bounds[int64]{0, a.before(x.last).High}
	switch {
	case len(s.Outages) > 0: // nothing is certain
	case x.checkpointOnly:
		v.Low = a.before(x.last).Low
	case x.open < never:
		v.Low = a.before(x.last - x.open).Low
	}
	return v
}

// closings is how many parts are closed before the end, at most. In a lane, checks
// close no two parts less than shortest apart; but a part that is resumed is closed by any.
// Checkpoints close no two less than spacing apart, by age, and by size what has Bytes. A record that closes a
// part leaves behind one that has Bytes.
func (s Settings) closings(x lattices, limits Limits, records Bounds[int64]) int64 {
	lives := int64(len(s.Outages) + 1)
	n := int64(0)
	if x.shortest < never {
		n += s.lanes() * (x.end/x.shortest + lives)
	}
	if limits.AtCheckpoint {
		n += s.lanes() * (x.end/x.spacing + 1 + lives)
	}
	if x.size {
		n += records.High * lives / ceilDiv(limits.Bytes, int64(s.RecordSize))
	}
	return n
}

// files is how many files become visible.
//
// At least: if checks close parts after longest at most, counted from the check that closed
// the one before, then one lane has closed last / longest by the last checkpoint, rounded
// down. If checkpoints do, each part begins within gap of the checkpoint that closed the one before,
// and is closed by the first one after gap + olderThan at the latest. Size and inactivity close parts sooner, and
// never make fewer of them than there would be: the next part begins no later, so each
// part ends no later than the one of the same number would have.
func (s Settings) files(x lattices, limits Limits, records Bounds[int64]) Bounds[int64] {
	if x.completed == 0 {
		return Bounds[int64]{}
	}
	n := Bounds[int64]{0, s.closings(x, limits, records)}
	if len(s.Outages) > 0 {
		return n
	}
	if x.rollover < never {
		n.Low = x.last / (x.rollover + x.check - 1 + x.gap)
		if x.checksAlone {
			n.Low = x.last / x.longest
			n.High = s.lanes() * (x.last / x.shortest)
		}
	}
	if limits.AtCheckpoint {
		l := lane{checkpoint: x.first, every: x.every}
		if closed := l.checkpointFrom(x.gap + x.olderThan + 1); closed <= x.last {
			n.Low = max(n.Low, 1+(x.last-closed)/roundUp(x.gap+x.olderThan+1, x.every))
		}
		if x.checkpointOnly {
			n.High = s.lanes() * x.completed
		}
	}
	n.Low *= s.lanes()
	return n
}

// waits fills in the latencies.
//
// A record that is visible at v was written before the start of the checkpoint at v -
// duration, in an earlier millisecond or it would have come after. So none waits for less
// than duration + 1 ms, and none for longer than worst.
//
// More can be said if it is known beforehand which records become visible when; see
// windows.
func (s Settings) waits(p *Prediction, x lattices, a stream, limits Limits) {
	none := time.Duration(-1)
	if p.Visible.High == 0 {
		for _, b := range []*Bounds[time.Duration]{&p.First, &p.Least, &p.Mean, &p.P50, &p.P90, &p.P99, &p.Worst} {
			*b = exactly(none)
		}
		return
	}
	ms := func(t int64) time.Duration { return time.Duration(t) * time.Millisecond }
	all := Bounds[time.Duration]{ms(x.duration + 1), ms(s.worst(x, limits))}
	certain := p.Visible.Low > 0
	if !certain {
		all.Low = none // nothing may become visible
	}
	p.Least, p.Mean, p.Worst = all, all, all

	p.First = Bounds[time.Duration]{ms(x.first + x.duration), ms(x.end)}
	l := lane{check: x.check, checkpoint: x.first, every: x.every, end: x.end}
	if !limits.AtCheckpoint && !x.size && x.shortest < never {
		p.First.Low = ms(l.checkpointFrom(x.shortest) + x.duration)
	}
	if certain && x.open < never && len(s.Outages) == 0 {
		p.First.High = min(p.First.High, ms(l.checkpointFrom(x.gap+x.open+1)+x.duration))
	}
	if !certain {
		p.First.Low = none
	}
	if certain && len(s.Outages) == 0 {
		p.known = s.windows(x)
		if _, poisson := s.Arrivals.(Poisson); poisson && p.known != nil {
			n := float64(p.Visible.Low)
			p.doubt = math.Sqrt(math.Log(2/rare) / (2 * n))
			off := time.Duration(float64(all.High) * p.doubt)
			mean := p.known.mean()
			p.Mean = Bounds[time.Duration]{max(all.Low, mean-off), min(all.High, mean+off)}
		} else {
			p.known = nil
		}
	}
	p.P50, p.P90, p.P99 = p.between(.5), p.between(.9), p.between(.99)
	p.Least.High, p.Worst.Low = p.between(0).High, p.between(1).Low
}

// between bounds a quantile for arrivals that are not constant.
//
// If windows are known, Poisson arrivals in them are as many independent draws from
// a known distribution. By the inequality of Dvoretzky, Kiefer and Wolfowitz, with the
// constant of Massart, the share of n draws that are at most t differs from the
// probability of that by more than e, at any t, only with a probability of 2·exp(-2·n·e²).
// So the quantile q of the draws is between those of q - e and of q + e.
func (p Prediction) between(q float64) Bounds[time.Duration] {
	b := Bounds[time.Duration]{p.Least.Low, p.Worst.High}
	if p.known == nil {
		return b
	}
	if q-p.doubt > 0 {
		b.Low = max(b.Low, p.known.quantile(q-p.doubt))
	}
	if q+p.doubt < 1 {
		b.High = min(b.High, p.known.quantile(q+p.doubt))
	}
	return b
}

// windows are the times of which the records become visible together, whatever arrives, as
// visits with a record every microsecond; nil if they are not known.
//
// They are known where only checkpoints close parts: the times between two of them. And they
// are known where only checks do and the longest gap is too short to make a difference: then
// the parts of all lanes are closed by the checks at K, 2·K, … for K = shortest = longest.
// A microsecond divides the millisecond to which instants are rounded, so as many of these
// records round to each millisecond as a uniform density has.
func (s Settings) windows(x lattices) latencies {
	const micro = nanos / 1000
	window := func(from, to, visible, times int64) visit {
		return visit{gap: micro, from: from * 1000, to: to * 1000, visible: visible, times: times}
	}
	var out latencies
	switch {
	case x.checkpointOnly:
		out = append(out, window(0, x.first, x.first+x.duration, 1))
		if n := x.completed - 1; n > 0 {
			out = append(out, window(x.first, x.first+x.every, x.first+x.every+x.duration, n))
		}
	case x.checksAlone && x.longest == x.shortest && x.last/x.longest <= maxWindows:
		l := lane{check: x.check, checkpoint: x.first, every: x.every, end: x.end}
		for t := x.longest; t <= x.last; t += x.longest {
			out = append(out, window(t-x.longest, t, l.checkpointFrom(t)+x.duration, 1))
		}
	}
	return out
}

const maxWindows = 100_000
