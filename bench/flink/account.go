package flink

import (
	"os"
	"path/filepath"

	"sinklab/bench/watch"
)

// Account is what the files themselves say of when they became visible, beside what a watch
// saw. A rename sets the time of a file's last status change (inode(7)), and a sink that
// publishes by renaming does nothing to a file after that. Durations are in milliseconds, and 0 if
// no file told, which is so where the operating system is not Linux.
type Account struct {
	Files    int64 `json:"files"`       // that told
	Soonest  int64 `json:"soonest_ms"`  // from a file's renaming until the watch saw it
	Latest   int64 `json:"latest_ms"`   // likewise
	Unlooked int64 `json:"unlooked_ms"` // what the watch says that this may be
}

// kernelTick is how far the clock of a file system may be behind (ktime_get_coarse_real_ts64
// of the kernel): a tick of its slowest setting, 100 Hz.
const kernelTick = 10

// Agrees tells whether the watch saw each file when it was visible, and no later than its own
// resolution says.
func (a Account) Agrees() bool { return a.Soonest >= 0 && a.Latest <= a.Unlooked+kernelTick }

// account asks the files that a watch of a directory saw.
func account(dir string, w *watch.Watcher) (a Account, err error) {
	a.Unlooked = w.Result().Resolution
	for _, f := range w.Files() {
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f.Path)))
		if err != nil {
			return a, err
		}
		at, ok := statusChange(info)
		if !ok {
			continue
		}
		after := f.Seen - at
		if a.Files == 0 {
			a.Soonest, a.Latest = after, after
		}
		a.Files++
		a.Soonest, a.Latest = min(a.Soonest, after), max(a.Latest, after)
	}
	return a, nil
}
