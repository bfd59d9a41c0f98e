package sinkcore

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"slices"
)

// Encoder turns a record into the bytes that stand for it in a part. It is called by the
// writer that it was given to, so one that keeps something between calls must not be
// shared by jobs that run at the same time; those of this package keep nothing.
type Encoder[T any] interface {
	// Append appends the record's bytes, its end of line included, to dst and returns
	// the extended slice, as the built-in append does. It must not keep dst or change
	// what is in it: before its end are the records that came before. After an error the
	// appended bytes are dropped and the record is refused ([ErrEncode]).
	//
	// The file gets the bytes as they are, whole, and in the order of the records; Flink's
	// encoders write to the file themselves and leave half a record there when they fail
	// (RowWisePartWriter:50-54). No bytes are a record too: a part may be empty
	// (Flink commits such a file as well), and no reader can count it.
	Append(dst []byte, record T) ([]byte, error)
}

// EncoderFunc makes an [Encoder] of a function.
type EncoderFunc[T any] func(dst []byte, record T) ([]byte, error)

func (f EncoderFunc[T]) missing() bool { return f == nil }

// Append calls the function.
func (f EncoderFunc[T]) Append(dst []byte, record T) ([]byte, error) { return f(dst, record) }

// Line writes a record as it is and a newline after it, as Flink's
// SimpleStringEncoder does. A newline within a record is not escaped, so a reader takes
// it for two; use [JSON] where that can be.
type Line[T ~string | ~[]byte] struct{}

// Append never fails.
func (Line[T]) Append(dst []byte, record T) ([]byte, error) {
	dst = append(dst, record...)
	return append(dst, '\n'), nil
}

// JSON writes each record as one line of JSON, by encoding/json, without escaping
// for HTML. Newlines within strings are escaped, so a line is always one record.
type JSON[T any] struct{}

// Append returns the error of encoding/json.
func (JSON[T]) Append(dst []byte, record T) ([]byte, error) {
	w := appender(dst)
	e := json.NewEncoder(&w)
	e.SetEscapeHTML(false)
	if err := e.Encode(record); err != nil {
		return dst, err
	}
	return w, nil
}

// CSV writes each record as one line of comma-separated values, by encoding/csv,
// quoted where needed. There is no head line: parts are cut at any record, and a reader
// of many parts would meet it in the midst of the data. A field with a newline in it makes
// a record of several lines.
type CSV[T any] struct {
	Fields  func(record T) []string // the fields of a record, needed
	Comma   rune                    // between fields; 0 means ','
	UseCRLF bool                    // end lines with \r\n instead of \n
}

// Append returns the error of encoding/csv, for example for an invalid Comma, and an
// error for a record without fields. A single empty field is quoted.
func (c CSV[T]) Append(dst []byte, record T) ([]byte, error) {
	if c.Fields == nil {
		return dst, newError("encode", ErrConfig).todo("set CSV.Fields")
	}
	w := appender(dst)
	e := csv.NewWriter(&w)
	if c.Comma != 0 {
		e.Comma = c.Comma
	}
	e.UseCRLF = c.UseCRLF
	fields := c.Fields(record)
	if len(fields) == 0 {
		return dst, errors.New("a record without fields would be an empty line, which readers skip")
	}
	if err := e.Write(fields); err != nil {
		return dst, err
	}
	if len(fields) == 1 && fields[0] == "" {
		w = append(w, `""`...) // for the same reason; encoding/csv does not quote it, and nothing is flushed yet
	}
	e.Flush()
	return w, e.Error()
}

// appender is an io.Writer that appends.
type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(slices.Grow(*a, len(p)), p...)
	return len(p), nil
}
