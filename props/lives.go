package props

import (
	"errors"
	"fmt"
	"strings"

	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// isRestore tells the operations that begin a new life.
func isRestore(o sim.Operation) bool {
	switch o.(type) {
	case sim.Restore, restart:
		return true
	}
	return false
}

// start opens a new sink in an empty directory; everything before is forgotten, but for what
// was found, reached and counted.
func (s *session) start(o sim.Open) error {
	s.heal()
	s.checker.begin()
	s.open, s.down, s.poisoned, s.cut, s.leaky, s.partial = true, false, false, false, false, false
	s.asked, s.nextID = map[int64]bool{}, 1
	s.aborted, s.saves, s.told = map[int64]bool{}, map[int64]bool{}, map[int64]int{}
	s.folds = strings.Contains(o.String(), "assigner=datetime") && strings.Contains(o.String(), "zone=Europe/Berlin")
	s.wroteAt, s.checkedAt = sinkcore.NoTime, sinkcore.NoTime
	err, _ := s.do(o)
	return err
}

// playRestore starts the sink from a checkpoint.
//
// The newest completed checkpoint must be restorable, always, with any parallelism. So must
// one that was taken later: that the engine restores it means that it has completed. An
// older one may be refused, because parts that it would go on writing have been published
// since; then nothing may have changed. If it is not refused, records become visible twice
// by the wish of who restored it, and the checker lets them.
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
	// What becomes visible in the restore is the sink's doing, whether it succeeds or not.
	saved := len(s.verdict.History)
	s.verdict.Stats.Recoveries++
	s.restoring = true
	err, how := s.do(o)
	s.restoring = false
	// Once records have moved to other subtasks nobody knows whose part they are in. A
	// restore that fails counts too: the next one finds its parallelism set already.
	after := s.runner.Settings().Parallelism
	s.rescaled = s.rescaled || after != before
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
	s.down, s.poisoned, s.cut, s.partial = false, false, false, false
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
// source send again what came after it: what an engine does after a failure.
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

// again starts the sink with no state where one has died before its first checkpoint. The
// directory stays as it is: what the dead one has left must not be in the way (FLINK-18056).
func (s *session) again(parallelism int) error {
	s.kill()
	s.verdict.Stats.Recoveries++
	err, how := s.do(restart{parallelism})
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

// replay sends the backlog again, in order, to the subtasks that there are now. If it is cut
// short by a crash, the rest stays to be sent again: a source forgets no record that no
// completed checkpoint covers.
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

// kill lets the process die, which closes its files. It counts handles, since a sink that
// leaks one for each part runs for a day and then stops for want of descriptors
// (FLINK-23248). Where a close was made to fail before, a handle may be left, and those of
// processes that were killed in mid-operation are not counted against the next one.
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

// finish brings the program to its end and judges that nothing is missing. Without it a
// sink that never publishes would break no rule. It ends faults first: that the sink must
// come back when the disk is well again is the promise; what it does on one that is not is
// judged before.
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
