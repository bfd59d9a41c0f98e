package props

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// pair is two jobs in one directory, each with a program and a model of its own. What a
// process dies of, crash or fault, strikes the job whose turn it is; a power cut strikes
// both, and a sweep needs both dead.
type pair struct {
	fs   *fsmem.FS
	jobs [2]*session
}

// initials begin the records of the jobs.
const initials = "rs"

func newPair(p [2]sim.Scenario, seeds [2]uint64) (*pair, error) {
	both := &pair{fs: fsmem.New(fsmem.Options{})}
	for i := range both.jobs {
		// The handles of the other job are open all the time.
		s, err := newSession(p[i], Options{Fs: both.fs, Seed: seeds[i], Skip: []Rule{Handles}})
		if err != nil {
			return nil, err
		}
		s.ours = func(record string) bool {
			return record[strings.LastIndexByte(record, '/')+1] == initials[i]
		}
		both.jobs[i] = s
	}
	return both, nil
}

// turn lets a job do something while the rules and the hook of the other are out of
// force, and lets the other look at what it did.
func (b *pair) turn(i int, do func(*session) error) error {
	s, other := b.jobs[i], b.jobs[1-i]
	other.quiet(true)
	s.watch()
	err := do(s)
	s.quiet(true)
	b.strangers(s)
	if err == nil && other.open {
		var events []sim.Event
		if events, err = other.look(); err == nil {
			other.notice(events, false)
		}
		b.strangers(other)
	}
	other.quiet(true)
	s.quiet(false)
	return err
}

// strangers notes that a job has not confirmed what the other one has published.
func (b *pair) strangers(s *session) {
	for path, f := range s.files {
		if len(f.records) > 0 && !s.ours(f.records[0]) {
			f.confirmed, f.given = false, true
			s.files[path] = f
		}
	}
}

// step plays one operation of a job.
func (b *pair) step(i int, step sim.Step) error {
	switch o := step.Operation.(type) {
	case PowerLoss:
		return b.powerLoss(i, o)
	case Sweep:
		return b.sweep()
	}
	return b.turn(i, func(s *session) error { return s.play(step.Operation, step.Line) })
}

// powerLoss cuts the power of both.
func (b *pair) powerLoss(i int, o PowerLoss) error {
	s, other := b.jobs[i], b.jobs[1-i]
	other.disarm()
	other.kill()
	if err := s.powerLoss(o); err != nil {
		return err
	}
	b.strangers(s)
	b.fs = s.fs
	other.heal()
	other.fs = s.fs
	other.runner.SetFs(s.fs)
	other.watch()
	other.down, other.cut = true, true
	if !other.open {
		return nil
	}
	events, err := other.look()
	if err != nil {
		return err
	}
	other.notice(events, true)
	b.strangers(other)
	return nil
}

// sweep removes orphans with the checkpoints of both jobs retained.
func (b *pair) sweep() error {
	owned := map[string]bool{}
	var retained []sinkcore.Checkpoint
	for _, s := range b.jobs {
		s.disarm()
		s.heal()
		s.kill()
		s.down = true
		for _, id := range sorted(s.cuts) {
			var c sinkcore.Checkpoint
			if err := c.UnmarshalBinary(s.runner.State(id)); err != nil {
				return err
			}
			for _, name := range c.InProgressFiles() {
				owned[filepath.Join("/sink", name)] = true
			}
			retained = append(retained, c)
		}
	}
	s := b.jobs[0]
	before, err := s.hiddenFiles()
	if err != nil {
		return err
	}
	if _, err := sinkcore.RemoveOrphans(b.fs, "/sink", retained...); err != nil {
		return err
	}
	after, err := s.hiddenFiles()
	if err != nil {
		return err
	}
	for path := range before {
		if owned[path] != after[path] {
			s.violate(Orphans, "%s is owned: %v; after the sweep it is there: %v", filepath.Base(path), owned[path], after[path])
		}
	}
	for _, s := range b.jobs {
		events, err := s.look()
		if err != nil {
			return err
		}
		s.notice(events, false)
		b.strangers(s)
	}
	return nil
}

// finish ends both programs.
func (b *pair) finish() error {
	for i := range b.jobs {
		if err := b.turn(i, func(s *session) error {
			s.step = len(s.program.Steps)
			return s.finish()
		}); err != nil {
			return err
		}
	}
	return nil
}

// violation is the first one of either.
func (b *pair) violation() *Violation {
	for _, s := range b.jobs {
		if s.found != nil {
			return s.found
		}
	}
	return nil
}

