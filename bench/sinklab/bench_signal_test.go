//go:build unix

package main

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// benchVariable makes the test binary the command, in a process that can get signals.
const benchVariable = "SINKLAB_TEST_BENCH"

// TestBenchProcess is the process of TestBenchIsInterrupted.
func TestBenchProcess(t *testing.T) {
	if os.Getenv(benchVariable) == "" {
		t.Skip("it is started by TestBenchIsInterrupted")
	}
	os.Exit(run([]string{"bench", "--base", "HEAD"}, streams{os.Stdin, os.Stdout, os.Stderr}))
}

// A signal while benchmarks run is told in one line with status 2. The results are as they were,
// and nothing is left: no checkout, no process, no file. A terminal sends its signal to the
// processes of the benchmarks too.
func TestBenchIsInterrupted(t *testing.T) {
	benchModule(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	blocking := "package bench\n\nimport (\n\t\"net\"\n\t\"os\"\n\t\"testing\"\n)\n\nfunc BenchmarkVisible(b *testing.B) {\n" +
		"\tos.WriteFile(b.TempDir()+\"/left\", nil, 0o666)\n\tc, err := net.Dial(\"tcp\", \"" + listener.Addr().String() + "\")\n" +
		"\tif err != nil {\n\t\tb.Fatal(err)\n\t}\n\tc.Read(make([]byte, 1))\n}\n"
	if err := os.WriteFile("bench/bench_test.go", []byte(blocking), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("out", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("out/bench.txt", []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		signal os.Signal
		group  bool
	}{
		"terminate": {syscall.SIGTERM, false}, "interrupt": {os.Interrupt, false}, "interrupt at a terminal": {os.Interrupt, true},
	} {
		t.Run(name, func(t *testing.T) {
			temp := t.TempDir()
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestBenchProcess$")
			command.Env = append(os.Environ(), benchVariable+"=1", "TMPDIR="+temp)
			command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			var out, errs strings.Builder
			command.Stdout, command.Stderr = &out, &errs
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			running, err := listener.Accept() // by the benchmark, which waits from now on
			if err != nil {
				t.Fatal(err)
			}
			defer running.Close()
			to := command.Process.Pid
			if test.group {
				to = -to
			}
			if err := syscall.Kill(to, test.signal.(syscall.Signal)); err != nil {
				t.Fatal(err)
			}
			_ = command.Wait() // the status is looked at below
			if status := command.ProcessState.ExitCode(); status != statusBadInput || out.String() != "" || errs.String() != "sinklab: interrupted; the results are as they were\n" {
				t.Errorf("status %d, %q, %q", status, &out, &errs)
			}
			if _, err := running.Read(make([]byte, 1)); err == nil {
				t.Error("the benchmark goes on")
			}
			for dir, want := range map[string]string{temp: "", "out": "bench.txt "} {
				entries, err := os.ReadDir(dir)
				names := ""
				for _, e := range entries {
					names += e.Name() + " "
				}
				if err != nil || names != want {
					t.Errorf("in %s there are %q, %v; want %q", dir, names, err, want)
				}
			}
			if text, err := os.ReadFile("out/bench.txt"); err != nil || string(text) != "old" {
				t.Errorf("the results are %q, %v", text, err)
			}
			if left, err := exec.Command("git", "worktree", "list").Output(); err != nil || strings.Count(string(left), "\n") != 1 {
				t.Errorf("checkouts left: %s, %v", left, err)
			}
		})
	}
}
