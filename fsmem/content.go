package fsmem

// chunkSize is the unit in which the bytes of a file are shared between
// versions: that of a page, so an overwrite copies no more than a kernel would.
const chunkSize = 4096

// maxFileSize is the largest size of a file, that of ext4 with blocks of 4 KiB.
const maxFileSize = 1<<44 - 4096

// extent is one immutable version of a file's bytes. Bytes that no chunk holds
// are zeros, so holes cost nothing.
type extent struct {
	chunks radix[chunk]
	size   int64
	used   int64 // bytes in chunks; less than size where there are holes
}

// chunk holds up to chunkSize bytes; those it lacks are zeros.
type chunk struct {
	data  []byte
	line  *owner // the content that may extend data in place
	epoch uint64 // when data was last known to be private to it
}

// content is the live, changing version of a file's bytes.
//
// It shares its chunks with the extents taken from it. A byte may be changed in
// place only if no extent can show it: in a chunk made since the last snapshot,
// or behind the largest size that any snapshot has. So appending after a
// snapshot copies nothing, and overwriting copies one chunk.
type content struct {
	extent
	line   *owner // stands for this content in its chunks
	owner  *owner // of the nodes
	epoch  uint64
	frozen int64

	// The chunk that was written last, so that an append need not search for it.
	tail    *chunk
	tailKey uint64
}

func newContent(e extent) *content {
	line := new(owner)
	return &content{extent: e, line: line, owner: line, epoch: 1, frozen: e.size}
}

// snapshot returns the bytes as they are now, in constant time.
func (c *content) snapshot() extent {
	e := c.extent
	if e.chunks.root != nil {
		c.owner = new(owner)
	}
	c.epoch++
	c.frozen = max(c.frozen, c.size)
	c.tail = nil
	return e
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
		data := e.chunks.get(uint64(at / chunkSize)).data
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
	for n := 0; n < len(p); {
		at := off + int64(n)
		key, in := uint64(at/chunkSize), int(at%chunkSize)
		part := p[n:min(len(p), n+chunkSize-in)]
		s := c.tail
		if s == nil || c.tailKey != key {
			s = c.chunks.slot(c.owner, key)
			c.tail, c.tailKey = s, key
		}
		had := len(s.data)
		c.prepare(s, at, in, in+len(part))
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
		had := int64(len(c.chunks.get(uint64(at / chunkSize)).data))
		grow := in + end - at - had
		if grow > room {
			return int(max(0, end-(grow-room)-off))
		}
		room -= max(0, grow)
		at = end
	}
	return int(n)
}

// prepare makes the bytes from in to end of a chunk writable; at is the place
// of in within the file.
func (c *content) prepare(s *chunk, at int64, in, end int) {
	had := len(s.data)
	private := s.line == c.line && (s.epoch == c.epoch || at >= c.frozen && in >= had)
	switch {
	case private && end <= cap(s.data):
		s.data = s.data[:max(had, end)]
	default:
		// Doubling makes appending cheap, and small files stay small.
		room := max(end, had)
		if room > 64 {
			room = min(chunkSize, max(room, 2*cap(s.data)))
		} else {
			room = 64
		}
		data := make([]byte, max(had, end), room)
		copy(data, s.data)
		*s = chunk{data: data, line: c.line, epoch: c.epoch}
		return
	}
	if in > had {
		clear(s.data[had:in]) // the capacity may hold bytes from before a truncation
	}
}

// truncate sets the size; new bytes are zeros and use no memory.
func (c *content) truncate(size int64) {
	if size < c.size {
		key, in := uint64(size/chunkSize), int(size%chunkSize)
		c.tail = nil
		before := c.chunks
		keep := key
		if in > 0 {
			keep++
		}
		c.used -= usedFrom(&before, keep)
		c.chunks.cut(c.owner, keep)
		if had := len(before.get(key).data); in > 0 && had > in {
			s := c.chunks.slot(c.owner, key)
			if s.line == c.line && s.epoch == c.epoch {
				s.data = s.data[:in]
			} else {
				*s = chunk{data: s.data[:in:in]}
			}
			c.used -= int64(had - in)
		}
	}
	c.size = size
}

// usedFrom counts the bytes in the chunks from key on.
func usedFrom(r *radix[chunk], key uint64) (n int64) {
	r.each(key, func(_ uint64, c chunk) { n += int64(len(c.data)) })
	return n
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
