// Package examples has four sinks in the interface of package sinktest, to start one's
// own from, and to see what the kit finds. Their verdicts are in testdata/sinktest.
//
//   - [Sinkcore]: package sinkcore in the small interface. All rules hold.
//   - [Naive]: buffers in memory, and at the checkpoint writes a file and renames it.
//   - [FirstTarget]: two phases, with a commit that returns at the first target that
//     exists, as in Arroyo's sink for local files.
//   - [WriteAheadLog]: commits by a log of its own and skips what its file names say is
//     there, as in Kafka Connect's sink for HDFS.
//
// The last two follow a description of those protocols, not their code, and have one
// rolling policy only: every checkpoint closes all files.
package examples
