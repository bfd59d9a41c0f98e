package flink

import (
	"archive/zip"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"sinklab/bench/watch"
	"sinklab/sinkcore"
)

// A job manager comes up, listens on the loopback address and nowhere else, and is gone when
// the cluster has been stopped.
func TestClusterStops(t *testing.T) {
	realFlink(t)
	c, err := StartCluster(t.Context(), shared.module, t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	p := c.manager
	addresses := listening(t, p.cmd.Process.Pid)
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	select {
	case <-p.ended:
		// It has ended by itself when its standard input did, as it does when whoever started
		// it is killed.
		if status := p.cmd.ProcessState.ExitCode(); status != 0 {
			t.Errorf("the job manager has not ended by itself: status %d", status)
		}
	default:
		t.Error("the job manager still runs")
	}
	if err := c.Stop(); err != nil {
		t.Errorf("stopped again: %v", err)
	}
	if runtime.GOOS != "linux" {
		t.Skip("which addresses a process listens on is read from Linux's /proc")
	}
	if len(addresses) < 2 {
		t.Errorf("it listens on %v, want at least two ports, for the REST API and for its task managers", addresses)
	}
	for _, a := range addresses {
		if !a.IsLoopback() {
			t.Errorf("it listens on %v", a)
		}
	}
}

// listening are the addresses on which a process has TCP ports, from /proc (proc(5)).
func listening(t *testing.T, pid int) (addresses []net.IP) {
	mine := map[string]bool{}
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, "socket:[") {
			mine[strings.Trim(to, "socket:[]")] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		for line := range strings.Lines(string(text)) {
			const listen, inode = "0A", 9
			f := strings.Fields(line)
			if len(f) <= inode || f[3] != listen || !mine[f[inode]] {
				continue
			}
			raw, err := hex.DecodeString(f[1][:strings.IndexByte(f[1], ':')])
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i+4 <= len(raw); i += 4 { // words of 32 bits, of this machine's order
				raw[i], raw[i+1], raw[i+2], raw[i+3] = raw[i+3], raw[i+2], raw[i+1], raw[i]
			}
			addresses = append(addresses, net.IP(raw))
		}
	}
	return addresses
}

// A process that dies unasked is named, with what it said.
func TestClusterProcessDies(t *testing.T) {
	p := &clusterProcess{name: "job manager", said: &tail{}, ended: make(chan struct{}), result: errors.New("exit status 1")}
	fmt.Fprint(p.said, "no port left")
	close(p.ended)
	c := &Cluster{manager: p}
	err := c.await(t.Context(), "anything", func() (bool, error) { return false, nil })
	if !errors.Is(err, ErrCluster) || !strings.Contains(err.Error(), "job manager has ended (exit status 1)") || !strings.Contains(err.Error(), "no port left") {
		t.Error(err)
	}
}

