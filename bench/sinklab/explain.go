package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sinklab/bench"
	"sinklab/bench/config"
	"sinklab/sinkcore"
	"sinklab/sinkcore/peers"
	"sinklab/sinkcore/plan"
)

// explainCommand is the subcommand explain.
type explainCommand struct {
	sinkFlags
	scheduleFlags
	given
	JSON bool `name:"json" help:"Print one JSON object."`
}

// sinkFlags say when files are closed.
type sinkFlags struct {
	Policy     string          `placeholder:"WORDS" help:"In place of the next three: default, oncheckpoint, as \"policy=deadline within=60000 checkpoint=2000\", or another SINK of simulate --help."`
	Rollover   config.Duration `least:"1ms or longer" placeholder:"TIME" help:"A file is closed at this age (1m)."`
	Inactivity config.Duration `least:"1ms or longer" placeholder:"TIME" help:"A file is closed when nothing came for so long (1m)."`
	Size       config.Size     `least:"1B or more" placeholder:"SIZE" help:"A file is closed when it is larger (128MB)."`
	Check      config.Duration `least:"1ms or longer" placeholder:"TIME" help:"From one look at age and inactivity to the next (1m)."`
}

// policy is the rolling policy, and how often it is asked; 0 means by default.
func (f sinkFlags) policy() (sinkcore.RollingPolicy, time.Duration, error) {
	check := time.Duration(f.Check)
	if f.Policy == "" {
		return sinkcore.Default{Size: int64(f.Size), Rollover: time.Duration(f.Rollover), Inactivity: time.Duration(f.Inactivity)}, check, nil
	}
	if f.Rollover != 0 || f.Inactivity != 0 || f.Size != 0 {
		return nil, 0, fmt.Errorf("--policy and --rollover, --inactivity or --size say the same: give one of them; --policy \"policy=rolling rollover=59000\" has both")
	}
	return policyAndCheck(f.Policy, check)
}

// policyAndCheck reads the flag --policy beside --check, which is 0 if it was not given. So is
// the interval if neither says one.
func policyAndCheck(text string, check time.Duration) (sinkcore.RollingPolicy, time.Duration, error) {
	p, own, err := namedPolicy(text)
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("--policy: %w", err)
	case own > 0 && check > 0:
		return nil, 0, fmt.Errorf("--policy %q and --check say the same: give one of them", text)
	}
	return p, max(own, check), nil
}

