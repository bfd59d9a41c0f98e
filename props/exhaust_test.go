package props

import (
	"os"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"sinklab/fsmem"
)

// exhaustives are the bounded spaces that are tried in full. Records are handed to the
// file system one by one and torn at every so many bytes.
var exhaustives = []struct {
	name string
	Exhaustive
}{
	// A journal keeps the order of directory changes, and a rename whole. Parts roll by
	// size and by age, and go to new directories two levels deep.
	{"rolling", Exhaustive{
		Open:     "open policy=rolling size=4 rollover=100 check=100",
		Alphabet: []string{"write", "write-deep", "advance", "checkpoint", "complete", "recover"},
		Length:   5, BufferSize: 1, SectorSize: 4, Model: fsmem.Ordered, Rescale: []int{1, 2},
	}},
	{"longer", Exhaustive{
		Open:     "open policy=rolling size=4 rollover=100 check=100",
		Alphabet: []string{"write", "advance", "checkpoint", "complete", "recover"},
		Length:   6, BufferSize: 1, SectorSize: 4, Model: fsmem.Ordered, Rescale: []int{1, 2},
	}},
	{"oncheckpoint", Exhaustive{
		Open:     "open policy=oncheckpoint parallelism=2 check=100",
		Alphabet: []string{"write", "write-deep", "checkpoint", "complete", "end"},
		Length:   6, BufferSize: 1, SectorSize: 4, Model: fsmem.Ordered, Rescale: []int{1, 3},
	}},
	// Without a journal each name and each sector is on its own, and a rename can leave
	// neither name. No sink that renames can make that good; what it must do is to notice
	// and say which file is missing.
	{"unordered", Exhaustive{
		Open:     "open policy=rolling size=4 rollover=100 check=100",
		Alphabet: []string{"write", "advance", "checkpoint", "complete", "recover"},
		Length:   5, BufferSize: 1, SectorSize: 1, Model: fsmem.Unordered, Rescale: []int{1, 2, 3},
	}},
	{"unordered, one file", Exhaustive{
		Open:     "open policy=default",
		Alphabet: []string{"write", "checkpoint", "complete", "recover"},
		Length:   5, BufferSize: 1, SectorSize: 1, Model: fsmem.Unordered, Rescale: []int{1, 2, 3},
	}},
	{"unordered oncheckpoint", Exhaustive{
		Open:     "open policy=oncheckpoint check=100",
		Alphabet: []string{"write", "checkpoint", "complete", "end"},
		Length:   5, BufferSize: 1, SectorSize: 1, Model: fsmem.Unordered, Rescale: []int{1, 2, 3},
	}},
}

// tornDeeper is the first space with every second byte torn: ten times as many states, for
// the soak.
func tornDeeper() Exhaustive {
	deeper := exhaustives[0].Exhaustive
	deeper.SectorSize = 2
	return deeper
}

// soakVariable asks for what takes too long for every day.
const soakVariable = "SINKLAB_SOAK"

// Every program up to a bound, times every crash point, times every state that the disk
// can be found in, times every checkpoint that can be restored: nothing is lost, doubled
// or early.
func TestPropExhaustive(t *testing.T) {
	// Each recovery has a file system of its own, and all of it is garbage at once.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	spaces := exhaustives
	if os.Getenv(soakVariable) != "" {
		spaces = append(slices.Clip(spaces), struct {
			name string
			Exhaustive
		}{"rolling, torn deeper", tornDeeper()})
	}
	var total Tally
	begun := time.Now()
	for _, space := range spaces {
		start := time.Now()
		tally, failure, err := space.Run()
		if err != nil {
			t.Fatal(err)
		}
		if failure != nil {
			t.Fatalf("%s: %v", space.name, failure)
		}
		seconds := time.Since(start).Seconds()
		t.Logf("%s: %d programs, %d crash points, %d states, %d recoveries, of them %d refused, 0 violations; %.0f recoveries a second",
			space.name, tally.Programs, tally.CrashPoints, tally.States, tally.Recoveries, tally.Refusals, float64(tally.Recoveries)/seconds)
		total.add(tally)
	}
	t.Logf("in all %d recoveries, %.0f a second", total.Recoveries, float64(total.Recoveries)/time.Since(begun).Seconds())
	if total.Recoveries < 1_000_000 {
		t.Errorf("%d recoveries are less than a million", total.Recoveries)
	}
}
