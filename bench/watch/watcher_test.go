package watch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sinklab/bench/watch"
	"sinklab/fsmem"
)

var csvTimes = watch.Options{Format: watch.Format{Kind: watch.CSV, Time: "1"}}

// line is a record with the time at which it was written, so many milliseconds after the
// beginning.
func line(at int64) string { return fmt.Sprintf("%d,x\n", began+at) }

// problems are the kinds and places of what was met.
func problems(r watch.Result) (list []string) {
	for _, p := range r.Problems {
		list = append(list, fmt.Sprintf("%s %s:%d", p.Kind, p.Path, p.Line))
	}
	return list
}

// A file is seen by the next look, whose time is the end of its records' latency; hidden
// files and directories are not seen, and what was there before counts for nothing.
func TestAFileIsSeenByTheNextLook(t *testing.T) {
	bothWays(t, func(t *testing.T, w *world) {
		w.publish("/out/old", line(-5000))
		watcher := w.watch(csvTimes)
		watcher.Look()
		w.now += 150
		w.publish("/out/a/part-1", line(0)+line(40)+line(150))
		w.write("/out/.part-2", line(1))
		w.write("/out/_tmp/part-3", line(1))
		w.write("/out/a/.b/part-4", line(1))
		w.now -= 150
		w.tick(watcher)
		s := watcher.State()
		if s.Files != 1 || s.Before != 1 || s.Newest != 0 || s.Invisible != 50*time.Millisecond || s.P50 != 160*time.Millisecond || s.P99 != 200*time.Millisecond {
			t.Errorf("%+v", s)
		}
		w.now += 1000
		w.publish("/out/part-5", line(700))
		watcher.Finish()
		r := watcher.Result()
		if r.Files != 2 || r.Records != 4 || r.Timed != 4 || r.Bytes != int64(4*len(line(0))) || *r.FirstVisible != 200 || r.Watched != 1200 ||
			r.Latency(0) != 50*time.Millisecond || r.Latency(50) != 160*time.Millisecond || r.Latency(100) != 500*time.Millisecond || len(r.Problems) > 0 {
			t.Errorf("%+v", r)
		}
		want := []watch.File{
			{Path: "a/part-1", Seen: began + 200, Bytes: int64(3 * len(line(0))), Records: 3},
			{Path: "part-5", Seen: began + 1200, Bytes: int64(len(line(0))), Records: 1},
		}
		if got := watcher.Files(); !slices.Equal(got, want) {
			t.Errorf("%+v", got)
		}
	})
}

// The directory may be made later, and its directories too; they may go and come again.
func TestDirectoriesComeAndGo(t *testing.T) {
	bothWays(t, func(t *testing.T, w *world) {
		looks := 1
		if w.told == nil {
			looks = 2
		}
		watcher := w.watch(csvTimes)
		watcher.Look()
		if r := watcher.Result(); r.Found || r.FirstVisible != nil || r.Latency(50) >= 0 {
			t.Errorf("%+v", r)
		}
		for i := range int64(3) {
			w.publish("/out/a/b/part-1", line(200*i))
			w.tick(watcher)
			w.publish("/out/a/part-2", line(200*i))
			w.tick(watcher)
			if c := watcher.State().Counts; c.Files != 2*i+2 || c.Vanished != 2*i || c.Directories != 3 {
				t.Errorf("%d: %+v", i, c)
			}
			switch i {
			case 0:
				w.must(w.fs.RemoveAll("/out/a"))
			case 1:
				w.must(w.fs.RemoveAll("/out"))
			}
			w.tick(watcher)
		}
		// A directory that is moved is one that has gone and one that is new.
		w.must(w.fs.Rename("/out/a/b", "/out/c"))
		w.tick(watcher)
		w.publish("/out/c/part-3", line(0))
		w.tick(watcher)
		// A file may become a directory, and the other way round. Without notices that takes
		// a look more.
		w.must(w.fs.Remove("/out/a/part-2"))
		w.publish("/out/a/part-2/part-4", line(0))
		for range looks {
			w.tick(watcher)
		}
		w.must(w.fs.RemoveAll("/out/a/part-2"))
		w.publish("/out/a/part-2", line(0))
		for range looks {
			w.tick(watcher)
		}
		if r := watcher.Result(); r.Files != 10 || r.Vanished != 7 || r.Directories != 3 || !r.Found || len(r.Problems) != 0 {
			t.Errorf("%+v", r)
		}
	})
}

