package sinkcore

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The limits of Flink's DefaultRollingPolicy (DefaultRollingPolicy:48-52).
const (
	DefaultSize       int64         = 128 << 20
	DefaultRollover   time.Duration = time.Minute
	DefaultInactivity time.Duration = time.Minute
)

// Default closes a part that is too large, too old or idle for too long, as Flink's
// DefaultRollingPolicy does (DefaultRollingPolicy:72-87). The zero value has Flink's
// limits. A limit cannot be switched off; a very large one comes to the same.
//
// The comparisons are Flink's: larger than Size (a part of exactly Size bytes stays
// open, and because the test comes before the next record a part can exceed Size by
// one record), but at least Rollover and at least Inactivity. Size is tested before
// each record and at checkpoints; the two durations only by the check timer.
type Default struct {
	Size       int64         // bytes; 0 means DefaultSize
	Rollover   time.Duration // from the first record on, whole milliseconds; 0 means DefaultRollover
	Inactivity time.Duration // from the newest record on, whole milliseconds; 0 means DefaultInactivity
}

// Filled returns the policy with Flink's limits in place of zeros. It closes parts at the
// same moments.
func (p Default) Filled() Default {
	p.Size = cmp.Or(p.Size, DefaultSize)
	p.Rollover = cmp.Or(p.Rollover, DefaultRollover)
	p.Inactivity = cmp.Or(p.Inactivity, DefaultInactivity)
	return p
}

// limits returns the limits with the defaults filled in, durations in milliseconds.
func (p Default) limits() (size, rollover, inactivity int64) {
	p = p.Filled()
	return p.Size, p.Rollover.Milliseconds(), p.Inactivity.Milliseconds()
}

// Validate returns an error that wraps [ErrConfig] if a limit is negative or a
// duration is not a whole number of milliseconds. Flink rejects what is below one
// millisecond too (DefaultRollingPolicy:62-64).
func (p Default) Validate() error {
	if p.Size < 0 {
		return fmt.Errorf("%w: policy size %d: must be greater than 0 bytes", ErrConfig, p.Size)
	}
	if err := validMillis("policy rollover", p.Rollover); err != nil {
		return err
	}
	return validMillis("policy inactivity", p.Inactivity)
}

// RollOnEvent closes a part larger than Size.
func (p Default) RollOnEvent(part PartInfo) Reason {
	limit := p.Size
	if limit == 0 {
		limit = DefaultSize
	}
	if part.Size > limit {
		return Size
	}
	return None
}

// RollOnCheckpoint closes a part larger than Size.
func (p Default) RollOnCheckpoint(part PartInfo, _ int64) Reason { return p.RollOnEvent(part) }

// RollAt gives the earlier of the two instants; age comes first where they are equal.
func (p Default) RollAt(part PartInfo) (int64, Reason) {
	_, rollover, inactivity := p.limits()
	old, idle := addMillis(part.CreationTime, rollover), addMillis(part.LastUpdate, inactivity)
	if idle < old {
		return idle, Inactivity
	}
	return old, Age
}

// String gives "policy=default", or "policy=rolling" with the limits that differ from
// Flink's, durations in milliseconds.
func (p Default) String() string {
	size, rollover, inactivity := p.limits()
	var b strings.Builder
	if size != DefaultSize {
		b.WriteString(" size=" + strconv.FormatInt(size, 10))
	}
	if rollover != DefaultRollover.Milliseconds() {
		b.WriteString(" rollover=" + strconv.FormatInt(rollover, 10))
	}
	if inactivity != DefaultInactivity.Milliseconds() {
		b.WriteString(" inactivity=" + strconv.FormatInt(inactivity, 10))
	}
	if b.Len() == 0 {
		return "policy=default"
	}
	return "policy=rolling" + b.String()
}

// OnCheckpoint closes every part at every checkpoint and never between, as Flink's
// OnCheckpointRollingPolicy does (OnCheckpointRollingPolicy:35-43).
type OnCheckpoint struct{}

// RollOnEvent never closes a part.
func (OnCheckpoint) RollOnEvent(PartInfo) Reason { return None }

