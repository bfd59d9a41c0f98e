package bench_test

import (
	"strings"
	"testing"

	"sinklab/bench"
)

// The real stream has all records, in order of arrival, late ones among them.
func TestReadFlights(t *testing.T) {
	origin, day := flights(t, "origin"), flights(t, "day")
	if len(origin.Records) != 10_000 || len(day.Records) != 10_000 || countBuckets(origin) != 201 || countBuckets(day) != 90 {
		t.Errorf("%d and %d records, %d origins, %d days; want 10,000, 201, 90", len(origin.Records), len(day.Records), countBuckets(origin), countBuckets(day))
	}
	if err := origin.Validate(); err != nil {
		t.Error(err)
	}
	longest, crossed := int64(0), 0
	const perDay = 24 * 60 * 60 * 1000 / bench.FlightsSpeed
	for _, a := range day.Records {
		longest = max(longest, a.At-a.EventTime)
		if a.At/perDay != a.EventTime/perDay {
			crossed++
		}
	}
	if longest/1000 != 509 || crossed == 0 {
		t.Errorf("the latest record is %d ms late, %d come on another day; want 509 minutes at 60 times the speed, some", longest, crossed)
	}
}

func TestReadFlightsErrors(t *testing.T) {
	const head = "minute,delay,origin\n"
	for text, want := range map[string]string{"1,2\n": "line 2", "1,2,A\nx,2,B\n": "line 3", "1,y,A\n": "line 2"} {
		if _, err := bench.ReadFlights(strings.NewReader(head+text), "day"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
	}
	if _, err := bench.ReadFlights(strings.NewReader(head+"1,2,A\n"), "week"); err == nil {
		t.Error("buckets by week: no error")
	}
}
