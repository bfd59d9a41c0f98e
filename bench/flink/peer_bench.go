package flink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// ErrPeer says that an option of PeerOptions cannot work; the text says which.
var ErrPeer = errors.New("bad option")

// ErrPeerRecords says that one of the engines lost or doubled a record while it was
// measured. Its figures are no result.
var ErrPeerRecords = errors.New("not every record is there once")

// PeerOptions say what to measure. The zero value measures everything.
type PeerOptions struct {
	// Dir is on the disk that both write to; "" is the directory for temporary files. What
	// was written is removed. A directory in memory (tmpfs) measures no disk.
	Dir string

	// Rounds is how many samples there are of each benchmark, of whole jobs 6 at most; 0 means
	// 10. In each round every engine has its turn.
	Rounds int

	// Sizes are those of a record in bytes, its newline included, at least 24; nil means 100,
	// 1,000 and 10,000.
	Sizes []int

	// Buckets are how many buckets the records go to in turn, from 1 to 10,000; nil means 1, 100
	// and 1,000.
	Buckets []int

	// JobTime is how long each whole job writes, or until it has written 1 GiB; 0 means 2 s, a
	// negative value measures none.
	JobTime time.Duration

	// Progress, if not nil, is told what is done next.
	Progress func(doing string)
}

// Limits of the options, and what is measured at a time.
const (
	peerLeastSize   = 24
	peerMostBuckets = 10_000
	peerChunk       = 4 << 20 // bytes that are written in one turn
	peerLeastChunk  = 2000    // records, of a size of which fewer fill it
	peerBatchBytes  = 100_000 // of records that are made and then written, WritePath.BATCH
	peerNoRoll      = 1 << 40 // bytes of a file that is not closed while it is measured, WritePath.NO_ROLL
	// peerWarm is how many records each JVM writes before anything is measured. Its
	// compilers have done with a loop long before.
	peerWarm = 300_000
)

// Validate returns an error that wraps ErrPeer if an option cannot work. Peers does the same.
func (o PeerOptions) Validate() error {
	_, err := o.validate()
	return err
}

