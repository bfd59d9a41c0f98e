package peers

import (
	"slices"
	"time"
)

// Compaction is the FileCompactStrategy of Flink's FileSink, embedded in its peers. Parts get
// hidden names. A coordinator collects those that the checkpoints hand over, for each bucket
// of all subtasks together, and sends them off when there are SizeThreshold bytes
// or when OnCheckpoint checkpoints have passed, counted from the one before the first
// part (CompactCoordinator.CompactTrigger). They are merged after that checkpoint has completed,
// and the merged file goes to the committer with the next checkpoint
// (CompactorOperator.emitCompacted), so it is visible a checkpoint later than
// the last of its parts would have been. The merging itself takes no time here.
//
// The zero value is no compaction.
//
// For a user a compaction trades latency for files: with enableCompactionOnCheckpoint=10,
// checkpoints every 2 s and else the defaults, the first record is seen after 140 s and not
// after 120 s. Both conditions may be set, and the first that holds sends the parts off;
// with neither there is no compaction, and Flink's default of -1 means the same. Which
// FileCompactor merges, and the number of compacting subtasks, change nothing in when it is
// seen and are left out.
type Compaction struct {
	OnCheckpoint  int64 // enableCompactionOnCheckpoint, checkpoints; 0 means off
	SizeThreshold int64 // setSizeThreshold, bytes; 0 means off
}

const compactionSource = "Flink FileCompactStrategy.Builder"

func (c *Compaction) options() []option {
	return []option{
		integer("enableCompactionOnCheckpoint", &c.OnCheckpoint, "-1", "so many checkpoints' parts of a bucket are merged", compactionSource),
		byteSize("setSizeThreshold", &c.SizeThreshold, "-1", "so many bytes of a bucket's parts are merged", compactionSource),
	}
}

func (c Compaction) enabled() bool { return c.OnCheckpoint > 0 || c.SizeThreshold > 0 }

// validate refuses what FileCompactStrategy.Builder refuses: no condition at all cannot be
// told from no compaction here.
func (c Compaction) validate(peer string) error {
	if c.OnCheckpoint < 0 {
		return refuse(peer, "enableCompactionOnCheckpoint", "", compactionSource, "the number of checkpoints must be more than 0")
	}
	if c.SizeThreshold < 0 {
		return refuse(peer, "setSizeThreshold", "", compactionSource, "must not be negative")
	}
	return nil
}

// bound adds to the bound of the parts. A part that checkpoint n hands over starts a count,
// or falls into one that runs; it is sent off by checkpoint n + OnCheckpoint - 1 at
// the latest, and its merged file is handed over by the one after that.
//
// So OnCheckpoint checkpoints are added to the bound of a part: OnCheckpoint - 1 from the
// hand-over until the parts are sent off, and one more until the merged file is handed
// over. If a size sends them off earlier, that only helps. A size alone bounds nothing,
// since a last part can stay below it for ever; one byte is the exception, as every part
// has that.
func (c Compaction) bound(b Bound, w Workload) Bound {
	switch {
	case !c.enabled() || b.Unbounded:
	case c.OnCheckpoint == 0 && c.SizeThreshold > 1:
		return unbounded("a bucket whose parts do not come to setSizeThreshold bytes stays hidden", oneRecord(w))
	default:
		// A threshold of one byte sends every part off with the checkpoint that closed it.
		b.Worst += time.Duration(max(c.OnCheckpoint, 1)) * w.between()
		b.Tight = false
		b.Reason += ", and the checkpoints of the compaction"
	}
	return b
}

// attach puts a coordinator and a compactor behind a sink.
func (c Compaction) attach(m *rolling) {
	if c.enabled() {
		m.post = &compactor{Compaction: c, e: m.e}
	}
}

func (c Compaction) waivers(list []Waiver) []Waiver {
	list = slices.Clone(list)
	if c.OnCheckpoint == 0 && c.SizeThreshold > 1 {
		list = withWaiver(list, Waiver{"Latency", "parts wait until there are bytes enough", "Flink CompactCoordinator"})
	}
	return list
}

