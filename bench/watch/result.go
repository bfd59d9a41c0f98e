package watch

import "time"

// ProblemKind is what is wrong with a file, a line or a record.
type ProblemKind string

// The kinds of problems. Changed and Doubled break a rule of exactly-once. The others may
// have harmless causes.
const (
	Changed        ProblemKind = "changed"         // a visible file is not what it was when it was first seen
	Doubled        ProblemKind = "doubled"         // a record has the id of one before
	Torn           ProblemKind = "torn"            // the last line of a file has no end; it is counted for no record
	Foreign        ProblemKind = "foreign"         // a line is no record of the format
	Early          ProblemKind = "early"           // a record's time is after it was seen: two clocks differ, or the time is not that of writing
	Unreadable     ProblemKind = "unreadable"      // a file or directory could not be read
	VanishedUnread ProblemKind = "vanished-unread" // a file had gone before it could be read
	Unnoticed      ProblemKind = "unnoticed"       // there are no notices of changes in a directory, so it is listed
)

// Problem is one that was met.
type Problem struct {
	Kind ProblemKind `json:"kind"`
	Path string      `json:"path"`           // below the directory that is watched, with slashes
	Line int64       `json:"line,omitempty"` // from 1; 0 if it is not one line
	Text string      `json:"text"`
}

// problems keeps the first few of each kind.
type problems struct {
	list []Problem
	kept map[ProblemKind]int
	met  map[Problem]bool // of those that are kept, since a look may find them again
}

// keptProblems is how many of each kind are kept as examples.
const keptProblems = 5

func (p *problems) add(problem Problem) {
	if p.kept == nil {
		p.kept, p.met = map[ProblemKind]int{}, map[Problem]bool{}
	}
	if p.kept[problem.Kind] == keptProblems || p.met[problem] {
		return
	}
	p.kept[problem.Kind]++
	p.met[problem] = true
	p.list = append(p.list, problem)
}

// Counts are what was met.
type Counts struct {
	Found       bool  `json:"found"`        // the directory was there at some look
	Directories int   `json:"directories"`  // visible ones, the watched one included, at the last look
	Before      int64 `json:"files_before"` // files that were there at the first look; they count for nothing else
	Files       int64 `json:"files"`        // that became visible since
	Bytes       int64 `json:"bytes"`        // in those
	Records     int64 `json:"records"`      // in those

	Changed        int64 `json:"changed"`         // files that changed after they were visible: a violation
	Doubled        int64 `json:"doubled"`         // records with the id of an earlier one: a violation
	Torn           int64 `json:"torn"`            // files whose last line has no end
	Foreign        int64 `json:"foreign"`         // lines that are no records of the format
	Early          int64 `json:"early"`           // records that were seen before their own time
	Vanished       int64 `json:"vanished"`        // files that have gone; a consumer may have taken them
	VanishedUnread int64 `json:"vanished_unread"` // of those, the ones whose records are not known
	Unreadable     int64 `json:"unreadable"`      // files that could not be read
	Listings       int64 `json:"listings"`        // directories that were listed, summed over the looks
}

// Violations are what no sink may do.
func (c Counts) Violations() int64 { return c.Changed + c.Doubled }

// File is one that became visible. Instants are milliseconds since 1970.
type File struct {
	Path    string `json:"path"`    // below the directory that is watched, with slashes
	Seen    int64  `json:"seen_ms"` // of the look that found it
	Bytes   int64  `json:"bytes"`   // then
	Records int64  `json:"records"` // 0 also while it has not been read
}

// State is what is known after a look, to be shown while the watch goes on.
type State struct {
	Counts
	Started int64         // when the watch began, in milliseconds since 1970
	At      int64         // the look
	Unread  int           // files that have been seen and wait to be read
	Newest  time.Duration // since the newest file was seen; negative if there is none

	// Invisible is the age of the newest record that can be seen. If records come all the
	// time and in the order of their times, the oldest invisible one came next and is hardly
	// younger. It is negative if no record with a time can be seen.
	Invisible time.Duration

	P50, P99 time.Duration // latency; negative if no record with a time can be seen
}

