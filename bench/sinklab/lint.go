package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"sinklab/bench/config"
	"sinklab/sinkcore/plan"
)

// lintCommand is the subcommand lint.
type lintCommand struct {
	Files      []string        `arg:"" optional:"" name:"FILE" help:"Java, SQL, properties or JSON; - or none is standard input."`
	Form       *config.Form    `placeholder:"FORM" help:"What the files are, if that cannot be seen: flink-java, flink-sql or kafka-connect."`
	Checkpoint config.Duration `least:"1ms or longer" placeholder:"TIME" help:"From the start of a checkpoint to that of the next, in place of what the file says (2s if it says nothing)."`
	given
	Rules bool `help:"Print what each rule means, and look at no file."`
	JSON  bool `name:"json" help:"Print one JSON object."`
}

// Help is the longer text of lint --help.
func (lintCommand) Help() string {
	return `Reads the settings of sinks as they stand in your files and says, line by line, what costs
more than it has to or does not do what it seems to: with the figure, and what to write.

  flink-java     FileSink and DefaultRollingPolicy in Java, Scala or Kotlin;
                 values have to be in the file: numbers, Duration, MemorySize
  flink-sql      CREATE TABLE and ALTER TABLE with the connectors filesystem,
                 iceberg, and kafka if it is exactly-once; SET
  kafka-connect  properties or JSON of Confluent's S3 and HDFS connectors and
                 Aiven's S3 connector, and of the worker beside them

What arrives is not in such files; say it with --rate and so on. The checkpoint interval
is taken from the file if it is there. If a job's file does not turn checkpoints on, that is
a finding, as without them nothing is visible; --checkpoint says that something else does.

  sinklab lint job/src/main/java/Job.java
  sinklab lint --rate 2000 --subtasks 4 tables.sql connector.properties
  sinklab plan --worst 60s --paste flink-java | sinklab lint

What is found comes by what it costs: first what leaves records unseen (no-checkpoints,
refused, compaction-loses, idle-unbounded), then latency (resonance, rollover-below-check,
min-pause, late-check and others), then files (many-files, size-every-checkpoint,
checkpoint-above-rollover and others), and last what does nothing (no-effect, size-never).
sinklab lint --rules has them all, with what each means.

Exit status: 0 if there is no finding, 1 if there is one, 2 for bad input.`
}

// linted is the findings of a file.
type linted struct {
	name     string
	file     config.File
	findings []config.Finding
}

// Run reads all files before it prints.
func (c lintCommand) Run(std streams) error {
	if c.Rules {
		return c.printRules(std.out)
	}
	s, err := c.settings()
	if err != nil {
		return err
	}
	s.CheckpointInterval = time.Duration(c.Checkpoint)
	files := c.Files
	if len(files) == 0 {
		files = []string{"-"}
	}
	var all []linted
	var bad []error
	for _, file := range files {
		l, err := c.lint(file, std.in, s)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		all = append(all, l)
		for _, u := range l.file.Unread {
			bad = append(bad, fmt.Errorf("%s:%d: %s; --checkpoint says it", l.name, u.Line, u.Problem))
		}
		for _, sink := range l.file.Sinks {
			for _, u := range sink.Unread {
				bad = append(bad, fmt.Errorf("%s:%d: %s cannot be judged: %s", l.name, u.Line, u.Option, u.Problem))
			}
		}
	}
	found := 0
	for _, l := range all {
		found += len(l.findings)
	}
	assumed := c.assumed()
	if c.JSON {
		err = printJSON(std.out, lintJSON(all, assumed))
	} else if len(all) > 0 {
		_, err = io.WriteString(std.out, lintText(all, s, assumed))
	}
	switch {
	case err != nil:
		return err
	case len(bad) > 0:
		return errors.Join(bad...)
	case found > 0:
		return errFound
	}
	return nil
}

