package fsmem

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"pgregory.net/rapid"
)

// The dumb, slow model of what a crash may leave. It knows paths and strings
// only: every version of every entry and every file is written out, every
// combination is tried, and a set of strings is the answer.

const modelSector = 2

type modelFile struct {
	dir      bool
	versions []modelVersion // the first is durable
	durable  map[string]int // of a directory
	live     map[string]int
}

type modelVersion struct {
	text string
	torn bool
}

type modelHalf struct {
	dir      int
	name     string
	to       int
	op       int
	ofDir    bool
	synced   bool
	partners int
}

type model struct {
	files []*modelFile // number 0 is the root
	log   []*modelHalf
	ops   int
}

func newModel() *model {
	m := &model{}
	m.add(true)
	return m
}

func (m *model) add(dir bool) int {
	f := &modelFile{dir: dir, versions: []modelVersion{{}}}
	if dir {
		f.durable, f.live = map[string]int{}, map[string]int{}
	}
	m.files = append(m.files, f)
	return len(m.files) - 1
}

func (m *model) dirOf(path string) (int, string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	d := 0
	for _, p := range parts[:len(parts)-1] {
		next, ok := m.files[d].live[p]
		if !ok || !m.files[next].dir {
			return -1, ""
		}
		d = next
	}
	return d, parts[len(parts)-1]
}

func (m *model) find(path string) int {
	if path == "/" {
		return 0
	}
	d, name := m.dirOf(path)
	if d < 0 {
		return -1
	}
	if i, ok := m.files[d].live[name]; ok {
		return i
	}
	return -1
}

func (m *model) set(path string, to, partners int) {
	d, name := m.dirOf(path)
	if to < 0 {
		delete(m.files[d].live, name)
	} else {
		m.files[d].live[name] = to
	}
	m.log = append(m.log, &modelHalf{dir: d, name: name, to: to, op: m.ops, partners: partners,
		ofDir: partners == 2 && to >= 0 && m.files[to].dir})
}

func (m *model) write(i int, off int, p string) {
	f := m.files[i]
	old := m.last(i)
	for n := 1; n <= len(p); n++ {
		if n < len(p) && (off+n)%modelSector != 0 {
			continue
		}
		b := []byte(old)
		for len(b) < off+n {
			b = append(b, 0)
		}
		copy(b[off:], p[:n])
		f.versions = append(f.versions, modelVersion{string(b), n < len(p)})
	}
}

func (m *model) last(i int) string {
	v := m.files[i].versions
	return v[len(v)-1].text
}

func (m *model) sync(i int) {
	f := m.files[i]
	if !f.dir {
		f.versions = []modelVersion{{text: m.last(i)}}
		return
	}
	for _, h := range m.log {
		if h.dir == i && !h.synced {
			h.synced = true
			if h.to < 0 {
				delete(f.durable, h.name)
			} else {
				f.durable[h.name] = h.to
			}
		}
	}
}

