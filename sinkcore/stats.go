package sinkcore

// Stats is what a sink has done since it was started or restored, and what it holds. The
// counts begin at 0 with each life: records that are sent again after a restore are
// counted again, and so are parts that a restore finds published.
type Stats struct {
	Records int64      // written
	Bytes   int64      // written, as encoded
	Opened  int64      // parts made
	Resumed int64      // parts gone on with after a restore
	Rolled  RollCounts // parts closed, by reason

	OpenParts    int   // in progress
	PendingParts int   // closed, not yet published; those of earlier runs that were restored included
	PendingBytes int64 // in them

	CommittedParts   int64 // published, those published again after a restore included
	CommittedRecords int64 // in them
	CommittedBytes   int64 // in them

	// OldestInvisible is when the oldest record that no reader can see was written, in
	// milliseconds since 1970, or NoTime if there is none. The clock's present minus
	// this is the age to raise an alarm on.
	OldestInvisible int64
}

// RollCounts says how many parts were closed for each reason.
type RollCounts [reasons]int64

// For gives the count of one reason.
func (r RollCounts) For(why Reason) int64 {
	if why >= reasons {
		return 0
	}
	return r[why]
}

// Total is the number of parts closed.
func (r RollCounts) Total() (n int64) {
	for _, count := range r {
		n += count
	}
	return n
}

// Age is how long the oldest invisible record has waited at the instant now, in
// milliseconds; 0 if every record is visible, negative if the clock has gone backwards. An
// age beyond [WorstLatency] tells, as a rule, of checkpoints that do not complete: nothing
// becomes visible then, without any error.
func (s Stats) Age(now int64) int64 {
	if s.OldestInvisible == NoTime {
		return 0
	}
	return now - s.OldestInvisible
}

// add sums two subtasks.
func (s Stats) add(t Stats) Stats {
	s.Records += t.Records
	s.Bytes += t.Bytes
	s.Opened += t.Opened
	s.Resumed += t.Resumed
	for why := range s.Rolled {
		s.Rolled[why] += t.Rolled[why]
	}
	s.OpenParts += t.OpenParts
	s.PendingParts += t.PendingParts
	s.PendingBytes += t.PendingBytes
	s.CommittedParts += t.CommittedParts
	s.CommittedRecords += t.CommittedRecords
	s.CommittedBytes += t.CommittedBytes
	s.OldestInvisible = older(s.OldestInvisible, t.OldestInvisible)
	return s
}

// older is the earlier of two instants of which either may be missing.
func older(a, b int64) int64 {
	if a == NoTime || b != NoTime && b < a {
		return b
	}
	return a
}

// counts is what a writer counts as it goes.
type counts struct {
	records, bytes, opened, resumed int64
	rolled                          RollCounts
}

// committedCounts is what a committer counts as it goes. A part counts as pending until its
// batch is forgotten, even if it has its visible name already.
type committedCounts struct {
	pendingParts                 int
	pendingBytes                 int64
	committed, records, byteSize int64
}

func (n *committedCounts) add(committables []Committable) {
	n.pendingParts += len(committables)
	for _, c := range committables {
		n.pendingBytes += c.Size
	}
}

func (n *committedCounts) publish(committables []Committable) {
	n.pendingParts -= len(committables)
	n.committed += int64(len(committables))
	for _, c := range committables {
		n.pendingBytes -= c.Size
		n.records += c.Records
		n.byteSize += c.Size
	}
}

// Stats can be read at any time, also after an error. It looks at each open part once.
func (w *Writer[T]) Stats() Stats {
	s := Stats{
		Records: w.counts.records, Bytes: w.counts.bytes, Opened: w.counts.opened, Resumed: w.counts.resumed,
		Rolled: w.counts.rolled, OldestInvisible: NoTime,
	}
	for _, b := range w.order {
		if b.part != nil {
			s.OpenParts++
			s.OldestInvisible = older(s.OldestInvisible, b.part.info.CreationTime)
		}
		for _, c := range b.pending {
			s.PendingParts++
			s.PendingBytes += c.Size
			s.OldestInvisible = older(s.OldestInvisible, c.CreationTime)
		}
	}
	return s
}

// Stats can be read at any time, also after an error. It looks at each pending part
// once.
func (c *Committer) Stats() Stats {
	s := Stats{
		PendingParts: c.counts.pendingParts, PendingBytes: c.counts.pendingBytes,
		CommittedParts: c.counts.committed, CommittedRecords: c.counts.records, CommittedBytes: c.counts.byteSize,
		OldestInvisible: NoTime,
	}
	for _, batch := range c.batches {
		for _, p := range batch.Committables {
			s.OldestInvisible = older(s.OldestInvisible, p.CreationTime)
		}
	}
	return s
}
