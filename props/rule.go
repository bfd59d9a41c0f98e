package props

import "fmt"

// Rule is the name of one thing that an exactly-once sink promises.
type Rule string

// The rules, in the order of [Rules].
const (
	Visibility    Rule = "Visibility"
	NoDuplicate   Rule = "NoDuplicate"
	NoLoss        Rule = "NoLoss"
	Immutable     Rule = "Immutable"
	Unique        Rule = "Unique"
	Order         Rule = "Order"
	Idempotent    Rule = "Idempotent"
	Restore       Rule = "Restore"
	EndOfInput    Rule = "EndOfInput"
	Latency       Rule = "Latency"
	FileCount     Rule = "FileCount"
	Hidden        Rule = "Hidden"
	Durable       Rule = "Durable"
	Surfaced      Rule = "Surfaced"
	Poisoned      Rule = "Poisoned"
	Orphans       Rule = "Orphans"
	Handles       Rule = "Handles"
	Live          Rule = "Live"
	Deterministic Rule = "Deterministic"
)

// Rules lists every rule with the sentence that it stands for.
var Rules = []struct {
	Rule     Rule
	Sentence string
}{
	{Visibility, "No record is visible before a checkpoint that covers it has completed."},
	{NoDuplicate, "No record is visible twice."},
	{NoLoss, "When the input has ended and the last checkpoint has completed, every record is visible."},
	{Immutable, "A visible file never changes and never vanishes."},
	{Unique, "No file is ever put in the place of another visible one."},
	{Order, "A file holds the records of its subtask in the order in which they were written, and so do the files of one bucket in the order of their counters."},
	{Idempotent, "A completion that comes again, late or out of order changes nothing and is no error."},
	{Restore, "The newest completed checkpoint can always be restored, with any parallelism; a refused restore of an older one changes nothing."},
	{EndOfInput, "When a checkpoint that was taken after the end of a subtask's input has completed, every record of that subtask is visible."},
	{Latency, "No record becomes visible later than the policy's closed form says."},
	{FileCount, "There are as many files as the policy's closed form says."},
	{Hidden, "A reader that skips names beginning with . and _ sees whole records of finished files only."},
	{Durable, "What a completed checkpoint has made visible, and what it needs to be restored, survives a power cut."},
	{Surfaced, "No error of the file system is swallowed."},
	{Poisoned, "After an error of the file system the sink takes no more work until it is restored."},
	{Orphans, "A sweep removes the in-progress files that no retained checkpoint names, all of them and nothing else."},
	{Handles, "A sink that was closed holds no file open."},
	{Live, "An operation that nothing disturbs succeeds."},
	{Deterministic, "The same program gives the same history, byte for byte."},
}

// Violation says which rule a sink has broken, and at which step of the program. It is
// an error whose text depends on the program only.
type Violation struct {
	Rule   Rule
	Step   int    // index of the operation in the program; its length for the end of it
	Detail string // what was seen
}

// Error gives all of it.
func (v *Violation) Error() string {
	return fmt.Sprintf("rule %s, step %d: %s", v.Rule, v.Step+1, v.Detail)
}
