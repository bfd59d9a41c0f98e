package sinkcore_test

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
)

func encoded[T any](t interface{ Fatal(...any) }, e sinkcore.Encoder[T], records ...T) string {
	dst := []byte("before ")
	for _, record := range records {
		var err error
		if dst, err = e.Append(dst, record); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.HasPrefix(dst, []byte("before ")) {
		t.Fatal("what was in the slice has changed")
	}
	return string(dst[len("before "):])
}

func TestLineWritesTheRecordAndANewline(t *testing.T) {
	if got := encoded(t, sinkcore.Line[string]{}, "a", "", "b\nc"); got != "a\n\nb\nc\n" {
		t.Errorf("got %q", got)
	}
	if got := encoded(t, sinkcore.Line[[]byte]{}, []byte("a"), nil); got != "a\n\n" {
		t.Errorf("got %q", got)
	}
}

func TestJSONWritesOneLineARecord(t *testing.T) {
	type record struct {
		Name string
		N    int
	}
	if got, want := encoded(t, sinkcore.JSON[record]{}, record{"<a>\n", 1}, record{}), "{\"Name\":\"<a>\\n\",\"N\":1}\n{\"Name\":\"\",\"N\":0}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.SliceOf(rapid.MapOf(rapid.String(), rapid.Float64Range(-1e9, 1e9))).Draw(t, "records")
		lines := bufio.NewScanner(bytes.NewReader([]byte(encoded(t, sinkcore.JSON[map[string]float64]{}, records...))))
		lines.Buffer(nil, 1<<20)
		for i, record := range records {
			var got map[string]float64
			if !lines.Scan() || json.Unmarshal(lines.Bytes(), &got) != nil || !reflect.DeepEqual(got, record) {
				t.Fatalf("line %d: %q read as %v, want %v", i, lines.Bytes(), got, record)
			}
		}
		if lines.Scan() {
			t.Fatalf("one line too many: %q", lines.Bytes())
		}
	})
}

func TestJSONErrorLeavesTheSlice(t *testing.T) {
	dst, err := sinkcore.JSON[float64]{}.Append([]byte("before"), math.NaN())
	var unsupported *json.UnsupportedValueError
	if string(dst) != "before" || !errors.As(err, &unsupported) {
		t.Errorf("got %q, %v", dst, err)
	}
}

func fields(record []string) []string { return record }

func TestCSVIsReadAgainAsItWasWritten(t *testing.T) {
	if got := encoded(t, sinkcore.CSV[[]string]{Fields: fields}, []string{"a", "b c", `"`, ","}); got != "a,b c,\"\"\"\",\",\"\n" {
		t.Errorf("got %q", got)
	}
	if got := encoded(t, sinkcore.CSV[[]string]{Fields: fields, Comma: ';', UseCRLF: true}, []string{"a", "b,c"}, []string{"d", ""}, []string{""}); got != "a;b,c\r\nd;\r\n\"\"\r\n" {
		t.Errorf("got %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		// A \r before a \n within a field is read as \n, says encoding/csv.
		field := rapid.StringMatching(`[ab ",;\n]{0,5}`)
		width := rapid.IntRange(1, 4).Draw(t, "fields")
		records := rapid.SliceOfN(rapid.SliceOfN(field, width, width), 1, 5).Draw(t, "records")
		r := csv.NewReader(bytes.NewReader([]byte(encoded(t, sinkcore.CSV[[]string]{Fields: fields}, records...))))
		got, err := r.ReadAll()
		if err != nil || !reflect.DeepEqual(got, records) {
			t.Fatalf("read %q, %v; want %q", got, err, records)
		}
	})
}

func TestCSVRefusesWhatItCannotWrite(t *testing.T) {
	for name, e := range map[string]sinkcore.CSV[[]string]{
		"no Fields":   {},
		"comma quote": {Fields: fields, Comma: '"'},
		"comma line":  {Fields: fields, Comma: '\n'},
	} {
		if dst, err := e.Append([]byte("before"), []string{"a"}); err == nil || string(dst) != "before" {
			t.Errorf("%s: %q, %v", name, dst, err)
		}
	}
	if dst, err := (sinkcore.CSV[[]string]{Fields: fields}).Append([]byte("before"), nil); err == nil || string(dst) != "before" {
		t.Errorf("a record without fields: %q, %v", dst, err)
	}
	if _, err := (sinkcore.CSV[[]string]{}).Append(nil, nil); !errors.Is(err, sinkcore.ErrConfig) {
		t.Errorf("no Fields: %v", err)
	}
}
