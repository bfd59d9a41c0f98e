package props

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// Exhaustive tries every program of up to Length operations over an alphabet, times
// every point at which the power can fail, times every state in which the disk can be
// found then, times every checkpoint that can be restored.
//
// Most bugs of file systems under crashes need three operations or fewer (CrashMonkey and
// Ace, OSDI 2018), and the protocol of a sink has few more kinds of steps; so a small
// alphabet, tried without gaps, says more about it than long programs do. What needs many
// records, subtasks or a clock that jumps is for random programs.
//
// A crash in the operations that a program shares with a shorter one is tried with the
// shorter one, so each program adds the crash points of its last operation. A disk that
// was met before, together with the same knowledge of the engine, is not tried again.
type Exhaustive struct {
	Open     string      // the first line of every program
	Alphabet []string    // write, write-deep, advance, checkpoint, complete, recover, end; the order is that of the search
	Length   int         // most operations after the open; the work grows as the alphabet to this power
	Model    fsmem.Model // of what survives
	Factory  sim.Factory // nil means sim.Core
	Rescale  []int       // parallelism of the recoveries, one after the other; none means 1

	// BufferSize is that of sinkcore.Config; 1 hands every record to the file system at
	// once. SectorSize is that of fsmem.Options; a small one tears records.
	BufferSize, SectorSize int

	Progress func(Tally) // called now and then, by one goroutine at a time; may be nil
}

// Tally counts what was tried. Unless a failure ends the search early, Programs, CrashPoints
// and Recoveries are the same on any number of processors; which program a state is counted
// with is not.
type Tally struct {
	Programs    int
	CrashPoints int // moments between two changes of the file system
	States      int // of the disk, after merging those that were met before
	Recoveries  int
	Refusals    int // recoveries that the sink refused with a typed error; only where nothing more can be promised
}

func (t *Tally) add(u Tally) {
	t.Programs += u.Programs
	t.CrashPoints += u.CrashPoints
	t.States += u.States
	t.Recoveries += u.Recoveries
	t.Refusals += u.Refusals
}

// letters are what an alphabet is made of. A checkpoint takes the next id, and a completion
// the last one: that older ones may come late is tried with random programs.
var letters = map[string]func(*spelling) string{
	"write":      func(s *spelling) string { return s.write("") },
	"write-deep": func(s *spelling) string { return s.write("a/b/") },
	"advance":    func(*spelling) string { return "advance 100" },
	"checkpoint": func(s *spelling) string { s.id++; return fmt.Sprintf("checkpoint %d", s.id) },
	"complete":   func(s *spelling) string { return fmt.Sprintf("complete %d", s.id) },
	"recover":    func(*spelling) string { return "recover" },
	"end":        func(*spelling) string { return "end" },
}

// spelling turns letters into operations. Each record is another one, or nobody could tell
// which of them is visible twice.
type spelling struct {
	records int
	id      int
}

func (s *spelling) write(bucket string) string {
	s.records++
	return fmt.Sprintf("write %sr%d", bucket, s.records)
}

// spell writes out a program. It returns false for one that makes no sense, such as a
// completion before the first checkpoint. One that does not cannot be the beginning of one
// that does, so the search goes no further from it.
func (e Exhaustive) spell(word []int) (string, bool) {
	s := &spelling{}
	lines := []string{e.Open}
	ended := false
	for _, letter := range word {
		name := e.Alphabet[letter]
		if name == "complete" && s.id == 0 || ended && strings.HasPrefix(name, "write") {
			return "", false
		}
		ended = name == "end" || ended && name != "recover"
		lines = append(lines, letters[name](s))
	}
	return strings.Join(lines, "\n"), true
}

// Failure is a program, a crash point and a state that break a rule.
type Failure struct {
	Violation
	Program  sim.Scenario   // up to the operation in which the power fails
	Change   int            // the power fails after so many changes of the file system in that operation
	Survival fsmem.Survival // what is found then
	Restored int64          // the checkpoint restored, or -1 for none
}

