package props

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"sinklab/sinkcore/sim"
)

// DrawProgram draws a program. Programs shrink by losing steps; what a step refers to is
// chosen among what there is at that point, so a shorter program makes sense too.
//
// The drawing knows what the program asks for, not what comes of it: whether a crash hits,
// and which checkpoints are there afterwards, is found out when it is played. Operations
// that have nothing to work on then are passed over, see [Operations]. The text is the
// program; everything that was drawn is in it, and it needs no library to be played again.
func DrawProgram(t *rapid.T) sim.Scenario {
	d := &drawing{draw: t, parallelism: 1}
	d.open()
	// The library draws slices of about six; slices of slices make longer programs.
	for _, steps := range rapid.SliceOfN(rapid.SliceOfN(stepGenerator, 1, 12), 1, 12).Draw(t, "steps") {
		for _, s := range steps {
			d.step(s)
		}
	}
	return parse(strings.Join(d.lines, "\n"))
}

// parse reads a program that is known to be well formed.
func parse(text string) sim.Scenario {
	scenarios, err := sim.Parse(strings.NewReader(text), Operations())
	if err != nil || len(scenarios) != 1 {
		// The drawn lines are not operations: a defect of this file, which every
		// run of the property shows at once as a program without steps.
		return sim.Scenario{Name: fmt.Sprintf("%d scenarios, %v", len(scenarios), err)}
	}
	return scenarios[0]
}

// step is a drawn step before it is known what there is to refer to. Its numbers mean
// something else for each kind; those that choose a checkpoint or a subtask are taken
// modulo how many there are.
type step struct {
	kind    int
	a, b, c int
}

// weights gives how often each kind of step is drawn, in hundredths or so. The simplest
// come first, since a program shrinks towards them. Crashes are rare enough that most
// checkpoints complete, or nothing would ever be visible to be lost.
var weights = []struct {
	name   string
	weight int
}{
	{"write", 24}, {"burst", 6}, {"advance", 14}, {"checkpoint", 14}, {"complete", 12}, {"recover", 7}, {"crash", 6}, {"powerloss", 5},
	{"fault", 4}, {"repeat", 3}, {"abort", 2}, {"restore", 3}, {"end", 2}, {"clock", 2}, {"savepoint", 2}, {"partial", 2}, {"sweep", 2}, {"heal", 1},
}

var stepGenerator = rapid.Custom(func(t *rapid.T) step {
	total := 0
	for _, w := range weights {
		total += w.weight
	}
	at := uniform(t, total)
	kind := 0
	for at >= weights[kind].weight {
		at -= weights[kind].weight
		kind++
	}
	return step{kind, rapid.IntRange(0, 63).Draw(t, "a"), rapid.IntRange(0, 7).Draw(t, "b"), uniform(t, 64)}
})

// uniform draws evenly, which the library's integers do not: it prefers small ones, and most
// programs would be writes. Multiplying by an odd number is one to one modulo 2^32, so all
// values stay possible, and 0 stays 0, to which the library shrinks.
func uniform(t *rapid.T, n int) int {
	return int(rapid.Uint64Range(0, 1<<32-1).Draw(t, "u") * 2654435761 % (1 << 32) * uint64(n) >> 32)
}

// drawing knows enough of the program so far to choose what makes sense. It takes what it
// chooses from slices, never from maps, whose order would be another one when the same
// bits are drawn again (moby/moby#53435).
type drawing struct {
	draw        *rapid.T
	lines       []string
	parallelism int
	dateTime    bool
	records     int
	lastID      int64
	taken       []int64 // checkpoints not given up by a restore, ascending
	done        int64   // newest that completed, 0 for none
	ended       bool    // the whole input: what is written then would be refused
}

