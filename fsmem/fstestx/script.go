package fstestx

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/afero"
)

// Most rules are programs with the results that are wanted, in rules/*.txt:
//
//	rule AREA/WHAT
//	text What the file system does.
//	from Where that stands.
//	needs symlinks
//	OP                      the call succeeds
//	OP -> RESULT            the call returns RESULT
//
// RESULT is what Result.String prints, and may be given in part: values may be
// left off at the end, * stands for any value, the cause of an error will do
// without its type and operation, and "error" is any error.
//
// Three more steps stand for several calls each, none of which may fail:
// "put NAME DATA" makes a file, "cat NAME -> DATA" reads it, and "ls NAME ->
// [ENTRY, ...]" reads a directory and sorts it.

//go:embed rules/*.txt
var ruleFiles embed.FS

// step is a line of a rule.
type step struct {
	place string
	line  string // as written
	op    Op
	macro []string // put, cat, ls and their arguments, in place of op
	want  string   // what follows the arrow, or ""
}

// allRules parses the rule files, once: they are constant, and a test reads them.
var allRules = sync.OnceValue(func() []Rule {
	all, err := parseRules()
	if err != nil {
		// A rule of its own, which nothing keeps, rather than a panic.
		return []Rule{{Name: "fstestx/rules", Text: err.Error(), Source: "fstestx", check: func(c *check) { c.errorf("%v", err) }}}
	}
	return append(all, codeRules()...)
})

func parseRules() ([]Rule, error) {
	entries, err := fs.ReadDir(ruleFiles, "rules")
	if err != nil {
		return nil, err
	}
	var all []Rule
	for _, e := range entries {
		text, err := fs.ReadFile(ruleFiles, path.Join("rules", e.Name()))
		if err != nil {
			return nil, err
		}
		rules, err := parseRuleFile("rules/"+e.Name(), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, rules...)
	}
	return all, nil
}

func parseRuleFile(file, text string) ([]Rule, error) {
	var all []Rule
	number := 0
	for line := range strings.Lines(text) {
		number++
		place := fmt.Sprintf("%s:%d", file, number)
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if word == "rule" {
			all = append(all, Rule{Name: rest, Place: place})
			continue
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("%s: a step before the first rule", place)
		}
		r := &all[len(all)-1]
		switch word {
		case "text":
			r.Text = rest
		case "from":
			r.Source = rest
		case "needs":
			r.Needs = rest
		default:
			s, err := parseStep(line)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", place, err)
			}
			s.place = place
			r.steps = append(r.steps, s)
		}
	}
	return all, nil
}

func parseStep(line string) (step, error) {
	s := step{line: line}
	words, err := split(line)
	if err != nil {
		return s, err
	}
	if i := slices.Index(words, "->"); i >= 0 {
		s.want = strings.Join(words[i+1:], " ")
		words = words[:i]
	}
	if len(words) > 0 && (words[0] == "put" && len(words) == 3 || (words[0] == "cat" || words[0] == "ls") && len(words) == 2) {
		for i := 1; i < len(words); i++ {
			if words[i], err = parseText(words[i]); err != nil {
				return s, err
			}
		}
		s.macro = words
		return s, nil
	}
	s.op, err = parseWords(words)
	return s, err
}

// script plays the steps of a rule. It goes on after a wrong value or cause, but
// not after a success in place of an error or the reverse: the tree is not what
// the later steps are about then, and what they do to a file system whose
// inner state is broken may stop the process.
func (c *check) script(steps []step) {
	for _, s := range steps {
		c.place = s.place
		got := c.step(s)
		if !got.matches(s.want) {
			want := s.want
			if want == "" {
				want = "success"
			}
			text := fmt.Sprintf("%s\ngot  %s\nwant %s", s.line, explain(got), want)
			c.problems = append(c.problems, Problem{s.place, text})
		}
		if got.Note != "" || got.Err.IsZero() == s.wantsError() {
			return
		}
	}
}

// isBad reports whether the player found something that is wrong by itself.
func isBad(word string) bool {
	return slices.Contains([]string{wordTwice, wordNeither, wordChanged, wordCount}, word)
}

// wantsError reports whether the step is to fail.
func (s step) wantsError() bool {
	words, err := split(s.want)
	_, failure := cutFailure(words)
	return err == nil && failure != nil
}

func (c *check) step(s step) Result {
	if s.macro == nil {
		return c.player.play(s.op)
	}
	switch name := s.macro[1]; s.macro[0] {
	case "put":
		return c.player.failed(c.put(name, s.macro[2]))
	case "cat":
		b, err := afero.ReadFile(c.FS, c.full(name))
		if err != nil {
			return c.player.failed(err)
		}
		return Result{Words: []string{formatData(string(b))}}
	default:
		names, err := c.names(name)
		if err != nil {
			return c.player.failed(err)
		}
		if names == nil {
			names = []string{}
		}
		return Result{Entries: names}
	}
}

// put makes a file with these bytes.
func (c *check) put(name, data string) error {
	f, err := c.FS.OpenFile(c.full(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(data)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// matches compares a result with the text after an arrow.
func (r Result) matches(want string) bool {
	if r.Note != "" {
		return r.Note == want
	}
	if slices.ContainsFunc(r.Words, isBad) {
		return false
	}
	if want == "" {
		return r.Err.IsZero()
	}
	words, err := split(want)
	if err != nil {
		return false
	}
	words, failure := cutFailure(words)
	if (failure == nil) != r.Err.IsZero() {
		return false
	}
	if failure != nil {
		if !r.Err.is(failure[len(failure)-1]) || len(failure) == 3 && (failure[0] != r.Err.Type || failure[1] != r.Err.Op) {
			return false
		}
		if len(words) != len(r.Words) { // what came with an error is never left off
			return false
		}
	}
	if len(words) > 0 && strings.HasPrefix(words[0], "[") {
		return strings.Join(words, " ") == "["+strings.Join(sorted(r.Entries), ", ")+"]"
	}
	if r.Entries != nil || len(words) > len(r.Words) {
		return failure != nil && len(r.Entries) == 0
	}
	for i, w := range words {
		if w != "*" && w != r.Words[i] {
			return false
		}
	}
	return true
}

// cutFailure cuts "TYPE OP CAUSE" or "CAUSE" off the end of wanted words.
func cutFailure(words []string) (values, failure []string) {
	n := len(words)
	if n == 0 || !isCause(words[n-1]) {
		return words, nil
	}
	if n >= 3 && (words[n-3] == "PathError" || words[n-3] == "LinkError") {
		return words[:n-3], words[n-3:]
	}
	return words[:n-1], words[n-1:]
}

func isCause(word string) bool {
	if word == causeEOF || word == causeClosed || word == causeOther || word == "error" {
		return true
	}
	for _, name := range errnoNames {
		if name == word {
			return true
		}
	}
	return false
}
