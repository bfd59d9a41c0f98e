package fstestx

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
)

// Rule is one sentence about what a local Linux file system does.
type Rule struct {
	// Name is AREA/WHAT, such as "rename/over-file".
	Name string
	// Text says the rule.
	Text string
	// Source is where the rule stands: a manual page and its section, or the
	// contract of package os or io.
	Source string
	// Place is the file and line of the rule in this package.
	Place string
	// Needs says what the rule cannot be checked without: nothing, "symlinks"
	// (FS is an afero.Symlinker), "permissions" (Options.Permissions) or "root"
	// (the tree is the root of FS).
	Needs string

	steps []step
	check func(*check)
}

// Violation is a rule that a file system does not keep.
type Violation struct {
	Rule     Rule
	Problems []Problem // at least one
}

// Problem is one thing that was seen to be wrong.
type Problem struct {
	Place string // file and line in this package of the step or the check
	Text  string
}

// Error names the rule, its source and its place, then each problem and its place.
func (v *Violation) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s [%s] (%s)", v.Rule.Name, v.Rule.Text, v.Rule.Source, v.Rule.Place)
	for _, p := range v.Problems {
		fmt.Fprintf(&b, "\n\t%s: %s", p.Place, strings.ReplaceAll(p.Text, "\n", "\n\t\t"))
	}
	return b.String()
}

// Violations returns the violations in an error of [TestFS], in the order of the rules.
func Violations(err error) []*Violation {
	var v *Violation
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*Violation
		for _, e := range joined.Unwrap() {
			all = append(all, Violations(e)...)
		}
		return all
	}
	if errors.As(err, &v) {
		return []*Violation{v}
	}
	return nil
}

// Options say what the suite must know of the file system. The zero value is
// right for a file system in memory that does not check permissions.
type Options struct {
	_ struct{}
	// WorkDir is the directory from which the file system reads relative
	// names; empty means the root. For the disk it is what os.Getwd returns.
	WorkDir string
	// Permissions says that mode bits keep the caller out. It is false for root
	// and for a file system that has no notion of a user.
	Permissions bool
	// Skip are names of rules not to check, for a file system whose
	// violation would stop the process. An unknown name is an error.
	Skip []string
}

func (o Options) validate() error {
	known := Rules()
	for _, name := range o.Skip {
		if !slices.ContainsFunc(known, func(r Rule) bool { return r.Name == name }) {
			return fmt.Errorf("fstestx: Options.Skip: no rule %q", name)
		}
	}
	return nil
}

// Rules returns all rules, in the order in which they are checked.
func Rules() []Rule { return slices.Clone(allRules()) }

// TestFS checks a file system against every [Rule]. newTree is called once for each
// rule and must return a new, empty tree; a rule does nothing to a tree that is not
// empty, and is violated. All rules are checked, whatever the
// first ones give: the error is nil, or joins one *[Violation] for each rule that is
// not kept (see [Violations]). A rule whose needs are not met is not
// checked; rule "symlink/supported" says whether the symbolic link rules were.
func TestFS(newTree func() Tree, opts Options) error {
	if err := opts.validate(); err != nil {
		return err
	}
	var all []error
	for _, r := range allRules() {
		if slices.Contains(opts.Skip, r.Name) {
			continue
		}
		tree := newTree()
		if r.missing(tree, opts) != "" {
			continue
		}
		if v := r.run(tree, opts); v != nil {
			all = append(all, v)
		}
	}
	return errors.Join(all...)
}

// Run is [TestFS] with a subtest for each rule. A rule that is not checked is
// skipped and says why. newTree gets the subtest, whose TempDir it may use.
func Run(t *testing.T, newTree func(t testing.TB) Tree, opts Options) {
	t.Helper()
	if err := opts.validate(); err != nil {
		t.Fatal(err)
	}
	for _, r := range allRules() {
		t.Run(r.Name, func(t *testing.T) {
			if slices.Contains(opts.Skip, r.Name) {
				t.Skip("in Options.Skip")
			}
			tree := newTree(t)
			if why := r.missing(tree, opts); why != "" {
				t.Skip(why)
			}
			if v := r.run(tree, opts); v != nil {
				t.Error(v)
			}
		})
	}
}

// missing says what the rule needs and the tree does not have.
func (r Rule) missing(t Tree, opts Options) string {
	switch r.Needs {
	case "symlinks":
		if _, ok := t.FS.(afero.Symlinker); !ok {
			return "the file system is no afero.Symlinker"
		}
	case "root":
		if t.Dir != "" {
			return "the tree is not the root of its file system"
		}
	case "permissions":
		if !opts.Permissions {
			return "Options.Permissions is false"
		}
	}
	return ""
}

// run checks one rule.
func (r Rule) run(t Tree, opts Options) *Violation {
	c := &check{Tree: t, player: player{tree: t}, opts: opts, place: r.Place}
	defer c.player.close()
	c.guard(func() {
		c.must(t.empty())
		if r.check != nil {
			r.check(c)
			return
		}
		c.script(r.steps)
	})
	if len(c.problems) == 0 {
		return nil
	}
	return &Violation{Rule: r, Problems: c.problems}
}

// check is what a rule has at hand. Its methods record problems; a rule goes on
// after a problem unless it says must.
type check struct {
	Tree
	player   player
	opts     Options
	place    string // of the current step
	problems []Problem
}

// stop ends a rule early.
type stop struct{}

// guard runs f and turns a panic of the file system into a problem.
func (c *check) guard(f func()) {
	defer func() {
		v := recover()
		if _, ok := v.(stop); v != nil && !ok {
			c.player.broken = true
			c.problems = append(c.problems, Problem{c.place, fmt.Sprintf("%s%v%s", panicPrefix, v, panicPlace(debug.Stack()))})
		}
	}()
	f()
}

// keep has a handle closed at the end of the rule. A deferred Close would run
// during a panic of the file system, and wait for ever for a lock it holds.
func (c *check) keep(f afero.File) { c.player.all = append(c.player.all, f) }

// errorf records a problem at the line of the rule that calls it.
func (c *check) errorf(format string, args ...any) {
	_, file, line, _ := runtime.Caller(1)
	c.add(file, line, fmt.Sprintf(format, args...))
}

// must stops the rule if a step that is not its subject failed.
func (c *check) must(err error) {
	if err != nil {
		_, file, line, _ := runtime.Caller(1)
		c.add(file, line, fmt.Sprintf("cannot be checked: %v", err))
		panic(stop{})
	}
}

func (c *check) add(file string, line int, text string) {
	c.problems = append(c.problems, Problem{placeOf(file, line), text})
}

func placeOf(file string, line int) string {
	return fmt.Sprintf("%s:%d", file[strings.LastIndexByte(file, '/')+1:], line)
}
