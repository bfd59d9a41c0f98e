package props

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sinklab/sinkcore/sim"
)

// checker holds what a reader sees against the model, in time linear in what there is
// to see. It keeps the first violation: what follows from a broken sink is noise.
//
// A record is known by its text, which is why programs write each only once. Everything is
// kept by record or by path and changed as events come; nothing goes through all files but
// confirm, and through all records but the judgements at ends.
type checker struct {
	*model
	ours func(record string) bool // records of another job are not judged
	skip []Rule                   // not promised
	step int

	// None of these is ranged over where the order could be seen.
	files   map[string]file // the visible ones, by path
	seen    map[string]int  // how often a record is visible
	allowed map[string]int  // how often it may be, if not once: it was visible when an older checkpoint was restored
	place   map[string]int  // of a record in the log
	ever    map[string]bool // records that the source has ever sent
	excused map[string]bool // they were in a file that has vanished, which was judged then
	series  map[string]map[int64]span
	lost    int // visible files that a power cut took before anybody had confirmed them
	found   *Violation

	exercised map[Rule]int // how often a rule was put to the test
}

// file is a visible file. That it can be seen is not yet a promise: a rename whose
// directory was not synced is seen by every reader and gone after a power cut.
type file struct {
	records   []string
	confirmed bool // a completion or a restore has returned since
	given     bool // up, by a restore of an older checkpoint before anybody confirmed it
}

// span is the first and the last place in the log of what a file holds.
type span struct{ first, last int }

func newChecker() *checker {
	c := &checker{ours: func(string) bool { return true }, exercised: map[Rule]int{}}
	c.begin()
	return c
}

// begin forgets all but what was found and counted: a new sink in an empty directory. The
// records of the one before may come again.
func (c *checker) begin() {
	c.model = newModel()
	c.files, c.seen, c.allowed, c.place = map[string]file{}, map[string]int{}, map[string]int{}, map[string]int{}
	c.ever, c.excused, c.series = map[string]bool{}, map[string]bool{}, map[string]map[int64]span{}
}

// violate keeps the first violation of a rule that is promised. The text must not depend on
// the seed or on the order of a map, or a failure would look like another one when it is
// played again.
func (c *checker) violate(rule Rule, format string, args ...any) {
	if c.found == nil && !slices.Contains(c.skip, rule) {
		c.found = &Violation{rule, c.step, fmt.Sprintf(format, args...)}
	}
}

// tried counts that a rule was put to the test. A rule that no program ever exercised holds
// for no reason.
func (c *checker) tried(rule Rule) { c.exercised[rule]++ }

// wrote adds a record to the log. One that is sent again gets another place: order is that
// of the life that counts.
func (c *checker) wrote(record string, subtask int) {
	c.place[record] = len(c.log)
	c.ever[record] = true
	c.model.write(record, subtask)
}

// restored goes back to a checkpoint. Records that are visible already although the
// checkpoint is older may come once more: who restores an old checkpoint asks for that.
// Files that nobody had confirmed by then stay unconfirmed for good, since the checkpoint
// that would have to bring them back is given up.
func (c *checker) restored(id int64) {
	for _, e := range c.log[c.cuts[id].length:] {
		delete(c.place, e.record)
		if n := c.seen[e.record]; n > 0 {
			c.allowed[e.record] = n + 1
			clear(c.series) // places in the log mean something else now
		}
	}
	for path, f := range c.files {
		f.given = f.given || !f.confirmed
		c.files[path] = f
	}
	c.model.restore(id)
}

// saw judges what the reader sees after an operation. Power says that the power was
// cut: then what no completion has confirmed may be gone. A file that is gone takes its
// records out of the count, so that they may become visible again from the checkpoint; if
// it may not be gone, that is the violation, and its records are not told as lost besides.
func (c *checker) saw(events []sim.Event, power bool) {
	for _, e := range events {
		switch e.Kind {
		case sim.Visible:
			c.sawFile(e)
		case sim.Changed:
			c.violate(c.immutable(power), "the visible file %s has changed", e.Path)
		case sim.Vanished:
			gone := c.files[e.Path]
			if !gone.confirmed && power {
				c.lost++
			} else {
				c.violate(c.immutable(power), "the visible file %s has vanished", e.Path)
				for _, record := range gone.records {
					c.excused[record] = true
				}
			}
			for _, record := range gone.records {
				c.seen[record]--
			}
			delete(c.files, e.Path)
		}
	}
	c.tried(c.immutable(power))
}

