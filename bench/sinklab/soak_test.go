package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// A soak goes on where the last one stopped, and program numbers mean the same program.
func TestSoakResumes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "place.json")
	status, out, errs := sinklab(t, "", "soak", "--for", "1ns", "--resume", file)
	if status != statusOK || errs != "" || !strings.HasPrefix(out, "programs 0 to ") {
		t.Fatalf("status %d, %q, %q", status, out, errs)
	}
	last := strings.TrimSuffix(strings.Fields(out)[3], ":")
	if _, out, _ := sinklab(t, "", "soak", "--for", "1ns", "--resume", file); strings.HasPrefix(out, "programs 0 to") || strings.Fields(out)[1] <= last && len(strings.Fields(out)[1]) <= len(last) {
		t.Errorf("after %s it went on with %q", last, out)
	}
	if a, b := props.Text(props.Drawn(7)), props.Text(props.Drawn(7)); a != b || a == props.Text(props.Drawn(8)) {
		t.Errorf("program 7 is\n%s\nand\n%s", a, b)
	}
}

// A place that cannot be read is bad input, and is not overwritten.
func TestSoakBadPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "place.json")
	if err := os.WriteFile(file, []byte("somewhere"), 0o644); err != nil {
		t.Fatal(err)
	}
	status, out, errs := sinklab(t, "", "soak", "--for", "1ns", "--resume", file)
	if status != statusBadInput || out != "" || !strings.Contains(errs, "remove the file to begin anew") {
		t.Errorf("status %d, %q, %q", status, out, errs)
	}
	if content, err := os.ReadFile(file); err != nil || string(content) != "somewhere" {
		t.Errorf("the file holds %q, %v", content, err)
	}
	if status, _, errs := sinklab(t, "", "soak", "--for=-1s"); status != statusBadInput || !strings.Contains(errs, "longer than 0") {
		t.Errorf("status %d, %q", status, errs)
	}
}

// forgetful makes sinks that are never told of a completion.
type forgetful struct{ sim.Core }

func (f forgetful) New(fsys afero.Fs, random io.Reader, s sim.Settings, now int64) (sim.Sink, error) {
	sink, err := f.Core.New(fsys, random, s, now)
	return deaf{sink}, err
}

type deaf struct{ sim.Sink }

func (deaf) Complete(int64, int) error { return nil }

// A program that breaks a rule ends the soak, is printed as a trace, as short as it can
// be, and makes the status 1.
func TestSoakFinds(t *testing.T) {
	var out bytes.Buffer
	err := soak{For: time.Nanosecond, factory: forgetful{}}.Run(streams{nil, &out, io.Discard})
	if !errors.Is(err, errFound) {
		t.Fatalf("%v, %s", err, out.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if !strings.HasPrefix(lines[0], "# program ") || !strings.Contains(lines[0], "breaks the rule NoLoss") || len(lines) > 4 {
		t.Errorf("got\n%s", out.String())
	}
	if _, err := sim.Parse(&out, props.Operations()); err != nil {
		t.Error(err)
	}
}
