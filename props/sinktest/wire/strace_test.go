package wire

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// hexed is a string as strace writes it with -xx.
func hexed(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteString(`\x` + hex.EncodeToString([]byte{text[i]}))
	}
	return b.String()
}

// read is what a process has done before each of its answers.
func read(t *testing.T, lines ...string) (all [][]Operation, err error) {
	t.Helper()
	tracer, r := newTracer("/d/out", "/d", "pipe:[7]"), newRecord()
	tracer.read(strings.NewReader(strings.Join(lines, "\n")+"\n"), r)
	for n := int64(len("{}\n")); n <= r.wrote; n += int64(len("{}\n")) {
		some, wrong := r.take(n)
		all, err = append(all, some), errors.Join(err, wrong)
	}
	return all, err
}

// answered is the line of an answer.
var answered = `11 write(1<` + hexed("pipe:[7]") + `>, "` + hexed("{}\n") + `", 3) = 3`

// Calls are read in the order in which they ended, those elsewhere and those that failed are passed over, and
// an answer ends what belongs to its request.
func TestTracer(t *testing.T) {
	quoted := func(text string) string { return `"` + hexed(text) + `"` }
	file := "5<" + hexed("/d/out/a/.x") + ">"
	got, err := read(t,
		"10 mkdir("+quoted("/d/out")+", 0777) = -1 EEXIST (File exists)",
		"10 mkdir("+quoted("/d/out/a")+", 0777) = 0",
		"10 mkdir("+quoted("/d/outside")+", 0777) = 0",
		"10 openat(AT_FDCWD<"+hexed("/")+">, "+quoted("/d/out/a/.x")+", O_WRONLY|O_CREAT|O_EXCL, 0666) = "+file,
		"10 openat(AT_FDCWD<"+hexed("/")+">, "+quoted("/d/out/a")+", O_RDONLY|O_CLOEXEC) = 6<"+hexed("/d/out/a")+">",
		"10 write("+file+", "+quoted("r0, r1\n")+", 7 <unfinished ...>",
		"11 lseek("+file+", 0, SEEK_CUR) = 0",
		"10 <... write resumed>) = 7",
		"10 lseek("+file+", 3, SEEK_SET) = 3",
		"10 ftruncate("+file+", 2) = 0",
		"10 write("+file+", "+quoted("only half")+", 9) = 4",
		"10 fsync("+file+") = 0",
		answered,
		"10 fsync(6<"+hexed("/d/out/a")+">) = 0",
		"10 close(6<"+hexed("/d/out/a")+">) = 0",
		"10 pwrite64("+file+", "+quoted("at five")+", 7, 5) = 7",
		"10 writev("+file+", [{iov_base="+quoted("[a], ")+", iov_len=5}, {iov_base="+quoted("b]\n")+", iov_len=3}], 2) = 8",
		"10 writev("+file+", [{iov_base="+quoted("half")+", iov_len=4}], 1) = 2",
		"10 pwritev("+file+", [{iov_base="+quoted("c\n")+", iov_len=2}], 1, 99) = 2",
		"10 pwritev2("+file+", [{iov_base="+quoted("d\n")+", iov_len=2}], 1, -1, 0) = 2",
		"10 fallocate("+file+", FALLOC_FL_KEEP_SIZE, 0, 1048576) = 0",
		"10 sendfile(9<"+hexed("/elsewhere")+">, "+file+", NULL, 9) = 9",
		"10 close("+file+") = 0",
		"10 write("+file+", "+quoted("not ours any more")+", 17) = 17",
		"10 renameat2(6<"+hexed("/d/out/a")+">, "+quoted(".x")+", AT_FDCWD<"+hexed("/")+">, "+quoted("/d/out/a/x")+", RENAME_NOREPLACE) = 0",
		"10 unlinkat(AT_FDCWD<"+hexed("/")+">, "+quoted("/d/out/a/x")+", 0) = 0",
		answered,
		"10 +++ killed by SIGKILL +++",
	)
	if err != nil {
		t.Fatal(err)
	}
	x := "/d/out/a/.x"
	want := [][]Operation{{
		{Do: "mkdir", Path: "/d/out/a"},
		{Do: "open", Path: x, FD: 5, Flags: []string{Create, Excl}},
		{Do: "write", Path: x, FD: 5, Data: Bytes("r0, r1\n")},
		{Do: "seek", Path: x, FD: 5, At: 3},
		{Do: "truncate", Path: x, FD: 5, At: 2},
		{Do: "write", Path: x, FD: 5, Data: Bytes("only")},
		{Do: "sync", Path: x, FD: 5},
	}, {
		{Do: "sync", Path: "/d/out/a"},
		{Do: "writeat", Path: x, FD: 5, Data: Bytes("at five"), At: 5},
		{Do: "write", Path: x, FD: 5, Data: Bytes("[a], b]\n")},
		{Do: "write", Path: x, FD: 5, Data: Bytes("ha")},
		{Do: "writeat", Path: x, FD: 5, Data: Bytes("c\n"), At: 99},
		{Do: "write", Path: x, FD: 5, Data: Bytes("d\n")},
		{Do: "close", Path: x, FD: 5},
		{Do: "rename", Path: x, To: "/d/out/a/x"},
		{Do: "remove", Path: "/d/out/a/x"},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// What is written by another number, or by another process, is written to the file. It is closed with the last number of the process
// that opened it.
func TestTracerNumbers(t *testing.T) {
	at := func(fd, path string) string { return fd + "<" + hexed(path) + ">" }
	x := func(fd string) string { return at(fd, "/d/out/x") }
	opens := func(pid, fd, path string) string {
		return pid + ` openat(AT_FDCWD<` + hexed("/") + `>, "` + hexed(path) + `", O_WRONLY|O_CREAT) = ` + at(fd, path)
	}
	writes := func(pid, file, text string) string { return pid + " write(" + file + `, "` + hexed(text) + `", 9) = 1` }
	opened := Operation{Do: "open", Path: "/d/out/x", FD: 5, Flags: []string{Create}}
	wrote := func(fd int, text string) Operation {
		return Operation{Do: "write", Path: "/d/out/x", FD: fd, Data: Bytes(text)}
	}
	closed := Operation{Do: "close", Path: "/d/out/x", FD: 5}
	const fork = "clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD, child_tidptr=0x7f)"
	const thread = "clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD, exit_signal=0} => {parent_tid=[0]}, 88)"
	begun := func(call string) string { return strings.TrimSuffix(call, ")") + " <unfinished ...>" }
	for name, test := range map[string]struct {
		lines []string
		want  []Operation
	}{
		"dup": {[]string{
			"1 dup(" + x("5") + ") = " + x("6"), "1 close(" + x("5") + ") = 0", writes("1", x("6"), "a"),
			"1 fcntl(" + x("6") + ", F_DUPFD_CLOEXEC, 10) = " + x("10"), "1 close(" + x("6") + ") = 0", writes("1", x("10"), "b"),
			"1 fcntl(" + x("10") + ", F_GETFD) = 0x1 (flags FD_CLOEXEC)",
			"1 dup3(" + x("10") + ", 7, O_CLOEXEC) = " + x("7"), "1 close(" + x("10") + ") = 0", writes("1", x("7"), "c"),
			"1 dup2(" + x("7") + ", " + x("7") + ") = " + x("7"), writes("1", x("7"), "d"),
			"1 dup2(" + at("8", "/d/y") + ", " + x("7") + ") = " + at("7", "/d/y"), writes("1", at("7", "/d/y"), "e"),
		}, []Operation{wrote(5, "a"), wrote(5, "b"), wrote(5, "c"), wrote(5, "d"), {Do: "close", FD: 5}}},
		"a child": {[]string{
			"1 " + fork + " = 2", "2 close(" + x("5") + ") = 0", writes("2", x("5"), "none"),
			"2 +++ exited with 0 +++", writes("1", x("5"), "a"), "1 close(" + x("5") + ") = 0",
		}, []Operation{wrote(5, "a"), closed}},
		"vfork": {[]string{
			"1 vfork( <unfinished ...>", "2 dup2(" + x("5") + ", " + at("1", "pipe:[7]") + ") = " + x("1"), writes("2", x("1"), "a"),
			"1 <... vfork resumed>) = 2", "2 close_range(3, 4294967295, 0) = 0", writes("2", x("1"), "b"), "2 +++ exited with 0 +++",
			"1 close_range(" + x("5") + ", ~0U, CLOSE_RANGE_CLOEXEC) = 0", writes("1", x("5"), "c"), "1 close_range(" + x("5") + ", ~0U, 0) = 0",
		}, []Operation{wrote(5, "a"), wrote(5, "b"), wrote(5, "c"), {Do: "close", FD: 5}}},
		"a child that is over before its parent knows": {[]string{
			"1 " + begun(fork), "2 close(" + x("5") + ") = 0", "2 +++ exited with 0 +++", "1 <... clone resumed>) = 2",
			writes("1", x("5"), "a"), "1 close(" + x("5") + ") = 0", "1 " + fork + " = 2", opens("2", "5", "/d/out/x"),
		}, []Operation{wrote(5, "a"), closed, opened}},
		"a child that was not started": {[]string{
			"1 " + begun(fork), "1 <... clone resumed>) = -1 EAGAIN (Resource temporarily unavailable)", opens("1", "6", "/d/out/y"),
			"1 " + fork + " = 2", writes("2", at("6", "/d/out/y"), "a"),
		}, []Operation{{Do: "open", Path: "/d/out/y", FD: 6, Flags: []string{Create}}, {Do: "write", Path: "/d/out/y", FD: 6, Data: Bytes("a")}}},
		"a child of a child": {[]string{
			"1 vfork( <unfinished ...>", "2 close(" + x("5") + ") = 0", "2 " + begun(fork), writes("3", x("5"), "none"),
			"2 <... clone resumed>) = 3", "1 <... vfork resumed>) = 2", writes("1", x("5"), "a"),
		}, []Operation{wrote(5, "a")}},
		"a child of a child, and no call returns": {[]string{
			"1 vfork( <unfinished ...>", opens("2", "6", "/d/out/y"), "2 " + begun(fork), writes("3", at("6", "/d/out/y"), "a"),
		}, []Operation{{Do: "open", Path: "/d/out/y", FD: 6, Flags: []string{Create}}, {Do: "write", Path: "/d/out/y", FD: 6, Data: Bytes("a")}}},
		"a thread": {[]string{
			"1 " + thread + " = 2", writes("2", x("5"), "a"), "2 close(" + x("5") + ") = 0", writes("1", x("5"), "none"),
		}, []Operation{wrote(5, "a"), closed}},
		"a thread and a process at once": {[]string{
			"1 " + thread + " = 2", "1 vfork( <unfinished ...>", "2 " + begun(thread),
			"3 close(" + x("5") + ") = 0", "4 close(" + x("5") + ") = 0", "1 <... vfork resumed>) = 3", "2 <... clone3 resumed>, 88) = 4",
		}, []Operation{closed}},
		"a process and a thread at once": {[]string{
			"1 " + thread + " = 2", "1 vfork( <unfinished ...>", "2 " + begun(thread), writes("3", x("5"), "a"),
			"3 close(" + x("5") + ") = 0", writes("4", x("5"), "b"), "2 <... clone3 resumed>, 88) = 3", "1 <... vfork resumed>) = 4",
		}, []Operation{wrote(5, "a"), closed, {Do: "open", Path: "/d/out/x", FD: 5}, {Do: "seek", Path: "/d/out/x", FD: 5, At: 1}, wrote(5, "b")}},
		"a close is over when it begins": {[]string{
			"1 " + thread + " = 2", "1 close(" + x("5") + " <unfinished ...>", opens("2", "5", "/d/out/x"), "1 <... close resumed>) = 0",
			writes("2", x("5"), "a"),
		}, []Operation{closed, opened, wrote(5, "a")}},
		"the same number in a child": {[]string{
			"1 " + fork + " = 2", "2 close(" + x("5") + ") = 0", opens("2", "5", "/d/out/y"), writes("2", at("5", "/d/out/y"), "a"),
			writes("1", x("5"), "b"), "2 +++ killed by SIGKILL +++", "1 close(" + x("5") + ") = 0",
		}, []Operation{{Do: "open", Path: "/d/out/y", FD: firstFree, Flags: []string{Create}},
			{Do: "write", Path: "/d/out/y", FD: firstFree, Data: Bytes("a")}, wrote(5, "b"), {Do: "close", FD: firstFree}, closed}},
		"a child has it longer": {[]string{
			writes("1", x("5"), "a"), "1 " + fork + " = 2", "1 close(" + x("5") + ") = 0", opens("1", "5", "/d/out/y"),
			"2 fsync(" + x("5") + ") = 0", writes("2", x("5"), "b"), "2 close(" + x("5") + ") = 0",
		}, []Operation{wrote(5, "a"), closed, {Do: "open", Path: "/d/out/y", FD: 5, Flags: []string{Create}}, {Do: "sync", Path: "/d/out/x"},
			{Do: "open", Path: "/d/out/x", FD: firstFree}, {Do: "seek", Path: "/d/out/x", FD: firstFree, At: 1}, wrote(firstFree, "b"),
			{Do: "close", Path: "/d/out/x", FD: firstFree}}},
		"removed": {[]string{
			"1 " + fork + " = 2", writes("1", x("5")+"(deleted)", "a"), "1 close(" + x("5") + "(deleted)) = 0",
			writes("2", x("5")+"(deleted)", "none"), "2 fsync(" + x("5") + "(deleted)) = 0", "2 fsync(" + at("9", "/d/out/a") + "(deleted)) = 0",
		}, []Operation{wrote(5, "a"), closed}},
		"executed": {[]string{ // which has closed it
			writes("1", at("5", "socket:[8]"), "none"), opens("1", "5", "/d/out/x"), opens("1", "5", "/d/out/x"),
		}, []Operation{{Do: "close", FD: 5}, opened, {Do: "close", FD: 5}, opened}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := read(t, append(append([]string{opens("1", "5", "/d/out/x")}, test.lines...), answered)...)
			if err != nil || len(got) != 1 {
				t.Fatal(got, err)
			}
			if want := append([]Operation{opened}, test.want...); !reflect.DeepEqual(got[0], want) {
				t.Errorf("got\n%+v\nwant\n%+v", got[0], want)
			}
		})
	}
}

// An answer is what is written to its pipe, by whatever number, call and process, and not what is written to another.
func TestTracerAnswers(t *testing.T) {
	pipe := "<" + hexed("pipe:[7]") + ">"
	mkdir := func(name string) string { return `1 mkdir("` + hexed("/d/out/"+name) + `", 0777) = 0` }
	made := func(names ...string) (all []Operation) {
		for _, name := range names {
			all = append(all, Operation{Do: "mkdir", Path: "/d/out/" + name})
		}
		return all
	}
	got, err := read(t,
		`2 write(1<`+hexed("pipe:[8]")+`>, "`+hexed("hi\n")+`", 3) = 3`,
		`2 write(1<`+hexed("/d/log")+`>, "`+hexed("hi\n")+`", 3) = 3`,
		mkdir("a"),
		`1 writev(1`+pipe+`, [{iov_base="`+hexed("{}")+`", iov_len=2}, {iov_base="`+hexed("\n")+`", iov_len=1}], 2) = 3`,
		mkdir("b"),
		`1 write(1`+pipe+`, "`+hexed("{}")+`", 2) = 2`, mkdir("c"), `1 write(4`+pipe+`, "`+hexed("\n")+`", 1) = 1`,
		mkdir("d"),
		`3 splice(4<`+hexed("pipe:[8]")+`>, NULL, 1`+pipe+`, NULL, 9, 0) = 3`,
		mkdir("e"),
		`1 sendfile(1`+pipe+`, 5<`+hexed("/d/y")+`>, NULL, 9) = 3`,
		mkdir("f"),
	)
	if want := [][]Operation{made("a"), made("b", "c"), made("d"), made("e")}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, %v\nwant\n%+v", got, err, want)
	}
}

// What was recorded between two sinks is of none, and the numbers that were open then are of the first.
func TestForget(t *testing.T) {
	r := &running{record: newRecord(), open: map[int]bool{3: true}, old: map[int]bool{4: true}}
	r.record.add(6, 6, []Operation{{Do: "remove", Path: "/d/out/x"}, {Do: "open", Path: "/d/out/y", FD: 5}, {Do: "close", FD: 4}}, errors.New("links"))
	r.forget()
	r.record.add(6, 9, []Operation{{Do: "write", FD: 3}, {Do: "write", FD: 5}, {Do: "open", FD: 4}, {Do: "write", FD: 4}, {Do: "close", FD: 3}, {Do: "sync"}, {Do: "write", FD: 3}}, nil)
	operations, err := r.record.take(9)
	if err != nil {
		t.Fatal(err)
	}
	want := []Operation{{Do: "open", FD: 4}, {Do: "write", FD: 4}, {Do: "sync"}, {Do: "write", FD: 3}}
	if got := r.current(operations); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Paths are relative to where the process is, which is not where its child is.
func TestTracerWorkingDirectory(t *testing.T) {
	mkdir := func(pid, name string) string { return pid + ` mkdir("` + hexed(name) + `", 0777) = 0` }
	got, err := read(t, mkdir("1", "out/a"), mkdir("1", "a"), "1 vfork() = 2",
		`2 chdir("`+hexed("out/a")+`") = 0`, mkdir("2", "../b"), mkdir("1", "out/c"), "1 fchdir(3<"+hexed("/d/out")+">) = 0", mkdir("1", "d"),
		`1 renameat(AT_FDCWD<`+hexed("/d/out/c")+`>, "`+hexed("../d")+`", AT_FDCWD, "`+hexed("./c//e")+`") = 0`, answered)
	want := [][]Operation{{{Do: "mkdir", Path: "/d/out/a"}, {Do: "mkdir", Path: "/d/out/b"}, {Do: "mkdir", Path: "/d/out/c"},
		{Do: "mkdir", Path: "/d/out/d"}, {Do: "rename", Path: "/d/out/d", To: "/d/out/c/e"}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, %v\nwant\n%+v", got, err, want)
	}
}

// What cannot be played again is told and not passed over.
func TestTracerRefuses(t *testing.T) {
	opened := `1 openat(AT_FDCWD<` + hexed("/") + `>, "` + hexed("/d/out/x") + `", O_WRONLY) = 5<` + hexed("/d/out/x") + ">\n"
	x := "5<" + hexed("/d/out/x") + ">"
	for _, line := range []string{
		`1 link("` + hexed("/d/out/x") + `", "` + hexed("/d/out/y") + `") = 0`,
		opened + `1 write(` + x + `, "` + hexed("r0") + `"..., 4) = 4`,
		opened + `1 writev(` + x + `, [{iov_base="` + hexed("r0") + `"..., iov_len=4}], 1) = 4`,
		opened + `1 pwrite64(` + x + `, "` + hexed("r0") + `"..., 4, 0) = 4`,
		opened + `1 fallocate(` + x + `, 0, 0, 4096) = 0`,
		opened + `1 fallocate(` + x + `, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 0, 4096) = 0`,
		opened + `1 sendfile(` + x + `, 7<` + hexed("/d/y") + `>, NULL, 9) = 9`,
		opened + `1 copy_file_range(7<` + hexed("/d/y") + `>, NULL, ` + x + `, NULL, 9, 0) = 9`,
		`1 renameat2(AT_FDCWD, "` + hexed("/d/out/x") + `", AT_FDCWD, "` + hexed("/d/out/y") + `", RENAME_EXCHANGE) = 0`,
		`1 openat(AT_FDCWD, "` + hexed("/d/out") + `", O_WRONLY|O_TMPFILE, 0666) = 5<` + hexed("/d/out/#7") + `>`,
		`1 sync() = 0`,
		`1 syncfs(7<` + hexed("/d/y") + `>) = 0`,
	} {
		if _, err := read(t, line, answered); !errors.Is(err, ErrProcess) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// Whatever is in the directory otherwise than the operations say is found.
func TestShadow(t *testing.T) {
	real := filepath.Join(t.TempDir(), "out")
	file := filepath.Join(real, "a", "x")
	s := newShadow(real)
	differs := func(want string) {
		t.Helper()
		if got, err := s.differs(); err != nil || want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q, %v; want %q in it", got, err, want)
		}
	}
	do := func(err error, operations ...Operation) {
		t.Helper()
		for _, o := range operations {
			err = errors.Join(err, s.Play(o))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	differs("")
	do(os.MkdirAll(filepath.Dir(file), 0o755), Operation{Do: "mkdir", Path: real})
	differs("was made")
	do(nil, Operation{Do: "mkdir", Path: filepath.Dir(file)})
	differs("")
	do(os.WriteFile(file, []byte("r0\n"), 0o644), Operation{Do: "open", Path: file, FD: 3, Flags: []string{Create}})
	differs("holds 3 bytes")
	do(nil, Operation{Do: "write", FD: 3, Data: Bytes("r0\n")}, Operation{Do: "close", FD: 3})
	differs("")
	do(os.Remove(file))
	differs("no operation has removed it")
}
