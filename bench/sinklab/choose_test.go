package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"sinklab/sinkcore/peers"
)

// The cause of the 120 s is told in less than 20 lines.
func TestExplainTheArticle(t *testing.T) {
	_, out, _ := sinklab(t, "", "explain")
	if lines := strings.Count(out, "\n"); lines >= 20 {
		t.Errorf("%d lines", lines)
	}
	for _, want := range []string{"waits 120.1 s", "60 s  the check finds the part 59.95 s old, 50 ms short of the rollover of 60 s", "Better: Rollover 59s", "a checkpoint every 2 s, the first at 150 ms",
		"That is with the first checkpoint at 150 ms", "one may wait up to 121.9", "worst latency with these arrivals and this first checkpoint: 120.1 s now, 60.1 s then", "worst latency of any steady stream,", "121.998 s now, 61.999 s then"} {
		if !strings.Contains(strings.ReplaceAll(out, "\n  ", " "), want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	for _, line := range strings.Split(out, "\n") {
		if len(line) > 100 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if _, out, _ := sinklab(t, "", "explain", "--rollover", "59s"); !strings.Contains(out, "waits 60.1 s") {
		t.Errorf("with 59 s:\n%s", out)
	}
}

// The bound holds whenever the first checkpoint starts, and one that starts at the worst instant
// comes near it.
func TestExplainBoundHoldsAtAnyPhase(t *testing.T) {
	longest, bound := int64(0), int64(0)
	for _, first := range []string{"1ms", "49ms", "150ms", "1s", "1999ms", "2s"} {
		_, out, errs := sinklab(t, "", "explain", "--json", "--rate", "1000", "--first-checkpoint", first)
		var r struct {
			LatencyMS int64 `json:"latency_ms"`
			BoundMS   int64 `json:"bound_ms"`
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil || bound != 0 && r.BoundMS != bound {
			t.Fatalf("%s: %v, bound %d and %d, %s", first, err, r.BoundMS, bound, errs)
		}
		longest, bound = max(longest, r.LatencyMS), r.BoundMS
	}
	if longest > bound || bound-longest > 70_000 || bound == 0 {
		t.Errorf("the longest wait is %d ms, the bound %d ms", longest, bound)
	}
}

// A policy may be given as simulate takes it.
func TestExplainTakesASinkOfSimulate(t *testing.T) {
	for _, c := range []struct{ same, as []string }{
		{[]string{"--policy", "policy=rolling rollover=59000 check=30000"}, []string{"--rollover", "59s", "--check", "30s"}},
		{[]string{"--policy", "tuned"}, []string{"--rollover", "10s", "--inactivity", "10s", "--check", "1s"}},
		{[]string{"--policy", "flink-filesink withRolloverInterval=59000"}, []string{"--rollover", "59s"}},
		{[]string{"--policy", "default"}, nil},
	} {
		status, got, errs := sinklab(t, "", append([]string{"explain"}, c.same...)...)
		if _, want, _ := sinklab(t, "", append([]string{"explain"}, c.as...)...); status != statusOK || got != want {
			t.Errorf("%q: status %d, %s\n%s\nwant\n%s", c.same, status, errs, got, want)
		}
	}
}

// Bad input has status 2, and names the nearest right thing. Nothing is printed.
func TestChooseRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	toml, unread, nothing := file("plan.toml", "rate = 10\nworts = \"1s\"\n"), file("a.java", "\nFileSink.forRowFormat(p, e).withBucketCheckInterval(conf.check()).build();"), file("a.sql", "SELECT 1;")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"explain", "--rollover", "10sec"}, `--rollover: "10sec" has the unknown unit "sec": want 10s`},
		{[]string{"explain", "--polcy", "default"}, `unknown flag --polcy, did you mean "--policy"?`},
		{[]string{"explain", "--policy", "defualt"}, `did you mean default?`},
		{[]string{"explain", "--policy", "rolling rolover=5"}, `did you mean rollover=?`},
		{[]string{"explain", "--policy", "rolling rollover=5s"}, `here times are in milliseconds: rollover=5000`},
		{[]string{"explain", "--policy", "default", "--rollover", "5s"}, `say the same`},
		{[]string{"explain", "--policy", "spark"}, `sinklab simulate "spark" plays it`},
		{[]string{"explain", "--policy", "rolling check=5s"}, `here times are in milliseconds: check=5000`},
		{[]string{"explain", "--policy", "rolling check=5000", "--check", "5s"}, `say the same`},
		{[]string{"explain", "--checkpoint", "0s"}, `--checkpoint 0s: must be longer than 0`},
		{[]string{"explain", "--outage", "5m"}, `want FROM-TO, as 10m-12m`},
		{[]string{"explain", "--outage", "5m-4m"}, `ends before it begins`},
		{[]string{"explain", "--arrivals", "poison"}, `did you mean poisson?`},
		{[]string{"explain", "--arrivals", "poisson", "--rate", "5"}, `say the same`},
		{[]string{"explain", "--size", "5mega"}, `want 5MB`},
		{[]string{"plan"}, `there is no goal: give --worst or --p99`},
		{[]string{"plan", "--worst", "60"}, `"60" has no unit: want 60s or 60ms`},
		{[]string{"plan", "--worst", "1m", "--checkpoint", "0s"}, `--checkpoint 0s: must be longer than 0`},
		{[]string{"plan", "--worst", "1m", "--paste", "flink-jva"}, `did you mean flink-java?`},
		{[]string{"plan", "--worst", "1m", "--paste", "deadline-jav"}, `did you mean deadline-java?`},
		{[]string{"plan", "--worst", "2s", "--paste", "deadline-java"}, `Deadline makes no fewer files`},
		{[]string{"plan", "--file", toml}, toml + `:2: worts is no key that is known; did you mean worst?`},
		{[]string{"plan", "--file", filepath.Join(dir, "no.toml")}, `no such file`},
		{[]string{"plan", "--worst", "1m", "--buckets", "-1"}, `buckets`},
		{[]string{"lint", filepath.Join(dir, "no.sql")}, `no such file`},
		{[]string{"lint", nothing}, nothing + `:1: there is no sink in it`},
		{[]string{"lint", "--form", "flinksql", nothing}, `did you mean flink-sql?`},
		{[]string{"lint", "--rules", toml}, `looks at no file`},
		{[]string{"lint", toml}, `give --form flink-java, flink-sql or kafka-connect`},
		{[]string{"simulate", "defalt"}, `there is no sink "defalt"; did you mean default?`},
		{[]string{"simulate", "xxxxxxxxxx"}, `want one of default, tuned, oncheckpoint, peers, flink-filesink`},
		{[]string{"simulate", "policy=defaul"}, `did you mean default?`},
		{[]string{"simulate", "policy=rolling check=1m"}, `check=60000`},
		{[]string{"simulate", "kafka-connect-s3"}, `flush.size: is required`},
		{[]string{"simulate", "kafka-connect-s3 flushsize=5"}, `did you mean flush.size?`},
		{[]string{"simulate", "--options", "spar"}, `did you mean spark?`},
		{[]string{"simulate", "--start", "yesterday"}, `want a time after 1970`},
		{[]string{"simulate", "--bench", "--json"}, `give one of them`},
		{[]string{"simulate", "--flights", "x", "--rate", "5"}, `say the same`},
		{[]string{"simulate", "--flights", nothing}, nothing + `:`},
	} {
		status, out, errs := sinklab(t, "", c.args...)
		if status != statusBadInput || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%q: status %d, printed %q, said %q; want 2, nothing, %q", c.args, status, out, errs, c.want)
		}
	}
	// A value that is not in the file is no finding and not silence either; what can be judged is.
	status, out, errs := sinklab(t, "", "lint", unread, example("s3-sink.json"))
	if status != statusBadInput || !strings.Contains(errs, unread+":2: withBucketCheckInterval cannot be judged: the value conf.check() is not in the text") || !strings.Contains(out, "idle-unbounded") {
		t.Errorf("status %d, %s, %s", status, out, errs)
	}
}

