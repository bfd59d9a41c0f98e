package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"sinklab/sinkcore/live"
)

// killsVariable raises the number of kills, for a soak.
const killsVariable = "SINKLAB_KILLS"

// Real processes on a real disk are killed at random moments and started again, while
// their input grows. Between two kills everything that a reader sees must be covered by
// the newest stored checkpoint, and no visible file may change or vanish; in the end
// each line is there once, in order within each file.
//
// Processes have no virtual time, so the moments are real. They are drawn from a fixed
// seed, but where in the program a kill falls is the machine's to decide. So the test
// counts where they fell, and fails if it tested too little.
func TestPropKill(t *testing.T) {
	kills := 100
	if s := os.Getenv(killsVariable); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			t.Fatalf("%s=%q: want a number greater than 0", killsVariable, s)
		}
		kills = n
	}
	k := newKiller(t)
	begun := time.Now()
	early, between, visible := 0, 0, 0
	for i := range kills {
		k.grow()
		before := k.newest().Checkpoint.ID
		p := k.start("--follow")
		if i%4 > 0 { // most of them once the job has done something, the others wherever the start is
			k.awaitCheckpoint(p, before)
			k.grow()
		}
		time.Sleep(time.Duration(k.random.IntN(25_000)) * time.Microsecond)
		k.kill(p)
		after := k.newest().Checkpoint.ID
		if after == before {
			early++
		} else {
			between++
		}
		if k.look() {
			visible++
		}
	}
	k.finish()
	t.Logf("%d kills in %v: %d before a checkpoint of their process, %d after; %d made something visible; %d lines, %d files",
		kills, time.Since(begun).Round(time.Millisecond), early, between, visible, k.lines, len(k.seen))
	if kills >= 100 && (early < kills/20 || between < kills/4 || visible < kills/4) {
		t.Errorf("the kills fell too unevenly to say much")
	}
}

// killer is a job and those who watch it.
type killer struct {
	t       *testing.T
	program string
	input   string
	out     string
	random  *rand.Rand

	lines   int             // written to the input so far, which is also the next line's number
	halved  string          // the rest of a line of which only the first half is in the input
	offsets []int64         // of the end of each line
	size    int64           // of the input
	seen    map[string]seen // visible files by path
}

func newKiller(t *testing.T) *killer {
	dir := t.TempDir()
	k := &killer{
		t: t, program: filepath.Join(dir, "sinklab"), input: filepath.Join(dir, "input"), out: filepath.Join(dir, "out"),
		random: rand.New(rand.NewPCG(1, 2)), seen: map[string]seen{},
	}
	build(t, k.program)
	return k
}

func build(t *testing.T, program string) {
	t.Helper()
	if text, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
}

// grow appends lines to the input, and often half a line.
func (k *killer) grow() {
	var b bytes.Buffer
	b.WriteString(k.halved)
	if k.halved != "" {
		k.offsets = append(k.offsets, k.size+int64(b.Len()))
	}
	k.halved = ""
	for range 1 + k.random.IntN(60) {
		fmt.Fprintf(&b, "b%d:%d %s\n", k.random.IntN(3), k.lines, strings.Repeat("x", k.random.IntN(200)))
		k.lines++
		k.offsets = append(k.offsets, k.size+int64(b.Len()))
	}
	if k.random.IntN(2) == 0 {
		k.halved = fmt.Sprintf(":%d half\n", k.lines)
		k.lines++
		b.WriteString("b1")
	}
	k.write(b.Bytes())
}

func (k *killer) write(text []byte) {
	f, err := os.OpenFile(k.input, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		k.t.Fatal(err)
	}
	if _, err := f.Write(text); err != nil {
		k.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		k.t.Fatal(err)
	}
	k.size += int64(len(text))
}

// process is one of the job.
type process struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
	gone           chan error
}

// start starts the job with a policy, a parallelism and a retention that change.
func (k *killer) start(more ...string) *process {
	policies := []string{"policy=oncheckpoint", "policy=rolling rollover=8 size=4000", "policy=rolling rollover=1 inactivity=1", "policy=oncheckpoint+rolling size=300"}
	p := &process{gone: make(chan error, 1)}
	p.Cmd = exec.Command(k.program, append([]string{"write", k.input, "--dir", k.out, "--json",
		"--policy", policies[k.random.IntN(len(policies))], "--parallelism", strconv.Itoa(1 + k.random.IntN(3)), "--retain", strconv.Itoa(1 + k.random.IntN(3)),
		"--check", "3ms", "--checkpoint", strconv.Itoa(5+k.random.IntN(6)) + "ms", "--poll", "1ms", "--bucket", "before=:"}, more...)...)
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	if err := p.Start(); err != nil {
		k.t.Fatal(err)
	}
	go func() { p.gone <- p.Wait() }()
	return p
}

// awaitCheckpoint waits until the job has stored a checkpoint after one.
func (k *killer) awaitCheckpoint(p *process, before int64) {
	for deadline := time.Now().Add(30 * time.Second); k.newestID() <= before; time.Sleep(200 * time.Microsecond) {
		select {
		case err := <-p.gone:
			k.t.Fatalf("ended by itself: %v\n%s", err, &p.stderr)
		default:
		}
		if time.Now().After(deadline) {
			_ = p.Process.Kill()
			k.t.Fatalf("no checkpoint in 30 s")
		}
	}
}