// A visible file that changes is counted, once, and not read again: appended to, cut,
// rewritten with as many bytes, or replaced by another.
func TestAVisibleFileThatChangesIsAViolation(t *testing.T) {
	bothWays(t, func(t *testing.T, w *world) {
		w.publish("/out/old", line(0))
		watcher := w.watch(csvTimes)
		watcher.Look()
		for _, name := range []string{"append", "cut", "replace", "rewrite", "touch", "zstays"} {
			w.publish("/out/"+name, line(0))
		}
		w.tick(watcher)
		w.now += 5
		for _, name := range []string{"append", "old"} {
			w.write("/out/"+name, line(0)+line(1))
		}
		w.must(w.fs.Rename("/out/append", "/out/.append"))
		w.must(w.fs.Rename("/out/.append", "/out/append")) // the same file still
		f, err := w.fs.OpenFile("/out/cut", 2, 0)
		w.must(err)
		w.must(errors.Join(f.Truncate(3), f.Close()))
		w.publish("/out/replace", line(7))
		w.write("/out/rewrite", line(7))
		w.must(w.fs.Chtimes("/out/touch", time.UnixMilli(0), time.UnixMilli(1)))
		for range 2 {
			w.tick(watcher)
		}
		watcher.Finish()
		r := watcher.Result()
		if r.Changed != 6 || r.Violations() != 6 || r.Records != 6 || r.Files != 6 || r.Vanished != 0 {
			t.Errorf("%+v", r)
		}
		for _, p := range r.Problems {
			if p.Kind != watch.Changed || p.Text == "" {
				t.Errorf("%+v", p)
			}
		}
	})
}

// A file that is visible before it is whole breaks the rule too, whenever it is read.
func TestAFileThatGrowsIsAViolation(t *testing.T) {
	bothWays(t, func(t *testing.T, w *world) {
		watcher := w.watch(csvTimes)
		watcher.Look()
		w.mkdir("/out")
		f, err := w.fs.Create("/out/part")
		w.must(err)
		_, err = f.WriteString(line(0) + line(1)[:5])
		w.must(err)
		w.tick(watcher)
		_, err = f.WriteString(line(1)[5:])
		w.must(errors.Join(err, f.Close()))
		watcher.Finish()
		if r := watcher.Result(); r.Changed != 1 || r.Records != 1 || r.Torn != 1 || !slices.Equal(problems(r), []string{"torn part:2", "changed part:0"}) {
			t.Errorf("%+v", r)
		}
	})
}

// What cannot be read, or is no record, is counted and shown, and the rest goes on.
func TestOddFilesAndLinesStopNothing(t *testing.T) {
	bothWays(t, func(t *testing.T, w *world) {
		watcher := w.watch(csvTimes)
		watcher.Look()
		w.publish("/out/part-1", line(0)+"\nabc,1\n"+line(10)+"12,x")
		w.publish("/out/part-2", "\x00\xff\x80")
		w.publish("/out/part-3", strings.Repeat("7", 17<<20)+"\n"+line(20))
		w.publish("/out/part-4", line(0))
		w.publish("/out/part-5", line(900))
		w.publish("/out/part-6", "")
		w.must(w.fs.SymlinkIfPossible("/out/part-4", "/out/link"))
		rule, err := fsmem.ParseRule("open path=/out/part-4 error=EIO")
		w.must(err)
		_, err = w.fs.Inject(rule)
		w.must(err)
		w.tick(watcher)
		watcher.Finish()
		r := watcher.Result()
		if r.Files != 6 || r.Records != 4 || r.Foreign != 3 || r.Torn != 2 || r.Unreadable != 1 || r.Early != 1 || r.Latency(0) != -700*time.Millisecond || r.Violations() != 0 {
			t.Errorf("%+v", r)
		}
		want := []string{"foreign part-1:2", "foreign part-1:3", "torn part-1:5", "torn part-2:1", "foreign part-3:1", "unreadable part-4:0", "early part-5:1"}
		if got := problems(r); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	})
}

