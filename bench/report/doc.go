// Package report makes one page of a benchmark file: when a record becomes visible, what
// that costs in files, what the sink costs beside the bare file system, and what is
// different from another run.
//
// Make one from the command line:
//
//	make bench
//	go run ./bench/sinklab report
//
// or, to compare with another run:
//
//	go run ./bench/sinklab report out/bench.txt --base other.txt -o out/report.html
//
// The page is a single file. It needs no network, no scripts and no fonts of its own, and
// can be read on a phone, on paper, in light and in dark.
//
// # From a program
//
//	run, err := report.Read(file, "bench.txt")
//	r, err := report.New(run, nil) // or another run to compare with
//	err = r.WriteHTML(page)
//
// A [Report] is plain data, and its JSON form has every series that is drawn.
//
// # Where the figures come from
//
// Every figure in a table of measurements is the benchmark file's, the median where there
// are more samples than one. A benchmark file has no series over time, so these come from
// playing the article's settings anew in virtual time. That is exact: New compares what it
// gets with the exact figures of the file, and refuses ([ErrVersion]) if one of them differs,
// since then the file is of another version of the code.
//
// Nothing depends on the clock or the machine: the same files give the same page, byte for
// byte.
package report
