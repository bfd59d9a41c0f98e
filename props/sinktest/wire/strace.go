package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// straceArgs run a command under strace: all threads, paths of open files, strings whole and in
// hexadecimal, nothing but the calls that matter. The record goes to file descriptor 3.
func straceArgs() []string {
	args := []string{"strace", "-f", "-y", "-xx", "-qqq", "-s", strconv.Itoa(longest), "-o", "/dev/fd/3", "-e", "signal=none", "-e",
		"trace=?open,openat,?creat,write,pwrite64,writev,pwritev,?pwritev2,lseek,ftruncate,?truncate,fsync,fdatasync,close," +
			"?rename,?renameat,renameat2,?unlink,unlinkat,?mkdir,mkdirat,?rmdir,?link,linkat," +
			"fallocate,?copy_file_range,sendfile,splice,dup,?dup2,dup3,sync,syncfs"}
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
	pending map[string]string // first halves, by thread
	files   map[string]bool   // numbers of files that are open for writing
}

// batch is what the process has done until it had written an answer.
type batch struct {
	operations []Operation
	err        error // the first call that cannot be played
}

var (
	traced     = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (-?\d+)(.*)$`)
	unfinished = regexp.MustCompile(`^(\d+) +(.*?) *<unfinished \.\.\.>$`)
	resumed    = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>(.*)$`)
)

// read reads the record to its end. Whenever an answer was written it sends the operations before it.
func (t *tracer) read(r io.Reader, out chan<- batch) {
	defer close(out)
	lines := bufio.NewReaderSize(r, 1<<16)
	var b batch
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		o, answered, err := t.line(strings.TrimSuffix(line, "\n"))
		if o != nil {
			b.operations = append(b.operations, *o)
		}
		if b.err == nil {
			b.err = err
		}
		if answered {
			out <- b
			b.operations = nil
		}
	}
}

// line reads a line: an operation, the end of an answer, or nothing of interest.
func (t *tracer) line(line string) (*Operation, bool, error) {
	if m := unfinished.FindStringSubmatch(line); m != nil {
		t.pending[m[1]] = m[2]
		return nil, false, nil
	}
	if m := resumed.FindStringSubmatch(line); m != nil {
		line = m[1] + " " + t.pending[m[1]] + m[2]
		delete(t.pending, m[1])
	}
	m := traced.FindStringSubmatch(line)
	if m == nil || strings.HasPrefix(m[4], "-") {
		return nil, false, nil
	}
	o, answered, err := t.call(m[2], arguments(m[3]), m[4])
	if err != nil {
		err = fmt.Errorf("%w: strace says %q: %w", ErrProcess, line[:min(len(line), 200)], err)
	}
	return o, answered, err
}

