// Package fsmem is a file system in memory that behaves as a local disk on
// Linux does, loses what was not synced, and fails on demand. It is for testing
// programs that must not lose data.
//
// A test makes one, lets the program write to it, cuts the power, and starts the
// program again on what is left. What follows is in that order.
//
// # Making one
//
// [New] makes an empty file system. It is an afero.Fs: a program that takes one
// runs on it, with the results and errors that package os gives on ext4.
//
//	f := fsmem.New(fsmem.Options{})
//
// The zero [Options] are the superuser without limits, at a time that stands
// still. Nothing here reads a clock, starts a goroutine or draws a random number
// of its own, so the same calls give the same file system, byte for byte.
// Relative paths begin at the root.
//
// # Writing and syncing
//
//	h, err := f.Create("/part")
//	h.Write(record)
//	h.Sync()                 // the bytes are durable, the name is not
//	h.Close()                // closing syncs nothing
//	d, err := f.Open("/")
//	d.Sync()                 // now the name is durable too
//	d.Close()
//
// A caller sees each change at once; the disk sees it when somebody syncs. These
// are the rules, and no others can be relied on:
//
//  1. Sync of a file makes its bytes, size, mode and owner durable, and not its
//     name (fsync(2): "Calling fsync() does not necessarily ensure that the entry
//     in the directory containing the file has also reached disk").
//  2. Sync of a directory makes its entries durable: the names made, renamed and
//     removed in it, and not its own name in its parent.
//  3. Close makes nothing durable (close(2)), nor does the rename of a file make
//     its bytes durable.
//  4. A write to a handle that was opened with O_SYNC is followed by a Sync of
//     the file (open(2)).
//
// Handles are those of *os.File. Reads and writes move one offset, ReadAt and WriteAt
// none; a write behind the end leaves a hole of zeros; O_APPEND holds for every
// write. A handle refers to the file and not to its name, and works on after a
// rename or removal. A directory can be opened to list it or to sync it, not to
// write to it.
//
// Errors are those of package os: an *fs.PathError or *os.LinkError with the errno
// inside. What a program does next is the same as on a disk:
//
//	ENOENT, EEXIST, ENOTEMPTY  look again: somebody else was there, or an earlier
//	                           try had its effect
//	ENOSPC, EDQUOT             the count says how much was stored; cut it off, or
//	                           go on from there when there is room
//	EMFILE                     close a handle (OpenHandles says which are left)
//	EINTR                      try again
//	EIO from a write           the bytes in that range are unknown
//	EIO from Sync              give the file up and write another; see below
//	fs.ErrClosed               a bug in the program
//
// # Crashing
//
// [FS.Crash] returns the file system that the computer finds after a power
// failure. The old one goes on as it is, for the goroutines of the dead process.
//
//	after, err := f.Crash(fsmem.Survival{})          // only what was synced
//	everything, err := fsmem.ParseSurvival("all")    // as if all had been
//	after, err = f.Crash(everything)
//
// What was not synced may survive too, because a kernel writes back when it
// likes. Which part does is the [Survival], a value that prints as it is parsed:
// "none", "all", "names", "data", "unordered zeros", "seed=42", "index=7". So a
// failed test prints one word with which the same crash is made again.
//
// # Enumerating
//
// [FS.Outcomes] lists every state that a crash at this moment may leave, each
// once:
//
//	states, err := f.Outcomes(fsmem.Ordered)
//	for survival, after := range states.All() {
//		// recover from after; on failure report survival
//	}
//
// Mohan et al. (OSDI '18, the B3 study) found that most crash-consistency bugs
// need three operations or fewer on a new file system. The states of such programs
// are few enough to try them all. Where they are not, the error is [ErrTooMany];
// draw some with seed=N.
//
// A file on which n operations are unsynced has the state after any number of
// them; the next may be torn where it crosses a sector. Independently, names
// depend on the [Model]:
//
//	                       Ordered                     Unordered
//	directory changes      the first n of those that   each entry has any value
//	                       are pending, in order       since its directory's sync
//	rename in a directory  whole or not at all         both names, one, or none
//	rename across two      whole or not at all; sync   each half by itself; a
//	                       of either makes it durable  directory's move is whole
//	size and data          no size without its data    zeros may stand for data
//	torn writes            at sectors                  at sectors
//
// This is where the file systems in use stand:
//
//	file system               model      source
//	ext4 data=ordered         Ordered    Documentation/admin-guide/ext4.rst, "Data Mode";
//	                                     Pillai et al., OSDI '14 (ALICE), table 1
//	XFS                       Ordered    Documentation/filesystems/xfs/, delayed logging
//	                                     design: one log, replayed in order
//	btrfs                     between    OSDI '14, table 1: directory operations overtake
//	                                     each other; OSDI '18 (CrashMonkey and Ace): fsync
//	                                     writes a log of the one inode
//	ext4 data=writeback       between    ext4.rst: names in order, but old data or zeros
//	                                     behind a new size
//	ext2, ext4 without        Unordered  OSDI '14, table 1: directory operations are neither
//	a journal                            atomic nor ordered
//	failed fsync              both       Rebello et al., ATC '20 (CuttleFS): pages are marked
//	                                     clean, later syncs succeed; fsync(2), EIO
//
// The states of those "between" are among those of Unordered, but for old data (see
// Limits). Test with Unordered to be portable, with Ordered to be safe on the common
// journals.
//
// # Injecting faults
//
// A [Rule] says which operations fail, and how: before the effect or after it, by
// short writes, stalls, corrupt reads. [Layer.Inject] puts it in force and returns
// a [Fault], which can be disarmed and counts how often it fired.
//
//	rule, err := fsmem.ParseRule("rename path=*/part-* nth=3 error=EIO after")
//	fault, err := f.Inject(rule)
//	// run the program
//	if fault.Fired() == 0 { /* the test has tested nothing */ }
//
// Options.Quota makes writes fail with ENOSPC until space is freed, and
// Options.OpenFiles makes opening fail with EMFILE.
//
// The fault to know about is "sync error=EIO clean". Linux marks pages clean when
// writing them fails, so the next fsync succeeds without having written them, and
// they are gone at the next crash. A program that tries a failed fsync again is
// wrong, and this rule shows it. What is left then is a choice of this package:
//
//   - Bytes that were lost are what the disk held before, or zeros where it held
//     none. Reads show what was written until the crash.
//   - The size is the old one as long as nothing else of the file is synced, as
//     on btrfs, which drops bytes and size together. Once something is, be it a
//     later write, a chmod or a changed time, the size is committed with zeros in
//     place of what was lost, as on ext4 and XFS (ATC '20, section 3).
//   - Of a directory, the changes of its own entries are lost, and only those. A
//     file that was renamed across two directories, one sync of which has failed,
//     has both names then, or neither, in both models. There is no real file
//     system to follow: a journal that cannot be written stops everything (ext4
//     remounts read-only, XFS shuts down), for which there is error=EROFS. The
//     choice is that a sync that succeeded speaks for its own directory.
//   - The move of a directory is not lost: two names of one are no legal state.
//
// # Observing
//
// To crash at every operation, before and after its effect, set a hook
// ([Layer.Hook]) and crash in it:
//
//	f.Hook(func(e fsmem.Event) {
//		states, err := f.Outcomes(fsmem.Unordered)
//		// recover from each; on failure report e
//	})
//
// [Layer.KeepJournal] and [Layer.Journal] give the last operations with their
// results, a line each. [FS.Visible] gives the files that a reader would find,
// and [FS.VisibleGeneration] a number that tells whether looking again is worth
// it. [FS.OpenHandles] are the handles that were not closed and who opened them,
// and [FS.Usage] the bytes and handles in use.
//
// [Wrap] gives the rules, the hook and the journal to any other afero.Fs, so that
// a real disk can be made to fail:
//
//	disk := fsmem.Wrap(afero.NewOsFs(), fsmem.WrapOptions{Sleep: time.Sleep})
//
// # Limits
//
// The model is weaker than real file systems in most places, so that what passes
// here does not depend on one of them. ext4 and XFS commit every earlier change
// with a sync, and ext4 writes the data of a file that is renamed over another
// before the rename (ext4.rst, auto_da_alloc). A program that relies on either
// fails here.
//
// In these it is stronger, and a program can pass that a real disk would fail:
//
//   - The unsynced writes of one file survive in order, and the sectors of a
//     write from the first one on. A real kernel may write a later page first,
//     which matters to a program that overwrites in place, not to one that
//     appends: its states are those with zeros.
//   - Zeros stand for all that a block may hold that was never written; other
//     files' old bytes do not appear (ext4(5), data=writeback).
//   - Disks do not lie about a flush, and what was synced is never damaged, but
//     for a Rule that corrupts reads.
//
// Nothing is written back by itself. A kernel writes after half a minute at the
// latest (Documentation/admin-guide/sysctl/vm.rst, dirty_expire_centisecs); here
// what was not synced stays so, and a Survival says whether it was lucky.
//
// A crash takes time in proportion to what is unsynced, not to what is stored.
// What needs all files is made later, by whoever asks first: one walk at the
// first Visible, one at the first Usage or write under a Quota.
//
// Directories are listed in the order of names. Special files and file locks do
// not exist. Hard links cannot be made, but a rename of which a crash has left
// both names makes one. Reading does not change the access time. A read of a closed directory wraps fs.ErrClosed, where package os gives an error
// of its own. RemoveAll and MkdirAll are atomic for other goroutines, though not
// for a crash: each entry is a change of its own.
package fsmem
