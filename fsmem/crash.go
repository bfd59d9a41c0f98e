package fsmem

import (
	"math/bits"
	"math/rand/v2"
	"sort"
)

// Crash returns the file system that a computer finds which lost its power now:
// what was synced, and of the rest what s says. f itself goes on as it is, for a
// process that does not know that it is dead; neither sees what the other does.
// So one run can be crashed at each of its operations, as often as is wanted.
//
// The new file system has the same Options, no open handles, and none of the
// rules, hooks and journal, which belong to the process and not to the disk. Files
// that were removed while handles were open are gone with the handles. Crash may
// be called at any moment from any goroutine, also in a hook.
//
// Crash copies no data and takes time in proportion to what has changed since the
// last syncs, not to the number of files. A drawn or indexed state costs a little
// more for each write that is unsynced.
//
// The error, if any, is an ErrSurvival, and the file system is nil.
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

// plan is all that a crash needs to know, taken at one moment under the lock. From
// then on it stands by itself: it holds the disk as the core left it, and for what
// is pending the versions between which a crash may choose. Choosing and building
// need no lock, so a long enumeration does not hold up the program under test.
//
// There are two kinds of choice, and they are independent. entries are names with
// pending changes, files are inodes with unsynced bytes, size or attributes. In
// real file systems they are not quite independent (ext4 commits sizes and names in
// one journal), and the model is the weaker for it.
type plan struct {
	model   Model
	opts    Options
	next    uint64 // inode number; the new file system does not use one again
	disk    radix[*stable]
	nodes   map[uint64]*stable // durable versions that are not on the disk
	entries []planEntry
	touched map[uint64]*touchedDir // made when it is needed
	ordered int                    // pending changes that may survive or not, Ordered only
	files   []planFile
}

// planEntry is a directory entry with pending changes. Its versions are the values
// that it has had since its directory was synced, in order: the durable one, and
// one for each half of a change that is about this name. Two changes may give the
// same value; each is a version all the same, so that a version's place is also a
// place in time. After a sync of "/" and then
//
//	rename /a /b      change 1
//	create /a         change 2
//	remove /b         change 3
//
// the entry a has the versions old, none (1), new (2), and b none, old (1), none (3).
// Ordered takes the versions up to one number in both; Unordered any of each, so
// that old may have both names.
type planEntry struct {
	dir      uint64
	name     string
	versions []planVersion // the first is what the disk holds
	least    int           // the first version that is legal
}

// planVersion is one value of an entry, and the change that gave it. Changes are
// numbered in the order in which they were made, those left out that survive in
// any case: a prefix of a journal is a number of changes.
type planVersion struct {
	ino    uint64 // 0 for no entry
	change int    // ordinal among the pending changes, from 1
	forced bool   // survives in any case
}

// planFile is an inode with pending operations of its own: its durable version,
// what it is now, and the log that leads from one to the other. Taking it copies
// the log, which is small since appends are one run, and of the bytes nothing.
type planFile struct {
	ino     uint64
	durable *stable
	live    inode // attrs only; directories are here for theirs
	data    extent
	log     []run
	lost    []span
	states  []fileState // nil until they are listed
}

// choice selects a state: a version of each entry, and a state of each file, in
// the order of the plan.
type choice struct {
	versions []int
	files    []fileChoice
}

// fileChoice selects a version of a file; nil is the durable one.
type fileChoice *fileState

// The two versions that no list of states is needed for: as the file is now,
// and its size now with zeros. They are recognised by their addresses. Putting
// them together costs the same however many writes are unsynced.
var fileLive, fileZeros fileChoice = new(fileState), new(fileState)

// plan takes all durable versions away from c, so that c copies what it changes
// from now on: one new token, and everything that carries the old one is shared.
// The lock is held. Files are sorted by inode number, because the order of
// core.changed depends on when it was last swept, and an index must not.
func (c *core) plan(model Model) *plan {
	p := &plan{model: model, opts: c.opts, next: c.next, disk: c.disk}
	c.owner = new(owner)
	p.planEntries(c)
	// What a crash can no longer show need not be planned: a file without a live, a
	// pending or a durable name, which a program may well have open and write to.
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

// planEntries turns the list of pending changes into entries with versions. It
// goes over the list once, oldest change first, so that entries come in the order
// of their first change and versions in the order of time: nothing here depends
// on the order of a map. A half is left out if it is durable already, which is the
// entry's first version then, or lost, which no crash brings back.
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
		// Optional changes are numbered, forced ones share the number of the last
		// one before them and do not need it.
		if !forced {
			ordinal++
		}
		for i := range ch.n {
			h := &ch.halves[i]
			if h.fate != pending {
				continue
			}
			// The first change of a name makes the entry, with what the disk holds.
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
			// What came before a forced version cannot come back.
			if forced {
				e.least = len(e.versions) - 1
			}
		}
	}
	p.ordered = ordinal
}

