//go:build unix

package wire

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts a process and all that it starts into a group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup sends SIGKILL to the whole group.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may be gone already
	}
}

// pipeName is what Linux calls a pipe, by either end.
func pipeName(end *os.File) (string, error) {
	info, err := end.Stat()
	if err != nil {
		return "", err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("a pipe without an inode: %T", info.Sys())
	}
	return fmt.Sprintf("pipe:[%d]", stat.Ino), nil
}
