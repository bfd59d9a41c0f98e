package sinkcore

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
)

// The encoding of states. Integers are big-endian; a string is its length in bytes as
// uint32 and then the bytes. One state has one encoding, so two of them can be compared by
// their bytes. The version is one for all kinds; files of each version that there has been
// are kept in testdata/state and must stay readable.
//
//	offset  bytes  what
//	0       4      "SINK"
//	4       1      version, 1
//	5       1      kind: 1 WriterState, 2 CommitterState, 3 Checkpoint
//	6       8      length n of the body
//	14      n      body
//	14+n    4      CRC-32C (Castagnoli) of everything before
//
//	body of a WriterState
//	        4      number of buckets, then for each, in ascending order of ids
//	               (ids may repeat where states of several writers were joined)
//	        string bucket id
//	        1      0: no part was open; 1: one was, and then
//	        part   see below, without the reason
//
//	body of a CommitterState
//	        4      number of batches, then for each, in ascending order
//	        8      checkpoint id, int64
//	        4      number of committables, then for each
//	        string bucket id
//	        part   see below
//	        1      reason, as [Reason] counts
//
//	body of a Checkpoint
//	        8      id, int64
//	        4      number of subtasks, then for each
//	        body   of its WriterState
//	        body   of its CommitterState
//
//	part
//	        string visible name
//	        string name until the commit
//	        8      size in bytes, int64
//	        4      CRC-32C of these bytes
//	        8      records, int64
//	        8      creation time, int64, milliseconds since 1970
const (
	stateMagic   = "SINK" // so that a file of another kind is not taken for damage of this one
	stateVersion = 1
	headerSize   = 14
	trailerSize  = 4
)

type stateKind byte

const (
	kindWriter stateKind = iota + 1
	kindCommitter
	kindCheckpoint
)

var kindNames = map[stateKind]string{kindWriter: "a WriterState", kindCommitter: "a CommitterState", kindCheckpoint: "a Checkpoint"}

// StateError is the cause in the [Error] that decoding returns. It wraps
// [ErrStateVersion] or [ErrStateDamaged]. Every single changed byte and every missing end
// is noticed.
type StateError struct {
	Offset  int    // of the byte at which decoding stopped
	Version int    // that the header names, 0 if there is none
	Problem string // what is wrong
	Err     error  // ErrStateVersion or ErrStateDamaged
}

// Error says what is wrong and where.
func (e *StateError) Error() string {
	return fmt.Sprintf("%v: %s, at byte %d", e.Err, e.Problem, e.Offset)
}

// Unwrap returns ErrStateVersion or ErrStateDamaged.
func (e *StateError) Unwrap() error { return e.Err }

// MarshalBinary encodes the state, its buckets in order of their ids. It never fails.
func (s WriterState) MarshalBinary() ([]byte, error) { return seal(kindWriter, s.append(nil)), nil }

// MarshalBinary encodes the state. It never fails.
func (s CommitterState) MarshalBinary() ([]byte, error) {
	return seal(kindCommitter, s.append(nil)), nil
}

// MarshalBinary encodes the checkpoint. The error wraps [ErrConfig] if it has not as
// many committers as writers, which no job makes.
func (c Checkpoint) MarshalBinary() ([]byte, error) {
	if len(c.Writers) != len(c.Committers) {
		return nil, newError("encode state", fmt.Errorf("%w: %d writers and %d committers", ErrConfig, len(c.Writers), len(c.Committers))).of(c.ID)
	}
	b := binary.BigEndian.AppendUint64(nil, uint64(c.ID))
	b = binary.BigEndian.AppendUint32(b, uint32(len(c.Writers)))
	for i := range c.Writers {
		b = c.Writers[i].append(b)
		b = c.Committers[i].append(b)
	}
	return seal(kindCheckpoint, b), nil
}

// UnmarshalBinary decodes what MarshalBinary made. The error wraps [ErrStateVersion] or
// [ErrStateDamaged]; the state is unchanged then.
func (s *WriterState) UnmarshalBinary(data []byte) error {
	d, err := unseal(data, kindWriter)
	if err != nil {
		return err
	}
	state := d.writer()
	if err := d.end(); err != nil {
		return err
	}
	*s = state
	return nil
}

// UnmarshalBinary decodes what MarshalBinary made. The error wraps [ErrStateVersion] or
// [ErrStateDamaged]; the state is unchanged then.
func (s *CommitterState) UnmarshalBinary(data []byte) error {
	d, err := unseal(data, kindCommitter)
	if err != nil {
		return err
	}
	state := d.committer()
	if err := d.end(); err != nil {
		return err
	}
	*s = state
	return nil
}

