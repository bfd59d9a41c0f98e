package config

import (
	"cmp"

	"sinklab/sinkcore/plan"
)

// Severity is how bad a finding is: what it costs. The least number is the worst.
type Severity int

// The severities, the worst first.
const (
	NothingVisible Severity = iota + 1 // nothing ever becomes visible
	RecordsMissing                     // some records never do, are lost, or the sink does not start as it is written
	Latency                            // records wait longer than they have to
	Files                              // there are more files than there have to be
	WithoutEffect                      // a setting does nothing
)

var severityNames = map[Severity]string{
	NothingVisible: "nothing-visible", RecordsMissing: "records-missing", Latency: "latency", Files: "files", WithoutEffect: "no-effect",
}

// String gives "nothing-visible", "records-missing", "latency", "files" or "no-effect".
func (s Severity) String() string { return severityNames[s] }

// MarshalText gives what String does.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ByCost compares findings by what they cost: negative if the first is worse. It is for
// slices.SortStableFunc, which leaves findings that are as bad as each other in their order.
func ByCost(a, b Finding) int { return cmp.Compare(a.Severity, b.Severity) }

// severityOf is how bad findings of a rule are, unless it is known of one that it is worse.
var severityOf = map[plan.Rule]Severity{
	NoCheckpoints: NothingVisible,

	Refused: RecordsMissing, CompactionLoses: RecordsMissing, plan.IdleUnbounded: RecordsMissing,

	plan.Resonance: Latency, plan.RolloverBelowCheck: Latency, plan.SlowCheckpoint: Latency, plan.InactivityNever: Latency,
	MinPause: Latency, LateCheck: Latency,

	plan.InactivityAlways: Files, plan.SizeEveryCheckpoint: Files, plan.CheckpointAboveRollover: Files, plan.ManyFiles: Files,
	ShortBuckets: Files, DaylightSaving: Files,

	plan.SizeNever: WithoutEffect, NoEffect: WithoutEffect,
}

// restsOnArrivals are the rules that decide by how many records arrive and how large they are.
var restsOnArrivals = map[plan.Rule]bool{
	plan.InactivityAlways: true, plan.SizeEveryCheckpoint: true, plan.ManyFiles: true, plan.SizeNever: true, ShortBuckets: true,
}
