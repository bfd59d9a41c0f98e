package report

import (
	"fmt"
	"strings"
)

// Report is everything that the page shows, as data. New makes one. Its JSON form holds the
// series and figures that are drawn.
type Report struct {
	File         string         `json:"file"`
	Config       []Config       `json:"config"`  // machine and build, from the file
	Article      []Setting      `json:"article"` // the article's settings
	Written      Written        `json:"written"`
	Sawtooths    []Sawtooth     `json:"sawtooth"`
	Distribution []Distribution `json:"distribution"`
	Settings     []Tradeoff     `json:"settings"` // empty if the file has no BenchmarkSettings
	Ratios       []RatioGroup   `json:"ratios"`   // empty if the file has no units that begin with x-
	Change       *Change        `json:"change"`   // nil without another run
	Lifelines    []Lifelines    `json:"lifelines"`

	run *Run
}

// New makes the report of a run, compared with base unless that is nil. The article's
// settings are played in virtual time for the series, which takes a fraction of a second.
// The error wraps [ErrFormat] if the file lacks them, and [ErrVersion] if it has other
// figures for them.
func New(run, base *Run) (*Report, error) {
	settings, err := article(run)
	if err != nil {
		return nil, err
	}
	r := &Report{
		File: run.name, Config: run.config, Article: settings,
		Written: written(settings), Sawtooths: sawtooths(settings), Distribution: distributions(settings),
		Settings: tradeoffs(run), Ratios: ratioGroups(run), Lifelines: lifelineTimes(settings), run: run,
	}
	if base != nil {
		r.Change = compare(run, base)
	}
	return r, nil
}

// summary says in sentences what the article's settings do.
func (r *Report) summary() []string {
	var sentences []string
	for _, s := range r.Article {
		sentences = append(sentences, fmt.Sprintf("%s (%s) shows nothing for %s. Half of the records can be read within %s of their arrival, 99 of 100 within %s, and there are %s files an hour.",
			s.Name, s.Meaning, seconds(s.figure("first-visible-ms")), seconds(s.figure("p50-visible-ms")), seconds(s.figure("p99-visible-ms")),
			number(s.figure("files/hour"))))
	}
	first := r.Article[0]
	var than []string
	for _, s := range r.Article[1:] {
		than = append(than, fmt.Sprintf("%s is %s times as soon at p99 and makes %s times as many files",
			s.Name, short(first.figure("p99-visible-ms")/s.figure("p99-visible-ms")), short(s.figure("files/hour")/first.figure("files/hour"))))
	}
	if len(than) > 0 {
		sentences = append(sentences, "Against "+first.Name+" "+strings.Join(than, "; ")+".")
	}
	return sentences
}
