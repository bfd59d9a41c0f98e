//go:build !linux

package sinkcore

import "github.com/spf13/afero"

// reserveSpace reserves nothing on this system.
func reserveSpace(afero.File, int64, int64) error { return errNotReserved }
