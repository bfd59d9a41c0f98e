package sim

import (
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
)

// Sink is a sink of one or more subtasks as a [Runner] drives it. Records are single
// words; a sink writes each as a line. A Sink is used by one goroutine, and time is
// what it is told: milliseconds since 1970.
//
// An error is an answer of the sink and shown as such. After one of the file system it
// should refuse everything until it is restored; package props holds it to that.
type Sink interface {
	// Parallelism is the number of subtasks, which are numbered from 0.
	Parallelism() int

	// Write writes a record to a subtask.
	Write(subtask int, record string, now int64) error

	// NextTick tells when the sink wants to be called by Tick; sinkcore.Never if it
	// has no use for a timer.
	NextTick() int64

	// Tick lets the timers that are due by now fire.
	Tick(now int64) error

	// Checkpoint takes a checkpoint of all subtasks and returns what a new process needs
	// to go on from it. It publishes nothing.
	Checkpoint(id, now int64) (state []byte, err error)

	// Complete tells a subtask, or [AllSubtasks], that a checkpoint has completed. It may
	// come late, twice, in any order, or not at all.
	Complete(id int64, subtask int) error

	// Abort tells that a checkpoint will not complete.
	Abort(id int64) error

	// EndInput ends the input of a subtask, or of [AllSubtasks].
	EndInput(subtask int) error

	// Close releases what the process holds, as its death would; it publishes nothing.
	Close() error
}

// Settings are those of the open operation. A sink that has no use for one of them may
// pass it over.
//
// They are all that two sinks need to be asked the same questions. Names of part files are
// Prefix-UUID-counter and then Suffix, in a directory for each bucket, as in Flink; a sink
// with other names is shown with its own.
type Settings struct {
	Dir            string
	Policy         sinkcore.RollingPolicy
	Check          time.Duration
	Parallelism    int
	Prefix, Suffix string
	Assigner       sinkcore.BucketAssigner[string]
	BufferSize     int
	MaxOpenParts   int // of a subtask; 0 means no limit
}

// Factory makes sinks of one kind. Each sink is a process of its own: what it knows of
// another one it has from the disk and from the state that it is given.
//
// Random is the only source of chance: a sink that takes names from elsewhere cannot be
// played twice with the same history.
type Factory interface {
	// New starts a sink with no state.
	New(fsys afero.Fs, random io.Reader, s Settings, now int64) (Sink, error)

	// Restore starts a sink of another process from the state of a checkpoint, which
	// therefore counts as completed. The number of subtasks may differ.
	Restore(fsys afero.Fs, random io.Reader, s Settings, now int64, checkpoint int64, state []byte) (Sink, error)
}

// Core makes sinks of package sinkcore, as they are used: a state is encoded and decoded
// again with each restore.
//
// The bytes of a state, and not the value in memory, are what goes from one process to the
// next, so each restore is a test of the encoding too.
type Core struct{}

// New starts a job.
func (Core) New(fsys afero.Fs, random io.Reader, s Settings, now int64) (Sink, error) {
	job, err := sinkcore.NewJob(fsys, random, s.config(), s.Parallelism, now)
	if err != nil {
		return nil, err
	}
	return &CoreSink{job}, nil
}

// Restore decodes the checkpoint, as a real process does, and restores the job.
func (Core) Restore(fsys afero.Fs, random io.Reader, s Settings, now int64, _ int64, state []byte) (Sink, error) {
	var checkpoint sinkcore.Checkpoint
	if err := checkpoint.UnmarshalBinary(state); err != nil {
		return nil, err
	}
	job, _, err := sinkcore.RestoreJob(fsys, random, s.config(), s.Parallelism, now, checkpoint)
	if err != nil {
		return nil, err
	}
	return &CoreSink{job}, nil
}

func (s Settings) config() sinkcore.Config[string] {
	return sinkcore.Config[string]{
		Dir: s.Dir, Encoder: sinkcore.Line[string]{}, Assigner: s.Assigner, Policy: s.Policy,
		CheckInterval: s.Check, Prefix: s.Prefix, Suffix: s.Suffix, BufferSize: s.BufferSize, MaxOpenParts: s.MaxOpenParts,
	}
}

// CoreSink is a job of package sinkcore as a [Sink]. The job's own methods, such as Stats,
// can be reached through it.
type CoreSink struct {
	*sinkcore.Job[string]
}

var _ Sink = (*CoreSink)(nil)

// Write writes a record without event time.
func (s *CoreSink) Write(subtask int, record string, now int64) error {
	return s.Job.Write(subtask, record, sinkcore.NoTime, sinkcore.NoTime, now)
}

// Tick runs the check timers that are due.
func (s *CoreSink) Tick(now int64) error {
	_, err := s.Job.Tick(now)
	return err
}

// Checkpoint returns the checkpoint in its encoded form.
func (s *CoreSink) Checkpoint(id, now int64) ([]byte, error) {
	c, err := s.Job.Checkpoint(id, now)
	if err != nil {
		return nil, err
	}
	return c.MarshalBinary()
}

// Complete tells one subtask or all.
func (s *CoreSink) Complete(id int64, subtask int) error {
	if subtask < 0 {
		_, err := s.Job.Complete(id)
		return err
	}
	_, err := s.Job.CompleteOf(id, subtask)
	return err
}

// EndInput ends the input of one subtask or of all.
func (s *CoreSink) EndInput(subtask int) error {
	if subtask < 0 {
		return s.Job.EndInput()
	}
	return s.Job.EndInputOf(subtask)
}

// Sweep removes the in-progress files that none of the states names, and returns the
// paths of those that they name. States are those of checkpoints that may still be
// restored, encoded as [CoreSink.Checkpoint] returns them. No sink may run meanwhile.
//
// A program that keeps several checkpoints gives all of them; a file that any of them names
// must stay. The owned paths are what a caller may expect to be there afterwards.
func (Core) Sweep(fsys afero.Fs, dir string, states [][]byte) (owned map[string]bool, err error) {
	owned = map[string]bool{}
	retained := make([]sinkcore.Checkpoint, len(states))
	for i, state := range states {
		if err := retained[i].UnmarshalBinary(state); err != nil {
			return nil, err
		}
		for _, name := range retained[i].InProgressFiles() {
			owned[filepath.Join(dir, name)] = true
		}
	}
	_, err = sinkcore.RemoveOrphans(fsys, dir, retained...)
	return owned, err
}
