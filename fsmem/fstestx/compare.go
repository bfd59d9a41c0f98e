package fstestx

import (
	"fmt"
	"slices"
	"strings"
)

// Difference is the first result that was not the same on two trees.
type Difference struct {
	Program Program
	At      int    // index of the operation; len(Program) is the listing of the tree at the end
	A, B    string // the results
	Reason  string // what is different, where the results alone do not show it
}

// Error prints the program, marks the operation and gives both results.
func (d *Difference) Error() string {
	var b strings.Builder
	b.WriteString("the trees differ:\n")
	for i, o := range d.Program {
		fmt.Fprintf(&b, "\t%s\n", o)
		if i == d.At {
			fmt.Fprintf(&b, "\t# a: %s\n\t# b: %s\n", d.A, d.B)
			break
		}
	}
	if d.At == len(d.Program) {
		fmt.Fprintf(&b, "\t# what is left in a: %s\n\t# what is left in b: %s\n", d.A, d.B)
	}
	if d.Reason != "" {
		fmt.Fprintf(&b, "\t# %s\n", d.Reason)
	}
	return b.String()
}

// Compare makes each call of the program on a and then on b, and compares the
// results, call by call: values, FileInfos (name, type, size of a file, mode,
// modification time if set by the program), and the type, operation, name and
// cause of errors. At the end it compares all that the trees hold. It returns nil, a
// *[Difference], or another error if the comparison cannot be made: a tree
// that is not empty, or an operation out of range. All handles are closed then, and
// the trees are left as they are.
//
// The directories of the trees should have the same last element, and as
// many elements above them as the program could climb. The process's umask
// and privileges must be those that the file systems go by.
//
// Only what is promised is compared (readdir(3), POSIX): the order of a
// directory is not; and when names come or go while a directory is being read,
// each of those names may or may not be returned.
func Compare(a, b Tree, p Program) error {
	for i, o := range p {
		if err := o.validate(); err != nil {
			return fmt.Errorf("fstestx: operation %d: %w", i, err)
		}
	}
	for _, t := range []Tree{a, b} {
		if err := t.empty(); err != nil {
			return err
		}
	}
	pa, pb := &player{tree: a}, &player{tree: b}
	defer pa.close()
	defer pb.close()
	var dirs listings
	for i, o := range p {
		ra, rb := pa.play(o), pb.play(o)
		if reason, same := dirs.compare(o, ra, rb); !same {
			return &Difference{Program: p, At: i, A: explain(ra), B: explain(rb), Reason: reason}
		}
	}
	la, erra := a.listing()
	lb, errb := b.listing()
	if erra != nil || errb != nil || !slices.Equal(la, lb) {
		d := &Difference{Program: p, At: len(p)}
		d.A, d.B = onlyIn(la, lb, erra), onlyIn(lb, la, errb)
		return d
	}
	return nil
}

// explain adds what String leaves out of an error.
func explain(r Result) string {
	s := r.String()
	if !r.Err.IsZero() {
		s += fmt.Sprintf("   (%v)", r.Err.Err)
	}
	return s
}

func onlyIn(a, b []string, err error) string {
	var lines []string
	for _, line := range a {
		if !slices.Contains(b, line) {
			lines = append(lines, line)
		}
	}
	if err != nil {
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "; ")
}

// sameFailure compares errors. A cause without a name, which is a text made up by
// package os ("negative offset", "use of closed file"), is the same as any.
func sameFailure(o Op, a, b Failure) bool {
	if a.Type != b.Type {
		return false
	}
	// RemoveAll returns the first error of several, in the order of the
	// directory: that of any step, about any entry.
	first := o.Kind == RemoveAll && isStep(a.Op) && isStep(b.Op)
	if !first && (a.Op != b.Op || a.Path != b.Path) {
		return false
	}
	if o.Kind == Read && a.isOneOf("EISDIR", "EINVAL") && b.isOneOf("EISDIR", "EINVAL") {
		return true // a directory that was listed has an offset of its file system's own
	}
	return a.Cause == b.Cause || !a.IsZero() && !b.IsZero() && (a.Cause == causeOther || b.Cause == causeOther)
}

// isStep reports whether op is one that RemoveAll gives to an entry.
func isStep(op string) bool { return op == "unlinkat" || op == "openfdat" }

func (f Failure) isOneOf(causes ...string) bool { return slices.Contains(causes, f.Cause) }

