package wire

import (
	"encoding/json"
	"unicode/utf8"
)

// request is what the process is asked.
type request struct {
	Do         string `json:"do"`
	Dir        string `json:"dir,omitempty"`
	Now        *int64 `json:"now,omitempty"`
	Seed       int64  `json:"seed,omitempty"`
	Checkpoint *int64 `json:"checkpoint,omitempty"`
	State      []byte `json:"state,omitempty"`
	Record     string `json:"record,omitempty"`
}

// answer is what it says. A line that has "file" is an operation, and the answer is to come.
type answer struct {
	Next  *int64  `json:"next,omitempty"`
	State []byte  `json:"state,omitempty"`
	Error *string `json:"error,omitempty"`
}

// Operation is an operation on files that has succeeded. Those on an open file carry the
// number that the process knows it by, which may be used again when it is closed.
type Operation struct {
	// Do is one of
	//
	//	mkdir      path
	//	open       path fd flags    for writing
	//	writeat    fd at data       at an offset, wherever the file stands
	//	write      fd data          where the file stands, or at its end if it was opened with append
	//	seek       fd at            from the beginning of the file
	//	truncate   fd or path, at
	//	sync       fd or path       of a file or directory: what a power cut cannot take any more
	//	close      fd
	//	rename     path to
	//	remove     path             a file or an empty directory
	Do    string   `json:"file"`
	Path  string   `json:"path,omitempty"` // absolute; with fd for the human reader only
	To    string   `json:"to,omitempty"`
	FD    int      `json:"fd,omitempty"` // 0 is none
	Flags []string `json:"flags,omitempty"`
	At    int64    `json:"at,omitempty"`
	Data  Bytes    `json:"data,omitempty"`
}

// Flags of open.
const (
	Create   = "create"   // if it is not there
	Excl     = "excl"     // and fail if it is
	Append   = "append"   // write at the end
	Truncate = "truncate" // remove what it holds
)

// Bytes are what is written: in JSON a string if they are text in UTF-8, and otherwise
// {"base64":TEXT}.
type Bytes []byte

type base64 struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (b Bytes) MarshalJSON() ([]byte, error) {
	if utf8.Valid(b) {
		return json.Marshal(string(b))
	}
	return json.Marshal(base64{b})
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *Bytes) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err == nil {
		*b = Bytes(s)
		return nil
	}
	var coded base64
	err := json.Unmarshal(text, &coded)
	*b = coded.Base64
	return err
}
