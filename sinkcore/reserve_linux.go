package sinkcore

import (
	"os"
	"syscall"

	"github.com/spf13/afero"
)

const (
	ext4Magic = 0xef53 // EXT4_SUPER_MAGIC, statfs(2)
	keepSize  = 1      // FALLOC_FL_KEEP_SIZE, fallocate(2)
)

// reserveSpace reserves disk space for a range of a file beyond its end, on ext4, where it
// was measured what that is good for. XFS reserves by itself, btrfs would no longer compress.
// After an error other than errNotReserved a part of the range may be reserved.
func reserveSpace(f afero.File, from, size int64) error {
	file, ok := f.(*os.File)
	if !ok {
		return errNotReserved
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return errNotReserved
	}
	failed := errNotReserved
	err = conn.Control(func(fd uintptr) {
		var at syscall.Statfs_t
		if syscall.Fstatfs(int(fd), &at) != nil || at.Type != ext4Magic {
			return
		}
		if at.Bavail/reserveShare*uint64(at.Bsize) < uint64(size) {
			return
		}
		failed = error(syscall.EINTR) // the runtime's own signals interrupt it, as package os knows
		for failed == syscall.EINTR {
			failed = syscall.Fallocate(int(fd), keepSize, from, size)
		}
	})
	if err != nil {
		return errNotReserved
	}
	return failed
}
