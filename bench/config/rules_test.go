package config

import (
	"os"
	"regexp"
	"testing"
)

// Every rule that is a constant of the two packages has a meaning, once.
func TestRulesAreAll(t *testing.T) {
	listed := map[string]int{}
	for _, r := range Rules() {
		listed[string(r.Rule)]++
		if r.Meaning == "" {
			t.Errorf("%s means nothing", r.Rule)
		}
	}
	constants := 0
	for _, file := range []string{"lint.go", "../../sinkcore/plan/lint.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\bRule = "([a-z-]+)"`).FindAllSubmatch(source, -1) {
			constants++
			if listed[string(m[1])] != 1 {
				t.Errorf("%s is listed %d times", m[1], listed[string(m[1])])
			}
		}
	}
	if constants == 0 || constants != len(listed) {
		t.Errorf("%d constants, %d rules", constants, len(listed))
	}
}
