package config

import "sinklab/sinkcore/plan"

// RuleMeaning says what findings of a rule are about, in a sentence.
type RuleMeaning struct {
	Rule    plan.Rule
	Meaning string
}

// Rules lists all rules with their meaning by what they cost, the worst first.
func Rules() []RuleMeaning {
	return []RuleMeaning{
		{NoCheckpoints, "nothing turns checkpoints on, without which no file is ever visible"},
		{Refused, "the engine does not take an option, or does not know it"},
		{CompactionLoses, "the FileSink merges its files, by which Flink 2.3.0 loses records when a job fails"},
		{plan.IdleUnbounded, "nothing closes a file if no more records come"},
		{plan.Resonance, "the rollover ends with a check, so a file that is a little younger waits for one more"},
		{plan.RolloverBelowCheck, "the rollover is shorter than the time between two checks, which are what closes files"},
		{plan.SlowCheckpoint, "a checkpoint takes longer than the interval, which is not kept"},
		{MinPause, "the pause after a checkpoint does not let the next start when the interval says"},
		{LateCheck, "the time that ends a file is looked at less often than it comes"},
		{plan.InactivityNever, "the inactivity is as long as the rollover, so age always comes first"},
		{plan.InactivityAlways, "records come so seldom that nearly each gets a file of its own"},
		{plan.SizeEveryCheckpoint, "a size that was chosen is reached several times between two checkpoints: files are small and no sooner visible"},
		{plan.CheckpointAboveRollover, "several files are closed between two checkpoints, and become visible together"},
		{ShortBuckets, "the bucket assigner begins a new bucket, and so a new file, sooner than the rolling policy would"},
		{plan.ManyFiles, "more than a million files a day"},
		{DaylightSaving, "when clocks change, files are not closed as on other days"},
		{plan.SizeNever, "a size that was chosen is never reached"},
		{NoEffect, "an option does nothing with the others as they are, or where it stands"},
	}
}