// The command line counts, and then the file.
func TestPlanFile(t *testing.T) {
	toml := "worst = \"60s\"\nrate = 5\nsubtasks = 2\ncheckpoint = [\"2s\"]\n"
	_, both, errs := sinklab(t, toml, "plan", "--file", "-", "--subtasks", "3", "--arrivals", "poisson rate=7")
	_, flags, _ := sinklab(t, "", "plan", "--worst", "60s", "--subtasks", "3", "--arrivals", "poisson rate=7", "--checkpoint", "2s")
	if both != flags || !strings.Contains(both, "7 records/s at random of 100 B, 1 bucket, 3 subtasks") {
		t.Errorf("%s\n%s\n%s", errs, both, flags)
	}
}

// Of several checkpoint intervals the one with the fewest files is chosen, or with the least
// latency where that is what is asked for.
func TestPlanChoosesACheckpoint(t *testing.T) {
	for _, c := range []struct {
		goal []string
		want string
	}{
		{[]string{"--worst", "60s"}, "env.enableCheckpointing(1000)"}, // leaves the most time until a file is closed
		{[]string{"--files-per-hour", "100"}, "env.enableCheckpointing(1000)"},
		{[]string{"--worst", "1s500ms"}, "env.enableCheckpointing(1000)"}, // 30 s do not keep it
	} {
		status, out, errs := sinklab(t, "", append([]string{"plan", "--checkpoint", "30s,1s", "--paste", "flink-java"}, c.goal...)...)
		if status != statusOK || !strings.Contains(out, c.want) {
			t.Errorf("%q: status %d, %s\n%s", c.goal, status, errs, out)
		}
	}
}