// namedPolicy reads what simulate calls a SINK, as far as it has a policy that can be explained:
// settings of the article, words of a policy with check=, and engines that have one. The check
// interval is 0 if the text has none.
func namedPolicy(text string) (sinkcore.RollingPolicy, time.Duration, error) {
	for _, s := range bench.ArticleSettings() {
		if s.Name == text && !slices.Contains(policyNames, text) {
			return s.Policy, s.Check, nil
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if !slices.Contains(peers.Names(), first) {
		words, check, err := cutCheck(text)
		if err != nil {
			return nil, 0, err
		}
		p, err := parsePolicy(words)
		return p, check, err
	}
	peer, err := peers.Parse(text)
	if err != nil {
		return nil, 0, err
	}
	if rolling, ok := peer.(peers.Rolling); ok {
		if p, check, ok := rolling.Policy(); ok {
			if _, err := plan.LimitsOf(p); err == nil {
				return p, check, nil
			}
		}
	}
	return nil, 0, fmt.Errorf("%s closes files by rules of its own, which cannot be explained here: sinklab simulate %q plays it", first, text)
}

// cutCheck cuts check=MS from the words of a policy; 0 if it is not among them.
func cutCheck(text string) (words string, check time.Duration, err error) {
	var left []string
	for _, word := range strings.Fields(text) {
		value, ok := strings.CutPrefix(word, "check=")
		if !ok {
			left = append(left, word)
			continue
		}
		ms, err := strconv.ParseInt(value, 10, 64)
		if err != nil || ms <= 0 || ms > math.MaxInt64/int64(time.Millisecond) {
			if d, bad := config.ParseDuration(value); bad == nil && d > 0 {
				return "", 0, fmt.Errorf("here times are in milliseconds: check=%d", d.Milliseconds())
			}
			return "", 0, fmt.Errorf("check=%s: want milliseconds, greater than 0", value)
		}
		check = time.Duration(ms) * time.Millisecond
	}
	return strings.Join(left, " "), check, nil
}

// policyKeys are the words of policies, and policyNames their kinds.
var (
	policyKeys  = []string{"policy", "size", "rollover", "inactivity", "within", "checkpoint", "duration", "target"}
	policyNames = []string{"default", "rolling", "oncheckpoint", "deadline"}
)

// parsePolicy reads the words of a policy; policy= may be left out before its name. The error
// suggests what was meant.
func parsePolicy(text string) (sinkcore.RollingPolicy, error) {
	words := strings.Fields(text)
	if len(words) > 0 && !strings.Contains(words[0], "=") {
		words[0] = "policy=" + words[0]
	}
	p, err := sinkcore.ParsePolicy(strings.Join(words, " "))
	if err == nil {
		return p, nil
	}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		if near := peers.Nearest(key, policyKeys); near != key && near != "" {
			return nil, fmt.Errorf("%w; did you mean %s=?", err, near)
		}
		if key == "policy" {
			for _, name := range strings.Split(value, "+") {
				if near := peers.Nearest(name, policyNames); near != name && near != "" {
					return nil, fmt.Errorf("%w; did you mean %s?", err, near)
				}
			}
			continue
		}
		if d, bad := config.ParseDuration(value); bad == nil && strings.Trim(value, "0123456789") != "" && key != "size" && key != "target" {
			return nil, fmt.Errorf("%w; here times are in milliseconds: %s=%d", err, key, d.Milliseconds())
		}
	}
	return nil, err
}

// scheduleFlags say when checkpoints start, and for how long to look.
type scheduleFlags struct {
	Checkpoint      config.Duration `default:"2s" placeholder:"TIME" help:"From the start of a checkpoint to that of the next (${default})."`
	FirstCheckpoint config.Duration `default:"150ms" least:"1ms or longer" placeholder:"TIME" help:"When the first one starts (${default})."`
	Duration        config.Duration `least:"1ms or longer" placeholder:"TIME" help:"How long to look (1h)."`
	Outage          []outage        `placeholder:"FROM-TO" help:"A time in which no process runs, as 10m-12m; may be given several times."`
}

// validate refuses what would stand for a default.
func (f scheduleFlags) validate() error {
	if f.Checkpoint <= 0 {
		return fmt.Errorf("--checkpoint %v: must be longer than 0; without checkpoints nothing is ever visible", f.Checkpoint)
	}
	return nil
}

// outage is a time without a process, as 10m-12m.
type outage plan.Outage

// UnmarshalText reads FROM-TO.
func (o *outage) UnmarshalText(text []byte) error {
	from, to, ok := strings.Cut(string(text), "-")
	if !ok {
		return fmt.Errorf("%q: want FROM-TO, as 10m-12m", text)
	}
	var err error
	if o.From, err = config.ParseDuration(from); err == nil {
		o.To, err = config.ParseDuration(to)
	}
	if err == nil && o.To < o.From {
		err = fmt.Errorf("%q ends before it begins", text)
	}
	return err
}

// Help is the longer text of explain --help.
func (explainCommand) Help() string {
	return `Tells the life of the record that waits longest until a reader can see it: when it is
written, each check at which its file stays open and what is missing, what closes the file,
and the checkpoint that shows it. Records that come in bursts or at random are gone through one
by one, up to two million of them; of constant ones any time is told at once.

Without flags it is the experiment of the article on Flink's file sink: its default policy, ten
records a second from 50 ms on, a checkpoint at 150 ms and every 2 s after that. How long the
record waits hangs on when the first checkpoint starts (--first-checkpoint), which nobody sets in
a job; so the bound that holds whenever that is, and whenever records come, is told too. For
bursts that is the bound for such bursts, whenever they come.

  sinklab explain
  sinklab explain --rollover 59s
  sinklab explain --policy "policy=deadline within=60000 checkpoint=2000"
  sinklab explain --rollover 15m --inactivity 5m --arrivals "bursts size=600 every=3600000 interval=1"
  sinklab explain --checkpoint 10s --checkpoint-duration 3s --outage 10m-12m

Exit status: 0, 2 for bad input.`
}

// settings are the settings of package plan.
func (c explainCommand) settings() (plan.Settings, error) {
	s, err := c.given.settings()
	if err = errors.Join(err, c.validate()); err != nil {
		return s, err
	}
	if s.Policy, s.CheckInterval, err = c.policy(); err != nil {
		return s, err
	}
	s.CheckpointInterval, s.FirstCheckpoint, s.Duration = time.Duration(c.Checkpoint), time.Duration(c.FirstCheckpoint), time.Duration(c.Duration)
	s.FirstCheckpoint = cmp.Or(s.FirstCheckpoint, s.CheckpointInterval)
	for _, o := range c.Outage {
		s.Outages = append(s.Outages, plan.Outage(o))
	}
	return s, nil
}

// Run explains.
func (c explainCommand) Run(std streams) error {
	s, err := c.settings()
	if err != nil {
		return err
	}
	e, err := plan.Explain(s)
	if err != nil {
		return err
	}
	found, err := plan.Lint(s)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(std.out, explanationJSON(s, e, found))
	}
	_, err = io.WriteString(std.out, explanationText(s, e, found))
	return err
}