// UnmarshalBinary decodes what MarshalBinary made. The error wraps [ErrStateVersion] or
// [ErrStateDamaged]; the checkpoint is unchanged then. No input makes it panic or ask for
// more memory than a small multiple of its length, and what it accepts names no file
// outside of the sink's directory.
func (c *Checkpoint) UnmarshalBinary(data []byte) error {
	d, err := unseal(data, kindCheckpoint)
	if err != nil {
		return err
	}
	checkpoint := Checkpoint{ID: d.int64()}
	if n := d.count(8); n == 0 {
		d.fail("a checkpoint without subtasks")
	} else {
		for range n {
			checkpoint.Writers = append(checkpoint.Writers, d.writer())
			checkpoint.Committers = append(checkpoint.Committers, d.committer())
		}
	}
	if err := d.end(); err != nil {
		return err
	}
	*c = checkpoint
	return nil
}

// seal puts header and checksum around a body. The checksum covers the header too, or a
// damaged kind or length could pass.
func seal(kind stateKind, body []byte) []byte {
	b := make([]byte, 0, headerSize+len(body)+trailerSize)
	b = append(b, stateMagic...)
	b = append(b, stateVersion, byte(kind))
	b = binary.BigEndian.AppendUint64(b, uint64(len(body)))
	b = append(b, body...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// unseal checks header and checksum and returns a decoder of the body. The version is
// looked at before the checksum: another version may have another checksum.
func unseal(data []byte, kind stateKind) (*decoder, error) {
	d := &decoder{data: data}
	if len(data) < headerSize+trailerSize || string(data[:4]) != stateMagic {
		d.fail("not a state of this package, or cut off")
		return nil, d.end()
	}
	if data[4] != stateVersion {
		d.at, d.version = 4, int(data[4])
		d.failAs(ErrStateVersion, fmt.Sprintf("version %d, known is %d", data[4], stateVersion))
		return nil, d.end()
	}
	d.version = stateVersion
	body := binary.BigEndian.Uint64(data[6:])
	if body != uint64(len(data)-headerSize-trailerSize) {
		d.at = 6
		d.fail(fmt.Sprintf("the header says %d bytes of body, there are %d", body, len(data)-headerSize-trailerSize))
		return nil, d.end()
	}
	sum := len(data) - trailerSize
	if binary.BigEndian.Uint32(data[sum:]) != crc32.Checksum(data[:sum], castagnoli) {
		d.at = sum
		d.fail("wrong checksum")
		return nil, d.end()
	}
	if stateKind(data[5]) != kind {
		d.at = 5
		d.fail(fmt.Sprintf("it is %s, wanted is %s", kindName(stateKind(data[5])), kindName(kind)))
		return nil, d.end()
	}
	d.at, d.data = headerSize, data[:sum]
	return d, nil
}

func kindName(k stateKind) string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return fmt.Sprintf("of kind %d", k)
}

func appendString(b []byte, s string) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
	return append(b, s...)
}

func appendPart(b []byte, name, temp string, size int64, checksum uint32, records, creation int64) []byte {
	b = appendString(b, name)
	b = appendString(b, temp)
	b = binary.BigEndian.AppendUint64(b, uint64(size))
	b = binary.BigEndian.AppendUint32(b, checksum)
	b = binary.BigEndian.AppendUint64(b, uint64(records))
	return binary.BigEndian.AppendUint64(b, uint64(creation))
}

func (s WriterState) append(b []byte) []byte {
	buckets := slices.Clone(s.Buckets) // joined states are not in order
	sortBuckets(buckets)
	b = binary.BigEndian.AppendUint32(b, uint32(len(buckets)))
	for _, bucket := range buckets {
		b = appendString(b, bucket.Bucket)
		p := bucket.InProgress
		if p == nil {
			b = append(b, 0)
			continue
		}
		b = append(b, 1)
		b = appendPart(b, p.Name, p.Temp, p.Size, p.Checksum, p.Records, p.CreationTime)
	}
	return b
}

func (s CommitterState) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(s.Batches)))
	for _, batch := range s.Batches {
		b = binary.BigEndian.AppendUint64(b, uint64(batch.Checkpoint))
		b = binary.BigEndian.AppendUint32(b, uint32(len(batch.Committables)))
		for _, c := range batch.Committables {
			b = appendString(b, c.Bucket)
			b = appendPart(b, c.Name, c.Temp, c.Size, c.Checksum, c.Records, c.CreationTime)
			b = append(b, byte(c.Reason))
		}
	}
	return b
}

// decoder reads a body. After the first problem it reads zeros: numbers are 0, strings
// empty and counts 0, so every loop ends, and the code that reads a state needs no check
// after each field. Only end tells whether what was read means anything.
type decoder struct {
	data    []byte
	at      int // never beyond len(data)
	version int
	err     *StateError // the first problem; later ones follow from it
}

func (d *decoder) fail(problem string) { d.failAs(ErrStateDamaged, problem) }

func (d *decoder) failAs(kind error, problem string) {
	if d.err == nil {
		d.err = &StateError{Offset: d.at, Version: d.version, Problem: problem, Err: kind}
	}
}

