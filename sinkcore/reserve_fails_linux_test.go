package sinkcore

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Where space cannot be reserved, what the call may have reserved is given back at once, and
// it is not tried again. A file that is open for reading only stands for a disk that is full: of
// it neither is possible, so both calls show.
func TestReserveThatFailsGivesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part")
	if err := os.WriteFile(path, make([]byte, 2*reserveFrom), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if errors.Is(reserveSpace(f, 0, 1), errNotReserved) {
		t.Skip("temporary files are not on ext4; set TMPDIR to a directory that is")
	}
	p := &part{file: f, written: 2 * reserveFrom}
	if err := p.reserve(100); !errors.Is(err, syscall.EINVAL) { // ftruncate(2)
		t.Errorf("nothing was given back: %v", err)
	}
	p.reserved = 0 // as when it was given back
	if err := p.reserve(100); err != nil {
		t.Errorf("tried again: %v", err)
	}
}
