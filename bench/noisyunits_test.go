package bench_test

// noisyUnits are the metrics in real time, see package documentation. A ratio that differs
// by less than its least is noise: it is twice what the medians of six rounds were seen to
// differ by on a machine that others used at the same time.
const noisyUnits = `Unit ns/record better=lower
Unit bufio-ns/record better=lower
Unit MB/s better=higher
Unit allocs/record better=lower
Unit x-bufio better=lower least=15%
Unit x-bufio-disk better=lower least=20%
Unit ns/file better=lower
Unit bare-ns/file better=lower
Unit ns/part better=lower
Unit bare-ns/part better=lower
Unit x-bare better=lower least=20%
Unit x-bare-disk better=lower least=40%
Unit ns/tick better=lower
Unit walk-ns/tick better=lower
Unit x-walk better=lower least=50%
Unit copy-ns/part better=lower
Unit B/part better=lower
Unit x-copy better=lower least=20%
Unit recoveries/s better=higher
Unit bare-recoveries/s better=higher
Unit x-recover better=lower least=5%
Unit B/bucket better=lower
Unit bufio-B/bucket better=lower
Unit x-memory better=lower least=5%
`
