package wire

import (
	"errors"
	"fmt"
	"strings"

	"sinklab/props/sinktest"
)

// sink is one that lives in the process.
type sink struct {
	process *Process
	disk    *Disk  // of the kit
	shadow  shadow // what the operations say
	dead    error  // why it is
	failed  error  // the first error that it has answered with
}

var _ sinktest.Aborter = (*sink)(nil)

// ask has a request carried out, and plays on the kit's file system what the process has done.
func (s *sink) ask(r request) (answer, error) {
	if s.dead != nil {
		return answer{}, s.dead
	}
	if err := s.process.canceled(); err != nil {
		return answer{}, s.die(err)
	}
	line, a, raw, operations, err := s.process.running.ask(r, s.process.options.Timeout)
	if err != nil {
		return a, s.die(err)
	}
	for i, o := range operations {
		// This one first: the other may end here, and the kit's has to be told all the same.
		if err := s.shadow.Play(o); err != nil {
			return a, s.die(fmt.Errorf("%w: after %s: %s %s: %w", ErrProcess, line, o.Do, o.Path, err))
		}
		if err := s.disk.Play(o); err != nil {
			s.observe(line, nil, operations[:i+1])
			return a, s.die(fmt.Errorf("%w: %s %s: %w", ErrKilled, o.Do, o.Path, err))
		}
	}
	s.observe(line, raw, operations)
	if what, err := s.shadow.differs(); err != nil || what != "" {
		if err == nil {
			if err = errors.New(what); !s.process.options.Trace {
				err = fmt.Errorf("%s: tell each operation on files before the answer, or have them recorded (Options.Trace, --trace)", what)
			}
		}
		return a, s.die(fmt.Errorf("%w: after %s: %w", ErrProcess, line, err))
	}
	if a.Error != nil {
		// The directory by the name that the kit has for it, which is the same every time.
		err := errors.New(strings.ReplaceAll(*a.Error, s.process.dir, s.disk.dir))
		if s.failed == nil {
			s.failed = err
		}
		return a, err
	}
	return a, nil
}

func (s *sink) observe(line, raw []byte, operations []Operation) {
	if s.process.options.Observe != nil {
		s.process.options.Observe(line, raw, operations)
	}
}

// die kills the process, as the crash would have. One that is kept forgets the sink when the next is started.
func (s *sink) die(err error) error {
	if !s.process.options.Keep || !errors.Is(err, ErrKilled) {
		s.process.kill()
	}
	s.dead = s.process.note(err)
	return s.dead
}

// Write implements sinktest.Sink.
func (s *sink) Write(record string, now int64) error {
	_, err := s.ask(request{Do: "write", Record: &record, Now: &now})
	return err
}

// Tick implements sinktest.Sink.
func (s *sink) Tick(now int64) (next int64, err error) {
	a, err := s.ask(request{Do: "tick", Now: &now})
	if err != nil || a.Next == nil {
		return sinktest.Never, err
	}
	return *a.Next, nil
}

// Prepare implements sinktest.Sink.
func (s *sink) Prepare(checkpoint, now int64) ([]byte, error) {
	a, err := s.ask(request{Do: "prepare", Checkpoint: &checkpoint, Now: &now})
	return a.State, err
}

// Commit implements sinktest.Sink.
func (s *sink) Commit(checkpoint int64) error {
	_, err := s.ask(request{Do: "commit", Checkpoint: &checkpoint})
	return err
}

// Abort implements sinktest.Aborter. A sink that does not want to know cannot tell that it has
// failed before.
func (s *sink) Abort(checkpoint int64) error {
	if _, err := s.ask(request{Do: "abort", Checkpoint: &checkpoint}); err != nil {
		return err
	}
	return s.failed
}

// EndInput implements sinktest.Sink.
func (s *sink) EndInput() error {
	_, err := s.ask(request{Do: "end"})
	return err
}

// Close is the death of the process, or what stands for it if the process is kept.
func (s *sink) Close() error {
	s.disk.Close()
	s.shadow.Close()
	if s.dead != nil {
		return nil // see die
	}
	s.dead = fmt.Errorf("%w: it is closed", ErrKilled)
	if !s.process.options.Keep {
		s.process.kill()
		return nil
	}
	// What it still does with files is forgotten, as if it had not.
	if _, _, _, _, err := s.process.running.ask(request{Do: "close"}, s.process.options.Timeout); err != nil {
		s.process.kill()
		return s.process.note(err)
	}
	return nil
}
