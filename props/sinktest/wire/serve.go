package wire

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/spf13/afero"

	"sinklab/props/sinktest"
)

// Serve is the process's end: it answers requests with sinks of a kind, of which only New and Restore are
// used, and tells of each operation on files. It returns when there are no more requests, with the error
// of reading or writing.
func Serve(in io.Reader, out io.Writer, kind sinktest.Kind) error {
	s := &server{kind: kind, out: json.NewEncoder(out)}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return s.close()
		}
		if err != nil {
			return err
		}
		var r request
		err = json.Unmarshal(line, &r)
		var a answer
		if err == nil {
			a, err = s.do(r)
		}
		if err != nil {
			text := err.Error()
			a = answer{Error: &text}
		}
		if err := s.out.Encode(a); err != nil {
			return err
		}
	}
}

type server struct {
	kind sinktest.Kind
	out  *json.Encoder
	sink sinktest.Sink
}

// do carries out a request.
func (s *server) do(r request) (a answer, err error) {
	var now, checkpoint int64
	if r.Now != nil {
		now = *r.Now
	}
	if r.Checkpoint != nil {
		checkpoint = *r.Checkpoint
	}
	switch r.Do {
	case "new", "restore":
		if err := s.close(); err != nil {
			return a, err
		}
		var number int64
		if r.Seed != nil {
			number = *r.Seed
		}
		var seed [32]byte
		for i := range 8 {
			seed[i] = byte(number >> (8 * i))
		}
		setup := sinktest.Setup{Fs: &teller{Fs: afero.NewOsFs(), out: s.out}, Dir: r.Dir, Now: now, Random: rand.NewChaCha8(seed)}
		if r.Do == "new" {
			s.sink, err = s.kind.New(setup)
		} else {
			s.sink, err = s.kind.Restore(setup, checkpoint, r.State)
		}
		if err != nil {
			s.sink = nil
		}
		return a, err
	case "close":
		return a, s.close()
	}
	if s.sink == nil {
		return a, fmt.Errorf("%q, and no sink was started", r.Do)
	}
	switch r.Do {
	case "write":
		if r.Record == nil {
			return a, errors.New("a write without a record")
		}
		err = s.sink.Write(*r.Record, now)
	case "tick":
		var next int64
		if next, err = s.sink.Tick(now); next != sinktest.Never {
			a.Next = &next
		}
	case "prepare":
		if a.State, err = s.sink.Prepare(checkpoint, now); a.State == nil {
			a.State = []byte{} // an empty one is there too
		}
	case "commit":
		err = s.sink.Commit(checkpoint)
	case "abort":
		if aborter, ok := s.sink.(sinktest.Aborter); ok {
			err = aborter.Abort(checkpoint)
		}
	case "end":
		err = s.sink.EndInput()
	default:
		err = fmt.Errorf("unknown request %q", r.Do)
	}
	return a, err
}

func (s *server) close() error {
	if s.sink == nil {
		return nil
	}
	sink := s.sink
	s.sink = nil
	return sink.Close()
}

// teller is the real disk; it tells of each operation that has succeeded.
type teller struct {
	afero.Fs
	out  *json.Encoder
	last int // number of an open file
}

func (t *teller) tell(err error, o Operation) error {
	if err != nil {
		return err
	}
	return t.out.Encode(o)
}

// LstatIfPossible implements afero.Lstater.
func (t *teller) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	return t.Fs.(afero.Lstater).LstatIfPossible(name)
}

func (t *teller) Mkdir(name string, perm os.FileMode) error {
	return t.tell(t.Fs.Mkdir(name, perm), Operation{Do: "mkdir", Path: name})
}

// MkdirAll makes one directory after the other, since each is an operation.
func (t *teller) MkdirAll(name string, perm os.FileMode) error {
	if info, err := t.Stat(name); err == nil && info.IsDir() {
		return nil
	}
	if above := filepath.Dir(name); above != name {
		if err := t.MkdirAll(above, perm); err != nil {
			return err
		}
	}
	return t.Mkdir(name, perm)
}

func (t *teller) Remove(name string) error {
	return t.tell(t.Fs.Remove(name), Operation{Do: "remove", Path: name})
}

// RemoveAll is refused: it would be many operations.
func (t *teller) RemoveAll(name string) error {
	return &os.PathError{Op: "removeall", Path: name, Err: errors.ErrUnsupported}
}

func (t *teller) Rename(from, to string) error {
	return t.tell(t.Fs.Rename(from, to), Operation{Do: "rename", Path: from, To: to})
}

func (t *teller) Create(name string) (afero.File, error) {
	return t.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

func (t *teller) Open(name string) (afero.File, error) { return t.OpenFile(name, os.O_RDONLY, 0) }

func (t *teller) OpenFile(name string, flags int, perm os.FileMode) (afero.File, error) {
	f, err := t.Fs.OpenFile(name, flags, perm)
	if err != nil {
		return nil, err
	}
	told := &toldFile{File: f, teller: t, name: name}
	if flags&(os.O_WRONLY|os.O_RDWR) == 0 {
		return told, nil
	}
	t.last++
	told.fd = t.last
	o := Operation{Do: "open", Path: name, FD: told.fd}
	for _, known := range []struct {
		flag int
		name string
	}{{os.O_CREATE, Create}, {os.O_EXCL, Excl}, {os.O_APPEND, Append}, {os.O_TRUNC, Truncate}} {
		if flags&known.flag != 0 {
			o.Flags = append(o.Flags, known.name)
		}
	}
	if err := t.tell(nil, o); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return told, nil
}

// toldFile is an open file.
type toldFile struct {
	afero.File
	teller *teller
	name   string
	fd     int // 0: for reading
}

func (f *toldFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.teller.tell(err, Operation{Do: "write", Path: f.name, FD: f.fd, Data: p[:n]})
}

func (f *toldFile) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// WriteAt is refused: a sink appends.
func (f *toldFile) WriteAt([]byte, int64) (int, error) {
	return 0, &os.PathError{Op: "writeat", Path: f.name, Err: errors.ErrUnsupported}
}

func (f *toldFile) Seek(offset int64, whence int) (int64, error) {
	at, err := f.File.Seek(offset, whence)
	if f.fd == 0 {
		return at, err
	}
	return at, f.teller.tell(err, Operation{Do: "seek", Path: f.name, FD: f.fd, At: at})
}

func (f *toldFile) Truncate(size int64) error {
	return f.teller.tell(f.File.Truncate(size), Operation{Do: "truncate", Path: f.name, FD: f.fd, At: size})
}

func (f *toldFile) Sync() error {
	return f.teller.tell(f.File.Sync(), Operation{Do: "sync", Path: f.name, FD: f.fd})
}

func (f *toldFile) Close() error {
	err := f.File.Close()
	if f.fd == 0 {
		return err
	}
	return f.teller.tell(err, Operation{Do: "close", FD: f.fd})
}
