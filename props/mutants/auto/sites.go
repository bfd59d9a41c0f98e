package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// site is a change of the source.
type site struct {
	id       int
	file     string // base name
	line     int
	operator string
	was      string // source of what is changed, on one line
}

func (s site) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", s.file, s.line, s.operator, s.was)
}

// edit replaces the source between two offsets.
type edit struct {
	start, end int
	with       func(inner func(start, end int) string) string
}

// rewriter puts the changes of one file into its source.
type rewriter struct {
	fset    *token.FileSet
	source  string
	file    string
	next    func() int
	dropped map[int]bool
	sites   []site
	edits   []edit
}

// inFile gives the changed source of a file and what was changed.
func inFile(path string, next func() int, dropped map[int]bool) (string, []site, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return "", nil, err
	}
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, path, source, 0)
	if err != nil {
		return "", nil, err
	}
	r := &rewriter{fset: fset, source: string(source), file: filepath.Base(path), next: next, dropped: dropped}
	ast.Inspect(tree, r.visit)
	slices.SortStableFunc(r.edits, func(a, b edit) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end // the outer one first
	})
	return r.render(0, len(source), 0), r.sites, nil
}

// render gives a piece of the source with the edits from the given one on that lie
// within.
func (r *rewriter) render(start, end, from int) string {
	var b strings.Builder
	at := start
	for i := from; i < len(r.edits); i++ {
		e := r.edits[i]
		if e.start < at || e.end > end {
			continue
		}
		b.WriteString(r.source[at:e.start])
		b.WriteString(e.with(func(start, end int) string { return r.render(start, end, i+1) }))
		at = e.end
	}
	b.WriteString(r.source[at:end])
	return b.String()
}

func (r *rewriter) offset(p token.Pos) int { return r.fset.Position(p).Offset }

// plain is the source of a node.
func (r *rewriter) plain(n ast.Node) string { return r.source[r.offset(n.Pos()):r.offset(n.End())] }

// add notes a change and returns its id, or false if it does not compile.
func (r *rewriter) add(n ast.Node, operator string) (int, bool) {
	id := r.next()
	if r.dropped[id] {
		return id, false
	}
	was := strings.Join(strings.Fields(r.plain(n)), " ")
	if len(was) > 70 {
		was = was[:67] + "..."
	}
	r.sites = append(r.sites, site{id, r.file, r.fset.Position(n.Pos()).Line, operator, was})
	return id, true
}

// replace notes an edit of a node.
func (r *rewriter) replace(n ast.Node, with func(rendered string) string) {
	start, end := r.offset(n.Pos()), r.offset(n.End())
	r.edits = append(r.edits, edit{start, end, func(inner func(int, int) string) string { return with(inner(start, end)) }})
}

func (r *rewriter) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR // constants must stay constant
	case *ast.BinaryExpr:
		r.binary(n)
	case *ast.IfStmt:
		r.condition(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			r.condition(n.Cond)
		}
	case *ast.BlockStmt:
		r.statements(n.List)
	case *ast.CaseClause:
		r.statements(n.Body)
	case *ast.ReturnStmt:
		if k := len(n.Results); k > 0 {
			if id, ok := n.Results[k-1].(*ast.Ident); ok && id.Name == "err" {
				if i, ok := r.add(n, "swallowed"); ok {
					r.replace(id, func(s string) string { return fmt.Sprintf("mutantError(%d, %s)", i, s) })
				}
			}
		}
	}
	return true
}

// swaps are the other operators of a comparison or a sum.
var swaps = map[token.Token][]struct{ operator, with string }{
	token.EQL:  {{"negated", "!="}},
	token.NEQ:  {{"negated", "=="}},
	token.LSS:  {{"negated", ">="}, {"boundary", "<="}},
	token.GTR:  {{"negated", "<="}, {"boundary", ">="}},
	token.LEQ:  {{"negated", ">"}, {"boundary", "<"}},
	token.GEQ:  {{"negated", "<"}, {"boundary", ">"}},
	token.LAND: {{"logical", "||"}},
	token.LOR:  {{"logical", "&&"}},
	token.ADD:  {{"arithmetic", "-"}},
	token.SUB:  {{"arithmetic", "+"}},
	token.MUL:  {{"arithmetic", "+"}},
}

func (r *rewriter) binary(n *ast.BinaryExpr) {
	x, y := r.plain(n.X), r.plain(n.Y)
	if n.Op == token.ADD && strings.Contains(x+y, `"`) {
		return // of strings
	}
	for _, swap := range swaps[n.Op] {
		id, ok := r.add(n, swap.operator)
		if !ok {
			continue
		}
		changed := fmt.Sprintf("((%s) %s (%s))", x, swap.with, y)
		switch n.Op {
		case token.ADD, token.SUB, token.MUL:
			r.replace(n, func(s string) string { return fmt.Sprintf("mutantNumber(%d, %s, %s)", id, changed, s) })
		default:
			r.replace(n, func(s string) string {
				return fmt.Sprintf("(mutantOn(%d) && %s || !mutantIs(%d) && (%s))", id, changed, id, s)
			})
		}
	}
}

// condition negates what binary does not.
func (r *rewriter) condition(n ast.Expr) {
	if b, ok := n.(*ast.BinaryExpr); ok && b.Op != token.LAND && b.Op != token.LOR {
		return
	}
	if id, ok := r.add(n, "negated"); ok {
		r.replace(n, func(s string) string { return fmt.Sprintf("((%s) != mutantOn(%d))", s, id) })
	}
}

// statements deletes statements that have an effect and declare nothing.
func (r *rewriter) statements(list []ast.Stmt) {
	for _, n := range list {
		switch n := n.(type) {
		case *ast.ExprStmt, *ast.IncDecStmt:
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE || r.blank(n) {
				continue
			}
		case *ast.BranchStmt:
			if n.Label != nil {
				continue
			}
		default:
			continue
		}
		if id, ok := r.add(n, "deleted"); ok {
			r.replace(n, func(s string) string { return fmt.Sprintf("if !mutantOn(%d) { %s }", id, s) })
		}
	}
}

// blank tells an assignment to nothing.
func (r *rewriter) blank(n *ast.AssignStmt) bool {
	id, ok := n.Lhs[0].(*ast.Ident)
	return ok && len(n.Lhs) == 1 && id.Name == "_"
}

// support is the file that the changed package gets beside its own.
const support = `package %s

import (
	"os"
	"strconv"
	"sync"
)

var (
	mutantActive, _ = strconv.Atoi(os.Getenv("MUTANT"))
	mutantTrace     = os.Getenv("MUTANT_TRACE")
	mutantMutex     sync.Mutex
	mutantSeen      = map[int]bool{}
)

func mutantIs(id int) bool { return mutantActive == id }

func mutantOn(id int) bool {
	if mutantTrace != "" {
		mutantMutex.Lock()
		defer mutantMutex.Unlock()
		if !mutantSeen[id] {
			mutantSeen[id] = true
			if f, err := os.OpenFile(mutantTrace, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666); err == nil {
				f.WriteString(strconv.Itoa(id) + "\n")
				f.Close()
			}
		}
	}
	return mutantActive == id
}

func mutantError(id int, err error) error {
	if mutantOn(id) {
		return nil
	}
	return err
}

func mutantNumber[N any](id int, changed, same N) N {
	if mutantOn(id) {
		return changed
	}
	return same
}
`
