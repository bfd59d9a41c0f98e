package flink

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// Draw gives the program that belongs to a seed and a number: always the same one. It has all
// operations of a trace, with savepoints and recoveries of props besides, 1 to 4 subtasks
// before and after a restore, every kind of policy, names of the user's own, and buckets by
// date and time across changes of the clock. Files are not merged, see [Program.Merging].
func Draw(seed, number uint64) Program {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, number)), parallelism: 1}
	d.open()
	for range 2 + d.IntN(60) {
		d.step()
	}
	text := fmt.Sprintf("# seed %d program %d\n%s\n", seed, number, strings.Join(d.lines, "\n"))
	scenarios, err := sim.Parse(strings.NewReader(text), props.Operations())
	if err != nil || len(scenarios) != 1 {
		// A defect of this file. A program without steps is refused when it is played.
		return Program{Scenario: sim.Scenario{Name: fmt.Sprintf("seed %d program %d: %v", seed, number, err)}}
	}
	return Program{Scenario: scenarios[0]}
}

// Merging is a drawn program with compaction: how is drawn from the same numbers.
func (p Program) Merging(seed, number uint64) Program {
	r := rand.New(rand.NewPCG(seed^1<<63, number))
	switch r.IntN(4) {
	case 0:
		p.Compaction = Compaction{Size: int64(r.IntN(40)), HasSize: true}
	case 1:
		p.Compaction = Compaction{Checkpoints: 1 + r.IntN(3), Size: int64(1 + r.IntN(40)), HasSize: true}
	default:
		p.Compaction = Compaction{Checkpoints: 1 + r.IntN(3)}
	}
	return p
}

// drawing knows of the program so far what the next operation may refer to.
type drawing struct {
	*rand.Rand
	lines       []string
	parallelism int
	dateTime    bool
	check, tick int
	records     int
	lastID      int64
	taken       []int64 // checkpoints not given up by a restore, ascending
	done        int64   // newest that has completed, 0 for none
	ended       []bool  // by subtask
}

