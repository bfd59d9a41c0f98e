package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"sinklab/sinkcore"
)

// ManyFilesPerHour is a million files a day. Each is two objects in the memory of an HDFS name
// node, a file and a block, of some 150 bytes each (White, "The Small Files Problem",
// Cloudera 2009), so a day of them takes 300 MB there. An object store takes a million PUT requests, and a thousand LIST requests to show
// a day.
const ManyFilesPerHour = 1e6 / 24

// Goal is what settings have to keep. At least one of the bounds must be given.
type Goal struct {
	// Settings has what is given: arrivals, record size, buckets, subtasks, and how often
	// checkpoints start and how long they take. Its policy and its check interval do
	// not count. Outages are refused, since no settings bound them.
	Settings Settings

	Worst, P99 time.Duration // of the latency, at most; 0 means no bound

	FilesPerHour float64 // at most; 0 means ManyFilesPerHour, and math.Inf(1) that any number is well
	FileBytes    float64 // mean size of a file, at least; 0 means no bound

	// CheckpointIntervals are those that may be chosen; nil means the one of Settings. If
	// the first checkpoint of Settings is given it stays where it is.
	CheckpointIntervals []time.Duration

	// Grain is what check intervals are multiples of; 0 means a millisecond. Whole seconds are
	// better to read and cost few files. The rollover is one too, but for a millisecond
	// more where a longer one would not do.
	Grain time.Duration

	// Deadline allows sinkcore.Deadline, which makes fewer files than any policy of Flink
	// at the same worst latency, and which Flink does not have.
	Deadline bool
}

// Solution is settings, and what they keep.
type Solution struct {
	Settings  Settings
	Guarantee Guarantee
}

// ImpossibleError tells that no settings were found that meet a goal, and if Proven that there
// are none. Each closes the parts of a lane at some interval. A bound on files asks for a long
// one, a bound on latency for a short one.
type ImpossibleError struct {
	Goal Goal

	// Proven tells that no settings meet the goal. If it is false there may be some whose
	// [Guarantee], which is for the worst case, says less than they keep: play in a simulation what
	// is near.
	Proven bool

	// Needed is the shortest interval that makes so few or so large files. Allowed is the
	// longest with which no record waits for longer; 0 if a record waits longer for a
	// checkpoint and its completion alone. Both are for the mean rate of the arrivals. Needed is
	// greater than Allowed, if the arrivals are not [Bursts].
	Needed, Allowed time.Duration

	ByLatency *Solution // meets the bounds on latency, with the fewest files; nil if none does
	ByFiles   *Solution // meets the bounds on files, with the least latency
}

// Error says what each bound asks for, as far as that is proven.
func (e *ImpossibleError) Error() string {
	if !e.Proven {
		return fmt.Sprintf("%v that were tried, which does not prove that there are none", ErrImpossible)
	}
	need := fmt.Sprintf("%v: to have so few or so large files, a part must be closed no more often than every %v", ErrImpossible, e.Needed)
	if e.Allowed == 0 {
		return need + "; and a record waits longer than the bound on latency for the next checkpoint and its completion alone"
	}
	return need + fmt.Sprintf("; to show records so soon, at least every %v", e.Allowed)
}

// Unwrap gives ErrImpossible.
func (e *ImpossibleError) Unwrap() error { return ErrImpossible }

