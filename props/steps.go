package props

import (
	"fmt"

	"sinklab/sinkcore/sim"
)

// playWrite sends a record of the source. It is in the log before the sink has it: if the
// process dies in the write nobody knows whether the sink has, and the source sends again
// all that came after the checkpoint. Only a refusal takes it out.
func (s *session) playWrite(o sim.Write) error {
	if _, known := s.place[o.Record]; known {
		return fmt.Errorf("%w: record %s was written before", sim.ErrProgram, o.Record)
	}
	s.wrote(o.Record, o.Subtask)
	err, how := s.do(o)
	if err != nil && !how.crashed && refused(err) {
		s.log = s.log[:len(s.log)-1]
		delete(s.place, o.Record)
	}
	return err
}

// playCheckpoint takes a checkpoint; if it succeeds its state is stored. Storing is safe
// and at once here: a store that loses what it has is not the sink's.
func (s *session) playCheckpoint(o sim.Operation, id int64) error {
	err, how := s.do(o)
	if err == nil && !how.crashed {
		s.model.checkpoint(id)
	}
	return err
}

// playComplete tells the sink of a completion, whose decision is durable by then. So the
// model completes first: even if the sink dies in it, the records may be visible from now
// on, and a restore must make them visible.
//
// Only a completion that has reached all subtasks and returned without error confirms.
// What it leaves visible no power cut may take; before, the sink has promised nothing.
func (s *session) playComplete(o sim.Complete) error {
	overtaken := o.ID < s.model.completed
	news := s.model.complete(o.ID)
	s.reachedByCompletion(o, news, overtaken)
	// After a completion that reached only some subtasks, or failed, the next one has
	// something to do, even if it tells nothing new.
	events := len(s.verdict.History)
	s.stale = !news && !s.partial
	err, how := s.do(o)
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
		again, how := s.do(o)
		s.tried(Idempotent)
		if again != nil && !how.fired && !how.crashed {
			s.violate(Idempotent, "%q failed the second time: %v", o, again)
		}
		return again
	}
	return err
}

// playEnd ends the input. The model notes it with the next checkpoint, and from its
// completion on every record of the subtask must be visible.
func (s *session) playEnd(o sim.End) error {
	err, _ := s.do(o)
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