func (d *drawing) add(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// one chooses one of several.
func one[T any](d *drawing, choices ...T) T { return choices[d.IntN(len(choices))] }

// Clock changes of 2026, each with its zone: forward and back by an hour, by half an hour, and
// at midnight of the zone.
var clockChanges = []struct {
	zone string
	at   int64
}{
	{"Europe/Berlin", 1774746000000}, {"Europe/Berlin", 1792890000000},
	{"America/New_York", 1772953200000}, {"America/New_York", 1793512800000},
	{"Australia/Lord_Howe", 1775314800000}, {"Australia/Lord_Howe", 1791041400000},
	{"America/Santiago", 1775358000000}, {"Asia/Kathmandu", 1774746000000}, {"UTC", 1798761600000}, {"+05:30", 1798741800000},
}

// open draws the first line. Limits are a few records or a few checks, so that files are
// closed for every reason within a short program.
func (d *drawing) open() {
	words := []string{"open"}
	number := func(key string, n int) { words = append(words, key+"="+strconv.Itoa(n)) }
	d.check, d.tick = one(d, 100, 300, 1000, 2500), one(d, 100, 100, 100, 1000, 5000)
	limits := func() {
		if d.IntN(2) == 0 {
			number("size", 1+d.IntN(30))
		}
		if d.IntN(2) == 0 {
			number("rollover", 50*(1+d.IntN(20)))
		}
		if d.IntN(2) == 0 {
			number("inactivity", 50*(1+d.IntN(20)))
		}
	}
	switch d.IntN(8) {
	case 0, 1:
		words = append(words, "policy=oncheckpoint")
	case 2:
		words = append(words, "policy=default")
	case 3:
		words = append(words, "policy=oncheckpoint+rolling")
		limits()
	case 4:
		checkpoint, duration := 100*(1+d.IntN(4)), 100*d.IntN(3)
		words = append(words, "policy=deadline")
		number("within", max(checkpoint, duration)+duration+100*d.IntN(8))
		number("checkpoint", checkpoint)
		if duration > 0 {
			number("duration", duration)
		}
		if d.IntN(3) == 0 {
			number("target", 1+d.IntN(30))
		}
	default:
		words = append(words, "policy=rolling")
		limits()
	}
	number("check", d.check)
	if d.tick != 100 {
		number("tick", d.tick)
	}
	if n := 1 + d.IntN(4); n > 1 && d.IntN(2) == 0 {
		d.parallelism = n
		number("parallelism", n)
	}
	if d.IntN(4) == 0 {
		words = append(words, "prefix="+one(d, "out", "part-1", "a.b", "größe", "x-0-y"))
	}
	if d.IntN(4) == 0 {
		words = append(words, "suffix="+one(d, ".csv", "-1", "_", ".tmp.gz", "-7.x"))
	}
	if d.IntN(4) == 0 {
		d.dateTime = true
		change := one(d, clockChanges...)
		format := one(d, "", "", "yyyy-MM-dd/HH", "yyyy-MM-dd--HHmm", "'at'-yyyyDDD-HH", "HH-XX", "yyyy-MM-dd/HH'h'mm")
		words = append(words, "assigner=datetime", "zone="+change.zone, "now="+strconv.FormatInt(change.at-int64(d.IntN(5000_000)), 10))
		if format != "" {
			words = append(words, "format="+format)
		}
	}
	d.ended = make([]bool, d.parallelism)
	d.add("%s", strings.Join(words, " "))
}

// step draws the next operation, or a few that belong together.
func (d *drawing) step() {
	switch n := d.IntN(100); {
	case n < 30:
		for range 1 + d.IntN(4) {
			d.write()
		}
	case n < 45:
		d.advance()
	case n < 60:
		d.checkpoint("checkpoint")
	case n < 72:
		if len(d.taken) > 0 {
			d.complete(d.taken[len(d.taken)-1], "")
		}
	case n < 75: // late, or again
		if len(d.taken) > 0 {
			d.complete(one(d, d.taken...), "")
		}
	case n < 77:
		if len(d.taken) > 0 {
			d.complete(d.taken[len(d.taken)-1], fmt.Sprintf(" %d", d.IntN(d.parallelism)))
		}
	case n < 80:
		if len(d.taken) > 0 {
			d.add("abort %d", d.taken[len(d.taken)-1])
		}
	case n < 84:
		d.checkpoint("savepoint")
	case n < 91:
		d.recover()
	case n < 96:
		d.restore()
	default:
		d.end()
	}
}

var bucketPrefixes = []string{"", "", "a/", "b/c/", "b/", "ü/"}

func (d *drawing) write() {
	subtask := d.IntN(d.parallelism)
	if d.ended[subtask] {
		return
	}
	prefix := one(d, bucketPrefixes...)
	if d.dateTime {
		prefix = ""
	}
	d.add("write %sr%d %d", prefix, d.records, subtask)
	d.records++
}

// advance moves the clock by about a check or a tick, by a long time now and then, and by
// one millisecond less or more, where limits are met.
func (d *drawing) advance() {
	ms := one(d, d.check, d.check, d.tick, 100, 50, 1, 99, 101, d.check-1, d.check+1, 3*d.check)
	if d.dateTime && d.IntN(2) == 0 {
		ms = one(d, 600_000, 1800_000, 3600_000)
		if d.check < 2500 || d.tick < 1000 {
			ms = one(d, 60_000, 120_000) // or there would be too many checks
		}
	}
	d.add("advance %d", ms)
}

// checkpoint takes the next id; engines leave some out.
func (d *drawing) checkpoint(word string) {
	d.lastID += 1 + int64(d.IntN(8)/7)
	d.add("%s %d", word, d.lastID)
	d.taken = append(d.taken, d.lastID)
	if word == "checkpoint" && d.IntN(2) == 0 {
		d.complete(d.lastID, "")
	}
}

func (d *drawing) complete(id int64, subtask string) {
	d.add("complete %d%s", id, subtask)
	d.done = max(d.done, id)
}

// rescale draws the number of subtasks after a restart, as before in two cases of three.
func (d *drawing) rescale() string {
	d.ended = nil
	word := ""
	if d.IntN(3) == 0 {
		d.parallelism = 1 + d.IntN(4)
		word = " " + strconv.Itoa(d.parallelism)
	}
	d.ended = make([]bool, d.parallelism)
	return word
}

// recover lets the process die and the engine restore the newest completed checkpoint.
func (d *drawing) recover() {
	d.add("recover%s", d.rescale())
	d.taken = slices.DeleteFunc(d.taken, func(id int64) bool { return id > d.done })
}

// restore restores a checkpoint of the user's choice, mostly the newest, which has completed
// then.
func (d *drawing) restore() {
	if len(d.taken) == 0 {
		return
	}
	i := len(d.taken) - 1
	if d.IntN(5) == 0 {
		i = d.IntN(len(d.taken))
	}
	d.add("restore %d%s", d.taken[i], d.rescale())
	d.done = d.taken[i]
	d.taken = d.taken[:i+1]
	if d.IntN(8) > 0 {
		d.add("replay")
	}
}

// end ends the input of all subtasks, or of one.
func (d *drawing) end() {
	if d.parallelism > 1 && d.IntN(2) == 0 {
		subtask := d.IntN(d.parallelism)
		d.ended[subtask] = true
		d.add("end %d", subtask)
		return
	}
	for i := range d.ended {
		d.ended[i] = true
	}
	d.add("end")
}