// know keeps the durable version of an inode that the disk does not have, because
// no durable entry names it: a new file whose directory was not synced. A choice
// may give it a name.
func (p *plan) know(n *inode) {
	if n.durable.links == 0 {
		if p.nodes == nil {
			p.nodes = make(map[uint64]*stable)
		}
		p.nodes[n.ino] = n.durable
	}
}

// node returns the durable version of an inode, nil if a crash cannot know it.
func (p *plan) node(ino uint64) *stable {
	if st := p.nodes[ino]; st != nil {
		return st
	}
	return p.disk.get(ino)
}

// listStates lists the states of every file, and returns false if they are more
// than maxStates in all. It does so once: the lists are kept with the files.
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

// choose returns what a valid Survival selects, and false if there is no such
// state. Where no names survive, each entry keeps what is forced and no more; in
// a journal that is the prefix of length 0.
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
// and of those that survive in any case. Of several versions of an entry the last
// one wins, as when a journal is replayed.
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
// not, and false if it is beyond counting. With a journal it is linear in the changes,
// without one exponential in the names.
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

// fileChoices is the number of ways to choose the states of all files, and false if
// they cannot be listed.
func (p *plan) fileChoices() (uint64, bool) {
	n, ok := uint64(1), p.listStates()
	for i := range p.files {
		n, ok = multiply(n, uint64(len(p.files[i].states)), ok)
	}
	return n, ok
}

// multiply says whether the product fits, because an index that wraps around would
// name another state.
func multiply(a, b uint64, ok bool) (uint64, bool) {
	hi, lo := bits.Mul64(a, b)
	return lo, ok && hi == 0
}

// chooseNames selects the versions of the choice number n: the length of the prefix
// in a journal, and without one a number with a digit for each entry.
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

// draw selects a legal choice at random. The generator is PCG with the seed that
// the Survival names, and is asked in the order of the plan, so that the same seed
// gives the same crash in every process. Not all states are equally likely: a
// prefix, a version or a number of operations is drawn for each part by itself.
func (p *plan) draw(seed uint64, c *choice) {
	rnd := rand.New(rand.NewPCG(seed, 0))
	if p.model == Ordered {
		p.prefix(rnd.IntN(p.ordered+1), c.versions)
	} else {
		// A directory with two names is the only thing that can be wrong, and
		// the fewer changes survive the less likely it is. The last try takes none
		// but what is forced, which is always legal, so that drawing ends.
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

// legal reports whether no directory can be reached by two paths. Moves that are
// partly durable are forced by the plan; what is left to find here is a choice that
// takes the new name of a pending move without taking the old one away. With a
// journal that cannot be, since both are one change.
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
// to one that has been seen. It goes by what can be reached from the root, because
// a second name in a directory that is itself lost does no harm.
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
// those without pending changes, then the chosen versions of the others. The index
// of the latter is made at the first use: a plain Crash never asks, and to go over
// all entries at each directory made listing quadratic.
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

// image is a disk under construction: the plan's, and a token of its own, so that
// it copies what it changes and shares the rest with the core and with the other
// states made from the plan. edits are the inodes copied so far. They are few, so
// a list that is searched costs less than a map.
type image struct {
	p     *plan
	owner *owner
	disk  radix[*stable]
	edits []edit
}

// edit is the version of one inode that will be on the disk.
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

// build makes the file system of a choice. Names come first: they change how many
// durable links each inode has, and an inode is put on the disk or taken off it
// accordingly. One without a name is nowhere; there is no lost+found.
//
// A new core reads no inode until somebody asks for it. So the time is that of
// the edits, each of which copies a path of the radix tree.
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
	// Then bytes, sizes and attributes. Files that the choice gives no name are edited
	// too, and left out below.
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

// setFile gives an inode the state that was chosen. Times are the live ones in any
// version but the durable: they are no part of what can be told apart, and one
// rule is better than a log of every touch. With zeros a file never gets shorter,
// and mode and owner stay what they were: sizes run ahead, permissions do not.
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
