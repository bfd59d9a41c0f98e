package wire_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/props"
	"sinklab/props/sinktest"
	"sinklab/props/sinktest/examples"
	"sinklab/props/sinktest/wire"
	"sinklab/sinkcore"
)

var rolling = sinkcore.Default{Size: 10, Rollover: 300 * time.Millisecond, Inactivity: 200 * time.Millisecond}

// serving is the variable by which this program is told to be the sink's process.
const serving = "SINKLAB_WIRE_TEST"

func TestMain(m *testing.M) {
	if what := os.Getenv(serving); what != "" {
		if err := serve(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// others are processes that do what kinds cannot.
var others = map[string]func() error{}

// serve is a process that is tested.
func serve(what string) error {
	switch what {
	case "rolling":
		return wire.Serve(os.Stdin, os.Stdout, examples.Sinkcore(rolling))
	case "first-target":
		return wire.Serve(os.Stdin, os.Stdout, examples.FirstTarget())
	case "fails":
		return wire.Serve(os.Stdin, os.Stdout, sinktest.Kind{
			New:     func(s sinktest.Setup) (sinktest.Sink, error) { return failing{s}, nil },
			Restore: func(s sinktest.Setup, _ int64, _ []byte) (sinktest.Sink, error) { return failing{s}, nil },
		})
	case "links":
		return wire.Serve(os.Stdin, withoutFiles{os.Stdout}, sinktest.Kind{New: func(s sinktest.Setup) (sinktest.Sink, error) { return linking{failing{s}}, nil }})
	case "silent about files":
		return wire.Serve(os.Stdin, withoutFiles{os.Stdout}, examples.Sinkcore(rolling))
	}
	if other, ok := others[what]; ok {
		return other()
	}
	// Those that do not keep to the protocol get the first request.
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	switch what {
	case "nonsense":
		fmt.Println("Hello!")
	case "echo":
		fmt.Println(`{"do":"new"}`)
	case "twice":
		fmt.Print("{}\n{}\n")
	case "dies":
		return errors.New("out of memory")
	case "silent":
		_, err := io.Copy(io.Discard, os.Stdin) // as long as it is let live
		return err
	}
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// failing is a sink that makes a directory for each record, refuses those of bucket a, and does not want to know
// of aborts.
type failing struct{ setup sinktest.Setup }

func (f failing) Write(record string, _ int64) error {
	if strings.HasPrefix(record, "a/") {
		return fmt.Errorf("no room in %s/a", f.setup.Dir)
	}
	return f.setup.Fs.MkdirAll(f.setup.Dir+"/"+record, 0o755)
}
func (failing) Tick(now int64) (int64, error)        { return now + 7, nil }
func (failing) Prepare(int64, int64) ([]byte, error) { return []byte("state"), nil }
func (failing) Commit(int64) error                   { return nil }
func (failing) EndInput() error                      { return nil }
func (failing) Close() error                         { return nil }

// linking makes a file with two names, and does want to know of aborts.
type linking struct{ failing }

func (l linking) Write(string, int64) error {
	dir := l.setup.Dir
	return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(dir+"/.x", []byte("r0\n"), 0o644), os.Link(dir+"/.x", dir+"/x"))
}

func (linking) Abort(checkpoint int64) error { return fmt.Errorf("aborted %d", checkpoint) }

// withoutFiles drops the lines about files.
type withoutFiles struct{ out io.Writer }

func (w withoutFiles) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte(`{"file":`)) {
		return len(p), nil
	}
	return w.out.Write(p)
}

// open starts this program as a process, behind what o.Command has.
func open(t *testing.T, what string, o wire.Options) *wire.Process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.Command, o.Env = append(slices.Clip(o.Command), self), append(append(os.Environ(), serving+"="+what), o.Env...)
	p, err := wire.Open(o)
	if errors.Is(err, wire.ErrNoTrace) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		dir := p.Dir()
		p.Close()
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left behind: %v", dir, err)
		}
	})
	return p
}

