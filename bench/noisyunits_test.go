package bench_test

// noisyUnits are the metrics in real time, see package documentation. A ratio that differs
// from a baseline's by no more than its least says nothing: so much and less was seen to come
// from the other day alone. Between two quiet runs of eight rounds the medians differed by up
// to 7 % (Tick with one part due: 19 %, which waits for memory; disks: 7 %). Between a quiet
// run and one on two processors that others kept five times overloaded it was up to 15 %
// (Tick: 35 %, disks: 12 %; single rounds on a disk doubled). Sides that are measured in turns
// may be asked for less, see sinklab gate --least.
const noisyUnits = `Unit ns/record better=lower
Unit bufio-ns/record better=lower
Unit MB/s better=higher
Unit allocs/record better=lower
Unit x-bufio better=lower least=20%
Unit x-bufio-disk better=lower least=50%
Unit ns/file better=lower
Unit bare-ns/file better=lower
Unit ns/part better=lower
Unit bare-ns/part better=lower
Unit x-bare better=lower least=20%
Unit x-bare-disk better=lower least=50%
Unit ns/tick better=lower
Unit walk-ns/tick better=lower
Unit x-walk better=lower least=50%
Unit copy-ns/part better=lower
Unit B/part better=lower
Unit x-copy better=lower least=20%
Unit recoveries/s better=higher
Unit bare-recoveries/s better=higher
Unit x-recover better=lower least=10%
Unit B/bucket better=lower
Unit bufio-B/bucket better=lower
Unit x-memory better=lower least=15%
`
