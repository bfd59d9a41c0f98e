package report

import (
	"slices"
	"strings"
	"testing"
)

// Engines that are alike share a point; those without a place on the axes have none, and other
// rates are not drawn.
func TestPeerPoints(t *testing.T) {
	run := read(t, `BenchmarkPeers/peer=a/rate=10-2 1 2000 p99-visible-ms 1800 files/hour
BenchmarkPeers/peer=b/rate=10-2 1 9000 p99-visible-ms 30 files/hour
BenchmarkPeers/peer=c/rate=10-2 1 2000 p99-visible-ms 1800 files/hour
BenchmarkPeers/peer=at-once/rate=10-2 1 0 p99-visible-ms 36000 files/hour
BenchmarkPeers/peer=never/rate=10-2 1 0 files/hour
BenchmarkPeers/peer=a/rate=100-2 1 2000 p99-visible-ms 1800 files/hour
`)
	var got []string
	for _, p := range peerPoints(tradeoffsOf(run, "Peers", peersRate)) {
		got = append(got, strings.Join(p.settings, "+"))
	}
	if want := []string{"b", "a+c"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