// RollOnCheckpoint always closes the part.
func (OnCheckpoint) RollOnCheckpoint(PartInfo, int64) Reason { return AtCheckpoint }

// RollAt is never.
func (OnCheckpoint) RollAt(PartInfo) (int64, Reason) { return Never, None }

// String gives "policy=oncheckpoint".
func (OnCheckpoint) String() string { return "policy=oncheckpoint" }

// AnyOf closes a part as soon as one of two policies would. Where both would, the
// reason is that of First. It nests, so any number of policies can be combined. Both are
// needed; the zero value is refused at the start and must not be asked.
//
// AnyOf{OnCheckpoint{}, Default{Size: n}} is Flink's CheckpointRollingPolicy with a
// size limit within the checkpoint, as bulk formats use it.
type AnyOf struct {
	First, Second RollingPolicy
}

// Validate returns an error that wraps [ErrConfig] if a policy is missing or invalid.
func (p AnyOf) Validate() error {
	for _, q := range [2]RollingPolicy{p.First, p.Second} {
		if q == nil {
			return fmt.Errorf("%w: policy AnyOf needs both of its policies", ErrConfig)
		}
		if err := validPolicy(q); err != nil {
			return err
		}
	}
	return nil
}

// RollOnEvent asks First, then Second.
func (p AnyOf) RollOnEvent(part PartInfo) Reason {
	if r := p.First.RollOnEvent(part); r != None {
		return r
	}
	return p.Second.RollOnEvent(part)
}

// RollOnCheckpoint asks First, then Second.
func (p AnyOf) RollOnCheckpoint(part PartInfo, now int64) Reason {
	if r := p.First.RollOnCheckpoint(part, now); r != None {
		return r
	}
	return p.Second.RollOnCheckpoint(part, now)
}

// RollAt gives the earlier instant.
func (p AnyOf) RollAt(part PartInfo) (int64, Reason) {
	first, why := p.First.RollAt(part)
	if second, because := p.Second.RollAt(part); second < first {
		return second, because
	}
	return first, why
}

// String joins the two with a "+": "policy=oncheckpoint+rolling size=1048576". Two
// [Default] policies print as the one that has the smaller limits, which closes
// parts at the same moments.
func (p AnyOf) String() string { return joinPolicies(p.leaves(nil)) }

// quietSize lets the writer ask a built-in policy less often than once a record: up to
// that many bytes it does not close a part before a record, and its RollAt does not move
// earlier while the clock does not. For any other policy it is -1: not even one that
// embeds a built-in policy can be trusted to behave like it.
func quietSize(p RollingPolicy) int64 {
	switch p := p.(type) {
	case Default:
		size, _, _ := p.limits()
		return size
	case OnCheckpoint:
		return math.MaxInt64
	case Deadline:
		return p.quietSize()
	case AnyOf:
		return min(quietSize(p.First), quietSize(p.Second))
	}
	return -1
}

// leaves lists the policies that are combined, without nesting.
func (p AnyOf) leaves(to []RollingPolicy) []RollingPolicy {
	for _, q := range [2]RollingPolicy{p.First, p.Second} {
		if nested, ok := q.(AnyOf); ok {
			to = nested.leaves(to)
		} else if q != nil {
			to = append(to, q)
		}
	}
	return to
}

// validPolicy asks a policy that can tell whether it is valid.
func validPolicy(p RollingPolicy) error {
	if v, ok := p.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// validMillis refuses negative durations and fractions of a millisecond.
func validMillis(name string, d time.Duration) error {
	if d < 0 || d%time.Millisecond != 0 {
		return fmt.Errorf("%w: %s %v: must be a whole number of milliseconds greater than 0", ErrConfig, name, d)
	}
	return nil
}

// addMillis adds a duration to an instant, both in milliseconds, and stays at [Never]
// where the sum would overflow. Wrapped around it would be long past, and every check
// would close every part.
func addMillis(instant, duration int64) int64 {
	if duration > 0 && instant > math.MaxInt64-duration {
		return Never
	}
	return instant + duration
}
