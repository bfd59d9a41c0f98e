package peers

import (
	"fmt"
	"time"

	_ "time/tzdata" // the same boundaries on a machine without a time zone database
)

// nextRotation is the instant at which rotate.schedule.interval.ms rotates next, as DateTimeUtils
// of Kafka Connect's storage common has it (getNextTimeAdjustedByDay): the next whole
// number of intervals after local midnight, but no more than 24 hours after it. Instants
// are milliseconds since 1970.
//
// Two days a year that is not what one expects. On a day of 23 hours an interval that does
// not end within it ends 24 hours after its midnight, at 1:00 of the next day. On a day of 25 hours
// the limit of 24 hours is past during the last hour, and an instant that is past is
// due at once: until midnight everything is rotated with each put, by the S3 connector
// before each record.
//
// Where the clocks go forward at midnight there is no local midnight on that day.
// Joda's convertLocalToUTC then throws IllegalInstantException, and the task fails: the error
// wraps [ErrTaskFails].
//
// For example, an interval of ten hours in Berlin rotates at 10:00, 20:00 and 0:00: what is
// left of a day is a short slot. On 29 March 2026, a day of 23 hours, an interval of a day
// rotates at 1:00 on the 30th; and an hourly one has 1:00, 3:00 and 4:00, since there is no
// 2:00. Cairo has no midnight on 24 April 2026.
func nextRotation(now, interval int64, zone *time.Location) (int64, error) {
	midnight, err := localMidnight(now, zone)
	if err != nil {
		return 0, err
	}
	const dayMillis = 24 * 60 * 60 * 1000
	return midnight + min(((now-midnight)/interval+1)*interval, dayMillis), nil
}

// localMidnight is the instant at which the local day of an instant began. If there were two
// midnights it is the first.
//
// It is found by trying each offset that the zone has near that time: subtract it from the
// date's midnight, and see whether the clock then shows 0:00 of that day.
func localMidnight(now int64, zone *time.Location) (int64, error) {
	local := time.UnixMilli(now).In(zone)
	year, month, date := local.Date()
	// Date gives one of two instants, or one close by if there is none.
	near := time.Date(year, month, date, 0, 0, 0, 0, zone)
	midnight := time.Date(year, month, date, 0, 0, 0, 0, time.UTC)
	var found *time.Time
	from, to := near.ZoneBounds()
	for _, in := range []time.Time{near, from.Add(-1), to} {
		if in.IsZero() || in.Add(1).IsZero() {
			continue // the zone has no such bound
		}
		_, offset := in.Zone()
		at := midnight.Add(-time.Duration(offset) * time.Second)
		if h, m, s := at.In(zone).Clock(); h == 0 && m == 0 && s == 0 && at.In(zone).Day() == date && (found == nil || at.Before(*found)) {
			found = &at
		}
	}
	if found == nil {
		return 0, fmt.Errorf("%w: %s has no midnight on %s: org.joda.time.IllegalInstantException, thrown by DateTimeUtils.getNextTimeAdjustedByDay",
			ErrTaskFails, zone, local.Format(time.DateOnly))
	}
	return found.UnixMilli(), nil
}

// zoneOf gives a time zone by its name. Only names of the time zone database and UTC are
// taken; Joda takes offsets such as +01:00 too.
func zoneOf(name string) (*time.Location, bool) {
	if name == "" || name == "Local" {
		return nil, false
	}
	zone, err := time.LoadLocation(name)
	return zone, err == nil
}
