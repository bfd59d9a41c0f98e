package bench_test

import (
	"strconv"
	"testing"
	"time"

	"sinklab/sinkcore/peers"
	"sinklab/sinkcore/sim"
)

// BenchmarkPeers is what the sinks of other engines would do with an hour of records of
// 100 bytes, each with the settings that it comes with: when a reader sees what, and in how
// many files. They are models, see package peers; nothing is written. Where nothing becomes
// visible within the hour there are no latencies.
func BenchmarkPeers(b *testing.B) {
	for _, rate := range []int{10, 100} {
		w := peers.Workload{Arrivals: sim.Constant{Interval: time.Second / time.Duration(rate), First: 50 * time.Millisecond}, Duration: time.Hour}
		for _, peer := range peers.All() {
			b.Run("peer="+peer.Name()+"/rate="+strconv.Itoa(rate), func(b *testing.B) {
				var o peers.Outcome
				for b.Loop() {
					var err error
					if o, err = peer.Simulate(w); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(o.FilesPerHour(), "files/hour")
				if o.Files == 0 {
					return
				}
				reportLatencies(b, o.Latency, o.FirstVisible)
				b.ReportMetric(o.BytesPerFile(), "bytes/file")
			})
		}
	}
}

// reportLatencies reports when records became visible.
func reportLatencies(b *testing.B, quantile func(float64) time.Duration, first time.Duration) {
	for _, latency := range []struct {
		unit string
		q    float64
	}{{"p50-visible-ms", .5}, {"p90-visible-ms", .9}, {"p99-visible-ms", .99}, {"max-visible-ms", 1}} {
		b.ReportMetric(float64(quantile(latency.q).Milliseconds()), latency.unit)
	}
	b.ReportMetric(float64(first.Milliseconds()), "first-visible-ms")
}
