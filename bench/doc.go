// Package bench measures exactly-once rolling file sinks: when a record becomes
// visible, how many files that costs, and what the write path takes.
//
// Run everything and compare the policies side by side:
//
//	make bench
//
// Results are in Go's benchmark format, so benchstat reads them. Each name is made of
// key=value segments, and benchstat can put any key into columns or rows:
//
//	$ go tool benchstat -col /policy -filter '.name:Visible' out/bench.txt
//
// # Metrics in virtual time
//
// BenchmarkVisible plays one simulated hour. Nothing in it depends on the machine: the
// same code gives the same figures, so they are marked exact, and any difference
// between two runs is a change of behaviour. A run in which a record was lost, doubled
// or visible too early fails instead of giving figures.
//
//	first-visible-ms  from the start of the job until the first file can be seen
//	p50-visible-ms    half of the records could be read this soon after they arrived, or sooner
//	p99-visible-ms    99 of 100 could
//	max-visible-ms    all could
//	files/hour        files that could be seen within the hour
//
// Latency counts from the instant at which a record was to arrive, over the records that
// became visible within the hour.
//
// # Metrics in real time
//
// BenchmarkWrite writes to a real disk and next to it, in the same iterations, does the
// same with nothing but a bufio.Writer. Absolute times hold for one machine at one
// moment; the ratio holds anywhere.
//
//	ns/record         median over the iterations, fsync and close included
//	bufio-ns/record   the same for bufio.Writer
//	x-bufio           their quotient
//	allocs/record     objects allocated per record
//
// BenchmarkHour is how long one simulated hour of BenchmarkVisible takes, the reading and
// checking of every file included.
package bench
