package sinkcore_test

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"log"
	"strings"
	"time"

	"github.com/spf13/afero"

	"sinklab/fsmem"
	"sinklab/sinkcore"
)

// The steps of "Using a sink": write, take a checkpoint, store it, complete it, crash,
// restore, write on, end. Records are "key=value", and the key is the bucket.
func Example() {
	disk := fsmem.New(fsmem.Options{}) // a real program takes afero.NewOsFs()
	config := sinkcore.Config[string]{
		Dir:     "/out",
		Encoder: sinkcore.Line[string]{},
		Assigner: sinkcore.Prefix[string](func(record string) string {
			key, _, _ := strings.Cut(record, "=")
			return key
		}),
		Policy: sinkcore.Default{Rollover: 10 * time.Second, Inactivity: 5 * time.Second},
	}
	config.CheckInterval = 2 * time.Second
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	// The time comes from a clock; here it is written out, in milliseconds.
	write := func(job *sinkcore.Job[string], record string, now int64) {
		if now >= job.NextTick() {
			_, err := job.Tick(now)
			check(err)
		}
		check(job.Write(0, record, sinkcore.NoTime, sinkcore.NoTime, now))
	}

	job, err := sinkcore.NewJob(disk, rand.Reader, config, 1, 0)
	check(err)
	write(job, "red=1", 0)
	write(job, "blue=1", 4000)
	write(job, "blue=2", 9000) // red has been idle for 5 s and is closed by the check

	checkpoint, err := job.Checkpoint(1, 9000)
	check(err)
	stored, err := checkpoint.MarshalBinary() // store this with the position of the source
	check(err)
	published, err := job.Complete(1)
	check(err)
	for _, part := range published {
		fmt.Printf("published bucket %s: %d record, closed by %v\n", part.Bucket, part.Records, part.Reason)
	}

	write(job, "blue=3", 9500)
	check(job.Close()) // a crash does no other thing to the files

	var newest sinkcore.Checkpoint
	check(newest.UnmarshalBinary(stored))
	job, _, err = sinkcore.RestoreJob(disk, rand.Reader, config, 1, 20_000, newest)
	check(err)
	write(job, "blue=3", 20_000) // the source sends it again
	check(job.EndInput())
	_, err = job.Checkpoint(2, 20_000)
	check(err)
	_, err = job.Complete(2)
	check(err)
	check(job.Close())

	check(afero.Walk(disk, "/out", func(path string, info fs.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		text, err := afero.ReadFile(disk, path)
		fmt.Printf("%s…: %q\n", path[:len("/out/blue/part")], text)
		return err
	}))
	// Output:
	// published bucket red: 1 record, closed by inactivity
	// /out/blue/part…: "blue=1\nblue=2\nblue=3\n"
	// /out/red/part-…: "red=1\n"
}

// Policies print what ParsePolicy reads.
func ExampleParsePolicy() {
	policy, err := sinkcore.ParsePolicy("policy=rolling rollover=10000 inactivity=5000")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(policy)
	fmt.Println(sinkcore.AnyOf{First: sinkcore.OnCheckpoint{}, Second: policy})
	fmt.Println(sinkcore.Default{})
	_, err = sinkcore.ParsePolicy("policy=rolling size=huge")
	fmt.Println(err)
	// Output:
	// policy=rolling rollover=10000 inactivity=5000
	// policy=oncheckpoint+rolling rollover=10000 inactivity=5000
	// policy=default
	// bad option: policy word "size=huge": want a whole number of bytes greater than 0
}

// How long does a record wait, at worst, with a checkpoint every 2 s?
func ExampleWorstLatency() {
	for _, policy := range []sinkcore.RollingPolicy{
		sinkcore.Default{},
		sinkcore.Default{Rollover: 10 * time.Second, Inactivity: 5 * time.Second},
		sinkcore.OnCheckpoint{},
	} {
		worst, bounded := sinkcore.WorstLatency(policy, sinkcore.Schedule{
			Check: 2 * time.Second, Checkpoint: 2 * time.Second, Duration: 100 * time.Millisecond,
		})
		fmt.Println(policy, worst, bounded)
	}
	// Output:
	// policy=default 1m4.099s true
	// policy=rolling rollover=10000 inactivity=5000 14.099s true
	// policy=oncheckpoint 2.1s true
}
