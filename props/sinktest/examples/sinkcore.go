package examples

import (
	"strings"
	"time"

	"sinklab/props/sinktest"
	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// Sinkcore is the sink of package sinkcore, with one subtask and a policy.
func Sinkcore(policy sinkcore.RollingPolicy) sinktest.Kind {
	const check = 100 * time.Millisecond
	config := func(s sinktest.Setup) sinkcore.Config[string] {
		return sinkcore.Config[string]{
			Dir: s.Dir, Policy: policy, CheckInterval: check, Encoder: sinkcore.Line[string]{},
			Assigner: sinkcore.Prefix[string](bucketOf),
		}
	}
	return sinktest.Kind{
		Name: "sinkcore, " + policy.String(),
		New: func(s sinktest.Setup) (sinktest.Sink, error) {
			job, err := sinkcore.NewJob(s.Fs, s.Random, config(s), 1, s.Now)
			if err != nil {
				return nil, err
			}
			return coreSink{job}, nil
		},
		Restore: func(s sinktest.Setup, _ int64, state []byte) (sinktest.Sink, error) {
			var c sinkcore.Checkpoint
			if err := c.UnmarshalBinary(state); err != nil {
				return nil, err
			}
			job, _, err := sinkcore.RestoreJob(s.Fs, s.Random, config(s), 1, s.Now, c)
			if err != nil {
				return nil, err
			}
			return coreSink{job}, nil
		},
		Latency: func(checkpoint, duration time.Duration) time.Duration {
			bound, _ := sinkcore.WorstLatency(policy, sinkcore.Schedule{Check: check, Checkpoint: checkpoint, Duration: duration})
			return bound
		},
		Files: func(l sinktest.Load) (least, most int) {
			if policy == (sinkcore.OnCheckpoint{}) {
				return l.Intervals, l.Intervals
			}
			return 1, l.Records
		},
		Sweep: sim.Core{}.Sweep,
	}
}

// bucketOf is the bucket of a record.
func bucketOf(record string) string { return record[:max(strings.LastIndexByte(record, '/'), 0)] }

// coreSink is a job of one subtask as a sinktest.Sink.
type coreSink struct{ job *sinkcore.Job[string] }

func (s coreSink) Write(record string, now int64) error {
	return s.job.Write(0, record, sinkcore.NoTime, sinkcore.NoTime, now)
}

func (s coreSink) Tick(now int64) (next int64, err error) { return s.job.Tick(now) }

func (s coreSink) Prepare(checkpoint, now int64) ([]byte, error) {
	c, err := s.job.Checkpoint(checkpoint, now)
	if err != nil {
		return nil, err
	}
	return c.MarshalBinary()
}

func (s coreSink) Commit(checkpoint int64) error {
	_, err := s.job.Complete(checkpoint)
	return err
}

func (s coreSink) EndInput() error { return s.job.EndInput() }

func (s coreSink) Close() error { return s.job.Close() }
