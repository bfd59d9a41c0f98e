package main

import (
	"bytes"
	"io"
	"path/filepath"

	"github.com/spf13/afero"

	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// interference is something that happens behind the sink's back. It gets the newest
// checkpoint and may change it.
type interference struct {
	restore, complete bool // when
	do                func(fsys afero.Fs, dir string, c *sinkcore.Checkpoint)
}

var (
	// foreign puts a file of as many bytes where a part is to be published.
	foreign = interference{true, true, func(fsys afero.Fs, dir string, c *sinkcore.Checkpoint) {
		if p, ok := pending(fsys, dir, *c); ok {
			target := filepath.Join(dir, p.Bucket, p.Name)
			if exists, err := afero.Exists(fsys, target); err == nil && !exists {
				_ = afero.WriteFile(fsys, target, append(bytes.Repeat([]byte{'x'}, int(p.Size)-1), '\n'), 0o666)
			}
		}
	}}

	// stolen takes a closed part away.
	stolen = interference{true, true, func(fsys afero.Fs, dir string, c *sinkcore.Checkpoint) {
		if p, ok := pending(fsys, dir, *c); ok {
			_ = fsys.Remove(filepath.Join(dir, p.Bucket, p.Temp))
		}
	}}

	// short takes a byte off the end of the files that a restore needs.
	short = interference{true, false, func(fsys afero.Fs, dir string, c *sinkcore.Checkpoint) {
		damage(fsys, dir, *c, func(f afero.File, size int64) error { return f.Truncate(size - 1) })
	}}

	// flipped changes their first byte.
	flipped = interference{true, false, func(fsys afero.Fs, dir string, c *sinkcore.Checkpoint) {
		damage(fsys, dir, *c, func(f afero.File, _ int64) error {
			_, err := f.WriteAt([]byte{'X'}, 0)
			return err
		})
	}}

	// doubled gives every open part to a second subtask too.
	doubled = interference{true, false, func(_ afero.Fs, _ string, c *sinkcore.Checkpoint) {
		c.Writers = append(c.Writers, c.Writers...)
		c.Committers = append(c.Committers, make([]sinkcore.CommitterState, len(c.Committers))...)
	}}
)

// pending finds a part that waits to be published.
func pending(fsys afero.Fs, dir string, c sinkcore.Checkpoint) (sinkcore.Committable, bool) {
	for _, s := range c.Committers {
		for _, batch := range s.Batches {
			for _, p := range batch.Committables {
				if ok, err := afero.Exists(fsys, filepath.Join(dir, p.Bucket, p.Temp)); err == nil && ok {
					return p, true
				}
			}
		}
	}
	return sinkcore.Committable{}, false
}

// damage does something to the first file that a checkpoint needs.
func damage(fsys afero.Fs, dir string, c sinkcore.Checkpoint, how func(f afero.File, size int64) error) {
	type needed struct {
		path string
		size int64
	}
	var files []needed
	for _, s := range c.Writers {
		for _, b := range s.Buckets {
			if b.InProgress != nil {
				files = append(files, needed{filepath.Join(dir, b.Bucket, b.InProgress.Temp), b.InProgress.Size})
			}
		}
	}
	if p, ok := pending(fsys, dir, c); ok {
		files = append(files, needed{filepath.Join(dir, p.Bucket, p.Temp), p.Size})
	}
	for _, file := range files {
		f, err := fsys.OpenFile(file.path, 1, 0) // write only, and it must be there
		if err != nil {
			continue
		}
		if file.size > 0 {
			err = how(f, file.size)
		}
		if f.Close() == nil && err == nil {
			return
		}
	}
}

// meddler makes sinks that are meddled with once, after so many chances.
type meddler struct {
	sim.Core
	how  interference
	at   int
	last []byte // the newest checkpoint
}

// meddle gives the state as it is afterwards.
func (m *meddler) meddle(yes bool, fsys afero.Fs, dir string, state []byte) []byte {
	if !yes || state == nil {
		return state
	}
	if m.at--; m.at != -1 {
		return state
	}
	var c sinkcore.Checkpoint
	if c.UnmarshalBinary(state) != nil {
		return state
	}
	m.how.do(fsys, dir, &c)
	if changed, err := c.MarshalBinary(); err == nil {
		return changed
	}
	return state
}

// New starts a sink.
func (m *meddler) New(fsys afero.Fs, random io.Reader, s sim.Settings, now int64) (sim.Sink, error) {
	sink, err := m.Core.New(fsys, random, s, now)
	if err != nil {
		return nil, err
	}
	return &meddledSink{sink, m, fsys, s.Dir}, nil
}

// Restore meddles before.
func (m *meddler) Restore(fsys afero.Fs, random io.Reader, s sim.Settings, now, id int64, state []byte) (sim.Sink, error) {
	state = m.meddle(m.how.restore, fsys, s.Dir, state)
	sink, err := m.Core.Restore(fsys, random, s, now, id, state)
	if err != nil {
		return nil, err
	}
	return &meddledSink{sink, m, fsys, s.Dir}, nil
}

// meddledSink is a sink that is meddled with.
type meddledSink struct {
	sim.Sink
	by  *meddler
	fs  afero.Fs
	dir string
}

// Checkpoint keeps the state.
func (s *meddledSink) Checkpoint(id, now int64) ([]byte, error) {
	state, err := s.Sink.Checkpoint(id, now)
	if err == nil {
		s.by.last = state
	}
	return state, err
}

// Complete meddles before.
func (s *meddledSink) Complete(id int64, subtask int) error {
	s.by.meddle(s.by.how.complete, s.fs, s.dir, s.by.last)
	return s.Sink.Complete(id, subtask)
}
