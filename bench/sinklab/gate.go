package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"sinklab/bench/gate"
)

// gateCommand is the subcommand gate.
type gateCommand struct {
	Baseline string  `arg:"" name:"BASELINE" help:"What \"sinklab baseline\" wrote."`
	File     string  `arg:"" name:"RUN" help:"The run to judge, in Go's benchmark format."`
	Alpha    float64 `default:"0.01" help:"How often unchanged code may fail: the rate of false alarms of all ratios together."`
	Least    string  `placeholder:"PERCENT" help:"By how much a ratio has to be worse to count, for all ratios, such as 8%: for sides measured in turns. By default it is what the Unit lines say, which allows for another machine and another day, and 3% for units that do not say."`
	Ratios   bool    `help:"Fail by ratios that became worse only. Exact metrics and what is missing or new are told: for the two sides of a pull request, where the committed baseline judges them."`
	JSON     bool    `name:"json" help:"Print one JSON object."`
}

// Help is the longer text of gate --help.
func (gateCommand) Help() string {
	return `Exact metrics (assume=exact in the Unit line) have to be what they are in the baseline, bit
for bit. Ratios (units that begin with x-) fail if their median is worse by more than the
least effect and if chance does not explain it: by the Mann-Whitney test over their
samples, corrected for the number of ratios. A ratio that became better is told. Whatever
else was measured depends on the machine, and is counted but not judged.

A benchmark or unit that one side lacks, or describes in another way, fails, also if it
depends on the machine. A run in which something failed, two configurations or machines in
one side, a unit without a Unit line, too few samples for any difference to be told from
chance, and lines that are cut off or cannot be read are bad input.

With --ratios nothing fails but a ratio that became worse, and all else is told. Sides
without a ratio in common are bad input then, for nothing could fail.

  make bench
  sinklab gate testdata/bench/baseline.txt out/bench.txt

  make compare BASE=main
  sinklab gate --ratios --least 8% out/base.txt out/bench.txt

What is meant to change is put into the baseline by "sinklab baseline". How small a
slowdown is found with how many rounds is in the package documentation of
sinklab/bench/gate: go doc ./bench/gate

Exit status: 0, 1 if the run fails, 2 for bad input.`
}

// Run judges the run.
func (g gateCommand) Run(std streams) error {
	least := 0.0
	if g.Least != "" {
		var err error
		if least, err = gate.ParseLeast(g.Least); err != nil {
			return fmt.Errorf("--least: %w", err)
		}
	}
	if !(g.Alpha > 0 && g.Alpha < 1) {
		return fmt.Errorf("--alpha %v: must be above 0 and below 1", g.Alpha)
	}
	base, err := readBenchmarks(g.Baseline)
	if err != nil {
		return err
	}
	run, err := readBenchmarks(g.File)
	if err != nil {
		return err
	}
	report, err := gate.Compare(base, run, gate.Options{Alpha: g.Alpha, Least: least, RatiosOnly: g.Ratios})
	if err != nil {
		return err
	}
	if err := g.print(std.out, report); err != nil {
		return err
	}
	if !report.OK() {
		return errFound
	}
	return nil
}

func (g gateCommand) print(out io.Writer, report *gate.Report) error {
	if g.JSON {
		return printJSON(out, struct {
			OK bool `json:"ok"`
			*gate.Report
		}{report.OK(), report})
	}
	if err := report.WriteText(out); err != nil || report.OK() {
		return err
	}
	if g.Ratios {
		_, err := fmt.Fprintf(out, "All samples, side by side: go tool benchstat %s %s\n", g.Baseline, g.File)
		return err
	}
	_, err := fmt.Fprintf(out, `If the change is meant, write a new baseline, look at what it changes, and commit it:
  sinklab baseline %[2]s %[1]s
Else mend what made it worse. All samples, side by side: go tool benchstat %[1]s %[2]s
`, g.Baseline, g.File)
	return err
}

func readBenchmarks(file string) (*gate.Run, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return gate.Read(f, file)
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
