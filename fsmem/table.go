package fsmem

import (
	"sort"
	"strings"
)

// table is a copy-on-write map from names to inode numbers, sorted by name: the
// durable entries of a directory. It is a list of short sorted runs, so a change
// copies one run and the list of runs, not the entries: for 10,000 names 64 of them
// and a list of at most 320, and each no more than once between two crashes.
//
// A map cannot be shared by two file systems that both change it, and has no order;
// directories are listed in that of names, so that the same program gives the same
// listing. The zero value is empty. A copy of the struct is a snapshot under the
// same condition as that of a radix.
type table struct {
	owner *owner // of the list of runs
	runs  []*tableRun
	n     int
}

// tableRun is a run. The first name of each run is greater than the last of the one
// before it, which is what find searches by.
type tableRun struct {
	owner   *owner
	entries []entry // never empty
}

// entry is one name in a directory.
type entry struct {
	name string
	ino  uint64
}

// tableRunMax is the length at which a run is split in two. Runs are not joined: a
// directory that was large tends to be large again.
const tableRunMax = 64

// find returns the run that holds name, or would, and the place in it, by two binary
// searches. A name before all others would be in the first run, which may not exist.
func (t *table) find(name string) (run, at int, found bool) {
	run = sort.Search(len(t.runs), func(i int) bool { return t.runs[i].entries[0].name > name }) - 1
	if run < 0 {
		return 0, 0, false
	}
	e := t.runs[run].entries
	at, found = sort.Find(len(e), func(i int) int { return strings.Compare(name, e[i].name) })
	return run, at, found
}

// get returns the inode number of a name, 0 if it is absent.
func (t *table) get(name string) uint64 {
	if run, at, ok := t.find(name); ok {
		return t.runs[run].entries[at].ino
	}
	return 0
}

// set gives name an inode number; 0 removes it, and does nothing if it is absent. What
// o does not own is copied first.
func (t *table) set(o *owner, name string, ino uint64) {
	run, at, found := t.find(name)
	if !found && ino == 0 {
		return
	}
	t.own(o)
	if len(t.runs) == 0 {
		t.runs = append(t.runs, &tableRun{owner: o})
	}
	r := t.runs[run]
	if r.owner != o {
		// Room for one more, which is what most changes are.
		r = &tableRun{owner: o, entries: append(make([]entry, 0, len(r.entries)+1), r.entries...)}
		t.runs[run] = r
	}
	switch {
	case found && ino != 0:
		r.entries[at].ino = ino
	case found:
		r.entries = append(r.entries[:at], r.entries[at+1:]...)
		t.n--
		if len(r.entries) == 0 {
			t.runs = append(t.runs[:run], t.runs[run+1:]...)
		}
	default:
		r.entries = append(r.entries, entry{})
		copy(r.entries[at+1:], r.entries[at:])
		r.entries[at] = entry{name, ino}
		t.n++
		if len(r.entries) > tableRunMax {
			t.split(o, run)
		}
	}
}

// own makes the list of runs, not the runs, the property of o.
func (t *table) own(o *owner) {
	if t.owner != o {
		t.owner = o
		t.runs = append(make([]*tableRun, 0, len(t.runs)+1), t.runs...)
	}
}

// split moves the upper half of a run into a new one behind it. It clears what has
// moved, so that the old array does not keep names alive that are removed later.
func (t *table) split(o *owner, run int) {
	r := t.runs[run]
	half := len(r.entries) / 2
	rest := &tableRun{owner: o, entries: append([]entry(nil), r.entries[half:]...)}
	clear(r.entries[half:])
	r.entries = r.entries[:half]
	t.runs = append(t.runs, nil)
	copy(t.runs[run+2:], t.runs[run+1:])
	t.runs[run+1] = rest
}

// each calls f for the entries in the order of their names until it says false.
func (t *table) each(f func(entry) bool) {
	for _, r := range t.runs {
		for _, e := range r.entries {
			if !f(e) {
				return
			}
		}
	}
}
