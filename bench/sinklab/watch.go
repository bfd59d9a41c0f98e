package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"sinklab/bench/watch" // watch is a function of bench.go
)

// watchCommand is the subcommand watch.
type watchCommand struct {
	Dir string `arg:"" name:"DIR" help:"The directory that the sink writes to, with all below it. It may be made later."`

	TimeCSV   string `name:"time-csv" placeholder:"COLUMN" help:"A record's time is in this column of CSV: its number from 1 on, or its name in the first line of each file."`
	TimeJSON  string `name:"time-json" placeholder:"FIELD" help:"A record's time is in this field of JSON: name, outer.name, or /a/pointer."`
	IDCSV     string `name:"id-csv" placeholder:"COLUMN" help:"No two records have the same in this column of CSV; count those that do (40 bytes of memory a record)."`
	IDJSON    string `name:"id-json" placeholder:"FIELD" help:"The same with a field of JSON."`
	Format    string `placeholder:"WORD" help:"What a line is: lines (anything), csv or json. By default what --time-… and --id-… say, lines without them."`
	Separator string `default:"," placeholder:"CHAR" help:"What stands between the columns of CSV (${default}); \\t is a tab."`

	Hidden []string `default:".*,_*" placeholder:"PATTERN" help:"Names of files and directories that readers pass over (${default}); empty for none."`

	Every     time.Duration `type:"time" default:"200ms" least:"1ms or longer" placeholder:"TIME" help:"Time between two looks (${default}); no latency is known better than that."`
	For       time.Duration `type:"time" least:"1ms or longer" placeholder:"TIME" help:"End after this time."`
	UntilIdle time.Duration `type:"time" least:"1ms or longer" placeholder:"TIME" help:"End when nothing has become visible for this time. It runs from the first file on."`
	Poll      bool          `help:"List the directories at every look, and ask the operating system for no notices."`

	Name  []string `placeholder:"KEY=VALUE" help:"What the benchmark is called by, as engine=flink or roll=10s, for benchstat -col; by default dir= and the directory."`
	Bench string   `placeholder:"FILE" help:"Also append the benchmark lines to this file."`
	JSON  bool     `name:"json" help:"Print the result as one JSON object."`
	Files bool     `help:"With --json, also say of each file when it was seen."`
}

// Help is the longer text of watch --help.
func (watchCommand) Help() string {
	return `Looks at DIR every TIME of --every until it is interrupted, or --for or --until-idle ends
it, and then prints a table and Go benchmark lines. It asks nothing of the sink but its
files, so it measures every engine, on any disk or mounted store.

Latency
  From a record's own time until the look that found its file; so it may be
  too long by --every, or by what the table says if looks came later, and is
  not too short. A time is a number of milliseconds since 1970, or as in RFC
  3339 (2026-05-01T12:00:00.5Z). Where the sink runs on another computer the
  difference of the two clocks is in it. Files that were there at the first
  look count for nothing: start the watch before the job. "oldest invisible"
  is the age of the newest record that can be seen. If records come all the
  time and in order, the oldest one that cannot be seen is hardly younger.

What is looked at
  Regular files whose name, and that of every directory below DIR, is not
  hidden. Each is read once. A file that changes after it was visible breaks
  the rule Immutable and is counted; so is a record whose id was there before.
  Lines that are torn or foreign and files that vanish are counted and shown,
  and stop nothing. If nothing becomes visible, the hidden files that are
  there at the end are counted.

How it looks
  Linux tells what has changed (inotify), so a look takes no longer with
  100,000 files. Directories of which it does not tell are listed: all with
  --poll, those on network file systems, and those beyond
  fs.inotify.max_user_watches.

  sinklab watch out --time-csv 1
  sinklab watch /mnt/bucket --time-json event.ts --id-json event.id --poll --every 1s
  sinklab watch out1 --time-csv time --for 5m --name roll=1s --bench out/watch.txt
  sinklab watch out4 --time-csv time --for 5m --name roll=4s --bench out/watch.txt
  go tool benchstat -col /roll out/watch.txt    # with six of each it says how sure that is

What --json prints goes into the page of sinklab report, beside the benchmarks:

  sinklab watch out --time-csv time --for 5m --json > out/flink.json
  sinklab report --watched out/flink.json

On a terminal a line of state is shown on standard error. Exit status: 0, 1 if a rule was
broken (a visible file changed, a record was there twice), 2 for bad input, also if DIR
was never there, or no line of any file was a record of the format.`
}

