package fsmem

import (
	"encoding/binary"
)

// What is pending, and how it becomes durable. Names are one list for the whole
// file system, because their order counts (changeList); bytes, sizes and attributes
// are a log for each inode, because between files it does not (run). The lock of
// the core is held in all of this file.

// half is the change of one directory entry. It is a half because a rename is two
// of them, and a file system without a journal may write one and not the other.
type half struct {
	dir      *inode
	name     string
	from, to *inode // nil for no entry
	fate     fate
}

// fate is what has become of a half. It begins as pending and changes once.
type fate uint8

const (
	pending fate = iota
	synced       // it is durable
	lost         // the sync of its directory failed, and no later one writes it
	gone         // its directory is no more, and no crash can show it
)

// change is what one call did to directory entries: one half, or two for a
// rename. A journalling file system makes both halves durable or none.
//
// The move of a directory is whole in both models, because a directory has one
// name: fsck leaves none with two, and a walk over a directory that is inside
// itself would not end. So once either half is durable, so is the whole of that
// move and of every earlier one of the same directory (inode.placed), and a sync
// that fails does not lose half of a move.
type change struct {
	prev, next *change
	halves     [2]half
	n          int    // of halves
	move       uint64 // number among the moves of directories, from 1; 0 if it is none
}

// changeList holds the changes that are not wholly durable, oldest first. It is
// linked, because a sync takes changes out of the middle: it costs as much as what
// it makes durable, however much is pending elsewhere.
type changeList struct{ first, last *change }

// add appends ch, which is the newest.
func (l *changeList) add(ch *change) {
	ch.prev = l.last
	if l.last == nil {
		l.first = ch
	} else {
		l.last.next = ch
	}
	l.last = ch
}

// remove takes ch out, wherever it is.
func (l *changeList) remove(ch *change) {
	if ch.prev == nil {
		l.first = ch.next
	} else {
		ch.prev.next = ch.next
	}
	if ch.next == nil {
		l.last = ch.prev
	} else {
		ch.next.prev = ch.prev
	}
}

// record notes a change of live entries that has just been made. Both directories
// of a rename get it, each once, so that a sync of either finds it.
func (c *core) record(halves ...half) {
	ch := &change{n: len(halves)}
	copy(ch.halves[:], halves)
	if ch.n == 2 && ch.halves[1].to.isDir() {
		c.moves++
		ch.move = c.moves
	}
	c.pending.add(ch)
	for i := range halves {
		h := &ch.halves[i]
		h.mention(1)
		if i == 0 || h.dir != ch.halves[0].dir {
			h.dir.dirty = append(h.dir.dirty, ch)
		}
	}
}

// mention counts the references of a half to its inodes. As long as one is pending,
// a crash may bring its inode back, and so the inode is kept, with its log and its
// durable version, even if nothing live leads to it.
func (h *half) mention(d int) {
	h.dir.pending += d
	if h.from != nil {
		h.from.pending += d
	}
	if h.to != nil {
		h.to.pending += d
	}
}

// settle ends the life of a half that has become durable, or never can. Its inodes
// may have been waiting for just that: they are abandoned or forgotten if nothing
// else refers to them. The change leaves the list with its last half; until then
// it says to a crash what has become of the other one.
func (c *core) settle(ch *change, h *half, f fate) {
	h.fate = f
	h.mention(-1)
	for _, n := range [2]*inode{h.from, h.to} {
		if n != nil {
			c.abandon(n)
			c.forget(n)
		}
	}
	c.forget(h.dir)
	if ch.n == 1 || ch.halves[0].fate != pending && ch.halves[1].fate != pending {
		c.pending.remove(ch)
	}
}

// abandon settles the changes within a directory that is gone for good: neither
// a live nor a durable nor a pending entry leads to it, so that no crash and no
// sync can bring them back. Without it a program that makes and removes temporary
// directories would leave changes pending for ever, and each crash would look at
// all of them. They are gone and not synced: the other half of a rename out of the
// directory has become no more durable by that.
func (c *core) abandon(dir *inode) {
	if !dir.isDir() || dir.nlink > 0 || dir.durable.links > 0 || len(dir.dirty) == 0 {
		return
	}
	// Its own changes refer to it as the directory that they are in. Only what refers
	// to it otherwise could bring it back.
	own := 0
	for _, ch := range dir.dirty {
		for i := range ch.n {
			if h := &ch.halves[i]; h.dir == dir && h.fate == pending {
				own++
			}
		}
	}
	if dir.pending > own {
		return
	}
	c.settleAll(dir, gone, nil)
}

