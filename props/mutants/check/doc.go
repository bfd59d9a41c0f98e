// Command check plays programs on the sink that it was built with until one breaks a
// rule, makes that program as short as it can, and prints what it found as a line of
// JSON, a [Finding]. The command mutants builds it once for each mutant.
//
//	check [-programs N]
//
// Programs come from [props.DrawProgram] with fixed seeds, so the same sink always gives
// the same line. Each is judged by one of several judges in turn:
//
//   - random: the rules of package props, some with small buffers, some with every
//     completion told twice;
//   - again: the program is played twice and gives the same both times;
//   - foreign, stolen, short, flipped, doubled: somebody meddles with the directory or
//     the state, and the sink must refuse rather than lose or replace anything;
//   - timed: programs in which nothing fails, held against a model of Flink's files and
//     timers that was written from Flink's sources and shares no code with the sink. A
//     record that is later than there breaks Latency, another number of files
//     FileCount.
package main
