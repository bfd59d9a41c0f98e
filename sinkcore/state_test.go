package sinkcore_test

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"errors"
	"flag"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
)

var update = flag.Bool("update", false, "write the golden files under testdata/state anew")

// state is what the three kinds of state have in common.
type state interface {
	encoding.BinaryMarshaler
}

// The examples have one of everything.
var (
	exampleWriter = sinkcore.WriterState{Buckets: []sinkcore.BucketState{
		{Bucket: ""},
		{Bucket: "a/b", InProgress: &sinkcore.InProgress{
			Name: "part-x-0", Temp: ".part-x-0.inprogress.y", Size: 258, Checksum: 0xdeadbeef, Records: 3, CreationTime: -2,
		}},
	}}
	exampleCommitter = sinkcore.CommitterState{Batches: []sinkcore.Batch{
		{Checkpoint: 7, Committables: []sinkcore.Committable{
			{Bucket: "c", Name: "n", Temp: "t", Size: 1, Checksum: 2, Records: 3, CreationTime: 4, Reason: sinkcore.Age},
		}},
		{Checkpoint: 9},
	}}
	exampleCheckpoint = sinkcore.Checkpoint{
		ID:         10,
		Writers:    []sinkcore.WriterState{exampleWriter, {}},
		Committers: []sinkcore.CommitterState{{}, exampleCommitter},
	}
	examples = []struct {
		name  string
		value state
		empty func() encoding.BinaryUnmarshaler
	}{
		{"writer", exampleWriter, func() encoding.BinaryUnmarshaler { return &sinkcore.WriterState{} }},
		{"committer", exampleCommitter, func() encoding.BinaryUnmarshaler { return &sinkcore.CommitterState{} }},
		{"checkpoint", exampleCheckpoint, func() encoding.BinaryUnmarshaler { return &sinkcore.Checkpoint{} }},
	}
)

