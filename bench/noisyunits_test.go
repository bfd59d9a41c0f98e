package bench_test

// noisyUnits are the metrics in real time, see package documentation.
const noisyUnits = `Unit ns/record better=lower
Unit bufio-ns/record better=lower
Unit x-bufio better=lower
Unit allocs/record better=lower
`
