package bench_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"sinklab/bench/measure"
	"sinklab/fsmem"
)

// paired are the times of a sink and of its reference, taken in turn.
type paired struct {
	sink, reference []time.Duration
	quotients       []float64 // one for each A B B A
}

// inTurn times both in the order A B B A, groups times fours times, so that whatever slows
// the machine down for a while slows down both, and neither always comes second. Each
// function returns the time it took, without what it had to prepare and to check.
//
// The garbage collector is stopped meanwhile, and does its work between the groups. What it
// costs depends on how much the whole program holds, and one would pay for the other.
func (p *paired) inTurn(b *testing.B, groups, fours int, sink, reference func() (time.Duration, error)) {
	b.Helper()
	runtime.LockOSThread() // one thread for all of them
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for range groups {
		runtime.GC()
		for range fours {
			var took [4]time.Duration
			for i, measure := range [4]func() (time.Duration, error){sink, reference, reference, sink} {
				var err error
				if took[i], err = measure(); err != nil {
					b.Fatal(err)
				}
			}
			p.sink = append(p.sink, took[0], took[3])
			p.reference = append(p.reference, took[1], took[2])
			p.quotients = append(p.quotients, float64(took[0]+took[3])/float64(took[1]+took[2]))
		}
	}
}

// ratio is the median over all A B B A of the time of the sink over that of the reference.
// The quotient of the medians would be less certain where the machine changes its pace.
func (p *paired) ratio() float64 { return median(p.quotients) }

// timed returns how long a function takes. If it waits for a disk that is the time on a
// clock. If it does not, the time in which its thread was not on a processor is not
// counted: other programs had it then, which says nothing about this one.
func timed(waits bool, f func() error) (time.Duration, error) {
	if !waits {
		return measure.OnProcessor(f)
	}
	start := time.Now()
	err := f()
	return time.Since(start), err
}

// median is the mean of the two in the middle if their number is even; there must be one at
// least. That of durations is in nanoseconds.
func median[T ~int64 | ~float64](all []T) float64 {
	all = slices.Sorted(slices.Values(all))
	n := len(all)
	return float64(all[(n-1)/2]+all[n/2]) / 2
}

// place is where a benchmark writes: a directory, and the file system that it is on.
type place struct {
	*quietable
	dir string
}

// newPlace makes an empty directory on "mem", a file system in memory, or "disk", the one
// that holds temporary files.
func newPlace(b *testing.B, name string) place {
	b.Helper()
	if name == "disk" {
		return place{&quietable{Fs: afero.NewOsFs(), disk: true}, b.TempDir()}
	}
	return place{&quietable{Fs: fsmem.New(fsmem.Options{NoPlaces: true})}, "/out"}
}

// ratioUnit is the name of a ratio, with an ending if a disk is waited for: then it is
// noisier, and a unit has one limit for noise.
func ratioUnit(name string, waits bool) string {
	if waits {
		return name + "-disk"
	}
	return name
}

// quietable is a file system that does not sync while it is quiet, so that what is not
// timed does not take most of the time. It is never quiet in memory, where syncing costs
// next to nothing, and what is not synced would have to be remembered.
type quietable struct {
	afero.Fs
	disk, quiet bool
}

// quietly calls a function without syncing to a disk.
func (q *quietable) quietly(f func() error) error {
	q.quiet = q.disk
	defer func() { q.quiet = false }()
	return f()
}

func (q *quietable) Create(path string) (afero.File, error) {
	return q.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

func (q *quietable) Open(path string) (afero.File, error) { return q.OpenFile(path, os.O_RDONLY, 0) }

func (q *quietable) OpenFile(path string, flag int, perm os.FileMode) (afero.File, error) {
	f, err := q.Fs.OpenFile(path, flag, perm)
	if err != nil || !q.disk {
		return f, err
	}
	return quietableFile{f, q}, nil
}

// LstatIfPossible is there since an embedded interface hides it, and a sink would have to
// make do with Stat.
func (q *quietable) LstatIfPossible(path string) (os.FileInfo, bool, error) {
	return q.Fs.(afero.Lstater).LstatIfPossible(path)
}

type quietableFile struct {
	afero.File
	of *quietable
}

func (f quietableFile) Sync() error {
	if f.of.quiet {
		return nil
	}
	return f.File.Sync()
}

// record is a record that takes size bytes in a file, newline included, at least minRecord.
// It begins with the six digits of its bucket, and has a number of its own, so that one
// that is lost, doubled, damaged or in another bucket is found.
func record(bucket, number, size int) string {
	r := make([]byte, size-1)
	for i := range r {
		r[i] = 'x'
	}
	for i := 5; i >= 0; i, bucket = i-1, bucket/10 {
		r[i] = byte('0' + bucket%10)
	}
	r[6] = '/'
	for i := 14; i >= 7; i, number = i-1, number/10 {
		r[i] = byte('0' + number%10)
	}
	return string(r)
}

const minRecord = len("000000/00000000\n")

// newRecords makes n records with the numbers from one on, dealt out to the buckets in turn.
func newRecords(from, n, size, buckets int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = record((from+i)%buckets, from+i, size)
	}
	return all
}

// bucketOf is the bucket of a record.
func bucketOf(record string) string { return record[:6] }

