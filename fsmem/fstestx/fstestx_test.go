package fstestx_test

import (
	"bytes"
	"cmp"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sinklab/fsmem"
	"sinklab/fsmem/fstestx"

	"github.com/spf13/afero"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata/fstestx; read the difference before committing it")

// testdata is at the top of the module. A process of another user, who may not be able
// to go there, gets a copy and is told by the environment.
var testdata = cmp.Or(os.Getenv(testdataEnv), "../../testdata/fstestx")

const testdataEnv = "FSTESTX_TESTDATA"

func TestMain(m *testing.M) {
	flag.Parse()
	// Modes are compared between trees: the shell's umask must not decide that.
	syscall.Umask(0o022)
	os.Exit(m.Run())
}

func disk(t testing.TB) fstestx.Tree {
	return fstestx.Tree{FS: afero.NewOsFs(), Dir: t.TempDir()}
}

func diskOptions(t *testing.T) fstestx.Options {
	work, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return fstestx.Options{WorkDir: work, Permissions: os.Geteuid() != 0}
}

func TestDiskKeepsEveryRule(t *testing.T) {
	fstestx.Run(t, disk, diskOptions(t))
}

// An ordinary user is kept out by mode bits, root is not. If this process is
// root, the tests that touch the disk run once more in a process of the user nobody.
func TestDiskForAnOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root: the other tests are those of an ordinary user")
	}
	const nobody = 65534
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Skip("no way to run this binary again: ", err)
	}
	defer self.Close()
	// Not t.TempDir, whose parent the user cannot search.
	dir, err := os.MkdirTemp("", "fstestx-user-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	data := filepath.Join(dir, "testdata")
	if err := os.CopyFS(data, os.DirFS(testdata)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Skip("the machine does not let files be given away: ", err)
	}
	// By descriptor, since the directory of the binary is root's own.
	cmd := exec.Command("/proc/self/fd/3", "-test.v", "-rapid.checks=200",
		"-test.run=^(TestDiskKeepsEveryRule|TestRecordedPrograms|TestMemoryAndDiskGiveTheSameResults)$")
	cmd.ExtraFiles = []*os.File{self}
	cmd.Dir = dir
	cmd.Env = []string{"TMPDIR=" + dir, "PATH=" + os.Getenv("PATH"), testdataEnv + "=" + data}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if len(out) == 0 && err != nil {
		t.Skip("the machine does not let this process become another user: ", err)
	}
	if err != nil {
		t.Fatalf("as user %d: %v\n%s", nobody, err, out)
	}
	for _, want := range []string{"TestDiskKeepsEveryRule/permission/read", "TestRecordedPrograms", "TestMemoryAndDiskGiveTheSameResults"} {
		if !bytes.Contains(out, []byte("--- PASS: "+want+" ")) {
			t.Errorf("%s did not run:\n%s", want, out)
		}
	}
}

// skipMemMapFs are rules whose violation by MemMapFs stops the process or
// depends on the scheduler.
var skipMemMapFs = []string{
	"concurrent/create",
	"concurrent/exclusive",
	"concurrent/append",
	"concurrent/rename-remove", // fatal error: sync: RUnlock of unlocked RWMutex
	"concurrent/stat",
}

// The suite is worth what it finds: MemMapFs breaks exactly the recorded rules.
func TestMemMapFsBreaksTheRecordedRules(t *testing.T) {
	err := fstestx.TestFS(func() fstestx.Tree {
		return fstestx.Tree{FS: afero.NewMemMapFs()}
	}, fstestx.Options{Skip: skipMemMapFs})
	var got []string
	for _, v := range fstestx.Violations(err) {
		got = append(got, v.Rule.Name)
	}
	golden := filepath.Join(testdata, "memmapfs.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	recorded, e := os.ReadFile(golden)
	if e != nil {
		t.Fatal(e)
	}
	want := strings.Fields(string(recorded))
	for _, v := range fstestx.Violations(err) {
		if !slices.Contains(want, v.Rule.Name) {
			t.Errorf("broken and not recorded: %v", v)
		}
	}
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("recorded and not broken: %s", name)
		}
	}
}

func TestMemoryKeepsEveryRule(t *testing.T) {
	for _, user := range []int{0, 1000} {
		t.Run("uid="+strconv.Itoa(user), func(t *testing.T) {
			fstestx.Run(t, func(testing.TB) fstestx.Tree {
				return fstestx.Tree{FS: fsmem.New(fsmem.Options{UID: user, GID: user})}
			}, fstestx.Options{Permissions: user != 0})
		})
	}
}

// The layer that makes a disk fail changes nothing while it has no rules.
func TestWrappedDiskKeepsEveryRule(t *testing.T) {
	fstestx.Run(t, func(t testing.TB) fstestx.Tree {
		return fstestx.Tree{FS: fsmem.Wrap(afero.NewOsFs(), fsmem.WrapOptions{}), Dir: t.TempDir()}
	}, diskOptions(t))
}

// A tree below the root gives the same answers as the root.
func TestMemoryKeepsEveryRuleBelowTheRoot(t *testing.T) {
	err := fstestx.TestFS(func() fstestx.Tree {
		m := fsmem.New(fsmem.Options{})
		if err := m.MkdirAll("/x/y", 0o755); err != nil {
			t.Fatal(err)
		}
		return fstestx.Tree{FS: m, Dir: "/x/y"}
	}, fstestx.Options{})
	if err != nil {
		t.Error(err)
	}
}

func TestEveryRuleIsComplete(t *testing.T) {
	var names []string
	for _, r := range fstestx.Rules() {
		if r.Name == "" || r.Text == "" || r.Source == "" || r.Place == "" {
			t.Errorf("%s: rule %q lacks text, source or place", r.Place, r.Name)
		}
		if !slices.Contains([]string{"", "symlinks", "permissions", "root"}, r.Needs) {
			t.Errorf("%s: rule %q needs %q", r.Place, r.Name, r.Needs)
		}
		if slices.Contains(names, r.Name) {
			t.Errorf("%s: rule %q is there twice", r.Place, r.Name)
		}
		names = append(names, r.Name)
	}
	if len(names) < 100 {
		t.Errorf("only %d rules", len(names))
	}
}
