package sim

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
)

// ErrProgram is wrapped by the error of a scenario that makes no sense: an operation
// before open, a restore of a checkpoint that was not taken, a subtask that does not
// exist. It is not an answer of the sink.
var ErrProgram = errors.New("the scenario makes no sense")

// ProgramError tells which step of which scenario makes no sense, and why. Correct the
// scenario; the sink has no part in it.
//
// It is kept apart from errors of the sink, which are answers and can be right: a scenario
// that is wrong would else pass for one that a sink has failed.
type ProgramError struct {
	Scenario string
	Line     int // of the operation in the text, 0 if it came from no text
	Step     int // its index in the scenario
	Text     string
	Err      error
}

// Error gives the line first if there is one.
func (e *ProgramError) Error() string {
	where := fmt.Sprintf("step %d", e.Step+1)
	if e.Line > 0 {
		where = fmt.Sprintf("line %d", e.Line)
	}
	return fmt.Sprintf("%s: %q: %v", where, shorten(e.Text), e.Err)
}

// Unwrap returns the cause, which wraps [ErrProgram].
func (e *ProgramError) Unwrap() error { return e.Err }

// Options of a [Runner]. Fs and Random are needed, the rest has defaults.
type Options struct {
	Fs     afero.Fs
	Random io.Reader // of the sink's file names; seed it to have the same names again

	// Dir is the sink's directory. It must not exist or be empty at first; each open
	// empties it. "" means "sink".
	Dir string

	// BufferSize is that of sinkcore.Config. Answers do not depend on it.
	BufferSize int

	// Factory makes the sinks; nil means [Core].
	Factory Factory
}

// Runner plays scenarios on a sink, one after the other in one directory. Its methods
// beyond Play are for operations of other packages, which move its clock, let the process
// die or change the disk under it. A Runner must not be used by two goroutines at once.
//
// What holds between two operations: at most one sink runs; a sink that was killed is never
// called again; checkpoints has all that were taken since the last open, in encoded form;
// and the reader knows what was visible after the operation before. Between two opens time
// moves by [Advance] and SetNow only.
type Runner struct {
	fs         afero.Fs
	random     io.Reader
	dir        string
	bufferSize int
	factory    Factory

	sink        Sink             // nil when none runs: before the first open, and after a death
	settings    Settings         // of the last open, needed by every restore
	now, tick   int64            // virtual clock and step of advance, milliseconds
	checkpoints map[int64][]byte // by id; looked up only; nil before the first open
	reader      *reader          // knows what was visible at the last look; nil before the first open

	// The directory is the runner's to empty. It is after it was found empty once; a
	// typing error in a path must not cost anybody's files.
	owns bool
}

// NewRunner returns a runner, or an error if an option is missing.
//
// Nothing is made on the file system before the first open.
func NewRunner(o Options) (*Runner, error) {
	if o.Fs == nil || o.Random == nil {
		return nil, fmt.Errorf("%w: a runner needs a file system and a source of random bytes", sinkcore.ErrConfig)
	}
	if o.Dir == "" {
		o.Dir = "sink"
	}
	if o.Factory == nil {
		o.Factory = Core{}
	}
	return &Runner{fs: o.Fs, random: o.Random, dir: filepath.Clean(o.Dir), bufferSize: o.BufferSize, factory: o.Factory}, nil
}

// Now is the virtual time, in milliseconds since 1970.
func (r *Runner) Now() int64 { return r.now }

// SetNow moves the clock, also backwards, without letting a timer fire: a clock that is set.
//
// It is what NTP does to a computer, and what a policy that compares ages has to stand.
func (r *Runner) SetNow(now int64) { r.now = now }

// Dir is the sink's directory.
func (r *Runner) Dir() string { return r.dir }

// Fs is the file system that the sink is on.
func (r *Runner) Fs() afero.Fs { return r.fs }

// SetFs goes on with another file system, as after a power cut. A sink that runs must
// have been killed. What was visible before is not forgotten: a file that the new file
// system lacks has vanished.
//
// Settings, checkpoints and the clock stay: a power cut takes the disk's unsynced part and
// the process, and what the engine has stored elsewhere it keeps.
func (r *Runner) SetFs(fsys afero.Fs) {
	r.fs = fsys
	if r.reader != nil {
		r.reader.fs, r.reader.began = fsys, false
	}
}

// Settings are those of the last open, with the number of subtasks of the last restore.
func (r *Runner) Settings() Settings { return r.settings }