// call makes an operation of a call that has succeeded, if it is about the directory.
func (t *tracer) call(name string, args []string, result string) (*Operation, bool, error) {
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	if strings.HasSuffix(name, "at") || name == "renameat2" {
		// Relative to an open directory: absolute paths make no use of it, and others are looked up.
		switch name {
		case "openat", "mkdirat", "unlinkat":
			args = append([]string{within(arg(0), arg(1))}, args[2:]...)
		case "renameat", "renameat2", "linkat":
			args = []string{within(arg(0), arg(1)), within(arg(2), arg(3))}
		}
	} else if len(args) > 0 && strings.HasPrefix(arg(0), `"`) {
		for i, a := range args {
			if strings.HasPrefix(a, `"`) {
				args[i] = unquote(a)
			}
		}
	}
	switch name {
	case "open", "openat", "creat":
		flags := arg(1)
		if name == "creat" {
			flags = "O_WRONLY|O_CREAT|O_TRUNC"
		}
		if !t.inside(arg(0)) || !strings.Contains(flags, "O_WRONLY") && !strings.Contains(flags, "O_RDWR") {
			return nil, false, nil
		}
		fd, _, _ := strings.Cut(result, "<")
		n, err := strconv.Atoi(fd)
		o := &Operation{Do: "open", Path: arg(0), FD: n}
		for _, f := range []struct{ has, flag string }{{"O_CREAT", Create}, {"O_EXCL", Excl}, {"O_APPEND", Append}, {"O_TRUNC", Truncate}} {
			if strings.Contains(flags, f.has) {
				o.Flags = append(o.Flags, f.flag)
			}
		}
		t.files[fd] = true
		return o, false, err
	case "mkdir", "mkdirat":
		return t.about("mkdir", arg(0), "")
	case "unlink", "unlinkat", "rmdir":
		return t.about("remove", arg(0), "")
	case "rename", "renameat", "renameat2":
		return t.about("rename", arg(0), arg(1))
	case "link", "linkat":
		if t.inside(arg(0)) || t.inside(arg(1)) {
			return nil, false, fmt.Errorf("hard links cannot be played")
		}
		return nil, false, nil
	case "truncate":
		if !t.inside(arg(0)) {
			return nil, false, nil
		}
		at, err := strconv.ParseInt(arg(1), 10, 64)
		return &Operation{Do: "truncate", Path: arg(0), At: at}, false, err
	case "sync", "syncfs":
		return nil, false, fmt.Errorf("%s cannot be played: sync files and directories one by one", name)
	case "sendfile", "copy_file_range", "splice":
		to := arg(0)
		if name != "sendfile" {
			to = arg(2)
		}
		if number, _, _ := strings.Cut(to, "<"); t.files[number] {
			return nil, false, fmt.Errorf("%s cannot be played: what was copied is not in the record", name)
		}
		return nil, false, nil
	}
	// What is left begins with an open file.
	number, file, _ := strings.Cut(strings.TrimSuffix(arg(0), ">"), "<")
	fd, err := strconv.Atoi(number)
	if err != nil {
		return nil, false, err
	}
	if name == "write" && fd == 1 {
		return nil, strings.HasSuffix(arg(1), `\x0a"`), nil
	}
	o := &Operation{FD: fd, Path: unquote(`"` + file + `"`)}
	switch name {
	case "fsync", "fdatasync":
		// Of what was opened for reading too, above all of directories.
		o.Do = "sync"
		if !t.files[number] {
			o.FD = 0
		}
		return o, false, nil
	case "close":
		if !t.files[number] {
			return nil, false, nil
		}
		delete(t.files, number)
		o.Do = "close"
		return o, false, nil
	}
	if !t.files[number] {
		return nil, false, nil
	}
	switch name {
	case "write", "pwrite64", "writev", "pwritev", "pwritev2":
		data, rest, err := dataWritten(name, args[1:], result)
		if err != nil {
			return nil, false, err
		}
		o.Do, o.Data = "write", data
		if name == "write" || name == "writev" || name == "pwritev2" && rest == "-1" {
			break
		}
		o.Do = "writeat"
		if o.At, err = strconv.ParseInt(rest, 10, 64); err != nil {
			return nil, false, err
		}
	case "fallocate":
		if strings.Contains(arg(1), "KEEP_SIZE") && !strings.Contains(arg(1), "PUNCH") {
			return nil, false, nil // space is reserved beyond the end, and nobody sees it
		}
		return nil, false, fmt.Errorf("%s cannot be played but with FALLOC_FL_KEEP_SIZE: write or truncate instead", name)
	case "lseek":
		if arg(1) == "0" && arg(2) == "SEEK_CUR" {
			return nil, false, nil // it only asks where it stands
		}
		o.Do = "seek"
		o.At, err = strconv.ParseInt(result, 10, 64)
	case "ftruncate":
		o.Do = "truncate"
		o.At, err = strconv.ParseInt(arg(1), 10, 64)
	default:
		return nil, false, fmt.Errorf("%s cannot be played", name)
	}
	return o, false, err
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
func (t *tracer) about(do, path, to string) (*Operation, bool, error) {
	if !t.inside(path) && !t.inside(to) {
		return nil, false, nil
	}
	return &Operation{Do: do, Path: path, To: to}, false, nil
}

func (t *tracer) inside(path string) bool {
	return path == t.dir || strings.HasPrefix(path, t.dir+"/")
}

// arguments splits the arguments of a call. No string has a comma, since all is in hexadecimal.
func arguments(text string) []string { return strings.Split(text, ", ") }

// within is a path that is relative to the open directory, if it is relative.
func within(dir, quoted string) string {
	path := unquote(quoted)
	if strings.HasPrefix(path, "/") {
		return path
	}
	_, base, _ := strings.Cut(strings.TrimSuffix(dir, ">"), "<")
	return unquote(`"`+base+`"`) + "/" + path
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
