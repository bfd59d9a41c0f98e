package flink

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"sinklab/bench"
	"sinklab/bench/watch"
	"sinklab/fsmem"
	"sinklab/sinkcore/sim"
)

// ErrArticle says that the jobs did not come to their end; the text says what Flink said.
var ErrArticle = errors.New("the article's jobs failed")

// ArticleOptions say how long the article's settings run. The zero value is fine.
type ArticleOptions struct {
	// For is how long the jobs run; 0 means 125 s, in which each setting has shown its first
	// file. A setting that shows none in a shorter time is not judged.
	For time.Duration

	// Dir is where the jobs write; "" is a directory for temporary files, which is removed.
	Dir string

	// Progress, if not nil, is told after each look of the watch how long the jobs have been
	// watched, and the states of the settings in their order.
	Progress func(watched time.Duration, states []watch.State)
}

// ArticleResult is one setting on the real Flink, and in the model. Durations are in
// milliseconds.
type ArticleResult struct {
	Setting string `json:"setting"`
	Files   int64  `json:"files"`
	Records int64  `json:"records"`  // in them
	First   int64  `json:"first_ms"` // from the start of the source until the first file was seen, -1 if none was
	P50     int64  `json:"p50_ms"`   // latency of the records that were seen, -1 if none was
	P99     int64  `json:"p99_ms"`   // likewise
	Max     int64  `json:"max_ms"`   // likewise
	Start   int64  `json:"start_ms"` // from the start of the process until the source started

	ModelFirst int64 `json:"model_first_ms"` // what sinkcore's model says, -1 if no file is seen in this time
	ModelMax   int64 `json:"model_max_ms"`
	ModelFiles int64 `json:"model_files"`

	// Late is how long the completion of the slowest checkpoint came after it was due. The
	// model's checkpoints take no time.
	Late  int64 `json:"late_ms"`
	Every int64 `json:"every_ms"` // between two looks, the longest: watch.Result.Resolution

	Violations int64   `json:"violations"` // visible files that changed, records that are there twice
	Account    Account `json:"account"`
}

// Tried tells whether the jobs ran long enough for the setting to show a file.
func (r ArticleResult) Tried() bool { return r.ModelFirst >= 0 }

// Holds tells whether the first file was seen when the model says, no rule was broken, and the
// files agree with the watch about when they became visible. The first file
// may be seen later by the time between two looks, what the slowest checkpoint took, and the
// renaming after it. That is allowed 100 ms; in the second in which the job starts and the
// virtual machine loads Flink's classes, a second.
func (r ArticleResult) Holds() bool {
	const renaming, starting, started = 100, 1000, 2000
	allowed := r.Every + r.Late + renaming
	if r.ModelFirst < started {
		allowed += starting - renaming
	}
	after := r.First - r.ModelFirst
	return r.Violations == 0 && r.Account.Agrees() && (r.ModelFirst < 0 || r.First >= 0 && after >= 0 && after <= allowed)
}

// The times of sim.Article.
const (
	articleFirst    = 150 * time.Millisecond // from the start of the source to the first checkpoint
	articleInterval = 2 * time.Second
)

// RunArticle runs the article's three settings (bench.ArticleSettings) on the real Flink, as
// jobs of one local cluster, at the same time and in real time, each under a watch of its
// directory, and plays them in virtual time beside it. It takes the time of ArticleOptions.For
// and some seconds.
//
// The schedule is that of sim.Article: ten records a second from 50 ms after the start of the
// source, a checkpoint at 150 ms and every 2 s from there. Flink's own timer would draw the
// first one's instant within the 2 s, so here they are asked for one by one; nothing else is
// different about them. The error wraps [ErrArticle] if a job failed.
func RunArticle(ctx context.Context, m *Module, o ArticleOptions) (results []ArticleResult, err error) {
	setIfZero(&o.For, 125*time.Second)
	if o.For < 0 {
		return nil, fmt.Errorf("%w: a time of %v", ErrArticle, o.For)
	}
	dir := o.Dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "sinklab-article-"); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	settings := bench.ArticleSettings()
	args := []string{strconv.FormatInt(articleFirst.Milliseconds(), 10), strconv.FormatInt(articleInterval.Milliseconds(), 10)}
	watchers := make([]*watch.Watcher, len(settings))
	for i, s := range settings {
		output := filepath.Join(dir, s.Name)
		flags, err := policyFlags(s.Policy)
		if err != nil {
			return nil, err
		}
		// Checkpoint 0 ms: none but those that are asked for.
		flags = append([]string{"--output", output, "--rate", "10", "--check", flinkTime(s.Check), "--checkpoint", "0 ms"}, flags...)
		args = append(args, strings.Join(flags, "\n"))
		w, err := watch.New(watch.Options{Dir: output, Format: watch.Format{Kind: watch.CSV, Time: "1", ID: "2"}})
		if err != nil {
			return nil, err
		}
		watchers[i] = w
	}
	jobs, err := startArticle(ctx, m, dir, len(settings), args)
	if err != nil {
		return nil, err
	}
	watching := watchAll(ctx, watchers, o, jobs)
	if err := errors.Join(watching, jobs.close()); err != nil {
		return nil, err
	}
	for i, s := range settings {
		r, err := jobs.result(i, s, watchers[i], o.For)
		if err == nil {
			r.Account, err = account(filepath.Join(dir, s.Name), watchers[i])
		}
		if err != nil {
			return results, err
		}
		results = append(results, r)
	}
	return results, nil
}

