// Package bench measures exactly-once rolling file sinks: when a record becomes visible,
// how many files that costs, and what the sink costs beside the bare file system. This is
// the manual. Commands are run in the directory of the module.
//
// # Measuring
//
// Everything, in under two minutes:
//
//	$ make bench
//
// The results are in out/bench.txt, in Go's benchmark format, and out/report.html shows them in
// pictures. ROUNDS= says how often what is noisy is measured and ONLY= which benchmarks; the
// same from the command line:
//
//	$ go run ./bench/sinklab bench --rounds 1 --only 'Settings/policy=deadline' --out out/few.txt
//
// A single question needs no more than go test:
//
//	$ go test -run '^$' -bench 'Visible/policy=tuned/arrivals=bursts' -benchtime 1x ./bench
//
// # Comparing policies
//
// Each name is made of key=value segments, and benchstat puts any key into columns or rows and
// filters by any. This is the hour of the article on Flink's file sink: ten records a second, a
// checkpoint every 2 s.
//
//	$ go tool benchstat -ignore goos,goarch,cpu,pkg -row .name -col /policy -filter '.name:Visible /policy:(default OR tuned) /arrivals:constant /rate:10 /ckpt:2s /buckets:1 /subtasks:1 /outage:none .unit:(files/hour OR first-visible-ms)' testdata/bench/baseline.txt
//	        │  default   │            tuned             │
//	        │ files/hour │ files/hour   vs base         │
//	Visible   29.00 ± 0%   327.00 ± 0%  +1027.59% (n=1)
//
//	        │     default      │              tuned              │
//	        │ first-visible-ms │ first-visible-ms  vs base       │
//	Visible       120.15k ± 0%        12.15k ± 0%  -89.89% (n=1)
//
// What an outage costs, and what a real stream does to the number of files:
//
//	$ go tool benchstat -row /outage -col /policy -filter '.name:Visible /rate:10 /ckpt:2s /buckets:1 /subtasks:1 /arrivals:constant .unit:max-visible-ms' testdata/bench/baseline.txt
//	$ go tool benchstat -row /policy -col /arrivals -filter '.name:Visible /rate:60x .unit:(files/hour OR open-files)' testdata/bench/baseline.txt
//
// What the sinks of other engines do with the settings they come with:
//
//	$ go tool benchstat -row /peer -col /rate -filter '.name:Peers .unit:(files/hour OR max-visible-ms)' testdata/bench/baseline.txt
//
// What a promise saves: policy=deadline has the worst latency of policy=rolling in the same row.
//
//	$ go tool benchstat -col /policy -filter '.name:Settings /ckpt:10s .unit:files/hour' testdata/bench/baseline.txt
//
// benchstat's k and m are a thousand and a thousandth: 12.10k of max-visible-ms are 12.1 s.
//
// # Comparing revisions
//
// BASE is anything that git can name. Both are measured in turns, A B A B, since two runs at
// different times compare two moments of a machine.
//
//	$ make compare BASE=HEAD ONLY=State
//
// # Looking
//
// The report is one HTML file that needs no network: records written against records visible,
// the age of the oldest invisible record, latency against files for a grid of settings, ratios,
// the life of each part file, and with --base what has changed since another run.
//
//	$ go run ./bench/sinklab report testdata/bench/baseline.txt -o out/baseline.html
//	$ go run ./bench/sinklab report testdata/bench/baseline.txt --json > out/report.json
//
// # Judging
//
// benchstat shows a difference and judges none: it ends with status 0 whatever it finds, a
// missing benchmark included. The gate fails when a change of the code shows: when an exact
// metric is another number at all, when a ratio is worse by more than noise, when a benchmark
// or a metric is gone. Put into the baseline what is meant to change, and say in the commit why.
//
//	$ make baseline
//	$ make gate
//
// Status 0 is well, 1 is a finding, 2 is input that cannot be judged. See package
// sinklab/bench/gate for how small a slowdown is found.
//
// # Benchmarks in virtual time
//
// BenchmarkVisible plays an hour, or the whole real stream of testdata/flights. Nothing in
// it depends on the machine: the same code gives the same figures, so they are marked exact,
// and any difference between two runs is a change of behaviour. Every run is checked, and one
// in which a record was lost, doubled or visible too early fails instead of giving figures. Its
// keys:
//
//	policy    default, tuned, oncheckpoint: the article's (see ArticleSettings); rollover59s: default with 59 s; size64k: default
//	          with 64 KiB; deadline: sinkcore.Deadline with the worst latency that tuned has
//	arrivals  constant; ontimer: constant, on the very milliseconds of the checks; poisson: unrelated records; bursts: 600 records a minute, all within 0.6 s; flights-origin and flights-day:
//	          the real stream, by airport and by day of the event time
//	rate      records a second; 60x is 60 times the real speed
//	ckpt      checkpoint interval; checkpoints complete at once
//	buckets   records go to them in turn, but for the real stream
//	subtasks  records go to them in turn
//	outage    how long the process is dead, twice: from 10 min, and from 30 min 1.25 s on
//
// BenchmarkSettings is the article's hour for a grid of rollover, check interval and checkpoint
// interval; policy=deadline promises in each row what policy=rolling cannot exceed. BenchmarkPeers
// is an hour of the sinks of other engines with the settings they come with, by their models in
// package sinklab/sinkcore/peers; its keys are peer and rate.
//
//	first-visible-ms         from the start of the job until the first file can be seen
//	p50-visible-ms           half of the records could be read this soon after they were to arrive, or sooner; p90, p99 likewise
//	max-visible-ms           all could
//	invisible-records        records that had arrived before the end and could not be read by then; they are in no latency
//	oldest-invisible-ms      how long the oldest of those had waited at the end
//	files/hour               files that could be seen, an hour
//	bytes/file               mean size of those
//	empty-checkpoints        checkpoints that completed and made nothing visible
//	open-files               part files open at one instant, at most
//	fsyncs/commit            fsyncs of files for each checkpoint that made something visible; checkpoints that did not have theirs too
//	dirsyncs/commit          fsyncs of directories, likewise
//	renames/commit           renames, likewise
//	fs-changes               calls that change the file system: all of these, creating, writing, truncating, removing
//	rewritten-files/restart  part files in which records were that had to be written again after an outage
//	rewritten-bytes/restart  bytes of those records
//
// Latency counts from the instant at which a record was to arrive, also if no process was
// there to take it, and over the records that became visible within the time.
//
// # Benchmarks in real time
//
// The others measure what the machine does, eight times, a process each. Absolute times hold for
// one machine at one moment; so each measures beside the sink, in turns with it, what cannot be
// done with less, and reports the ratio. Units that begin with x- are such ratios, 1 is as good as the bare
// thing, and the gate judges them; those that end in -disk wait for a disk. All others are of the processor's
// time of the one thread, which others on the machine hardly change; the sink has no goroutine that could
// work for it unseen, and a test of sinkcore sees to that.
//
//	x-bufio, x-bufio-disk  BenchmarkWrite: the write path beside a bufio.Writer (one for each bucket) with the same
//	                       buffer, which on ext4 may take longer: the sink reserves disk space for what grows
//	x-bare, x-bare-disk    BenchmarkCheckpoint, BenchmarkCommit, BenchmarkRestore: beside the bare calls of the file system
//	x-walk, x-walk-due     BenchmarkTick: a check of which none is due, or one, beside asking the policy about each open part, as Flink does
//	x-copy                 BenchmarkState: encoding or decoding a checkpoint beside copying and checksumming as many bytes
//	x-recover              BenchmarkRecover: a recovery as the exhaustive property makes them, beside the same calls bare
//	x-memory               BenchmarkBucket: heap of an open bucket beside a file, a bufio.Writer, its names and a map entry
//
// and what they are ratios of, medians over an iteration:
//
//	ns/record, bufio-ns/record        BenchmarkWrite
//	MB/s                              of the sink, 10^6 bytes of records a second
//	allocs/record                     objects allocated a record; buffers and open files included
//	ns/file, bare-ns/file             BenchmarkCheckpoint, BenchmarkCommit
//	ns/part, bare-ns/part             BenchmarkRestore
//	ns/part, copy-ns/part, B/part     BenchmarkState; bytes of the state for each part
//	ns/tick, walk-ns/tick             BenchmarkTick
//	recoveries/s, bare-recoveries/s   BenchmarkRecover
//	B/bucket, bufio-B/bucket          BenchmarkBucket, with a buffer of 128 bytes
//	sec/op                            BenchmarkHour: an hour of BenchmarkVisible, the reading and checking of every file included
package bench
