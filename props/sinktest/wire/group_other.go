//go:build !unix

package wire

import (
	"errors"
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

// killGroup ends the process.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill() // it may be gone already
	}
}

func pipeName(*os.File) (string, error) { return "", errors.ErrUnsupported }
