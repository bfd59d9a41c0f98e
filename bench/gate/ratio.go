package gate

import (
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// measured is a ratio of one benchmark on both sides.
type measured struct {
	benchmark string
	unit      *unit
	n1, n2    int
	old, new  float64 // medians
	p         float64 // that both sides come from one distribution, two-sided
	least     float64 // share
}

// measure compares the samples by the Mann-Whitney test.
func measure(benchmark string, u *unit, base, run []float64, least float64) measured {
	thresholds := benchmath.DefaultThresholds
	s1 := benchmath.NewSample(slices.Clone(base), &thresholds)
	s2 := benchmath.NewSample(slices.Clone(run), &thresholds)
	return measured{
		benchmark: benchmark,
		unit:      u,
		n1:        len(base),
		n2:        len(run),
		old:       median(s1),
		new:       median(s2),
		p:         benchmath.AssumeNothing.Compare(s1, s2).P,
		least:     u.leastOr(least),
	}
}

func median(s *benchmath.Sample) float64 {
	const confidence = 0.95 // of an interval that is not used
	return benchmath.AssumeNothing.Summary(s, confidence).Center
}

// significant tells for each p-value whether it holds when all of them are looked at, so
// that the rate at which any one is taken for a difference by chance is alpha (Holm, "A
// Simple Sequentially Rejective Multiple Test Procedure", 1979).
func significant(p []float64, alpha float64) []bool {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	holds := make([]bool, len(p))
	for rank, i := range order {
		if p[i] > alpha/float64(len(p)-rank) {
			break
		}
		holds[i] = true
	}
	return holds
}

// smallestP is the p-value of two samples of these sizes that do not overlap at all: 2 of
// all the ways in which they can be ordered. The test of large samples, and of samples
// with equal values in them even if they are not so large, is an approximation that never
// gets as small; there it is asked.
func smallestP(n1, n2 int) float64 {
	ways := 1.0
	for i := 1; i <= n1; i++ {
		ways *= float64(n2+i) / float64(i)
	}
	p := min(1, 2/ways)
	if n1 <= stats.MannWhitneyTiesExactLimit && n2 <= stats.MannWhitneyTiesExactLimit {
		return p
	}
	low, high := make([]float64, n1), make([]float64, n2)
	for i := range high {
		high[i] = 1 + float64(i/2) // with equal values
	}
	for i := range low {
		low[i] = -float64(i / 2)
	}
	thresholds := benchmath.DefaultThresholds
	return max(p, benchmath.AssumeNothing.Compare(benchmath.NewSample(low, &thresholds), benchmath.NewSample(high, &thresholds)).P)
}

// samplesNeeded is how many samples a side needs when both have as many.
func samplesNeeded(alpha float64) int {
	n := 1
	for smallestP(n, n) > alpha {
		n++
	}
	return n
}
