package live_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/live"
)

const out = "/data/out"

// numbers is a source of the records "b0:0", "b1:1", "b0:2"… that can be set back.
type numbers struct {
	n, batch, next int
	err            error // at the end instead of io.EOF
}

func (s *numbers) Seek(position []byte) (err error) {
	s.next = 0
	if position != nil {
		s.next, err = strconv.Atoi(string(position))
	}
	return err
}

func (s *numbers) Read(ctx context.Context) (b live.Batch[string], err error) {
	if err := ctx.Err(); err != nil {
		return b, err
	}
	if s.next == s.n {
		if s.err != nil {
			return b, s.err
		}
		return b, io.EOF
	}
	for range max(1, s.batch) {
		if s.next < s.n {
			b.Records = append(b.Records, record(s.next))
			s.next++
		}
	}
	b.Position = []byte(strconv.Itoa(s.next))
	return b, nil
}

func record(i int) string { return fmt.Sprintf("b%d:%d", i%2, i) }

func bucketOf(record string) string { return record[:strings.IndexByte(record, ':')] }

// options are those of most tests: two buckets, two subtasks, a checkpoint every 2 ms.
func options(fsys afero.Fs, policy sinkcore.RollingPolicy, seed byte) live.Options[string] {
	return live.Options[string]{
		Fs: fsys, Random: rand.NewChaCha8([32]byte{seed}), Parallelism: 2, Interval: 2 * time.Millisecond, Retain: 2,
		Sink: sinkcore.Config[string]{
			Dir: out, Encoder: sinkcore.Line[string]{}, Policy: policy, CheckInterval: 3 * time.Millisecond,
			Assigner: sinkcore.Prefix[string](bucketOf),
		},
	}
}

func open(t *testing.T, o live.Options[string], now int64) *live.Engine[string] {
	t.Helper()
	e, err := live.Open(o, now)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// run opens a job and drives it to the end of the input, or to a savepoint after as many
// batches as stop says; 0 is the end. A millisecond passes with each batch.
func run(o live.Options[string], source *numbers, now *int64, stop int) (err error) {
	e, err := live.Open(o, *now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := source.Seek(e.Position()); err != nil {
		return err
	}
	for i := 1; ; i++ {
		*now++
		if *now >= e.Due() {
			if err := e.Advance(*now); err != nil {
				return err
			}
		}
		b, err := source.Read(context.Background())
		if err == io.EOF {
			return e.Stop(live.EndOfInput, *now)
		}
		if err := e.Write(b, *now); err != nil {
			return err
		}
		if i == stop {
			return e.Stop(live.Savepoint, *now)
		}
	}
}

// visible reads what a reader sees, file by file, in order of the paths.
func visible(t testing.TB, fsys afero.Fs) (records []string) {
	t.Helper()
	memory, ok := fsys.(*fsmem.FS)
	if !ok {
		t.Fatalf("not in memory: %T", fsys)
	}
	for name := range memory.Visible() {
		text, err := afero.ReadFile(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		last := -1
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			bucket, number, _ := strings.Cut(line, ":")
			n, err := strconv.Atoi(number)
			if err != nil || n <= last || bucket != path.Base(path.Dir(name)) {
				t.Fatalf("%s: %q after %d", name, line, last)
			}
			last = n
			records = append(records, line)
		}
	}
	return records
}

// checkVisible checks that the records below n are visible, each once, and no others.
func checkVisible(t testing.TB, what string, fsys afero.Fs, n int) {
	t.Helper()
	if problem := compare(visible(t, fsys), n); problem != "" {
		t.Fatalf("%s: %s", what, problem)
	}
}

func compare(got []string, n int) string {
	seen := map[string]int{}
	for _, r := range got {
		seen[r]++
	}
	for i := range n {
		if count := seen[record(i)]; count != 1 {
			return fmt.Sprintf("%s is there %d times", record(i), count)
		}
		delete(seen, record(i))
	}
	for _, r := range slices.Sorted(func(yield func(string) bool) {
		for r := range seen {
			if !yield(r) {
				return
			}
		}
	}) {
		return fmt.Sprintf("%s should not be there", r)
	}
	return ""
}

// checkNothingEarly checks that all that is visible is covered by the newest checkpoint.
func checkNothingEarly(t testing.TB, what string, fsys afero.Fs) {
	t.Helper()
	s, _, err := live.Newest(fsys, out)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	covered := 0
	if s.Position != nil {
		if covered, err = strconv.Atoi(string(s.Position)); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for _, r := range visible(t, fsys) {
		_, number, _ := strings.Cut(r, ":")
		if n, _ := strconv.Atoi(number); n >= covered || seen[r] {
			t.Fatalf("%s: %s is visible, the checkpoint covers %d, twice=%v", what, r, covered, seen[r])
		}
		seen[r] = true
	}
}

// policies are those of which the tests that try everything make use.
var policies = []sinkcore.RollingPolicy{
	sinkcore.OnCheckpoint{},
	sinkcore.Default{Rollover: 3 * time.Millisecond},
}
