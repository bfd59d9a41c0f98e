package props

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/sinkcore"
)

// Cases of the log that need something which no operation of a script does: another
// process that lives on, a hand in the directory, an encoder of one's own.

// Two jobs that draw the same names: the second one is refused before it touches the
// file of the first.
func TestPropRegressB02(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	for seed, want := range map[byte]error{1: sinkcore.ErrTargetExists, 2: nil} {
		fsys = fsmem.New(fsmem.Options{})
		first := start(t, fsys, 1, config(), 1)
		first.write("r1")
		first.checkpoint(1)
		first.complete(1)
		before := visible(fsys)
		second := start(t, fsys, seed, config(), 1)
		second.write("r2")
		second.checkpoint(1)
		_, err := second.Complete(1)
		if !errors.Is(err, want) {
			t.Errorf("seed %d: %v, want %v", seed, err, want)
		}
		for path, content := range before {
			if visible(fsys)[path] != content {
				t.Errorf("seed %d: the file of the first job has changed", seed)
			}
		}
		if temp, _ := second.committed(); want != nil {
			if _, err := fsys.Stat(temp); err != nil {
				t.Errorf("the refused file is gone: %v", err)
			}
			wants(t, fsys, "r1")
		} else {
			wants(t, fsys, "r1", "r2")
		}
	}
}

// An old attempt hangs in its commit, at any operation; a new one takes over, publishes
// and goes on; the old one wakes up. It changes no file of the new one. What is resumed
// under the same name is another matter: for that the old process must be dead, as
// RestoreJob says.
func TestPropRegressB07(t *testing.T) {
	for hang, hung := 1, true; hung; hang++ {
		fsys := fsmem.New(fsmem.Options{})
		old := start(t, fsys, 1, config(), 1)
		old.write(numbered(0, 20)...)
		old.checkpoint(1)
		n, waiting := 0, true
		hung = false
		fsys.Hook(func(e fsmem.Event) {
			if n++; e.Done || n < hang || !waiting {
				return
			}
			waiting, hung = false, true
			next := restore(t, fsys, 2, old.last)
			next.write(numbered(21, 30)...)
			next.checkpoint(2)
			next.complete(2)
		})
		_, err := old.Complete(1)
		fsys.Hook(nil)
		if !hung {
			break
		}
		if err != nil && !errors.Is(err, afero.ErrFileNotFound) {
			t.Errorf("operation %d: %v", hang, err)
		}
		if werr := old.Write(0, "late", sinkcore.NoTime, sinkcore.NoTime, 0); (werr == nil) != (err == nil) {
			t.Errorf("operation %d: after %v a write gives %v", hang, err, werr)
		}
		_ = old.Close()
		wants(t, fsys, numbered(0, 30)...)
	}

	// The old one hangs before its first checkpoint, and both write at the same time.
	fsys := fsmem.New(fsmem.Options{})
	old := start(t, fsys, 1, config(), 1)
	old.write("r00")
	next := start(t, fsys, 2, config(), 1)
	next.write("r00")
	old.write("r01")
	next.write("r01")
	next.checkpoint(1)
	old.checkpoint(1) // nobody will tell it that this has completed
	next.complete(1)
	_ = old.Close()
	wants(t, fsys, "r00", "r01")
}

