package config

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"sinklab/sinkcore"
	"sinklab/sinkcore/peers"
	"sinklab/sinkcore/plan"
	"sinklab/sinkcore/sim"
)

// Rules of this package, besides those of package plan.
const (
	// NoCheckpoints: nothing turns checkpoints on, and without them nothing is visible.
	NoCheckpoints plan.Rule = "no-checkpoints"

	// CompactionLoses: the sink merges its files, by which Flink 2.3.0 loses records.
	CompactionLoses plan.Rule = "compaction-loses"

	// Refused: the engine does not take an option, or does not know it.
	Refused plan.Rule = "refused"

	// NoEffect: an option does nothing with the others as they are.
	NoEffect plan.Rule = "no-effect"

	// LateCheck: the time that ends a file is looked at less often than it comes.
	LateCheck plan.Rule = "late-check"

	// DaylightSaving: when clocks change, files are not closed as on other days.
	DaylightSaving plan.Rule = "daylight-saving"

	// MinPause: the pause after a checkpoint does not let the next start when the interval says.
	MinPause plan.Rule = "min-pause"

	// ShortBuckets: the bucket assigner begins a new bucket, and so a new file, sooner than
	// the rolling policy would.
	ShortBuckets plan.Rule = "short-buckets"
)

// Finding is one thing that is not well about a sink, with its place in the text.
type Finding struct {
	Line   int       // from 1
	Sink   string    // its name; empty if it has none
	Rule   plan.Rule // one of package plan, or of this
	What   string    // in one sentence, with its numbers
	Costs  []plan.Cost
	Better []string // what to write instead, in the words of the text, a line each
	Source string   // where it can be read up; empty if nowhere

	Severity Severity // how bad it is

	// Arrivals tells whether it rests on how many records arrive and how large they are. It is
	// worth no more than what the settings say about that.
	Arrivals bool
}

// Lint finds what is not well about the sinks of a text. Settings have what arrives and how
// long a checkpoint takes; the checkpoint interval is that of the text, and that of the settings
// if the text has none, but no less than a checkpoint and the pause after it take. If neither has
// one it is 2 s, and a text that would have to turn checkpoints on is told so. Findings come by
// what they cost, see [ByCost], and then by their lines.
//
// A sink that the engine refuses, or of which a value is not in the text, is not judged any
// further. The error wraps sinkcore.ErrConfig if the settings make no sense.
func Lint(f File, given plan.Settings) ([]Finding, error) {
	if f.Checkpoint > 0 {
		given.CheckpointInterval, given.FirstCheckpoint = f.Checkpoint, 0
	}
	given.Policy = nil
	if err := given.Validate(); err != nil {
		return nil, err
	}
	all := append(f.noCheckpoints(given), f.paused(&given)...)
	if every := max(cmp.Or(given.CheckpointInterval, 2*time.Second), given.CheckpointDuration); given.FirstCheckpoint == 0 && every > time.Millisecond {
		// Nobody sets when checkpoints start beside when checks do: as late before one as they can.
		given.FirstCheckpoint = every - time.Millisecond
	}
	for _, s := range f.Sinks {
		l := linter{File: f, sink: s, given: given}
		for i, r := range s.Refusals {
			if i == len(s.Refusals)-1 {
				r.Problem += " (the rest of this sink is not judged until this is mended)"
			}
			l.refused(r)
		}
		for _, r := range s.Misplaced {
			l.add(Finding{Line: r.Line, Rule: NoEffect, What: r.Option + " " + r.Problem, Better: []string{r.Option + "=" + r.Value + " (of the worker)"}, Source: r.Source})
		}
		l.compaction()
		if len(s.Refusals)+len(s.Unread) == 0 {
			if err := l.judge(); err != nil {
				return nil, err
			}
		}
		all = append(all, l.found...)
	}
	for i := range all {
		all[i].Severity = cmp.Or(all[i].Severity, severityOf[all[i].Rule])
		all[i].Arrivals = restsOnArrivals[all[i].Rule]
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Or(ByCost(a, b), cmp.Compare(a.Line, b.Line)) })
	return all, nil
}