// shares are what a latency consists of.
func shares(e plan.Explanation) (list []share) {
	for _, x := range []share{
		{"until the outage is over", e.Outage}, {"until the file may be closed", e.Due}, {"until a check sees that", e.Check},
		{"until a checkpoint starts", e.Checkpoint}, {"until it is complete", e.Completion},
	} {
		if x.time > 0 {
			list = append(list, x)
		}
	}
	return list
}

// share is one part of a latency.
type share struct {
	what string
	time time.Duration
}

// explanationText is the time line. The findings that would shorten the wait are named with
// what to set.
func explanationText(s plan.Settings, e plan.Explanation, found []plan.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s; %s, the first at %s\n\n", spellPolicy(s), describe(s), checkpoints(s), span(s.FirstCheckpoint))
	if e.Latency < 0 {
		b.WriteString("Nothing becomes visible.\n")
	} else {
		which := "The record that waits longest"
		looked := e.Looked > 0 && e.Looked < cmp.Or(s.Duration, time.Hour)
		seed := ""
		if a, chance := s.Arrivals.(plan.Poisson); chance {
			seed = fmt.Sprintf("seed=%d", a.Seed)
		}
		switch {
		case e.Sampled:
			which = "The records are too many to go through one by one; of a steady stream of as many a second, a record that arrives at the worst instant"
		case looked && seed != "":
			which = "In the first " + clock(e.Looked) + " of " + seed + " the record that waits longest"
		case looked:
			which = "In the first " + clock(e.Looked) + " the record that waits longest"
		case seed != "":
			which = "With " + seed + " the record that waits longest"
		}
		fmt.Fprintf(&b, "%s\n", wrap(which+" waits "+clock(e.Latency)+":", 98, "  "))
	}
	for _, m := range e.Moments {
		fmt.Fprintf(&b, "%11s  %s\n", clock(m.At), wrap(m.Text, 85, strings.Repeat(" ", 13)))
	}
	if list := shares(e); e.Latency >= 0 && len(list) > 0 {
		var parts []string
		for _, x := range list {
			parts = append(parts, clock(x.time)+" "+x.what)
		}
		fmt.Fprintf(&b, "%s\n", wrap(clock(e.Latency)+" = "+strings.Join(parts, " + "), 98, "  "))
	}
	bound, bounded := atAnyPhase(s)
	if bounded && e.Latency >= 0 {
		text := "up to " + clock(bound.Worst)
		if bound.SteadyWorst < bound.Worst {
			text += ", and up to " + clock(bound.SteadyWorst) + " if the stream is steady"
		}
		if bound.Unbounded {
			text = "without any bound"
		}
		if len(s.Outages) > 0 {
			text += ", the outages left out"
		}
		records := "records"
		if _, bursts := s.Arrivals.(plan.Bursts); bursts {
			records = "these bursts"
		}
		fmt.Fprintf(&b, "%s\n", wrap("That is with the first checkpoint at "+span(s.FirstCheckpoint)+" and for these arrivals; whenever checkpoints start and "+records+" come, one may wait "+text+".", 98, "  "))
	}
	for _, f := range helpful(s, found) {
		if f.Rule == plan.Resonance || f.Rule == plan.RolloverBelowCheck || f.Rule == plan.CheckpointAboveRollover || f.Rule == plan.IdleUnbounded {
			b.WriteString(wrap("Better: "+f.Change+betterText(f, bound, bounded), 98, "  ") + "\n")
		}
	}
	return b.String()
}

// helpful are the findings that are of use for the arrivals: where records come in bursts, what
// does not show those sooner is none, however good it is for other streams, nor is what makes several
// files of a burst that was one.
func helpful(s plan.Settings, found []plan.Finding) (list []plan.Finding) {
	_, bursts := s.Arrivals.(plan.Bursts)
	bound, bounded := atAnyPhase(s)
	for _, f := range found {
		better, ok := atAnyPhase(f.Better)
		if bursts && bounded && ok && !better.Unbounded && !bound.Unbounded && (better.Worst >= bound.Worst || better.FilesPerHour > bound.FilesPerHour) {
			continue
		}
		list = append(list, f)
	}
	return list
}

// atAnyPhase is what settings keep whenever checkpoints start beside checks: the bound grows
// with how late before a check that is. False if the policy gives no bound.
func atAnyPhase(s plan.Settings) (plan.Guarantee, bool) {
	s.FirstCheckpoint = max(s.CheckpointInterval, s.CheckpointDuration) - time.Millisecond
	g, err := plan.Guarantees(s)
	return g, err == nil
}

