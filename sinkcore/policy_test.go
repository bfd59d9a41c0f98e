package sinkcore_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
)

const ms = time.Millisecond

// userPolicy is a policy as a user writes one.
type userPolicy struct {
	name  string
	event func(sinkcore.PartInfo) sinkcore.Reason
	at    func(sinkcore.PartInfo) (int64, sinkcore.Reason)
}

func (p userPolicy) RollOnEvent(part sinkcore.PartInfo) sinkcore.Reason {
	if p.event == nil {
		return sinkcore.None
	}
	return p.event(part)
}
func (p userPolicy) RollOnCheckpoint(sinkcore.PartInfo, int64) sinkcore.Reason { return sinkcore.None }
func (p userPolicy) RollAt(part sinkcore.PartInfo) (int64, sinkcore.Reason) {
	if p.at == nil {
		return sinkcore.Never, sinkcore.None
	}
	return p.at(part)
}
func (p userPolicy) String() string { return "policy=" + p.name }

// afterRecords closes a part of n records.
func afterRecords(n int64) userPolicy {
	return userPolicy{name: "records", event: func(p sinkcore.PartInfo) sinkcore.Reason {
		if p.Records >= n {
			return sinkcore.Event
		}
		return sinkcore.None
	}}
}

func TestDefaultComparesAsFlinkDoes(t *testing.T) {
	p := sinkcore.Default{Size: 10, Rollover: 50 * ms, Inactivity: 20 * ms}
	for size, want := range map[int64]sinkcore.Reason{9: sinkcore.None, 10: sinkcore.None, 11: sinkcore.Size} {
		part := sinkcore.PartInfo{Size: size}
		if got := p.RollOnEvent(part); got != want {
			t.Errorf("before a record, %d of 10 bytes: %v, want %v", size, got, want)
		}
		if got := p.RollOnCheckpoint(part, 0); got != want {
			t.Errorf("at a checkpoint, %d of 10 bytes: %v, want %v", size, got, want)
		}
	}
	for _, test := range []struct {
		created, updated, at int64
		why                  sinkcore.Reason
	}{
		{100, 100, 120, sinkcore.Inactivity},
		{100, 129, 149, sinkcore.Inactivity},
		{100, 130, 150, sinkcore.Age}, // age comes first where they are equal
		{100, 500, 150, sinkcore.Age},
		{100, 40, 60, sinkcore.Inactivity}, // the clock went backwards
		{math.MaxInt64 - 1, math.MaxInt64 - 1, sinkcore.Never, sinkcore.Age},
		{math.MinInt64, math.MinInt64, math.MinInt64 + 20, sinkcore.Inactivity},
	} {
		at, why := p.RollAt(sinkcore.PartInfo{CreationTime: test.created, LastUpdate: test.updated, Size: 1 << 40})
		if at != test.at || why != test.why {
			t.Errorf("created %d, updated %d: %d %v, want %d %v", test.created, test.updated, at, why, test.at, test.why)
		}
	}
}

func TestZeroDefaultHasFlinksLimits(t *testing.T) {
	var p sinkcore.Default
	if p.RollOnEvent(sinkcore.PartInfo{Size: 128 << 20}) != sinkcore.None || p.RollOnEvent(sinkcore.PartInfo{Size: 128<<20 + 1}) != sinkcore.Size {
		t.Error("not 128 MiB")
	}
	if at, _ := p.RollAt(sinkcore.PartInfo{LastUpdate: 1}); at != 60_000 {
		t.Errorf("rollover %d", at)
	}
	if at, _ := p.RollAt(sinkcore.PartInfo{CreationTime: 1}); at != 60_000 {
		t.Errorf("inactivity %d", at)
	}
}

// closings drives one bucket and lists the reasons for which parts were closed.
func closings(t *testing.T, policy sinkcore.RollingPolicy, drive func(job *sinkcore.Job[string])) []string {
	t.Helper()
	c := config(policy)
	c.CheckInterval = 10 * ms
	job := newJob(t, newDisk(), c, 1)
	drive(job)
	var out []string
	for _, p := range checkpoint(t, job, 1).Committers[0].Batches {
		for _, c := range p.Committables {
			out = append(out, fmt.Sprint(c.Reason, " ", c.Records))
		}
	}
	return out
}

