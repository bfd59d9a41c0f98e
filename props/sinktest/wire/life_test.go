//go:build unix

package wire_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/props/sinktest"
	"sinklab/props/sinktest/wire"
)

func init() {
	maps.Copy(others, map[string]func() error{
		"late":             late,
		"children":         children,
		"daemon":           func() error { return meet(true) },
		"leaves a daemon":  func() error { return leaves(true) },
		"daemon, no reply": func() error { return leaves(false) },
		"silent, met": func() error {
			if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
				return err
			}
			return meet(false)
		},
	})
}

// meeting is the variable that has the address where the test waits for a process.
const meeting = "SINKLAB_WIRE_TEST_MEETING"

// meet tells the test that the process has come so far, and stays until the test lets go.
func meet(leaveGroup bool) error {
	if leaveGroup {
		if _, err := syscall.Setsid(); err != nil {
			return err
		}
	}
	c, err := net.Dial("unix", os.Getenv(meeting))
	if err != nil {
		return err
	}
	_, _ = c.Read(make([]byte, 1))
	return nil
}

// leaves starts another process that has a session of its own, and everything that this one has open.
func leaves(answers bool) error {
	lines := bufio.NewReader(os.Stdin)
	if _, err := lines.ReadString('\n'); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serving+"=daemon")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	if answers {
		fmt.Println("{}")
	}
	return cmd.Wait()
}

// answering answers each request by {}, after it was done.
func answering(do func(what, dir string) error) error {
	dir := ""
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var r struct{ Do, Dir string }
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return err
		}
		if r.Dir != "" {
			dir = r.Dir
		}
		if err := do(r.Do, dir); err != nil {
			return err
		}
		fmt.Println("{}")
	}
	return nil
}

// late is a process in which the file of a sink is written, synced and closed when the next sink has started. It tells of
// that.
func late() error {
	var file *os.File
	return answering(func(what, dir string) error {
		switch what {
		case "new":
			old := file
			if err := os.Mkdir(dir, 0o777); err != nil {
				return err
			}
			fmt.Printf(`{"file":"mkdir","path":%q}`+"\n", dir)
			if old == nil {
				return nil
			}
			fmt.Printf(`{"file":"write","path":"%s/x","fd":3,"data":"late"}`+"\n", dir)
			fmt.Printf(`{"file":"sync","path":"%s/x","fd":3}`+"\n", dir)
			fmt.Printf(`{"file":"close","path":"%s/x","fd":3}`+"\n", dir)
			_, err := old.WriteString("late")
			return errors.Join(err, old.Sync(), old.Close())
		case "write":
			var err error
			if file, err = os.Create(dir + "/x"); err != nil {
				return err
			}
			fmt.Printf(`{"file":"open","path":"%s/x","fd":3,"flags":["create","truncate"]}`+"\n", dir)
			fmt.Printf(`{"file":"write","path":"%s/x","fd":3,"data":"r0\n"}`+"\n", dir)
			_, err = file.WriteString("r0\n")
			return err
		}
		return nil
	})
}

// children is a process that has others do its work, and answers bit by bit.
func children() error {
	return answering(func(what, dir string) error {
		if what == "write" {
			script := exec.Command("sh", "-c", `cd "$0" && exec 3>x && echo r0 >&3 && (echo r1 >&3; exec 3>&-) && /bin/echo r2 >&3 &&
				exec 4>&3 3>&- && echo r3 >&4 && exec 4>&- && echo r4 >>x && mkdir a && mv x a/x`, dir)
			if out, err := script.CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			// A file that is closed here while a child still has it.
			file, err := os.Create(dir + "/y")
			if err != nil {
				return err
			}
			held := exec.Command("sh", "-c", "read -r line; echo $line; echo r6")
			held.Stdout = file
			stdin, err := held.StdinPipe()
			if err != nil {
				return err
			}
			_, err = file.WriteString("r4\n")
			if err := errors.Join(err, held.Start(), file.Close()); err != nil {
				return err
			}
			_, err = io.WriteString(stdin, "r5\n")
			return errors.Join(err, held.Wait())
		}
		if what == "new" {
			if err := os.Mkdir(dir, 0o777); err != nil {
				return err
			}
		}
		said, err := exec.Command("/bin/echo", "hi").Output()
		if string(said) != "hi\n" {
			return fmt.Errorf("echo says %q", said)
		}
		return err
	})
}

