package sinktest

import (
	"testing"
)

// Run tests a kind of sinks, with a subtest for each rule. A rule that is waived is
// skipped with its reason; one that is broken fails with the program that shows it, and
// so does one that no program has put to the test.
func Run(t *testing.T, k Kind) {
	t.Helper()
	table, err := Verdicts(k)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range table.Rows {
		t.Run(string(row.Rule), func(t *testing.T) {
			switch row.Status {
			case Waived:
				t.Skip(row.Reason)
			case Broken, Untried:
				t.Error(&RowError{table.Kind, row})
			}
		})
	}
}
