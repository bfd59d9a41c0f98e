package flink

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrEngine says that the Java process has died or said something that was no answer. It is
// not an answer of Flink. Start another engine.
var ErrEngine = errors.New("the Flink process failed")

// Options of an engine. The zero value is fine.
type Options struct {
	// Dir is where the programs' directories are made and removed again; "" is /dev/shm if
	// there is one, since Flink syncs every file, else the system's directory for temporary
	// files. Answers do not depend on it.
	Dir string
}

// Engine is a Java process that plays programs on Flink's operators, one at a time. It must
// not be used by two goroutines at once. When this process dies, that one ends too.
type Engine struct {
	cmd      *exec.Cmd
	requests io.WriteCloser
	answers  *bufio.Reader
	errors   *tail
	dir      string // of all programs
	programs int    // played so far; each has a directory of its own
	broken   error
}

// Start starts the Java process, which takes about a second. Close it.
func Start(ctx context.Context, m *Module, o Options) (*Engine, error) {
	if o.Dir == "" {
		if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
			o.Dir = "/dev/shm"
		}
	}
	dir, err := os.MkdirTemp(o.Dir, "sinklab-flink-")
	if err != nil {
		return nil, err
	}
	// The harness makes directories for spilling, which it never uses, in java.io.tmpdir.
	e := &Engine{dir: dir, errors: &tail{}}
	e.cmd = m.Command(ctx, "-Xmx512m", "-XX:TieredStopAtLevel=1", "-Djava.io.tmpdir="+dir, "sinklab.flink.oracle.Server")
	e.cmd.Stderr = e.errors
	requests, err := e.cmd.StdinPipe()
	if err == nil {
		e.requests = requests
		var out io.Reader
		if out, err = e.cmd.StdoutPipe(); err == nil {
			e.answers = bufio.NewReaderSize(out, 1<<16)
			err = e.cmd.Start()
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrEngine, err), os.RemoveAll(dir))
	}
	return e, nil
}

// Close ends the process and removes what it has written.
func (e *Engine) Close() error {
	err := e.requests.Close() // it ends when nothing more comes
	if wait := e.cmd.Wait(); e.broken == nil {
		err = errors.Join(err, wait)
	}
	return errors.Join(err, os.RemoveAll(e.dir))
}

// request is what the Java side is asked to do; see its Server.
type request struct {
	Do          string            `json:"do"`
	Dir         string            `json:"dir,omitempty"`
	Settings    map[string]string `json:"settings,omitempty"`
	Parallelism int               `json:"parallelism,omitempty"`
	Now         *int64            `json:"now,omitempty"`
	Checkpoint  int64             `json:"checkpoint,omitempty"`
	State       *int              `json:"state,omitempty"`
	Subtask     int               `json:"subtask"`
	Record      string            `json:"record,omitempty"`
	ID          int64             `json:"id,omitempty"`
}

// answer is what comes back.
type answer struct {
	Next       int64      `json:"next"`
	State      int        `json:"state"`
	Buckets    [][]string `json:"buckets"`
	Writers    [][][2]int `json:"writers"`
	Committers [][][2]int `json:"committers"`
	Notes      []string   `json:"notes"`
	Error      *thrown    `json:"error"`
}

// thrown is an exception of Flink's, as an error.
type thrown struct {
	Class string `json:"class"`
	Text  string `json:"text"`
}

// Error is the exception without its package.
func (t *thrown) Error() string {
	return t.Class[strings.LastIndexByte(t.Class, '.')+1:] + ": " + t.Text
}

// ask sends a request and waits for its answer. An exception is in the answer; the error
// wraps ErrEngine.
func (e *Engine) ask(r request) (answer, error) {
	var a answer
	if e.broken != nil {
		return a, e.broken
	}
	line, err := json.Marshal(r)
	if err == nil {
		_, err = e.requests.Write(append(line, '\n'))
	}
	if err == nil {
		line, err = e.answers.ReadBytes('\n')
	}
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err != nil {
		e.broken = fmt.Errorf("%w: %s: %w\n%s", ErrEngine, r.Do, err, e.errors)
	}
	return a, e.broken
}

// newDir makes a directory for the next program; that of the one before is removed.
func (e *Engine) newDir() (string, error) {
	if err := os.RemoveAll(filepath.Join(e.dir, strconv.Itoa(e.programs))); err != nil {
		return "", err
	}
	e.programs++
	dir := filepath.Join(e.dir, strconv.Itoa(e.programs))
	return dir, os.Mkdir(dir, 0o755)
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
