package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// drawTimed draws a program in which nothing fails and time matters.
func drawTimed(t *rapid.T) sim.Scenario {
	pick := func(of ...int) int { return rapid.SampledFrom(of).Draw(t, "n") }
	words := []string{"open"}
	switch pick(0, 1, 2, 3, 4) {
	case 0:
		words = append(words, "policy=oncheckpoint")
	case 1:
		words = append(words, "policy=rolling", fmt.Sprintf("size=%d", pick(3, 6, 9, 12)))
	case 2:
		words = append(words, "policy=rolling", fmt.Sprintf("rollover=%d inactivity=%d", pick(100, 200, 400, 500), pick(100, 150, 300, 600)))
	case 3:
		words = append(words, "policy=oncheckpoint+rolling", fmt.Sprintf("size=%d inactivity=200", pick(3, 6, 9)))
	case 4:
		words = append(words, "policy=deadline", fmt.Sprintf("checkpoint=100 within=%d", pick(100, 200, 350, 700)))
	}
	parallelism := pick(1, 1, 2)
	words = append(words, fmt.Sprintf("check=%d parallelism=%d tick=%d", pick(100, 200, 300), parallelism, pick(1, 1, 70, 100)))
	lines := []string{strings.Join(words, " ")}
	record, id := 0, 0
	steps := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 99), 4, 8), 1, 8).Draw(t, "steps")
	for _, run := range steps {
		for _, kind := range run {
			switch {
			case kind < 40:
				lines = append(lines, fmt.Sprintf("write %sr%d %d", [...]string{"", "a/"}[pick(0, 1)], record, pick(0, 1)%parallelism))
				record++
			case kind < 73:
				lines = append(lines, fmt.Sprintf("advance %d", pick(1, 1, 50, 99, 99, 100, 100, 101, 200, 300, 1000)))
			case kind < 90:
				id++
				lines = append(lines, fmt.Sprintf("checkpoint %d", id))
				if pick(0, 1, 1, 1) == 1 {
					lines = append(lines, fmt.Sprintf("complete %d", id))
				}
				if pick(0, 0, 1) == 1 {
					lines = append(lines, fmt.Sprintf("restore %d", id))
				}
			case kind < 96:
				lines = append(lines, fmt.Sprintf("clock %d", pick(-50, -400, 1, 250)))
			default:
				if id > 0 {
					lines = append(lines, fmt.Sprintf("complete %d", id))
				}
			}
		}
	}
	scenarios, err := sim.Parse(strings.NewReader(strings.Join(lines, "\n")), props.Operations())
	if err != nil || len(scenarios) != 1 {
		panic(fmt.Sprintf("%d scenarios: %v", len(scenarios), err)) // a defect of this function
	}
	return scenarios[0]
}

// timing holds a program against the model of files and timers.
func timing(program sim.Scenario, _ int) *props.Violation {
	verdict, err := props.Play(program, props.Options{Seed: 1})
	if err != nil {
		return nil
	}
	if verdict.Violation != nil {
		return verdict.Violation
	}
	want, ok := predict(program)
	if !ok {
		return nil
	}
	visible, files := map[string]int{}, make([]int, len(program.Steps)+1)
	for _, e := range verdict.History {
		if e.Kind == sim.Visible {
			files[e.Step]++
			for _, record := range e.Records {
				visible[record] = e.Step
			}
		}
	}
	for step, now := range want {
		for _, file := range now {
			for _, record := range file {
				if at, ok := visible[record]; !ok || at > step {
					return &props.Violation{Rule: props.Latency, Step: step, Detail: fmt.Sprintf("record %s must be visible by now", record)}
				}
			}
		}
	}
	for step, now := range want {
		if files[step] != len(now) {
			return &props.Violation{Rule: props.FileCount, Step: step, Detail: fmt.Sprintf("%d files have become visible, the closed form says %d", files[step], len(now))}
		}
	}
	return nil
}

// prediction is a sink that has files and timers but writes nothing: rows of Flink's
// FileWriterBucket, DefaultRollingPolicy and CommitterOperator, and Deadline, in their shortest form.
type prediction struct {
	size, rollover, inactivity int64
	atCheckpoint               bool
	within, interval           int64 // of Deadline, or 0
	check, tick, now           int64
	due                        int64

	open    []*openFile // by the time they were made
	closed  [][]string  // since the last checkpoint
	batches []batch
	taken   map[int64][]openFile
	last    int64 // checkpoint taken
}

type openFile struct {
	subtask          int
	bucket           string
	records          []string
	size             int64
	created, updated int64
}

type batch struct {
	id    int64
	files [][]string
}

