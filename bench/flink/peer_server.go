package flink

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// peer is a Java process that measures Flink's sink when it is asked to; see the Java class
// sinklab.flink.bench.Server. It ends when this process does.
type peer struct {
	cmd      *exec.Cmd
	requests io.WriteCloser
	answers  *bufio.Reader
	errors   *tail
}

// peerRequest is what the Java side is asked to do.
type peerRequest struct {
	Do      string   `json:"do"`
	Dir     string   `json:"dir,omitempty"`
	Encoder string   `json:"encoder,omitempty"`
	Size    int      `json:"size,omitempty"`
	Buckets int      `json:"buckets,omitempty"`
	Buffer  int      `json:"buffer,omitempty"`
	N       int      `json:"n,omitempty"`
	Flags   []string `json:"flags,omitempty"`
}

// startPeer starts the process. Temporary is where Flink may put temporary files.
func startPeer(ctx context.Context, m *Module, temporary string) (*peer, error) {
	p := &peer{errors: &tail{}}
	p.cmd = m.Command(ctx, "-Xms512m", "-Xmx512m", "-Djava.io.tmpdir="+temporary, "sinklab.flink.bench.Server")
	p.cmd.Stderr = p.errors
	var err error
	if p.requests, err = p.cmd.StdinPipe(); err == nil {
		var out io.Reader
		if out, err = p.cmd.StdoutPipe(); err == nil {
			p.answers = bufio.NewReader(out)
			err = p.cmd.Start()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEngine, err)
	}
	return p, nil
}

// ask sends a request and returns the nanoseconds that were measured.
func (p *peer) ask(r peerRequest) (int64, error) {
	line, err := json.Marshal(r)
	if err == nil {
		_, err = p.requests.Write(append(line, '\n'))
	}
	if err == nil {
		line, err = p.answers.ReadBytes('\n')
	}
	var answer struct {
		NS    int64  `json:"ns"`
		Error string `json:"error"`
	}
	if err == nil {
		err = json.Unmarshal(line, &answer)
	}
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %s: %w\n%s", ErrEngine, r.Do, err, p.errors)
	}
	return answer.NS, nil
}

// close ends the process.
func (p *peer) close() error { return errors.Join(p.requests.Close(), p.cmd.Wait()) }
