package sinkcore

import "container/heap"

// deadlines keeps the open parts of a writer in the order in which the check timer
// will have to look at them, so that a check with nothing due costs the same with ten
// open parts and with a hundred thousand.
//
// A part's key may be earlier than its true instant: each record moves the instant
// of an idle limit on, and moving the part in the heap each time would cost more than
// the write. A check that finds a part whose key has come asks the policy and moves
// the part if it is early. A key is never later than the true instant, or a part would
// stay open beyond its limit and the closed form of WorstLatency would not hold.
//
// Three things keep that so: a part is added with Never and gets its true key with its
// first record; a record whose instant is earlier than the key moves the part at once (the
// clock went backwards, or a user's policy says so); and policies are pure functions of
// PartInfo, which nothing but a record changes.
//
// Parts of one key come in an order that depends only on the calls made, so a run stays
// the same byte for byte.
type deadlines []*part

var _ heap.Interface = (*deadlines)(nil)

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].deadline < d[j].deadline }
func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].index, d[j].index = i, j
}

// Push is for container/heap.
func (d *deadlines) Push(x any) {
	p := x.(*part)
	p.index = len(*d)
	*d = append(*d, p)
}

// Pop is for container/heap. It clears the place, or the array would keep the closed
// part and its buffer from the garbage collector.
func (d *deadlines) Pop() any {
	old := *d
	p := old[len(old)-1]
	old[len(old)-1] = nil
	*d = old[:len(old)-1]
	p.index = -1
	return p
}

// add puts a part in.
func (d *deadlines) add(p *part) { heap.Push(d, p) }

// remove takes a part out if it is in. One that was resumed and closed at once, because
// it met another of its bucket, never was.
func (d *deadlines) remove(p *part) {
	if p.index >= 0 {
		heap.Remove(d, p.index)
	}
}

// move gives a part another key.
func (d *deadlines) move(p *part, deadline int64) {
	p.deadline = deadline
	heap.Fix(d, p.index)
}
