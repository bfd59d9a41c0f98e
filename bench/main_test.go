package bench_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if pattern := flag.Lookup("test.bench"); pattern != nil && pattern.Value.String() != "" {
		// Unit lines tell benchstat which way each metric is better, and which are exact.
		fmt.Print(exactUnits, noisyUnits)
	}
	os.Exit(m.Run())
}
