package watch_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sinklab/bench/watch"
	"sinklab/sinkcore"
)

// source is a job whose checkpoints complete a while after they were taken, and that keeps
// account of when each record became visible.
type source struct {
	*world
	job      *sinkcore.Job[string]
	records  int64
	visible  map[string]int64 // when each part did, by its path below /out
	nextID   int64
	complete int64 // when the pending checkpoint does; 0 if there is none
}

func newSource(w *world, policy sinkcore.RollingPolicy, check time.Duration) *source {
	s := &source{world: w, visible: map[string]int64{}, nextID: 1}
	var err error
	s.job, err = sinkcore.NewJob(w.fs, rand.NewChaCha8([32]byte{1}), sinkcore.Config[string]{
		Dir: "/out", Encoder: sinkcore.Line[string]{}, Policy: policy, CheckInterval: check,
		Assigner: sinkcore.BucketFunc[string](func(record string, _ sinkcore.Context) (string, error) {
			return record[strings.LastIndexByte(record, ',')+1:], nil
		}),
	}, 2, w.now)
	w.must(err)
	return s
}

// pass lets a millisecond pass: 20 records a second, a checkpoint every 2 s that completes
// 137 ms later.
func (s *source) pass() {
	s.now++
	_, err := s.job.Tick(s.now)
	s.must(err)
	at := s.now - began
	if at%50 == 7 {
		n := s.records
		s.records++
		s.must(s.job.Write(int(n%2), fmt.Sprintf("%d,%d,bucket-%d", s.now, n, n%3), sinkcore.NoTime, sinkcore.NoTime, s.now))
	}
	if at%2000 == 0 {
		_, err := s.job.Checkpoint(s.nextID, s.now)
		s.must(err)
		s.complete = s.now + 137
	}
	if s.now == s.complete {
		parts, err := s.job.Complete(s.nextID)
		s.must(err)
		s.nextID++
		for _, p := range parts {
			s.visible[path.Join(p.Bucket, p.Name)] = s.now
		}
	}
}

// latencies are those of all records, from the sink's own account of which part became
// visible when, and from what the records say of themselves.
func (s *source) latencies() (list []int64) {
	for part, visible := range s.visible {
		f, err := s.fs.Open("/out/" + part)
		s.must(err)
		info, err := f.Stat()
		s.must(err)
		text := make([]byte, info.Size())
		_, err = f.Read(text)
		s.must(err)
		s.must(f.Close())
		for _, record := range strings.Fields(string(text)) {
			at, err := strconv.ParseInt(strings.Split(record, ",")[0], 10, 64)
			s.must(err)
			list = append(list, visible-at)
		}
	}
	slices.Sort(list)
	return list
}

// What is measured from outside is what the sink knows, and later by less than the
// time between two looks: of each file and of each percentile.
func TestTheWatchAgreesWithTheSink(t *testing.T) {
	for name, policy := range map[string]sinkcore.RollingPolicy{
		"oncheckpoint": sinkcore.OnCheckpoint{},
		"rolling":      sinkcore.Default{Rollover: 5 * time.Second, Inactivity: time.Second, Size: 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, w *world) {
				s := newSource(w, policy, 700*time.Millisecond)
				watcher := w.watch(watch.Options{Format: watch.Format{Kind: watch.CSV, Time: "1", ID: "2"}})
				watcher.Look()
				const every = 200
				for range 120_000 {
					s.pass()
					if (w.now-began)%every == 53 {
						watcher.Look()
					}
				}
				watcher.Finish()
				r := watcher.Result()
				files := watcher.Files()
				if len(files) != len(s.visible) || len(files) < 30 {
					t.Errorf("%d files seen, %d published", len(files), len(s.visible))
				}
				for _, f := range files {
					visible, known := s.visible[f.Path]
					if late := f.Seen - visible; !known || late < 0 || late >= every {
						t.Errorf("%+v was visible at %d, %d ms before", f, visible, late)
					}
				}
				want := s.latencies()
				if r.Timed != int64(len(want)) || r.Records != r.Timed || r.Timed < s.records/2 {
					t.Errorf("%d records with a time, %d, of %d written", r.Timed, len(want), s.records)
				}
				for p, got := range r.Percentiles {
					exact := want[max((p*len(want)+99)/100, 1)-1]
					if got < exact || got >= exact+every {
						t.Errorf("p%d is %d, by the records' own account %d", p, got, exact)
					}
				}
				if r.Violations() != 0 || len(r.Problems) != 0 {
					t.Errorf("%+v", r.Problems)
				}
			})
		})
	}
}
