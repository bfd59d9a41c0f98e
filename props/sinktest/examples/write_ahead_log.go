package examples

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/afero"

	"sinklab/props/sinktest"
)

// WriteAheadLog commits as Kafka Connect's sink for HDFS does, which does not wait for
// anybody's checkpoint. To rotate it closes its temporary files, writes to a log of its
// own BEGIN, a line for each file with its new name, and END, syncs the log, renames the
// files, and empties the log. A new process first does what a whole log says. The name
// of a file holds the offsets of its first and last record; the largest one found
// is where a new process goes on, so what the source sends again is passed over.
//
// Here the engine's checkpoint is what makes it rotate. As in the description, files are
// closed and not synced, and a rename that reports failure is taken for done.
func WriteAheadLog() sinktest.Kind {
	return sinktest.Kind{
		Name: "write-ahead log",
		New:  func(s sinktest.Setup) (sinktest.Sink, error) { return startWriteAheadLog(s, 0) },
		Restore: func(s sinktest.Setup, _ int64, state []byte) (sinktest.Sink, error) {
			offset, err := strconv.Atoi(string(state))
			if err != nil {
				return nil, err
			}
			return startWriteAheadLog(s, offset)
		},
		Latency: perCheckpoint,
		Files:   filePerInterval,
	}
}

type writeAheadLog struct {
	fs        afero.Fs
	dir       string
	offset    int // of the next record of the source
	committed int // offset after the last record in a file with its final name
	open      []*logged
	failed    error
}

// logged is a temporary file.
type logged struct {
	bucket      string
	temp        string
	first, last int // offsets
	file        afero.File
}

const logName = ".log"

func startWriteAheadLog(s sinktest.Setup, offset int) (sinktest.Sink, error) {
	w := &writeAheadLog{fs: s.Fs, dir: s.Dir, offset: offset}
	if err := w.fs.MkdirAll(w.dir, 0o755); err != nil {
		return nil, err
	}
	if err := w.applyLog(); err != nil {
		return nil, err
	}
	return w, w.readOffsets()
}

// applyLog does again what a whole log says. A log without its end is dropped.
func (w *writeAheadLog) applyLog() error {
	content, err := afero.ReadFile(w.fs, filepath.Join(w.dir, logName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if lines := strings.Split(string(content), "\n"); len(lines) > 2 && lines[0] == "BEGIN" && lines[len(lines)-2] == "END" {
		for _, line := range lines[1 : len(lines)-2] {
			temp, target, _ := strings.Cut(line, " ")
			if err := w.rename(temp, target); err != nil {
				return err
			}
		}
	}
	return w.fs.Remove(filepath.Join(w.dir, logName))
}

// rename gives a file its final name if that is free. Whether it has worked nobody asks.
func (w *writeAheadLog) rename(temp, target string) error {
	target = filepath.Join(w.dir, target)
	exists, err := afero.Exists(w.fs, target)
	if err != nil || exists {
		return err
	}
	if err := w.fs.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	_ = w.fs.Rename(filepath.Join(w.dir, temp), target)
	return nil
}

var offsets = regexp.MustCompile(`^part\+(\d+)\+(\d+)$`)

// readOffsets learns from the names of the files what is there.
func (w *writeAheadLog) readOffsets() error {
	return afero.Walk(w.fs, w.dir, func(path string, _ fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if m := offsets.FindStringSubmatch(filepath.Base(path)); m != nil {
			last, err := strconv.Atoi(m[2])
			if err != nil {
				return err
			}
			w.committed = max(w.committed, last+1)
		}
		return nil
	})
}

func (w *writeAheadLog) Write(record string, _ int64) error {
	if w.failed != nil {
		return w.failed
	}
	offset := w.offset
	w.offset++
	if offset < w.committed {
		return nil
	}
	f, err := w.fileOf(bucketOf(record), offset)
	if err != nil {
		return w.fail(err)
	}
	f.last = offset
	if _, err := f.file.Write([]byte(record + "\n")); err != nil {
		return w.fail(err)
	}
	return nil
}

// fileOf is the temporary file of a bucket.
func (w *writeAheadLog) fileOf(bucket string, offset int) (*logged, error) {
	for _, f := range w.open {
		if f.bucket == bucket {
			return f, nil
		}
	}
	f := &logged{bucket: bucket, temp: fmt.Sprintf("+tmp/.%d", offset), first: offset}
	path := filepath.Join(w.dir, f.temp)
	if err := w.fs.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	var err error
	if f.file, err = w.fs.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644); err != nil {
		return nil, err
	}
	w.open = append(w.open, f)
	return f, nil
}

// Prepare rotates. Its state is the offset of the source.
func (w *writeAheadLog) Prepare(int64, int64) ([]byte, error) {
	if w.failed != nil {
		return nil, w.failed
	}
	if err := w.rotate(); err != nil {
		return nil, w.fail(err)
	}
	return []byte(strconv.Itoa(w.offset)), nil
}

func (w *writeAheadLog) rotate() error {
	if len(w.open) == 0 {
		return nil
	}
	files := w.open
	log := "BEGIN\n"
	for i, f := range files {
		w.open = files[i+1:]
		if err := f.file.Close(); err != nil {
			return err
		}
		log += f.temp + " " + f.target() + "\n"
	}
	if err := w.append(log + "END\n"); err != nil {
		return err
	}
	for _, f := range files {
		if err := w.rename(f.temp, f.target()); err != nil {
			return err
		}
	}
	w.committed = w.offset
	return w.fs.Remove(filepath.Join(w.dir, logName))
}

// target is the final name of a file.
func (f *logged) target() string {
	return filepath.Join(filepath.FromSlash(f.bucket), fmt.Sprintf("part+%d+%d", f.first, f.last))
}

// append writes to the log and syncs it.
func (w *writeAheadLog) append(text string) error {
	f, err := w.fs.OpenFile(filepath.Join(w.dir, logName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(text))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// fail lets the task die.
func (w *writeAheadLog) fail(err error) error {
	w.failed = err
	return err
}

func (w *writeAheadLog) Tick(int64) (int64, error) { return sinktest.Never, nil }
func (w *writeAheadLog) Commit(int64) error        { return w.failed }
func (w *writeAheadLog) EndInput() error           { return w.failed }

func (w *writeAheadLog) Close() error {
	var all []error
	for _, f := range w.open {
		all = append(all, f.file.Close())
	}
	w.open = nil
	return errors.Join(all...)
}
