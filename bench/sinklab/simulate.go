package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"sinklab/bench"
	"sinklab/bench/config"
	"sinklab/fsmem"
	"sinklab/sinkcore"
	"sinklab/sinkcore/peers"
	"sinklab/sinkcore/plan"
	"sinklab/sinkcore/sim"
)

// simulateCommand is the subcommand simulate.
type simulateCommand struct {
	Sinks []string `arg:"" optional:"" name:"SINK" help:"Policies and sinks of other engines, a word or words in quotes each (default tuned oncheckpoint); see above."`
	scheduleFlags
	given
	Flights string `placeholder:"FILE" help:"Instead of --rate: the real stream of testdata/flights/flights.csv, at 60 times its speed."`
	By      string `default:"origin" enum:"origin,day" placeholder:"WHAT" help:"With --flights, what makes the bucket (${default}): origin or day."`
	Start   string `placeholder:"TIME" help:"What the clock shows at the start, as 2026-10-25 or 2026-10-25T20:00:00Z, for engines that look at the time of day (1970)."`
	Options string `placeholder:"ENGINE" help:"Print the options that an engine has, and play nothing."`
	Seed    uint64 `placeholder:"N" help:"Of the random delays that some engines have (0)."`
	Bench   bool   `help:"Print lines in Go's benchmark format, for benchstat."`
	JSON    bool   `name:"json" help:"Print one JSON object."`
}

// Help is the longer text of simulate --help.
func (simulateCommand) Help() string {
	return `Plays a workload in virtual time on each sink and says when a reader sees what, in how many
files. A SINK is

  default, tuned, oncheckpoint   the settings of the article
  policy=WORDS check=MS          a policy as in write --help, and its checks
  ENGINE OPTION=VALUE …          another engine, its options by their own names
  peers                          each engine once, as it comes; with --outage without services, which have none

The engines are ` + strings.Join(peers.Names(), ", ") + `; --options ENGINE lists what can be set.

Policies write files in memory, and each record is read again when it is visible: a run in
which one is lost or doubled is an error. Other engines are models, see go doc ./sinkcore/peers. A
record counts from when it was to arrive. What becomes visible after --duration is not counted.
Up to 50 million records are played, and for policies 5 GB of them, which is as long as memory lasts.

  sinklab simulate
  sinklab simulate default "policy=rolling rollover=59000 check=60000" --rate 100
  sinklab simulate "kafka-connect-s3 flush.size=5000" --arrivals "poisson rate=50"
  sinklab simulate peers --outage 10m-12m --json
  sinklab simulate tuned --flights testdata/flights/flights.csv
  sinklab simulate --bench > out/few.txt; go tool benchstat -col /sink out/few.txt

Exit status: 0, 1 if a record was lost or doubled or an engine's task fails, 2 for bad input.`
}

// simulated is what became of a sink.
type simulated struct {
	name                    string
	first, p50, p90, p99    time.Duration // negative if nothing became visible
	max                     time.Duration
	written, visible, files int64
	filesPerHour            float64
	bytesPerFile            float64
	open                    int
	lost                    int64
	failed                  string // why the engine stopped
	never                   string // why nothing is visible
}

// player is a sink that can be played.
type player struct {
	name  string
	files bool // it writes files in memory
	among bool // it is one of peers, and was not named itself
	play  func(sim.Workload) (simulated, error)
}

