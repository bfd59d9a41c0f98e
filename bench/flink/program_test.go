package flink

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

func parseOne(t *testing.T, text string) Program {
	t.Helper()
	programs, err := Parse(strings.NewReader(text))
	if err != nil || len(programs) != 1 {
		t.Fatalf("%d programs, %v, in\n%s", len(programs), err, text)
	}
	return programs[0]
}

// The keys of compaction are taken from the open that they stand in, and are put back.
func TestParseCompaction(t *testing.T) {
	const text = "# a\nopen policy=oncheckpoint compact=2 compact-size=0\nwrite r0\n\n# b\nopen\nwrite r1\n"
	programs, err := Parse(strings.NewReader(text))
	if err != nil || len(programs) != 2 {
		t.Fatalf("%d programs, %v", len(programs), err)
	}
	if want := (Compaction{Checkpoints: 2, HasSize: true}); programs[0].Compaction != want || programs[1].Compaction.On() {
		t.Errorf("compaction is %v and %v, want %v and none", programs[0].Compaction, programs[1].Compaction, want)
	}
	if got := programs[0].Text() + "\n" + programs[1].Text(); got != text {
		t.Errorf("it prints as\n%s", got)
	}
	settings := programs[0].settings()
	if settings["compact"] != "2" || settings["compact-size"] != "0" || settings["policy"] != "oncheckpoint" {
		t.Errorf("the Java side is told %v", settings)
	}
}

// What Flink cannot play is refused before anything is played, with the reason.
func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"open\nwrite r0\nopen\n":       "line 3: a program begins with its only open",
		"write r0\n":                   "line 1: a program begins with its only open",
		"open open-parts=2\n":          "line 1: it has no limit on open parts",
		"open\npowerloss none\n":       `"powerloss none": it is on a real disk`,
		"open\nclock 5\n":              `"clock 5": it is on a real disk`,
		"# nothing\n":                  "no operations",
		"open compact=0\n":             "want a number of checkpoints",
		"open compact-size=-1\n":       "want a number of bytes",
		"open compact=one\nwrite r0\n": "want a number of checkpoints",
	} {
		_, err := Parse(strings.NewReader(text))
		var syntax *sim.SyntaxError
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, ErrProgram) && !errors.As(err, &syntax) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

// A number means the same program every time; together they have everything that a trace
// can have.
func TestDraw(t *testing.T) {
	words := map[string]bool{}
	for n := range uint64(400) {
		p := Draw(3, n)
		if again := Draw(3, n); again.Text() != p.Text() {
			t.Fatalf("program %d is\n%s\nand\n%s", n, p.Text(), again.Text())
		}
		if err := playable(p.Scenario); err != nil {
			t.Fatalf("program %d: %v\n%s", n, err, p.Text())
		}
		for _, step := range p.Steps {
			fields := strings.Fields(step.Operation.String())
			words[fields[0]] = true
			for _, field := range fields[1:] {
				key, value, isKey := strings.Cut(field, "=")
				if isKey {
					words[key] = true
				}
				if key == "policy" || key == "zone" || key == "parallelism" {
					words[value] = true
				}
				if (fields[0] == "recover" || fields[0] == "restore") && field == fields[len(fields)-1] {
					words[fields[0]+" to "+field] = true
				}
			}
		}
		if m := p.Merging(3, n); !m.Compaction.On() || m.Text() == p.Text() {
			t.Fatalf("program %d with compaction is\n%s", n, m.Text())
		}
	}
	for _, want := range []string{
		"open", "write", "advance", "checkpoint", "complete", "abort", "restore", "end", "savepoint", "recover", "replay",
		"default", "rolling", "oncheckpoint", "oncheckpoint+rolling", "deadline", "size", "rollover", "inactivity", "within", "target",
		"check", "tick", "prefix", "suffix", "datetime", "format", "now", "Europe/Berlin", "Australia/Lord_Howe", "+05:30",
		"2", "3", "4", "recover to 1", "recover to 4",
	} {
		if want == "datetime" {
			want = "assigner"
		}
		if !words[want] {
			t.Errorf("no program has %s", want)
		}
	}
	if Draw(3, 0).Text() == Draw(4, 0).Text() {
		t.Error("two seeds draw the same")
	}
}