// betterText says what the change of a finding is worth: with these arrivals and this first
// checkpoint, if that is known, and whatever they are.
func betterText(f plan.Finding, bound plan.Guarantee, bounded bool) string {
	var parts []string
	for _, c := range f.Costs {
		if strings.HasPrefix(c.Name, "worst latency with these arrivals") {
			c.Name = "worst latency with these arrivals and this first checkpoint, s"
			parts = append(parts, costText(c))
		}
	}
	if better, ok := atAnyPhase(f.Better); ok && bounded && !better.Unbounded {
		stream := "any steady stream"
		if _, bursts := f.Better.Arrivals.(plan.Bursts); bursts {
			stream = "such bursts"
		}
		parts = append(parts, costText(plan.Cost{Name: "worst latency of " + stream + ", whenever checkpoints start, s", Now: bound.SteadyWorst.Seconds(), Later: better.SteadyWorst.Seconds(), Unbounded: bound.Unbounded}))
	}
	if len(parts) == 0 && len(f.Costs) > 0 {
		parts = append(parts, costText(f.Costs[0]))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// clock is an instant or a time as the moments spell them: in seconds up to two hours.
func clock(d time.Duration) string {
	if d >= time.Second && d < 2*time.Hour {
		return decimals(d.Seconds()) + " s"
	}
	return span(d)
}

// costText is a cost in words. Those in seconds are spelt as times.
func costText(c plan.Cost) string {
	name, seconds := strings.CutSuffix(c.Name, ", s")
	value := func(x float64) string {
		if seconds {
			return span(time.Duration(x*1000+0.5) * time.Millisecond)
		}
		return figure(x)
	}
	now := value(c.Now)
	if c.Unbounded {
		now = "no bound"
	}
	return name + ": " + now + " now, " + value(c.Later) + " then"
}

// costJSON is a cost.
type costJSON struct {
	Name      string  `json:"name"`
	Now       float64 `json:"now"`
	Later     float64 `json:"later"`
	Unbounded bool    `json:"unbounded"` // there is no bound now
}

func costsJSON(costs []plan.Cost) []costJSON {
	list := []costJSON{}
	for _, c := range costs {
		list = append(list, costJSON(c))
	}
	return list
}

func explanationJSON(s plan.Settings, e plan.Explanation, found []plan.Finding) any {
	type moment struct {
		AtMS int64     `json:"at_ms"`
		Kind plan.Kind `json:"kind"`
		Text string    `json:"text"`
	}
	type part struct {
		What string `json:"what"`
		MS   int64  `json:"ms"`
	}
	type advice struct {
		Rule   plan.Rule  `json:"rule"`
		What   string     `json:"what"`
		Change string     `json:"change"`
		Costs  []costJSON `json:"costs"`
	}
	result := struct {
		Policy    string   `json:"policy"`
		Sampled   bool     `json:"sampled"`   // the records are too many; the record is of a steady stream, and arrives at the worst instant
		LookedMS  int64    `json:"looked_ms"` // less than the duration if there are very many records
		Reason    string   `json:"reason"`    // why the file was closed; empty if nothing becomes visible
		Record    int64    `json:"record"`
		LatencyMS int64    `json:"latency_ms"` // -1 if nothing becomes visible
		FirstMS   int64    `json:"first_checkpoint_ms"`
		BoundMS   int64    `json:"bound_ms"` // whenever records and checkpoints come; -1 if there is none
		Parts     []part   `json:"parts"`
		Moments   []moment `json:"moments"`
		Findings  []advice `json:"findings"`
	}{Policy: e.Policy, Sampled: e.Sampled, LookedMS: e.Looked.Milliseconds(), Record: e.Record, LatencyMS: -1, FirstMS: s.FirstCheckpoint.Milliseconds(), BoundMS: -1, Parts: []part{}, Moments: []moment{}, Findings: []advice{}}
	if e.Latency >= 0 {
		result.LatencyMS, result.Reason = e.Latency.Milliseconds(), e.Reason.String()
	}
	if g, ok := atAnyPhase(s); ok && !g.Unbounded {
		result.BoundMS = g.Worst.Milliseconds()
	}
	for _, x := range shares(e) {
		result.Parts = append(result.Parts, part{x.what, x.time.Milliseconds()})
	}
	for _, m := range e.Moments {
		result.Moments = append(result.Moments, moment{m.At.Milliseconds(), m.Kind, m.Text})
	}
	for _, f := range helpful(s, found) {
		result.Findings = append(result.Findings, advice{f.Rule, f.What, f.Change, costsJSON(f.Costs)})
	}
	return result
}
