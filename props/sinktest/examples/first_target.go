package examples

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/afero"

	"sinklab/props/sinktest"
)

// FirstTarget commits in two phases as Arroyo's sink for local files does. Records go
// to files in a directory of their own. A checkpoint closes them, syncs them and
// stores where each is to go. The commit renames them one after the other, and takes a target
// that exists for a sign that all of this has been done before: it returns, where it should
// go on with the next file. Directories are not synced.
//
// The names of the files in progress begin with a dot here, so that readers pass them
// over whatever they think of the directory.
func FirstTarget() sinktest.Kind {
	return sinktest.Kind{
		Name:    "first target",
		New:     func(s sinktest.Setup) (sinktest.Sink, error) { return &firstTarget{fs: s.Fs, dir: s.Dir}, nil },
		Restore: restoreFirstTarget,
		Latency: perCheckpoint,
		Files:   filePerInterval,
	}
}

// preCommit is a closed file and where it is to go, relative to the sink's directory.
type preCommit struct {
	Checkpoint   int64
	Temp, Target string
}

// firstTargetState is what a checkpoint stores.
type firstTargetState struct {
	Serial  int // of the next file
	Pending []preCommit
}

type firstTarget struct {
	fs     afero.Fs
	dir    string
	state  firstTargetState
	open   buckets
	files  []afero.File // one for each of open
	failed error
}

func restoreFirstTarget(s sinktest.Setup, checkpoint int64, state []byte) (sinktest.Sink, error) {
	sink := &firstTarget{fs: s.Fs, dir: s.Dir}
	if err := json.Unmarshal(state, &sink.state); err != nil {
		return nil, err
	}
	if err := sink.Commit(checkpoint); err != nil {
		return nil, err
	}
	return sink, nil
}

// temp is the name of an open file; its place in open tells its serial number.
func (s *firstTarget) temp(i int) string {
	return fmt.Sprintf("__in_progress/.%05d-000", s.state.Serial+i)
}

func (s *firstTarget) Write(record string, _ int64) error {
	if s.failed != nil {
		return s.failed
	}
	s.open.add(record)
	if len(s.files) < len(s.open) {
		f, err := s.create(s.temp(len(s.files)))
		if err != nil {
			return s.fail(err)
		}
		s.files = append(s.files, f)
	}
	for i := range s.open {
		if s.open[i].name != bucketOf(record) {
			continue
		}
		if _, err := s.files[i].Write([]byte(record + "\n")); err != nil {
			return s.fail(err)
		}
	}
	return nil
}

func (s *firstTarget) create(name string) (afero.File, error) {
	path := filepath.Join(s.dir, name)
	if err := s.fs.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return s.fs.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
}

func (s *firstTarget) Prepare(checkpoint, now int64) ([]byte, error) {
	if s.failed != nil {
		return nil, s.failed
	}
	for i, f := range s.files {
		err := f.Sync()
		if err := errors.Join(err, f.Close()); err != nil {
			s.files = s.files[i+1:]
			return nil, s.fail(err)
		}
		target := filepath.Join(filepath.FromSlash(s.open[i].name), fmt.Sprintf("%05d-000.json", s.state.Serial+i))
		s.state.Pending = append(s.state.Pending, preCommit{checkpoint, s.temp(i), target})
	}
	s.state.Serial += len(s.files)
	s.open, s.files = nil, nil
	return json.Marshal(s.state)
}

// Commit renames what is pending up to the checkpoint.
func (s *firstTarget) Commit(checkpoint int64) error {
	if s.failed != nil {
		return s.failed
	}
	var due, rest []preCommit
	for _, p := range s.state.Pending {
		if p.Checkpoint <= checkpoint {
			due = append(due, p)
		} else {
			rest = append(rest, p)
		}
	}
	if err := s.rename(due); err != nil {
		return s.fail(err)
	}
	s.state.Pending = rest
	return nil
}

func (s *firstTarget) rename(due []preCommit) error {
	for _, p := range due {
		target := filepath.Join(s.dir, p.Target)
		exists, err := afero.Exists(s.fs, target)
		if err != nil {
			return err
		}
		if exists {
			return nil // the defect: continue would be right
		}
		if err := s.fs.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := s.fs.Rename(filepath.Join(s.dir, p.Temp), target); err != nil {
			return err
		}
	}
	return nil
}

// fail lets the task die.
func (s *firstTarget) fail(err error) error {
	s.failed = err
	return err
}

func (s *firstTarget) Tick(int64) (int64, error) { return sinktest.Never, nil }
func (s *firstTarget) EndInput() error           { return s.failed }

func (s *firstTarget) Close() error {
	var all []error
	for _, f := range s.files {
		all = append(all, f.Close())
	}
	s.files = nil
	return errors.Join(all...)
}
