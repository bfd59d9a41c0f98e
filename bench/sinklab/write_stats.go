package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"sinklab/sinkcore/live"
)

// show keeps a line of counts on a terminal until the returned function is called;
// anywhere else it shows nothing.
func show(out io.Writer, clock live.Clock, engine *live.Engine[[]byte]) (stop func()) {
	if !isTerminal(out) {
		return func() {}
	}
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		every := time.NewTicker(500 * time.Millisecond)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				fmt.Fprint(out, clearLine+statsLine(clock.Now(), engine.Stats()))
			case <-quit:
				fmt.Fprintln(out, clearLine+statsLine(clock.Now(), engine.Stats()))
				return
			}
		}
	}()
	return func() { close(quit); <-gone }
}

// clearLine goes to the beginning of the terminal's line and erases it (ECMA-48).
const clearLine = "\r\x1b[K"

// showLine keeps a line on a terminal, for people who wait; done takes it away. Where nobody
// looks show is nil.
func showLine(std streams) (show func(line string), done func()) {
	if !isTerminal(std.err) {
		return nil, func() {}
	}
	return func(line string) { fmt.Fprint(std.err, clearLine+line) }, func() { fmt.Fprint(std.err, clearLine) }
}

// isTerminal tells whether somebody may be looking.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// statsLine is short enough for 80 columns while the counts have their usual length.
func statsLine(now int64, s live.Stats) string {
	return fmt.Sprintf("%d lines, %d visible in %d files, %d files hidden, oldest %.1f s, checkpoint %d",
		s.Records, s.CommittedRecords, s.CommittedParts, s.OpenParts+s.PendingParts, float64(s.Age(now))/1000, s.CheckpointID)
}

// printStats prints the final counts.
func printStats(out io.Writer, now int64, s live.Stats) error {
	final := struct {
		Lines        int64           `json:"lines"`
		Bytes        int64           `json:"bytes"`
		Refused      int64           `json:"refused"`
		VisibleLines int64           `json:"visible_lines"`
		VisibleFiles int64           `json:"visible_files"`
		VisibleBytes int64           `json:"visible_bytes"`
		OpenFiles    int             `json:"open_files"`
		PendingFiles int             `json:"pending_files"`
		OldestMillis int64           `json:"oldest_invisible_ms"`
		Checkpoints  int64           `json:"checkpoints"`
		CheckpointID int64           `json:"checkpoint_id"`
		ResumedFrom  int64           `json:"resumed_from"`
		Swept        int             `json:"swept_files"`
		Position     json.RawMessage `json:"position"`
	}{
		s.Records, s.Bytes, s.Refused, s.CommittedRecords, s.CommittedParts, s.CommittedBytes,
		s.OpenParts, s.PendingParts, s.Age(now), s.Checkpoints, s.CheckpointID, s.ResumedFrom, s.Swept, position(s.Position),
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(final)
}

// position is where the input stands, null before the first line.
func position(binary []byte) json.RawMessage {
	var files live.FilesPosition
	var stream live.StreamPosition
	var text []byte
	switch {
	case files.UnmarshalBinary(binary) == nil:
		text, _ = json.Marshal(files) // numbers and a string always can
	case stream.UnmarshalBinary(binary) == nil:
		text, _ = json.Marshal(stream)
	default:
		return json.RawMessage("null")
	}
	return text
}