// bounded refuses what would need more memory than computers have. A record takes some 250 bytes
// of memory in a run, and where files are written all that is in them.
func bounded(w sim.Workload, players []player) error {
	const maxRecords, maxBytes, maxLanes = 50e6, 5e9, 100e3
	lanes := float64(max(w.Buckets, 1)) * float64(max(w.Subtasks, 1))
	if lanes > maxLanes {
		return fmt.Errorf("--buckets %d times --subtasks %d are %s, and %s is the most that are played: give fewer", max(w.Buckets, 1), max(w.Subtasks, 1), figure(lanes), figure(maxLanes))
	}
	long := float64(cmp.Or(w.Duration, time.Hour))
	between := 0.0 // two records, in the mean
	switch a := w.Arrivals.(type) {
	case sim.Constant:
		between = float64(cmp.Or(a.Interval, 100*time.Millisecond))
	case sim.Poisson:
		between = float64(cmp.Or(a.Interval, 100*time.Millisecond))
	case sim.Bursts:
		between = float64(cmp.Or(a.Every, time.Minute)) / float64(cmp.Or(a.Size, 600))
	default:
		return nil // a file, which is as long as it is
	}
	records := long / between
	most, why := maxRecords, ""
	for _, p := range players {
		size := float64(cmp.Or(w.RecordSize, 100))
		if p.files && size*most > maxBytes {
			most, why = maxBytes/size, fmt.Sprintf(" of %s, which are kept in memory", bytesOf(size))
		}
	}
	if records > most {
		shorter := time.Duration(most * between)
		for _, unit := range []time.Duration{time.Minute, time.Second, time.Millisecond} {
			if shorter >= unit {
				shorter = shorter.Truncate(unit)
				break
			}
		}
		return fmt.Errorf("%s records in %s%s, and %s is the most that are played: give --duration %s, or fewer records", figure(records), span(time.Duration(long)), why, figure(most), config.Short(shorter))
	}
	return nil
}

// Run plays all sinks.
func (c simulateCommand) Run(std streams) error {
	if c.Bench && c.JSON {
		return fmt.Errorf("--bench and --json: give one of them")
	}
	if c.Options != "" {
		return printOptions(std.out, c.Options)
	}
	if c.Start != "" && c.start().UnixMilli() <= 0 {
		return fmt.Errorf("--start %q: want a time after 1970, as 2026-10-25 or 2026-10-25T20:00:00Z", c.Start)
	}
	names := c.Sinks
	if len(names) == 0 {
		names = []string{"default", "tuned", "oncheckpoint"}
	}
	var players []player
	for _, name := range names {
		p, err := c.players(name)
		if err != nil {
			return err
		}
		players = append(players, p...)
	}
	w, err := c.workload()
	if err != nil {
		return err
	}
	if err := bounded(w, players); err != nil {
		return err
	}
	var results []simulated
	var leftOut []leftOut
	terminal, failed := isTerminal(std.err), false
	for i, p := range players {
		if terminal {
			fmt.Fprintf(std.err, clearLine+"%d of %d: %s", i+1, len(players), p.name)
		}
		r, err := p.play(w)
		if terminal {
			fmt.Fprint(std.err, clearLine)
		}
		switch {
		case p.among && errors.Is(err, peers.ErrNoOutages):
			leftOut = append(leftOut, leftOutOf(p.name, err))
			continue
		case errors.Is(err, peers.ErrTaskFails):
			r.failed, failed = err.Error(), true
		case errors.Is(err, sim.ErrNotExactlyOnce):
			fmt.Fprintf(std.err, "sinklab: %s: %v\n", p.name, err)
			return errFound
		case err != nil:
			return fmt.Errorf("%s: %w", p.name, err)
		}
		r.name = p.name
		results = append(results, r)
	}
	switch {
	case c.JSON:
		err = printJSON(std.out, simulatedJSON(results, leftOut))
	case c.Bench:
		err = printBenchmarks(std.out, results)
	default:
		err = printSimulated(std.out, results)
	}
	if !c.JSON {
		for _, l := range leftOut {
			fmt.Fprintf(std.err, "sinklab: %s is left out: %s\n", l.Sink, l.Reason)
		}
	}
	return errors.Join(err, foundIf(failed))
}

// leftOut is an engine that is not played with the others, and why.
type leftOut struct {
	Sink   string `json:"sink"`
	Reason string `json:"reason"`
}

// leftOutOf says why in the words of the error, as far as they are of the engine.
func leftOutOf(name string, err error) leftOut {
	return leftOut{name, strings.TrimPrefix(err.Error(), sinkcore.ErrConfig.Error()+": ")}
}