// kindOf has the promises of a kind, and the sinks of a process.
func kindOf(p *wire.Process, like sinktest.Kind, programs int) sinktest.Kind {
	k := p.Kind()
	k.Name, k.Latency, k.Files, k.Sweep, k.Programs = like.Name, like.Latency, like.Files, like.Sweep, programs
	for _, rule := range []props.Rule{props.Surfaced, props.Poisoned} {
		k.Waived = append(k.Waived, sinktest.Waiver{Rule: rule, Reason: "no faults are played over the wire"})
	}
	return k
}

// The sink of this project keeps every rule in another process too, with a process for each sink, and
// with one for all.
func TestVerdictsOverTheWire(t *testing.T) {
	for name, o := range map[string]wire.Options{"kept": {Keep: true}, "killed": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			programs := 40
			if o.Keep {
				programs = 160
			}
			p := open(t, "rolling", o)
			table, err := sinktest.Verdicts(kindOf(p, examples.Sinkcore(rolling), programs))
			if err != nil {
				t.Fatal(err, p.Err())
			}
			if err := errors.Join(table.Err(), p.Err()); err != nil {
				t.Error(err)
			}
			if many := p.Started() > programs; many == o.Keep || o.Keep && p.Started() != 1 {
				t.Errorf("%d processes for %d programs", p.Started(), programs)
			}
		})
	}
}

// A sink that loses a record when it dies between two renames is found out, here as in one process.
func TestDefectIsFound(t *testing.T) {
	p := open(t, "first-target", wire.Options{})
	kind := kindOf(p, sinktest.Kind{Name: "first-target"}, 0)
	for crash, lost := range map[string]bool{"": false, "crash 2 after\n": true} {
		got, err := sinktest.Play(kind, "open tick=1\nwrite a/r0\nwrite r1\ncheckpoint 1\n"+crash+"complete 1\n")
		if err != nil {
			t.Fatal(err)
		}
		if found := got.Violation != nil && got.Violation.Rule == props.NoLoss; found != lost {
			t.Errorf("crash %q: violation %v\n%s", crash, got.Violation, props.Text(got.Played))
		}
	}
	// Of the first program there is one process, of the other one more, and each is played twice.
	if p.Err() != nil || p.Started() != 6 {
		t.Errorf("%d processes, error %v", p.Started(), p.Err())
	}
}

// A process that tells nothing of its files is understood by its system calls.
func TestTrace(t *testing.T) {
	p := open(t, "silent about files", wire.Options{Trace: true, Keep: true})
	table, err := sinktest.Verdicts(kindOf(p, examples.Sinkcore(rolling), 24))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range table.Rows {
		if row.Status == sinktest.Broken {
			t.Error(row)
		}
	}
	if p.Err() != nil {
		t.Error(p.Err())
	}
	if row := table.Row(props.Durable); row.Programs == 0 {
		t.Error("no program has cut the power")
	}
}

// A process that does not keep to the protocol is told from a sink that breaks a rule.
func TestProcessFails(t *testing.T) {
	for what, want := range map[string]string{
		"nonsense":           `"Hello!" is no answer`,
		"echo":               `"{\"do\":\"new\"}" is no answer: "do" has no place in it, and it is to "new"`,
		"twice":              `it has written more than one answer to the request before: "{}"`,
		"dies":               "out of memory",
		"silent":             "no answer within 50ms",
		"silent about files": "was made, and no operation says so",
		"links":              "hard links cannot be played",
	} {
		t.Run(what, func(t *testing.T) {
			o := wire.Options{Trace: what == "links"}
			if what == "silent" {
				o.Timeout = 50 * time.Millisecond
			}
			p := open(t, what, o)
			// If the sink does not even start, the program makes no sense, which is an error too.
			_, _ = sinktest.Play(p.Kind(), "open tick=1\nwrite a/r0\ncheckpoint 1\ncomplete 1\n")
			if err := p.Err(); !errors.Is(err, wire.ErrProcess) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q in it", err, want)
			}
		})
	}
	if _, err := wire.Open(wire.Options{}); !errors.Is(err, wire.ErrProcess) {
		t.Errorf("without a command: %v", err)
	}
	if _, err := wire.Open(wire.Options{Command: []string{"/nowhere/sink"}}); !errors.Is(err, wire.ErrProcess) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a program that is not there: %v", err)
	}
}