// Solve finds the settings that keep the goal with the fewest files an hour, and of those
// with as many the least latency, among all policies of Flink and the check intervals of a
// millisecond and more. If no bound on the latency is given, it finds those with the least
// latency that keep the bounds on files. What is compared is the [Guarantee] of settings,
// so arrivals need not come at the instants that a prediction would have. The bound on
// the worst latency is kept for every stream, whenever it begins and pauses; see Guarantee.
//
// If there are none the error is an [*ImpossibleError]. It wraps sinkcore.ErrConfig if the
// goal makes no sense.
//
// What follows is for records that come one after the other. For [Bursts] all that is said here is
// tried, and settings besides that make one file of each burst in each lane; of those
// the best are taken, and there may be better ones.
//
// It does not try settings one by one. Write K for the interval at which checks close parts, D
// for the checkpoint's duration, and Q for its interval; g is the greatest common divisor of
// the check interval and Q. The check interval divides K, so g divides K.
//
//   - Files: each lane makes one each K, and no check interval and rollover with that K makes
//     fewer. So the largest K is best.
//   - Worst latency: at least K until the part is closed, Q - g + first mod g until a
//     checkpoint starts, and D. Whatever the check interval, this is one of the divisors g of
//     Q, and K is a multiple of it. So the largest K is found by asking each divisor for its
//     largest multiple that keeps the bound.
//   - With a grain, K is a multiple of that too.
//   - It is reached: check every g, with a rollover of K - g + 1 ms. A part is then closed
//     within K of its first record whatever arrives, and no sooner than at the check K
//     after the one that closed the one before. Other check intervals which do the same
//     are better to read and to run, and are taken if there are any.
//   - The 99th percentile grows with K for each g too, so halving finds the largest multiple.
//     It needs arrivals that leave K known, for which a check interval and a rollover exist
//     if K is longer than the longest gap of a lane.
//   - Size and inactivity can only add files. They are set so that they do not: Size so that
//     no part reaches it within K, inactivity longer than the longest gap of a lane.
//   - A Deadline closes parts at multiples of Q, and none waits longer than that and D. Its
//     99th percentile grows with the multiple.
//   - OnCheckpoint makes one file each Q, and none waits longer than Q + D. It is better than
//     any K of Q or less.
func Solve(goal Goal) (Solution, error) {
	q, err := goal.question()
	if err != nil {
		return Solution{}, err
	}
	var within, few *option // the best by latency, and the best by files
	needed, allowed := int64(math.MaxInt64), int64(0)
	for _, s := range q.settings {
		x := q.search(s)
		needed = min(needed, x.needed)
		for _, o := range x.within {
			allowed = max(allowed, o.interval)
			within = better(within, o, fewerFiles)
		}
		for _, o := range x.few {
			few = better(few, o, q.lessLatency)
		}
	}
	if !q.latency && few != nil {
		return few.Solution, nil
	}
	if q.latency && within != nil && q.fewEnough(within.Guarantee) {
		return within.Solution, nil
	}
	e := &ImpossibleError{Goal: goal, Proven: q.proven(), Needed: time.Duration(needed) * time.Millisecond, Allowed: time.Duration(allowed) * time.Millisecond}
	if within != nil {
		e.ByLatency = &within.Solution
	}
	if few != nil {
		e.ByFiles = &few.Solution
	}
	return Solution{}, e
}

// question is a goal that has been checked.
type question struct {
	worst, p99   int64 // never if there is no bound
	latency      bool  // one of them is given
	files, bytes float64
	settings     []Settings // one for each checkpoint interval, filled in
	grain        int64
	deadline     bool
}

func (g Goal) question() (question, error) {
	q := question{worst: never, p99: never, files: g.FilesPerHour, bytes: g.FileBytes, deadline: g.Deadline}
	if g.Grain < 0 || g.Grain > 24*time.Hour || g.Grain%time.Millisecond != 0 {
		return q, fmt.Errorf("%w: Grain %v: must be whole milliseconds, a day at most", sinkcore.ErrConfig, g.Grain)
	}
	q.grain = max(1, g.Grain.Milliseconds())
	s := g.Settings
	s.Policy = sinkcore.Default{}
	for _, d := range []struct {
		name  string
		value time.Duration
		to    *int64
	}{{"Worst", g.Worst, &q.worst}, {"P99", g.P99, &q.p99}} {
		if d.value < 0 || d.value > maxDuration {
			return q, fmt.Errorf("%w: %s %v: must be a time of up to ten years, or 0 for no bound", sinkcore.ErrConfig, d.name, d.value)
		}
		if d.value > 0 {
			*d.to, q.latency = d.value.Milliseconds(), true
		}
	}
	if q.files < 0 || q.bytes < 0 || math.IsNaN(q.files) || math.IsNaN(q.bytes) {
		return q, fmt.Errorf("%w: FilesPerHour %v, FileBytes %v: must not be negative", sinkcore.ErrConfig, q.files, q.bytes)
	}
	if !q.latency && q.files == 0 && q.bytes == 0 {
		return q, fmt.Errorf("%w: the goal has no bound: give one of Worst, P99, FilesPerHour and FileBytes", sinkcore.ErrConfig)
	}
	q.files = cmp.Or(q.files, ManyFilesPerHour)
	if len(s.Outages) > 0 {
		return q, fmt.Errorf("%w: Outages: no settings bound what an outage does", sinkcore.ErrConfig)
	}
	intervals := g.CheckpointIntervals
	if intervals == nil {
		intervals = []time.Duration{s.CheckpointInterval}
	}
	for _, interval := range intervals {
		s.CheckpointInterval = interval
		filled, err := s.validate()
		if err != nil {
			return q, err
		}
		// A checkpoint that takes longer puts off the next one, so this says how it is.
		filled.CheckpointInterval = max(filled.CheckpointInterval, filled.CheckpointDuration)
		q.settings = append(q.settings, filled)
	}
	return q, nil
}

