package report

import (
	"cmp"
	"slices"
	"sort"
	"testing"

	"sinklab/sinkcore/sim"
)

// At every instant the picture has as many records as there were.
func TestWrittenAndVisibleCount(t *testing.T) {
	r := reportOf(t, fixture(), "")
	end := window.Milliseconds()
	for i, s := range r.Article {
		if steps := r.Written.Visible[i].Steps; !slices.IsSortedFunc(steps, func(a, b Count) int {
			return cmp.Or(cmp.Compare(a.At, b.At), -1) // no two at one instant
		}) {
			t.Errorf("%s: the steps are not one an instant: %v", s.Name, steps)
		}
		for at := int64(0); at <= end; at += 37 {
			want := 0.
			for _, v := range s.result.Records {
				if v.Visible >= 0 && v.Visible <= at {
					want++
				}
			}
			if got := r.Written.Visible[i].at(float64(at)); got != want {
				t.Fatalf("%s: %v records visible at %d ms, want %v", s.Name, got, at, want)
			}
		}
	}
	// The straight line meets each arrival: that is when the count goes up.
	points := r.Written.Written
	for n, v := range r.Article[0].result.Records {
		if v.Arrived > end {
			break
		}
		i := sort.Search(len(points), func(i int) bool { return points[i].At >= float64(v.Arrived) })
		got := points[i].Records
		if points[i].At > float64(v.Arrived) {
			a, b := points[i-1], points[i]
			got = a.Records + (b.Records-a.Records)*(float64(v.Arrived)-a.At)/(b.At-a.At)
		}
		if abs(got-float64(n+1)) > 1e-6 {
			t.Fatalf("%v records written at %d ms, want %d", got, v.Arrived, n+1)
		}
	}
}

// A change of the rate stays a corner.
func TestStraightenKeepsCorners(t *testing.T) {
	got := straighten([]Count{{0, 0}, {1, 1}, {2, 2}, {3, 2}, {4, 2}, {5, 4}})
	if want := []Count{{0, 0}, {2, 2}, {4, 2}, {5, 4}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// oldest is the age of the oldest invisible record, found by looking at all of them.
func oldest(records []sim.Visit, at int64) int64 {
	age := int64(0)
	for _, r := range records {
		if r.Arrived <= at && (r.Visible < 0 || r.Visible > at) {
			age = max(age, at-r.Arrived)
		}
	}
	return age
}

// sawAt reads the age off the points: after a fall the lower one holds.
func sawAt(ages []Age, at float64) float64 {
	i := sort.Search(len(ages), func(i int) bool { return ages[i].At > at }) // the first one after
	if i == 0 {
		return 0
	}
	if i == len(ages) || ages[i].Age == ages[i-1].Age {
		return ages[i-1].Age
	}
	return ages[i-1].Age + at - ages[i-1].At
}

// At every instant the sawtooth is the age of the oldest invisible record.
func TestSawtoothIsTheOldestInvisible(t *testing.T) {
	for name, records := range map[string][]sim.Visit{
		"gaps":           {{Arrived: 0, Visible: 10}, {Arrived: 5, Visible: 10}, {Arrived: 40, Visible: 90}, {Arrived: 50, Visible: 60}, {Arrived: 95, Visible: 200}},
		"never":          {{Arrived: 5, Visible: -1}, {Arrived: 6, Visible: 7}},
		"all at once":    {{Arrived: 5, Visible: 50}, {Arrived: 20, Visible: 50}, {Arrived: 50, Visible: 70}},
		"out of order":   {{Arrived: 1, Visible: 30}, {Arrived: 2, Visible: 20}, {Arrived: 3, Visible: 40}},
		"after the end":  {{Arrived: 5, Visible: 500}},
		"at its arrival": {{Arrived: 5, Visible: 5}, {Arrived: 9, Visible: 11}},
		"none":           nil,
	} {
		points := ages(records, 100)
		for at := int64(0); at <= 100; at++ {
			if got, want := sawAt(points, float64(at)), float64(oldest(records, at)); got != want {
				t.Errorf("%s: age %v at %d, want %v; points %v", name, got, at, want, points)
				break
			}
		}
	}
	r := reportOf(t, fixture(), "")
	for i, s := range r.Article {
		for at := int64(0); at <= window.Milliseconds(); at += 997 {
			if got, want := sawAt(r.Sawtooths[i].Ages, float64(at)), float64(oldest(s.result.Records, at)); got != want {
				t.Fatalf("%s: age %v at %d, want %v", s.Name, got, at, want)
			}
		}
	}
}

// Each point of the distribution is true: so large a share had the latency, and with a
// millisecond less it would have been too small.
func TestDistributionCounts(t *testing.T) {
	r := reportOf(t, fixture(), "")
	for i, s := range r.Article {
		var latencies []int64
		for _, v := range s.result.Records {
			if v.Visible >= 0 {
				latencies = append(latencies, v.Visible-v.Arrived)
			}
		}
		slices.Sort(latencies)
		for _, q := range r.Distribution[i].Quantiles {
			atMost := func(ms int64) float64 {
				return float64(sort.Search(len(latencies), func(i int) bool { return latencies[i] > ms })) / float64(len(latencies))
			}
			if q.Share > 0 && (atMost(int64(q.Latency)) < q.Share || atMost(int64(q.Latency)-1) >= q.Share+1e-9) {
				t.Fatalf("%s: the share %v had %v ms", s.Name, q.Share, q.Latency)
			}
		}
	}
}

// Life lines are those of the parts of the run, in the time that is shown.
func TestLifelinesAreTheParts(t *testing.T) {
	r := reportOf(t, fixture(), "")
	if len(r.Lifelines) != 2 {
		t.Fatalf("%d pictures", len(r.Lifelines))
	}
	for i, l := range r.Lifelines {
		n := 0
		for _, p := range r.Article[i].result.Parts {
			if float64(p.Opened) > l.Until {
				continue
			}
			got := l.Parts[n]
			if got.Opened != float64(p.Opened) || got.Closed != float64(p.Closed) || got.Handed != float64(p.Handed) ||
				got.Visible != float64(p.Visible) || got.Reason != p.Reason.String() || got.Records != p.Records || got.Bytes != p.Bytes {
				t.Errorf("%s: %+v, want %+v", l.Setting, got, p)
			}
			n++
		}
		if n != len(l.Parts) || n == 0 {
			t.Errorf("%s: %d life lines of %d parts", l.Setting, len(l.Parts), n)
		}
	}
}