// noCheckpoints says that nothing turns checkpoints on, unless somebody says how often they come.
func (f File) noCheckpoints(given plan.Settings) []Finding {
	if f.NoCheckpoints == 0 || given.CheckpointInterval > 0 {
		return nil
	}
	const interval = 2 * time.Second // what everything else is judged for
	found := Finding{
		Line: f.NoCheckpoints, Rule: NoCheckpoints,
		Better: []string{"SET 'execution.checkpointing.interval' = '" + sqlDuration(interval) + "'; -- before the INSERT; all else here is for this interval"},
		Source: "Flink CheckpointingOptions.CHECKPOINTING_INTERVAL (no default), CommitterOperator.notifyCheckpointComplete and endInput",
	}
	elsewhere := "the cluster's configuration sets"
	if f.Form == FlinkJava {
		found.Better = []string{f.environment + ".enableCheckpointing(" + javaCheck(interval) + "); // " + Short(interval) + ", for which all else here is"}
		elsewhere = "the cluster's configuration, or one that the program loads, sets"
		if f.environmentGiven {
			elsewhere = "what makes " + f.environment + ", or the cluster's configuration, sets"
		}
	}
	what := "nothing in this file turns checkpoints on"
	if f.CheckpointLine > 0 {
		what = "an interval of 0 turns checkpoints off"
	}
	found.What = what + ", and what a sink writes is visible only when a checkpoint has completed: without them a stream never shows a file, and one that ends shows them at its end."
	if f.CheckpointLine == 0 {
		found.What += " It is so unless " + elsewhere + " execution.checkpointing.interval, for which Flink has no default"
	}
	found.What = strings.TrimSuffix(found.What, ".")
	return []Finding{found}
}

// paused makes the checkpoint interval as long as the pause lets it be, and says so if the text
// has a shorter one.
func (f File) paused(given *plan.Settings) []Finding {
	interval, least := cmp.Or(given.CheckpointInterval, 2*time.Second), f.MinPause+given.CheckpointDuration
	if f.MinPause == 0 || least <= interval || least < 0 {
		return nil
	}
	was := *given
	given.CheckpointInterval, given.FirstCheckpoint = least, 0
	if f.Checkpoint == 0 {
		return nil
	}
	better := []string{"a pause that is shorter than the interval, or an interval of " + Short(least)}
	if f.Checkpoint > given.CheckpointDuration {
		// Half of what the interval leaves is a pause too.
		pause := max(time.Millisecond, ((f.Checkpoint - given.CheckpointDuration) / 2).Truncate(time.Millisecond))
		better = []string{"SET 'execution.checkpointing.min-pause' = '" + sqlDuration(pause) + "';"}
		if f.Form == FlinkJava {
			better = []string{".setMinPauseBetweenCheckpoints(" + javaCheck(pause) + "); // " + Short(pause)}
		}
	}
	what := fmt.Sprintf("after each checkpoint there is a pause of %s", Short(f.MinPause))
	if given.CheckpointDuration > 0 {
		what += fmt.Sprintf(", and it takes %s", Short(given.CheckpointDuration))
	}
	found := Finding{
		Line: f.MinPauseLine, Rule: MinPause, Better: better,
		What:   fmt.Sprintf("%s: checkpoints start each %s, and not each %s as the interval says", what, Short(least), Short(f.Checkpoint)),
		Costs:  []plan.Cost{{Name: "from checkpoint to checkpoint, s", Now: least.Seconds(), Later: max(f.Checkpoint, given.CheckpointDuration).Seconds()}},
		Source: "Flink execution.checkpointing.min-pause; CheckpointCoordinator (the interval is at least the pause)",
	}
	for _, s := range f.Sinks {
		if s.Policy == nil || len(s.Refusals)+len(s.Unread) > 0 {
			continue
		}
		now, then := *given, was
		for _, x := range []*plan.Settings{&now, &then} {
			x.Policy, x.CheckInterval = s.Policy, s.Check
		}
		a, err := plan.Guarantees(now)
		b, err2 := plan.Guarantees(then)
		if err == nil && err2 == nil && !a.Unbounded && !b.Unbounded {
			name := "worst latency"
			if s.Name != "" {
				name += " of " + s.Name
			}
			found.Costs = append(found.Costs, plan.Cost{Name: name + ", s", Now: a.Worst.Seconds(), Later: b.Worst.Seconds()})
			break
		}
	}
	return []Finding{found}
}

// linter is a sink that is looked at.
type linter struct {
	File
	sink  Sink
	given plan.Settings
	found []Finding
}

