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
//	policy=oncheckpoint+rolling size=N …   either of the two
//
// A word that comes twice is refused. The error wraps [ErrConfig] and names the
// word. What String of a built-in policy prints is read as a policy that closes the same
// parts at the same moments.
func ParsePolicy(text string) (RollingPolicy, error) {
	kinds := []string{"default"}
	var limits Default
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
		switch key {
		case "policy":
			kinds = strings.Split(value, "+")
		case "size", "rollover", "inactivity":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n <= 0 {
				return nil, fmt.Errorf("%w: policy word %q: want a whole number greater than 0", ErrConfig, word)
			}
			if key == "size" {
				limits.Size = n
				break
			}
			d := time.Duration(n) * time.Millisecond
			if d.Milliseconds() != n {
				// Longer than time.Duration can say, 292 years, is as good as the longest.
				d = (1<<63 - 1) / time.Millisecond * time.Millisecond
			}
			if key == "rollover" {
				limits.Rollover = d
			} else {
				limits.Inactivity = d
			}
		default:
			return nil, fmt.Errorf("%w: policy word %q: the keys are policy, size, rollover, inactivity", ErrConfig, word)
		}
	}
	var policy RollingPolicy
	usesLimits := false
	for _, kind := range kinds {
		var next RollingPolicy
		switch kind {
		case "default", "rolling":
			next, usesLimits = limits, true
		case "oncheckpoint":
			next = OnCheckpoint{}
		default:
			return nil, fmt.Errorf("%w: policy %q: the policies are default, rolling, oncheckpoint", ErrConfig, kind)
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
	return policy, nil
}

// joinPolicies prints combined policies so that [ParsePolicy] reads them again: the
// names joined by "+", then the limits. The text has room for one set of limits, so all
// Defaults become one. It takes the place of the first, since the order decides which
// reason is given.
func joinPolicies(leaves []RollingPolicy) string {
	var names, words []string
	var limits *Default
	for _, leaf := range leaves {
		if d, ok := leaf.(Default); ok {
			if limits != nil {
				limits.Size = min(limits.Size, d.Filled().Size)
				limits.Rollover = min(limits.Rollover, d.Filled().Rollover)
				limits.Inactivity = min(limits.Inactivity, d.Filled().Inactivity)
				continue
			}
			filled := d.Filled()
			limits = &filled
			names = append(names, "") // its place; the name follows from the limits
			continue
		}
		name, rest, _ := strings.Cut(leaf.String(), " ")
		names = append(names, strings.TrimPrefix(name, "policy="))
		if rest != "" {
			words = append(words, rest)
		}
	}
	for i, name := range names {
		if name == "" {
			first, rest, _ := strings.Cut(limits.String(), " ")
			names[i] = strings.TrimPrefix(first, "policy=")
			if rest != "" {
				words = append(words, rest)
			}
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
