package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"sinklab/bench/config"
	"sinklab/props"
	"sinklab/props/sinktest"
	"sinklab/props/sinktest/examples"
	"sinklab/props/sinktest/wire"
	"sinklab/sinkcore"
)

// kitCommand is the subcommand kit.
type kitCommand struct {
	Command  []string          `arg:"" optional:"" help:"The sink's process and its arguments, behind --."`
	Name     string            `placeholder:"TEXT" help:"Of the sink in the table; by default the command."`
	Trace    bool              `help:"Record what the process does with files by strace (Linux). Without, the process tells it."`
	Keep     bool              `help:"Let a process go on with the next sink instead of killing it: faster where a start takes long."`
	Programs int               `default:"1000" least:"1 or more" placeholder:"N" help:"How many programs are played (${default})."`
	Seed     uint64            `placeholder:"N" help:"Chooses other programs (0)."`
	Lacks    []string          `placeholder:"FEATURE" sep:"," help:"What the sink must never meet: aborts, older, savepoints, clock steps, crashes, power cuts, many buckets, end of input."`
	Waive    map[string]string `placeholder:"RULE=REASON" mapsep:"none" help:"A rule that the sink does not promise, and where that is said. May be given again."`
	Policy   string            `placeholder:"WORDS" help:"The rolling policy whose latency and number of files the sink promises: oncheckpoint, or as \"policy=rolling size=10 rollover=300\". Without, it promises none."`
	Check    config.Duration   `least:"1ms or longer" placeholder:"TIME" help:"From one look at age and inactivity to the next, of --policy (100ms)."`
	Timeout  config.Duration   `least:"1ms or longer" placeholder:"TIME" help:"How long an answer may take (1m)."`
	Play     string            `placeholder:"FILE" help:"Play the one program of a file, as a table prints it, and show what a reader saw and what the process did with files; - is standard input."`
	Serve    bool              `help:"Be the process: answer as sinkcore's sink with --policy. An example to compare with."`
	JSON     bool              `name:"json" help:"Print one JSON object."`
}

// Help is the longer text of kit --help.
func (kitCommand) Help() string {
	return `Does your sink write exactly once? The command is a program in any language that answers requests
on standard input by lines on standard output, each a JSON object:

  {"do":"new","dir":DIR,"now":MS,"seed":N}       start with no state
  {"do":"restore","dir":DIR,"now":MS,"seed":N,"checkpoint":ID,"state":BASE64}
  {"do":"write","record":TEXT,"now":MS}          a line of a file in DIR/BUCKET; BUCKET is what is before the last /
  {"do":"tick","now":MS}                         answer {"next":MS}, or {} if no timer is set
  {"do":"prepare","checkpoint":ID,"now":MS}      answer {"state":BASE64}
  {"do":"commit","checkpoint":ID}                also "abort", "end" and "close"

It answers {} or {"error":TEXT}, one line to each request and nothing else. All that has to be kept is said by "go doc
sinklab/props/sinktest/wire". To see it at work, give it this program itself:

  sinklab kit --policy oncheckpoint -- sinklab kit --serve --policy oncheckpoint
  sinklab kit --trace --keep --name mine -- java -cp sink.jar Server
  sinklab kit --trace --play lost.trace -- ./my-sink

It plays random programs of records, checkpoints, crashes (by SIGKILL, between any two
operations on files), power cuts and restores, and looks at the directory as a reader would.
For each rule that is broken it prints the shortest program it has found: an operation a line,
see "go doc sinklab/props Operations"; + is a file that a reader saw, ! an error. With --play it
prints besides what the process did with files at each step: look for what was not synced
before a powerloss, and for what was under way at a crash. Errors of the file system are not played on another process, so the rules Surfaced and Poisoned are waived.

--trace needs strace (Debian and Ubuntu: apt-get install strace). Without, the process tells of each
operation on files by a line before the answer, as {"file":"sync","path":PATH}; all of them are at
"go doc sinklab/props/sinktest/wire Operation". Where a start takes long, --keep spares it.

Exit status: 0, 1 if a rule is broken or no program has put it to the test, 2 for bad input
or if the process does not keep to what is said here.`
}

