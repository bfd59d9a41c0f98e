package peers

import (
	"cmp"
	"slices"

	"sinklab/sinkcore"
)

// Hudi is a copy-on-write table of Apache Hudi that a stream is inserted into (documentation,
// file sizing; not checked against its source). Each commit, here each checkpoint, writes one new
// file for each bucket of each subtask; if the newest file there is smaller than
// hoodie.parquet.small.file.limit the new one is a version of it with the records added, up to
// hoodie.parquet.max.file.size, and what is left goes to further files. Outcome.Files counts versions,
// and Outcome.LiveFiles the newest ones.
//
// With a checkpoint every 2 s there are 1800 versions an hour, but a reader opens only the
// newest ones. Each rewrites the records that it had before, which Outcome.Bytes counts and
// which is what such a table costs. hoodie.parquet.small.file.limit=0 switches that off in
// Hudi; 0 is the default here, so write 1 for it. Merge-on-read, clustering and cleaning
// are left out, and the estimate of a record's size, from which Hudi plans how many go into
// a file, is exact here.
type Hudi struct {
	SmallFileLimit int64 // hoodie.parquet.small.file.limit, bytes; 0 means 100 MiB
	MaxFileSize    int64 // hoodie.parquet.max.file.size, bytes; 0 means 120 MiB
}

// Delta is a table of Delta Lake that a stream is appended to (documentation, auto compaction; not
// checked against its source). Each commit, here each checkpoint, writes one file for each
// bucket of each subtask. With auto compaction, a commit that leaves a bucket with
// minNumFiles files that are smaller than half of maxFileSize is followed by another that
// merges them. Merging takes no time and delays nothing; merged files are counted in
// Outcome.Files, and Outcome.LiveFiles has what is left.
//
// With the defaults of auto compaction and 1800 commits of one file each in an hour, 50 at
// a time are merged: 1836 files are written, and a reader opens 36 at the end. Optimized
// writes, OPTIMIZE and VACUUM are left out. In Delta the writer itself merges after its
// commit and is kept from the next one meanwhile, for which CommitDuration has to stand.
type Delta struct {
	AutoCompact bool  // delta.autoOptimize.autoCompact
	MinNumFiles int64 // spark.databricks.delta.autoCompact.minNumFiles; 0 means 50
	MaxFileSize int64 // spark.databricks.delta.autoCompact.maxFileSize, bytes; 0 means 128 MiB
}

func (p *Hudi) options() []option {
	return []option{
		byteSize("hoodie.parquet.small.file.limit", &p.SmallFileLimit, "104857600", "a smaller file is added to, bytes", "Hudi documentation, file sizing"),
		byteSize("hoodie.parquet.max.file.size", &p.MaxFileSize, "125829120", "up to so many bytes", "Hudi documentation, file sizing"),
	}
}

func (p *Delta) options() []option {
	return []option{
		boolean("delta.autoOptimize.autoCompact", &p.AutoCompact, "small files are merged", "Delta Lake documentation, auto compaction"),
		integer("spark.databricks.delta.autoCompact.minNumFiles", &p.MinNumFiles, "50", "if there are so many in a bucket", "Delta Lake documentation, auto compaction"),
		byteSize("spark.databricks.delta.autoCompact.maxFileSize", &p.MaxFileSize, "134217728", "up to so many bytes", "Delta Lake documentation, auto compaction"),
	}
}

// Name gives "hudi".
func (Hudi) Name() string { return "hudi" }

// Name gives "delta".
func (Delta) Name() string { return "delta" }

// String gives the words that [Parse] reads.
func (p Hudi) String() string { return spell(p.Name(), p.options()) }

// String gives the words that [Parse] reads.
func (p Delta) String() string { return spell(p.Name(), p.options()) }

// Options lists the options with their values.
func (p Hudi) Options() []Option { return describe(p.options()) }

// Options lists the options with their values.
func (p Delta) Options() []Option { return describe(p.options()) }

func (p Hudi) small() int64 { return cmp.Or(p.SmallFileLimit, 100<<20) }
func (p Hudi) most() int64  { return cmp.Or(p.MaxFileSize, 120<<20) }

// Validate refuses a limit of small files that is not below the size of files: every file would be
// small for ever (documentation, file sizing).
func (p Hudi) Validate() error {
	if p.SmallFileLimit < 0 || p.MaxFileSize < 0 || p.small() >= p.most() {
		return refuse(p.Name(), "hoodie.parquet.small.file.limit", "", "Hudi documentation, file sizing", "must be below hoodie.parquet.max.file.size, %d", p.most())
	}
	return nil
}

// Validate refuses negative numbers.
func (p Delta) Validate() error {
	if p.MinNumFiles < 0 || p.MaxFileSize < 0 {
		return refuse(p.Name(), "spark.databricks.delta.autoCompact.minNumFiles", "", "Delta Lake documentation, auto compaction", "must be greater than 0")
	}
	return nil
}

// WorstLatency is one checkpoint interval and the duration of a commit.
//
// How files are packed has no part in it: all that a commit writes is visible with it.
func (Hudi) WorstLatency(w Workload) Bound { return perCheckpoint(w) }

