package watch_test

import (
	"fmt"
	"testing"
)

// Without notices the times of directories save listings, and cost no latency on any clock
// that a file system may have: neither a coarse one, nor one that stands still.
func TestTimesOfDirectoriesDeceiveNobody(t *testing.T) {
	for _, grain := range []int64{1, 10, 1000, 2000, 0} {
		w := newWorld(t, false)
		w.publish("/out/a/part", line(0))
		w.publish("/out/b/part", line(0))
		w.now += 5003
		w.grain = grain
		watcher := w.watch(csvTimes)
		watcher.Look()
		const files = 300
		for n := range int64(files) {
			w.now += 7 * n % 41
			w.publish(fmt.Sprintf("/out/a/part-%d", n), line(0))
			if w.tick(watcher); watcher.State().Files != n+1 {
				t.Fatalf("grain %d: %d files of %d", grain, watcher.State().Files, n+1)
			}
			// Often nothing comes for a while.
			for range n % 17 {
				w.tick(watcher)
			}
		}
		r := watcher.Result()
		saved := 3*r.Looks - r.Listings
		if grain > 0 && saved < r.Looks || grain == 0 && saved > 0 {
			t.Errorf("grain %d: %d looks at 3 directories made %d listings", grain, r.Looks, r.Listings)
		}
	}
}

// If the times of directories turn out to say nothing, the next sweep finds it, and then they
// are asked no more.
func TestTimesThatStandStillAreFoundOut(t *testing.T) {
	w := newWorld(t, false)
	w.publish("/out/part", line(0))
	w.now += 3
	watcher := w.watch(csvTimes)
	watcher.Look()
	w.publish("/out/part-1", line(0))
	w.grain = 0
	for range 15 {
		w.tick(watcher)
	}
	w.publish("/out/part-2", line(0))
	if w.tick(watcher); watcher.State().Files != 1 {
		t.Fatal("seen, though the time of the directory is the same")
	}
	for range 50 {
		w.tick(watcher)
	}
	for n := range int64(5) {
		w.publish(fmt.Sprintf("/out/part-3-%d", n), line(0))
		if w.tick(watcher); watcher.State().Files != n+3 {
			t.Errorf("%d files", watcher.State().Files)
		}
	}
}

// Where times of directories save listings, what takes the name of what has gone is found all
// the same.
func TestATimeHidesNoChangeOfKind(t *testing.T) {
	w := newWorld(t, false)
	for n := range 950 { // of which a look looks only at some again
		w.publish(fmt.Sprintf("/out/a/part-%d", n), line(0))
	}
	w.now += 3
	watcher := w.watch(csvTimes)
	watcher.Look()
	w.publish("/out/b", line(0))
	for range 15 {
		w.tick(watcher)
	}
	w.must(w.fs.Remove("/out/b"))
	w.publish("/out/b/part", line(0))
	for range 12 {
		w.tick(watcher)
	}
	if s := watcher.State(); s.Files != 2 || s.Vanished != 1 || s.Directories != 3 {
		t.Errorf("%+v", s)
	}
	for range 18 { // and no sweep
		w.tick(watcher)
	}
	w.must(w.fs.RemoveAll("/out/b"))
	w.publish("/out/b", line(0))
	for range 2 {
		w.tick(watcher)
	}
	if s := watcher.State(); s.Files != 3 || s.Vanished != 2 || s.Directories != 2 {
		t.Errorf("%+v", s)
	}
}