// watchAll looks at all directories until the jobs have run long enough.
func watchAll(ctx context.Context, watchers []*watch.Watcher, o ArticleOptions, jobs *articleJobs) error {
	ticker := time.NewTicker(watch.DefaultEvery)
	defer ticker.Stop()
	begun := time.Now()
	states := make([]watch.State, len(watchers))
	for {
		for i, w := range watchers {
			w.Look()
			states[i] = w.State()
		}
		if o.Progress != nil {
			o.Progress(time.Since(begun), states)
		}
		if err := jobs.failed(); err != nil {
			return err
		}
		if latest, all := jobs.latestStart(); all && time.Now().UnixMilli() >= latest+o.For.Milliseconds() {
			for _, w := range watchers {
				w.Finish()
			}
			return nil
		} else if !all && time.Since(begun) > clusterWait {
			return fmt.Errorf("%w: they have not started within %v", ErrArticle, clusterWait)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// articleJobs is the Java process; see the Java class ArticleJob. It ends when this one does.
type articleJobs struct {
	stop   func() error
	begun  time.Time
	mu     sync.Mutex
	starts []int64 // of the sources, milliseconds since 1970; 0 for one that has not started
	late   []int64 // the slowest checkpoint's completion after it was due, milliseconds
	taken  []int64 // checkpoints
	err    error
	closed bool
}

func startArticle(ctx context.Context, m *Module, dir string, jobs int, args []string) (*articleJobs, error) {
	a := &articleJobs{begun: time.Now(), starts: make([]int64, jobs), late: make([]int64, jobs), taken: make([]int64, jobs)}
	said := &tail{}
	cmd := m.Command(ctx, append([]string{"-Xmx512m", "-Djava.io.tmpdir=" + dir, "sinklab.flink.job.ArticleJob"}, args...)...)
	cmd.Stderr = said
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArticle, err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.read(stdout)
		if err := cmd.Wait(); err != nil || !a.isClosed() {
			a.fail(fmt.Errorf("%w: the process has ended (%w):\n%s", ErrArticle, errOr(err, "status 0"), said))
		}
	}()
	a.stop = func() error {
		err := stdin.Close()
		<-ended
		if errors.Is(err, os.ErrClosed) { // it ended by itself
			err = nil
		}
		return err
	}
	return a, nil
}

// read takes in what the process tells.
func (a *articleJobs) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var job int
		var id, at, end int64
		text := lines.Text()
		a.mu.Lock()
		if n, _ := fmt.Sscanf(text, "started %d %d", &job, &at); n == 2 && job < len(a.starts) {
			a.starts[job] = at
		} else if n, _ := fmt.Sscanf(text, "checkpoint %d %d %d %d", &job, &id, &at, &end); n == 4 && job < len(a.starts) {
			due := a.starts[job] + articleFirst.Milliseconds() + a.taken[job]*articleInterval.Milliseconds()
			a.late[job] = max(a.late[job], end-due)
			a.taken[job]++
		} else if a.err == nil {
			a.err = fmt.Errorf("%w: %s", ErrArticle, text)
		}
		a.mu.Unlock()
	}
}

func (a *articleJobs) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		a.err = err
	}
}

func (a *articleJobs) failed() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

func (a *articleJobs) isClosed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.closed
}

// latestStart is when the last source started, and whether all have.
func (a *articleJobs) latestStart() (latest int64, all bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, at := range a.starts {
		if at == 0 {
			return 0, false
		}
		latest = max(latest, at)
	}
	return latest, true
}

// close ends the process and waits for that.
func (a *articleJobs) close() error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	return a.stop()
}

// result puts together what was seen of a job and what the model says.
func (a *articleJobs) result(i int, s bench.Setting, w *watch.Watcher, length time.Duration) (ArticleResult, error) {
	workload := sim.Article(s.Policy, s.Check)
	workload.Duration = length
	model, err := workload.Run(fsmem.New(fsmem.Options{NoPlaces: true}), rand.NewChaCha8([32]byte{}), "out")
	if err != nil {
		return ArticleResult{}, err
	}
	seen := w.Result()
	r := ArticleResult{
		Setting: s.Name, Files: seen.Files, Records: seen.Records, First: -1, ModelFirst: -1, P50: -1, P99: -1, Max: -1, ModelMax: -1,
		Start: a.starts[i] - a.begun.UnixMilli(), Late: a.late[i], Every: seen.Resolution, Violations: seen.Violations(), ModelFiles: model.Files,
	}
	if seen.Timed > 0 {
		r.P50, r.P99, r.Max = seen.Latency(50).Milliseconds(), seen.Latency(99).Milliseconds(), seen.Latency(100).Milliseconds()
	}
	if files := w.Files(); len(files) > 0 {
		r.First = files[0].Seen - a.starts[i]
	}
	if model.FirstVisible >= 0 {
		r.ModelFirst, r.ModelMax = model.FirstVisible.Milliseconds(), model.Latency(1).Milliseconds()
	}
	return r, nil
}
