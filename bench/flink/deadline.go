package flink

import (
	"fmt"
	"strings"

	"sinklab/sinkcore"
)

const deadlineSource = "src/main/java/sinklab/flink/policy/DeadlineRollingPolicy.java"

// DeadlineJava is the Java source of a rolling policy for Flink's FileSink that closes files
// as the given [sinkcore.Deadline] does, ready to be put into a project of one's own: in the
// Java package pkg, with the line that makes it at its head. It needs Flink 2 and nothing
// else. The error wraps [sinkcore.ErrConfig] if the promise cannot be kept.
//
// The class is the one that this module tests on the real FileSink.
func DeadlineJava(d sinkcore.Deadline, pkg string) (string, error) {
	if err := d.Validate(); err != nil {
		return "", err
	}
	source, err := sources.ReadFile(deadlineSource)
	if err != nil {
		return "", err
	}
	text := strings.Replace(string(source), "package sinklab.flink.policy;", "package "+pkg+";", 1)
	use := fmt.Sprintf("// .withRollingPolicy(new DeadlineRollingPolicy<>(Duration.ofMillis(%d), Duration.ofMillis(%d), Duration.ofMillis(%d), %dL))\n",
		d.Within.Milliseconds(), d.Checkpoint.Milliseconds(), d.Duration.Milliseconds(), d.Target)
	return use + text, nil
}
