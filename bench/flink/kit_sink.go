package flink

import (
	"context"
	"strings"
	"time"

	"sinklab/fsmem"
	"sinklab/props"
	"sinklab/props/sinktest"
	"sinklab/props/sinktest/wire"
	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// KitOptions say how the real FileSink is tested as a sink of package sinktest.
type KitOptions struct {
	// Open holds words of the operation open, such as "policy=oncheckpoint"; "" is a policy that
	// closes files for each of its reasons within the time of a drawn program.
	Open string

	// Keep and Observe are those of wire.Options.
	Keep    bool
	Observe func(request, answer []byte, operations []wire.Operation)
}

const kitOpen = "policy=rolling size=10 rollover=300 inactivity=200 check=100"

// OpenKit makes the real FileSink a kind that package sinktest can test: a Java process that works in a
// real directory, whose system calls strace records, and which SIGKILL ends. Close the process. The error
// wraps wire.ErrNoTrace where system calls cannot be recorded, and sim.ErrSyntax for settings that make
// no sense.
func OpenKit(ctx context.Context, m *Module, o KitOptions) (*wire.Process, sinktest.Kind, error) {
	if o.Open == "" {
		o.Open = kitOpen
	}
	settings, err := settingsOf(o.Open)
	if err != nil {
		return nil, sinktest.Kind{}, err
	}
	args := append([]string{"-Xmx256m", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "sinklab.flink.kit.Server"}, strings.Fields(o.Open)...)
	cmd := m.Command(ctx, args...)
	p, err := wire.Open(wire.Options{
		Command: append([]string{cmd.Path}, cmd.Args[1:]...), Env: cmd.Env, Trace: true, Keep: o.Keep, Observe: o.Observe,
	})
	if err != nil {
		return nil, sinktest.Kind{}, err
	}
	k := p.Kind()
	k.Name = "Apache Flink 2.3.0 FileSink, " + o.Open
	// Flink's harness fires timers whenever its clock is set.
	k.Lacks = append(k.Lacks, sinktest.ClockSteps)
	for _, w := range []sinktest.Waiver{
		{Rule: props.Surfaced, Reason: "errors of the file system are not played on another process"},
		{Rule: props.Poisoned, Reason: "errors of the file system are not played on another process"},
		{Rule: props.Deterministic, Reason: "files have random names (LocalRecoverableWriter:119-134, FileWriterBucket:97)"},
	} {
		k.Waived = append(k.Waived, w)
	}
	k.Latency = func(checkpoint, duration time.Duration) time.Duration {
		bound, _ := sinkcore.WorstLatency(settings.Policy, sinkcore.Schedule{Check: settings.Check, Checkpoint: checkpoint, Duration: duration})
		return bound
	}
	_, each := settings.Policy.(sinkcore.OnCheckpoint)
	k.Files = func(l sinktest.Load) (least, most int) {
		if each {
			return l.Intervals, l.Intervals
		}
		return 1, l.Records
	}
	return p, k, nil
}

// settingsOf reads the words of an open.
func settingsOf(words string) (sim.Settings, error) {
	scenarios, err := sim.Parse(strings.NewReader("open "+words+"\n"), sim.Operations())
	if err != nil {
		return sim.Settings{}, err
	}
	runner, err := sim.NewRunner(sim.Options{Fs: fsmem.New(fsmem.Options{}), Random: strings.NewReader(strings.Repeat("\x00", 64)), Dir: "/sink"})
	if err != nil {
		return sim.Settings{}, err
	}
	if err := scenarios[0].Steps[0].Operation.Play(runner); err != nil {
		return sim.Settings{}, err
	}
	return runner.Settings(), nil
}

// KitText is the text of a table without what is by chance: the unique names of files.
func KitText(t sinktest.Table) string { return kitPlain(t.String()) }

func kitPlain(text string) string { return uuids.ReplaceAllString(text, "UUID") }
