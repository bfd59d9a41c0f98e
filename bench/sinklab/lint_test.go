package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A job without checkpoints is told so before anything else, also if that is in another file, and not
// if the command line says how often they come.
func TestLintNoCheckpointsFirst(t *testing.T) {
	const table = "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json', 'sink.rolling-policy.rollover-interval' = '1 min');"
	dir := t.TempDir()
	with, without := filepath.Join(dir, "with.sql"), filepath.Join(dir, "without.sql")
	for name, text := range map[string]string{with: "SET 'execution.checkpointing.interval' = '2 s';\n" + table, without: table} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	status, out, errs := sinklab(t, "", "lint", with, without)
	if status != statusFound || errs != "" || !strings.HasPrefix(out, without+":1: no-checkpoints\n") || strings.Count(out, ": no-checkpoints") != 1 {
		t.Errorf("status %d, %s%s", status, errs, out)
	}
	if _, out, _ := sinklab(t, "", "lint", "--json", with, without); !strings.HasPrefix(out, `{"sinks":2,"findings":[{"file":"`+without+`","line":1,"sink":"","rule":"no-checkpoints","severity":"nothing-visible"`) {
		t.Errorf("%s", out)
	}
	if _, out, _ := sinklab(t, "", "lint", "--checkpoint", "10s", without); strings.Contains(out, "no-checkpoints") || !strings.Contains(out, "resonance") {
		t.Errorf("%s", out)
	}
}

// A finding that rests on what arrives says what of that nobody has said, and no other does.
func TestLintSaysWhatIsAssumed(t *testing.T) {
	const job = "env.enableCheckpointing(2000);\nFileSink.forRowFormat(a, b).withRollingPolicy(DefaultRollingPolicy.builder().withMaxPartSize(MemorySize.ofMebiBytes(256)).build()).build();"
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "assumed: 10 records/s (--rate), records of 100 B (--record-size)\n"},
		{[]string{"--rate", "20"}, "assumed: records of 100 B (--record-size)\n"},
		{[]string{"--arrivals", "poisson rate=5"}, "assumed: records of 100 B (--record-size)\n"},
		{[]string{"--record-size", "200"}, "assumed: 10 records/s (--rate)\n"},
		{[]string{"--rate", "20", "--record-size", "200"}, ""},
	} {
		_, out, _ := sinklab(t, job, append([]string{"lint"}, c.args...)...)
		if !strings.Contains(out, ": size-never") || !strings.Contains(out, ": resonance") || !strings.Contains(out, c.want) || strings.Count(out, "assumed") != strings.Count(c.want, "assumed") {
			t.Errorf("%q:\n%s", c.args, out)
		}
	}
	if _, out, _ := sinklab(t, job, "lint", "--json", "--rate", "20"); !strings.Contains(out, `"assumed":["records of 100 B (--record-size)"]`) || !strings.Contains(out, `"assumed":[]`) {
		t.Errorf("%s", out)
	}
}
