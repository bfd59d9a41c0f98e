package gate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// kind is how the values of a unit are judged.
type kind uint8

const (
	machine kind = iota // depends on the machine, not judged
	exact               // equal or not
	ratio               // compared by its samples
)

// ratioPrefix begins the unit of a ratio to a reference measured beside it, which holds
// from machine to machine.
const ratioPrefix = "x-"

// unit is what the Unit lines say about a unit.
type unit struct {
	name      string // as printed, not tidied
	described bool   // has a Unit line, or is one of Go's own
	exact     bool   // assume=exact
	better    string // "lower", "higher" or ""
	least     string // such as "10%", or ""
}

func (u *unit) kind() kind {
	switch {
	case u.exact:
		return exact
	case strings.HasPrefix(u.name, ratioPrefix):
		return ratio
	}
	return machine
}

// leastOr is the least effect that was asked for if it is not 0, or else that of the Unit
// line, or else the default.
func (u *unit) leastOr(asked float64) float64 {
	if asked != 0 {
		return asked
	}
	if least, err := ParseLeast(u.least); err == nil {
		return least
	}
	return DefaultLeast
}

// worse is by which share of the old value the new one is worse, below 0 if it is better.
// It is 0 if the unit does not say which way is better, or the old value is 0.
func (u *unit) worse(old, now float64) float64 {
	change := (now - old) / math.Abs(old)
	switch {
	case old == 0 || u.better == "":
		return 0
	case u.better == "higher":
		return -change
	}
	return change
}

// String is the description as a Unit line has it.
func (u *unit) String() string {
	var words []string
	for _, m := range u.metadata() {
		words = append(words, m.Key+"="+m.Value)
	}
	return strings.Join(words, " ")
}

// metadata is the description as records of a benchmark file, always in the same order.
func (u *unit) metadata() []*benchfmt.UnitMetadata {
	var all []*benchfmt.UnitMetadata
	add := func(key, value string) {
		all = append(all, &benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: u.name, Key: key}, OrigUnit: u.name, Value: value})
	}
	if u.better != "" {
		add("better", u.better)
	}
	if u.exact {
		add("assume", "exact")
	}
	if u.least != "" {
		add("least", u.least)
	}
	if len(all) == 0 && u.described && !ownUnits[u.name] {
		add("assume", "nothing") // a unit has to be described, and this says no more
	}
	return all
}

// set takes one key=value of a Unit line. What is misspelt is refused: a unit would be
// judged in another way, or not at all, and nobody would notice.
func (u *unit) set(key, value string) error {
	u.described = true
	switch key {
	case "better":
		if value != "lower" && value != "higher" {
			return fmt.Errorf("better=%s: must be lower or higher", value)
		}
		u.better = value
	case "assume":
		if value != "exact" && value != "nothing" {
			return fmt.Errorf("assume=%s: must be exact or nothing", value)
		}
		u.exact = value == "exact"
	case "least":
		if _, err := ParseLeast(value); err != nil {
			return fmt.Errorf("least=%s: must be a percentage above 0%% and below 100%%", value)
		}
		u.least = value
	default:
		return fmt.Errorf("%s=%s: the keys are better, assume and least", key, value)
	}
	return nil
}

// ownUnits are those that package testing prints of itself. They need no Unit line, and
// all but the allocations depend on the machine.
var ownUnits = map[string]bool{"ns/op": true, "MB/s": true, "B/op": true, "allocs/op": true}

// number prints a value as short as it can be read back bit for bit.
func number(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }
