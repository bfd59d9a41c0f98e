package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sinklab/bench/report"
)

// reportCommand is the subcommand report.
type reportCommand struct {
	File    string   `arg:"" optional:"" name:"RUN" default:"out/bench.txt" help:"The run to show, in Go's benchmark format (${default})."`
	Base    string   `placeholder:"FILE" help:"Another run, to show what has changed since."`
	Watched []string `sep:"none" placeholder:"[NAME=]FILE" help:"What sinklab watch DIR --json has printed, to show under a name (the file's without its ending). May be given again."`
	Output  string   `short:"o" default:"out/report.html" placeholder:"FILE" help:"Where to write the page (${default}); its directory is made."`
	Picture string   `placeholder:"FILE" help:"Write only the first picture, as an SVG file, and no page."`
	JSON    bool     `name:"json" help:"Print the series and figures as one JSON object and write no page."`
}

// Help is the longer text of report --help.
func (reportCommand) Help() string {
	return `The page is one HTML file that needs no network and no scripts: when the records of the
article's settings become visible, what less latency costs in files, what the sink costs
beside the bare file system, the life of each part file, and everything that was measured.

  make bench
  sinklab report
  sinklab report out/bench.txt --base other.txt

With --watched it also has what a reader saw of real directories, of any engine: a table and
the share of the records that were visible after a time, a line for each watch. The directory
and its files are not named. What is before the first = is the name, so a FILE with = in it
needs one.

  sinklab watch /mnt/bucket --time-csv 1 --for 5m --json > out/flink.json
  sinklab report --watched out/flink.json --watched other=out/copy.json

Pictures over time are drawn from playing the settings anew in virtual time. If that does
not give the exact figures of the run, the run is of another version of the code and is
refused, as is one in which something failed or that was cut off. A page that is there
already stays as it is unless the new one is whole.

Exit status: 0, 2 for bad input.`
}

// Run writes the page.
func (c reportCommand) Run(std streams) error {
	run, err := readRun(c.File)
	if err != nil {
		return err
	}
	var base *report.Run
	if c.Base != "" {
		if base, err = readRun(c.Base); err != nil {
			return err
		}
	}
	var watched []report.Watched
	for _, flag := range c.Watched {
		w, err := readWatched(flag)
		if err != nil {
			return err
		}
		watched = append(watched, w)
	}
	r, err := report.New(run, base, watched...)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(std.out, r)
	}
	to, write := c.Output, r.WriteHTML
	if c.Picture != "" {
		to, write = c.Picture, r.WritePicture
	}
	if err := replacePage(to, write); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "wrote %s\n", to)
	return err
}

// readRun reads a benchmark file.
func readRun(file string) (*report.Run, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; make bench writes out/bench.txt", err)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return report.Read(f, file)
}

// readWatched reads the result of a watch as a flag names it.
func readWatched(flag string) (report.Watched, error) {
	name, file, named := strings.Cut(flag, "=")
	if !named {
		file = flag
		name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	}
	if name == "" || file == "" {
		return report.Watched{}, fmt.Errorf("--watched %q: want FILE or NAME=FILE", flag)
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return report.Watched{}, fmt.Errorf("--watched: %w; sinklab watch DIR --json > FILE makes one", err)
	}
	if err != nil {
		return report.Watched{}, fmt.Errorf("--watched: %w", err)
	}
	defer f.Close()
	w, err := report.ReadWatched(f, name)
	if err != nil {
		return report.Watched{}, fmt.Errorf("--watched %s: %w", file, err)
	}
	return w, nil
}

// replacePage writes a page beside the old one and then gives it its name, so that nobody
// sees half a page. The directory is made if there is none.
func replacePage(file string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return fmt.Errorf("%s cannot be written: %w", file, err)
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".report")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", file, err)
	}
	const readable = 0o644
	err = errors.Join(write(temp), temp.Chmod(readable))
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