// outcomes returns the set of all legal states.
func (m *model) outcomes(mod Model) map[string]bool {
	set := map[string]bool{}
	type key struct {
		dir  int
		name string
	}
	synced := map[int]bool{} // ops of which a half is synced
	for _, h := range m.log {
		if h.synced && h.partners == 2 {
			synced[h.op] = true
		}
	}
	dirMove := map[int]bool{}
	for i := len(m.log) - 1; i >= 0; i-- {
		if h := m.log[i]; h.ofDir {
			dirMove[h.op] = true
			for _, later := range m.log[i:] { // a directory that is there is not here
				if later.ofDir && later.to == h.to && synced[later.op] {
					synced[h.op] = true
				}
			}
		}
	}
	tryFiles := func(entries map[key]int) {
		m.eachContents(mod, func(texts []string) {
			lines := []string{}
			seen := map[int]bool{}
			legal := true
			var walk func(i int, path string)
			walk = func(i int, path string) {
				if !m.files[i].dir {
					lines = append(lines, fmt.Sprintf("%s=%q", path, texts[i]))
					return
				}
				if seen[i] {
					legal = false
					return
				}
				seen[i] = true
				lines = append(lines, path+"/")
				names := map[string]int{}
				for n, to := range m.files[i].durable {
					names[n] = to
				}
				for k, to := range entries {
					if k.dir == i {
						delete(names, k.name)
						if to >= 0 {
							names[k.name] = to
						}
					}
				}
				for n, to := range names {
					walk(to, path+"/"+n)
				}
			}
			walk(0, "")
			if legal {
				sort.Strings(lines)
				set[strings.Join(lines, " ")] = true
			}
		})
	}
	if mod == Ordered {
		for cut := 0; cut <= m.ops; cut++ {
			entries := map[key]int{}
			for _, h := range m.log {
				if !h.synced && (h.op < cut || synced[h.op]) {
					entries[key{h.dir, h.name}] = h.to
				}
			}
			tryFiles(entries)
		}
		return set
	}
	var keys []key
	values := map[key][]int{}
	for _, h := range m.log {
		if h.synced {
			continue
		}
		k := key{h.dir, h.name}
		if values[k] == nil {
			keys = append(keys, k)
			base := -1
			if i, ok := m.files[k.dir].durable[k.name]; ok {
				base = i
			}
			values[k] = []int{base}
		}
		if synced[h.op] && dirMove[h.op] {
			values[k] = nil // the directory has moved: nothing before that
		}
		values[k] = append(values[k], h.to)
	}
	entries := map[key]int{}
	var try func(i int)
	try = func(i int) {
		if i == len(keys) {
			tryFiles(entries)
			return
		}
		for _, v := range values[keys[i]] {
			entries[keys[i]] = v
			try(i + 1)
		}
	}
	try(0)
	return set
}

func (m *model) eachContents(mod Model, f func([]string)) {
	texts := make([]string, len(m.files))
	var try func(i int)
	try = func(i int) {
		if i == len(m.files) {
			f(texts)
			return
		}
		v := m.files[i].versions
		for a := range v {
			texts[i] = v[a].text
			try(i + 1)
			for b := a + 1; mod == Unordered && b < len(v); b++ {
				if n := len(v[b].text) - len(v[a].text); n > 0 && !v[b].torn {
					texts[i] = v[a].text + strings.Repeat("\x00", n)
					try(i + 1)
				}
			}
		}
	}
	try(0)
}

// modelOp is an operation on both; it reports whether it did something.
type modelOp struct {
	text  string
	model func(m *model) bool
	real  func(f *FS) error
}

