package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sinklab/bench/flink"
)

// fuzzFlink is the subcommand.
type fuzzFlink struct {
	Programs int    `short:"n" default:"1000" help:"How many programs to play (${default})."`
	Seed     uint64 `short:"s" default:"1" help:"Another seed, other programs (${default})."`
	First    uint64 `help:"Number of the first program; the others follow."`
	Dir      string `placeholder:"DIR" help:"Where Flink writes its files; what it has written is removed. A directory in memory is fastest, and is the default where there is one."`
	JSON     bool   `name:"json" help:"Print the report as JSON."`
}

// Help is the longer text of fuzz-flink --help.
func (fuzzFlink) Help() string {
	return `Needs Java 17 and Maven; the first run compiles a small program and fetches Flink 2.3.0.

Each random program is played on the operators of the real FileSink and on sinkcore, which
must show the same records in the same files after each operation. What Flink leaves to
chance, which bucket goes to which subtask when their number changes, is looked up in what
it did: it must be an outcome that it may have, and sinkcore must then do the same. Then the
program is played on Flink with compaction. The rules that every exactly-once sink keeps
(go doc ./props Rules) are watched each time; one that Flink breaks is a finding.

The first difference and the first finding of each kind are shrunk to a trace. Program
number N of a seed is always the same one, so --first N -n 1 plays it again.

Exit status: 0 if there is no difference and every finding is one that is known, 1 if there
is more, 2 for bad input.`
}

// Run plays programs and reports what was found.
func (c fuzzFlink) Run(std streams) error {
	if c.Programs < 1 {
		return fmt.Errorf("-n %d: must be at least 1", c.Programs)
	}
	return withFlink(std, c.Dir, func(ctx context.Context, _ *flink.Module, e *flink.Engine) error {
		begun, terminal := time.Now(), isTerminal(std.err)
		options := flink.FuzzOptions{Programs: c.Programs, Seed: c.Seed, First: c.First}
		if terminal {
			options.Progress = func(played int, r *flink.Report) {
				seconds := time.Since(begun).Seconds()
				fmt.Fprintf(std.err, clearLine+"%d of %d programs, %.0f a second, %d kinds of differences, %d of findings",
					played, c.Programs, float64(played)/seconds, len(r.Differences), len(r.Findings))
			}
		}
		report, err := flink.Fuzz(ctx, e, options)
		if terminal {
			fmt.Fprint(std.err, clearLine)
		}
		if err != nil && ctx.Err() == nil {
			return err // whoever interrupts it wants to know what was found so far
		}
		if c.JSON {
			encoder := json.NewEncoder(std.out)
			encoder.SetEscapeHTML(false)
			encoder.SetIndent("", "  ")
			err = encoder.Encode(report)
		} else {
			err = printReport(std.out, report)
		}
		if err == nil {
			err = foundIf(report.Unexplained() > 0)
		}
		return err
	})
}

