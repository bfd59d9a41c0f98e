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
	Watched      []Watched      `json:"watched,omitempty"` // of real directories; absent if none were given
	Settings     []Tradeoff     `json:"settings"`          // empty if the file has no BenchmarkSettings
	Peers        []Tradeoff     `json:"peers"`             // of other engines; empty if the file has no BenchmarkPeers
	Ratios       []RatioGroup   `json:"ratios"`            // empty if the file has no units that begin with x-
	Change       *Change        `json:"change"`            // nil without another run
	Lifelines    []Lifelines    `json:"lifelines"`

	run *Run
}

// New makes the report of a run, compared with base unless that is nil, and with what was
// seen of real directories in the order given. The article's settings are played in virtual
// time for the series, which takes a fraction of a second. The error wraps [ErrFormat] if the
// file lacks them, [ErrVersion] if it has other figures for them, and [ErrWatched] if two
// watches have one name.
func New(run, base *Run, watched ...Watched) (*Report, error) {
	if err := distinct(watched); err != nil {
		return nil, err
	}
	settings, err := article(run)
	if err != nil {
		return nil, err
	}
	r := &Report{
		File: run.name, Config: run.config, Article: settings,
		Written: written(settings), Sawtooths: sawtooths(settings), Distribution: distributions(settings), Watched: watched,
		Settings: tradeoffs(run), Peers: tradeoffsOf(run, "Peers", peersRate), Ratios: ratioGroups(run), Lifelines: lifelineTimes(settings), run: run,
	}
	if base != nil {
		r.Change = compare(run, base)
	}
	return r, nil
}

// card is what the page says of a setting at first.
type card struct {
	Ink, Name, Waits, Text string
}

// cards says what the article's settings do, the others against the first.
func (r *Report) cards() []card {
	var cards []card
	first := r.Article[0]
	for i, s := range r.Article {
		text := fmt.Sprintf("%s. Half of the records can be read within %s of their arrival, 99 of 100 within %s; %s files an hour.",
			capital(s.Meaning), seconds(s.figure("p50-visible-ms")), seconds(s.figure("p99-visible-ms")), number(s.figure("files/hour")))
		if i > 0 {
			text += fmt.Sprintf(" Against %s p99 is divided by %s and files are multiplied by %s.", first.Name,
				short(first.figure("p99-visible-ms")/s.figure("p99-visible-ms")), short(s.figure("files/hour")/first.figure("files/hour")))
		}
		cards = append(cards, card{settingInk(i).variable(), s.Name, seconds(s.figure("first-visible-ms")), text})
	}
	return cards
}

// capital begins a sentence.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