// compactor is the coordinator and the compactor operator.
//
// A merged file goes from packing to fired (sent off by the checkpoint under way), to
// merged (that has completed), to handed (the next one is under way), and is then
// published.
type compactor struct {
	Compaction
	e       *engine
	id      int64      // of the newest checkpoint
	packing []*packing // of each bucket with parts, in the order in which they got their first
	fired   []*file    // merged files of which the parts are handed over by the checkpoint under way
	merged  []*file    // merged, to be handed over by the next checkpoint
	handed  []*file    // by the checkpoint under way
	stored  compactorState
	taken   compactorState
}

// compactorState is what a checkpoint keeps.
type compactorState struct {
	packing []*packing
	merged  []*file
}

// packing is the parts of one bucket.
type packing struct {
	bucket int32
	parts  []*file
	size   int64
	since  int64 // the checkpoint before the first one that saw it; 0: none has
}

// hand takes parts at the start of a checkpoint: what was merged goes to the committer, parts are
// packed, and the checkpoint counts (CompactCoordinator.processElement, prepareSnapshotPreBarrier).
func (c *compactor) hand(_ int64, files []*file) {
	c.id++
	c.handed, c.merged = append(c.handed, c.merged...), nil
	for _, f := range files {
		i := slices.IndexFunc(c.packing, func(p *packing) bool { return p.bucket == f.key.bucket })
		if i < 0 {
			i = len(c.packing)
			c.packing = append(c.packing, &packing{bucket: f.key.bucket})
		}
		p := c.packing[i]
		// The size is looked at with each part and not at the end of the checkpoint, so one
		// checkpoint can send several files off for a bucket.
		p.parts = append(p.parts, f)
		p.size += f.info.Size
		if c.SizeThreshold > 0 && p.size >= c.SizeThreshold {
			c.fire(i)
		}
	}
	for i := 0; i < len(c.packing); i++ {
		p := c.packing[i]
		if c.OnCheckpoint == 0 {
			continue
		}
		if p.since == 0 {
			p.since = c.id // one more than Flink keeps, so that 0 can mean none
		}
		if c.id-(p.since-1) >= c.OnCheckpoint {
			c.fire(i)
			i--
		}
	}
	if len(c.e.Outages) > 0 {
		c.taken = compactorState{merged: slices.Clone(c.fired)}
		for _, p := range c.packing {
			q := *p
			q.parts = slices.Clone(p.parts)
			c.taken.packing = append(c.taken.packing, &q)
		}
	}
}

// fire makes one file of the parts of a bucket.
//
// What is left of the count goes with it: the bucket's next part begins a new one.
func (c *compactor) fire(i int) {
	p := c.packing[i]
	c.packing = slices.Delete(c.packing, i, i+1)
	f := &file{key: key{bucket: p.bucket}}
	for _, part := range p.parts {
		f.runs = append(f.runs, part.runs...)
		f.info.Size += part.info.Size
		f.info.Records += part.info.Records
	}
	c.fired = append(c.fired, f)
}

func (c *compactor) complete(now int64) {
	c.e.publish(now, c.handed...)
	c.handed = nil
	c.merged = append(c.merged, c.fired...)
	c.fired = nil
	c.stored = c.taken
}

// restart packs the parts that the checkpoint kept again, with counts that begin anew
// (CompactCoordinator.initializeState), and merges again what was merged since.
func (c *compactor) restart(int64) {
	c.handed, c.fired = nil, nil
	c.merged = slices.Clone(c.stored.merged)
	c.packing = nil
	for _, p := range c.stored.packing {
		q := *p
		q.parts, q.since = slices.Clone(p.parts), 0
		c.packing = append(c.packing, &q)
	}
}

func (c *compactor) hidden(visit func(*file)) {
	for _, p := range c.packing {
		for _, f := range p.parts {
			visit(f)
		}
	}
	for _, files := range [][]*file{c.fired, c.merged, c.handed} {
		for _, f := range files {
			visit(f)
		}
	}
}
