package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// soak is the subcommand.
type soak struct {
	For    time.Duration `default:"10m" help:"How long to run, for example 30s or 8h."`
	Resume string        `placeholder:"FILE" help:"Keep the place in this file: go on from there if it exists."`
	JSON   bool          `name:"json" help:"Print the totals as JSON."`

	factory sim.Factory // of the sinks; nil means sinkcore
}

// Help is the longer text of soak --help.
func (soak) Help() string {
	return `Random programs with crashes, power cuts, faults and restores are played on the sink in
memory, on all processors, until the time is over. Programs are numbered: number N is
always the same program, and with --resume the next run begins after the last one played.
A program that breaks a rule is shrunk and printed as a trace, ready to be put into
testdata/regress and played by "sinklab replay"; then the run ends.

Exit status: 0, 1 if a rule was broken, 2 for bad input.`
}

// place is what --resume keeps.
type place struct {
	Next       int   `json:"next"` // number of the first program not yet played
	Operations int64 `json:"operations"`
	Recoveries int64 `json:"recoveries"`
	Crashes    int64 `json:"crashes"`
	PowerCuts  int64 `json:"power_cuts"`
}

// batch is how many programs are handed out at once.
const batch = 200

// Run plays programs until the time is over or a rule is broken.
func (s soak) Run(std streams) error {
	if s.For <= 0 {
		return fmt.Errorf("--for %v: must be longer than 0", s.For)
	}
	at, err := s.load()
	if err != nil {
		return err
	}
	first, begun := at.Next, time.Now()
	terminal := isTerminal(std.err)
	var broken *finding
	for done := false; !done && broken == nil; done = time.Since(begun) >= s.For {
		if broken, err = at.play(runtime.GOMAXPROCS(0), s.factory); err != nil {
			return err
		}
		if terminal {
			seconds := time.Since(begun).Seconds()
			fmt.Fprintf(std.err, "\r\x1b[K%s of %s: %d programs, %.0f a second, no rule broken",
				time.Duration(seconds)*time.Second, s.For, at.Next-first, float64(at.Next-first)/seconds)
		}
		if err := s.store(at); err != nil {
			return err
		}
	}
	if terminal {
		fmt.Fprintln(std.err)
	}
	if broken != nil {
		fmt.Fprintf(std.out, "# program %d breaks the rule %s: %s\n%s", broken.number, broken.violation.Rule, broken.violation.Detail, props.Text(broken.program))
		return errFound
	}
	if s.JSON {
		return json.NewEncoder(std.out).Encode(at)
	}
	_, err = fmt.Fprintf(std.out, "programs %d to %d: no rule broken; since the first one %d operations, %d recoveries, %d crashes, %d power cuts\n",
		first, at.Next-1, at.Operations, at.Recoveries, at.Crashes, at.PowerCuts)
	return err
}

// finding is a program that breaks a rule.
type finding struct {
	number    int
	violation *props.Violation
	program   sim.Scenario
}

// play plays the next batches, one on each processor, and returns the first program in
// order that breaks a rule.
func (p *place) play(workers int, factory sim.Factory) (*finding, error) {
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		first *finding
		fault error
	)
	for w := range workers {
		wait.Go(func() {
			for number := p.Next + w*batch; number < p.Next+(w+1)*batch; number++ {
				program := props.Drawn(number)
				v, err := props.Play(program, props.Options{Seed: uint64(number), Factory: factory})
				mu.Lock()
				p.Operations += int64(v.Stats.Operations)
				p.Recoveries += int64(v.Stats.Recoveries)
				p.Crashes += int64(v.Stats.Crashes)
				p.PowerCuts += int64(v.Stats.PowerLosses)
				if err != nil && fault == nil {
					fault = fmt.Errorf("program %d: %w", number, err)
				}
				if v.Violation != nil && (first == nil || number < first.number) {
					first = &finding{number, v.Violation, program}
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	p.Next += workers * batch
	if first != nil {
		first.shrink(factory)
	}
	return first, fault
}

// shrink makes the program short; it goes on breaking the same rule.
func (f *finding) shrink(factory sim.Factory) {
	f.program = props.Shrink(f.program, func(candidate sim.Scenario) bool {
		v, err := props.Play(candidate, props.Options{Seed: uint64(f.number), Factory: factory})
		if err != nil || v.Violation == nil || v.Violation.Rule != f.violation.Rule {
			return false
		}
		f.violation = v.Violation
		return true
	})
}

// load reads where an earlier run stopped.
func (s soak) load() (place, error) {
	var at place
	if s.Resume == "" {
		return at, nil
	}
	content, err := os.ReadFile(s.Resume)
	if errors.Is(err, fs.ErrNotExist) {
		return at, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &at)
	}
	if err == nil && at.Next < 0 {
		err = fmt.Errorf("next is %d", at.Next)
	}
	if err != nil {
		return at, fmt.Errorf("--resume %s: %w; remove the file to begin anew", s.Resume, err)
	}
	return at, nil
}

// store keeps the place; a run that is killed loses a batch at most.
func (s soak) store(at place) error {
	if s.Resume == "" {
		return nil
	}
	content, err := json.Marshal(at)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(s.Resume), ".soak")
	if err != nil {
		return err
	}
	_, err = temp.Write(append(content, '\n'))
	if err := errors.Join(err, temp.Close()); err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return os.Rename(temp.Name(), s.Resume)
}
