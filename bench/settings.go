package bench

import (
	"time"

	"sinklab/sinkcore"
)

// Setting is how a sink is set up, with the name that it has in the benchmarks.
type Setting struct {
	Name   string                 // value of the key policy
	Policy sinkcore.RollingPolicy // closes parts
	Check  time.Duration          // bucket check interval
}

// ArticleSettings are the three settings of the article on Flink's file sink: as it comes,
// a file closed at 10 s of age or idleness and looked at every second, and a new file at
// every checkpoint. Play one with [sinklab/sinkcore/sim.Article]. The slice is the caller's.
func ArticleSettings() []Setting {
	return []Setting{
		{"default", sinkcore.Default{}, time.Minute},
		{"tuned", sinkcore.Default{Rollover: 10 * time.Second, Inactivity: 10 * time.Second}, time.Second},
		{"oncheckpoint", sinkcore.OnCheckpoint{}, time.Minute},
	}
}
