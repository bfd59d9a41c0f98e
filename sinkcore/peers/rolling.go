package peers

import (
	"slices"

	"sinklab/sinkcore"
)

// rolling is a peer whose part files a rolling policy closes and a checkpoint commits. It asks
// the policy at the moments at which sinkcore.Writer asks it, but for no file system: a test
// holds the two against each other.
//
// Flink's sinks, Iceberg, Arroyo and the tables differ in the policy, in a few flags and in
// the stage behind it, so they share this machine. A file is in one of four places: open,
// closed by the policy, handed to the stage by a checkpoint, or visible.
type rolling struct {
	e      *engine
	policy sinkcore.RollingPolicy
	check  int64 // between two checks of the timer; 0 means that there is no timer
	delay  int64 // how late the timer fires

	readsClock bool // the timer shows the policy the time that it is, not the time at which it was due
	eachBatch  bool // the policy is asked about age after each batch too
	finishes   bool // a restart closes what was open instead of going on with it

	key   func(r record) key // which file a record goes to
	read  func(r record)     // told of each record before it is written; or nil
	began func()             // told of the start of a checkpoint before it closes anything; or nil

	// expired says that a file is to be closed for another reason than the policy's; or nil. It
	// is asked where the policy is asked about age, or at checkpoints only.
	expired             func(f *file) bool
	expiresAtCheckpoint bool

	post   stage     // what becomes of files that a checkpoint hands over
	open   fileSet   // part files in progress
	closed []*file   // by the policy, not handed over yet
	due    int64     // when the timer is due
	sent   int64     // records that were written, as the number of the next one
	taken  *snapshot // of the checkpoint under way
	stored *snapshot // of the newest one that completed
}

// stage is what happens to the files that a checkpoint hands over.
//
// The plain one is commit; compaction, transactions, partition commits and tables are
// others.
type stage interface {
	// hand takes the files that a checkpoint closes, at its start.
	hand(now int64, files []*file)
	// complete is the completion of that checkpoint.
	complete(now int64)
	// restart forgets what the checkpoint under way brought.
	restart(now int64)
	// hidden calls the function with each file that is held back.
	hidden(visit func(*file))
}

// snapshot is what a checkpoint keeps for a restart.
//
// Files are copied, since the sink goes on writing to them. Without outages none is taken,
// which keeps a long simulation cheap.
type snapshot struct {
	covers int64 // records before this number
	open   []*file
}

// newRolling makes the machine of a policy. A timer counts from the start.
//
// The first check is an interval after the start, as a timer that is registered when the
// writer opens.
func newRolling(e *engine, policy sinkcore.RollingPolicy, check int64) *rolling {
	m := &rolling{e: e, policy: policy, check: check, delay: e.TimerDelay.Milliseconds(), due: never}
	if check > 0 {
		m.due = check
	}
	m.key = func(r record) key { return key{subtask: r.subtask, bucket: r.bucket} }
	m.post = &commit{e: e}
	m.stored = &snapshot{}
	return m
}

// put writes records. The policy is asked before each but the first of a file.
//
// Flink asks the policy only if a part is open (FileWriterBucket.write), so the first
// record of a part never closes it, whatever its size.
func (m *rolling) put(now int64, batch []record) error {
	if m.due != never {
		m.due = m.checkFrom(now - m.delay + 1) // a check of this instant came before the records and found nothing
	}
	for _, r := range batch {
		if m.read != nil {
			m.read(r)
		}
		k := m.key(r)
		f := m.open.get(k)
		if f != nil && m.policy.RollOnEvent(f.info) != sinkcore.None {
			m.close(func(g *file) bool { return g == f })
			f = nil
		}
		if f == nil {
			f = m.e.newFile(k, now)
			m.open.put(f)
		}
		m.e.add(f, r, now)
		m.sent = max(m.sent, r.seq+1)
	}
	if m.eachBatch {
		m.close(func(f *file) bool {
			return m.rollAt(f) <= now && slices.ContainsFunc(batch, func(r record) bool { return m.key(r) == f.key })
		})
	}
	return nil
}

// close moves files from open to closed.
func (m *rolling) close(pick func(*file) bool) {
	files := m.open.take(pick)
	m.e.closed(len(files))
	m.closed = append(m.closed, files...)
}