func (l *linter) add(f Finding) {
	f.Sink = l.sink.Name
	l.found = append(l.found, f)
}

func (l *linter) refused(r Refusal) {
	what := r.Problem
	if r.Option != "" {
		what = r.Option + ": " + what
		if r.Value != "" {
			what = r.Option + "=" + r.Value + ": " + r.Problem
		}
	}
	l.add(Finding{Line: r.Line, Rule: Refused, What: what, Source: r.Source})
}

// compaction says what is known of a FileSink that merges its files. The tables of the filesystem
// connector merge theirs with other operators (CompactCoordinator and CompactOperator of its
// package table.stream.compact), of which nothing of the sort has been shown.
func (l *linter) compaction() {
	o, ok := l.sink.Option("enableCompact")
	if !ok || len(l.sink.Refusals) > 0 {
		return
	}
	w := Workload(l.given)
	var costs []plan.Cost
	// What cannot be read when files are merged has no figures.
	_, counts := l.sink.Option("enableCompactionOnCheckpoint")
	_, sizes := l.sink.Option("setSizeThreshold")
	if l.sink.Peer != nil && (counts || sizes) {
		merged, plain := l.sink.Peer.WorstLatency(w), compacting(l.sink.Peer, peers.Compaction{}).WorstLatency(w)
		if !plain.Unbounded {
			costs = []plan.Cost{{Name: "worst latency, s", Now: merged.Worst.Seconds(), Later: plain.Worst.Seconds(), Unbounded: merged.Unbounded}}
		}
		if merged.Unbounded && !plain.Unbounded {
			l.add(Finding{
				Line: l.sink.lineOf("setSizeThreshold", "enableCompact"), Rule: plan.IdleUnbounded, What: merged.Reason,
				Costs:  []plan.Cost{{Name: "worst latency, s", Unbounded: true, Later: compacting(l.sink.Peer, peers.Compaction{OnCheckpoint: 1}).WorstLatency(w).Worst.Seconds()}},
				Better: []string{".enableCompactionOnCheckpoint(1) in the strategy as well, or another number of checkpoints"},
				Source: "Flink CompactCoordinator",
			})
		}
	}
	l.add(Finding{
		Line: o.Line, Rule: CompactionLoses, Costs: costs,
		What: "with compaction Flink 2.3.0's FileSink loses records: a job that fails after a checkpoint, and whose input ends before the next, never shows what that checkpoint covers, and reports success (on a running job 100 records of 300 were visible, and 300 without compaction). " +
			"Shown on its operators: one that fails between the end of its input and its last checkpoint cannot be restored from its newest; and one that is restored from an older checkpoint may fail for ever, since files that it is to merge are gone",
		Better: []string{"leave enableCompact out, or compact with a job of its own"},
		Source: "Flink CompactorOperator:143-156 (endInput); sinklab findings, or make findings, plays each on the real Flink (testdata/flink/findings)",
	})
}

// compacting is a FileSink that merges its files in another way, or not.
func compacting(p peers.Peer, c peers.Compaction) peers.Peer {
	switch p := p.(type) {
	case peers.FlinkFileSink:
		p.Compaction = c
		return p
	case peers.FlinkFileSinkBulk:
		p.Compaction = c
		return p
	}
	return p
}

// judge looks at a sink that starts.
func (l *linter) judge() error {
	if sql, ok := l.sink.Peer.(peers.FlinkSQL); ok {
		l.bulkTable(sql)
		l.uncompacted(sql)
	}
	if _, err := plan.LimitsOf(l.sink.Policy); errors.Is(err, plan.ErrUnknownPolicy) && l.sink.Policy != nil && l.sink.Peer != nil {
		// Closed at every checkpoint, and by some rule of its own that shows nothing sooner.
		l.peer()
		return l.policy(sinkcore.OnCheckpoint{}, l.sink.Check, plan.SlowCheckpoint)
	}
	if l.sink.Policy != nil {
		if err := l.shortBuckets(); err != nil {
			return err
		}
		return l.policy(l.sink.Policy, l.sink.Check)
	}
	if l.sink.Peer != nil {
		l.peer()
	}
	return nil
}

