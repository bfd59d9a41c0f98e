package fsmem

// chunkSize is the unit in which the bytes of a file are shared between
// versions. An overwrite of shared bytes copies one chunk; smaller ones would
// make the copy cheaper and everything else dearer. It has nothing to do with
// sectors or blocks and cannot be seen from outside.
const chunkSize = 16 << 10

// maxFileSize is the largest size of a file, that of ext4 with blocks of 4 KiB. A
// write beyond it fails with EFBIG (write(2)).
const maxFileSize = 1<<44 - 4096

// extent is one immutable version of a file's bytes. Bytes that no chunk holds
// are zeros, so holes cost nothing.
//
// It is a value: copying it is taking the version, whatever its size. Nothing that
// it can show is ever changed; content sees to that.
type extent struct {
	// The last chunk lies outside the tree, so that appending to it, and a
	// snapshot in between, leave the tree alone; most files have no other.
	tree    radix[chunk]
	tail    chunk
	tailKey uint64

	size int64
	used int64 // bytes in chunks; less than size where there are holes
}

// chunk holds up to chunkSize bytes; those it lacks are zeros. Chunks are copied by
// value from version to version, and all copies share the array behind data. So
// each says who may write to that array, and from which byte on: its line, behind
// the bytes that some snapshot can show. frozen is brought up to date at the first
// change after a snapshot, by comparing epochs, so that a snapshot need not visit
// the chunks.
type chunk struct {
	data   []byte
	line   *owner // the content that may change data in place, behind frozen
	frozen int    // the bytes that snapshots before epoch can show
	epoch  uint64 // of the content when frozen was last right
}

// get returns a chunk, which may be empty.
func (e *extent) get(key uint64) chunk {
	if key == e.tailKey {
		return e.tail
	}
	return e.tree.get(key)
}

// each calls f for the chunks from key on that are not empty, in order.
func (e *extent) each(from uint64, f func(key uint64, c chunk)) {
	e.tree.each(from, func(key uint64, c chunk) {
		if len(c.data) > 0 {
			f(key, c)
		}
	})
	if e.tailKey >= from && len(e.tail.data) > 0 {
		f(e.tailKey, e.tail)
	}
}

// content is the live, changing version of a file's bytes.
//
// It shares its chunks with the extents taken from it. A byte may be changed in
// place only if no extent can show it, that is if it was written since the last
// snapshot. So appending after a snapshot copies nothing, and overwriting copies
// one chunk. A log of a gigabyte that is appended to, synced and crashed at each
// record therefore exists once.
//
// There is one content for each line of descent. After a crash both sides go on
// from the same extent with contents of their own, and since a chunk names the line
// that may extend it, the other one copies the tail before it appends. Two lines
// never write to one array.
type content struct {
	extent
	line   *owner // stands for this content in its chunks
	owner  *owner // of the nodes of the tree
	shared bool   // the nodes belong to snapshots, and owner is to be replaced
	epoch  uint64 // number of snapshots, and one
}

// newContent begins a line that owns nothing of e yet, and copies what it changes.
func newContent(e extent) *content {
	return &content{extent: e, line: new(owner), shared: true, epoch: 1}
}

// snapshot returns the bytes as they are now, in constant time. The epoch ends the
// right to change any byte written so far, and shared that to change tree nodes.
func (c *content) snapshot() extent {
	c.shared = true
	c.epoch++
	return c.extent
}

// readAt copies bytes from off on and returns how many there are up to the end; it
// clears what no chunk holds, for p may hold anything.
func (e *extent) readAt(p []byte, off int64) int {
	if off >= e.size {
		return 0
	}
	p = p[:min(int64(len(p)), e.size-off)]
	for n := 0; n < len(p); {
		at := off + int64(n)
		in := int(at % chunkSize)
		part := p[n:min(len(p), n+chunkSize-in)]
		data := e.get(uint64(at / chunkSize)).data
		k := 0
		if in < len(data) {
			k = copy(part, data[in:])
		}
		clear(part[k:])
		n += len(part)
	}
	return len(p)
}

// writeAt stores p at off, which must leave the file within maxFileSize. It always
// stores all of p; what can go wrong is found out by who calls (core.write). Bytes
// between the old end and off are a hole.
func (c *content) writeAt(p []byte, off int64) int {
	// Nearly all writes are appends to a chunk that has room for them.
	if s := &c.tail; off == c.size && s.epoch == c.epoch && s.line == c.line {
		had := len(s.data)
		if end := had + len(p); end <= cap(s.data) && off == int64(c.tailKey)*chunkSize+int64(had) {
			s.data = s.data[:end]
			copy(s.data[had:], p)
			c.size += int64(len(p))
			c.used += int64(len(p))
			return len(p)
		}
	}
	// Any other write goes chunk by chunk, each made writable first.
	for n := 0; n < len(p); {
		at := off + int64(n)
		key, in := uint64(at/chunkSize), int(at%chunkSize)
		part := p[n:min(len(p), n+chunkSize-in)]
		s := c.slot(key)
		had := len(s.data)
		c.prepare(s, key == 0, in, in+len(part))
		c.used += int64(len(s.data) - had)
		n += copy(s.data[in:], part)
		c.size = max(c.size, at+int64(len(part)))
	}
	return len(p)
}

