package live_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"sinklab/sinkcore"
	"sinklab/sinkcore/live"
)

// On a real disk two jobs cannot have one directory; the second one touches nothing.
func TestADirectoryHasOneJobAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	o := live.Options[string]{Sink: sinkcore.Config[string]{Encoder: sinkcore.Line[string]{}, Dir: dir}}
	first := open(t, o, 0)
	write(t, first, 0, 1, 0)
	advance(t, first, 10_000)
	write(t, first, 1, 2, 0)
	_, err := live.Open(o, 0)
	var typed *live.Error
	if !errors.Is(err, live.ErrLocked) || !errors.As(err, &typed) || !strings.HasPrefix(typed.File, dir) || typed.Hint == "" {
		t.Errorf("%v", err)
	}
	stop(t, first, live.EndOfInput, 10_001) // its files are as they were
	if s := first.Stats(); s.CommittedRecords != 2 {
		t.Errorf("%+v", s)
	}
	second := open(t, o, 0)
	if s := second.Stats(); s.ResumedFrom == 0 {
		t.Errorf("%+v", s)
	}
	stop(t, second, live.EndOfInput, 1)
}