// predict gives the files that become visible at each step, or false for a program that
// the model does not cover.
func predict(program sim.Scenario) (visible [][][]string, ok bool) {
	p := &prediction{}
	for i, step := range program.Steps {
		var now [][]string
		switch o := step.Operation.(type) {
		case sim.Open:
			if i > 0 {
				return nil, false
			}
			p.start(o)
		case sim.Write:
			p.write(o)
		case sim.Advance:
			p.advance(int64(o))
		case props.Clock:
			p.now += o.By
		case sim.Checkpoint:
			p.checkpoint(int64(o))
		case sim.Complete:
			now = p.complete(o.ID)
		case sim.Restore:
			if o.Checkpoint != p.last || i == 0 || !follows(program.Steps[i-1].Operation, o.Checkpoint) {
				return nil, false
			}
			now = p.complete(o.Checkpoint)
			p.restore(o.Checkpoint)
		default:
			return nil, false
		}
		visible = append(visible, now)
	}
	return visible, true
}

// follows tells whether an operation takes or completes a checkpoint.
func follows(o sim.Operation, id int64) bool {
	switch o := o.(type) {
	case sim.Checkpoint:
		return int64(o) == id
	case sim.Complete:
		return o.ID == id
	}
	return false
}

func (p *prediction) start(o sim.Open) {
	*p = prediction{size: 128 << 20, rollover: 60_000, inactivity: 60_000, check: 60_000, tick: 100, taken: map[int64][]openFile{}}
	rolls := true
	for _, word := range strings.Fields(o.String())[1:] {
		key, value, _ := strings.Cut(word, "=")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch key {
		case "policy":
			p.atCheckpoint = strings.Contains(value, "oncheckpoint")
			rolls = value != "oncheckpoint" && value != "deadline"
		case "within":
			p.within = n
		case "checkpoint":
			p.interval = n
		case "size":
			p.size = n
		case "rollover":
			p.rollover = n
		case "inactivity":
			p.inactivity = n
		case "check":
			p.check = n
		case "tick":
			p.tick = n
		}
	}
	if !rolls {
		p.size, p.rollover, p.inactivity = math.MaxInt64, math.MaxInt64, math.MaxInt64
	}
	p.due = p.check
}

func (p *prediction) write(o sim.Write) {
	bucket := o.Record[:max(strings.LastIndexByte(o.Record, '/'), 0)]
	var f *openFile
	for i, g := range p.open {
		if g.subtask == o.Subtask && g.bucket == bucket {
			f = g
			if g.size > p.size {
				p.close(i)
				f = nil
			}
			break
		}
	}
	if f == nil {
		f = &openFile{subtask: o.Subtask, bucket: bucket, created: p.now}
		p.open = append(p.open, f)
	}
	f.records = append(f.records, o.Record)
	f.size += int64(len(o.Record)) + 1
	f.updated = p.now
}

func (p *prediction) close(i int) {
	p.closed = append(p.closed, p.open[i].records)
	p.open = append(p.open[:i:i], p.open[i+1:]...)
}

// closeIf closes the open files that a test finds.
func (p *prediction) closeIf(found func(*openFile) bool) {
	for i := 0; i < len(p.open); {
		if found(p.open[i]) {
			p.close(i)
		} else {
			i++
		}
	}
}

func (p *prediction) advance(ms int64) {
	for end := p.now + ms; p.now < end; {
		p.now += min(p.tick, end-p.now)
		if p.now >= p.due {
			p.closeIf(func(f *openFile) bool { return p.due-f.created >= p.rollover || p.due-f.updated >= p.inactivity })
			p.due = p.now + p.check
		}
	}
}

func (p *prediction) checkpoint(id int64) {
	p.closeIf(func(f *openFile) bool {
		late := p.within > 0 && (p.now+p.interval > f.created+p.within || p.now < f.created)
		return p.atCheckpoint || f.size > p.size || late
	})
	p.batches = append(p.batches, batch{id, p.closed})
	p.closed = nil
	for _, f := range p.open {
		g := *f
		g.updated = g.created
		g.records = append([]string(nil), f.records...)
		p.taken[id] = append(p.taken[id], g)
	}
	p.last = id
}

func (p *prediction) complete(id int64) (visible [][]string) {
	for len(p.batches) > 0 && p.batches[0].id <= id {
		visible = append(visible, p.batches[0].files...)
		p.batches = p.batches[1:]
	}
	return visible
}

func (p *prediction) restore(id int64) {
	p.open = nil
	for _, f := range p.taken[id] {
		p.open = append(p.open, &f)
	}
	p.closed = nil
	p.due = p.now + p.check
}
