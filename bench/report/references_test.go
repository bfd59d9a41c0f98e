package report

import (
	"os"
	"regexp"
	"testing"
)

// Each ratio that is measured is beside something that the page names.
func TestReferences(t *testing.T) {
	text, err := os.ReadFile("../../testdata/bench/baseline.txt")
	if err != nil {
		t.Fatal(err)
	}
	units := map[string]bool{}
	for _, m := range regexp.MustCompile(`\s(x-[a-z-]+)`).FindAllStringSubmatch(string(text), -1) {
		units[m[1]] = true
		if references[m[1]] == "" {
			t.Errorf("nothing says what %s is beside", m[1])
		}
	}
	for unit := range references {
		if !units[unit] {
			t.Errorf("%s is not measured", unit)
		}
	}
	if got := referenceOf("x-else"); got != "the reference (else)" {
		t.Error(got)
	}
}
