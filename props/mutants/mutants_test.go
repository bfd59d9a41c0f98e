package main

import (
	"io/fs"
	"os"
	"testing"
)

func TestEveryMutantAppliesToTheSourceAsItIs(t *testing.T) {
	dir, err := fs.Sub(data, "data")
	if err != nil {
		t.Fatal(err)
	}
	mutants, err := readMutants(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(mutants) < 40 {
		t.Errorf("%d mutants, want at least 40", len(mutants))
	}
	for _, m := range mutants {
		if _, err := m.apply(os.DirFS("../..")); err != nil {
			t.Error(err)
		}
	}
}