// Run tests a sink, or is one.
func (c kitCommand) Run(std streams) error {
	policy, check, err := c.promised()
	if err != nil {
		return err
	}
	if c.Serve {
		if len(c.Command) > 0 || c.Play != "" {
			return errors.New("--serve is the process itself: it takes no command and plays nothing")
		}
		if check != kitCheck {
			return fmt.Errorf("--serve looks every %v: leave the interval out", kitCheck)
		}
		if policy == nil {
			policy = sinkcore.Default{}
		}
		return wire.Serve(std.in, std.out, examples.Sinkcore(policy))
	}
	if len(c.Command) == 0 {
		return errors.New("which sink? Give the command of its process behind --, for example: sinklab kit -- ./my-sink")
	}
	program := ""
	if c.Play != "" {
		if _, program, err = readText(c.Play, std.in); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer context.AfterFunc(ctx, stop)() // a second signal ends it at once
	defer stop()
	var log kitLog
	options := wire.Options{Context: ctx, Command: c.Command, Trace: c.Trace, Keep: c.Keep, Timeout: time.Duration(c.Timeout)}
	if c.Play != "" {
		options.Observe = log.observe
	}
	p, err := wire.Open(options)
	if err != nil {
		return err
	}
	played, begun := 0, time.Now()
	kind := c.kind(p, policy, check)
	kind.Progress = func(n, of int) { played = n }
	show, done := showLine(std)
	var refused error // the first start that failed; a sink that never starts is none to be judged
	kind = aroundStart(kind, func(start func() (sinktest.Sink, error)) (sinktest.Sink, error) {
		if show != nil && c.Play == "" {
			show(c.progress(played, p.Started(), time.Since(begun)))
		}
		if err := ctx.Err(); err != nil {
			return nil, err // the programs that are left take no time
		}
		s, err := start()
		if refused == nil {
			refused = err
		}
		return s, err
	})
	var printer func(io.Writer) error
	if c.Play != "" {
		printer, err = c.play(kind, program, &log)
	} else {
		printer, err = c.judge(kind)
	}
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("interrupted after %d of %d programs", played, c.Programs)
		if c.Play != "" {
			err = errors.New("interrupted")
		}
	case p.Err() != nil:
		err = p.Err() // what was played says nothing about the sink then
	case err != nil && refused != nil:
		err = fmt.Errorf("the sink does not start: %w", refused)
	}
	done()
	if closing := p.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return printer(std.out)
}

// progress is a line for people who wait.
func (c kitCommand) progress(played, started int, since time.Duration) string {
	line := fmt.Sprintf("program %d of %d", played+1, c.Programs)
	if played == c.Programs-1 {
		line += ", and what breaks a rule is made shorter"
	}
	const many, slow = 10, 200 * time.Millisecond
	if each := since / time.Duration(max(started, 1)); started >= many && each > slow {
		line += fmt.Sprintf("; a start takes %v, and with --keep there is one", each.Round(10*time.Millisecond))
	}
	return line
}

// promised is the policy whose closed forms the sink keeps, nil if it says none.
func (c kitCommand) promised() (sinkcore.RollingPolicy, time.Duration, error) {
	check := time.Duration(c.Check)
	if c.Policy == "" {
		if check != 0 {
			return nil, 0, errors.New("--check is of --policy: give both")
		}
		return nil, kitCheck, nil
	}
	policy, check, err := policyAndCheck(c.Policy, check)
	return policy, cmp.Or(check, kitCheck), err
}

// kitCheck is short, as the times of the programs are, and that of examples.Sinkcore.
const kitCheck = 100 * time.Millisecond