// soonEnough tells whether the bounds on latency are kept.
func (q question) soonEnough(g Guarantee) bool {
	return !g.Unbounded && g.Worst.Milliseconds() <= q.worst && g.P99.Milliseconds() <= q.p99
}

// fewEnough tells whether the bounds on files are kept. A quotient of two floating-point
// numbers may miss the bound that it was computed from by a bit.
func (q question) fewEnough(g Guarantee) bool {
	const bit = 1e-12
	return g.FilesPerHour <= q.files*(1+bit) && g.BytesPerFile >= q.bytes*(1-bit)
}

// option is settings that may be the solution, and the interval at which they close parts.
type option struct {
	Solution
	interval int64
}

func fewerFiles(a, b *option) int {
	return cmp.Or(cmp.Compare(a.Guarantee.FilesPerHour, b.Guarantee.FilesPerHour), cmp.Compare(a.Guarantee.Worst, b.Guarantee.Worst), cmp.Compare(a.Guarantee.P99, b.Guarantee.P99))
}

// lessLatency compares by the latency that the goal bounds: by the worst one, unless only the
// other is bounded.
func (q question) lessLatency(a, b *option) int {
	worst, p99 := cmp.Compare(a.Guarantee.Worst, b.Guarantee.Worst), cmp.Compare(a.Guarantee.P99, b.Guarantee.P99)
	if q.worst >= never && q.p99 < never {
		worst, p99 = p99, worst
	}
	return cmp.Or(worst, p99, cmp.Compare(a.Guarantee.FilesPerHour, b.Guarantee.FilesPerHour))
}

// better is the better of two, the first if they are as good.
func better(a *option, b option, compare func(a, b *option) int) *option {
	if a == nil || compare(&b, a) < 0 {
		return &b
	}
	return a
}

// found is what there is for one checkpoint interval.
type found struct {
	needed int64    // the shortest interval of a lane that keeps the bounds on files
	within []option // keep the bounds on latency
	few    []option // keep the bounds on files
}

// search looks at one checkpoint interval.
func (q question) search(s Settings) found {
	gap := s.longestGap()
	every, d := max(s.CheckpointInterval, s.CheckpointDuration).Milliseconds(), s.CheckpointDuration.Milliseconds()
	x := found{needed: q.needed(s)}
	add := func(to *[]option, s Settings, interval int64) {
		limits, err := LimitsOf(s.Policy)
		if err == nil {
			*to = append(*to, option{Solution{s, s.guarantee(limits, gap)}, interval})
		}
	}
	try := func(s Settings, interval int64) {
		var o []option
		add(&o, s, interval)
		if q.soonEnough(o[0].Guarantee) {
			x.within = append(x.within, o...)
		}
		if q.fewEnough(o[0].Guarantee) {
			x.few = append(x.few, o...)
		}
	}
	at := s
	at.Policy, at.CheckInterval = sinkcore.OnCheckpoint{}, sinkcore.DefaultCheckInterval
	try(at, every)

	if b, bursts := s.Arrivals.(Bursts); bursts {
		q.bursts(s, gap, b.Filled(), try)
	}
	if k := q.longest(s, gap); k > every {
		if o, ok := q.close(s, k, q.worst, q.p99, gap); ok {
			add(&x.within, o, k)
		}
	}
	if k, worst, p99 := q.soonest(s, gap, max(x.needed, every+1)); k < never {
		if o, ok := q.close(s, k, worst, p99, gap); ok {
			add(&x.few, o, k)
		}
	}
	if q.deadline {
		for _, k := range []int64{q.longestDeadline(s, every, d, gap), roundUp(max(x.needed, 1), every)} {
			if k >= every && k <= maxDuration.Milliseconds() {
				p := s
				p.CheckInterval = sinkcore.DefaultCheckInterval
				p.Policy = sinkcore.Deadline{Within: time.Duration(k+d) * time.Millisecond, Checkpoint: s.CheckpointInterval, Duration: s.CheckpointDuration}
				try(p, k)
			}
		}
	}
	return x
}

