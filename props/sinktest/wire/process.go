package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"sinklab/props/sinktest"
)

// ErrProcess is wrapped by every error that is no answer of the sink: the process cannot be
// started, has died by itself, is silent, or does not keep to the protocol. The text has the end
// of its standard error. Mend the process, or what starts it.
var ErrProcess = errors.New("the sink's process failed")

// ErrNoTrace says that system calls cannot be recorded here. Its text says what is missing.
var ErrNoTrace = errors.New("system calls cannot be recorded: that needs Linux, strace on the PATH (Debian and Ubuntu: apt-get install strace), and leave to use ptrace")

// ErrKilled is the error of a call in which the process was killed because the crash of the
// program had come.
var ErrKilled = errors.New("the sink's process was killed")

// Options say how the process is started.
type Options struct {
	// Command is the program and its arguments. It runs in the working directory of this process, so that relative paths
	// are what they are in a shell.
	Command []string

	// Context ends everything when it is done; nil never is. The process is killed, and the request
	// under way and all later ones fail at once, by an error that wraps ErrProcess and that of the
	// context. Close is still to be called.
	Context context.Context

	// Env is the environment; nil is that of this process.
	Env []string

	// Trace has strace record the operations on files, so that the process has not to tell them. If it tells
	// them all the same, that is ignored.
	Trace bool

	// Keep lets a process live on when its sink dies: it is told to forget the one and to start the next.
	// Where a start takes a second that makes a thousand programs bearable. To the files it makes no
	// difference, see the package's documentation; but what a process keeps in static variables outlives the
	// sink's death then, so play some programs without, and with a process and a SIGKILL for each sink.
	Keep bool

	// Timeout is how long an answer may take; 0 means a minute.
	Timeout time.Duration

	// Parent is where the directory is made that the process works in; "" is /dev/shm if there is one,
	// since sinks sync, else the system's directory for temporary files.
	Parent string

	// Observe, if it is set, is given each request and its answer, as they went over the wire, and
	// the operations in between, in order. If the crash of the program comes in between the answer
	// is nil, and the last operation is the one at which the process was killed.
	Observe func(request, answer []byte, operations []Operation)
}

func (o Options) validate() (Options, error) {
	if len(o.Command) == 0 {
		return o, fmt.Errorf("%w: Options.Command is empty", ErrProcess)
	}
	if _, err := exec.LookPath(o.Command[0]); err != nil {
		return o, fmt.Errorf("%w: it cannot be started: %w", ErrProcess, err)
	}
	if o.Timeout < 0 {
		return o, fmt.Errorf("%w: Options.Timeout %v is less than 0", ErrProcess, o.Timeout)
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.Parent == "" {
		if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
			o.Parent = "/dev/shm"
		}
	}
	if o.Trace {
		if err := canTrace(); err != nil {
			return o, err
		}
	}
	return o, nil
}

// canTrace tells why system calls cannot be recorded. That strace is there is not enough.
func canTrace() error {
	args := straceArgs()
	if _, err := exec.LookPath(args[0]); err != nil {
		return fmt.Errorf("%w (%w)", ErrNoTrace, err)
	}
	record, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("%w (%w)", ErrNoTrace, err)
	}
	defer record.Close()
	cmd := exec.Command(args[0], append(args[1:], "/bin/true")...)
	cmd.ExtraFiles = []*os.File{record}
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w (%w: %s)", ErrNoTrace, err, bytes.TrimSpace(said))
	}
	return nil
}

// Process starts the processes of a sink, one after the other, as many as its programs need. It
// must not be used by two goroutines at once.
//
// On Unix each runs in a process group of its own, and it is the group that is killed: what the process
// has started too, unless that has left the group (setsid, setpgid, a daemon). Such a process lives on, with Close
// as without, and to end it is up to who has started it. Elsewhere the process is killed alone.
type Process struct {
	options Options
	parent  string // removed at the end
	dir     string // that the sinks write in
	running *running
	started int
	err     error // the first that wraps ErrProcess
}

// Open prepares to start a process; none is started yet. Close it.
func Open(o Options) (*Process, error) {
	o, err := o.validate()
	if err != nil {
		return nil, err
	}
	parent, err := os.MkdirTemp(o.Parent, "sinklab-wire-")
	if err == nil {
		// The kernel knows the directory without links, and so do the operations recorded.
		parent, err = filepath.EvalSymlinks(parent)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProcess, err)
	}
	return &Process{options: o, parent: parent, dir: filepath.Join(parent, "out")}, nil
}

// Dir is the directory that the sinks are given.
func (p *Process) Dir() string { return p.dir }

// Started counts the processes that were started so far.
func (p *Process) Started() int { return p.started }

