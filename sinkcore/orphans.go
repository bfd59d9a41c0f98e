package sinkcore

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/afero"
)

// inProgressName is what this package and Flink call files that are not committed, but
// for those of Flink's compaction. A sweep goes by the whole form of the name: other
// programs have hidden files too.
var inProgressName = regexp.MustCompile(`(?s)^\..+\.inprogress\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// Orphans lists the in-progress files below dir that none of the given checkpoints
// names, in order of their paths. They are what dead attempts leave behind: parts
// opened after the checkpoint that was restored, and parts whose checkpoint never
// completed. Flink leaves them for ever (FLINK-11116).
//
// Give every checkpoint and savepoint that may still be restored, of every job that
// writes to the directory, and call it while no job runs: a running job has files that
// no checkpoint names yet. Files and directories of other names are never listed, nor
// is anything below a hidden directory. Dir may be a link; links below it are not
// followed.
//
// Whether a file is needed follows from the checkpoints alone. A sink that removes at a
// restore what looks like its own takes files of other subtasks and of older checkpoints
// (FLINK-5056, FLINK-40595), and so none is removed unasked.
//
// A missing dir has no orphans. An error of the file system comes with what was found
// until then.
func Orphans(fsys afero.Fs, dir string, retained ...Checkpoint) ([]string, error) {
	owned := map[string]bool{}
	for _, c := range retained {
		for _, name := range c.InProgressFiles() {
			owned[filepath.Join(dir, name)] = true
		}
	}
	var orphans []string
	root := filepath.Clean(dir) + string(filepath.Separator) // the end makes lstat(2) follow a link
	err := afero.Walk(fsys, root, func(path string, info fs.FileInfo, err error) error {
		switch {
		case err != nil && errors.Is(err, fs.ErrNotExist):
			return nil // gone since it was listed, or never there
		case err != nil:
			return newError("list orphans", err).at(path)
		case info.IsDir():
			if path != root && hidden(info.Name()) {
				return filepath.SkipDir
			}
		case info.Mode().IsRegular() && inProgressName.MatchString(info.Name()) && !owned[path]:
			orphans = append(orphans, path)
		}
		return nil
	})
	slices.Sort(orphans)
	return orphans, err
}

// RemoveOrphans removes what [Orphans] lists, under the same conditions, and returns
// what it removed. Running it again is harmless. The list is made before the first
// file is removed, so a job started meanwhile loses nothing. It goes on after an error
// and returns all of them, joined. No directory is synced: a power cut may bring an orphan
// back, and the next run removes it. Empty directories stay.
func RemoveOrphans(fsys afero.Fs, dir string, retained ...Checkpoint) (removed []string, err error) {
	orphans, err := Orphans(fsys, dir, retained...)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, path := range orphans {
		switch err := fsys.Remove(path); {
		case err == nil:
			removed = append(removed, path)
		case !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, newError("remove orphans", err).at(path))
		}
	}
	return removed, errors.Join(errs...)
}
