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
	for _, line := range []string{
		`1 link("` + hexed("/d/out/x") + `", "` + hexed("/d/out/y") + `") = 0`,
		`1 openat(AT_FDCWD<` + hexed("/") + `>, "` + hexed("/d/out/x") + `", O_WRONLY) = 5<` + hexed("/d/out/x") + ">\n" +
			`1 pwrite64(5<` + hexed("/d/out/x") + `>, "` + hexed("r0") + `", 2, 0) = 2`,
		`1 openat(AT_FDCWD<` + hexed("/") + `>, "` + hexed("/d/out/x") + `", O_WRONLY) = 5<` + hexed("/d/out/x") + ">\n" +
			`1 write(5<` + hexed("/d/out/x") + `>, "` + hexed("r0") + `"..., 4) = 4`,
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
