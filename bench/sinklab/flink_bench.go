package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"sinklab/bench/flink"
)

// flinkBench is the subcommand.
type flinkBench struct {
	Dir     string        `placeholder:"DIR" help:"Where both write; what is written is removed. By default the directory for temporary files."`
	Rounds  int           `default:"10" help:"Samples of each benchmark (${default}); of whole jobs there are 6 at most."`
	Size    []int         `placeholder:"BYTES" help:"Sizes of a record, its newline included (100,1000,10000)."`
	Buckets []int         `placeholder:"N" help:"Numbers of buckets (1,100,1000)."`
	JobTime time.Duration `default:"2s" placeholder:"TIME" help:"How long each whole job writes, or 1 GiB (${default}); 0s for no jobs."`
	Least   float64       `placeholder:"RATIO" help:"Fail if with one bucket and records of up to 1,000 bytes sinklab is less than so many times as fast as Flink's FileWriter as it comes."`
	Bench   string        `placeholder:"FILE" help:"Write the benchmark lines to this file too."`
	JSON    bool          `name:"json" help:"Print the samples and ratios as one JSON object."`
}

// Help is the longer text of flink-bench --help.
func (flinkBench) Help() string {
	return `Needs Java 17 and Maven; the first run compiles a small program and fetches Flink 2.3.0.

BenchmarkWrite is the write path: Flink's own FileWriter, called as its operator does, in JVMs
that have been warmed up, and sinkcore, in turns on the same disk. BenchmarkJob is a whole
job with a checkpoint every second, on Flink's local executor and on sinkcore/live. What the
write path takes is the time of its thread on a processor, the kernel's work for its calls
included, and none of the threads that write to the disk later. In the end all files are read back, and a record that is lost or doubled is an error.

Why Flink is slow: its row format writes unbuffered. For each record the operating system is
asked three times: where the file stands, for the size that the rolling policy looks at; to
write the record; and, by SimpleStringEncoder, to write one byte, the newline. So the fair
comparison is beside it:
  encoder=simple   Flink's SimpleStringEncoder as it comes
  encoder=onecall  an encoder that writes record and newline in one call
  encoder=bulk     a bulk writer with a buffer, as formats like Parquet have one
  engine=bufio     no engine at all: a bufio.Writer, as a program would have it
All buffers have 128 KiB, with more than one bucket 4 KiB each. sinklab checksums every byte
besides, and on ext4 it has disk space reserved ahead, so that it may take less than bufio.
The larger the records, the more of the time is the kernel's copying them into the page
cache, which is the same for all.

  sinklab flink-bench --bench out/flink.txt
  go tool benchstat -col /engine,/encoder -row .name,/size,/buckets -filter .unit:ns/record out/flink.txt

Exit status: 0, 1 if --least is not reached or a record is lost or doubled, 2 for bad input.`
}

// Run measures and prints.
func (c flinkBench) Run(std streams) error {
	o := flink.PeerOptions{Dir: c.Dir, Rounds: c.Rounds, Sizes: c.Size, Buckets: c.Buckets, JobTime: c.JobTime}
	if c.Rounds < 1 || c.JobTime < 0 {
		return errors.New("--rounds must be at least 1, and --job-time not negative")
	}
	if c.JobTime == 0 {
		o.JobTime = -1
	}
	if err := o.Validate(); err != nil {
		return err
	}
	var bench *os.File
	if c.Bench != "" {
		var err error
		// Before minutes of measuring. What it holds stays until there is something new.
		if bench, err = os.OpenFile(c.Bench, os.O_WRONLY|os.O_CREATE, 0o666); err != nil {
			return err
		}
		defer bench.Close() // again does no harm
	}
	return withModule(std, func(ctx context.Context, m *flink.Module) error {
		show, done := showLine(std)
		o.Progress = show
		samples, err := flink.Peers(ctx, m, o)
		done()
		if errors.Is(err, flink.ErrPeerRecords) {
			fmt.Fprintln(std.out, err)
			return errFound
		}
		if err != nil {
			return err
		}
		ratios := flink.PeerRatios(samples)
		if c.JSON {
			err = printJSON(std.out, struct {
				Samples []flink.PeerSample `json:"samples"`
				Ratios  []flink.PeerRatio  `json:"ratios"`
			}{samples, ratios})
		} else {
			err = errors.Join(flink.WritePeers(std.out, samples), printRatios(std.out, ratios))
		}
		if bench != nil {
			err = errors.Join(err, bench.Truncate(0), flink.WritePeers(bench, samples), bench.Close())
		}
		if err != nil {
			return err
		}
		return c.judge(std.out, ratios)
	})
}

// judge compares with --least.
func (c flinkBench) judge(out io.Writer, ratios []flink.PeerRatio) error {
	if c.Least <= 0 {
		return nil
	}
	const small = 1000
	judged, slow := 0, 0
	for _, r := range ratios {
		if r.Benchmark != "Write" || r.Encoder != "simple" || r.Buckets != 1 || r.Size > small {
			continue
		}
		judged++
		if r.Times() < c.Least {
			slow++
			if !c.JSON {
				fmt.Fprintf(out, "%d bytes: %.1f times as fast, less than %g\n", r.Size, r.Times(), c.Least)
			}
		}
	}
	if judged == 0 {
		return errors.New("--least: nothing was measured with one bucket and records of up to 1,000 bytes")
	}
	return foundIf(slow > 0)
}

func printRatios(out io.Writer, ratios []flink.PeerRatio) error {
	fmt.Fprintln(out)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "medians\tencoder of Flink\tbytes\tbuckets\tFlink ns/record\tsinklab ns/record\tbufio ns/record\ttimes as fast\t\n")
	for _, r := range ratios {
		encoder := r.Encoder
		if encoder == "" {
			encoder = "simple"
		}
		bufio := "-"
		if r.BufioNS > 0 {
			bufio = fmt.Sprintf("%.0f", r.BufioNS)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.0f\t%.0f\t%s\t%.1f\t\n", r.Benchmark, encoder, r.Size, r.Buckets, r.FlinkNS, r.SinklabNS, bufio, r.Times())
	}
	return t.Flush()
}

// withModule compiles the Java side for a call, which ends early at a signal.
func withModule(std streams, do func(context.Context, *flink.Module) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	show, done := showLine(std)
	if show != nil {
		show("starting Flink; the first time it is fetched and compiled, which takes a minute")
	}
	m, err := flink.Build(ctx)
	done()
	if err != nil {
		return err
	}
	return do(ctx, m)
}
