package fsmem

import (
	"math/bits"
	"math/rand/v2"
	"sort"
)

// Crash returns the file system that a computer finds which lost its power now:
// what was synced, and of the rest what s says. f itself goes on as it is, for a
// process that does not know that it is dead; neither sees what the other does.
//
// The new file system has the same Options, no open handles, and none of the
// rules, hooks and journal. Crash copies no data and takes time in proportion
// to what has changed since the last syncs, not to the number of files.
//
// The error, if any, is an ErrSurvival.
func (f *FS) Crash(s Survival) (*FS, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	c := f.core
	c.mu.Lock()
	p := c.plan(s.Model)
	c.mu.Unlock()
	choice, ok := p.choose(s)
	if !ok {
		return nil, s.illegal()
	}
	return p.build(choice), nil
}

// plan is all that a crash needs to know, taken at one moment.
type plan struct {
	model   Model
	opts    Options
	next    uint64
	disk    radix[*stable]
	nodes   map[uint64]*stable // durable versions that are not on the disk
	entries []planEntry
	touched map[uint64]*touchedDir // made when it is needed
	ordered int                    // pending changes that may survive or not, Ordered only
	files   []planFile
}

// planEntry is a directory entry with pending changes.
type planEntry struct {
	dir      uint64
	name     string
	versions []planVersion // the first is what the disk holds
	least    int           // the first version that is legal
}

type planVersion struct {
	ino    uint64
	change int  // ordinal among the pending changes, from 1
	forced bool // survives in any case
}

// planFile is an inode with pending operations of its own.
type planFile struct {
	ino     uint64
	durable *stable
	live    inode // attrs only
	data    extent
	log     []run
	lost    []span
	states  []fileState // nil until they are listed
}

// choice selects a state: a version of each entry, and a state of each file.
type choice struct {
	versions []int
	files    []fileChoice
}

// fileChoice selects a version of a file; nil is the durable one.
type fileChoice *fileState

// The two versions that no list of states is needed for: as the file is now,
// and its size now with zeros.
var fileLive, fileZeros fileChoice = new(fileState), new(fileState)

// plan takes all durable versions away from c, so that c copies what it changes
// from now on.
func (c *core) plan(model Model) *plan {
	p := &plan{model: model, opts: c.opts, next: c.next, disk: c.disk}
	c.owner = new(owner)
	p.planEntries(c)
	c.sweep()
	for _, n := range c.changed {
		if n.nlink == 0 && n.pending == 0 && n.durable.links == 0 {
			continue // open, but no crash can bring back its name
		}
		f := planFile{ino: n.ino, durable: n.durable, lost: n.lost}
		f.live.attrs = n.attrs
		if n.content != nil {
			f.data = n.content.snapshot()
		}
		f.log = append([]run(nil), n.log...)
		p.files = append(p.files, f)
		p.know(n)
	}
	sort.Slice(p.files, func(i, j int) bool { return p.files[i].ino < p.files[j].ino })
	return p
}

func (p *plan) planEntries(c *core) {
	type key struct {
		dir  uint64
		name string
	}
	index := make(map[key]int)
	ordinal := 0
	for ch := c.pending.first; ch != nil; ch = ch.next {
		// A journal commits a rename as a whole, so a sync of one directory has
		// committed it in the other. Without a journal that holds for directories
		// only. See change.
		a, b := ch.halves[0].fate, ch.halves[1].fate
		forced := p.model == Ordered && ch.n == 2 && (a == synced || b == synced) ||
			ch.move > 0 && ch.move <= ch.halves[1].to.placed
		if !forced && p.model == Ordered && (a == lost || b == lost) {
			continue // and so the whole of it is
		}
		if !forced {
			ordinal++
		}
		for i := range ch.n {
			h := &ch.halves[i]
			if h.fate != pending {
				continue
			}
			k := key{h.dir.ino, h.name}
			at, ok := index[k]
			if !ok {
				at = len(p.entries)
				index[k] = at
				p.entries = append(p.entries, planEntry{
					dir: k.dir, name: k.name,
					versions: []planVersion{{ino: h.dir.durable.names.get(h.name)}},
				})
				p.know(h.dir)
			}
			e := &p.entries[at]
			v := planVersion{change: ordinal, forced: forced}
			if h.to != nil {
				v.ino = h.to.ino
				p.know(h.to)
			}
			e.versions = append(e.versions, v)
			if forced {
				e.least = len(e.versions) - 1
			}
		}
	}
	p.ordered = ordinal
}

// know keeps the durable version of an inode that the disk does not have.
func (p *plan) know(n *inode) {
	if n.durable.links == 0 {
		if p.nodes == nil {
			p.nodes = make(map[uint64]*stable)
		}
		p.nodes[n.ino] = n.durable
	}
}