// policy looks at a rolling policy. If only is given, other rules are passed over.
func (l *linter) policy(policy sinkcore.RollingPolicy, check time.Duration, only ...plan.Rule) error {
	s := l.given
	s.Policy, s.CheckInterval = policy, check
	found, err := plan.Lint(s)
	if err != nil {
		return err
	}
	for _, f := range found {
		if only != nil && !slices.Contains(only, f.Rule) {
			continue
		}
		better := l.change(s, f)
		// Of what happens with these arrivals and what may happen with any, the first says more.
		const these = " with these arrivals"
		if slices.ContainsFunc(f.Costs, func(c plan.Cost) bool { return strings.Contains(c.Name, these) }) {
			f.Costs = slices.DeleteFunc(f.Costs, func(c plan.Cost) bool { return !strings.Contains(c.Name, these) })
		}
		what := shortDurations(f.What)
		if _, merges := l.sink.Option("enableCompact"); merges && slices.ContainsFunc(f.Costs, func(c plan.Cost) bool { return strings.HasPrefix(c.Name, "worst latency") }) {
			what += " (latencies are without the compaction, which adds to them)"
		}
		l.add(Finding{Line: l.lineOf(f.Option), Rule: f.Rule, What: what, Costs: f.Costs, Better: better, Source: f.Source})
	}
	return nil
}

var (
	zeroSeconds = regexp.MustCompile(`\b(\d+h)?(\d+)m0s\b`)
	zeroMinutes = regexp.MustCompile(`\b(\d+)h0m\b`)
)

// shortDurations makes 1m of Go's 1m0s, and 2h of 2h0m0s.
func shortDurations(text string) string {
	return zeroMinutes.ReplaceAllString(zeroSeconds.ReplaceAllString(text, "${1}${2}m"), "${1}h")
}

// optionOf is what a form calls an option of package plan.
var optionOf = map[Form]map[plan.Option][]string{
	FlinkJava: {
		plan.OptionRollover: {"withRolloverInterval", "withBucketCheckInterval"}, plan.OptionInactivity: {"withInactivityInterval"},
		plan.OptionSize: {"withMaxPartSize"}, plan.OptionCheckInterval: {"withBucketCheckInterval", "withRolloverInterval"},
		plan.OptionPolicy: {"withRolloverInterval"},
	},
	FlinkSQL: {
		plan.OptionRollover:   {"sink.rolling-policy.rollover-interval", "sink.rolling-policy.check-interval"},
		plan.OptionInactivity: {"sink.rolling-policy.inactivity-interval"}, plan.OptionSize: {"sink.rolling-policy.file-size"},
		plan.OptionCheckInterval: {"sink.rolling-policy.check-interval", "sink.rolling-policy.rollover-interval"},
		plan.OptionPolicy:        {"sink.rolling-policy.rollover-interval", "format"},
	},
}

// lineOf is the line of an option, or that at which the sink begins if it is not in the text.
func (l *linter) lineOf(o plan.Option) int {
	if o == plan.OptionCheckpointInterval && l.CheckpointLine > 0 {
		return l.CheckpointLine
	}
	return l.sink.lineOf(optionOf[l.Form][o]...)
}