// State returns what is known after the last look.
func (w *Watcher) State() State {
	s := State{
		Counts: w.counts, Started: w.started, At: w.looked, Unread: len(w.queue),
		Newest: -1, Invisible: -1, P50: -1, P99: -1,
	}
	if w.open != nil {
		s.Unread++
	}
	if w.counts.Files > 0 {
		s.Newest = millis(w.looked - w.lastFile)
	}
	if w.latencies.n > 0 {
		s.Invisible = max(millis(w.looked-w.newest), 0)
		q := w.latencies.at(50, 99)
		s.P50, s.P99 = millis(q[0]), millis(q[1])
	}
	return s
}

func millis(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// Result is what a watch has found. Its JSON form has all of it.
type Result struct {
	Dir     string `json:"dir"`
	Started int64  `json:"started_ms"` // since 1970
	Watched int64  `json:"watched_ms"` // from the beginning to the last look
	Every   int64  `json:"every_ms"`   // between two looks, as was asked for
	Looks   int64  `json:"looks"`

	// Resolution is how much too long a latency may be: the longest time from the beginning of a
	// look until the next one had found its files. On a machine with time to spare that is
	// Every. 0 before the second look.
	Resolution int64 `json:"resolution_ms"`

	// Noticed is how many of the visible directories gave notice of changes at the last
	// look; the others were listed.
	Noticed int `json:"noticed_directories"`

	Counts

	// FirstVisible is when the first file was seen, counted from the beginning of the watch;
	// nil if none was.
	FirstVisible *int64 `json:"first_visible_ms"`

	// Timed is the number of records with a time of their own. All that follows is of them.
	Timed int64 `json:"timed_records"`

	// Percentiles are the latencies in milliseconds, from the smallest to the largest, in
	// steps of a hundredth: the p-th is the smallest that at least p % of the records had.
	// Empty without such records.
	Percentiles []int64 `json:"percentiles_ms"`

	// Problems are examples of what the counts count, the first five of each kind.
	Problems []Problem `json:"problems"`

	// Seen are the files in the order in which they were seen. Only with Files.
	Seen []File `json:"seen,omitempty"`
}

// Result returns what has been found so far; after Finish it is the whole.
func (w *Watcher) Result() Result {
	r := Result{
		Dir: w.opts.Dir, Started: w.started, Watched: w.looked - w.started, Every: w.opts.Every.Milliseconds(), Looks: w.looks, Resolution: w.slowest,
		Counts: w.counts, Timed: w.latencies.n, Percentiles: []int64{}, Problems: append([]Problem{}, w.problems.list...),
	}
	for _, d := range w.tree.order {
		if d.noticed {
			r.Noticed++
		}
	}
	if w.counts.Files > 0 {
		first := w.firstFile - w.started
		r.FirstVisible = &first
	}
	if w.latencies.n > 0 {
		percents := make([]int64, 101)
		for p := range percents {
			percents[p] = int64(p)
		}
		r.Percentiles = w.latencies.at(percents...)
	}
	return r
}

// Files returns the files that became visible, in the order in which they were seen and, of
// one look, in that of their directories and names. The slice is the caller's.
func (w *Watcher) Files() []File { return append([]File{}, w.files...) }

// Latency is the p-th percentile, p from 0 to 100, or a negative duration if no record has a
// time.
func (r Result) Latency(p int) time.Duration {
	if len(r.Percentiles) == 0 {
		return -1
	}
	return millis(r.Percentiles[p])
}

// FilesPerHour is Files scaled to an hour, over the time that was watched.
func (r Result) FilesPerHour() float64 {
	if r.Watched <= 0 {
		return 0
	}
	return float64(r.Files) * float64(time.Hour.Milliseconds()) / float64(r.Watched)
}

// BytesPerFile is the mean size of a file, or 0 if there was none.
func (r Result) BytesPerFile() float64 {
	if r.Files == 0 {
		return 0
	}
	return float64(r.Bytes) / float64(r.Files)
}
