package props

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// Options of a session. The zero value plays on sinkcore.
type Options struct {
	Factory    sim.Factory // nil means sim.Core
	Fs         *fsmem.FS   // nil means a new one; its hook and faults are the session's
	Seed       uint64      // of file names; verdicts should not depend on it
	BufferSize int         // of parts, in bytes; 0 is the sink's own

	// Twice has every completion told twice, which may change nothing.
	Twice bool

	// Skip lists rules that the sink does not promise. They are not judged, and what
	// breaks them hides no other rule.
	Skip []Rule
}

// Verdict is the outcome of a program. A program without a violation has proved something
// only where Exercised and Reached say so.
type Verdict struct {
	Violation *Violation      // the first, nil if all rules hold
	Played    sim.Scenario    // the program with the answers of this run
	History   sim.History     // what a reader saw
	Failures  sim.History     // what operations returned as errors, in the text of their answers
	Reached   map[string]int  // rare states, see [RareStates]
	Exercised map[Rule]int    // how often each rule was put to the test
	Stats     SessionCounters // what the session did
}

// SessionCounters count what a session did.
type SessionCounters struct {
	Operations, Recoveries, Crashes, PowerLosses int
}

// session plays one program. It stands for everything around the sink: the source, which
// can send again; the engine, which stores checkpoints and tells of their completion; the
// computer, which dies; and the consumer, who looks. What it expects is in the checker and
// its model, which see no file but the visible ones.
type session struct {
	*checker
	options Options
	fs      *fsmem.FS
	runner  *sim.Runner
	program sim.Scenario
	verdict Verdict

	// How things stand. A crash, a power cut and a sweep leave no process running; only a
	// restore, a recovery or an open begins a new one.
	open     bool           // there has been an open
	down     bool           // no process runs
	poisoned bool           // the sink has met an error of the file system
	faults   []*fsmem.Fault // in force
	crash    *fsmem.Fault   // is to come
	dead     bool           // it has come, in this operation
	passed   bool           // an operation was passed over
	hits     int            // file-system operations that got an error from a rule in force; each must surface
	leaky    bool           // a close has failed, so a handle may be left
	left     int            // handles that processes have left that are dead
	cut      bool           // the power was cut since the last completion or restore
	asked    map[int64]bool // checkpoints that the program has asked for
	nextID   int64          // larger than every one of them

	watcher  watcher
	onChange func() // after each change of the file system; may be nil

	// What rare states are known by, and what the rules on completions depend on.
	restoring bool           // a restore is under way
	aborted   map[int64]bool // checkpoints
	saves     map[int64]bool // checkpoints that are savepoints
	told      map[int64]int  // completions that were told, by id
	partial   bool           // a completion has not reached all subtasks, or has failed
	stale     bool           // the completion under way tells nothing new
	folds     bool           // buckets are hours in Berlin
	wroteAt   int64          // when the last record was written
	checkedAt int64          // when the last check was
}

// Play plays a program to its end: after the last operation faults are healed, the
// sink is recovered if it is down, the source sends what is missing, the input ends and
// a last checkpoint completes. Then every record must be visible once.
//
// It plays on after a violation, so that the answers are whole, and keeps the first. The
// same program and options give the same verdict, texts included.
//
// The error is a [*sim.ProgramError] for a program that makes no sense. A broken rule is
// in the verdict.
func Play(program sim.Scenario, o Options) (Verdict, error) {
	s, err := newSession(program, o)
	if err != nil {
		return Verdict{}, err
	}
	for i, step := range program.Steps {
		s.step = i
		if err := s.play(step.Operation, step.Line); err != nil {
			return s.result(), &sim.ProgramError{Scenario: program.Name, Line: step.Line, Step: i, Text: step.Operation.String(), Err: err}
		}
	}
	s.step = len(program.Steps)
	if s.open {
		if err := s.finish(); err != nil {
			return s.result(), &sim.ProgramError{Scenario: program.Name, Step: s.step, Text: "(end of the program)", Err: err}
		}
	}
	return s.result(), nil
}