// workload is what arrives.
func (c simulateCommand) workload() (sim.Workload, error) {
	w := sim.Workload{
		RecordSize: int(c.RecordSize), Subtasks: c.Subtasks, Buckets: c.Buckets, Duration: time.Duration(c.Duration),
		CheckpointInterval: time.Duration(c.Checkpoint), FirstCheckpoint: time.Duration(c.FirstCheckpoint), CheckpointDuration: time.Duration(c.CheckpointDuration),
	}
	if err := c.validate(); err != nil {
		return w, err
	}
	for _, o := range c.Outage {
		w.Outages = append(w.Outages, sim.Outage(o))
	}
	if c.Flights == "" {
		var err error
		w.Arrivals, err = c.stream()
		return w, err
	}
	if c.Rate != 0 || c.given.Arrivals != "" {
		return w, fmt.Errorf("--flights and --rate or --arrivals say the same: give one of them")
	}
	file, err := os.Open(c.Flights)
	if err != nil {
		return w, err
	}
	defer file.Close()
	stream, err := bench.ReadFlights(file, c.By)
	if err != nil {
		return w, fmt.Errorf("%s: %w", c.Flights, err)
	}
	if len(stream.Records) == 0 {
		return w, fmt.Errorf("%s: there is no flight in it", c.Flights)
	}
	w.Arrivals, w.Duration = stream, cmp.Or(w.Duration, bench.FlightsDuration)
	return w, nil
}

// players reads a SINK.
func (c simulateCommand) players(text string) ([]player, error) {
	for _, s := range bench.ArticleSettings() {
		if s.Name == text {
			return []player{policyPlayer(text, s.Policy, s.Check)}, nil
		}
	}
	if text == "peers" {
		var all []player
		for _, p := range peers.All() {
			player := c.peerPlayer(p)
			player.among = true
			all = append(all, player)
		}
		return all, nil
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if key, _, isWord := strings.Cut(first, "="); isWord && peers.Nearest(key, append(policyKeys, "check")) != "" {
		return c.policyWords(text)
	}
	p, err := peers.Parse(text)
	if err == nil {
		return []player{c.peerPlayer(p)}, nil
	}
	known := append([]string{"default", "tuned", "oncheckpoint", "peers"}, peers.Names()...)
	if near := peers.Nearest(first, known); first != "" && near != first && near != "" {
		return nil, fmt.Errorf("%q: there is no sink %q; did you mean %s?", text, first, near)
	} else if near == "" {
		return nil, fmt.Errorf("%q: there is no sink %q: want one of %s, or policy=WORDS", text, first, strings.Join(known, ", "))
	}
	return nil, fmt.Errorf("%q: %w", text, err)
}

// policyWords reads a policy and its check interval.
func (c simulateCommand) policyWords(text string) ([]player, error) {
	words, check, err := cutCheck(text)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	check = cmp.Or(check, sinkcore.DefaultCheckInterval)
	policy, err := parsePolicy(words)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return []player{policyPlayer(strings.Join(strings.Fields(text), " "), policy, check)}, nil
}

// policyPlayer plays a policy on files in memory.
func policyPlayer(name string, policy sinkcore.RollingPolicy, check time.Duration) player {
	return player{name: name, files: true, play: func(w sim.Workload) (simulated, error) {
		w.Policy, w.CheckInterval = policy, check
		r, err := w.Run(fsmem.New(fsmem.Options{NoPlaces: true}), rand.NewChaCha8([32]byte{}), "out")
		never := ""
		if err == nil && r.Visible == 0 {
			never = whyNever(w)
		}
		return simulated{
			never: never,
			first: r.FirstVisible, p50: r.Latency(.5), p90: r.Latency(.9), p99: r.Latency(.99), max: r.Latency(1),
			written: r.Written, visible: r.Visible, files: r.Files, filesPerHour: r.FilesPerHour(), bytesPerFile: r.BytesPerFile(), open: r.MaxOpenParts,
		}, err
	}}
}

// peerPlayer plays the model of an engine.
func (c simulateCommand) peerPlayer(p peers.Peer) player {
	return player{name: p.String(), play: func(w sim.Workload) (simulated, error) {
		pw := peers.FromSim(w)
		pw.Seed, pw.Start = c.Seed, c.start().UnixMilli()
		o, err := p.Simulate(pw)
		if err != nil {
			return simulated{first: -1, p50: -1, p90: -1, p99: -1, max: -1}, err
		}
		never := ""
		if o.Visible == 0 {
			never = whyPeerNever(p.WorstLatency(pw), o, w.Duration)
		}
		return simulated{
			never: never,
			first: o.FirstVisible, p50: o.Latency(.5), p90: o.Latency(.9), p99: o.Latency(.99), max: o.Latency(1),
			written: o.Written, visible: o.Visible, files: o.Files, filesPerHour: o.FilesPerHour(), bytesPerFile: o.BytesPerFile(), open: o.MaxOpenFiles, lost: o.Lost,
		}, nil
	}}
}

// whyNever says why a policy shows nothing of a workload. Of a stream that has no shape only the
// bound is known.
func whyNever(w sim.Workload) string {
	s := plan.Settings{
		Policy: w.Policy, CheckInterval: w.CheckInterval, Arrivals: w.Arrivals, RecordSize: w.RecordSize, Buckets: w.Buckets, Subtasks: w.Subtasks,
		CheckpointInterval: w.CheckpointInterval, FirstCheckpoint: w.FirstCheckpoint, CheckpointDuration: w.CheckpointDuration, Duration: w.Duration,
	}
	for _, o := range w.Outages {
		s.Outages = append(s.Outages, plan.Outage(o))
	}
	if e, err := plan.Explain(s); err == nil && e.Latency < 0 && len(e.Moments) > 0 {
		return e.Moments[len(e.Moments)-1].Text
	}
	return "no file is closed, handed over by a checkpoint and published before the end"
}

// whyPeerNever says what the records of an engine that shows nothing wait for.
func whyPeerNever(b peers.Bound, o peers.Outcome, end time.Duration) string {
	if o.Written == 0 {
		return "no record arrives before the end"
	}
	reason := strings.TrimSuffix(b.Reason, ".")
	if b.Unbounded {
		return "there is no bound on how long a record waits: " + reason
	}
	return fmt.Sprintf("the end comes first, at %s; a record may wait %s: %s", span(cmp.Or(end, time.Hour)), span(b.Worst), reason)
}

// start is what the clock shows at the start; the zero value of the flag is 1970.
func (c simulateCommand) start() time.Time {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, c.Start); err == nil {
			return at
		}
	}
	return time.UnixMilli(0)
}