// change says what a finding would have changed, in the words of the form.
func (l *linter) change(now plan.Settings, f plan.Finding) (lines []string) {
	java := l.Form == FlinkJava
	say := func(javaName, javaValue, sqlName, sqlValue string) {
		if java {
			lines = append(lines, "."+javaName+"("+javaValue+")")
		} else {
			lines = append(lines, "'"+sqlName+"' = '"+sqlValue+"'")
		}
	}
	if f.Rule == plan.SizeNever {
		if _, deadline := f.Better.Policy.(sinkcore.Deadline); !deadline {
			name := "'sink.rolling-policy.file-size'"
			if java {
				name = ".withMaxPartSize(…)"
			}
			return []string{"leave " + name + " out: Flink's own 128 MiB is not reached either"}
		}
	}
	better := f.Better
	if better.CheckpointInterval != now.CheckpointInterval && better.CheckpointInterval > 0 && f.Option == plan.OptionCheckpointInterval {
		if java {
			return []string{"env.enableCheckpointing(" + javaCheck(better.CheckpointInterval) + "); // " + Short(better.CheckpointInterval)}
		}
		return []string{"SET 'execution.checkpointing.interval' = '" + sqlDuration(better.CheckpointInterval) + "';"}
	}
	was, isDefault := now.Policy.(sinkcore.Default)
	then, becomesDefault := better.Policy.(sinkcore.Default)
	switch p := better.Policy.(type) {
	case sinkcore.OnCheckpoint:
		if java {
			return []string{".withRollingPolicy(OnCheckpointRollingPolicy.build())"}
		}
		if sql, ok := l.sink.Peer.(peers.FlinkSQL); ok && slices.Contains(sqlBulkFormats, sql.Format) {
			// Each checkpoint closes the file anyway; the limits are only to come later.
			long := sqlDuration(2 * max(now.CheckpointInterval, now.CheckpointDuration, 2*time.Second))
			return []string{"'sink.rolling-policy.rollover-interval' = '" + long + "'", "'sink.rolling-policy.inactivity-interval' = '" + long + "'"}
		}
		return []string{f.Change, "(in SQL: 'format' = 'parquet', 'orc', 'avro' or 'csv', which are closed at every checkpoint)"}
	case sinkcore.Deadline:
		return []string{fmt.Sprintf(".withRollingPolicy(new DeadlineRollingPolicy<>(%s, %s, %s, %dL))", javaDuration(p.Within), javaDuration(p.Checkpoint), javaDuration(p.Duration), p.Target)}
	}
	if !isDefault || !becomesDefault {
		return []string{f.Change}
	}
	was, then = was.Filled(), then.Filled()
	if then.Rollover != was.Rollover {
		say("withRolloverInterval", javaDuration(then.Rollover), "sink.rolling-policy.rollover-interval", sqlDuration(then.Rollover))
	}
	if then.Inactivity != was.Inactivity {
		say("withInactivityInterval", javaDuration(then.Inactivity), "sink.rolling-policy.inactivity-interval", sqlDuration(then.Inactivity))
	}
	if then.Size != was.Size {
		say("withMaxPartSize", javaSize(then.Size), "sink.rolling-policy.file-size", sqlSize(then.Size))
	}
	if better.CheckInterval != now.CheckInterval {
		say("withBucketCheckInterval", javaCheck(better.CheckInterval), "sink.rolling-policy.check-interval", sqlDuration(better.CheckInterval))
	}
	if len(lines) == 0 {
		lines = []string{f.Change}
	}
	return lines
}

// bulkTable says of a table whose files are closed at every checkpoint that the time limits
// do not make them visible any sooner. What else may be wrong with these limits is not so for
// such a table: a file that is too young for a check is closed by the next checkpoint.
func (l *linter) bulkTable(sql peers.FlinkSQL) {
	row := sql
	row.Format, row.AutoCompaction, row.CommitPolicy = "json", false, ""
	limits, _, _ := row.Policy()
	asRow, bulk := sql, false
	asRow.CommitPolicy = ""
	if policy, _, ok := asRow.Policy(); !ok || policy.String() != limits.String() {
		bulk = true
	}
	if !bulk {
		return
	}
	why, then := fmt.Sprintf("%s is a bulk format: every checkpoint closes every file", sql.Format), "the checkpoint interval does"
	better := "or 'format' = 'json' or 'raw', for which %s"
	source := "Flink FileSystemTableSink.TableRollingPolicy"
	if sql.Format == "csv" {
		source += ", CsvFileFormatFactory (a BulkWriterFormatFactory)"
	}
	if sql.AutoCompaction {
		why, then = "with auto-compaction every checkpoint closes every file, and files are visible when they have been merged after it", "the checkpoint interval and the merging do"
		better = "or 'auto-compaction' = 'false', without which %s"
		asRow.AutoCompaction = false
		if policy, _, ok := asRow.Policy(); !ok || policy.String() != limits.String() {
			better = "or 'auto-compaction' = 'false' and 'format' = 'json' or 'raw', for which %s"
		}
		source = "Flink FileSystemTableSink.TableRollingPolicy (auto-compaction rolls at checkpoints), documentation of the filesystem connector (file compaction)"
	}
	const byDefault = 30 * time.Minute
	options := []string{"sink.rolling-policy.rollover-interval", "sink.rolling-policy.inactivity-interval", "sink.rolling-policy.check-interval"}
	given := options[:0:0]
	for i, value := range []time.Duration{sql.RolloverInterval, sql.InactivityInterval, sql.CheckInterval} {
		if _, ok := l.sink.Option(options[i]); ok && value < byDefault {
			given = append(given, strings.TrimPrefix(options[i], "sink.rolling-policy."))
		}
	}
	decide, better := "decides nothing", "leave it out; "+fmt.Sprintf(better, "it counts")
	switch len(given) {
	case 0:
		return
	case 1:
	default:
		decide, better = "decide nothing", strings.NewReplacer("leave it", "leave them", "it counts", "they count").Replace(better)
	}
	l.add(Finding{
		Line: l.sink.lineOf(options...), Rule: NoEffect,
		What:   fmt.Sprintf("%s, so %s %s about when records are visible; %s", why, enumerate(given), decide, then),
		Better: []string{better}, Source: source,
	})
}

