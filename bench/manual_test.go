package bench_test

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// block is a command of the manual with the output that it shows, which may be none.
type block struct{ command, output string }

// manual reads the commands out of the package's documentation: code blocks that begin
// with "$ ".
func manual(t *testing.T) (blocks []block) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	var p comment.Parser
	for _, b := range p.Parse(textOf(file.Doc)).Content {
		code, ok := b.(*comment.Code)
		if !ok || !strings.HasPrefix(code.Text, "$ ") {
			continue
		}
		var now block
		for line := range strings.Lines(code.Text) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				if now.command != "" {
					blocks = append(blocks, now)
				}
				now = block{command: strings.TrimSpace(command)}
				continue
			}
			now.output += line
		}
		blocks = append(blocks, now)
	}
	return blocks
}

func textOf(doc *ast.CommentGroup) string { return doc.Text() }

// The commands of the manual work as they are written there, one after the other, and
// where it shows what they print they print that. They run in a copy of the module, with less
// to measure than "make bench" has by itself.
func TestManual(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	blocks := manual(t)
	if len(blocks) < 8 {
		t.Fatalf("%d commands found in doc.go, there should be more", len(blocks))
	}
	dir := copyOfModule(t)
	for _, b := range blocks {
		command := exec.Command("bash", "-c", b.command)
		command.Dir = dir
		command.Env = append(os.Environ(), "ROUNDS=6", "ONLY=Settings|State", "DROP=1", "MAKEFLAGS=")
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("$ %s\n%s%v", b.command, out, err)
		}
		if b.output != "" && trimmed(string(out)) != trimmed(b.output) {
			t.Errorf("$ %s\nprints\n%s\nand not\n%s", b.command, out, b.output)
		}
	}
}

// README.md shows the table with which "make bench" ends.
func TestReadmeShowsTheTable(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	plan := exec.Command("make", "-s", "-n", "bench")
	plan.Dir = ".."
	lines, err := plan.Output()
	if err != nil {
		t.Fatal(err)
	}
	for command := range strings.Lines(string(lines)) {
		if !strings.Contains(command, "-row .name") {
			continue
		}
		table := exec.Command("bash", "-c", strings.Replace(command, "out/bench.txt", "testdata/bench/baseline.txt", 1))
		table.Dir = ".."
		out, err := table.Output()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(trimmed(string(readme)), trimmed(string(out))) {
			t.Errorf("README.md does not show\n%s", out)
		}
		return
	}
	t.Error("make bench prints no table with one row")
}

// trimmed drops white space at the ends of lines, which the documentation cannot hold, and
// empty lines around the text.
func trimmed(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// copyOfModule copies what git would commit of the module, and commits it in the copy.
func copyOfModule(t *testing.T) string {
	t.Helper()
	list, err := exec.Command("git", "-C", "..", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skipf("the module is not under git, so there is nothing to compare revisions of: %v", err)
	}
	dir := t.TempDir()
	for _, name := range slices.Compact(strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00")) {
		content, err := os.ReadFile(filepath.Join("..", name))
		if os.IsNotExist(err) {
			continue // deleted and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, content, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "all"}} {
		git := exec.Command("git", args...)
		git.Dir = dir
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	return dir
}
