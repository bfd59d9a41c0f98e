package examples

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/afero"

	"sinklab/props/sinktest"
)

// Naive is the sink that everybody writes first: it keeps records in memory, and at the
// checkpoint writes them to a file under another name and renames it. Nothing is synced,
// and nothing waits for the completion.
func Naive() sinktest.Kind {
	start := func(s sinktest.Setup) (sinktest.Sink, error) { return &naive{fs: s.Fs, dir: s.Dir}, nil }
	return sinktest.Kind{
		Name:    "naive",
		New:     start,
		Restore: func(s sinktest.Setup, _ int64, _ []byte) (sinktest.Sink, error) { return start(s) },
		Latency: perCheckpoint,
		Files:   filePerInterval,
	}
}

type naive struct {
	fs     afero.Fs
	dir    string
	buffer buckets
}

func (s *naive) Write(record string, _ int64) error {
	s.buffer.add(record)
	return nil
}

func (s *naive) Prepare(checkpoint, now int64) ([]byte, error) {
	for _, b := range s.buffer {
		dir := filepath.Join(s.dir, filepath.FromSlash(b.name))
		if err := s.fs.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		target := filepath.Join(dir, fmt.Sprintf("part-%d", checkpoint))
		temp := filepath.Join(dir, fmt.Sprintf(".part-%d.tmp", checkpoint))
		if err := afero.WriteFile(s.fs, temp, b.content, 0o644); err != nil {
			return nil, err
		}
		if err := s.fs.Rename(temp, target); err != nil {
			return nil, err
		}
	}
	s.buffer = nil
	return nil, nil
}

func (s *naive) Tick(int64) (int64, error) { return sinktest.Never, nil }
func (s *naive) Commit(int64) error        { return nil }
func (s *naive) EndInput() error           { return nil }
func (s *naive) Close() error              { return nil }

// perCheckpoint is the latency of a sink that closes its files at every checkpoint.
func perCheckpoint(checkpoint, duration time.Duration) time.Duration { return checkpoint + duration }

// filePerInterval is the number of files of such a sink.
func filePerInterval(l sinktest.Load) (least, most int) { return l.Intervals, l.Intervals }

// buckets are the records of an interval as the content of files, in order of their
// first records.
type buckets []bucket

type bucket struct {
	name    string
	content []byte
}

func (b *buckets) add(record string) {
	name := bucketOf(record)
	for i := range *b {
		if (*b)[i].name == name {
			(*b)[i].content = append((*b)[i].content, record+"\n"...)
			return
		}
	}
	*b = append(*b, bucket{name, []byte(record + "\n")})
}
