package wire

import (
	"maps"
	"slices"
)

// openFile is a file below the directory that was opened for writing. Any number of numbers may stand
// for it, in the process that opened it and in those forked from it; they share where it stands.
type openFile struct {
	number  int      // that operations call it by; 0 when its close was told
	owner   *numbers // of the process that opened it
	at      int64    // where it stands
	appends bool
}

// numbers are what the threads of a process share: the numbers of open files, and the working directory.
type numbers struct {
	threads int
	files   map[int]*openFile
	cwd     string
}

// has tells whether any number stands for a file.
func (n *numbers) has(f *openFile) bool {
	for _, other := range n.files {
		if other == f {
			return true
		}
	}
	return false
}

// firstFree is where the numbers begin of files whose own number another one has: that of a child that has opened a
// file by the same number as its parent has another.
const firstFree = 10000

// open has a process know a file by a number.
func (t *tracer) open(n *numbers, fd int, path string, flags []string) []Operation {
	operations := t.drop(n, fd, "") // closed unseen, when another program was executed
	f := &openFile{owner: n, appends: slices.Contains(flags, Append)}
	n.files[fd] = f
	return append(operations, t.tell(f, fd, path, flags))
}

// tell is the operation that opens a file.
func (t *tracer) tell(f *openFile, fd int, path string, flags []string) Operation {
	if fd == 0 || t.taken[fd] { // 0 is none in an Operation
		for fd = firstFree; t.taken[fd]; fd++ {
		}
	}
	t.taken[fd] = true
	f.number = fd
	return Operation{Do: "open", Path: path, FD: fd, Flags: flags}
}

// drop is the end of a number. The file is closed when it was the last one of the process that opened
// it: when the others let go of it is by chance.
func (t *tracer) drop(n *numbers, fd int, path string) []Operation {
	f := n.files[fd]
	if f == nil {
		return nil
	}
	delete(n.files, fd)
	if f.number == 0 || f.owner != n || n.has(f) {
		return nil
	}
	o := Operation{Do: "close", Path: path, FD: f.number}
	delete(t.taken, f.number)
	f.number = 0
	return []Operation{o}
}

// again opens a file whose close was told, since a child that has it still does something with it. It stands where
// it stood.
func (t *tracer) again(n *numbers, f *openFile, fd int, path string) []Operation {
	f.owner = n
	if f.appends {
		return []Operation{t.tell(f, fd, path, []string{Append})}
	}
	operations := []Operation{t.tell(f, fd, path, nil)}
	if f.at > 0 {
		operations = append(operations, Operation{Do: "seek", Path: path, FD: f.number, At: f.at})
	}
	return operations
}

// of are the numbers that a thread knows. One that nobody has started is the first.
func (t *tracer) of(thread string) *numbers {
	n := t.threads[thread]
	if n == nil {
		if parents := t.parents(); len(parents) > 0 {
			t.started(parents[0], thread)
			return t.threads[thread]
		}
		n = &numbers{threads: 1, files: map[int]*openFile{}, cwd: t.cwd}
		t.threads[thread] = n
	}
	return n
}

// begins is the beginning of a call that cannot end at once. A process that it starts has the numbers of now.
func (t *tracer) begins(n *numbers, thread, call string) {
	t.pending[thread] = call
	if startsThread(call) && !sharesFiles(call) {
		t.copies[thread] = maps.Clone(n.files)
	}
}

// started is a thread that another one has started by a call that has not returned yet.
func (t *tracer) started(parent, thread string) {
	t.early[thread] = parent
	t.start(parent, thread, t.pending[parent])
}

// start is the start of a thread: another one of the same process, or the first of a process of its own, which has a
// copy of the numbers.
func (t *tracer) start(parent, thread, call string) {
	n := t.of(parent)
	if sharesFiles(call) {
		n.threads++
		t.threads[thread] = n
		return
	}
	files := t.copies[parent]
	if files == nil {
		files = maps.Clone(n.files)
	}
	delete(t.copies, parent)
	t.threads[thread] = &numbers{threads: 1, files: files, cwd: n.cwd}
}

// exited is the end of a thread. With the last one of a process its files are closed.
func (t *tracer) exited(thread string) (operations []Operation) {
	n := t.threads[thread]
	if n == nil {
		return nil
	}
	delete(t.threads, thread)
	if n.threads--; n.threads > 0 {
		return nil
	}
	for _, fd := range slices.Sorted(maps.Keys(n.files)) {
		operations = append(operations, t.drop(n, fd, "")...)
	}
	return operations
}

// parents are the threads that may have started one that was not seen before: their call has begun, and
// has not returned. There is one of each process and kind of call.
func (t *tracer) parents() (threads []string) {
	type start struct {
		numbers *numbers
		shares  bool
	}
	seen, done := map[start]bool{}, map[string]bool{}
	for _, parent := range t.early {
		done[parent] = true
	}
	for _, thread := range slices.Sorted(maps.Keys(t.pending)) {
		call := t.pending[thread]
		if done[thread] || !startsThread(call) {
			continue
		}
		s := start{t.threads[thread], sharesFiles(call)}
		if !seen[s] {
			threads = append(threads, thread)
		}
		seen[s] = true
	}
	return threads
}
