package sinktest_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"sinklab/props"
	"sinklab/props/sinktest"
	"sinklab/props/sinktest/examples"
	"sinklab/sinkcore"
)

// planted is a correct sink with a defect: where a function is set it stands for the method.
type planted struct {
	sinktest.Sink
	setup  sinktest.Setup
	failed error // the first; after it there is no more work
	goesOn bool  // unless this is the defect

	write   func(p *planted, record string, now int64) error
	prepare func(p *planted, checkpoint, now int64) ([]byte, error)
	commit  func(p *planted, checkpoint int64) error
	end     func(p *planted) error

	// For use by a defect.
	last  int64 // checkpoint that has completed, or time of a record
	ended bool
	final int64 // the first checkpoint after the end
	held  string
	since map[string]int // records of a bucket since the last checkpoint
}

// keep remembers the first error.
func (p *planted) keep(err error) error {
	if p.failed == nil {
		p.failed = err
	}
	return err
}

func (p *planted) Write(record string, now int64) error {
	if p.failed != nil && !p.goesOn {
		return p.failed
	}
	if p.write != nil {
		return p.keep(p.write(p, record, now))
	}
	return p.keep(p.Sink.Write(record, now))
}

func (p *planted) Prepare(checkpoint, now int64) ([]byte, error) {
	if p.failed != nil {
		return nil, p.failed
	}
	prepare := func() ([]byte, error) { return p.Sink.Prepare(checkpoint, now) }
	if p.prepare != nil {
		prepare = func() ([]byte, error) { return p.prepare(p, checkpoint, now) }
	}
	state, err := prepare()
	return state, p.keep(err)
}

func (p *planted) Commit(checkpoint int64) error {
	if p.failed != nil {
		return p.failed
	}
	if p.commit != nil {
		return p.keep(p.commit(p, checkpoint))
	}
	return p.keep(p.Sink.Commit(checkpoint))
}

func (p *planted) EndInput() error {
	if p.failed != nil {
		return p.failed
	}
	if p.end != nil {
		return p.keep(p.end(p))
	}
	return p.keep(p.Sink.EndInput())
}

// plant puts a defect into a kind.
func plant(k sinktest.Kind, defect planted) sinktest.Kind {
	wrap := func(s sinktest.Setup, sink sinktest.Sink, err error) (sinktest.Sink, error) {
		if err != nil {
			return nil, err
		}
		p := defect
		p.Sink, p.setup, p.since = sink, s, map[string]int{}
		return &p, nil
	}
	start, restore := k.New, k.Restore
	k.New = func(s sinktest.Setup) (sinktest.Sink, error) {
		sink, err := start(s)
		return wrap(s, sink, err)
	}
	k.Restore = func(s sinktest.Setup, checkpoint int64, state []byte) (sinktest.Sink, error) {
		sink, err := restore(s, checkpoint, state)
		sink, err = wrap(s, sink, err)
		if err == nil {
			sink.(*planted).last = checkpoint
		}
		return sink, err
	}
	return k
}

// visibleFiles lists them in order.
func (p *planted) visibleFiles() (paths []string, err error) {
	err = afero.Walk(p.setup.Fs, p.setup.Dir, func(path string, info fs.FileInfo, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && info.Mode().IsRegular() && !strings.HasPrefix(info.Name(), ".") {
			paths = append(paths, path)
		}
		return err
	})
	return paths, err
}

// putDurably writes a file beside its place, moves it there and syncs all.
func putDurably(fsys afero.Fs, path string, content []byte) error {
	temp := filepath.Join(filepath.Dir(path), ".put")
	f, err := fsys.Create(temp)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := fsys.Rename(temp, path); err != nil {
		return err
	}
	dir, err := fsys.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// noSync is a file system on which Sync does nothing.
type noSync struct{ afero.Fs }

type noSyncFile struct{ afero.File }

func (noSyncFile) Sync() error { return nil }

func (n noSync) Create(name string) (afero.File, error) {
	f, err := n.Fs.Create(name)
	return noSyncFile{f}, err
}

func (n noSync) Open(name string) (afero.File, error) {
	f, err := n.Fs.Open(name)
	return noSyncFile{f}, err
}

func (n noSync) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	f, err := n.Fs.OpenFile(name, flag, mode)
	return noSyncFile{f}, err
}

var errPlanted = errors.New("planted")

// rolling keeps parts open over checkpoints, and closes them for every reason.
var rolling = sinkcore.Default{Size: 10, Rollover: 300 * time.Millisecond, Inactivity: 200 * time.Millisecond}

// plantedSink breaks a rule, and so those whose sentence says as much for its defect.
type plantedSink struct {
	rule props.Rule
	kind sinktest.Kind
	also []props.Rule
}

