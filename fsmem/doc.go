// Package fsmem is a file system in memory that behaves as a local disk on
// Linux does, loses what was not synced, and fails on demand. It is for testing
// programs that must not lose data.
//
// # Use
//
// New makes an empty file system. It is an afero.Fs: a program that takes one
// runs on it, with the results and errors that package os gives on ext4.
//
//	f := fsmem.New(fsmem.Options{})
//	h, err := f.Create("/part")
//
// Relative paths begin at the root. No clock is read: time is Options.Now.
//
// # Losing power
//
// Crash returns the file system that the computer finds after a power failure.
// The old one stays as it is, for the goroutines of the dead process.
//
//	after, err := f.Crash(fsmem.Survival{}) // only what was synced
//
// What was not synced can survive too, and which part does is the Survival, a
// value that prints as it is parsed: "none", "all", "seed=42", "unordered
// index=7". Outcomes lists every state that is legal, each once:
//
//	states, err := f.Outcomes(fsmem.Ordered)
//	for survival, after := range states.All() {
//		// recover from after; on failure report survival
//	}
//
// To crash at every operation, before and after its effect, set a Hook and call
// Crash or Outcomes in it.
//
// # What is durable
//
// These are the rules, weaker than those of any one file system, so that a
// program that is safe here is safe on all of them (POSIX.1-2017, fsync();
// fsync(2), "Calling fsync() does not necessarily ensure that the entry in the
// directory containing the file has also reached disk"):
//
//  1. Sync of a file makes its bytes, size, mode and owner durable, and not its
//     name.
//  2. Sync of a directory makes its entries durable: the names made, renamed and
//     removed in it, and not those of its own parents.
//  3. Close makes nothing durable, nor does the rename of a file make its bytes
//     durable.
//  4. A write to a handle that was opened with O_SYNC is followed by a Sync.
//
// Anything else may survive or not. A file with n unsynced operations has the
// state after any number of them; a write may be torn where it crosses a sector.
// Names depend on the model:
//
//	                       Ordered                     Unordered
//	directory changes      the first n of those that   each entry has any value
//	                       are pending, in order       since its directory's sync
//	rename in a directory  whole or not at all         both names, one, or none
//	rename across two      whole or not at all; sync   each half by itself, a
//	                       of either makes it durable  directory's move is whole
//	size and data          no size without its data    zeros may stand for data
//	torn writes            at sectors                  at sectors
//
// This is where the file systems in use stand:
//
//	file system               model      source
//	ext4 data=ordered         Ordered    Documentation/admin-guide/ext4.rst, "Data Mode";
//	                                     Pillai et al., OSDI '14 (ALICE), table 1
//	XFS                       Ordered    Documentation/filesystems/xfs/, delayed logging design
//	btrfs                     Ordered    Documentation/filesystems/btrfs.rst; Mohan et al.,
//	                                     OSDI '18 (CrashMonkey and Ace): fsync persists the
//	                                     inode alone, so rules 1 and 2 are what is left
//	ext4 data=writeback       between    ext4.rst: metadata in order, old data or zeros behind
//	                                     a new size; its states are all in Unordered
//	ext2, ext4 without        Unordered  OSDI '14, table 1: directory operations are neither
//	a journal                            atomic nor ordered
//	failed fsync              both       Rebello et al., ATC '20 (CuttleFS): pages are marked
//	                                     clean, later syncs succeed; fsync(2), EIO
//
// Real ones promise more. ext4 and XFS commit every earlier change with a sync,
// and ext4 writes the data of a file that is renamed over another
// (auto_da_alloc); a program that relies on either is not portable, and fails
// here. Not modelled are disks that lie about a flush, and damage to data that
// was synced, other than by a Rule that corrupts reads.
//
// A sync that fails with a Rule that says clean forgets what it should have
// written. Reads show it until the next crash.
//
// # Failing
//
// A Rule says which operations fail, and how: before the effect or after it, by
// short writes, stalls, corrupt reads. Inject puts it in force and returns a
// Fault, which can be disarmed and counts how often it fired.
//
//	rule, err := fsmem.ParseRule("rename path=*/part-* nth=3 error=EIO after")
//	fault, err := f.Inject(rule)
//
// Options.Quota makes writes fail with ENOSPC until space is freed, and
// Options.OpenFiles makes opening fail with EMFILE.
//
// # Looking on
//
// KeepJournal and Journal give the last operations with their results, Visible
// the files that a reader would find, OpenHandles the handles that were not
// closed and who opened them, Usage the bytes and handles in use.
//
// Wrap gives the rules, the hook and the journal to any other afero.Fs, so that
// a real disk can be made to fail.
//
// # Differences from a disk
//
// Directories are listed in the order of names. Hard links, special files, file
// locks and access times do not exist; the access time is what Chtimes set. A
// read of a closed directory wraps fs.ErrClosed, where package os gives an
// error of its own. RemoveAll and MkdirAll are atomic for other goroutines.
package fsmem
