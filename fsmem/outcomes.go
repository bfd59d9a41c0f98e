package fsmem

import (
	"errors"
	"fmt"
	"iter"
)

// ErrTooMany is the error of Outcomes for a file system with so much unsynced
// that its legal states cannot all be listed. The caller draws some with Crash and
// KeepDrawn instead, or syncs more often, or raises Options.SectorSize so that
// fewer writes can be torn.
var ErrTooMany = errors.New("too many states to list")

// maxOutcomes bounds the states that are looked at, merged ones included. Each
// costs a few hash steps, so that giving up takes about a second. The number of
// raw combinations is a product, and known before any is tried.
const maxOutcomes = 1 << 18

// What is done before that is bounded too: the states of single files that are
// listed, and the bytes that are hashed to tell them apart. A large file written in
// a few thousand pieces has few enough states to count and far too many to hash.
const (
	maxStates = 1 << 16
	maxHashed = 1 << 26
	maxWalked = 1 << 24 // steps from an inode to one below, for all choices
)

// Outcomes are the distinct states that a crash at one moment may leave. Two
// states are the same if no reader can tell them apart: equal paths, types,
// modes, owners, bytes and link targets. Times and inode numbers do not count.
//
// An Outcomes is a snapshot: it does not change, keeps the bytes that it needs
// alive, and may be used from several goroutines.
type Outcomes struct {
	plan    *plan
	indexes []uint64 // as in Survival.N
	prints  []uint64 // fingerprints
}

// Outcomes lists the legal states under a model, without building them. They
// are those of this moment, whatever f does later. There is always at least one,
// and nothing unsynced makes it exactly one. The error is ErrTooMany or, for an
// unknown model, ErrSurvival.
//
// The time is that of walking over all files once for each choice of directory
// changes, plus a few steps for each combination of file states. f is locked only
// while the plan is made, which takes what a Crash does.
func (f *FS) Outcomes(m Model) (*Outcomes, error) {
	if err := (Survival{Model: m}).validate(); err != nil {
		return nil, err
	}
	f.core.mu.Lock()
	p := f.core.plan(m)
	f.core.mu.Unlock()
	l := lister{plan: p, seen: make(map[uint64]struct{})}
	if err := l.list(); err != nil {
		return nil, err
	}
	return &Outcomes{p, l.indexes, l.prints}, nil
}

// Len is the number of states, known before any is built. It is at least 1.
func (o *Outcomes) Len() int { return len(o.indexes) }

// All builds the states one after the other, each with the Survival by which
// Crash makes it from a file system in the same condition. Their order is that
// of Survival.N: in the ordered model the fewest directory changes come first.
// Within one choice of names the files vary, the one made last fastest. So the
// first state is what was synced and nothing else, unless the model forbids it,
// and a loop that stops at the first failure tends to stop at a short one.
//
// Building a state takes what a Crash does; the files of it that nobody opens are
// never looked at.
func (o *Outcomes) All() iter.Seq2[Survival, *FS] {
	return func(yield func(Survival, *FS) bool) {
		for i := range o.indexes {
			s, f := o.At(i)
			if !yield(s, f) {
				return
			}
		}
	}
}

// Fingerprint is a number that two states share if no reader can tell them apart,
// in the sense in which equal states are merged here: paths, types, modes, owners,
// bytes and link targets. It holds across moments, models and file systems, so a
// test that has recovered from a state once need not build it again:
//
//	if seen[states.Fingerprint(i)] {
//		continue // the same disk came up at an earlier crash
//	}
//
// That other states share it is as likely as that two numbers drawn out of 2^64
// are equal. It is not meant to be stored: another version of this package may
// hash in another way. For an i that At refuses it is 0.
func (o *Outcomes) Fingerprint(i int) uint64 {
	if i < 0 || i >= len(o.prints) {
		return 0
	}
	return o.prints[i]
}

// At builds state number i, which must be at least 0 and less than Len; for any
// other it returns nil. Each call makes a new file system that shares nothing
// that can change with the others.
func (o *Outcomes) At(i int) (Survival, *FS) {
	if i < 0 || i >= len(o.indexes) {
		return Survival{}, nil
	}
	s := Survival{Model: o.plan.model, Keep: KeepIndex, N: o.indexes[i]}
	c, _ := o.plan.choose(s)
	return s, o.plan.build(c)
}

// lister walks over the choices and keeps those that lead to something new.
//
// The fingerprint of a state is the sum of one term for each path in it. So a
// directory choice is walked once, and going from one choice of file states to
// the next changes the terms of one file. A sum may be used because each term
// holds its path: two files that swap their bytes give other terms.
//
// The index of a state is a number with a digit for each part, in mixed radix: the
// choice of names first, then a state for each file. It is the raw number, from
// before equal states are merged, so that Crash finds the state of an index without
// listing any other.
//
// Files with something unsynced that no name of a choice leads to are not varied,
// for nobody could see the difference; that keeps the product small when names
// are pending too.
type lister struct {
	*plan
	seen    map[uint64]struct{}
	indexes []uint64
	prints  []uint64
	tried   int
	walked  int

	file   map[uint64]int      // index of a file with states, by inode number
	sums   [][]uint64          // fingerprints of the distinct states of each file
	states [][]int             // their numbers
	used   [][]uint64          // the paths at which each file is reached
	dirs   map[uint64]struct{} // reached in this choice
	fixed  uint64              // sum over what does not depend on file states
}

