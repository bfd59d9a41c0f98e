package live

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/afero"
)

// lockName is the file in [CheckpointDir] that is locked. It stays when the job ends: a
// lock on a file that somebody may remove excludes nobody.
const lockName = "lock"

// lockDir takes the lock of an output directory for as long as the returned file is
// open; the kernel frees it when the process dies, however it dies (flock(2)). A file
// system whose files are not the operating system's is seen by this process alone and is
// not locked.
func lockDir(fsys afero.Fs, checkpoints string) (afero.File, error) {
	path := filepath.Join(checkpoints, lockName)
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, newError("lock", path, err, "")
	}
	if file, ok := f.(interface{ Fd() uintptr }); ok {
		if err := lockFile(file.Fd()); err != nil {
			hint := ""
			if errors.Is(err, ErrLocked) {
				hint = "stop that process first, or choose another directory"
			}
			return nil, errors.Join(newError("lock", path, err, hint), f.Close())
		}
	}
	return f, nil
}
