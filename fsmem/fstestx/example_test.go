package fstestx_test

import (
	"fmt"
	"strings"

	"sinklab/fsmem"
	"sinklab/fsmem/fstestx"

	"github.com/spf13/afero"
)

// A file system that breaks a rule is told which, why, and where the rule stands.
func ExampleTestFS() {
	err := fstestx.TestFS(func() fstestx.Tree {
		return fstestx.Tree{FS: afero.NewMemMapFs()}
	}, fstestx.Options{Skip: skipMemMapFs})
	for _, v := range fstestx.Violations(err) {
		if v.Rule.Name == "append/every-write" {
			fmt.Println(v.Rule.Text)
			fmt.Println(v.Rule.Source)
			fmt.Println(strings.Split(v.Problems[0].Text, "\n"))
		}
	}
	// Output:
	// With O_APPEND every write goes to the end of the file as it is then, also when another handle has written.
	// open(2), O_APPEND
	// [cat a -> "AAAAbbCCd" got  "bbdACC" want "AAAAbbCCd"]
}

// Two file systems that differ are told the first call that shows it.
func ExampleCompare() {
	program, err := fstestx.ParseProgram(`
		create h0 a
		write h0 "abc"
		close h0
		close h0
	`)
	if err != nil {
		fmt.Println(err)
		return
	}
	a := fstestx.Tree{FS: fsmem.New(fsmem.Options{})}
	b := fstestx.Tree{FS: afero.NewMemMapFs()}
	fmt.Println(fstestx.Compare(a, b, program))
	// Output:
	// the trees differ:
	// 	create h0 a
	// 	write h0 "abc"
	// 	close h0
	// 	close h0
	// 	# a: PathError close closed   (close /a: file already closed)
	// 	# b: ok
}
