package report

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// The picture in README.md is what the report draws now. If this fails and the change is
// meant: go run ./bench/sinklab report --picture testdata/pictures/visible.svg
func TestPictureOfReadme(t *testing.T) {
	r := reportOf(t, fixture(), "")
	var b bytes.Buffer
	if err := r.WritePicture(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`xmlns="http://www.w3.org/2000/svg"`, "prefers-color-scheme: dark", "nothing before 120.15"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the picture has no %q", want)
		}
	}
	kept, err := os.ReadFile("../../testdata/pictures/visible.svg")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, b.Bytes()) {
		t.Error("testdata/pictures/visible.svg is another picture")
	}
}
