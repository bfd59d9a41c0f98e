package peers_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/fsmem"
	"sinklab/props"
	"sinklab/props/sinktest"
	"sinklab/props/sinktest/examples"
	"sinklab/sinkcore/peers"
	"sinklab/sinkcore/sim"
)

// A peer that is a rolling policy has the same outcome as the sink of package sinkcore with that
// policy, which writes files: record by record the same latencies, and as many files. With Flink's
// own policies that holds over outages too.
func TestPropRollingIsSinkcore(t *testing.T) {
	t.Parallel()
	for _, name := range peers.Names() {
		if _, ok := parse(t, withExample(name)).(peers.Rolling); !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			played := 0
			rapid.Check(t, func(t *rapid.T) {
				p, w := drawPeer(t, name).(peers.Rolling), drawWorkload(t)
				policy, check, ok := p.Policy()
				if !ok {
					return
				}
				w.TimerDelay, w.RecordSize, w.Duration = 0, min(w.RecordSize, 999), 3*time.Minute
				if name == "flink-filesink" || name == "flink-filesink-bulk" {
					w.Outages = drawOutages(t)
				}
				fsys := fsmem.New(fsmem.Options{})
				want, err := sim.Workload{
					Arrivals: w.Arrivals, RecordSize: w.RecordSize, Subtasks: w.Subtasks, Buckets: w.Buckets,
					CheckpointInterval: w.CheckpointInterval, FirstCheckpoint: w.FirstCheckpoint, CheckpointDuration: w.CommitDuration,
					Outages: w.Outages, Duration: w.Duration, Policy: policy, CheckInterval: check,
				}.Run(fsys, rand.NewChaCha8([32]byte{1}), "out")
				if err != nil {
					t.Fatal(err)
				}
				got, err := p.Simulate(w)
				if err != nil {
					t.Fatal(err)
				}
				played++
				if got.Visible != want.Visible || got.Files != want.Files || got.Bytes != want.Bytes || got.FirstVisible != want.FirstVisible ||
					got.MaxOpenFiles != want.MaxOpenParts || got.Commits != want.Commits || got.Restarts != want.Restarts || got.Resent != want.RewrittenRecords ||
					got.FilesPerHour() != want.FilesPerHour() || got.BytesPerFile() != want.BytesPerFile() {
					t.Fatalf("%s under %s: got %+v, want %d visible in %d files, first at %v, %d open, %d commits, %d restarts, %d again",
						p, describe(w), got, want.Visible, want.Files, want.FirstVisible, want.MaxOpenParts, want.Commits, want.Restarts, want.RewrittenRecords)
				}
				for _, q := range []float64{0, 0.01, 0.25, 0.5, 0.9, 0.99, 1} {
					if got.Latency(q) != want.Latency(q) {
						t.Fatalf("%s under %s: latency %v is %v, want %v", p, describe(w), q, got.Latency(q), want.Latency(q))
					}
				}
			})
			if played == 0 {
				t.Error("no workload was played")
			}
		})
	}
}

// The policies of peers are policies like any other for the rules of exactly-once: they are pure, so
// the sink keeps every rule with them, and none is later than the bound.
func TestRollingKeepsTheRules(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"flink-filesink withMaxPartSize=20 withRolloverInterval=300 withInactivityInterval=200",
		"flink-sql sink.rolling-policy.file-size=20 sink.rolling-policy.rollover-interval=300ms",
		"flink-sql format=parquet",
		"iceberg-flink write.target-file-size-bytes=1",
		"arroyo rolling_policy.interval=1s",
		"arroyo-local rolling_policy.interval=1s rolling_policy.file_size=20",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			policy, _, ok := parse(t, line).(peers.Rolling).Policy()
			if !ok {
				t.Fatal("no policy")
			}
			kind := examples.Sinkcore(policy)
			kind.Programs = 60
			table, err := sinktest.Verdicts(kind)
			if err != nil {
				t.Fatal(err)
			}
			if broken := table.Broken(); len(broken) > 0 {
				t.Errorf("%s", table)
			}
		})
	}
}

// Every rule that a peer does not promise is one that there is, with a reason and a source, in the
// order of the rules. Latency is waived if and only if there is no bound; a hint is none.
func TestWaivers(t *testing.T) {
	t.Parallel()
	order := map[string]int{}
	for i, r := range props.Rules {
		order[string(r.Rule)] = i
	}
	check := func(t interface{ Errorf(string, ...any) }, p peers.Peer) {
		last := -1
		for _, w := range p.Waivers() {
			at, known := order[w.Rule]
			if !known || at <= last || w.Reason == "" || w.Source == "" {
				t.Errorf("%s: waiver %+v: no such rule, not in order, or without reason or source", p, w)
			}
			last = at
		}
		if unbounded := p.WorstLatency(peers.Workload{}).Unbounded; unbounded != waives(p, "Latency") && p.Name() != "firehose" {
			t.Errorf("%s: unbounded %v, Latency waived %v", p, unbounded, waives(p, "Latency"))
		}
	}
	for _, name := range peers.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, parse(t, withExample(name)))
			rapid.Check(t, func(rt *rapid.T) { check(rt, drawPeer(rt, name)) })
		})
	}
}