// Err is the first error that was no answer of the sink; it wraps [ErrProcess]. While it is not
// nil, a table of verdicts says nothing about the sink.
func (p *Process) Err() error { return p.err }

// Close kills the process, with its group, and removes its directory. It returns Err, or what the removal has met.
func (p *Process) Close() error {
	p.kill()
	return errors.Join(p.err, os.RemoveAll(p.parent))
}

// Kind is the kind of sinks that the process is. Give it a name, and say what else it promises or
// lacks. Do not test two kinds of one Process at once.
func (p *Process) Kind() sinktest.Kind {
	return sinktest.Kind{
		Name: filepath.Base(p.options.Command[0]),
		New: func(s sinktest.Setup) (sinktest.Sink, error) {
			return p.start(s, request{Do: "new"})
		},
		Restore: func(s sinktest.Setup, checkpoint int64, state []byte) (sinktest.Sink, error) {
			if state == nil {
				state = []byte{} // an empty one is there too
			}
			return p.start(s, request{Do: "restore", Checkpoint: &checkpoint, State: state})
		},
		Lacks: []sinktest.Feature{sinktest.Faults},
	}
}

// start starts a sink in a directory that holds what the kit's does.
func (p *Process) start(setup sinktest.Setup, r request) (sinktest.Sink, error) {
	if p.err != nil {
		return nil, p.err
	}
	if err := p.canceled(); err != nil {
		return nil, p.note(err)
	}
	var seed [8]byte
	if _, err := io.ReadFull(setup.Random, seed[:]); err != nil {
		return nil, err
	}
	// Within what every language reads as a whole number.
	number := int64(binary.LittleEndian.Uint64(seed[:]) >> 11)
	r.Dir, r.Now, r.Seed = p.dir, &setup.Now, &number
	s := &sink{process: p, disk: NewDisk(setup.Fs, setup.Dir, p.dir), shadow: newShadow(p.dir)}
	if err := s.disk.load(s.shadow); err != nil {
		return nil, p.note(err)
	}
	if p.running == nil {
		if err := p.launch(); err != nil {
			return nil, p.note(err)
		}
	} else {
		p.running.forget()
	}
	if _, err := s.ask(r); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// note keeps an error of the process.
func (p *Process) note(err error) error {
	if p.err == nil && errors.Is(err, ErrProcess) {
		p.err = err
	}
	return err
}

// running is a process that runs.
type running struct {
	cmd      *exec.Cmd
	requests *os.File
	answers  *os.File
	lines    *bufio.Reader // of the answers
	said     *tail
	got      int64        // bytes of answers
	open     map[int]bool // numbers of the files of the sink
	old      map[int]bool // and of those before it

	// Of a process that is traced.
	record *record
	calls  *os.File
	late   *time.Timer // that closes calls, set by stop

	unwatch func() bool // the context
	once    sync.Once   // stop
	reason  error       // set before the process is killed, if it is not clear why
}

// grace is how long the end of a process that was killed is waited for. It is over at once, but for what another session
// has inherited.
const grace = time.Second

func (p *Process) launch() (err error) {
	command := p.options.Command
	if p.options.Trace {
		command = append(straceArgs(), command...)
	}
	r := &running{said: &tail{}, open: map[int]bool{}, old: map[int]bool{}}
	r.cmd = exec.Command(command[0], command[1:]...)
	r.cmd.Env, r.cmd.Stderr = p.options.Env, r.said
	r.cmd.WaitDelay = grace
	ownGroup(r.cmd)
	var ours, theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrProcess, err)
			for _, f := range ours {
				f.Close()
			}
		}
	}()
	stdin, requests, err := os.Pipe()
	if err != nil {
		return err
	}
	r.cmd.Stdin, r.requests = stdin, requests
	ours, theirs = append(ours, requests), append(theirs, stdin)
	answers, stdout, err := os.Pipe()
	if err != nil {
		return err
	}
	r.cmd.Stdout, r.answers, r.lines = stdout, answers, bufio.NewReaderSize(answers, 1<<16)
	ours, theirs = append(ours, answers), append(theirs, stdout)
	var t *tracer
	if p.options.Trace {
		if t, err = p.tracer(answers); err != nil {
			return err
		}
		calls, written, err := os.Pipe()
		if err != nil {
			return err
		}
		r.record, r.calls = newRecord(), calls
		r.cmd.ExtraFiles = []*os.File{written}
		ours, theirs = append(ours, calls), append(theirs, written)
	}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	if r.record != nil {
		go t.read(r.calls, r.record)
	}
	r.unwatch = context.AfterFunc(p.options.Context, func() { r.stop(p.canceled()) })
	p.running = r
	p.started++
	return nil
}

