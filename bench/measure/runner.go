package measure

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// version is a side that has been compiled.
type version struct {
	Side
	program      string // the test binary
	label        string // in what Progress says, "" if there is one side only
	exact, noisy []string
	results      bytes.Buffer
	count        int // benchmark lines in results
}

// runner runs one process after the other.
type runner struct {
	Options
	temp        string // where the processes put what they need for a while
	step, steps int
}

func (r *runner) begin(doing string) {
	r.step++
	r.Progress(Progress{Step: r.step, Steps: r.steps, Doing: doing})
}

// command is a process that ends when ctx is over. It is asked to, so that the go command
// takes away what it has made, and killed if it does not.
func (r *runner) command(ctx context.Context, dir, program string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = dir
	// What a benchmark has on disk when it is broken off goes away with the program.
	command.Env = append(os.Environ(), "TMPDIR="+r.temp)
	command.Cancel = func() error {
		if err := command.Process.Signal(os.Interrupt); err != nil {
			return command.Process.Kill()
		}
		return nil
	}
	command.WaitDelay = patience
	return command
}

// patience is how long a process may take to end when it is asked to.
const patience = 5 * time.Second

// build compiles the benchmarks of a version and asks which there are.
func (r *runner) build(ctx context.Context, v *version) error {
	r.begin("compile" + v.label)
	build := r.command(ctx, v.Dir, "go", "test", "-c", "-o", v.program, "./bench")
	if out, err := build.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w in %s: %w\n%s", ErrFailed, v.Dir, err, out)
	}
	if _, err := os.Stat(v.program); err != nil {
		return fmt.Errorf("%w in %s: its package bench has no tests", ErrNone, v.Dir)
	}
	top, _, _ := strings.Cut(r.Only, "/")
	list := r.command(ctx, filepath.Join(v.Dir, "bench"), v.program, "-test.list", top)
	out, err := list.Output()
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w in %s: -test.list: %w", ErrFailed, v.Dir, err)
	}
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		switch {
		case !strings.HasPrefix(name, "Benchmark"):
		case slices.Contains(exact, name):
			v.exact = append(v.exact, name)
		default:
			v.noisy = append(v.noisy, name)
		}
	}
	if len(v.exact)+len(v.noisy) == 0 {
		return fmt.Errorf("%w in %s: no name fits %q", ErrNone, v.Dir, top)
	}
	return nil
}

// measure runs benchmarks of a version once and appends what they print to its results.
func (r *runner) measure(ctx context.Context, v *version, names []string, doing string) error {
	r.begin(doing + v.label)
	if len(names) == 0 {
		return nil
	}
	pattern := "^(" + strings.Join(names, "|") + ")$"
	if _, below, deep := strings.Cut(r.Only, "/"); deep {
		pattern += "/" + below
	}
	run := r.command(ctx, filepath.Join(v.Dir, "bench"), v.program, "-test.run", "^$", "-test.bench", pattern, "-test.benchtime", "1x", "-test.timeout", "30m")
	var errors bytes.Buffer
	run.Stderr = &errors
	out, err := run.StdoutPipe()
	if err != nil {
		return err
	}
	if err := run.Start(); err != nil {
		return err
	}
	var text bytes.Buffer
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		if line == "PASS" {
			continue
		}
		text.WriteString(line + "\n")
		if name, _, ok := strings.Cut(line, " "); ok && strings.HasPrefix(name, "Benchmark") {
			v.count++
			r.Progress(Progress{Step: r.step, Steps: r.steps, Doing: doing + v.label, Name: name})
		}
	}
	if err := run.Wait(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w in %s: %w\n%s%s", ErrFailed, v.Dir, err, tail(text.String()), errors.String())
	}
	text.WriteTo(&v.results)
	return nil
}

// tail is the end of a text, where a failure is told.
func tail(text string) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "")
}