// Run watches.
func (c watchCommand) Run(std streams) error {
	options, err := c.options()
	if err != nil {
		return err
	}
	keys, err := watch.ParseKeys(c.Name)
	if err != nil {
		return fmt.Errorf("--name: %w", err)
	}
	if !c.Poll {
		// Without notices everything is listed, which is right too.
		kernel, err := watch.NewKernel()
		if err != nil {
			fmt.Fprintf(std.err, "sinklab: %v; the directories are listed\n", err)
		} else {
			defer kernel.Close()
			options.Notices = kernel
		}
	}
	if _, err := os.Stat(c.Dir); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(std.err, "sinklab: %s is not there yet; waiting for it\n", c.Dir)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// From the first signal on signals do again what they do by themselves, so that the
	// second one ends the process.
	context.AfterFunc(ctx, stop)
	ticker := time.NewTicker(c.Every)
	defer ticker.Stop()
	return c.watch(ctx, std, options, ticker.C, keys)
}

// watch watches until it is to end, and prints what it has found.
func (c watchCommand) watch(ctx context.Context, std streams, options watch.Options, ticks <-chan time.Time, keys []string) error {
	now := func() int64 { return time.Now().UnixMilli() }
	if options.Now != nil {
		now = options.Now
	}
	w, err := watch.New(options)
	if err != nil {
		return err
	}
	terminal := isTerminal(std.err)
	w.Run(ctx, ticks, func(s watch.State) bool {
		if terminal {
			fmt.Fprint(std.err, clearLine+stateLine(s))
		}
		return c.more(s)
	})
	if terminal {
		fmt.Fprint(std.err, clearLine)
	}
	if err := c.print(std, w, keys); err != nil || c.JSON || w.Result().Files > 0 {
		return err
	}
	return hiddenParts(options, now()).print(std.out)
}

// hiddenFiles are what a reader passes over.
type hiddenFiles struct {
	n      int
	oldest time.Duration // since the oldest of them was last written to
}

// hiddenParts counts the regular files below a directory that are hidden by their name or by
// that of a directory. What cannot be looked at is left out.
func hiddenParts(o watch.Options, now int64) (h hiddenFiles) {
	fsys := o.Fs
	if fsys == nil {
		fsys = afero.NewOsFs()
	}
	under := map[string]bool{} // directories that are hidden
	_ = afero.Walk(fsys, o.Dir, func(name string, info os.FileInfo, err error) error {
		if err != nil || name == o.Dir {
			return nil // others can be counted all the same
		}
		hidden := under[filepath.Dir(name)] || slices.ContainsFunc(o.Hidden, func(pattern string) bool {
			match, _ := path.Match(pattern, filepath.Base(name))
			return match
		})
		switch {
		case info.IsDir():
			under[name] = hidden
		case hidden && info.Mode().IsRegular():
			h.n++
			h.oldest = max(h.oldest, time.Duration(now-info.ModTime().UnixMilli())*time.Millisecond)
		}
		return nil
	})
	return h
}

// print says why nothing was seen.
func (h hiddenFiles) print(out io.Writer) error {
	if h.n == 0 {
		return nil
	}
	_, err := fmt.Fprintf(out, "\nnothing became visible: %s, the oldest last written to %s ago\n"+
		"one that is young waits for its rolling policy and a checkpoint (sinklab explain tells how long); an old one may be of a job that has died\n",
		count(h.n, "hidden part file"), span(h.oldest))
	return err
}

// print prints the result, and tells by its error what does not hold.
func (c watchCommand) print(std streams, w *watch.Watcher, keys []string) error {
	r := w.Result()
	if !r.Found {
		return fmt.Errorf("%s was not there at any of %d looks; check the name, and that the job has started", c.Dir, r.Looks)
	}
	var err error
	none := r.Records == 0 && r.Foreign > 0 // and no figure says anything
	switch {
	case c.JSON:
		if c.Files {
			r.Seen = w.Files()
		}
		err = printJSON(std.out, r)
	case none:
		err = r.WriteText(std.out)
	default:
		err = errors.Join(r.WriteText(std.out), newline(std), r.WriteBenchmark(std.out, keys))
	}
	if none {
		return errors.Join(err, fmt.Errorf("none of %s is a record of this format: %s; look at --time-…, --id-…, --format and --separator", count(int(r.Foreign), "line"), foreignLine(r)))
	}
	if c.Bench != "" {
		err = errors.Join(err, appendBenchmark(c.Bench, r, keys))
	}
	if err == nil && r.Violations() > 0 {
		return errFound
	}
	return err
}

