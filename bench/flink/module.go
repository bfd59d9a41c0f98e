package flink

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// sources are the Maven module. They are part of the program, so it works wherever it is
// installed, and never with sources of another version.
//
//go:embed pom.xml checksums.sha256 src
var sources embed.FS

// ErrTools says that Java or Maven is missing or too old. Its text says how to get them; tests
// that need them are skipped with it.
var ErrTools = errors.New("the real Flink needs Java 17 and Maven: install them (Debian and Ubuntu: apt-get install openjdk-17-jdk-headless maven) and have java, javac and mvn on the PATH, or set JAVA_HOME")

// ErrChecksum says that a jar which Maven has brought is not the one that this module was
// written against. Remove it from Maven's local repository and try again.
var ErrChecksum = errors.New("a jar is not the one in checksums.sha256")

// Module is the compiled Java side.
type Module struct {
	Java      string   // the java program
	Classes   string   // directory of the module's own classes
	ClassPath []string // Flink and all that it needs
}

// Build finds Java and Maven, compiles the module if that was not done before, and checks the
// jars. The first time takes a minute and fetches about 100 MB from Maven Central; later it
// takes less than a second and needs no Maven.
func Build(ctx context.Context) (*Module, error) {
	java, err := findJava(ctx)
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("where to put compiled Java classes: %w", err)
	}
	digest, err := sourceDigest()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cache, "sinklab", "flink-"+digest[:16])
	if _, err := os.Stat(filepath.Join(dir, "classpath")); errors.Is(err, fs.ErrNotExist) {
		if err := compile(ctx, java, dir); err != nil {
			return nil, err
		}
	}
	paths, err := os.ReadFile(filepath.Join(dir, "classpath"))
	if err != nil {
		return nil, err
	}
	m := &Module{Java: java, Classes: filepath.Join(dir, "target", "classes"), ClassPath: filepath.SplitList(strings.TrimSpace(string(paths)))}
	if err := verify(m.ClassPath); err != nil {
		// Maven's repository may have been emptied; next time Maven is asked again.
		return nil, errors.Join(err, os.Remove(filepath.Join(dir, "classpath")))
	}
	return m, nil
}

// Command is java with the module on its class path and Flink's needs met. Flags of the virtual
// machine go before the class.
func (m *Module) Command(ctx context.Context, args ...string) *exec.Cmd {
	all := append(strings.Fields("-XX:+UseSerialGC -Dfile.encoding=UTF-8 -Dsun.jnu.encoding=UTF-8"+
		" --add-opens=java.base/java.util=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED"+
		" --add-opens=java.base/java.time=ALL-UNNAMED --add-opens=java.base/java.io=ALL-UNNAMED"),
		"-cp", strings.Join(append([]string{m.Classes}, m.ClassPath...), string(filepath.ListSeparator)))
	cmd := exec.CommandContext(ctx, m.Java, append(all, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8") // Java names files by the locale
	return cmd
}

// findJava returns a Java of at least version 17: that of JAVA_HOME, or the one on the PATH.
func findJava(ctx context.Context) (string, error) {
	java, err := exec.LookPath("java")
	if home := os.Getenv("JAVA_HOME"); home != "" {
		java, err = exec.LookPath(filepath.Join(home, "bin", "java"))
	}
	if err != nil {
		return "", fmt.Errorf("%w (%w)", ErrTools, err)
	}
	out, err := exec.CommandContext(ctx, java, "-version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w (%s -version: %w)", ErrTools, java, err)
	}
	if version := javaVersion(string(out)); version < 17 {
		return "", fmt.Errorf("%w (%s is version %d)", ErrTools, java, version)
	}
	return java, nil
}

var javaVersionText = regexp.MustCompile(`version "(\d+)`)

// javaVersion reads what java -version prints; 0 if that is something else.
func javaVersion(text string) int {
	m := javaVersionText.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// sourceDigest names the sources by their content.
func sourceDigest() (string, error) {
	h := sha256.New()
	err := fs.WalkDir(sources, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := sources.ReadFile(path)
		fmt.Fprintf(h, "%s %d\n", path, len(content))
		h.Write(content)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// compile has Maven compile the sources in a directory of their own, which takes its place
// when it is whole. Of two that do so at once the first wins.
func compile(ctx context.Context, java, dir string) (err error) {
	maven, err := exec.LookPath("mvn")
	if err != nil {
		return fmt.Errorf("%w (%w)", ErrTools, err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), ".build")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if err := os.CopyFS(temp, sources); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, maven, "--batch-mode", "--quiet", "compile", "dependency:build-classpath", "-Dmdep.outputFile=classpath")
	cmd.Dir = temp
	if os.Getenv("JAVA_HOME") == "" {
		// Maven needs a compiler too; it finds the one beside the java that was found.
		if real, err := filepath.EvalSymlinks(java); err == nil {
			cmd.Env = append(os.Environ(), "JAVA_HOME="+filepath.Dir(filepath.Dir(real)))
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		if unreachable.Match(out) {
			return fmt.Errorf("%w; Maven is there and could not fetch Flink:\n%s", ErrTools, out)
		}
		return fmt.Errorf("mvn compile: %w\n%s", err, out)
	}
	err = os.Rename(temp, dir)
	if _, there := os.Stat(filepath.Join(dir, "classpath")); there == nil {
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		// Without its class path, because a jar was not what it should be.
		return os.Rename(filepath.Join(temp, "classpath"), filepath.Join(dir, "classpath"))
	}
	return err
}

// unreachable is what Maven says where it has no network and has not been here before.
var unreachable = regexp.MustCompile(`Could not resolve|Could not transfer|could not be resolved`)

// verify compares the jars with the list: each must be on it, and no other.
func verify(jars []string) error {
	list, err := sources.ReadFile("checksums.sha256")
	if err != nil {
		return err
	}
	want := map[string]string{} // by path below the repository
	for line := range strings.Lines(string(list)) {
		sum, path, _ := strings.Cut(strings.TrimSpace(line), "  ")
		want[path] = sum
	}
	for _, jar := range jars {
		path, known := listed(jar, want)
		if !known {
			return fmt.Errorf("%w: %s is not on the list", ErrChecksum, jar)
		}
		sum, err := fileSum(jar)
		if err != nil {
			return err
		}
		if sum != want[path] {
			return fmt.Errorf("%w: %s has the SHA-256 %s, not %s", ErrChecksum, jar, sum, want[path])
		}
		delete(want, path)
	}
	if len(want) > 0 {
		return fmt.Errorf("%w: %d jars of the list are not on the class path", ErrChecksum, len(want))
	}
	return nil
}

// listed finds a jar's path below the repository, wherever that is: the longest end of
// the path that is on the list.
func listed(jar string, want map[string]string) (string, bool) {
	path := filepath.ToSlash(jar)
	for {
		if _, ok := want[path]; ok {
			return path, true
		}
		_, rest, more := strings.Cut(path, "/")
		if !more {
			return "", false
		}
		path = rest
	}
}

func fileSum(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}
