package measure

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// What waits is not on a processor, and the error of the function is the caller's.
func TestOnProcessor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system is not asked how long a thread was on a processor")
	}
	want := errors.New("failed")
	waited := time.Duration(0)
	took, err := OnProcessor(func() error {
		begun := time.Now()
		err := exec.Command(os.Args[0], "-test.run", "^$").Run() // a process to wait for
		waited = time.Since(begun)
		return errors.Join(err, want)
	})
	if !errors.Is(err, want) || took < 0 || took >= waited {
		t.Errorf("%v on a processor while %v passed, %v", took, waited, err)
	}
}
