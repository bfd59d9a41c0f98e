package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// ErrNetwork: the directory is on a network file system or a mounted store, whose kernel
// does not hear of what other machines change. The directory is listed instead.
var ErrNetwork = errors.New("on a network file system, which gives no notice of what other machines change")

// Notices say where something has changed, so that a look need not list every directory.
// A [Watcher] calls them from one goroutine, and lists a directory for which Add fails.
type Notices interface {
	// Add begins to watch a directory, not those below it. To add one again is no
	// error: it is how a watch is taken up that ended with an earlier directory of that
	// name.
	Add(dir string) error

	// Remove ends it. That there is none is no error.
	Remove(dir string)

	// Changed returns what has changed since the last call: the paths of files and
	// directories, as Add was given their directory, each once, in any order. All that
	// changed before the call is among it. Lost means that there may be more; then
	// everything is listed.
	Changed() (paths []string, lost bool)

	// Close ends all watches.
	Close() error
}

// Kernel is the notices of the operating system: inotify on Linux, and what package
// fsnotify has elsewhere. NewKernel makes one.
type Kernel struct {
	watcher *fsnotify.Watcher
	signal  chan struct{} // holds one element when something has come
	gone    chan struct{} // closed when the goroutine has ended

	// The kernel's queue may be long, and two goroutines stand between it and paths. So a file is
	// made in a directory of our own, and what was before it in the queue has come when its
	// notice does.
	own     string
	made    int         // files in there so far
	arrived chan string // their names, and "" when notices are lost

	mu    sync.Mutex
	paths map[string]struct{}
	lost  bool
}

// NewKernel asks the operating system for notices. If there are none to be had, as where
// every instance that a user may have is in use (fs.inotify.max_user_instances), go on
// without, that is with listing. Close it at the end.
func NewKernel() (*Kernel, error) {
	// The kernel's own queue is bounded too, and this buffer only spares it the goroutine's
	// pauses.
	const buffer = 4096
	w, err := fsnotify.NewBufferedWatcher(buffer)
	if err != nil {
		return nil, fmt.Errorf("no notices from the operating system: %w", err)
	}
	own, err := os.MkdirTemp("", "sinklab-watch-")
	if err == nil {
		err = w.Add(own)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("no notices from the operating system: %w", err), w.Close(), os.RemoveAll(own))
	}
	k := &Kernel{watcher: w, signal: make(chan struct{}, 1), gone: make(chan struct{}), own: own, arrived: make(chan string, ownAtOnce), paths: map[string]struct{}{}}
	go k.collect()
	return k, nil
}

const (
	// ownAtOnce is more than there can be of our own files' notices that nobody waits for.
	ownAtOnce = 16
	// ownWait is how long their notices are waited for. Then some are taken for lost.
	ownWait = 10 * time.Second
)

// collect keeps what comes until it is asked for. A path that changes often is kept once,
// so that a writer of hidden files fills nothing while nobody looks.
func (k *Kernel) collect() {
	defer close(k.gone)
	events, failures := k.watcher.Events, k.watcher.Errors
	for events != nil || failures != nil {
		select {
		case e, more := <-events:
			if !more {
				events = nil
				continue
			}
			if filepath.Dir(e.Name) == k.own || e.Name == k.own {
				if e.Has(fsnotify.Create) {
					k.arrive(filepath.Base(e.Name))
				}
				continue
			}
			k.mu.Lock()
			k.paths[e.Name] = struct{}{}
			k.mu.Unlock()
		case _, more := <-failures:
			if !more {
				failures = nil
				continue
			}
			// Mostly that the queue was full; whatever it is, notices may be missing.
			k.mu.Lock()
			k.lost = true
			k.mu.Unlock()
			k.arrive("")
		}
		select {
		case k.signal <- struct{}{}:
		default:
		}
	}
}

// arrive tells whoever waits.
func (k *Kernel) arrive(name string) {
	select {
	case k.arrived <- name:
	default: // nobody has waited for long
	}
}

// catchUp returns when all notices have come that the kernel had when it was called, and whether
// that is so: they may be lost.
func (k *Kernel) catchUp() bool {
	for more := true; more; {
		select {
		case <-k.arrived: // of a time when it was not waited for
		default:
			more = false
		}
	}
	k.made++
	name := strconv.Itoa(k.made)
	path := filepath.Join(k.own, name)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return false
	}
	defer os.Remove(path) // one that stays is removed by Close
	timer := time.NewTimer(ownWait)
	defer timer.Stop()
	for {
		select {
		case came := <-k.arrived:
			if came == name {
				return true
			}
			if came == "" {
				return false
			}
		case <-k.gone:
			return false
		case <-timer.C:
			return false
		}
	}
}

// Add begins to watch a directory. The error is [ErrNetwork], or that of the operating
// system: ENOSPC if a user may have no more watches (fs.inotify.max_user_watches).
func (k *Kernel) Add(dir string) error {
	if network, err := onNetwork(dir); err != nil || network {
		return errors.Join(err, errNetworkIf(network))
	}
	err := k.watcher.Add(dir)
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("there are as many watches as a user may have, see fs.inotify.max_user_watches: %w", err)
	}
	return err
}

func errNetworkIf(network bool) error {
	if network {
		return ErrNetwork
	}
	return nil
}

// Remove ends the watch of a directory, if there is one.
func (k *Kernel) Remove(dir string) {
	// The only errors are that there is none, as of a directory that is gone, and that all
	// is closed.
	_ = k.watcher.Remove(dir)
}

// Changed returns what the kernel has told since the last call. It waits for what the kernel
// knows already.
func (k *Kernel) Changed() (paths []string, lost bool) {
	all := k.catchUp()
	k.mu.Lock()
	defer k.mu.Unlock()
	for path := range k.paths {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	clear(k.paths)
	lost, k.lost = k.lost || !all, false
	return paths, lost
}

// Close ends all watches.
func (k *Kernel) Close() error {
	err := k.watcher.Close() // nil if it was closed before
	<-k.gone
	return errors.Join(err, os.RemoveAll(k.own))
}
