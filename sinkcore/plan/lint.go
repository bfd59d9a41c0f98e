package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"sinklab/sinkcore"
)

// Rule is what a finding is about. It is stable, for programs and for those who want to
// silence one.
type Rule string

// The rules, in the order in which Lint gives their findings: by what they cost, the worst
// first. Those that leave records unseen come before those about latency, then those about
// files, and last those about a setting that does nothing.
const (
	// IdleUnbounded: nothing closes a part if no more records come.
	IdleUnbounded Rule = "idle-unbounded"

	// Resonance: the rollover ends with a check, so a part that is a little younger waits for
	// one more.
	Resonance Rule = "resonance"

	// RolloverBelowCheck: the rollover is shorter than the time between two checks, which
	// are what closes parts.
	RolloverBelowCheck Rule = "rollover-below-check"

	// SlowCheckpoint: a checkpoint takes longer than the interval, which is not kept.
	SlowCheckpoint Rule = "slow-checkpoint"

	// InactivityNever: the inactivity is as long as the rollover, so age always comes first.
	InactivityNever Rule = "inactivity-never"

	// InactivityAlways: records come so seldom that nearly each gets a file of its own.
	InactivityAlways Rule = "inactivity-always"

	// SizeEveryCheckpoint: a size that was chosen is reached several times between two
	// checkpoints, so files are small and no sooner visible.
	SizeEveryCheckpoint Rule = "size-every-checkpoint"

	// CheckpointAboveRollover: several files are closed between two checkpoints, and become
	// visible together.
	CheckpointAboveRollover Rule = "checkpoint-above-rollover"

	// ManyFiles: more than ManyFilesPerHour.
	ManyFiles Rule = "many-files"

	// SizeNever: a size that was chosen is never reached.
	SizeNever Rule = "size-never"
)

// Option is the setting that a finding is about.
type Option string

// The options, by their fields.
const (
	OptionRollover           Option = "Rollover"
	OptionInactivity         Option = "Inactivity"
	OptionSize               Option = "Size"
	OptionPolicy             Option = "Policy"
	OptionCheckInterval      Option = "CheckInterval"
	OptionCheckpointInterval Option = "CheckpointInterval"
)

// Cost is a figure as it is, and as it would be with the better setting.
type Cost struct {
	Name       string // "worst latency, s", "most files/hour": what is counted, and its unit
	Now, Later float64
	Unbounded  bool // there is no bound now; Now is 0 then
}

// String gives "worst latency, s: 121.999 now, 62 then".
func (c Cost) String() string {
	now := strconv.FormatFloat(c.Now, 'g', 6, 64)
	if c.Unbounded {
		now = "no bound"
	}
	return c.Name + ": " + now + " now, " + strconv.FormatFloat(c.Later, 'g', 6, 64) + " then"
}

// Finding is one thing that is not well about settings.
type Finding struct {
	Rule   Rule
	Option Option // what to change
	What   string // in one sentence, with its numbers
	Costs  []Cost // what it costs; the first is what it is about. None for SizeNever, which costs nothing
	Better Settings
	Change string // what Better has changed, "Rollover 59s"
	Source string // where it can be read up
}

// String gives the rule, what it is, each cost, the better setting and the source, a line
// each.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", f.Rule, f.What)
	for _, c := range f.Costs {
		fmt.Fprintf(&b, "    %s\n", c)
	}
	fmt.Fprintf(&b, "    better: %s\n    see: %s\n", f.Change, f.Source)
	return b.String()
}

// Lint looks for settings that cost more than they have to, or promise what they do not
// keep. What no setting of the sort would make better is not told. It returns what it finds in
// the order of the rules, nil if nothing. Figures are guarantees, see [Guarantee], since what is only now and then so is found as well. It has
// nothing to say about what [Solve] recommends, unless the goal itself allows more files
// than ManyFilesPerHour.
//
// The errors are those of [Predict].
func Lint(s Settings) ([]Finding, error) {
	given := s.Policy
	s, err := s.validate()
	if err != nil {
		return nil, err
	}
	limits, err := LimitsOf(s.Policy)
	if err != nil {
		return nil, err
	}
	gap := s.longestGap()
	l := linter{s: s, limits: limits.finite(), given: limits, gap: gap, c: s.cadence(limits, gap), now: s.guarantee(limits, gap), chosen: chosenSize(given)}
	for _, rule := range []func(){
		l.idleUnbounded, l.resonance, l.rolloverBelowCheck, l.slowCheckpoint, l.inactivityNever,
		l.inactivityAlways, l.sizeEveryCheckpoint, l.checkpointAboveRollover, l.manyFiles, l.sizeNever,
	} {
		rule()
	}
	return l.found, nil
}

