package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"sinklab/props"
)

// own are the mutants of the directory data.
func own(t *testing.T) []Mutant {
	t.Helper()
	dir, err := fs.Sub(data, "data")
	if err != nil {
		t.Fatal(err)
	}
	mutants, err := readMutants(dir)
	if err != nil {
		t.Fatal(err)
	}
	return mutants
}

func TestEveryMutantAppliesToTheSourceAsItIs(t *testing.T) {
	mutants := own(t)
	if len(mutants) < 40 {
		t.Errorf("%d mutants, want at least 40", len(mutants))
	}
	for _, m := range mutants {
		changed, err := m.apply(os.DirFS("../.."))
		if err != nil {
			t.Error(err)
		}
		for file := range changed {
			if !strings.HasPrefix(file, "sinkcore/") {
				t.Errorf("%s changes %s, which is not the sink", m.Name, file)
			}
		}
	}
}

func TestNoTwoMutantsAreTheSame(t *testing.T) {
	seen := map[string]string{}
	for _, m := range own(t) {
		changed, err := m.apply(os.DirFS("../.."))
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, e := range m.Edits {
			all.WriteString(changed[e.File])
		}
		if other, ok := seen[all.String()]; ok {
			t.Errorf("%s and %s", m.Name, other)
		}
		seen[all.String()] = m.Name
	}
}

const example = `what is broken
origin: somewhere
rules: NoLoss Durable
file: a.go
--- old
	one
--- new
	two
--- end
`

func TestTheOldTextMustBeThereExactlyOnce(t *testing.T) {
	m, err := parseMutant("example", example)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, source, want string
		ok                 bool
	}{
		{"once", "zero\n\tone\nthree\n", "zero\n\ttwo\nthree\n", true},
		{"in the first line", "\tone\n", "\ttwo\n", true},
		{"not", "zero\n", "", false},
		{"as a part of a line only", "x\tone\n", "", false},
		{"twice", "\tone\n\tone\n", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed, err := m.apply(fstest.MapFS{"a.go": {Data: []byte(c.source)}})
			if c.ok && (err != nil || changed["a.go"] != c.want) {
				t.Errorf("%q, %v; want %q", changed["a.go"], err, c.want)
			}
			if !c.ok && !errors.Is(err, ErrOld) {
				t.Errorf("%v, want ErrOld", err)
			}
		})
	}
}

func TestAMutantWithAMistakeIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no origin":      strings.Replace(example, "origin: somewhere\n", "", 1),
		"no rules":       strings.Replace(example, "rules: NoLoss Durable\n", "", 1),
		"unknown rule":   strings.Replace(example, "Durable", "Durability", 1),
		"no file":        strings.Replace(example, "file: a.go\n", "", 1),
		"file outside":   strings.Replace(example, "a.go", "../a.go", 1),
		"no change":      strings.Replace(example, "two", "one", 1),
		"no old text":    strings.Replace(example, "\tone\n", "", 1),
		"no end":         strings.Replace(example, "--- end\n", "", 1),
		"unknown key":    example + "author: me\n",
		"nothing at all": "",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseMutant("example", text); !errors.Is(err, ErrMutant) {
				t.Errorf("%v, want ErrMutant", err)
			}
		})
	}
}

func TestAnEquivalentMutantIsReportedAsSurvived(t *testing.T) {
	m := Mutant{
		Name: "equivalent", What: "nothing", Origin: "this test", Rules: []props.Rule{props.NoLoss},
		Edits: []Edit{{"sinkcore/bucket.go", "\tb.counter++\n", "\tb.counter = b.counter + 1\n"}},
	}
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	r := runner{root: root, dir: t.TempDir(), check: "./props/mutants/check", programs: 40}
	result := r.one(m)
	if result.Err != nil || result.Rule != "" || result.Programs != 40 || result.Caught() {
		t.Fatalf("%+v", result)
	}
	var out bytes.Buffer
	if matrix(&out, []Result{result}, false) || !strings.Contains(out.String(), "SURVIVED") {
		t.Errorf("the matrix does not say so:\n%s", &out)
	}
}

func TestTheMatrixFailsUnlessEachMutantIsCaughtByARuleItNames(t *testing.T) {
	m := Mutant{Name: "m", Rules: []props.Rule{props.NoLoss}}
	for _, c := range []struct {
		name   string
		result Result
		ok     bool
		want   string
	}{
		{"named", Result{m, Finding{Rule: props.NoLoss, Programs: 7, Length: 3}, nil}, true, "1 of 1 mutants caught"},
		{"another", Result{m, Finding{Rule: props.Order}, nil}, false, "Order INSTEAD OF NoLoss"},
		{"none", Result{Mutant: m}, false, "SURVIVED"},
		{"not built", Result{Mutant: m, Finding: Finding{Rule: props.NoLoss}, Err: errors.New("syntax")}, false, "syntax"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if ok := matrix(&out, []Result{c.result}, false); ok != c.ok || !strings.Contains(out.String(), c.want) {
				t.Errorf("%v, want %v with %q:\n%s", ok, c.ok, c.want, &out)
			}
		})
	}
}
