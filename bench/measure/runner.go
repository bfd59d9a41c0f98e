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
	step, steps int
}

func (r *runner) begin(doing string) {
	r.step++
	r.Progress(Progress{Step: r.step, Steps: r.steps, Doing: doing})
}

// build compiles the benchmarks of a version and asks which there are.
func (r *runner) build(ctx context.Context, v *version) error {
	r.begin("compile" + v.label)
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", v.program, "./bench")
	build.Dir = v.Dir
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w in %s: %w\n%s", ErrFailed, v.Dir, err, out)
	}
	if _, err := os.Stat(v.program); err != nil {
		return fmt.Errorf("%w in %s: its package bench has no tests", ErrNone, v.Dir)
	}
	top, _, _ := strings.Cut(r.Only, "/")
	list := exec.CommandContext(ctx, v.program, "-test.list", top)
	list.Dir = filepath.Join(v.Dir, "bench")
	out, err := list.Output()
	if err != nil {
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
	run := exec.CommandContext(ctx, v.program, "-test.run", "^$", "-test.bench", pattern, "-test.benchtime", "1x", "-test.timeout", "30m")
	run.Dir = filepath.Join(v.Dir, "bench")
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

// replace gives a file a new content all at once.
func replace(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // gone already if all went well
	_, err = file.Write(content)
	if err == nil {
		err = file.Chmod(0o644)
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
