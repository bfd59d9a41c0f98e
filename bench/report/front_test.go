package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func gridOf(t *testing.T, points ...[2]float64) []Tradeoff {
	t.Helper()
	var b strings.Builder
	for i, p := range points {
		fmt.Fprintf(&b, "BenchmarkSettings/policy=rolling/rollover=%ds/check=1s-2 1 %v p99-visible-ms %v files/hour\n", i, p[0], p[1])
	}
	return tradeoffs(read(t, b.String()))
}

// A setting is efficient if none is better in one and as good in the other.
func TestEfficientFront(t *testing.T) {
	grid := gridOf(t, [2]float64{100, 10}, [2]float64{100, 20}, [2]float64{50, 20}, [2]float64{50, 20}, [2]float64{60, 30}, [2]float64{10, 40}, [2]float64{100, 9})
	var efficient []string
	for _, g := range grid {
		if g.Efficient {
			efficient = append(efficient, fmt.Sprint(g.P99, g.FilesPerHour))
		}
	}
	if want := []string{"100 9", "50 20", "50 20", "10 40"}; !slices.Equal(efficient, want) {
		t.Errorf("%q, want %q", efficient, want)
	}
	if points := front(grid); len(points) != 3 || len(points[1].settings) != 2 {
		t.Errorf("%+v", points)
	}
}

// A logarithmic axis has no place for 0.
func TestFrontLeavesOutZero(t *testing.T) {
	if grid := gridOf(t, [2]float64{0, 10}, [2]float64{5, 0}, [2]float64{5, 5}); len(grid) != 1 {
		t.Errorf("%+v", grid)
	}
}

// Settings that share a point are named together where they differ in one key.
func TestSettingsOfAPointInWords(t *testing.T) {
	for _, c := range []struct {
		want     string
		settings []string
	}{
		{"rollover 10s, check 1s, checkpoint 2s", []string{"policy=rolling/rollover=10s/check=1s/ckpt=2s"}},
		{"oncheckpoint, checkpoint 2s", []string{"policy=oncheckpoint/rollover=none/check=none/ckpt=2s"}},
		{"rollover 1s or 5s, check 1s", []string{"policy=rolling/rollover=1s/check=1s", "policy=rolling/rollover=5s/check=1s"}},
		{"rollover 1s, 5s or 9s, check 1s or 2s", []string{
			"rollover=1s/check=1s", "rollover=1s/check=2s", "rollover=5s/check=1s", "rollover=5s/check=2s", "rollover=9s/check=1s", "rollover=9s/check=2s"}},
		{"rollover 1s, check 1s; or rollover 2s, check 2s", []string{"rollover=1s/check=1s", "rollover=2s/check=2s"}},
		{"a 1, b 1; or a 2, b 2; or one of 3 more", []string{"a=1/b=1", "a=2/b=2", "a=3/b=3", "a=4/b=4", "a=4/b=5"}},
		{"a=1; or b=1", []string{"a=1", "b=1"}},
	} {
		if got := (frontPoint{settings: c.settings}).words(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