// fit returns how many of n bytes can be stored at off before the bytes in use
// have grown by room. Overwriting needs no room, and so may go on where appending
// must stop. It goes by what writeAt would use, chunk by chunk: a write behind a
// gap within a chunk uses the gap as well, as a block on a disk would.
func (c *content) fit(n, off, room int64) int {
	for at := off; at < off+n; {
		in := at % chunkSize
		end := min(off+n, at+chunkSize-in)
		had := int64(len(c.get(uint64(at / chunkSize)).data))
		grow := in + end - at - had
		if grow > room {
			return int(max(0, end-(grow-room)-off))
		}
		room -= max(0, grow)
		at = end
	}
	return int(n)
}

// slot returns a chunk for changing. A key behind the tail moves the tail into the
// tree and begins a new one, which files that are appended to do every chunkSize
// bytes.
func (c *content) slot(key uint64) *chunk {
	switch {
	case key < c.tailKey:
		return c.treeSlot(key)
	case key > c.tailKey:
		if len(c.tail.data) > 0 {
			*c.treeSlot(c.tailKey) = c.tail
		}
		c.tail, c.tailKey = chunk{}, key
	}
	return &c.tail
}

// treeSlot is slot for the chunks that are in the tree.
func (c *content) treeSlot(key uint64) *chunk {
	c.ownTree()
	return c.tree.slot(c.owner, key)
}

// ownTree takes a new token if a snapshot has the nodes of the old one. Doing so only
// when a node is about to change makes a snapshot free.
func (c *content) ownTree() {
	if c.shared {
		c.shared, c.owner = false, new(owner)
	}
}

// freeze notes that a snapshot can show all of a chunk, if one was taken since it
// was last changed.
func (c *content) freeze(s *chunk) {
	if s.epoch != c.epoch {
		s.frozen, s.epoch = len(s.data), c.epoch
	}
}

// prepare makes the bytes from in to end of a chunk writable: in place if they lie
// behind what is frozen and the array has room, else in a copy. The array of a first
// chunk starts small and doubles, since most files are small; that of a later one
// has its full length at once, since the file has shown that it is not.
func (c *content) prepare(s *chunk, first bool, in, end int) {
	had := len(s.data)
	c.freeze(s)
	if s.line == c.line && in >= s.frozen && end <= cap(s.data) {
		s.data = s.data[:max(had, end)]
		if in > had {
			clear(s.data[had:in]) // the capacity may hold bytes from before a truncation
		}
		return
	}
	size := max(had, end)
	room := chunkSize
	if first && size < chunkSize { // doubling keeps small files small
		room = min(chunkSize, max(64, size, 2*cap(s.data)))
	}
	data := make([]byte, size, room)
	copy(data, s.data)
	*s = chunk{data: data, line: c.line, epoch: c.epoch}
}

// truncate sets the size; new bytes are zeros and use no memory. What is cut off
// must not come back if the file grows again (ftruncate(2): "reads as null bytes"),
// although its array still holds it. A chunk of which a snapshot can show what is
// cut off loses its line, and the next change copies it; of any other, prepare
// clears what it finds behind the end.
func (c *content) truncate(size int64) {
	if size < c.size {
		key, in := uint64(size/chunkSize), int(size%chunkSize)
		keep := key // chunks
		if in > 0 {
			keep++
		}
		// Chunks that go altogether free their bytes. The tail has to be the last one
		// left, and comes out of the tree if it is there.
		c.each(keep, func(_ uint64, d chunk) { c.used -= int64(len(d.data)) })
		switch {
		case keep == 0:
			c.tree, c.tail, c.tailKey = radix[chunk]{}, chunk{}, 0
		case keep <= c.tailKey:
			c.ownTree()
			c.tree.cut(c.owner, keep)
			c.tailKey = keep - 1
			c.tail = c.tree.get(c.tailKey)
			if len(c.tail.data) > 0 {
				*c.treeSlot(c.tailKey) = chunk{}
			}
		}
		if s := &c.tail; in > 0 && c.tailKey == key && len(s.data) > in {
			c.used -= int64(len(s.data) - in)
			c.freeze(s)
			if s.line == c.line && in >= s.frozen {
				s.data = s.data[:in]
			} else {
				*s = chunk{data: s.data[:in:in]}
			}
		}
	}
	c.size = size
}

// resized returns the bytes cut or extended with zeros to size. It makes a line for
// one change and drops it; e is left as it is.
func (e extent) resized(size int64) extent {
	if size == e.size {
		return e
	}
	c := newContent(e)
	c.truncate(size)
	return c.extent
}

// overlaid returns the bytes with those of from in the range [off, end) put
// over them; the size grows to end where it is less.
func (e extent) overlaid(from *extent, off, end int64) extent {
	if off >= e.size {
		// Nothing to mix: whatever e holds before off, from holds too, because
		// versions of one file differ only where they were written.
		return from.resized(end)
	}
	c := newContent(e)
	// The rest is copied in pieces that keep the buffer small, since a torn write can
	// be as large as a file.
	c.truncate(max(e.size, end))
	buf := make([]byte, min(end-off, 16*chunkSize))
	for off < end {
		part := buf[:min(int64(len(buf)), end-off)]
		n := from.readAt(part, off)
		clear(part[n:])
		c.writeAt(part, off)
		off += int64(len(part))
	}
	return c.extent
}
