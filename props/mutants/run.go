package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sinklab/props"
)

// Finding is what the command check prints.
type Finding struct {
	Rule     props.Rule // that was broken, "" if none was
	Judge    string     // that noticed
	Detail   string     // what was seen
	Programs int        // played until then
	Length   int        // operations of the shrunk program
	Program  string     // itself, as a trace
}

// Result is a mutant with what became of it.
type Result struct {
	Mutant
	Finding
	Err error // it could not be built or run
}

// Caught tells whether a rule that the mutant names was the first to be broken.
func (r Result) Caught() bool { return r.Err == nil && slices.Contains(r.Rules, r.Rule) }

// runner builds and plays mutants.
type runner struct {
	root     string // of the module
	dir      string // for what is built
	check    string // package of the command to build
	programs int
}

// patience is how long one mutant may take to be played; one that makes the sink run in
// circles is stopped then and not caught.
const patience = 5 * time.Minute

// all runs mutants, so many at a time, and calls done after each.
func (r runner) all(mutants []Mutant, parallel int, done func()) []Result {
	results := make([]Result, len(mutants))
	var group sync.WaitGroup
	next := make(chan int)
	for range parallel {
		group.Go(func() {
			for i := range next {
				results[i] = r.one(mutants[i])
				done()
			}
		})
	}
	for i := range mutants {
		next <- i
	}
	close(next)
	group.Wait()
	return results
}

// one runs a mutant.
func (r runner) one(m Mutant) Result {
	finding, err := r.find(m)
	return Result{m, finding, err}
}

func (r runner) find(m Mutant) (Finding, error) {
	dir, err := os.MkdirTemp(r.dir, "mutant")
	if err != nil {
		return Finding{}, err
	}
	defer os.RemoveAll(dir)
	changed, err := m.apply(os.DirFS(r.root))
	if err != nil {
		return Finding{}, err
	}
	list, err := overlay(r.root, dir, changed)
	if err != nil {
		return Finding{}, err
	}
	binary := filepath.Join(dir, "check")
	// The linker takes most of the time; without symbols it has less to do.
	build := exec.Command("go", "build", "-p", "1", "-ldflags", "-s -w", "-overlay", list, "-o", binary, r.check)
	build.Dir = r.root
	build.Env = append(os.Environ(), "GOGC=400") // compiler and linker live for a second; memory is cheaper than collecting it
	if out, err := build.CombinedOutput(); err != nil {
		return Finding{}, fmt.Errorf("mutant %s does not build: %w\n%s", m.Name, err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	play := exec.CommandContext(ctx, binary, "-programs", strconv.Itoa(r.programs))
	var stderr bytes.Buffer
	play.Stderr = &stderr
	out, err := play.Output()
	if err != nil {
		return Finding{}, fmt.Errorf("mutant %s: %w\n%s", m.Name, errors.Join(err, ctx.Err()), strings.TrimSpace(stderr.String()))
	}
	var finding Finding
	err = json.Unmarshal(out, &finding)
	return finding, err
}