// rollAt is the instant from which on a check closes a file.
//
// 0 is before any instant, so an expired file is due at the next check whatever the policy
// says.
func (m *rolling) rollAt(f *file) int64 {
	if m.expired != nil && !m.expiresAtCheckpoint && m.expired(f) {
		return 0
	}
	at, _ := m.policy.RollAt(f.info)
	return at
}

// next passes over checks at which no file is due: they change nothing but the time of
// the next one, which is as long after as any other.
//
// An hour of Flink's default has 60 checks, but one of Arroyo's has 36,000, and of most of
// them nothing comes; passing over them makes the cost depend on the number of files.
func (m *rolling) next() int64 {
	if m.due == never || len(m.open.order) == 0 {
		return never
	}
	soonest := never
	for _, f := range m.open.order {
		soonest = min(soonest, m.rollAt(f))
	}
	if soonest == never {
		return never
	}
	if m.readsClock {
		soonest -= m.delay // so much later the timer fires
	}
	// A record can make a file due earlier, so the checks before that are not past yet.
	return m.checkFrom(max(soonest, m.e.now-m.delay)) + m.delay
}

// checkFrom is when the first check from an instant on is due.
//
// A timer is set an interval after it fired, not after it was due, so with a delay the
// distance is the interval and the delay.
func (m *rolling) checkFrom(instant int64) int64 {
	behind := max(instant-m.due, 0)
	every := m.check + m.delay
	return m.due + (behind+every-1)/every*every
}

// wake is the check timer. It shows the policy the instant at which it was due, as
// FileWriter.onProcessingTime does, unless it reads the clock.
func (m *rolling) wake(now int64) error {
	seen := now - m.delay
	if m.readsClock {
		seen = now
	}
	m.close(func(f *file) bool { return m.rollAt(f) <= seen })
	m.due = now + m.check
	return nil
}

// begin hands over what is closed, and what the policy closes at checkpoints.
//
// What the policy closed before goes first, in the order in which it was closed; a merging
// stage keeps that order.
func (m *rolling) begin(now int64) {
	if m.began != nil {
		m.began()
	}
	m.close(func(f *file) bool {
		return m.policy.RollOnCheckpoint(f.info, now) != sinkcore.None || m.expiresAtCheckpoint && m.expired(f)
	})
	if len(m.e.Outages) > 0 {
		m.taken = &snapshot{covers: m.sent}
		for _, f := range m.open.order {
			m.taken.open = append(m.taken.open, clone(f))
		}
	}
	m.post.hand(now, m.closed)
	m.closed = nil
}

// clone copies a file as it is now.
func clone(f *file) *file {
	c := *f
	c.runs = slices.Clip(slices.Clone(f.runs))
	return &c
}

// complete makes the snapshot the one to go back to, and then lets the stage show the
// files.
func (m *rolling) complete(now int64) {
	if m.taken != nil {
		m.stored, m.taken = m.taken, nil
	}
	m.post.complete(now)
}

// restart goes back to the newest checkpoint that completed. A part that is gone on with
// counts as last written to when it was made (FileWriterBucket:102-150).
//
// Records that the snapshot does not cover are sent again by the source. Among them are
// those of files that were closed since: they were named by no checkpoint that completed.
func (m *rolling) restart(now int64) []record {
	m.e.closed(len(m.open.takeAll()))
	m.closed, m.taken = nil, nil
	m.post.restart(now)
	for _, f := range m.stored.open {
		f = clone(f)
		f.info.LastUpdate = f.info.CreationTime
		if m.finishes {
			m.closed = append(m.closed, f)
			continue
		}
		m.open.put(f)
		m.e.open++
	}
	if m.check > 0 {
		m.due = now + m.check
	}
	again := slices.Clone(m.e.sent[m.stored.covers:m.sent])
	m.sent = m.stored.covers
	return again
}

func (m *rolling) hidden(visit func(*file)) {
	for _, f := range m.open.order {
		visit(f)
	}
	for _, f := range m.closed {
		visit(f)
	}
	m.post.hidden(visit)
}

// commit is the stage of a sink that shows files when the checkpoint that handed them over
// completes.
type commit struct {
	e      *engine
	handed []*file
}

func (c *commit) hand(_ int64, files []*file) { c.handed = append(c.handed, files...) }

func (c *commit) complete(now int64) {
	c.e.publish(now, c.handed...)
	c.handed = nil
}

func (c *commit) restart(int64) { c.handed = nil }

func (c *commit) hidden(visit func(*file)) {
	for _, f := range c.handed {
		visit(f)
	}
}
