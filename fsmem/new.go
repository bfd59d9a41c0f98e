package fsmem

// FS is a file system in memory.
type FS struct {
	*core
}

// New returns an empty file system. Options that make no sense give one on
// which every call fails with the *OptionError.
func New(o Options) *FS {
	o.setDefaults()
	return newFS(newCore(o))
}

func newFS(c *core) *FS { return &FS{c} }
