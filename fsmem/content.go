package fsmem

// chunkSize is the unit in which the bytes of a file are shared between
// versions. An overwrite of shared bytes copies one chunk; smaller ones would
// make the copy cheaper and everything else dearer.
const chunkSize = 16 << 10

// maxFileSize is the largest size of a file, that of ext4 with blocks of 4 KiB.
const maxFileSize = 1<<44 - 4096

// extent is one immutable version of a file's bytes. Bytes that no chunk holds
// are zeros, so holes cost nothing.
type extent struct {
	// The last chunk lies outside the tree, so that appending to it, and a
	// snapshot in between, leave the tree alone; most files have no other.
	tree    radix[chunk]
	tail    chunk
	tailKey uint64

	size int64
	used int64 // bytes in chunks; less than size where there are holes
}

// chunk holds up to chunkSize bytes; those it lacks are zeros.
type chunk struct {
	data   []byte
	line   *owner // the content that may change data in place, behind frozen
	frozen int    // the bytes that snapshots before epoch can show
	epoch  uint64
}

// get returns a chunk, which may be empty.
func (e *extent) get(key uint64) chunk {
	if key == e.tailKey {
		return e.tail
	}
	return e.tree.get(key)
}

// each calls f for the chunks from key on that are not empty.
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
// one chunk.
type content struct {
	extent
	line   *owner // stands for this content in its chunks
	owner  *owner // of the nodes of the tree
	shared bool   // the nodes belong to snapshots, and owner is to be replaced
	epoch  uint64 // number of snapshots, and one
}

func newContent(e extent) *content {
	return &content{extent: e, line: new(owner), shared: true, epoch: 1}
}

// snapshot returns the bytes as they are now, in constant time.
func (c *content) snapshot() extent {
	c.shared = true
	c.epoch++
	return c.extent
}

// readAt copies bytes from off on and returns how many there are up to the end.
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

// writeAt stores p at off, which must leave the file within maxFileSize.
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
// have grown by room.
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

// slot returns a chunk for changing.
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

func (c *content) treeSlot(key uint64) *chunk {
	c.ownTree()
	return c.tree.slot(c.owner, key)
}

func (c *content) ownTree() {
	if c.shared {
		c.shared, c.owner = false, new(owner)
	}
}

// freeze notes that a snapshot can show all of a chunk.
func (c *content) freeze(s *chunk) {
	if s.epoch != c.epoch {
		s.frozen, s.epoch = len(s.data), c.epoch
	}
}

// prepare makes the bytes from in to end of a chunk writable.
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

// truncate sets the size; new bytes are zeros and use no memory.
func (c *content) truncate(size int64) {
	if size < c.size {
		key, in := uint64(size/chunkSize), int(size%chunkSize)
		keep := key // chunks
		if in > 0 {
			keep++
		}
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

// resized returns the bytes cut or extended with zeros to size.
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