// The jar has the wanted classes alone and a main class, and is always the same bytes.
func TestJobJar(t *testing.T) {
	classes, out := t.TempDir(), t.TempDir()
	for _, name := range []string{"sinklab/flink/job/RecordsJob.class", "sinklab/flink/policy/P.class", "sinklab/flink/oracle/Server.class"} {
		path := filepath.Join(classes, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(name), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	var jars [2][]byte
	for i := range jars {
		path := filepath.Join(out, strconv.Itoa(i))
		err := WriteJobJar(&Module{Classes: classes}, path)
		if err == nil {
			jars[i], err = os.ReadFile(path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(jars[0], jars[1]) {
		t.Error("two jars of the same classes differ")
	}
	jar, err := zip.NewReader(bytes.NewReader(jars[0]), int64(len(jars[0])))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range jar.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s: %s\n", f.Name, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", " ")))
	}
	want := "META-INF/MANIFEST.MF: Manifest-Version: 1.0 Main-Class: sinklab.flink.job.RecordsJob\n" +
		"sinklab/flink/job/RecordsJob.class: sinklab/flink/job/RecordsJob.class\nsinklab/flink/policy/P.class: sinklab/flink/policy/P.class\n"
	if all.String() != want {
		t.Errorf("the jar has\n%swant\n%s", all.String(), want)
	}
}

// The bound is the closed form for the checkpoints as they were, and the longest outage.
func TestClusterBound(t *testing.T) {
	checkpoints := []clusterCheckpoint{
		{ID: 1, Started: 1000, Duration: 100}, {ID: 2, Started: 2000, Duration: 300},
		{ID: 3, Started: 3000, Duration: 500}, // completes after the kill, so its work is lost
		{ID: 4, Started: 7000, Duration: 200}, {ID: 5, Started: 8250, Duration: 100},
	}
	r := ClusterResult{Watch: watch.Result{Started: 900, Resolution: 200}}
	o, err := ClusterOptions{}.validate()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.judge(o, checkpoints, []kill{{1, 3400}}); err != nil {
		t.Fatal(err)
	}
	const (
		outage   = 7000 - 2000 + 500
		interval = 1250
		duration = 500
		closed   = 2000 + 500 - 1 + interval + duration
	)
	if len(r.Outages) != 1 || r.Outages[0] != (ClusterStop{TaskManager: 1, At: 2500, Length: outage}) {
		t.Errorf("outages %+v", r.Outages)
	}
	if r.Interval != interval || r.Duration != duration || r.ClosedForm != closed || r.Bound != closed+outage+200 {
		t.Errorf("interval %d, duration %d, closed form %d, bound %d", r.Interval, r.Duration, r.ClosedForm, r.Bound)
	}
	if err := r.judge(o, checkpoints, []kill{{1, 9000}}); !errors.Is(err, ErrCluster) {
		t.Errorf("no checkpoint after the kill: %v", err)
	}
}

// Each thing that can be wrong makes the result not hold.
func TestClusterHolds(t *testing.T) {
	good := ClusterResult{Written: 10, Visible: 10, Max: 5, Bound: 5}
	if !good.Holds() {
		t.Error("a good one does not hold")
	}
	for name, spoil := range map[string]func(*ClusterResult){
		"missing": func(r *ClusterResult) { r.Missing, r.Visible = 1, 9 },
		"twice":   func(r *ClusterResult) { r.Twice = 1 },
		"changed": func(r *ClusterResult) { r.Changed = 1 },
		"late":    func(r *ClusterResult) { r.Max = 6 },
		"account": func(r *ClusterResult) { r.Account.Soonest = -1 },
	} {
		r := good
		spoil(&r)
		if r.Holds() {
			t.Errorf("%s: it holds", name)
		}
	}
}

// The records are counted from the files, and foreign ones are an error.
func TestClusterCount(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("part-1", "5,0,x\n6,1,x\n")
	write("part-2", "6,1,x\n8,3,x\n")
	write(".part-3.inprogress.1", "7,2,x\n")
	r := ClusterResult{Written: 4}
	if err := r.count(dir); err != nil || r.Visible != 3 || r.Twice != 1 || r.Missing != 1 || r.Hidden != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	write("part-4", "9,4,x\n")
	if err := (&ClusterResult{Written: 4}).count(dir); !errors.Is(err, ErrCluster) {
		t.Errorf("a record that was never written: %v", err)
	}
}

func TestClusterOptions(t *testing.T) {
	for name, o := range map[string]ClusterOptions{
		"rate":        {Rate: -1},
		"parallelism": {Parallelism: 5},
		"policy":      {Policy: sinkcore.AnyOf{}},
		"check":       {Check: -time.Second},
	} {
		if _, err := RunCluster(t.Context(), nil, o); !errors.Is(err, ErrClusterOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for policy, want := range map[sinkcore.RollingPolicy]string{
		sinkcore.Default{}:      "--policy rolling --rollover 60000 ms --inactivity 60000 ms --part-size 134217728 b",
		sinkcore.OnCheckpoint{}: "--policy oncheckpoint",
		sinkcore.Deadline{Within: 5 * time.Second, Checkpoint: time.Second}: "--policy deadline --within 5000 ms --duration 0 ms --part-size 0 b",
	} {
		flags, err := policyFlags(policy)
		if got := strings.Join(flags, " "); err != nil || got != want {
			t.Errorf("%v: %s, %v, want %s", policy, got, err, want)
		}
	}
}
