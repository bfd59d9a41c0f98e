package sinkcore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/afero"
)

// Committer publishes the closed parts of one subtask when their checkpoint has
// completed. Publishing is a rename. A Committer must not be used by two goroutines at
// once; two committers may be, if they do not come from one [Job].
//
// It never deletes a part and never replaces a visible file. What it has been given it
// keeps until it is published and durable, so a completion that is lost is made up for by
// the next one or by a restore (FLINK-2008).
type Committer struct {
	fs      afero.Fs
	base    string
	subtask int

	// Not yet published, in strictly ascending order of their checkpoints, none of them
	// empty. A batch stays until all of its parts are visible and their directories are
	// synced: a part that is renamed and forgotten too early can fall back to its hidden
	// name in a power cut, and then no state names it (etcd-io/etcd#6368).
	batches []Batch

	// The largest id that has completed; it never falls. It is not in the state, since
	// the id that is restored stands for it.
	last int64

	dirs     *directories // shared with the writers of a job, which make the directories
	isClosed bool
	failed   error // the first error of the file system

	counts committedCounts
}

// NewCommitter starts a committer with no state. Dir is [Config.Dir] of the writer. It
// does not look at the disk. The error wraps [ErrConfig] if there is no file system.
func NewCommitter(fsys afero.Fs, dir string, subtask int) (*Committer, error) {
	if fsys == nil {
		return nil, newError("start", fmt.Errorf("%w: the file system is missing", ErrConfig)).by(subtask)
	}
	return newCommitter(fsys, dir, subtask, newDirectories(fsys, dir)), nil
}

func newCommitter(fsys afero.Fs, dir string, subtask int, dirs *directories) *Committer {
	return &Committer{fs: fsys, base: dir, subtask: subtask, dirs: dirs}
}

// RestoreCommitter starts a committer from its state in a checkpoint. That the
// checkpoint is restored means that it completed, so what it and earlier ones handed
// over is published before the call returns (CommitterOperator:120-141); the second
// result lists it, and what was published before is in it too. If anything cannot be
// published, or a part does not hold the bytes that the state says ([ErrContent]), the
// error says why and nothing is. An error of the file system in the midst of publishing
// may leave some parts visible; restoring again goes on from there.
//
// Batches of ids above the checkpoint are taken over and wait. A part that is still
// hidden is read once, a visible one twice.
func RestoreCommitter(fsys afero.Fs, dir string, subtask int, checkpoint int64, state CommitterState) (*Committer, []Committable, error) {
	c, err := NewCommitter(fsys, dir, subtask)
	if err != nil {
		return nil, nil, err
	}
	var seen partNames
	if err := seen.addCommitter(subtask, state); err != nil {
		return nil, nil, err
	}
	if err := verifyCommittables(fsys, dir, subtask, checkpoint, state); err != nil {
		return nil, nil, err
	}
	published, err := c.restore(checkpoint, state)
	if err != nil {
		return nil, nil, err
	}
	return c, published, nil
}

// verifyCommittables checks that all that a restore would publish can be. Only then may
// the first part be renamed: a restore that publishes some parts and then finds that the
// checkpoint is too old would show records that the older checkpoint's source sends again
// (apache/iceberg#10892; Flink publishes first).
func verifyCommittables(fsys afero.Fs, base string, subtask int, checkpoint int64, state CommitterState) error {
	for _, batch := range state.Batches {
		if batch.Checkpoint > checkpoint {
			break
		}
		for _, c := range batch.Committables {
			at, _, err := locate(fsys, base, c)
			if err == nil && at == isPending {
				// The process that wrote it is gone, and what is on disk may not be what
				// it synced; a running committer need not read its own files again.
				err = verifyPending(fsys, base, c)
			}
			if err != nil {
				err.Op = "restore"
				return err.by(subtask).of(batch.Checkpoint)
			}
		}
	}
	return nil
}

