package bench

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"sinklab/sinkcore/sim"
)

// FlightsSpeed is how many times as fast the flights go by in a workload: a minute of the
// table is a second. So there is a record every 13 s on average, not every 13 minutes, at
// which rate all policies are alike.
const FlightsSpeed = 60

// FlightsDuration is how long the stream goes on at that speed: 90 days, and the longest
// delay.
const FlightsDuration = 91 * 24 * time.Hour / FlightsSpeed

// ReadFlights reads the real stream of testdata/flights as arrivals. Each record's event time
// is the scheduled departure, counted from the first day; it arrives as much later as the
// flight was late. By says what its bucket is: "origin" for the airport, or "day" for the day
// of the event time, to which late records come when the next day has begun.
//
// The table has whole minutes. Where in its minute a record arrives is spread evenly, by
// its number, lest all arrive at one distance from the checkpoints.
//
// The error names the line that cannot be read.
func ReadFlights(r io.Reader, by string) (sim.Recorded, error) {
	stream := sim.Recorded{Name: "flights-" + by}
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		if number == 1 {
			continue // the names of the columns
		}
		a, err := readFlight(lines.Text(), by)
		if err != nil {
			return sim.Recorded{}, fmt.Errorf("flights: line %d: %w", number, err)
		}
		a.At += int64(number) * 617 % perMinute // prime to it, so each distance comes as often
		stream.Records = append(stream.Records, a)
	}
	// The order of arrival is not that of departure; what arrives together stays in order.
	slices.SortStableFunc(stream.Records, func(a, b sim.Arrival) int { return int(a.At - b.At) })
	return stream, lines.Err()
}

// perMinute is a minute of the table in milliseconds of the workload.
const perMinute = int64(time.Minute / time.Millisecond / FlightsSpeed)

func readFlight(line, by string) (sim.Arrival, error) {
	fields := strings.Split(line, ",")
	if len(fields) != 3 {
		return sim.Arrival{}, fmt.Errorf("%d fields, want minute, delay, origin", len(fields))
	}
	minute, err := strconv.ParseInt(fields[0], 10, 32)
	if err != nil {
		return sim.Arrival{}, err
	}
	delay, err := strconv.ParseInt(fields[1], 10, 32)
	if err != nil {
		return sim.Arrival{}, err
	}
	a := sim.Arrival{At: (minute + max(delay, 0)) * perMinute, EventTime: minute * perMinute}
	switch by {
	case "origin":
		a.Bucket = fields[2]
	case "day":
		a.Bucket = fmt.Sprintf("day=%d", minute/(24*60))
	default:
		return a, fmt.Errorf("buckets by %q: want origin or day", by)
	}
	return a, nil
}
