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

// ProgramError tells which step it was.
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

// Options of a [Runner]. Fs and Random are needed.
type Options struct {
	Fs     afero.Fs
	Random io.Reader // of the sink's file names; seed it to have the same names again

	// Dir is the sink's directory. It must not exist or be empty at first; each open
	// empties it. "" means "sink".
	Dir string

	// BufferSize is that of sinkcore.Config. Answers do not depend on it.
	BufferSize int
}

// Runner plays scenarios on a job.
type Runner struct {
	fs         afero.Fs
	random     io.Reader
	dir        string
	bufferSize int

	job         *sinkcore.Job[string]
	config      sinkcore.Config[string]
	now, tick   int64
	checkpoints map[int64][]byte // encoded, by id; looked up only
	reader      *reader
	owns        bool // the directory is the runner's to empty
}

// NewRunner returns a runner, or an error if an option is missing.
func NewRunner(o Options) (*Runner, error) {
	if o.Fs == nil || o.Random == nil {
		return nil, fmt.Errorf("%w: a runner needs a file system and a source of random bytes", sinkcore.ErrConfig)
	}
	if o.Dir == "" {
		o.Dir = "sink"
	}
	return &Runner{fs: o.Fs, random: o.Random, dir: filepath.Clean(o.Dir), bufferSize: o.BufferSize}, nil
}

// Now is the virtual time, in milliseconds since 1970.
func (r *Runner) Now() int64 { return r.now }

// Job is the job that runs, nil before the first open and after a failed restore.
func (r *Runner) Job() *sinkcore.Job[string] { return r.job }

// running returns the job, or an error for an operation before open.
func (r *Runner) running() (*sinkcore.Job[string], error) {
	if r.job == nil {
		return nil, fmt.Errorf("%w: no sink is open", ErrProgram)
	}
	return r.job, nil
}

// open empties the directory and starts a job in it.
func (r *Runner) open(config sinkcore.Config[string], parallelism int, now, tick int64) error {
	if err := r.stop(); err != nil {
		return err
	}
	if err := r.emptyDir(); err != nil {
		return err
	}
	r.now, r.tick = now, tick
	r.config = config
	r.checkpoints = map[int64][]byte{}
	r.reader = newReader(r.fs, r.dir)
	job, err := sinkcore.NewJob(r.fs, r.random, config, parallelism, now)
	if err != nil {
		return err
	}
	r.job = job
	return nil
}

// stop lets the job die.
func (r *Runner) stop() error {
	if r.job == nil {
		return nil
	}
	err := r.job.Close()
	r.job = nil
	return err
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
func (r *Runner) Play(s Scenario) (History, Scenario, error) {
	played := Scenario{Name: s.Name, Line: s.Line}
	var history History
	dead := false
	for i, step := range s.Steps {
		if _, ok := step.Operation.(Open); ok {
			dead = false
		}
		if dead {
			continue
		}
		events, err := r.step(step.Operation)
		if errors.Is(err, ErrProgram) {
			return history, played, &ProgramError{s.Name, step.Line, i, step.Operation.String(), err}
		}
		out := Step{Operation: step.Operation, Line: step.Line}
		if err != nil {
			dead = true
			events = []Event{{Kind: Failed, Err: err}}
		}
		for _, e := range events {
			e.Step, e.At = i, r.now
			history = append(history, e)
			out.Answers = append(out.Answers, Answer{Text: e.Answer()})
		}
		played.Steps = append(played.Steps, out)
	}
	return history, played, r.stop()
}

// step plays one operation and lists the directory. After an error nothing is listed,
// as in the recorded traces.
func (r *Runner) step(o Operation) ([]Event, error) {
	if err := o.Play(r); err != nil {
		return nil, err
	}
	return r.reader.changes()
}

// failure is the text of an error in a trace. The one error that recorded traces have
// is written as they write it.
func failure(err error) string {
	if errors.Is(err, sinkcore.ErrInProgressMissing) {
		return "in-progress file missing"
	}
	return err.Error()
}
