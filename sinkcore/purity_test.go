package sinkcore_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// pure are the packages, by their directories, in which the same calls must give the same
// results.
var pure = []string{"sinkcore", "sinkcore/sim", "fsmem"}

// impure are the names that bring a clock, chance or the outer world in.
var impure = map[string][]string{
	"time":         {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Local"},
	"os":           {"Exit", "Stdin", "Stdout", "Stderr", "Args", "Getenv", "LookupEnv", "Environ", "Getpid", "Hostname"},
	"fmt":          {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	"runtime":      {"Goexit", "Gosched"},
	"math/rand/v2": {"Int", "IntN", "Int32", "Int32N", "Int64", "Int64N", "Uint", "UintN", "Uint32", "Uint32N", "Uint64", "Uint64N", "N", "Float32", "Float64", "ExpFloat64", "NormFloat64", "Perm", "Shuffle"},
	"maps":         {"Keys", "Values", "All"},
}

// unwanted are imports for which there is no good use in a pure package.
var unwanted = []string{"math/rand", "crypto/rand", "hash/maphash", "log", "log/slog", "os/exec", "os/signal", "testing", "unsafe"}

// orderless are the functions, by package and name, that range over a map where the order
// cannot be seen and not even a sort is needed.
var orderless = map[string]string{
	"fsmem usedBytes": "adds up",
}

// sources parses the Go files of a directory of this module.
func sources(t *testing.T, dir string, tests bool) (*token.FileSet, []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") && !tests {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return set, files
}

// imported gives the path of each import of a file by the name that it has there.
func imported(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range file.Imports {
		from := strings.Trim(spec.Path.Value, `"`)
		name := path.Base(strings.TrimSuffix(from, "/v2"))
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = from
	}
	return names
}

// unknown stands for all other packages: what comes from them has no type here.
type unknown struct{}

func (unknown) Import(from string) (*types.Package, error) {
	p := types.NewPackage(from, path.Base(strings.TrimSuffix(from, "/v2")))
	p.MarkComplete()
	return p, nil
}

// impurities lists what a package must not do, with the place.
func impurities(set *token.FileSet, files []*ast.File) (found []string) {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	checker := types.Config{Importer: unknown{}, Error: func(error) {}} // of the unknown there are many
	checker.Check("pure", set, files, info)
	report := func(at ast.Node, what string) {
		found = append(found, set.Position(at.Pos()).String()+": "+what)
	}
	for _, file := range files {
		names := imported(file)
		for _, spec := range file.Imports {
			for _, from := range unwanted {
				if strings.Trim(spec.Path.Value, `"`) == from {
					report(spec, "import of "+from)
				}
			}
		}
		ordered := map[ast.Node]bool{} // calls of maps.Keys and so on whose result is sorted at once
		var function *ast.FuncDecl
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				function = n
			case *ast.GoStmt:
				report(n, "go statement")
			case *ast.RangeStmt:
				if known := info.Types[n.X].Type; known != nil {
					_, isMap := known.Underlying().(*types.Map)
					if isMap && (function == nil || !sortsAfter(function, n) && orderless[file.Name.Name+" "+function.Name.Name] == "") {
						report(n, "range over a map")
					}
				}
			case *ast.CallExpr:
				if name, ok := n.Fun.(*ast.Ident); ok {
					if _, builtin := info.Uses[name].(*types.Builtin); builtin && (name.Name == "panic" || name.Name == "print" || name.Name == "println") {
						report(n, name.Name)
					}
				}
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(f.Sel.Name, "Sorted") {
					for _, argument := range n.Args {
						if call, ok := argument.(*ast.CallExpr); ok {
							ordered[call.Fun] = true
						}
					}
				}
			case *ast.SelectorExpr:
				name, ok := n.X.(*ast.Ident)
				if !ok || ordered[n] {
					return true
				}
				for _, bad := range impure[names[name.Name]] {
					if n.Sel.Name == bad {
						report(n, name.Name+"."+bad)
					}
				}
			}
			return true
		})
	}
	return found
}

// sortsAfter tells whether a function sorts something after a loop.
func sortsAfter(function *ast.FuncDecl, loop *ast.RangeStmt) (sorts bool) {
	ast.Inspect(function, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && call.Pos() > loop.End() {
			if f, ok := call.Fun.(*ast.SelectorExpr); ok {
				if from, ok := f.X.(*ast.Ident); ok {
					sorts = sorts || from.Name == "sort" || from.Name == "slices" && strings.HasPrefix(f.Sel.Name, "Sort")
				}
			}
		}
		return true
	})
	return sorts
}