func tick(t testing.TB, job *sinkcore.Job[string], now int64) {
	t.Helper()
	if _, err := job.Tick(now); err != nil {
		t.Fatal(err)
	}
}

func TestAPartIsClosedExactlyWhenThePolicySays(t *testing.T) {
	size := sinkcore.Default{Size: 4, Rollover: time.Hour, Inactivity: time.Hour}
	age := sinkcore.Default{Rollover: 20 * ms, Inactivity: time.Hour}
	idle := sinkcore.Default{Rollover: time.Hour, Inactivity: 20 * ms}
	for _, test := range []struct {
		name   string
		policy sinkcore.RollingPolicy
		drive  func(*sinkcore.Job[string])
		want   []string
	}{
		{"the first record is never asked about", size, func(job *sinkcore.Job[string]) { write(t, job, 0, "123456789") }, []string{"size 1"}}, // at the checkpoint
		{"exactly the size stays open", size, func(job *sinkcore.Job[string]) { write(t, job, 0, "123") }, nil},
		{"one record beyond the size", size, func(job *sinkcore.Job[string]) { write(t, job, 0, "123", "1", "1") }, []string{"size 2"}},
		{"a check does not look at the size", size, func(job *sinkcore.Job[string]) {
			write(t, job, 0, "1", "2", "3")
			tick(t, job, 10)
			write(t, job, 10, "4")
		}, []string{"size 3"}},
		{"exactly the age is closed", age, func(job *sinkcore.Job[string]) { write(t, job, 0, "1"); tick(t, job, 10); tick(t, job, 20) }, []string{"age 1"}},
		{"a millisecond short of the age", age, func(job *sinkcore.Job[string]) { write(t, job, 1, "1"); tick(t, job, 10); tick(t, job, 20) }, nil},
		{"age counts from the first record", age, func(job *sinkcore.Job[string]) {
			write(t, job, 0, "1")
			tick(t, job, 10)
			write(t, job, 19, "2")
			tick(t, job, 20)
		}, []string{"age 2"}},
		{"a record does not look at the age", age, func(job *sinkcore.Job[string]) { write(t, job, 0, "1"); write(t, job, 900, "2") }, nil},
		{"a checkpoint does not look at the age", age, func(job *sinkcore.Job[string]) { write(t, job, -1000, "1") }, nil},
		{"exactly the idle time is closed", idle, func(job *sinkcore.Job[string]) { write(t, job, 0, "1"); tick(t, job, 10); tick(t, job, 20) }, []string{"inactivity 1"}},
		{"a record resets the idle time", idle, func(job *sinkcore.Job[string]) {
			write(t, job, 0, "1")
			tick(t, job, 10)
			write(t, job, 10, "2")
			tick(t, job, 20)
			tick(t, job, 30)
		}, []string{"inactivity 2"}},
		{"a clock that went backwards makes it idle sooner", idle, func(job *sinkcore.Job[string]) {
			write(t, job, 100, "1")
			write(t, job, -10, "2")
			tick(t, job, 10)
		}, []string{"inactivity 2"}},
		{"a late timer shows when it was due", idle, func(job *sinkcore.Job[string]) {
			write(t, job, 0, "1")
			tick(t, job, 500) // was due at 10
		}, nil},
		{"a user's policy counts records", afterRecords(2), func(job *sinkcore.Job[string]) { write(t, job, 0, "1", "2", "3", "4", "5") }, []string{"event 2", "event 2"}},
		{"on checkpoint", sinkcore.OnCheckpoint{}, func(job *sinkcore.Job[string]) { write(t, job, 0, "1"); tick(t, job, 1<<40) }, []string{"checkpoint 1"}},
		{"any of two: the first", sinkcore.AnyOf{First: afterRecords(2), Second: sinkcore.OnCheckpoint{}}, func(job *sinkcore.Job[string]) { write(t, job, 0, "1", "2", "3") }, []string{"event 2", "checkpoint 1"}},
		{"any of two: the earlier", sinkcore.AnyOf{First: idle, Second: age}, func(job *sinkcore.Job[string]) {
			write(t, job, 0, "1")
			tick(t, job, 10)
			write(t, job, 15, "2")
			tick(t, job, 20)
		}, []string{"age 2"}},
	} {
		if got := closings(t, test.policy, test.drive); !slices.Equal(got, test.want) {
			t.Errorf("%s: closed %q, want %q", test.name, got, test.want)
		}
	}
}

