// Package peers has the sinks of other engines, each with its own policy, clock and
// options: Flink's FileSink and its SQL connector, Flink's transactional Kafka sink, Iceberg,
// Arroyo, the HDFS and S3 connectors of Kafka Connect, Aiven's, Spark, Bento, Vector, Fluentd,
// Firehose, Hudi and Delta. It answers what a setting of one of them costs, in latency and
// in files, and whether there is a longest time that a record can wait at all.
//
// Nothing is run: a peer is a model of when its files are closed and when readers see them,
// written from its source or its documentation, which the options and types name. It has
// no clock, no goroutine and no files, so the same workload gives the same outcome, and an
// hour of ten records a second takes a few milliseconds.
//
// # Asking a peer
//
// Name a peer with its options, as they are called in its own configuration:
//
//	peer, err := peers.Parse("kafka-connect-s3 flush.size=100000 rotate.schedule.interval.ms=60000 timezone=UTC")
//	bound := peer.WorstLatency(peers.Workload{})     // for any arrivals, or why there is none
//	outcome, err := peer.Simulate(peers.Workload{})  // for these arrivals
//	outcome.Latency(0.99); outcome.FilesPerHour()
//
// or fill in the struct, [KafkaConnectS3] here. [All] has one of each, [Names] their names, and
// Options tells what there is to set. What the engine would refuse at its start is refused
// here, by an [*OptionError] that says where the engine does so; an unknown option gets the nearest
// one that there is.
//
// A [Workload] is the same for all of them; [FromSim] makes one of a workload of package
// sim. An [Outcome] has the figures of sim.Result.
//
// # Three answers
//
//   - WorstLatency holds for any arrivals. Where there is no bound it has a [Workload]
//     under which a record waits longer than a day, and the reason.
//   - Predict holds for equal records at equal distances and says what they come to in the
//     long run.
//   - Simulate plays one workload exactly.
//
// Tests hold the three against each other, and those peers that are [Rolling] against the sink of
// package sinkcore on files.
//
// # What the engines do that one would not expect
//
//   - Flink's defaults show a record after 120 s if no record arrives in the millisecond of a
//     check; a rollover interval of 59 s halves that. See [FlinkFileSink].
//   - In Flink SQL csv is a bulk format, so the rolling options have no effect on how long a
//     record waits. See [FlinkSQL].
//   - The defaults of Flink's Kafka sink and of a broker refuse each other. See [FlinkKafka].
//   - Kafka Connect's S3 connector does not rotate an idle stream by rotate.interval.ms, with any
//     extractor of timestamps; and in the last hour of a day of 25 hours scheduled
//     rotation commits a file for every record, and the HDFS connector hangs until midnight. See
//     [KafkaConnectS3] and [KafkaConnectHDFS].
//   - Where clocks go forward at midnight, scheduled rotation fails the task on that day.
//   - Arroyo shows nothing until 32,000 MiB are in a file, unless told otherwise, and on a local
//     disk nothing at all. See [Arroyo].
//   - Bento's timer is not set anew by a batch that was sent for its size. See [BentoS3].
//   - A Spark batch that takes exactly as long as its trigger halves the number of batches. See
//     [Spark].
//
// # Limits
//
// Time is whole milliseconds, and nothing takes time but what CommitDuration and TimerDelay say: no
// network, no queue in front of a sink, no back-pressure. Sizes are those of the records; a format
// that compresses closes its files later. Options that change neither when a file is closed
// nor when it is seen are left out, and an unknown option is refused, so a whole
// configuration has to be cut down to those that [Peer] Options lists. An engine is modelled at one
// version, named with its type.
//
// # How sure a rule is
//
// Each option has the place where the engine defines it ([Option] Source), each refusal the
// place where the engine refuses ([OptionError] Source), and each [Waiver] its source. They
// are of three kinds:
//
//   - Source that was read: Flink 2.3.0, Kafka Connect with the connectors of Confluent and
//     Aiven, Arroyo, Spark, Bento, Vector, Fluentd and Iceberg. Class, file and function
//     are named.
//   - Documentation only: Firehose, Hudi and Delta. What happens between two sentences of a
//     manual is our reading of it, and their defaults were not looked up in a source.
//   - Measured: the part files of Flink's FileSink, whose recorded answers are in
//     testdata/flink. No other engine was run.
//
// A defect that an engine has is modelled if it changes when a record is seen, as it was in
// that version; its type says so, so that a later version can be told from this one.
package peers
