package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"sinklab/bench/flink"
	"sinklab/sinkcore"
)

// flinkCluster is the subcommand.
type flinkCluster struct {
	Rate       float64       `default:"200" placeholder:"N" help:"Records a second (${default})."`
	For        time.Duration `default:"45s" placeholder:"TIME" help:"How long records arrive (${default})."`
	Size       int           `default:"100" placeholder:"BYTES" help:"Of a record with its newline (${default})."`
	Buckets    int           `default:"1" placeholder:"N" help:"Records go to them in turn (${default})."`
	Policy     string        `default:"rolling" enum:"rolling,oncheckpoint,deadline" help:"rolling, oncheckpoint or deadline (${default})."`
	Rollover   time.Duration `default:"2s" placeholder:"TIME" help:"Of rolling: greatest age of a file, and greatest time without a record (${default})."`
	Within     time.Duration `default:"5s" placeholder:"TIME" help:"Of deadline: from a record's arrival until it is visible (${default})."`
	Duration   time.Duration `default:"1s" placeholder:"TIME" help:"Of deadline: what a checkpoint takes at most (${default})."`
	Check      time.Duration `default:"500ms" placeholder:"TIME" help:"Between two checks of the files' age (${default})."`
	Checkpoint time.Duration `default:"1s" placeholder:"TIME" help:"Between two checkpoints (${default})."`
	Kills      int           `default:"2" placeholder:"N" help:"How many task managers are killed, in turns (${default})."`
	Dir        string        `type:"existingdir" placeholder:"DIR" help:"Where the cluster and the job write; it stays. By default a directory for temporary files, which is removed."`
	Jar        string        `placeholder:"FILE" help:"Only write the job's jar, for flink run on a cluster of your own."`
	JSON       bool          `name:"json" help:"Print the result as one JSON object."`
}

// Help is the longer text of flink-cluster --help.
func (flinkCluster) Help() string {
	return `Needs Java 17 and Maven; the first run compiles a small program and fetches Flink 2.3.0.

Starts a real standalone cluster from Maven's artifacts: one job manager and two task managers
of two slots, each a process of its own, listening on the loopback address only. Submits the job by
Flink's own client with parallelism 4, kills one task manager and then the other by SIGKILL
in mid-run, starting each anew, and checks the visible files in the end:
  every record is there once, and no visible file changed;
  none came later than the closed form (sinkcore.WorstLatency, for the checkpoints as they
  were), the longest outage and the time between two looks of the watch, about 200 ms;
  the watch saw each file when, by the file's own times, it had been renamed, or later by no more
  than the time between two looks.
A record's latency counts from when it was to arrive, so outages are in it. An outage lasts from
the start of the last checkpoint that completed before the kill until the next one that
completes starts, since what was written in between is written anew; and a restore begins
the check timer anew, which adds a check interval. In-progress files of dead attempts are
counted: Flink leaves them for ever.

However this command ends, SIGKILL included, the cluster's processes end with it.

The job is yours to run elsewhere: flink-cluster --jar records.jar, and then
  flink run records.jar --output s3://bucket/out --rate 1000 --policy oncheckpoint
  sinklab watch /mnt/bucket/out --time-csv 1 --id-csv 2 --poll

Exit status: 0, 1 if what was checked does not hold, 2 for bad input or if the cluster failed.`
}

// Run runs the cluster.
func (c flinkCluster) Run(std streams) error {
	o := flink.ClusterOptions{Rate: c.Rate, For: c.For, Size: c.Size, Buckets: c.Buckets, Check: c.Check, Checkpoint: c.Checkpoint, Kills: c.Kills, Dir: c.Dir}
	switch c.Policy {
	case "rolling":
		o.Policy = sinkcore.Default{Rollover: c.Rollover, Inactivity: c.Rollover}
	case "oncheckpoint":
		o.Policy = sinkcore.OnCheckpoint{}
	case "deadline":
		o.Policy = sinkcore.Deadline{Within: c.Within, Checkpoint: c.Checkpoint, Duration: c.Duration}
	}
	if c.Kills == 0 {
		o.Kills = -1
	}
	if err := o.Validate(); err != nil {
		return err
	}
	return withModule(std, func(ctx context.Context, m *flink.Module) error {
		if c.Jar != "" {
			return flink.WriteJobJar(m, c.Jar)
		}
		show, done := showLine(std)
		o.Progress = show
		r, err := flink.RunCluster(ctx, m, o)
		done()
		if err != nil {
			return err
		}
		if c.JSON {
			err = printJSON(std.out, r)
		} else {
			err = printCluster(std.out, r)
		}
		return errors.Join(err, foundIf(!r.Holds()))
	})
}

func printCluster(out io.Writer, r flink.ClusterResult) error {
	seconds := func(ms int64) string { return fmt.Sprintf("%.1f s", float64(ms)/1000) }
	fmt.Fprintf(out, "%d records written, %d visible in %d files, %d missing, %d twice; %d visible files changed\n",
		r.Written, r.Visible, r.Files, r.Missing, r.Twice, r.Changed)
	for _, s := range r.Outages {
		fmt.Fprintf(out, "task manager %d killed: %s until the next checkpoint\n", s.TaskManager, seconds(s.Length))
	}
	fmt.Fprintf(out, "checkpoints took %s at most, and %s from one to the next\n", seconds(r.Duration), seconds(r.Interval))
	fmt.Fprintf(out, "latency: p50 %s, p99 %s, max %s; closed form %s, with the outage %s\n",
		seconds(r.P50), seconds(r.P99), seconds(r.Max), seconds(r.ClosedForm), seconds(r.Bound))
	if r.Account.Files > 0 {
		fmt.Fprintf(out, "by their own times the files were seen %s after they were renamed; the watch looked every %d ms\n", seenAfter(r.Account), r.Account.Unlooked)
	}
	verdict := "holds: every record once, none later than that"
	if !r.Holds() {
		verdict = "DOES NOT HOLD"
	}
	_, err := fmt.Fprintf(out, "%d in-progress files of dead attempts are left, as Flink leaves them\n%s\n", r.Hidden, verdict)
	return err
}
