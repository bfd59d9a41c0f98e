// Package fstestx tests whether an afero.Fs behaves as a local Linux file system
// does when it is used through package os.
//
// There are two tests. The first is a list of rules, each a sentence with the
// manual page it comes from. [TestFS] checks them all and returns an error that
// joins a *[Violation] for each rule that is not kept, in the manner of
// testing/fstest.TestFS; [Run] gives each rule a subtest:
//
//	func TestMyFs(t *testing.T) {
//		fstestx.Run(t, func(t testing.TB) fstestx.Tree {
//			return fstestx.Tree{FS: myfs.New()}
//		}, fstestx.Options{})
//	}
//
// A [Tree] is the file system and a directory in it, so that a disk can be
// tested below a temporary directory. [Options] say what cannot be seen from
// outside. The rules do not depend on the privileges of the process; those about
// permissions are checked only if Options.Permissions says that they hold.
//
// The second test compares two file systems. A [Program] is a list of calls with
// a text form. [Compare] makes each call on two trees and returns a
// *[Difference] if any result, or any type, operation, name or cause of an error, is
// not the same:
//
//	memory := fstestx.Tree{FS: myfs.New()}
//	disk := fstestx.Tree{FS: afero.NewOsFs(), Dir: t.TempDir()}
//	err := fstestx.Compare(memory, disk, program)
//
// Programs are drawn with [DrawOp] from any source of choices. When one fails,
// [Shrink] makes it short, and its text is kept and read again with [ParseProgram].
//
// The standard is what package os does on Linux, not POSIX alone. Where they part, the
// rule names package os as its source: os.Rename refuses any directory as its
// new name, os.RemoveAll succeeds for a missing one. What Linux leaves to each file
// system is not tested: the order of a directory, the size of a directory,
// what a listing shows of names that come and go meanwhile. Neither is what a
// crash leaves; Sync must succeed, and no more can be seen from here.
package fstestx
