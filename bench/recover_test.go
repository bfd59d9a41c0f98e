package bench_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/sinkcore"
)

// BenchmarkRecover is a recovery as the exhaustive property of package props makes them by
// the million: a power cut leaves a disk in one of the states that it may leave, a job is
// restored on it, all visible records are counted, the source sends again what came after
// the checkpoint, everything is published, and all records are counted once more. The
// reference begins with the same disk, makes the same calls of the file system and reads as
// much: what the simulated disk costs, whatever sink is tried on it.
func BenchmarkRecover(b *testing.B) {
	r, err := newRecovery()
	if err != nil {
		b.Fatal(err)
	}
	const recoveries = 500
	each := func(try func(f *fsmem.FS, outcome int) error) func() (time.Duration, error) {
		return func() (time.Duration, error) {
			return timed(false, func() error {
				for i := range recoveries {
					i %= r.outcomes.Len()
					_, f := r.outcomes.At(i)
					if err := try(f, i); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	var times paired
	for b.Loop() {
		times.inTurn(b, 8, 1, each(func(f *fsmem.FS, _ int) error { return r.recover(f, func() {}) }), each(r.replay))
	}
	report(b,
		metric{1e9 * recoveries / median(times.sink), "recoveries/s"},
		metric{1e9 * recoveries / median(times.reference), "bare-recoveries/s"},
		metric{times.ratio(), "x-recover"},
	)
}

// recovery is a job of which two parts are visible, one is pending and one is open, and
// which loses its power before the newest checkpoint has been completed.
type recovery struct {
	config     sinkcore.Config[string]
	checkpoint sinkcore.Checkpoint
	records    []string
	covered    int // records before the checkpoint
	outcomes   *fsmem.Outcomes
	calls      [][]call // of a recovery of each outcome; one without an op is a look at all records
	random     *rand.ChaCha8
	seen       []int
	buffer     [512]byte
}

const recoverSize = 100 // bytes of a record

func newRecovery() (*recovery, error) {
	r := &recovery{
		config: sinkcore.Config[string]{
			Dir: "/out", Encoder: sinkcore.Line[string]{},
			Policy:     sinkcore.Default{Size: recoverSize}, // two records a part
			BufferSize: 1,                                   // each goes to the file at once
		},
		records: newRecords(0, 8, recoverSize, 1), covered: 7, random: rand.NewChaCha8([32]byte{}),
	}
	r.seen = make([]int, len(r.records))
	f := fsmem.New(fsmem.Options{NoPlaces: true})
	job, err := sinkcore.NewJob(f, r.random, r.config, 1, 0)
	if err != nil {
		return nil, err
	}
	defer job.Close()
	write := func(from, to int) error { return writeAll(job, r.records[from:to]) }
	if err := write(0, 4); err != nil {
		return nil, err
	}
	if _, err := job.Checkpoint(1, 0); err != nil {
		return nil, err
	}
	if _, err := job.Complete(1); err != nil {
		return nil, err
	}
	if err := write(4, r.covered); err != nil {
		return nil, err
	}
	if r.checkpoint, err = job.Checkpoint(2, 0); err != nil {
		return nil, err
	}
	if err := write(r.covered, len(r.records)); err != nil {
		return nil, err
	}
	if r.outcomes, err = f.Outcomes(fsmem.Ordered); err != nil {
		return nil, err
	}
	return r, r.record()
}

func writeAll(job *sinkcore.Job[string], records []string) error {
	for _, record := range records {
		if err := job.Write(0, record, sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
			return err
		}
	}
	return nil
}

// recover restores the job on a disk, lets it go on to the end and checks every record. It
// says when it begins and ends to look at the records.
func (r *recovery) recover(f *fsmem.FS, looks func()) (err error) {
	r.random.Seed([32]byte{1}) // the same names each time
	job, _, err := sinkcore.RestoreJob(f, r.random, r.config, 1, 0, r.checkpoint)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, job.Close()) }()
	looks()
	if err := r.count(f); err != nil {
		return err
	}
	looks()
	for i, n := range r.seen {
		if n > 1 || n > 0 && i >= r.covered {
			return fmt.Errorf("record %d is visible %d times after the restore", i, n)
		}
	}
	err = writeAll(job, r.records[r.covered:])
	if err == nil {
		err = job.EndInput()
	}
	if err == nil {
		_, err = job.Checkpoint(r.checkpoint.ID+1, 0)
	}
	if err == nil {
		_, err = job.Complete(r.checkpoint.ID + 1)
	}
	if err != nil {
		return err
	}
	looks()
	if err := r.count(f); err != nil {
		return err
	}
	looks()
	for i, n := range r.seen {
		if n != 1 {
			return fmt.Errorf("record %d is visible %d times at the end", i, n)
		}
	}
	return nil
}

// count counts the visible records.
func (r *recovery) count(f *fsmem.FS) error {
	clear(r.seen)
	return r.read(f, func(content string) error {
		for ; len(content) >= recoverSize; content = content[recoverSize:] {
			i := digits([]byte(content[7:15]))
			if i < 0 || i >= len(r.records) || content[:recoverSize-1] != r.records[i] {
				return fmt.Errorf("%q is not a record", content[:recoverSize])
			}
			r.seen[i]++
		}
		if content != "" {
			return fmt.Errorf("%q is less than a record", content)
		}
		return nil
	})
}

// read calls a function with the content of each visible file.
func (r *recovery) read(f *fsmem.FS, each func(content string) error) error {
	for path := range f.Visible() {
		if !strings.HasPrefix(path, r.config.Dir+"/") {
			continue
		}
		h, err := f.Open(path)
		if err != nil {
			return err
		}
		n, err := io.ReadFull(h, r.buffer[:])
		if errors.Is(err, io.ErrUnexpectedEOF) { // a buffer that is not filled has all of the file
			err = nil
		} else if err == nil {
			err = fmt.Errorf("%s has %d bytes or more", path, n)
		}
		if err := errors.Join(err, h.Close(), each(string(r.buffer[:n]))); err != nil {
			return err
		}
	}
	return nil
}

// call is a call of the file system, to be made again.
type call struct {
	fsmem.Event
	look   bool // no call, but a look at all records
	handle int  // what the file is that it opens or uses
}

// record notes the calls of a recovery of each outcome.
func (r *recovery) record() error {
	for i := range r.outcomes.Len() {
		_, f := r.outcomes.At(i)
		var calls []call
		open := map[string]int{} // handle by path; none is opened twice at a time
		handles, looking := 0, false
		f.Hook(func(e fsmem.Event) {
			if !e.Done || looking {
				return
			}
			switch e.Op {
			case fsmem.OpOpen, fsmem.OpOpenFile:
				if e.Err == nil {
					open[e.Path] = handles
					handles++
				}
			}
			calls = append(calls, call{Event: e, handle: open[e.Path]})
		})
		err := r.recover(f, func() {
			if looking = !looking; looking {
				calls = append(calls, call{look: true})
			}
		})
		if err != nil {
			return err
		}
		r.calls = append(r.calls, calls)
		_, f = r.outcomes.At(i)
		if err := r.replay(f, i); err != nil { // before it is timed
			return err
		}
	}
	return nil
}

// replay makes the calls of a recovery, with the same errors. Bytes of the same number are
// written, not the same ones.
func (r *recovery) replay(f *fsmem.FS, outcome int) error {
	var handles [64]afero.File
	var buffer [512]byte
	bytes := 0
	for _, c := range r.calls[outcome] {
		h := handles[c.handle]
		var err error
		switch {
		case c.look:
			bytes = 0
			err = r.read(f, func(content string) error { bytes += len(content); return nil })
		case c.Op == fsmem.OpOpen:
			h, err = f.Open(c.Path)
		case c.Op == fsmem.OpOpenFile:
			h, err = f.OpenFile(c.Path, c.Flag, c.Perm)
		case c.Op == fsmem.OpMkdirAll:
			err = f.MkdirAll(c.Path, c.Perm)
		case c.Op == fsmem.OpStat:
			_, err = f.Stat(c.Path)
		case c.Op == fsmem.OpLstat:
			_, _, err = f.LstatIfPossible(c.Path)
		case c.Op == fsmem.OpRename:
			err = f.Rename(c.Path, c.NewPath)
		case c.Op == fsmem.OpFileStat:
			_, err = h.Stat()
		case c.Op == fsmem.OpRead:
			_, err = h.Read(buffer[:c.N])
		case c.Op == fsmem.OpWrite:
			_, err = h.Write(buffer[:c.N])
		case c.Op == fsmem.OpSeek:
			_, err = h.Seek(c.Offset, c.N)
		case c.Op == fsmem.OpTruncate:
			err = h.Truncate(c.Offset)
		case c.Op == fsmem.OpSync:
			err = h.Sync()
		case c.Op == fsmem.OpClose:
			err = h.Close()
		default:
			err = errors.New("no way to make this call again")
		}
		if (err == nil) != (c.Err == nil) || c.Err != nil && !errors.Is(err, errors.Unwrap(c.Err)) {
			return fmt.Errorf("%v: %w instead of %w", c.Event, err, c.Err)
		}
		handles[c.handle] = h
	}
	if want := len(r.records) * recoverSize; bytes != want {
		return fmt.Errorf("%d bytes are visible instead of %d", bytes, want)
	}
	return nil
}