// printRules prints what rules there are.
func (c lintCommand) printRules(out io.Writer) error {
	if len(c.Files) > 0 || c.JSON {
		return fmt.Errorf("--rules prints what rules mean and looks at no file: leave out the files and --json")
	}
	const column = 27
	var b strings.Builder
	for _, r := range config.Rules() {
		fmt.Fprintf(&b, "%-*s%s\n", column, r.Rule, wrap(r.Meaning, 70, strings.Repeat(" ", column)))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// lint looks at a file.
func (c lintCommand) lint(file string, stdin io.Reader, s plan.Settings) (linted, error) {
	name, text, err := readText(file, stdin)
	if err != nil {
		return linted{}, err
	}
	form := config.Detect(file, text)
	if c.Form != nil {
		form = *c.Form
	}
	if form == "" {
		return linted{}, fmt.Errorf("%s: it cannot be seen what this is: give --form flink-java, flink-sql or kafka-connect", name)
	}
	l := linted{name: name}
	if l.file, err = config.Read(form, text); err != nil {
		return l, placed(name, err)
	}
	if c.Checkpoint > 0 {
		l.file.Checkpoint, l.file.CheckpointLine, l.file.MinPause, l.file.Unread = 0, 0, 0, nil
	}
	if l.findings, err = config.Lint(l.file, s); err != nil {
		return l, fmt.Errorf("%s: %w", name, err)
	}
	return l, nil
}

// assumed is what arrives as nobody has said it, with the flags that say it.
func (c lintCommand) assumed() (list []string) {
	if c.Rate == 0 && c.Arrivals == "" {
		list = append(list, "10 records/s (--rate)")
	}
	if c.RecordSize == 0 {
		list = append(list, "records of 100 B (--record-size)")
	}
	return list
}

// placedFinding is a finding with the file that it is in.
type placedFinding struct {
	file string
	config.Finding
}

// worstFirst are the findings of all files by what they cost.
func worstFirst(all []linted) (list []placedFinding) {
	for _, l := range all {
		for _, f := range l.findings {
			list = append(list, placedFinding{l.name, f})
		}
	}
	slices.SortStableFunc(list, func(a, b placedFinding) int { return config.ByCost(a.Finding, b.Finding) })
	return list
}

// lintText is the findings, and what they rest on.
func lintText(all []linted, s plan.Settings, assumed []string) string {
	var b strings.Builder
	sinks, unknown, unread := 0, 0, 0
	for _, l := range all {
		sinks += len(l.file.Sinks)
		if l.file.Form != config.KafkaConnect && l.file.Checkpoint == 0 && s.CheckpointInterval == 0 {
			unknown++
			unread += len(l.file.Unread)
		}
	}
	list := worstFirst(all)
	for _, f := range list {
		place := fmt.Sprintf("%s:%d: %s", f.file, f.Line, f.Rule)
		if f.Sink != "" {
			place += " (" + f.Sink + ")"
		}
		fmt.Fprintf(&b, "%s\n    %s\n", place, wrap(f.What, 92, "    "))
		for _, c := range f.Costs {
			fmt.Fprintf(&b, "    %s\n", costText(c))
		}
		if f.Arrivals && len(assumed) > 0 {
			fmt.Fprintf(&b, "    assumed: %s\n", strings.Join(assumed, ", "))
		}
		for i, line := range f.Better {
			word := "better:"
			if i > 0 {
				word = "       "
			}
			fmt.Fprintf(&b, "    %s %s\n", word, line)
		}
		if f.Source != "" {
			fmt.Fprintf(&b, "    see: %s\n", wrap(f.Source, 92, "         "))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%s, %s; for %s", count(sinks, "sink"), count(len(list), "finding"), describe(s))
	switch {
	case s.CheckpointInterval > 0:
		fmt.Fprintf(&b, ", a checkpoint every %s", span(s.CheckpointInterval))
	case unread > 0:
		b.WriteString(", a checkpoint every 2 s where it cannot be read what the file says (--checkpoint)")
	case unknown > 0:
		b.WriteString(", a checkpoint every 2 s where the file does not say (--checkpoint)")
	}
	b.WriteByte('\n')
	if strings.Contains(b.String(), "\n    worst latency") {
		b.WriteString("Latencies \"with these arrivals\" are of records that come at just these instants, the others whenever they\ncome; checkpoints start as late before a check as they can.\n")
	}
	return b.String()
}

// lintJSON is the findings. Assumed is what a finding rests on that nobody has said, with the flags
// that say it.
func lintJSON(all []linted, assumed []string) any {
	type finding struct {
		File     string          `json:"file"`
		Line     int             `json:"line"`
		Sink     string          `json:"sink"`
		Rule     plan.Rule       `json:"rule"`
		Severity config.Severity `json:"severity"`
		What     string          `json:"what"`
		Costs    []costJSON      `json:"costs"`
		Assumed  []string        `json:"assumed"`
		Better   []string        `json:"better"`
		Source   string          `json:"source"`
	}
	result := struct {
		Sinks    int       `json:"sinks"`
		Findings []finding `json:"findings"`
	}{Findings: []finding{}}
	for _, l := range all {
		result.Sinks += len(l.file.Sinks)
	}
	for _, f := range worstFirst(all) {
		rests := []string{}
		if f.Arrivals {
			rests = append(rests, assumed...)
		}
		result.Findings = append(result.Findings, finding{f.file, f.Line, f.Sink, f.Rule, f.Severity, f.What, costsJSON(f.Costs), rests, append([]string{}, f.Better...), f.Source})
	}
	return result
}
