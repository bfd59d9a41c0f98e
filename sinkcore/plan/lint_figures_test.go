package plan

import "testing"

// Figures have three digits and a unit, and no exponent.
func TestFiguresCanBeRead(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{numberText(0), "0"}, {numberText(.01), "0.01"}, {numberText(10), "10"}, {numberText(1234), "1,230"}, {numberText(864_000), "864,000"},
		{numberText(999_700), "1 million"}, {numberText(86.4e6), "86.4 million"}, {numberText(1.23e10), "12.3 billion"}, {numberText(1.006), "1.01"},
		{bytesText(100), "100 bytes"}, {bytesText(960_200), "960 kB"}, {bytesText(999_700), "1 MB"}, {bytesText(256 << 20), "256 MiB"}, {bytesText(1 << 30), "1 GiB"},
		{bytesText(1<<30 - 1), "1.07 GB"}, {bytesText(25.92e9), "25.9 GB"},
		{longText(0.5), "0.5 s"}, {longText(90), "90 s"}, {longText(960), "16 min"}, {longText(268_435.456), "74.6 h"}, {longText(1e6), "11.6 days"}, {longText(1e12), "years"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
