package gate

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// CheckLines looks at the lines of a benchmark file for what makes it no record of a whole
// run, whatever it is to be used for: signs that something failed (ErrFailed), lines that
// cannot be read or were cut off, benchmarks that were begun and have no result (ErrSyntax),
// and one unit twice in a line (ErrValue). The reader of package benchfmt passes over most of
// these. The error is as that of Read, which finds the same and more; file names the file in
// it. The zero-length file is well-formed.
func CheckLines(content []byte, file string) error {
	wrong := &problems{file: file}
	checkLines(content, wrong)
	return wrong.err()
}

// checkLines collects the problems of CheckLines, in the order of the lines.
func checkLines(content []byte, wrong *problems) {
	found := problems{file: wrong.file}
	defer func() {
		slices.SortStableFunc(found.all, func(a, b error) int { return a.(*InputError).Line - b.(*InputError).Line })
		wrong.all = append(wrong.all, found.all...)
	}()
	told := map[int]bool{} // lines, so that one mistake is not told twice
	tell := func(at int, kind error, format string, args ...any) {
		if !told[at] {
			told[at] = true
			found.add(at, kind, format, args...)
		}
	}
	at := 0
	var begun begun
	for text := range strings.Lines(string(content)) {
		at++
		ended := strings.HasSuffix(text, "\n")
		text = strings.TrimSpace(text)
		switch {
		case failed(text):
			tell(at, ErrFailed, "%q; a run that failed is no result, whatever else it measured", text)
		case !ended && (strings.HasPrefix(text, "Benchmark") || strings.HasPrefix(text, "Unit ")):
			tell(at, ErrSyntax, "the file ends within this line; go test ends every line")
		default:
			begun.line(at, text)
		}
	}
	reader := benchfmt.NewReader(bytes.NewReader(content), wrong.file)
	for reader.Scan() {
		_, at := reader.Result().Pos()
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			tell(at, ErrSyntax, "%s", record.Msg)
		case *benchfmt.Result:
			begun.result(at, record.Name)
			for i, v := range record.Values {
				unit := printed(v).unit
				if slices.ContainsFunc(record.Values[:i], func(other benchfmt.Value) bool { return printed(other).unit == unit }) {
					tell(at, ErrValue, "Benchmark%s has %s twice in one line", withoutProcs(record.Name), unit)
				}
			}
		}
	}
	if err := reader.Err(); err != nil {
		found.add(0, ErrSyntax, "%v", err)
	}
	for _, b := range begun.open {
		tell(b.at, ErrSyntax, "Benchmark%s was begun here and has no result", b.name)
	}
}

// failed tells whether a line is one by which go test, a test that dies, or the system says
// that something failed.
func failed(text string) bool {
	word, _, _ := strings.Cut(text, "\t")
	if strings.Contains(text, "--- FAIL") || word == "FAIL" {
		return true
	}
	return slices.ContainsFunc([]string{"FAIL ", "panic:", "fatal error:", "exit status ", "signal: ", "SIGQUIT: ", "*** Test killed"},
		func(sign string) bool { return strings.HasPrefix(text, sign) })
}

// begun are the benchmarks of which the name alone was printed, as go test -v does before it
// runs one. A result of the same name follows, or of one below it, unless it is skipped.
type begun struct {
	open []struct {
		at   int
		name string
	}
}

// line takes a line of the file.
func (b *begun) line(at int, text string) {
	if name, ok := strings.CutPrefix(text, "Benchmark"); ok && name != "" && !strings.ContainsAny(name, " \t") {
		b.open = append(b.open, struct {
			at   int
			name string
		}{at, name})
	}
	if rest, ok := strings.CutPrefix(text, "--- SKIP: Benchmark"); ok {
		name, _, _ := strings.Cut(rest, " ")
		b.result(at, benchfmt.Name(name))
	}
}

// result takes a result, or that there is none to come.
func (b *begun) result(at int, name benchfmt.Name) {
	full, short := string(name.Full()), withoutProcs(name)
	b.end(at, func(of string) bool {
		return of == full || of == short || strings.HasPrefix(full, of+"/")
	})
}

// end closes those begun before a line.
func (b *begun) end(at int, is func(name string) bool) {
	open := b.open[:0]
	for _, o := range b.open {
		if o.at > at || !is(o.name) {
			open = append(open, o)
		}
	}
	b.open = open
}