// A policy of a user may answer anything; the sink closes the part and keeps the count
// and the state sound.
func TestAReasonThatThisPackageDoesNotKnowCountsAsEvent(t *testing.T) {
	for _, why := range []sinkcore.Reason{100, 255} {
		policy := userPolicy{name: "odd", event: func(sinkcore.PartInfo) sinkcore.Reason { return why }}
		job := newJob(t, newDisk(), config(policy), 1)
		write(t, job, 0, "1", "2")
		c := checkpoint(t, job, 1)
		if got := job.Stats().Rolled; got.For(sinkcore.Event) != 1 || got.Total() != 1 {
			t.Errorf("counted %v", got)
		}
		text, err := c.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := new(sinkcore.Checkpoint).UnmarshalBinary(text); err != nil {
			t.Error(err)
		}
	}
}

func TestBuiltInPoliciesPrintWhatParsePolicyReads(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "policy=default",
		"policy=default":            "policy=default",
		"policy=rolling":            "policy=default",
		"  size=5\tpolicy=rolling ": "policy=rolling size=5",
		"rollover=10000":            "policy=rolling rollover=10000",
		"policy=default inactivity=2 size=134217728 rollover=1": "policy=rolling rollover=1 inactivity=2",
		"policy=oncheckpoint":                                                      "policy=oncheckpoint",
		"policy=oncheckpoint+oncheckpoint":                                         "policy=oncheckpoint",
		"policy=deadline checkpoint=2000 within=60000":                             "policy=deadline within=60000 checkpoint=2000",
		"policy=rolling+deadline target=7 within=9 checkpoint=2 duration=3 size=4": "policy=rolling+deadline size=4 within=9 checkpoint=2 duration=3 target=7",
		"policy=oncheckpoint+rolling size=1":                                       "policy=oncheckpoint+rolling size=1",
		"policy=default+oncheckpoint":                                              "policy=default+oncheckpoint",
		"policy=rolling+oncheckpoint rollover=9223372036854775807":                 "policy=rolling+oncheckpoint rollover=9223372036854",
	} {
		p, err := sinkcore.ParsePolicy(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := p.String(); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// builtIn draws a policy of this package.
func builtIn(depth int) *rapid.Generator[sinkcore.RollingPolicy] {
	limit := rapid.Int64Range(0, 40)
	return rapid.Custom(func(t *rapid.T) sinkcore.RollingPolicy {
		switch rapid.IntRange(0, min(depth, 1)*2+2).Draw(t, "kind") {
		case 0:
			return sinkcore.OnCheckpoint{}
		case 1:
			return sinkcore.Default{
				Size:       limit.Draw(t, "size"),
				Rollover:   time.Duration(limit.Draw(t, "rollover")) * ms,
				Inactivity: time.Duration(limit.Draw(t, "inactivity")) * ms,
			}
		case 2:
			p := sinkcore.Deadline{
				Checkpoint: time.Duration(rapid.Int64Range(1, 20).Draw(t, "interval")) * ms,
				Duration:   time.Duration(rapid.Int64Range(0, 25).Draw(t, "duration")) * ms,
				Target:     limit.Draw(t, "target"),
			}
			p.Within = max(p.Checkpoint, p.Duration) + p.Duration + time.Duration(limit.Draw(t, "slack"))*ms
			return p
		default:
			return sinkcore.AnyOf{First: builtIn(depth-1).Draw(t, "first"), Second: builtIn(depth-1).Draw(t, "second")}
		}
	})
}

func TestAParsedPolicyPrintsTheSameAndClosesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := builtIn(3).Draw(t, "policy")
		q, err := sinkcore.ParsePolicy(p.String())
		if err != nil {
			t.Fatalf("%q: %v", p, err)
		}
		if p.String() != q.String() {
			t.Fatalf("%q is read as %q", p, q)
		}
		n := rapid.Int64Range(0, 100_000)
		now := n.Draw(t, "now")
		part := sinkcore.PartInfo{CreationTime: n.Draw(t, "created"), LastUpdate: n.Draw(t, "updated"), Size: n.Draw(t, "size"), Records: 1}
		if (p.RollOnEvent(part) != sinkcore.None) != (q.RollOnEvent(part) != sinkcore.None) ||
			(p.RollOnCheckpoint(part, now) != sinkcore.None) != (q.RollOnCheckpoint(part, now) != sinkcore.None) {
			t.Fatalf("%q: another answer for %+v once it has been read", p, part)
		}
		first, _ := p.RollAt(part)
		second, _ := q.RollAt(part)
		if first != second {
			t.Fatalf("%q: closes %+v at %d, read again at %d", p, part, first, second)
		}
	})
}

