package sinkcore_test

import (
	"errors"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sinklab/sinkcore"
)

func TestValidBucketIDNamesWhatIsWrong(t *testing.T) {
	for id, want := range map[string]string{
		"": "", "a": "", "a/b": "", "dt=2026-01-01/hour=03": "", "10:30": "", ":": "", "a.b": "", "a_b": "", "...x"[3:]: "",
		"ü/漢": "", " ": "", "a\\b": "", "-": "", "~": "", "%2e%2e": "",
		"/": "empty", "/a": "empty", "a/": "empty", "a//b": "empty",
		".": `"."`, "..": `".."`, "a/..": `".."`, "../a": `".."`, "a/./b": `"."`,
		".a": "readers skip", "_a": "readers skip", "a/.b": "readers skip", "a/_": "readers skip", "...": "readers skip",
		"\x00": "NUL", "a/b\x00": "NUL",
		strings.Repeat("n", 255): "", "a/" + strings.Repeat("n", 256): "256 bytes",
	} {
		err := sinkcore.ValidBucketID(id)
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", id, err)
		case want != "" && !errors.Is(err, sinkcore.ErrBucketID):
			t.Errorf("%q: got %v, want ErrBucketID", id, err)
		case want != "" && !strings.Contains(err.Error(), want):
			t.Errorf("%q: %q does not say %q", id, err, want)
		}
	}
}

// A valid id is the only one of its directory, the directory is below the base, and
// readers look into it.
func TestAValidBucketIDHasADirectoryOfItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`[a./_:\x00]{0,7}`).Draw(t, "id")
		if sinkcore.ValidBucketID(id) != nil {
			return
		}
		dir := path.Join("/base", id)
		if want := "/base/" + id; id != "" && dir != want {
			t.Fatalf("%q shares the directory %s", id, dir)
		}
		if strings.Contains(dir, "/.") || strings.Contains(dir, "/_") {
			t.Fatalf("%q: readers do not look into %s", id, dir)
		}
	})
}