// immutable is the rule that a change of a visible file breaks: after a power cut the disk
// did it, and the sink should have synced.
func (c *checker) immutable(power bool) Rule {
	if power {
		return Durable
	}
	return Immutable
}

// sawFile judges a file that is new to the reader. That a file holds records in order is
// judged by their places in the log, which are places in time; the log of a subtask is a
// part of it in the same order.
func (c *checker) sawFile(e sim.Event) {
	c.files[e.Path] = file{records: e.Records}
	s := span{first: -1}
	for _, record := range e.Records {
		if !c.ours(record) {
			return
		}
		at, known := c.place[record]
		c.seen[record]++
		for _, rule := range []Rule{Visibility, NoDuplicate, Order, Hidden} {
			c.tried(rule)
		}
		if !c.ever[record] {
			c.violate(Hidden, "the file %s holds %q, which is no whole record", e.Label, record)
			continue
		}
		// Each for itself: one that is skipped must not hide another.
		if (!known || at >= c.visible) && c.allowed[record] == 0 {
			c.violate(Visibility, "record %s is visible in %s before a checkpoint that covers it has completed", record, e.Label)
		}
		if c.seen[record] > max(1, c.allowed[record]) {
			c.violate(NoDuplicate, "record %s is visible %d times, now in %s", record, c.seen[record], e.Label)
		}
		if !known {
			continue
		}
		if s.first >= 0 && at <= s.last {
			c.violate(Order, "record %s comes too late in %s", record, e.Label)
		}
		if s.first < 0 {
			s.first = at
		}
		s.last = at
	}
	c.inSeries(e, s)
}

var counted = regexp.MustCompile(`^(.*-[0-9a-f]{8}-[0-9a-f-]{27})-(\d+)(.*)$`)

// inSeries compares a file with the others of its bucket that have the same unique name
// and another counter. A consumer that reads files by name gets the records of a subtask in
// order then. Between two unique names there is no order. A file whose name has no such
// form, of another sink for example, is not judged.
func (c *checker) inSeries(e sim.Event, s span) {
	m := counted.FindStringSubmatch(e.Path)
	if m == nil || s.first < 0 {
		return
	}
	n, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil {
		return
	}
	others := c.series[m[1]]
	if others == nil {
		others = map[int64]span{}
		c.series[m[1]] = others
	}
	// The nearest ones suffice: each was compared with its own.
	if before, ok := others[n-1]; ok && before.last >= s.first {
		c.violate(Order, "file %s begins with an older record than the one before it ends with", e.Label)
	}
	if after, ok := others[n+1]; ok && after.first <= s.last {
		c.violate(Order, "file %s ends with a newer record than the one after it begins with", e.Label)
	}
	others[n] = s
}

// confirm notes that a completion or a restore has returned without error: the sink has
// said that everything visible is durable.
func (c *checker) confirm() {
	for path, f := range c.files {
		f.confirmed = !f.given
		c.files[path] = f
	}
}

// ending judges, after a completion, the subtasks whose input ended before the newest
// completed checkpoint. It is the one moment at which the model knows what must be visible,
// besides the end: otherwise the policy decides when. After a rescale a subtask's records
// may be in parts that another one holds open.
func (c *checker) ending() {
	if c.newest == none {
		return
	}
	cut := c.cuts[c.newest]
	if len(cut.ended) == 0 || c.rescaled {
		return
	}
	c.tried(EndOfInput)
	for _, e := range c.log[:cut.length] {
		if cut.ended[e.subtask] && c.seen[e.record] == 0 && !c.excused[e.record] {
			c.violate(EndOfInput, "record %s of subtask %d, whose input has ended, is not visible", e.record, e.subtask)
			return
		}
	}
}

// atEnd judges that every record is visible. Records are told in the order of the log.
func (c *checker) atEnd() {
	c.tried(NoLoss)
	var lost []string
	for _, e := range c.log {
		if c.seen[e.record] == 0 && !c.excused[e.record] {
			lost = append(lost, e.record)
		}
	}
	if len(lost) > 0 {
		c.violate(NoLoss, "after the end these records are not visible: %s", strings.Join(lost, " "))
	}
}

// confirmedFiles lists the files that no power cut may take, in order, so that what is
// computed from them is the same every time.
func (c *checker) confirmedFiles() []string {
	var paths []string
	for path, f := range c.files {
		if f.confirmed {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}
