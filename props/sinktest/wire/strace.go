package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// straceArgs run a command under strace: all threads and processes, paths of open files, strings whole and in
// hexadecimal, nothing but the calls that matter and the end of each thread. The record goes to file descriptor 3.
func straceArgs() []string {
	args := []string{"strace", "-f", "-y", "-xx", "-q", "-s", strconv.Itoa(longest), "-o", "/dev/fd/3", "-e", "signal=none", "-e",
		"trace=?open,openat,?openat2,?creat,write,pwrite64,writev,pwritev,?pwritev2,lseek,ftruncate,?truncate,fsync,fdatasync,close," +
			"?close_range,?rename,?renameat,renameat2,?unlink,unlinkat,?mkdir,mkdirat,?rmdir,?link,linkat," +
			"fallocate,?copy_file_range,sendfile,splice,dup,?dup2,dup3,fcntl,clone,?clone3,?fork,?vfork,chdir,fchdir,sync,syncfs"}
	// Other calls need not stop if there is a filter. But a process that has one and no strace any more cannot even
	// end itself, since every call of the list fails; so there must be somebody who kills it when strace dies.
	if setpriv, err := exec.LookPath("setpriv"); err == nil {
		return append(args, "--seccomp-bpf", "--", setpriv, "--pdeathsig", "KILL", "--")
	}
	return append(args, "--")
}

const longest = 1 << 20

// tracer turns what strace writes into operations on files below a directory. A call of one thread may be
// cut in two by another's; it counts when it is over.
type tracer struct {
	dir     string
	cwd     string                       // of the first process
	answers string                       // the pipe of the answers, as strace calls it
	wrote   int64                        // bytes to that pipe
	pending map[string]string            // first halves, by thread
	threads map[string]*numbers          // by thread
	early   map[string]string            // threads that were seen before the call returned that started them, and who made it
	copies  map[string]map[int]*openFile // the numbers that a process has which a pending call starts, by thread
	taken   map[int]bool                 // numbers in operations
	ahead   []string                     // lines that were read before their turn
}

func newTracer(dir, cwd, answers string) *tracer {
	return &tracer{dir: dir, cwd: cwd, answers: answers, pending: map[string]string{}, threads: map[string]*numbers{},
		early: map[string]string{}, copies: map[string]map[int]*openFile{}, taken: map[int]bool{}}
}

var (
	traced     = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (-?\d+)(.*)$`)
	unfinished = regexp.MustCompile(`^(\d+) +(.*?) *<unfinished \.\.\.>$`)
	resumed    = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>(.*)$`)
	exited     = regexp.MustCompile(`^(\d+) +\+\+\+ (?:exited|killed) `)
	starts     = regexp.MustCompile(`^(?:clone3?|v?fork)\(`)
	returned   = regexp.MustCompile(`\) += (\d+)`)
)

// startsThread tells whether a call starts a thread or a process.
func startsThread(call string) bool { return starts.MatchString(call) }

// sharesFiles tells whether what a call starts shares the numbers of open files.
func sharesFiles(call string) bool { return strings.Contains(call, "CLONE_FILES") }

// read reads the record to its end.
func (t *tracer) read(r io.Reader, out *record) {
	defer out.end()
	lines := bufio.NewReaderSize(r, 1<<16)
	for {
		line, ok := t.next(lines)
		if !ok {
			return
		}
		if thread, _, _ := strings.Cut(line, " "); t.threads[thread] == nil && len(t.parents()) > 1 {
			t.look(lines, thread)
		}
		before := t.wrote
		operations, err := t.line(line)
		out.add(before, t.wrote, operations, err)
	}
}

func (t *tracer) next(lines *bufio.Reader) (string, bool) {
	if len(t.ahead) > 0 {
		line := t.ahead[0]
		t.ahead = t.ahead[1:]
		return line, true
	}
	line, err := lines.ReadString('\n')
	return strings.TrimSuffix(line, "\n"), err == nil
}

// look reads on until it is known which thread has started another.
func (t *tracer) look(lines *bufio.Reader, thread string) {
	for i := 0; ; i++ {
		if i == len(t.ahead) {
			line, err := lines.ReadString('\n')
			if err != nil {
				return // whoever it was
			}
			t.ahead = append(t.ahead, strings.TrimSuffix(line, "\n"))
		}
		m := resumed.FindStringSubmatch(t.ahead[i])
		if m == nil || !startsThread(t.pending[m[1]]) {
			continue
		}
		if n := returned.FindStringSubmatch(m[2]); n != nil && n[1] == thread {
			t.started(m[1], thread)
			return
		}
	}
}

