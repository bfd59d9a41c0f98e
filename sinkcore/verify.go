package sinkcore

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/spf13/afero"
)

// A restore and a commit look before they touch: everything in this file only reads. So
// what is refused leaves the directory as it was, and the caller may try another
// checkpoint.
//
// Bytes may come from the page cache and not from the disk. After a power cut that is the
// same; after a failed fsync it is not, see "Limits" in doc.go.

// partNames notices a part that is named twice by what is restored, by its hidden or by
// its visible name. With the first two writers would share a file (FileWriterBucket:
// 102-150 allows it); with the second one would take the other's place. One value serves
// all writers and committers of a job. The zero value knows no part.
type partNames struct {
	seen map[string]bool
}

func (n *partNames) add(op string, subtask int, bucket, name, temp string) *Error {
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	for _, key := range [2]string{bucket + "/" + temp, bucket + "/" + name} {
		if n.seen[key] {
			return newError(op, ErrRestoredTwice).by(subtask).in(bucket).at(temp).
				todo("give each element of the state to one subtask, once")
		}
		n.seen[key] = true
	}
	return nil
}

// addWriter adds the open parts of a writer.
func (n *partNames) addWriter(subtask int, s WriterState) *Error {
	for _, b := range s.Buckets {
		if b.InProgress == nil {
			continue
		}
		if err := n.add("restore", subtask, b.Bucket, b.InProgress.Name, b.InProgress.Temp); err != nil {
			return err
		}
	}
	return nil
}

// addCommitter adds all parts of a committer, those of later checkpoints too.
func (n *partNames) addCommitter(subtask int, s CommitterState) *Error {
	for _, batch := range s.Batches {
		for _, c := range batch.Committables {
			if err := n.add("restore", subtask, c.Bucket, c.Name, c.Temp); err != nil {
				return err.of(batch.Checkpoint)
			}
		}
	}
	return nil
}

// verifyInProgress checks that every open part of a state can be resumed. A file that is
// longer is fine, the rest is cut off. One that is missing under its hidden name is not
// looked for under its visible one: it was closed and published since, with records that
// this checkpoint does not cover, and must not be opened again.
func verifyInProgress(fsys afero.Fs, base string, subtask int, s WriterState) *Error {
	for _, b := range s.Buckets {
		if b.InProgress == nil {
			continue
		}
		path := filepath.Join(bucketDir(base, b.Bucket), b.InProgress.Temp)
		bad := func(err error, hint string) *Error {
			return newError("restore", err).by(subtask).in(b.Bucket).at(path).todo(hint)
		}
		_, err := compare(fsys, path, b.InProgress.Size, b.InProgress.Checksum)
		switch {
		case err == nil:
		case errors.Is(err, fs.ErrNotExist):
			return bad(fmt.Errorf("%w: %w", ErrInProgressMissing, err),
				"a newer checkpoint has committed it; restore from the newest one")
		case errors.Is(err, ErrShort) || errors.Is(err, ErrContent):
			return bad(err, "synced bytes are gone; restore from an older checkpoint that does not name the file")
		default:
			return bad(err, "")
		}
	}
	return nil
}

// found is where a committable is on disk.
type found uint8

const (
	isPending   found = iota // under its hidden name
	isCommitted              // under its visible name, with the recorded content
	isBoth                   // under both; a file system that renames by copying can leave that
)

