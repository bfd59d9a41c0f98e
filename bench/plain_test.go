package bench_test

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/afero"
)

// plain makes the same files as a sink does with the least that this takes: a bufio.Writer
// for each, one fsync, one rename, and an fsync of the directory after each of the two. It
// remembers nothing for a restart, computes no checksum and looks at nothing twice. So it
// is what the file system costs, and a sink cannot be cheaper.
type plain struct {
	place
	buffer int                   // bytes
	files  map[string]*plainFile // open ones, by bucket
	order  []*plainFile          // the same in the order in which they were opened
	flat   *plainFile            // the open one of the base directory, which needs no map
	closed []*plainFile
	dirs   []string
	made   int
}

type plainFile struct {
	dir, temp, name string
	file            afero.File
	w               *bufio.Writer
}

func newPlain(p place, buffer int) *plain {
	return &plain{place: p, buffer: buffer, files: map[string]*plainFile{}}
}

// writeFlat writes a record to the base directory.
func (p *plain) writeFlat(record string) error {
	if p.flat == nil {
		f, err := p.open("")
		if err != nil {
			return err
		}
		p.flat = f
	}
	return p.flat.write(record)
}

// write writes a record to its bucket.
func (p *plain) write(record string) error {
	bucket := bucketOf(record)
	f := p.files[bucket]
	if f == nil {
		var err error
		if f, err = p.open(bucket); err != nil {
			return err
		}
		p.files[bucket] = f
	}
	return f.write(record)
}

func (f *plainFile) write(record string) error {
	if _, err := f.w.WriteString(record); err != nil {
		return err
	}
	return f.w.WriteByte('\n')
}

func (p *plain) open(bucket string) (*plainFile, error) {
	name := "part-" + strconv.Itoa(p.made)
	p.made++
	f := &plainFile{dir: filepath.Join(p.dir, bucket), temp: "." + name, name: name}
	path := filepath.Join(f.dir, f.temp)
	const flag = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	var err error
	if f.file, err = p.OpenFile(path, flag, 0o666); errors.Is(err, fs.ErrNotExist) {
		if err := p.MkdirAll(f.dir, 0o777); err != nil {
			return nil, err
		}
		f.file, err = p.OpenFile(path, flag, 0o666)
	}
	if err != nil {
		return nil, err
	}
	f.w = bufio.NewWriterSize(f.file, p.buffer)
	p.order = append(p.order, f)
	return f, nil
}

// close makes what was written durable under its hidden name: what a checkpoint takes.
func (p *plain) close() error {
	for _, f := range p.order {
		if err := f.w.Flush(); err != nil {
			return err
		}
		if err := f.file.Sync(); err != nil {
			return err
		}
		if err := f.file.Close(); err != nil {
			return err
		}
		f.file, f.w = nil, nil
		p.closed = append(p.closed, f)
	}
	p.order, p.flat = p.order[:0], nil
	clear(p.files)
	return p.syncDirs()
}

// publish makes all that is closed visible, durably: what a commit takes.
func (p *plain) publish() error {
	for _, f := range p.closed {
		if err := p.Rename(filepath.Join(f.dir, f.temp), filepath.Join(f.dir, f.name)); err != nil {
			return err
		}
	}
	err := p.syncDirs()
	p.closed = p.closed[:0]
	return err
}

// syncDirs syncs the directory of each closed file, once for files that follow each other
// in one.
func (p *plain) syncDirs() error {
	last := ""
	for _, f := range p.closed {
		if f.dir == last {
			continue
		}
		last = f.dir
		if err := syncDir(p.quietable, f.dir); err != nil {
			return err
		}
	}
	return nil
}

func syncDir(fsys afero.Fs, dir string) error {
	d, err := fsys.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
