package sinktest

import (
	"strings"
	"testing"
)

// A program shrinks to what its defect needs, in simple words, whatever else was in it.
func TestShrink(t *testing.T) {
	program := lines(strings.Split("open tick=1 parallelism=3;write b/c/r5 2;savepoint 3;advance 300;crash 7 after;write r6;checkpoint 4;complete 4;"+
		"fault sync nth=3 error=EIO;powerloss seed=77;recover 2;write a/r9 1;restore 4 2;replay;end", ";"))
	for want, broken := range map[string]func(text string) bool{
		"open tick=1":          func(string) bool { return true },
		"open tick=1;write r0": func(text string) bool { return strings.Contains(text, "write") },
		"open tick=1;checkpoint 1": func(text string) bool {
			return strings.Contains(text, "checkpoint") || strings.Contains(text, "savepoint")
		},
		"open tick=1;checkpoint 1;restore 1;replay":          func(text string) bool { return strings.Contains(text, "restore") },
		"open tick=1;crash 1 after":                          func(text string) bool { return strings.Contains(text, "crash") },
		"open tick=1;fault sync nth=1 error=EIO":             func(text string) bool { return strings.Contains(text, "fault") },
		"open tick=1;advance 1;write r0":                     func(text string) bool { return inOrder(text, "advance", "write") },
		"open tick=1;write r0;write r1;powerloss all":        func(text string) bool { return inOrder(text, "write", "write", "powerloss") },
		"open tick=1 parallelism=2;checkpoint 1;recover":     func(text string) bool { return inOrder(text, "parallelism", "checkpoint", "recover") },
		"open tick=1;checkpoint 1;complete 1;powerloss none": func(text string) bool { return inOrder(text, "complete", "powerloss none") },
	} {
		got := strings.Join(shrink(program, func(l lines) bool { return broken(l.text()) }), ";")
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func inOrder(text string, words ...string) bool {
	for _, word := range words {
		i := strings.Index(text, word)
		if i < 0 {
			return false
		}
		text = text[i+len(word):]
	}
	return true
}

// A line that counts operations moves to where there are fewer to count.
func TestShrinkDelays(t *testing.T) {
	got := strings.Join(shrink(lines{"open", "crash 3 before", "write r0", "write r1"}, func(l lines) bool {
		// Each write is an operation; the third one never comes.
		at := 0
		for i := len(l) - 1; i >= 0; i-- {
			if prefix, n, _ := counting(l[i]); prefix == "crash " {
				return n == at+1 && strings.Count(l.text(), "write") == 2
			}
			at++
		}
		return false
	}), ";")
	if want := "open;write r0;write r1;crash 1 before"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What is left of a program makes sense.
func TestSensible(t *testing.T) {
	for program, want := range map[string]string{
		"open;complete 1;abort 1;restore 1;replay": "open",
		"open;replay":                        "open",
		"open;checkpoint 1;restore 1":        "open;checkpoint 1;restore 1;replay",
		"open;checkpoint 1;restore 1;replay": "open;checkpoint 1;restore 1;replay",
		"open;end;write r0":                  "open;end",
		"open;end 1;write r0 1;write r1":     "open;end 1;write r1",
		"open;end;recover;write r0":          "open;end;recover;write r0",
		"open;savepoint 1;complete 1":        "open;savepoint 1;complete 1",
	} {
		if got := strings.Join(sensible(strings.Split(program, ";")), ";"); got != want {
			t.Errorf("%s: got %s, want %s", program, got, want)
		}
	}
}

// Drawn programs make sense, can be read, and hold nothing that the sink lacks.
func TestDraw(t *testing.T) {
	words := map[Feature]string{
		Aborts: "abort", Older: "restore", Savepoints: "savepoint", ClockSteps: "clock", Faults: "fault", Crashes: "crash", PowerCuts: "powerloss",
		ManyBuckets: "/", EndOfInput: "\nend",
	}
	for _, f := range features {
		word, ok := words[f]
		if !ok {
			t.Fatalf("%s has no word", f)
		}
		with, without := Kind{Parallelism: 4}, Kind{Parallelism: 4, Lacks: []Feature{f}}
		found := false
		for number := range 200 {
			l := draw(with, number)
			if _, err := parse(l); err != nil {
				t.Fatalf("%v\n%s", err, l.text())
			}
			if got := sensible(l); got.text() != l.text() {
				t.Fatalf("not sensible:\n%s", l.text())
			}
			found = found || strings.Contains(l.text(), word)
			if text := draw(without, number).text(); strings.Contains(text, word) {
				t.Fatalf("lacks %s:\n%s", f, text)
			}
		}
		if !found {
			t.Errorf("no program has %s", f)
		}
	}
}

// Shrinking does not take a completion away from a sink that is promised every one.
func TestLegal(t *testing.T) {
	strict := Kind{Lacks: []Feature{Aborts}}
	for program, want := range map[string]bool{
		"open;write r0":                             true,
		"open;checkpoint 1;complete 1":              true,
		"open;checkpoint 1;advance 5;complete 1":    true,
		"open;checkpoint 1":                         false,
		"open;checkpoint 1;checkpoint 2;complete 2": false,
		"open;checkpoint 1;complete 1;complete 1":   false,
	} {
		l := lines(strings.Split(program, ";"))
		if got := strict.legal(l); got != want {
			t.Errorf("%s: %v", program, got)
		}
		if !(Kind{}).legal(l) {
			t.Errorf("%s is not legal for a sink that lacks nothing", program)
		}
	}
	for number := range 200 {
		if l := draw(Kind{Parallelism: 1, Lacks: []Feature{Aborts}}, number); !strict.legal(l) {
			t.Fatalf("drawn:\n%s", l.text())
		}
	}
}

// Latency and number of files are promised for programs in which nothing happens that is
// out of the ordinary, and for checkpoints as far apart and as slow as they are there.
func TestCourse(t *testing.T) {
	for program, want := range map[string]struct {
		ok          bool
		apart, took int64
	}{
		"open":                    {true, 0, 0},
		"open;write r0;advance 7": {true, 7, 0},
		"open;advance 5;checkpoint 1;advance 2;complete 1;advance 1;checkpoint 2;complete 2":  {true, 5, 2},
		"open;checkpoint 1;complete 1;advance 9;checkpoint 2;advance 1;complete 2;advance 20": {true, 21, 1},
		"open;checkpoint 1":                            {}, // the end of the program completes another one
		"open;checkpoint 1;checkpoint 2;complete 2":    {},
		"open;checkpoint 1;complete 1;complete 1":      {},
		"open parallelism=2;checkpoint 1;complete 1 0": {},
		"open;recover": {},
		"open;clock 5": {},
		"open;open":    {},
	} {
		scenario, err := parse(strings.Split(program, ";"))
		if err != nil {
			t.Fatal(err)
		}
		c, ok := courseOf(scenario)
		if ok != want.ok || ok && (c.apart != want.apart || c.took != want.took) {
			t.Errorf("%s: got %v, %d ms apart, took %d ms", program, ok, c.apart, c.took)
		}
	}
}

// Two lines of which neither can go without the other go together, also when they are apart.
func TestShrinkPairs(t *testing.T) {
	got := strings.Join(shrink(lines{"open", "heal", "write r0", "sweep", "write r1"}, func(l lines) bool {
		text := l.text()
		return strings.Count(text, "write") == 2 && strings.Contains(text, "heal") == strings.Contains(text, "sweep")
	}), ";")
	if want := "open;write r0;write r1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
