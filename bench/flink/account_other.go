//go:build !linux

package flink

import "io/fs"

// statusChange is not known: this system is not asked.
func statusChange(fs.FileInfo) (ms int64, ok bool) { return 0, false }