// listings compares directory reading, which has a memory: per handle, what
// was returned since it was opened or rewound, and what was changed meanwhile.
type listings struct {
	slots [Slots]reading
	links map[string]bool // elements of the texts of all symbolic links made
}

type reading struct {
	started bool
	touched map[string]bool // elements of all names changed since the start
	anyName bool            // a RemoveAll: every name may have gone
	seen    [2]map[string]bool
	ended   [2]bool
}

// compare reports whether the results of one operation are the same, and if not may say why.
func (l *listings) compare(o Op, a, b Result) (reason string, same bool) {
	switch {
	case a.Note == noteNoHandle && b.Note == noteNoHandle:
		return "", true
	case o.Kind == Readdir || o.Kind == Readdirnames:
		return l.slots[o.Handle].compare(o, a, b)
	}
	l.touch(o)
	switch o.Kind {
	case Open, OpenFile, Create, Seek:
		if a.Note == "" && a.Err.IsZero() {
			l.slots[o.Handle] = reading{}
		}
	}
	if strings.HasPrefix(a.Note, panicPrefix) || strings.HasPrefix(b.Note, panicPrefix) {
		return "a call must not panic", false
	}
	if a.Note != b.Note || !slices.Equal(a.Words, b.Words) {
		return "", false
	}
	if !sameFailure(o, a.Err, b.Err) {
		if !a.Err.IsZero() && !b.Err.IsZero() && a.Err.Path != b.Err.Path {
			reason = fmt.Sprintf("the errors name %q and %q", a.Err.Path, b.Err.Path)
		}
		return reason, false
	}
	return "", true
}

// touch notes the names that an operation may add to or remove from a directory.
func (l *listings) touch(o Op) {
	switch o.Kind {
	case Create, OpenFile, Mkdir, MkdirAll, Remove, RemoveAll, Rename, Symlink:
	default:
		return
	}
	if o.Kind == Symlink {
		if l.links == nil {
			l.links = make(map[string]bool)
		}
		for _, e := range strings.Split(o.Name, "/") {
			l.links[e] = true
		}
	}
	for i := range l.slots {
		r := &l.slots[i]
		if !r.started {
			continue
		}
		r.anyName = r.anyName || o.Kind == RemoveAll
		for _, e := range append(strings.Split(o.Name, "/"), strings.Split(o.New, "/")...) {
			r.touched[e] = true
		}
		for e := range l.links { // a name may lead through a link to another
			r.touched[e] = true
		}
	}
}

func (r *reading) compare(o Op, a, b Result) (reason string, same bool) {
	if a.Note != "" || b.Note != "" {
		return "a call must not panic", a.Note == b.Note
	}
	fresh := !r.started
	if fresh {
		*r = reading{started: true, touched: make(map[string]bool), seen: [2]map[string]bool{{}, {}}}
	}
	quiet := len(r.touched) == 0 && !r.anyName
	for side, res := range []Result{a, b} {
		if o.Count > 0 && len(res.Entries) > o.Count {
			return "more entries than asked for", false
		}
		for _, e := range res.Entries {
			name := entryName(o.Kind, e)
			if r.seen[side][name] && !r.touched[name] && !r.anyName {
				return "an entry was returned twice: " + name, false
			}
			r.seen[side][name] = true
		}
		r.ended[side] = r.ended[side] || o.Count <= 0 && res.Err.IsZero() || res.Err.Cause == causeEOF
	}
	if quiet {
		if len(a.Entries) != len(b.Entries) {
			return "another number of entries", false
		}
		if !sameFailure(o, a.Err, b.Err) {
			return "", false
		}
		if fresh && o.Count <= 0 && !slices.Equal(sorted(a.Entries), sorted(b.Entries)) {
			return "other entries", false
		}
	}
	if !a.Err.IsZero() && a.Err.Cause != causeEOF {
		r.anyName = true // the call may have used up a name, and which is not said
	}
	if r.ended[0] && r.ended[1] && !r.anyName {
		for _, side := range []int{0, 1} {
			for name := range r.seen[side] {
				if !r.seen[1-side][name] && !r.touched[name] {
					return "an entry was left out", false
				}
			}
		}
	}
	return "", true
}

// entryName returns the name in an entry as the player prints it.
func entryName(k Kind, entry string) string {
	if k == Readdir {
		words, err := split(entry)
		if err != nil || len(words) < 2 {
			return entry
		}
		entry = words[1]
	}
	name, err := parseText(entry)
	if err != nil {
		return entry
	}
	return name
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}
