package bench_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// units tells benchstat which way each metric is better, and which are exact: they come
// from virtual time, so there is no noise in them.
const units = `Unit first-visible-ms better=lower assume=exact
Unit p50-visible-ms better=lower assume=exact
Unit p99-visible-ms better=lower assume=exact
Unit max-visible-ms better=lower assume=exact
Unit files/hour better=lower assume=exact
Unit ns/record better=lower
Unit bufio-ns/record better=lower
Unit x-bufio better=lower
Unit allocs/record better=lower
`

func TestMain(m *testing.M) {
	flag.Parse()
	if pattern := flag.Lookup("test.bench"); pattern != nil && pattern.Value.String() != "" {
		fmt.Print(units)
	}
	os.Exit(m.Run())
}
