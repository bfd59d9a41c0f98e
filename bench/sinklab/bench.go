package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sinklab/bench/measure"
)

// benchCommand is the subcommand.
type benchCommand struct {
	Out     string `default:"out/bench.txt" placeholder:"FILE" help:"Where the results go (${default})."`
	Rounds  int    `default:"8" help:"How often what is noisy is measured (${default})."`
	Only    string `placeholder:"REGEXP" help:"Only the benchmarks of such names: a regular expression, and behind slashes one for each segment, as in Settings/policy=deadline."`
	Base    string `placeholder:"REVISION" help:"Measure this revision too, in turns with what is in the directory."`
	BaseOut string `default:"out/base.txt" placeholder:"FILE" help:"Where the results of the other revision go (${default})."`
	JSON    bool   `name:"json" help:"Print what was done as JSON."`
}

// Help is the longer text of bench --help.
func (benchCommand) Help() string {
	return `Run it in the directory of the module. The benchmarks are compiled once; those in virtual
time, whose figures are exact, run once, the others --rounds times, a process each. With
--base another revision is checked out beside this one and measured in turns with it, A B A B,
so that both see the same minutes of the machine. A revision is all that git can name, such as
main, HEAD~3 or a tag.

Compare with "go tool benchstat out/base.txt out/bench.txt", judge with "sinklab gate", look at
it with "sinklab report". The files are replaced when all has been measured; a run in which a
record was lost or doubled leaves them as they were, and so does one that is interrupted.

Exit status: 0, 1 if a benchmark failed, 2 for bad input or if it was interrupted.`
}

// errInterrupted is the end of a run by a signal.
var errInterrupted = errors.New("interrupted; the results are as they were")

// Run measures until a signal ends it.
func (b benchCommand) Run(std streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := b.measure(ctx, std)
	if err != nil && interrupted(ctx) {
		return errInterrupted
	}
	if errors.Is(err, measure.ErrFailed) {
		fmt.Fprintf(std.err, "sinklab: %v\n", err)
		return errFound
	}
	return err
}

// interrupted tells whether a signal came. A terminal sends it to the benchmarks too, and they
// may have ended by it before this process has heard of it.
func interrupted(ctx context.Context) bool {
	const underway = 100 * time.Millisecond
	select {
	case <-ctx.Done():
		return true
	case <-time.After(underway):
		return false
	}
}

// measure does what the options ask for.
func (b benchCommand) measure(ctx context.Context, std streams) error {
	if _, err := os.Stat(filepath.Join("bench", "doc.go")); err != nil {
		return fmt.Errorf("run it in the module's directory: %w", err)
	}
	if b.Rounds < 1 {
		return fmt.Errorf("--rounds %d: must be at least 1", b.Rounds)
	}
	sides := []measure.Side{{Dir: ".", Out: b.Out}}
	if b.Base != "" {
		dir, remove, err := checkout(ctx, b.Base)
		if err != nil {
			return err
		}
		defer remove()
		sides = []measure.Side{{Dir: dir, Out: b.BaseOut}, sides[0]}
	}
	begun := time.Now()
	progress, done := showMeasuring(std, begun)
	err := measure.Run(ctx, sides, measure.Options{Rounds: b.Rounds, Only: b.Only, Progress: progress})
	done()
	if err != nil {
		return err
	}
	if b.JSON {
		var files []string
		for _, side := range sides {
			files = append(files, side.Out)
		}
		return json.NewEncoder(std.out).Encode(struct {
			Files   []string `json:"files"`
			Rounds  int      `json:"rounds"`
			Seconds float64  `json:"seconds"`
		}{files, b.Rounds, time.Since(begun).Seconds()})
	}
	for _, side := range sides {
		fmt.Fprintf(std.out, "%s written\n", side.Out)
	}
	return nil
}

// showMeasuring keeps a line on a terminal that says how far a run has come.
func showMeasuring(std streams, begun time.Time) (progress func(measure.Progress), done func()) {
	show, done := showLine(std)
	if show == nil {
		return nil, done
	}
	return func(p measure.Progress) {
		line := fmt.Sprintf("%d of %d, %v: %s", p.Step, p.Steps, time.Since(begun).Truncate(time.Second), p.Doing)
		if p.Name != "" {
			line += ", " + strings.TrimPrefix(p.Name, "Benchmark")
		}
		if len(line) > 79 {
			line = line[:76] + "..."
		}
		show(line)
	}, done
}

// checkout puts a revision into a directory of its own, which remove takes away.
func checkout(ctx context.Context, revision string) (dir string, remove func(), err error) {
	git := func(args ...string) error {
		command := exec.CommandContext(ctx, "git", args...)
		// Asked to end, git takes away half a checkout; killed, it would leave it.
		command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
		out, err := command.CombinedOutput()
		if err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
		}
		return nil
	}
	if err := git("rev-parse", "--verify", "--quiet", revision+"^{commit}"); err != nil {
		return "", nil, fmt.Errorf("--base %q: git knows no such revision; in a shallow clone fetch it first", revision)
	}
	parent, err := os.MkdirTemp("", "sinklab-base-")
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Join(parent, "module")
	remove = func() {
		// Also after an interrupt, when ctx is over.
		_ = exec.Command("git", "worktree", "remove", "--force", dir).Run()
		_ = os.RemoveAll(parent)
	}
	if err := git("worktree", "add", "--detach", dir, revision); err != nil {
		remove()
		return "", nil, err
	}
	return dir, remove, nil
}