// printOptions lists the options of an engine.
func printOptions(out io.Writer, name string) error {
	for _, p := range peers.All() {
		if p.Name() != name {
			continue
		}
		rows := [][]string{{"option", "default", "meaning"}}
		for _, o := range p.Options() {
			rows = append(rows, []string{o.Name, cmp.Or(o.Default, "none"), o.Meaning})
		}
		_, err := io.WriteString(out, table(rows, 3))
		return err
	}
	if near := peers.Nearest(name, peers.Names()); near != "" {
		return fmt.Errorf("--options: there is no engine %q; did you mean %s?", name, near)
	}
	return fmt.Errorf("--options: there is no engine %q: want one of %s", name, strings.Join(peers.Names(), ", "))
}

// shortName is a name without its options, if they are long and it tells the sink from the
// others all the same.
func shortName(results []simulated, i int) string {
	const long = 48
	first, _, more := strings.Cut(results[i].name, " ")
	if len(results[i].name) <= long || !more {
		return results[i].name
	}
	for k, other := range results {
		if k != i && (other.name == first || strings.HasPrefix(other.name, first+" ")) {
			return results[i].name
		}
	}
	return first + " …"
}

func printSimulated(out io.Writer, results []simulated) error {
	rows := [][]string{{"", "first", "p50", "p99", "longest", "files/hour", "bytes/file", "open files", "not visible"}}
	var notes strings.Builder
	for i, r := range results {
		r.name = shortName(results, i)
		if r.failed != "" {
			rows = append(rows, []string{r.name, "fails"})
			fmt.Fprintf(&notes, "%s: %s\n", r.name, r.failed)
			continue
		}
		size := bytesOf(r.bytesPerFile)
		if r.files == 0 {
			size = "-"
		}
		rows = append(rows, []string{r.name, span(r.first), span(r.p50), span(r.p99), span(r.max), figure(r.filesPerHour), size, figure(float64(r.open)), figure(float64(r.written - r.visible))})
		if r.lost > 0 {
			fmt.Fprintf(&notes, "%s: %s records are lost for ever\n", r.name, figure(float64(r.lost)))
		}
		if r.never != "" {
			fmt.Fprintf(&notes, "%s\n", wrap(r.name+": nothing is visible: "+r.never, 98, "  "))
		}
	}
	text := table(rows, 1)
	if notes.Len() > 0 {
		text += "\n" + notes.String()
	}
	_, err := io.WriteString(out, text)
	return err
}