func (p *plan) node(ino uint64) *stable {
	if st := p.nodes[ino]; st != nil {
		return st
	}
	return p.disk.get(ino)
}

// listStates lists the states of every file, and returns false if they are more
// than maxStates.
func (p *plan) listStates() bool {
	left := maxStates
	for i := range p.files {
		f := &p.files[i]
		if f.states == nil && !f.list(p.model, int64(p.opts.SectorSize), left) {
			f.states = nil
			return false
		}
		left -= len(f.states)
	}
	return true
}

// choose returns what a valid Survival selects.
func (p *plan) choose(s Survival) (choice, bool) {
	c := choice{versions: make([]int, len(p.entries)), files: make([]fileChoice, len(p.files))}
	names := s.Keep == KeepEverything || s.Keep == KeepNames || s.Keep == KeepZeros
	var file fileChoice
	switch s.Keep {
	case KeepEverything, KeepData:
		file = fileLive
	case KeepZeros:
		file = fileZeros
	case KeepIndex:
		return c, p.chooseIndex(s.N, &c)
	case KeepDrawn:
		p.draw(s.N, &c)
		return c, true
	}
	for i := range p.entries {
		if names {
			c.versions[i] = len(p.entries[i].versions) - 1
		} else {
			c.versions[i] = p.entries[i].least
		}
	}
	if s.Model == Ordered && !names {
		p.prefix(0, c.versions)
	}
	for i := range c.files {
		c.files[i] = file
	}
	return c, true
}

// prefix selects the versions of the first n optional changes of a journal,
// and of those that survive in any case.
func (p *plan) prefix(n int, versions []int) {
	for i := range p.entries {
		versions[i] = 0
		for v, version := range p.entries[i].versions {
			if v > 0 && (version.forced || version.change <= n) {
				versions[i] = v
			}
		}
	}
}

// nameChoices is the number of ways to choose among directory changes, legal or
// not, and false if it is beyond counting.
func (p *plan) nameChoices() (uint64, bool) {
	if p.model == Ordered {
		return uint64(p.ordered) + 1, true
	}
	n, ok := uint64(1), true
	for i := range p.entries {
		n, ok = multiply(n, uint64(len(p.entries[i].versions)-p.entries[i].least), ok)
	}
	return n, ok
}

// fileChoices is the number of ways to choose the states of all files.
func (p *plan) fileChoices() (uint64, bool) {
	n, ok := uint64(1), p.listStates()
	for i := range p.files {
		n, ok = multiply(n, uint64(len(p.files[i].states)), ok)
	}
	return n, ok
}

func multiply(a, b uint64, ok bool) (uint64, bool) {
	hi, lo := bits.Mul64(a, b)
	return lo, ok && hi == 0
}

// chooseNames selects the versions of the choice number n.
func (p *plan) chooseNames(n uint64, versions []int) {
	if p.model == Ordered {
		p.prefix(int(n), versions)
		return
	}
	for i := len(p.entries) - 1; i >= 0; i-- {
		e := &p.entries[i]
		k := uint64(len(e.versions) - e.least)
		versions[i] = e.least + int(n%k)
		n /= k
	}
}

// chooseIndex selects the choice number n: directories first, then the files by
// inode number, the last varying fastest.
func (p *plan) chooseIndex(n uint64, c *choice) bool {
	names, ok1 := p.nameChoices()
	files, ok2 := p.fileChoices()
	if !ok2 {
		return false
	}
	total, ok := multiply(names, files, ok1 && ok2)
	if !ok || n >= total {
		return false
	}
	p.chooseNames(n/files, c.versions)
	n %= files
	for i := len(p.files) - 1; i >= 0; i-- {
		k := uint64(len(p.files[i].states))
		c.files[i] = &p.files[i].states[n%k]
		n /= k
	}
	return p.legal(c.versions)
}

// draw selects a legal choice at random.
func (p *plan) draw(seed uint64, c *choice) {
	rnd := rand.New(rand.NewPCG(seed, 0))
	if p.model == Ordered {
		p.prefix(rnd.IntN(p.ordered+1), c.versions)
	} else {
		// A directory with two names is the only thing that can be wrong, and
		// the fewer changes survive the less likely it is.
		for try := 0; ; try++ {
			for i := range p.entries {
				e := &p.entries[i]
				c.versions[i] = e.least
				if try < 64 {
					c.versions[i] += rnd.IntN(len(e.versions) - e.least)
				}
			}
			if try == 64 || p.legal(c.versions) {
				break
			}
		}
	}
	for i := range p.files {
		c.files[i] = p.files[i].draw(p.model, int64(p.opts.SectorSize), rnd)
	}
}