// Four processes commit into one bucket at the same time.
func TestPropRegressB08(t *testing.T) {
	const rounds = 100
	fsys := fsmem.New(fsmem.Options{})
	var all sync.WaitGroup
	for i := range 4 {
		a := start(t, fsys, byte(i), config(), 1)
		all.Go(func() {
			for n := range int64(rounds) {
				err := a.Write(0, fmt.Sprintf("a/p%d-%03d", i, n), sinkcore.NoTime, sinkcore.NoTime, 0)
				_, err2 := a.Checkpoint(n+1, 0)
				_, err3 := a.Complete(n + 1)
				if err := errors.Join(err, err2, err3); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if files, got := visible(fsys), records(fsys); len(files) != 4*rounds || len(slices.Compact(got)) != 4*rounds {
		t.Errorf("%d files with %d records, want %d", len(files), len(got), 4*rounds)
	}
}

// The four states in which a restore can find a closed part.
func TestPropRegressB16(t *testing.T) {
	for _, c := range []struct {
		name         string
		temp, target bool
		want         error
	}{
		{"pending", true, false, nil}, {"committed", false, true, nil}, {"both", true, true, nil}, {"neither", false, false, sinkcore.ErrLost},
	} {
		fsys := fsmem.New(fsmem.Options{})
		a := start(t, fsys, 1, config(), 1)
		a.write("r1")
		a.checkpoint(1)
		temp, target := a.committed()
		if c.target {
			put(t, fsys, target, "r1\n")
		}
		if !c.temp {
			if err := fsys.Remove(temp); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			_, _, err := sinkcore.RestoreJob(fsys, random(2), config(), 1, 0, a.last)
			if !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", c.name, err, c.want)
			}
		}
		if c.want == nil {
			wants(t, fsys, "r1")
		} else {
			wants(t, fsys)
		}
	}
}

func put(t *testing.T, fsys afero.Fs, path, content string) {
	t.Helper()
	if err := afero.WriteFile(fsys, path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A file of somebody else stands in the place: that is an error, with the closed part
// still there and without it, and the file stays as it is.
func TestPropRegressB17(t *testing.T) {
	for _, foreign := range []string{"", "r2\n", "r1\nr2\n"} {
		for _, gone := range []bool{false, true} {
			fsys := fsmem.New(fsmem.Options{})
			a := start(t, fsys, 1, config(), 1)
			a.write("r1")
			a.checkpoint(1)
			temp, target := a.committed()
			put(t, fsys, target, foreign)
			if gone {
				if err := fsys.Remove(temp); err != nil {
					t.Fatal(err)
				}
			}
			_, err := a.Complete(1)
			_, _, err2 := sinkcore.RestoreJob(fsys, random(2), config(), 1, 0, a.last)
			if !errors.Is(err, sinkcore.ErrTargetExists) || !errors.Is(err2, sinkcore.ErrTargetExists) {
				t.Errorf("%q, gone %v: %v and %v", foreign, gone, err, err2)
			}
			if got := visible(fsys); len(got) != 1 || got[target] != foreign {
				t.Errorf("%q, gone %v: visible is %q", foreign, gone, got)
			}
		}
	}
}

// A consumer has moved the visible files away: a restore says what is missing and makes
// nothing up.
func TestPropRegressB23(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	a := start(t, fsys, 1, config(), 1)
	a.write("r1")
	a.checkpoint(1)
	a.complete(1)
	_, target := a.committed()
	if err := fsys.Rename(target, "/archive"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, _, err := sinkcore.RestoreJob(fsys, random(2), config(), 1, 0, a.last)
		if !errors.Is(err, sinkcore.ErrLost) || !strings.Contains(err.Error(), target) {
			t.Errorf("%v, want ErrLost with %s", err, target)
		}
	}
	if got := visible(fsys); len(got) != 1 {
		t.Errorf("visible is %q", got)
	}
}

// fussy is an encoder that writes half of a record and fails.
type fussy struct{}

func (fussy) Append(b []byte, record string) ([]byte, error) {
	if record == "bad" {
		return append(b, "ba"...), errors.New("no")
	}
	return append(b, record+"\n"...), nil
}

// Closing after an error of the encoder shows nothing, and a checkpoint after it has no
// part of the record.
func TestPropRegressB25(t *testing.T) {
	c := config()
	c.Encoder = fussy{}
	fsys := fsmem.New(fsmem.Options{})
	a := start(t, fsys, 1, c, 1)
	for range 2 {
		a.write("r1")
		if err := a.Write(0, "bad", sinkcore.NoTime, sinkcore.NoTime, 0); !errors.Is(err, sinkcore.ErrEncode) {
			t.Errorf("%v, want ErrEncode", err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		wants(t, fsys)
		a = start(t, fsys, 2, c, 1)
	}
	a.write("r1")
	_ = a.Write(0, "bad", sinkcore.NoTime, sinkcore.NoTime, 0)
	a.write("r2")
	a.checkpoint(1)
	a.complete(1)
	wants(t, fsys, "r1", "r2")
}

// A close that fails leaves no other file open, gives all errors, and again the same.
func TestPropRegressB26(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	a := start(t, fsys, 1, config(), 1)
	a.write("a/r1", "b/r2", "c/r3")
	if _, err := fsys.Inject(fsmem.Rule{Ops: fsmem.OpsOf(fsmem.OpClose), Times: 2, After: true}); err != nil {
		t.Fatal(err)
	}
	err := a.Close()
	if n := strings.Count(fmt.Sprint(err), "input/output error"); n != 2 {
		t.Errorf("%d errors in %v, want 2", n, err)
	}
	if again := a.Close(); fmt.Sprint(again) != fmt.Sprint(err) {
		t.Errorf("first %v, then %v", err, again)
	}
	if open := fsys.OpenHandles(); len(open) > 0 {
		t.Errorf("open is %v", open)
	}
	if orphans, err := sinkcore.Orphans(fsys, "/sink"); err != nil || len(orphans) != 3 {
		t.Errorf("orphans are %q, %v", orphans, err)
	}
}

// Four subtasks, three buckets and 200 checkpoints make 2400 files and no other.
func TestPropRegressB28(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	a := start(t, fsys, 1, config(), 4)
	for n := range int64(200) {
		for i := range 12 {
			if err := a.Write(i/3, fmt.Sprintf("b%d/%d-%d", i%3, n, i), sinkcore.NoTime, sinkcore.NoTime, 3000*n); err != nil {
				t.Fatal(err)
			}
		}
		a.checkpoint(n + 1)
		a.complete(n + 1)
	}
	files := 0
	for range fsys.Visible() {
		files++
	}
	if files != 4*3*200 {
		t.Errorf("%d files", files)
	}
}

// A thousand checkpoints later neither the state nor what lies about has grown.
func TestPropRegressB43(t *testing.T) {
	for _, policy := range []sinkcore.RollingPolicy{sinkcore.Default{}, sinkcore.Default{Size: 1}, sinkcore.OnCheckpoint{}} {
		c := config()
		c.Policy = policy
		fsys := fsmem.New(fsmem.Options{})
		a := start(t, fsys, 1, c, 1)
		var early, late, hidden int
		for n := range int64(1000) {
			a.write("a/r", "b/r", "b/r")
			a.checkpoint(n + 1)
			state, err := a.last.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			if n == 10 {
				early = len(state)
			}
			late = len(state)
			a.complete(n + 1)
			if n == 999 {
				orphans, err := sinkcore.Orphans(fsys, "/sink")
				if err != nil {
					t.Fatal(err)
				}
				hidden = len(orphans)
			}
		}
		if late > early+16 || hidden > 2 { // a few numbers have become longer
			t.Errorf("%v: a state has %d bytes first and %d then, %d hidden files", policy, early, late, hidden)
		}
	}
}

// A restore tells what it has published, as a completion does.
func TestPropRegressB47(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	a := start(t, fsys, 1, config(), 2)
	a.write("a/r1", "b/r2")
	a.checkpoint(1)
	_, published, err := sinkcore.RestoreJob(fsys, random(2), config(), 1, 0, a.last)
	if err != nil || len(published) != 2 || published[0].Bucket != "a" || published[1].Bucket != "b" {
		t.Errorf("published are %v, %v", published, err)
	}
	wants(t, fsys, "a/r1", "b/r2")
}

// A sweep that is still under way takes nothing of a job that was started meanwhile.
func TestPropRegressB50(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	dead := start(t, fsys, 1, config(), 1)
	dead.write("a/r1", "b/r2")
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	var next *attempt
	fsys.Hook(func(e fsmem.Event) {
		if e.Op == fsmem.OpRemove && !e.Done && next == nil {
			next = start(t, fsys, 2, config(), 1)
			next.write("a/r1", "b/r2")
		}
	})
	removed, err := sinkcore.RemoveOrphans(fsys, "/sink")
	fsys.Hook(nil)
	if err != nil || len(removed) != 2 || next == nil {
		t.Fatalf("removed %q, %v", removed, err)
	}
	next.checkpoint(1)
	next.complete(1)
	wants(t, fsys, "a/r1", "b/r2")
}

// At every operation of the file system what readers see is whole and final.
func TestPropRegressB75(t *testing.T) {
	c := config()
	c.BufferSize = 1
	c.Policy = sinkcore.AnyOf{First: sinkcore.OnCheckpoint{}, Second: sinkcore.Default{Size: 8}}
	fsys := fsmem.New(fsmem.Options{})
	seen, looks := map[string]string{}, 0
	covered := int64(0) // records below this number may be visible
	looking := false
	fsys.Hook(func(fsmem.Event) {
		if looking {
			return
		}
		looking = true
		defer func() { looking = false }()
		looks++
		for path, content := range visible(fsys) {
			if before, ok := seen[path]; ok && before != content {
				t.Errorf("%s was %q and is %q", path, before, content)
			}
			seen[path] = content
			for line := range strings.Lines(content) {
				var n int64
				if _, err := fmt.Sscanf(line[strings.LastIndexByte(line, '/')+1:], "r%03d\n", &n); err != nil || n >= covered || !strings.HasSuffix(line, "\n") {
					t.Errorf("%s holds %q when %d records are covered", path, line, covered)
				}
			}
		}
	})
	a := start(t, fsys, 1, c, 2)
	for n := range int64(5) {
		for i := range int64(12) {
			if err := a.Write(int(i%2), fmt.Sprintf("b%d/r%03d", i%3, 12*n+i), sinkcore.NoTime, sinkcore.NoTime, 0); err != nil {
				t.Fatal(err)
			}
		}
		a.checkpoint(n + 1)
		covered = 12 * (n + 1)
		a.complete(n + 1)
	}
	if looks < 500 || len(seen) < 30 {
		t.Errorf("only %d looks at %d files", looks, len(seen))
	}
}

// A prefix that readers skip is refused at the start.
func TestPropRegressB76(t *testing.T) {
	for _, prefix := range []string{"_x", ".x", "_", "a/b", "a\x00b"} {
		c := config()
		c.Prefix = prefix
		fsys := fsmem.New(fsmem.Options{})
		if _, err := sinkcore.NewJob(fsys, random(1), c, 1, 0); !errors.Is(err, sinkcore.ErrConfig) {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
}

// Without a record nothing is made, renamed or synced: no file and no directory.
func TestPropRegressB77(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	fsys.KeepJournal(10)
	a := start(t, fsys, 1, config(), 4)
	for n := range int64(100) {
		a.checkpoint(n + 1)
		a.complete(n + 1)
	}
	if err := a.EndInput(); err != nil {
		t.Fatal(err)
	}
	a.checkpoint(101)
	a.complete(101)
	if done := fsys.Journal(); len(done) > 0 {
		t.Errorf("the sink has done %v", done)
	}
}
