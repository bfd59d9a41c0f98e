package fsmem

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Model says which states a crash may leave. Package documentation has the
// table of the file systems that each stands for. It is chosen at the crash and
// not when a file system is made, so one run of a program can be judged by both.
type Model uint8

const (
	// Ordered is a journalling file system: pending changes of directories
	// survive in the order in which they were made, up to some point, and a
	// rename wholly or not at all; the size of a file never runs ahead of its
	// data. What has been synced is durable whatever its place in the order.
	Ordered Model = iota
	// Unordered has no journal: each directory entry may have any of the values
	// that it had since its directory was synced, so a rename can leave both
	// names, or neither; and a file can be longer than its data, with zeros in
	// their place. Only a directory's move stays whole, and what fsck would take
	// away, a directory with two names, is no state.
	Unordered
)

var modelNames = [...]string{Ordered: "ordered", Unordered: "unordered"}

// String returns the word of the model as a Survival has it.
func (m Model) String() string {
	if int(m) < len(modelNames) {
		return modelNames[m]
	}
	return fmt.Sprintf("model(%d)", uint8(m))
}

// Keep is the part of a Survival that selects one of the legal states. All but
// KeepIndex need no enumeration, and so work however much is unsynced. KeepNothing
// and KeepEverything are the ends, and not always the worst. KeepNames is what a program fears that renames
// before it syncs (the "zero-length problem" of ext4.rst, auto_da_alloc), and
// KeepData one that never syncs its directories.
type Keep uint8

const (
	KeepNothing    Keep = iota // what was synced, and nothing else
	KeepEverything             // as if all had been synced
	KeepNames                  // all changes of directories, none of files
	KeepData                   // all changes of files, none of directories
	KeepZeros                  // all directories and sizes; unsynced bytes are zeros. Unordered only
	KeepIndex                  // the state number N in the order of Outcomes, merged ones counted
	KeepDrawn                  // a state drawn with the seed N
)

var keepNames = [...]string{"none", "all", "names", "data", "zeros", "index", "seed"}

// Survival says what survives a crash. The zero value is nothing unsynced.
//
// Its text form is an optional model, ordered if absent, and one of
//
//	none  all  names  data  zeros  index=N  seed=N
//
// for example "all", "seed=42" or "unordered index=7". A seed means the same crash
// only on a file system in the same condition, after the same calls; so does an
// index. It is a comparable value that can be stored with the program it broke.
type Survival struct {
	Model Model
	Keep  Keep
	N     uint64 // of KeepIndex and KeepDrawn
}

// String returns the text form, in which ParseSurvival reads the same value,
// provided that N is 0 where Keep does not use it. The default model is left out.
func (s Survival) String() string {
	var b strings.Builder
	if s.Model != Ordered {
		b.WriteString(s.Model.String() + " ")
	}
	if int(s.Keep) >= len(keepNames) {
		fmt.Fprintf(&b, "keep(%d)", uint8(s.Keep))
		return b.String()
	}
	b.WriteString(keepNames[s.Keep])
	if s.Keep >= KeepIndex {
		b.WriteString("=" + strconv.FormatUint(s.N, 10))
	}
	return b.String()
}

// ParseSurvival reads the text form; the error says what is wrong with it, for
// whoever wrote the text. Whether an index is in range only Crash can tell, since
// it depends on what is unsynced then.
func ParseSurvival(text string) (Survival, error) {
	var s Survival
	bad := func(problem string) (Survival, error) {
		return Survival{}, fmt.Errorf("fsmem: survival %q: %s", text, problem)
	}
	words := strings.Fields(text)
	if len(words) > 0 {
		for m, name := range modelNames {
			if words[0] == name {
				s.Model = Model(m)
				words = words[1:]
				break
			}
		}
	}
	if len(words) != 1 {
		return bad("want [ordered|unordered] and one of none, all, names, data, zeros, index=N, seed=N")
	}
	name, number, hasNumber := strings.Cut(words[0], "=")
	found := false
	for k, n := range keepNames {
		if n == name {
			s.Keep, found = Keep(k), true
		}
	}
	switch {
	case !found:
		return bad("unknown word " + strconv.Quote(name))
	case hasNumber != (s.Keep >= KeepIndex):
		return bad(name + " with or without a number")
	}
	if hasNumber {
		n, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return bad("number " + strconv.Quote(number))
		}
		s.N = n
	}
	if err := s.validate(); err != nil {
		return bad("zeros exist in the unordered model only")
	}
	return s, nil
}

// ErrSurvival is the error of Crash for a Survival that is not a legal state:
// the caller asked for an unknown word, for zeros in the ordered model, or for
// an index that is out of range or that the model forbids. With a stored index
// it means that the program has taken another course since; enumerate again.
var ErrSurvival = errors.New("not a legal survival")

// validate checks what can be known without a file system: a journal that lets
// the size run ahead of the data would not be ordered.
func (s Survival) validate() error {
	if int(s.Model) >= len(modelNames) || int(s.Keep) >= len(keepNames) ||
		s.Keep == KeepZeros && s.Model == Ordered {
		return s.illegal()
	}
	return nil
}

// illegal is the error that names s.
func (s Survival) illegal() error {
	return fmt.Errorf("fsmem: survival %q: %w", s.String(), ErrSurvival)
}