func modelOps(files, dirs []string, withDirs bool) []modelOp {
	var ops []modelOp
	add := func(text string, model func(*model) bool, real func(*FS) error) {
		ops = append(ops, modelOp{text, model, real})
	}
	for _, p := range files {
		add("create "+p, func(m *model) bool {
			if d, _ := m.dirOf(p); d < 0 || m.find(p) >= 0 {
				return false
			}
			m.set(p, m.add(false), 1)
			return true
		}, func(f *FS) error {
			h, err := f.OpenFile(p, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
			if err != nil {
				return err
			}
			return h.Close()
		})
		on := func(change func(m *model, i int)) func(*model) bool {
			return func(m *model) bool {
				i := m.find(p)
				if i < 0 || m.files[i].dir {
					return false
				}
				change(m, i)
				return true
			}
		}
		do := func(flag int, change func(h interface {
			WriteAt([]byte, int64) (int, error)
			Write([]byte) (int, error)
			Truncate(int64) error
			Sync() error
		}) error) func(*FS) error {
			return func(f *FS) error {
				h, err := f.OpenFile(p, flag, 0)
				if err != nil {
					return err
				}
				defer h.Close()
				return change(h)
			}
		}
		type file = interface {
			WriteAt([]byte, int64) (int, error)
			Write([]byte) (int, error)
			Truncate(int64) error
			Sync() error
		}
		add("append "+p, on(func(m *model, i int) { m.write(i, len(m.last(i)), "abc") }),
			do(os.O_WRONLY|os.O_APPEND, func(h file) error { _, err := h.Write([]byte("abc")); return err }))
		add("overwrite "+p, on(func(m *model, i int) { m.write(i, 1, "xy") }),
			do(os.O_WRONLY, func(h file) error { _, err := h.WriteAt([]byte("xy"), 1); return err }))
		add("truncate "+p, func(m *model) bool {
			i := m.find(p)
			if i < 0 || m.files[i].dir || len(m.last(i)) == 1 {
				return false
			}
			t := m.last(i) + "\x00"
			m.files[i].versions = append(m.files[i].versions, modelVersion{text: t[:1]})
			return true
		}, do(os.O_WRONLY, func(h file) error { return h.Truncate(1) }))
		add("fsync "+p, on(func(m *model, i int) { m.sync(i) }),
			do(os.O_WRONLY, func(h file) error { return h.Sync() }))
		add("remove "+p, func(m *model) bool {
			i := m.find(p)
			if i < 0 || m.files[i].dir && len(m.files[i].live) > 0 {
				return false
			}
			m.set(p, -1, 1)
			return true
		}, func(f *FS) error { return f.Remove(p) })
		for _, q := range files {
			if p == q {
				continue
			}
			add("rename "+p+" "+q, func(m *model) bool {
				i, j := m.find(p), m.find(q)
				d, _ := m.dirOf(q)
				if i < 0 || d < 0 || j >= 0 && (m.files[i].dir || m.files[j].dir) || m.files[i].dir && strings.HasPrefix(q, p+"/") {
					return false
				}
				m.set(p, -1, 2)
				m.set(q, i, 2)
				return true
			}, func(f *FS) error { return f.Rename(p, q) })
		}
		if withDirs {
			add("mkdir "+p, func(m *model) bool {
				if d, _ := m.dirOf(p); d < 0 || m.find(p) >= 0 {
					return false
				}
				m.set(p, m.add(true), 1)
				return true
			}, func(f *FS) error { return f.Mkdir(p, 0o755) })
			dirs = append(dirs, p)
		}
	}
	for _, p := range dirs {
		add("sync "+p, func(m *model) bool {
			i := m.find(p)
			if i < 0 || !m.files[i].dir {
				return false
			}
			m.sync(i)
			return true
		}, func(f *FS) error {
			h, err := f.Open(p)
			if err != nil {
				return err
			}
			defer h.Close()
			return h.Sync()
		})
	}
	return ops
}

// render is a state as the model writes it.
func render(f *FS) string {
	lines := []string{"/"}
	f.core.walkLive(f.core.root, "", func(path string, n *inode) bool {
		if n.isDir() {
			lines = append(lines, path+"/")
			return true
		}
		b := make([]byte, n.content.size)
		n.content.readAt(b, 0)
		lines = append(lines, fmt.Sprintf("%s=%q", path, b))
		return true
	})
	sort.Strings(lines)
	return strings.Join(lines, " ")
}

// modelStart is what there is before a program: two durable directories, which
// are empty, or the first has a durable file.
type modelStart int

const (
	empty modelStart = iota
	withFile
)

// modelRun plays a program on both; it returns nil for a program with an operation that does nothing.
func modelRun(t rapid.TB, ops []modelOp, program []int, start modelStart) (*model, *FS) {
	m, f := newModel(), New(Options{SectorSize: modelSector})
	for _, d := range []string{"/a", "/b"} {
		if err := f.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
		m.set(d, m.add(true), 1)
		m.ops++
	}
	if start == withFile {
		i := m.add(false)
		m.set("/a/x", i, 1)
		m.ops++
		m.write(i, 0, "file")
		m.sync(i)
		m.sync(m.find("/a"))
		if err := afero.WriteFile(f, "/a/x", []byte("file"), 0o644); err != nil {
			t.Fatal(err)
		}
		syncDir(t, f, "/a/x")
		syncDir(t, f, "/a")
	}
	h, _ := f.Open("/")
	h.Sync()
	h.Close()
	m.sync(0)
	for _, o := range program {
		if !ops[o].model(m) {
			return nil, nil
		}
		m.ops++
		if err := ops[o].real(f); err != nil {
			t.Fatalf("%s: %v", programText(ops, program), err)
		}
	}
	return m, f
}

func programText(ops []modelOp, program []int) string {
	var s []string
	for _, o := range program {
		s = append(s, ops[o].text)
	}
	return strings.Join(s, "; ")
}

// compareOutcomes checks that Outcomes lists what the model lists, each once,
// each with a fingerprint of its own in all programs that share prints.
func compareOutcomes(t rapid.TB, what string, m *model, f *FS, mod Model, prints *fingerprints) int {
	want := m.outcomes(mod)
	o, err := f.Outcomes(mod)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	got := map[string]bool{}
	i := 0
	for s, after := range o.All() {
		text := render(after)
		if prints != nil {
			prints.check(t, what, text, o.Fingerprint(i))
		}
		i++
		if got[text] {
			t.Fatalf("%s: %v twice: %s", what, mod, text)
		}
		got[text] = true
		if !want[text] {
			t.Fatalf("%s: %v: %v gives an illegal state: %s", what, mod, s, text)
		}
	}
	for text := range want {
		if !got[text] {
			t.Fatalf("%s: %v: missing state: %s", what, mod, text)
		}
	}
	if o.Len() != len(want) {
		t.Fatalf("%s: %v: Len %d, want %d", what, mod, o.Len(), len(want))
	}
	return o.Len()
}

// fingerprints pairs the states that have been seen with their fingerprints.
type fingerprints struct {
	of    map[string]uint64
	state map[uint64]string
}

func (p *fingerprints) check(t rapid.TB, what, text string, print uint64) {
	if was, ok := p.of[text]; ok && was != print {
		t.Fatalf("%s: %s has another fingerprint than before", what, text)
	}
	if was, ok := p.state[print]; ok && was != text {
		t.Fatalf("%s: %s has the fingerprint of %s", what, text, was)
	}
	p.of[text], p.state[print] = print, text
}

// TestOutcomesOfEveryShortProgram is the proof that enumeration is complete and
// without repetition: every program of up to four operations that do something,
// over two names in two directories.
func TestOutcomesOfEveryShortProgram(t *testing.T) {
	depth := 4
	if testing.Short() {
		depth = 3
	}
	files := []string{"/a/x", "/a/y", "/b/x", "/b/y"}
	prints := &fingerprints{map[string]uint64{}, map[uint64]string{}}
	for _, c := range []struct {
		name  string
		ops   []modelOp
		depth int
		start modelStart
	}{
		{"files", modelOps(files, []string{"/a", "/b"}, false), depth, empty},
		{"files, one durable", modelOps(files, []string{"/a", "/b"}, false), depth, withFile},
		{"directories", modelOps(files, []string{"/a", "/b"}, true), depth, empty},
	} {
		t.Run(c.name, func(t *testing.T) {
			programs, states := 0, 0
			var walk func(program []int)
			walk = func(program []int) {
				m, f := modelRun(t, c.ops, program, c.start)
				if m == nil {
					return
				}
				programs++
				for _, mod := range []Model{Ordered, Unordered} {
					states += compareOutcomes(t, programText(c.ops, program), m, f, mod, prints)
				}
				if len(program) < c.depth {
					for o := range c.ops {
						walk(append(program[:len(program):len(program)], o))
					}
				}
			}
			walk(nil)
			t.Logf("%d programs, %d states", programs, states)
		})
	}
}