func setup(f *fsmem.FS) sinktest.Setup {
	return sinktest.Setup{Fs: f, Dir: "/sink", Random: rand.NewChaCha8([32]byte{})}
}

// What children write counts, by whatever number, and what they close does not.
func TestTraceChildren(t *testing.T) {
	p := open(t, "children", wire.Options{Trace: true, Timeout: 20 * time.Second})
	f := fsmem.New(fsmem.Options{})
	s, err := p.Kind().New(setup(f))
	for _, do := range []func() error{
		func() error { return s.Write("r", 1) },
		func() error { return s.Commit(1) },
	} {
		if err == nil {
			err = do()
		}
	}
	if err := errors.Join(err, p.Err()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"/sink/a/x": "r0\nr1\nr2\nr3\nr4\n", "/sink/y": "r4\nr5\nr6\n"} {
		if got, err := afero.ReadFile(f, name); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v; want %q", name, got, err, want)
		}
	}
}

// An answer is what the test reads, whatever else is written to a file descriptor 1, or to a pipe.
func TestTraceBehindAnother(t *testing.T) {
	for what, command := range map[string][]string{
		"silent about files": {"sh", "-c", `x=$(/bin/echo hi); /bin/echo hi | /bin/cat >/dev/null; exec "$0"`},
		"rolling":            nil, // its operations come by both ways, and count once
	} {
		p := open(t, what, wire.Options{Trace: true, Command: command, Timeout: 20 * time.Second})
		v, err := sinktest.Play(p.Kind(), "open tick=1\nwrite a/r0\nwrite a/r1\ncheckpoint 1\ncomplete 1\n")
		if err := errors.Join(err, p.Err()); err != nil || v.Violation != nil {
			t.Errorf("%s: %v, %v", what, v.Violation, err)
		}
	}
}

// A command is looked up where its user is.
func TestRelativeCommand(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("my-sink", []byte("#!/bin/sh\nread -r it <self && exec \"$it\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("self", []byte(self+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, trace := range []bool{false, true} {
		p := open(t, "rolling", wire.Options{Command: []string{"./my-sink"}, Trace: trace})
		if _, err := p.Kind().New(setup(fsmem.New(fsmem.Options{}))); err != nil {
			t.Errorf("trace %v: %v", trace, err)
		}
	}
}

// What a sink that was forgotten still does with its files is none of the next one.
func TestForgotten(t *testing.T) {
	for _, trace := range []bool{false, true} {
		var done []string
		p := open(t, "late", wire.Options{Keep: true, Trace: trace, Observe: func(_, _ []byte, operations []wire.Operation) {
			for _, o := range operations {
				done = append(done, o.Do)
			}
		}})
		for range 3 {
			done = nil
			f := fsmem.New(fsmem.Options{})
			s, err := p.Kind().New(setup(f))
			if err == nil {
				err = errors.Join(s.Write("r0", 1), s.Close())
			}
			if err := errors.Join(err, p.Err()); err != nil {
				t.Fatalf("trace %v: %v", trace, err)
			}
			if want := []string{"mkdir", "open", "write"}; !slices.Equal(done, want) {
				t.Errorf("trace %v: %v, want %v", trace, done, want)
			}
			if got, err := afero.ReadFile(f, "/sink/x"); err != nil || string(got) != "r0\n" {
				t.Errorf("trace %v: %q, %v", trace, got, err)
			}
		}
	}
}

// meetings is where processes are met; it lets go of them at the end.
func meetings(t *testing.T) (env string, meet func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "meet") // a short name, which sockets need
	if err != nil {
		t.Fatal(err)
	}
	address := filepath.Join(dir, "s")
	l, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Close()
		os.RemoveAll(dir)
	})
	return meeting + "=" + address, func() {
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { c.Close() })
	}
}

