package flink

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ErrCluster says that a process of the cluster has died unasked, or that the cluster did not
// do in time what it was asked for. The text has what it said last.
var ErrCluster = errors.New("the Flink cluster failed")

const (
	loopback     = "127.0.0.1"
	clusterSlots = 2 // of a task manager
	clusterWait  = 2 * time.Minute
	clusterPoll  = 100 * time.Millisecond

	// guarded is the Java class that ends a process when its standard input ends.
	guarded = "sinklab.flink.job.Guarded"
)

// Cluster is a standalone Flink cluster on this machine: a job manager and task managers with
// two slots each, every one a process of its own, which listen on the loopback address only.
//
// Stop it in the end. However this process ends, by SIGKILL too, those of the cluster
// end with it: their standard input does. Its methods are for one goroutine.
type Cluster struct {
	module   *Module
	launch   *Module // Flink and the guard, without the job's classes
	dir      string
	jar      string
	rest     string // address
	manager  *clusterProcess
	tasks    []*clusterProcess // by number, the newest process of each
	starts   int
	children []*clusterProcess // all that were ever started
}

type clusterProcess struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.Closer
	said   *tail
	ended  chan struct{} // closed when it has ended
	result error         // then
}

// StartCluster starts a job manager and so many task managers, and waits until all have
// registered, some ten seconds. Dir must exist; what the cluster writes is in it, its
// checkpoints too, and stays. The error wraps [ErrCluster] if the cluster did not come up;
// nothing runs then.
func StartCluster(ctx context.Context, m *Module, dir string, taskManagers int) (c *Cluster, err error) {
	c = &Cluster{module: m, dir: dir, jar: filepath.Join(dir, "records.jar"), tasks: make([]*clusterProcess, taskManagers)}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	guard := filepath.Join(dir, "guard.jar")
	guardClass := strings.ReplaceAll(guarded, ".", "/")
	if err := errors.Join(writeJar(m.Classes, c.jar, "sinklab/flink/job/", "sinklab/flink/policy/"), writeJar(m.Classes, guard, guardClass)); err != nil {
		return c, err
	}
	c.launch = &Module{Java: m.Java, Classes: guard, ClassPath: m.ClassPath}
	ports, err := freePorts(2)
	if err != nil {
		return c, err
	}
	c.rest = net.JoinHostPort(loopback, strconv.Itoa(ports[1]))
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(c.config(ports[0], ports[1])), 0o644); err != nil {
		return c, err
	}
	if c.manager, err = c.start(ctx, "job manager", "-Xmx384m", "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"); err != nil {
		return c, err
	}
	for i := range c.tasks {
		if err := c.StartTaskManager(ctx, i); err != nil {
			return c, err
		}
	}
	return c, c.await(ctx, "the task managers to register", func() (bool, error) {
		var o struct {
			Slots int `json:"slots-available"`
		}
		err := c.get(ctx, "/overview", &o)
		return err == nil && o.Slots == taskManagers*clusterSlots, nil
	})
}

// config is Flink's configuration. Everything listens on the loopback address, and what a
// dead task manager leaves is noticed within a second or two instead of a minute.
func (c *Cluster) config(rpc, rest int) string {
	lines := []string{
		"jobmanager.rpc.address: " + loopback,
		"jobmanager.bind-host: " + loopback,
		"jobmanager.rpc.port: " + strconv.Itoa(rpc),
		"taskmanager.host: " + loopback,
		"taskmanager.bind-host: " + loopback,
		"rest.address: " + loopback,
		"rest.bind-address: " + loopback,
		"rest.port: " + strconv.Itoa(rest),
		"rest.bind-port: '" + strconv.Itoa(rest) + "'",
		"taskmanager.numberOfTaskSlots: " + strconv.Itoa(clusterSlots),
		"taskmanager.cpu.cores: 1.0",
		// Flink's scripts compute all of these from a total; without them each must be given.
		"taskmanager.memory.framework.heap.size: 128m",
		"taskmanager.memory.framework.off-heap.size: 64m",
		"taskmanager.memory.jvm-metaspace.size: 128m",
		"taskmanager.memory.jvm-overhead.min: 64m",
		"taskmanager.memory.jvm-overhead.max: 64m",
		"taskmanager.memory.task.heap.size: 128m",
		"taskmanager.memory.task.off-heap.size: 0m",
		"taskmanager.memory.managed.size: 16m",
		"taskmanager.memory.network.min: 32m",
		"taskmanager.memory.network.max: 32m",
		"heartbeat.interval: 500 ms",
		"heartbeat.timeout: 15 s",
		"heartbeat.rpc-failure-threshold: 2",
		"restart-strategy.type: fixed-delay",
		"restart-strategy.fixed-delay.attempts: 100",
		"restart-strategy.fixed-delay.delay: 100 ms",
		"execution.checkpointing.storage: filesystem",
		"execution.checkpointing.dir: file://" + filepath.ToSlash(filepath.Join(c.dir, "checkpoints")),
		"web.checkpoints.history: 100000",
		"io.tmp.dirs: " + c.dir,
	}
	return strings.Join(lines, "\n") + "\n"
}

