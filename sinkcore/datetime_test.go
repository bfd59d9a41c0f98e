package sinkcore_test

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
)

func newDateTime(t interface{ Fatal(...any) }, o sinkcore.DateTimeOptions) *sinkcore.DateTime[string] {
	d, err := sinkcore.NewDateTime[string](o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func bucketAt(t interface{ Fatal(...any) }, d *sinkcore.DateTime[string], now int64) string {
	id, err := d.BucketID("", sinkcore.Context{Now: now, EventTime: sinkcore.NoTime})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestDateTimePrintsWhatJavaPrints compares with what Java 17 answered. If it fails after
// a change here, this package is wrong, not the file.
func TestDateTimePrintsWhatJavaPrints(t *testing.T) {
	text, err := os.ReadFile("../testdata/datetime/java17.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for _, line := range lines {
		f := strings.Split(line, "\t")
		zone, pattern, want := f[0], f[1], f[3]
		instant, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		d := newDateTime(t, sinkcore.DateTimeOptions{Format: pattern, Zone: zone})
		if got := bucketAt(t, d, instant); got != want {
			t.Errorf("%s in %s at %d: got %q, Java prints %q", pattern, zone, instant, got, want)
		}
	}
	if len(lines) != 2160 {
		t.Errorf("compared %d lines, there are 2160", len(lines))
	}
}

func TestDateTimeDefaultIsAnHourInUTC(t *testing.T) {
	d := newDateTime(t, sinkcore.DateTimeOptions{})
	if got := bucketAt(t, d, 90_000_000); got != "1970-01-02--01" {
		t.Errorf("got %q", got)
	}
}

// On the days on which the clocks change an hour is skipped or has two real hours in one
// bucket.
func TestDateTimeOnDaysOfClockChange(t *testing.T) {
	for _, test := range []struct {
		zone, at string
		want     []string // at that instant and each half hour after it
	}{
		{"Europe/Berlin", "2026-03-29T00:00:00Z", []string{"01:00", "01:30", "03:00", "03:30", "04:00"}},
		{"Europe/Berlin", "2026-10-25T00:00:00Z", []string{"02:00", "02:30", "02:00", "02:30", "03:00"}},
		{"America/New_York", "2026-03-08T06:00:00Z", []string{"01:00", "01:30", "03:00", "03:30", "04:00"}},
		{"America/New_York", "2026-11-01T05:00:00Z", []string{"01:00", "01:30", "01:00", "01:30", "02:00"}},
		{"Asia/Kolkata", "2026-03-29T00:00:00Z", []string{"05:30", "06:00", "06:30", "07:00", "07:30"}},
	} {
		d := newDateTime(t, sinkcore.DateTimeOptions{Format: "HH:mm", Zone: test.zone})
		start, err := time.Parse(time.RFC3339, test.at)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range test.want {
			if got := bucketAt(t, d, start.Add(time.Duration(i)*30*time.Minute).UnixMilli()); got != want {
				t.Errorf("%s, %d half hours after %s: got %s, want %s", test.zone, i, test.at, got, want)
			}
		}
	}
}

// clockChanges are instants at which clocks change in Berlin, New York and Lord Howe
// Island (by half an hour), and at which Apia skipped a day.
var clockChanges = []int64{1774746000000, 1792890000000, 1772953200000, 1793509200000, 1775314800000, 1325239200000}

// The id kept from the record before must be the id that formatting would give.
func TestDateTimeKeepsNoStaleID(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Monrovia", "-00:00:30"}
	patterns := []string{"", "yyyy", "dd", "a", "HH", "hh", "mm", "HHmm", "ss", "SSS", "VV", "HH X", "D Z", "Q", "'text'"}
	rapid.Check(t, func(t *rapid.T) {
		o := sinkcore.DateTimeOptions{Format: rapid.SampledFrom(patterns).Draw(t, "format"), Zone: rapid.SampledFrom(zones).Draw(t, "zone")}
		kept := newDateTime(t, o)
		now := rapid.OneOf(rapid.Int64Range(-3e12, 3e12), rapid.SampledFrom(clockChanges)).Draw(t, "start")
		steps := rapid.SampledFrom([]int64{2, 1500, 90_000, 4_000_000, 90_000_000, 20_000_000_000}).Draw(t, "steps")
		for range rapid.IntRange(1, 60).Draw(t, "records") {
			now += rapid.Int64Range(-steps, steps).Draw(t, "step")
			if got, want := bucketAt(t, kept, now), bucketAt(t, newDateTime(t, o), now); got != want {
				t.Fatalf("at %d: kept id %q, formatted %q", now, got, want)
			}
		}
	})
}

// The offset changes within a day, which is the finest unit of the pattern otherwise.
func TestDateTimeKeepsNoIDOverAClockChange(t *testing.T) {
	d := newDateTime(t, sinkcore.DateTimeOptions{Format: "dd x", Zone: "Europe/Berlin"})
	const change = 1774746000000
	for _, step := range []struct {
		now  int64
		want string
	}{{change - 1, "29 +01"}, {change, "29 +02"}, {change - 1, "29 +01"}} {
		if got := bucketAt(t, d, step.now); got != step.want {
			t.Errorf("at %d: %q, want %q", step.now, got, step.want)
		}
	}
}

func TestDateTimeByEventTime(t *testing.T) {
	d := newDateTime(t, sinkcore.DateTimeOptions{ByEventTime: true})
	id, err := d.BucketID("", sinkcore.Context{EventTime: 3_600_000, Now: 90_000_000})
	if id != "1970-01-01--01" || err != nil {
		t.Errorf("got %q, %v", id, err)
	}
	if id, err := d.BucketID("", sinkcore.Context{EventTime: sinkcore.NoTime, Now: 90_000_000}); err == nil {
		t.Errorf("a record without event time got bucket %q", id)
	}
}

func TestDateTimeRefusesWhatItCannotPrint(t *testing.T) {
	for _, format := range []string{
		"w", "W", "Y", "e", "c", "z", "v", "O", "B", "p", "f", "i", // no support, or no such letter
		"ddd", "DDDD", "HHH", "aa", "V", "VVV", "MMMMMM", "SSSSSSSSSS", "GGGGGG", // too many or too few
		"'open", "yyyy]", "{", "}", "#",
	} {
		if _, err := sinkcore.NewDateTime[string](sinkcore.DateTimeOptions{Format: format}); !errors.Is(err, sinkcore.ErrConfig) {
			t.Errorf("format %q: got %v, want ErrConfig", format, err)
		} else if !strings.Contains(err.Error(), strconv.Quote(format)) {
			t.Errorf("format %q is not named by %q", format, err)
		}
	}
}

// What ZoneId.of of Java 17 answered.
func TestDateTimeReadsZonesAsJavaDoes(t *testing.T) {
	for zone, want := range map[string]string{
		"":    "UTC", // no zone; Java has no such text
		"UTC": "UTC", "GMT": "GMT", "UT": "UT", "Z": "Z", "+5": "+05:00", "+05": "+05:00", "+0530": "+05:30", "+05:30": "+05:30",
		"+053015": "+05:30:15", "+05:30:15": "+05:30:15", "-00:30": "-00:30", "+18:00": "+18:00", "UTC+5": "UTC+05:00",
		"UTC+0": "UTC", "GMT-03:00": "GMT-03:00", "UT+1": "UT+01:00", "GMT0": "GMT0", "Europe/Berlin": "Europe/Berlin",
	} {
		d, err := sinkcore.NewDateTime[string](sinkcore.DateTimeOptions{Format: "VV", Zone: zone})
		if err != nil {
			t.Errorf("zone %q: %v", zone, err)
		} else if got := bucketAt(t, d, 0); got != want {
			t.Errorf("zone %q: got %q, want %q", zone, got, want)
		}
	}
	for _, zone := range []string{"+18:01", "+5:30", "+530", "+05:3", "+05:60", "+05:30:60", "utc", "UTC5", "UTC+", "+", "Europe/Atlantis", "Local", "UTC+18:00:01", "../etc/passwd"} {
		if _, err := sinkcore.NewDateTime[string](sinkcore.DateTimeOptions{Zone: zone}); !errors.Is(err, sinkcore.ErrConfig) {
			t.Errorf("zone %q: got %v, want ErrConfig", zone, err)
		}
	}
}
