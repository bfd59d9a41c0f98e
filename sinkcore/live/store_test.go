package live_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/live"
)

// sample is a checkpoint file's content with something in each field.
func sample() live.Stored {
	return live.Stored{
		Position: []byte("here"), Taken: -5,
		Checkpoint: sinkcore.Checkpoint{
			ID:      7,
			Writers: []sinkcore.WriterState{{Buckets: []sinkcore.BucketState{{Bucket: "b", InProgress: &sinkcore.InProgress{Name: "part-u-1", Temp: ".part-u-1.inprogress.x", Size: 3, Records: 1}}}}},
			Committers: []sinkcore.CommitterState{{Batches: []sinkcore.Batch{
				{Checkpoint: 7, Committables: []sinkcore.Committable{{Bucket: "b", Name: "part-u-0", Temp: ".part-u-0.inprogress.x", Size: 1, Records: 1, Reason: sinkcore.Event}}},
			}}},
		},
	}
}

func encode(t testing.TB, s live.Stored) []byte {
	t.Helper()
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestACheckpointFileIsReadAsItWasWritten(t *testing.T) {
	for _, want := range []live.Stored{sample(), {Checkpoint: sinkcore.Checkpoint{ID: 1, Writers: []sinkcore.WriterState{{Buckets: []sinkcore.BucketState{}}}, Committers: []sinkcore.CommitterState{{}}}}} {
		var got live.Stored
		if err := got.UnmarshalBinary(encode(t, want)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encode(t, got), encode(t, want)) || !reflect.DeepEqual(got.Position, want.Position) || got.Taken != want.Taken {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// No byte can change, be missing or be added unnoticed, and none that changes passes for
// a newer version.
func TestADamagedCheckpointFileIsNoticed(t *testing.T) {
	whole := encode(t, sample())
	check := func(what string, data []byte) {
		t.Helper()
		s := live.Stored{Taken: 42}
		if err := s.UnmarshalBinary(data); !errors.Is(err, live.ErrDamaged) || errors.Is(err, live.ErrVersion) {
			t.Errorf("%s: %v", what, err)
		}
		if s.Taken != 42 {
			t.Errorf("%s: the receiver was changed", what)
		}
	}
	for i := range whole {
		data := bytes.Clone(whole)
		data[i] ^= 0x40
		check(fmt.Sprintf("byte %d changed", i), data)
		check(fmt.Sprintf("cut at %d", i), whole[:i])
	}
	check("a byte more", append(bytes.Clone(whole), 0))
	check("zeros", make([]byte, len(whole)))
}

// reseal puts the right checksum at the end.
func reseal(data []byte) []byte {
	body := data[:len(data)-4]
	sum := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
	return append(bytes.Clone(body), byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
}

func TestACheckpointFileThatMakesNoSenseIsDamaged(t *testing.T) {
	for what, change := range map[string]func([]byte){
		"another magic":            func(b []byte) { b[0] = 'X' },
		"another id":               func(b []byte) { b[12]++ },
		"a position too long":      func(b []byte) { b[21] = 0xff },
		"a position too short":     func(b []byte) { b[24]-- },
		"a checkpoint too short":   func(b []byte) { b[32]-- },
		"a checkpoint too long":    func(b []byte) { b[29] = 0xff },
		"a checkpoint of bad size": func(b []byte) { b[len(b)-5]++ },
	} {
		data := encode(t, sample())
		change(data)
		var s live.Stored
		if err := s.UnmarshalBinary(reseal(data)); !errors.Is(err, live.ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestACheckpointFileOfANewerVersionIsNotDamaged(t *testing.T) {
	data := encode(t, sample())
	data[4]++
	var s live.Stored
	if err := s.UnmarshalBinary(reseal(data)); !errors.Is(err, live.ErrVersion) || errors.Is(err, live.ErrDamaged) {
		t.Errorf("%v", err)
	}
}

func FuzzStored(f *testing.F) {
	f.Add(encode(f, sample()))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [][]byte{data, reseal(append(bytes.Clone(data), 0, 0, 0, 0))} {
			var s live.Stored
			if err := s.UnmarshalBinary(data); err == nil && !bytes.Equal(encode(t, s), data) {
				t.Errorf("%x is read, and written as %x", data, encode(t, s))
			}
		}
	})
}

// put writes a checkpoint file as a job would.
func put(t *testing.T, fsys afero.Fs, name string, data []byte) string {
	t.Helper()
	dir := path.Join(out, live.CheckpointDir)
	if err := fsys.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := afero.WriteFile(fsys, path.Join(dir, name), data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path.Join(dir, name)
}

func name(id int64, published int) string { return fmt.Sprintf("checkpoint-%019d-%d", id, published) }

// stored is a checkpoint with an id and as many parts to publish.
func stored(t *testing.T, id int64, published int) []byte {
	s := sample()
	s.Checkpoint.ID = id
	s.Checkpoint.Committers[0].Batches = nil
	for i := range published {
		s.Checkpoint.Committers[0].Batches = append(s.Checkpoint.Committers[0].Batches, sinkcore.Batch{
			Checkpoint:   id - int64(published-1-i),
			Committables: []sinkcore.Committable{{Name: fmt.Sprint("part-u-", i), Temp: fmt.Sprintf(".part-u-%d.inprogress.x", i)}},
		})
	}
	return encode(t, s)
}

func TestListGivesTheCheckpointFilesNewestFirst(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	if files, err := live.List(fsys, out); err != nil || len(files) != 0 {
		t.Errorf("no directory: %v, %v", files, err)
	}
	for _, other := range []string{"lock", "checkpoint.new", "checkpoint-1-0", "checkpoint-00000000000000000001-0", name(5, 0) + ".bak", "x" + name(5, 0), "checkpoint-+000000000000000001-0", name(5, 0)[:30] + "0", "checkpoint-0000000000000000005-+1"} {
		put(t, fsys, other, nil)
	}
	var want []live.File
	for _, f := range []live.File{{ID: 12, Publishes: 3}, {ID: 9}, {ID: 1, Publishes: 10}} {
		f.Path = put(t, fsys, name(f.ID, f.Publishes), nil)
		want = append(want, f)
	}
	got, err := live.List(fsys, out)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func TestLoadRefusesAFileUnderAnothersName(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	for _, wrong := range []string{name(8, 1), name(7, 0)} {
		put(t, fsys, wrong, stored(t, 7, 1))
	}
	files, err := live.List(fsys, out)
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		_, err := live.Load(fsys, f)
		var typed *live.Error
		if !errors.Is(err, live.ErrDamaged) || !errors.As(err, &typed) || typed.File != f.Path || typed.Checkpoint != f.ID || typed.Hint == "" {
			t.Errorf("%v: %v", f, err)
		}
	}
	if _, err := live.Load(fsys, live.File{Path: out + "/nothing"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// Batches that wait for a later checkpoint are not published by this one.
func TestTheNameCountsOnlyWhatTheCheckpointPublishes(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	s := sample()
	s.Checkpoint.Committers[0].Batches[0].Checkpoint++
	put(t, fsys, name(7, 0), encode(t, s))
	if _, found, err := live.Newest(fsys, out); !found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
}

// An older checkpoint is gone back to exactly if no newer one published anything.
func TestNewestGoesBackOnlyPastCheckpointsThatPublishedNothing(t *testing.T) {
	const good, bad = true, false
	type file struct {
		id        int64
		published int
		whole     bool
	}
	for _, c := range []struct {
		what  string
		files []file
		want  int64 // 0: refused
	}{
		{"the newest", []file{{1, 1, good}, {2, 1, good}}, 2},
		{"an older one is damaged", []file{{1, 1, bad}, {2, 1, good}}, 2},
		{"the newest is damaged and published nothing", []file{{1, 1, good}, {2, 0, bad}}, 1},
		{"two are damaged and published nothing", []file{{1, 1, good}, {2, 0, bad}, {3, 0, bad}}, 1},
		{"the newest is damaged and published", []file{{1, 1, good}, {2, 1, bad}}, 0},
		{"the second newest published", []file{{1, 1, good}, {2, 1, bad}, {3, 0, bad}}, 0},
		{"none is left", []file{{2, 0, bad}, {3, 0, bad}}, 0},
	} {
		fsys := fsmem.New(fsmem.Options{})
		for _, f := range c.files {
			data := stored(t, f.id, f.published)
			if !f.whole {
				data = data[:len(data)-1]
			}
			put(t, fsys, name(f.id, f.published), data)
		}
		s, found, err := live.Newest(fsys, out)
		switch {
		case c.want == 0:
			var typed *live.Error
			if !errors.Is(err, live.ErrUnsafe) || !errors.Is(err, live.ErrDamaged) || found || !errors.As(err, &typed) || typed.File == "" || typed.Hint == "" {
				t.Errorf("%s: %v, %v", c.what, found, err)
			}
		case err != nil || !found || s.Checkpoint.ID != c.want:
			t.Errorf("%s: got %d, %v, %v; want %d", c.what, s.Checkpoint.ID, found, err, c.want)
		}
	}
}

// A newer version is not gone back from: its checkpoint is good, only not for us.
func TestNewestDoesNotGoBackFromANewerVersionOrAnUnreadableFile(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	if _, found, err := live.Newest(fsys, out); found || err != nil {
		t.Errorf("none: %v, %v", found, err)
	}
	put(t, fsys, name(1, 0), stored(t, 1, 0))
	data := stored(t, 2, 0)
	data[4]++
	newer := put(t, fsys, name(2, 0), reseal(data))
	if _, found, err := live.Newest(fsys, out); found || !errors.Is(err, live.ErrVersion) {
		t.Errorf("newer version: %v, %v", found, err)
	}
	put(t, fsys, name(2, 0), stored(t, 2, 0))
	if _, err := fsys.Inject(fsmem.Rule{Ops: fsmem.OpsOf(fsmem.OpRead), Path: newer}); err != nil {
		t.Fatal(err)
	}
	if _, found, err := live.Newest(fsys, out); found || !errors.Is(err, errInjected) {
		t.Errorf("unreadable: %v, %v", found, err)
	}
}

// Whole runs with the newest file damaged: what is gone back to loses and doubles nothing,
// and what is refused leaves the directory as it was.
func TestAJobWithADamagedCheckpointLosesAndDoublesNothing(t *testing.T) {
	const n = 12
	wentBack, refused := 0, 0
	for _, policy := range policies {
		for stop := 1; stop < n; stop++ {
			for how := range 3 {
				fsys := fsmem.New(fsmem.Options{})
				now := int64(1000)
				// A crash instead of a clean stop: the last checkpoint is whatever it is.
				fault, err := fsys.Inject(fsmem.Rule{Ops: fsmem.OpsOf(fsmem.OpRename), Path: "part-*", Nth: uint64(stop)})
				if err != nil {
					t.Fatal(err)
				}
				if how > 0 {
					fault.Disarm()
				}
				if err := run(options(fsys, policy, 1), &numbers{n: n}, &now, stop); err != nil && !errors.Is(err, errInjected) {
					t.Fatal(err)
				}
				fsys.ClearFaults()
				files, err := live.List(fsys, out)
				if err != nil {
					t.Fatal(err)
				}
				if len(files) == 0 {
					continue
				}
				put(t, fsys, path.Base(files[0].Path), []byte("damaged"))
				before := contents(t, fsys)
				what := fmt.Sprintf("%v, stopped after %d, %v", policy, stop, files)
				err = run(options(fsys, policy, 2), &numbers{n: n}, &now, 0)
				if errors.Is(err, live.ErrUnsafe) {
					refused++
					if after := contents(t, fsys); after != before {
						t.Fatalf("%s: refused, and changed\n%s\nto\n%s", what, before, after)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				wentBack++
				checkVisible(t, what, fsys, n)
				after, err := live.List(fsys, out)
				if err != nil || after[0].ID <= files[0].ID {
					t.Fatalf("%s: %v after %v, %v", what, after, files, err)
				}
			}
		}
	}
	if wentBack < 5 || refused < 5 {
		t.Errorf("went back %d times, refused %d times", wentBack, refused)
	}
}

// contents is all that is below the output directory, but for the lock.
func contents(t *testing.T, fsys afero.Fs) string {
	t.Helper()
	var b strings.Builder
	err := afero.Walk(fsys, out, func(p string, info fs.FileInfo, err error) error {
		if err != nil || info.IsDir() || path.Base(p) == "lock" {
			return err
		}
		data, err := afero.ReadFile(fsys, p)
		fmt.Fprintf(&b, "%s %q\n", p, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