// tracer reads what strace writes of a process that answers on a pipe.
func (p *Process) tracer(answers *os.File) (*tracer, error) {
	name, err := pipeName(answers)
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err == nil {
		cwd, err = filepath.EvalSymlinks(cwd)
	}
	return newTracer(p.dir, cwd, name), err
}

// canceled is the error of the context, if it is done.
func (p *Process) canceled() error {
	err := p.options.Context.Err()
	if err == nil {
		return nil
	}
	if cause := context.Cause(p.options.Context); cause != err {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return fmt.Errorf("%w: %w", ErrProcess, err)
}

// stop ends the process by SIGKILL, with its group. Nobody waits for it any more, whoever else holds the pipes.
func (r *running) stop(reason error) {
	r.once.Do(func() {
		r.reason = reason
		killGroup(r.cmd)
		r.requests.Close()
		r.answers.Close()
		if r.calls == nil {
			return
		}
		// Its end is that of the last one who could still do something.
		r.late = time.AfterFunc(grace, func() { r.calls.Close() })
	})
}

// wait waits until the process is gone; it was stopped before.
func (r *running) wait() {
	r.unwatch()
	_ = r.cmd.Wait() // it was killed, and says so
	if r.record != nil {
		<-r.record.ended
		r.late.Stop()
		r.calls.Close()
	}
}

// kill ends the process by SIGKILL, with its group.
func (p *Process) kill() {
	r := p.running
	if r == nil {
		return
	}
	p.running = nil
	r.stop(nil)
	r.wait()
}

// forget has what the process still does with files that are open belong to nobody.
func (r *running) forget() {
	if r.record != nil {
		operations, _ := r.record.take(math.MaxInt64) // of a sink that is dead
		r.current(operations)
	}
	maps.Copy(r.old, r.open)
	clear(r.open)
}

// current are those operations that are not on files of a sink that was forgotten.
func (r *running) current(operations []Operation) []Operation {
	return slices.DeleteFunc(operations, func(o Operation) bool {
		switch {
		case o.FD == 0:
		case o.Do == "open":
			r.open[o.FD] = true
			delete(r.old, o.FD)
		case r.old[o.FD]:
			if o.Do == "close" {
				delete(r.old, o.FD)
			}
			return true
		case o.Do == "close":
			delete(r.open, o.FD)
		}
		return false
	})
}

// ask sends a request and reads the operations and the answer. What is missing kills the process.
func (r *running) ask(q request, timeout time.Duration) (line []byte, a answer, raw []byte, operations []Operation, err error) {
	line, err = json.Marshal(q)
	if err != nil {
		return nil, a, nil, nil, err
	}
	limit := fmt.Errorf("no answer within %v", timeout)
	timer := time.AfterFunc(timeout, func() { r.stop(limit) })
	defer timer.Stop()
	failed := func(err error) ([]byte, answer, []byte, []Operation, error) {
		r.stop(nil)
		r.wait() // so that all of its standard error is there
		switch {
		case r.reason != nil:
			err = r.reason
		case errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE):
			err = errors.New("it has ended without an answer")
		}
		if errors.Is(err, ErrProcess) {
			err = fmt.Errorf("after %s: %w", line, err)
		} else {
			err = fmt.Errorf("%w: after %s: %w", ErrProcess, line, err)
		}
		if said := strings.TrimSpace(r.said.String()); said != "" {
			err = fmt.Errorf("%w\n%s", err, said)
		}
		return line, a, nil, nil, err
	}
	if n := r.lines.Buffered(); n > 0 {
		more, _ := r.lines.Peek(n)
		return failed(fmt.Errorf("it has written more than one answer to the request before: %s", shown(more)))
	}
	if _, err := r.requests.Write(append(slices.Clip(line), '\n')); err != nil {
		return failed(err)
	}
	for {
		raw, err = r.lines.ReadBytes('\n')
		if err != nil {
			return failed(err)
		}
		r.got += int64(len(raw))
		o, told, err := parse(q, raw)
		if err != nil {
			return failed(err)
		}
		if o == nil {
			a = told
			break
		}
		operations = append(operations, *o)
	}
	if r.record != nil {
		if !r.record.wait(r.got) {
			if r.stop(nil); r.reason == limit {
				r.reason = fmt.Errorf("no system call has written the answer %s within %v: write it to standard output by write or writev", shown(raw), timeout)
			}
			return failed(errors.New("the record of its system calls has ended"))
		}
		// Instead of what it has told.
		if operations, err = r.record.take(r.got); err != nil {
			return failed(err)
		}
	}
	return line, a, raw, r.current(operations), nil
}

// tail keeps the end of what a process has said on standard error.
type tail struct{ bytes.Buffer }

const tailSize = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	if t.Len() > tailSize {
		t.Next(t.Len() - tailSize)
	}
	return t.Buffer.Write(p)
}
