package plan

import "math/bits"

// Everything regular here is a lattice: instants first + n·gap for whole n. Checks,
// checkpoints and the records of one bucket each are one. What is asked of them has
// an answer in a few divisions, or in Euclid's algorithm where two of them meet, so
// nothing here costs more if there are more records.

// floorDiv is a / b rounded down, b > 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// ceilDiv is a / b rounded up, b > 0.
func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }

// mod is a modulo m in [0, m).
func mod(a, m int64) int64 { return a - floorDiv(a, m)*m }

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// lcm is the least common multiple, or limit if that is smaller.
func lcm(a, b, limit int64) int64 {
	a /= gcd(a, b)
	if a > limit/b {
		return limit
	}
	return a * b
}

// firstHit is the least n >= 0 for which (b + a·n) mod m is in [lo, hi], or -1 if there is
// none; 0 <= lo <= hi < m.
//
// Moved by b it asks for a·n mod m in an interval that does not hold 0, or n = 0 would be
// the answer; so the interval does not wrap around.
func firstHit(a, b, m, lo, hi int64) int64 {
	b = mod(b, m)
	if lo <= b && b <= hi {
		return 0
	}
	return firstMultiple(mod(a, m), m, mod(lo-b, m), mod(hi-b, m))
}

// firstMultiple is the least n >= 0 with a·n mod m in [lo, hi], or -1; 0 <= a < m,
// 0 < lo <= hi < m.
//
// If a multiple of a is in [lo, hi] the least one is the answer: nothing has wrapped
// around before. Otherwise let y be how often a·n wraps around, so lo <= a·n - m·y <= hi.
// Modulo a this is -m·y in [lo, hi], which is the same question with a in place of m and m
// mod a in place of a, since no multiple of a is between lo and hi and so the interval
// does not wrap around modulo a either. The least y gives the least n. The pair (a, m)
// shrinks as in Euclid's algorithm.
func firstMultiple(a, m, lo, hi int64) int64 {
	if lo == 0 {
		return 0
	}
	if a == 0 {
		return -1
	}
	if n := ceilDiv(lo, a); n <= hi/a {
		return n
	}
	y := firstMultiple(m%a, a, mod(-hi, a), mod(-lo, a))
	if y < 0 {
		return -1
	}
	// (lo + m·y) / a rounded up. The product may need more than 64 bits; the quotient is
	// less than m.
	high, low := bits.Mul64(uint64(m), uint64(y))
	low, carry := bits.Add64(low, uint64(lo+a-1), 0)
	n, _ := bits.Div64(high+carry, low, uint64(a))
	return int64(n)
}

// floorSum is the sum of floor((b + a·i) / m) over i in [0, n), b >= 0. The sum may not fit
// into 64 bits; what it is needed for, a mean, has 53.
//
// Whole parts of a/m and b/m come out as sums of powers. What is left counts the points
// with whole coordinates below a line of slope less than one; counted along the other axis
// they are those below a line with the reciprocal slope, and the pair (a, m) shrinks as in
// Euclid's algorithm.
func floorSum(n, m, a, b int64) float64 {
	if n == 0 {
		return 0
	}
	sum := float64(a/m)*float64(n)*float64(n-1)/2 + float64(b/m)*float64(n)
	a, b = a%m, b%m
	top := a*n + b
	if top < m {
		return sum
	}
	return sum + floorSum(top/m, a, m, top%m)
}
