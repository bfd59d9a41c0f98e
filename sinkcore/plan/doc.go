// Package plan chooses the settings of a rolling file sink: it tells beforehand what they
// will do, why, what is wrong with them, and which do better. No sink is run, and
// no clock or file is needed: each answer is a pure function of the settings.
//
// # Describing a sink
//
// [Settings] are a rolling policy, how often checks and checkpoints come, and what arrives:
// [Constant], [Poisson] or [Bursts], dealt out to buckets and subtasks.
//
//	s := plan.Settings{
//		Policy:        sinkcore.Default{Rollover: 10 * time.Second},
//		CheckInterval: time.Second,
//		Arrivals:      plan.Constant{Interval: 100 * time.Millisecond},
//	}
//
// # Asking
//
//   - What will it do? [Predict] gives the latencies until records are visible, the number
//     and size of files, fsyncs, open parts and buffers; exact for constant arrivals.
//   - Why so long? [Explain] tells the life of the record that waits longest: each check at
//     which nothing happened, and what was missing.
//   - What does it keep, whenever records arrive? [Guarantees]. A prediction is for arrivals
//     at given instants, and one that comes a millisecond later can wait twice as long.
//   - What is wrong with it? [Lint], with the figure and the better setting.
//   - What should I set? [Solve] takes bounds on latency and on files, and gives the settings
//     that keep both with the fewest files, or says that it found none, and whether it is proven that
//     there are none.
//   - Is there something better, at all? [LeastFiles] is a bound for every policy.
//
// A policy of your own takes part if it has a method Limits ([Limiter]), or
// Predict ([Predictor]).
//
// # What happens when
//
// A lane is what one subtask writes to one bucket. It writes one part at a time, so its files
// hold its records in their order, and it knows nothing of other lanes. All that happens in
// it happens at four kinds of instants. With whole numbers n >= 0, in milliseconds but for
// the first:
//
//	record n        x(n) = first + n·gap, in nanoseconds; a clock reads it rounded down
//	check n         start + (n+1)·check
//	checkpoint n    b(n) = b(0) + n·every starts, where every is the interval, or the duration D if that is longer
//	completion n    b(n) + D
//
// With a records' interval i, and m lanes, lane k has first = i(0) + k·i and gap = m·i, since
// records go round the lanes. What falls on one millisecond happens in this order: checks,
// completions, starts of checkpoints, records. So
//
//   - a check or checkpoint at t sees the records that arrived at t - 1 ms or before: those
//     below n = ceil((t - first) / gap), the first record at t or later;
//   - a part closed by a check at t is handed over by the first checkpoint that starts at t
//     or later; one closed by a record at t by the first one after t;
//   - a record that arrives when a checkpoint starts waits for the next.
//
// # When a file is closed
//
// Let the first record of a file arrive at a. It is closed by the earliest of these, of
// which at one instant a check comes before a checkpoint and that before a record:
//
//	age            the first check at a + Rollover or later
//	inactivity     the first check t with I < t - x + 1 ms and t - x <= gap for the newest record x before it
//	checkpoint     the first b(n) > a + OlderThan
//	size           record a's number + ceil(Bytes / record size) arrives, or a checkpoint after the one before it
//
// The line for inactivity asks for a remainder: t - x - 1 ns is (t - first - 1 ns) mod gap, and
// it has to be (I - 1) ms or more. The first multiple of one number whose remainder
// by another lies in an interval is found by Euclid's algorithm, in as many steps as
// the numbers have digits.
//
// The next file begins with the first record at that instant or later. So a file takes a
// few divisions, however many records are in it. The files that records close between
// two checkpoints, one after the other, are one division together.
//
// # A cycle
//
// If the first records of two files are a multiple of both the check interval and every
// apart, the lives that follow are the same. Then all between the two repeats until the end,
// and is counted instead of gone through: an hour of Flink's defaults with ten records a
// second is one file that happens 29 times, and a little.
//
// # Latencies
//
// The records of one file are a lattice, so those that waited for t or less are counted by a
// division: x(n) >= v - t for a file visible at v. A quantile is found by halving the time
// between the least and the longest. The mean needs the sum of floor((b + a·n) / m), which is
// Euclid's algorithm once more.
//
// # Outages
//
// A process that dies leaves behind what the newest completed checkpoint holds, started at
// b: parts closed by then are visible, and the first file of a lane that is not is either
// open at b or begins later. A new life has its own lattices of checks and checkpoints. What
// arrived before it, from b on, is written in its first instant, and a part that is resumed
// has kept the time when it was made.
//
// # Fsyncs
//
// Of each time between two checkpoints in which a file gets a record comes one fsync: at the
// checkpoint, or when it is closed before. So they are counted by lattices too.
//
// # Arrivals by chance
//
// Where instants are not known, how many records come and the longest gap of a lane are
// bounded. If checks are the only thing that closes parts, and the room that the rollover
// leaves before the next check is more than the gap, the checks that close parts are known
// all the same, and with them the distribution of latencies. [Predict] says what the bounds
// rest on.
//
// [Bursts] leave a silence in which inactivity or age closes every part, if it is long enough: then a
// burst is one file, whatever the mean rate is. [Guarantees] takes that into account.
//
// [Explain] is about one record that there is, so it goes through such arrivals one by one, and
// a lane looks them up where it would compute a lattice. Nothing else changes.
//
// # Resonance
//
// Why Flink's defaults wait twice: the next part begins d after the check that closed the
// one before, and is closed check · ceil((Rollover + d) / check) after that. With a rollover
// that is a multiple of check this is Rollover for d = 0 and Rollover + check for d of one
// millisecond or more. A record arrives in the very millisecond of the check where records
// come every millisecond; with ten a second it does in one run of a hundred. So the latency
// of the same settings is 60 s or 120 s depending on the rate, and a rollover of 59 s is what
// people who set 60 s had in mind. Half the latency takes twice the files, as always.
//
// # The least number of files
//
// A file that is visible at b + D holds no record from before b + D - Within, if each is to be
// visible Within so long, and none from after b. So it covers a stretch of at most Within - D.
// Covering all records with such stretches from the front, as late as each allows, takes the
// fewest; see [LeastFiles] for the proof. sinkcore.Deadline makes that number. The checks of
// a Default policy come at K, 2·K, … and its parts wait up to every - g + b(0) mod g for a
// checkpoint, with g the greatest common divisor of K and every: what it loses is that wait.
//
// # Limits
//
// sinkcore.Config.MaxOpenParts makes lanes depend on each other and is not predicted, nor are
// checkpoints that fail, or that do not keep their interval. Checks that fire late are not
// either; they would be late by what a thread waits for a processor.
package plan