func TestParsePolicyNamesTheWordThatIsWrong(t *testing.T) {
	for text, word := range map[string]string{
		"size": "size", "=": "=", "size=": "size=", "size=x": "size=x", "size=0": "size=0", "size=-1": "size=-1", "size=1.5": "size=1.5",
		"rollover=9223372036854775808": "rollover=9223372036854775808", "policy=never": "never", "policy=": `""`,
		"policy=deadline": "Checkpoint", "policy=deadline within=5 checkpoint=0": "checkpoint=0", "within=3": "within", "policy=deadline checkpoint=9 within=8": "8ms",
		"policy=deadline within=9 checkpoint=5 duration=5": "Within", "policy=oncheckpoint target=4": "deadline", "policy=default+": `""`, "policy=oncheckpoint size=1": "oncheckpoint", "colour=red": "colour=red", "Size=1": "Size=1",
	} {
		p, err := sinkcore.ParsePolicy(text)
		if !errors.Is(err, sinkcore.ErrConfig) || p != nil {
			t.Errorf("%q: got %v, %v", text, p, err)
		} else if !strings.Contains(err.Error(), word) {
			t.Errorf("%q: %q does not name %q", text, err, word)
		}
	}
}

func TestAnInvalidPolicyIsRefusedAtStart(t *testing.T) {
	for _, p := range []sinkcore.RollingPolicy{
		sinkcore.Default{Size: -1}, sinkcore.Default{Rollover: -ms}, sinkcore.Default{Inactivity: ms / 2},
		sinkcore.Deadline{}, sinkcore.Deadline{Within: time.Second}, sinkcore.Deadline{Within: time.Second, Checkpoint: 999 * ms, Duration: 2 * ms},
		sinkcore.Deadline{Within: time.Second, Checkpoint: ms / 2}, sinkcore.Deadline{Within: time.Second, Checkpoint: ms, Target: -1},
		sinkcore.Deadline{Within: 1<<62 - (1<<62)%ms, Checkpoint: 1<<62 - (1<<62)%ms, Duration: 1<<62 - (1<<62)%ms + ms},
		sinkcore.AnyOf{}, sinkcore.AnyOf{First: sinkcore.OnCheckpoint{}}, sinkcore.AnyOf{Second: sinkcore.OnCheckpoint{}},
		sinkcore.AnyOf{First: sinkcore.OnCheckpoint{}, Second: sinkcore.AnyOf{First: sinkcore.Default{Size: -1}, Second: sinkcore.OnCheckpoint{}}},
	} {
		if _, err := sinkcore.NewJob(newDisk(), random(1), config(p), 1, 0); !errors.Is(err, sinkcore.ErrConfig) {
			t.Errorf("%#v: %v", p, err)
		}
	}
}

// modelPart is a part of the model below.
type modelPart struct {
	bucket string
	info   sinkcore.PartInfo
}