// A process that has left the group, with all that was open, keeps nobody waiting.
func TestDaemonIsLeft(t *testing.T) {
	for _, trace := range []bool{false, true} {
		for _, what := range []string{"leaves a daemon", "daemon, no reply"} {
			t.Run(fmt.Sprint(what, ", trace ", trace), func(t *testing.T) {
				env, meet := meetings(t)
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				p := open(t, what, wire.Options{Trace: trace, Env: []string{env}, Context: ctx})
				began := make(chan error)
				go func() {
					_, err := p.Kind().New(setup(fsmem.New(fsmem.Options{})))
					began <- err
				}()
				meet()
				if what == "daemon, no reply" {
					cancel()
				}
				if err := <-began; (err == nil) != (what == "leaves a daemon") {
					t.Error(err)
				}
				p.Close()
				if left := left(); left != "" {
					t.Errorf("left is\n%s", left)
				}
			})
		}
	}
}

// left are the goroutines of a process that is closed. Those that are about to end may do so.
func left() string {
	stacks, all := make([]byte, 1<<20), ""
	for range 10000 {
		all = string(stacks[:runtime.Stack(stacks, true)])
		if !slices.ContainsFunc([]string{"(*tracer)", "(*record)", "(*running)", "exec.(*Cmd)"}, func(own string) bool { return strings.Contains(all, own) }) {
			return ""
		}
		runtime.Gosched()
	}
	return all
}

// The end of the context ends a request under way, and all that come.
func TestContext(t *testing.T) {
	env, meet := meetings(t)
	why := errors.New("the user has had enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	p := open(t, "silent, met", wire.Options{Env: []string{env}, Context: ctx})
	go func() {
		meet()
		cancel(why)
	}()
	for _, when := range []string{"under way", "later"} {
		_, err := p.Kind().New(setup(fsmem.New(fsmem.Options{})))
		for _, want := range []error{wire.ErrProcess, context.Canceled, why} {
			if !errors.Is(err, want) || !errors.Is(p.Err(), want) {
				t.Errorf("%s: %v, %v; want %v", when, err, p.Err(), want)
			}
		}
	}
	if p.Started() != 1 {
		t.Errorf("%d processes", p.Started())
	}

	// Between two requests.
	ctx, cancel = context.WithCancelCause(context.Background())
	p = open(t, "rolling", wire.Options{Context: ctx})
	s, err := p.Kind().New(setup(fsmem.New(fsmem.Options{})))
	if err != nil {
		t.Fatal(err)
	}
	cancel(nil)
	if _, err := s.Tick(5); !errors.Is(err, context.Canceled) || !errors.Is(err, wire.ErrProcess) {
		t.Errorf("a request after the end: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	p = open(t, "rolling", wire.Options{Context: ctx})
	if _, err := p.Kind().New(setup(fsmem.New(fsmem.Options{}))); !errors.Is(err, context.Canceled) || p.Started() != 0 {
		t.Errorf("a context that has ended before: %v, %d processes", err, p.Started())
	}
}

// Requests have every key that they are said to have.
func TestRequestsAreWhole(t *testing.T) {
	var keys [][]string
	p := open(t, "fails", wire.Options{Keep: true, Observe: func(line, _ []byte, _ []wire.Operation) {
		var r map[string]any
		if err := json.Unmarshal(line, &r); err != nil {
			t.Error(err)
		}
		var own []string
		for key := range r {
			own = append(own, key)
		}
		slices.Sort(own)
		keys = append(keys, own)
	}})
	s := setup(fsmem.New(fsmem.Options{}))
	s.Random = zeros{}
	for _, state := range [][]byte{nil, {}} {
		if _, err := p.Kind().Restore(s, 0, state); err != nil {
			t.Fatal(err)
		}
	}
	sink, err := p.Kind().New(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Write("", 0); err == nil || p.Err() != nil {
		t.Errorf("a directory was made twice: %v, %v", err, p.Err())
	}
	restore := []string{"checkpoint", "dir", "do", "now", "seed", "state"}
	want := [][]string{restore, restore, {"dir", "do", "now", "seed"}, {"do", "now", "record"}}
	if !reflect.DeepEqual(keys, want) {
		t.Errorf("got %v, want %v", keys, want)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
