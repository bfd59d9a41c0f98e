package live_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/live"
)

// inputs writes files a, b, … with the given texts.
func inputs(t *testing.T, texts ...string) (fsys *fsmem.FS, paths []string) {
	t.Helper()
	fsys = fsmem.New(fsmem.Options{})
	for i, text := range texts {
		paths = append(paths, fmt.Sprintf("/%c", 'a'+i))
		set(t, fsys, paths[i], text)
	}
	return fsys, paths
}

func set(t *testing.T, fsys afero.Fs, path, text string) {
	t.Helper()
	if err := afero.WriteFile(fsys, path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func files(t *testing.T, fsys afero.Fs, paths ...string) *live.Files {
	t.Helper()
	f, err := live.NewFiles(live.FilesOptions{Fs: fsys, Paths: paths})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// drain reads until an error, and returns the lines and the last position.
func drain(s live.Source[[]byte], position []byte) (lines []string, last []byte, err error) {
	if err := s.Seek(position); err != nil {
		return nil, nil, err
	}
	last = position
	for {
		b, err := s.Read(context.Background())
		if err != nil {
			return lines, last, err
		}
		for _, line := range b.Records {
			lines = append(lines, string(line))
		}
		last = b.Position
	}
}

func TestFilesGiveTheirLinesInOrder(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for _, c := range []struct {
		texts []string
		want  []string
	}{
		{[]string{""}, nil},
		{[]string{"a\nb\n"}, []string{"a", "b"}},
		{[]string{"a\n\n\nb\n"}, []string{"a", "", "", "b"}},
		{[]string{"a\r\nb"}, []string{"a\r", "b"}},
		{[]string{"a\nb", "c\n", "", "d"}, []string{"a", "b", "c", "d"}},
		{[]string{long + "\n" + long, long + "\nz\n"}, []string{long, long, long, "z"}},
	} {
		fsys, paths := inputs(t, c.texts...)
		got, _, err := drain(files(t, fsys, paths...), nil)
		if err != io.EOF || !slices.Equal(got, c.want) {
			t.Errorf("%.40q: got %.60q, %v", c.texts, got, err)
		}
		if open := fsys.OpenHandles(); len(open) > 0 {
			t.Errorf("left open: %v", open)
		}
	}
}

// numbered is a text of lines of growing length.
func numbered(from, until int) (text string, lines []string) {
	for i := from; i < until; i++ {
		lines = append(lines, fmt.Sprintf("%d %s", i, strings.Repeat("-", i%97)))
	}
	return strings.Join(lines, "\n") + "\n", lines
}

// From every position that is given, the rest comes exactly.
func TestFilesGoOnExactlyWhereTheyWere(t *testing.T) {
	a, first := numbered(0, 5000)
	b, second := numbered(5000, 9000)
	want := append(first, second...)
	fsys, paths := inputs(t, a, b)
	source := files(t, fsys, paths...)
	if err := source.Seek(nil); err != nil {
		t.Fatal(err)
	}
	given, positions := 0, 0
	for {
		batch, err := source.Read(context.Background())
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		given += len(batch.Records)
		positions++
		rest, _, err := drain(files(t, fsys, paths...), batch.Position)
		if err != io.EOF || !slices.Equal(rest, want[given:]) {
			t.Fatalf("after %d lines: %d more, %v", given, len(rest), err)
		}
		var p live.FilesPosition
		if err := p.UnmarshalBinary(batch.Position); err != nil || p.Lines != int64(given) {
			t.Errorf("%+v, %v; want %d lines", p, err, given)
		}
	}
	if positions < 6 {
		t.Errorf("only %d positions", positions)
	}
}

// What comes after the end, to the last file or as new files, is read by the next run.
func TestFilesGoOnWithWhatWasAddedSince(t *testing.T) {
	fsys, paths := inputs(t, "a\n", "b\n", "c\n")
	_, position, _ := drain(files(t, fsys, paths[:2]...), nil)
	set(t, fsys, paths[1], "b\nb2\n")
	if err := fsys.Remove(paths[0]); err != nil { // it is done with
		t.Fatal(err)
	}
	got, _, err := drain(files(t, fsys, paths...), position)
	if err != io.EOF || !slices.Equal(got, []string{"b2", "c"}) {
		t.Errorf("got %q, %v", got, err)
	}
	if err := fsys.Remove(paths[2]); err != nil {
		t.Fatal(err)
	}
	if err := files(t, fsys, paths...).Seek(position); !errors.Is(err, live.ErrSourceMissing) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file to come is missing: %v", err)
	}
}

func TestALastLineWithoutNewlineIsALineAndMayGetItsNewlineLater(t *testing.T) {
	for grown, want := range map[string]struct {
		lines []string
		err   error
	}{
		"a\nb":     {nil, io.EOF},
		"a\nb\n":   {nil, io.EOF},
		"a\nb\nc":  {[]string{"c"}, io.EOF},
		"a\nb\n\n": {[]string{""}, io.EOF},
		"a\nbc\n":  {nil, live.ErrSourceChanged},
	} {
		fsys, paths := inputs(t, "a\nb")
		lines, position, err := drain(files(t, fsys, paths...), nil)
		if err != io.EOF || !slices.Equal(lines, []string{"a", "b"}) {
			t.Fatalf("%q, %v", lines, err)
		}
		set(t, fsys, paths[0], grown)
		lines, _, err = drain(files(t, fsys, paths...), position)
		if !errors.Is(err, want.err) || !slices.Equal(lines, want.lines) {
			t.Errorf("%q: got %q, %v; want %q, %v", grown, lines, err, want.lines, want.err)
		}
	}
}

// A file that is not what was read is refused: to go on would lose or double lines.
func TestAnInputThatChangedIsRefused(t *testing.T) {
	text, _ := numbered(0, 1000)
	changed := func(at int) string { return text[:at] + "X" + text[at+1:] }
	for what, c := range map[string]struct {
		text string
		want error
	}{
		"the same":         {text, io.EOF},
		"longer":           {text + "more\n", io.EOF},
		"shorter":          {text[:len(text)-1], live.ErrSourceShorter},
		"empty":            {"", live.ErrSourceShorter},
		"another head":     {changed(0), live.ErrSourceChanged},
		"head's last byte": {changed(4095), live.ErrSourceChanged},
		"another tail":     {changed(len(text) - 2), live.ErrSourceChanged},
		"tail's first":     {changed(len(text) - 4096), live.ErrSourceChanged},
	} {
		fsys, paths := inputs(t, text)
		_, position, _ := drain(files(t, fsys, paths...), nil)
		set(t, fsys, paths[0], c.text)
		_, _, err := drain(files(t, fsys, paths...), position)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", what, err)
		}
		var typed *live.Error
		if c.want != io.EOF && (!errors.As(err, &typed) || typed.File != paths[0] || typed.Hint == "") {
			t.Errorf("%s: %v", what, err)
		}
		if open := fsys.OpenHandles(); len(open) > 0 {
			t.Errorf("%s: left open: %v", what, open)
		}
	}
}

func TestAnotherListOfFilesIsRefused(t *testing.T) {
	fsys, paths := inputs(t, "1\n", "1\n", "1\n")
	_, position, _ := drain(files(t, fsys, paths[:2]...), nil)
	for _, list := range [][]string{{"/b"}, {"/a"}, {"/b", "/a"}, {"/a", "/c"}, {"/c", "/b"}} {
		if _, _, err := drain(files(t, fsys, list...), position); !errors.Is(err, live.ErrSourceChanged) {
			t.Errorf("%v: %v", list, err)
		}
	}
	for _, bad := range []string{"", "x", `files {"index":-1}`, `files {"offset":-1}`, "files x", `stream {"lines":1}`} {
		err := files(t, fsys, paths...).Seek([]byte(bad))
		if !errors.Is(err, live.ErrPosition) && !errors.Is(err, live.ErrSourceChanged) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestBadFilesOptions(t *testing.T) {
	for what, o := range map[string]live.FilesOptions{
		"none": {}, "twice": {Paths: []string{"/a", "/b", "/a"}},
		"Poll": {Paths: []string{"/a"}, Poll: -time.Millisecond}, "whole": {Paths: []string{"/a"}, Poll: time.Microsecond},
	} {
		if _, err := live.NewFiles(o); !errors.Is(err, sinkcore.ErrConfig) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestALineThatIsTooLongIsRefused(t *testing.T) {
	fsys, paths := inputs(t, "a\n"+strings.Repeat("x", live.MaxLine)+"\n", "b\n"+strings.Repeat("x", live.MaxLine+1)+"\n")
	lines, _, err := drain(files(t, fsys, paths...), nil)
	if !errors.Is(err, live.ErrLineTooLong) || len(lines) != 3 || lines[2] != "b" {
		t.Errorf("%d lines, %v", len(lines), err)
	}
	var typed *live.Error
	if !errors.As(err, &typed) || typed.File != paths[1] {
		t.Errorf("%v", err)
	}
}

// Lines handed out stay as they are while more is read, and appending to one harms none.
func TestLinesKeepTheirBytes(t *testing.T) {
	text, want := numbered(0, 20_000)
	fsys, paths := inputs(t, text)
	for _, source := range []live.Source[[]byte]{files(t, fsys, paths...), live.NewStream(strings.NewReader(text), false)} {
		var kept [][]byte
		if err := source.Seek(nil); err != nil {
			t.Fatal(err)
		}
		for {
			b, err := source.Read(context.Background())
			if err == io.EOF {
				break
			}
			for _, line := range b.Records {
				kept = append(kept, line)
				_ = append(line, "overwritten"...)
			}
		}
		if len(kept) != len(want) {
			t.Fatalf("%d lines", len(kept))
		}
		for i, line := range kept {
			if string(line) != want[i] {
				t.Fatalf("line %d became %q", i, line)
			}
		}
	}
}

// follow reads a followed file in a bubble of virtual time, and gives lines and errors.
func follow(t *testing.T, do func(fsys *fsmem.FS, path string, next func() string)) {
	synctest.Test(t, func(t *testing.T) {
		fsys, paths := inputs(t, "a\nb")
		source, err := live.NewFiles(live.FilesOptions{Fs: fsys, Paths: paths, Follow: true, Poll: 10 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if err := source.Seek(nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan string)
		go func() {
			defer close(got)
			for {
				b, err := source.Read(ctx)
				for _, line := range b.Records {
					got <- string(line)
				}
				if err != nil {
					got <- fmt.Sprint("error: ", err)
					return
				}
			}
		}()
		next := func() string {
			synctest.Wait()
			select {
			case s := <-got:
				return s
			case <-time.After(15 * time.Millisecond):
				return "nothing"
			}
		}
		do(fsys, paths[0], next)
		cancel()
		for range got {
		}
		if open := fsys.OpenHandles(); len(open) > 0 {
			t.Errorf("left open: %v", open)
		}
	})
}

func expect(t *testing.T, next func() string, want ...string) {
	t.Helper()
	for _, w := range want {
		if got := next(); got != w && !(strings.HasPrefix(got, "error: ") && strings.Contains(got, w)) {
			t.Errorf("got %q, want %q", got, w)
		}
	}
}

func TestAFollowedFileGivesLinesWhenTheyAreWhole(t *testing.T) {
	follow(t, func(fsys *fsmem.FS, path string, next func() string) {
		expect(t, next, "a", "nothing")
		fsys.KeepJournal(100)
		expect(t, next, "nothing", "nothing")
		for _, e := range fsys.Journal() {
			if e.Op != fsmem.OpStat {
				t.Errorf("while nothing changes: %v", e)
			}
		}
		set(t, fsys, path, "a\nbc")
		expect(t, next, "nothing")
		set(t, fsys, path, "a\nbc\n")
		expect(t, next, "bc", "nothing")
		set(t, fsys, path, "a\nbc\nd\ne\n")
		expect(t, next, "d", "e", "nothing")
	})
}

func TestAFollowedFileThatIsAnotherIsFoundOut(t *testing.T) {
	for what, c := range map[string]struct {
		text string
		want string
	}{
		"truncated": {"", live.ErrSourceShorter.Error()},
		"replaced":  {"x\nbc\nd\n", live.ErrSourceChanged.Error()},
	} {
		t.Run(what, func(t *testing.T) {
			follow(t, func(fsys *fsmem.FS, path string, next func() string) {
				expect(t, next, "a", "nothing")
				set(t, fsys, path+".new", c.text)
				if err := fsys.Rename(path+".new", path); err != nil {
					t.Fatal(err)
				}
				expect(t, next, c.want)
			})
		})
	}
	follow(t, func(fsys *fsmem.FS, path string, next func() string) {
		expect(t, next, "a")
		if err := fsys.Remove(path); err != nil {
			t.Fatal(err)
		}
		expect(t, next, live.ErrSourceMissing.Error())
	})
}

func TestAFollowedFileStopsWithTheContext(t *testing.T) {
	follow(t, func(fsys *fsmem.FS, path string, next func() string) { expect(t, next, "a", "nothing") })
}

func TestAStreamGivesItsLines(t *testing.T) {
	for text, want := range map[string][]string{"": nil, "a\n": {"a"}, "a\nb": {"a", "b"}, "\n\n": {"", ""}} {
		for _, size := range []int{1, 2, 100} {
			got, position, err := drain(live.NewStream(pieces{strings.NewReader(text), size}, false), nil)
			if err != io.EOF || !slices.Equal(got, want) {
				t.Errorf("%q by %d: %q, %v", text, size, got, err)
			}
			var p live.StreamPosition
			if position != nil {
				err = p.UnmarshalBinary(position)
			}
			if p.Lines != int64(len(want)) || p.Bytes != int64(len(text)) {
				t.Errorf("%q by %d: %+v, %v", text, size, p, err)
			}
		}
	}
}

// pieces reads a few bytes at a time.
type pieces struct {
	r    io.Reader
	size int
}

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.size)]) }

func TestAStreamCountsOnAndPassesOverWhatIsResent(t *testing.T) {
	_, position, _ := drain(live.NewStream(strings.NewReader("a\nb\n"), false), nil)
	got, after, err := drain(live.NewStream(strings.NewReader("c\n"), false), position)
	if err != io.EOF || !slices.Equal(got, []string{"c"}) {
		t.Errorf("%q, %v", got, err)
	}
	var p live.StreamPosition
	if err := p.UnmarshalBinary(after); err != nil || p != (live.StreamPosition{Lines: 3, Bytes: 6}) {
		t.Errorf("%+v, %v", p, err)
	}
	got, resent, err := drain(live.NewStream(pieces{strings.NewReader("a\nb\nc\n"), 1}, true), position)
	if err != io.EOF || !slices.Equal(got, []string{"c"}) || string(resent) != string(after) {
		t.Errorf("resent: %q, %s, %v", got, resent, err)
	}
	if _, _, err := drain(live.NewStream(strings.NewReader("a\n"), true), position); !errors.Is(err, live.ErrSourceShorter) {
		t.Errorf("resent too little: %v", err)
	}
	if err := live.NewStream(nil, false).Seek([]byte("files {}")); !errors.Is(err, live.ErrPosition) {
		t.Errorf("%v", err)
	}
}

func TestAStreamThatFailsGivesWhatCameBefore(t *testing.T) {
	bad := errors.New("bad")
	got, _, err := drain(live.NewStream(io.MultiReader(strings.NewReader("a\nb"), failing{bad}), false), nil)
	if !errors.Is(err, bad) || !slices.Equal(got, []string{"a"}) {
		t.Errorf("%q, %v", got, err)
	}
	got, _, err = drain(live.NewStream(strings.NewReader("a\n"+strings.Repeat("x", live.MaxLine+1)), false), nil)
	if !errors.Is(err, live.ErrLineTooLong) || !slices.Equal(got, []string{"a"}) {
		t.Errorf("%q, %v", got, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// A whole job from files to files, crashed at every operation on either.
func TestFromFilesToFilesNothingIsLostOrDoubled(t *testing.T) {
	text, _ := numbered(0, 7)
	for k := uint64(1); ; k++ {
		fsys, paths := inputs(t, text[:20], text[20:])
		want := append(strings.Split(text[:20], "\n"), strings.Split(strings.TrimSuffix(text[20:], "\n"), "\n")...)
		fault, err := fsys.Inject(fsmem.Rule{Nth: k})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			for range 2 {
				err = func() (err error) {
					o := live.Options[[]byte]{Fs: fsys, Interval: time.Millisecond, Sink: sinkcore.Config[[]byte]{Dir: out, Encoder: sinkcore.Line[[]byte]{}, Policy: sinkcore.OnCheckpoint{}}}
					e, err := live.Open(o, live.SystemClock().Now())
					if err != nil {
						return err
					}
					defer func() { err = errors.Join(err, e.Close()) }()
					return live.Run(t.Context(), live.SystemClock(), e, live.Source[[]byte](slow{files(t, fsys, paths...)}), live.EndOfInput)
				}()
				if fault.Fired() == 0 {
					return
				}
			}
		})
		if err != nil {
			t.Fatalf("operation %d: %v", k, err)
		}
		fired := fault.Fired() > 0
		fsys.ClearFaults()
		var got []string
		for name := range fsys.Visible() {
			if path.Dir(name) == out {
				data, _ := afero.ReadFile(fsys, name)
				got = append(got, strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")...)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("operation %d: got %q, want %q", k, got, want)
		}
		if !fired {
			if k < 60 {
				t.Errorf("only %d operations", k)
			}
			break
		}
	}
}

// slow lets a checkpoint pass with each batch.
type slow struct{ *live.Files }

func (s slow) Read(ctx context.Context) (live.Batch[[]byte], error) {
	time.Sleep(2 * time.Millisecond) // of the bubble
	return s.Files.Read(ctx)
}
