package bench_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"reflect"
	"testing"
	"time"

	"sinklab/sinkcore"
)

// BenchmarkState encodes and decodes a checkpoint with so many parts, half of them open and
// half pending. The reference copies as many bytes and computes their checksum: who wants
// to store a state and to notice damage cannot do with less.
func BenchmarkState(b *testing.B) {
	for _, parts := range []int{10, 10_000} {
		checkpoint := stateOf(parts)
		data, err := checkpoint.MarshalBinary()
		if err != nil {
			b.Fatal(err)
		}
		encode := func() ([]byte, error) { return checkpoint.MarshalBinary() }
		decode := func() (c sinkcore.Checkpoint, err error) { return c, c.UnmarshalBinary(data) }
		for _, op := range []string{"encode", "decode"} {
			b.Run(fmt.Sprintf("op=%s/parts=%d", op, parts), func(b *testing.B) {
				run := func() error { _, err := encode(); return err }
				if op == "decode" {
					run = func() error { _, err := decode(); return err }
				}
				var times paired
				groups, fours, repeat := 2, 20, 100
				if parts > 10 {
					groups, fours, repeat = 10, 1, 1
				}
				for b.Loop() {
					times.inTurn(b, groups, fours, func() (time.Duration, error) {
						return timed(false, func() error {
							for range repeat {
								if err := run(); err != nil {
									return err
								}
							}
							return nil
						})
					}, func() (time.Duration, error) {
						return timed(false, func() error {
							for range repeat {
								if crc32.Checksum(bytes.Clone(data), castagnoli) == 0 {
									return errors.New("checksum 0")
								}
							}
							return nil
						})
					})
				}
				// What comes out is what went in, to the last bit.
				again, err := encode()
				back, err2 := decode()
				if err := errors.Join(err, err2); err != nil || !bytes.Equal(again, data) || !reflect.DeepEqual(back, checkpoint) {
					b.Fatal("the state has changed on its way: ", err)
				}
				n := float64(repeat * parts)
				report(b,
					metric{median(times.sink) / n, "ns/part"},
					metric{median(times.reference) / n, "copy-ns/part"},
					metric{float64(len(data)) / float64(parts), "B/part"},
					metric{times.ratio(), "x-copy"},
				)
			})
		}
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// stateOf makes a checkpoint with names as long as a sink's.
func stateOf(parts int) sinkcore.Checkpoint {
	var open sinkcore.WriterState
	var pending []sinkcore.Committable
	for i := range parts {
		bucket := fmt.Sprintf("2026-01-01--%04d", i)
		name := fmt.Sprintf("part-6ba7b810-9dad-11d1-80b4-%012x-%d", i, i)
		temp := fmt.Sprintf(".%s.inprogress.6ba7b811-9dad-11d1-80b4-%012x", name, i)
		size, sum, n, created := int64(i)<<10, uint32(i)*0x9e3779b9, int64(i), int64(1_767_225_600_000+i)
		if i%2 == 0 {
			open.Buckets = append(open.Buckets, sinkcore.BucketState{Bucket: bucket, InProgress: &sinkcore.InProgress{
				Name: name, Temp: temp, Size: size, Checksum: sum, Records: n, CreationTime: created,
			}})
			continue
		}
		pending = append(pending, sinkcore.Committable{
			Bucket: bucket, Name: name, Temp: temp, Size: size, Checksum: sum, Records: n, CreationTime: created, Reason: sinkcore.Age,
		})
	}
	return sinkcore.Checkpoint{
		ID: 7, Writers: []sinkcore.WriterState{open},
		Committers: []sinkcore.CommitterState{{Batches: []sinkcore.Batch{{Checkpoint: 7, Committables: pending}}}},
	}
}
