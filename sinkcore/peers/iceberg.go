package peers

import (
	"cmp"
	"time"

	"sinklab/sinkcore"
)

// Iceberg is the Flink sink of Apache Iceberg. A data file is closed after a record if the number
// of its rows is a multiple of 1000 and it has write.target-file-size-bytes bytes
// (BaseTaskWriter.BaseRollingWriter.shouldRollToNewFile), and at every checkpoint; all files
// of a checkpoint become visible with one snapshot of the table when it completes.
//
// The default of the size is that of TableProperties
// (WRITE_TARGET_FILE_SIZE_BYTES_DEFAULT). It is looked at once in a thousand rows because
// asking a Parquet writer for its length is dear; so rows of half a MiB make files of 1000
// MiB. For a reader the target decides nothing but the number of files: with a checkpoint
// every 2 s there are 1800 an hour. Distribution modes, equality deletes, and compaction by
// another job are left out.
type Iceberg struct {
	TargetFileSize int64 // write.target-file-size-bytes; 0 means 512 MiB
}

func (p *Iceberg) options() []option {
	return []option{byteSize("write.target-file-size-bytes", &p.TargetFileSize, "536870912", "a file that is so large after a thousand rows, or a multiple, is closed", "Iceberg TableProperties")}
}

// Name gives "iceberg-flink".
func (Iceberg) Name() string { return "iceberg-flink" }

// String gives the words that [Parse] reads.
func (p Iceberg) String() string { return spell(p.Name(), p.options()) }

// Options lists the options with their values.
func (p Iceberg) Options() []Option { return describe(p.options()) }

// Validate refuses a negative size.
func (p Iceberg) Validate() error {
	if p.TargetFileSize < 0 {
		return refuse(p.Name(), "write.target-file-size-bytes", "", "Iceberg TableProperties", "must be greater than 0 bytes")
	}
	return nil
}

// Policy gives a policy that closes a part before the record after the one that filled it,
// which comes to the same, since only a checkpoint shows it.
func (p Iceberg) Policy() (sinkcore.RollingPolicy, time.Duration, bool) {
	return icebergPolicy{p, sinkcore.OnCheckpoint{}}, sinkcore.DefaultCheckInterval, true
}

// icebergPolicy is the rolling writer.
type icebergPolicy struct {
	Iceberg
	sinkcore.OnCheckpoint
}

// RollOnEvent closes a part of a multiple of a thousand rows that is large enough.
func (p icebergPolicy) RollOnEvent(part sinkcore.PartInfo) sinkcore.Reason {
	if part.Records%1000 == 0 && part.Size >= cmp.Or(p.TargetFileSize, 512<<20) {
		return sinkcore.Size
	}
	return sinkcore.None
}

// String gives the peer's own words.
func (p icebergPolicy) String() string { return p.Iceberg.String() }

// Validate is the peer's.
func (p icebergPolicy) Validate() error { return p.Iceberg.Validate() }

// WorstLatency is that of closing at every checkpoint.
func (p icebergPolicy) WorstLatency(s sinkcore.Schedule) (time.Duration, bool) {
	return p.OnCheckpoint.WorstLatency(s)
}

// WorstLatency is one checkpoint interval and the duration of a checkpoint.
//
// Files that the size has closed wait for the same snapshot as the one that the checkpoint
// closes, so the size has no part in it.
func (Iceberg) WorstLatency(w Workload) Bound { return perCheckpoint(w) }

// Predict is one checkpoint, and a file for each, if the size closes none.
func (p Iceberg) Predict(w Workload) (Prediction, bool) {
	r, ok := w.regular()
	if !ok || r.size*float64(r.between())/float64(r.gap) >= float64(cmp.Or(p.TargetFileSize, 512<<20)) {
		return Prediction{}, false
	}
	return predictPerCheckpoint(w)
}

// Simulate plays the workload.
func (p Iceberg) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) {
		policy, _, _ := p.Policy()
		return newRolling(e, policy, 0), nil
	})
}

// Waivers lists what issues tell of.
func (p Iceberg) Waivers() []Waiver {
	return []Waiver{
		{"NoDuplicate", "a commit that lands after the restart has read the table is done again", "apache/iceberg#14425"},
		{"NoLoss", "committables that a checkpoint brings late can be forgotten", "apache/iceberg#15846"},
		{"Restore", "an older checkpoint whose id is below the newest committed one publishes nothing", "apache/iceberg#10892"},
		{"FileCount", "a target size adds files within a checkpoint", "Iceberg BaseTaskWriter"},
		{"Hidden", "data files have their final names before the snapshot that names them; only readers of the table do not see them", "Iceberg table specification"},
		{"Orphans", "files of a failed attempt stay until remove_orphan_files is run", "Iceberg documentation, maintenance"},
	}
}
