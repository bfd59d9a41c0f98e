package bench_test

// noisyUnits are the metrics in real time, see package documentation. A ratio that differs
// by no more than its least says nothing. What waits for no disk was seen to differ by 7 to
// 15 % between single runs, the worst of them by 30 %, on two processors that others kept
// five times overloaded; the medians of six runs differ by less than half of that. What
// waits for a disk differed by 50 % then and more.
const noisyUnits = `Unit ns/record better=lower
Unit bufio-ns/record better=lower
Unit MB/s better=higher
Unit allocs/record better=lower
Unit x-bufio better=lower least=15%
Unit x-bufio-disk better=lower least=50%
Unit ns/file better=lower
Unit bare-ns/file better=lower
Unit ns/part better=lower
Unit bare-ns/part better=lower
Unit x-bare better=lower least=20%
Unit x-bare-disk better=lower least=50%
Unit ns/tick better=lower
Unit walk-ns/tick better=lower
Unit x-walk better=lower least=25%
Unit copy-ns/part better=lower
Unit B/part better=lower
Unit x-copy better=lower least=20%
Unit recoveries/s better=higher
Unit bare-recoveries/s better=higher
Unit x-recover better=lower least=5%
Unit B/bucket better=lower
Unit bufio-B/bucket better=lower
Unit x-memory better=lower least=8%
`
