package plan_test

import (
	"errors"
	"fmt"
	"time"

	"sinklab/sinkcore"
	"sinklab/sinkcore/plan"
)

// What Flink's settings do, why, what is wrong with them, and which do better.
func Example() {
	s := plan.Settings{
		Arrivals:           plan.Constant{Interval: 100 * time.Millisecond, First: 50 * time.Millisecond},
		CheckpointInterval: 2 * time.Second, FirstCheckpoint: 150 * time.Millisecond,
	}
	p, err := plan.Predict(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.P99, "p99,", p.Worst, "worst,", p.FilesPerHour, "files/hour")

	e, err := plan.Explain(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(e)

	solution, err := plan.Solve(plan.Goal{Settings: s, Worst: time.Minute, FilesPerHour: 100, Grain: time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(solution.Settings.Policy, "check", solution.Settings.CheckInterval)
	fmt.Println(solution.Guarantee.Worst, "worst,", fmt.Sprintf("%.1f", solution.Guarantee.FilesPerHour), "files/hour at most")
	// Output:
	// 1m58.9s p99, 2m0.1s worst, 29 files/hour
	// policy=default: the record that waits longest waits 120.1 s
	//        50 ms  written     the record is written, the first of its part file
	//       150 ms  checkpoint  from now to 118.15 s 60 checkpoints cannot publish the part, which is open
	//         60 s  check       the check finds the part 59.95 s old, 50 ms short of the rollover of 60 s: it stays open, the next check is 60 s later
	//        120 s  rolled      the check finds the part 119.95 s old, and closes it
	//     120.15 s  prepared    a checkpoint starts and hands the part over
	//     120.15 s  committed   it is complete; the part is renamed, and readers see the record after 120.1 s
	// 120.1 s = 60 s until the part may be closed + 59.95 s until that is seen + 150 ms until a checkpoint starts
	// policy=rolling rollover=57000 inactivity=28500 check 2s
	// 59.149s worst, 62.1 files/hour at most
}

// The finding about Flink's rollover, with what it costs.
func ExampleLint() {
	found, err := plan.Lint(plan.Settings{
		Policy:             sinkcore.Default{Inactivity: 30 * time.Second},
		Arrivals:           plan.Constant{Interval: 100 * time.Millisecond, First: 50 * time.Millisecond},
		CheckpointInterval: 2 * time.Second, FirstCheckpoint: 150 * time.Millisecond,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range found {
		fmt.Print(f)
	}
	// Output:
	// resonance: the rollover of 1m0s is a multiple of the check interval of 1m0s: a part that begins a millisecond after a check is a millisecond too young 1m0s later, and waits 1m0s more for the next one
	//     worst latency with these arrivals, s: 120.1 now, 60.1 then
	//     files/hour with these arrivals: 29 now, 59 then
	//     worst latency of a steady stream, s: 120.149 now, 60.15 then
	//     most files/hour: 60 now, 60 then
	//     better: Rollover 59s: such a part is old enough
	//     see: Flink DefaultRollingPolicy:84-87 (age >= rollover, seen by checks only), FileWriter:267-279 (one check each interval)
}

// Two bounds that no settings meet, and the nearest that meet one.
func ExampleSolve_impossible() {
	_, err := plan.Solve(plan.Goal{Worst: 10 * time.Second, FilesPerHour: 60})
	var none *plan.ImpossibleError
	if errors.As(err, &none) {
		fmt.Println(none)
		fmt.Println("in time:", none.ByLatency.Settings.Policy, "check", none.ByLatency.Settings.CheckInterval, none.ByLatency.Guarantee.FilesPerHour, "files/hour")
		fmt.Println("few files:", none.ByFiles.Settings.Policy, "check", none.ByFiles.Settings.CheckInterval, none.ByFiles.Guarantee.Worst)
	}
	// Output:
	// no settings meet the bounds: to have so few or so large files, a part must be closed no more often than every 1m0s; to show records so soon, at least every 10s
	// in time: policy=rolling rollover=8001 inactivity=4000 check 2s 360 files/hour
	// few files: policy=rolling rollover=54001 inactivity=27000 check 6s 1m0s
}
