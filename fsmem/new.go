package fsmem

// FS is a file system in memory with the semantics of a local file system of
// Linux, seen through package os. All its methods may be called from any number
// of goroutines. Use New or Crash to make one.
//
// The embedded Layer has the methods of afero.Fs and afero.Symlinker, and those
// that inject faults and observe.
type FS struct {
	*Layer
	core *core
}

// New returns an empty file system. If the options make no sense, every call on
// it fails with an *OptionError, wrapped as usual.
func New(o Options) *FS {
	err := o.validate()
	if err != nil {
		o = Options{Now: o.Now, Sleep: o.Sleep}
	}
	o.setDefaults()
	f := newFS(newCore(o))
	f.Layer.err = err
	f.Layer.activate()
	return f
}

func newFS(c *core) *FS {
	return &FS{Wrap(c, WrapOptions{Sleep: c.opts.Sleep}), c}
}

// SetQuota changes Options.Quota; 0 is no limit, and so is less. What is over a
// new limit stays.
func (f *FS) SetQuota(bytes int64) {
	f.core.mu.Lock()
	defer f.core.mu.Unlock()
	f.core.opts.Quota = bytes
}

// SetOpenFiles changes Options.OpenFiles; 0 is no limit, and so is less. Open
// handles stay open.
func (f *FS) SetOpenFiles(n int) {
	f.core.mu.Lock()
	defer f.core.mu.Unlock()
	f.core.opts.OpenFiles = n
}

// SetUser changes Options.UID and GID for the calls that follow, as when a
// process gives up its privileges. A negative one is 0.
func (f *FS) SetUser(uid, gid int) {
	f.core.mu.Lock()
	defer f.core.mu.Unlock()
	f.core.opts.UID, f.core.opts.GID = max(0, uid), max(0, gid)
}
