package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	// Command is the program and its arguments.
	Command []string

	// Env is the environment; nil is that of this process.
	Env []string

	// Trace has strace record the operations on files, so that the process has not to tell them.
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
	// the operations in between, in order.
	Observe func(request, answer []byte, operations []Operation)
}

func (o Options) validate() (Options, error) {
	if len(o.Command) == 0 {
		return o, fmt.Errorf("%w: Options.Command is empty", ErrProcess)
	}
	if o.Timeout < 0 {
		return o, fmt.Errorf("%w: Options.Timeout %v is less than 0", ErrProcess, o.Timeout)
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
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

// Close kills the process and removes its directory. It returns Err, or what the removal has met.
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
	var seed [8]byte
	if _, err := io.ReadFull(setup.Random, seed[:]); err != nil {
		return nil, err
	}
	// Within what every language reads as a whole number.
	r.Seed = int64(binary.LittleEndian.Uint64(seed[:]) >> 11)
	r.Dir, r.Now = p.dir, &setup.Now
	s := &sink{process: p, disk: NewDisk(setup.Fs, setup.Dir, p.dir), shadow: newShadow(p.dir)}
	if err := s.disk.load(s.shadow); err != nil {
		return nil, p.note(err)
	}
	if p.running == nil {
		if err := p.launch(); err != nil {
			return nil, p.note(err)
		}
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
	requests io.WriteCloser
	answers  *bufio.Reader
	said     *tail
	batches  chan batch // of the tracer, one for each answer
}

func (p *Process) launch() error {
	command := p.options.Command
	r := &running{said: &tail{}}
	if p.options.Trace {
		command = append(straceArgs(), command...)
	}
	r.cmd = exec.Command(command[0], command[1:]...)
	r.cmd.Env, r.cmd.Stderr, r.cmd.Dir = p.options.Env, r.said, p.parent
	r.cmd.WaitDelay = 10 * time.Second
	ownGroup(r.cmd)
	requests, err := r.cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrProcess, err)
	}
	r.requests = requests
	answers, err := r.cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrProcess, err)
	}
	r.answers = bufio.NewReaderSize(answers, 1<<16)
	var record, written *os.File
	if p.options.Trace {
		if record, written, err = os.Pipe(); err != nil {
			return fmt.Errorf("%w: %w", ErrProcess, err)
		}
		r.cmd.ExtraFiles = []*os.File{written}
	}
	err = r.cmd.Start()
	if written != nil {
		err = errors.Join(err, written.Close())
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrProcess, err)
	}
	if p.options.Trace {
		t := &tracer{dir: p.dir, pending: map[string]string{}, files: map[string]bool{}}
		r.batches = make(chan batch, 1)
		go func() {
			defer record.Close()
			t.read(record, r.batches)
		}()
	}
	p.running = r
	p.started++
	return nil
}

// kill ends the process by SIGKILL, with all that it has started.
func (p *Process) kill() {
	r := p.running
	if r == nil {
		return
	}
	p.running = nil
	if r.cmd.ProcessState == nil {
		killGroup(r.cmd)
	}
	r.requests.Close()
	if r.batches != nil {
		for range r.batches { // until the record ends
		}
	}
	_ = r.cmd.Wait() // it was killed, and says so
}

// ask sends a request and reads the operations and the answer. What is missing kills the process.
func (r *running) ask(line []byte, timeout time.Duration) (a answer, raw []byte, operations []Operation, err error) {
	timer := time.AfterFunc(timeout, func() { killGroup(r.cmd) })
	defer timer.Stop()
	failed := func(err error) (answer, []byte, []Operation, error) {
		killGroup(r.cmd)
		_ = r.cmd.Wait() // so that all of its standard error is there
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) {
			err = errors.New("it has ended without an answer")
			if !timer.Stop() {
				err = fmt.Errorf("no answer within %v", timeout)
			}
		}
		err = fmt.Errorf("%w: after %s: %w", ErrProcess, bytes.TrimSpace(line), err)
		if said := strings.TrimSpace(r.said.String()); said != "" {
			err = fmt.Errorf("%w\n%s", err, said)
		}
		return a, nil, nil, err
	}
	if _, err := r.requests.Write(append(line, '\n')); err != nil {
		return failed(err)
	}
	for {
		raw, err = r.answers.ReadBytes('\n')
		if err != nil {
			return failed(err)
		}
		var either struct {
			answer
			Operation
		}
		if err := json.Unmarshal(raw, &either); err != nil {
			return failed(fmt.Errorf("%q is no answer: %w", bytes.TrimSpace(raw), err))
		}
		if either.Do == "" {
			a = either.answer
			break
		}
		operations = append(operations, either.Operation)
	}
	if r.batches == nil {
		return a, raw, operations, nil
	}
	done, ok := <-r.batches
	if !ok {
		return failed(errors.New("the record of its system calls has ended"))
	}
	if done.err != nil {
		return failed(done.err)
	}
	return a, raw, append(operations, done.operations...), nil
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
