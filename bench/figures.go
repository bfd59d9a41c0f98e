package bench

import "sinklab/sinkcore/sim"

// Figure is a metric of a workload in virtual time.
type Figure struct {
	Unit  string  `json:"unit"` // what it is and in what, see the package documentation
	Value float64 `json:"value"`
}

// Figures are the exact metrics of a workload of which something became visible, in the
// order of the package documentation. Those of restarts are there only if there were some.
func Figures(r sim.Result) []Figure {
	commits := float64(r.Commits)
	figures := []Figure{
		{"first-visible-ms", float64(r.FirstVisible.Milliseconds())},
		{"p50-visible-ms", float64(r.Latency(.5).Milliseconds())},
		{"p90-visible-ms", float64(r.Latency(.9).Milliseconds())},
		{"p99-visible-ms", float64(r.Latency(.99).Milliseconds())},
		{"max-visible-ms", float64(r.Latency(1).Milliseconds())},
		{"invisible-records", float64(r.Invisible)},
		{"oldest-invisible-ms", float64(r.OldestInvisible.Milliseconds())},
		{"files/hour", r.FilesPerHour()},
		{"bytes/file", r.BytesPerFile()},
		{"empty-checkpoints", float64(r.EmptyCheckpoints)},
		{"open-files", float64(r.MaxOpenParts)},
		{"fsyncs/commit", float64(r.Calls.Syncs) / commits},
		{"dirsyncs/commit", float64(r.Calls.DirSyncs) / commits},
		{"renames/commit", float64(r.Calls.Renames) / commits},
		{"fs-changes", float64(r.Calls.Total())},
	}
	if restarts := float64(r.Restarts); restarts > 0 {
		figures = append(figures,
			Figure{"rewritten-files/restart", float64(r.RewrittenFiles) / restarts},
			Figure{"rewritten-bytes/restart", float64(r.RewrittenBytes) / restarts})
	}
	return figures
}
