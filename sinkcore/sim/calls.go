package sim

import (
	"io/fs"
	"os"

	"github.com/spf13/afero"
)

// Calls counts what a sink has asked of the file system to change. What it reads, and
// what the reader does, is not in it.
//
// What a commit costs on a disk is mostly fsyncs, of files and of directories; on an object
// store it is the number of calls. Neither depends on the machine, so both can be compared
// exactly.
type Calls struct {
	Mkdirs    int64 // directories made
	Creates   int64 // files opened for writing
	Writes    int64 // write calls
	Syncs     int64 // fsyncs of files
	DirSyncs  int64 // fsyncs of directories
	Renames   int64
	Removes   int64
	Truncates int64
}

// Total is all of them together.
func (c Calls) Total() int64 {
	return c.Mkdirs + c.Creates + c.Writes + c.Syncs + c.DirSyncs + c.Renames + c.Removes + c.Truncates
}

// countingFs is a file system that counts the calls which change it.
//
// It wraps the file system of the sink only; the reader has the one beneath, so that
// looking at the files costs nothing that is counted.
type countingFs struct {
	afero.Fs
	calls *Calls
}

func (c countingFs) Create(name string) (afero.File, error) {
	f, err := c.Fs.Create(name)
	if err == nil {
		c.calls.Creates++
	}
	return c.file(f, err)
}

func (c countingFs) Open(name string) (afero.File, error) { return c.file(c.Fs.Open(name)) }

func (c countingFs) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	f, err := c.Fs.OpenFile(name, flag, perm)
	if err == nil && flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		c.calls.Creates++ // to be told that a directory is missing changes nothing
	}
	return c.file(f, err)
}

// file wraps what was opened, a directory too: a sink fsyncs a directory by opening it.
func (c countingFs) file(f afero.File, err error) (afero.File, error) {
	if err != nil {
		return nil, err
	}
	return countingFile{f, c.calls}, nil
}

func (c countingFs) Mkdir(name string, perm fs.FileMode) error {
	c.calls.Mkdirs++
	return c.Fs.Mkdir(name, perm)
}

// MkdirAll counts as one, however many directories it makes: what the sink asked is
// counted, and not what the file system did for it.
func (c countingFs) MkdirAll(path string, perm fs.FileMode) error {
	c.calls.Mkdirs++
	return c.Fs.MkdirAll(path, perm)
}

func (c countingFs) Rename(from, to string) error {
	c.calls.Renames++
	return c.Fs.Rename(from, to)
}

func (c countingFs) Remove(name string) error {
	c.calls.Removes++
	return c.Fs.Remove(name)
}

// LstatIfPossible passes on what the sink would find without this wrapper.
func (c countingFs) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	if l, ok := c.Fs.(afero.Lstater); ok {
		return l.LstatIfPossible(name)
	}
	info, err := c.Fs.Stat(name)
	return info, false, err
}

// countingFile is a file of a countingFs.
type countingFile struct {
	afero.File
	calls *Calls
}

func (f countingFile) Write(p []byte) (int, error) {
	f.calls.Writes++
	return f.File.Write(p)
}

func (f countingFile) WriteAt(p []byte, at int64) (int, error) {
	f.calls.Writes++
	return f.File.WriteAt(p, at)
}

func (f countingFile) Truncate(size int64) error {
	f.calls.Truncates++
	return f.File.Truncate(size)
}

// Sync asks what it is that is synced, since for both there is only this one call.
func (f countingFile) Sync() error {
	info, err := f.File.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		f.calls.DirSyncs++
	} else {
		f.calls.Syncs++
	}
	return f.File.Sync()
}
