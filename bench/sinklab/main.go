// Command sinklab answers questions about exactly-once rolling file sinks: what
// becomes visible when, and why.
//
// Run it with --help for its subcommands. Its exit status is 0 if all is well, 1 if
// what was checked does not hold, and 2 for bad input.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
)

// Exit statuses.
const (
	statusOK       = 0
	statusFound    = 1 // what was checked does not hold
	statusBadInput = 2
)

// commands is the command line.
type commands struct {
	Replay       replay          `cmd:"" help:"Play traces on the sink and print what became visible when."`
	Write        write           `cmd:"" help:"Write lines from files or standard input exactly once, over crashes and restarts."`
	Bench        benchCommand    `cmd:"" help:"Run the benchmarks, of another revision in turns with this one if asked."`
	Report       reportCommand   `cmd:"" help:"Make a page with pictures of a run of the benchmarks."`
	Watch        watchCommand    `cmd:"" help:"Watch the directory of any sink: when each record becomes visible, in how many files."`
	Plan         planCommand     `cmd:"" help:"Find the settings for a latency and a number of files, ready to paste."`
	Lint         lintCommand     `cmd:"" help:"Find what is not well about the settings in your Java, SQL or connector files."`
	Explain      explainCommand  `cmd:"" help:"Tell the life of the record that waits longest, as a time line."`
	Simulate     simulateCommand `cmd:"" help:"Play a workload on policies and sinks of other engines, in virtual time."`
	Soak         soak            `cmd:"" help:"Play random programs with crashes and power cuts for a given time."`
	Kit          kitCommand      `cmd:"" help:"Test a sink in any language, as a process that answers on standard output: does it write exactly once?"`
	Gate         gateCommand     `cmd:"" help:"Judge a run of the benchmarks by a baseline."`
	FuzzFlink    fuzzFlink       `cmd:"" help:"Play random programs on the real Flink and on this sink, and compare."`
	RecordFlink  recordFlink     `cmd:"" help:"Record traces anew with the real Flink, or check them."`
	Findings     findings        `cmd:"" help:"Show where the real Flink breaks a rule, on its operators and on a running job."`
	FlinkBench   flinkBench      `cmd:"" help:"Measure the real Flink's sink and this one in turns, on one disk."`
	FlinkCluster flinkCluster    `cmd:"" help:"Run a job on a real Flink cluster of this machine, kill task managers, and check every record."`
	FlinkArticle flinkArticle    `cmd:"" help:"Run the article's three settings on the real Flink in real time, and watch."`
	Baseline     baselineCommand `cmd:"" help:"Make a run of the benchmarks the new baseline, and say what that changes."`
}

// streams are the standard streams, so that tests can give others.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

func main() {
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// errFound ends a command that has already told what does not hold.
var errFound = errors.New("found")

// run is the whole program but for the process around it.
func run(args []string, std streams) (status int) {
	type exit int
	defer func() {
		// Kong prints help by calling its exit function in mid-parse.
		switch e := recover().(type) {
		case nil:
		case exit:
			status = int(e)
		default:
			panic(e)
		}
	}()
	var c commands
	parser, err := kong.New(&c,
		kong.Name("sinklab"),
		kong.Description("Measure, test and choose the settings of exactly-once rolling file sinks.\n\n"+
			"Exit status: 0 if all is well, 1 if what was checked does not hold, 2 for bad input."),
		kong.Writers(std.out, std.err),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Bind(std),
		durations(),
	)
	if err != nil {
		fmt.Fprintf(std.err, "sinklab: %v\n", err)
		return statusBadInput
	}
	command, err := parser.Parse(args)
	switch {
	case err != nil:
		err = fmt.Errorf("%w; see sinklab --help", err)
	default:
		if err = refuseZeros(command); err == nil {
			err = command.Run()
		}
	}
	switch {
	case err == nil:
		return statusOK
	case errors.Is(err, errFound):
		return statusFound
	}
	fmt.Fprintf(std.err, "sinklab: %v\n", err)
	return statusBadInput
}
