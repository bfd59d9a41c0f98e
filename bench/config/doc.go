// Package config reads the settings of file sinks as people have them, and prints settings so
// that they can be pasted there: Java source with Flink's FileSink, DDL of Flink SQL, and
// properties of Kafka Connect. It is what the commands plan and lint of sinklab stand on.
//
// # Reading
//
// [Read] finds the sinks in a text of a [Form]; [Detect] tells which form it has.
//
//	form := config.Detect("job.sql", text)
//	file, err := config.Read(form, text)       // a *ReadError says which line cannot be read
//	for _, sink := range file.Sinks { … }      // its options with their lines, and its peer
//
// Options that the engine refuses, or does not know, are in Sink.Refusals with the nearest right
// one. A value that is not in the text, since a program computes it, is in Sink.Unread, and the
// sink is not judged: a guess would be worth nothing.
//
// # Judging
//
// [Lint] gives the findings about the sinks of a file, each with its line, its figures, and
// what to write instead in the words of the form. Rolling policies are judged by package plan,
// connectors by what package peers knows of them.
//
// They come by what they cost, the worst first: see [Severity]. A job that nothing in its text turns
// checkpoints on for is told so before all else, unless the settings say how often they come.
//
//	found, err := config.Lint(file, plan.Settings{Arrivals: plan.Constant{Interval: time.Millisecond}})
//
// # Printing
//
// [Write] prints settings, such as those that plan.Solve has found. What it prints is read again
// as the same settings, and [Lint] has nothing to say about what Solve recommends. Kafka
// Connect has no checkpoints and no rolling policies; [Connect] finds its nearest settings,
// with their own bound, and [ConnectDiffers] says what is different.
//
// # Units
//
// [Duration] and [Size] read times and sizes of command lines and of TOML files, which [ReadTOML]
// reads.
package config