// printReport is the report for a person. Of what is known only the counts are shown.
func printReport(out io.Writer, r *flink.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, programs %d to %d: %d operations, %d files, %d restores, %d with another number of subtasks, %d of those in another order than sinkcore's\n",
		r.Seed, r.First, r.First+uint64(r.Programs)-1, r.Operations, r.Files, r.Restores, r.Spread, r.Chance)
	fmt.Fprintf(&b, "\ndifferences between Flink and sinkcore, by kind:\n")
	for _, k := range flink.Kinds {
		count := 0
		for _, f := range r.Differences {
			if f.Kind == string(k.Kind) {
				count = f.Count
			}
		}
		fmt.Fprintf(&b, "%7d  %-12s  %s\n", count, k.Kind, k.Sentence)
	}
	fmt.Fprintf(&b, "\nrules that Flink breaks, by reason:\n")
	for _, k := range flink.Findings {
		count := 0
		for _, f := range r.Findings {
			if f.Kind == k.Name {
				count += f.Count
			}
		}
		fmt.Fprintf(&b, "%7d  %s\n", count, k.Name)
	}
	unknown := 0
	for _, f := range r.Findings {
		if !f.Explained {
			unknown += f.Count
		}
	}
	fmt.Fprintf(&b, "%7d  (for a reason that is not known)\n", unknown)
	for _, f := range slices.Concat(r.Differences, r.Findings) {
		if !f.Explained {
			fmt.Fprintf(&b, "\n%s: %d times, first in program %d, shrunk to %d operations:\n%s\n%s", f.Kind, f.Count, f.First, f.Operations, f.Detail, f.Example)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// recordFlink is the subcommand.
type recordFlink struct {
	Files []string `arg:"" name:"FILE" help:"Traces to play."`
	Check bool     `help:"Change no file: print what differs, and a summary line."`
	Rules bool     `help:"Go on after an error, bring each scenario to its end and watch the rules, as for testdata/flink/findings."`
	Dir   string   `placeholder:"DIR" help:"Where Flink writes its files, as of fuzz-flink."`
}

// Help is the longer text of record-flink --help.
func (recordFlink) Help() string {
	return `Needs Java 17 and Maven. Plays traces on the operators of the real FileSink of Flink 2.3.0 and
puts its answers into the files in the place of those that are there. The operations are
those of sinkcore/sim; open takes compact= (checkpoints) and compact-size= (bytes) besides.
With --rules recover, replay and savepoint of props are understood too.

Exit status: 0, 1 if an answer is another one than the file had, 2 for bad input.`
}

// Run reads all files before it plays any.
func (c recordFlink) Run(std streams) error {
	traces := make([][]flink.Program, len(c.Files))
	for i, file := range c.Files {
		var err error
		if traces[i], err = readPrograms(file); err != nil {
			return err
		}
	}
	return withFlink(std, c.Dir, func(ctx context.Context, _ *flink.Module, e *flink.Engine) error {
		scenarios, differ, terminal := 0, 0, isTerminal(std.err)
		for i, file := range c.Files {
			var text strings.Builder
			changed := false
			for n, p := range traces[i] {
				if err := ctx.Err(); err != nil {
					return err
				}
				if terminal {
					fmt.Fprintf(std.err, clearLine+"%s: %d of %d scenarios", file, n, len(traces[i]))
				}
				played, err := c.play(e, p)
				if terminal {
					fmt.Fprint(std.err, clearLine)
				}
				if err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
				scenarios++
				if n > 0 {
					text.WriteByte('\n')
				}
				text.WriteString(played.Text())
				if d, other := compare(file, p.Scenario, played.Scenario); other {
					differ, changed = differ+1, true
					fmt.Fprintf(std.out, "%s:%d: scenario %q\n\trecorded %s\n\tnow      %s\n", d.File, d.Line, d.Scenario, orNothing(d.Expected), orNothing(d.Got))
				}
			}
			if changed && !c.Check {
				if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
					return err
				}
			}
		}
		fmt.Fprintf(std.out, "%d scenarios, %d with other answers than before\n", scenarios, differ)
		return foundIf(differ > 0)
	})
}

// play plays a scenario as the recorded traces were, or as package props does.
func (c recordFlink) play(e *flink.Engine, p flink.Program) (flink.Program, error) {
	if !c.Rules {
		return e.Record(p)
	}
	run, err := e.Play(p)
	if err != nil {
		return p, err
	}
	return run.Answered(p), nil
}

// findings is the subcommand.
type findings struct {
	Traces string `default:"testdata/flink/findings" placeholder:"DIR" help:"Where the traces of the findings are (${default})."`
	Dir    string `placeholder:"DIR" help:"Where Flink writes its files, as of fuzz-flink."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Help is the longer text of findings --help.
func (findings) Help() string {
	return `Needs Java 17 and Maven. Shows where Flink 2.3.0 breaks a rule that every exactly-once sink
keeps: each finding's trace is played on the operators of the real FileSink and must still
break its rule for the same reason. Then a small bounded job, which fails once after its
first checkpoint, runs on Flink's own executor, without compaction and with it, and what is
visible at its end is counted.

Exit status: 0 if Flink does what the findings say, 1 if not, 2 for bad input.`
}

// Run plays the traces and runs the job.
func (c findings) Run(std streams) error {
	files, err := filepath.Glob(filepath.Join(c.Traces, "*.trace"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("--traces %s: there is no trace in it", c.Traces)
	}
	if err != nil {
		return err
	}
	type line struct {
		Finding  string `json:"finding"`
		Rule     string `json:"rule"` // that was broken, "" if none
		Detail   string `json:"detail"`
		Sentence string `json:"sentence"`
		Holds    bool   `json:"holds"` // the finding does
	}
	result := struct {
		Findings []line            `json:"findings"`
		Jobs     []flink.JobResult `json:"jobs"`
	}{}
	return withFlink(std, c.Dir, func(ctx context.Context, m *flink.Module, e *flink.Engine) error {
		good := true
		for _, file := range files {
			programs, err := readPrograms(file)
			if err != nil {
				return err
			}
			for _, p := range programs {
				run, err := e.Play(p)
				if err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
				l := line{Finding: p.Name}
				if run.Violation != nil {
					l.Rule, l.Detail = string(run.Violation.Rule), run.Violation.Detail
				}
				if f := flink.Explain(p, run); f != nil {
					l.Holds, l.Sentence = f.Name == p.Name, f.Sentence
				}
				good = good && l.Holds
				result.Findings = append(result.Findings, l)
				if !c.JSON {
					fmt.Fprintf(std.out, "%s (%s)\n  %s\n  %s\n", p.Name, file, orNothing(l.Sentence), strings.ReplaceAll(l.Rule+": "+l.Detail, "\n", "; "))
				}
			}
		}
		for _, compaction := range []bool{false, true} {
			job, err := flink.RunFailingJob(ctx, m, compaction)
			if err != nil {
				return err
			}
			// Without compaction everything is there, with it the first checkpoint's records are not.
			good = good && (len(job.Lost) > 0) == compaction && job.Twice == 0
			result.Jobs = append(result.Jobs, job)
			if !c.JSON {
				fmt.Fprintf(std.out, "a bounded job that fails once, %s: %d records written, %d visible, %d twice%s\n",
					map[bool]string{false: "without compaction", true: "with compaction"}[compaction], job.Written, job.Visible, job.Twice, lostRecords(job.Lost))
			}
		}
		if c.JSON {
			encoder := json.NewEncoder(std.out)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(result); err != nil {
				return err
			}
		} else {
			fmt.Fprintln(std.out, "Until Flink is mended: leave enableCompact out, and merge files, if need be, by a job of their own; and copy the files before a\n"+
				"restore of an older checkpoint than the newest.")
		}
		return foundIf(!good)
	})
}

func lostRecords(records []string) string {
	if len(records) == 0 {
		return ""
	}
	return fmt.Sprintf(", %s to %s lost for ever", records[0], records[len(records)-1])
}

// readPrograms reads a file of traces that Flink can play.
func readPrograms(file string) ([]flink.Program, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	programs, err := flink.Parse(f)
	if err == nil && len(programs) == 0 {
		err = errors.New("there is no scenario in it")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return programs, nil
}

// withFlink starts the real Flink for the time of a call.
func withFlink(std streams, dir string, do func(context.Context, *flink.Module, *flink.Engine) error) error {
	return withModule(std, func(ctx context.Context, m *flink.Module) (err error) {
		e, err := flink.Start(ctx, m, flink.Options{Dir: dir})
		if err != nil {
			return err
		}
		defer func() {
			// What was told comes first: a process that was interrupted ends with an error too.
			if closing := e.Close(); err == nil && ctx.Err() == nil {
				err = closing
			}
		}()
		return do(ctx, m, e)
	})
}
