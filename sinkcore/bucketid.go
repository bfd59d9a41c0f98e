package sinkcore

import (
	"fmt"
	"strings"
)

// ValidBucketID returns nil if id may name a bucket, else an error that wraps
// [ErrBucketID] and says why not. "" is the base directory. A valid id is a path that
// stays below the base directory and that two ids never share: "a/b" is valid and
// "a//b", which would be the same directory, is not. Colons, spaces, backslashes and
// letters of any script are valid.
//
// Flink has no check and lets ids escape the base directory or collide (Path:120-148,
// 174-266). An id that no directory can have would stop the sink, and so would the same
// record after each restore; here it costs one record. On a file system that does not
// tell upper from lower case two ids may still share a directory, which does no harm
// since names of parts are unique. The length of the whole path is not looked at.
func ValidBucketID(id string) error {
	if id == "" {
		return nil
	}
	if strings.IndexByte(id, 0) >= 0 {
		return fmt.Errorf("%w: it holds a NUL byte", ErrBucketID)
	}
	for segment := range strings.SplitSeq(id, "/") {
		switch {
		case segment == "":
			return fmt.Errorf("%w: it has an empty segment", ErrBucketID)
		case segment == "." || segment == "..":
			return fmt.Errorf("%w: it has the segment %q", ErrBucketID, segment)
		case hidden(segment):
			return fmt.Errorf("%w: readers skip the segment %q, which begins with \".\" or \"_\"", ErrBucketID, segment)
		case len(segment) > longestName:
			return fmt.Errorf("%w: a segment has %d bytes, and the name of a directory at most %d", ErrBucketID, len(segment), longestName)
		}
	}
	return nil
}

// longestName is NAME_MAX in bytes: limits.h of Linux, and what ext4, xfs, btrfs and
// tmpfs take.
const longestName = 255

// hidden tells whether readers skip a name (Flink: DefaultFileFilter:34-41; Hive and
// Spark do the same). Records below such a name would be committed and never read,
// which nobody notices.
func hidden(name string) bool {
	return name != "" && (name[0] == '.' || name[0] == '_')
}
