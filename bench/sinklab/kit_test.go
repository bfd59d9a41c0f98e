package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sinklab/props/sinktest/examples"
	"sinklab/props/sinktest/wire"
)

// kitVariable makes the test binary the process of a sink.
const kitVariable = "SINKLAB_TEST_KIT"

// TestKitProcess is the process of the tests of kit.
func TestKitProcess(t *testing.T) {
	std := streams{os.Stdin, os.Stdout, os.Stderr}
	switch os.Getenv(kitVariable) {
	case "":
		t.Skip("it is started by other tests")
	case "serve":
		os.Exit(run([]string{"kit", "--serve", "--policy", "policy=rolling size=10 rollover=300 inactivity=200"}, std))
	case "first target":
		if err := wire.Serve(std.in, std.out, examples.FirstTarget()); err != nil {
			os.Exit(1)
		}
	case "refuses":
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			os.Stdout.WriteString(`{"error":"the licence is missing"}` + "\n")
		}
	case "nonsense":
		os.Stdout.WriteString("Hello!\n")
	}
	os.Exit(0)
}

// kitOf runs kit on a process.
func kitOf(t *testing.T, what, stdin string, flags ...string) (status int, out, errs string) {
	t.Helper()
	t.Setenv(kitVariable, what)
	args := append([]string{"kit"}, flags...)
	return sinklab(t, stdin, append(args, "--", os.Args[0], "-test.run", "^TestKitProcess$")...)
}

// A sink that keeps every rule: this one, over the wire.
func TestKitHolds(t *testing.T) {
	for name, flags := range map[string][]string{"killed": {"--programs", "12"}, "kept": {"--programs", "120", "--keep"}} {
		t.Run(name, func(t *testing.T) {
			flags := append(flags, "--name", "mine", "--policy", "policy=rolling size=10 rollover=300 inactivity=200")
			status, out, errs := kitOf(t, "serve", "", flags...)
			if name == "killed" { // too few for the rare rules
				if strings.Contains(out, "broken\n") || errs != "" || !strings.Contains(out, "sink mine, 12 programs") {
					t.Errorf("status %d, %s\n%s", status, errs, out)
				}
				return
			}
			if status != statusOK || errs != "" || !strings.Contains(out, "Latency: holds") || !strings.Contains(out, "Surfaced: waived: errors of the file system") {
				t.Errorf("status %d, %s\n%s", status, errs, out)
			}
		})
	}
}

// A sink that promises less than it keeps, and one whose promise it does not keep.
func TestKitPromises(t *testing.T) {
	_, out, _ := kitOf(t, "serve", "", "--programs", "60", "--keep", "--waive", "Order=not said, yet", "--waive", "Surfaced=own words", "--lacks", "power cuts,aborts")
	for _, want := range []string{"Order: waived: not said, yet", "Surfaced: waived: own words", "Latency: waived", "Durable: untried"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	status, out, _ := kitOf(t, "serve", "", "--programs", "60", "--keep", "--policy", "oncheckpoint")
	if status != statusFound || !strings.Contains(out, "FileCount: broken") {
		t.Errorf("status %d\n%s", status, out)
	}
}

// A sink that loses a record at a crash between two renames is found out, and the program that
// is printed shows it again.
func TestKitFindsLoss(t *testing.T) {
	status, out, errs := kitOf(t, "first target", "", "--keep", "--programs", "200", "--json")
	if status != statusFound || errs != "" {
		t.Fatalf("status %d, %s", status, errs)
	}
	var table struct {
		Sink     string
		Programs int
		Rules    []struct{ Rule, Status, Seen, Program string }
	}
	if err := json.Unmarshal([]byte(out), &table); err != nil {
		t.Fatal(err)
	}
	program := ""
	for _, r := range table.Rules {
		if r.Rule == "NoLoss" && r.Status == "broken" && strings.Contains(r.Seen, "not visible") {
			program = r.Program
		}
	}
	if program == "" || table.Programs != 200 || table.Sink == "" || len(table.Rules) < 15 {
		t.Fatalf("%+v", table)
	}
	status, out, errs = kitOf(t, "first target", program, "--play", "-")
	if status != statusFound || errs != "" || !strings.Contains(out, "NoLoss: broken\n    ") || !strings.Contains(out, "+ ") ||
		strings.Count(out, "    prepare 1\n") != 1 || !strings.Contains(out, "\n        rename DIR/") || !strings.Contains(out, "\n        killed here\n    restore ") {
		t.Errorf("status %d, %s\n%s", status, errs, out)
	}
	file := filepath.Join(t.TempDir(), "lost.trace")
	if err := os.WriteFile(file, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	if status, out, errs = kitOf(t, "serve", "", "--play", file); status != statusOK || errs != "" || !strings.Contains(out, "no rule is broken") {
		t.Errorf("sinkcore: status %d, %s\n%s", status, errs, out)
	}
	if status, out, _ = kitOf(t, "first target", program, "--json", "--play", "-"); status != statusFound || !strings.Contains(out, `"broken":"NoLoss"`) {
		t.Errorf("status %d, %s", status, out)
	}
}

func TestKitBadInput(t *testing.T) {
	for _, test := range []struct {
		what  string
		flags []string
		want  string
	}{
		{"nonsense", nil, `"Hello!" is no answer`},
		{"refuses", nil, "the sink does not start: the licence is missing"},
		{"serve", []string{"--waive", "Nothing=x"}, `there is no rule "Nothing"`},
		{"serve", []string{"--waive", "Order="}, "needs a reason"},
		{"serve", []string{"--lacks", "luck"}, `no feature "luck"`},
		{"serve", []string{"--programs", "0"}, "want 1 or more"},
		{"serve", []string{"--programs=-1"}, "less than 0"},
		{"serve", []string{"--check", "1s"}, "--check is of --policy"},
		{"serve", []string{"--policy", "sometimes"}, "--policy"},
		{"serve", []string{"--serve"}, "takes no command"},
		{"serve", []string{"--play", "/nowhere"}, "/nowhere"},
		{"serve", []string{"--play", "-"}, "--play -"},
	} {
		status, out, errs := kitOf(t, test.what, "jump\n", test.flags...)
		if status != statusBadInput || out != "" || !strings.Contains(errs, test.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: status %d, %q, want %q\n%s", test.flags, status, errs, test.want, out)
		}
	}
	if status, _, errs := sinklab(t, "", "kit"); status != statusBadInput || !strings.Contains(errs, "which sink?") {
		t.Errorf("without a command: status %d, %s", status, errs)
	}
	if status, _, errs := sinklab(t, "", "kit", "--serve", "--policy", "oncheckpoint", "--check", "2s"); status != statusBadInput || !strings.Contains(errs, "every 100ms") {
		t.Errorf("an interval for --serve: status %d, %s", status, errs)
	}
}
