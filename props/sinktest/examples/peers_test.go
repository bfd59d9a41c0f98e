package examples_test

import (
	"testing"

	"sinklab/props"
	"sinklab/props/sinktest"
	"sinklab/props/sinktest/examples"
	"sinklab/sinkcore/peers"
)

// The policies of peers are policies like any other for the rules of exactly-once: they are pure, so
// the sink keeps every rule with them, and none is later than the bound.
func TestPropPeers(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"flink-filesink withMaxPartSize=20 withRolloverInterval=300 withInactivityInterval=200",
		"flink-sql sink.rolling-policy.file-size=20 sink.rolling-policy.rollover-interval=300ms",
		"flink-sql format=parquet",
		"iceberg-flink write.target-file-size-bytes=1",
		"arroyo rolling_policy.interval=1s",
		"arroyo-local rolling_policy.interval=1s rolling_policy.file_size=20",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			peer, err := peers.Parse(line)
			if err != nil {
				t.Fatal(err)
			}
			policy, _, ok := peer.(peers.Rolling).Policy()
			if !ok {
				t.Fatal("no policy")
			}
			kind := examples.Sinkcore(policy)
			kind.Programs = 60
			table, err := sinktest.Verdicts(kind)
			if err != nil {
				t.Fatal(err)
			}
			if broken := table.Broken(); len(broken) > 0 {
				t.Errorf("%s", table)
			}
		})
	}
}

// What a peer does not promise is a rule that there is, in the order of the rules.
func TestPropPeersWaiveRules(t *testing.T) {
	order := map[string]int{}
	for i, r := range props.Rules {
		order[string(r.Rule)] = i
	}
	waived := 0
	for _, p := range peers.All() {
		last := -1
		for _, w := range p.Waivers() {
			at, known := order[w.Rule]
			if !known || at <= last {
				t.Errorf("%s waives %q: no such rule, or not in order", p, w.Rule)
			}
			last = at
			waived++
		}
	}
	if waived == 0 {
		t.Error("no peer waives a rule")
	}
}
