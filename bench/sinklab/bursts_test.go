package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

const hourlyBurst = "bursts size=600 every=3600000 interval=1"

// What explain tells of bursts is what simulate plays, and no first checkpoint is worse than the
// bound that it tells; rollover, which does not decide, is not advised.
func TestExplainTellsOfBursts(t *testing.T) {
	for _, first := range []string{"1ms", "150ms", "31s", "59s999ms", "60s"} {
		status, out, errs := sinklab(t, "", "explain", "--rollover", "15m", "--inactivity", "5m", "--checkpoint", "60s", "--first-checkpoint", first, "--duration", "3h", "--arrivals", hourlyBurst, "--json")
		var told struct {
			LatencyMS int64 `json:"latency_ms"`
			BoundMS   int64 `json:"bound_ms"`
			Reason    string
			Sampled   bool
			Findings  []struct{ Rule, Change string }
		}
		if err := json.Unmarshal([]byte(out), &told); err != nil || status != statusOK {
			t.Fatalf("status %d, %v, %s", status, err, errs)
		}
		_, out, _ = sinklab(t, "", "simulate", "policy=rolling rollover=900000 inactivity=300000 check=60000", "--checkpoint", "60s", "--first-checkpoint", first, "--duration", "3h", "--arrivals", hourlyBurst, "--json")
		var played struct {
			Sinks []struct {
				MaxMS int64 `json:"max_ms"`
			}
		}
		if err := json.Unmarshal([]byte(out), &played); err != nil {
			t.Fatal(err)
		}
		if told.LatencyMS != played.Sinks[0].MaxMS || told.LatencyMS > told.BoundMS || told.BoundMS > 420_598 || told.Reason != "inactivity" || told.Sampled {
			t.Errorf("first checkpoint at %s: %+v, played %+v", first, told, played)
		}
		for _, f := range told.Findings {
			if f.Rule == "resonance" {
				t.Errorf("%+v", f)
			}
		}
	}
	_, out, _ := sinklab(t, "", "explain", "--rollover", "15m", "--inactivity", "5m", "--checkpoint", "60s", "--arrivals", hourlyBurst)
	for _, want := range []string{"waits 360.15 s", "the check finds that nothing was written to the part for 359.401 s, and closes it", "whenever checkpoints start and", "these bursts come, one may wait up to 420.597 s"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if strings.Contains(out, "Better: Rollover") {
		t.Errorf("what does not decide is advised:\n%s", out)
	}
}

// Random records have the seed that they are given, as in simulate.
func TestExplainTakesASeed(t *testing.T) {
	for _, seed := range []int{0, 7} {
		arrivals := fmt.Sprintf("poisson rate=0.02 seed=%d", seed)
		_, out, _ := sinklab(t, "", "explain", "--rollover", "15m", "--inactivity", "2m", "--arrivals", arrivals, "--json")
		_, played, _ := sinklab(t, "", "simulate", "policy=rolling rollover=900000 inactivity=120000", "--arrivals", arrivals, "--json")
		var told struct {
			LatencyMS int64 `json:"latency_ms"`
		}
		if err := json.Unmarshal([]byte(out), &told); err != nil || !strings.Contains(played, fmt.Sprintf(`"max_ms":%d,`, told.LatencyMS)) {
			t.Errorf("%s: %v, %s\n%s", arrivals, err, out, played)
		}
	}
}

// A burst of 0.6 s an hour is one file, and what plan says of it holds when it is played.
func TestPlanTakesBurstsIntoAccount(t *testing.T) {
	for _, goal := range [][]string{{"--worst", "8m", "--file-size", "50KB"}, {"--worst", "8m", "--files-per-hour", "2"}} {
		status, out, errs := sinklab(t, "", append(append([]string{"plan"}, goal...), "--arrivals", hourlyBurst, "--checkpoint", "60s", "--json")...)
		var r struct {
			Recommended  settingJSON
			Alternatives []settingJSON
			Connect      struct {
				WorstMS      int64   `json:"worst_ms"`
				FilesPerHour float64 `json:"files_per_hour"`
			} `json:"kafka_connect"`
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil || status != statusOK {
			t.Fatalf("%q: status %d, %v, %s", goal, status, err, errs)
		}
		if r.Recommended.FilesPerHour != 1 || r.Recommended.Goal != "kept" || r.Connect.FilesPerHour > 2 || r.Connect.WorstMS > 480_000 {
			t.Errorf("%q: %+v", goal, r)
		}
		for _, s := range append(r.Alternatives, r.Recommended) {
			for _, first := range []string{"1ms", "30s", "60s"} {
				_, out, errs := sinklab(t, "", "simulate", fmt.Sprintf("%s check=%d", s.Policy, s.CheckMS), "--checkpoint", "60s", "--first-checkpoint", first, "--duration", "4h", "--arrivals", hourlyBurst, "--json")
				var played struct {
					Sinks []struct {
						MaxMS int64   `json:"max_ms"`
						Files float64 `json:"files_per_hour"`
					}
				}
				if err := json.Unmarshal([]byte(out), &played); err != nil {
					t.Fatalf("%v, %s", err, errs)
				}
				if p := played.Sinks[0]; p.MaxMS > s.WorstMS || p.Files > s.FilesPerHour {
					t.Errorf("%+v, played with the first checkpoint at %s: %+v", s, first, p)
				}
			}
			if s.Name == "every checkpoint" && s.FilesPerHour != 2 {
				t.Errorf("%+v", s)
			}
		}
	}
}

// What is not proven is not called so.
func TestPlanClaimsNoProof(t *testing.T) {
	for _, c := range []struct {
		args   []string
		proven bool
	}{
		{[]string{"--worst", "8m", "--file-size", "120KB", "--arrivals", hourlyBurst, "--checkpoint", "60s"}, false},
		{[]string{"--worst", "2m", "--files-per-hour", "28", "--rate", "0.02"}, false},
		{[]string{"--p99", "2m", "--files-per-hour", "28", "--arrivals", "poisson rate=10"}, false},
		{[]string{"--worst", "2m", "--files-per-hour", "28"}, true},
		{[]string{"--worst", "30s", "--arrivals", hourlyBurst, "--checkpoint", "60s"}, true},
	} {
		status, text, _ := sinklab(t, "", append([]string{"plan"}, c.args...)...)
		_, object, _ := sinklab(t, "", append([]string{"plan", "--json"}, c.args...)...)
		claims := strings.Contains(text, "No settings keep this goal")
		for _, claim := range []string{"Both at once cannot be", "may end a file no more often"} {
			if !c.proven && strings.Contains(text+object, claim) {
				t.Errorf("%q claims %q", c.args, claim)
			}
		}
		if status != statusFound || claims != c.proven || strings.Contains(object, `"proven":true`) != c.proven {
			t.Errorf("%q: status %d, proven: %v\n%s", c.args, status, c.proven, text)
		}
	}
}

// The columns say that they are bounds.
func TestPlanColumnsAreBounds(t *testing.T) {
	_, out, _ := sinklab(t, "", "plan", "--worst", "60s")
	if !strings.Contains(out, "at most") || !strings.Contains(out, "at least") || !strings.Contains(out, "worst case") {
		t.Error(out)
	}
}

// Of all peers those that have no outages are left out, and said to be; one that is named is an
// error.
func TestSimulatePeersWithAnOutage(t *testing.T) {
	status, out, errs := sinklab(t, "", "simulate", "peers", "--outage", "10m-12m", "--duration", "20m", "--json")
	var r struct {
		Sinks   []struct{ Sink string }
		LeftOut []leftOut `json:"left_out"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != statusOK || errs != "" {
		t.Fatalf("status %d, %v, %s", status, err, errs)
	}
	if len(r.LeftOut) != 1 || r.LeftOut[0].Sink != "firehose" || !strings.Contains(r.LeftOut[0].Reason, "no outages of its own") || len(r.Sinks) < 15 {
		t.Errorf("%+v", r)
	}
	status, out, errs = sinklab(t, "", "simulate", "peers", "--outage", "10m-12m", "--duration", "20m")
	if status != statusOK || strings.Contains(out, "firehose") || !strings.Contains(errs, "firehose is left out") {
		t.Errorf("status %d, %s\n%s", status, errs, out)
	}
	if status, _, errs := sinklab(t, "", "simulate", "firehose", "--outage", "10m-12m"); status != statusBadInput || !strings.Contains(errs, "no outages of its own") {
		t.Errorf("status %d, %s", status, errs)
	}
}

// Why nothing is visible is said.
func TestSimulateSaysWhyNothingIsVisible(t *testing.T) {
	for sink, want := range map[string]string{
		"arroyo":                             "without rolling_policy.interval a file is open until",
		"fluentd-file":                       "the end comes first, at 60 min; a record may wait 24.183 h",
		"kafka-connect-s3 flush.size=100000": "that do not come to flush.size stay open",
		"policy=rolling rollover=9000000 inactivity=9000000": "no part is closed",
	} {
		status, out, errs := sinklab(t, "", "simulate", sink)
		if text := strings.Join(strings.Fields(out), " "); status != statusOK || errs != "" || !strings.Contains(text, "nothing is visible") || !strings.Contains(text, want) {
			t.Errorf("%s: status %d, %s\n%s", sink, status, errs, out)
		}
		if _, out, _ := sinklab(t, "", "simulate", sink, "--json"); !strings.Contains(out, want) {
			t.Errorf("%s: %s", sink, out)
		}
	}
	if _, out, _ := sinklab(t, "", "simulate", "--duration", time.Hour.String()); strings.Contains(out, "nothing is visible") {
		t.Error(out)
	}
}