// verifyPending checks that a closed part holds the bytes that the state says.
func verifyPending(fsys afero.Fs, base string, c Committable) *Error {
	path := filepath.Join(bucketDir(base, c.Bucket), c.Temp)
	_, err := compare(fsys, path, c.Size, c.Checksum)
	if err == nil {
		return nil
	}
	bad := newError("restore", err).in(c.Bucket).at(path)
	if errors.Is(err, ErrContent) {
		bad.todo("synced bytes are gone; restore from an older checkpoint that does not name the file")
	}
	return bad
}

// restore takes over a state that has been verified and publishes it. It takes the same
// way as a running committer, so that nothing holds only before the first restore.
func (c *Committer) restore(checkpoint int64, state CommitterState) ([]Committable, error) {
	for _, batch := range state.Batches {
		if err := c.Add(batch.Checkpoint, batch.Committables); err != nil {
			return nil, err
		}
	}
	return c.Complete(checkpoint)
}

// Add takes what a checkpoint handed over, and keeps the slice. It does not look at the
// disk. No committables are no batch. The error wraps [ErrCheckpointID] if something of
// that checkpoint is still waiting (CheckpointCommittableManagerImpl:105-112); nothing is
// added then, and the committer goes on.
//
// Ids may come in any order: the end of the input hands over under an id that is one
// larger than the last, and the next checkpoint may have the same if it hands over
// nothing.
func (c *Committer) Add(checkpoint int64, committables []Committable) error {
	if c.isClosed || c.failed != nil {
		return c.refuse("add committables")
	}
	if len(committables) == 0 {
		return nil
	}
	i, found := slices.BinarySearchFunc(c.batches, checkpoint, func(b Batch, id int64) int { return cmp.Compare(b.Checkpoint, id) })
	if found {
		return newError("add committables", ErrCheckpointID).by(c.subtask).of(checkpoint).todo("use a larger id")
	}
	c.batches = slices.Insert(c.batches, i, Batch{checkpoint, committables})
	c.counts.add(committables)
	return nil
}

// Snapshot returns the state: everything that was added and is not yet published. It
// does not look at the disk; that the parts survive a power cut is what [Writer.Snapshot]
// has to see to, before the state is stored. Later calls do not change what it returned.
func (c *Committer) Snapshot() (CommitterState, error) {
	if c.isClosed || c.failed != nil {
		return CommitterState{}, c.refuse("snapshot")
	}
	return CommitterState{Batches: append([]Batch(nil), c.batches...)}, nil
}

// Complete publishes what was handed over by the checkpoint and by all before it, in
// the order of the checkpoints, and returns it. Ids may come late, twice or in any
// order; an id below the largest seen so far counts as that one
// (CommitterOperator:159-174).
//
// Committing is idempotent: a part that has its visible name already, with the
// recorded length and checksum, is as good as renamed. The parts are forgotten only
// when all their directories have been synced. When Complete returns without error every
// part that it returns survives a power cut under its visible name.
//
// It looks twice at each part and renames it, and fsyncs each directory once. A part is
// read only if its visible name is taken.
//
// If the error wraps [ErrTargetExists], [ErrLost] or [ErrShort] that part was not
// touched, the parts before it may be visible, and those after it wait until Complete is
// called again and succeeds. After
// an error of the file system the committer takes no more calls, see [ErrFailed].
func (c *Committer) Complete(checkpoint int64) ([]Committable, error) {
	if c.isClosed || c.failed != nil {
		return nil, c.refuse("complete")
	}
	c.last = max(c.last, checkpoint)
	n := 0
	var published []Committable
	for n < len(c.batches) && c.batches[n].Checkpoint <= c.last {
		for _, committable := range c.batches[n].Committables {
			if err := c.commit(committable, c.batches[n].Checkpoint); err != nil {
				return nil, err
			}
		}
		published = append(published, c.batches[n].Committables...)
		n++
	}
	if n == 0 {
		return nil, nil
	}
	// Once for all of them, and before they are forgotten.
	if dir, err := c.dirs.sync(); err != nil {
		return nil, c.fail(newError("commit", err).at(dir).of(c.batches[n-1].Checkpoint))
	}
	// The array behind the slice must not hold on to what was published.
	clear(c.batches[:n])
	c.batches = c.batches[n:]
	c.counts.publish(published)
	return published, nil
}