// A goal that cannot be kept has status 1, the proof, and the nearest settings; as JSON too.
func TestPlanImpossible(t *testing.T) {
	status, out, errs := sinklab(t, "", "plan", "--worst", "60s", "--files-per-hour", "30", "--json")
	var r struct {
		Impossible string
		NeededMS   int64 `json:"needed_ms"`
		AllowedMS  int64 `json:"allowed_ms"`
		Nearest    []struct {
			Name, Goal   string
			WorstMS      int64   `json:"worst_ms"`
			FilesPerHour float64 `json:"files_per_hour"`
		}
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != statusFound || errs != "" {
		t.Fatalf("status %d, %v, %s%s", status, err, out, errs)
	}
	if r.NeededMS <= r.AllowedMS || len(r.Nearest) != 2 || r.Nearest[0].WorstMS > 60_000 || r.Nearest[0].FilesPerHour <= 30 || r.Nearest[1].FilesPerHour > 30 || r.Nearest[1].WorstMS <= 60_000 {
		t.Errorf("%+v", r)
	}
}

// What is the limit without one is said, and so is a bound that no policy can keep.
func TestPlanImpossibleSaysWhy(t *testing.T) {
	status, out, _ := sinklab(t, "", "plan", "--worst", "10m", "--rate", "1000000", "--buckets", "1000", "--subtasks", "200")
	if status != statusFound || !strings.Contains(out, "it is a million a day, 41,667 an hour") {
		t.Errorf("status %d\n%s", status, out)
	}
	status, out, _ = sinklab(t, "", "plan", "--worst", "1s")
	if status != statusFound || !strings.Contains(out, "A record waits 2 s for the next checkpoint and its completion alone.") || strings.Contains(out, "million") {
		t.Errorf("status %d\n%s", status, out)
	}
}

// What is said to help keeps the goal when it is done, and one step further does not; what cannot
// help is not advised.
func TestPlanImpossibleSaysWhatHelps(t *testing.T) {
	for _, c := range []struct {
		goal, want, then, further []string
		not                       string
	}{
		{
			goal: []string{"--worst", "30s", "--files-per-hour", "300", "--subtasks", "4"},
			want: []string{"have 2 subtasks in place of 4: with rollover 2", "What does not help: checkpoints more often, down to one every 100 ms.", "each of the 4 pairs of a bucket and a subtask", "Compaction is left out here"},
			then: []string{"--subtasks", "2"}, further: []string{"--subtasks", "3"},
		},
		{
			goal: []string{"--worst", "5s", "--checkpoint", "20s"},
			want: []string{"have a checkpoint every 5 s", "A record waits 20 s for the next checkpoint"},
			then: []string{"--checkpoint", "5s"}, further: []string{"--checkpoint", "10s"}, not: "Compaction",
		},
		{
			goal: []string{"--worst", "30s", "--files-per-hour", "200", "--checkpoint", "20s", "--subtasks", "3", "--buckets", "2"},
			want: []string{"have 1 bucket in place of 2, and 1 subtask in place of 3"},
			then: []string{"--subtasks", "1", "--buckets", "1"}, further: []string{"--subtasks", "1", "--buckets", "2"},
		},
		{
			goal: []string{"--worst", "60s", "--files-per-hour", "30"},
			want: []string{"allow more time: every record within 121.999 s", "allow more or smaller files: 62.07 files/hour"},
			then: []string{"--worst", "121999ms"}, further: []string{"--worst", "121s"}, not: "- have ",
		},
	} {
		status, out, _ := sinklab(t, "", append([]string{"plan"}, c.goal...)...)
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%q: %q is missing in\n%s", c.goal, want, out)
			}
		}
		if status != statusFound || c.not != "" && strings.Contains(out, c.not) {
			t.Errorf("%q: status %d\n%s", c.goal, status, out)
		}
		replaced := func(with []string) (args []string) {
			args = append(args, "plan")
			for i := 0; i < len(c.goal); i += 2 {
				if !slices.Contains(with, c.goal[i]) {
					args = append(args, c.goal[i:i+2]...)
				}
			}
			return append(args, with...)
		}
		if status, _, errs := sinklab(t, "", replaced(c.then)...); status != statusOK {
			t.Errorf("%q: status %d, %s", replaced(c.then), status, errs)
		}
		if status, _, errs := sinklab(t, "", replaced(c.further)...); status != statusFound {
			t.Errorf("%q: status %d, %s", replaced(c.further), status, errs)
		}
	}
}

