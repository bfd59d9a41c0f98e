package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const source = `package p

const limit = 1 + 2

func f(a, b int, ok bool) (int, error) {
	if a < b && ok {
		a++
	}
	if ok {
		a = a - 1
	}
	var err error
	return a, err
}
`

func TestEachOperatorFindsItsPlacesAndTheResultIsGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.go")
	if err := os.WriteFile(path, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	id := 0
	text, sites, err := inFile(path, func() int { id++; return id }, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range sites {
		got = append(got, s.String())
	}
	slices.Sort(got)
	want := []string{
		"f.go:10: arithmetic: a - 1",
		"f.go:10: deleted: a = a - 1",
		"f.go:13: swallowed: return a, err",
		"f.go:6: boundary: a < b",
		"f.go:6: logical: a < b && ok",
		"f.go:6: negated: a < b",
		"f.go:6: negated: a < b && ok",
		"f.go:7: deleted: a++",
		"f.go:9: negated: ok",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), path, text, 0); err != nil {
		t.Errorf("%v in\n%s", err, text)
	}
}

func TestADroppedChangeIsNotMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.go")
	if err := os.WriteFile(path, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	all := map[int]bool{}
	for id := range 20 {
		all[id] = true
	}
	id := 0
	text, sites, err := inFile(path, func() int { id++; return id }, all)
	if err != nil || len(sites) > 0 || text != source {
		t.Errorf("%d changes, %v:\n%s", len(sites), err, text)
	}
}
