package sinkcore_test

import (
	"strconv"
	"testing"
	"time"

	"sinklab/fsmem"
	"sinklab/sinkcore"
)

// BenchmarkTick is a check that finds nothing due. It must cost the same with any number
// of open parts.
func BenchmarkTick(b *testing.B) {
	for _, open := range []int{10, 100_000} {
		b.Run("open="+strconv.Itoa(open), func(b *testing.B) {
			c := config(sinkcore.Default{Rollover: 1000 * time.Hour, Inactivity: 1000 * time.Hour})
			c.CheckInterval = ms
			w := newWriter(b, fsmem.New(fsmem.Options{}), c)
			for i := range open {
				put(b, w, 0, strconv.Itoa(i)+":")
			}
			now := int64(0)
			for b.Loop() {
				now++
				if _, err := w.Tick(now); err != nil {
					b.Fatal(err)
				}
			}
			if got := w.Stats().OpenParts; got != open {
				b.Fatalf("%d parts are open", got)
			}
		})
	}
}