// Deadline never needs more files than the best settings of Flink at the same worst latency, and
// the saving that is printed is what it saves.
func TestPlanDeadlineSaves(t *testing.T) {
	saved := 0.0
	for _, worst := range []string{"4s", "10s", "30s", "60s", "122s", "10m"} {
		for _, checkpoint := range []string{"1s", "2s", "10s"} {
			status, out, errs := sinklab(t, "", "plan", "--worst", worst, "--checkpoint", checkpoint, "--json")
			if status == statusFound {
				continue
			}
			type setting struct {
				WorstMS      int64   `json:"worst_ms"`
				FilesPerHour float64 `json:"files_per_hour"`
			}
			var r struct {
				Recommended setting
				Deadline    *setting
				Saving      float64 `json:"deadline_saving"`
			}
			if err := json.Unmarshal([]byte(out), &r); err != nil || status != statusOK {
				t.Fatalf("status %d, %v, %s", status, err, errs)
			}
			if r.Deadline == nil {
				if r.Saving != 0 {
					t.Errorf("%s, %s: saves %v without a Deadline", worst, checkpoint, r.Saving)
				}
				continue
			}
			share := 1 - r.Deadline.FilesPerHour/r.Recommended.FilesPerHour
			if r.Saving <= 0 || share < r.Saving-1e-9 || share > r.Saving+1e-9 {
				t.Errorf("%s, %s: %+v", worst, checkpoint, r)
			}
			saved = max(saved, r.Saving)
		}
	}
	if saved < .1 {
		t.Errorf("the largest saving is %v", saved)
	}
}

// The findings of JSON are those of the text, and the status says whether there are any.
func TestLintStatus(t *testing.T) {
	good := "SET 'execution.checkpointing.interval' = '2 s';\nCREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = 'parquet');"
	if status, out, errs := sinklab(t, good, "lint"); status != statusOK || errs != "" || !strings.HasPrefix(out, "1 sink, 0 findings") {
		t.Errorf("status %d, %s%s", status, out, errs)
	}
	if status, out, _ := sinklab(t, good, "lint", "--json", "-"); status != statusOK || out != "{\"sinks\":1,\"findings\":[]}\n" {
		t.Errorf("status %d, %s", status, out)
	}
	// The interval of the command line counts, and then that of the text.
	slow := "SET 'execution.checkpointing.interval' = '1 h';\nCREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = 'json');"
	if status, out, _ := sinklab(t, slow, "lint"); status != statusFound || !strings.Contains(out, "checkpoint-above-rollover") {
		t.Errorf("status %d, %s", status, out)
	}
	if _, out, _ := sinklab(t, slow, "lint", "--checkpoint", "2s"); strings.Contains(out, "checkpoint-above-rollover") {
		t.Errorf("%s", out)
	}
}

// A checkpoint interval that cannot be read is said, unless the command line says it.
func TestLintUnreadCheckpoint(t *testing.T) {
	job := "env.enableCheckpointing(CKPT);\nFileSink.forRowFormat(p, e).withRollingPolicy(OnCheckpointRollingPolicy.build()).build();"
	status, out, errs := sinklab(t, job, "lint")
	if status != statusBadInput || !strings.Contains(errs, "standard input:1: the checkpoint interval CKPT cannot be read; --checkpoint says it") || !strings.Contains(out, "a checkpoint every 2 s where it cannot be read") {
		t.Errorf("status %d, %s%s", status, out, errs)
	}
	if status, out, errs := sinklab(t, job, "lint", "--checkpoint", "10s"); status != statusOK || errs != "" || !strings.Contains(out, "a checkpoint every 10 s") {
		t.Errorf("status %d, %s%s", status, out, errs)
	}
}