// enumerate is words with commas between them, and "and" before the last.
func enumerate(words []string) string {
	if n := len(words); n > 2 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, " and ")
}

// uncompacted says that a table has options of a compaction that is off.
func (l *linter) uncompacted(sql peers.FlinkSQL) {
	for _, name := range []string{"compaction.file-size", "compaction.parallelism"} {
		if o, ok := l.sink.Option(name); ok && !sql.AutoCompaction {
			l.add(Finding{
				Line: o.Line, Rule: NoEffect, What: name + " is for files that are merged, which auto-compaction has to turn on",
				Better: []string{"leave it out; or 'auto-compaction' = 'true', with which every checkpoint closes every file"},
				Source: "Flink FileSystemTableSink, FileSystemConnectorOptions.AUTO_COMPACTION",
			})
		}
	}
}

// shortBuckets says that the time in the names of buckets makes more files than the policy: a
// bucket is written to for one period, and no file is of two.
func (l *linter) shortBuckets() error {
	o, ok := l.sink.Option("withBucketAssigner")
	period := datePeriod(o.Value)
	if !ok || period == 0 || period >= time.Hour {
		return nil
	}
	s := l.given
	s.Policy, s.CheckInterval = l.sink.Policy, l.sink.Check
	g, err := plan.Guarantees(s)
	if err != nil {
		return err
	}
	lanes := float64(max(s.Buckets, 1)) * float64(max(s.Subtasks, 1))
	records := rate(s.Arrivals) * time.Hour.Seconds()
	now := min(records, lanes*float64(time.Hour/period))
	then := g.FilesPerHour + lanes // each hour ends the files that are open
	if now <= then {
		return nil
	}
	l.add(Finding{
		Line: o.Line, Rule: ShortBuckets,
		What:   fmt.Sprintf("DateTimeBucketAssigner(%q) begins a new bucket every %s, and each of them is at least a file of its own in every subtask, whatever the rolling policy says", o.Value, Short(period)),
		Costs:  []plan.Cost{{Name: "files/hour", Now: now, Later: then}},
		Better: []string{`.withBucketAssigner(new DateTimeBucketAssigner<>("yyyy-MM-dd--HH"))`},
		Source: "Flink DateTimeBucketAssigner (yyyy-MM-dd--HH by default), FileWriter (one open part a bucket)",
	})
	return nil
}

// datePeriod is how long a time, formatted by a pattern of Java's DateTimeFormatter, stays the
// same: of its finest letter, 0 if it has none that is known. Text in quotes is passed over.
func datePeriod(pattern string) time.Duration {
	period, quoted := time.Duration(0), false
	for i := range len(pattern) {
		var p time.Duration
		switch c := pattern[i]; c {
		case '\'':
			quoted = !quoted
			continue
		case 'S', 'A', 'n', 'N':
			p = time.Millisecond
		case 's':
			p = time.Second
		case 'm':
			p = time.Minute
		case 'H', 'k', 'h', 'K':
			p = time.Hour
		case 'd', 'D':
			p = 24 * time.Hour
		}
		if !quoted && p > 0 && (period == 0 || p < period) {
			period = p
		}
	}
	return period
}

// peer looks at a sink that is no rolling policy, by what package peers knows of it.
func (l *linter) peer() {
	w := Workload(l.given)
	bound := l.sink.Peer.WorstLatency(w)
	connect, isConnect := rotation(l.sink.Peer)
	switch {
	case bound.Unbounded && isConnect:
		l.unboundedConnector(bound, w)
	case bound.Unbounded:
		l.add(Finding{Line: l.sink.lineOf("properties.transaction.timeout.ms"), Rule: plan.IdleUnbounded, What: bound.Reason,
			Costs: []plan.Cost{{Name: "worst latency, s", Unbounded: true}}})
	}
	if isConnect {
		l.rotatesByPartitionOnly(connect)
		l.lateCheck(connect, w)
		l.daylightSaving(connect)
	}
	l.manyFiles(w)
}

