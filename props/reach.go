package props

import (
	"errors"

	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// RareStates lists the states that random programs must reach, or they would prove
// nothing about them. They are where sinks of others were caught; a run over many programs
// tells how often each was reached, and the weights in draw.go are chosen for none to be 0.
var RareStates = []string{
	"crash before the first checkpoint",
	"crash in a checkpoint",
	"crash in a restore",
	"crash between two renames",
	"crash between a rename and the sync of its directory",
	"power cut after a crash",
	"power cut loses a visible file that nobody had confirmed",
	"restore with another parallelism",
	"restore merges two open parts",
	"restore cuts a part off",
	"restore publishes",
	"older checkpoint refused",
	"older checkpoint restored",
	"savepoint restored",
	"completion lost and made up for",
	"completion repeated",
	"completion overtaken by a later one",
	"completion reaches some subtasks only",
	"aborted checkpoint published by a later one",
	"input of some subtasks has ended",
	"write in the millisecond of a check",
	"check that comes late",
	"clock goes backwards",
	"hour that occurs twice",
	"fsync failed",
	"fsync failed and lost the pages",
	"write failed in the middle",
	"rename failed after its effect",
	"orphan removed",
}

// hour is in milliseconds.
const hour int64 = 3600_000

// reach counts a rare state. It has no part in judging.
func (s *session) reach(state string) { s.verdict.Reached[state]++ }

// watcher looks at every operation of the file system, from inside of it. It is how a session
// knows that a fault has hit, that the process has died, and where.
type watcher struct {
	quiet   bool // the session itself is at work
	renames int  // done in the operation of the program that is under way
	loose   bool // a rename is done and its directory not yet synced
	rename  bool // the operation at which the process died is a rename
	touched bool // something was changed
}

// changes are the operations that a later process can see the effect of. A power cut
// between two others finds the same disk; a sync changes nothing that can be seen and yet
// what may be found.
var changes = map[fsmem.Op]bool{
	fsmem.OpCreate: true, fsmem.OpWrite: true, fsmem.OpTruncate: true, fsmem.OpRename: true, fsmem.OpRemove: true, fsmem.OpMkdir: true, fsmem.OpMkdirAll: true,
	fsmem.OpOpenFile: true,
}

// watch puts the watcher on the session's present file system. A power cut makes another.
func (s *session) watch() { s.fs.Hook(s.sawOperation) }

// sawOperation is called before and after each operation, from within it. The file system
// of the session may be looked at then, and rules put in force, but not the sink, which is
// in the middle of a call.
func (s *session) sawOperation(e fsmem.Event) {
	w := &s.watcher
	if w.quiet {
		return
	}
	if !e.Done {
		if e.Op == fsmem.OpRename {
			s.noteRename(e)
		}
		return
	}
	// With its effect, whatever the sink was told.
	if (e.Err == nil || e.Fault != nil && e.Fault.Rule().After) && changes[e.Op] {
		w.touched = true
	}
	// Here the exhaustive search lets the power fail; it must not disturb the sink.
	if s.onChange != nil && e.Err == nil && (changes[e.Op] || e.Op == fsmem.OpSync) {
		s.onChange()
	}
	if e.Fault != nil && e.Fault == s.crash {
		// From here on nothing that the dying process does has an effect.
		w.rename = e.Op == fsmem.OpRename
		s.dead = true
		_, _ = s.fs.Inject(fsmem.Rule{})
		return
	}
	if e.Fault != nil {
		s.sawFault(e)
	}
	switch {
	case e.Err != nil:
		s.leaky = s.leaky || e.Op == fsmem.OpClose
	case e.Op == fsmem.OpRename:
		w.renames++
		w.loose = true
	case e.Op == fsmem.OpSync:
		w.loose = false
	case e.Op == fsmem.OpTruncate && s.restoring:
		s.reach("restore cuts a part off")
	}
}

// noteRename judges that nothing visible is replaced, before the rename: afterwards a file
// that was replaced by one with the same content looks as if nothing had been.
func (s *session) noteRename(e fsmem.Event) {
	s.quiet(true)
	defer s.quiet(false)
	s.tried(Unique)
	if _, err := s.fs.Stat(e.NewPath); err == nil {
		s.violate(Unique, "a rename to %s replaces a file", s.label(e.NewPath))
	}
}

// sawFault counts a fault if it shows: a stall and a corrupt read bring no error, and an
// operation that fails by itself has no effect to fail after.
// sawFault counts the faults that have broken sinks of others: an error that is not looked
// at, an fsync that is tried again, half a record, a rename that was done all the same.
func (s *session) sawFault(e fsmem.Event) {
	rule := e.Fault.Rule()
	own := rule.After && rule.Err != 0 && !errors.Is(e.Err, rule.Err)
	if e.Err != nil && !own {
		s.hits++
	}
	switch {
	case e.Op == fsmem.OpSync && rule.Clean:
		s.reach("fsync failed and lost the pages")
	case e.Op == fsmem.OpSync:
		s.reach("fsync failed")
	case e.Op == fsmem.OpWrite && rule.Short > 0:
		s.reach("write failed in the middle")
	case e.Op == fsmem.OpRename && rule.After:
		s.reach("rename failed after its effect")
	}
}

// reachedByCrash counts where a crash has hit, by what the operation had done by then.
func (s *session) reachedByCrash(o sim.Operation) {
	w := &s.watcher
	if s.newest == none {
		s.reach("crash before the first checkpoint")
	}
	if w.rename && w.renames > 0 {
		s.reach("crash between two renames")
	}
	if w.loose {
		s.reach("crash between a rename and the sync of its directory")
	}
	switch o.(type) {
	case sim.Checkpoint:
		s.reach("crash in a checkpoint")
	case sim.Restore:
		s.reach("crash in a restore")
	}
}

// reachedByTime counts what a write or an advance has to do with the check timer. Due is
// when it was due before. That a check came late is seen by the next one: it is one
// interval after the time at which the check was made.
func (s *session) reachedByTime(o sim.Operation, due int64) {
	sink, err := s.runner.Running()
	if err != nil || due == sinkcore.Never {
		return
	}
	now, check := s.runner.Now(), s.runner.Settings().Check.Milliseconds()
	switch o.(type) {
	case sim.Write:
		if due == now || due == now+check && s.checkedAt == now {
			s.reach("write in the millisecond of a check")
		}
		if now < s.wroteAt {
			s.reach("clock goes backwards")
		}
		if s.wroteAt >= foldStart && s.wroteAt < foldStart+hour && now >= foldStart+hour && now < foldStart+2*hour && s.folds {
			s.reach("hour that occurs twice")
		}
		s.wroteAt = now
	case sim.Advance:
		next := sink.NextTick()
		if next == due {
			return
		}
		if (next-due)%check != 0 {
			s.reach("check that comes late")
		}
		s.checkedAt = next - check
	}
}

// reachedByRestore counts what a restore has come across. That parts were merged is asked of
// the sink itself, which only sinkcore can answer.
func (s *session) reachedByRestore(rescaled bool, events int) {
	if rescaled {
		s.reach("restore with another parallelism")
	}
	if len(s.verdict.History) > events {
		s.reach("restore publishes")
	}
	if sink, err := s.runner.Running(); err == nil {
		if core, ok := sink.(*sim.CoreSink); ok && core.Stats().Rolled.For(sinkcore.Merge) > 0 {
			s.reach("restore merges two open parts")
		}
	}
}

// reachedByCompletion counts how a completion came. One that brings news makes up for all
// before it that were aborted or never told.
func (s *session) reachedByCompletion(o sim.Complete, news, overtaken bool) {
	switch {
	case overtaken:
		s.reach("completion overtaken by a later one")
	case !news && !s.partial:
		s.reach("completion repeated")
	}
	if o.Subtask != sim.AllSubtasks && o.Subtask < s.runner.Settings().Parallelism && s.runner.Settings().Parallelism > 1 {
		s.reach("completion reaches some subtasks only")
	}
	if !news {
		return
	}
	for id := range s.cuts {
		switch {
		case id >= o.ID:
		case s.aborted[id]:
			s.reach("aborted checkpoint published by a later one")
		case s.told[id] == 0 && !s.saves[id]:
			s.reach("completion lost and made up for")
		}
	}
	s.told[o.ID]++
}

// label is a path in the sink's directory without the random parts, for texts that must be
// the same whatever the seed.
func (s *session) label(path string) string {
	return counted.ReplaceAllString(path, "part-…-$2$3")
}