// What is written goes over the wire as text if it is text, and never changed.
func TestBytes(t *testing.T) {
	for text, want := range map[string]string{"r0\n": `"r0\n"`, "\xff\x00": `{"base64":"/wA="}`} {
		got, err := json.Marshal(wire.Bytes(text))
		if err != nil || string(got) != want {
			t.Errorf("%q is %s, %v; want %s", text, got, err, want)
		}
		var back wire.Bytes
		if err := json.Unmarshal(got, &back); err != nil || string(back) != text {
			t.Errorf("%s is read as %q, %v", got, back, err)
		}
	}
}

// Operations have on the other file system the effect that they had, durable or not.
func TestDisk(t *testing.T) {
	f := fsmem.New(fsmem.Options{})
	disk := wire.NewDisk(f, "/sink", "/real/out")
	defer disk.Close()
	for _, o := range []wire.Operation{
		{Do: "mkdir", Path: "/real/out"},
		{Do: "sync", Path: "/real"},
		{Do: "mkdir", Path: "/real/out/a"},
		{Do: "open", Path: "/real/out/a/.x", FD: 3, Flags: []string{wire.Create, wire.Excl}},
		{Do: "write", FD: 3, Data: wire.Bytes("x0\nr1\n")},
		{Do: "writeat", FD: 3, At: 0, Data: wire.Bytes("r")},
		{Do: "sync", FD: 3},
		{Do: "rename", Path: "/real/out/a/.x", To: "/real/out/a/x"},
		{Do: "write", FD: 3, Data: wire.Bytes("r2\n")},
		{Do: "sync", Path: "/real/out"},
		{Do: "sync", Path: "/real/out/a"},
		{Do: "write", FD: 7, Path: "/elsewhere"},
		{Do: "close", FD: 3},
		{Do: "close", FD: 9},
	} {
		if err := disk.Play(o); err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
	}
	for survival, want := range map[string]string{"none": "r0\nr1\n", "all": "r0\nr1\nr2\n"} {
		s, err := fsmem.ParseSurvival(survival)
		if err != nil {
			t.Fatal(err)
		}
		after, err := f.Crash(s)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := afero.ReadFile(after, "/sink/a/x"); err != nil || string(got) != want {
			t.Errorf("%s survives: %q, %v; want %q", survival, got, err, want)
		}
	}
	for _, o := range []wire.Operation{
		{Do: "copy", Path: "/real/out/a"},
		{Do: "rename", Path: "/real/out/a", To: "/elsewhere"},
		{Do: "open", Path: "/real/out/a/y", FD: 4, Flags: []string{"sticky"}},
		{Do: "write", Path: "/real/out/a/x", FD: 8},
	} {
		if err := disk.Play(o); !errors.Is(err, wire.ErrProcess) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// A recording of the sink of this project loses nothing, wherever the power fails and whatever survives. One whose
// directories were not synced does, and it is the record that says so, without the process.
func TestPowerCuts(t *testing.T) {
	var recording wire.Recording
	p := open(t, "rolling", wire.Options{Observe: func(request, answer []byte, operations []wire.Operation) {
		recording.Observe(request, answer, operations)
	}})
	const program = "open tick=1\nwrite a/r0\nwrite a/r1\nwrite a/long-record\ncheckpoint 1\ncomplete 1\nwrite a/r2\ncheckpoint 2\ncomplete 2\n"
	if v, err := sinktest.Play(kindOf(p, sinktest.Kind{Name: "x"}, 0), program); err != nil || v.Violation != nil || p.Err() != nil {
		t.Fatal(v.Violation, err, p.Err())
	}
	var text bytes.Buffer
	if err := recording.Write(&text); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), p.Dir()) || strings.Contains(text.String(), `"state"`) {
		t.Error("the recording names a directory of this machine, or holds a state")
	}
	read, err := wire.ReadRecording(&text)
	if err != nil || len(read.Exchanges) != len(recording.Exchanges) {
		t.Fatalf("%d exchanges are read, %d were written: %v", len(read.Exchanges), len(recording.Exchanges), err)
	}
	cuts, err := read.PowerCuts(fsmem.Ordered)
	if err != nil {
		t.Fatal(err)
	}
	states := 0
	for _, c := range cuts {
		states += c.States
		if c.Lost > 0 || c.Vanished > 0 {
			t.Error(c)
		}
	}
	if states < 2*len(cuts) {
		t.Errorf("only %d states of %d cuts, so little was unsynced", states, len(cuts))
	}

	for i, e := range read.Exchanges {
		read.Exchanges[i].Operations = slices.DeleteFunc(e.Operations, func(o wire.Operation) bool {
			return o.Do == "sync" && o.FD == 0
		})
	}
	if cuts, err = read.PowerCuts(fsmem.Ordered); err != nil {
		t.Fatal(err)
	}
	lost, vanished := 0, 0
	for _, c := range cuts {
		lost, vanished = lost+c.Lost, vanished+c.Vanished
	}
	if lost == 0 || vanished == 0 {
		t.Errorf("without a sync of any directory %d states have lost records, %d visible files", lost, vanished)
	}
	if _, err := wire.ReadRecording(strings.NewReader("{}\nx\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("no recording: %v", err)
	}
}

// Files are opened as they were, so that what is written goes where it went.
func TestDiskOpens(t *testing.T) {
	f := fsmem.New(fsmem.Options{})
	disk := wire.NewDisk(f, "/sink", "/real/out")
	play := func(operations ...wire.Operation) {
		t.Helper()
		for _, o := range operations {
			if err := disk.Play(o); err != nil {
				t.Fatalf("%+v: %v", o, err)
			}
		}
	}
	const x = "/real/out/x"
	write := func(flags ...string) {
		t.Helper()
		play(wire.Operation{Do: "open", Path: x, FD: 3, Flags: flags}, wire.Operation{Do: "write", FD: 3, Data: wire.Bytes("ab")},
			wire.Operation{Do: "close", FD: 3})
	}
	holds := func(want string) {
		t.Helper()
		if got, err := afero.ReadFile(f, "/sink/x"); err != nil || string(got) != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	play(wire.Operation{Do: "mkdir", Path: "/real/out"})
	write(wire.Create)
	write(wire.Append)
	holds("abab")
	write()
	holds("abab")
	play(wire.Operation{Do: "truncate", Path: x, At: 3})
	holds("aba")
	write(wire.Truncate)
	holds("ab")
	play(wire.Operation{Do: "open", Path: x, FD: 3}, wire.Operation{Do: "seek", FD: 3, At: 1}, wire.Operation{Do: "write", FD: 3, Data: wire.Bytes("c")},
		wire.Operation{Do: "truncate", FD: 3, At: 5})
	holds("ac\x00\x00\x00")
	if err := disk.Play(wire.Operation{Do: "open", Path: x, FD: 3}); !errors.Is(err, wire.ErrProcess) {
		t.Errorf("opened twice: %v", err)
	}
	if disk.Close(); len(f.OpenHandles()) != 0 {
		t.Errorf("left open: %v", f.OpenHandles())
	}
	if err := disk.Play(wire.Operation{Do: "open", Path: x, FD: 3, Flags: []string{wire.Create, wire.Excl}}); !errors.Is(err, os.ErrExist) {
		t.Errorf("made although it is there: %v", err)
	}
	play(wire.Operation{Do: "remove", Path: x})
	if _, err := f.Stat("/sink/x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
}

// The answers of the process are those of the sink: its timers, its state, its errors, which name the kit's directory, and
// that it has failed before.
func TestAnswers(t *testing.T) {
	p := open(t, "fails", wire.Options{Keep: true})
	f := fsmem.New(fsmem.Options{})
	setup := sinktest.Setup{Fs: f, Dir: "/sink", Random: rand.NewChaCha8([32]byte{})}
	s, err := p.Kind().New(setup)
	if err != nil {
		t.Fatal(err)
	}
	if next, err := s.Tick(5); next != 12 || err != nil {
		t.Errorf("the next timer is %d, %v", next, err)
	}
	if state, err := s.Prepare(1, 5); string(state) != "state" || err != nil {
		t.Errorf("the state is %q, %v", state, err)
	}
	aborter := s.(sinktest.Aborter)
	if err := aborter.Abort(1); err != nil {
		t.Errorf("abort: %v", err)
	}
	if err := s.Write("a/r0", 5); err == nil || err.Error() != "no room in /sink/a" {
		t.Errorf("write: %v", err)
	}
	if err := aborter.Abort(2); err == nil || err.Error() != "no room in /sink/a" {
		t.Errorf("abort after a failure: %v", err)
	}
	if err := s.Close(); err != nil || p.Err() != nil {
		t.Errorf("close: %v, %v", err, p.Err())
	}

	other, err := open(t, "links", wire.Options{}).Kind().New(setup)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.(sinktest.Aborter).Abort(3); err == nil || err.Error() != "aborted 3" {
		t.Errorf("an abort of a sink that wants to know: %v", err)
	}
	other.Close()

	// When the crash comes before an operation it has not happened, and nothing does any more.
	rule, err := fsmem.ParseRule("mkdir,mkdirall nth=2 error=EIO")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Inject(rule); err != nil {
		t.Fatal(err)
	}
	if s, err = p.Kind().New(setup); err != nil {
		t.Fatal(err)
	}
	if err := s.Write("r1", 5); !errors.Is(err, wire.ErrKilled) {
		t.Errorf("the write in which it dies: %v", err)
	}
	if _, err := s.Tick(6); !errors.Is(err, wire.ErrKilled) {
		t.Errorf("after its death: %v", err)
	}
	if _, err := f.Stat("/sink/r1"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the operation was played: %v", err)
	}
	if s, err = p.Kind().New(setup); err != nil {
		t.Fatal(err)
	}
	if err := s.Write("r1", 5); err != nil || p.Err() != nil || p.Started() != 1 {
		t.Errorf("the next one: %v, %v, %d processes", err, p.Err(), p.Started())
	}
}

// Serve's answers are whole: an empty state is there, and with an error nothing else is.
func TestServeAnswers(t *testing.T) {
	for err, want := range map[error]string{nil: `{"state":""}`, errors.New("no room"): `{"error":"no room"}`} {
		kind := sinktest.Kind{New: func(sinktest.Setup) (sinktest.Sink, error) { return stateless{err: err}, nil }}
		var out bytes.Buffer
		in := `{"do":"new","dir":"/d","now":0,"seed":0}` + "\n" + `{"do":"prepare","checkpoint":1,"now":0}` + "\n" + `{"do":"write","now":0}` + "\n"
		if err := wire.Serve(strings.NewReader(in), &out, kind); err != nil {
			t.Fatal(err)
		}
		if got, want := out.String(), "{}\n"+want+"\n"+`{"error":"a write without a record"}`+"\n"; got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
}

// stateless is a sink that has no state, but perhaps an error.
type stateless struct {
	failing
	err error
}

func (s stateless) Prepare(int64, int64) ([]byte, error) { return nil, s.err }