// WorstLatency is one checkpoint interval and the duration of a commit.
func (Delta) WorstLatency(w Workload) Bound { return perCheckpoint(w) }

// Predict is one checkpoint, and a version of a file for each.
func (p Hudi) Predict(w Workload) (Prediction, bool) {
	r, ok := w.regular()
	if !ok || r.size*float64(r.between())/float64(r.gap) >= float64(p.most()-p.small()) {
		return Prediction{}, false
	}
	return predictPerCheckpoint(w)
}

// Predict is one checkpoint, and a file for each; none with auto compaction.
func (p Delta) Predict(w Workload) (Prediction, bool) {
	if p.AutoCompact {
		return Prediction{}, false
	}
	return predictPerCheckpoint(w)
}

// Simulate plays the workload.
func (p Hudi) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) {
		m := newRolling(e, sinkcore.OnCheckpoint{}, 0)
		m.post = &hudiTable{commit: commit{e: e}, Hudi: p, newest: map[key]int64{}}
		return m, nil
	})
}

// hudiTable knows how large the newest file of each group is.
//
// A group is what Hudi calls a file group: the versions of one file. Here each subtask has
// one for each bucket that can still grow.
type hudiTable struct {
	commit
	Hudi
	newest map[key]int64
}

// complete publishes what the checkpoint brought as the first file, and counts the further
// ones.
func (t *hudiTable) complete(now int64) {
	for _, f := range t.handed {
		size, rest := t.newest[f.key], f.info.Size
		t.e.publish(now, f)
		if now > t.e.end {
			continue
		}
		if size > 0 && size < t.small() {
			// A version takes the place of the one before.
			t.e.out.LiveFiles--
			t.e.out.Bytes += size
			taken := min(rest, t.most()-size)
			rest -= taken
			size += taken
		} else {
			size = min(rest, t.most())
			rest -= size
		}
		for rest > 0 {
			t.e.out.Files++
			t.e.out.LiveFiles++
			size = min(rest, t.most())
			rest -= size
		}
		t.newest[f.key] = size
	}
	t.handed = nil
}

// Simulate plays the workload.
func (p Delta) Simulate(w Workload) (Outcome, error) {
	return simulate(p, w, func(e *engine) (machine, error) {
		m := newRolling(e, sinkcore.OnCheckpoint{}, 0)
		m.post = &deltaTable{commit: commit{e: e}, Delta: p, small: map[int32][]int64{}}
		return m, nil
	})
}

// deltaTable knows the sizes of the small files of each bucket.
//
// Files of all subtasks meet in it, since a merge knows only the directory.
type deltaTable struct {
	commit
	Delta
	small map[int32][]int64
}

func (t *deltaTable) complete(now int64) {
	t.e.publish(now, t.handed...)
	most := cmp.Or(t.MaxFileSize, 128<<20)
	if t.AutoCompact && now <= t.e.end {
		var touched []int32
		for _, f := range t.handed {
			if f.info.Size < most/2 {
				t.small[f.key.bucket] = append(t.small[f.key.bucket], f.info.Size)
				if !slices.Contains(touched, f.key.bucket) {
					touched = append(touched, f.key.bucket)
				}
			}
		}
		for _, bucket := range touched {
			t.compact(bucket, most)
		}
	}
	t.handed = nil
}

// compact merges the small files of a bucket in their order if there are enough of them.
//
// A merged file that is still small stays in the list, so it is merged again with the next
// fifty.
func (t *deltaTable) compact(bucket int32, most int64) {
	sizes := t.small[bucket]
	if int64(len(sizes)) < cmp.Or(t.MinNumFiles, 50) {
		return
	}
	merged := []int64{0}
	for _, size := range sizes {
		if last := len(merged) - 1; merged[last] > 0 && merged[last]+size > most {
			merged = append(merged, size)
		} else {
			merged[last] += size
		}
	}
	t.e.out.Files += int64(len(merged))
	t.e.out.LiveFiles += int64(len(merged) - len(sizes))
	t.small[bucket] = nil
	for _, size := range merged {
		t.e.out.Bytes += size
		if size < most/2 {
			t.small[bucket] = append(t.small[bucket], size)
		}
	}
}

// tableWaivers is what readers of the directory see of a table.
func tableWaivers(engine, source string) []Waiver {
	return []Waiver{
		{"Immutable", "files that were replaced are removed later", source},
		{"Restore", "an older checkpoint publishes nothing", source},
		{"FileCount", "files are merged after the fact", source},
		{"Hidden", "files have their final names before the commit that names them; only readers of the " + engine + " table do not see them", source},
		{"Orphans", "files of failed attempts stay until a clean-up is run", source},
	}
}

// Waivers lists what the table does not promise.
func (Hudi) Waivers() []Waiver {
	return tableWaivers("Hudi", "Hudi documentation, file sizing and cleaning")
}

// Waivers lists what the table does not promise.
func (Delta) Waivers() []Waiver {
	return tableWaivers("Delta", "Delta Lake documentation, auto compaction and vacuum")
}
