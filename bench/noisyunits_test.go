package bench_test

// noisyUnits are the metrics in real time, see package documentation. A ratio that differs
// by no more than its least says nothing. The medians of eight rounds of two quiet runs, one
// after the other, differed by up to 6.5 %, but for a check that closes a part (19 %) and for
// disks (7 %, single rounds 24 %). On two processors that others kept five times overloaded they
// came out up to 9 % worse than on quiet ones, a check that closes a part 35 %, disks 34 %; so
// what is judged against a baseline is to be measured on a quiet machine of its kind.
const noisyUnits = `Unit ns/record better=lower
Unit bufio-ns/record better=lower
Unit MB/s better=higher
Unit allocs/record better=lower
Unit x-bufio better=lower least=8%
Unit x-bufio-disk better=lower least=50%
Unit ns/file better=lower
Unit bare-ns/file better=lower
Unit ns/part better=lower
Unit bare-ns/part better=lower
Unit x-bare better=lower least=8%
Unit x-bare-disk better=lower least=50%
Unit ns/tick better=lower
Unit walk-ns/tick better=lower
Unit x-walk better=lower least=9%
Unit x-walk-due better=lower least=50%
Unit copy-ns/part better=lower
Unit B/part better=lower
Unit x-copy better=lower least=8%
Unit recoveries/s better=higher
Unit bare-recoveries/s better=higher
Unit x-recover better=lower least=5%
Unit B/bucket better=lower
Unit bufio-B/bucket better=lower
Unit x-memory better=lower least=8%
`