// settleAll settles the pending changes of a directory's entries, after calling
// f for each. It takes the list away first, because settling one can abandon other
// directories and come back here. The moves of directories stay pending if as is
// lost, and carry their number to the inode if it is synced; see change.
func (c *core) settleAll(dir *inode, as fate, f func(*half)) {
	dirty := dir.dirty
	dir.dirty = nil
	for _, ch := range dirty {
		if ch.move > 0 {
			if as == lost {
				dir.dirty = append(dir.dirty, ch)
				continue
			}
			if as == synced {
				n := ch.halves[1].to
				n.placed = max(n.placed, ch.move)
			}
		}
		for i := range ch.n {
			if h := &ch.halves[i]; h.dir == dir && h.fate == pending {
				if f != nil {
					f(h)
				}
				c.settle(ch, h, as)
			}
		}
	}
}

// ownDurable returns the durable version of n for changing: itself, or a copy if a
// crash has been taken since it was made. Every change goes through here, which is
// why the sum can be dropped here.
func (c *core) ownDurable(n *inode) *stable {
	if n.durable.owner != c.owner {
		n.durable = n.durable.clone(c.owner)
		if n.durable.links > 0 {
			*c.disk.slot(c.owner, n.ino) = n.durable
		}
	}
	n.durable.sum.Store(0)
	return n.durable
}

// setDurable changes a durable entry and the durable link counts that follow; 0 is
// no entry.
func (c *core) setDurable(dir *inode, name string, to uint64) {
	st := c.ownDurable(dir)
	from := st.names.get(name)
	if from == to {
		return
	}
	st.names.set(c.owner, name, to)
	c.addLink(to, 1)
	c.addLink(from, -1)
}

// addLink counts a durable name more or less, and puts an inode on the disk with the
// first and takes it off with the last. An inode that is not loaded has nothing
// pending, and is changed on the disk.
func (c *core) addLink(ino uint64, d int) {
	if ino == 0 {
		return
	}
	var st *stable
	if n := c.inodes[ino]; n != nil {
		st = c.ownDurable(n)
	} else if st = c.disk.get(ino); st == nil {
		return
	} else if st.owner != c.owner {
		st = st.clone(c.owner)
	}
	st.links += d
	slot := c.disk.slot(c.owner, ino)
	if st.links > 0 {
		*slot = st
	} else {
		*slot = nil
	}
}

// sync is fsync(2): the bytes, size and attributes of a file become durable, or
// the entries and attributes of a directory. The entry of a file is its
// directory's, so a new file that is synced can still be lost with its name.
//
// It copies no bytes: the durable extent is a snapshot of the live one. The log
// is dropped, for a crash cannot go back behind a sync. What earlier failed syncs
// have lost stays lost, and is masked each time.
//
// With nothing to write it changes nothing, which decides what is left after a
// failed sync: the old size, until something else of the file is synced and brings
// the new one with it (package documentation, "Injecting faults").
func (c *core) sync(n *inode) {
	if n.isDir() {
		c.settleAll(n, synced, func(h *half) {
			// Of several changes of an entry only the last counts.
			if to, ok := n.delta[h.name]; ok {
				c.setDurable(n, h.name, to)
				delete(n.delta, h.name)
			}
		})
		if len(n.delta) == 0 {
			n.delta = nil // a map never shrinks
		}
	}
	if len(n.log) == 0 && !n.stale {
		return
	}
	st := c.ownDurable(n)
	st.attrs = n.attrs
	if n.content != nil {
		st.data = masked(n.content.snapshot(), &st.data, n.lost)
	}
	n.clearLog()
}

// failSync is an fsync(2) that fails as on Linux (fsync(2), EIO; Rebello et
// al., "Can Applications Recover from fsync Failures?", ATC '20): the pages are
// marked clean although they were not written. Reads show them until the next
// crash, and no later sync writes them.
//
// It is all or nothing for one inode: which pages of several could not be written
// depends on the disk. Writes are noted as spans that are lost. Changes of the
// size, mode and owner only lose their place in the log, for they belong to the
// inode, which the next sync that has something to write writes as a whole.
func (c *core) failSync(n *inode) {
	if n.isDir() {
		c.settleAll(n, lost, nil)
	}
	for i := range n.log {
		if r := &n.log[i]; r.kind == runAppend || r.kind == runWrite {
			n.lost = addSpan(n.lost, span{r.off, r.end})
		}
	}
	// A later truncation in the same log may have cut some of it off.
	n.lost = cutSpans(n.lost, n.size())
	n.clearLog()
}

// masked replaces the spans that a failed sync has lost by what the disk holds:
// the bytes of the durable version, and zeros where it has none. Files that never
// failed to sync, all in most programs, pass through unchanged.
func masked(e extent, disk *extent, lost []span) extent {
	if len(lost) == 0 {
		return e
	}
	c := newContent(e)
	for _, s := range lost {
		end := min(s.end, e.size)
		if s.off >= end {
			continue
		}
		buf := make([]byte, end-s.off)
		disk.readAt(buf, s.off)
		c.writeAt(buf, s.off)
	}
	return c.extent
}

// span is the range of bytes [off, end).
type span struct{ off, end int64 }