// legal reports whether no directory can be reached by two paths.
func (p *plan) legal(versions []int) bool {
	if p.model == Ordered {
		return true
	}
	// An entry that has not changed may be the second, so compare with the
	// durable links that are not accounted for. Most choices pass at once.
	for i, v := range versions {
		ino := p.entries[i].versions[v].ino
		st := p.node(ino)
		if st == nil || !st.attrs.mode.IsDir() {
			continue
		}
		names := st.links
		for j, w := range versions {
			if p.entries[j].versions[0].ino == ino {
				names--
			}
			if p.entries[j].versions[w].ino == ino {
				names++
			}
		}
		if names > 1 {
			return p.reachOnce(rootIno, versions, make(map[uint64]bool))
		}
	}
	return true
}

// reachOnce walks over the directories below one, and returns false if it comes
// to one that has been seen.
func (p *plan) reachOnce(dir uint64, versions []int, seen map[uint64]bool) bool {
	if seen[dir] {
		return false
	}
	seen[dir] = true
	return p.eachChild(dir, versions, func(_ string, ino uint64) bool {
		st := p.node(ino)
		return st == nil || !st.attrs.mode.IsDir() || p.reachOnce(ino, versions, seen)
	})
}

// eachChild calls f for the entries of a directory until it says false, first
// those without pending changes, then the chosen versions of the others.
func (p *plan) eachChild(dir uint64, versions []int, f func(name string, ino uint64) bool) bool {
	if p.touched == nil {
		p.touched = make(map[uint64]*touchedDir)
		for i := range p.entries {
			e := &p.entries[i]
			d := p.touched[e.dir]
			if d == nil {
				d = &touchedDir{names: make(map[string]bool)}
				p.touched[e.dir] = d
			}
			d.names[e.name] = true
			d.entries = append(d.entries, i)
		}
	}
	touched := p.touched[dir]
	ok := true
	p.node(dir).names.each(func(e entry) bool {
		if touched == nil || !touched.names[e.name] {
			ok = f(e.name, e.ino)
		}
		return ok
	})
	if touched == nil {
		return ok
	}
	for _, i := range touched.entries {
		if ino := p.entries[i].versions[versions[i]].ino; ino != 0 && ok {
			ok = f(p.entries[i].name, ino)
		}
	}
	return ok
}

// touchedDir has the entries with pending changes of one directory.
type touchedDir struct {
	names   map[string]bool
	entries []int // in plan.entries
}

// image is a disk under construction.
type image struct {
	p     *plan
	owner *owner
	disk  radix[*stable]
	edits []edit
}

type edit struct {
	ino uint64
	st  *stable
}

// edit returns the durable version of an inode for changing.
func (m *image) edit(ino uint64) *stable {
	for i := range m.edits {
		if m.edits[i].ino == ino {
			return m.edits[i].st
		}
	}
	st := m.p.node(ino)
	if st == nil {
		return nil
	}
	st = st.clone(m.owner)
	m.edits = append(m.edits, edit{ino, st})
	return st
}

func (p *plan) build(c choice) *FS {
	m := image{p: p, owner: new(owner), disk: p.disk}
	for i, v := range c.versions {
		e := &p.entries[i]
		from, to := e.versions[0].ino, e.versions[v].ino
		if from == to {
			continue
		}
		if dir := m.edit(e.dir); dir != nil {
			dir.names.set(m.owner, e.name, to)
		}
		if st := m.edit(to); st != nil {
			st.links++
		}
		if st := m.edit(from); st != nil {
			st.links--
		}
	}
	for i, choice := range c.files {
		if choice != nil && !(*fileState)(choice).durable {
			m.setFile(&p.files[i], choice)
		}
	}
	for _, e := range m.edits {
		if e.st.links > 0 {
			*m.disk.slot(m.owner, e.ino) = e.st
		} else if m.disk.get(e.ino) != nil {
			*m.disk.slot(m.owner, e.ino) = nil
		}
	}
	core := &core{opts: p.opts, owner: m.owner, disk: m.disk, next: p.next}
	core.boot()
	return newFS(core)
}

func (m *image) setFile(f *planFile, choice fileChoice) {
	st := m.edit(f.ino)
	switch choice {
	case fileLive:
		st.attrs = f.live.attrs
		if f.live.attrs.mode.IsRegular() {
			st.data = masked(f.data, &f.durable.data, f.lost)
		}
	case fileZeros:
		st.attrs.atime, st.attrs.mtime = f.live.attrs.atime, f.live.attrs.mtime
		if size := f.data.size; size > st.data.size {
			st.data = st.data.resized(size)
		}
	default:
		s := (*fileState)(choice)
		st.attrs = s.attrs
		st.attrs.atime, st.attrs.mtime = f.live.attrs.atime, f.live.attrs.mtime
		if f.live.attrs.mode.IsRegular() {
			st.data = s.extent(f)
		}
	}
}