// kind is the kind of sinks that the process is.
func (c kitCommand) kind(p *wire.Process, policy sinkcore.RollingPolicy, check time.Duration) sinktest.Kind {
	k := p.Kind()
	if k.Name = c.Name; k.Name == "" {
		k.Name = strings.Join(append([]string{filepath.Base(c.Command[0])}, c.Command[1:]...), " ")
	}
	k.Programs, k.Seed = c.Programs, c.Seed
	for _, f := range c.Lacks {
		k.Lacks = append(k.Lacks, sinktest.Feature(f))
	}
	for _, rule := range []props.Rule{props.Surfaced, props.Poisoned} {
		if _, own := c.Waive[string(rule)]; !own {
			k.Waived = append(k.Waived, sinktest.Waiver{Rule: rule, Reason: "errors of the file system are not played on another process"})
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(c.Waive)) {
		k.Waived = append(k.Waived, sinktest.Waiver{Rule: props.Rule(rule), Reason: c.Waive[rule]})
	}
	if policy != nil {
		k.Files = examples.Sinkcore(policy).Files
		k.Latency = func(checkpoint, duration time.Duration) time.Duration {
			bound, _ := sinkcore.WorstLatency(policy, sinkcore.Schedule{Check: check, Checkpoint: checkpoint, Duration: duration})
			return bound
		}
	}
	return k
}

// judge plays many programs. What it returns prints the table.
func (c kitCommand) judge(kind sinktest.Kind) (printer func(io.Writer) error, err error) {
	table, err := sinktest.Verdicts(kind)
	return func(out io.Writer) (err error) {
		if c.JSON {
			err = printJSON(out, kitTable(table))
		} else {
			_, err = io.WriteString(out, table.String())
		}
		return errors.Join(err, foundIf(table.Err() != nil))
	}, err
}

// play plays one program. What it returns prints it.
func (c kitCommand) play(kind sinktest.Kind, program string, log *kitLog) (printer func(io.Writer) error, err error) {
	verdict, err := sinktest.Play(kind, program)
	if err != nil {
		return nil, fmt.Errorf("--play %s: %w", c.Play, err)
	}
	played, err := verdict.Played.AppendText(nil)
	r := kitPlayed{Program: string(played), Steps: log.once()}
	if v := verdict.Violation; v != nil {
		r.Rule, r.Seen = v.Rule, v.Detail
	}
	return func(out io.Writer) (err error) {
		switch {
		case c.JSON:
			err = printJSON(out, r)
		case r.Rule != "":
			_, err = fmt.Fprintf(out, "%s\n%s: broken\n    %s\n", r.Program, r.Rule, r.Seen)
		default:
			_, err = fmt.Fprintf(out, "%s\nno rule is broken\n", r.Program)
		}
		if !c.JSON {
			_, more := fmt.Fprintf(out, "\nwhat the process was asked, and did with files:\n%s", kitSteps(r.Steps))
			err = errors.Join(err, more)
		}
		return errors.Join(err, foundIf(r.Rule != ""))
	}, err
}

// kitPlayed is a program that was played, in JSON.
type kitPlayed struct {
	Rule    props.Rule `json:"broken,omitempty"`
	Seen    string     `json:"seen,omitempty"`
	Program string     `json:"program"` // with the answers of the sink
	Steps   []kitStep  `json:"steps"`
}

// kitRow is the verdict on a rule, in JSON.
type kitRow struct {
	Rule     props.Rule   `json:"rule"`
	Status   string       `json:"status"`
	Programs int          `json:"programs,omitempty"` // that could have broken it
	Reason   string       `json:"reason,omitempty"`   // of a waiver
	Seen     string       `json:"seen,omitempty"`     // of a broken rule
	Program  string       `json:"program,omitempty"`  // likewise, the shortest that was found
	After    []props.Rule `json:"after,omitempty"`    // likewise, the rules that break before it in the program
}

// kitTable is a table as it is printed in JSON.
func kitTable(t sinktest.Table) any {
	rows := []kitRow{}
	for _, r := range t.Rows {
		row := kitRow{Rule: r.Rule, Status: r.Status.String(), Programs: r.Programs, Reason: r.Reason, After: r.After}
		if r.Violation != nil {
			text, _ := r.Program.AppendText(nil) // it never fails
			row.Seen, row.Program = r.Violation.Detail, string(text)
		}
		rows = append(rows, row)
	}
	return struct {
		Sink     string   `json:"sink"`
		Programs int      `json:"programs"`
		Rules    []kitRow `json:"rules"`
	}{t.Kind, t.Programs, rows}
}

// aroundStart has each start of a sink with no state, and each restore, go through a function.
func aroundStart(k sinktest.Kind, around func(start func() (sinktest.Sink, error)) (sinktest.Sink, error)) sinktest.Kind {
	start, restore := k.New, k.Restore
	k.New = func(s sinktest.Setup) (sinktest.Sink, error) {
		return around(func() (sinktest.Sink, error) { return start(s) })
	}
	k.Restore = func(s sinktest.Setup, checkpoint int64, state []byte) (sinktest.Sink, error) {
		return around(func() (sinktest.Sink, error) { return restore(s, checkpoint, state) })
	}
	return k
}