// Error gives all of it; the program can be played again with "crash" and "powerloss"
// in its last step.
func (f *Failure) Error() string {
	return fmt.Sprintf("%v\npower fails after change %d of the last operation, what survives is %q, checkpoint %d is restored\n%s",
		&f.Violation, f.Change, f.Survival, f.Restored, Text(f.Program))
}

// Run tries everything, on all processors, and returns the first failure in the order
// of the programs, or nil. The error is for an alphabet that has no such letter.
//
// After a failure only programs before it are tried on. Where several programs lead to one
// state that fails, it is tried with the one that comes to it first, so which of them is
// returned may depend on the goroutines; each is a failure.
func (e Exhaustive) Run() (Tally, *Failure, error) {
	for _, name := range e.Alphabet {
		if letters[name] == nil {
			return Tally{}, nil, fmt.Errorf("%w: there is no letter %q", sinkcore.ErrConfig, name)
		}
	}
	if e.Factory == nil {
		e.Factory = sim.Core{}
	}
	if len(e.Rescale) == 0 {
		e.Rescale = []int{1}
	}
	words := e.words()
	var (
		mu    sync.Mutex
		next  int
		total Tally
		first *Failure
		at    = len(words)
		fault error
		wait  sync.WaitGroup
	)
	met := newMet()
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= len(words) || i > at || fault != nil
				mu.Unlock()
				if stop {
					return
				}
				x := &explorer{Exhaustive: e, met: met, seen: map[string]int{}}
				failure, err := x.try(words[i])
				mu.Lock()
				total.add(x.tally)
				if err != nil && fault == nil {
					fault = err
				}
				if failure != nil && i < at {
					first, at = failure, i
				}
				if e.Progress != nil {
					e.Progress(total)
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return total, first, fault
}

// words lists the programs, shorter ones first, each as the indexes of its letters. The
// empty one is among them: the power may fail at the start.
func (e Exhaustive) words() [][]int {
	words := [][]int{{}}
	for from := 0; from < len(words); from++ {
		word := words[from]
		if len(word) == e.Length {
			break
		}
		for letter := range e.Alphabet {
			longer := append(append(make([]int, 0, len(word)+1), word...), letter)
			if _, ok := e.spell(longer); ok {
				words = append(words, longer)
			}
		}
	}
	return words
}

// met remembers what was tried. It is shared by all explorers, in shards so that they do
// not wait for each other. It keeps hashes of 64 bits, and takes two states of one hash for
// the same: among ten million that happens once in some hundred thousand runs.
type met struct {
	seed   maphash.Seed
	shards [64]struct {
		mu   sync.Mutex
		seen map[uint64]struct{}
	}
}

func newMet() *met {
	m := &met{seed: maphash.MakeSeed()}
	for i := range m.shards {
		m.shards[i].seen = map[uint64]struct{}{}
	}
	return m
}

// first tells whether it is asked for a key for the first time.
func (m *met) first(key uint64) bool {
	shard := &m.shards[key%uint64(len(m.shards))]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if _, ok := shard.seen[key]; ok {
		return false
	}
	shard.seen[key] = struct{}{}
	return true
}

// explorer tries one program. It plays it once, and takes a copy of the disk at each crash
// point on the way; playing it anew for each would cost the square.
type explorer struct {
	Exhaustive
	met     *met
	tally   Tally
	session *session
	program sim.Scenario
	changes int
	failure *Failure
	err     error
	random  *rand.ChaCha8

	confirmed []string       // visible files that no power cut may take, at this crash point
	scratch   [512]byte      // for reading
	seen      map[string]int // for counting
}

// try plays a program up to its last operation, and lets the power fail in that one. The
// session judges what happens without a power cut meanwhile.
func (x *explorer) try(word []int) (*Failure, error) {
	text, _ := x.spell(word)
	x.program = parse(text)
	x.tally.Programs++
	x.random = rand.NewChaCha8([32]byte{1})
	s, err := newSession(x.program, Options{
		Factory: x.Factory, BufferSize: x.BufferSize, Fs: fsmem.New(fsmem.Options{SectorSize: x.SectorSize, NoPlaces: true}),
	})
	if err != nil {
		return nil, err
	}
	x.session = s
	steps := x.program.Steps
	for i, step := range steps {
		s.step = i
		last := i == len(steps)-1
		if last {
			s.onChange = x.powerFails
			if i == 0 {
				x.powerFails()
			}
		}
		if err := s.play(step.Operation, 0); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, Text(x.program))
		}
		if s.found != nil {
			return &Failure{Violation: *s.found, Program: x.program}, nil
		}
	}
	s.onChange = nil
	x.powerFails() // between this operation and the next
	s.kill()
	return x.failure, x.err
}