// kill ends the process as a crash does and waits until it is gone.
func (k *killer) kill(p *process) {
	if err := p.Process.Kill(); err != nil {
		k.t.Fatalf("%v\n%s", err, &p.stderr)
	}
	<-p.gone
	if s := p.ProcessState.Sys().(syscall.WaitStatus); !s.Signaled() || p.stderr.Len() > 0 {
		k.t.Fatalf("ended by itself: %v\n%s", p.ProcessState, &p.stderr)
	}
}

// newest is the checkpoint that the next start will go on from, of a job that is dead.
func (k *killer) newest() live.Stored {
	s, _, err := live.Newest(afero.NewOsFs(), k.out)
	if err != nil {
		k.t.Fatal(err)
	}
	return s
}

// newestID is that of the newest checkpoint of a job that runs.
func (k *killer) newestID() int64 {
	files, err := live.List(afero.NewOsFs(), k.out)
	if err != nil {
		k.t.Fatal(err)
	}
	if len(files) == 0 {
		return 0
	}
	return files[0].ID
}

// look checks what a reader sees while no process runs, and tells whether there is
// anything new. Of files seen before it looks only whether they were touched; finish
// compares their content.
func (k *killer) look() (more bool) {
	now := k.list()
	covered := int64(0)
	if s := k.newest(); s.Position != nil {
		var p live.FilesPosition
		if err := p.UnmarshalBinary(s.Position); err != nil {
			k.t.Fatal(err)
		}
		covered = p.Offset
	}
	for path, f := range k.seen {
		if info := now[path]; info == nil || !os.SameFile(info, f.info) || info.Size() != f.info.Size() || !info.ModTime().Equal(f.info.ModTime()) {
			k.t.Fatalf("%s was visible, and has changed or vanished", path)
		}
	}
	for path, info := range now {
		if _, old := k.seen[path]; old {
			continue
		}
		more = true
		text := k.read(path)
		k.seen[path] = seen{info, text}
		for line := range strings.Lines(text) {
			if n := k.number(path, line); k.offsets[n] > covered {
				k.t.Fatalf("%s: line %d ends at %d and is visible, but the newest checkpoint covers %d bytes", path, n, k.offsets[n], covered)
			}
		}
	}
	return more
}

// seen is a visible file as it was when it was seen first.
type seen struct {
	info fs.FileInfo
	text string
}

// list returns the visible files.
func (k *killer) list() map[string]fs.FileInfo {
	files := map[string]fs.FileInfo{}
	err := filepath.WalkDir(k.out, func(path string, d fs.DirEntry, err error) error {
		switch {
		case os.IsNotExist(err) && path == k.out:
			return nil // killed before it was made
		case err != nil:
			return err
		case path != k.out && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		files[path], err = d.Info()
		return err
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return files
}

func (k *killer) read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		k.t.Fatal(err)
	}
	return string(text)
}

// number is that of a visible line, which must be whole and in the directory of its bucket.
func (k *killer) number(path, line string) int {
	bucket, rest, _ := strings.Cut(line, ":")
	number, _, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(number)
	if err != nil || !strings.HasSuffix(line, "\n") || n >= len(k.offsets) || bucket != filepath.Base(filepath.Dir(path)) {
		k.t.Fatalf("%s: unexpected line %q", path, line)
	}
	return n
}

// finish lets the job come to the end of its input and compares output with input.
func (k *killer) finish() {
	if k.halved != "" {
		k.write([]byte(k.halved))
		k.offsets = append(k.offsets, k.size)
	}
	p := k.start()
	if err := <-p.gone; err != nil || p.stderr.Len() > 0 {
		k.t.Fatalf("%v\n%s", err, &p.stderr)
	}
	var stats struct {
		Position live.FilesPosition
	}
	if err := json.Unmarshal(p.stdout.Bytes(), &stats); err != nil || stats.Position.Offset != k.size || stats.Position.Lines != int64(k.lines) {
		k.t.Errorf("%v: %s", err, &p.stdout)
	}
	k.look()
	count := make([]int, k.lines)
	got := make(map[int]string, k.lines)
	for path, f := range k.seen {
		if text := k.read(path); text != f.text {
			k.t.Errorf("%s has changed since it was seen first", path)
		}
		last := -1
		for line := range strings.Lines(f.text) {
			n := k.number(path, line)
			if n <= last {
				k.t.Errorf("%s: line %d after line %d", path, n, last)
			}
			last = n
			count[n]++
			got[n] = line
		}
	}
	input, err := os.ReadFile(k.input)
	if err != nil {
		k.t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(input)) {
		if count[n] != 1 || got[n] != line {
			k.t.Errorf("line %d is there %d times, as %.40q; it is %.40q", n, count[n], got[n], line)
		}
		n++
	}
	if hidden, err := filepath.Glob(filepath.Join(k.out, "*", ".*")); err != nil || len(hidden) > 0 {
		k.t.Errorf("left behind: %v, %v", hidden, err)
	}
}
