package flink

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sinklab/fsmem"
	"sinklab/props"
	"sinklab/props/sinktest"
	"sinklab/props/sinktest/examples"
	"sinklab/props/sinktest/wire"
	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// With this the verdicts are recorded anew, which takes some minutes; see testdata/flink/verdicts/README.md.
var recordVerdicts = flag.Int("record-verdicts", 0, "play so many programs on the real Flink and write what is found to testdata/flink/verdicts")

const verdicts = "../../testdata/flink/verdicts/"

// kitPolicies are the settings of the recorded tables.
var kitPolicies = []struct{ file, open string }{{"rolling", ""}, {"oncheckpoint", "policy=oncheckpoint check=100"}}

// realKit opens the kit on the real Flink, or skips the test and says what is missing.
func realKit(t *testing.T, o KitOptions) (*wire.Process, sinktest.Kind) {
	t.Helper()
	realFlink(t)
	p, k, err := OpenKit(context.Background(), shared.module, o)
	if errors.Is(err, wire.ErrNoTrace) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, k
}

func kitFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(verdicts + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkKitFile compares with what is recorded, or records it.
func checkKitFile(t *testing.T, name, got string) {
	t.Helper()
	if *recordVerdicts > 0 {
		if err := os.WriteFile(verdicts+name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := kitFile(t, name); got != want {
		t.Errorf("%s: got\n%s\nrecorded is\n%s", name, got, want)
	}
}

// The table of verdicts is recorded, not made here: this holds a few programs against it, which may break no
// other rule than those that the table says are broken.
func TestKitVerdicts(t *testing.T) {
	for _, policy := range kitPolicies {
		t.Run(policy.file, func(t *testing.T) {
			p, k := realKit(t, KitOptions{Open: policy.open, Keep: true})
			if *recordVerdicts > 0 {
				k.Programs = *recordVerdicts
				table, err := sinktest.Verdicts(k)
				if err := errors.Join(err, p.Err()); err != nil {
					t.Fatal(err)
				}
				checkKitFile(t, policy.file+".txt", KitText(table))
				return
			}
			recorded := kitFile(t, policy.file+".txt")
			for number := range 4 {
				k.Seed, k.Programs = uint64(number), 1
				table, err := sinktest.Verdicts(k)
				if err := errors.Join(err, p.Err()); err != nil {
					t.Fatal(err)
				}
				for _, rule := range table.Broken() {
					if !strings.Contains(recorded, "\n"+string(rule)+": broken") {
						t.Errorf("%s is broken, which is not recorded:\n%s", rule, table.Row(rule))
					}
				}
			}
		})
	}
}

// Each program kept beside the table still breaks the rule that it is kept for, with the answers that it has, in
// processes that die by SIGKILL.
func TestKitPrograms(t *testing.T) {
	files, err := filepath.Glob(verdicts + "*.trace")
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			program, open, rule := readKitProgram(t, file)
			p, k := realKit(t, KitOptions{Open: open})
			v, err := sinktest.Play(k, program)
			if err := errors.Join(err, p.Err()); err != nil {
				t.Fatal(err)
			}
			if v.Violation == nil || string(v.Violation.Rule) != rule {
				t.Fatalf("%v, and %s should be broken", v.Violation, rule)
			}
			if p.Started() < 2 {
				t.Errorf("%d process, so none was killed", p.Started())
			}
			played := strings.TrimPrefix(kitAnswers(t, v), "open tick=1\n")
			if *recordVerdicts > 0 {
				recordKitProgram(t, file, played)
				return
			}
			if want := kitFile(t, filepath.Base(file)); !strings.HasSuffix(want, played) {
				t.Errorf("%s: played\n%s\nrecorded is\n%s", file, played, want)
			}
		})
	}
}

// kitAnswers is a program with what was answered, and the rule that it breaks.
func kitAnswers(t *testing.T, v props.Verdict) string {
	t.Helper()
	text, err := v.Played.AppendText(nil)
	if err != nil {
		t.Fatal(err)
	}
	return kitPlain(strings.TrimSpace(string(text))) + "\n! rule " + string(v.Violation.Rule) + ": " + kitPlain(v.Violation.Detail) + "\n"
}

// readKitProgram reads a program, its settings, and the rule that it breaks, from "# rule NAME".
func readKitProgram(t *testing.T, file string) (program, open, rule string) {
	t.Helper()
	for line := range strings.Lines(kitFile(t, filepath.Base(file))) {
		line = strings.TrimSpace(line)
		switch name, is := strings.CutPrefix(line, "# rule "); {
		case is:
			rule = name
		case line == "" || strings.ContainsRune("#+!", rune(line[0])):
		case strings.HasPrefix(line, "open "):
			// The sink has its settings from elsewhere.
			open = strings.TrimPrefix(line, "open ")
			program += "open tick=1\n"
		default:
			program += line + "\n"
		}
	}
	return program, open, rule
}