// start starts a process that ends when this one does.
func (c *Cluster) start(ctx context.Context, name string, args ...string) (*clusterProcess, error) {
	heap, class := args[0], args[1]
	cmd := c.launch.Command(ctx, heap, "-XX:TieredStopAtLevel=1", "-Djava.io.tmpdir="+c.dir, guarded, class, "--configDir", c.dir)
	p := &clusterProcess{name: name, cmd: cmd, said: &tail{}, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.said, p.said
	stdin, err := cmd.StdinPipe()
	if err == nil {
		p.stdin = stdin
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCluster, name, err)
	}
	c.children = append(c.children, p)
	go func() {
		p.result = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// StartTaskManager starts task manager number i, from 0 on, which must not run.
func (c *Cluster) StartTaskManager(ctx context.Context, i int) (err error) {
	c.tasks[i], err = c.start(ctx, "task manager "+strconv.Itoa(i), "-Xmx320m", "org.apache.flink.runtime.taskexecutor.TaskManagerRunner")
	return err
}

// KillTaskManager kills task manager number i by SIGKILL, waits until it is gone and returns
// the instant of the kill.
func (c *Cluster) KillTaskManager(i int) (time.Time, error) {
	p := c.tasks[i]
	at := time.Now()
	if err := p.cmd.Process.Kill(); err != nil {
		return at, fmt.Errorf("%w: %s: %w\n%s", ErrCluster, p.name, err, p.said)
	}
	<-p.ended
	c.tasks[i] = nil
	return at, nil
}

// Submit runs Flink's own client, flink run, for the module's job with these flags, and
// returns the job's id. The error wraps [ErrCluster] and has what the client said.
func (c *Cluster) Submit(ctx context.Context, parallelism int, flags []string) (string, error) {
	args := append([]string{"-Xmx384m", "-XX:TieredStopAtLevel=1", "-Djava.io.tmpdir=" + c.dir, guarded, "org.apache.flink.client.cli.CliFrontend", "run",
		"--detached", "--parallelism", strconv.Itoa(parallelism), "--class", "sinklab.flink.job.RecordsJob", c.jar}, flags...)
	cmd := c.launch.Command(ctx, args...)
	cmd.Env = append(cmd.Env, "FLINK_CONF_DIR="+c.dir)
	if _, err := cmd.StdinPipe(); err != nil { // for the guard; it stays open until the client has ended
		return "", err
	}
	said, err := cmd.CombinedOutput()
	id := jobID.FindSubmatch(said)
	if err != nil || id == nil {
		return "", fmt.Errorf("%w: flink run: %w\n%s", ErrCluster, errOr(err, "no job id"), said)
	}
	return string(id[1]), nil
}

var jobID = regexp.MustCompile(`JobID ([0-9a-f]{32})`)

func errOr(err error, text string) error {
	if err == nil {
		err = errors.New(text)
	}
	return err
}

// clusterCheckpoint is a checkpoint as Flink's REST API tells of it.
type clusterCheckpoint struct {
	ID       int64  `json:"id"`
	Status   string `json:"status"`
	Started  int64  `json:"trigger_timestamp"` // milliseconds since 1970
	Duration int64  `json:"end_to_end_duration"`
}

// checkpoints are those of a job that have completed, in order.
func (c *Cluster) checkpoints(ctx context.Context, job string) ([]clusterCheckpoint, error) {
	var all struct {
		History []clusterCheckpoint `json:"history"` // the newest first
	}
	if err := c.get(ctx, "/jobs/"+job+"/checkpoints", &all); err != nil {
		return nil, err
	}
	var completed []clusterCheckpoint
	for i := len(all.History) - 1; i >= 0; i-- {
		if all.History[i].Status == "COMPLETED" {
			completed = append(completed, all.History[i])
		}
	}
	return completed, nil
}

// state is a job's, such as RUNNING.
func (c *Cluster) state(ctx context.Context, job string) (string, error) {
	var s struct {
		State string `json:"state"`
	}
	err := c.get(ctx, "/jobs/"+job, &s)
	if err == nil && s.State == "FAILED" {
		var failure struct {
			Root string `json:"root-exception"`
		}
		if c.get(ctx, "/jobs/"+job+"/exceptions?maxExceptions=1", &failure) == nil {
			err = fmt.Errorf("%w: the job failed: %s", ErrCluster, failure.Root)
		}
	}
	return s.State, err
}

// get asks the REST API.
func (c *Cluster) get(ctx context.Context, path string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.rest+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%w: %s: %s", ErrCluster, path, body)
	}
	if err == nil {
		err = json.Unmarshal(body, answer)
	}
	return err
}

// await asks again and again until done says so. It ends with an error if that takes too
// long or a process has died unasked.
func (c *Cluster) await(ctx context.Context, what string, done func() (bool, error)) error {
	deadline := time.Now().Add(clusterWait)
	for {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		for _, p := range append([]*clusterProcess{c.manager}, c.tasks...) {
			if p == nil {
				continue
			}
			select {
			case <-p.ended:
				return fmt.Errorf("%w: the %s has ended (%w):\n%s", ErrCluster, p.name, errOr(p.result, "status 0"), p.said)
			default:
			}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: waited %v in vain for %s", ErrCluster, clusterWait, what)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(clusterPoll):
		}
	}
}

// Stop ends every process and waits until all are gone. It may be called again.
func (c *Cluster) Stop() error {
	var errs []error
	for _, p := range c.children {
		select {
		case <-p.ended:
			continue
		default:
		}
		errs = append(errs, p.stdin.Close()) // it halts at once
		select {
		case <-p.ended:
		case <-time.After(5 * time.Second):
			errs = append(errs, p.cmd.Process.Kill())
			<-p.ended
		}
	}
	c.children = nil
	return errors.Join(errs...)
}

// freePorts finds ports that nobody listens on.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
		if err != nil {
			return nil, err
		}
		defer l.Close() // only when all are found, so that they differ
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// WriteJobJar writes the job as a jar for flink run, on any cluster of Flink 2.3:
//
//	flink run records.jar --output s3://bucket/out --rate 1000
//
// Its main class is sinklab.flink.job.RecordsJob, whose flags are those of its --help.
func WriteJobJar(m *Module, name string) error {
	return writeJar(m.Classes, name, "sinklab/flink/job/", "sinklab/flink/policy/")
}

// writeJar puts the classes whose path begins with one of the prefixes into a jar, always
// the same bytes for the same classes.
func writeJar(classes, name string, prefixes ...string) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	jar := zip.NewWriter(f)
	manifest, err := jar.Create("META-INF/MANIFEST.MF")
	if err == nil {
		_, err = io.WriteString(manifest, "Manifest-Version: 1.0\r\nMain-Class: sinklab.flink.job.RecordsJob\r\n\r\n")
	}
	if err != nil {
		return err
	}
	err = filepath.WalkDir(classes, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(classes, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		wanted := false
		for _, prefix := range prefixes {
			wanted = wanted || strings.HasPrefix(rel, prefix)
		}
		if !wanted {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		entry, err := jar.Create(rel)
		if err == nil {
			_, err = entry.Write(content)
		}
		return err
	})
	return errors.Join(err, jar.Close())
}
