package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"sinklab/bench/config"
	"sinklab/bench/flink"
	"sinklab/sinkcore"
	"sinklab/sinkcore/peers"
	"sinklab/sinkcore/plan"
)

// planCommand is the subcommand plan.
type planCommand struct {
	planFlags
	File  string `placeholder:"FILE" help:"Read what is not on the command line from a TOML file, whose keys are the names of the flags; - is standard input."`
	Paste paste  `placeholder:"FORM" help:"Print only what is to be pasted: flink-java, flink-sql, kafka-connect, or deadline-java for the Java source of the policy Deadline."`
	JSON  bool   `name:"json" help:"Print one JSON object."`
}

// planFlags are the flags that may stand in a file.
type planFlags struct {
	Worst        config.Duration   `toml:"worst" least:"1ms or longer" placeholder:"TIME" help:"Every record is visible within this time."`
	P99          config.Duration   `name:"p99" toml:"p99" least:"1ms or longer" placeholder:"TIME" help:"99 of 100 records are."`
	FilesPerHour float64           `toml:"files-per-hour" least:"more than 0" placeholder:"N" help:"No more files an hour, of all subtasks and buckets (a million a day)."`
	FileSize     config.Size       `toml:"file-size" least:"1B or more" placeholder:"SIZE" help:"No smaller files, in the mean."`
	Checkpoint   []config.Duration `toml:"checkpoint" placeholder:"TIME" help:"From the start of a checkpoint to that of the next; of several, as 2s,10s,1m, the best is chosen (2s)."`
	Grain        config.Duration   `toml:"grain" least:"1ms or longer" placeholder:"TIME" help:"Intervals are multiples of this. By default 1s, 100ms or 1ms, whichever is longest and costs less than 5 % of the files."`
	given
}

// paste is a form, or deadline-java.
type paste string

const deadlineJava = "deadline-java"

// UnmarshalText refuses what is none and names the nearest.
func (p *paste) UnmarshalText(text []byte) error {
	if string(text) == deadlineJava {
		*p = deadlineJava
		return nil
	}
	var form config.Form
	if err := form.UnmarshalText(text); err != nil {
		if peers.Nearest(string(text), []string{deadlineJava}) != "" && strings.HasPrefix(string(text), "dead") {
			return fmt.Errorf("%q is no form: did you mean %s?", text, deadlineJava)
		}
		return err
	}
	*p = paste(form)
	return nil
}

// Help is the longer text of plan --help.
func (planCommand) Help() string {
	return `Say how soon records have to be visible, how many files an hour there may be or how
large they have to be, and what arrives. The answer is the settings that keep all of it with
the fewest files, what else could be chosen, and text to paste into a Flink job, a Flink SQL
script or a connector of Kafka Connect.

  sinklab plan --worst 60s
  sinklab plan --p99 30s --files-per-hour 500 --rate 2000 --subtasks 4 --checkpoint 10s
  sinklab plan --file-size 64MB --rate 5000 --record-size 1KB
  sinklab plan --worst 60s --paste flink-sql | sinklab lint -

Figures are what the settings keep at whatever instants records arrive and checkpoints start,
as long as checkpoints keep their interval: the worst case, and sinklab simulate may show less.
Of bursts they are what is kept whenever the bursts come, with no less silence between them.
If no settings are found that keep the goal, those that keep the one half of it and those that keep
the other are printed, and the proof that there are none, if that is proven.

Times are written as 500ms, 90s, "1 min", 2h; sizes as 100B, 64KB, 128MB, a KB being 1024
bytes. A TOML file has the names of the flags as keys:

  worst = "60s"
  rate = 200
  checkpoint = ["2s", "10s"]

Exit status: 0, 1 if no settings were found that keep the goal, 2 for bad input.`
}

