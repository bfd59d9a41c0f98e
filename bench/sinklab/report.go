package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"sinklab/bench/report"
)

// reportCommand is the subcommand report.
type reportCommand struct {
	File    string `arg:"" optional:"" name:"RUN" default:"out/bench.txt" help:"The run to show, in Go's benchmark format (${default})."`
	Base    string `placeholder:"FILE" help:"Another run, to show what has changed since."`
	Output  string `short:"o" default:"out/report.html" placeholder:"FILE" help:"Where to write the page (${default}); its directory is made."`
	Picture string `placeholder:"FILE" help:"Write only the first picture, as an SVG file, and no page."`
	JSON    bool   `name:"json" help:"Print the series and figures as one JSON object and write no page."`
}

// Help is the longer text of report --help.
func (reportCommand) Help() string {
	return `The page is one HTML file that needs no network and no scripts: when the records of the
article's settings become visible, what less latency costs in files, what the sink costs
beside the bare file system, the life of each part file, and everything that was measured.

  make bench
  sinklab report
  sinklab report out/bench.txt --base other.txt

Pictures over time are drawn from playing the settings anew in virtual time. If that does
not give the exact figures of the run, the run is of another version of the code and is
refused, as is one in which something failed or that was cut off. A page that is there already stays as it is unless the new one is whole.

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
	r, err := report.New(run, base)
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