// plantedSinks are one for each rule.
func plantedSinks() []plantedSink {
	atCheckpoint := examples.Sinkcore(sinkcore.OnCheckpoint{})

	noDurable := atCheckpoint
	noDurable.New = func(s sinktest.Setup) (sinktest.Sink, error) {
		s.Fs = noSync{s.Fs}
		return atCheckpoint.New(s)
	}
	noDurable.Restore = func(s sinktest.Setup, checkpoint int64, state []byte) (sinktest.Sink, error) {
		s.Fs = noSync{s.Fs}
		return atCheckpoint.Restore(s, checkpoint, state)
	}

	noRestore := atCheckpoint
	noRestore.Restore = func(s sinktest.Setup, checkpoint int64, state []byte) (sinktest.Sink, error) {
		if checkpoint%2 == 0 {
			return nil, errPlanted
		}
		return atCheckpoint.Restore(s, checkpoint, state)
	}

	leaky := atCheckpoint
	leaky.New = func(s sinktest.Setup) (sinktest.Sink, error) {
		if _, err := s.Fs.Open("/"); err != nil {
			return nil, err
		}
		return atCheckpoint.New(s)
	}

	lazySweep := examples.Sinkcore(rolling)
	lazySweep.Sweep = func(_ afero.Fs, dir string, states [][]byte) (map[string]bool, error) {
		owned := map[string]bool{}
		for _, state := range states {
			var c sinkcore.Checkpoint
			if err := c.UnmarshalBinary(state); err != nil {
				return nil, err
			}
			for _, name := range c.InProgressFiles() {
				owned[filepath.Join(dir, name)] = true
			}
		}
		return owned, nil
	}

	manyFiles := examples.Sinkcore(sinkcore.Default{Size: 1})
	manyFiles.Files = atCheckpoint.Files

	otherNames := atCheckpoint
	var plays uint64
	otherNames.New = func(s sinktest.Setup) (sinktest.Sink, error) {
		plays++
		var seed [32]byte
		binary.LittleEndian.PutUint64(seed[:], plays)
		s.Random = io.Reader(rand.NewChaCha8(seed))
		return atCheckpoint.New(s)
	}

	neverRolling := examples.Sinkcore(sinkcore.Default{Rollover: time.Hour, Inactivity: time.Hour})

	return []plantedSink{
		{props.Visibility, plant(atCheckpoint, planted{prepare: func(p *planted, checkpoint, now int64) ([]byte, error) {
			state, err := p.Sink.Prepare(checkpoint, now)
			if err != nil {
				return nil, err
			}
			return state, p.Sink.Commit(checkpoint)
		}}), nil},
		{props.NoDuplicate, plant(atCheckpoint, planted{write: func(p *planted, record string, now int64) error {
			if err := p.Sink.Write(record, now); err != nil {
				return err
			}
			return p.Sink.Write(record, now)
		}}), nil},
		{props.NoLoss, plant(atCheckpoint, planted{
			write: func(p *planted, record string, now int64) error {
				bucket := record[:strings.LastIndexByte(record, '/')+1]
				if p.since[bucket]++; p.since[bucket] == 2 {
					return nil
				}
				return p.Sink.Write(record, now)
			},
			prepare: func(p *planted, checkpoint, now int64) ([]byte, error) {
				clear(p.since)
				return p.Sink.Prepare(checkpoint, now)
			},
		}), []props.Rule{props.EndOfInput}},
		{props.Immutable, plant(atCheckpoint, planted{prepare: func(p *planted, checkpoint, now int64) ([]byte, error) {
			paths, err := p.visibleFiles()
			if err == nil && len(paths) > 1 {
				err = p.setup.Fs.Remove(paths[0])
			}
			if err != nil {
				return nil, err
			}
			return p.Sink.Prepare(checkpoint, now)
		}}), nil},
		{props.Unique, plant(atCheckpoint, planted{commit: func(p *planted, checkpoint int64) error {
			if err := p.Sink.Commit(checkpoint); err != nil {
				return err
			}
			paths, err := p.visibleFiles()
			if err != nil || len(paths) == 0 {
				return err
			}
			content, err := afero.ReadFile(p.setup.Fs, paths[0])
			if err != nil {
				return err
			}
			return putDurably(p.setup.Fs, paths[0], content)
		}}), nil},
		{props.Order, plant(atCheckpoint, planted{
			write: func(p *planted, record string, now int64) error {
				if p.last = now; p.held == "" {
					p.held = record
					return nil
				}
				if err := p.Sink.Write(record, now); err != nil {
					return err
				}
				return p.flush()
			},
			prepare: func(p *planted, checkpoint, now int64) ([]byte, error) {
				if err := p.flush(); err != nil {
					return nil, err
				}
				return p.Sink.Prepare(checkpoint, now)
			},
			end: func(p *planted) error {
				if err := p.flush(); err != nil {
					return err
				}
				return p.Sink.EndInput()
			},
		}), nil},
		{props.Idempotent, plant(atCheckpoint, planted{commit: func(p *planted, checkpoint int64) error {
			if checkpoint <= p.last {
				return errPlanted
			}
			p.last = checkpoint
			return p.Sink.Commit(checkpoint)
		}}), nil},
		// After a power cut a restore that fails looks like something that the cut has taken.
		{props.Restore, noRestore, []props.Rule{props.Durable}},
		{props.EndOfInput, plant(neverRolling, planted{
			end: func(p *planted) error {
				p.ended = true
				return nil
			},
			commit: func(p *planted, checkpoint int64) error {
				if err := p.Sink.Commit(checkpoint); err != nil || !p.ended {
					return err
				}
				return p.Sink.EndInput() // one checkpoint too late
			},
		}), []props.Rule{props.NoLoss}},
		{props.Latency, plant(atCheckpoint, planted{
			end: func(p *planted) error {
				p.ended = true
				return p.Sink.EndInput()
			},
			prepare: func(p *planted, checkpoint, now int64) ([]byte, error) {
				if p.ended && p.final == 0 {
					p.final = checkpoint
				}
				return p.Sink.Prepare(checkpoint, now)
			},
			commit: func(p *planted, checkpoint int64) error {
				if checkpoint <= p.last {
					return nil
				}
				if p.last = checkpoint; p.final == 0 || checkpoint < p.final {
					checkpoint-- // what the newest covers waits for the next
				}
				return p.Sink.Commit(checkpoint)
			},
		}), nil},
		{props.FileCount, manyFiles, nil},
		{props.Hidden, plant(atCheckpoint, planted{commit: func(p *planted, checkpoint int64) error {
			if err := p.Sink.Commit(checkpoint); err != nil || checkpoint <= p.last {
				return err
			}
			p.last = checkpoint
			path := filepath.Join(p.setup.Dir, fmt.Sprintf("manifest-%d", checkpoint))
			if there, err := afero.Exists(p.setup.Fs, p.setup.Dir); err != nil || !there {
				return err
			}
			return putDurably(p.setup.Fs, path, []byte("manifest\n"))
		}}), nil},
		{props.Durable, noDurable, nil},
		{props.Surfaced, plant(atCheckpoint, planted{commit: func(p *planted, checkpoint int64) error {
			if err := p.Sink.Commit(checkpoint); err != nil {
				return err
			}
			if dir, err := p.setup.Fs.Open("/"); err == nil {
				_ = dir.Sync()
				_ = dir.Close()
			}
			return nil
		}}), nil},
		{props.Poisoned, plant(atCheckpoint, planted{goesOn: true, write: func(p *planted, record string, now int64) error {
			if p.failed != nil {
				return nil
			}
			return p.Sink.Write(record, now)
		}}), nil},
		{props.Orphans, lazySweep, nil},
		{props.Handles, leaky, nil},
		{props.Live, plant(atCheckpoint, planted{write: func(p *planted, record string, now int64) error {
			if strings.HasPrefix(record, "b/c/") {
				return errPlanted
			}
			return p.Sink.Write(record, now)
		}}), nil},
		{props.Deterministic, otherNames, nil},
	}
}

