package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "auto:", err)
		os.Exit(2)
	}
}

// session is one package under test.
type session struct {
	root, dir, temp string // of the module, of the package, for what is made
	binary          string
	limit           time.Duration // of processor time: the machine may be busy
	sites           []site
	slow            string // pattern of the tests that are not quick, "" for none
}

func run() error {
	parallel := flag.Int("parallel", runtime.GOMAXPROCS(0), "mutants at a time")
	limit := flag.Duration("limit", 10*time.Second, "of processor time, after which a change counts as killed")
	list := flag.Bool("list", false, "list the changes and do nothing")
	flag.Parse()
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "auto")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	root := filepath.Dir(strings.TrimSpace(string(out)))
	name := "sinkcore"
	if flag.NArg() > 0 {
		name = flag.Arg(0)
	}
	s := &session{root: root, dir: filepath.Join(root, filepath.FromSlash(name)), temp: temp, binary: filepath.Join(temp, "test"), limit: *limit}
	if err := s.build(); err != nil {
		return err
	}
	if *list {
		for _, site := range s.sites {
			fmt.Println(site)
		}
		return nil
	}
	covered, err := s.baseline()
	if err != nil {
		return err
	}
	return s.report(covered, *parallel)
}

// build compiles the tests with all changes in, and drops those that do not compile.
func (s *session) build() error {
	files, err := filepath.Glob(filepath.Join(s.dir, "*.go"))
	if err != nil {
		return err
	}
	dropped := map[int]bool{}
	for range 20 {
		replace := map[string]string{}
		s.sites = nil
		id := 0
		next := func() int { id++; return id }
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, sites, err := inFile(file, next, dropped)
			if err != nil {
				return err
			}
			s.sites = append(s.sites, sites...)
			replace[file] = filepath.Join(s.temp, filepath.Base(file))
			if err := os.WriteFile(replace[file], []byte(text), 0o666); err != nil {
				return err
			}
		}
		extra := filepath.Join(s.temp, "mutant_support.go")
		if err := os.WriteFile(extra, fmt.Appendf(nil, support, filepath.Base(s.dir)), 0o666); err != nil {
			return err
		}
		replace[filepath.Join(s.dir, "mutant_support.go")] = extra
		overlay, err := json.Marshal(map[string]any{"Replace": replace})
		if err != nil {
			return err
		}
		list := filepath.Join(s.temp, "overlay.json")
		if err := os.WriteFile(list, overlay, 0o666); err != nil {
			return err
		}
		build := exec.Command("go", "test", "-c", "-vet=off", "-gcflags=-e", "-overlay", list, "-o", s.binary, ".")
		build.Dir = s.dir
		out, err := build.CombinedOutput()
		if err == nil {
			return nil
		}
		before := len(dropped)
		s.blame(out, dropped)
		if len(dropped) == before {
			return fmt.Errorf("the changed package does not build: %w\n%s", err, out)
		}
	}
	return errors.New("the changed package does not build")
}

var (
	compileError = regexp.MustCompile(`(?m)([\w]+\.go):(\d+):\d+: `)
	mutantID     = regexp.MustCompile(`mutant(?:Number|Error|On)\((\d+)`)
)

// blame drops the changes in lines that the compiler did not take. The innermost sums
// go first: they are what has the wrong type.
func (s *session) blame(out []byte, dropped map[int]bool) {
	for _, m := range compileError.FindAllSubmatch(out, -1) {
		text, err := os.ReadFile(filepath.Join(s.temp, string(m[1])))
		if err != nil {
			continue
		}
		n, _ := strconv.Atoi(string(m[2]))
		lines := bytes.Split(text, []byte("\n"))
		if n < 1 || n > len(lines) {
			continue
		}
		for _, kind := range []string{"mutantNumber", "mutantError", "mutantOn"} {
			found := false
			for _, id := range mutantID.FindAllSubmatch(lines[n-1], -1) {
				if bytes.HasPrefix(id[0], []byte(kind)) {
					k, _ := strconv.Atoi(string(id[1]))
					dropped[k], found = true, true
				}
			}
			if found {
				break
			}
		}
	}
}

// memory is what a change may make the tests take, in KiB of address space.
const memory = 3 << 20

// command runs the test binary in the package's directory, within limits: a change may
// make a loop endless.
func (s *session) command(id int, args ...string) *exec.Cmd {
	script := fmt.Sprintf(`ulimit -t %d; ulimit -v %d; exec "$0" "$@"`, int(max(s.limit, time.Second).Seconds()), memory)
	c := exec.Command("sh", append([]string{"-c", script, s.binary}, args...)...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), "MUTANT="+strconv.Itoa(id))
	return c
}

var testTime = regexp.MustCompile(`(?m)^--- PASS: (\w+) \((\d+\.\d+)s\)`)

// baseline runs the tests with no change on, notes which are slow, and gives the changes
// that they reach.
func (s *session) baseline() (map[int]bool, error) {
	trace := filepath.Join(s.temp, "trace")
	c := s.command(0, "-test.v")
	c.Env = append(c.Env, "MUTANT_TRACE="+trace)
	out, err := c.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("the tests fail with no change on: %w\n%s", err, out)
	}
	var slow []string
	for _, m := range testTime.FindAllSubmatch(out, -1) {
		if seconds, _ := strconv.ParseFloat(string(m[2]), 64); seconds >= 0.1 {
			slow = append(slow, "^"+string(m[1])+"$")
		}
	}
	s.slow = strings.Join(slow, "|")
	text, err := os.ReadFile(trace)
	if err != nil {
		return nil, err
	}
	covered := map[int]bool{}
	for _, line := range strings.Fields(string(text)) {
		id, _ := strconv.Atoi(line)
		covered[id] = true
	}
	return covered, nil
}

// survives tells whether all tests pass with a change on.
func (s *session) survives(id int) bool {
	if s.slow != "" && !s.passes(id, "-test.skip", s.slow) {
		return false
	}
	return s.passes(id)
}

func (s *session) passes(id int, args ...string) bool {
	return s.command(id, append(args, "-test.failfast", "-test.count=1")...).Run() == nil
}

// report plays all covered changes and prints the score.
func (s *session) report(covered map[int]bool, parallel int) error {
	var reached, missed []site
	for _, site := range s.sites {
		if covered[site.id] {
			reached = append(reached, site)
		} else {
			missed = append(missed, site)
		}
	}
	info, err := os.Stderr.Stat()
	watched := err == nil && info.Mode()&os.ModeCharDevice != 0
	var mutex sync.Mutex
	var lived []site
	var done atomic.Int64
	var group sync.WaitGroup
	work := make(chan site)
	for range parallel {
		group.Go(func() {
			for site := range work {
				if s.survives(site.id) {
					mutex.Lock()
					lived = append(lived, site)
					mutex.Unlock()
				}
				if n := done.Add(1); watched {
					fmt.Fprintf(os.Stderr, "\r%d of %d", n, len(reached))
				}
			}
		})
	}
	for _, site := range reached {
		work <- site
	}
	close(work)
	group.Wait()
	if watched {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
	slices.SortFunc(lived, func(a, b site) int { return a.id - b.id })
	killed := len(reached) - len(lived)
	fmt.Printf("%d changes, %d not covered, %d killed, %d survived: %.1f %% of the covered ones killed\n",
		len(s.sites), len(missed), killed, len(lived), 100*float64(killed)/float64(max(len(reached), 1)))
	for _, site := range lived {
		fmt.Println("survived   ", site)
	}
	for _, site := range missed {
		fmt.Println("not covered", site)
	}
	return nil
}
