package flink

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sinklab/sinkcore"
)

// Without Java, or without Maven, the error says what to install.
func TestBuildWithoutTools(t *testing.T) {
	t.Setenv("JAVA_HOME", "")
	t.Setenv("PATH", t.TempDir())
	if _, err := Build(context.Background()); !errors.Is(err, ErrTools) || !strings.Contains(err.Error(), "apt-get install") {
		t.Errorf("without Java: %v", err)
	}

	// A Java that is found and no Maven.
	fake := filepath.Join(t.TempDir(), "bin")
	if err := os.Mkdir(fake, 0o755); err != nil {
		t.Fatal(err)
	}
	script := func(version string) {
		text := "#!/bin/sh\necho 'openjdk version \"" + version + "\"' >&2\n"
		if err := os.WriteFile(filepath.Join(fake, "java"), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("JAVA_HOME", filepath.Dir(fake))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	script("17.0.15")
	if _, err := Build(context.Background()); !errors.Is(err, ErrTools) || !strings.Contains(err.Error(), "mvn") {
		t.Errorf("without Maven: %v", err)
	}
	// Maven without a network, and with one that compiles nothing.
	for text, tools := range map[string]bool{"Could not transfer artifact org.apache.flink:flink-core": true, "COMPILATION ERROR": false} {
		if err := os.WriteFile(filepath.Join(fake, "mvn"), []byte("#!/bin/sh\necho '"+text+"'\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", fake)
		if _, err := Build(context.Background()); err == nil || errors.Is(err, ErrTools) != tools || !strings.Contains(err.Error(), text) {
			t.Errorf("Maven says %s: %v", text, err)
		}
	}
	script("11.0.2")
	if _, err := Build(context.Background()); !errors.Is(err, ErrTools) || !strings.Contains(err.Error(), "is version 11") {
		t.Errorf("with Java 11: %v", err)
	}
}

func TestJavaVersion(t *testing.T) {
	for text, want := range map[string]int{
		"openjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime": 17,
		"java version \"21\" 2023-09-19 LTS":                      21,
		"java version \"1.8.0_292\"":                              1,
		"sh: java: not found":                                     0,
	} {
		if got := javaVersion(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// A jar that is not the one on the list is told by name, and so is one that is missing.
func TestVerify(t *testing.T) {
	jar := filepath.Join(t.TempDir(), "org/apache/flink/flink-core/2.3.0/flink-core-2.3.0.jar")
	if err := os.MkdirAll(filepath.Dir(jar), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(jar, []byte("something else"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := verify([]string{jar}); !errors.Is(err, ErrChecksum) || !strings.Contains(err.Error(), jar) {
		t.Errorf("another content: %v", err)
	}
	if err := verify([]string{"/repository/org/other/1/other-1.jar"}); !errors.Is(err, ErrChecksum) || !strings.Contains(err.Error(), "not on the list") {
		t.Errorf("not on the list: %v", err)
	}
	if err := verify(nil); !errors.Is(err, ErrChecksum) {
		t.Errorf("no jars: %v", err)
	}
}

// The source for a project of one's own is the tested class, in another package, with the
// line that makes it.
func TestDeadlineJava(t *testing.T) {
	d := sinkcore.Deadline{Within: time.Minute, Checkpoint: 2 * time.Second, Duration: 150 * time.Millisecond, Target: 128 << 20}
	got, err := DeadlineJava(d, "com.example.sinks")
	if err != nil {
		t.Fatal(err)
	}
	checkedIn, err := os.ReadFile(deadlineSource)
	if err != nil {
		t.Fatal(err)
	}
	use, class, _ := strings.Cut(got, "\n")
	if want := "// .withRollingPolicy(new DeadlineRollingPolicy<>(Duration.ofMillis(60000), Duration.ofMillis(2000), Duration.ofMillis(150), 134217728L))"; use != want {
		t.Errorf("it begins with %q", use)
	}
	if want := strings.Replace(string(checkedIn), "package sinklab.flink.policy;", "package com.example.sinks;", 1); class != want || want == string(checkedIn) {
		t.Errorf("the class is\n%s", class)
	}
	if _, err := DeadlineJava(sinkcore.Deadline{Within: time.Second, Checkpoint: 2 * time.Second}, "x"); !errors.Is(err, sinkcore.ErrConfig) {
		t.Errorf("a promise that cannot be kept: %v", err)
	}
}
