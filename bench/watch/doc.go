// Package watch watches the directory that a sink writes to and measures what a reader of it
// sees: how long each record took to become visible, how many files there are, and whether a
// file that was visible changed. It asks nothing of the sink but its files, so it measures
// every engine alike, on a disk or on a mounted store.
//
// # From the command line
//
// Start it before the job; the directory may be made later. A record's time is in a column of
// CSV or a field of JSON:
//
//	sinklab watch out --time-csv 1 --for 5m
//	sinklab watch out --time-json event.ts --until-idle 2m --name engine=flink --bench out/watch.txt
//
// At the end, or when it is interrupted, it prints a table and Go benchmark lines in the units
// of package bench, which benchstat compares. With --json it prints a [Result], which the page of
// "sinklab report --watched out/watch.json" shows beside what was measured in virtual time.
//
// # From a program
//
//	kernel, err := watch.NewKernel() // leave out where there are no notices
//	w, err := watch.New(watch.Options{Dir: "out", Format: watch.Format{Kind: watch.CSV, Time: "1"}, Notices: kernel})
//	ticker := time.NewTicker(watch.DefaultEvery)
//	w.Run(ctx, ticker.C, func(s watch.State) bool { return s.Files < 10 })
//	err = w.Result().WriteText(os.Stdout)
//
// The clock, the file system, the notices and the ticks are arguments, so a test needs no
// sleep: it calls [Watcher.Look] whenever it likes. [Watcher.Files] tells of each file when it
// was seen.
//
// # What a latency is
//
// From a record's own time until the look that found its file. The time of a look is taken
// when all of its files are found, so a latency is never too short, and is too long by less
// than [Options.Every] and the duration of the look; [Result] has what that was at most. That
// holds on one clock; where the writer is another computer, the difference of the clocks is in
// it, and records from the future are counted ([Counts.Early]).
//
// Files that are there at the first look count for nothing, since nobody knows when they
// became visible. They are watched for changes, and if ids are kept theirs are too.
//
// # What is visible
//
// Regular files below the directory with no hidden name on the way to them, which is a name
// that begins with "." or "_", or one that matches [Options.Hidden]. Links are not followed.
//
// Each file is read once, as text of one record a line. Files that were compressed, or are of
// a columnar format, are foreign lines.
//
// # What is wrong, and what only odd
//
// Two things no exactly-once sink does, and they are violations: a visible file changes
// ([Changed]; by its size and its time of modification, so that a file need not be read
// twice), and a record is there twice ([Doubled]; only with [Format.ID]). What else is met is
// counted and shown, with examples, and stops nothing: lines that are torn or foreign, files
// that vanish, files and directories that cannot be read. A consumer that takes files away
// makes them vanish, and that is its right.
//
// # What a look costs
//
// Where the operating system gives notice of changes, what has changed, and a file that is made in
// a directory of our own, to know by its notice that all before it have come: as much with 100,000
// files as with 1,000. Other directories are asked for their time, and listed when it has changed, which
// costs a look in proportion to the names in that directory. Where times of directories turn
// out to say nothing, and on network file systems, whose clients keep them for seconds, all
// are listed at every look. BenchmarkLook measures these cases.
//
// Neither notices nor times are trusted blindly. Every [Options.Sweep] all directories are
// listed, and one that has changed without notice is listed from then on. Of the known files
// some are looked at again in every look, in turn, and all of them at the end.
//
// Memory is about 350 bytes for each file, 40 for each record if ids are kept, and nothing
// else that grows with the records.
package watch