// A file may change between the look that finds it and its reading, and while it is read.
func TestAFileMayChangeWhileItIsRead(t *testing.T) {
	for _, at := range []fsmem.Op{fsmem.OpOpen, fsmem.OpRead} {
		w := newWorld(t, false)
		watcher := w.watch(csvTimes)
		watcher.Look()
		w.publish("/out/part", line(0))
		changed := false
		w.fs.Hook(func(e fsmem.Event) {
			if !e.Done && e.Op == at && e.Path == "/out/part" && !changed {
				changed = true
				w.now++
				w.write("/out/part", line(0)+line(0))
			}
		})
		w.now += 200
		watcher.Look()
		// It was new in this look, and is not looked at again for its turn.
		if r := watcher.Result(); r.Changed != 1 || r.Records != 2 {
			t.Errorf("%v: %+v", at, r)
		}
	}
}

// Every file is looked at again at the end, also without notices and among many.
func TestTheEndFindsEveryChange(t *testing.T) {
	w := newWorld(t, false)
	watcher := w.watch(csvTimes)
	watcher.Look()
	for n := range 1000 {
		w.publish(fmt.Sprintf("/out/part-%d", n), line(0))
	}
	w.tick(watcher)
	w.now++
	for n := range 1000 {
		w.write(fmt.Sprintf("/out/part-%d", n), "")
	}
	watcher.Finish()
	if r := watcher.Result(); r.Changed != 1000 || len(r.Problems) != 5 {
		t.Errorf("%+v", r)
	}
}

// A file that notices tell of may go in the look that finds it, with its directory.
func TestAFileMayGoWithItsDirectoryInTheLookThatFindsIt(t *testing.T) {
	w := newWorld(t, true)
	w.publish("/out/a/part-0", line(0))
	watcher := w.watch(csvTimes)
	watcher.Look()
	w.publish("/out/a/part-1", line(0))
	w.now += 10_000 // a sweep comes after the notices
	w.fs.Hook(func(e fsmem.Event) {
		if e.Done && e.Op == fsmem.OpLstat && e.Path == "/out/a/part-1" {
			w.must(w.fs.RemoveAll("/out/a"))
		}
	})
	watcher.Look()
	w.tick(watcher)
	if r := watcher.Result(); r.Files != 0 || r.Vanished != 1 || r.Directories != 1 || len(r.Problems) != 0 {
		t.Errorf("%+v", r)
	}
}

// Lines may end as on Windows.
func TestLinesMayEndAsOnWindows(t *testing.T) {
	w := newWorld(t, true)
	watcher := w.watch(watch.Options{Format: watch.Format{Kind: watch.CSV, ID: "2"}})
	watcher.Look()
	w.publish("/out/part", "a,1\r\nb,1\nc,2\r\n")
	w.tick(watcher)
	if r := watcher.Result(); r.Records != 3 || r.Doubled != 1 || r.Foreign+r.Torn != 0 {
		t.Errorf("%+v", r)
	}
}

// A file may go between the look that finds it and its reading. Here it goes when another
// one is opened to be read.
func TestAFileMayVanishBeforeItIsRead(t *testing.T) {
	w := newWorld(t, false)
	watcher := w.watch(csvTimes)
	watcher.Look()
	w.publish("/out/part-1", line(0))
	w.publish("/out/part-2", line(0))
	w.fs.Hook(func(e fsmem.Event) {
		if e.Done && e.Op == fsmem.OpOpen && e.Path == "/out/part-1" {
			w.must(w.fs.Remove("/out/part-2"))
		}
	})
	w.tick(watcher)
	w.tick(watcher)
	if r := watcher.Result(); r.Files != 2 || r.Records != 1 || r.Vanished != 1 || r.VanishedUnread != 1 || !slices.Equal(problems(r), []string{"vanished-unread part-2:0"}) {
		t.Errorf("%+v", r)
	}
}

