package fsmem

// owner is a token of exclusive use. A tree node that carries the token of the
// tree that changes it may be changed in place; every other node is shared with
// some snapshot and is copied first. Dropping the token therefore shares a
// whole tree in constant time.
//
// Tokens are compared by address and hold nothing. There is no count of those who
// share a node, and so nothing to count down when a crashed file system is dropped:
// the garbage collector takes what none can reach.
type owner struct{ _ byte } // not empty: two empty structs may share an address

// The width of a node. A change copies one node on each level, so a wide one makes
// changes dear and a narrow one look-ups; with 16, a million inodes are five levels.
const (
	radixBits  = 4
	radixWidth = 1 << radixBits
)

// radix is a copy-on-write array with holes, indexed by uint64. A copy of the
// struct is a snapshot, provided that both sides go on with new owners. It holds
// the disk (durable versions by inode number) and the chunks of a file (by their
// place). Both are dense and grow at the end, which is why the tree grows at the
// top and is never rebalanced. The zero value is empty.
type radix[T any] struct {
	root   *radixNode[T]
	height uint // levels of nodes below root, root included; 0 without a root
}

// radixNode is an inner node or, on level 0, a leaf. The level is known on the way
// down, so a node need not say which it is.
type radixNode[T any] struct {
	owner *owner
	kids  []*radixNode[T] // inner nodes
	vals  []T             // leaves
}

// holds says whether the tree is high enough for a key. A shift by 64 or more is no
// shift, hence the first condition.
func (r *radix[T]) holds(key uint64) bool {
	return r.height*radixBits >= 64 || key>>(r.height*radixBits) == 0
}

// get returns the element, or the zero T where there is none.
func (r *radix[T]) get(key uint64) (v T) {
	if r.root == nil || !r.holds(key) {
		return v
	}
	n := r.root
	for level := r.height - 1; level > 0; level-- {
		n = n.kids[key>>(level*radixBits)&(radixWidth-1)]
		if n == nil {
			return v
		}
	}
	return n.vals[key&(radixWidth-1)]
}

// slot returns the place of an element for writing and copies the nodes on the
// way that o does not own. The place is good until o is given up.
func (r *radix[T]) slot(o *owner, key uint64) *T {
	if r.root == nil {
		r.root, r.height = newRadixNode[T](o, 0), 1
	}
	for !r.holds(key) {
		top := newRadixNode[T](o, r.height)
		top.kids[0] = r.root
		r.root = top
		r.height++
	}
	at := &r.root
	for level := r.height - 1; ; level-- {
		n := (*at).own(o, level)
		*at = n
		i := key >> (level * radixBits) & (radixWidth - 1)
		if level == 0 {
			return &n.vals[i]
		}
		at = &n.kids[i]
	}
}

// cut drops every element from key on. It keeps the height; a file that was truncated
// tends to grow again. key itself goes too.
func (r *radix[T]) cut(o *owner, key uint64) {
	if key == 0 {
		*r = radix[T]{}
		return
	}
	if r.root == nil || !r.holds(key) {
		return
	}
	at := &r.root
	for level := r.height - 1; ; level-- {
		n := (*at).own(o, level)
		*at = n
		i := key >> (level * radixBits) & (radixWidth - 1)
		if level == 0 {
			clear(n.vals[i:])
			return
		}
		clear(n.kids[i+1:])
		if n.kids[i] == nil {
			return
		}
		at = &n.kids[i]
	}
}

// each calls f in order for the elements from key on, empty ones included. Holes of
// whole nodes cost nothing.
func (r *radix[T]) each(from uint64, f func(key uint64, v T)) {
	if r.root != nil && r.holds(from) {
		r.root.each(r.height-1, 0, from, f)
	}
}

func (n *radixNode[T]) each(level uint, base, from uint64, f func(uint64, T)) {
	if level == 0 {
		for i, v := range n.vals {
			if key := base + uint64(i); key >= from {
				f(key, v)
			}
		}
		return
	}
	for i, kid := range n.kids {
		low := base + uint64(i)<<(level*radixBits)
		if kid != nil && low+(1<<(level*radixBits)-1) >= from {
			kid.each(level-1, low, from, f)
		}
	}
}

func newRadixNode[T any](o *owner, level uint) *radixNode[T] {
	n := &radixNode[T]{owner: o}
	if level == 0 {
		n.vals = make([]T, radixWidth)
	} else {
		n.kids = make([]*radixNode[T], radixWidth)
	}
	return n
}

// own returns the node itself if it belongs to o, a copy of it if not, and a new node
// for none. Whoever calls puts the result in the place of n.
func (n *radixNode[T]) own(o *owner, level uint) *radixNode[T] {
	if n == nil {
		return newRadixNode[T](o, level)
	}
	if n.owner == o {
		return n
	}
	c := newRadixNode[T](o, level)
	copy(c.vals, n.vals)
	copy(c.kids, n.kids)
	return c
}
