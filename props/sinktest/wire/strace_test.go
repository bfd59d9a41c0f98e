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

func read(t *testing.T, lines ...string) (all [][]Operation, err error) {
	t.Helper()
	tracer := &tracer{dir: "/d/out", pending: map[string]string{}, files: map[string]bool{}}
	out := make(chan batch, 10)
	tracer.read(strings.NewReader(strings.Join(lines, "\n")+"\n"), out)
	for b := range out {
		all, err = append(all, b.operations), b.err
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
		"10 +++ killed by SIGKILL +++",
		answered,
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
		opened + `1 dup(` + x + `) = 6<` + hexed("/d/out/x") + ">",
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