// line reads a line: operations, an answer, or nothing of interest.
func (t *tracer) line(line string) ([]Operation, error) {
	if m := exited.FindStringSubmatch(line); m != nil {
		t.of(m[1]) // it may be the first that is seen of it
		delete(t.pending, m[1])
		return t.exited(m[1]), nil
	}
	if m := unfinished.FindStringSubmatch(line); m != nil {
		n := t.of(m[1])
		if file, closes := strings.CutPrefix(m[2], "close("); closes {
			// The number is free from now on, and the next open may be in the record before this is over.
			f, err := descriptorOf(file)
			if err != nil {
				return nil, t.failed(line, err)
			}
			return t.drop(n, f.fd, f.path), nil
		}
		t.begins(n, m[1], m[2])
		return nil, nil
	}
	if m := resumed.FindStringSubmatch(line); m != nil {
		begun, ok := t.pending[m[1]]
		if !ok {
			return nil, nil
		}
		line = m[1] + " " + begun + m[2]
		delete(t.pending, m[1])
		defer delete(t.copies, m[1]) // whether the call has succeeded or not
	}
	m := traced.FindStringSubmatch(line)
	if m == nil || strings.HasPrefix(m[4], "-") {
		return nil, nil
	}
	n := t.of(m[1])
	if startsThread(m[2] + "(") {
		if _, early := t.early[m[4]]; !early {
			t.start(m[1], m[4], m[3])
		}
		delete(t.early, m[4])
		return nil, nil
	}
	operations, err := t.call(n, m[2], arguments(m[3]), m[4])
	return operations, t.failed(line, err)
}

func (t *tracer) failed(line string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: strace says %q: %w", ErrProcess, line[:min(len(line), 200)], err)
}