// end returns the first problem, of which bytes that are left over are one.
func (d *decoder) end() error {
	if d.err == nil && d.at != len(d.data) {
		d.fail("more bytes than the state has")
	}
	if d.err == nil {
		return nil
	}
	e := newError("decode state", d.err)
	if d.err.Err == ErrStateVersion {
		return e.todo("a newer version of sinkcore wrote it; use that one")
	}
	return e.todo("use another copy, or an older checkpoint")
}

// take returns the next n bytes, or zeros. Callers ask for 8 at most, or for what string
// has found to be there.
func (d *decoder) take(n int) []byte {
	if d.err == nil && len(d.data)-d.at < n {
		d.fail("the state is cut off")
	}
	if d.err != nil {
		return make([]byte, min(n, 8))
	}
	d.at += n
	return d.data[d.at-n : d.at]
}

func (d *decoder) byte() byte     { return d.take(1)[0] }
func (d *decoder) uint32() uint32 { return binary.BigEndian.Uint32(d.take(4)) }
func (d *decoder) int64() int64   { return int64(binary.BigEndian.Uint64(d.take(8))) }

// count reads how many elements follow, each of at least so many bytes; a damaged
// count must not make the decoder ask for memory.
func (d *decoder) count(least int) int {
	n := d.uint32()
	if int64(n)*int64(least) > int64(len(d.data)-d.at) {
		d.fail(fmt.Sprintf("%d elements cannot be in %d bytes", n, len(d.data)-d.at))
	}
	if d.err != nil {
		return 0
	}
	return int(n)
}

func (d *decoder) string() string {
	n := d.uint32()
	if int64(n) > int64(len(d.data)-d.at) {
		d.fail("the state is cut off")
	}
	if d.err != nil {
		return ""
	}
	return string(d.take(int(n)))
}

// bucket reads an id. One that a writer would refuse is damage: it could lead a restore
// out of the base directory.
func (d *decoder) bucket() string {
	id := d.string()
	if err := ValidBucketID(id); err != nil {
		d.fail(err.Error())
	}
	return id
}

// fileName reads a name within a bucket's directory. A state that was made by somebody else
// must not let a restore cut, rename or remove a file elsewhere.
func (d *decoder) fileName() string {
	name := d.string()
	if d.err == nil && (name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00")) {
		d.fail(fmt.Sprintf("%q is not a file name", name))
	}
	return name
}

// natural reads a number that cannot be negative.
func (d *decoder) natural(what string) int64 {
	n := d.int64()
	if n < 0 {
		d.fail(fmt.Sprintf("%s is %d", what, n))
	}
	return n
}

// part reads the fields in the order of the literal, which Go evaluates from left to right.
func (d *decoder) part() InProgress {
	p := InProgress{
		Name: d.fileName(), Temp: d.fileName(), Size: d.natural("the size"), Checksum: d.uint32(),
		Records: d.natural("the number of records"), CreationTime: d.int64(),
	}
	if d.err == nil && p.Name == p.Temp {
		d.fail(fmt.Sprintf("%q is both the visible and the hidden name", p.Name)) // a commit would remove the file
	}
	return p
}

func (d *decoder) writer() WriterState {
	var s WriterState
	for range d.count(5) {
		b := BucketState{Bucket: d.bucket()}
		switch d.byte() {
		case 0:
		case 1:
			p := d.part()
			b.InProgress = &p
		default:
			d.fail("neither 0 nor 1")
		}
		if n := len(s.Buckets); n > 0 && b.Bucket < s.Buckets[n-1].Bucket {
			d.fail("buckets are out of order")
		}
		s.Buckets = append(s.Buckets, b)
	}
	return s
}

func (d *decoder) committer() CommitterState {
	var s CommitterState
	for range d.count(12) {
		batch := Batch{Checkpoint: d.int64()}
		if n := len(s.Batches); n > 0 && batch.Checkpoint <= s.Batches[n-1].Checkpoint {
			d.fail("checkpoints are out of order")
		}
		for range d.count(41) {
			bucket := d.bucket()
			p := d.part()
			why := Reason(d.byte())
			if why >= reasons {
				d.fail(fmt.Sprintf("reason %d is unknown", why))
			}
			batch.Committables = append(batch.Committables, Committable{
				Bucket: bucket, Name: p.Name, Temp: p.Temp, Size: p.Size, Checksum: p.Checksum,
				Records: p.Records, CreationTime: p.CreationTime, Reason: why,
			})
		}
		s.Batches = append(s.Batches, batch)
	}
	return s
}

// sortBuckets puts elements into the order in which they are encoded. It keeps those of
// one bucket as they are: the first one's part stays open when they are restored.
func sortBuckets(buckets []BucketState) {
	slices.SortStableFunc(buckets, func(a, b BucketState) int { return strings.Compare(a.Bucket, b.Bucket) })
}
