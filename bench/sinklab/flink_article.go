package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"sinklab/bench/flink"
	dirwatch "sinklab/bench/watch" // watch is a function of bench.go
)

// flinkArticle is the subcommand.
type flinkArticle struct {
	For  time.Duration `default:"125s" placeholder:"TIME" help:"How long the jobs run (${default})."`
	Dir  string        `type:"existingdir" placeholder:"DIR" help:"Where the jobs write; it stays. By default a directory for temporary files, which is removed."`
	JSON bool          `name:"json" help:"Print JSON."`
}

// Help is the longer text of flink-article --help.
func (flinkArticle) Help() string {
	return `Needs Java 17 and Maven; the first run compiles a small program and fetches Flink 2.3.0.

Runs the article's three settings on the real Flink in real time, all three at once, each under
a watch of its directory every 200 ms: Flink's default (files of 60 s, looked at every 60 s);
tuned (10 s, looked at every second); a new file at every checkpoint. Ten records a second from 50 ms
after the start of the source on, a checkpoint at 150 ms and every 2 s after that. Flink's own
timer draws the first one's instant at random; here they are asked for, and are otherwise the same.

The model beside it is sinkcore in virtual time, whose checkpoints take no time. The first file
must be seen when the model says, or later by no more than the time between two looks, that
of the slowest checkpoint, and 100 ms for the renaming after it (1 s while the job starts).
The files' own times say when each was renamed; the watch must have seen it then, or later by
no more than the time between two looks (seen after).

Flink's default shows its first file after 120.15 s; in less time than that it is not tried.

Exit status: 0, 1 if that does not hold or a rule was broken, 2 for bad input or if Flink failed.`
}

// Run runs the article.
func (c flinkArticle) Run(std streams) error {
	if c.For <= 0 {
		return errors.New("--for must be greater than 0")
	}
	return withModule(std, func(ctx context.Context, m *flink.Module) error {
		o := flink.ArticleOptions{For: c.For, Dir: c.Dir}
		show, done := showLine(std)
		if show != nil {
			o.Progress = func(watched time.Duration, states []dirwatch.State) {
				line := fmt.Sprintf("%.0f s of %.0f s", watched.Seconds(), c.For.Seconds())
				for _, s := range states {
					line += fmt.Sprintf(", %d files", s.Files)
				}
				show(line)
			}
		}
		results, err := flink.RunArticle(ctx, m, o)
		done()
		if err != nil {
			return err
		}
		if c.JSON {
			err = printJSON(std.out, results)
		} else {
			err = printArticle(std.out, results)
		}
		holds := true
		for _, r := range results {
			holds = holds && r.Holds()
		}
		return errors.Join(err, foundIf(!holds))
	})
}

// seenAfter says how long after its renaming a file was seen.
func seenAfter(a flink.Account) string {
	if a.Files == 0 {
		return "-"
	}
	return fmt.Sprintf("%d to %d ms", a.Soonest, a.Latest)
}

func printArticle(out io.Writer, results []flink.ArticleResult) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	seconds := func(ms int64) string {
		if ms < 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f s", float64(ms)/1000)
	}
	fmt.Fprint(t, "setting\tfirst file\tin the model\tp50\tp99\tmax\tin the model\tfiles\tin the model\trecords\tslowest checkpoint\tseen after\tstart\tholds\t\n")
	for _, r := range results {
		holds := "yes"
		switch {
		case !r.Holds():
			holds = "NO"
		case !r.Tried():
			holds = "not tried: too short"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t\n", r.Setting, seconds(r.First), seconds(r.ModelFirst), seconds(r.P50), seconds(r.P99),
			seconds(r.Max), seconds(r.ModelMax), r.Files, r.ModelFiles, r.Records, seconds(r.Late), seenAfter(r.Account), seconds(r.Start), holds)
	}
	return t.Flush()
}