// An id that comes twice is a violation, also if the first one was there before the watch.
func TestDoubledIDs(t *testing.T) {
	w := newWorld(t, true)
	w.publish("/out/old", `{"id":1}`+"\n")
	watcher := w.watch(watch.Options{Format: watch.Format{Kind: watch.JSON, ID: "id"}})
	watcher.Look()
	w.publish("/out/part-1", `{"id":2}`+"\n"+`{"id":"2"}`+"\n"+`{"id":1}`+"\n")
	w.publish("/out/part-2", `{"id":3}`+"\n"+`{"id": 2}`)
	watcher.Finish()
	r := watcher.Result()
	if r.Doubled != 2 || r.Violations() != 2 || r.Records != 5 || r.Timed != 0 || !slices.Equal(problems(r), []string{"doubled part-1:3", "doubled part-2:2"}) {
		t.Errorf("%+v", r)
	}
}

// What is hidden can be chosen.
func TestHiddenNamesCanBeChosen(t *testing.T) {
	for _, c := range []struct {
		hidden []string
		want   int64
	}{{nil, 2}, {[]string{}, 4}, {[]string{"*.tmp", ".*"}, 2}} {
		w := newWorld(t, true)
		watcher := w.watch(watch.Options{Hidden: c.hidden})
		watcher.Look()
		for _, name := range []string{"part-1", "part-2.tmp", ".part-3", "_part-4"} {
			w.write("/out/"+name, "x\n")
		}
		w.tick(watcher)
		if got := watcher.State().Files; got != c.want {
			t.Errorf("%q: %d files, want %d", c.hidden, got, c.want)
		}
	}
}

// A look reads only so much. The rest is read by later ones, and was seen by the first.
func TestALookReadsOnlySoMuch(t *testing.T) {
	w := newWorld(t, true)
	watcher := w.watch(csvTimes)
	watcher.Look()
	big := strings.Repeat(line(0), 3<<20) // 48 MiB
	w.publish("/out/part-1", big)
	w.publish("/out/part-2", line(0))
	w.tick(watcher)
	if s := watcher.State(); s.Files != 2 || s.Unread != 2 || s.Records == 0 {
		t.Errorf("%+v", s)
	}
	w.tick(watcher)
	s := watcher.State()
	if r := watcher.Result(); s.Unread != 0 || r.Records != 3<<20+1 || r.Latency(0) != 200*time.Millisecond || r.Latency(100) != 200*time.Millisecond || r.Torn+r.Foreign != 0 {
		t.Errorf("%+v %+v", s, r)
	}
}

// Notices that were lost cost nothing but one listing of everything.
func TestLostNotices(t *testing.T) {
	w := newWorld(t, true)
	w.publish("/out/a/part-0", line(0))
	watcher := w.watch(csvTimes)
	watcher.Look()
	w.told.lost = true
	w.publish("/out/a/part-1", line(0))
	w.tick(watcher)
	w.tick(watcher)
	if r := watcher.Result(); r.Files != 1 || r.Listings != 4 || r.Noticed != 2 || len(r.Problems) != 0 {
		t.Errorf("%+v", r)
	}
}

// Where notices are said to be had and do not come, the sweep finds what is new, and from
// then on the directory is listed.
func TestNoticesThatDoNotComeAreNotReliedOn(t *testing.T) {
	w := newWorld(t, true)
	w.publish("/out/a/part-0", line(0))
	watcher := w.watch(csvTimes)
	watcher.Look()
	w.told.silent = true
	w.publish("/out/a/part-1", line(0))
	for w.now < began+10_000 {
		if w.tick(watcher); watcher.State().Files != 0 && w.now < began+10_000 {
			t.Fatal("seen without a notice")
		}
	}
	if r := watcher.Result(); r.Files != 1 || r.Noticed != 2 {
		t.Errorf("after the sweep: %+v", r)
	}
	w.tick(watcher)
	w.publish("/out/a/part-2", line(0))
	w.tick(watcher)
	r := watcher.Result()
	if r.Files != 2 || r.Noticed != 1 || !slices.Equal(problems(r), []string{"unnoticed a:0"}) {
		t.Errorf("%+v", r)
	}
	// Neither when there is one again, of the directory itself.
	w.told.paths = append(w.told.paths, "/out/a")
	w.tick(watcher)
	if r := watcher.Result(); r.Noticed != 1 {
		t.Errorf("%+v", r)
	}
}

