package sim_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// firsts gives the instants of the first n records.
func firsts(a sim.Arrivals, n int) (at []int64) {
	for r := range a.All() {
		if at = append(at, r.At); len(at) == n {
			break
		}
	}
	return at
}

func TestArrivals(t *testing.T) {
	for _, c := range []struct {
		stream sim.Arrivals
		want   []int64
	}{
		{sim.Constant{}, []int64{100, 200, 300}},
		{sim.Constant{First: 50 * time.Millisecond}, []int64{50, 150, 250}},
		{sim.Constant{Interval: 400 * time.Microsecond}, []int64{0, 0, 1, 1, 2}},
		{sim.Bursts{Size: 2, Every: time.Second, Interval: 10 * time.Millisecond, First: 5 * time.Millisecond}, []int64{5, 15, 1005, 1015, 2005}},
		{sim.Recorded{Records: []sim.Arrival{{At: 3}, {At: 3}}}, []int64{3, 3}},
	} {
		if got := firsts(c.stream, len(c.want)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %v, want %v", c.stream, got, c.want)
		}
	}
}

// A Poisson stream has the mean and the spread of its distribution, the same records each
// time, and others with another seed.
func TestPoisson(t *testing.T) {
	const n = 100_000
	p := sim.Poisson{Interval: 50 * time.Millisecond, Seed: 7}
	at := firsts(p, n)
	if mean := float64(at[n-1]) / n; mean < 49 || mean > 51 {
		t.Errorf("a record every %v ms, want 50", mean)
	}
	long := 0 // gaps beyond the mean are 1/e of all
	for i := 1; i < n; i++ {
		if at[i] < at[i-1] {
			t.Fatalf("record %d arrives before record %d", i, i-1)
		}
		if at[i]-at[i-1] >= 50 {
			long++
		}
	}
	if share := float64(long) / n; share < .36 || share > .38 {
		t.Errorf("%v of the gaps are longer than the mean, want 0.368", share)
	}
	if !reflect.DeepEqual(at, firsts(p, n)) {
		t.Error("the second time there were other records")
	}
	p.Seed = 8
	if reflect.DeepEqual(at, firsts(p, n)) {
		t.Error("another seed gives the same records")
	}
}

// What a stream prints is read as the same stream.
func TestArrivalsText(t *testing.T) {
	for _, a := range []sim.Arrivals{
		sim.Constant{Interval: 100 * time.Millisecond, First: 50 * time.Millisecond}, sim.Constant{Interval: time.Second / 3, First: time.Second},
		sim.Poisson{Interval: 1500 * time.Microsecond, Seed: 1 << 63}, sim.Bursts{Size: 3, Every: time.Hour, Interval: 2 * time.Second, First: time.Minute},
	} {
		got, err := sim.ParseArrivals(a.String())
		if err != nil || got != a {
			t.Errorf("%q is read as %v, %v", a, got, err)
		}
	}
	for text, want := range map[string]sim.Arrivals{
		"":                           sim.Constant{},
		"rate=4":                     sim.Constant{Interval: 250 * time.Millisecond},
		"rate=1000 arrivals=poisson": sim.Poisson{Interval: time.Millisecond},
		"arrivals=bursts":            sim.Bursts{},
	} {
		if got, err := sim.ParseArrivals(text); err != nil || got != want {
			t.Errorf("%q is read as %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"arrivals", "arrivals=often", "rate=0", "rate=NaN", "rate=1 rate=1", "rate=1 interval=1", "interval=-1", "seed=1", "arrivals=poisson seed=-1",
		"first=x", "rate=7e8", "rate=1e-10", "interval=0", "interval=0.0000001", "arrivals=bursts every=0", "arrivals=bursts size=10 every=10 interval=2", "arrivals=bursts size=1.5",
	} {
		if got, err := sim.ParseArrivals(text); !errors.Is(err, sinkcore.ErrConfig) {
			t.Errorf("%q is read as %v, %v; want ErrConfig", text, got, err)
		}
	}
}
