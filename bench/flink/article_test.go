package flink

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// Three jobs start, each has its own directory and watch, and the setting that shows a file
// in this time is judged.
func TestArticleStarts(t *testing.T) {
	realFlink(t)
	results, err := RunArticle(t.Context(), shared.module, ArticleOptions{For: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range results {
		names = append(names, r.Setting)
		if visible := r.Setting == "oncheckpoint"; visible != (r.First >= 0) || visible != (r.ModelFirst >= 0) || !r.Holds() {
			t.Errorf("%+v", r)
		}
	}
	if got := strings.Join(names, " "); got != "default tuned oncheckpoint" {
		t.Errorf("settings %s", got)
	}
}

// A first file may come later than in the model by a look and a checkpoint, not earlier.
func TestArticleHolds(t *testing.T) {
	good := ArticleResult{First: 120_500, ModelFirst: 120_150, Late: 50, Every: 200}
	if !good.Holds() {
		t.Error("a good one does not hold")
	}
	for name, spoil := range map[string]func(*ArticleResult){
		"late":     func(r *ArticleResult) { r.First++ },
		"early":    func(r *ArticleResult) { r.First = 120_149 },
		"none":     func(r *ArticleResult) { r.First = -1 },
		"violated": func(r *ArticleResult) { r.Violations = 1 },
		"account":  func(r *ArticleResult) { r.Account.Latest = 11 },
	} {
		r := good
		spoil(&r)
		if r.Holds() {
			t.Errorf("%s: it holds", name)
		}
	}
	for first, want := range map[int64]bool{150: true, 1350: true, 1351: false} {
		if r := (ArticleResult{First: first, ModelFirst: 150, Every: 200}); r.Holds() != want {
			t.Errorf("the first file at %d ms, while the job starts: holds is %v", first, !want)
		}
	}
	if !(ArticleResult{First: -1, ModelFirst: -1}).Holds() {
		t.Error("no file within the time, here and in the model, does not hold")
	}
}

// What the Java side tells is understood: a checkpoint's lateness counts from when it was due.
func TestArticleLines(t *testing.T) {
	a := &articleJobs{starts: make([]int64, 2), late: make([]int64, 2), taken: make([]int64, 2)}
	if _, all := a.latestStart(); all {
		t.Error("all have started")
	}
	a.read(strings.NewReader("started 1 5000\nstarted 0 4000\ncheckpoint 1 1 5150 5170\ncheckpoint 1 2 7200 7230\ncheckpoint 0 1 4150 4151\n"))
	if latest, all := a.latestStart(); !all || latest != 5000 || a.late[1] != 80 || a.late[0] != 1 || a.failed() != nil {
		t.Errorf("started %v, late %v, %v", a.starts, a.late, a.failed())
	}
	a.read(strings.NewReader("failed 1 no checkpoint\n"))
	if err := a.failed(); !errors.Is(err, ErrArticle) || !strings.Contains(err.Error(), "no checkpoint") {
		t.Error(err)
	}
}