// list fills indexes and prints. Two states of the same fingerprint keep the
// smaller index. A choice that is illegal is passed over, so the indexes have gaps.
func (l *lister) list() error {
	names, ok1 := l.nameChoices()
	files, ok2 := l.fileChoices()
	if _, ok := multiply(names, files, ok1 && ok2); !ok || names > maxOutcomes {
		return fmt.Errorf("fsmem: outcomes: %w", ErrTooMany)
	}
	if !l.prepare() {
		return fmt.Errorf("fsmem: outcomes: %w", ErrTooMany)
	}
	versions := make([]int, len(l.entries))
	strides := make([]uint64, len(l.files))
	stride := uint64(1)
	for i := len(l.files) - 1; i >= 0; i-- {
		strides[i] = stride
		stride *= uint64(len(l.files[i].states))
	}
	for n := range names {
		l.chooseNames(n, versions)
		l.fixed = 0
		clear(l.dirs)
		for i := range l.used {
			l.used[i] = l.used[i][:0]
		}
		legal := l.walk(rootIno, 1, versions)
		if l.walked > maxWalked {
			return fmt.Errorf("fsmem: outcomes: %w", ErrTooMany)
		}
		if !legal {
			continue
		}
		var open []int // the files that this choice reaches
		for i := range l.used {
			if len(l.used[i]) > 0 {
				open = append(open, i)
			}
		}
		if err := l.product(open, n*files, l.fixed, strides); err != nil {
			return err
		}
	}
	return nil
}

// product tries all states of the files that are reached, those in open. index and
// sum are those of the choice so far; strides[i] is what one step of file i adds to
// the index, and files that are not reached stay at their first state.
func (l *lister) product(open []int, index, sum uint64, strides []uint64) error {
	if len(open) == 0 {
		if l.tried++; l.tried > maxOutcomes {
			return fmt.Errorf("fsmem: outcomes: %w", ErrTooMany)
		}
		if _, ok := l.seen[sum]; !ok {
			l.seen[sum] = struct{}{}
			l.indexes = append(l.indexes, index)
			l.prints = append(l.prints, sum)
		}
		return nil
	}
	i := open[0]
	for k, state := range l.states[i] {
		s := sum
		for _, path := range l.used[i] {
			s += mix(path, l.sums[i][k])
		}
		if err := l.product(open[1:], index+uint64(state)*strides[i], s, strides); err != nil {
			return err
		}
	}
	return nil
}

// prepare hashes the states of each file, and returns false if it gave up. States
// of one file that are equal, as when a write puts down what was there, are merged
// here already, before they multiply with those of other files. Two states of each
// are hashed in any case, so that one change of a large file can be listed.
func (l *lister) prepare() bool {
	hashed := int64(0)
	l.file = make(map[uint64]int, len(l.files))
	l.sums = make([][]uint64, len(l.files))
	l.states = make([][]int, len(l.files))
	l.used = make([][]uint64, len(l.files))
	l.dirs = make(map[uint64]struct{})
	for i := range l.files {
		f := &l.files[i]
		l.file[f.ino] = i
		seen := make(map[uint64]struct{}, len(f.states))
		for k := range f.states {
			s := &f.states[k]
			var e extent
			if f.live.attrs.mode.IsRegular() {
				e = s.extent(f)
			}
			if hashed += e.used; k > 1 && hashed > maxHashed {
				return false
			}
			sum := nodeSum(&s.attrs, &e, f.durable.target)
			if _, ok := seen[sum]; !ok {
				seen[sum] = struct{}{}
				l.sums[i] = append(l.sums[i], sum)
				l.states[i] = append(l.states[i], k)
			}
		}
	}
	return true
}

// walk adds up the terms of everything below an inode at a path, given by its
// fingerprint. It returns false if a directory is reached by two paths; that also
// ends the walk where a choice has put a directory inside itself.
func (l *lister) walk(ino, path uint64, versions []int) bool {
	st := l.node(ino)
	if st == nil {
		return true
	}
	if i, ok := l.file[ino]; ok {
		l.used[i] = append(l.used[i], path)
	} else {
		l.fixed += mix(path, st.fingerprint())
	}
	if !st.attrs.mode.IsDir() {
		return true
	}
	if _, twice := l.dirs[ino]; twice {
		return false
	}
	l.dirs[ino] = struct{}{}
	return l.eachChild(ino, versions, func(name string, ino uint64) bool {
		l.walked++
		return l.walk(ino, mixString(path, name), versions)
	})
}