// newSession prepares to play a program. The exhaustive search plays steps one by one, and
// looks into the session between them.
func newSession(program sim.Scenario, o Options) (*session, error) {
	if o.Factory == nil {
		o.Factory = sim.Core{}
	}
	if o.Fs == nil {
		o.Fs = fsmem.New(fsmem.Options{})
	}
	// The names of files are random and yet the same for each run of a program.
	var seed [32]byte
	for i := range 8 {
		seed[i] = byte(o.Seed >> (8 * i))
	}
	runner, err := sim.NewRunner(sim.Options{
		Fs: o.Fs, Random: rand.NewChaCha8(seed), Dir: "/sink", BufferSize: o.BufferSize, Factory: o.Factory,
	})
	if err != nil {
		return nil, err
	}
	s := &session{checker: newChecker(), options: o, fs: o.Fs, runner: runner, program: program, asked: map[int64]bool{}, nextID: 1}
	s.aborted, s.saves, s.told = map[int64]bool{}, map[int64]bool{}, map[int64]int{}
	s.checker.skip = o.Skip
	s.verdict.Reached = map[string]int{}
	s.verdict.Played = sim.Scenario{Name: program.Name, Notes: program.Notes, Line: program.Line}
	s.watch()
	return s, nil
}

// result is the verdict so far.
func (s *session) result() Verdict {
	v := s.verdict
	v.Exercised = s.exercised
	v.Violation = s.found
	return v
}

// play plays one operation and records its answers. The error wraps sim.ErrProgram. What
// the sink returns as an error is an answer and does not end the program: a real program
// goes on too, and the rules say what the sink may do then.
func (s *session) play(o sim.Operation, line int) error {
	if id := asksFor(o); id != none {
		s.asked[id] = true
		s.nextID = max(s.nextID, id+1)
	}
	if s.idle(o) {
		s.passed = true
		s.record(o, line, nil)
		return nil
	}
	o = s.fit(o)
	s.verdict.Stats.Operations++
	before := len(s.verdict.History)
	err := s.act(o)
	if errors.Is(err, sim.ErrProgram) {
		return err
	}
	answers := make([]sim.Answer, 0, 1)
	if err != nil {
		text := s.text(err)
		answers = append(answers, sim.Answer{Text: "! " + text})
		s.verdict.Failures = append(s.verdict.Failures, sim.Event{Step: s.step, At: s.runner.Now(), Kind: sim.Failed, Err: errors.New(text)})
	}
	for _, e := range s.verdict.History[before:] {
		answers = append(answers, sim.Answer{Text: e.Answer()})
	}
	s.record(o, line, answers)
	return nil
}

// idle tells whether an operation is passed over because no process runs, or because
// there is no such checkpoint although the program has asked for it. Whoever wrote or drew
// the program could not know at which operation a crash or fault would hit, so this is no
// mistake. A checkpoint that nobody ever asked for is.
func (s *session) idle(o sim.Operation) bool {
	switch o := o.(type) {
	case sim.Open, Recover, PowerLoss, Heal, Sweep, Fault, Crash, Clock:
		return false
	case sim.Restore:
		return s.missing(o.Checkpoint)
	case sim.Complete:
		return s.down || s.missing(o.ID)
	}
	return s.down
}

// missing tells a checkpoint that the program has asked for and that is not there: it has
// failed, or was passed over, or belongs to a life that was given up.
func (s *session) missing(id int64) bool {
	_, known := s.cuts[id]
	return !known && s.asked[id]
}

// asksFor gives the checkpoint that an operation is to take, or none.
func asksFor(o sim.Operation) int64 {
	switch o := o.(type) {
	case sim.Checkpoint:
		return int64(o)
	case Savepoint:
		return o.ID
	}
	return none
}

// fit maps the subtasks of an operation to those that there are, if a restore with more
// of them has been passed over. If none was, a subtask that does not exist is a mistake in
// the program and is told.
func (s *session) fit(o sim.Operation) sim.Operation {
	n := s.runner.Settings().Parallelism
	if !s.passed || n == 0 {
		return o
	}
	switch o := o.(type) {
	case sim.Write:
		o.Subtask %= n
		return o
	case sim.Complete:
		o.Subtask = fitSubtask(o.Subtask, n)
		return o
	case sim.End:
		o.Subtask = fitSubtask(o.Subtask, n)
		return o
	}
	return o
}

func fitSubtask(subtask, n int) int {
	if subtask == sim.AllSubtasks {
		return subtask
	}
	return subtask % n
}

