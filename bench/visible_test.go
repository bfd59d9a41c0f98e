package bench_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/sim"
)

// exactUnits are the metrics in virtual time, in which there is no noise.
const exactUnits = `Unit first-visible-ms better=lower assume=exact
Unit p50-visible-ms better=lower assume=exact
Unit p99-visible-ms better=lower assume=exact
Unit max-visible-ms better=lower assume=exact
Unit files/hour better=lower assume=exact
`

// articleSettings are the three settings of the article.
var articleSettings = []struct {
	name   string
	policy sinkcore.RollingPolicy
	check  time.Duration
}{
	{"default", sinkcore.Default{}, time.Minute},
	{"tuned", sinkcore.Default{Rollover: 10 * time.Second, Inactivity: 10 * time.Second}, time.Second},
	{"oncheckpoint", sinkcore.OnCheckpoint{}, time.Minute},
}

// BenchmarkVisible is the article's experiment: one simulated hour for each setting.
func BenchmarkVisible(b *testing.B) {
	for _, setting := range articleSettings {
		b.Run("policy="+setting.name, func(b *testing.B) {
			var result sim.Result
			for b.Loop() {
				var err error
				result, err = runArticle(setting.policy, setting.check)
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(0, "ns/op") // real time says nothing here; BenchmarkHour measures it
			b.ReportMetric(float64(result.FirstVisible.Milliseconds()), "first-visible-ms")
			b.ReportMetric(float64(result.Latency(0.50).Milliseconds()), "p50-visible-ms")
			b.ReportMetric(float64(result.Latency(0.99).Milliseconds()), "p99-visible-ms")
			b.ReportMetric(float64(result.Latency(1).Milliseconds()), "max-visible-ms")
			b.ReportMetric(result.FilesPerHour(), "files/hour")
		})
	}
}

// BenchmarkHour is how long a simulated hour of the article takes: 36,000 records and
// 1,800 checkpoints, the reading and checking of every file included.
func BenchmarkHour(b *testing.B) {
	for _, setting := range articleSettings {
		b.Run("policy="+setting.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := runArticle(setting.policy, setting.check); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// runArticle plays one simulated hour in memory.
func runArticle(policy sinkcore.RollingPolicy, check time.Duration) (sim.Result, error) {
	return sim.Article(policy, check).Run(fsmem.New(fsmem.Options{}), rand.NewChaCha8([32]byte{}), "out")
}