// powerFails is called at each crash point: after each change of the file system in the
// last operation, from within it, and once after the operation. The sink that is in the
// middle of it notices nothing.
func (x *explorer) powerFails() {
	x.changes++
	x.tally.CrashPoints++
	if x.failure != nil || x.err != nil {
		return
	}
	s := x.session
	outcomes, err := s.fs.Outcomes(x.Model)
	if err != nil {
		x.err = err
		return
	}
	// The engine restores the newest completed checkpoint; one that was taken and
	// stored may have been declared complete without the sink having been told.
	// Once it restores one it has given up those after it.
	choices := []int64{s.newest}
	_, restoring := x.program.Steps[s.step].Operation.(Recover)
	for _, id := range sorted(s.cuts) {
		if id > s.newest && !restoring {
			choices = append(choices, id)
		}
	}
	x.confirmed = s.confirmedFiles()
	abouts := make([]uint64, len(choices))
	for i, id := range choices {
		abouts[i] = x.about(id)
	}
	for i := range outcomes.Len() {
		disk := outcomes.Fingerprint(i)
		fresh := false
		for j, id := range choices {
			if !x.met.first(maphash.Comparable(x.met.seed, [2]uint64{disk, abouts[j]})) {
				continue
			}
			if !fresh {
				fresh = true
				x.tally.States++
			}
			for _, parallelism := range x.Rescale {
				// Each recovery writes to the disk, so each has its own.
				survival, fsys := outcomes.At(i)
				x.tally.Recoveries++
				if v := x.recovers(fsys, id, parallelism); v != nil {
					x.failure = &Failure{*v, x.program, x.changes - 1, survival, id}
					return
				}
			}
		}
	}
}

// about stands for all that the outcome of a recovery depends on besides the disk: the
// checkpoint and its state, and what the source has sent and must be visible already.
func (x *explorer) about(id int64) uint64 {
	s := x.session
	var h maphash.Hash
	h.SetSeed(x.met.seed)
	maphash.WriteComparable(&h, id)
	h.Write(s.runner.State(id))
	maphash.WriteComparable(&h, s.cuts[id].length)
	for _, e := range s.log {
		maphash.WriteComparable(&h, e.record)
	}
	for _, path := range x.confirmed {
		maphash.WriteComparable(&h, path)
	}
	return h.Sum64()
}

