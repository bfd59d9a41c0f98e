package sinktest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
)

// action is a kind of step and how often it is drawn.
type action struct {
	name   string
	weight int
	needs  Feature
}

// The kit draws its programs itself and not by package props, so that recorded verdicts
// stay the same when that package learns to draw other ones.
var actions = []action{
	{"write", 30, ""},
	{"checkpoint", 16, ""},
	{"complete", 14, ""},
	{"advance", 10, ""},
	{"crash", 9, Crashes},
	{"recover", 7, ""},
	{"powerloss", 7, PowerCuts},
	{"fault", 6, Faults},
	{"repeat", 4, Aborts},
	{"abort", 3, Aborts},
	{"restore", 4, Older},
	{"savepoint", 3, Savepoints},
	{"clock", 2, ClockSteps},
	{"end", 3, EndOfInput},
	{"partial", 3, Aborts},
	{"sweep", 3, ""},
	{"heal", 1, Faults},
	{"round", 6, ""},
}

// faults that are drawn, each with the number of the operation that it hits. No close fails:
// whoever only reads a file may well pass over that.
var faults = [...]string{
	"sync nth=%d error=EIO", "sync path=.* nth=%d error=EIO clean", "write nth=%d short=2 error=ENOSPC", "rename nth=%d error=EIO after",
	"rename nth=%d error=EIO", "opens nth=%d error=EMFILE", "writes nth=%d error=EIO", "mkdir,mkdirall nth=%d error=EIO after",
}

// drawing makes one program. It knows enough of it so far to choose what makes sense.
type drawing struct {
	kind        Kind
	random      *rand.Rand
	allowed     []action
	total       int // of their weights
	parallelism int
	out         lines
	records     int
	lastID      int
	taken       []int // checkpoints that a recovery has not given up
	done        int   // newest that completed
}

// draw makes the program of a number. Programs get longer as the number grows.
func draw(k Kind, number int) lines {
	d := &drawing{kind: k, random: rand.New(rand.NewPCG(k.Seed, uint64(number))), parallelism: 1}
	for _, a := range actions {
		if a.needs == "" || !k.lacks(a.needs) {
			d.allowed = append(d.allowed, a)
			d.total += a.weight
		}
	}
	d.parallelism = 1 + d.random.IntN(k.Parallelism)
	d.add("%s", openLine(k, d.parallelism))
	if number%8 == 7 {
		d.undisturbed(2 + d.random.IntN(12))
		return d.out
	}
	for range 3 + d.random.IntN(5+min(25, number/8)) {
		d.step()
	}
	return sensible(d.out)
}

func (d *drawing) add(format string, args ...any) {
	d.out = append(d.out, fmt.Sprintf(format, args...))
}

// undisturbed is what latency and number of files are promised for.
func (d *drawing) undisturbed(rounds int) {
	every := [...]int{100, 150, 333, 1000}[d.random.IntN(4)]
	for range rounds {
		left := every
		for range d.random.IntN(4) {
			d.write()
			if ms := d.random.IntN(left + 1); ms > 0 {
				d.advance(ms)
				left -= ms
			}
		}
		d.advance(left)
		d.checkpoint("checkpoint")
		if d.random.IntN(3) == 0 {
			d.advance(d.random.IntN(every / 2))
		}
		d.complete(d.lastID)
	}
}

func (d *drawing) advance(ms int) {
	if ms > 0 {
		d.add("advance %d", ms)
	}
}

func (d *drawing) step() {
	at := d.random.IntN(d.total)
	i := 0
	for at >= d.allowed[i].weight {
		at -= d.allowed[i].weight
		i++
	}
	newest := 0
	if len(d.taken) > 0 {
		newest = d.taken[len(d.taken)-1]
	}
	switch name := d.allowed[i].name; name {
	case "write":
		d.write()
	case "advance":
		d.advance([...]int{1, 50, 99, 100, 300, 1000}[d.random.IntN(6)])
	case "checkpoint", "savepoint":
		d.checkpoint(name)
		if name == "checkpoint" && d.kind.lacks(Aborts) {
			d.complete(d.lastID)
		}
	case "complete":
		if newest > d.done {
			d.complete(newest)
		}
	case "repeat":
		if newest > 0 {
			d.complete(d.taken[d.random.IntN(len(d.taken))])
		}
	case "partial":
		if newest > 0 && d.parallelism > 1 {
			d.add("complete %d %d", newest, d.random.IntN(d.parallelism))
			d.done = max(d.done, newest)
		}
	case "abort":
		if newest > d.done {
			d.add("abort %d", newest)
		}
	case "crash":
		d.add("crash %d %s", 1+d.random.IntN(1+d.random.IntN(20)), [...]string{"before", "after"}[d.random.IntN(2)])
	case "recover":
		d.recover()
	case "powerloss":
		if keep := d.random.IntN(6); keep < 4 {
			d.add("powerloss %s", [...]string{"none", "all", "names", "data"}[keep])
		} else {
			d.add("powerloss seed=%d", d.random.IntN(1000))
		}
		d.recover()
	case "fault":
		d.add("fault "+faults[d.random.IntN(len(faults))], 1+d.random.IntN(4))
	case "heal":
		d.add("heal")
	case "clock":
		d.add("clock %d", [...]int{-1, -5000, 1, 299, 5000}[d.random.IntN(5)])
	case "restore":
		if newest > 0 {
			d.restore(d.random.IntN(len(d.taken)))
		}
	case "end":
		if d.parallelism > 1 && d.random.IntN(2) == 0 {
			d.add("end %d", d.random.IntN(d.parallelism))
		} else {
			d.add("end")
		}
	case "sweep":
		d.add("sweep")
		d.recover()
	case "round":
		d.write()
		d.write()
		d.checkpoint("checkpoint")
		d.complete(d.lastID)
	}
}

func (d *drawing) write() {
	bucket := ""
	if !d.kind.lacks(ManyBuckets) {
		bucket = [...]string{"", "", "a/", "b/c/"}[d.random.IntN(4)]
	}
	d.add("write %sr%d%s", bucket, d.records, d.toSubtask())
	d.records++
}

// toSubtask is the last word of a write.
func (d *drawing) toSubtask() string {
	if d.parallelism == 1 {
		return ""
	}
	return " " + strconv.Itoa(d.random.IntN(d.parallelism))
}

func (d *drawing) checkpoint(word string) {
	d.lastID++
	d.add("%s %d", word, d.lastID)
	d.taken = append(d.taken, d.lastID)
}

func (d *drawing) complete(id int) {
	d.add("complete %d", id)
	d.done = max(d.done, id)
}

// recover gives up the checkpoints that have not completed.
func (d *drawing) recover() {
	d.add("recover%s", d.rescale())
	d.taken = slices.DeleteFunc(d.taken, func(id int) bool { return id > d.done })
}

// restore gives up the checkpoints after one of them, which counts as completed.
func (d *drawing) restore(i int) {
	d.add("restore %d%s", d.taken[i], d.rescale())
	d.add("replay")
	d.taken = d.taken[:i+1]
	d.done = d.taken[i]
}

// rescale is the last word of what starts a sink again.
func (d *drawing) rescale() string {
	if d.kind.Parallelism == 1 {
		return ""
	}
	if d.random.IntN(2) == 0 {
		d.parallelism = 1 + d.random.IntN(d.kind.Parallelism)
	}
	return " " + strconv.Itoa(d.parallelism)
}
