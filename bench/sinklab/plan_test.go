package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sinklab/bench/config"
)

// TestPropLintIsSilentAboutPlan: what plan prints to paste, lint has nothing to say about, for
// any goal that can be kept, in each form.
func TestPropLintIsSilentAboutPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := drawGiven(t)
		goal := drawGoal(t)
		for _, form := range config.Forms() {
			status, text, errs := command("", append(append([]string{"plan", "--paste", string(form)}, goal...), given...)...)
			if status != statusOK {
				if !strings.Contains(errs, "nothing to paste") {
					t.Fatalf("plan %q %q: status %d, %s", goal, given, status, errs)
				}
				return
			}
			status, out, errs := command(text, append([]string{"lint"}, withoutCheckpoint(given)...)...)
			if status != statusOK || errs != "" {
				t.Fatalf("plan %q %q --paste %s: lint has status %d, %s\n%s\n%s", goal, given, form, status, errs, out, text)
			}
		}
	})
}

func drawGiven(t *rapid.T) (args []string) {
	switch rapid.IntRange(0, 3).Draw(t, "arrivals") {
	case 0:
		args = append(args, "--arrivals", fmt.Sprintf("poisson rate=%d", rapid.SampledFrom([]int{1, 10, 300}).Draw(t, "rate")))
	case 1:
		args = append(args, "--arrivals", fmt.Sprintf("bursts size=%d every=%d interval=1", rapid.IntRange(1, 900).Draw(t, "size"), rapid.IntRange(1000, 100_000).Draw(t, "every")))
	default:
		args = append(args, "--rate", fmt.Sprint(rapid.SampledFrom([]float64{.01, .5, 1, 10, 100, 5000, 100_000}).Draw(t, "rate")))
	}
	args = append(args, "--record-size", fmt.Sprint(rapid.IntRange(1, 5000).Draw(t, "record size")))
	args = append(args, "--buckets", fmt.Sprint(rapid.IntRange(1, 20).Draw(t, "buckets")), "--subtasks", fmt.Sprint(rapid.IntRange(1, 8).Draw(t, "subtasks")))
	if rapid.Bool().Draw(t, "has checkpoint") {
		args = append(args, "--checkpoint", fmt.Sprintf("%dms", rapid.SampledFrom([]int{100, 1000, 2000, 7001, 30_000, 600_000, 3_600_000}).Draw(t, "checkpoint")))
	}
	if rapid.Bool().Draw(t, "takes time") {
		args = append(args, "--checkpoint-duration", fmt.Sprintf("%dms", rapid.IntRange(0, 40_000).Draw(t, "duration")))
	}
	return args
}

func drawGoal(t *rapid.T) (args []string) {
	switch rapid.IntRange(0, 3).Draw(t, "goal") {
	case 0:
		args = append(args, "--worst", fmt.Sprintf("%dms", rapid.IntRange(100, 7_200_000).Draw(t, "worst")))
	case 1:
		args = append(args, "--p99", fmt.Sprintf("%ds", rapid.IntRange(1, 1000).Draw(t, "p99")))
	case 2:
		args = append(args, "--files-per-hour", fmt.Sprint(rapid.IntRange(1, 5000).Draw(t, "files")))
	case 3:
		args = append(args, "--file-size", fmt.Sprint(rapid.IntRange(1, 500_000_000).Draw(t, "file size")))
	}
	return args
}

// withoutCheckpoint leaves the checkpoint interval to the text.
func withoutCheckpoint(args []string) (left []string) {
	for i := 0; i < len(args); i += 2 {
		if args[i] != "--checkpoint" {
			left = append(left, args[i], args[i+1])
		}
	}
	return left
}

// command runs the command line in a property.
func command(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(args, streams{strings.NewReader(stdin), &out, &errs})
	return status, out.String(), errs.String()
}