// recovers restores the sink on a disk, has the source send again what came after the
// checkpoint, ends the input, and checks every record. It does not use the session's
// checker, which is in the middle of a program: right after the restore it looks for
// records that are there twice or too early, and at the end for those that are missing.
//
// On a disk without a journal a rename may leave neither name. The sink can do no more then
// than say so; to be silent is a failure there too.
func (x *explorer) recovers(fsys *fsmem.FS, id int64, parallelism int) *Violation {
	s := x.session
	bad := func(rule Rule, format string, args ...any) *Violation {
		return &Violation{rule, len(x.program.Steps) - 1, fmt.Sprintf(format, args...)}
	}
	for _, path := range x.confirmed {
		if _, err := fsys.Stat(s.runner.Dir() + "/" + path); err != nil {
			return bad(Durable, "the power cut took a visible file: %v", err)
		}
	}
	settings := s.runner.Settings()
	settings.Parallelism, settings.BufferSize = parallelism, 0 // nothing crashes in this life
	var sink sim.Sink
	var err error
	if id == none {
		sink, err = x.Factory.New(fsys, x.random, settings, s.runner.Now())
	} else {
		sink, err = x.Factory.Restore(fsys, x.random, settings, s.runner.Now(), id, s.runner.State(id))
	}
	if err != nil {
		if x.Model == fsmem.Unordered && (errors.Is(err, sinkcore.ErrLost) || errors.Is(err, sinkcore.ErrInProgressMissing)) {
			x.tally.Refusals++ // a rename that the disk did not keep whole; it is not silent
			return nil
		}
		return bad(Durable, "the checkpoint cannot be restored: %v", err)
	}
	defer sink.Close()
	covered := s.cuts[id].length
	if id != none { // from nothing, what is visible too early will be visible twice in the end
		if v := x.afterRestore(fsys, covered, bad); v != nil {
			return v
		}
	}
	if err := x.goesOn(sink, s.log[covered:], id); err != nil {
		return bad(Live, "after the restore: %v", err)
	}
	seen := x.seen
	if err := readRecords(fsys, s.runner.Dir(), x.scratch[:], seen); err != nil {
		return bad(Hidden, "%v", err)
	}
	for _, e := range s.log {
		if n := seen[e.record]; n == 0 {
			return bad(NoLoss, "record %s is lost", e.record)
		} else if n > 1 {
			return bad(NoDuplicate, "record %s is visible %d times at the end", e.record, n)
		}
		delete(seen, e.record)
	}
	if len(seen) > 0 {
		return bad(Hidden, "%d visible lines are no records", len(seen))
	}
	return nil
}

// afterRestore checks what is visible when a restore has returned.
func (x *explorer) afterRestore(fsys *fsmem.FS, covered int, bad func(Rule, string, ...any) *Violation) *Violation {
	seen := x.seen
	if err := readRecords(fsys, x.session.runner.Dir(), x.scratch[:], seen); err != nil {
		return bad(Hidden, "%v", err)
	}
	for i, e := range x.session.log {
		switch n := seen[e.record]; {
		case n > 1:
			return bad(NoDuplicate, "record %s is visible %d times after the restore", e.record, n)
		case n > 0 && i >= covered:
			return bad(Visibility, "record %s is visible after the restore and its checkpoint has not completed", e.record)
		}
	}
	return nil
}

// goesOn is the life after a restore, up to its end. That the restored sink works is part of
// being restored.
func (x *explorer) goesOn(sink sim.Sink, again []entry, restored int64) error {
	for i, e := range again {
		if err := sink.Write(i%sink.Parallelism(), e.record, x.session.runner.Now()); err != nil {
			return err
		}
	}
	if err := sink.EndInput(sim.AllSubtasks); err != nil {
		return err
	}
	id := max(x.session.nextID, restored+1)
	if _, err := sink.Checkpoint(id, x.session.runner.Now()); err != nil {
		return err
	}
	return sink.Complete(id, sim.AllSubtasks)
}

// readRecords counts the lines of all visible files. It is called for every recovery, so it
// lists what is visible without a walk.
func readRecords(fsys *fsmem.FS, dir string, buffer []byte, seen map[string]int) error {
	clear(seen)
	for path := range fsys.Visible() {
		if !strings.HasPrefix(path, dir+"/") {
			continue
		}
		content, err := readAll(fsys, path, buffer[:0])
		if err != nil {
			return err
		}
		for len(content) > 0 {
			line, rest, whole := strings.Cut(content, "\n")
			if !whole {
				return fmt.Errorf("the file %s ends with %q, which is no whole record", path, line)
			}
			seen[line]++
			content = rest
		}
	}
	return nil
}

// readAll is afero.ReadAll into a buffer that the caller has: parts are small here, and
// there are millions.
func readAll(fsys afero.Fs, path string, buffer []byte) (string, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for {
		if len(buffer) == cap(buffer) {
			buffer = append(buffer, 0)[:len(buffer)]
		}
		n, err := f.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if errors.Is(err, io.EOF) {
			return string(buffer), nil
		}
		if err != nil {
			return "", err
		}
	}
}
