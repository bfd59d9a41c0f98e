package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// What write says of a line that it cannot place, of lines that it dropped and of an empty
// directory name is enough to go on with.
func TestWriteSays(t *testing.T) {
	for _, c := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"refused", []string{"--dir", "DIR", "--bucket", "before=:"}, statusFound, `the line "none": `},
		{"refused, and what to do", []string{"--dir", "DIR", "--bucket", "before=:"}, statusFound, "--on-refused drop"},
		{"dropped", []string{"--dir", "DIR", "--bucket", "before=:", "--on-refused", "drop"}, statusOK, "dropped as --on-refused says: 1\n"},
		{"no directory", []string{"--dir", ""}, statusBadInput, "--dir is empty"},
		{"policy twice", []string{"--dir", "DIR", "--policy", "policy=default policy=oncheckpoint"}, statusBadInput, "policy is given twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := []string{"write", "-"}
			for _, word := range c.args {
				if word == "DIR" {
					word = filepath.Join(t.TempDir(), "out")
				}
				args = append(args, word)
			}
			status, _, errs := sinklab(t, "a:1\nnone\n", args...)
			if status != c.status || !strings.Contains(errs, c.want) {
				t.Errorf("status %d, said %q; want %d, %q", status, errs, c.status, c.want)
			}
		})
	}
}
