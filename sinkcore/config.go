package sinkcore

import (
	"fmt"
	"strings"
	"time"
)

// Defaults of [Config].
const (
	DefaultCheckInterval = time.Minute // FileSink:203-206
	DefaultPrefix        = "part"      // OutputFileConfig:64-75
	DefaultBufferSize    = 128 << 10   // bytes
)

// Config is how a sink writes. The zero value of each field but Encoder is the
// default. It is checked once, at the start: [NewJob], [RestoreJob], [NewWriter] and
// [RestoreWriter] return an error that wraps [ErrConfig] and names the field.
//
// All of it may change between a checkpoint and its restore. A part that is resumed keeps
// its name, and is closed as the new policy says. The checkpoint names its files relative
// to Dir, so a directory that was moved as a whole is restored where it is now; Flink
// keeps the path of a bucket in its state (FileWriterBucket:102-150).
type Config[T any] struct {
	// Dir is the directory below which the buckets are, a path of the file system.
	// "" is the file system's current directory. It is made with the first part, as
	// Flink does it; it may be a link to a directory that exists.
	Dir string

	// Encoder turns records into bytes. There is no default.
	Encoder Encoder[T]

	// Assigner tells the bucket of a record. nil puts all records into Dir itself.
	Assigner BucketAssigner[T]

	// Policy decides when parts are closed. nil means Default{}.
	Policy RollingPolicy

	// CheckInterval is the time between two checks for parts that are old enough to
	// be closed, in whole milliseconds. 0 means one minute. A part waits up to so long
	// beyond its limit, see [WorstLatency]; a short interval costs little, since a check
	// looks at no part that is not due.
	CheckInterval time.Duration

	// Prefix begins and Suffix ends the name of each part; a suffix brings its own
	// dot. Prefix "" means "part"; it must not begin with "." or "_", which hide a
	// file from readers. Neither may hold a "/" or a NUL. Together they should be no
	// longer than 149 bytes: uuids and number make up to 106 more, and a name has at
	// most 255. A longer one fails with the first part.
	Prefix, Suffix string

	// BufferSize is how many bytes of a part are collected before they are written to
	// the file, at most, plus one record. 0 means 128 KiB. Small parts need less: the
	// buffer grows with them. What is visible when does not depend on it; what is in the
	// buffer when the process dies is sent again, as is all that came after the
	// checkpoint.
	BufferSize int

	// MaxOpenParts bounds the parts that a subtask has open at a time, over all its buckets,
	// and with them its file descriptors and buffers. A part that would be one too many has
	// the oldest closed first, which costs a look at each open one. 0 means no bound, as in
	// Flink.
	MaxOpenParts int

	// OnClose, if not nil, is told of each part that has been closed, with the reason
	// ([Committable.Reason]) and the subtask: for metrics, and for whoever asks why there
	// are so many files. It is called within the call that closes the part, restores
	// included, and must not call the sink. The part is hidden still: a checkpoint has to
	// hand it over, and that one's completion publishes it.
	OnClose func(subtask int, part Committable)
}

// maxAffixes is what a hidden name of at most 255 bytes (NAME_MAX of Linux) leaves for
// prefix and suffix: a dot, two dashes, a UUID, a counter of up to 19 digits, and the
// infix with another UUID.
const maxAffixes = 255 - (1 + 2 + 36 + 19 + len(inProgressInfix) + 36)

// missing tells an encoder or assigner that is there by its type only.
func missing(x any) bool {
	m, ok := x.(interface{ missing() bool })
	return ok && m.missing()
}

// validate returns the configuration with its defaults filled in, or an error that
// wraps [ErrConfig] and names the field. Whatever would fail with the first record fails
// here already: a job should not start, restore its files and then stop.
func (c Config[T]) validate() (Config[T], error) {
	if c.Encoder == nil {
		return c, fmt.Errorf("%w: Encoder is missing", ErrConfig)
	}
	if missing(c.Encoder) || missing(c.Assigner) {
		return c, fmt.Errorf("%w: Encoder or Assigner is a nil function, or a DateTime that NewDateTime has not made", ErrConfig)
	}
	if strings.IndexByte(c.Dir, 0) >= 0 {
		return c, fmt.Errorf("%w: Dir %q: must hold no NUL", ErrConfig, c.Dir)
	}
	if c.Assigner == nil {
		c.Assigner = BasePath[T]{}
	}
	if c.Policy == nil {
		c.Policy = Default{}
	}
	if err := validPolicy(c.Policy); err != nil {
		return c, err
	}
	if c.CheckInterval == 0 {
		c.CheckInterval = DefaultCheckInterval
	}
	if err := validMillis("CheckInterval", c.CheckInterval); err != nil {
		return c, err
	}
	if c.Prefix == "" {
		c.Prefix = DefaultPrefix
	}
	if hidden(c.Prefix) {
		return c, fmt.Errorf("%w: Prefix %q: readers skip names that begin with \".\" or \"_\"", ErrConfig, c.Prefix)
	}
	for _, s := range [2]string{c.Prefix, c.Suffix} {
		if strings.ContainsAny(s, "/\x00") {
			return c, fmt.Errorf("%w: Prefix or Suffix %q: must hold no \"/\" and no NUL", ErrConfig, s)
		}
	}
	if n := len(c.Prefix) + len(c.Suffix); n > maxAffixes {
		return c, fmt.Errorf("%w: Prefix and Suffix have %d bytes together: at most %d leave room for the rest of a file's name", ErrConfig, n, maxAffixes)
	}
	if c.BufferSize == 0 {
		c.BufferSize = DefaultBufferSize
	}
	if c.BufferSize < 0 {
		return c, fmt.Errorf("%w: BufferSize %d: must be greater than 0 bytes", ErrConfig, c.BufferSize)
	}
	if c.MaxOpenParts < 0 {
		return c, fmt.Errorf("%w: MaxOpenParts %d: must be at least 1, or 0 for no bound", ErrConfig, c.MaxOpenParts)
	}
	return c, nil
}
