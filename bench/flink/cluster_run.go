package flink

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"sinklab/bench/watch"
	"sinklab/sinkcore"
)

// ErrClusterOptions says that an option of ClusterOptions cannot work; the text says which.
var ErrClusterOptions = errors.New("bad option")

// ClusterOptions say what runs on the cluster. The zero value is a run of a minute.
type ClusterOptions struct {
	Rate        float64       // records a second; 0 means 200
	For         time.Duration // how long records arrive; 0 means 45 s
	Size        int           // bytes of a record with its newline, at least 34; 0 means 100
	Buckets     int           // 0 means 1
	Parallelism int           // 0 means 4, the most that fits
	Kills       int           // how many task managers are killed, in turns; 0 means 2, negative none

	// Policy is sinkcore.Default, OnCheckpoint or Deadline, which Flink has too. nil means a
	// Default with 2 s of age and idleness.
	Policy     sinkcore.RollingPolicy
	Check      time.Duration // between two checks of the files' age; 0 means 500 ms
	Checkpoint time.Duration // between two checkpoints; 0 means 1 s

	// Dir is where the cluster and the job write; "" is a directory for temporary files, which
	// is removed.
	Dir string

	// Progress, if not nil, is told what is done next.
	Progress func(doing string)
}

const (
	clusterTaskManagers = 2
	clusterLeastSize    = 34 // a time, a number and two commas
)

// Validate returns an error that wraps ErrClusterOptions if an option cannot work, or that of
// the policy. RunCluster does the same.
func (o ClusterOptions) Validate() error {
	_, err := o.validate()
	return err
}