// Run answers.
func (c planCommand) Run(std streams) error {
	flags, err := c.withFile(std.in)
	if err != nil {
		return err
	}
	a, err := flags.answer()
	var impossible *plan.ImpossibleError
	switch {
	case errors.As(err, &impossible):
		if c.Paste != "" {
			fmt.Fprintf(std.err, "sinklab: nothing to paste: %v\n", impossible)
			return errFound
		}
		if c.JSON {
			err = printJSON(std.out, flags.impossibleJSON(a, impossible))
		} else {
			err = flags.printImpossible(std.out, a, impossible)
		}
		return errors.Join(err, errFound)
	case err != nil:
		return err
	}
	if c.Paste == "" || c.Paste == deadlineJava {
		a.compare()
	}
	switch {
	case c.Paste == deadlineJava:
		return a.printDeadline(std.out)
	case c.Paste != "":
		text, err := a.text(config.Form(c.Paste))
		if err == nil {
			_, err = io.WriteString(std.out, text)
		}
		return err
	case c.JSON:
		return a.printJSON(std.out)
	}
	return a.print(std.out)
}

// withFile fills in from the file what the command line does not say.
func (c planCommand) withFile(stdin io.Reader) (planFlags, error) {
	if c.File == "" {
		return c.planFlags, nil
	}
	name, text, err := readText(c.File, stdin)
	if err != nil {
		return c.planFlags, err
	}
	var fromFile planFlags
	if err := config.ReadTOML(text, &fromFile); err != nil {
		return c.planFlags, placed(name, err)
	}
	if c.Rate != 0 || c.Arrivals != "" {
		fromFile.Rate, fromFile.Arrivals = 0, "" // the two say the same
	}
	over(reflect.ValueOf(&fromFile).Elem(), reflect.ValueOf(c.planFlags))
	return fromFile, nil
}

// over sets the fields of a struct that another one has set.
func over(to, from reflect.Value) {
	for i := range to.NumField() {
		switch field := from.Field(i); {
		case to.Type().Field(i).Anonymous:
			over(to.Field(i), field)
		case !field.IsZero():
			to.Field(i).Set(field)
		}
	}
}

// readText reads a file, or standard input for "-", and says what to call it.
func readText(file string, stdin io.Reader) (name, text string, err error) {
	var content []byte
	if file == "-" {
		content, err = io.ReadAll(stdin)
		return "standard input", string(content), err
	}
	content, err = os.ReadFile(file)
	return file, string(content), err
}

