package props

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"sinklab/sinkcore/sim"
)

// sweep removes orphans with the checkpoints retained that can still be restored, and
// judges what is left. No process runs meanwhile, since one has files that no checkpoint
// names yet. Both ways to be wrong are judged: to remove what a checkpoint names loses
// records at its restore, and to leave anything fills the disk. That no visible file was
// touched is seen by the look at the end.
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
