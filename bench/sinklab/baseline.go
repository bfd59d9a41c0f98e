package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"sinklab/bench/gate"
)

// baselineCommand is the subcommand baseline.
type baselineCommand struct {
	From string `arg:"" name:"RUN" help:"A run in Go's benchmark format."`
	To   string `arg:"" name:"BASELINE" help:"The file to write; what it was is replaced."`
	Drop bool   `help:"Write it also if it lacks benchmarks or units of the old one."`
	JSON bool   `name:"json" help:"Print what changed, and whether it was written, as one JSON object."`
}

// Help is the longer text of baseline --help.
func (baselineCommand) Help() string {
	return `Of the run are kept the exact metrics, all samples of the ratios, and the Unit lines. Of
what depends on the machine one sample is kept, by which no value is judged, but a run is
found out that has not measured it. Then it says what differs from the old
baseline, in the words of "sinklab gate", so that it can be looked at before it is
committed. The file is replaced at once or not at all, and the same run gives the same
bytes.

A run that lacks a benchmark or unit of the old baseline is refused, for what is not in a
baseline is not missed later: a run of some benchmarks would drop all others. What would
go is told as missing. If that is meant, or something got another name: --drop.

A run that "sinklab gate" would refuse is refused, also if it has so few samples that a
run with as many could never fail because of a ratio. The more rounds a baseline has the
smaller are the slowdowns that are found, in runs of few rounds too; 24 are a good number.

  make bench ROUNDS=24
  sinklab baseline out/bench.txt testdata/bench/baseline.txt

Exit status: 0, 1 if the baseline stays because something would go, 2 for bad input.`
}

// Run reads both before it writes anything.
func (b baselineCommand) Run(std streams) error {
	now, err := readBenchmarks(b.From)
	if err != nil {
		return err
	}
	old, err := readBenchmarks(b.To)
	var unreadable *gate.InputError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case errors.As(err, &unreadable):
		// It goes away, so it need not be well-formed; but then there is nothing to compare.
		fmt.Fprintf(std.err, "sinklab: the old baseline is of no use, so what changes is not told: %v\n", err)
	case err != nil:
		return err
	}
	changes, err := gate.CompareBaselines(old, now)
	if err != nil {
		return err
	}
	write := b.Drop || !changes.Drops()
	if write {
		if err := replaceBaseline(b.To, now); err != nil {
			return err
		}
	}
	if b.JSON {
		err = printJSON(std.out, struct {
			Written bool `json:"written"`
			*gate.Changes
		}{write, changes})
	} else {
		err = b.print(std.out, changes, write)
	}
	if err == nil && !write {
		err = errFound
	}
	return err
}

// print says what changed, or would have.
func (b baselineCommand) print(out io.Writer, changes *gate.Changes, written bool) error {
	if err := changes.WriteText(out); err != nil || written {
		return err
	}
	_, err := fmt.Fprintf(out, `%[2]s stays as it is, for %[1]s lacks what is told as missing above.
Measure all benchmarks, or if it is meant to go: sinklab baseline --drop %[1]s %[2]s
`, b.From, b.To)
	return err
}

// replaceBaseline writes a file beside the old one and then gives it its name, so that
// nobody sees half a baseline.
func replaceBaseline(file string, run *gate.Run) error {
	temp, err := os.CreateTemp(filepath.Dir(file), ".baseline")
	if err != nil {
		return err
	}
	const readable = 0o644
	err = errors.Join(run.WriteBaseline(temp), temp.Chmod(readable), temp.Sync())
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
