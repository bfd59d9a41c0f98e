package plan

import (
	"testing"

	"pgregory.net/rapid"
)

func TestFirstHitIsTheFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Int64Range(1, 200).Draw(t, "m")
		a, b := rapid.Int64Range(0, 400).Draw(t, "a"), rapid.Int64Range(-300, 300).Draw(t, "b")
		lo := rapid.Int64Range(0, m-1).Draw(t, "lo")
		hi := rapid.Int64Range(lo, m-1).Draw(t, "hi")
		want := int64(-1)
		for n := range m {
			if x := mod(b+a*n, m); lo <= x && x <= hi {
				want = n
				break
			}
		}
		if got := firstHit(a, b, m, lo, hi); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	})
}

// The product in firstMultiple needs more than 64 bits where the lattices are fine and long.
func TestFirstHitOfLargeNumbers(t *testing.T) {
	const m, a = int64(315_360_000_000_000_007), int64(60_000_000_000)
	n := firstHit(a, 1, m, 5, 6)
	if n < 0 {
		t.Fatal("no hit, although a and m have no common divisor")
	}
	// 1 + a·n modulo m, with the product in two halves.
	x := int64(1)
	for i, factor := n, a; i > 0; i, factor = i/2, mod(2*factor, m) {
		if i%2 == 1 {
			x = mod(x+factor, m)
		}
	}
	if x < 5 || x > 6 {
		t.Errorf("n = %d gives %d", n, x)
	}
}

func TestFloorSumIsTheSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.Int64Range(0, 300).Draw(t, "n"), rapid.Int64Range(1, 300).Draw(t, "m")
		a, b := rapid.Int64Range(0, 1000).Draw(t, "a"), rapid.Int64Range(0, 1000).Draw(t, "b")
		want := int64(0)
		for i := range n {
			want += (a*i + b) / m
		}
		if got := floorSum(n, m, a, b); got != float64(want) {
			t.Fatalf("got %v, want %d", got, want)
		}
	})
}
