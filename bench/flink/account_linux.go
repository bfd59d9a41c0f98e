package flink

import (
	"io/fs"
	"syscall"
	"time"
)

// statusChange is when a file was last renamed, linked, written or given other rights, in
// milliseconds since 1970.
func statusChange(info fs.FileInfo) (ms int64, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return time.Unix(s.Ctim.Unix()).UnixMilli(), true
}
