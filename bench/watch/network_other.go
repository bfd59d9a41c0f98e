//go:build !linux

package watch

// onNetwork is not known here; --poll is there for that.
func onNetwork(string) (bool, error) { return false, nil }