// check reads all that is visible below the directory and returns an error unless each of
// n records of that size that were dealt out to the buckets in turn is there once, in its
// bucket, and nothing else is. A single bucket may be the directory itself.
func (p place) check(n, size, buckets int) error {
	seen := make([]bool, n)
	found := 0
	padding := strings.Repeat("x", size-minRecord)
	err := eachVisible(p.Fs, p.dir, "", func(dir string, content []byte) error {
		for len(content) > 0 {
			line := content[:min(size, len(content))]
			content = content[len(line):]
			i := -1
			if len(line) == size && line[6] == '/' && line[size-1] == '\n' && string(line[minRecord-1:size-1]) == padding {
				i = digits(line[7:15])
			}
			switch {
			case i < 0 || i >= n || digits(line[:6]) != i%buckets:
				return fmt.Errorf("%q is not a record", line[:min(len(line), 40)])
			case seen[i]:
				return fmt.Errorf("record %d is there twice", i)
			case dir != string(line[:6]) && (buckets > 1 || dir != ""):
				return fmt.Errorf("record %d is in bucket %q", i, dir)
			}
			seen[i] = true
			found++
		}
		return nil
	})
	if err == nil && found < n {
		err = fmt.Errorf("record %d is lost, and %d in all", slices.Index(seen, false), n-found)
	}
	return err
}

// digits is the number that is written there, or -1.
func digits(text []byte) (n int) {
	for _, c := range text {
		if c < '0' || c > '9' {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// eachVisible calls a function with the directory below base and the content of each file that
// a reader finds, which skips what begins with a dot.
func eachVisible(fsys afero.Fs, base, dir string, each func(dir string, content []byte) error) error {
	entries, err := afero.ReadDir(fsys, filepath.Join(base, dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case e.Name()[0] == '.':
		case e.IsDir():
			err = eachVisible(fsys, base, name, each)
		default:
			var content []byte
			if content, err = afero.ReadFile(fsys, filepath.Join(base, name)); err == nil {
				err = each(dir, content)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// report gives a metric for each pair of name and value.
func report(b *testing.B, metrics ...metric) {
	b.ReportMetric(0, "ns/op") // of the sink, the reference and all checks together, which says nothing
	for _, m := range metrics {
		b.ReportMetric(m.value, m.unit)
	}
}

type metric struct {
	value float64
	unit  string
}

// joined is errors.Join of the results of functions, all of which are called.
func joined(fs ...func() error) error {
	var errs []error
	for _, f := range fs {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// What a benchmark calls exactly once has to be that: a check that passes anything would
// make figures of a sink that loses records.
func TestCheck(t *testing.T) {
	const n, size, buckets = 6, 30, 2
	all := newRecords(0, n, size, buckets)
	write := func(p place, path string, lines ...string) {
		text := strings.Join(lines, "\n") + "\n"
		if err := afero.WriteFile(p.Fs, filepath.Join(p.dir, path), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(p place)
		want  string // in the error
	}{
		{"as it should be", func(place) {}, ""},
		{"hidden files do not count", func(p place) { write(p, "000000/.part", all[0]) }, ""},
		{"lost", func(p place) { write(p, "000000/a", all[0], all[2]) }, "record 4 is lost"},
		{"doubled", func(p place) { write(p, "000001/b", all[5]) }, "record 5 is there twice"},
		{"in another bucket", func(p place) { write(p, "000001/b", all[4]); write(p, "000000/a", all[0], all[2]) }, `record 4 is in bucket "000001"`},
		{"cut off", func(p place) { write(p, "000001/b", all[1][:20]) }, "is not a record"},
		{"damaged", func(p place) { write(p, "000001/b", strings.Replace(all[1], "x", "y", 1)) }, "is not a record"},
		{"of nobody", func(p place) { write(p, "000000/b", record(0, n, size)) }, "is not a record"},
	} {
		p := place{&quietable{Fs: fsmem.New(fsmem.Options{})}, "/out"}
		for _, dir := range []string{"000000", "000001"} {
			if err := p.MkdirAll(filepath.Join(p.dir, dir), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		write(p, "000000/a", all[0], all[2], all[4])
		write(p, "000001/a", all[1], all[3], all[5])
		c.spoil(p)
		err := p.check(n, size, buckets)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// A machine that gets steadily slower changes no quotient, since each is of A B B A.
func TestInTurn(t *testing.T) {
	var p paired
	calls, order := time.Duration(0), ""
	call := func(name string, took time.Duration) func() (time.Duration, error) {
		return func() (time.Duration, error) {
			calls++
			order += name
			return took + calls, nil
		}
	}
	p.inTurn(&testing.B{}, 2, 2, call("A", 0), call("B", 0))
	if order != "ABBAABBAABBAABBA" {
		t.Errorf("the order is %s", order)
	}
	if len(p.sink) != 8 || len(p.reference) != 8 || len(p.quotients) != 4 {
		t.Errorf("there are %d, %d and %d results", len(p.sink), len(p.reference), len(p.quotients))
	}
	for i, q := range p.quotients {
		if q != 1 {
			t.Errorf("quotient %d is %v", i, q)
		}
	}
	if got, want := median(p.sink), 8.5; got != want {
		t.Errorf("the median is %v, want %v", got, want)
	}
	p.quotients = []float64{3, 1, 2}
	if got := p.ratio(); got != 2 {
		t.Errorf("the ratio of 3, 1 and 2 is %v", got)
	}
}