// linter is settings that are looked at.
type linter struct {
	s      Settings
	limits Limits // those that are limits; given has them as they are given
	given  Limits
	gap    int64
	c      cadence
	now    Guarantee
	chosen bool // the size is not the one that Flink has by itself
	found  []Finding
}

// chosenSize tells whether somebody has chosen a size. Flink's own is there whether it is
// of use or not, and nobody wants to be told.
func chosenSize(p sinkcore.RollingPolicy) bool {
	l, err := LimitsOf(p)
	return err == nil && l.Bytes > 0 && l.Bytes != sinkcore.DefaultSize+1
}

// add adds a finding if the better settings are settings, and better: if the figure that it is
// about, the first, would change for the better. A finding without figures claims no gain.
func (l *linter) add(f Finding, better Settings, costs ...func(Guarantee) Cost) {
	limits, err := LimitsOf(better.Policy)
	if err != nil {
		return
	}
	then := better.guarantee(limits, l.gap)
	for _, c := range costs {
		f.Costs = append(f.Costs, c(l.now).with(then, c))
	}
	gain := len(f.Costs) == 0 || f.Costs[0].improves()
	if f.Rule == Resonance {
		// It is about what is possible. With the arrivals given it need not happen.
		gain = gain || steadyWorst(l.now).with(then, steadyWorst).improves()
	}
	if !gain {
		return
	}
	f.Better = better
	l.found = append(l.found, f)
}

// with is the cost with the figure of the better settings.
func (c Cost) with(then Guarantee, figure func(Guarantee) Cost) Cost {
	c.Later = figure(then).Now
	return c
}

// improves tells whether the better setting is better. All costs that are the first of a finding
// are the better the less they are.
func (c Cost) improves() bool { return c.Unbounded || c.Later < c.Now*(1-1e-9) }

func worst(g Guarantee) Cost {
	return Cost{Name: "worst latency, s", Now: g.Worst.Seconds(), Unbounded: g.Unbounded}
}

func steadyWorst(g Guarantee) Cost {
	return Cost{Name: "worst latency of a steady stream, s", Now: g.SteadyWorst.Seconds(), Unbounded: g.Unbounded}
}

func filesPerHour(g Guarantee) Cost { return Cost{Name: "most files/hour", Now: g.FilesPerHour} }

// with is a policy with one limit changed, and true; or false if it has no such limit or
// is not one of sinkcore's.
func with(p sinkcore.RollingPolicy, change func(*sinkcore.Default)) (sinkcore.RollingPolicy, bool) {
	switch p := p.(type) {
	case sinkcore.Default:
		p = p.Filled()
		change(&p)
		return p, true
	case sinkcore.AnyOf:
		first, ok := with(p.First, change)
		second, okToo := with(p.Second, change)
		return sinkcore.AnyOf{First: first, Second: second}, ok || okToo
	}
	return p, false
}

// changed is the settings with one limit of the policy changed.
func (l *linter) changed(change func(*sinkcore.Default)) (Settings, bool) {
	s := l.s
	var ok bool
	s.Policy, ok = with(s.Policy, change)
	return s, ok
}