// benchmarkUnits say of each metric which is better; all are exact.
const benchmarkUnits = `Unit first-visible-ms better=lower assume=exact
Unit p50-visible-ms better=lower assume=exact
Unit p90-visible-ms better=lower assume=exact
Unit p99-visible-ms better=lower assume=exact
Unit max-visible-ms better=lower assume=exact
Unit files/hour better=lower assume=exact
Unit bytes/file better=higher assume=exact
Unit open-files better=lower assume=exact
`

// printBenchmarks prints a line for each sink. Spaces and slashes mean something in names.
func printBenchmarks(out io.Writer, results []simulated) error {
	var b strings.Builder
	b.WriteString(benchmarkUnits)
	for _, r := range results {
		if r.failed != "" {
			continue
		}
		fmt.Fprintf(&b, "BenchmarkSimulate/sink=%s 1", strings.NewReplacer(" ", ",", "/", "_").Replace(r.name))
		metric := func(value float64, unit string) {
			fmt.Fprintf(&b, " %s %s", strconv.FormatFloat(value, 'f', -1, 64), unit)
		}
		if r.files > 0 {
			for _, m := range []struct {
				d    time.Duration
				unit string
			}{{r.first, "first-visible-ms"}, {r.p50, "p50-visible-ms"}, {r.p90, "p90-visible-ms"}, {r.p99, "p99-visible-ms"}, {r.max, "max-visible-ms"}} {
				metric(float64(m.d.Milliseconds()), m.unit)
			}
		}
		metric(r.filesPerHour, "files/hour")
		if r.files > 0 {
			metric(r.bytesPerFile, "bytes/file")
		}
		metric(float64(r.open), "open-files")
		b.WriteByte('\n')
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func simulatedJSON(results []simulated, left []leftOut) any {
	type result struct {
		Sink         string  `json:"sink"`
		Failed       string  `json:"failed"`   // why the engine stopped; empty if it did not
		Never        string  `json:"never"`    // why nothing became visible; empty if something did
		FirstMS      int64   `json:"first_ms"` // -1 if nothing became visible, as all times
		P50MS        int64   `json:"p50_ms"`
		P90MS        int64   `json:"p90_ms"`
		P99MS        int64   `json:"p99_ms"`
		MaxMS        int64   `json:"max_ms"`
		FilesPerHour float64 `json:"files_per_hour"`
		BytesPerFile float64 `json:"bytes_per_file"`
		OpenFiles    int     `json:"open_files"`
		Written      int64   `json:"written"`
		Visible      int64   `json:"visible"`
		Lost         int64   `json:"lost"`
	}
	ms := func(d time.Duration) int64 {
		if d < 0 {
			return -1
		}
		return d.Milliseconds()
	}
	all := []result{}
	for _, r := range results {
		all = append(all, result{r.name, r.failed, r.never, ms(r.first), ms(r.p50), ms(r.p90), ms(r.p99), ms(r.max), r.filesPerHour, r.bytesPerFile, r.open, r.written, r.visible, r.lost})
	}
	return struct {
		Sinks   []result  `json:"sinks"`
		LeftOut []leftOut `json:"left_out"` // engines of "peers" that cannot be played with the outages
	}{all, append([]leftOut{}, left...)}
}
