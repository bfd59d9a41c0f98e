package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sinklab/props"
)

// Mutant is a broken sink, as changes of the source.
type Mutant struct {
	Name   string // of its file, without the extension
	What   string // is broken
	Origin string
	Rules  []props.Rule // one of these must be the first to be broken
	Edits  []Edit
}

// Edit is one change of one file.
type Edit struct {
	File     string // below the root of the module, with slashes
	Old, New string // whole lines
}

// extension of mutant files.
const extension = ".mutant"

// ErrMutant is wrapped by the error for a file that is no mutant.
var ErrMutant = errors.New("bad mutant")

// ErrOld is wrapped by the error for an old text that is not in its file exactly once.
var ErrOld = errors.New("the old text must be in the file exactly once")

// readMutants reads all mutants of a directory, in order of their names.
func readMutants(dir fs.FS) ([]Mutant, error) {
	names, err := fs.Glob(dir, "*"+extension)
	if err != nil {
		return nil, err
	}
	var mutants []Mutant
	for _, name := range names {
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		m, err := parseMutant(strings.TrimSuffix(path.Base(name), extension), string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		mutants = append(mutants, m)
	}
	return mutants, nil
}

// parseMutant reads a mutant in its text form.
func parseMutant(name, text string) (Mutant, error) {
	m := Mutant{Name: name}
	var file string
	var section *strings.Builder // into which lines go
	var before, after strings.Builder
	for i, line := range strings.SplitAfter(text, "\n") {
		bad := func(problem string) (Mutant, error) {
			return m, fmt.Errorf("%w: line %d: %s", ErrMutant, i+1, problem)
		}
		word := strings.TrimRight(line, "\n")
		key, value, _ := strings.Cut(word, ": ")
		switch {
		case word == "--- old" && section == nil && file != "":
			section = &before
		case word == "--- new" && section == &before:
			section = &after
		case word == "--- end" && section == &after:
			if before.Len() == 0 || before.String() == after.String() {
				return bad("nothing is changed")
			}
			m.Edits = append(m.Edits, Edit{file, before.String(), after.String()})
			before.Reset()
			after.Reset()
			section = nil
		case section != nil:
			section.WriteString(line)
		case m.What == "":
			if m.What = word; word == "" {
				return bad("want what is broken")
			}
		case word == "":
		case key == "origin":
			m.Origin = value
		case key == "rules":
			for _, rule := range strings.Fields(value) {
				if !known(props.Rule(rule)) {
					return bad("no such rule: " + rule)
				}
				m.Rules = append(m.Rules, props.Rule(rule))
			}
		case key == "file":
			if file = value; !fs.ValidPath(value) {
				return bad("not a path below the module: " + value)
			}
		default:
			return bad("want origin:, rules:, file:, --- old, --- new or --- end")
		}
	}
	switch {
	case section != nil:
		return m, fmt.Errorf("%w: it ends within a change", ErrMutant)
	case len(m.Edits) == 0, m.Origin == "", len(m.Rules) == 0:
		return m, fmt.Errorf("%w: want an origin, rules and at least one change", ErrMutant)
	}
	return m, nil
}

func known(rule props.Rule) bool {
	for _, r := range props.Rules {
		if r.Rule == rule {
			return true
		}
	}
	return false
}

// apply returns the changed files by path. Edits of one file are made one after the
// other.
func (m Mutant) apply(source fs.FS) (map[string]string, error) {
	changed := map[string]string{}
	for _, e := range m.Edits {
		text, ok := changed[e.File]
		if !ok {
			b, err := fs.ReadFile(source, e.File)
			if err != nil {
				return nil, fmt.Errorf("mutant %s: %w", m.Name, err)
			}
			text = string(b)
		}
		// The texts are whole lines, so they must begin where a line does.
		if n := occurrences("\n"+text, "\n"+e.Old); n != 1 {
			return nil, fmt.Errorf("mutant %s: %w: %s has it %d times:\n%s", m.Name, ErrOld, e.File, n, e.Old)
		}
		changed[e.File] = strings.TrimPrefix(strings.Replace("\n"+text, "\n"+e.Old, "\n"+e.New, 1), "\n")
	}
	return changed, nil
}

// occurrences counts also those that overlap.
func occurrences(text, part string) (n int) {
	for at := strings.Index(text, part); at >= 0; at = strings.Index(text, part) {
		n++
		text = text[at+1:]
	}
	return n
}

// overlay writes the changed files into a directory and beside them the file that the
// -overlay flag wants, which it returns.
func overlay(root, dir string, changed map[string]string) (string, error) {
	var list strings.Builder
	list.WriteString(`{"Replace":{`)
	names := make([]string, 0, len(changed))
	for name := range changed {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		copied := filepath.Join(dir, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(copied, []byte(changed[name]), 0o666); err != nil {
			return "", err
		}
		if i > 0 {
			list.WriteString(",")
		}
		fmt.Fprintf(&list, "%q:%q", filepath.Join(root, filepath.FromSlash(name)), copied)
	}
	list.WriteString("}}")
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, []byte(list.String()), 0o666)
}
