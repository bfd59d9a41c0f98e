package fsmem

// FS is a file system in memory with the semantics of a local file system of
// Linux, seen through package os. All its methods may be called from any number
// of goroutines: each is atomic for the others, under one lock. Use New or Crash
// to make one; the zero value cannot be used.
//
// The embedded Layer has the methods of afero.Fs and afero.Symlinker, and those
// that inject faults and observe. FS adds what only a file system that knows what
// is durable can do: Crash, Outcomes, and the questions about what is in use.
type FS struct {
	*Layer
	core *core
}

// New returns a file system with an empty root directory, which is durable. If
// the options make no sense, every call on it fails with an *OptionError, wrapped
// as usual.
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

// newFS puts a Layer around a core. The Layer calls the core through afero.Fs as
// it would call a real disk, so that rules and hooks cannot tell them apart.
func newFS(c *core) *FS {
	return &FS{Wrap(c, WrapOptions{Sleep: c.opts.Sleep}), c}
}

// SetQuota changes Options.Quota; 0 is no limit, and so is less. What is over a
// new limit stays, and writes that need more room fail until enough is freed, as
// on a disk whose quota was lowered.
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