func (o ClusterOptions) validate() (ClusterOptions, error) {
	setIfZero(&o.Rate, 200)
	setIfZero(&o.For, 45*time.Second)
	setIfZero(&o.Size, 100)
	setIfZero(&o.Buckets, 1)
	setIfZero(&o.Parallelism, clusterTaskManagers*clusterSlots)
	setIfZero(&o.Kills, 2)
	setIfZero(&o.Check, 500*time.Millisecond)
	setIfZero(&o.Checkpoint, time.Second)
	if o.Policy == nil {
		o.Policy = sinkcore.Default{Rollover: 2 * time.Second, Inactivity: 2 * time.Second}
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	switch {
	case o.Size > 0 && o.Size < clusterLeastSize:
		return o, fmt.Errorf("%w: a record of %d bytes: must have at least %d", ErrClusterOptions, o.Size, clusterLeastSize)
	case o.Rate <= 0, o.For <= 0, o.Size < 0, o.Buckets < 0, o.Check <= 0, o.Checkpoint <= 0:
		return o, fmt.Errorf("%w: rate, time, size, buckets and intervals must not be negative", ErrClusterOptions)
	case o.Parallelism < 1 || o.Parallelism > clusterTaskManagers*clusterSlots:
		return o, fmt.Errorf("%w: parallelism %d: must be from 1 to %d", ErrClusterOptions, o.Parallelism, clusterTaskManagers*clusterSlots)
	}
	_, err := policyFlags(o.Policy)
	return o, err
}

func setIfZero[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

// policyFlags are the flags of the Java class RecordsJob for a policy.
func policyFlags(p sinkcore.RollingPolicy) ([]string, error) {
	switch p := p.(type) {
	case sinkcore.Default:
		p = p.Filled()
		return []string{"--policy", "rolling", "--rollover", flinkTime(p.Rollover), "--inactivity", flinkTime(p.Inactivity), "--part-size", strconv.FormatInt(p.Size, 10) + " b"}, p.Validate()
	case sinkcore.OnCheckpoint:
		return []string{"--policy", "oncheckpoint"}, nil
	case sinkcore.Deadline:
		return []string{"--policy", "deadline", "--within", flinkTime(p.Within), "--duration", flinkTime(p.Duration), "--part-size", strconv.FormatInt(p.Target, 10) + " b"}, p.Validate()
	}
	return nil, fmt.Errorf("%w: policy %v: Flink has default, rolling, oncheckpoint and deadline", ErrClusterOptions, p)
}

func flinkTime(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + " ms" }

// flags are those of the whole job.
func (o ClusterOptions) flags(output string, count int64) ([]string, error) {
	flags, err := policyFlags(o.Policy)
	return append([]string{"--output", output, "--count", strconv.FormatInt(count, 10), "--rate", strconv.FormatFloat(o.Rate, 'g', -1, 64),
		"--size", strconv.Itoa(o.Size), "--buckets", strconv.Itoa(o.Buckets), "--check", flinkTime(o.Check), "--checkpoint", flinkTime(o.Checkpoint)}, flags...), err
}

// ClusterResult is what a reader of the output saw. Durations are in milliseconds.
type ClusterResult struct {
	Written    int64         `json:"written"` // records that the source was to send
	Visible    int64         `json:"visible"` // records, each counted once
	Twice      int64         `json:"twice"`
	Missing    int64         `json:"missing"`
	Files      int64         `json:"files"`
	Changed    int64         `json:"changed"` // files that changed after they were visible
	Hidden     int64         `json:"hidden"`  // in-progress files of dead attempts, which Flink leaves for ever
	Outages    []ClusterStop `json:"outages"`
	P50        int64         `json:"p50_ms"`      // latency, from when a record was to arrive
	P99        int64         `json:"p99_ms"`      // likewise
	Max        int64         `json:"max_ms"`      // likewise
	ClosedForm int64         `json:"closed_ms"`   // sinkcore.WorstLatency for the checkpoints as they were
	Bound      int64         `json:"bound_ms"`    // the closed form, the longest outage and the resolution of the watch
	Interval   int64         `json:"interval_ms"` // between two checkpoints, the longest without an outage
	Duration   int64         `json:"duration_ms"` // of a checkpoint, the longest
	Account    Account       `json:"account"`
	Watch      watch.Result  `json:"-"`
}

// ClusterStop is an outage: a task manager was killed.
type ClusterStop struct {
	TaskManager int   `json:"task_manager"`
	At          int64 `json:"at_ms"`     // the kill, from the first record's arrival on
	Length      int64 `json:"length_ms"` // from the start of the last checkpoint that completed before to the first that started after, and a check interval
}

// Holds tells whether every record is visible once, no visible file changed, no record came
// later than the bound, and the files agree with the watch about when they became visible.
func (r ClusterResult) Holds() bool {
	return r.Visible == r.Written && r.Twice == 0 && r.Missing == 0 && r.Changed == 0 && r.Max <= r.Bound && r.Account.Agrees()
}

// RunCluster starts a cluster of one job manager and two task managers, submits the job
// with Flink's own client, kills task managers by SIGKILL in mid-run and starts each anew,
// and watches the directory until the job has ended. No process is left when it returns.
//
// Records carry the time at which they were to arrive and their number. After an outage the
// source sends at once what has become due, so a record's latency has the outage in it.
// The bound is sinkcore.WorstLatency and the longest outage: what was written after the
// last completed checkpoint is written anew, so the outage counts from that checkpoint's
// start until the first one after the kill starts; and a restore begins the check timer
// anew, which costs a check interval.
//
// The error wraps [ErrCluster] if the cluster failed, or ErrClusterOptions.
func RunCluster(ctx context.Context, m *Module, o ClusterOptions) (result ClusterResult, err error) {
	if o, err = o.validate(); err != nil {
		return result, err
	}
	dir := o.Dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "sinklab-cluster-"); err != nil {
			return result, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return result, err
	}
	o.Progress("starting a job manager and two task managers")
	c, err := StartCluster(ctx, m, dir, clusterTaskManagers)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	output := filepath.Join(dir, "out")
	result.Written = int64(o.Rate * o.For.Seconds())
	flags, err := o.flags(output, result.Written)
	if err != nil {
		return result, err
	}
	w, stopWatch, err := startWatch(ctx, output)
	if err != nil {
		return result, err
	}
	defer stopWatch()
	o.Progress("submitting the job")
	job, err := c.Submit(ctx, o.Parallelism, flags)
	if err != nil {
		return result, err
	}
	kills, err := c.killInTurn(ctx, job, o)
	if err != nil {
		return result, err
	}
	o.Progress("waiting for the end of the job")
	err = c.await(ctx, "the end of the job", func() (bool, error) {
		state, err := c.state(ctx, job)
		return state == "FINISHED", err
	})
	if err != nil {
		return result, err
	}
	checkpoints, err := c.checkpoints(ctx, job)
	if err != nil {
		return result, err
	}
	if err := c.Stop(); err != nil {
		return result, err
	}
	stopWatch()
	result.Watch = w.Result()
	if err := result.count(output); err != nil {
		return result, err
	}
	if result.Account, err = account(output, w); err != nil {
		return result, err
	}
	return result, result.judge(o, checkpoints, kills)
}

// kill is a task manager's end.
type kill struct {
	taskManager int
	at          int64
}

// killInTurn kills task managers and starts them anew, each when the outage before is
// over and all its records should be visible.
func (c *Cluster) killInTurn(ctx context.Context, job string, o ClusterOptions) ([]kill, error) {
	var kills []kill
	after := int64(0) // a checkpoint that started after this must complete first
	const before = 2  // checkpoints in between
	for i := range max(o.Kills, 0) {
		o.Progress(fmt.Sprintf("waiting until the job runs well: %d of %d killed", i, o.Kills))
		err := c.await(ctx, "checkpoints", func() (bool, error) {
			if state, err := c.state(ctx, job); err != nil || state == "FINISHED" {
				return false, errors.Join(err, fmt.Errorf("%w: the job has ended before %d task managers were killed; let it run longer", ErrClusterOptions, o.Kills))
			}
			checkpoints, err := c.checkpoints(ctx, job)
			since := 0
			for _, p := range checkpoints {
				if p.Started > after {
					since++
				}
			}
			// A policy's closed form is over after so many: a part that was open at the kill is
			// visible then.
			closed, _ := sinkcore.WorstLatency(o.Policy, sinkcore.Schedule{Check: o.Check, Checkpoint: o.Checkpoint})
			return since >= before+int(closed/o.Checkpoint), err
		})
		if err != nil {
			return kills, err
		}
		number := i % clusterTaskManagers
		o.Progress(fmt.Sprintf("task manager %d is killed", number))
		at, err := c.KillTaskManager(number)
		if err == nil {
			err = c.StartTaskManager(ctx, number)
		}
		if err != nil {
			return kills, err
		}
		after = at.UnixMilli()
		kills = append(kills, kill{number, after})
	}
	if len(kills) == 0 {
		return nil, nil
	}
	o.Progress("waiting for the restart")
	return kills, c.await(ctx, "the first checkpoint after the restart", func() (bool, error) {
		checkpoints, err := c.checkpoints(ctx, job)
		return len(checkpoints) > 0 && checkpoints[len(checkpoints)-1].Started > after, err
	})
}

// startWatch watches a directory of records until stop is called.
func startWatch(ctx context.Context, dir string) (w *watch.Watcher, stop func(), err error) {
	options := watch.Options{Dir: dir, Format: watch.Format{Kind: watch.CSV, Time: "1", ID: "2"}}
	kernel, err := watch.NewKernel()
	if err == nil { // else the directory is listed
		options.Notices = kernel
	}
	if w, err = watch.New(options); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	ticker := time.NewTicker(watch.DefaultEvery)
	go func() {
		defer close(ended)
		w.Run(ctx, ticker.C, nil)
	}()
	return w, func() {
		cancel()
		<-ended
		ticker.Stop()
		if kernel != nil {
			kernel.Close() // again does no harm
		}
	}, nil
}

// count reads all visible files anew.
func (r *ClusterResult) count(output string) error {
	times := make([]uint8, r.Written)
	var strange error
	err := eachRecord(output, func(path, record string) error {
		n, err := recordOffset(record)
		if err != nil || n >= r.Written {
			strange = fmt.Errorf("%w: %s has the line %.40q", ErrCluster, path, record)
			return strange
		}
		if times[n] < 2 {
			times[n]++
		}
		return nil
	})
	for _, n := range times {
		switch n {
		case 0:
			r.Missing++
		case 1:
			r.Visible++
		default:
			r.Visible++
			r.Twice++
		}
	}
	if err != nil {
		return err
	}
	return filepath.WalkDir(output, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name()[0] == '.' {
			r.Hidden++
		}
		return err
	})
}

