// Package props tries to make an exactly-once file sink lose, double or show too early a
// record, and tells by which rule it was caught.
//
// # The promise
//
// No record is visible before its checkpoint completes, none twice after a restore, none
// is lost, and none comes later than its policy allows, whatever crashes. [Rules] spells
// it out as rules with a name and a sentence each.
//
// # How it is tried
//
// A program is a list of operations with a text form: those of sinkcore/sim, and crashes,
// power cuts, faults of the file system, recoveries and more, see [Operations]. [Play]
// plays one on a sink in memory under virtual time, looks at the directory after each
// operation as a reader would, and holds what it sees against a model that knows records
// and checkpoints but no files. When the program is over it lets the sink recover, lets
// the source send what is missing, ends the input and completes a last checkpoint, so no
// record can hide in a file that is still open.
//
// Tests whose names begin with TestProp do that in three ways: on programs drawn at
// random, on all programs of a small alphabet times every crash point times every state
// that a power cut can leave, and on the scripts in testdata/regress, each of which was a
// bug in somebody's sink.
//
//	go test -run Prop ./...
//
// # When one fails
//
// The message has the rule, what was seen, and the program, as short as it could be made.
// Put the program into a file in testdata/regress, with a line before it that says where
// it comes from, and play it with
//
//	go run ./bench/sinklab replay FILE
//
// until it is understood. A program plays the same every time: it holds everything that
// was drawn. The script stays when the bug is gone.
//
// # Your own sink
//
// Package props/sinktest runs all of this on any sink that implements a small interface.
package props
