package sinkcore

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/afero"
)

// part is an open part file. Its bytes are in three places: on disk, handed to the file,
// and in the buffer. A state names a part only when the last two are empty, so that what
// it records, length and checksum, is on disk.
type part struct {
	file         afero.File
	dir          string   // of the bucket
	target, temp string   // names in dir: the visible one, and the one until the commit
	info         PartInfo // its size counts the buffer too, so that no policy depends on BufferSize

	buffer   []byte // encoded, not yet handed to the file
	written  int64  // bytes handed to the file, and its length
	checksum uint32 // CRC-32C of those, kept up as they are written so that no file is read for it

	reserved   int64 // disk space up to this length is reserved; see reserve
	unreserved bool  // it was not to be had, and is not asked for again

	// The file was changed since its last fsync. True at first: a file that was just made
	// or cut has to be synced even if nothing is written to it.
	unsynced bool

	bucket   *bucket
	deadline int64 // not later than the policy's RollAt, and what deadlines orders by
	index    int   // in deadlines, -1 when not in it
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// inProgressInfix stands between a part's name and the random end of its hidden name
// (LocalRecoverableWriter:119-134).
const inProgressInfix = ".inprogress."

// createAttempts bounds how often a taken name is drawn again; a random source that
// repeats itself must not hang the sink.
const createAttempts = 100

// createPart makes a new part's file under a hidden name that nobody uses. The name's
// random end is drawn anew for each attempt, so a dead process's file of the same target
// is not in the way (FLINK-18056), and the file is made with O_EXCL, so two processes never
// share one: to look for a free name first is not enough (fluent/fluent-plugin-s3#326).
// Whether the visible name is free is looked at when it is needed, at the commit.
func createPart(fsys afero.Fs, dirs *directories, random io.Reader, dir, target string) (*part, error) {
	var err error
	made := false
	for range createAttempts {
		var uid string
		if uid, err = newUID(random); err != nil {
			return nil, err
		}
		temp := "." + target + inProgressInfix + uid
		var f afero.File
		f, err = createNew(fsys, filepath.Join(dir, temp))
		if errors.Is(err, fs.ErrNotExist) && !made {
			// Most parts go where there was one before, so only now.
			if err := dirs.make(dir); err != nil {
				return nil, err
			}
			made = true
			f, err = createNew(fsys, filepath.Join(dir, temp))
		}
		if err == nil {
			return &part{file: f, dir: dir, target: target, temp: temp, unsynced: true, index: -1}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("no free name after %d draws; does the random source repeat itself? %w", createAttempts, err)
}

// createNew makes a file that must not be there. Permissions are left to the umask.
func createNew(fsys afero.Fs, path string) (afero.File, error) {
	return fsys.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// resumePart opens a part again as a snapshot left it: what was written after the
// snapshot is cut off (LocalRecoverableFsDataOutputStream:65-81), since the source sends
// it again. Its first bytes have been compared with the checksum before. It writes at a
// position of its own and not with O_APPEND, whose end of file a process that should be
// dead could move.
func resumePart(fsys afero.Fs, dir string, s InProgress) (*part, error) {
	f, err := fsys.OpenFile(filepath.Join(dir, s.Temp), os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(s.Size); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.Seek(s.Size, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &part{
		file: f, dir: dir, target: s.Name, temp: s.Temp,
		info: PartInfo{
			CreationTime: s.CreationTime,
			LastUpdate:   s.CreationTime, // AbstractPartFileWriter:36-59
			Size:         s.Size,
			Records:      s.Records,
		},
		written: s.Size, checksum: s.Checksum, unsynced: true, index: -1,
	}, nil
}

// path is where the file is until it is committed.
func (p *part) path() string { return filepath.Join(p.dir, p.temp) }

// flush hands all of the buffer to the file. That it is in the page cache then is no
// promise; sync makes one.
func (p *part) flush() error { return p.flushBytes(len(p.buffer)) }

// flushBlocks hands as much of a buffer of at least one block to the file as makes the
// file's length a multiple of the block: a write that begins or ends within a page of
// the page cache costs half as much again (BenchmarkWrite in bench shows it). A resumed part
// comes back to whole blocks with its first write.
func (p *part) flushBlocks(block int) error {
	n := len(p.buffer)
	return p.flushBytes(n - int((p.written+int64(n))%int64(block)))
}

// flushBytes hands the first n bytes of the buffer to the file. After an error nothing is
// tried again: the file may have taken some of them (write(2), ENOSPC), the count does not
// say so, and a restore cuts them off.
func (p *part) flushBytes(n int) error {
	if n == 0 {
		return nil
	}
	if err := p.reserve(n); err != nil {
		return err
	}
	written, err := p.file.Write(p.buffer[:n])
	if err == nil && written < n {
		err = io.ErrShortWrite
	}
	if err != nil {
		return err
	}
	p.checksum = crc32.Update(p.checksum, castagnoli, p.buffer[:n])
	p.written += int64(n)
	p.buffer = p.buffer[:copy(p.buffer, p.buffer[n:])]
	p.unsynced = true
	return nil
}

// sync makes all bytes of the part durable, and its length (fsync(2)); the name in its
// directory is not (see directories). It is called once for each change of the file, and
// never after it has failed.
func (p *part) sync() error {
	if err := p.flush(); err != nil {
		return err
	}
	if !p.unsynced {
		return nil
	}
	if err := p.file.Sync(); err != nil {
		return err
	}
	p.unsynced = false
	return nil
}

// state is what a later process needs to go on with the part. It must have been
// synced: the length is that of the bytes handed over, and the buffer must be empty.
func (p *part) state() InProgress {
	return InProgress{
		Name: p.target, Temp: p.temp, Size: p.written, Checksum: p.checksum,
		CreationTime: p.info.CreationTime, Records: p.info.Records,
	}
}

// close syncs the part, closes its file and returns what is to be committed. The fsync
// comes before the close, after which there is no handle to sync (FLINK-35217: closed,
// committed, and empty after a power cut). That closing fails is an error too, although
// the bytes are on disk: some file systems report only then what they could not write
// (close(2)).
func (p *part) close(why Reason) (Committable, error) {
	if err := p.release(); err != nil {
		return Committable{}, err
	}
	if err := p.sync(); err != nil {
		return Committable{}, err
	}
	if err := p.file.Close(); err != nil {
		return Committable{}, err
	}
	p.file = nil
	return Committable{
		Bucket: p.bucket.id, Name: p.target, Temp: p.temp, Size: p.written, Checksum: p.checksum,
		Records: p.info.Records, CreationTime: p.info.CreationTime, Reason: why,
	}, nil
}
