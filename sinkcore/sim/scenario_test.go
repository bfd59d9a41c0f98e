package sim_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sinklab/sinkcore/sim"
)

// drawLine draws an operation as a line of a trace.
func drawLine(t *rapid.T) string {
	number := func(name string) string { return strconv.Itoa(rapid.IntRange(0, 9999).Draw(t, name)) }
	switch rapid.IntRange(0, 8).Draw(t, "kind") {
	case 0:
		return "write r" + number("record")
	case 1:
		return "write a/r" + number("record") + " " + number("subtask")
	case 2:
		return "advance " + number("ms")
	case 3:
		return "checkpoint " + number("id")
	case 4:
		return "complete " + number("id")
	case 5:
		return "abort " + number("id")
	case 6:
		return "restore " + number("id")
	case 7:
		return "restore " + number("id") + " " + strconv.Itoa(rapid.IntRange(1, 4).Draw(t, "parallelism"))
	default:
		return "end"
	}
}

// A scenario that was read prints as it was written, and reads the same again.
func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		open := "open policy=rolling size=" + strconv.Itoa(rapid.IntRange(1, 99).Draw(t, "size")) +
			" check=300 suffix=.txt parallelism=2 tick=7 now=-5"
		text := strings.Join(append([]string{"# a name of words", open}, rapid.SliceOf(rapid.Custom(drawLine)).Draw(t, "lines")...), "\n") + "\n"
		for range 2 {
			scenarios, err := sim.Parse(strings.NewReader(text), sim.Operations())
			if err != nil || len(scenarios) != 1 {
				t.Fatalf("%d scenarios, %v", len(scenarios), err)
			}
			again, _ := scenarios[0].AppendText(nil)
			if string(again) != text {
				t.Fatalf("read\n%s\nprinted\n%s", text, again)
			}
		}
	})
}

// Whatever cannot be read is named with its line, and says why.
func TestSyntaxErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"fly 1", `line 1: "fly 1": unknown operation "fly"`},
		{"# x\n\nopen\nwrite", `line 4: "write": want "write RECORD [SUBTASK]"`},
		{"+ part-u0-0: a", `line 1: "+ part-u0-0: a": an answer to no operation`},
		{"open check=0", `line 1: "open check=0": check 0 is less than 1`},
		{"open check", `"check": want key=value`},
		{"open check=1 check=1", `"check=1": check is given twice`},
		{"open color=red", `"color": the keys are policy, size,`},
		{"open policy=fast", `policy "fast": the policies are default, rolling, oncheckpoint`},
		{"open size=0", `"size=0": want a whole number of bytes greater than 0`},
		{"open policy=oncheckpoint size=1", `takes no size, rollover or inactivity`},
		{"open prefix=", `prefix must not be empty`},
		{"open assigner=hash", `assigner "hash": the assigners are prefix, datetime`},
		{"open assigner=datetime zone=Nowhere", `time zone "Nowhere"`},
		{"open assigner=datetime format=ww", `"ww" is not supported`},
		{"open parallelism=5000", `parallelism 5000 is more than 1024`},
		{"write a -1", `subtask -1 is less than 0`},
		{"write a b c", `want "write RECORD [SUBTASK]"`},
		{"advance", `want "advance MS"`},
		{"advance -1", `time -1 is less than 0`},
		{"advance soon", `time "soon" is not a whole number`},
		{"checkpoint", `want "checkpoint ID"`},
		{"complete x", `checkpoint id "x" is not a whole number`},
		{"restore", `want "restore ID [PARALLELISM]"`},
		{"restore 1 0", `parallelism 0 is less than 1`},
		{"restore 1 9999", `parallelism 9999 is more than 1024`},
		{"end now", `subtask "now" is not a whole number`},
		{"end 1 2", `want "end [SUBTASK]"`},
	} {
		_, err := sim.Parse(strings.NewReader(c.text), sim.Operations())
		var syntax *sim.SyntaxError
		if !errors.As(err, &syntax) || !errors.Is(err, sim.ErrSyntax) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}

// A scenario need not have a name, it can have notes, and white space is free.
func TestLooseText(t *testing.T) {
	scenarios, err := sim.Parse(strings.NewReader("  open   policy=default \r\n\n\twrite  a\n#one\n# two\nopen"), sim.Operations())
	if err != nil {
		t.Fatal(err)
	}
	var b []byte
	for _, s := range scenarios {
		b, _ = s.AppendText(b)
	}
	if got, want := string(b), "open policy=default\nwrite a\n# one\n# two\nopen\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
