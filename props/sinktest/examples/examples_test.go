package examples_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sinklab/props"
	"sinklab/props/sinktest"
	"sinklab/props/sinktest/examples"
	"sinklab/sinkcore"
)

var update = flag.Bool("update", false, "write the verdicts to testdata/sinktest")

// rolling closes parts for each of its reasons within the time of a drawn program.
var rolling = sinkcore.Default{Size: 10, Rollover: 300 * time.Millisecond, Inactivity: 200 * time.Millisecond}

// The verdicts on the examples are as recorded.
//
// If this fails after a change of a sink, read the difference: a rule that is newly broken
// comes with its program. If it fails after a change of the kit, see that no rule has
// gone from broken to holds. When the new text is right, record it:
//
//	go test ./props/sinktest/examples -update
func TestPropVerdicts(t *testing.T) {
	for file, kind := range map[string]sinktest.Kind{
		"sinkcore-rolling":      examples.Sinkcore(rolling),
		"sinkcore-oncheckpoint": examples.Sinkcore(sinkcore.OnCheckpoint{}),
		"naive":                 examples.Naive(),
		"first-target":          examples.FirstTarget(),
		"write-ahead-log":       examples.WriteAheadLog(),
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			table, err := sinktest.Verdicts(kind)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("..", "..", "..", "testdata", "sinktest", file+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(table.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := table.String(); got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			for _, row := range table.Rows {
				if n := len(row.Program.Steps); n > 8 {
					t.Errorf("the program that breaks %s has %d operations, more than 8", row.Rule, n)
				}
				if row.Status == sinktest.Broken {
					replay(t, kind, row)
				}
			}
		})
	}
}

// replay plays what is printed of a row, and the same has to be seen.
func replay(t *testing.T, kind sinktest.Kind, row sinktest.Row) {
	for _, rule := range row.After {
		kind.Waived = append(kind.Waived, sinktest.Waiver{Rule: rule, Reason: "comes first"})
	}
	var program []string
	for line := range strings.Lines(row.String()) {
		if trimmed, ok := strings.CutPrefix(line, "        "); ok {
			program = append(program, trimmed)
		}
	}
	verdict, err := sinktest.Play(kind, strings.Join(program, ""))
	if err != nil || verdict.Violation == nil || *verdict.Violation != *row.Violation {
		t.Errorf("%s: played again: %v, %v", row.Rule, verdict.Violation, err)
	}
}

// The correct sink passes every rule; the others break those that their protocols do not keep.
func TestPropBrokenRules(t *testing.T) {
	for _, c := range []struct {
		kind   sinktest.Kind
		broken []props.Rule
	}{
		{examples.Sinkcore(sinkcore.OnCheckpoint{}), nil},
		{examples.Naive(), []props.Rule{props.Visibility, props.NoDuplicate, props.Durable, props.Poisoned}},
		{examples.FirstTarget(), []props.Rule{props.NoLoss, props.Durable}},
		{examples.WriteAheadLog(), []props.Rule{props.Visibility, props.NoLoss, props.Durable, props.Surfaced}},
	} {
		t.Run(c.kind.Name, func(t *testing.T) {
			t.Parallel()
			c.kind.Seed = 1 // other programs than those of the recorded verdicts
			table, err := sinktest.Verdicts(c.kind)
			if err != nil {
				t.Fatal(err)
			}
			if got := table.Broken(); !slices.Equal(got, c.broken) {
				t.Errorf("got %v, want %v\n%s", got, c.broken, table)
			}
		})
	}
}