// bursts tries settings that close the file of a burst after the burst, by age: with a rollover
// longer than the burst, and shorter than the silence, there is one in each lane. Checks are as rare as the bounds on
// latency allow, or, if there are none, ten times as frequent as checkpoints.
func (q question) bursts(s Settings, gap int64, b Bursts, try func(Settings, int64)) {
	span := burstSpan(b)
	most := s.CheckpointInterval.Milliseconds() / 10
	if q.latency {
		most = never
	}
	for i, check := range burstChecks {
		last := i == len(burstChecks)-1
		if check > most && !last {
			continue
		}
		check = roundUp(check, q.grain)
		s.CheckInterval = time.Duration(check) * time.Millisecond
		// A part that begins just after a check is old enough at the one after the burst.
		rollover := roundUp(span, check) + 1
		p := sinkcore.Default{Rollover: time.Duration(rollover) * time.Millisecond}
		p.Inactivity = time.Duration(idle(rollover, gap)) * time.Millisecond
		if bytes := float64(b.Size) * float64(s.RecordSize); bytes > float64(sinkcore.DefaultSize) {
			p.Size = int64(min(2*bytes, math.MaxInt64/4))
		}
		s.Policy = p
		limits, err := LimitsOf(p)
		if err != nil {
			continue
		}
		if g := s.guarantee(limits, gap); !q.latency || last || q.soonEnough(g) {
			try(s, rollover)
			return
		}
	}
}

// burstChecks are the check intervals among which those for bursts are chosen, milliseconds.
var burstChecks = []int64{60_000, 30_000, 20_000, 10_000, 5000, 2000, 1000, 500, 200, 100, 50, 20, 10, 5, 2, 1}

// proven tells whether it is proven that no settings keep the goal, once none were found. It is if one of these
// holds for each checkpoint interval Q; W and P are the bounds, D is a checkpoint's duration.
//
//   - A record that arrives as a checkpoint starts waits Q + D, and W is less.
//   - Records that come at any instant wait evenly long for a checkpoint, and P is less than 99 of 100 wait.
//
// The others need the mean interval at which files of a lane begin, needed or more by the
// bound on files, and records that come one after the other, with a gap of a lane between them.
//
//   - Some file begins that long after the one before, which was open until a gap sooner or longer, and waits
//     for a checkpoint as long as any: a stream that begins so many checks later closes a part of the same life at another
//     place between two checkpoints. Its first record waits for needed - gap + the longest wait + D at least.
//     A Deadline closes parts at checkpoints, and does not wait.
//   - Of the records of a file all but the last (P - D) / gap + 1 wait longer than P. They are at most
//     one of 100, so there are .99 times as many files as records for that number, or more.
//     In a stream by chance more of them may fall into fewer files, so this is for constant arrivals.
func (q question) proven() bool {
	for _, s := range q.settings {
		every, d := max(s.CheckpointInterval, s.CheckpointDuration).Milliseconds(), s.CheckpointDuration.Milliseconds()
		if q.worst < every+d || evenly(s) && q.p99 < least99(every, d, 0, 1, 0) {
			continue
		}
		if !evenly(s) {
			return false
		}
		wait := every
		for _, g := range divisors(every) {
			wait = min(wait, every-g+s.FirstCheckpoint.Milliseconds()%g)
		}
		if q.deadline {
			wait = 0
		}
		gap := float64(s.lanes())*1000/s.rate() + 1
		needed := float64(q.needed(s))
		_, constant := s.Arrivals.(Constant)
		if q.worst < never && needed-gap+float64(wait+d) > float64(q.worst) || constant && q.p99 < never && .99*needed > float64(q.p99-d)+gap {
			continue
		}
		return false
	}
	return true
}

// needed is the shortest interval at which a lane may close its parts. So few records that
// a file for each is well need no interval.
func (q question) needed(s Settings) int64 {
	records, lanes := s.rate()*3600, float64(s.lanes())
	need := 1.0
	if records > q.files {
		need = max(need, lanes*float64(hour)/q.files)
	}
	if q.bytes > float64(s.RecordSize) {
		need = max(need, q.bytes*lanes*float64(hour)/(records*float64(s.RecordSize)))
	}
	// The quotient may come out above a whole number that it is.
	return int64(min(math.Ceil(need*(1-1e-12)), float64(never)))
}