// rotation gives the options that the connectors of Confluent share.
func rotation(p peers.Peer) (peers.RotationOptions, bool) {
	switch p := p.(type) {
	case peers.KafkaConnectS3:
		return p.RotationOptions, true
	case peers.KafkaConnectHDFS:
		return p.RotationOptions, true
	}
	return peers.RotationOptions{}, false
}

// unboundedConnector says that nothing shows the last records of a stream that stops.
func (l *linter) unboundedConnector(b peers.Bound, w peers.Workload) {
	what := b.Reason
	line := l.sink.lineOf("rotate.interval.ms", "flush.size")
	if _, ok := l.sink.Option("rotate.interval.ms"); ok {
		what += "; rotate.interval.ms looks at the time of the newest record, and does not fire on an idle stream"
	}
	const every = time.Minute
	later := every
	switch p := l.sink.Peer.(type) {
	case peers.KafkaConnectS3:
		p.RotateScheduleInterval, p.Timezone = every, cmp.Or(p.Timezone, "UTC")
		later = p.WorstLatency(w).Worst
	case peers.KafkaConnectHDFS:
		p.RotateScheduleInterval, p.Timezone = every, cmp.Or(p.Timezone, "UTC")
		later = p.WorstLatency(w).Worst
	}
	better := []string{fmt.Sprintf("rotate.schedule.interval.ms=%d", every.Milliseconds())}
	if o, ok := l.sink.Option("timezone"); !ok || o.Value == "" {
		better = append(better, "timezone=UTC")
	}
	l.add(Finding{
		Line: line, Rule: plan.IdleUnbounded, What: what, Better: better,
		Costs:  []plan.Cost{{Name: "worst latency, s", Unbounded: true, Later: later.Seconds()}},
		Source: "confluentinc/kafka-connect-storage-cloud#144",
	})
}

// rotatesByPartitionOnly says that the S3 connector does not look at rotate.interval.ms.
func (l *linter) rotatesByPartitionOnly(c peers.RotationOptions) {
	o, ok := l.sink.Option("rotate.interval.ms")
	_, isS3 := l.sink.Peer.(peers.KafkaConnectS3)
	byTime := slices.Contains([]string{"TimeBasedPartitioner", "HourlyPartitioner", "DailyPartitioner"}, c.Class)
	if !ok || !isS3 || byTime || c.RotateInterval <= 0 {
		return
	}
	l.add(Finding{
		Line: o.Line, Rule: NoEffect,
		What:   "the S3 connector looks at rotate.interval.ms with a partitioner by time only, and this is " + cmp.Or(c.Class, "DefaultPartitioner"),
		Better: []string{fmt.Sprintf("rotate.schedule.interval.ms=%d", c.RotateInterval.Milliseconds()), "timezone=UTC"},
		Source: "kafka-connect-s3 TopicPartitionWriter.rotateOnTime",
	})
}

// lateCheck says that the clock is looked at less often than it is to rotate.
func (l *linter) lateCheck(c peers.RotationOptions, w peers.Workload) {
	interval, name := c.RotateScheduleInterval, "rotate.schedule.interval.ms"
	if _, hdfs := l.sink.Peer.(peers.KafkaConnectHDFS); hdfs && c.RotateInterval > 0 && (interval <= 0 || c.RotateInterval < interval) {
		interval, name = c.RotateInterval, "rotate.interval.ms"
	}
	flush := cmp.Or(c.OffsetFlushInterval, time.Minute)
	now := l.sink.Peer.WorstLatency(w)
	if interval <= 0 || now.Unbounded || flush <= interval || c.FlushSize == 1 {
		return
	}
	then := now.Worst - flush + interval
	l.add(Finding{
		Line: l.sink.lineOf("offset.flush.interval.ms", name), Rule: LateCheck,
		What: fmt.Sprintf("%s is %s, but on an idle stream the clock is looked at each offset.flush.interval.ms of the worker only, %s",
			name, Short(interval), Short(flush)),
		Costs:  []plan.Cost{{Name: "worst latency, s", Now: now.Worst.Seconds(), Later: then.Seconds()}},
		Better: []string{fmt.Sprintf("offset.flush.interval.ms=%d (of the worker)", interval.Milliseconds())},
		Source: "Kafka WorkerSinkTask.iteration; confluentinc/kafka-connect-storage-cloud#195",
	})
}