func millisecs(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// resonance: a part that begins d after the check that closed the one before is closed
// check · ceil((rollover + d) / check) after it. Up to the room that rollover leaves before
// the next multiple of the check interval d makes no difference, and beyond it costs a
// whole check interval. With a rollover that is a multiple itself there is no room at all: a
// check sees a part at least a millisecond younger than that, unless a record came in the
// very millisecond of the check.
//
// Less rollover makes room. A second, if the interval has it, is more than any gap of a
// stream that is worth the name, and otherwise as long as the longest gap is. If that is
// longer than the interval between checks no rollover helps.
func (l *linter) resonance() {
	if l.limits.Rollover == 0 || l.limits.AtCheckpoint || l.c.known {
		return
	}
	rollover, check := l.limits.Rollover.Milliseconds(), l.c.check
	k := roundUp(rollover, check)
	if more := rollover + check - 1 - k; more*20 < k {
		return // parts are closed within k of their first record, or not much later
	}
	room := k - rollover
	if l.c.sized && l.fill() < k && room > 0 {
		return // parts are full before, while records come
	}
	want := max(l.gap, min(1000, check/4))
	if want >= check {
		// No room is enough for such gaps, but then a part may begin anywhere between two
		// checks: with the shortest rollover of the same K it is closed within K.
		want = check - 1
	}
	better, ok := l.changed(func(p *sinkcore.Default) { p.Rollover = min(p.Rollover, millisecs(k-want)) })
	if !ok || k-want >= rollover && !l.c.sized {
		return // the rollover leaves that room, and parts are closed earlier for another reason
	}
	what := fmt.Sprintf("a part that begins more than %v after a check is younger than the rollover of %v at the check %v later, and waits %v more for the next one", millisecs(room), l.limits.Rollover, millisecs(k), millisecs(check))
	if room == 0 {
		what = fmt.Sprintf("the rollover of %v is a multiple of the check interval of %v: a part that begins a millisecond after a check is a millisecond too young %v later, and waits %v more for the next one",
			l.limits.Rollover, millisecs(check), millisecs(k), millisecs(check))
	}
	if interval := millisecs(l.gap); interval <= millisecs(1) {
		what += "; while records come each millisecond that does not show, but the first pause does it"
	}
	f := Finding{
		Rule: Resonance, Option: OptionRollover, What: what,
		Change: fmt.Sprintf("Rollover %v: such a part is old enough", millisecs(k-want)),
		Source: "Flink DefaultRollingPolicy:84-87 (age >= rollover, seen by checks only), FileWriter:267-279 (one check each interval)",
	}
	if l.c.sized {
		// Parts that are full end at any instant, and others begin there: no rollover is in step
		// with the checks. More checks help. They are needed for the part that does not get
		// full: the last one before a pause, or of a bucket that stands for a time.
		better = l.s
		better.CheckInterval = millisecs(max(1, rollover/60))
		f.Option, f.Change = OptionCheckInterval, fmt.Sprintf("CheckInterval %v: no part waits longer for one", better.CheckInterval)
		then := millisecs(rollover) + better.CheckInterval - time.Millisecond
		f.Costs = []Cost{{Name: "a part that does not get full is closed after, s", Now: millisecs(rollover + check - 1).Seconds(), Later: then.Seconds()}}
	} else {
		f.Costs = l.predicted(better)
	}
	l.add(f, better, steadyWorst, filesPerHour)
}

// fill is how long it takes until a part is full, milliseconds, in the mean.
func (l *linter) fill() int64 {
	seconds := float64(l.limits.Bytes) * float64(l.s.lanes()) / (l.s.rate() * float64(l.s.RecordSize))
	return int64(min(1000*seconds, float64(never)))
}

// predicted compares predictions, for arrivals at known instants. What a guarantee counts as
// a possibility they show as a fact, if it is one: also that half the latency takes twice the
// files.
func (l *linter) predicted(better Settings) []Cost {
	if _, constant := l.s.Arrivals.(Constant); !constant {
		return nil
	}
	now, err := Predict(l.s)
	then, err2 := Predict(better)
	if err != nil || err2 != nil || now.Files.Low == 0 || then.Files.Low == 0 {
		return nil
	}
	return []Cost{
		{Name: "worst latency with these arrivals, s", Now: now.Worst.Low.Seconds(), Later: then.Worst.Low.Seconds()},
		{Name: "files/hour with these arrivals", Now: now.FilesPerHour.Low, Later: then.FilesPerHour.Low},
	}
}

// rolloverBelowCheck: a check closes what is older than the rollover, so with a shorter one
// parts are closed each check, which another rollover below the check interval would do as
// well. What shortens the latency is the check interval. A rollover that is shorter
// by a quarter or less, or by the longest gap, makes sure that the next check sees it, which
// is how it should be. A rollover of a millisecond, the shortest there is, says that each check
// is to close what it finds, and keeps its word.
func (l *linter) rolloverBelowCheck() {
	if l.limits.Rollover == 0 || l.limits.AtCheckpoint {
		return
	}
	rollover, check := l.limits.Rollover.Milliseconds(), l.c.check
	if rollover+max(l.gap, check/4) >= check || rollover <= 1 {
		return
	}
	better := l.s
	better.CheckInterval = millisecs(max(1, rollover/10))
	f := Finding{
		Rule: RolloverBelowCheck, Option: OptionCheckInterval,
		What:   fmt.Sprintf("the rollover of %v is seen by a check each %v only: a part is closed after %v, not after %v", l.limits.Rollover, millisecs(check), millisecs(check), l.limits.Rollover),
		Change: fmt.Sprintf("CheckInterval %v, so that parts are closed when they are due", better.CheckInterval),
		Source: "Flink FileSink:203-206 (bucket check interval, one minute by default)",
	}
	if l.c.sized {
		// While records come parts may be full before any check. The last one before a pause is
		// not, and waits for it.
		f.What = fmt.Sprintf("the rollover of %v is seen by a check each %v only: a part that does not get full, as the last one before a pause, is closed up to %v after its first record, not after %v",
			l.limits.Rollover, millisecs(check), millisecs(rollover+check-1), l.limits.Rollover)
		f.Costs = []Cost{{Name: "a part that does not get full is closed after, s", Now: millisecs(rollover + check - 1).Seconds(), Later: (millisecs(rollover) + better.CheckInterval - time.Millisecond).Seconds()}}
	}
	l.add(f, better, worst, filesPerHour)
}

// inactivityNever: a part was last written to when it was made or later, so if inactivity is
// not shorter than rollover, a check that finds it idle for so long finds it old enough
// too. A shorter one, longer than the longest gap, costs no file while records come, and shows
// the last records of a stream that stops sooner.
func (l *linter) inactivityNever() {
	if l.limits.Rollover == 0 || l.given.Inactivity == 0 || l.given.Inactivity < l.given.Rollover || l.limits.AtCheckpoint {
		return
	}
	rollover := l.given.Rollover.Milliseconds()
	i := idle(rollover, l.gap)
	if i >= rollover {
		return // the gaps leave no room for one that closes nothing else
	}
	better, ok := l.changed(func(p *sinkcore.Default) { p.Inactivity = millisecs(i) })
	if !ok {
		return
	}
	l.add(Finding{
		Rule: InactivityNever, Option: OptionInactivity,
		What:   fmt.Sprintf("an inactivity of %v can never close a part: the rollover of %v has done so before", l.given.Inactivity, l.given.Rollover),
		Costs:  []Cost{{Name: "a part that gets one record may be closed after, s", Now: l.given.Rollover.Seconds(), Later: millisecs(i).Seconds()}},
		Change: fmt.Sprintf("Inactivity %v: the last records of a stream that stops are visible sooner", millisecs(i)),
		Source: "Flink DefaultRollingPolicy:84-87 (age or inactivity)",
	}, better)
}

// inactivityAlways: if records of a lane come less often than inactivity and a check take,
// each is closed in before the next.
func (l *linter) inactivityAlways() {
	rate := l.s.rate() / float64(l.s.lanes())
	mean := 1000 / rate
	inactivity := l.limits.Inactivity.Milliseconds()
	if l.limits.Inactivity == 0 || l.limits.Inactivity >= l.limits.Rollover && l.limits.Rollover > 0 || l.limits.AtCheckpoint || mean < float64(inactivity+l.c.check) {
		return
	}
	if _, bursts := l.s.Arrivals.(Bursts); bursts {
		return // the mean says nothing of them, and a file a burst is what one would want
	}
	better, ok := l.changed(func(p *sinkcore.Default) { p.Inactivity = max(p.Inactivity, p.Rollover) })
	if !ok || better.guarantee(mustLimits(better), l.gap).FilesPerHour >= l.now.FilesPerHour {
		return
	}
	l.add(Finding{
		Rule: InactivityAlways, Option: OptionInactivity,
		What:   fmt.Sprintf("with %s a bucket of a subtask gets a record each %s, and an inactivity of %v closes the part before the next: a file for each record", loadText(l.s), longText(mean/1000), l.limits.Inactivity),
		Change: fmt.Sprintf("Inactivity %v, as the rollover", l.limits.Rollover),
		Source: "Flink DefaultRollingPolicy:84-87",
	}, better, filesPerHour, worst)
}

// mustLimits is the limits of settings whose policy was made from one with limits.
func mustLimits(s Settings) Limits {
	l, _ := LimitsOf(s.Policy)
	return l
}

// sizeNever: a part is open for so long at most, and gets so many bytes in that. That costs
// nothing; it is told since somebody who chose a size expects files of it. Where Flink's own size
// would be reached a larger one is what keeps files whole, and does what it is for.
func (l *linter) sizeNever() {
	if !l.chosen || l.c.open >= never {
		return
	}
	most := l.s.mostBytes(l.c.open)
	if float64(l.limits.Bytes) <= 10*most {
		return
	}
	better := l.s
	d, ok := better.Policy.(sinkcore.Deadline)
	change := "no Size: Flink's own is not reached either"
	switch {
	case ok:
		d.Target = 0
		better.Policy, change = d, "no Target: the deadline closes every part"
	case most > float64(sinkcore.DefaultSize):
		return
	default:
		if better, ok = l.changed(func(p *sinkcore.Default) { p.Size = 0 }); !ok {
			return
		}
	}
	size := l.limits.Bytes - 1
	l.add(Finding{
		Rule: SizeNever, Option: OptionSize,
		What: fmt.Sprintf("with %s a part gets %s of records at most until it is closed, which is %v after its first record at the latest: a size of %s is never reached, as that takes %s",
			loadText(l.s), bytesText(most), millisecs(l.c.open), bytesText(float64(size)), longText(float64(size)*float64(l.s.lanes())/(l.s.rate()*float64(l.s.RecordSize)))),
		Change: change,
		Source: "Flink DefaultRollingPolicy:72-81 (size is tested before a record and at checkpoints)",
	}, better)
}

// sizeEveryCheckpoint: what is closed between two checkpoints becomes visible together.
func (l *linter) sizeEveryCheckpoint() {
	if !l.chosen || l.limits.Bytes > sinkcore.DefaultSize {
		return
	}
	perCheckpoint := l.s.rate() / float64(l.s.lanes()) * float64(l.s.RecordSize) * float64(l.c.every) / 1000
	file := float64(ceilDiv(l.limits.Bytes, int64(l.s.RecordSize))) * float64(l.s.RecordSize)
	if perCheckpoint < 2*file {
		return // a record may be larger than the size, and then it is a file whatever the size is
	}
	size := int64(min(max(perCheckpoint*2, float64(2*l.limits.Bytes)), math.MaxInt64/4))
	change := fmt.Sprintf("Size %d, as much as comes in two checkpoint intervals", size)
	better, ok := l.changed(func(p *sinkcore.Default) { p.Size = size })
	if d, deadline := l.s.Policy.(sinkcore.Deadline); deadline {
		d.Target, ok = size, true
		better.Policy = d
	}
	if !ok {
		return
	}
	l.add(Finding{
		Rule: SizeEveryCheckpoint, Option: OptionSize,
		What: fmt.Sprintf("with %s a bucket of a subtask gets %s between two checkpoints, and a size of %s cuts them into %s files, which become visible together",
			loadText(l.s), bytesText(perCheckpoint), bytesText(float64(l.limits.Bytes-1)), numberText(math.Round(perCheckpoint/file))),
		Change: change,
		Source: "Flink FileWriterBucket:180-215 (a part that is closed waits for the next checkpoint)",
	}, better, filesPerHour, worst)
}

// checkpointAboveRollover: parts that checks close between two checkpoints become visible
// together, so one would do: that which the checkpoint itself closes.
func (l *linter) checkpointAboveRollover() {
	if l.limits.Rollover == 0 || l.c.shortest >= l.c.every {
		return
	}
	better := l.s
	better.Policy = sinkcore.OnCheckpoint{}
	l.add(Finding{
		Rule: CheckpointAboveRollover, Option: OptionPolicy,
		What: fmt.Sprintf("checks close a part each %v, and a checkpoint publishes them each %v only: up to %d files of a bucket become visible together",
			millisecs(l.c.shortest), millisecs(l.c.every), ceilDiv(l.c.every, l.c.shortest)),
		Change: "policy OnCheckpoint, or checkpoints more often",
		Source: "Flink OnCheckpointRollingPolicy:35-43; documentation of FileSink: files are committed with checkpoints",
	}, better, filesPerHour, worst)
}

// slowCheckpoint: one checkpoint is under way at a time, so the next starts late.
func (l *linter) slowCheckpoint() {
	if l.s.CheckpointDuration <= l.s.CheckpointInterval {
		return
	}
	better := l.s
	better.CheckpointInterval = l.s.CheckpointDuration
	if d, deadline := better.Policy.(sinkcore.Deadline); deadline && d.Checkpoint < better.CheckpointInterval {
		d.Checkpoint = better.CheckpointInterval
		d.Within = max(d.Within, d.Checkpoint+d.Duration)
		better.Policy = d
	}
	l.add(Finding{
		Rule: SlowCheckpoint, Option: OptionCheckpointInterval,
		What:   fmt.Sprintf("a checkpoint takes %v and is to start each %v: one is always under way, and the next starts when it completes", l.s.CheckpointDuration, l.s.CheckpointInterval),
		Costs:  []Cost{{Name: "from one checkpoint to the next, longer than the interval by, s", Now: (l.s.CheckpointDuration - l.s.CheckpointInterval).Seconds()}},
		Change: fmt.Sprintf("CheckpointInterval %v, which is what it is; or quicker checkpoints", better.CheckpointInterval),
		Source: "Flink execution.checkpointing.max-concurrent-checkpoints, 1 by default",
	}, better, worst)
}

// manyFiles: the better setting is that with the least latency that keeps the number.
func (l *linter) manyFiles() {
	if l.now.FilesPerHour <= ManyFilesPerHour*(1+1e-9) {
		return
	}
	goal := Goal{Settings: l.s}
	goal.Settings.Outages = nil
	goal.FilesPerHour = ManyFilesPerHour
	solution, err := Solve(goal)
	if err != nil {
		return
	}
	day := l.now.FilesPerHour * 24
	better := solution.Settings
	better.Outages = l.s.Outages
	l.add(Finding{
		Rule: ManyFiles, Option: OptionPolicy,
		What: fmt.Sprintf("with %s up to %s files a day of %s: %s in the memory of a name node, or as many PUT requests and %s LIST requests for each listing of that day",
			loadText(l.s), numberText(day), bytesText(l.now.BytesPerFile), bytesText(day*2*150), numberText(math.Ceil(day/1000))),
		Change: fmt.Sprintf("%v, CheckInterval %v; or fewer buckets and subtasks", better.Policy, better.CheckInterval),
		Source: "White, The Small Files Problem, Cloudera 2009 (a file and a block take some 150 bytes each in a name node); Amazon S3 ListObjectsV2 (1,000 keys a request)",
	}, better, filesPerHour, worst)
}

// idleUnbounded: without a rollover, and with no closing at checkpoints, the last records
// of a stream wait for others. Inactivity bounds that, but not a stream that never pauses. A
// limit of ten years or more counts as none.
func (l *linter) idleUnbounded() {
	bound := smaller(l.given.Rollover, l.given.Inactivity)
	if l.given.AtCheckpoint {
		bound = smaller(bound, max(l.given.OlderThan, 1))
	}
	if bound != 0 && bound < maxDuration {
		return
	}
	better, ok := l.changed(func(p *sinkcore.Default) { p.Rollover = time.Hour; p.Inactivity = time.Hour / 2 })
	if !ok {
		better = l.s
		better.Policy = sinkcore.AnyOf{First: l.s.Policy, Second: sinkcore.Default{Rollover: time.Hour, Inactivity: time.Hour / 2}}
	}
	better.CheckInterval = min(better.CheckInterval, 6*time.Minute)
	what := "nothing closes a part but more records: the last ones of a stream that stops are never visible"
	if bound != 0 {
		what = fmt.Sprintf("nothing closes a part of a stream that stops for %v", bound)
	}
	l.add(Finding{
		Rule: IdleUnbounded, Option: OptionRollover, What: what,
		Costs:  []Cost{{Name: "the last record of a stream that stops is due after, s", Now: bound.Seconds(), Later: (30 * time.Minute).Seconds(), Unbounded: bound == 0}},
		Change: fmt.Sprintf("Rollover %v, Inactivity %v, CheckInterval %v", time.Hour, time.Hour/2, better.CheckInterval),
		Source: "confluentinc/kafka-connect-storage-cloud#144 (a quiet stream stays invisible)",
	}, better, worst, filesPerHour)
}