// foreignLine is a line that is no record, with the reason.
func foreignLine(r watch.Result) string {
	for _, p := range r.Problems {
		if p.Kind == watch.Foreign {
			return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Text)
		}
	}
	return "no example was kept"
}

func newline(std streams) error {
	_, err := fmt.Fprintln(std.out)
	return err
}

func appendBenchmark(file string, r watch.Result, keys []string) error {
	const readable = 0o644
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, readable)
	if err != nil {
		return err
	}
	return errors.Join(r.WriteBenchmark(f, keys), f.Close())
}

// more tells whether to go on.
func (c watchCommand) more(s watch.State) bool {
	if c.For > 0 && s.At-s.Started >= c.For.Milliseconds() {
		return false
	}
	return c.UntilIdle == 0 || s.Newest < c.UntilIdle // negative before the first file
}

// stateLine is short enough for 80 columns while the figures have their usual length.
func stateLine(s watch.State) string {
	if s.Files == 0 {
		return fmt.Sprintf("%.1f s, no file yet", float64(s.At-s.Started)/1000)
	}
	line := fmt.Sprintf("%d files, newest %.1f s ago", s.Files, s.Newest.Seconds())
	if s.P50 >= 0 || s.Invisible >= 0 {
		line = fmt.Sprintf("oldest invisible %.1f s, %s, p50 %.1f s, p99 %.1f s", s.Invisible.Seconds(), line, s.P50.Seconds(), s.P99.Seconds())
	}
	if s.Unread > 0 {
		line += fmt.Sprintf(", %d to read", s.Unread)
	}
	if s.Torn+s.Foreign > 0 {
		line += fmt.Sprintf(", %d odd lines", s.Torn+s.Foreign)
	}
	if s.Violations() > 0 {
		line += fmt.Sprintf(", %d VIOLATIONS", s.Violations())
	}
	return line
}

// options are those of the watch.
func (c watchCommand) options() (watch.Options, error) {
	o := watch.Options{Dir: c.Dir, Every: c.Every, Hidden: []string{}}
	if c.Every <= 0 || c.For < 0 || c.UntilIdle < 0 {
		return o, fmt.Errorf("%w: --every must be greater than 0, --for and --until-idle cannot be negative", watch.ErrOptions)
	}
	if c.Files && !c.JSON {
		return o, fmt.Errorf("%w: --files needs --json", watch.ErrOptions)
	}
	for _, pattern := range c.Hidden {
		if pattern != "" {
			o.Hidden = append(o.Hidden, pattern)
		}
	}
	var err error
	o.Format, err = c.format()
	return o, err
}

// format puts together what the flags say of a record.
func (c watchCommand) format() (watch.Format, error) {
	csv, json := c.TimeCSV+c.IDCSV != "", c.TimeJSON+c.IDJSON != ""
	f := watch.Format{Time: c.TimeCSV + c.TimeJSON, ID: c.IDCSV + c.IDJSON}
	if csv && json {
		return f, fmt.Errorf("%w: --time-csv, --id-csv and --time-json, --id-json exclude each other: a file is of one format", watch.ErrOptions)
	}
	kinds := map[string]watch.Kind{"lines": watch.Lines, "csv": watch.CSV, "json": watch.JSON}
	word := c.Format
	switch {
	case word != "":
	case csv:
		word = "csv"
	case json:
		word = "json"
	default:
		word = "lines"
	}
	kind, known := kinds[word]
	if !known {
		return f, fmt.Errorf("%w: --format %q: want lines, csv or json", watch.ErrOptions, word)
	}
	if csv && kind != watch.CSV || json && kind != watch.JSON {
		return f, fmt.Errorf("%w: --format %s has none of the fields that --time-… or --id-… name", watch.ErrOptions, word)
	}
	f.Kind = kind
	separator := strings.ReplaceAll(c.Separator, `\t`, "\t")
	if len(separator) != 1 {
		return f, fmt.Errorf("%w: --separator %q: want one character", watch.ErrOptions, c.Separator)
	}
	f.Separator = separator[0]
	return f, nil
}