// call makes operations of a call that has succeeded, if it is about the directory.
func (t *tracer) call(n *numbers, name string, args []string, result string) ([]Operation, error) {
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	one := func(o Operation, err error) ([]Operation, error) { return []Operation{o}, err }
	number := func(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) }
	// Paths are absolute from here on, and the directories that they are relative to are gone.
	switch name {
	case "openat", "openat2", "mkdirat", "unlinkat":
		args = append([]string{n.within(arg(0), arg(1))}, args[min(2, len(args)):]...)
	case "renameat", "renameat2", "linkat":
		args = append([]string{n.within(arg(0), arg(1)), n.within(arg(2), arg(3))}, args[min(4, len(args)):]...)
	case "open", "creat", "mkdir", "unlink", "rmdir", "rename", "link", "truncate", "chdir":
		for i, a := range args {
			if strings.HasPrefix(a, `"`) {
				args[i] = n.within("", a)
			}
		}
	}
	switch name {
	case "chdir":
		n.cwd = arg(0)
		return nil, nil
	case "open", "openat", "openat2", "creat":
		flags := arg(1)
		if name == "creat" {
			flags = "O_WRONLY|O_CREAT|O_TRUNC"
		}
		fd, err := number(result)
		if err != nil {
			return nil, err
		}
		if !t.inside(arg(0)) || !strings.Contains(flags, "O_WRONLY") && !strings.Contains(flags, "O_RDWR") {
			return t.drop(n, int(fd), ""), nil // if it was closed unseen
		}
		if strings.Contains(flags, "O_TMPFILE") {
			return nil, fmt.Errorf("a file without a name cannot be played: give it a hidden one")
		}
		var told []string
		for _, f := range []struct{ has, flag string }{{"O_CREAT", Create}, {"O_EXCL", Excl}, {"O_APPEND", Append}, {"O_TRUNC", Truncate}} {
			if strings.Contains(flags, f.has) {
				told = append(told, f.flag)
			}
		}
		return t.open(n, int(fd), arg(0), told), nil
	case "mkdir", "mkdirat":
		return t.about("mkdir", arg(0), "")
	case "unlink", "unlinkat", "rmdir":
		return t.about("remove", arg(0), "")
	case "rename", "renameat", "renameat2":
		if strings.Contains(arg(2), "EXCHANGE") && (t.inside(arg(0)) || t.inside(arg(1))) {
			return nil, fmt.Errorf("two files that change names cannot be played")
		}
		return t.about("rename", arg(0), arg(1))
	case "link", "linkat":
		if t.inside(arg(0)) || t.inside(arg(1)) {
			return nil, fmt.Errorf("hard links cannot be played")
		}
		return nil, nil
	case "truncate":
		if !t.inside(arg(0)) {
			return nil, nil
		}
		at, err := number(arg(1))
		return one(Operation{Do: "truncate", Path: arg(0), At: at}, err)
	case "sync", "syncfs":
		return nil, fmt.Errorf("%s cannot be played: sync files and directories one by one", name)
	case "close_range":
		return t.closeRange(n, args)
	case "sendfile", "copy_file_range", "splice":
		to := arg(0)
		if name != "sendfile" {
			to = arg(2)
		}
		file, err := descriptorOf(to)
		if err != nil {
			return nil, err
		}
		if file.path == t.answers {
			count, err := number(result)
			t.wrote += count
			return nil, err
		}
		if n.files[file.fd] != nil {
			return nil, fmt.Errorf("%s cannot be played: what was copied is not in the record", name)
		}
		return nil, nil
	}
	// What is left begins with an open file.
	file, err := descriptorOf(arg(0))
	if err != nil {
		return nil, err
	}
	switch name {
	case "fchdir":
		n.cwd = file.path
		return nil, nil
	case "close":
		return t.drop(n, file.fd, file.path), nil
	case "fcntl", "dup", "dup2", "dup3":
		if name == "fcntl" && !strings.HasPrefix(arg(1), "F_DUPFD") {
			return nil, nil
		}
		fd, err := number(result)
		if err != nil || int(fd) == file.fd {
			return nil, err
		}
		operations := t.drop(n, int(fd), "") // what had the number before
		if f := n.files[file.fd]; f != nil {
			n.files[int(fd)] = f
		}
		return operations, nil
	case "write", "writev", "pwritev2":
		if file.path == t.answers {
			count, err := number(result)
			t.wrote += count
			return nil, err
		}
	}
	f := n.files[file.fd]
	if f != nil && file.path != "" && !t.inside(file.path) {
		return t.drop(n, file.fd, ""), nil // it was closed unseen, and now the number is of something else
	}
	if name == "fsync" || name == "fdatasync" {
		// Of what was opened for reading too, above all of directories. What is removed nobody finds any more.
		o := Operation{Do: "sync", Path: file.path}
		if f != nil {
			o.FD = f.number
		}
		if o.FD == 0 && (file.deleted || !strings.HasPrefix(file.path, "/")) {
			return nil, nil
		}
		return one(o, nil)
	}
	if f == nil {
		return nil, nil
	}
	o, err := played(f, name, args[1:], result)
	if err != nil || o.Do == "" {
		return nil, err
	}
	var operations []Operation
	if f.number == 0 {
		if file.deleted {
			return nil, nil // nobody can see it
		}
		operations = t.again(n, f, file.fd, file.path)
	}
	o.FD, o.Path = f.number, file.path
	switch o.Do {
	case "write":
		f.at += int64(len(o.Data))
	case "seek":
		f.at = o.At
	}
	return append(operations, o), nil
}

// played is the operation that a call on an open file is, with the arguments behind the file; none has no Do.
func played(f *openFile, name string, args []string, result string) (o Operation, err error) {
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch name {
	case "write", "pwrite64", "writev", "pwritev", "pwritev2":
		data, rest, err := dataWritten(name, args, result)
		if err != nil {
			return o, err
		}
		o.Do, o.Data = "write", data
		// Linux writes at the end of a file that was opened to append, whatever the offset.
		if name == "write" || name == "writev" || name == "pwritev2" && rest == "-1" || f.appends {
			return o, nil
		}
		o.Do = "writeat"
		o.At, err = strconv.ParseInt(rest, 10, 64)
		return o, err
	case "fallocate":
		if strings.Contains(arg(0), "KEEP_SIZE") && !strings.Contains(arg(0), "PUNCH") {
			return o, nil // space is reserved beyond the end, and nobody sees it
		}
		return o, fmt.Errorf("%s cannot be played but with FALLOC_FL_KEEP_SIZE: write or truncate instead", name)
	case "lseek":
		if arg(0) == "0" && arg(1) == "SEEK_CUR" {
			return o, nil // it only asks where it stands
		}
		o.Do = "seek"
		o.At, err = strconv.ParseInt(result, 10, 64)
		return o, err
	case "ftruncate":
		o.Do = "truncate"
		o.At, err = strconv.ParseInt(arg(0), 10, 64)
		return o, err
	}
	return o, fmt.Errorf("%s cannot be played", name)
}

