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
// It shows what [sinklab/bench/watch] has seen of real directories, of any engine, if that is
// given:
//
//	sinklab watch /mnt/bucket --time-csv 1 --for 5m --json > out/flink.json
//	go run ./bench/sinklab report --watched out/flink.json --watched other=out/copy.json
//
// The page is a single file. It needs no network, no scripts and no fonts of its own, and
// can be read on a phone, on paper, in light and in dark.
//
// # From a program
//
//	run, err := report.Read(file, "bench.txt")
//	watched, err := report.ReadWatched(result, "flink") // or WatchedOf; leave out without one
//	r, err := report.New(run, nil, watched) // or another run to compare with, in place of nil
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
// The figures of a watch are those of its JSON. Of the directory and its files the report keeps
// no name, since it may be shown to others.
//
// Nothing depends on the clock or the machine: the same files give the same page, byte for
// byte.
package report
