package sim_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// Ten records a second, a checkpoint every 2 s, and the process dies from 9.05 s to 14 s:
// what came after the checkpoint at 8 s is written again, and every record is visible
// once. A record waits from its arrival, whether or not there was a process.
func TestOutage(t *testing.T) {
	w := sim.Workload{Policy: sinkcore.OnCheckpoint{}, Duration: 20 * time.Second, Outages: []sim.Outage{{From: 9050 * time.Millisecond, To: 14 * time.Second}}}
	r := runWorkload(t, fsmem.New(fsmem.Options{}), w)
	// The checkpoint of 8 s covers the records up to 7.9 s; those of 8.0 s to 9.0 s are lost.
	if r.Restarts != 1 || r.RewrittenRecords != 11 || r.RewrittenBytes != 1100 || r.RewrittenFiles != 1 {
		t.Errorf("%d restarts, %d records in %d files rewritten; want 1, 11 in 1", r.Restarts, r.RewrittenRecords, r.RewrittenFiles)
	}
	// The next checkpoint is 2 s after the restart and shows what arrived from 8 s on.
	if at := r.Records[79]; at != (sim.Visit{Arrived: 8000, Visible: 16000}) {
		t.Errorf("the record of 8 s: %+v, want visible at 16 s", at)
	}
	if at := r.Records[109]; at != (sim.Visit{Arrived: 11000, Visible: 16000}) || r.Latency(1) != 8*time.Second {
		t.Errorf("the record of the outage: %+v, worst %v; want visible at 16 s, 8 s", at, r.Latency(1))
	}
	if r.Written != 200 || r.Files != 7 || r.EmptyCheckpoints != 0 || r.Commits != 7 {
		t.Errorf("%d records, %d files, %d commits, %d empty; want 200, 7, 7, 0", r.Written, r.Files, r.Commits, r.EmptyCheckpoints)
	}
	if n := len(r.Parts); n != 8 || r.Parts[4].Opened != 14000 {
		t.Errorf("%d parts, %+v; want 8, the one that died left out", n, r.Parts)
	}
}

// A part that was open at the checkpoint is gone on with after the outage, and its age
// counts from its first record.
func TestOutageResumes(t *testing.T) {
	w := sim.Workload{Policy: sinkcore.Default{Rollover: 20 * time.Second}, CheckInterval: time.Second, Duration: 30 * time.Second,
		Outages: []sim.Outage{{From: 5 * time.Second, To: 7 * time.Second}, {From: 7 * time.Second, To: 8 * time.Second}}}
	r := runWorkload(t, fsmem.New(fsmem.Options{}), w)
	if r.Restarts != 2 || len(r.Parts) != 2 || r.Files != 1 {
		t.Fatalf("%d restarts, %d files, parts %+v", r.Restarts, r.Files, r.Parts)
	}
	// The outages begin after the records of their instant, and the first leaves those up to
	// 4 s; the second has those of 5.0 to 7.0 s to write once more.
	if r.RewrittenFiles != 2 || r.RewrittenRecords != 11+31 {
		t.Errorf("%d records in %d files rewritten, want 42 in 2", r.RewrittenRecords, r.RewrittenFiles)
	}
	p := r.Parts[0]
	if p.Opened != 100 || p.Closed != 21000 || p.Reason != sinkcore.Age || p.Handed != 22000 || p.Visible != 22000 || p.Records != 209 || p.Bytes != 20900 {
		t.Errorf("%+v", p)
	}
	if p := r.Parts[1]; p.Opened != 21000 || p.Closed != -1 || p.Visible != -1 || p.Name != "" {
		t.Errorf("%+v, want one that is open", p)
	}
}

// An outage before the first checkpoint starts anew, one that is longer than the run ends
// it, and impossible ones are refused.
func TestOutageEdges(t *testing.T) {
	w := sim.Workload{Policy: sinkcore.OnCheckpoint{}, Duration: 10 * time.Second, Outages: []sim.Outage{{From: time.Second, To: time.Second}}}
	if r := runWorkload(t, fsmem.New(fsmem.Options{}), w); r.RewrittenRecords != 10 || r.FirstVisible != 3*time.Second {
		t.Errorf("%d records rewritten, first visible after %v; want 10, 3 s", r.RewrittenRecords, r.FirstVisible)
	}
	w.Outages = []sim.Outage{{From: 5 * time.Second, To: time.Minute}}
	if r := runWorkload(t, fsmem.New(fsmem.Options{}), w); r.Written != 50 || r.Visible != 39 || r.Restarts != 0 || r.RewrittenRecords != 0 ||
		r.Invisible != 61 || r.OldestInvisible != 6*time.Second {
		t.Errorf("%+v; want 50 records, 39 visible, 61 invisible up to 6 s old and no restart, for that comes after the end", r)
	}
	for _, o := range [][]sim.Outage{{{From: 2, To: 1}}, {{From: time.Second, To: 0}}, {{From: 0, To: time.Second}, {From: 0, To: time.Second}}} {
		w.Outages = o
		if _, err := w.Run(fsmem.New(fsmem.Options{}), rand.NewChaCha8([32]byte{}), "out"); !errors.Is(err, sinkcore.ErrConfig) {
			t.Errorf("%v: %v, want ErrConfig", o, err)
		}
	}
}

// Records go where their arrivals say, late ones too, and the sink's calls and open
// parts are counted.
func TestRecordedBuckets(t *testing.T) {
	records := []sim.Arrival{{At: 10, Bucket: "a"}, {At: 20, Bucket: "b/c"}, {At: 30, Bucket: "a"}, {At: 2500, Bucket: "b/c"}, {At: 2600, Bucket: ""}}
	r := runWorkload(t, fsmem.New(fsmem.Options{}), sim.Workload{
		Arrivals: sim.Recorded{Name: "few", Records: records}, Policy: sinkcore.OnCheckpoint{}, Duration: 7 * time.Second, RecordSize: 24,
	})
	var buckets []string
	for _, p := range r.Parts {
		buckets = append(buckets, p.Bucket)
	}
	if !slices.Equal(buckets, []string{"a", "b/c", "b/c", ""}) || r.MaxOpenParts != 2 || r.EmptyCheckpoints != 1 || r.Commits != 2 {
		t.Errorf("buckets %q, %d open at most, %d empty, %d commits", buckets, r.MaxOpenParts, r.EmptyCheckpoints, r.Commits)
	}
	if c := r.Calls; c.Creates != 4 || c.Renames != 4 || c.Syncs != 4 || c.Writes != 4 || c.Removes != 0 {
		t.Errorf("%+v, want 4 creates, writes, fsyncs and renames", c)
	}
	if r.BytesPerFile() != 30 {
		t.Errorf("%v bytes a file, want 30: five records of 24 in four files", r.BytesPerFile())
	}
}
