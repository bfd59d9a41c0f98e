package props

import (
	"errors"
	"fmt"
	"syscall"

	"sinklab/fsmem"
	"sinklab/sinkcore/sim"
)

var errCrashed = errors.New("the process has crashed")

// powerLoss kills the process and goes on with what the disk holds. A visible file may be
// gone after it only if nobody was told that it is there; that is judged here, and what the
// checkpoints need is judged by the restore that follows.
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

// disarm takes back a crash that has not come. There is one at most; the operations up to
// it are counted from where it was asked for.
func (s *session) disarm() {
	if s.crash != nil {
		s.crash.Disarm()
		s.crash = nil
	}
}

// afterCrash buries the process. The fault that made every operation fail goes, and with
// it all others, for they belonged to the time of that process. Its close cannot be held
// against it.
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

// quiet takes the rules out of force for a while. They do not count meanwhile, so that the
// n-th operation of a rule is one of the sink's, however often the session looks.
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