// kind is the intervals whose greatest common divisor with the checkpoint interval is g.
// All of them have the same waits for a checkpoint.
type kind struct {
	g, cofactor     int64 // cofactor is the checkpoint interval divided by g
	low, step, high int64 // the waits
	d               int64 // of a checkpoint
	each            int64 // the multiples of g by multiples of this are multiples of the grain
}

// kinds are all that have an interval that is a multiple of the grain, one for each divisor of
// the checkpoint interval.
func (q question) kinds(s Settings) []kind {
	every := max(s.CheckpointInterval, s.CheckpointDuration).Milliseconds()
	var out []kind
	for _, g := range divisors(every) {
		low := s.FirstCheckpoint.Milliseconds() % g
		each := q.grain / gcd(q.grain, g)
		if gcd(each, every/g) > 1 {
			continue // such a multiple has a larger divisor in common with the checkpoint interval
		}
		out = append(out, kind{g: g, each: each, cofactor: every / g, low: low, step: g, high: every - g + low, d: s.CheckpointDuration.Milliseconds()})
	}
	return out
}

// atMost is the largest interval of the kind that is no longer than k, or 0, and atLeast the
// shortest that is no shorter: multiples of g by a number that has no divisor in common with
// the cofactor. Such numbers are never far apart.
func (x kind) atMost(k int64) int64 {
	n := floorDiv(k, x.g*x.each) * x.each
	for n > 0 && gcd(n, x.cofactor) > 1 {
		n -= x.each
	}
	return max(n, 0) * x.g
}

func (x kind) atLeast(k int64) int64 {
	n := max(1, ceilDiv(k, x.g*x.each)) * x.each
	for gcd(n, x.cofactor) > 1 {
		n += x.each
	}
	return n * x.g
}

// longest is the longest interval that keeps the bounds on latency, or 0. Without arrivals
// that leave the interval known, the bound on the percentile counts as one on all records.
func (q question) longest(s Settings, gap int64) int64 {
	long := maxDuration.Milliseconds()
	best := int64(0)
	step, _ := s.steps()
	for _, x := range q.kinds(s) {
		k := min(q.worst, long) - x.d - x.high
		if q.p99 < never {
			within := func(k int64) bool { return later(k, q.p99-step, x.d, x.low, x.step, x.high) <= .01 }
			// The first multiple of g that is too long for the percentile.
			n := sort.Search(int(max(0, k/x.g)), func(n int) bool { return !within(int64(n+1) * x.g) })
			known := x.atMost(min(k, int64(n)*x.g))
			if known > gap && evenly(s) {
				best = max(best, known)
			}
			k = min(q.worst, q.p99, long) - x.d - x.high
		}
		best = max(best, x.atMost(k))
	}
	return best
}

// evenly tells whether records come at any instant, so that they wait for anything from nothing to
// the longest. Those of a burst all wait as long.
func evenly(s Settings) bool {
	_, bursts := s.Arrivals.(Bursts)
	return !bursts
}

// longestDeadline is the longest interval at which a Deadline closes parts, a multiple of that
// of checkpoints, that keeps the bounds on latency, or 0 or less. The worst latency is the interval
// and d. Where a gap leaves no checkpoint out the percentile is less, so the interval may be
// longer than the bound on it; otherwise that counts as one on all records.
func (q question) longestDeadline(s Settings, every, d, gap int64) int64 {
	most := floorDiv(min(q.worst, maxDuration.Milliseconds())-d, every)
	if gap+1 > every || !evenly(s) {
		most = min(most, floorDiv(q.p99-d, every))
	} else if q.p99 < never {
		_, step := s.steps()
		most = int64(sort.Search(int(max(0, most)), func(n int) bool {
			k := int64(n+1) * every
			return min(k+d, least99(k, d, 0, 1, 0)+step) > q.p99
		}))
	}
	return most * every
}