func TestThePurePackagesHaveNoClockNoChanceAndNoOutput(t *testing.T) {
	for _, dir := range pure {
		set, files := sources(t, dir, false)
		if len(files) == 0 {
			t.Errorf("no files in %s", dir)
		}
		for _, what := range impurities(set, files) {
			t.Error(what)
		}
	}
}

// The check itself finds what it is there for.
func TestImpurityIsFound(t *testing.T) {
	for name, text := range map[string]string{
		"clock":         `import "time"; var _ = time.Now()`,
		"renamed clock": `import clock "time"; func f() { clock.Sleep(1) }`,
		"chance":        `import "math/rand/v2"; var _ = rand.IntN(2)`,
		"old chance":    `import "math/rand"; var _ = rand.New`,
		"goroutine":     `func f() { go f() }`,
		"panic":         `func f() { panic("no") }`,
		"output":        `import "fmt"; func f() { fmt.Println() }`,
		"exit":          `import "os"; func f() { os.Exit(1) }`,
		"map":           `func f(m map[int]int) { for range m {} }`,
		"map field":     `type t struct{ m map[int]int }; func f(x *t) { for k := range x.m { _ = k } }`,
		"sorted before": `import "sort"; func f(m map[string]int, s []string) { sort.Strings(s); for range m {} }`,
		"keys":          `import "maps"; func f(m map[int]int) { for range maps.Keys(m) {} }`,
	} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, "package p; "+text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if len(impurities(set, []*ast.File{file})) == 0 {
			t.Errorf("%s: not found", name)
		}
	}
	for name, text := range map[string]string{
		"sorted keys":  `import ("maps"; "slices"); func f(m map[int]int) { _ = slices.Sorted(maps.Keys(m)) }`,
		"a generator":  `import "math/rand/v2"; func f(s uint64) { _ = rand.New(rand.NewPCG(s, 0)) }`,
		"sorted after": `import "sort"; func f(m map[string]int) { var s []string; for k := range m { s = append(s, k) }; sort.Strings(s) }`,
		"own panic":    `func f(panic func()) { panic() }`,
		"slice":        `import "time"; func f(s []time.Time) { for range s {} }`,
	} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, "package p; "+text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if found := impurities(set, []*ast.File{file}); len(found) != 0 {
			t.Errorf("%s: %q", name, found)
		}
	}
}

// The parts of the house: afero <- {sinkcore, fsmem} <- {props, bench}.
func TestImportsGoOneWay(t *testing.T) {
	// What each part may import of this module, in its tests and else.
	mayImport := map[string]struct{ code, tests []string }{
		"sinkcore": {[]string{"sinkcore"}, []string{"sinkcore", "fsmem"}},
		"fsmem":    {[]string{"fsmem"}, []string{"fsmem", "sinkcore"}},
		"props":    {[]string{"props", "sinkcore", "fsmem"}, []string{"props", "sinkcore", "fsmem"}},
		"bench":    {[]string{"bench", "props", "sinkcore", "fsmem"}, []string{"bench", "props", "sinkcore", "fsmem"}},
	}
	part := func(dir string) string {
		first, _, _ := strings.Cut(dir, "/")
		return first
	}
	dirs := 0
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		dir := filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(name, ".."), "/"))
		if base := entry.Name(); base == "testdata" || dir != "" && strings.HasPrefix(base, ".") {
			return filepath.SkipDir
		}
		set, files := sources(t, dir, true)
		for _, file := range files {
			dirs++
			test := strings.HasSuffix(set.Position(file.Pos()).Filename, "_test.go")
			rule, known := mayImport[part(dir)]
			if !known {
				t.Errorf("%s: is part of nothing", set.Position(file.Pos()))
				continue
			}
			allowed := rule.code
			if test {
				allowed = rule.tests
			}
			for _, from := range imported(file) {
				own, ok := strings.CutPrefix(from, "sinklab/")
				if ok && !contains(allowed, part(own)) {
					t.Errorf("%s imports %s", set.Position(file.Pos()), from)
				}
				// Of other modules the core needs one.
				domain := strings.Contains(part(from), ".")
				if domain && !test && contains([]string{"sinkcore", "sinkcore/sim", "fsmem"}, dir) && from != "github.com/spf13/afero" {
					t.Errorf("%s imports %s", set.Position(file.Pos()), from)
				}
			}
		}
		return nil
	})
	if err != nil || dirs == 0 {
		t.Fatalf("%d files, %v", dirs, err)
	}
}

func contains(list []string, s string) bool {
	for _, other := range list {
		if other == s {
			return true
		}
	}
	return false
}
