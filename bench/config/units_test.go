package config

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Times are read as Go's and as people write them; what is wrong gets the nearest right one.
func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "2m": 2 * time.Minute, "1 min": time.Minute, "500ms": 500 * time.Millisecond, "1h": time.Hour,
		"1h30m": 90 * time.Minute, "1.5 h": 90 * time.Minute, " 2 d ": 48 * time.Hour, "0s": 0, "28.5s": 28500 * time.Millisecond,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"10sec": "want 10s", "3 minutes": "want 3m", "5 Hours": "want 5h", "7 sekunden": "want 7s", "2MS": "want 2ms", "60": "want 60s or 60ms",
		"": "missing", "soon": "want one such as 90s", "-1s": "negative", "0.5ms": "want 1ms", "300000 d": "too long", "1.2.3s": "no time",
	} {
		if got, err := ParseDuration(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want an error with %q", text, got, err, want)
		}
	}
}

// What is printed is read as the same.
func TestPropUnitsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, 1e10).Draw(t, "ms")) * time.Millisecond
		if got, err := ParseDuration(Duration(d).String()); err != nil || got != d {
			t.Fatalf("%v is printed %s and read %v, %v", d, Duration(d), got, err)
		}
		n := rapid.Int64Range(0, 1<<50).Draw(t, "bytes")
		if got, err := ParseSize(Size(n).String()); err != nil || got != n {
			t.Fatalf("%d is printed %s and read %d, %v", n, Size(n), got, err)
		}
	})
}

// A kilobyte is 1024 bytes, as in Flink.
func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"134217728": 128 << 20, "128MB": 128 << 20, "128mb": 128 << 20, "64KiB": 64 << 10, "1 g": 1 << 30, "100B": 100, "5 bytes": 5, "1.5k": 1536, "2T": 2 << 40,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]string{"5mega": "want 5MB", "7 kilobytes": "want 7KB", "large": "no size", "-1": "no size", "9999999T": "too large", "3iB": "want 3"} {
		if got, err := ParseSize(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d, %v; want an error with %q", text, got, err, want)
		}
	}
}

// A file of settings is read strictly, and the error says where.
func TestReadTOML(t *testing.T) {
	type inner struct {
		Size Size `toml:"size"`
	}
	type settings struct {
		Worst Duration   `toml:"worst"`
		Rate  float64    `toml:"rate"`
		List  []Duration `toml:"list"`
		N     int        `toml:"n"`
		inner
	}
	var s settings
	if err := ReadTOML("worst = \"1 min\" # a minute\nrate = 3\nlist = [\"1s\", \"2m\"]\nn = 4\n", &s); err != nil ||
		s.Worst != Duration(time.Minute) || s.Rate != 3 || len(s.List) != 2 || s.List[1] != Duration(2*time.Minute) || s.N != 4 {
		t.Errorf("%+v, %v", s, err)
	}
	for text, want := range map[string]string{
		"\nworst = \"10sec\"": "line 2: \"10sec\" has the unknown unit \"sec\": want 10s", "rate = 1\nworts = \"1s\"": "line 2: worts is no key that is known; did you mean worst?",
		"n = 2.5": "line 1: n: want a whole number and no float", "rate = \"x\"": "line 1: rate: want a number and no string",
		"\n\nworst = 60": "line 3: worst = 60 has no unit: want worst = \"60s\"", "worst =": "line 1: ",
	} {
		var s settings
		if err := ReadTOML(text, &s); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
