package watch

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"time"
)

// WriteText writes the result as a table for people.
func (r Result) WriteText(out io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, watched for %v, a look every %v: a latency may be %v too long\n\n", r.Dir, millis(r.Watched), millis(r.Every), millis(r.Resolution))
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-20s %s\n", name, fmt.Sprintf(format, args...))
	}
	if r.FirstVisible == nil {
		row("first file", "none became visible")
	} else {
		row("first file", "%s after the watch began", Seconds(millis(*r.FirstVisible)))
	}
	if r.Timed > 0 {
		for _, line := range []struct {
			name string
			p    int
		}{{"latency p50", 50}, {"latency p90", 90}, {"latency p99", 99}, {"latency max", 100}} {
			row(line.name, "%s", Seconds(r.Latency(line.p)))
		}
	}
	row("files", "%s, %.1f an hour", thousands(r.Files), r.FilesPerHour())
	if r.Files > 0 {
		row("bytes a file", "%s", thousands(int64(r.BytesPerFile()+.5)))
	}
	row("records", "%s", thousands(r.Records))
	if r.Records > 0 && r.Timed == 0 {
		row("", "without a time of their own, so there is no latency")
	}
	r.writeCounts(row)
	if len(r.Problems) > 0 {
		b.WriteByte('\n')
	}
	for _, p := range r.Problems {
		at := p.Path
		if p.Line > 0 {
			at += ":" + strconv.FormatInt(p.Line, 10)
		}
		fmt.Fprintf(&b, "%s: %s: %s\n", p.Kind, at, p.Text)
	}
	const year = 365 * 24 * time.Hour
	if r.Timed > 0 && r.Latency(50) > year {
		b.WriteString("\nThe records' times are taken for milliseconds since 1970; these may be seconds.\n")
	}
	_, err := out.Write(b.Bytes())
	return err
}

// writeCounts writes what is not as it is in most runs.
func (r Result) writeCounts(row func(name, format string, args ...any)) {
	for _, line := range []struct {
		n         int64
		name, why string
	}{
		{r.Changed, "CHANGED", "files that were visible and changed afterwards: a violation"},
		{r.Doubled, "DOUBLED", "records with the id of an earlier one: a violation"},
		{r.Torn, "torn", "files whose last line has no end"},
		{r.Foreign, "foreign", "lines that are no records of this format"},
		{r.Early, "early", "records that were seen before their own time: do the clocks differ?"},
		{r.Vanished, "vanished", "files that have gone"},
		{r.VanishedUnread, "vanished unread", "of them, files whose records are not known"},
		{r.Unreadable, "unreadable", "files that could not be read"},
		{r.Before, "there before", "files that were there at the first look, and are not counted above"},
	} {
		if line.n > 0 {
			row(line.name, "%s %s", thousands(line.n), line.why)
		}
	}
}

// Seconds is a duration as tables show it: whole milliseconds below a second, seconds above.
func Seconds(d time.Duration) string {
	if d > -time.Second && d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.3f s", d.Seconds())
}

// thousands puts commas into a number.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for at := len(text) - 3; at > first; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