// ofJob gives a program the records of a job.
func ofJob(i int, p sim.Scenario) sim.Scenario {
	return rewrite(p, func(o sim.Operation) []string {
		if w, ok := o.(sim.Write); ok {
			at := strings.LastIndexByte(w.Record, '/') + 1
			w.Record = w.Record[:at] + initials[i:i+1] + w.Record[at+1:]
			return []string{w.String()}
		}
		return []string{o.String()}
	})
}

// together plays two programs, whose steps take turns as drawn, and returns the steps as
// they were played.
func together(p [2]sim.Scenario, seeds [2]uint64, turns *rand.Rand) (*pair, string, error) {
	b, err := newPair(p, seeds)
	if err != nil {
		return nil, "", err
	}
	var text strings.Builder
	next := [2]int{}
	for len(p[0].Steps) > next[0] || len(p[1].Steps) > next[1] {
		i := turns.IntN(2)
		if next[0] == 0 || next[1] == 0 {
			i = min(next[0], 1) // both are opened while the directory is empty
		}
		if next[i] == len(p[i].Steps) {
			i = 1 - i
		}
		step := p[i].Steps[next[i]]
		b.jobs[i].step = next[i]
		next[i]++
		fmt.Fprintf(&text, "job %d: %s\n", i, step.Operation)
		if err := b.step(i, step); err != nil {
			return b, text.String(), err
		}
	}
	return b, text.String(), b.finish()
}

// Two jobs that know nothing of each other write into one directory, and each keeps its
// promise whatever happens to it and to the other: no name is used by both, no restore,
// commit or sweep of one touches a file of the other.
func TestPropTwoJobs(t *testing.T) {
	files, sweeps, cuts, recoveries := 0, 0, 0, 0
	for range 5 {
		rapid.Check(t, func(t *rapid.T) {
			p := [2]sim.Scenario{ofJob(0, DrawProgram(t)), ofJob(1, DrawProgram(t))}
			turns := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "turns"), 0))
			b, text, err := together(p, [2]uint64{1, 2}, turns)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if v := b.violation(); v != nil {
				t.Fatalf("%v\n%s", v, text)
			}
			mine := 0
			for range b.fs.Visible() {
				mine++
			}
			for _, s := range b.jobs {
				if len(s.files) != mine {
					t.Fatalf("a job sees %d files, there are %d\n%s", len(s.files), mine, text)
				}
				recoveries += s.verdict.Stats.Recoveries
			}
			files += mine
			sweeps += strings.Count(text, "sweep")
			cuts += strings.Count(text, "powerloss")
		})
	}
	t.Logf("%d files, %d sweeps, %d power cuts, %d recoveries", files, sweeps, cuts, recoveries)
	if files < 100 || sweeps < 20 || cuts < 20 || recoveries < 100 {
		t.Error("hardly tried")
	}
}

// Two jobs that draw the same names are caught: the test above could fail.
func TestPropTwoJobsWithTheSameNames(t *testing.T) {
	p := program(t, "open policy=oncheckpoint", "write r1", "checkpoint 1", "complete 1")
	b, text, err := together([2]sim.Scenario{p, ofJob(1, p)}, [2]uint64{1, 1}, rand.New(rand.NewPCG(1, 1)))
	if err != nil || b.violation() == nil {
		t.Errorf("%v, %v\n%s", err, b.violation(), text)
	}
}

// A sweep that is given the checkpoints of one job only takes what the other one needs,
// and that is noticed.
func TestPropTwoJobsSweptForOneOnly(t *testing.T) {
	p := program(t, "open policy=default", "write r1", "checkpoint 1", "complete 1")
	b, err := newPair([2]sim.Scenario{p, ofJob(1, p)}, [2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for n := range p.Steps {
		for i := range b.jobs {
			if err := b.step(i, b.jobs[i].program.Steps[n]); err != nil {
				t.Fatal(err)
			}
		}
	}
	var c sinkcore.Checkpoint
	if err := c.UnmarshalBinary(b.jobs[0].runner.State(1)); err != nil {
		t.Fatal(err)
	}
	for _, s := range b.jobs {
		s.kill()
		s.down = true
	}
	if _, err := sinkcore.RemoveOrphans(b.fs, "/sink", c); err != nil {
		t.Fatal(err)
	}
	if err := b.finish(); err != nil {
		t.Fatal(err)
	}
	if v := b.jobs[1].found; v == nil || v.Rule != Restore || b.jobs[0].found != nil {
		t.Errorf("the first job gives %v, the second %v", b.jobs[0].found, v)
	}
}
