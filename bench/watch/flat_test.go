package watch_test

import (
	"fmt"
	"path/filepath"
	"testing"
)

// A look asks the file system for as much with 100,000 files as with 1,000, when little has
// changed since the last one.
func TestALookDoesNotSlowDown(t *testing.T) {
	bothWays(t, func(t *testing.T, w *world) {
		var costs [2]int
		for i, files := range []int{1000, 100_000} {
			told := w.told
			w := newWorld(t, told != nil)
			fill(w, files)
			watcher := w.watch(csvTimes)
			watcher.Look()
			// The first change shows that the times of directories are kept here; a while after
			// it nothing more is expected in the same tick of the clock.
			w.now++
			w.publish("/out/9/first", line(0))
			for range 11 {
				w.tick(watcher)
			}
			before := watcher.Result()
			w.calls = 0
			for n := range 10 {
				w.tick(watcher)
				if told != nil { // where there are none, the directory with the change is listed
					calls := w.calls
					w.publish(fmt.Sprintf("/out/%d/part", n), line(0))
					w.calls = calls
				}
			}
			costs[i] = w.calls
			after := watcher.Result()
			if before.Before != int64(files) || before.Files != 1 || after.Listings != before.Listings {
				t.Errorf("%d files: %+v", files, after)
			}
		}
		if costs[0] != costs[1] || costs[0] == 0 {
			t.Errorf("10 looks took %d calls of the file system with 1,000 files, %d with 100,000", costs[0], costs[1])
		}
	})
}

// fill makes files in ten directories.
func fill(w *world, files int) {
	hidden := w.told
	w.told = nil
	for n := range files {
		w.write(filepath.Join("/out", fmt.Sprint(n%10), fmt.Sprintf("part-%d", n)), "")
	}
	w.told = hidden
}