// act plays an operation and judges it. Operations of the sink go to do by way of what
// they mean for the model; the others change what is around the sink.
func (s *session) act(o sim.Operation) error {
	switch o := o.(type) {
	case sim.Open:
		return s.start(o)
	case sim.Write:
		return s.playWrite(o)
	case sim.Checkpoint:
		return s.playCheckpoint(o, int64(o))
	case Savepoint:
		s.saves[o.ID] = true
		return s.playCheckpoint(sim.Checkpoint(o.ID), o.ID)
	case sim.Complete:
		return s.playComplete(o)
	case sim.End:
		return s.playEnd(o)
	case sim.Abort:
		s.aborted[int64(o)] = true
	case sim.Restore:
		return s.playRestore(o)
	case Recover:
		return s.playRecover(o)
	case Replay:
		return s.replay()
	case Crash:
		s.disarm()
		return s.arm(o)
	case Fault:
		f, err := s.fs.Inject(o.Rule)
		if err != nil {
			return fmt.Errorf("%w: %w", sim.ErrProgram, err)
		}
		s.faults = append(s.faults, f)
		return nil
	case Heal:
		s.heal()
		return nil
	case PowerLoss:
		return s.powerLoss(o)
	case Clock:
		s.runner.SetNow(s.runner.Now() + o.By)
		return nil
	case Sweep:
		return s.sweep()
	}
	err, _ := s.do(o)
	return err
}

// outcome is how an operation ended.
type outcome struct {
	crashed bool // the process died in it
	fired   bool // a fault hit it
}

// do plays an operation on the sink, looks, and judges what every operation must
// keep.
func (s *session) do(o sim.Operation) (error, outcome) {
	if !s.open {
		return fmt.Errorf("%w: no sink is open", sim.ErrProgram), outcome{}
	}
	was := s.hits
	s.watcher = watcher{} // it counts within one operation
	due := sinkcore.Never
	if sink, err := s.runner.Running(); err == nil {
		due = sink.NextTick()
	}
	// An operation in which the process dies returns some error of the dying sink, or none;
	// either is forgotten, since nobody was there to get it.
	err := o.Play(s.runner)
	if errors.Is(err, sim.ErrProgram) {
		return err, outcome{}
	}
	how := outcome{crashed: s.dead, fired: s.hits > was}
	if how.crashed {
		s.reachedByCrash(o)
		s.afterCrash()
		err = errCrashed
	} else if err == nil {
		s.reachedByTime(o, due)
	}
	events, lookErr := s.look()
	if lookErr != nil {
		return fmt.Errorf("%w: listing the directory: %w", sim.ErrProgram, lookErr), how
	}
	s.notice(events, false)
	if how.crashed {
		return err, how
	}
	s.judgeError(o, err, how)
	return err, how
}

// judgeError holds an operation's error against the rules. Three questions, in this order:
// was an error of the file system passed on; does a sink that met one before still work;
// and did anything fail for no reason. A restore is judged where it is played, because
// whether it may fail depends on the checkpoint.
func (s *session) judgeError(o sim.Operation, err error, how outcome) {
	restoring := isRestore(o)
	if how.fired {
		s.tried(Surfaced)
		if err == nil {
			s.violate(Surfaced, "%q succeeded although the file system returned an error", o)
		}
	}
	if s.poisoned && !restoring {
		s.tried(Poisoned)
		if _, idle := o.(sim.Advance); err == nil && !idle {
			s.violate(Poisoned, "%q succeeded after an error of the file system", o)
		}
		return
	}
	s.tried(Live)
	if err != nil && how.fired && !restoring {
		s.poisoned = true
	}
	if err != nil && !how.fired && !restoring && !refused(err) {
		rule := Live
		if s.stale {
			rule = Idempotent
		}
		s.violate(rule, "%q failed although nothing disturbs it: %v", o, err)
		s.poisoned = true
	}
}

// refused tells an error that concerns one call only: it says nothing against the sink, and
// the record counts as not sent.
func refused(err error) bool {
	for _, refusal := range []error{sinkcore.ErrBucketID, sinkcore.ErrAssign, sinkcore.ErrEncode, sinkcore.ErrEndOfInput} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// look lists the directory with the rules out of force: the reader's disk is healthy, and
// its operations must not be counted as the sink's.
func (s *session) look() ([]sim.Event, error) {
	s.quiet(true)
	defer s.quiet(false)
	return s.runner.Look()
}

// notice adds events to the history and judges them.
func (s *session) notice(events []sim.Event, power bool) {
	for i := range events {
		events[i].Step, events[i].At = s.step, s.runner.Now()
	}
	s.verdict.History = append(s.verdict.History, events...)
	s.saw(events, power)
}
