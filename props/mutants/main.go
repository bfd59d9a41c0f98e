package main

import (
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
)

//go:embed data
var data embed.FS

func main() {
	ok, err := run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	case !ok:
		os.Exit(1)
	}
}

// run is the command.
func run(args []string, stdout, stderr io.Writer) (ok bool, err error) {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.SetOutput(stderr)
	programs := flags.Int("programs", 20_000, "give up on a mutant after so many programs")
	parallel := flags.Int("parallel", runtime.GOMAXPROCS(0), "mutants at a time")
	if err := flags.Parse(args); err != nil {
		return false, err
	}
	dir, err := fs.Sub(data, "data")
	if err != nil {
		return false, err
	}
	mutants, err := readMutants(dir)
	if err != nil {
		return false, err
	}
	if mutants, err = choose(mutants, flags.Args()); err != nil {
		return false, err
	}
	root, err := moduleRoot()
	if err != nil {
		return false, err
	}
	temp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	r := runner{root: root, dir: temp, check: "./props/mutants/check", programs: *programs}

	for _, m := range mutants {
		if _, err := m.apply(os.DirFS(root)); err != nil {
			return false, err // said at once, not after minutes
		}
	}
	watched := terminal(stderr)
	var n atomic.Int64
	results := r.all(mutants, max(*parallel, 1), func() {
		if done := n.Add(1); watched {
			fmt.Fprintf(stderr, "\r%d of %d mutants", done, len(mutants))
		}
	})
	if watched {
		fmt.Fprint(stderr, "\r\x1b[K")
	}
	return matrix(stdout, results, flags.NArg() > 0), nil
}

// choose gives the mutants of the names, or all.
func choose(mutants []Mutant, names []string) ([]Mutant, error) {
	if len(names) == 0 {
		return mutants, nil
	}
	var out []Mutant
	for _, name := range names {
		i := slices.IndexFunc(mutants, func(m Mutant) bool { return m.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no mutant %q", name)
		}
		out = append(out, mutants[i])
	}
	return out, nil
}

// moduleRoot is where the sources are.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	file := strings.TrimSpace(string(out))
	if filepath.Base(file) != "go.mod" {
		return "", errors.New("want to be run within the module")
	}
	return filepath.Dir(file), nil
}

// terminal tells whether somebody is watching.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