// TestChecksCloseWhatAskingAboutEveryPartWould compares the writer, which looks only at
// parts that are due, with a model that asks about every part at every check as Flink
// does. The clock may go backwards, and there are policies of users whose instant moves
// earlier with each record.
func TestChecksCloseWhatAskingAboutEveryPartWould(t *testing.T) {
	sooner := userPolicy{name: "sooner", at: func(p sinkcore.PartInfo) (int64, sinkcore.Reason) {
		return p.CreationTime + 60 - 10*p.Records, sinkcore.Age
	}}
	erratic := userPolicy{name: "erratic", at: func(p sinkcore.PartInfo) (int64, sinkcore.Reason) {
		return p.LastUpdate + (p.Records*7)%40, sinkcore.Inactivity
	}}
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.OneOf(builtIn(2), rapid.SampledFrom([]sinkcore.RollingPolicy{
			sooner, erratic, sinkcore.AnyOf{First: sinkcore.Default{Rollover: 50 * ms}, Second: erratic},
		})).Draw(t, "policy")
		c := config(policy)
		c.CheckInterval = time.Duration(rapid.Int64Range(1, 30).Draw(t, "check")) * ms
		w, err := sinkcore.NewWriter(newDisk(), random(1), c, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		var open []modelPart
		closed := map[string][]string{}
		closing := func(p modelPart, why sinkcore.Reason) {
			closed[p.bucket] = append(closed[p.bucket], fmt.Sprint(why, " ", p.info.CreationTime, " ", p.info.Size, " ", p.info.Records))
		}
		due, now := c.CheckInterval.Milliseconds(), int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += rapid.Int64Range(-15, 40).Draw(t, "advance")
			if now >= due {
				var kept []modelPart
				for _, p := range open {
					if at, why := policy.RollAt(p.info); at <= due {
						closing(p, why)
					} else {
						kept = append(kept, p)
					}
				}
				open, due = kept, now+c.CheckInterval.Milliseconds()
			}
			if next, err := w.Tick(now); err != nil || next != due {
				t.Fatalf("tick at %d: next %d, %v; want %d", now, next, err, due)
			}
			record := rapid.SampledFrom([]string{"a:1", "b:12", "c:123", "d:1"}).Draw(t, "record")
			i := slices.IndexFunc(open, func(p modelPart) bool { return p.bucket == record[:1] })
			if i >= 0 {
				if why := policy.RollOnEvent(open[i].info); why != sinkcore.None {
					closing(open[i], why)
					open, i = slices.Delete(open, i, i+1), -1
				}
			}
			if i < 0 {
				open, i = append(open, modelPart{record[:1], sinkcore.PartInfo{CreationTime: now}}), len(open)
			}
			open[i].info.LastUpdate = now
			open[i].info.Size += int64(len(record)) + 1
			open[i].info.Records++
			if err := w.Write(record, sinkcore.NoTime, sinkcore.NoTime, now); err != nil {
				t.Fatal(err)
			}
			if got := w.Stats().OpenParts; got != len(open) {
				t.Fatalf("at %d %d parts are open, asking about each leaves %d", now, got, len(open))
			}
		}
		for _, p := range open {
			if why := policy.RollOnCheckpoint(p.info, 0); why != sinkcore.None {
				closing(p, why)
			}
		}
		committables, err := w.PrepareCommit(1, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, c := range committables {
			n := got[c.Bucket]
			got[c.Bucket]++
			if n >= len(closed[c.Bucket]) {
				t.Fatalf("bucket %s: closed more than asking about each: %+v", c.Bucket, c)
			}
			if part, want := fmt.Sprint(c.Reason, " ", c.CreationTime, " ", c.Size, " ", c.Records), closed[c.Bucket][n]; part != want {
				t.Fatalf("bucket %s: closed %s, want %s", c.Bucket, part, want)
			}
		}
		for bucket, want := range closed {
			if got[bucket] != len(want) {
				t.Fatalf("bucket %s: closed %d parts, want %d", bucket, got[bucket], len(want))
			}
		}
	})
}
