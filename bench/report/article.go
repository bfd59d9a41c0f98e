package report

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"sinklab/bench"
	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/plan"
	"sinklab/sinkcore/sim"
)

// ErrVersion is wrapped by the error of a benchmark file whose exact figures are not those
// that this program finds when it plays the same workloads: the file was made by another
// version of the code, and pictures drawn now would not belong to its figures. Make it anew
// with make bench.
var ErrVersion = errors.New("the benchmark file is of another version of the code")

// Setting is one of the article's settings with what its hour in virtual time gave. Every
// figure is equal to that of the benchmark file.
type Setting struct {
	Name    string   `json:"name"`
	Meaning string   `json:"meaning"` // in words
	Figures []Figure `json:"figures"`

	result sim.Result
	check  time.Duration
	looks  string // what the checks found that the record that waits longest met; "" if none did
	full   string // the benchmark's name in the file
}

// Figure is a metric of a setting.
type Figure = bench.Figure

// article plays the article's settings, and compares what that gives with the file.
func article(run *Run) ([]Setting, error) {
	var settings []Setting
	for _, s := range bench.ArticleSettings() {
		metrics, err := articleMetrics(run, s.Name)
		if err != nil {
			return nil, err
		}
		result, err := sim.Article(s.Policy, s.Check).Run(fsmem.New(fsmem.Options{NoPlaces: true}), rand.NewChaCha8([32]byte{}), "out")
		if err != nil {
			return nil, fmt.Errorf("policy=%s: %w", s.Name, err)
		}
		if result.Files == 0 {
			return nil, fmt.Errorf("policy=%s: nothing became visible, so there is nothing to draw", s.Name)
		}
		setting := Setting{Name: s.Name, Meaning: meaning(s.Policy, s.Check), Figures: bench.Figures(result), result: result, check: s.Check}
		if setting.looks, err = looks(s.Policy, s.Check); err != nil {
			return nil, fmt.Errorf("policy=%s: %w", s.Name, err)
		}
		for _, f := range setting.Figures {
			m := metrics[f.Unit]
			if m == nil {
				return nil, fmt.Errorf("%w: %s has no %s for policy=%s; run make bench", ErrVersion, run.name, f.Unit, s.Name)
			}
			setting.full = m.full
			if !m.exact {
				return nil, fmt.Errorf("%w: %s has no line \"Unit %s assume=exact\"; run make bench", ErrFormat, run.name, f.Unit)
			}
			if inFile := m.samples[0]; printed(f.Value) != inFile {
				return nil, fmt.Errorf("%w: %s has %s %s for policy=%s, and playing it now gives %s; run make bench",
					ErrVersion, run.name, exactNumber(inFile), f.Unit, s.Name, exactNumber(f.Value))
			}
		}
		settings = append(settings, setting)
	}
	return settings, nil
}

// looks says what the checks found until the record that waits longest could be read.
func looks(policy sinkcore.RollingPolicy, check time.Duration) (string, error) {
	w := sim.Article(policy, check)
	e, err := plan.Explain(plan.Settings{Policy: w.Policy, CheckInterval: w.CheckInterval, Arrivals: w.Arrivals,
		CheckpointInterval: w.CheckpointInterval, FirstCheckpoint: w.FirstCheckpoint, Duration: w.Duration})
	if err != nil {
		return "", err
	}
	var found []string
	for _, m := range e.Moments {
		if m.Kind == plan.Checked || m.Kind == plan.Rolled {
			found = append(found, fmt.Sprintf("at %s %s", seconds(float64(m.At.Milliseconds())), m.Text))
		}
	}
	return strings.Join(found, "; "), nil
}

// articleWords are the words of the article's rows beside the policy. A row that lacks one
// of these keys is not of another workload.
var articleWords = []word{
	{"arrivals", "constant"}, {"rate", "10"}, {"ckpt", "2s"}, {"buckets", "1"}, {"subtasks", "1"}, {"outage", "none"},
}

// articleMetrics finds the article's row for a policy, and gives its metrics by unit.
func articleMetrics(run *Run, policy string) (map[string]*metric, error) {
	name, metrics := "", map[string]*metric{}
	for _, m := range run.metrics {
		if m.function() != "Visible" || m.value("policy") != policy || !isArticle(m.metricKey) {
			continue
		}
		if name != "" && name != m.full {
			return nil, fmt.Errorf("%w: %s: %s and %s are both the article's experiment", ErrFormat, run.name, name, m.full)
		}
		name = m.full
		metrics[m.unit] = m
	}
	if name == "" {
		return nil, fmt.Errorf("%w: %s has no exact figures of policy=%s (BenchmarkVisible, 10 records a second, a checkpoint every 2 s); run make bench",
			ErrFormat, run.name, policy)
	}
	return metrics, nil
}

func isArticle(key metricKey) bool {
	for _, w := range articleWords {
		if value := key.value(w.key); value != "" && value != w.value {
			return false
		}
	}
	return true
}

// printed is a value with the digits that a benchmark line keeps of it: four, or all of
// those before the point.
func printed(v float64) float64 {
	if math.Abs(v) >= 999.95 {
		return math.RoundToEven(v)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64) // what was just formatted
	return rounded
}

// meaning says in words what a setting does.
func meaning(policy sinkcore.RollingPolicy, check time.Duration) string {
	switch p := policy.(type) {
	case sinkcore.Default:
		p = p.Filled()
		return fmt.Sprintf("a file is closed at %s of age or %s of idleness, looked at every %s",
			duration(p.Rollover), duration(p.Inactivity), duration(check))
	case sinkcore.OnCheckpoint:
		return "a file is closed at every checkpoint"
	}
	return fmt.Sprintf("%v, looked at every %s", policy, duration(check))
}

// figure is the setting's value in a unit.
func (s Setting) figure(unit string) float64 {
	for _, f := range s.Figures {
		if f.Unit == unit {
			return f.Value
		}
	}
	return math.NaN() // no caller asks for one that figures does not make
}

// window is how much of the hour the pictures over time show.
const window = 5 * time.Minute
