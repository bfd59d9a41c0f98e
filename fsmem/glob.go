package fsmem

import (
	"path"
	"strings"
)

// globProblem says what is wrong with a pattern, "" if nothing is. path.Match finds a
// bad pattern even if it does not get that far in matching, which makes "" a test.
func globProblem(pattern string) string {
	for _, segment := range strings.Split(pattern, "/") {
		if _, err := path.Match(segment, ""); err != nil {
			return "path is not a pattern"
		}
	}
	return ""
}

// globMatch matches a path as Rule.Path describes. Both are cut into segments, and
// empty ones dropped, so that "//a/" is matched as "a": the kernel takes them to be
// the same. "." and ".." are segments like others, since without the file system
// nobody can say where they lead.
//
//	part-*      the last segment, in any directory
//	out/part-*  the last two
//	/out/*      in /out itself, and nowhere else
//	/out/**     /out and all that is below it
//	**/.tmp/**  all that is in, or is, a directory named .tmp
func globMatch(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	segments := strings.FieldsFunc(name, func(r rune) bool { return r == '/' })
	anchored := pattern[0] == '/'
	want := strings.FieldsFunc(pattern, func(r rune) bool { return r == '/' })
	if anchored {
		return matchSegments(want, segments)
	}
	for i := range len(segments) + 1 {
		if matchSegments(want, segments[i:]) {
			return true
		}
	}
	return false
}

// matchSegments tries each length for "**". That is exponential in the number of "**",
// of which patterns have one or two, and at most the depth of a path for each.
func matchSegments(want, segments []string) bool {
	for len(want) > 0 {
		if want[0] == "**" {
			for i := range len(segments) + 1 {
				if matchSegments(want[1:], segments[i:]) {
					return true
				}
			}
			return false
		}
		if len(segments) == 0 {
			return false
		}
		if ok, err := path.Match(want[0], segments[0]); err != nil || !ok {
			return false
		}
		want, segments = want[1:], segments[1:]
	}
	return len(segments) == 0
}
