package sim

import (
	"fmt"
	"math"
	"strings"
	"time"

	"sinklab/sinkcore"
)

// Open starts a new sink in a new empty directory. It comes from [Parse] only; what it
// means is in the package's documentation. Its words are checked when they are read, so a
// trace with a bad policy or date pattern is not played at all.
//
// In a scenario it may come several times: each begins anew, which also ends what an error
// of the sink has made of the steps before.
type Open struct {
	words  []string // as given, so that it prints as it was read
	policy sinkcore.RollingPolicy
	check  time.Duration

	parallelism    int
	openParts      int // at most, 0 for no limit
	prefix, suffix string
	dateTime       bool
	format, zone   string
	now, tick      int64
}

// maxParallelism keeps a typing error from asking for all the memory.
const maxParallelism = 1 << 10

// parseOpen checks everything that does not need a file system. A key that is given twice
// is an error, since one of the two would be a mistake that nobody sees.
func parseOpen(args []string) (Operation, error) {
	o := Open{words: args, check: sinkcore.DefaultCheckInterval, parallelism: 1, tick: 100}
	var policy []string
	given := map[string]bool{}
	for _, word := range args {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("%q: want key=value", word)
		}
		if given[key] {
			return nil, fmt.Errorf("%q: %s is given twice", word, key)
		}
		given[key] = true
		var err error
		var n int64
		switch key {
		// These belong to the policy, which package sinkcore reads: it refuses what the one
		// that is named does not have.
		case "policy", "size", "rollover", "inactivity", "within", "checkpoint", "duration", "target":
			policy = append(policy, word)
		case "check":
			if n, err = number(key, value, 1); err == nil {
				if o.check = time.Duration(n) * time.Millisecond; o.check.Milliseconds() != n {
					err = fmt.Errorf("check %d is longer than 292 years", n)
				}
			}
		case "parallelism":
			if n, err = number(key, value, 1); err == nil && n > maxParallelism {
				err = fmt.Errorf("parallelism %d is more than %d", n, maxParallelism)
			}
			o.parallelism = int(n)
		case "open-parts":
			n, err = number(key, value, 1)
			o.openParts = int(min(n, math.MaxInt32))
		case "prefix":
			if o.prefix = value; value == "" {
				err = fmt.Errorf("prefix must not be empty")
			}
		case "suffix":
			o.suffix = value
		case "assigner":
			if o.dateTime = value == "datetime"; !o.dateTime && value != "prefix" {
				err = fmt.Errorf("assigner %q: the assigners are prefix, datetime", value)
			}
		case "format":
			o.format = value
		case "zone":
			o.zone = value
		case "now":
			o.now, err = number(key, value, -1<<62)
		case "tick":
			o.tick, err = number(key, value, 1)
		default:
			err = fmt.Errorf("%q: the keys are policy, size, rollover, inactivity, within, checkpoint, duration, target, check, parallelism, open-parts, prefix, suffix, assigner, format, zone, now, tick", key)
		}
		if err != nil {
			return nil, err
		}
	}
	var err error
	if o.policy, err = sinkcore.ParsePolicy(strings.Join(policy, " ")); err != nil {
		return nil, err
	}
	// The assigner is made only to see whether it can be, so that a bad zone is found
	// before playing.
	_, err = o.assigner()
	return o, err
}

// String gives the words as they were read.
func (o Open) String() string { return strings.Join(append([]string{"open"}, o.words...), " ") }

// Play empties the directory and starts a sink. Checkpoints of the sink before are
// forgotten, its process is dead, and numbering of UUIDs starts anew.
//
// Settings that a trace cannot name are those of the runner, such as the directory.
func (o Open) Play(r *Runner) error {
	assigner, err := o.assigner()
	if err != nil {
		return err
	}
	return r.open(Settings{
		Dir: r.dir, Policy: o.policy, Check: o.check, Parallelism: o.parallelism,
		Prefix: o.prefix, Suffix: o.suffix, Assigner: assigner, BufferSize: r.bufferSize, MaxOpenParts: o.openParts,
	}, o.now, o.tick)
}

// assigner makes a new one for each sink. Datetime goes by the clock of the sink and not by
// a time of the record.
func (o Open) assigner() (sinkcore.BucketAssigner[string], error) {
	if o.dateTime {
		return sinkcore.NewDateTime[string](sinkcore.DateTimeOptions{Format: o.format, Zone: o.zone})
	}
	return sinkcore.Prefix[string](beforeLastSlash), nil
}

// beforeLastSlash is the bucket that a record of a trace names.
//
// A record without a slash goes to the base directory, whose bucket is "".
func beforeLastSlash(record string) string {
	return record[:max(strings.LastIndexByte(record, '/'), 0)]
}