// closeRange closes the open files from one number to another.
func (t *tracer) closeRange(n *numbers, args []string) (operations []Operation, err error) {
	if len(args) < 3 {
		return nil, fmt.Errorf("want three arguments")
	}
	if strings.Contains(args[2], "CLOEXEC") {
		return nil, nil
	}
	first, err := descriptorOf(args[0])
	if err != nil {
		return nil, err
	}
	last, err := descriptorOf(args[1])
	if err != nil {
		last.fd = math.MaxInt // the greatest number there is has a name
	}
	for _, fd := range slices.Sorted(maps.Keys(n.files)) {
		if fd >= first.fd && fd <= last.fd {
			operations = append(operations, t.drop(n, fd, "")...)
		}
	}
	return operations, nil
}

// dataWritten is what a call has written, from its arguments behind the file. Rest is the offset
// of those that have one.
func dataWritten(name string, args []string, result string) (data Bytes, rest string, err error) {
	n, err := strconv.Atoi(result)
	if err != nil {
		return nil, "", err
	}
	var all string
	switch name {
	case "write", "pwrite64":
		if len(args) == 0 || strings.HasSuffix(args[0], "...") {
			break
		}
		all = unquote(args[0])
		if len(args) > 2 {
			rest = args[2]
		}
	default:
		// [{iov_base="\x72", iov_len=1}, …], 2, offset; all but the text of a vector is behind its last bracket.
		text := strings.Join(args, ", ")
		last := strings.LastIndexByte(text, ']')
		for _, m := range vector.FindAllStringSubmatch(text[:last+1], -1) {
			all += unquote(m[1])
		}
		if behind := strings.Split(text[last+1:], ", "); len(behind) > 2 {
			rest = behind[2]
		}
		if strings.Contains(text[:last+1], `"...`) {
			all = ""
		}
	}
	if len(all) < n {
		return nil, "", fmt.Errorf("the bytes written are more than %d, and not all there", longest)
	}
	return Bytes(all[:n]), rest, nil
}

var vector = regexp.MustCompile(`iov_base=("[^"]*")`)

// about is an operation on names.
func (t *tracer) about(do, path, to string) ([]Operation, error) {
	if !t.inside(path) && !t.inside(to) {
		return nil, nil
	}
	return []Operation{{Do: do, Path: path, To: to}}, nil
}

func (t *tracer) inside(path string) bool {
	return path == t.dir || strings.HasPrefix(path, t.dir+"/")
}

// arguments splits the arguments of a call. No string has a comma, since all is in hexadecimal.
func arguments(text string) []string { return strings.Split(text, ", ") }

// within makes a path absolute that is relative to an open directory, or to the working directory.
func (n *numbers) within(dir, quoted string) string {
	name := unquote(quoted)
	if !path.IsAbs(name) {
		base := n.cwd
		if _, open, ok := strings.Cut(dir, "<"); ok {
			base = pathOf(open)
		}
		name = base + "/" + name
	}
	return path.Clean(name)
}

// descriptor is an open file as strace writes it: 5<\x2f\x64>, or 5<\x2f\x64>(deleted).
type descriptor struct {
	fd      int
	path    string
	deleted bool
}

func descriptorOf(text string) (d descriptor, err error) {
	number, name, _ := strings.Cut(text, "<")
	d.path, d.deleted = pathOf(name), strings.HasSuffix(name, deleted)
	d.fd, err = strconv.Atoi(number)
	return d, err
}

const deleted = "(deleted)"

// pathOf is the path in what is behind the < of an open file.
func pathOf(text string) string {
	return unquote(strings.TrimSuffix(strings.TrimSuffix(text, deleted), ">"))
}

// unquote reads a string in hexadecimal.
func unquote(text string) string {
	var b bytes.Buffer
	for rest := strings.Trim(text, `"`); rest != ""; {
		if len(rest) >= 4 && strings.HasPrefix(rest, `\x`) {
			if n, err := strconv.ParseUint(rest[2:4], 16, 8); err == nil {
				b.WriteByte(byte(n))
				rest = rest[4:]
				continue
			}
		}
		b.WriteByte(rest[0])
		rest = rest[1:]
	}
	return b.String()
}