// placed puts the name of a file before the line of an error.
func placed(name string, err error) error {
	var read *config.ReadError
	if errors.As(err, &read) {
		return fmt.Errorf("%s:%d: %s", name, read.Line, read.Problem)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// candidate is settings that can be chosen.
type candidate struct {
	name string
	plan.Solution
	open int64 // part files open at one instant, at most
}

// answer is what plan says.
type answer struct {
	flags planFlags
	goal  plan.Goal // of the checkpoint interval that was chosen

	best         candidate  // of what Flink has
	deadline     *candidate // makes fewer files than that
	alternatives []candidate
	connect      config.ConnectPlan
}

// goal is the goal for a checkpoint interval. Nobody sets when checkpoints start beside when
// checks do, so they start as late before a check as they can.
func (f planFlags) goalFor(checkpoint time.Duration) (plan.Goal, error) {
	s, err := f.settings()
	if err != nil {
		return plan.Goal{}, err
	}
	s.CheckpointInterval = checkpoint
	if every := max(checkpoint, s.CheckpointDuration); every > time.Millisecond {
		s.FirstCheckpoint = every - time.Millisecond
	}
	return plan.Goal{Settings: s, Worst: time.Duration(f.Worst), P99: time.Duration(f.P99), FilesPerHour: f.FilesPerHour, FileBytes: float64(f.FileSize)}, nil
}

// answer looks for the settings. Of an *ImpossibleError the answer has the goal.
func (f planFlags) answer() (answer, error) {
	a := answer{flags: f}
	if f.Worst == 0 && f.P99 == 0 && f.FilesPerHour == 0 && f.FileSize == 0 {
		return a, fmt.Errorf("there is no goal: give --worst or --p99, and --files-per-hour or --file-size if files count; see sinklab plan --help")
	}
	if f.FilesPerHour < 0 || math.IsNaN(f.FilesPerHour) || f.FileSize < 0 {
		return a, fmt.Errorf("--files-per-hour %v, --file-size %v: must not be negative", f.FilesPerHour, f.FileSize)
	}
	checkpoints := f.Checkpoint
	if len(checkpoints) == 0 {
		checkpoints = []config.Duration{config.Duration(2 * time.Second)}
	}
	var best plan.Solution
	var impossible *plan.ImpossibleError
	for _, checkpoint := range checkpoints {
		if checkpoint <= 0 {
			return a, fmt.Errorf("--checkpoint %v: must be longer than 0", checkpoint)
		}
		goal, err := f.goalFor(time.Duration(checkpoint))
		if err != nil {
			return a, err
		}
		solution, err := f.solve(goal)
		var none *plan.ImpossibleError
		switch {
		case errors.As(err, &none):
			if impossible = nearer(impossible, none); impossible == none && best.Settings.CheckpointInterval == 0 {
				a.goal = goal
			}
		case err != nil:
			return a, err
		case best.Settings.CheckpointInterval == 0 || f.prefers(solution, best):
			best, a.goal = solution, goal
		}
	}
	if best.Settings.CheckpointInterval == 0 {
		return a, impossible
	}
	a.best = open("recommended", best)
	a.connect = f.connectPlan(best)
	return a, nil
}

// connectPlan is the nearest of Kafka Connect. Its connector ends a file at multiples of an
// interval, as a policy does that ends one at every checkpoint. So a burst is one file, or more if
// such instants are in it, however short the interval is: where latency is bounded, and bursts do not
// follow each other closely, files do not ask for a longer one.
func (f planFlags) connectPlan(best plan.Solution) config.ConnectPlan {
	c := config.Connect(best.Settings, best.Guarantee, f.filesAllowed(best))
	bursts, ok := best.Settings.Arrivals.(plan.Bursts)
	if !ok {
		return c
	}
	if soon := config.Connect(best.Settings, best.Guarantee, math.Inf(1)); (f.Worst > 0 || f.P99 > 0) && soon.FilesPerHour <= plan.ManyFilesPerHour {
		c = soon
	}
	s := best.Settings
	s.Policy, s.CheckpointInterval, s.CheckpointDuration = sinkcore.OnCheckpoint{}, c.Connector.RotateScheduleInterval, 0
	if g, err := plan.Guarantees(s); err == nil {
		c.FilesPerHour = min(c.FilesPerHour, g.FilesPerHour)
	}
	for c.Connector.FlushSize < int64(2*bursts.Filled().Size) && c.Connector.FlushSize < math.MaxInt64/10 {
		c.Connector.FlushSize *= 10 // or the burst would be several files
	}
	return c
}

// filesAllowed is how many files an hour the goal allows. Where it bounds no latency that is as
// few as Flink makes.
func (f planFlags) filesAllowed(best plan.Solution) float64 {
	files := cmp.Or(f.FilesPerHour, plan.ManyFilesPerHour)
	if f.FileSize > 0 {
		hour := best.Guarantee.FilesPerHour * best.Guarantee.BytesPerFile
		files = min(files, hour/float64(f.FileSize))
	}
	if f.Worst == 0 && f.P99 == 0 {
		files = min(files, best.Guarantee.FilesPerHour)
	}
	return files
}

// text is what is to be pasted.
func (a answer) text(form config.Form) (string, error) {
	if form == config.KafkaConnect {
		return config.WriteConnect(a.connect), nil
	}
	return config.Write(form, a.best.Settings)
}

// nearer joins what two proofs have: the nearest settings of both.
func nearer(a, b *plan.ImpossibleError) *plan.ImpossibleError {
	if a == nil {
		return b
	}
	joined := *a
	joined.Proven = a.Proven && b.Proven
	joined.Needed, joined.Allowed = min(a.Needed, b.Needed), max(a.Allowed, b.Allowed)
	if b.ByLatency != nil && (a.ByLatency == nil || b.ByLatency.Guarantee.FilesPerHour < a.ByLatency.Guarantee.FilesPerHour) {
		joined.ByLatency = b.ByLatency
	}
	if b.ByFiles != nil && (a.ByFiles == nil || b.ByFiles.Guarantee.Worst < a.ByFiles.Guarantee.Worst) {
		joined.ByFiles = b.ByFiles
	}
	return &joined
}

// prefers tells whether settings with another checkpoint interval are better.
func (f planFlags) prefers(a, b plan.Solution) bool {
	files, latency := cmp.Compare(a.Guarantee.FilesPerHour, b.Guarantee.FilesPerHour), cmp.Compare(a.Guarantee.Worst, b.Guarantee.Worst)
	if f.Worst == 0 && f.P99 == 0 {
		return cmp.Or(latency, files) < 0
	}
	return cmp.Or(files, latency) < 0
}

// solve asks with the grain that was given, or with the longest that costs little.
func (f planFlags) solve(goal plan.Goal) (plan.Solution, error) {
	if f.Grain != 0 {
		goal.Grain = time.Duration(f.Grain)
		return plan.Solve(goal)
	}
	const costs = 1.05
	finest, err := plan.Solve(goal)
	var none, readable *plan.ImpossibleError
	if errors.As(err, &none) {
		// The proof is that of the finest grain. The nearest settings need not be.
		goal.Grain = time.Second
		if _, err := plan.Solve(goal); errors.As(err, &readable) {
			joined := *none
			if a, b := none.ByLatency, readable.ByLatency; a != nil && b != nil && b.Guarantee.FilesPerHour <= costs*a.Guarantee.FilesPerHour {
				joined.ByLatency = b
			}
			if a, b := none.ByFiles, readable.ByFiles; a != nil && b != nil && float64(b.Guarantee.Worst) <= costs*float64(a.Guarantee.Worst) {
				joined.ByFiles = b
			}
			return finest, &joined
		}
	}
	if err != nil {
		return finest, err
	}
	for _, grain := range []time.Duration{time.Second, 100 * time.Millisecond} {
		goal.Grain = grain
		s, err := plan.Solve(goal)
		if err == nil && s.Guarantee.FilesPerHour <= costs*finest.Guarantee.FilesPerHour && s.Guarantee.Worst <= time.Duration(costs*float64(max(finest.Guarantee.Worst, time.Duration(f.Worst)))) {
			return s, nil
		}
	}
	return finest, nil
}

// open counts the open files of settings. To go through very many lanes takes long; there
// each may have a file open.
func open(name string, s plan.Solution) candidate {
	c := candidate{name: name, Solution: s, open: int64(max(s.Settings.Buckets, 1)) * int64(max(s.Settings.Subtasks, 1))}
	const many = 2000
	if c.open > many {
		return c
	}
	if p, err := plan.Predict(s.Settings); err == nil && p.OpenParts.High > 0 {
		c.open = p.OpenParts.High
	}
	return c
}

// compare finds what else could be chosen.
func (a *answer) compare() {
	add := func(name string, s plan.Solution, err error) {
		if err != nil {
			return
		}
		for _, c := range append(a.alternatives, a.best) {
			if c.Settings.Policy == s.Settings.Policy && c.Settings.CheckInterval == s.Settings.CheckInterval {
				return
			}
		}
		a.alternatives = append(a.alternatives, open(name, s))
	}
	// What Deadline promises is no worse than what the goal asks for. Without a bound on the
	// latency it is that of the settings recommended, so that files can be compared.
	goal := a.goal
	goal.Deadline = true
	if goal.Worst == 0 && goal.P99 == 0 {
		goal.Worst = a.best.Guarantee.Worst
	}
	better := func(s plan.Solution) {
		if _, isDeadline := s.Settings.Policy.(sinkcore.Deadline); !isDeadline || a.flags.verdict(s.Guarantee) != "kept" {
			return
		}
		if s.Guarantee.FilesPerHour < a.best.Guarantee.FilesPerHour && (a.deadline == nil || s.Guarantee.FilesPerHour < a.deadline.Guarantee.FilesPerHour) {
			c := open("Deadline", s)
			a.deadline = &c
		}
	}
	if s, err := plan.Solve(goal); err == nil {
		better(s)
	}
	// Where only a percentile is bounded, the worst latency of the settings recommended will do.
	same := a.goal.Settings
	same.CheckInterval = sinkcore.DefaultCheckInterval
	same.Policy = sinkcore.Deadline{Within: a.best.Guarantee.Worst, Checkpoint: same.CheckpointInterval, Duration: same.CheckpointDuration}
	if g, err := plan.Guarantees(same); err == nil {
		better(plan.Solution{Settings: same, Guarantee: g})
	}
	within := func(worst time.Duration) (plan.Solution, error) {
		g := plan.Goal{Settings: a.goal.Settings, Worst: worst, FilesPerHour: math.Inf(1)}
		return a.flags.solve(g)
	}
	sooner, err := within(a.best.Guarantee.Worst / 2 / time.Millisecond * time.Millisecond)
	add("half the latency", sooner, err)
	fewer, err := within(2 * a.best.Guarantee.Worst)
	add("twice the latency", fewer, err)
	for _, other := range []struct {
		name   string
		policy sinkcore.RollingPolicy
	}{
		{"every checkpoint", sinkcore.OnCheckpoint{}},
		{"Flink's default", sinkcore.Default{}},
		{"rollover 59s", sinkcore.Default{Rollover: 59 * time.Second}},
	} {
		s := a.goal.Settings
		s.Policy, s.CheckInterval = other.policy, sinkcore.DefaultCheckInterval
		g, err := plan.Guarantees(s)
		add(other.name, plan.Solution{Settings: s, Guarantee: g}, err)
	}
}

// verdict says which half of the goal settings do not keep.
func (f planFlags) verdict(g plan.Guarantee) string {
	const bit = 1e-12
	var broken []string
	if f.Worst > 0 && (g.Unbounded || g.Worst > time.Duration(f.Worst)) || f.P99 > 0 && (g.Unbounded || g.P99 > time.Duration(f.P99)) {
		broken = append(broken, "too late")
	}
	if g.FilesPerHour > cmp.Or(f.FilesPerHour, plan.ManyFilesPerHour)*(1+bit) {
		broken = append(broken, "too many")
	}
	if g.BytesPerFile < float64(f.FileSize)*(1-bit) {
		broken = append(broken, "too small")
	}
	if broken == nil {
		return "kept"
	}
	return strings.Join(broken, ", ")
}

// spellPolicy says a policy and its check interval in few words.
func spellPolicy(s plan.Settings) string {
	check := config.Short(cmp.Or(s.CheckInterval, sinkcore.DefaultCheckInterval))
	switch p := s.Policy.(type) {
	case sinkcore.Default:
		p = p.Filled()
		text := "rollover " + config.Short(p.Rollover) + ", inactivity " + config.Short(p.Inactivity) + ", check " + check
		if p.Size != sinkcore.DefaultSize {
			text += ", size " + config.Size(p.Size).String()
		}
		return text
	case sinkcore.OnCheckpoint:
		return "a file at every checkpoint"
	case sinkcore.Deadline:
		text := "Deadline within " + config.Short(p.Within) + ", checkpoint " + config.Short(p.Checkpoint)
		if p.Duration > 0 {
			text += ", duration " + config.Short(p.Duration)
		}
		if p.Target > 0 {
			text += ", target " + config.Size(p.Target).String()
		}
		return text
	}
	return fmt.Sprint(s.Policy)
}

// goalText is the goal in words.
func (f planFlags) goalText() string {
	var parts []string
	if f.Worst > 0 {
		parts = append(parts, "every record visible within "+span(time.Duration(f.Worst)))
	}
	if f.P99 > 0 {
		parts = append(parts, "99 of 100 records visible within "+span(time.Duration(f.P99)))
	}
	if f.FilesPerHour > 0 {
		parts = append(parts, "at most "+figure(f.FilesPerHour)+" files/hour")
	}
	if f.FileSize > 0 {
		parts = append(parts, "files of at least "+bytesOf(float64(f.FileSize)))
	}
	return strings.Join(parts, ", ")
}

// header says what was asked.
func header(w io.Writer, f planFlags, s plan.Settings) {
	fmt.Fprintf(w, "Goal   %s\n", f.goalText())
	fmt.Fprintf(w, "Given  %s; %s\n", describe(s), checkpoints(s))
}

// row is a line of the table.
func (f planFlags) row(c candidate) []string {
	worst, p99 := span(c.Guarantee.Worst), span(c.Guarantee.P99)
	if c.Guarantee.Unbounded {
		worst, p99 = "no bound", "no bound"
	}
	return []string{c.name, spellPolicy(c.Settings), worst, p99, figure(c.Guarantee.FilesPerHour), bytesOf(c.Guarantee.BytesPerFile), figure(float64(c.open)), f.verdict(c.Guarantee)}
}

// planColumns are the two lines at the head of the table. The figures are those of the worst case.
var planColumns = [][]string{
	{"", "", "at most", "at most", "at most", "at least", "at most", ""},
	{"", "settings", "worst", "p99", "files/hour", "bytes/file", "open files", "goal"},
}

// saving is the share of files that Deadline saves.
func (a answer) saving() float64 {
	if a.deadline == nil {
		return 0
	}
	return 1 - a.deadline.Guarantee.FilesPerHour/a.best.Guarantee.FilesPerHour
}

func (a answer) print(out io.Writer) error {
	var w strings.Builder
	s := a.best.Settings
	header(&w, a.flags, s)
	fmt.Fprintf(&w, "\nSet    %s\n", spellPolicy(s))
	g := a.best.Guarantee
	fmt.Fprintf(&w, "Then   every record is visible within %s, 99 of 100 within %s; at most %s files/hour of %s or more\n\n",
		span(g.Worst), span(g.P99), figure(g.FilesPerHour), bytesOf(g.BytesPerFile))
	rows := append(slices.Clone(planColumns), a.flags.row(a.best))
	if a.deadline != nil {
		rows = append(rows, a.flags.row(*a.deadline))
	}
	for _, c := range a.alternatives {
		rows = append(rows, a.flags.row(c))
	}
	w.WriteString(table(rows, 2))
	holds := "whatever instants records and checkpoints come"
	if _, bursts := s.Arrivals.(plan.Bursts); bursts {
		holds = "whatever instants these bursts and checkpoints come"
	}
	fmt.Fprintf(&w, "\nThe figures hold at %s: they are those of the worst case.\nsinklab simulate shows what there is at given instants, which may be less.\n", holds)
	if a.deadline != nil {
		fmt.Fprintf(&w, "\nThe policy Deadline keeps the bound with %s %% fewer files: %s an hour, not %s. Flink does not have it;\nits Java source, to put into your job, is printed with --paste deadline-java.\n",
			decimals(math.Round(1000*a.saving())/10), figure(a.deadline.Guarantee.FilesPerHour), figure(g.FilesPerHour))
	}
	for _, form := range config.Forms() {
		text, err := a.text(form)
		if err != nil {
			return err
		}
		fmt.Fprintf(&w, "\n--- %s\n%s", form, text)
		if form == config.KafkaConnect {
			fmt.Fprintf(&w, "\nThe nearest that it has: within %s, at most %s files/hour. What differs:\n", span(a.connect.Bound), figure(a.connect.FilesPerHour))
			for _, line := range config.ConnectDiffers() {
				fmt.Fprintf(&w, "- %s\n", line)
			}
			if a.flags.Worst > 0 && a.connect.Bound > time.Duration(a.flags.Worst) {
				fmt.Fprintf(&w, "- it is later than the goal allows: files are ended by the clock, and with so few of them none is sooner\n")
			}
		}
	}
	_, err := io.WriteString(out, w.String())
	return err
}

// printDeadline prints the Java source of Deadline.
func (a answer) printDeadline(out io.Writer) error {
	if a.deadline == nil {
		return fmt.Errorf("--paste deadline-java: Deadline makes no fewer files than %s here", spellPolicy(a.best.Settings))
	}
	text, err := flink.DeadlineJava(a.deadline.Settings.Policy.(sinkcore.Deadline), "sinks")
	if err == nil {
		_, err = io.WriteString(out, text)
	}
	return err
}

func (f planFlags) printImpossible(out io.Writer, a answer, e *plan.ImpossibleError) error {
	var w strings.Builder
	header(&w, f, a.goal.Settings)
	if e.Proven {
		w.WriteString("\nNo settings keep this goal.\n")
		w.WriteString(f.why(a.goal.Settings, e))
	} else {
		w.WriteString("\nNo settings were found that keep this goal. That is not proven of all settings: the figures\nare for the worst case, and others may keep it for the records that really come.\n")
	}
	w.WriteString("\nThe nearest that there is:\n")
	rows := slices.Clone(planColumns)
	for _, n := range nearest(e) {
		rows = append(rows, f.row(n))
	}
	w.WriteString(table(rows, 2))
	w.WriteString(f.whatHelps(e))
	_, err := io.WriteString(out, w.String())
	return err
}

// nearest are the settings that keep one half of a goal.
func nearest(e *plan.ImpossibleError) (list []candidate) {
	if e.ByLatency != nil {
		list = append(list, open("keeps the latency", *e.ByLatency))
	}
	if e.ByFiles != nil {
		list = append(list, open("keeps the files", *e.ByFiles))
	}
	return list
}

// settingJSON is settings and what they keep.
type settingJSON struct {
	Name         string  `json:"name"`
	Policy       string  `json:"policy"`
	CheckMS      int64   `json:"check_ms"`
	CheckpointMS int64   `json:"checkpoint_ms"`
	Unbounded    bool    `json:"unbounded"`
	WorstMS      int64   `json:"worst_ms"`
	P99MS        int64   `json:"p99_ms"`
	FilesPerHour float64 `json:"files_per_hour"`
	BytesPerFile float64 `json:"bytes_per_file"`
	OpenFiles    int64   `json:"open_files"`
	Goal         string  `json:"goal"` // "kept", or what is not
}

func (f planFlags) asJSON(c candidate) settingJSON {
	g := c.Guarantee
	return settingJSON{
		Name: c.name, Policy: c.Settings.Policy.String(), CheckMS: c.Settings.CheckInterval.Milliseconds(), CheckpointMS: c.Settings.CheckpointInterval.Milliseconds(),
		Unbounded: g.Unbounded, WorstMS: g.Worst.Milliseconds(), P99MS: g.P99.Milliseconds(), FilesPerHour: g.FilesPerHour, BytesPerFile: g.BytesPerFile,
		OpenFiles: c.open, Goal: f.verdict(g),
	}
}

// pasteJSON is a text to paste.
type pasteJSON struct {
	Form config.Form `json:"form"`
	Text string      `json:"text"`
}

func (a answer) printJSON(out io.Writer) error {
	result := struct {
		Recommended  settingJSON   `json:"recommended"`
		Deadline     *settingJSON  `json:"deadline"`        // null if it makes no fewer files
		Saving       float64       `json:"deadline_saving"` // share of the files of the recommended settings
		Alternatives []settingJSON `json:"alternatives"`
		Paste        []pasteJSON   `json:"paste"`
		Connect      struct {
			WorstMS      int64    `json:"worst_ms"`
			FilesPerHour float64  `json:"files_per_hour"`
			Differs      []string `json:"differs"`
		} `json:"kafka_connect"`
	}{Recommended: a.flags.asJSON(a.best), Saving: a.saving()}
	if a.deadline != nil {
		d := a.flags.asJSON(*a.deadline)
		result.Deadline = &d
	}
	for _, c := range a.alternatives {
		result.Alternatives = append(result.Alternatives, a.flags.asJSON(c))
	}
	for _, form := range config.Forms() {
		text, err := a.text(form)
		if err != nil {
			return err
		}
		result.Paste = append(result.Paste, pasteJSON{form, text})
	}
	result.Connect.WorstMS, result.Connect.FilesPerHour, result.Connect.Differs = a.connect.Bound.Milliseconds(), a.connect.FilesPerHour, config.ConnectDiffers()
	return printJSON(out, result)
}

// helpJSON is a change, and the best settings with it.
type helpJSON struct {
	Change  string      `json:"change"`
	Setting settingJSON `json:"setting"`
}

// impossibleJSON is the proof and the nearest settings.
func (f planFlags) impossibleJSON(_ answer, e *plan.ImpossibleError) any {
	result := struct {
		Impossible string        `json:"impossible"`
		Proven     bool          `json:"proven"`    // false if none were found, and there may be some
		NeededMS   int64         `json:"needed_ms"` // 0 without a proof, as the next
		AllowedMS  int64         `json:"allowed_ms"`
		Nearest    []settingJSON `json:"nearest"`
		Helps      []helpJSON    `json:"helps"` // changes of what is given with which the goal can be kept
	}{Impossible: e.Error(), Proven: e.Proven}
	if e.Proven {
		result.NeededMS, result.AllowedMS = e.Needed.Milliseconds(), e.Allowed.Milliseconds()
	}
	for _, c := range nearest(e) {
		result.Nearest = append(result.Nearest, f.asJSON(c))
	}
	helps, _ := f.remedies()
	result.Helps = []helpJSON{}
	for _, r := range helps {
		result.Helps = append(result.Helps, helpJSON{r.change, f.asJSON(r.candidate)})
	}
	return result
}