// addSpan adds s to disjoint spans in order, and joins it with those it touches. It
// returns a new slice, as all of these do, because crash plans hold the old one.
func addSpan(spans []span, s span) []span {
	var out []span
	for _, x := range spans {
		if x.end < s.off || x.off > s.end {
			out = append(out, x)
		} else {
			s.off, s.end = min(s.off, x.off), max(s.end, x.end)
		}
	}
	i := len(out)
	for i > 0 && out[i-1].off > s.off {
		i--
	}
	return append(out[:i], append([]span{s}, out[i:]...)...)
}

// subtractSpan takes s out of the spans: bytes written again are dirty again, and
// the next sync writes them.
func subtractSpan(spans []span, s span) []span {
	var out []span
	for _, x := range spans {
		if left := (span{x.off, min(x.end, s.off)}); left.off < left.end {
			out = append(out, left)
		}
		if right := (span{max(x.off, s.end), x.end}); right.off < right.end {
			out = append(out, right)
		}
	}
	return out
}

// cutSpans drops what is behind size: a truncation ends the loss too, and what the
// file gets there later is new.
func cutSpans(spans []span, size int64) []span {
	return subtractSpan(spans, span{size, maxFileSize})
}

// runKind is the kind of the operations in a run.
type runKind uint8

const (
	runAppend   runKind = iota // writes, each beginning where the file ended
	runWrite                   // one other write
	runTruncate                // one change of the size
	runAttrs                   // one change of mode or owner
)

// run is an operation on an inode since its last sync, or several appends, of
// which no more than their lengths need be kept.
//
// Programs append, so that has to cost next to nothing: one byte for an append of
// less than 128 bytes, and no snapshot but the first, because the append after a
// snapshot is the slow one (content.writeAt). Any other operation takes a snapshot
// of the file as it was, in constant time, and what it changes is copied then,
// chunk by chunk.
type run struct {
	kind   runKind
	before extent // the file before the first of them
	off    int64  // the bytes written are [off, end); for a truncation end is the size
	end    int64
	count  int
	lens   []byte // runAppend: the length of each, as uvarint
	old    *attrs // runAttrs: the attributes before
}

// clearLog forgets the log but keeps a little room for the next one; crash
// plans have copies of the runs. It clears them, for each keeps a version of the
// file alive.
func (n *inode) clearLog() {
	clear(n.log)
	n.log, n.stale = n.log[:0], false
	if cap(n.log) > 8 {
		n.log = nil
	}
}

// queue puts n on the list of the inodes that have something to lose, once. A sync
// does not take it off, which would take a search; the list is swept when it would
// have to grow, and by each crash. So it does not grow with the files that were
// ever written, and a crash looks at no file that is not on it.
func (c *core) queue(n *inode) {
	if n.queued {
		return
	}
	if len(c.changed) >= 64 && len(c.changed) == cap(c.changed) {
		c.sweep()
	}
	n.queued = true
	c.changed = append(c.changed, n)
}

// sweep takes those off the list that have been synced or forgotten.
func (c *core) sweep() {
	keep := c.changed[:0]
	for _, n := range c.changed {
		if (len(n.log) > 0 || n.stale) && c.inodes[n.ino] == n {
			keep = append(keep, n)
		} else {
			n.queued = false
		}
	}
	clear(c.changed[len(keep):])
	c.changed = keep
}

// logWrite notes a write of [off, end) that is about to be made. It must come before
// the bytes change: before is the file without them.
func (n *inode) logWrite(off, end int64) {
	if last := len(n.log) - 1; off == n.content.size {
		if last < 0 || n.log[last].kind != runAppend {
			n.log = append(n.log, run{kind: runAppend, before: n.content.snapshot(), off: off})
			last++
		}
		r := &n.log[last]
		r.end = end
		r.count++
		if n := end - off; n < 0x80 {
			r.lens = append(r.lens, byte(n)) // what AppendUvarint does, inlined
		} else {
			r.lens = binary.AppendUvarint(r.lens, uint64(n))
		}
		return
	}
	n.log = append(n.log, run{kind: runWrite, before: n.content.snapshot(), off: off, end: end, count: 1})
}

// logTruncate notes a truncation that is about to be made. Its size is in end, and
// the state after it is the next run's before, or the live file.
func (n *inode) logTruncate(size int64) {
	n.log = append(n.log, run{kind: runTruncate, before: n.content.snapshot(), end: size, count: 1})
}

// setAttrs changes mode and owner, and notes what they were. It goes through the log
// and not through stale, since a reader can tell modes apart and times it cannot.
func (c *core) setAttrs(n *inode, a attrs) {
	old := n.attrs
	r := run{kind: runAttrs, count: 1, old: &old}
	if n.content != nil {
		r.before = n.content.snapshot()
	}
	n.log = append(n.log, r)
	n.attrs = a
	if n.visible {
		c.seen.gen++
	}
	c.queue(n)
}
