package sinkcore

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParsePolicy reads what a built-in policy prints: words key=value in any order,
// separated by spaces.
//
//	policy=default                         Flink's DefaultRollingPolicy; the same as no words at all
//	policy=rolling size=N rollover=MS inactivity=MS
//	                                       the same with other limits, bytes and milliseconds; each may be absent
//	policy=oncheckpoint                    Flink's OnCheckpointRollingPolicy
//	policy=deadline within=MS checkpoint=MS duration=MS target=N
//	                                       [Deadline]; the last two may be absent
//	policy=oncheckpoint+rolling size=N …   either of the two
//
// A word that comes twice is refused. The error wraps [ErrConfig] and names the
// word. What String of a built-in policy prints is read as a policy that closes the same
// parts at the same moments.
func ParsePolicy(text string) (RollingPolicy, error) {
	kinds := []string{"default"}
	var limits Default
	var deadline Deadline
	given := map[string]bool{}
	for _, word := range strings.Fields(text) {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("%w: policy word %q: want key=value", ErrConfig, word)
		}
		if given[key] {
			return nil, fmt.Errorf("%w: policy word %q: %s is given twice", ErrConfig, word, key)
		}
		given[key] = true
		if key == "policy" {
			kinds = strings.Split(value, "+")
			continue
		}
		if err := parseLimit(word, key, value, &limits, &deadline); err != nil {
			return nil, err
		}
	}
	var policy RollingPolicy
	usesLimits, usesDeadline := false, false
	for _, kind := range kinds {
		var next RollingPolicy
		switch kind {
		case "default", "rolling":
			next, usesLimits = limits, true
		case "oncheckpoint":
			next = OnCheckpoint{}
		case "deadline":
			next, usesDeadline = deadline, true
		default:
			return nil, fmt.Errorf("%w: policy %q: the policies are default, rolling, oncheckpoint, deadline", ErrConfig, kind)
		}
		if policy == nil {
			policy = next
		} else {
			policy = AnyOf{policy, next}
		}
	}
	if !usesLimits && limits != (Default{}) {
		return nil, fmt.Errorf("%w: policy %q takes no size, rollover or inactivity; add +rolling", ErrConfig, strings.Join(kinds, "+"))
	}
	if !usesDeadline && deadline != (Deadline{}) {
		return nil, fmt.Errorf("%w: policy %q takes no within, checkpoint, duration or target; add +deadline", ErrConfig, strings.Join(kinds, "+"))
	}
	if err := validPolicy(policy); err != nil {
		return nil, err
	}
	return policy, nil
}

// parseLimit reads one limit of a policy.
func parseLimit(word, key, value string, limits *Default, deadline *Deadline) error {
	n, err := strconv.ParseInt(value, 10, 64)
	bad := err != nil || n <= 0
	d := time.Duration(n) * time.Millisecond
	if d.Milliseconds() != n {
		// Longer than time.Duration can say, 292 years, is as good as the longest.
		d = (1<<63 - 1) / time.Millisecond * time.Millisecond
	}
	switch key {
	case "size":
		limits.Size = n
	case "rollover":
		limits.Rollover = d
	case "inactivity":
		limits.Inactivity = d
	case "within":
		deadline.Within = d
	case "checkpoint":
		deadline.Checkpoint = d
	case "duration":
		deadline.Duration = d
	case "target":
		deadline.Target = n
	default:
		return fmt.Errorf("%w: policy word %q: the keys are policy, size, rollover, inactivity, and within, checkpoint, duration, target of deadline", ErrConfig, word)
	}
	if bad {
		unit := "milliseconds"
		if key == "size" || key == "target" {
			unit = "bytes"
		}
		return fmt.Errorf("%w: policy word %q: want a whole number of %s greater than 0", ErrConfig, word, unit)
	}
	return nil
}

// joinPolicies prints combined policies so that [ParsePolicy] reads them again: the
// names joined by "+", then the limits. The text has room for one set of limits of each
// kind, so all Defaults become one, and all Deadlines. It takes the place of the first, since
// the order decides which reason is given.
func joinPolicies(leaves []RollingPolicy) string {
	var merged []RollingPolicy
	limits, deadline := -1, -1 // where they are in merged
	for _, leaf := range leaves {
		switch p := leaf.(type) {
		case Default:
			p = p.Filled()
			if limits < 0 {
				limits = len(merged)
				merged = append(merged, p)
				continue
			}
			q := merged[limits].(Default)
			merged[limits] = Default{min(p.Size, q.Size), min(p.Rollover, q.Rollover), min(p.Inactivity, q.Inactivity)}
		case Deadline:
			if deadline < 0 {
				deadline = len(merged)
				merged = append(merged, p)
				continue
			}
			merged[deadline] = merged[deadline].(Deadline).and(p)
		default:
			merged = append(merged, leaf)
		}
	}
	var names, words []string
	for _, p := range merged {
		name, rest, _ := strings.Cut(p.String(), " ")
		names = append(names, strings.TrimPrefix(name, "policy="))
		if rest != "" {
			words = append(words, rest)
		}
	}
	text := "policy=" + strings.Join(dedupe(names), "+")
	if len(words) > 0 {
		text += " " + strings.Join(words, " ")
	}
	return text
}

// dedupe drops names that stand before already: a policy combined with itself is itself.
func dedupe(names []string) []string {
	var out []string
	for _, name := range names {
		if strings.Contains("+"+strings.Join(out, "+")+"+", "+"+name+"+") {
			continue
		}
		out = append(out, name)
	}
	return out
}
