package props

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// Options of a session. The zero value plays on sinkcore.
type Options struct {
	Factory    sim.Factory // nil means sim.Core
	Fs         *fsmem.FS   // nil means a new one
	Seed       uint64      // of file names
	BufferSize int         // of parts; 0 is the sink's own

	// Twice has every completion told twice, which may change nothing.
	Twice bool

	// Skip lists rules that the sink does not promise.
	Skip []Rule
}

// Verdict is the outcome of a program.
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

// session plays one program.
type session struct {
	*checker
	options Options
	fs      *fsmem.FS
	runner  *sim.Runner
	program sim.Scenario
	verdict Verdict

	open     bool           // there has been an open
	down     bool           // no process runs
	poisoned bool           // the sink has met an error of the file system
	faults   []*fsmem.Fault // in force
	crash    *fsmem.Fault   // is to come
	dead     bool           // it has come, in this operation
	passed   bool           // an operation was passed over
	hits     int            // file-system operations that got an error from a rule in force
	leaky    bool           // a close has failed, so a handle may be left
	left     int            // handles that processes have left that are dead
	cut      bool           // the power was cut since the last completion or restore
	asked    map[int64]bool // checkpoints that the program has asked for
	nextID   int64          // larger than every one of them

	watcher   watcher
	onChange  func()         // after each change of the file system; may be nil
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

// newSession prepares to play a program.
func newSession(program sim.Scenario, o Options) (*session, error) {
	if o.Factory == nil {
		o.Factory = sim.Core{}
	}
	if o.Fs == nil {
		o.Fs = fsmem.New(fsmem.Options{})
	}
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

// play plays one operation and records its answers. The error wraps sim.ErrProgram.
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

// text is an error as an answer: a crash and the rules have no text of the sink's own.
func (s *session) text(err error) string {
	if errors.Is(err, errCrashed) {
		return "crashed"
	}
	if errors.Is(err, sinkcore.ErrInProgressMissing) {
		return "in-progress file missing"
	}
	text := uuids.ReplaceAllStringFunc(err.Error(), s.runner.Number)
	return strings.ReplaceAll(text, "\n", "; ") // joined errors; an answer is a line
}

// uuids are the random parts of file names.
var uuids = regexp.MustCompile(`[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}`)

func (s *session) record(o sim.Operation, line int, answers []sim.Answer) {
	s.verdict.Played.Steps = append(s.verdict.Played.Steps, sim.Step{Operation: o, Line: line, Answers: answers})
}

// idle tells whether an operation is passed over because no process runs, or because
// there is no such checkpoint although the program has asked for it.
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
// of them has been passed over.
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

var errCrashed = errors.New("the process has crashed")

// act plays an operation and judges it.
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
	err, _ := s.do(o, false)
	return err
}

// outcome is how an operation ended.
type outcome struct {
	crashed bool // the process died in it
	fired   bool // a fault hit it
}

// do plays an operation on the sink, looks, and judges what every operation must
// keep. Publishes says that the operation may make something visible.
func (s *session) do(o sim.Operation, publishes bool) (error, outcome) {
	if !s.open {
		return fmt.Errorf("%w: no sink is open", sim.ErrProgram), outcome{}
	}
	was := s.hits
	s.watcher = watcher{}
	due := sinkcore.Never
	if sink, err := s.runner.Running(); err == nil {
		due = sink.NextTick()
	}
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

// judgeError holds an operation's error against the rules.
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

// isRestore tells the operations that begin a new life.
func isRestore(o sim.Operation) bool {
	switch o.(type) {
	case sim.Restore, restart:
		return true
	}
	return false
}

// refused tells an error that concerns one call only.
func refused(err error) bool {
	for _, refusal := range []error{sinkcore.ErrBucketID, sinkcore.ErrAssign, sinkcore.ErrEncode, sinkcore.ErrEndOfInput} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// look lists the directory with the rules out of force: the reader's disk is healthy.
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

// start opens a new sink in an empty directory; everything before is forgotten.
func (s *session) start(o sim.Open) error {
	s.heal()
	s.checker.begin()
	s.open, s.down, s.poisoned, s.cut, s.leaky, s.partial = true, false, false, false, false, false
	s.asked, s.nextID = map[int64]bool{}, 1
	s.aborted, s.saves, s.told = map[int64]bool{}, map[int64]bool{}, map[int64]int{}
	s.folds = strings.Contains(o.String(), "assigner=datetime") && strings.Contains(o.String(), "zone=Europe/Berlin")
	s.wroteAt, s.checkedAt = sinkcore.NoTime, sinkcore.NoTime
	err, _ := s.do(o, false)
	return err
}

// playWrite sends a record of the source.
func (s *session) playWrite(o sim.Write) error {
	if _, known := s.place[o.Record]; known {
		return fmt.Errorf("%w: record %s was written before", sim.ErrProgram, o.Record)
	}
	s.wrote(o.Record, o.Subtask)
	err, how := s.do(o, false)
	if err != nil && !how.crashed && refused(err) {
		s.log = s.log[:len(s.log)-1]
		delete(s.place, o.Record)
	}
	return err
}

// playCheckpoint takes a checkpoint; if it succeeds its state is stored.
func (s *session) playCheckpoint(o sim.Operation, id int64) error {
	err, how := s.do(o, false)
	if err == nil && !how.crashed {
		s.model.checkpoint(id)
	}
	return err
}

// playComplete tells the sink of a completion, whose decision is durable by then.
func (s *session) playComplete(o sim.Complete) error {
	overtaken := o.ID < s.model.completed
	news := s.model.complete(o.ID)
	s.reachedByCompletion(o, news, overtaken)
	events := len(s.verdict.History)
	s.stale = !news && !s.partial
	err, how := s.do(o, true)
	s.stale = false
	if !news && !s.partial {
		s.tried(Idempotent)
		if !how.crashed && !how.fired && !s.poisoned && len(s.verdict.History) > events {
			s.violate(Idempotent, "%q has made something visible, or changed it, that had completed before", o)
		}
	}
	switch {
	case err != nil || o.Subtask != sim.AllSubtasks:
		s.partial = s.partial || news || err != nil
	case o.ID >= s.newest:
		s.partial = false
	}
	if err == nil && o.Subtask == sim.AllSubtasks {
		s.confirm()
		s.cut = false
		// At the end of the program the input is ended for the sake of NoLoss.
		if !s.partial && s.step < len(s.program.Steps) {
			s.ending()
		}
	}
	if err == nil && s.options.Twice {
		again, how := s.do(o, true)
		s.tried(Idempotent)
		if again != nil && !how.fired && !how.crashed {
			s.violate(Idempotent, "%q failed the second time: %v", o, again)
		}
		return again
	}
	return err
}

// playEnd ends the input.
func (s *session) playEnd(o sim.End) error {
	err, _ := s.do(o, false)
	if err != nil {
		return err
	}
	for i := range s.runner.Settings().Parallelism {
		if o.Subtask == sim.AllSubtasks || o.Subtask == i {
			s.ended[i] = true
		}
	}
	if len(s.ended) < s.runner.Settings().Parallelism {
		s.reach("input of some subtasks has ended")
	}
	return nil
}

// playRestore starts the sink from a checkpoint.
func (s *session) playRestore(o sim.Restore) error {
	if s.runner.State(o.Checkpoint) == nil {
		return fmt.Errorf("%w: there is no checkpoint %d", sim.ErrProgram, o.Checkpoint)
	}
	if _, known := s.cuts[o.Checkpoint]; !known {
		return fmt.Errorf("%w: checkpoint %d belongs to a life that was given up", sim.ErrProgram, o.Checkpoint)
	}
	old := s.newest != none && o.Checkpoint < s.newest
	s.kill()
	before := s.runner.Settings().Parallelism
	if s.saves[o.Checkpoint] {
		s.reach("savepoint restored")
	}
	if !old {
		// That it is restored means that it has completed.
		s.model.complete(o.Checkpoint)
	}
	saved := len(s.verdict.History)
	s.verdict.Stats.Recoveries++
	s.restoring = true
	err, how := s.do(o, true)
	s.restoring = false
	after := s.runner.Settings().Parallelism
	s.tried(Restore)
	if err != nil {
		s.down = true
		switch {
		case how.crashed || how.fired:
			if old && s.watcher.touched {
				// Who goes back to an old checkpoint gives up the newer ones, and it
				// may have cut off what they name.
				s.restored(o.Checkpoint)
			}
		case !old && s.cut:
			s.violate(Durable, "after a power cut %q failed: %v", o, err)
		case !old:
			s.violate(Restore, "%q of the newest completed checkpoint failed: %v", o, err)
		case len(s.verdict.History) > saved:
			s.violate(Restore, "%q was refused and has changed something all the same", o)
		default:
			s.reach("older checkpoint refused")
		}
		return err
	}
	s.reachedByRestore(after != before, saved)
	if old {
		s.reach("older checkpoint restored")
	}
	s.rescaled = s.rescaled || after != before
	s.down, s.poisoned, s.cut = false, false, false
	s.partial = false
	if old {
		s.restored(o.Checkpoint)
		return nil
	}
	s.model.restore(o.Checkpoint)
	s.forgetPlaces()
	s.confirm()
	return nil
}

// forgetPlaces drops the records that the source has to send again.
func (s *session) forgetPlaces() {
	for _, e := range s.backlog {
		delete(s.place, e.record)
	}
}

// playRecover restores the newest completed checkpoint, or starts from nothing, and has the
// source send again what came after it.
func (s *session) playRecover(o Recover) error {
	if !s.open {
		return fmt.Errorf("%w: no sink is open", sim.ErrProgram)
	}
	var err error
	if s.newest != none {
		err = s.playRestore(sim.Restore{Checkpoint: s.newest, Parallelism: o.Parallelism})
	} else {
		err = s.again(o.Parallelism)
	}
	if err != nil {
		return err
	}
	return s.replay()
}

// again starts the sink with no state where one has died before its first checkpoint.
func (s *session) again(parallelism int) error {
	s.kill()
	s.verdict.Stats.Recoveries++
	err, how := s.do(restart{parallelism}, false)
	if err != nil {
		s.down = true
		if !how.crashed && !how.fired {
			s.violate(Restore, "starting from nothing failed: %v", err)
		}
		return err
	}
	s.down, s.poisoned, s.cut, s.partial = false, false, false, false
	s.model.restore(none)
	s.forgetPlaces()
	return nil
}

// restart is what again plays.
type restart struct{ parallelism int }

func (restart) String() string { return "recover" }

func (o restart) Play(r *sim.Runner) error { return r.Restart(o.parallelism) }

// replay sends the backlog again, in order, to the subtasks that there are now.
func (s *session) replay() error {
	backlog := s.backlog
	for i, e := range backlog {
		err := s.playWrite(sim.Write{Record: e.record, Subtask: e.subtask % s.runner.Settings().Parallelism})
		s.backlog = backlog[i+1:]
		if err != nil {
			if s.down {
				return err
			}
			s.log = append(s.log, s.backlog...) // it is lost with the sink's life, and sent again in the next
			s.backlog = nil
			return err
		}
	}
	s.backlog = nil
	return nil
}

// kill lets the process die, which closes its files.
func (s *session) kill() {
	s.quiet(true)
	defer s.quiet(false)
	if err := s.runner.Kill(); err != nil && !s.leaky {
		s.violate(Handles, "closing the sink failed although nothing disturbs it: %v", err)
	}
	s.tried(Handles)
	if open := s.fs.OpenHandles(); len(open) > s.left {
		if !s.leaky {
			s.violate(Handles, "%d handles are open after the sink was closed, the last of %s", len(open)-s.left, s.label(open[len(open)-1].Path))
		}
		s.left = len(open)
	}
	s.leaky = false
}

// powerLoss kills the process and goes on with what the disk holds.
func (s *session) powerLoss(o PowerLoss) error {
	s.disarm()
	s.kill()
	s.heal()
	after, err := s.fs.Crash(o.Survival)
	if err != nil {
		return fmt.Errorf("%w: %w", sim.ErrProgram, err)
	}
	s.verdict.Stats.PowerLosses++
	if s.down {
		s.reach("power cut after a crash")
	}
	s.fs = after
	s.runner.SetFs(after)
	s.watch()
	s.down, s.cut, s.leaky, s.left = true, true, false, 0
	if !s.open {
		return nil
	}
	events, err := s.look()
	if err != nil {
		return fmt.Errorf("%w: listing the directory: %w", sim.ErrProgram, err)
	}
	s.notice(events, true)
	if s.lost > 0 {
		s.reach("power cut loses a visible file that nobody had confirmed")
	}
	return nil
}

// arm prepares a crash: the operation fails, and after it every other one, so nothing
// that the dying process tries has an effect.
func (s *session) arm(o Crash) error {
	f, err := s.fs.Inject(fsmem.Rule{Nth: uint64(o.At), Err: syscall.EIO, After: o.After, Times: 1})
	if err != nil {
		return fmt.Errorf("%w: %w", sim.ErrProgram, err)
	}
	s.crash = f
	return nil
}

// disarm takes back a crash that has not come.
func (s *session) disarm() {
	if s.crash != nil {
		s.crash.Disarm()
		s.crash = nil
	}
}

// afterCrash buries the process.
func (s *session) afterCrash() {
	s.verdict.Stats.Crashes++
	s.heal()
	s.dead, s.down = false, true
	_ = s.runner.Kill() // whatever it thinks of that
	s.left, s.leaky = len(s.fs.OpenHandles()), false
}

// heal ends all faults.
func (s *session) heal() {
	s.fs.ClearFaults()
	s.faults, s.crash = nil, nil
}

// quiet takes the rules out of force for a while.
func (s *session) quiet(yes bool) {
	s.watcher.quiet = yes
	for _, f := range append(s.faults, s.crash) {
		if f == nil {
			continue
		}
		if yes {
			f.Disarm()
		} else {
			f.Arm()
		}
	}
}

// sweep removes orphans with the checkpoints retained that can still be restored, and
// judges what is left.
func (s *session) sweep() error {
	s.kill()
	s.down = true
	sweeper, ok := s.options.Factory.(Sweeper)
	if !ok || !s.open {
		return nil
	}
	s.heal()
	var states [][]byte
	for _, id := range sorted(s.cuts) {
		states = append(states, s.runner.State(id))
	}
	before, err := s.hiddenFiles()
	if err != nil {
		return fmt.Errorf("%w: %w", sim.ErrProgram, err)
	}
	owned, err := sweeper.Sweep(s.fs, s.runner.Dir(), states)
	s.tried(Orphans)
	if err != nil {
		s.violate(Orphans, "the sweep failed although nothing disturbs it: %v", err)
		return nil
	}
	after, err := s.hiddenFiles()
	if err != nil {
		return fmt.Errorf("%w: %w", sim.ErrProgram, err)
	}
	if len(after) < len(before) {
		s.reach("orphan removed")
	}
	for path := range before {
		if owned[path] && !after[path] {
			s.violate(Orphans, "the sweep removed %s, which a retained checkpoint names", filepath.Base(path))
		}
		if !owned[path] && after[path] {
			s.violate(Orphans, "the sweep left %s, which no retained checkpoint names", filepath.Base(path))
		}
	}
	events, err := s.look()
	if err != nil {
		return fmt.Errorf("%w: %w", sim.ErrProgram, err)
	}
	s.notice(events, false)
	return nil
}

// Sweeper is a factory whose sinks come with a sweep of orphans.
type Sweeper interface {
	// Sweep removes what none of the states names and returns the hidden files, by
	// path, that the states name.
	Sweep(fsys afero.Fs, dir string, states [][]byte) (owned map[string]bool, err error)
}

// hiddenFiles lists the in-progress files.
func (s *session) hiddenFiles() (map[string]bool, error) {
	files := map[string]bool{}
	err := afero.Walk(s.fs, s.runner.Dir(), func(path string, info fs.FileInfo, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && info.Mode().IsRegular() && strings.HasPrefix(info.Name(), ".") {
			files[path] = true
		}
		return err
	})
	return files, err
}

// finish brings the program to its end and judges that nothing is missing.
func (s *session) finish() error {
	s.heal()
	if s.down || s.poisoned {
		if err := s.playRecover(Recover{}); err != nil {
			return ignoreAnswer(err)
		}
	}
	if len(s.ended) > 0 {
		s.backlog = nil // the source has said that nothing more comes
	}
	if err := s.replay(); err != nil {
		return ignoreAnswer(err)
	}
	id := max(s.nextID, s.model.completed+1)
	for _, o := range []sim.Operation{sim.End{Subtask: sim.AllSubtasks}, sim.Checkpoint(id), sim.Complete{ID: id, Subtask: sim.AllSubtasks}} {
		if err := s.act(o); err != nil {
			return ignoreAnswer(err)
		}
	}
	s.atEnd()
	s.kill()
	return nil
}

// ignoreAnswer drops an error that has been judged already.
func ignoreAnswer(err error) error {
	if errors.Is(err, sim.ErrProgram) {
		return err
	}
	return nil
}
