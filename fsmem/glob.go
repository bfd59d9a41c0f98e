package fsmem

import (
	"path"
	"strings"
)

// globProblem says what is wrong with a pattern, "" if nothing is.
func globProblem(pattern string) string {
	for _, segment := range strings.Split(pattern, "/") {
		if _, err := path.Match(segment, ""); err != nil {
			return "path is not a pattern"
		}
	}
	return ""
}

// globMatch matches a path as Rule.Path describes.
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