// What the help refers to prints something.
func TestLintRules(t *testing.T) {
	status, out, errs := sinklab(t, "", "lint", "--rules")
	if status != statusOK || errs != "" || !strings.HasPrefix(out, "no-checkpoints             nothing turns checkpoints on") || !strings.Contains(out, "\nmin-pause ") {
		t.Errorf("status %d, %s\n%s", status, errs, out)
	}
	for _, line := range strings.Split(out, "\n") {
		if len(line) > 100 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

// What simulate prints for benchstat is read by it, one line for each sink with a name of its own.
func TestSimulateBench(t *testing.T) {
	status, out, errs := sinklab(t, "", "simulate", "peers", "default", "kafka-connect-s3 flush.size=10 rotate.schedule.interval.ms=60000 timezone=Europe/Berlin", "--bench", "--duration", "10m")
	if status != statusOK || errs != "" {
		t.Fatalf("status %d, %s", status, errs)
	}
	reader := benchfmt.NewReader(strings.NewReader(out), "out")
	names := map[string]bool{}
	for reader.Scan() {
		switch r := reader.Result().(type) {
		case *benchfmt.Result:
			names[string(r.Name.Full())] = true
		case *benchfmt.SyntaxError:
			t.Error(r)
		}
	}
	if want := len(peers.Names()) + 2; reader.Err() != nil || len(names) != want {
		t.Errorf("%d names, want %d: %v\n%s", len(names), want, reader.Err(), out)
	}
}

// The real stream is played as in the benchmarks.
func TestSimulateFlights(t *testing.T) {
	status, out, errs := sinklab(t, "", "simulate", "oncheckpoint", "--flights", "../../testdata/flights/flights.csv", "--json")
	var r struct {
		Sinks []struct{ Written, Visible int64 }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != statusOK || r.Sinks[0].Written == 0 || r.Sinks[0].Written != r.Sinks[0].Visible {
		t.Errorf("status %d, %v, %s%s", status, err, out, errs)
	}
	if _, byDay, _ := sinklab(t, "", "simulate", "oncheckpoint", "--flights", "../../testdata/flights/flights.csv", "--by", "day", "--json"); byDay == out {
		t.Error("--by makes no difference")
	}
}

// A task that fails is said, with status 1; the others are shown all the same.
func TestSimulateFails(t *testing.T) {
	args := []string{"simulate", "kafka-connect-s3 flush.size=1000 rotate.schedule.interval.ms=60000 timezone=Asia/Beirut", "default", "--duration", "6h", "--start"}
	status, out, errs := sinklab(t, "", append(args, "2026-03-28T19:00:00Z")...)
	if status != statusFound || errs != "" || !strings.Contains(out, "fails\ndefault ") || !strings.Contains(out, "the task fails: Asia/Beirut has no midnight on 2026-03-29") {
		t.Errorf("status %d, %s\n%s", status, errs, out)
	}
	if status, out, errs := sinklab(t, "", append(args, "2026-03-27")...); status != statusOK || strings.Contains(out, "fails") {
		t.Errorf("the day before: status %d, %s\n%s", status, errs, out)
	}
}

// The seed decides about random delays, and nothing else does.
func TestSimulateSeed(t *testing.T) {
	args := []string{"simulate", "bento-s3 batching.period=10s batching.jitter=0.5", "--json", "--seed"}
	_, one, errs := sinklab(t, "", append(args, "1")...)
	_, again, _ := sinklab(t, "", append(args, "1")...)
	_, two, _ := sinklab(t, "", append(args, "2")...)
	if one != again || one == two {
		t.Errorf("%s\n%s\n%s\n%s", errs, one, again, two)
	}
}

// Help goes to standard output, has an example and the exit status, and fits a terminal.
func TestChooseHelp(t *testing.T) {
	for _, name := range []string{"plan", "lint", "explain", "simulate"} {
		status, out, errs := sinklab(t, "", name, "--help")
		if status != statusOK || errs != "" || !strings.Contains(out, "\n    sinklab "+name) || !strings.Contains(out, "Exit status: 0") {
			t.Errorf("%s: status %d, %s\n%s", name, status, errs, out)
		}
	}
}