// judge computes the bound from the checkpoints as they were.
func (r *ClusterResult) judge(o ClusterOptions, checkpoints []clusterCheckpoint, kills []kill) error {
	r.Files, r.Changed = r.Watch.Files, r.Watch.Changed
	r.P50, r.P99, r.Max = r.Watch.Latency(50).Milliseconds(), r.Watch.Latency(99).Milliseconds(), r.Watch.Latency(100).Milliseconds()
	r.Interval = o.Checkpoint.Milliseconds()
	for i, c := range checkpoints {
		r.Duration = max(r.Duration, c.Duration)
		if i == 0 {
			continue
		}
		from, to := checkpoints[i-1].Started, c.Started
		if !slices.ContainsFunc(kills, func(k kill) bool { return from <= k.at && k.at < to }) {
			r.Interval = max(r.Interval, to-from)
		}
	}
	longest := int64(0)
	for _, k := range kills {
		before, after := int64(-1), int64(-1)
		for _, c := range checkpoints {
			if c.Started+c.Duration <= k.at {
				before = c.Started
			} else if c.Started > k.at && after < 0 {
				after = c.Started
			}
		}
		if before < 0 || after < 0 {
			return fmt.Errorf("%w: no checkpoint completed before or after a kill", ErrCluster)
		}
		length := after - before + o.Check.Milliseconds()
		longest = max(longest, length)
		r.Outages = append(r.Outages, ClusterStop{TaskManager: k.taskManager, At: k.at - r.Watch.Started, Length: length})
	}
	closed, bounded := sinkcore.WorstLatency(o.Policy, sinkcore.Schedule{Check: o.Check,
		Checkpoint: time.Duration(r.Interval) * time.Millisecond, Duration: time.Duration(r.Duration) * time.Millisecond})
	if !bounded {
		return fmt.Errorf("%w: policy %v states no worst latency", ErrClusterOptions, o.Policy)
	}
	r.ClosedForm = closed.Milliseconds()
	r.Bound = r.ClosedForm + longest + r.Watch.Resolution
	return nil
}
