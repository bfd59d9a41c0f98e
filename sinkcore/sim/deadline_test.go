package sim_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// Deadline keeps its promise for any arrivals, an idle stream included, with as few files
// as any sink can have that publishes at these checkpoints, and each of them is closed at
// most one checkpoint interval before it would have to be if the sink could publish at any
// moment.
func TestDeadline(t *testing.T) {
	const ms = time.Millisecond
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, least, most int) time.Duration {
			return time.Duration(rapid.IntRange(least, most).Draw(t, name)) * ms
		}
		p := sinkcore.Deadline{Checkpoint: draw("checkpoint", 1, 3000), Duration: draw("duration", 0, 4000)}
		interval := max(p.Checkpoint, p.Duration)
		p.Within = interval + p.Duration + draw("slack", 0, 10_000)
		w := sim.Workload{
			Policy: p, CheckpointInterval: p.Checkpoint, CheckpointDuration: p.Duration, FirstCheckpoint: draw("first", 1, 3000),
			RecordSize: 24, Subtasks: rapid.IntRange(1, 2).Draw(t, "subtasks"),
		}
		var stream sim.Recorded
		at := int64(0)
		for _, gap := range rapid.SliceOfN(rapid.Int64Range(0, 5000), 1, 40).Draw(t, "gaps") {
			at += gap
			stream.Records = append(stream.Records, sim.Arrival{At: at, EventTime: sinkcore.NoTime})
		}
		w.Arrivals, w.Duration = stream, time.Duration(at)*ms+p.Within
		w.FirstCheckpoint = min(w.FirstCheckpoint, interval)
		r, err := w.Run(fsmem.New(fsmem.Options{NoPlaces: true}), rand.NewChaCha8([32]byte{}), "out")
		if err != nil {
			t.Fatal(err)
		}
		if r.Visible != int64(len(stream.Records)) || r.Latency(1) > p.Within {
			t.Fatalf("%d of %d records visible, the last after %v; want all within %v", r.Visible, len(stream.Records), r.Latency(1), p.Within)
		}
		// The fewest files, by records and checkpoints alone.
		last := func(until int64) int64 { // start of the last checkpoint up to then
			first := w.FirstCheckpoint.Milliseconds()
			return until - (until-first)%interval.Milliseconds()
		}
		fewest := int64(0)
		until := make([]int64, w.Subtasks)
		for i, a := range stream.Records {
			if s := i % w.Subtasks; a.At >= until[s] {
				fewest++
				until[s] = last(a.At + (p.Within - p.Duration).Milliseconds())
			}
		}
		if r.Files != fewest {
			t.Fatalf("%d files, the fewest are %d", r.Files, fewest)
		}
		for _, part := range r.Parts {
			if least := part.Opened + (p.Within - p.Duration - interval).Milliseconds(); part.Closed <= least {
				t.Fatalf("%+v was closed at or before %d, so it could have waited for the next checkpoint", part, least)
			}
		}
	})
}

// With a target parts are filled to it while the deadline allows, and no more than one
// record beyond.
func TestDeadlineFillsToItsTarget(t *testing.T) {
	w := sim.Workload{
		Arrivals: sim.Constant{Interval: 10 * time.Millisecond}, Duration: 5 * time.Minute,
		Policy: sinkcore.Deadline{Within: time.Minute, Checkpoint: 2 * time.Second, Target: 64 << 10},
	}
	r := runWorkload(t, fsmem.New(fsmem.Options{}), w)
	for _, p := range r.Parts {
		if p.Closed >= 0 && (p.Reason != sinkcore.Size || p.Bytes < 64<<10 || p.Bytes >= 64<<10+100) {
			t.Errorf("%+v, want it closed at 65,536 bytes", p)
		}
	}
	w.Arrivals = sim.Constant{Interval: time.Second}
	slow := runWorkload(t, fsmem.New(fsmem.Options{}), w)
	if r.Files < 40 || slow.Files != 5 || slow.Latency(1) > time.Minute {
		t.Errorf("%d files, and %d of the slow stream with records up to %v old; want one every 6.6 s, and 5 at most a minute old", r.Files, slow.Files, slow.Latency(1))
	}
}
