package flink

import (
	"slices"
	"strings"

	"sinklab/props"
	"sinklab/sinkcore/sim"
)

// Finding is a way in which Flink 2.3.0 breaks a rule of package props.
type Finding struct {
	Name       string
	Rules      []props.Rule // that it breaks, one at a time
	Compaction bool         // it needs compaction
	Sentence   string

	// cause tells whether a run that breaks the rule does so for this reason. It looks for the
	// cause and not at the outcome, so that another defect with the same outcome is not
	// taken for this one.
	cause func(p Program, r Run) bool
}

// Findings lists what is known. Lines are those of Flink's 2.3.0 sources.
var Findings = []Finding{
	{
		Name: "compaction-loses-records", Rules: []props.Rule{props.NoLoss}, Compaction: true,
		Sentence: "A job that fails after its first checkpoint and whose input ends before the next one loses that checkpoint's records for ever: " +
			"the compactor files what it collects at the end under the number after the last checkpoint it knows of, which a restore does not tell it, " +
			"and so replaces the requests restored under that number (CompactorOperator:143-156).",
		cause: func(_ Program, r Run) bool { return slices.Contains(r.notes, "replaced") },
	},
	{
		Name: "compaction-leaves-records", Rules: []props.Rule{props.NoLoss}, Compaction: true,
		Sentence: "The same loss after a later checkpoint: requests restored under a later number than the one at the end are not merged before the last checkpoint has completed, " +
			"and no other comes to hand over the result (CompactorOperator:143-156, which asserts that none is left).",
		cause: func(_ Program, r Run) bool { return slices.Contains(r.notes, "left") },
	},
	{
		Name: "compaction-shows-too-early", Rules: []props.Rule{props.Visibility, props.Idempotent}, Compaction: true,
		Sentence: "Records that came after the restored checkpoint are published when its completion is told again, as an abortion does (StreamTask:1567-1583), " +
			"if the input has ended meanwhile: they are filed under a number that is not above it (CompactorOperator:143-156). After one more failure they are there twice.",
		cause: func(p Program, r Run) bool {
			if r.Violation.Step >= len(p.Steps) {
				return false
			}
			_, completion := p.Steps[r.Violation.Step].Operation.(sim.Complete)
			return completion && slices.Contains(r.notes, "not above")
		},
	},
	{
		Name: "compaction-end-cannot-be-restored", Rules: []props.Rule{props.Restore}, Compaction: true,
		Sentence: "At the end of the input the compactor publishes files at once and not when the last checkpoint completes (CompactorOperator:143-156). " +
			"If the job fails before that, no checkpoint that has one of them open can be restored any more.",
		cause: func(_ Program, r Run) bool { return slices.Contains(r.notes, "published at the end") },
	},
	{
		Name: "compaction-input-deleted", Rules: []props.Rule{props.Live, props.Restore}, Compaction: true,
		Sentence: "An older checkpoint is restored without complaint although files that it would merge were merged and deleted since; the job then fails at each checkpoint " +
			"or end of input, for ever.",
		cause: func(_ Program, r Run) bool {
			return r.Reached["older checkpoint restored"] > 0 && missingFile(r.Violation.Detail)
		},
	},
	{
		Name: "refused-restore-publishes", Rules: []props.Rule{props.Restore},
		Sentence: "A restore of an older checkpoint that is refused, because a file that it would go on writing has been published since, has published other files before it is refused: " +
			"committers come first (RegularOperatorChain:102-108), and nothing is looked at before.",
		cause: func(_ Program, r Run) bool {
			return strings.Contains(r.Violation.Detail, "was refused and has changed something")
		},
	},
	{
		Name: "refused-restore-destroys", Rules: []props.Rule{props.Restore, props.Live},
		Sentence: "A restore of an older checkpoint that is refused has cut off other files before it is refused (LocalRecoverableFsDataOutputStream:65-81). " +
			"The newest checkpoint needs what was cut off and cannot be restored any more.",
		cause: func(_ Program, r Run) bool {
			return refusedBefore(r, r.Violation.Step) && strings.Contains(r.Violation.Detail, "Missing data in tmp file")
		},
	},
}

// Explain finds the known reason of the rule that a run breaks; nil if there is none, and
// then it is news.
func Explain(p Program, r Run) *Finding {
	if r.Violation == nil {
		return nil
	}
	for i := range Findings {
		f := &Findings[i]
		if slices.Contains(f.Rules, r.Violation.Rule) && (!f.Compaction || p.Compaction.On()) && f.cause(p, r) {
			return f
		}
	}
	return nil
}

// refusedBefore tells whether an operation has failed before a step. Only restores do.
func refusedBefore(r Run, step int) bool {
	return slices.ContainsFunc(r.Failures, func(e sim.Event) bool { return e.Step < step })
}

func missingFile(detail string) bool { return strings.Contains(detail, "FileNotFoundException") }