// soonest is the interval of at least so long that has the least latency, with its worst
// latency and its 99th percentile, never if that is not known.
func (q question) soonest(s Settings, gap, least int64) (k, worst, p99 int64) {
	k, worst, p99 = never, never, never
	if least > maxDuration.Milliseconds() {
		return k, worst, p99
	}
	step, _ := s.steps()
	for _, x := range q.kinds(s) {
		at := x.atLeast(least)
		w := at + x.high + x.d
		p := w
		if at > gap && evenly(s) {
			p = min(w, least99(at, x.d, x.low, x.step, x.high)+step)
		}
		sooner := cmp.Or(cmp.Compare(w, worst), cmp.Compare(p, p99))
		if q.worst >= never && q.p99 < never {
			sooner = cmp.Or(cmp.Compare(p, p99), cmp.Compare(w, worst))
		}
		if k == never || sooner < 0 {
			k, worst, p99 = at, w, p
		}
	}
	return k, worst, p99
}

// close is settings whose checks close parts every k and keep bounds on latency, of which it
// is known that some do.
//
// A check each c that divides k, with a rollover of k - c + 1 ms, closes parts within k of
// their first record whatever arrives. A c of a tenth of k or so is the first choice: checks
// are cheap, but not to be done every millisecond, and a stream that becomes idle is seen
// sooner. If c is longer than the gap, checks close parts at multiples of k only, and the
// rollover need not be as short as that. If k itself is the only such c, the rollover is as
// long as leaves room for the gap, or a millisecond if the bound on any stream allows only
// much less. The least common multiple of g and the grain is always a c
// that will do, if it is k with a rollover of a millisecond.
func (q question) close(s Settings, k, worst, p99, gap int64) (Settings, bool) {
	q.worst, q.p99 = worst, p99
	all := divisors(k)
	tenth, _ := slices.BinarySearch(all, k/10+1)
	order := slices.Clone(all[:tenth])
	slices.Reverse(order)
	order = append(order, all[tenth:len(all)-1]...)
	for _, above := range []int64{gap, 0} {
		for _, c := range order {
			if c <= above || c%q.grain != 0 {
				continue
			}
			for _, more := range []int64{q.grain, 1} {
				if more > 1 && more+gap > c {
					continue // it would not be known when parts are closed
				}
				if o := s.rolling(k, c, k-c+more, gap); q.keeps(o, k, gap) {
					return o, true
				}
			}
		}
		// Or as long a rollover as leaves room for the gap, and as the bound on any stream allows:
		// with a check each k a part may be open for k + rollover - 1.
		if k > gap {
			_, _, wait := s.cadence(Limits{}, gap).waits(k)
			rollover := min(k-gap, worst-wait-s.CheckpointDuration.Milliseconds()-k+1)
			if rollover+max(gap, k/4) >= k {
				if o := s.rolling(k, k, rollover, gap); q.keeps(o, k, gap) {
					return o, true
				}
			}
		}
	}
	o := s.rolling(k, k, 1, gap)
	return o, q.keeps(o, k, gap)
}

// keeps tells whether settings close parts every k, and keep the bounds on latency.
func (q question) keeps(s Settings, k, gap int64) bool {
	limits, err := LimitsOf(s.Policy)
	if err != nil {
		return false
	}
	c := s.cadence(limits, gap)
	return c.shortest == k && !c.sized && q.soonEnough(s.guarantee(limits, gap))
}

// rolling is settings with a Default policy whose size and inactivity close nothing. The
// inactivity that closes nothing while records come, and a stream that stops soon, is half
// of the rollover, if the longest gap of a lane is shorter.
func (s Settings) rolling(k, check, rollover, gap int64) Settings {
	p := sinkcore.Default{Rollover: time.Duration(rollover) * time.Millisecond}
	p.Inactivity = time.Duration(idle(rollover, gap)) * time.Millisecond
	if bytes := s.mostBytes(k); bytes > float64(sinkcore.DefaultSize) {
		p.Size = int64(min(2*bytes, math.MaxInt64/4))
	}
	s.Policy, s.CheckInterval = p, time.Duration(check)*time.Millisecond
	return s
}

// idle is an inactivity for a rollover: half of it, more if the longest gap of a lane asks
// for more, and the rollover itself, which closes nothing sooner, if the gap leaves no room.
func idle(rollover, gap int64) int64 {
	if gap+1 >= rollover {
		return rollover
	}
	return max(1, rollover/2, gap+1)
}

// divisors are all divisors, ascending.
func divisors(n int64) []int64 {
	var low, high []int64
	for i := int64(1); i <= n/i; i++ {
		if n%i == 0 {
			low = append(low, i)
			if i != n/i {
				high = append(high, n/i)
			}
		}
	}
	slices.Reverse(high)
	return append(low, high...)
}
