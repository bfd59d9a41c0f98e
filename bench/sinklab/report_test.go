package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"sinklab/bench"
	"sinklab/fsmem"
	"sinklab/sinkcore/sim"
)

// articleFile is the article's rows of a benchmark file, from real runs in virtual time.
var articleFile = sync.OnceValue(func() string {
	var b strings.Builder
	for i, s := range bench.ArticleSettings() {
		r, err := sim.Article(s.Policy, s.Check).Run(fsmem.New(fsmem.Options{NoPlaces: true}), rand.NewChaCha8([32]byte{}), "out")
		if err != nil {
			panic(err)
		}
		metrics := map[string]float64{"ns/op": 0}
		for _, f := range bench.Figures(r) {
			if metrics[f.Unit] = f.Value; i == 0 {
				b.WriteString("Unit " + f.Unit + " better=lower assume=exact\n")
			}
		}
		fmt.Fprintf(&b, "BenchmarkVisible/policy=%s-2\t%s\n", s.Name, testing.BenchmarkResult{N: 1, Extra: metrics})
	}
	return b.String()
})

// reportFile writes a benchmark file and returns its name.
func reportFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bench.txt")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// The page is written where it is asked for, in place of an older one, and nothing else is
// left there.
func TestReportWritesAPage(t *testing.T) {
	file, dir := reportFile(t, articleFile()), t.TempDir()
	page := filepath.Join(dir, "report.html")
	if err := os.WriteFile(page, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, errs := sinklab(t, "", "report", file, "--base", file, "-o", page)
	if status != statusOK || out != "wrote "+page+"\n" || errs != "" {
		t.Fatalf("status %d, %q, %q", status, out, errs)
	}
	content, err := os.ReadFile(page)
	if err != nil || !strings.HasPrefix(string(content), "<!DOCTYPE html>") || !strings.HasSuffix(string(content), "</html>\n") ||
		!strings.Contains(string(content), "What has changed") {
		t.Errorf("%v: %.100s", err, content)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v: %v", err, entries)
	}
}

// The directory of a page or a picture is made.
func TestReportMakesItsDirectory(t *testing.T) {
	file, dir := reportFile(t, articleFile()), t.TempDir()
	for _, option := range []string{"-o", "--picture"} {
		to := filepath.Join(dir, "new"+option, "deep", "x")
		if status, out, errs := sinklab(t, "", "report", file, option, to); status != statusOK || out != "wrote "+to+"\n" || errs != "" {
			t.Errorf("%s: status %d, %q, %q", option, status, out, errs)
		}
		if content, err := os.ReadFile(to); err != nil || len(content) == 0 {
			t.Errorf("%s: %d bytes, %v", option, len(content), err)
		}
	}
}

// The series come as JSON, and then no page is written.
func TestReportJSON(t *testing.T) {
	page := filepath.Join(t.TempDir(), "report.html")
	status, out, errs := sinklab(t, "", "report", reportFile(t, articleFile()), "--json", "-o", page)
	var r struct {
		Article []struct {
			Name    string
			Figures []struct {
				Unit  string
				Value float64
			}
		}
		Written struct {
			Visible []struct {
				Steps []struct{ Records float64 }
			}
		}
		Sawtooth, Distribution, Lifelines []json.RawMessage
		Change                            *json.RawMessage
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != statusOK || errs != "" {
		t.Fatalf("status %d, %v, %s", status, err, errs)
	}
	if len(r.Article) != 3 || r.Article[0].Name != "default" || r.Article[0].Figures[0].Unit != "first-visible-ms" || r.Article[0].Figures[0].Value <= 0 ||
		len(r.Written.Visible) != 3 || len(r.Written.Visible[0].Steps) < 2 || len(r.Sawtooth) != 3 || len(r.Distribution) != 3 || len(r.Lifelines) != 2 || r.Change != nil {
		t.Errorf("%.500s", out)
	}
	if _, err := os.Stat(page); err == nil {
		t.Error("a page was written")
	}
}

// watchFile is what the command watch prints of a file that became visible, with --json.
func watchFile(t *testing.T, name string) string {
	t.Helper()
	out, err := watched(t, watchCommand{TimeCSV: "1", JSON: true, Files: true}, nothing, nothing, publish(t, "part-1", "NOW\nNOW\n"), nothing)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// What watch prints is on the page, under the name that was given or that of the file, in the
// order of the flags; so it is in JSON.
func TestReportShowsWatches(t *testing.T) {
	file, page := reportFile(t, articleFile()), filepath.Join(t.TempDir(), "report.html")
	args := []string{"report", file, "-o", page, "--watched", watchFile(t, "b,c.5m.json"), "--watched", "a name=" + watchFile(t, "x=y.json"), "--watched=" + watchFile(t, "a")}
	if status, out, errs := sinklab(t, "", args...); status != statusOK || out != "wrote "+page+"\n" || errs != "" {
		t.Fatalf("status %d, %q, %q", status, out, errs)
	}
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`<tr data-watch="([^"]*)">`).FindAllStringSubmatch(string(content), -1) {
		names = append(names, m[1])
	}
	if want := []string{"b,c.5m", "a name", "a"}; !slices.Equal(names, want) || strings.Contains(string(content), "part-1") {
		t.Errorf("watches %q, want %q, or a file of theirs is named", names, want)
	}
	status, out, errs := sinklab(t, "", append(args, "--json")...)
	var r struct {
		Watched []struct {
			Name        string
			Files       int64
			Percentiles []int64 `json:"percentiles_ms"`
		}
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != statusOK || errs != "" {
		t.Fatalf("status %d, %v, %s", status, err, errs)
	}
	for i, w := range r.Watched {
		if w.Name != names[i] || w.Files != 1 || len(w.Percentiles) != 101 || w.Percentiles[0] != 200 || w.Percentiles[100] != 200 {
			t.Errorf("%+v", w)
		}
	}
}

// Bad input has status 2 and says what to do, and an older page stays as it is.
func TestReportRefuses(t *testing.T) {
	good, watch := reportFile(t, articleFile()), watchFile(t, "watch.json")
	next := fmt.Sprintf(":%d: ", strings.Count(articleFile(), "\n")+1) // the line after it
	dir := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no file":         {[]string{filepath.Join(dir, "none.txt")}, "make bench writes out/bench.txt"},
		"no base":         {[]string{good, "--base", filepath.Join(dir, "none.txt")}, "make bench writes out/bench.txt"},
		"an empty file":   {[]string{reportFile(t, "")}, "has no benchmark in it"},
		"a bad line":      {[]string{reportFile(t, articleFile()+"BenchmarkX 1 x y\n")}, next},
		"a failed run":    {[]string{reportFile(t, articleFile()+"FAIL\n")}, next + "the run failed"},
		"a bad base":      {[]string{good, "--base", reportFile(t, "FAIL\n")}, ":1: the run failed"},
		"no exact rows":   {[]string{reportFile(t, "BenchmarkX 1 5 ns/op\n")}, "no exact figures of policy=default"},
		"not exact":       {[]string{reportFile(t, strings.Replace(articleFile(), "assume=exact", "", 1))}, "has no line \"Unit first-visible-ms assume=exact\""},
		"another version": {[]string{reportFile(t, strings.Replace(articleFile(), " files/hour\t", "1 files/hour\t", 1))}, "of another version of the code"},
		"a killed run":    {[]string{reportFile(t, articleFile()+"signal: killed\n")}, next + "the run failed"},
		"a run cut off":   {[]string{reportFile(t, articleFile()+"BenchmarkX")}, next + "not a benchmark line"},
		"a huge ratio":    {[]string{reportFile(t, articleFile()+"BenchmarkX 1 1e300 x-y\n")}, next + "X is 1e+300 x-y, which cannot be drawn"},
		"a tiny ratio":    {[]string{reportFile(t, articleFile()+"BenchmarkX 1 5e-324 x-y\n")}, next + "X is 5e-324 x-y, which cannot be drawn"},
		"no folder":       {[]string{good, "-o", filepath.Join(good, "report.html")}, "cannot be written"},
		"two runs":        {[]string{good, good}, "unexpected argument"},
		"no watch":        {[]string{good, "--watched", filepath.Join(dir, "none.json")}, "sinklab watch DIR --json > FILE makes one"},
		"not a watch":     {[]string{good, "--watched", "flink=" + good}, "--watched " + good + ": watch flink: not a watch that can be shown: it is no JSON"},
		"a watch twice":   {[]string{good, "--watched", watch, "--watched", watch}, "two watches have the name watch; give one of them another, as NAME=FILE"},
		"no name":         {[]string{good, "--watched", "=" + watch}, "want FILE or NAME=FILE"},
		"no file of it":   {[]string{good, "--watched", "flink="}, "want FILE or NAME=FILE"},
		"neither of both": {[]string{good, "--watched", ""}, "want FILE or NAME=FILE"},
		"a bad name":      {[]string{good, "--watched", "a\tb=" + watch}, `its name is "a\tb"`},
		"a folder":        {[]string{good, "--watched", dir}, "is a directory"},
	} {
		page := filepath.Join(dir, "report.html")
		if err := os.WriteFile(page, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"report"}, c.args...)
		if !strings.Contains(strings.Join(args, " "), "-o") {
			args = append(args, "-o", page)
		}
		status, out, errs := sinklab(t, "", args...)
		if status != statusBadInput || out != "" || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: status %d, %q, %q, want %q", name, status, out, errs, c.want)
		}
		if content, err := os.ReadFile(page); err != nil || string(content) != "old" {
			t.Errorf("%s: the older page is %.20q, %v", name, content, err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("%s: left behind %v, %v", name, entries, err)
		}
	}
}

// A page that cannot get its name leaves nothing behind.
func TestReportCleansUp(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "report.html")
	if err := os.Mkdir(page, 0o700); err != nil {
		t.Fatal(err)
	}
	status, out, errs := sinklab(t, "", "report", reportFile(t, articleFile()), "-o", page)
	entries, err := os.ReadDir(dir)
	if status != statusBadInput || out != "" || errs == "" || err != nil || len(entries) != 1 {
		t.Errorf("status %d, %q, %q; left behind %v, %v", status, out, errs, entries, err)
	}
}

func TestReportHelp(t *testing.T) {
	status, out, _ := sinklab(t, "", "report", "--help")
	for _, want := range []string{"Exit status", "out/bench.txt", "out/report.html", "--base", "--json", "--watched=[NAME=]FILE", "sinklab watch"} {
		if status != statusOK || !strings.Contains(out, want) {
			t.Errorf("status %d, no %q in\n%s", status, want, out)
		}
	}
}
