package fsmem

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// fileState is one version of an inode that a crash may leave. It is put
// together only when it is needed: a state is described by two extents that exist
// anyway and a range, so a file with a thousand unsynced writes has a thousand
// small descriptions and no copies.
type fileState struct {
	// The bytes of before with [off, end) of after over them; before alone if
	// after is nil.
	before, after *extent
	off, end      int64
	zeros         int64 // longer by zeros up to this size; 0 for none
	attrs         attrs // times are set later, see setFile
	durable       bool  // exactly what the disk holds
}

// size is known without the bytes, which aheads depends on.
func (s *fileState) size() int64 {
	size := s.before.size
	if s.after != nil {
		size = max(size, s.end)
	}
	return max(size, s.zeros)
}

// dataStates calls yield for the legal versions of an inode, the durable one
// first, in the order in which its operations were made, until it says false:
// each unsynced operation is wholly there with those before it, or a write is
// torn at a sector of the disk (a sector is what a disk writes as a whole;
// Pillai et al., "All File Systems Are Not Created Equal", OSDI '14, table 1).
//
// With sectors of 4 bytes, a file that was synced as "old" and then got two appends
// of "new" has these states, the torn one in brackets:
//
//	old   (oldn)   oldnew   (oldnewne)   oldnewnew
//
// A run of appends holds no snapshot between its writes, and needs none: appends
// do not overlap, so the file after the k-th is the last version cut off there.
// The bytes therefore come from after, the version at the end of the run, which is
// the beginning of the next one or the live file.
func (f *planFile) dataStates(sector int64, yield func(s *fileState, torn bool) bool) {
	s := fileState{before: &f.durable.data, attrs: f.durable.attrs, durable: true}
	if !yield(&s, false) {
		return
	}
	cur := f.attrsBefore(0)
	for i := range f.log {
		r := &f.log[i]
		after := &f.data
		if i+1 < len(f.log) {
			after = &f.log[i+1].before
		}
		// write yields what a write to [off, end) may leave: torn at each sector inside
		// it, then whole. off is not of the run but of one of its appends, while the
		// bytes laid over before always begin at the run's.
		write := func(off, end int64) bool {
			s := fileState{before: &r.before, after: after, off: r.off, attrs: cur}
			for s.end = (off/sector + 1) * sector; s.end < end; s.end += sector {
				if !yield(&s, true) {
					return false
				}
			}
			s.end = end
			return yield(&s, false)
		}
		more := true
		switch r.kind {
		case runAppend:
			off := r.off
			for lens := r.lens; len(lens) > 0 && more; {
				n, k := binary.Uvarint(lens)
				lens = lens[k:]
				more = write(off, off+int64(n))
				off += int64(n)
			}
		case runWrite:
			more = write(r.off, r.end)
		case runAttrs:
			cur = f.attrsBefore(i + 1)
			fallthrough
		case runTruncate:
			more = yield(&fileState{before: after, attrs: cur}, false)
		}
		if !more {
			return
		}
	}
}

// attrsBefore returns the attributes before the operation i of the log: those that
// the next change of attributes found, or the live ones if there is none. Only such
// changes keep them, because there are few and writes are many.
func (f *planFile) attrsBefore(i int) attrs {
	for ; i < len(f.log); i++ {
		if old := f.log[i].old; old != nil {
			return *old
		}
	}
	return f.live.attrs
}

// aheads returns the sizes that the state number i can have ahead of its data,
// given those of all states that are not torn by their numbers: without a
// journal the size of a later operation may be on the disk, with zeros behind
// the data of this one (ext4(5), data=writeback). Torn states give none: a size is
// one field of the inode, and is written as a whole.
func aheads(i int, size int64, whole []wholeState) (sizes []int64) {
	seen := make(map[int64]bool)
	for _, w := range whole {
		if w.number > i && w.size > size && !seen[w.size] {
			seen[w.size] = true
			sizes = append(sizes, w.size)
		}
	}
	return sizes
}

