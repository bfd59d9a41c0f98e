package flink

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// JobResult is what a reader finds when a job has ended.
type JobResult struct {
	Compaction bool     `json:"compaction"`
	Written    int      `json:"written"`
	Visible    int      `json:"visible"` // records, each counted once
	Twice      int      `json:"twice"`   // records that are visible more than once
	Lost       []string `json:"lost"`    // in the order in which they were written
}

// failingJobRecords is how many records the job writes; see its Java source.
const failingJobRecords = 300

// RunFailingJob runs a small bounded job on Flink's own executor, with its file sink as it
// comes or with compaction. It takes a checkpoint, fails, is restored and ends before the
// next checkpoint is due; that takes about ten seconds. All its records should be visible
// then. The error wraps [ErrEngine] if the job did not come to its end.
func RunFailingJob(ctx context.Context, m *Module, compaction bool) (result JobResult, err error) {
	result = JobResult{Compaction: compaction, Written: failingJobRecords, Lost: []string{}}
	dir, err := os.MkdirTemp("", "sinklab-job-")
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	how := "plain"
	if compaction {
		how = "compaction"
	}
	out := filepath.Join(dir, "out")
	cmd := m.Command(ctx, "-Xmx1g", "-Djava.io.tmpdir="+dir, "sinklab.flink.job.FailingJob", out, how)
	if said, err := cmd.CombinedOutput(); err != nil {
		return result, fmt.Errorf("%w: %w\n%s", ErrEngine, err, said)
	}
	seen, err := visibleRecords(out)
	if err != nil {
		return result, err
	}
	for n := range failingJobRecords {
		record := "r" + strconv.Itoa(n)
		switch times := seen[record]; {
		case times == 0:
			result.Lost = append(result.Lost, record)
			continue
		case times > 1:
			result.Twice++
		}
		result.Visible++
	}
	return result, nil
}

// visibleRecords counts the lines of the files that a reader sees.
func visibleRecords(dir string) (map[string]int, error) {
	seen := map[string]int{}
	return seen, eachRecord(dir, func(_, record string) error {
		seen[record]++
		return nil
	})
}
