/**
 * Drives the real writer, committer and compaction operators of Flink's FileSink one step at a time, under a clock that stands
 * still until it is told to move. {@link sinklab.flink.oracle.Server} is the program; the Go package sinklab/bench/flink talks to it.
 */
package sinklab.flink.oracle;
