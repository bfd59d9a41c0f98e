package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"sinklab/sinkcore"
	"sinklab/sinkcore/live"
)

// write is the subcommand.
type write struct {
	Files []string `arg:"" optional:"" name:"FILE" help:"Files of lines, read one after the other; - or none is standard input."`

	Dir         string        `required:"" placeholder:"DIR" help:"Directory of the output. It belongs to this job alone."`
	Policy      string        `default:"policy=default" placeholder:"WORDS" help:"When files are closed (${default}); see Policies above."`
	Check       time.Duration `default:"1m" placeholder:"TIME" help:"Time between two looks for files that are old enough to be closed (${default})."`
	Checkpoint  time.Duration `default:"10s" placeholder:"TIME" help:"Time between two checkpoints (${default}). Lines become visible at a checkpoint."`
	Retain      int           `default:"3" placeholder:"N" help:"Checkpoints to keep (${default})."`
	Parallelism int           `default:"1" placeholder:"N" help:"Subtasks; lines go to them in turn, each writes files of its own (${default})."`

	Bucket string `default:"none" placeholder:"HOW" help:"Directory below DIR for each line (${default}): none, date=PATTERN, before=TEXT; see Buckets above."`
	Zone   string `placeholder:"ZONE" help:"Time zone of date=PATTERN, as Europe/Berlin or +05:30 (UTC)."`
	Prefix string `default:"part" placeholder:"TEXT" help:"Beginning of file names (${default})."`
	Suffix string `placeholder:"TEXT" help:"End of file names, as .log (none)."`

	Follow    bool          `help:"Wait for more at the end of the last file, as tail -f does."`
	Poll      time.Duration `default:"100ms" placeholder:"TIME" help:"With --follow, time between two looks at the file (${default})."`
	Resent    bool          `help:"Standard input is sent again from its first line: pass over the lines that were written before."`
	OnStop    string        `default:"end" enum:"end,savepoint" placeholder:"HOW" help:"What the first SIGINT or SIGTERM does (${default}): end makes every line visible; savepoint leaves open files for the next run to go on with."`
	OnRefused string        `default:"stop" enum:"stop,drop" placeholder:"HOW" help:"What a line without a usable bucket does (${default}): stop the job, or be dropped and counted."`
	JSON      bool          `name:"json" help:"Print the final counts as JSON on standard output."`
}

// Help is the longer text of write --help.
func (write) Help() string {
	return `Lines go into files below DIR that roll by the policy. Every TIME of --checkpoint the
files that are closed by then become visible, all of them or, if something crashes
first, after the next start. Hidden names (.part-…) are not visible yet. After a
crash, a kill or a stop run it again: it goes on where the newest checkpoint in
DIR/.checkpoints says. What that means for the input is said next.

What is promised
  FILE: each line is visible exactly once, whatever crashes and however often. The
    position is the file and the offset in it. That the first and the last 4 KiB before
    it are still the same is checked; a file that got shorter or is another one stops the
    job. Give the same files by the same names in the same order again; new ones may come
    after them. A last line
    without a newline is a line, unless --follow waits for the rest of it.
  Standard input cannot be set back: what comes is taken for new, unless --resent says
    otherwise. No line is written twice that is sent once, and at
    the end of the input every line is visible. After a crash the lines that were read
    after the newest checkpoint are not in the output, and after a stop by a signal those
    that were sent and not written yet. They are lost unless you send them again: either
    everything from the first line on, with --resent, or what comes after line N, N being
    "lines" in the position that "sinklab write - --dir DIR --json </dev/null" prints.
  Both: nothing is visible before its checkpoint is on disk, and no visible file
    changes. Take files away after a clean stop, or when a later checkpoint is there.

Policies
  policy=default                            60 s, 60 s without a line, or 128 MiB
  policy=rolling rollover=MS inactivity=MS size=BYTES   the same with other limits
  policy=oncheckpoint                       at every checkpoint
  policy=oncheckpoint+rolling size=BYTES    whichever comes first
  policy=deadline within=MS checkpoint=MS   every line visible within so long, in as few files as that
                                            allows; checkpoint= is --checkpoint in milliseconds

Buckets
  none              all files in DIR
  date=PATTERN      time of writing, as date=yyyy-MM-dd--HH
  before=TEXT       what stands in the line before the first TEXT, as before=:

The first SIGINT or SIGTERM stops as --on-stop says, a second one at once, which is as
safe as any crash. On a terminal a line of counts is shown on standard error.

  sinklab write app.log --dir out --policy "policy=rolling rollover=10000" --check 1s --checkpoint 2s
  producer | sinklab write - --dir out --policy policy=oncheckpoint --bucket date=yyyy-MM-dd

Exit status: 0 if all is written or the job stopped as asked, 1 if it failed (the
message says what to do; run it again then), 2 for bad options or a missing file.`
}