// locate finds a committable, or says why it cannot be committed
// (LocalRecoverableFsDataOutputStream:175-203 looks at the hidden name only). The size is
// that of the file.
//
// There are four cases. Hidden only: to be renamed. Visible only: done, by a process that
// did not live to note it, if it has the recorded content; that there is something of the
// name proves nothing (apache/beam#39993). Both: the same, if the visible one has it.
// Neither: ErrLost. A directory, link or device of the visible name is never replaced.
func locate(fsys afero.Fs, base string, c Committable) (at found, size int64, err *Error) {
	dir := bucketDir(base, c.Bucket)
	temp, target := filepath.Join(dir, c.Temp), filepath.Join(dir, c.Name)
	pending, tempErr := lstat(fsys, temp)
	if tempErr != nil && !errors.Is(tempErr, fs.ErrNotExist) {
		return 0, 0, newError("commit", tempErr).in(c.Bucket).at(temp)
	}
	there, targetErr := lstat(fsys, target)
	switch {
	case targetErr == nil && there.Mode().IsRegular():
		length, err := compare(fsys, target, c.Size, c.Checksum)
		if err == nil && length != c.Size {
			err = fmt.Errorf("it has %d bytes, recorded are %d", length, c.Size)
		} else if err != nil && !errors.Is(err, ErrContent) && !errors.Is(err, ErrShort) {
			return 0, 0, newError("commit", err).in(c.Bucket).at(target)
		}
		if err != nil {
			return 0, 0, targetExists(c, target, err)
		}
		if tempErr == nil {
			return isBoth, c.Size, nil
		}
		return isCommitted, c.Size, nil
	case targetErr == nil:
		return 0, 0, targetExists(c, target, errors.New("it is not a regular file"))
	case !errors.Is(targetErr, fs.ErrNotExist):
		return 0, 0, newError("commit", targetErr).in(c.Bucket).at(target)
	case tempErr != nil:
		return 0, 0, newError("commit", ErrLost).in(c.Bucket).at(target).
			todo("if a consumer moved the file away restore from a newer checkpoint; else restore from an older one")
	case !pending.Mode().IsRegular():
		return 0, 0, newError("commit", fmt.Errorf("%w: it is not a regular file", ErrContent)).in(c.Bucket).at(temp).
			todo("somebody has replaced it; put it back, or restore from an older checkpoint")
	case pending.Size() < c.Size:
		return 0, 0, newError("commit", fmt.Errorf("%w: %d of %d bytes", ErrShort, pending.Size(), c.Size)).in(c.Bucket).at(temp).
			todo("synced bytes are gone; restore from an older checkpoint that does not name the file")
	}
	return isPending, pending.Size(), nil
}

// targetExists is the error for a visible name that is taken. The file may be a consumer's
// or another job's, so it is not for the sink to remove.
func targetExists(c Committable, target string, cause error) *Error {
	return newError("commit", fmt.Errorf("%w: %w", ErrTargetExists, cause)).in(c.Bucket).at(target).
		todo("nothing was touched; move that file away, then complete the checkpoint again or restore it")
}

// lstat is the file system's Lstat where it has one. A link under a visible name is not
// the part, even if it leads to a file of the same content.
func lstat(fsys afero.Fs, path string) (fs.FileInfo, error) {
	if l, ok := fsys.(afero.Lstater); ok {
		info, _, err := l.LstatIfPossible(path)
		return info, err
	}
	return fsys.Stat(path)
}

// compare checks that a file begins with size bytes of the given checksum and returns
// its length. The error wraps [ErrShort] or [ErrContent] if it does not. It reads those
// bytes and no others, in pieces of 256 KiB at most.
func compare(fsys afero.Fs, path string, size int64, checksum uint32) (length int64, err error) {
	if size < 0 {
		return 0, fmt.Errorf("%w: a recorded length of %d", ErrStateDamaged, size)
	}
	f, err := fsys.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if info.Size() < size {
		return info.Size(), fmt.Errorf("%w: %d of %d bytes", ErrShort, info.Size(), size)
	}
	sum := uint32(0)
	buffer := make([]byte, min(size, 256<<10))
	for left := size; left > 0; {
		n, err := io.ReadFull(f, buffer[:min(left, int64(len(buffer)))])
		sum = crc32.Update(sum, castagnoli, buffer[:n])
		if err != nil {
			return info.Size(), err
		}
		left -= int64(n)
	}
	if sum != checksum {
		return info.Size(), fmt.Errorf("%w: %08x, recorded is %08x", ErrContent, sum, checksum)
	}
	return info.Size(), nil
}
