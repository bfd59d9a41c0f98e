package plan_test

import (
	"flag"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// withChecks runs a property on so many draws, or on as many as the flag of rapid asks
// for if that is given, and fails if it was fewer.
func withChecks(t *testing.T, n int, property func(*rapid.T)) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	if checks.Value.String() == checks.DefValue {
		checksMu.Lock()
		_ = checks.Value.Set(strconv.Itoa(n))
		defer func() {
			_ = checks.Value.Set(checks.DefValue)
			checksMu.Unlock()
		}()
	} else if asked, err := strconv.Atoi(checks.Value.String()); err == nil {
		n = asked
	}
	ran := 0
	rapid.Check(t, func(t *rapid.T) {
		property(t)
		ran++
	})
	// With little time left the library stops early and calls that a success.
	if !t.Failed() && ran < n {
		t.Errorf("only %d of %d draws were run", ran, n)
	}
}

// checksMu guards the flag; tests of this package that draw settings take turns.
var checksMu sync.Mutex