func marshal(t interface{ Fatal(...any) }, s state) []byte {
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestStateFilesOfVersion1 guards states that are stored somewhere. If it fails, the
// encoding has changed: states written before cannot be read any more. Then give the
// new encoding a new version, keep reading version 1, keep these files, and write new
// ones beside them. Only before the first release may they be overwritten with -update.
func TestStateFilesOfVersion1(t *testing.T) {
	for _, example := range examples {
		file := filepath.Join("../testdata/state", example.name+".v1")
		encoded := marshal(t, example.value)
		if *update {
			if err := os.WriteFile(file, encoded, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(golden, encoded) {
			t.Errorf("%s: encoded as\n%x, the file is\n%x", example.name, encoded, golden)
		}
		decoded := example.empty()
		if err := decoded.UnmarshalBinary(golden); err != nil {
			t.Errorf("%s: %v", example.name, err)
		} else if got := reflect.ValueOf(decoded).Elem().Interface(); !reflect.DeepEqual(got, example.value) {
			t.Errorf("%s: decoded as\n%+v, want\n%+v", example.name, got, example.value)
		}
	}
}

// sealed puts header and checksum around a body, as the documentation says.
func sealed(kind byte, body string) []byte {
	b := []byte("SINK\x01" + string(kind))
	b = binary.BigEndian.AppendUint64(b, uint64(len(body)))
	b = append(b, body...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// The bodies of the examples, byte by byte, as the table in state.go says.
const (
	writerBody = "\x00\x00\x00\x02" + // buckets
		"\x00\x00\x00\x00" + "" + "\x00" + // bucket "", no part open
		"\x00\x00\x00\x03" + "a/b" + "\x01" + // bucket "a/b", a part open
		"\x00\x00\x00\x08" + "part-x-0" + // visible name
		"\x00\x00\x00\x16" + ".part-x-0.inprogress.y" + // hidden name
		"\x00\x00\x00\x00\x00\x00\x01\x02" + // size
		"\xde\xad\xbe\xef" + // checksum
		"\x00\x00\x00\x00\x00\x00\x00\x03" + // records
		"\xff\xff\xff\xff\xff\xff\xff\xfe" // creation time
	committerBody = "\x00\x00\x00\x02" + // batches
		"\x00\x00\x00\x00\x00\x00\x00\x07" + "\x00\x00\x00\x01" + // checkpoint 7, committables
		"\x00\x00\x00\x01" + "c" + "\x00\x00\x00\x01" + "n" + "\x00\x00\x00\x01" + "t" + // bucket and names
		"\x00\x00\x00\x00\x00\x00\x00\x01" + "\x00\x00\x00\x02" + // size, checksum
		"\x00\x00\x00\x00\x00\x00\x00\x03" + "\x00\x00\x00\x00\x00\x00\x00\x04" + // records, creation time
		"\x03" + // reason: age
		"\x00\x00\x00\x00\x00\x00\x00\x09" + "\x00\x00\x00\x00" // checkpoint 9, empty
	checkpointBody = "\x00\x00\x00\x00\x00\x00\x00\x0a" + "\x00\x00\x00\x02" + // id, subtasks
		writerBody + "\x00\x00\x00\x00" + // subtask 0
		"\x00\x00\x00\x00" + committerBody // subtask 1
)

func TestStatesAreEncodedAsDocumented(t *testing.T) {
	for i, body := range []string{writerBody, committerBody, checkpointBody} {
		if got, want := marshal(t, examples[i].value), sealed(byte(i+1), body); !bytes.Equal(got, want) {
			t.Errorf("%s:\n%q, want\n%q", examples[i].name, got, want)
		}
	}
	if got := marshal(t, exampleCommitter); got[4] != 1 || got[5] != 2 || binary.BigEndian.Uint64(got[6:]) != uint64(len(got)-18) {
		t.Errorf("header %q", got[:14])
	}
}

// Generators of states. File names are as short as they may be, too.
var (
	anyName   = rapid.StringMatching(`[a-z.]{0,3}[a-z]`)
	anyBucket = rapid.StringMatching(`([a-z:][a-z:.]{0,2}(/[a-z]{1,2}){0,2})?`)
	anyPart   = rapid.Custom(func(t *rapid.T) sinkcore.InProgress {
		name := anyName.Draw(t, "name")
		return sinkcore.InProgress{
			Name: name, Temp: anyName.Filter(func(s string) bool { return s != name }).Draw(t, "temp"),
			Size: rapid.Int64Min(0).Draw(t, "size"), Checksum: rapid.Uint32().Draw(t, "checksum"),
			Records: rapid.Int64Min(0).Draw(t, "records"), CreationTime: rapid.Int64().Draw(t, "created"),
		}
	})
	anyWriter = rapid.Custom(func(t *rapid.T) sinkcore.WriterState {
		var s sinkcore.WriterState
		for range rapid.IntRange(0, 4).Draw(t, "buckets") {
			b := sinkcore.BucketState{Bucket: anyBucket.Draw(t, "bucket")}
			if rapid.Bool().Draw(t, "open") {
				p := anyPart.Draw(t, "part")
				b.InProgress = &p
			}
			s.Buckets = append(s.Buckets, b)
		}
		return s
	})
	anyCommitter = rapid.Custom(func(t *rapid.T) sinkcore.CommitterState {
		var s sinkcore.CommitterState
		ids := rapid.SliceOfNDistinct(rapid.Int64(), 0, 3, rapid.ID[int64]).Draw(t, "checkpoints")
		slices.Sort(ids)
		for _, id := range ids {
			batch := sinkcore.Batch{Checkpoint: id}
			for range rapid.IntRange(0, 4).Draw(t, "committables") {
				p := anyPart.Draw(t, "part")
				batch.Committables = append(batch.Committables, sinkcore.Committable{
					Bucket: anyBucket.Draw(t, "bucket"), Name: p.Name, Temp: p.Temp, Size: p.Size, Checksum: p.Checksum,
					Records: p.Records, CreationTime: p.CreationTime, Reason: sinkcore.Reason(rapid.IntRange(0, int(sinkcore.Limit)).Draw(t, "reason")),
				})
			}
			s.Batches = append(s.Batches, batch)
		}
		return s
	})
)

// inOrder sorts the buckets, as encoding does; those of one id keep their order.
func inOrder(s sinkcore.WriterState) sinkcore.WriterState {
	s.Buckets = slices.Clone(s.Buckets)
	slices.SortStableFunc(s.Buckets, func(a, b sinkcore.BucketState) int { return strings.Compare(a.Bucket, b.Bucket) })
	return s
}

func TestADecodedStateIsTheEncodedOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := sinkcore.Checkpoint{ID: rapid.Int64().Draw(t, "id")}
		want := c
		for range rapid.IntRange(1, 3).Draw(t, "subtasks") {
			w, m := anyWriter.Draw(t, "writer"), anyCommitter.Draw(t, "committer")
			c.Writers, c.Committers = append(c.Writers, w), append(c.Committers, m)
			want.Writers, want.Committers = append(want.Writers, inOrder(w)), append(want.Committers, m)
		}
		var writer sinkcore.WriterState
		if err := writer.UnmarshalBinary(marshal(t, c.Writers[0])); err != nil || !reflect.DeepEqual(writer, want.Writers[0]) {
			t.Fatalf("%v: %+v, want %+v", err, writer, want.Writers[0])
		}
		var committer sinkcore.CommitterState
		if err := committer.UnmarshalBinary(marshal(t, c.Committers[0])); err != nil || !reflect.DeepEqual(committer, want.Committers[0]) {
			t.Fatalf("%v: %+v, want %+v", err, committer, want.Committers[0])
		}
		var checkpoint sinkcore.Checkpoint
		if err := checkpoint.UnmarshalBinary(marshal(t, c)); err != nil || !reflect.DeepEqual(checkpoint, want) {
			t.Fatalf("%v: %+v, want %+v", err, checkpoint, want)
		}
	})
}

func TestACheckpointWithoutACommitterForEachWriterIsNotEncoded(t *testing.T) {
	c := sinkcore.Checkpoint{Writers: []sinkcore.WriterState{{}}}
	if b, err := c.MarshalBinary(); !errors.Is(err, sinkcore.ErrConfig) || b != nil {
		t.Errorf("got %x, %v", b, err)
	}
}

// checkDamage checks the error of decoding, and that the state is as it was.
func checkDamage(t interface{ Errorf(string, ...any) }, what string, length int, before, after any, err error) {
	var e *sinkcore.Error
	var s *sinkcore.StateError
	switch {
	case !errors.Is(err, sinkcore.ErrStateDamaged) && !errors.Is(err, sinkcore.ErrStateVersion):
		t.Errorf("%s: got %v", what, err)
	case !errors.As(err, &e) || !errors.As(err, &s):
		t.Errorf("%s: %T", what, err)
	case s.Offset < 0 || s.Offset > length || s.Problem == "" || e.Hint == "":
		t.Errorf("%s: %+v, %+v", what, s, e)
	case !reflect.DeepEqual(before, after):
		t.Errorf("%s: the state has changed", what)
	}
}

func TestEveryFlippedByteAndEveryTruncationIsNoticed(t *testing.T) {
	for _, example := range examples {
		good := marshal(t, example.value)
		try := func(what string, bad []byte) {
			s := example.empty()
			err := s.UnmarshalBinary(bad)
			checkDamage(t, example.name+": "+what, len(bad), example.empty(), s, err)
		}
		for at := range good {
			for _, flip := range []byte{1, 2, 4, 8, 16, 32, 64, 128, 255} {
				bad := bytes.Clone(good)
				bad[at] ^= flip
				try("flipped", bad)
			}
		}
		for n := range good {
			try("cut off", good[:n])
		}
		try("longer", append(bytes.Clone(good), 0))
	}
}

func TestAStateOfAnUnknownVersionSaysWhich(t *testing.T) {
	b := marshal(t, exampleWriter)
	b[4] = 2 // its checksum may be another one, so it is not looked at
	err := new(sinkcore.WriterState).UnmarshalBinary(b)
	var s *sinkcore.StateError
	if !errors.Is(err, sinkcore.ErrStateVersion) || errors.Is(err, sinkcore.ErrStateDamaged) || !errors.As(err, &s) || s.Version != 2 || s.Offset != 4 {
		t.Errorf("got %v, %+v", err, s)
	}
}

// Bodies whose checksum is right and that no version of this package has written.
func TestASealedBodyThatMakesNoSenseIsDamage(t *testing.T) {
	part := writerBody[4+5+8:] // of bucket "a/b"
	withPart := func(from, to string) string {
		if !strings.Contains(part, from) {
			t.Fatalf("no %q to replace", from)
		}
		return "\x00\x00\x00\x01\x00\x00\x00\x01a\x01" + strings.Replace(part, from, to, 1)
	}
	bucket := func(id string) string {
		return "\x00\x00\x00\x01\x00\x00\x00" + string(rune(len(id))) + id + "\x00"
	}
	if err := new(sinkcore.WriterState).UnmarshalBinary(sealed(1, withPart("x", "z"))); err != nil {
		t.Fatalf("what is damaged below is sound: %v", err)
	}
	for name, test := range map[string]struct {
		kind byte
		body string
	}{
		"no body":              {1, ""},
		"more than the state":  {1, writerBody + "\x00"},
		"too many buckets":     {1, "\xff\xff\xff\xff"},
		"a string too long":    {1, "\x00\x00\x00\x01\xff\xff\xff\xff\x00"},
		"neither 0 nor 1":      {1, "\x00\x00\x00\x01\x00\x00\x00\x00\x02"},
		"buckets out of order": {1, "\x00\x00\x00\x02\x00\x00\x00\x01b\x00\x00\x00\x00\x01a\x00"},
		"bucket escapes":       {1, bucket("..")},
		"bucket is absolute":   {1, bucket("/a")},
		"bucket is hidden":     {1, bucket("_a")},
		"bucket holds a NUL":   {1, bucket("\x00")},
		"name is a path":       {1, withPart("part-x-0", "part/x-0")},
		"name is ..":           {1, withPart("\x08part-x-0", "\x02..")},
		"name is empty":        {1, withPart("\x08part-x-0", "\x00")},
		"name holds a NUL":     {1, withPart("part-x-0", "part\x00x-0")},
		"both names are one":   {1, withPart("\x08part-x-0", "\x16.part-x-0.inprogress.y")},
		"negative size":        {1, withPart("\x00\x00\x00\x00\x00\x00\x01\x02", "\xff\x00\x00\x00\x00\x00\x01\x02")},
		"negative records":     {1, withPart("\x00\x00\x00\x00\x00\x00\x00\x03", "\xff\x00\x00\x00\x00\x00\x00\x03")},
		"too many batches":     {2, "\xff\xff\xff\xff"},
		"too many parts":       {2, "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\xff\xff\xff\xff"},
		"a batch twice":        {2, "\x00\x00\x00\x02" + strings.Repeat("\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00", 2)},
		"unknown reason":       {2, strings.Replace(committerBody, "\x04\x03", "\x04\x09", 1)},
		"no subtasks":          {3, "\x00\x00\x00\x00\x00\x00\x00\x0a\x00\x00\x00\x00"},
		"too many subtasks":    {3, "\x00\x00\x00\x00\x00\x00\x00\x0a\xff\xff\xff\xff"},
		"cut off":              {3, checkpointBody[:len(checkpointBody)-1]},
	} {
		s := examples[test.kind-1].empty()
		bad := sealed(test.kind, test.body)
		err := s.UnmarshalBinary(bad)
		if errors.Is(err, sinkcore.ErrStateVersion) {
			t.Errorf("%s: %v", name, err)
		}
		checkDamage(t, name, len(bad), examples[test.kind-1].empty(), s, err)
	}
	for _, kind := range []byte{0, 2, 3, 4, 255} {
		if err := new(sinkcore.WriterState).UnmarshalBinary(sealed(kind, writerBody)); !errors.Is(err, sinkcore.ErrStateDamaged) {
			t.Errorf("kind %d: %v", kind, err)
		}
	}
}

// A count that is wrong must not make the decoder ask for much memory.
func TestDecodingAllocatesInProportion(t *testing.T) {
	for name, test := range map[string]struct {
		kind byte
		body string
	}{
		"writer, huge count":      {1, "\xff\xff\xff\xff" + strings.Repeat("\x00", 1<<16)},
		"writer, false count":     {1, "\x00\x00\x33\x33" + strings.Repeat("\xff", 1<<16)},
		"committer, huge count":   {2, "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\xff\xff\xff\xff" + strings.Repeat("\x00", 1<<16)},
		"committer, false count":  {2, "\x00\x00\x15\x55" + strings.Repeat("\xff", 1<<16)},
		"checkpoint, huge count":  {3, "\x00\x00\x00\x00\x00\x00\x00\x01\x00\xff\xff\xff" + strings.Repeat("\x00", 1<<16)},
		"checkpoint, empty parts": {3, "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x20\x00" + strings.Repeat("\x00", 1<<16)},
		"a string of 4 GiB":       {1, "\x00\x00\x00\x01\xff\xff\xff\xff" + strings.Repeat("\x00", 1<<16)},
	} {
		data := sealed(test.kind, test.body)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = examples[test.kind-1].empty().UnmarshalBinary(data)
		runtime.ReadMemStats(&after)
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(40*len(data)); got > most {
			t.Errorf("%s: %d bytes for %d", name, got, len(data))
		}
	}
}

// FuzzState decodes anything: as it is, and as the body of a sealed state. What can be
// decoded is encoded as the same bytes.
func FuzzState(f *testing.F) {
	for i, body := range []string{writerBody, committerBody, checkpointBody} {
		f.Add(byte(i+1), []byte(body))
		f.Add(byte(i+1), sealed(byte(i+1), body))
	}
	f.Fuzz(func(t *testing.T, kind byte, data []byte) {
		for _, input := range [][]byte{data, sealed(kind, string(data))} {
			for _, example := range examples {
				s := example.empty()
				err := s.UnmarshalBinary(input)
				if err != nil {
					checkDamage(t, example.name, len(input), example.empty(), s, err)
					continue
				}
				if again := marshal(t, s.(state)); !bytes.Equal(again, input) {
					t.Errorf("%s: decoded %x, encoded %x", example.name, input, again)
				}
			}
		}
	})
}