// daylightSaving plays the days on which the clocks of the time zone change, a record a
// second: the hours around the change, and the last hour of the day, which is compared with one
// in UTC.
func (l *linter) daylightSaving(c peers.RotationOptions) {
	zone, err := time.LoadLocation(c.Timezone)
	if c.RotateScheduleInterval <= 0 || c.Timezone == "" || err != nil {
		return
	}
	utc := withZone(l.sink.Peer, "UTC")
	f := Finding{Line: l.sink.lineOf("timezone", "rotate.schedule.interval.ms"), Rule: DaylightSaving, Better: []string{"timezone=UTC"},
		Source: "kafka-connect-storage-common DateTimeUtils.getNextTimeAdjustedByDay"}
	// From a fixed day on, so that the finding does not depend on when one looks.
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 2 {
		if _, at = at.In(zone).ZoneBounds(); at.IsZero() || at.Year() > 2027 {
			return
		}
		hours := func(start time.Time, n time.Duration) peers.Workload {
			return peers.Workload{Arrivals: sim.Constant{Interval: time.Second}, Start: start.UnixMilli(), Duration: n * time.Hour}
		}
		if _, err := l.sink.Peer.Simulate(hours(at.Add(-3*time.Hour), 6)); errors.Is(err, peers.ErrTaskFails) {
			f.What = fmt.Sprintf("%s has no midnight on %s, since the clocks go forward then, and the task fails", c.Timezone, at.In(zone).Format(time.DateOnly))
			f.Severity = RecordsMissing
			l.add(f)
			return
		}
		year, month, day := at.Add(-time.Second).In(zone).Date()
		last := hours(time.Date(year, month, day+1, 0, 0, 0, 0, zone).Add(-time.Hour), 1)
		local, err := l.sink.Peer.Simulate(last)
		if errors.Is(err, peers.ErrTaskFails) {
			f.What = fmt.Sprintf("the clocks of %s go back on %04d-%02d-%02d, and in the last hour of that day the task gets on no more", c.Timezone, year, month, day)
			f.Severity = RecordsMissing
			l.add(f)
			return
		}
		normal, err2 := utc.Simulate(last)
		if err != nil || err2 != nil || local.Files <= 2*normal.Files {
			continue
		}
		f.What = fmt.Sprintf("the clocks of %s go back on %04d-%02d-%02d, and in the last hour of that day every record is committed at once", c.Timezone, year, month, day)
		f.Costs = []plan.Cost{{Name: "files of that hour, of a topic partition with a record a second", Now: float64(local.Files), Later: float64(normal.Files)}}
		l.add(f)
		return
	}
}

// withZone is the connector in another time zone.
func withZone(p peers.Peer, zone string) peers.Peer {
	switch c := p.(type) {
	case peers.KafkaConnectS3:
		c.Timezone = zone
		return c
	case peers.KafkaConnectHDFS:
		c.Timezone = zone
		return c
	}
	return p
}

// manyFiles plays the connector for as long as a hundred thousand records take.
func (l *linter) manyFiles(w peers.Workload) {
	const records = 100_000
	w.Duration = min(time.Hour, time.Duration(records/rate(l.given.Arrivals)*float64(time.Second))).Truncate(time.Millisecond)
	w.Outages = nil
	o, err := l.sink.Peer.Simulate(w)
	if err != nil || w.Duration < time.Second {
		return
	}
	if files := o.FilesPerHour(); files > plan.ManyFilesPerHour {
		line, better := l.sink.lineOf("flush.size", "rotate.schedule.interval.ms"), "a larger flush.size, or a longer interval"
		if l.Form == FlinkSQL {
			line, better = cmp.Or(l.CheckpointLine, l.sink.Line), "checkpoints less often, or fewer subtasks and partitions"
		}
		l.add(Finding{
			Line: line, Rule: plan.ManyFiles,
			What:   fmt.Sprintf("%.0f files a day of %.0f bytes: as many PUT requests, or %.0f MB in the memory of a name node", files*24, o.BytesPerFile(), files*24*2*150/1e6),
			Better: []string{better},
			Source: "HADOOP-1687 (a file and a block take some 150 bytes each in a name node); Amazon S3 pricing by request",
		})
	}
}
