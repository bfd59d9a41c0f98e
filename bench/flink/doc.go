// Package flink plays programs on the real Apache Flink 2.3.0 and holds its FileSink against
// sinkcore and against the rules of package props.
//
// It needs Java 17 and Maven; everything else in this module works without them. The
// Java sources are beside this file and travel inside the Go program: [Build] compiles them
// once, into the user's cache directory, and compares every jar that Maven brought with
// checksums.sha256. Where Java or Maven is missing it returns [ErrTools], whose text says how
// to get them.
//
// # Ask Flink
//
//	module, err := flink.Build(ctx)
//	engine, err := flink.Start(ctx, module, flink.Options{})
//	defer engine.Close()
//	programs, err := flink.Parse(file)            // traces, see package sinkcore/sim
//	played, err := engine.Record(programs[0])     // the program with Flink's answers
//
// One Java process serves any number of programs. It drives the operators that a job has
// (writer, committer, and with compaction the two between them) in Flink's own operator
// harness, under a clock that moves only when it is told to. What became visible is read from the
// directory by the same reader that looks at sinkcore.
//
// # Hold it against sinkcore
//
// [Engine.Play] plays a program on Flink with all rules of props watching, and [Compare]
// plays it on sinkcore and returns the first difference. When a job is restored with
// another number of subtasks Flink leaves to chance which bucket goes to which subtask, and in
// which order; the engine tells how the dice fell, Compare checks that it is an outcome that
// the repartitioner may have, and then sinkcore must answer the same under the same order.
//
// [Fuzz] does this for random programs and counts what it finds by kind; sinklab fuzz-flink
// is the command. A rule that Flink itself breaks is a [Finding].
//
// # Compaction
//
// Two keys of open are understood here and not by sinkcore, which does not merge files:
//
//	compact=N         merge at every N-th checkpoint
//	compact-size=N    merge when there are so many bytes
//
// Programs with them are judged by the rules alone.
//
// # Test it as any sink
//
// [OpenKit] makes the real FileSink a kind that package sinktest tests, in a process that SIGKILL ends, on a disk that
// loses its power: its system calls are recorded by strace and played again in memory, see package wire.
// [CommitCases] asks what a restore makes of a directory in which somebody was. The verdicts and a report on them
// are in testdata/flink/verdicts.
//
// # Measure beside it
//
// [Peers] measures Flink's own FileWriter and sinkcore in turns on one disk, and whole jobs;
// [WritePeers] prints the samples as Go benchmark lines. Flink's row format writes unbuffered:
// for each record it asks the operating system where the file stands, since the rolling policy
// looks at its size, writes the record, and, by SimpleStringEncoder, writes the newline. So two
// fairer ways are measured beside it, an encoder that writes both in one call and a bulk
// writer with a buffer, and a bufio.Writer with no sink around it. sinkcore may take less than that,
// since on ext4 it reserves space for files that grow. With large records what is left is the copy
// into the page cache, which all have.
//
// # Run it for real
//
// [RunArticle] runs the article's three settings in real time, each under a watch of its
// directory (package sinklab/bench/watch). [RunCluster] starts a standalone cluster of
// processes on the loopback address, submits the job by flink run, kills task managers
// and checks every record; [WriteJobJar] writes the job for a cluster of your own. Each
// process reads its standard input and ends with it, so none is left behind however
// the Go side ends.
//
// # The Java side
//
// The Maven module in this directory has one package for each purpose:
//
//	sinklab.flink.oracle   drives single operators; Server is the program behind [Engine]
//	sinklab.flink.policy   DeadlineRollingPolicy, which is sinkcore.Deadline for Flink, see [DeadlineJava]
//	sinklab.flink.kit      answers the kit, see [OpenKit]
//	sinklab.flink.job      jobs that run on Flink's own executor or on a cluster; RecordsJob is the one for flink run
//	sinklab.flink.bench    measures when it is asked to; the other side of the measurement is in Go
//
// To work on it without Go:
//
//	mvn -q compile dependency:build-classpath -Dmdep.outputFile=target/classpath
//
// When a version changes, make checksums.sha256 anew and look at what is different: each
// line is the SHA-256 of a jar and its path below the local repository,
//
//	tr : '\n' < target/classpath | sed 's|.*/repository/||' | sort | (cd ~/.m2/repository && xargs sha256sum)
package flink