// wholeState is what aheads needs to know of a state that is not torn.
type wholeState struct {
	number int
	size   int64
}

// wholeStates lists the states that are not torn, and counts all.
func (f *planFile) wholeStates(sector int64) (whole []wholeState, count int) {
	f.dataStates(sector, func(s *fileState, torn bool) bool {
		if !torn {
			whole = append(whole, wholeState{count, s.size()})
		}
		count++
		return true
	})
	return whole, count
}

// list sets f.states to all legal versions under a model, those with zeros
// behind the one that lacks them. It gives up at max.
func (f *planFile) list(model Model, sector int64, max int) bool {
	zeros := model == Unordered && f.live.attrs.mode.IsRegular()
	var whole []wholeState
	if zeros {
		whole, _ = f.wholeStates(sector)
	}
	number := 0
	f.states = nil
	f.dataStates(sector, func(s *fileState, _ bool) bool {
		f.states = append(f.states, *s)
		if zeros {
			for _, size := range aheads(number, s.size(), whole) {
				f.states = append(f.states, s.ahead(size))
			}
		}
		number++
		return len(f.states) <= max
	})
	return len(f.states) <= max
}

// ahead returns the state with zeros behind it. It is not durable, even if the one
// that it comes from is: the size has been written.
func (s *fileState) ahead(size int64) fileState {
	a := *s
	a.zeros, a.durable = size, false
	return a
}

// draw returns one of the legal versions without listing them: it counts, draws a
// number and goes there, so that a file with more states than a list may have can
// still be crashed. Numbers are equally likely, and then the zeros behind.
func (f *planFile) draw(model Model, sector int64, rnd *rand.Rand) *fileState {
	whole, count := f.wholeStates(sector)
	number := rnd.IntN(count)
	var drawn fileState
	n := 0
	f.dataStates(sector, func(s *fileState, _ bool) bool {
		drawn = *s
		n++
		return n <= number
	})
	if model == Unordered && f.live.attrs.mode.IsRegular() {
		sizes := aheads(number, drawn.size(), whole)
		if i := rnd.IntN(len(sizes) + 1); i > 0 {
			drawn = drawn.ahead(sizes[i-1])
		}
	}
	return &drawn
}

// extent puts the bytes of a state together; lost is what no crash brings back.
// The durable version is exempt, also with zeros behind it: it is what masking
// would put there.
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

// mixBytes takes eight bytes at a time; the length goes into the last word, so
// that zeros at the end count.
func mixBytes(h uint64, p []byte) uint64 {
	for ; len(p) >= 8; p = p[8:] {
		h = mix(h, binary.LittleEndian.Uint64(p))
	}
	var tail [8]byte
	copy(tail[:], p)
	return mix(h, binary.LittleEndian.Uint64(tail[:])^uint64(len(p))<<56)
}

// mixString adds the length, so that "a" in "b" is not "" in "ba".
func mixString(h uint64, s string) uint64 {
	for i := range len(s) {
		h = mix(h, uint64(s[i]))
	}
	return mix(h, uint64(len(s)))
}

// sum is the fingerprint of the bytes; holes cost nothing and equal zeros. So that
// they do, zeros at the end of a chunk are cut off, and a chunk of zeros is passed
// over: a reader cannot tell a hole from zeros (lseek(2) may, and is told that all
// is data). Chunks are added up with their number, so that no order is needed.
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

// nodeSum is the fingerprint of an inode but for a directory's entries, which count
// as the paths that they are.
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

// fingerprint is computed once for all file systems that share s: enumerations of
// neighbouring moments hash a large durable file a single time. Two goroutines may
// both compute it, and store the same number.
func (s *stable) fingerprint() uint64 {
	h := s.sum.Load()
	if h == 0 {
		h = nodeSum(&s.attrs, &s.data, s.target)
		s.sum.Store(h)
	}
	return h
}