// recordKitProgram keeps what a program's text begins with.
func recordKitProgram(t *testing.T, file, played string) {
	t.Helper()
	var head string
	for line := range strings.Lines(kitFile(t, filepath.Base(file))) {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "open ") {
			head += line
		}
	}
	if err := os.WriteFile(file, []byte(head+played), 0o644); err != nil {
		t.Fatal(err)
	}
}

// What a sink makes of the file that it has to publish, when somebody was at the directory: Flink's answers are as
// recorded, sinkcore is never silent.
func TestCommitCases(t *testing.T) {
	text := func(k sinktest.Kind) (string, int) {
		all, err := CommitCases(k)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		silent := 0
		for _, c := range all {
			if c.Silent {
				silent++
			}
			fmt.Fprintln(&b, c)
		}
		return b.String(), silent
	}
	own, silent := text(examples.Sinkcore(sinkcore.OnCheckpoint{}))
	if silent != 0 {
		t.Errorf("sinkcore is silent:\n%s", own)
	}
	checkKitFile(t, "commit-sinkcore.txt", own)
	t.Run("Flink", func(t *testing.T) {
		p, k := realKit(t, KitOptions{Open: "policy=oncheckpoint", Keep: true})
		flinks, silent := text(k)
		if p.Err() != nil || silent == 0 {
			t.Errorf("%d cases are silent, error %v", silent, p.Err())
		}
		checkKitFile(t, "commit-flink.txt", flinks)
	})
}

// A sink that leaves a file where it should not is no sink for these cases.
func TestCommitCasesRefuse(t *testing.T) {
	if _, err := CommitCases(examples.Naive()); err == nil {
		t.Error("a sink without a hidden file was taken")
	}
}

// kitProgram is the one whose system calls are recorded: two buckets, two checkpoints, and the end.
const kitProgram = "open tick=1\nwrite a/r0\nwrite r1\ncheckpoint 1\ncomplete 1\nwrite a/r2\ncheckpoint 2\ncomplete 2\n"

func recordedCalls(t *testing.T) wire.Recording {
	t.Helper()
	r, err := wire.ReadRecording(strings.NewReader(kitFile(t, "syscalls.jsonl")))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Flink's operations on files are the ones that are recorded.
func TestRecordedCalls(t *testing.T) {
	var r wire.Recording
	p, k := realKit(t, KitOptions{Open: "policy=oncheckpoint", Observe: func(request, answer []byte, operations []wire.Operation) {
		r.Observe(request, answer, operations)
	}})
	v, err := sinktest.Play(k, kitProgram)
	if err := errors.Join(err, p.Err()); err != nil || v.Violation != nil {
		t.Fatal(v.Violation, err)
	}
	if *recordVerdicts > 0 {
		var text bytes.Buffer
		if err := r.Write(&text); err != nil {
			t.Fatal(err)
		}
		checkKitFile(t, "syscalls.jsonl", text.String())
		return
	}
	if got, want := calls(r), calls(recordedCalls(t)); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nrecorded is\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// calls are the operations without what is by chance: names, numbers, and which of two buckets, kept in a hash
// map, comes first.
func calls(r wire.Recording) []string {
	var all []string
	for _, e := range r.Exchanges {
		var some []string
		for _, o := range e.Operations {
			some = append(some, kitPlain(fmt.Sprint(o.Do, " ", o.Path, " ", o.To, " ", o.Flags, " ", strconv.Quote(string(o.Data)))))
		}
		slices.Sort(some)
		all = append(all, some...)
	}
	return all
}

// The recorded calls are played again with the power failing after each one: what a checkpoint needs to be restored can be
// lost with its directory entry, whatever its restore does. This needs no Java.
func TestRecordedPowerCuts(t *testing.T) {
	for _, model := range []fsmem.Model{fsmem.Ordered, fsmem.Unordered} {
		cuts, err := recordedCalls(t).PowerCuts(model)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, c := range cuts {
			fmt.Fprintln(&text, kitPlain(c.String()))
		}
		checkKitFile(t, "power-"+model.String()+".txt", text.String())
		at := slices.IndexFunc(cuts, func(c wire.Cut) bool { return c.Request == "prepare 1" && c.Operation == "" })
		if at < 0 || cuts[at].Lost == 0 || !slices.Equal(cuts[at].Records, []string{"a/r0", "r1"}) {
			t.Errorf("%v: after the first checkpoint nothing can be lost, which no directory sync explains: %+v", model, cuts)
		}
	}
	for _, e := range recordedCalls(t).Exchanges {
		for _, o := range e.Operations {
			if o.Do == "sync" && o.FD == 0 {
				t.Errorf("Flink has synced the directory %s", o.Path)
			}
		}
	}
}

// Settings that make no sense are refused before anything is started.
func TestKitSettings(t *testing.T) {
	if _, _, err := OpenKit(context.Background(), &Module{}, KitOptions{Open: "policy=sometimes"}); !errors.Is(err, sim.ErrSyntax) {
		t.Errorf("an unknown policy: %v", err)
	}
}
