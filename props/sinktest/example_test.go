package sinktest_test

import (
	"fmt"

	"sinklab/props"
	"sinklab/props/sinktest"
	"sinklab/props/sinktest/examples"
)

// A commit that returns at the first target that exists, where it should go on with the next
// file, loses a record: the process dies between the two renames of a checkpoint, and the
// next one finds the first file done and takes that for all.
func ExampleVerdicts() {
	table, err := sinktest.Verdicts(examples.FirstTarget())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(table.Row(props.NoLoss))
	// Output:
	// NoLoss: broken
	//     When the input has ended and the last checkpoint has completed, every record is visible.
	//     Seen when the input ended and the last checkpoint completed: after the end these records are not visible: r1
	//         open tick=1
	//         write a/r0
	//         write r1
	//         checkpoint 1
	//         crash 3 after
	//         complete 1
	//         ! crashed
	//         + a/00000-000.json: a/r0
}

// A program is played again to look closer: here without the crash all is well.
func ExamplePlay() {
	for _, crash := range []string{"", "crash 3 after\n"} {
		verdict, err := sinktest.Play(examples.FirstTarget(), "open\nwrite a/r0\nwrite r1\ncheckpoint 1\n"+crash+"complete 1\n")
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(verdict.Violation == nil)
	}
	// Output:
	// true
	// false
}