// Running returns the sink, or an error that wraps [ErrProgram] if none runs.
func (r *Runner) Running() (Sink, error) {
	if r.sink == nil {
		return nil, fmt.Errorf("%w: no sink is open", ErrProgram)
	}
	return r.sink, nil
}

// State is a checkpoint that was taken since the last open, in the sink's own encoding, or
// nil. It is not to be changed.
func (r *Runner) State(checkpoint int64) []byte { return r.checkpoints[checkpoint] }

// Kill lets the process of the sink die. The system closes its files; Close does no
// more. Without a sink it does nothing. The sink is gone also if the error is not nil.
//
// What was written and not handed to the file system is lost with it, as buffers of a
// process are.
func (r *Runner) Kill() error {
	if r.sink == nil {
		return nil
	}
	err := r.sink.Close()
	r.sink = nil
	return err
}

// open empties the directory and starts a sink in it.
//
// The sink of before dies first, since two processes on one directory are not what is
// tried. The clock is set and not moved on: no timer of the old sink fires.
func (r *Runner) open(s Settings, now, tick int64) error {
	if err := r.Kill(); err != nil {
		return err
	}
	if err := r.emptyDir(); err != nil {
		return err
	}
	r.now, r.tick = now, tick
	r.settings = s
	r.checkpoints = map[int64][]byte{}
	r.reader = newReader(r.fs, r.dir)
	sink, err := r.factory.New(r.fs, r.random, s, now)
	if err != nil {
		return err
	}
	r.sink = sink
	return nil
}

// emptyDir removes what the runner itself has written, never anything else.
func (r *Runner) emptyDir() error {
	if r.owns {
		return r.fs.RemoveAll(r.dir)
	}
	switch names, err := afero.ReadDir(r.fs, r.dir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case len(names) > 0:
		return fmt.Errorf("%w: the directory %q is not empty; give one that is", ErrProgram, r.dir)
	}
	r.owns = true
	return nil
}

// Play plays a scenario and returns its history, with the scenario as a trace of its
// own: the steps that were played, with the answers made here. What the given steps
// have as answers is not looked at.
//
// An error of the sink is an event of the history and ends the scenario, as far as the
// next open. The returned error is a [*ProgramError] if the scenario makes no sense,
// else that of listing the directory.
//
// It goes on after an error until the next open, because the recorded traces do: a process
// that failed is dead, and later steps would be asked of nobody.
func (r *Runner) Play(s Scenario) (History, Scenario, error) {
	played := Scenario{Name: s.Name, Notes: s.Notes, Line: s.Line}
	var history History
	dead := false
	for i, step := range s.Steps {
		if _, ok := step.Operation.(Open); ok {
			dead = false
		}
		if dead {
			continue
		}
		events, err := r.Step(step.Operation)
		if errors.Is(err, ErrProgram) {
			return history, played, &ProgramError{s.Name, step.Line, i, step.Operation.String(), err}
		}
		out := Step{Operation: step.Operation, Line: step.Line}
		if err != nil {
			dead = true
			// What the failed operation changed on the disk is not looked for; the next
			// open empties it.
			events = []Event{{Kind: Failed, Err: err}}
		}
		for _, e := range events {
			e.Step, e.At = i, r.now
			history = append(history, e)
			out.Answers = append(out.Answers, Answer{Text: e.Answer()})
		}
		played.Steps = append(played.Steps, out)
	}
	return history, played, r.Kill()
}

// Step plays one operation, lists the directory and returns what is different; the fields
// Step and At of the events are for the caller to fill in. After an error nothing is listed, as
// in the recorded traces; Look does that.
func (r *Runner) Step(o Operation) ([]Event, error) {
	if err := o.Play(r); err != nil {
		return nil, err
	}
	return r.Look()
}

// Look lists the directory and returns what is different since the last look.
//
// The first look after an open compares with an empty directory. Before any open there is
// nothing.
func (r *Runner) Look() ([]Event, error) {
	if r.reader == nil {
		return nil, nil
	}
	return r.reader.changes()
}

// Number is the name that answers of this scenario give a UUID: u0, u1, … in the order in
// which they were met. Texts of errors name files too, and must be the same every time.
func (r *Runner) Number(uuid string) string {
	if r.reader == nil {
		return uuid
	}
	return r.reader.number(uuid)
}

// failure is the text of an error in a trace. The one error that recorded traces have
// is written as they write it.
func failure(err error) string {
	if errors.Is(err, sinkcore.ErrInProgressMissing) {
		return "in-progress file missing"
	}
	return err.Error()
}
