package fsmem

import (
	"encoding/binary"
	"math/bits"
)

// fileState is one version of an inode that a crash may leave. It is put
// together only when it is needed.
type fileState struct {
	// The bytes of before with [off, end) of after over them; before alone if
	// after is nil.
	before, after *extent
	off, end      int64
	zeros         int64 // longer by zeros up to this size
	attrs         attrs
	durable       bool // exactly what the disk holds
}

func (s *fileState) size() int64 {
	size := s.before.size
	if s.after != nil {
		size = max(size, s.end)
	}
	return max(size, s.zeros)
}

// fileStates returns the legal versions of an inode, the durable one first, in
// the order in which its operations were made: each unsynced operation is wholly
// there with those before it, or a write is torn at a sector of the disk (a
// sector is what a disk writes as a whole; ALICE, OSDI '14, table 1). In the
// unordered model each may also have the size of a later one, with zeros behind
// its own data (ext4(5), data=writeback).
func (f *planFile) fileStates(model Model, sector int64) []fileState {
	states := []fileState{{before: &f.durable.data, attrs: f.durable.attrs, durable: true}}
	whole := []int{0} // the states that are not torn
	cur := f.live.attrs
	for i := range f.log {
		if r := &f.log[i]; r.kind == runAttrs {
			cur = *r.old
			break
		}
	}
	for i := range f.log {
		r := &f.log[i]
		after := &f.data
		if i+1 < len(f.log) {
			after = &f.log[i+1].before
		}
		add := func(s fileState) {
			s.attrs = cur
			states = append(states, s)
		}
		write := func(off, end int64) {
			for cut := (off/sector + 1) * sector; cut < end; cut += sector {
				add(fileState{before: &r.before, after: after, off: r.off, end: cut})
			}
			add(fileState{before: &r.before, after: after, off: r.off, end: end})
		}
		switch r.kind {
		case runAppend:
			off := r.off
			for lens := r.lens; len(lens) > 0; {
				n, k := binary.Uvarint(lens)
				lens = lens[k:]
				write(off, off+int64(n))
				off += int64(n)
				whole = append(whole, len(states)-1)
			}
			continue
		case runWrite:
			write(r.off, r.end)
		case runTruncate:
			add(fileState{before: after})
		case runAttrs:
			cur = f.live.attrs
			for j := i + 1; j < len(f.log); j++ {
				if f.log[j].kind == runAttrs {
					cur = *f.log[j].old
					break
				}
			}
			add(fileState{before: after})
		}
		whole = append(whole, len(states)-1)
	}
	if model == Unordered && !f.live.attrs.mode.IsDir() {
		states = withZeros(states, whole)
	}
	return states
}

// withZeros adds the states whose size is ahead of their data, behind each
// state those that follow from it.
func withZeros(states []fileState, whole []int) []fileState {
	var all []fileState
	for i := range states {
		all = append(all, states[i])
		own := states[i].size()
		for k, w := range whole {
			size := states[w].size()
			if w <= i || size <= own {
				continue
			}
			seen := false
			for _, v := range whole[:k] {
				seen = seen || v > i && states[v].size() == size
			}
			if !seen {
				s := states[i]
				s.zeros, s.durable = size, false
				all = append(all, s)
			}
		}
	}
	return all
}

// extent puts the bytes of a state together; lost is what no crash brings back.
func (s *fileState) extent(f *planFile) extent {
	e := *s.before
	if s.after != nil {
		e = e.overlaid(s.after, s.off, s.end)
	}
	if !s.durable && s.before != &f.durable.data {
		e = masked(e, &f.durable.data, f.lost)
	}
	return e.resized(max(e.size, s.zeros))
}

// Fingerprints: 64 bits of a hash that is the same in every process. Two states
// of a file system that is small enough to be enumerated collide with a
// probability of the order of 1e-8.

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd1b54a32d192ed03)
	return hi ^ lo ^ bits.RotateLeft64(a, 23) ^ bits.RotateLeft64(b, 47)
}

func mixBytes(h uint64, p []byte) uint64 {
	for ; len(p) >= 8; p = p[8:] {
		h = mix(h, binary.LittleEndian.Uint64(p))
	}
	var tail [8]byte
	copy(tail[:], p)
	return mix(h, binary.LittleEndian.Uint64(tail[:])^uint64(len(p))<<56)
}

func mixString(h uint64, s string) uint64 {
	for i := range len(s) {
		h = mix(h, uint64(s[i]))
	}
	return mix(h, uint64(len(s)))
}

// sum is the fingerprint of the bytes; holes cost nothing and equal zeros.
func (e *extent) sum() uint64 {
	h := mix(1, uint64(e.size))
	e.each(0, func(key uint64, c chunk) {
		data := c.data
		if left := e.size - int64(key)*chunkSize; int64(len(data)) > left {
			data = data[:max(0, left)]
		}
		for len(data) > 0 && data[len(data)-1] == 0 {
			data = data[:len(data)-1]
		}
		if len(data) > 0 {
			h += mixBytes(key+2, data)
		}
	})
	return h
}

// sum is the fingerprint of what a reader can see of the attributes; times do
// not count, because a reader of contents does not care.
func (a *attrs) sum() uint64 {
	return mix(mix(uint64(a.mode), uint64(a.uid)), uint64(a.gid))
}

// nodeSum is the fingerprint of an inode but for a directory's entries.
func nodeSum(a *attrs, e *extent, target string) uint64 {
	h := a.sum()
	switch {
	case a.mode.IsRegular():
		h = mix(h, e.sum())
	case target != "":
		h = mixString(h, target)
	}
	return h | 1 // never 0, which means unknown
}

func (s *stable) fingerprint() uint64 {
	h := s.sum.Load()
	if h == 0 {
		h = nodeSum(&s.attrs, &s.data, s.target)
		s.sum.Store(h)
	}
	return h
}