// A file that comes between the notices and the sweep of one look is no reason not to rely
// on notices.
func TestANoticeMayComeALookLater(t *testing.T) {
	w := newWorld(t, true)
	w.publish("/out/part-0", line(0))
	watcher := w.watch(csvTimes)
	watcher.Look()
	published := false
	w.fs.Hook(func(e fsmem.Event) {
		if e.Done {
			w.told.hear(e)
		} else if e.Op == fsmem.OpReaddirnames && !published {
			published = true
			w.publish("/out/part-1", line(0))
		}
	})
	w.now += 10_000
	watcher.Look()
	w.tick(watcher)
	w.tick(watcher)
	if r := watcher.Result(); r.Files != 1 || r.Noticed != 1 || r.Changed != 0 || len(r.Problems) != 0 {
		t.Errorf("%+v", r)
	}
}

// A directory that cannot be watched is listed.
func TestDirectoriesWithoutNoticesAreListed(t *testing.T) {
	for _, err := range []error{errors.New("no space left on device"), watch.ErrNetwork} {
		w := newWorld(t, true)
		watcher := w.watch(csvTimes)
		watcher.Look()
		w.publish("/out/part-0", line(0))
		w.tick(watcher)
		w.told.refuse = err
		w.publish("/out/a/part-1", line(0))
		w.tick(watcher)
		w.publish("/out/a/part-2", line(0))
		w.tick(watcher)
		if r := watcher.Result(); r.Files != 3 || r.Noticed != 1 || r.Directories != 2 || !slices.Equal(problems(r), []string{"unnoticed a:0"}) {
			t.Errorf("%+v", r)
		}
	}
}

// Run looks at once and at each tick, until somebody has enough, and then once more.
func TestRun(t *testing.T) {
	w := newWorld(t, true)
	watcher := w.watch(csvTimes)
	ticks := make(chan time.Time)
	go func() {
		for range 3 {
			ticks <- time.Time{}
		}
	}()
	looks := 0
	watcher.Run(t.Context(), ticks, func(watch.State) bool {
		looks++
		w.publish(fmt.Sprintf("/out/part-%d", looks), line(0))
		return looks < 4
	})
	if r := watcher.Result(); looks != 4 || r.Files != 4 || r.Looks != 5 {
		t.Errorf("%d, %+v", looks, r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	watcher = w.watch(csvTimes)
	watcher.Run(ctx, nil, nil)
	if r := watcher.Result(); r.Looks != 2 || r.Before != 4 {
		t.Errorf("%+v", r)
	}
}

// Bad options are told by name.
func TestBadOptions(t *testing.T) {
	fsys := fsmem.New(fsmem.Options{})
	f, err := fsys.Create("/file")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for want, o := range map[string]watch.Options{
		"no directory":         {},
		"not a directory":      {Dir: "/file"},
		"lines have no fields": {Dir: "/", Format: watch.Format{Time: "1"}},
		"first one is 1":       {Dir: "/", Format: watch.Format{Kind: watch.CSV, Time: "0"}},
		"name both":            {Dir: "/", Format: watch.Format{Kind: watch.CSV, Time: "1", ID: "id"}},
		"cannot separate":      {Dir: "/", Format: watch.Format{Kind: watch.CSV, Separator: '"'}},
		"Kind is 7":            {Dir: "/", Format: watch.Format{Kind: 7}},
		"hidden names":         {Dir: "/", Hidden: []string{"["}},
		"negative":             {Dir: "/", Every: -1},
	} {
		o.Fs = fsys
		if _, err := watch.New(o); !errors.Is(err, watch.ErrOptions) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}