func (d *drawing) add(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// open draws the first line. Limits are a few records, or a few checks, so that parts are
// closed for every reason within a short program.
func (d *drawing) open() {
	t := d.draw
	words := []string{"open"}
	switch rapid.IntRange(0, 5).Draw(t, "policy") {
	case 0:
		words = append(words, "policy=oncheckpoint")
	case 1:
		words = append(words, "policy=default")
	case 2:
		words = append(words, "policy=rolling", "size="+strconv.Itoa(rapid.IntRange(1, 12).Draw(t, "size")))
	case 3:
		words = append(words, "policy=rolling", "rollover="+strconv.Itoa(100*rapid.IntRange(1, 6).Draw(t, "rollover")),
			"inactivity="+strconv.Itoa(100*rapid.IntRange(1, 6).Draw(t, "inactivity")))
	case 4:
		words = append(words, "policy=oncheckpoint+rolling", "size="+strconv.Itoa(rapid.IntRange(1, 12).Draw(t, "size")), "inactivity=300")
	case 5:
		words = append(words, "policy=deadline", "checkpoint=100", "within="+strconv.Itoa(100*rapid.IntRange(1, 8).Draw(t, "within")))
	}
	if n := rapid.IntRange(0, 9).Draw(t, "open parts"); n > 7 {
		words = append(words, "open-parts="+strconv.Itoa(n-7))
	}
	words = append(words, "check="+strconv.Itoa(rapid.SampledFrom([]int{100, 300, 1000}).Draw(t, "check")))
	if n := rapid.IntRange(1, 4).Draw(t, "parallelism"); n > 1 {
		d.parallelism = n
		words = append(words, "parallelism="+strconv.Itoa(n))
	}
	if rapid.IntRange(0, 7).Draw(t, "assigner") == 7 {
		// Half an hour before the hour that occurs twice begins.
		d.dateTime = true
		words = append(words, "assigner=datetime", "zone=Europe/Berlin", "now="+strconv.FormatInt(foldStart-1800_000, 10), "tick=60000")
	}
	d.add("%s", strings.Join(words, " "))
}

// foldStart is when the local hour from two to three begins that occurs twice in Berlin
// in autumn 2026: 00:00 UTC on 25 October.
const foldStart int64 = 1792886400_000

// step writes out a step, as one line, several or none. Times are around the ticks and
// checks, since a sink errs by a millisecond; faults are of the kinds that a disk has, on the
// operations on which it has them.
func (d *drawing) step(s step) {
	switch weights[s.kind].name {
	case "write":
		d.write(s.b, s.c)
	case "burst":
		for i := range 3 {
			d.write(i, s.c)
		}
	case "advance":
		ms := [...]int{100, 50, 1, 300, 0, 99, 1000, 2500}[s.b]
		if d.dateTime && s.a%2 == 0 {
			ms = 1800_000
		}
		d.add("advance %d", ms)
	case "checkpoint":
		d.checkpoint("checkpoint")
	case "savepoint":
		d.checkpoint("savepoint")
	case "complete":
		if len(d.taken) > 0 {
			d.complete(d.taken[len(d.taken)-1-s.b%min(len(d.taken), 2)])
		}
	case "repeat":
		if len(d.taken) > 0 {
			d.complete(d.taken[s.a%len(d.taken)])
		}
	case "partial":
		if len(d.taken) > 0 {
			id := d.taken[len(d.taken)-1]
			d.add("complete %d %d", id, s.a%d.parallelism)
			d.done = max(d.done, id)
		}
	case "abort":
		if len(d.taken) > 0 {
			d.add("abort %d", d.taken[len(d.taken)-1])
		}
	case "recover":
		d.recover(s)
	case "restore":
		if len(d.taken) == 0 {
			return
		}
		i := s.a % len(d.taken)
		d.add("restore %d %d", d.taken[i], d.rescale(s))
		d.done = max(d.taken[i], min(d.done, d.taken[i]))
		d.taken = d.taken[:i+1]
		d.ended = false
		if s.b != 0 {
			d.add("replay")
		}
	case "crash":
		when := "before"
		if s.b%2 == 1 {
			when = "after"
		}
		d.add("crash %d %s", 1+s.c%24, when)
	case "powerloss":
		keep := [...]string{"none", "all", "names", "data"}
		if s.b < len(keep) {
			d.add("powerloss %s", keep[s.b])
		} else {
			d.add("powerloss seed=%d", s.a*64+s.c)
		}
		d.recover(s)
	case "fault":
		rules := [...]string{
			"sync nth=%d error=EIO", "sync path=.*.inprogress.* nth=%d error=EIO clean", "write nth=%d short=2 error=ENOSPC", "rename nth=%d error=EIO after",
			"rename nth=%d error=EIO", "open,openfile nth=%d error=EMFILE", "any nth=%d error=EIO", "close,mkdirall nth=%d error=EINTR after",
		}
		d.add("fault "+rules[s.b], 1+s.c%4)
	case "heal":
		d.add("heal")
	case "clock":
		d.add("clock %d", [...]int{-1, -100, -5000, 1, 100, 299, 5000, 3600_000}[s.b])
	case "end":
		if s.b < 4 && d.parallelism > 1 {
			d.add("end %d", s.a%d.parallelism)
			return // what is written to that subtask now is refused
		}
		d.add("end")
		d.ended = true
	case "sweep":
		d.add("sweep")
		d.recover(s)
	}
}

// buckets of drawn records, as their prefixes: the base directory, one below it, and one
// whose way has a directory that is no bucket. Few, so that parts meet.
var buckets = [...]string{"", "a/", "b/c/"}

func (d *drawing) write(bucket, subtask int) {
	if d.ended {
		return
	}
	prefix := buckets[bucket%len(buckets)]
	if d.dateTime {
		prefix = ""
	}
	d.add("write %sr%d %d", prefix, d.records, subtask%d.parallelism)
	d.records++
}

// checkpoint takes the next id. Gaps come from checkpoints that fail.
func (d *drawing) checkpoint(word string) {
	d.lastID++
	d.add("%s %d", word, d.lastID)
	d.taken = append(d.taken, d.lastID)
}

func (d *drawing) complete(id int64) {
	d.add("complete %d", id)
	d.done = max(d.done, id)
}

// rescale chooses how many subtasks come after a restore; in two cases of three as many as
// before.
func (d *drawing) rescale(s step) int {
	if s.c%3 == 0 {
		d.parallelism = 1 + s.c/3%4
	}
	return d.parallelism
}

// recover follows whatever leaves no process running, so that the program goes on. It gives
// up the checkpoints that had not completed, as the session does.
func (d *drawing) recover(s step) {
	d.add("recover %d", d.rescale(s))
	kept := d.taken[:0]
	for _, id := range d.taken {
		if id <= d.done {
			kept = append(kept, id)
		}
	}
	d.taken = kept
	d.ended = false
}

// Text is a program as it can be pasted into testdata/regress and played by
// "sinklab replay". It leaves out answers; the program given keeps its own.
func Text(program sim.Scenario) string {
	program.Steps = slices.Clone(program.Steps)
	for i := range program.Steps {
		program.Steps[i].Answers = nil
	}
	b, _ := program.AppendText(nil) // it never fails
	return string(b)
}