// Abort tells that a checkpoint will not complete. Nothing is deleted: the files are
// closed and synced, and the next checkpoint that completes publishes them
// (semantics of FLINK-29369; CommitterOperator ignores it too). Deleting would lose
// records: the checkpoint after an aborted one does not hand them over again, and an
// older checkpoint may still name what it resumes.
func (c *Committer) Abort(checkpoint int64) error {
	if c.isClosed || c.failed != nil {
		return c.refuse("abort")
	}
	return nil
}

// commit gives a part its visible name. It looks before it renames, because rename(2)
// replaces what is there; between the look and the rename nobody else may use the name,
// which the uuid in it makes sure of. Nothing of it is durable before dirs.sync.
func (c *Committer) commit(p Committable, checkpoint int64) error {
	dir := bucketDir(c.base, p.Bucket)
	temp, target := filepath.Join(dir, p.Temp), filepath.Join(dir, p.Name)
	at, size, refused := locate(c.fs, c.base, p)
	if refused != nil {
		refused.by(c.subtask).of(checkpoint)
		if isRefusal(refused) {
			return refused
		}
		return c.fail(refused)
	}
	// Before the change, so that no way out can leave it unsynced; and also if the part is
	// found committed, since the process that renamed it may have died before its fsync.
	c.dirs.note(dir)
	failed := func(err error, path string) error {
		return c.fail(newError("commit", err).in(p.Bucket).at(path).of(checkpoint))
	}
	switch at {
	case isPending:
		if size > p.Size {
			// Bytes from after the snapshot; the restored source sends them again. A part
			// that was closed has none, unless a process that should be dead wrote on.
			if err := cut(c.fs, temp, p.Size); err != nil {
				return failed(err, temp)
			}
		}
		if err := c.fs.Rename(temp, target); err != nil {
			return failed(err, target)
		}
	case isBoth:
		// The visible one has the content; let it be durable before the other goes: a
		// removal can reach the disk first (google/leveldb#196). After it no state needs
		// the hidden one, which a sweep would else have to find.
		if err := cut(c.fs, target, p.Size); err != nil {
			return failed(err, target)
		}
		if dir, err := c.dirs.sync(); err != nil {
			return failed(err, dir)
		}
		if err := c.fs.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failed(err, temp)
		}
		c.dirs.note(dir)
	case isCommitted:
		// The rename was done before; its directory is synced again, since the
		// process that did it may have stopped in between.
	}
	return nil
}

// isRefusal tells what is found on disk from a failure of the disk. The first can be
// mended by hand while the committer waits, and it knows what is where; after the second
// it does not, and must not go on (see fail).
func isRefusal(err error) bool {
	return errors.Is(err, ErrTargetExists) || errors.Is(err, ErrLost) || errors.Is(err, ErrShort) || errors.Is(err, ErrContent)
}

// cut shortens a file to a length and makes it durable. For a file that has the length
// already only the fsync counts.
func cut(fsys afero.Fs, path string, size int64) error {
	f, err := fsys.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = f.Truncate(size)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Close ends the committer. It holds no files; nothing is published or deleted. It never
// fails and may be called again. A close must not be a commit: the checkpoint of what
// waits may never complete.
func (c *Committer) Close() error {
	c.isClosed = true
	return nil
}

// Err returns the error that stopped the committer, or nil. A part that could not be
// committed for what was found on disk does not stop it.
func (c *Committer) Err() error { return c.failed }

// fail keeps the first error and refuses everything from now on. Above all dirs must not
// be synced again after it has failed.
func (c *Committer) fail(err *Error) error {
	err.Subtask = c.subtask
	if err.Hint == "" {
		err.Hint = restoreHint
	}
	if c.failed == nil {
		c.failed = err
	}
	return err
}

func (c *Committer) refuse(op string) error {
	return refusal(op, c.subtask, c.isClosed, c.failed, false)
}
