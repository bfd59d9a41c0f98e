package main

import (
	"strings"
	"testing"
)

// A 0 that would be the default is refused, and so is a time whose unit is none.
func TestRefuseZeros(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"explain", "--rollover", "0s"}, "--rollover 0s: want 1ms or longer, or leave it out"},
		{[]string{"explain", "--inactivity", "0s"}, "--inactivity 0s: want 1ms or longer, or leave it out"},
		{[]string{"explain", "--check=0s"}, "--check 0s: want 1ms or longer, or leave it out"},
		{[]string{"explain", "--size", "0"}, "--size 0B: want 1B or more"},
		{[]string{"explain", "--duration", "0s"}, "--duration 0s: want 1ms or longer, or leave it out"},
		{[]string{"simulate", "--first-checkpoint", "0s"}, "--first-checkpoint 0s: want 1ms or longer, or leave it out"},
		{[]string{"simulate", "--rate", "0"}, "--rate 0: want more than 0"},
		{[]string{"lint", "--subtasks", "0"}, "--subtasks 0: want 1 or more"},
		{[]string{"lint", "--buckets", "0"}, "--buckets 0: want 1 or more"},
		{[]string{"lint", "--record-size", "0"}, "--record-size 0B: want 1B or more"},
		{[]string{"lint", "--checkpoint", "0s"}, "--checkpoint 0s: want 1ms or longer, or leave it out"},
		{[]string{"plan", "--worst", "0s"}, "--worst 0s: want 1ms or longer, or leave it out"},
		{[]string{"plan", "--p99", "0s"}, "--p99 0s: want 1ms or longer, or leave it out"},
		{[]string{"plan", "--files-per-hour", "0"}, "--files-per-hour 0: want more than 0"},
		{[]string{"plan", "--file-size", "0"}, "--file-size 0B: want 1B or more"},
		{[]string{"plan", "--worst", "1m", "--grain", "0s"}, "--grain 0s: want 1ms or longer, or leave it out"},
		{[]string{"watch", "x", "--for", "0s"}, "--for 0s: want 1ms or longer, or leave it out"},
		{[]string{"watch", "x", "--until-idle", "0s"}, "--until-idle 0s: want 1ms or longer, or leave it out"},
		{[]string{"watch", "x", "--every", "0s"}, "--every 0s: want 1ms or longer, or leave it out"},
		{[]string{"watch", "x", "--every", "200msec"}, `--every: "200msec" has the unknown unit "msec": want 200ms`},
		{[]string{"watch", "x", "--for", "5"}, `--for: "5" has no unit: want 5s or 5ms`},
	} {
		status, out, errs := sinklab(t, "", c.args...)
		if status != statusBadInput || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%q: status %d, %s%s; want %q", c.args, status, out, errs, c.want)
		}
	}
	// A checkpoint may take no time at all.
	if status, _, errs := sinklab(t, "", "explain", "--checkpoint-duration", "0s"); status != statusOK {
		t.Errorf("status %d, %s", status, errs)
	}
}

// Times of watch are written as those of other commands are.
func TestWatchTimes(t *testing.T) {
	status, _, errs := sinklab(t, "", "watch", "/nowhere/at/all", "--for", "0.001 s", "--every", "1 ms")
	if status != statusBadInput || !strings.Contains(errs, "/nowhere/at/all was not there") {
		t.Errorf("status %d, %s", status, errs)
	}
}

// What cannot be played in the memory of a computer is refused before it is played.
func TestSimulateBounded(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"default", "--rate", "10000000", "--duration", "1h"}, "36,000,000,000 records in 60 min, and 50,000,000 is the most that are played: give --duration 5s"},
		{[]string{"firehose", "--rate", "20000"}, "72,000,000 records in 60 min, and 50,000,000 is the most that are played: give --duration 41m"},
		{[]string{"firehose", "--arrivals", "poisson rate=20000"}, "72,000,000 records"},
		{[]string{"firehose", "--arrivals", "bursts size=59999 every=60000 interval=1", "--duration", "20h"}, "71,998,800 records in 20 h"},
		{[]string{"firehose", "default", "--rate", "1000", "--record-size", "10000"}, "3,600,000 records in 60 min of 9.8 kB, which are kept in memory, and 500,000 is the most that are played: give --duration 8m"},
		{[]string{"default", "--buckets", "1000", "--subtasks", "1000"}, "--buckets 1000 times --subtasks 1000 are 1,000,000, and 100,000 is the most"},
		{[]string{"default", "--buckets", "9223372036854775807", "--subtasks", "9"}, "is the most"},
	} {
		status, out, errs := sinklab(t, "", append([]string{"simulate"}, c.args...)...)
		if status != statusBadInput || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%q: status %d, %s%s; want %q", c.args, status, out, errs, c.want)
		}
	}
	// A model of another engine keeps no content.
	if status, _, errs := sinklab(t, "", "simulate", "firehose", "--rate", "200", "--record-size", "10000"); status != statusOK {
		t.Errorf("status %d, %s", status, errs)
	}
}

// As without --paste, a goal that cannot be kept is found out and no bad input.
func TestPlanPasteImpossible(t *testing.T) {
	for _, form := range []string{"flink-java", "flink-sql", "kafka-connect", "deadline-java"} {
		status, out, errs := sinklab(t, "", "plan", "--worst", "1s", "--paste", form)
		if status != statusFound || out != "" || !strings.HasPrefix(errs, "sinklab: nothing to paste: no settings meet the bounds") {
			t.Errorf("%s: status %d, %s%s", form, status, out, errs)
		}
	}
}