func (o PeerOptions) validate() (PeerOptions, error) {
	if o.Rounds == 0 {
		o.Rounds = 10
	}
	if o.Sizes == nil {
		o.Sizes = []int{100, 1000, 10_000}
	}
	if o.Buckets == nil {
		o.Buckets = []int{1, 100, 1000}
	}
	if o.JobTime == 0 {
		o.JobTime = 2 * time.Second
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.Rounds < 1 {
		return o, fmt.Errorf("%w: %d rounds: must be at least 1", ErrPeer, o.Rounds)
	}
	for _, size := range o.Sizes {
		if size < peerLeastSize {
			return o, fmt.Errorf("%w: a record of %d bytes: must have at least %d", ErrPeer, size, peerLeastSize)
		}
	}
	for _, buckets := range o.Buckets {
		if buckets < 1 || buckets > peerMostBuckets {
			return o, fmt.Errorf("%w: %d buckets: must be from 1 to %d", ErrPeer, buckets, peerMostBuckets)
		}
	}
	return o, nil
}

// PeerSample is one measurement of one engine.
type PeerSample struct {
	Benchmark string  `json:"benchmark"`         // Write or Job
	Engine    string  `json:"engine"`            // flink, sinklab, or bufio: the file system with nothing around it
	Encoder   string  `json:"encoder,omitempty"` // of Write on Flink: simple, onecall or bulk
	Size      int     `json:"size"`              // bytes of a record with its newline
	Buckets   int     `json:"buckets"`
	Records   int64   `json:"records"`       // that were written
	NS        float64 `json:"ns_per_record"` // time for each
}

// Name is the benchmark's name, without the word Benchmark.
func (s PeerSample) Name() string {
	name := s.Benchmark + "/engine=" + s.Engine
	if s.Encoder != "" {
		name += "/encoder=" + s.Encoder
	}
	return name + "/size=" + strconv.Itoa(s.Size) + "/buckets=" + strconv.Itoa(s.Buckets)
}

// peerEncoders are the ways in which Flink writes a record. The first is Flink's own.
var peerEncoders = []string{"simple", "onecall", "bulk"}

// Peers measures Flink's file sink and sinkcore in turns, on one disk. The samples of the
// write path come first, in the order of Sizes and Buckets.
//
// Of the write path there is nothing but the writer: on Flink FileWriter, called as its
// operator does, in a Java process for each encoder that has been warmed up; here
// sinkcore's job with one subtask. Both have their default policy but for the size, so that one
// file is open in each bucket all the time; no checkpoint is taken, nothing is synced, and the
// making of records is not counted, nor is time in which other programs had the processor, or
// the kernel's own threads for them. Beside them is a
// bufio.Writer for each bucket, as a program without a sink would have it. A whole job has a source that makes its records, and a checkpoint every second
// with its fsyncs, states and renames: Flink's runs on the local executor, sinklab's in
// package sinkcore/live, both with parallelism 1.
//
// In the end everything is closed, published and read back. The error wraps
// [ErrPeerRecords] if anything is missing or there twice, ErrPeer for bad options, or
// [ErrEngine] if the Java side has failed.
func Peers(ctx context.Context, m *Module, o PeerOptions) (samples []PeerSample, err error) {
	if o, err = o.validate(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Dir, "sinklab-peer-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := peerBench{PeerOptions: o, dir: dir, peers: map[string]*peer{}}
	defer func() {
		for _, encoder := range peerEncoders {
			if p := b.peers[encoder]; p != nil {
				if closing := p.close(); err == nil && ctx.Err() == nil {
					err = closing
				}
			}
		}
	}()
	for _, encoder := range peerEncoders {
		if b.peers[encoder], err = startPeer(ctx, m, dir); err != nil {
			return nil, err
		}
	}
	if err := b.warm(); err != nil {
		return nil, err
	}
	for _, size := range o.Sizes {
		for _, buckets := range o.Buckets {
			more, err := b.write(ctx, size, buckets)
			samples = append(samples, more...)
			if err != nil {
				return samples, err
			}
		}
	}
	if o.JobTime < 0 {
		return samples, nil
	}
	for _, size := range o.Sizes {
		more, err := b.job(ctx, size)
		samples = append(samples, more...)
		if err != nil {
			return samples, err
		}
	}
	return samples, nil
}

// peerBench is a run.
type peerBench struct {
	PeerOptions
	dir   string
	peers map[string]*peer // by encoder
	made  int              // directories
}

// newDir is a directory that is not there yet.
func (b *peerBench) newDir() string {
	b.made++
	return filepath.Join(b.dir, strconv.Itoa(b.made))
}

// warm has each Java process write until its compilers have nothing left to do.
func (b *peerBench) warm() error {
	for _, encoder := range peerEncoders {
		b.Progress("warming up Flink, encoder " + encoder)
		for _, buckets := range []int{1, 2} {
			w := flinkWriter{b.peers[encoder], encoder, b.newDir()}
			if err := w.open(100, buckets); err != nil {
				return err
			}
			const steps = 10
			for range steps {
				if _, err := w.write(peerWarm / steps); err != nil {
					return err
				}
			}
			if err := errors.Join(w.close(), os.RemoveAll(w.dir)); err != nil {
				return err
			}
		}
	}
	return nil
}

// writer is an engine's write path.
type writer interface {
	open(size, buckets int) error
	write(n int) (time.Duration, error) // the next n records
	close() error                       // closes and publishes everything
	sample() PeerSample                 // has the names of this one
	at() string                         // where the files are
}

// write measures the write path for one size and number of buckets.
func (b *peerBench) write(ctx context.Context, size, buckets int) ([]PeerSample, error) {
	var writers []writer
	for _, encoder := range peerEncoders {
		writers = append(writers, &flinkWriter{b.peers[encoder], encoder, b.newDir()})
	}
	writers = append(writers, &coreWriter{dir: b.newDir()}, &bareWriter{dir: b.newDir()})
	// Records come to the buckets in turn, so their buffers are full at about the same
	// time: each measurement has that at least twice. Before the first one every file is open
	// and every buffer has been full.
	n := max(peerChunk/size, peerLeastChunk, 2*buckets*(peerBuffer(buckets)/size+1))
	warm := n
	for _, w := range writers {
		err := w.open(size, buckets)
		if err == nil {
			_, err = w.write(warm)
		}
		if err != nil {
			return nil, err
		}
	}
	var samples []PeerSample
	for round := range b.Rounds {
		b.Progress(fmt.Sprintf("write path, %d bytes, %d buckets: round %d of %d", size, buckets, round+1, b.Rounds))
		for _, w := range writers {
			if err := ctx.Err(); err != nil {
				return samples, err
			}
			took, err := w.write(n)
			if err != nil {
				return samples, err
			}
			s := w.sample()
			s.Benchmark, s.Size, s.Buckets, s.Records = "Write", size, buckets, int64(n)
			s.NS = float64(took.Nanoseconds()) / float64(n)
			samples = append(samples, s)
		}
	}
	for _, w := range writers {
		err := w.close()
		if err == nil {
			err = peerCheck(w.at(), int64(warm+b.Rounds*n), size, buckets)
		}
		if err != nil {
			s := w.sample()
			return samples, fmt.Errorf("%s %s: %w", s.Engine, s.Encoder, err)
		}
		if err := os.RemoveAll(w.at()); err != nil {
			return samples, err
		}
	}
	return samples, nil
}

// flinkWriter is Flink's.
type flinkWriter struct {
	peer    *peer
	encoder string
	dir     string
}

func (w *flinkWriter) open(size, buckets int) error {
	_, err := w.peer.ask(peerRequest{Do: "open", Dir: w.dir, Encoder: w.encoder, Size: size, Buckets: buckets, Buffer: peerBuffer(buckets)})
	return err
}

func (w *flinkWriter) write(n int) (time.Duration, error) {
	ns, err := w.peer.ask(peerRequest{Do: "write", N: n})
	return time.Duration(ns), err
}

func (w *flinkWriter) close() error {
	_, err := w.peer.ask(peerRequest{Do: "close"})
	return err
}

func (w *flinkWriter) sample() PeerSample { return PeerSample{Engine: "flink", Encoder: w.encoder} }

func (w *flinkWriter) at() string { return w.dir }

// PeerRatio compares the medians of two engines.
type PeerRatio struct {
	Benchmark string  `json:"benchmark"`
	Encoder   string  `json:"encoder,omitempty"` // Flink's
	Size      int     `json:"size"`
	Buckets   int     `json:"buckets"`
	FlinkNS   float64 `json:"flink_ns_per_record"`
	SinklabNS float64 `json:"sinklab_ns_per_record"`
	BufioNS   float64 `json:"bufio_ns_per_record,omitempty"` // a program without a sink; 0 for jobs
}

// Times is how many times as many records sinklab writes in the same time.
func (r PeerRatio) Times() float64 { return r.FlinkNS / r.SinklabNS }

// PeerRatios compares what was measured, in the order of the samples.
func PeerRatios(samples []PeerSample) []PeerRatio {
	type key struct {
		benchmark, engine, encoder string
		size, buckets              int
	}
	all := map[key][]float64{}
	var order []key
	for _, s := range samples {
		k := key{s.Benchmark, s.Engine, s.Encoder, s.Size, s.Buckets}
		if all[k] == nil && s.Engine == "flink" {
			order = append(order, k)
		}
		all[k] = append(all[k], s.NS)
	}
	var ratios []PeerRatio
	for _, k := range order {
		ours := all[key{k.benchmark, "sinklab", "", k.size, k.buckets}]
		if len(ours) > 0 {
			r := PeerRatio{Benchmark: k.benchmark, Encoder: k.encoder, Size: k.size, Buckets: k.buckets, FlinkNS: peerMedian(all[k]), SinklabNS: peerMedian(ours)}
			if bare := all[key{k.benchmark, "bufio", "", k.size, k.buckets}]; len(bare) > 0 {
				r.BufioNS = peerMedian(bare)
			}
			ratios = append(ratios, r)
		}
	}
	return ratios
}

func peerMedian(values []float64) float64 {
	sorted := slices.SortedFunc(slices.Values(values), cmp.Compare[float64])
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// WritePeers writes the samples in Go's benchmark format, a line each.
func WritePeers(out io.Writer, samples []PeerSample) error {
	_, err := fmt.Fprintf(out, "Unit ns/record better=lower\nUnit MB/s better=higher\n\ngoos: %s\ngoarch: %s\npkg: sinklab/bench/flink\n", runtime.GOOS, runtime.GOARCH)
	for _, s := range samples {
		if err == nil {
			_, err = fmt.Fprintf(out, "Benchmark%s %d %.1f ns/record %.1f MB/s\n", s.Name(), s.Records, s.NS, 1e3*float64(s.Size)/s.NS)
		}
	}
	return err
}