// flush writes the record that is held.
func (p *planted) flush() error {
	record := p.held
	if p.held = ""; record == "" {
		return nil
	}
	return p.Sink.Write(record, p.last)
}

// Each rule is found broken in a sink that breaks it, by a short program, and no other
// rule is unless its sentence says the same or it only ever breaks after that one.
func TestPropPlanted(t *testing.T) {
	sinks := plantedSinks()
	for _, r := range props.Rules {
		if !slices.ContainsFunc(sinks, func(p plantedSink) bool { return p.rule == r.Rule }) {
			t.Errorf("no planted sink breaks %s", r.Rule)
		}
	}
	for _, p := range sinks {
		t.Run(string(p.rule), func(t *testing.T) {
			t.Parallel()
			p.kind.Programs = 200
			table, err := sinktest.Verdicts(p.kind)
			if err != nil {
				t.Fatal(err)
			}
			row := table.Row(p.rule)
			if row.Status != sinktest.Broken || len(row.After) > 0 || len(row.Program.Steps) > 8 {
				t.Errorf("%s is not found as it should be:\n%s", p.rule, table)
			}
			expected := append(p.also, p.rule)
			for _, row := range table.Rows {
				follows := slices.ContainsFunc(row.After, func(r props.Rule) bool { return slices.Contains(expected, r) })
				if row.Status == sinktest.Broken && !slices.Contains(expected, row.Rule) && !follows {
					t.Errorf("%s is said to be broken:\n%s", row.Rule, table)
				}
			}
		})
	}
}