// Shrinking keeps what fails needs, and nothing else.
func TestShrink(t *testing.T) {
	p := parseOne(t, `open policy=rolling size=3 check=100 parallelism=2 compact=3 compact-size=9
write a/r0 1
advance 100
checkpoint 1
complete 1 0
restore 1 2
write b/r1
end 1
`)
	small := Shrink(p, func(p Program) bool {
		text := p.Text()
		return p.Compaction.On() && strings.Contains(text, "write") && strings.Contains(text, "restore 1") && strings.Contains(text, "checkpoint 1")
	})
	if want := "open policy=oncheckpoint compact=1\nwrite r0\ncheckpoint 1\nrestore 1\n"; small.Text() != want {
		t.Errorf("shrunk to\n%swant\n%s", small.Text(), want)
	}
}

// Whether there is ever more than one subtask decides whether order is judged with compaction.
func TestParallel(t *testing.T) {
	for text, want := range map[string]bool{
		"open\ncheckpoint 1\nrestore 1\nrecover 1\n": false,
		"open parallelism=1\n":                       false,
		"open parallelism=2\n":                       true,
		"open\ncheckpoint 1\nrestore 1 2\n":          true,
		"open\nrecover 3\n":                          true,
	} {
		if got := parseOne(t, text).parallel(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// A broken rule is shown at the operation at which it was seen, on one line.
func TestAnswered(t *testing.T) {
	p := parseOne(t, "# name\nopen\nwrite r0\n")
	r := Run{Verdict: props.Verdict{Played: p.Scenario, Violation: &props.Violation{Rule: props.NoLoss, Step: 2, Detail: "one\ntwo"}}}
	if got, want := r.Answered(p).Text(), "# name\nopen\nwrite r0\n! rule NoLoss: one; two\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if p.Steps[1].Answers != nil {
		t.Error("the program given has got an answer")
	}
}

// Differences are told apart by what failed where.
func TestFirstDifference(t *testing.T) {
	seen := func(step int, label string) sim.Event {
		return sim.Event{Step: step, Label: label, Records: []string{"r"}}
	}
	fails := func(step int, text string) sim.Event {
		return sim.Event{Step: step, Kind: sim.Failed, Err: errors.New(text)}
	}
	verdict := func(failures, history sim.History) props.Verdict {
		return props.Verdict{Failures: failures, History: history}
	}
	for _, c := range []struct {
		name        string
		flink, core props.Verdict
		want        Kind // "" for none
	}{
		{"same", verdict(nil, sim.History{seen(1, "a")}), verdict(nil, sim.History{seen(1, "a")}), ""},
		{"another file", verdict(nil, sim.History{seen(1, "a")}), verdict(nil, sim.History{seen(1, "b")}), Visible},
		{"later", verdict(nil, sim.History{seen(1, "a")}), verdict(nil, sim.History{seen(2, "a")}), Visible},
		{"at the end", verdict(nil, nil), verdict(nil, sim.History{seen(3, "a")}), Visible},
		{"fails on one", verdict(sim.History{fails(1, "x")}, nil), verdict(nil, nil), FlinkFailed},
		{"fails on the other", verdict(nil, nil), verdict(sim.History{fails(1, "x")}, nil), CoreFailed},
		{"fails on both", verdict(sim.History{fails(1, "x")}, sim.History{seen(1, "a")}), verdict(sim.History{fails(1, "x")}, nil), ""},
		{"for another reason", verdict(sim.History{fails(1, "x")}, nil), verdict(sim.History{fails(1, "y")}, nil), OtherError},
	} {
		got := Kind("")
		if d := firstDifference(c.flink, c.core, 3); d != nil {
			got = d.Kind
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, k := range []Kind{Visible, FlinkFailed, CoreFailed, OtherError, Spread, CoreRule} {
		if !slices.ContainsFunc(Kinds, func(x struct {
			Kind     Kind
			Sentence string
		}) bool {
			return x.Kind == k
		}) {
			t.Errorf("%s is not in Kinds", k)
		}
	}
}
