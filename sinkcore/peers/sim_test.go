package peers_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/fsmem"
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

// Every rule that a peer does not promise has a reason and a source, and is named once; that there is
// such a rule is for package props. Latency is waived if and only if there is no bound; a hint is none.
func TestWaivers(t *testing.T) {
	t.Parallel()
	check := func(t interface{ Errorf(string, ...any) }, p peers.Peer) {
		named := map[string]bool{}
		for _, w := range p.Waivers() {
			if named[w.Rule] || w.Reason == "" || w.Source == "" {
				t.Errorf("%s: waiver %+v: named twice, or without reason or source", p, w)
			}
			named[w.Rule] = true
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
