package peers_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/sinkcore/peers"
)

// No record waits longer than the peer's bound, for any options and any arrivals; and for a
// peer that has none there are arrivals under which a record waits longer than a day.
func TestPropBound(t *testing.T) {
	t.Parallel()
	for _, name := range peers.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tight, bounded, unbounded := false, 0, 0
			rapid.Check(t, func(t *rapid.T) {
				p, w := drawPeer(t, name), drawWorkload(t)
				b := p.WorstLatency(w)
				if b.Reason == "" {
					t.Fatalf("%s: no reason", p)
				}
				if b.Unbounded {
					unbounded++
					o, err := p.Simulate(b.Witness)
					if err != nil || o.LongestWait <= 24*time.Hour {
						t.Fatalf("%s: no record waits longer than a day under the witness %s: %v, %v", p, describe(b.Witness), o.LongestWait, err)
					}
					return
				}
				bounded++
				if b.Worst < 0 {
					t.Fatalf("%s: negative bound %v", p, b.Worst)
				}
				o, err := p.Simulate(w)
				if err != nil {
					t.Fatalf("%s: %v", p, err)
				}
				if o.LongestWait > b.Worst {
					t.Fatalf("%s under %s: a record waits %v, longer than %v, which is %s", p, describe(w), o.LongestWait, b.Worst, b.Reason)
				}
				tight = tight || o.LongestWait == b.Worst
			})
			t.Logf("%d bounded, %d unbounded", bounded, unbounded)
			if b := parse(t, withExample(name)).WorstLatency(peers.Workload{}); b.Tight && !tight {
				t.Error("the bound is called tight, and was never met")
			}
		})
	}
}

// A file of few bytes cannot be kept from being idle for long, one of many for days.
func TestBoundOfSmallFiles(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]time.Duration{
		"rolling_policy.file_size=2": 6 * time.Second, "rolling_policy.file_size=3": 12 * time.Second,
		"rolling_policy.file_size=43201": 43200 * 6 * time.Second, "rolling_policy.file_size=43202": -1,
	} {
		p := parse(t, "arroyo-local rolling_policy.inactivity_interval=4s "+words)
		b := p.WorstLatency(peers.Workload{})
		if b.Unbounded != (want < 0) || want > 0 && b.Worst != want {
			t.Errorf("%s: %+v, want %v", words, b, want)
		}
		if !b.Unbounded {
			continue
		}
		if o, err := p.Simulate(b.Witness); err != nil || o.LongestWait <= 24*time.Hour {
			t.Errorf("%s: no record waits longer than a day under the witness: %v, %v", words, o.LongestWait, err)
		}
	}
}

// Every record is seen once or is known to be hidden or lost: when the stream has ended and the
// bound has passed, all have been seen, also after outages.
func TestPropNothingVanishes(t *testing.T) {
	t.Parallel()
	for _, name := range peers.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			restarts, lost := int64(0), false
			rapid.Check(t, func(t *rapid.T) {
				p, w := drawPeer(t, name), drawWorkload(t)
				if name != "firehose" {
					w.Outages = drawOutages(t)
				}
				b := p.WorstLatency(w)
				if b.Unbounded {
					return
				}
				w.Duration = 4*time.Minute + 3*b.Worst
				if w.Duration > 15*time.Minute {
					return // limits that were left at their defaults
				}
				if name == "fluentd-file" {
					// Writes that an outage has stopped go back to the queue, of which one chunk
					// is written a second.
					w.Duration += 3 * time.Hour
				}
				o, err := p.Simulate(w)
				if err != nil {
					t.Fatalf("%s: %v", p, err)
				}
				restarts += o.Restarts
				if o.Visible+o.Lost != o.Written {
					t.Fatalf("%s under %s: %d records arrived, %d were seen and %d lost", p, describe(w), o.Written, o.Visible, o.Lost)
				}
				if o.Lost > 0 {
					lost = true
					if !waives(p, "NoLoss") {
						t.Fatalf("%s under %s: %d records were lost, and NoLoss is not waived", p, describe(w), o.Lost)
					}
				}
				var sum int64
				for q := 0.0; q <= 1; q += 0.25 {
					if l := o.Latency(q); o.Visible > 0 && (l < 0 || l.Milliseconds() < sum) {
						t.Fatalf("quantiles do not ascend: %v at %v", l, q)
					} else {
						sum = l.Milliseconds()
					}
				}
			})
			t.Logf("%d restarts", restarts)
			if name == "vector-s3" && !lost {
				t.Error("no outage took a record of Vector")
			}
		})
	}
}

func waives(p peers.Peer, rule string) bool {
	for _, w := range p.Waivers() {
		if w.Rule == rule {
			return true
		}
	}
	return false
}
