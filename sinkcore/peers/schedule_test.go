package peers_test

import (
	"errors"
	"testing"
	"time"

	"sinklab/sinkcore/peers"
	"sinklab/sinkcore/sim"
)

// at is an instant of the clock of a zone, in milliseconds since 1970.
func at(t *testing.T, zone, local string) int64 {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	instant, err := time.ParseInLocation(time.DateTime, local, location)
	if err != nil {
		t.Fatal(err)
	}
	return instant.UnixMilli()
}

// rotations plays a record every ten minutes on a connector with scheduled rotation and tells the instants at
// which files became visible, in the clock of the zone.
func rotations(t *testing.T, interval, zone, start string, hours int) (instants []string) {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	from := at(t, zone, start)
	p := parse(t, "kafka-connect-s3 flush.size=1000000 rotate.schedule.interval.ms="+interval+" timezone="+zone)
	last := int64(0)
	// As many runs as there are files, each a little longer, tell when each became visible.
	for minutes := 0; minutes <= hours*60; minutes += 10 {
		o, err := p.Simulate(peers.Workload{
			Arrivals: sim.Constant{Interval: 10 * time.Minute, First: time.Minute}, Start: from, Duration: time.Duration(max(minutes, 1)) * time.Minute,
		})
		if err != nil {
			t.Fatal(err)
		}
		if o.Files > last {
			instants = append(instants, time.UnixMilli(from+int64(minutes)*60_000).In(location).Format("02 15:04"))
			last = o.Files
		}
	}
	return instants
}

// Scheduled rotation on an ordinary day, on one of 23 hours and on one of 25.
func TestScheduledRotation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, interval, zone, start string
		hours                       int
		want                        []string
	}{
		// 10 hours do not divide a day: the last slot is short.
		{"short slot", "36000000", "Europe/Berlin", "2026-06-01 00:00:00", 48, []string{"01 10:00", "01 20:00", "02 00:00", "02 10:00", "02 20:00", "03 00:00"}},
		// On the day on which 2:00 is 3:00 midnight plus 24 hours is 1:00 of the next day.
		{"spring, daily", "86400000", "Europe/Berlin", "2026-03-29 00:00:00", 47, []string{"30 01:00", "31 00:00"}},
		{"spring, hourly", "3600000", "Europe/Berlin", "2026-03-29 00:00:00", 4, []string{"29 01:00", "29 03:00", "29 04:00", "29 05:00"}},
		{"east of it", "21600000", "Asia/Kathmandu", "2026-06-01 00:00:00", 24, []string{"01 06:00", "01 12:00", "01 18:00", "02 00:00"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := rotations(t, c.interval, c.zone, c.start, c.hours)
			if len(got) != len(c.want) {
				t.Fatalf("%v, want %v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("%v, want %v", got, c.want)
				}
			}
		})
	}
}

// In the last hour of a day of 25 hours the next boundary is past, and a connector that tests it
// before each record commits a file for each.
func TestDayOf25Hours(t *testing.T) {
	t.Parallel()
	w := peers.Workload{Arrivals: sim.Constant{Interval: 10 * time.Second}, Duration: time.Hour}
	for _, c := range []struct {
		start string
		least int64
		most  int64
	}{
		{"2026-10-25 21:00:00", 0, 2},     // the 23rd hour: one rotation an hour
		{"2026-10-25 23:00:00", 300, 360}, // the 25th
		{"2026-10-26 00:00:00", 0, 2},
		{"2026-10-24 22:00:00", 0, 2},
	} {
		w.Start = at(t, "Europe/Berlin", c.start) + 1
		const options = " flush.size=1000000 rotate.schedule.interval.ms=3600000 timezone=Europe/Berlin"
		o, err := parse(t, "kafka-connect-s3"+options).Simulate(w)
		if err != nil || o.Files < c.least || o.Files > c.most {
			t.Errorf("S3 from %s: %d files in an hour, %v; want %d to %d", c.start, o.Files, err, c.least, c.most)
		}
		// The HDFS connector rotates also when there is nothing to commit, and so never gets on.
		o, err = parse(t, "kafka-connect-hdfs"+options).Simulate(w)
		if spins := c.least > 2; errors.Is(err, peers.ErrTaskFails) != spins || !spins && (err != nil || o.Files > c.most) {
			t.Errorf("HDFS from %s: %d files in an hour, %v", c.start, o.Files, err)
		}
	}
}

// Where clocks go forward at midnight there is none on that day, and the task fails.
func TestDayWithoutMidnight(t *testing.T) {
	t.Parallel()
	p := parse(t, "kafka-connect-s3 flush.size=1000000 rotate.schedule.interval.ms=3600000 timezone=Africa/Cairo")
	w := peers.Workload{Arrivals: sim.Constant{Interval: time.Minute}, Duration: 6 * time.Hour, Start: at(t, "Africa/Cairo", "2026-04-23 20:00:00")}
	if _, err := p.Simulate(w); !errors.Is(err, peers.ErrTaskFails) {
		t.Errorf("no failure on the day on which clocks go forward at midnight: %v", err)
	}
	w.Start -= 24 * 60 * 60 * 1000
	w.Duration = 4 * time.Hour
	if _, err := p.Simulate(w); err != nil {
		t.Errorf("the day before: %v", err)
	}
	// Where they go back to it there are two midnights, and the first one counts.
	p = parse(t, "kafka-connect-s3 flush.size=1000000 rotate.schedule.interval.ms=5400000 timezone=America/Havana")
	w = peers.Workload{Arrivals: sim.Constant{Interval: time.Minute}, Duration: 5 * time.Hour, Start: at(t, "America/Havana", "2026-10-31 23:59:00")}
	if o, err := p.Simulate(w); err != nil || o.Files != 3 { // 90, 180 and 270 minutes after the first of them; after the second it would be 2
		t.Errorf("two midnights: %d files, %v; want 3", o.Files, err)
	}
}