// Run opens the job, runs it and closes it.
func (w write) Run(std streams) error {
	options, err := w.options()
	if err != nil {
		return err
	}
	clock := live.SystemClock()
	source, err := w.source(std.in, clock)
	if err != nil {
		return err
	}
	// Before the job is opened, so that a signal that comes early stops it in order too.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// From the first signal on signals do again what they do by themselves, so that the
	// second one ends the process.
	context.AfterFunc(ctx, stop)
	engine, err := live.Open(options, clock.Now())
	if err != nil {
		return w.failed(std, err)
	}
	onStop := live.EndOfInput
	if w.OnStop == live.Savepoint.String() {
		onStop = live.Savepoint
	}
	shown := show(std.err, clock, engine)
	err = live.Run(ctx, clock, engine, source, onStop)
	shown()
	err = errors.Join(err, engine.Close())
	if dropped := engine.Stats().Refused; dropped > 0 {
		fmt.Fprintf(std.err, "sinklab: lines without a usable bucket, dropped as --on-refused says: %d\n", dropped)
	}
	if w.JSON {
		err = errors.Join(err, printStats(std.out, clock.Now(), engine.Stats()))
	}
	return w.failed(std, err)
}

// failed tells bad input from a job that failed, of which it prints why.
func (write) failed(std streams, err error) error {
	if err == nil || errors.Is(err, sinkcore.ErrConfig) || errors.Is(err, live.ErrSourceMissing) {
		return err
	}
	fmt.Fprintf(std.err, "sinklab: %v\n", err)
	return errFound
}

// options are those of the job.
func (w write) options() (live.Options[[]byte], error) {
	policy, err := sinkcore.ParsePolicy(w.Policy)
	if err != nil {
		return live.Options[[]byte]{}, err
	}
	assigner, err := w.assigner()
	if err != nil {
		return live.Options[[]byte]{}, err
	}
	if w.Retain < 1 || w.Parallelism < 1 {
		return live.Options[[]byte]{}, fmt.Errorf("%w: --retain and --parallelism must be at least 1", sinkcore.ErrConfig)
	}
	if w.Dir == "" {
		return live.Options[[]byte]{}, fmt.Errorf("%w: --dir is empty; for the current directory say --dir .", sinkcore.ErrConfig)
	}
	if w.Checkpoint <= 0 || w.Check <= 0 {
		return live.Options[[]byte]{}, fmt.Errorf("%w: --checkpoint and --check must be greater than 0", sinkcore.ErrConfig)
	}
	o := live.Options[[]byte]{
		Sink: sinkcore.Config[[]byte]{
			Dir: w.Dir, Encoder: sinkcore.Line[[]byte]{}, Assigner: assigner, Policy: policy,
			CheckInterval: w.Check, Prefix: w.Prefix, Suffix: w.Suffix,
		},
		Parallelism: w.Parallelism, Interval: w.Checkpoint, Retain: w.Retain,
	}
	o.Refused = func(line []byte, err error) error {
		return fmt.Errorf("the line %q: %w; --on-refused drop goes on without such lines", shortened(line), err)
	}
	if w.OnRefused == "drop" {
		o.Refused = func([]byte, error) error { return nil }
	}
	return o, nil
}

// shortened is the beginning of a line, for a message.
func shortened(line []byte) []byte {
	const most = 60
	if len(line) <= most {
		return line
	}
	return append(line[:most:most], "..."...)
}

// assigner reads --bucket.
func (w write) assigner() (sinkcore.BucketAssigner[[]byte], error) {
	how, argument, _ := strings.Cut(w.Bucket, "=")
	switch {
	case how == "date":
		return sinkcore.NewDateTime[[]byte](sinkcore.DateTimeOptions{Format: argument, Zone: w.Zone})
	case w.Zone != "":
		return nil, fmt.Errorf("%w: --zone needs --bucket date=PATTERN", sinkcore.ErrConfig)
	case w.Bucket == "none":
		return sinkcore.BasePath[[]byte]{}, nil
	case how == "before" && argument != "":
		return sinkcore.BucketFunc[[]byte](func(line []byte, _ sinkcore.Context) (string, error) {
			bucket, _, found := bytes.Cut(line, []byte(argument))
			if !found {
				return "", fmt.Errorf("the line has no %q", argument)
			}
			return string(bucket), nil
		}), nil
	}
	return nil, fmt.Errorf("%w: --bucket %q: want none, date=PATTERN or before=TEXT", sinkcore.ErrConfig, w.Bucket)
}

// source is the input.
func (w write) source(stdin io.Reader, clock live.Clock) (live.Source[[]byte], error) {
	standard := len(w.Files) == 0
	for _, file := range w.Files {
		standard = standard || file == "-"
	}
	switch {
	case standard && len(w.Files) > 1:
		return nil, fmt.Errorf("%w: standard input comes alone, it cannot be set back to go on with files", sinkcore.ErrConfig)
	case standard && w.Follow:
		return nil, fmt.Errorf("%w: --follow needs a FILE; standard input is followed until it ends", sinkcore.ErrConfig)
	case standard:
		return live.NewStream(stdin, w.Resent), nil
	case w.Resent:
		return nil, fmt.Errorf("%w: --resent is for standard input; files are set back", sinkcore.ErrConfig)
	}
	return live.NewFiles(live.FilesOptions{Paths: w.Files, Follow: w.Follow, Poll: w.Poll, Clock: clock})
}
