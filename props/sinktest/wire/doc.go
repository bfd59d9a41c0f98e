// Package wire tests a sink that is another process, in any language, with the kit of package
// sinktest. The process reads requests from standard input and answers on standard output, a
// JSON object a line; it works in a real directory, and dies by SIGKILL.
//
// # Testing a sink
//
//	p, err := wire.Open(wire.Options{Command: []string{"java", "-cp", "sink.jar", "Server"}, Trace: true})
//	defer p.Close()
//	kind := p.Kind()
//	kind.Name = "mine"
//	table, err := sinktest.Verdicts(kind) // or sinktest.Run(t, kind)
//	err = p.Err()                         // did the process keep to what is said here?
//
// Without a line of Go it is
//
//	sinklab kit --trace -- java -cp sink.jar Server
//
// # The requests
//
// Each has "do", and is answered by one line before the next comes. Times are milliseconds since
// 1970 in virtual time: the process reads no clock. What the calls have to keep is said at
// sinktest.Sink, whose methods they are.
//
//	{"do":"new","dir":DIR,"now":MS,"seed":N}       start with no state. DIR may be missing, or hold what was left
//	{"do":"restore","dir":DIR,"now":MS,"seed":N,"checkpoint":ID,"state":BASE64}
//	{"do":"write","record":TEXT,"now":MS}          a line of a file in DIR/BUCKET; BUCKET is what is before the last /
//	{"do":"tick","now":MS}                         answer {"next":MS}, or {} if no timer is set
//	{"do":"prepare","checkpoint":ID,"now":MS}      answer {"state":BASE64}
//	{"do":"commit","checkpoint":ID}
//	{"do":"abort","checkpoint":ID}                 {} is an answer for a sink that does not want to know
//	{"do":"end"}                                   the end of the input
//	{"do":"close"}                                 forget the sink, as if the process had died; "new" or "restore" may follow
//
// The answer to a request that was carried out is {}, with what is named above and nothing else: a key that is not
// known, null, or a missing "state" is an error of the process, so that no wrong letter makes a success of a failure. A
// request that was not carried out is answered by {"error":TEXT}. Nothing else may be written to standard output;
// standard error is free, and its end is shown when the process fails. When standard input ends, so must the process.
//
// All keys of a request are there always, with an empty "state" or "record" too. A "now" is less than 0 in programs whose clock
// stands before 1970; only then may "next" be.
//
// A state may hold DIR: it is the same directory in every request to all processes of an [Open]. The
// seed is for names that have to be unique; who takes it is repeatable.
//
// # The files
//
// The kit has to know every operation on files, and in which order, because the process may die
// between any two of them and the power may fail. There are two ways to tell.
//
// With Options.Trace the process runs under strace, and nothing is to be done. That needs Linux, strace on the PATH, and
// leave to use ptrace, which some containers do not give; see [ErrNoTrace]. What is seen is what the system is told: the bytes
// that a file object holds are written when it is flushed, and not before. Flush it where the order matters, as you must for a
// sync.
//
// The children of the process are followed, threads and other processes: what they do with files counts as if
// the process had done it itself. A file may have any number of numbers (dup), here and in a forked child; "close" is told when
// the last one is closed of the process that has opened it. An answer is what is written to the pipe that standard output is at the
// start, by whoever writes it.
//
// Some calls cannot be played, and are errors of the process: hard links, O_TMPFILE, an exchange of two names, sync of everything,
// copies within the system (sendfile, copy_file_range, splice), fallocate of a length. What is written by mmap or io_uring
// is not seen, nor that reading moves where a file stands which is written too; the comparison below finds that.
//
// Without, it tells of each operation that has succeeded by a line before the answer, see [Operation]:
//
//	{"file":"mkdir","path":"/DIR/a"}
//	{"file":"open","path":"/DIR/a/.x","fd":3,"flags":["create","excl"]}
//	{"file":"write","path":"/DIR/a/.x","fd":3,"data":"r0\n"}
//	{"file":"sync","path":"/DIR/a/.x","fd":3}
//	{"file":"close","path":"/DIR/a/.x","fd":3}
//	{"file":"rename","path":"/DIR/a/.x","to":"/DIR/a/x"}
//
// Paths are absolute. A number is 1 or more, and no other open file has it.
//
// After each answer the real directory is compared with what the operations have made; what
// was not told is an error of the process.
//
// # How a crash is played
//
// The operations are played again on the kit's file system in memory, one by one. When the crash that a
// program holds comes before one of them, the process is killed, and what it did afterwards is forgotten:
// the next one finds the directory as it was then. After a power cut it finds what has survived in
// memory. This is what a real crash at that operation leaves, as long as the process says nothing to
// the world but by files and answers. Only operations that change something count for a program's
// "crash N"; what a process reads is not seen.
//
// With Options.Keep the process lives on: it is told to forget the sink, and what it still does with files that it opened
// before the next "new" or "restore", as a garbage collector may, belongs to nobody.
//
// Errors of the file system are not played, since the process has met none: the kind lacks
// sinktest.Faults, and rules that need them are untried. Waive them.
//
// # Power cuts without the process
//
// A [Recording] keeps what went over the wire (Options.Observe), and can be looked at where the process
// cannot run: [Recording.PowerCuts] cuts the power after each of its operations and looks at every state
// that may be found then.
//
// # A sink in Go
//
// [Serve] is the other end for any sinktest.Kind, and an example to follow in another language.
package wire
