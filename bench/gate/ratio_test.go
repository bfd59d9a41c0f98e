package gate

import (
	"math"
	"slices"
	"testing"

	"golang.org/x/perf/benchmath"
)

// The smallest p-value is the one that the test itself gives for samples that do not
// overlap.
func TestSmallestP(t *testing.T) {
	for n1 := 1; n1 <= 12; n1++ {
		for n2 := 1; n2 <= 12; n2++ {
			a, b := make([]float64, n1), make([]float64, n2)
			for i := range a {
				a[i] = float64(i)
			}
			for i := range b {
				b[i] = 100 + float64(i)
			}
			thresholds := benchmath.DefaultThresholds
			want := benchmath.AssumeNothing.Compare(benchmath.NewSample(a, &thresholds), benchmath.NewSample(b, &thresholds)).P
			if got := smallestP(n1, n2); math.Abs(got-want) > 1e-12 {
				t.Errorf("%d and %d samples: got %v, want %v", n1, n2, got, want)
			}
		}
	}
}

func TestSamplesNeeded(t *testing.T) {
	for _, test := range []struct {
		alpha float64
		want  int
	}{{1, 1}, {0.05, 4}, {0.01, 5}, {0.001, 7}, {0.01 / 50, 8}, {0.01 / 100, 9}} {
		if got := samplesNeeded(test.alpha); got != test.want {
			t.Errorf("alpha %v: got %d, want %d", test.alpha, got, test.want)
		}
	}
}

// The limits are alpha/4, alpha/3, alpha/2 and alpha in the order of the p-values, and the
// first that is missed ends it.
func TestSignificant(t *testing.T) {
	for _, test := range []struct {
		p    []float64
		want []bool
	}{
		{[]float64{0.01, 0.04, 0.03, 0.005}, []bool{true, false, false, true}},
		{[]float64{0.0125, 0.0166, 0.025, 0.05}, []bool{true, true, true, true}},
		{[]float64{0.0126, 0.0126, 0.0126, 0.0126}, []bool{false, false, false, false}},
		{[]float64{0.05}, []bool{true}},
		{nil, []bool{}},
	} {
		if got := significant(test.p, 0.05); !slices.Equal(got, test.want) {
			t.Errorf("%v: got %v, want %v", test.p, got, test.want)
		}
	}
}

func TestWorse(t *testing.T) {
	for _, test := range []struct {
		better   string
		old, new float64
		want     float64
	}{{"lower", 4, 5, 0.25}, {"lower", 4, 3, -0.25}, {"higher", 4, 3, 0.25}, {"higher", 4, 5, -0.25}, {"lower", -4, -3, 0.25}, {"", 4, 5, 0}, {"lower", 0, 5, 0}} {
		if got := (&unit{better: test.better}).worse(test.old, test.new); got != test.want {
			t.Errorf("%+v: got %v", test, got)
		}
	}
}
