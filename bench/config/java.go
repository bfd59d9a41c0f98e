package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sinklab/sinkcore"
	"sinklab/sinkcore/peers"
)

// readJava finds the sinks that a Java source builds. It is no compiler: it follows the calls
// of builders, also over variables, and reads numbers, their arithmetic, constants of the same
// text, Duration, TimeUnit and MemorySize. A value that comes from elsewhere is unread.
func readJava(text string) (File, error) {
	tokens, err := javaTokens(text)
	if err != nil {
		return File{}, err
	}
	j := javaSource{tokens: tokens}
	j.scopes()
	var f File
	for i := range tokens {
		if !tokens[i].is("FileSink") && !tokens[i].is("StreamingFileSink") {
			continue
		}
		calls := j.chain(i + 1)
		if len(calls) == 0 || calls[0].name != "forRowFormat" && calls[0].name != "forBulkFormat" {
			continue
		}
		to := j.assignedTo(i)
		more, problem := j.further(calls, to)
		s := j.sink(j.nameAt(to), tokens[i].line, append(calls, more...))
		if problem != "" {
			s.unread(tokens[i].line, calls[0].name, problem)
			s.Peer, s.Policy, s.Check = nil, nil, 0
		}
		f.Sinks = append(f.Sinks, s)
	}
	if len(f.Sinks) == 0 {
		// A policy alone, as one asks about it.
		for i := range tokens {
			if calls := j.chain(i + 1); tokens[i].is("DefaultRollingPolicy") && len(calls) > 0 {
				to := j.assignedTo(i)
				s := Sink{Name: j.nameAt(to), Line: tokens[i].line}
				var options []Option
				more, problem := j.further(calls, to)
				if problem != "" {
					s.unread(tokens[i].line, calls[0].name, problem)
				}
				j.limits(&s, &options, append(calls, more...))
				s.finish("flink-filesink", options)
				f.Sinks = append(f.Sinks, s)
			}
		}
	}
	if len(f.Sinks) == 0 {
		return f, &ReadError{1, "there is no sink in it: want FileSink.forRowFormat(…), FileSink.forBulkFormat(…) or DefaultRollingPolicy.builder()"}
	}
	f.Checkpoint, f.CheckpointLine = checkpointInterval.read(j, &f.Unread)
	f.MinPause, f.MinPauseLine = minPause.read(j, &f.Unread)
	if f.Checkpoint == 0 && len(f.Unread) == 0 {
		j.withoutCheckpoints(&f)
	}
	return f, nil
}

// javaToken is a word, a number, a string or a sign of a Java source.
type javaToken struct {
	text   string
	quoted bool // a string; text is what is in it
	line   int
	at     int // its position among all
}

func (t javaToken) is(text string) bool { return !t.quoted && t.text == text }

func (t javaToken) word() bool { return !t.quoted && isLetter(t.text[0]) }

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= 0x80
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// javaTokens cuts a source into tokens; comments are left out.
func javaTokens(text string) ([]javaToken, error) {
	var tokens []javaToken
	line := 1
	for i := 0; i < len(text); {
		c := text[i]
		end := i + 1
		switch {
		case c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == '\f':
		case strings.HasPrefix(text[i:], "//"):
			end = until(text, i, "\n")
		case strings.HasPrefix(text[i:], "/*"):
			end = min(until(text, i+2, "*/")+2, len(text))
		case strings.HasPrefix(text[i:], `"""`):
			end = until(text, i+3, `"""`)
			tokens = append(tokens, javaToken{text: text[i+3 : end], quoted: true, line: line})
			end = min(end+3, len(text))
		case c == '"' || c == '\'':
			for end < len(text) && text[end] != c && text[end] != '\n' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(text) || text[end] == '\n' {
				return nil, &ReadError{line, "a quotation mark is not closed"}
			}
			tokens = append(tokens, javaToken{text: text[i+1 : end], quoted: true, line: line})
			end++
		case isLetter(c):
			for end < len(text) && (isLetter(text[end]) || isDigit(text[end])) {
				end++
			}
			tokens = append(tokens, javaToken{text: text[i:end], line: line})
		case isDigit(c):
			for end < len(text) && (isLetter(text[end]) || isDigit(text[end])) {
				end++
			}
			tokens = append(tokens, javaToken{text: text[i:end], line: line})
		default:
			tokens = append(tokens, javaToken{text: text[i:end], line: line})
		}
		line += strings.Count(text[i:end], "\n")
		i = end
	}
	for i := range tokens {
		tokens[i].at = i
	}
	return tokens, nil
}

// until is where a text ends or what is looked for begins.
func until(text string, from int, what string) int {
	if at := strings.Index(text[min(from, len(text)):], what); at >= 0 {
		return from + at
	}
	return len(text)
}

// javaSource is a source that was cut.
type javaSource struct {
	tokens []javaToken
	javaScopes
}

// call is a call of a method with its arguments.
type javaCall struct {
	name string
	args [][]javaToken
	line int
}

func (j javaSource) at(i int) javaToken {
	if i >= 0 && i < len(j.tokens) {
		return j.tokens[i]
	}
	return javaToken{text: ";", line: 0}
}

// chain reads the calls that follow one another from a position on: .a(…).<T>b(…). Names
// without arguments between them are passed over.
func (j javaSource) chain(i int) (calls []javaCall) {
	for j.at(i).is(".") {
		i++
		if j.at(i).is("<") {
			i = j.closing(i) + 1
		}
		if !j.at(i).word() {
			return calls
		}
		name := j.at(i)
		i++
		if j.at(i).is("[") { // type arguments in Scala
			i = j.closing(i) + 1
		}
		if !j.at(i).is("(") {
			continue
		}
		end := j.closing(i)
		calls = append(calls, javaCall{name.text, split(j.tokens[i+1 : min(end, len(j.tokens))]), name.line})
		i = end + 1
	}
	return calls
}

// closing is the position of what closes the bracket at a position.
func (j javaSource) closing(i int) int {
	pairs := map[string]string{"(": ")", "<": ">", "[": "]", "{": "}"}
	opens, closes := j.at(i).text, pairs[j.at(i).text]
	for depth := 0; i < len(j.tokens); i++ {
		if j.at(i).is(opens) {
			depth++
		} else if j.at(i).is(closes) {
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(j.tokens)
}

// split cuts arguments at their commas.
func split(tokens []javaToken) (args [][]javaToken) {
	depth, from := 0, 0
	for i, t := range tokens {
		switch {
		case t.is("(") || t.is("{") || t.is("["):
			depth++
		case t.is(")") || t.is("}") || t.is("]"):
			depth--
		case t.is(",") && depth == 0:
			args = append(args, tokens[from:i])
			from = i + 1
		}
	}
	if from < len(tokens) {
		args = append(args, tokens[from:])
	}
	return args
}

// assignedTo is the position of the variable that an expression is given to; -1 if to none.
func (j javaSource) assignedTo(i int) int {
	for j.at(i-1).is(".") && j.at(i-2).word() {
		i -= 2 // the name of its package
	}
	if j.at(i-1).is("=") && j.at(i-2).word() {
		if j.at(i-3).is(":") && j.at(i-4).word() {
			return i - 4 // val sink: FileSink = …
		}
		return i - 2
	}
	if j.at(i - 1).is("=") { // val sink: FileSink[String] = …
		for k := i - 2; k > i-12 && k > 0 && j.at(k).line == j.at(i-1).line; k-- {
			if (j.at(k).is("val") || j.at(k).is("var")) && j.at(k+1).word() {
				return k + 1
			}
		}
	}
	return -1
}

// nameAt is the name at a position; empty for -1.
func (j javaSource) nameAt(i int) string {
	if i < 0 {
		return ""
	}
	return j.at(i).text
}

// further are the calls of a builder that is a variable, beside those where it is made. There
// are none if what is made there is already built. The problem is empty if it is clear which
// builder the variable is.
func (j javaSource) further(calls []javaCall, variable int) (more []javaCall, problem string) {
	if variable < 0 || calls[len(calls)-1].name == "build" {
		return nil, ""
	}
	if len(j.assignments(variable)) > 1 {
		return nil, "the builder " + j.nameAt(variable) + " is set more than once, so that it is not clear which one is meant; give each a name of its own"
	}
	return j.callsOn(variable), ""
}

// callsOn are the calls of methods of the variable at a position.
func (j javaSource) callsOn(variable int) (calls []javaCall) {
	name, v := j.nameAt(variable), j.variable(variable)
	for i := range j.tokens {
		if j.tokens[i].is(name) && j.at(i+1).is(".") && j.variable(i) == v {
			calls = append(calls, j.chain(i+1)...)
		}
	}
	return calls
}

// sink makes a sink of the calls of its builder.
func (j javaSource) sink(name string, line int, calls []javaCall) Sink {
	s := Sink{Name: name, Line: line}
	bulk := calls[0].name == "forBulkFormat"
	var options []Option
	var deadline *sinkcore.Deadline
	for _, c := range calls {
		switch c.name {
		case "withBucketCheckInterval":
			j.number(&s, &options, c)
		case "withRollingPolicy":
			var arg []javaToken
			if len(c.args) > 0 {
				arg = c.args[0]
			}
			kind, calls, args := j.policy(arg, 0)
			switch {
			case kind == "OnCheckpointRollingPolicy":
				bulk = true
			case kind == "DefaultRollingPolicy" && bulk:
				s.Refusals = append(s.Refusals, Refusal{Line: c.line, Option: c.name, Problem: "a bulk format takes a CheckpointRollingPolicy only, such as OnCheckpointRollingPolicy.build()", Source: "Flink FileSink.BulkFormatBuilder"})
			case kind == "DefaultRollingPolicy":
				j.limits(&s, &options, calls)
			case kind == "DeadlineRollingPolicy":
				deadline = j.deadline(&s, c, args)
			default:
				s.unread(c.line, c.name, "the policy is not in the text, or is none that is known: DefaultRollingPolicy, OnCheckpointRollingPolicy, DeadlineRollingPolicy")
			}
		case "withBucketAssigner":
			if pattern, ok := j.datePattern(c); ok {
				s.Options = append(s.Options, Option{c.name, pattern, c.line})
			}
		case "disableCompact":
			s.Options = slices.DeleteFunc(s.Options, func(o Option) bool { return o.Name == "enableCompact" })
			options = slices.DeleteFunc(options, func(o Option) bool { return o.Name == "enableCompactionOnCheckpoint" || o.Name == "setSizeThreshold" })
		case "enableCompact":
			s.Options = append(s.Options, Option{Name: c.name, Line: c.line})
			for _, inner := range j.strategy(c) {
				if inner.name == "enableCompactionOnCheckpoint" || inner.name == "setSizeThreshold" {
					j.number(&s, &options, inner)
				}
			}
		}
	}
	switch {
	case deadline != nil && len(s.Unread) == 0 && len(s.Refusals) == 0:
		s.Options = append(s.Options, options...)
		s.Policy, s.Check = *deadline, sinkcore.DefaultCheckInterval
		if err := deadline.Validate(); err != nil {
			s.Refusals = append(s.Refusals, Refusal{Line: s.lineOf("withRollingPolicy"), Option: "withRollingPolicy", Problem: err.Error(), Source: "DeadlineRollingPolicy"})
		}
	case bulk:
		var compaction []Option
		for _, o := range options {
			if o.Name == "enableCompactionOnCheckpoint" || o.Name == "setSizeThreshold" {
				compaction = append(compaction, o)
			}
		}
		s.finish("flink-filesink-bulk", compaction)
	default:
		s.finish("flink-filesink", options)
	}
	return s
}

// strategy are the calls that make the first argument of a call, which may be a variable.
func (j javaSource) strategy(c javaCall) []javaCall {
	if len(c.args) == 0 || len(c.args[0]) == 0 {
		return nil
	}
	from := c.args[0][0].at
	if value, ok := j.value(from); ok && len(c.args[0]) == 1 && len(value) > 0 {
		from = value[0].at
	}
	return j.chain(from + 1)
}

// datePattern is the pattern that a DateTimeBucketAssigner is made with; false if it is another
// assigner, or if the pattern is not in the call.
func (j javaSource) datePattern(c javaCall) (string, bool) {
	if len(c.args) != 1 {
		return "", false
	}
	assigner := slices.IndexFunc(c.args[0], func(t javaToken) bool { return t.is("DateTimeBucketAssigner") })
	if assigner < 0 {
		return "", false
	}
	for i, t := range c.args[0][assigner:] {
		if t.quoted && c.args[0][assigner+i-1].is("(") {
			return t.text, true
		}
	}
	return "", false
}

// finish makes the peer, unless a value is unread.
func (s *Sink) finish(peer string, options []Option) {
	s.Options = append(s.Options, options...)
	if len(s.Unread) == 0 {
		s.asPeer(peer, options)
	}
}

func (s *Sink) unread(line int, option, problem string) {
	s.Unread = append(s.Unread, Refusal{Line: line, Option: option, Problem: problem})
}

// policy finds which policy an expression is, with the calls of its builder or the arguments
// of its constructor.
func (j javaSource) policy(tokens []javaToken, depth int) (kind string, calls []javaCall, args [][]javaToken) {
	for i, t := range tokens {
		if t.is("?") && i > 0 && !tokens[i-1].is("<") && !tokens[i-1].is(",") {
			return "", nil, nil // one of two
		}
	}
	for i, t := range tokens {
		if !t.is("DefaultRollingPolicy") && !t.is("OnCheckpointRollingPolicy") && !t.is("DeadlineRollingPolicy") {
			continue
		}
		rest := javaSource{tokens: tokens[i+1:]}
		if t.text == "DeadlineRollingPolicy" {
			open := slices.IndexFunc(rest.tokens, func(t javaToken) bool { return t.is("(") })
			if open < 0 {
				return "", nil, nil
			}
			return t.text, nil, split(rest.tokens[open+1 : rest.closing(open)])
		}
		return t.text, rest.chain(0), nil
	}
	if len(tokens) == 0 || !tokens[0].word() || depth > 8 {
		return "", nil, nil
	}
	variable := tokens[0].at
	for j.at(variable+1).is(".") && j.at(variable+2).word() && !j.at(variable+3).is("(") {
		variable += 2
	}
	value, ok := j.value(variable)
	if !ok {
		return "", nil, nil
	}
	kind, calls, args = j.policy(value, depth+1)
	return kind, append(calls, j.callsOn(variable)...), args
}

// policyMethods are those of the builder of DefaultRollingPolicy.
var policyMethods = []string{"withMaxPartSize", "withRolloverInterval", "withInactivityInterval", "builder", "create", "build"}

// limits reads the calls of the builder of DefaultRollingPolicy.
func (j javaSource) limits(s *Sink, options *[]Option, calls []javaCall) {
	for _, c := range calls {
		switch {
		case slices.Contains(policyMethods[:3], c.name):
			j.number(s, options, c)
		case !slices.Contains(policyMethods, c.name) && strings.HasPrefix(c.name, "with"):
			s.Refusals = append(s.Refusals, Refusal{Line: c.line, Option: c.name, Problem: "DefaultRollingPolicy has no such method; did you mean " + peers.Nearest(c.name, policyMethods[:3]) + "?", Source: "Flink DefaultRollingPolicy.PolicyBuilder"})
		}
	}
}

// number reads the argument of a call that takes milliseconds or bytes.
func (j javaSource) number(s *Sink, options *[]Option, c javaCall) {
	if len(c.args) != 1 {
		return
	}
	n, ok := j.eval(c.args[0])
	switch {
	case !ok:
		s.unread(c.line, c.name, fmt.Sprintf("the value %s is not in the text; write it there, as Duration.ofSeconds(59), MemorySize.ofMebiBytes(128) or a number", spellTokens(c.args[0])))
		return
	case n <= 0:
		s.Refusals = append(s.Refusals, Refusal{Line: c.line, Option: c.name, Value: strconv.FormatInt(n, 10), Problem: "must be greater than 0", Source: "Flink DefaultRollingPolicy.PolicyBuilder, FileSink"})
		return
	}
	if c.name != "withMaxPartSize" && c.name != "setSizeThreshold" {
		n = min(n, math.MaxInt64/int64(time.Millisecond)) // as good as never
	}
	*options = append(*options, Option{c.name, strconv.FormatInt(n, 10), c.line})
}

// deadline reads the arguments of DeadlineRollingPolicy.
func (j javaSource) deadline(s *Sink, c javaCall, args [][]javaToken) *sinkcore.Deadline {
	var n [4]int64
	for i := range min(len(args), len(n)) {
		var ok bool
		if n[i], ok = j.eval(args[i]); !ok {
			s.unread(c.line, c.name, fmt.Sprintf("the value %s is not in the text; write it there, as Duration.ofSeconds(59)", spellTokens(args[i])))
			return nil
		}
	}
	if len(args) < len(n) {
		s.Refusals = append(s.Refusals, Refusal{Line: c.line, Option: c.name, Problem: "want new DeadlineRollingPolicy<>(within, checkpoint, duration, target)"})
		return nil
	}
	ms := func(n int64) time.Duration {
		return time.Duration(min(n, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
	}
	return &sinkcore.Deadline{Within: ms(n[0]), Checkpoint: ms(n[1]), Duration: ms(n[2]), Target: n[3]}
}

// jobSetting is a time that is set for the whole job.
type jobSetting struct {
	what          string
	methods       []string
	constant, key string
}

var (
	checkpointInterval = jobSetting{"the checkpoint interval", []string{"enableCheckpointing", "setCheckpointInterval"}, "CHECKPOINTING_INTERVAL", "execution.checkpointing.interval"}
	minPause           = jobSetting{"the pause between checkpoints", []string{"setMinPauseBetweenCheckpoints"}, "MIN_PAUSE_BETWEEN_CHECKPOINTS", "execution.checkpointing.min-pause"}
)

// read finds the time in a source. If it is set to what is not in the text that is unread.
func (x jobSetting) read(j javaSource, unread *[]Refusal) (time.Duration, int) {
	var none []Refusal
	for i, t := range j.tokens {
		var arg []javaToken
		switch {
		case !t.quoted && slices.Contains(x.methods, t.text) && j.at(i+1).is("("):
			if args := split(j.tokens[i+2 : min(j.closing(i+1), len(j.tokens))]); len(args) > 0 && (len(args[0]) == 1 || j.at(i-1).is(".")) {
				arg = args[0]
			}
		case t.is(x.constant) || t.quoted && t.text == x.key:
			if j.at(i + 1).is(",") {
				arg = j.tokens[i+2:]
				if open := j.opening(i); open >= 0 {
					arg = j.tokens[i+2 : min(max(i+2, j.closing(open)), len(j.tokens))]
				}
			}
		}
		if len(arg) == 0 {
			continue
		}
		if arg[0].quoted {
			if d, problem := flinkDuration(arg[0].text); problem == "" {
				return d, t.line
			}
		}
		n, ok := j.eval(arg)
		if ok && n > 0 {
			return time.Duration(min(n, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond, t.line
		}
		if !ok {
			none = append(none, Refusal{Line: t.line, Option: t.text, Value: spellTokens(arg), Problem: x.what + " " + spellTokens(arg) + " cannot be read"})
		}
	}
	if len(none) > 0 {
		*unread = append(*unread, none[0])
	}
	return 0, 0
}

// opening is the position of the bracket that a position is directly in, or -1.
func (j javaSource) opening(i int) int {
	for depth := 0; i >= 0; i-- {
		switch {
		case j.at(i).is(")"):
			depth++
		case j.at(i).is("(") && depth == 0:
			return i
		case j.at(i).is("("):
			depth--
		}
	}
	return -1
}

// flinkDuration reads a time as Flink's configuration has them; a plain number is milliseconds.
func flinkDuration(text string) (time.Duration, string) {
	if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil && n >= 0 && n < math.MaxInt64/int64(time.Millisecond) {
		return time.Duration(n) * time.Millisecond, ""
	}
	// The connector has the same parser.
	p, err := peers.Parse("flink-sql sink.rolling-policy.check-interval='" + strings.ReplaceAll(text, "'", "") + "'")
	if sql, ok := p.(peers.FlinkSQL); err == nil && ok {
		return sql.CheckInterval, ""
	}
	return 0, "want a time such as 500ms, 30s, 30min or 1h"
}

// spellTokens is an expression as it may have stood in the source, cut if it is long.
func spellTokens(tokens []javaToken) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && t.word() && tokens[i-1].word() {
			b.WriteByte(' ')
		}
		if t.quoted {
			fmt.Fprintf(&b, "%q", t.text)
		} else {
			b.WriteString(t.text)
		}
		if b.Len() > 40 {
			return b.String() + "…"
		}
	}
	return b.String()
}

// eval is the value of an expression, in milliseconds if it is a time and in bytes if it is a
// size; false if that is not in the text.
func (j javaSource) eval(tokens []javaToken) (int64, bool) {
	return (&javaExpression{source: j, left: tokens}).whole()
}

// javaExpression is what is left of an expression that is being read.
type javaExpression struct {
	source javaSource
	left   []javaToken
	depth  int
}

func (e *javaExpression) next() javaToken {
	if len(e.left) == 0 {
		return javaToken{text: ";"}
	}
	return e.left[0]
}

func (e *javaExpression) take(text string) bool {
	if e.next().is(text) && len(e.left) > 0 {
		e.left = e.left[1:]
		return true
	}
	return false
}

// whole reads all of the expression. What is left over makes it another value than that of what
// was read, unless it is the next variable of a declaration.
func (e *javaExpression) whole() (int64, bool) {
	n, ok := e.shift()
	return n, ok && (len(e.left) == 0 || e.next().is(","))
}

// shift reads sums with << and >> between them, which bind less than + does.
func (e *javaExpression) shift() (int64, bool) {
	n, ok := e.sum()
	for ok && len(e.left) > 1 && (e.next().is("<") || e.next().is(">")) && e.left[1].is(e.next().text) {
		left := e.take("<")
		if !left {
			e.take(">")
		}
		e.left = e.left[1:]
		m, known := e.sum()
		switch {
		case !known || n < 0 || m < 0 || m >= 63 || left && n > math.MaxInt64>>m:
			ok = false
		case left:
			n <<= m
		default:
			n >>= m
		}
	}
	return n, ok
}

func (e *javaExpression) sum() (int64, bool) {
	n, ok := e.product()
	for ok {
		var m int64
		switch {
		case e.take("+"):
			m, ok = e.product()
			n += m
		case e.take("-"):
			m, ok = e.product()
			n -= m
		default:
			return n, true
		}
	}
	return 0, false
}

func (e *javaExpression) product() (int64, bool) {
	n, ok := e.primary()
	for ok {
		var m int64
		switch {
		case e.take("*"):
			m, ok = e.primary()
			if m != 0 && n > math.MaxInt64/m {
				return 0, false
			}
			n *= m
		case e.take("/"):
			if m, ok = e.primary(); ok && m != 0 {
				n /= m
			} else {
				ok = false
			}
		case e.take("%"):
			if m, ok = e.primary(); ok && m != 0 {
				n %= m
			} else {
				ok = false
			}
		default:
			return n, true
		}
	}
	return 0, false
}

// javaUnits are methods that make a time or a size of a number.
var javaUnits = map[string]int64{
	"ofMillis": 1, "ofSeconds": 1000, "ofMinutes": 60_000, "ofHours": 3_600_000, "ofDays": 86_400_000,
	"milliseconds": 1, "seconds": 1000, "minutes": 60_000, "hours": 3_600_000, "days": 86_400_000,
	"MILLISECONDS": 1, "SECONDS": 1000, "MINUTES": 60_000, "HOURS": 3_600_000, "DAYS": 86_400_000,
	"ofBytes": 1, "ofKibiBytes": 1 << 10, "ofMebiBytes": 1 << 20, "ofGibiBytes": 1 << 30,
}

func (e *javaExpression) primary() (int64, bool) {
	t := e.next()
	switch {
	case len(e.left) == 0 || t.quoted:
		return 0, false
	case e.take("-"):
		n, ok := e.primary()
		return -n, ok
	case e.take("("):
		if (e.next().is("long") || e.next().is("int")) && len(e.left) > 1 && e.left[1].is(")") {
			e.left = e.left[2:]
			return e.primary()
		}
		n, ok := e.shift()
		return n, ok && e.take(")")
	case isDigit(t.text[0]):
		e.left = e.left[1:]
		text := strings.TrimRight(strings.ReplaceAll(t.text, "_", ""), "lL")
		n, err := strconv.ParseInt(text, 0, 64)
		return n, err == nil
	case e.take("new"):
	}
	return e.path()
}

// path reads names with points between them, up to a call or the end of the names:
// Duration.ofMinutes(1), TimeUnit.MINUTES.toMillis(1), MemorySize.parse("1mb"), LIMIT.
func (e *javaExpression) path() (int64, bool) {
	var names []string
	at := 0 // of the last name
	for len(e.left) > 0 && e.next().word() {
		names, at = append(names, e.next().text), e.next().at
		e.left = e.left[1:]
		if !e.take(".") {
			break
		}
	}
	if len(names) == 0 {
		return 0, false
	}
	last, before := names[len(names)-1], ""
	if len(names) > 1 {
		before = names[len(names)-2]
	}
	if (last == "toMillis" || last == "getBytes") && javaUnits[before] == 0 && len(e.left) > 1 && e.left[0].is("(") && e.left[1].is(")") {
		e.left = e.left[2:]
		return e.variable(at - 2)
	}
	if e.take("(") {
		if last == "parse" && before == "MemorySize" && e.next().quoted {
			size, err := ParseSize(e.next().text)
			e.left = e.left[1:]
			return size, err == nil && e.take(")")
		}
		unit, ok := javaUnits[last]
		switch {
		case last == "toMillis" && javaUnits[before] > 0:
			unit, ok = javaUnits[before], true
		case last == "MemorySize":
			unit, ok = 1, true
		}
		n, known := e.shift()
		if !ok || !known || n > math.MaxInt64/unit || !e.take(")") {
			return 0, false
		}
		n *= unit
		for len(e.left) > 3 && e.left[0].is(".") && (e.left[1].is("toMillis") || e.left[1].is("getBytes")) && e.left[2].is("(") && e.left[3].is(")") {
			e.left = e.left[4:]
		}
		return n, true
	}
	switch {
	case before == "Long" && last == "MAX_VALUE":
		return math.MaxInt64, true
	case before == "Integer" && last == "MAX_VALUE":
		return math.MaxInt32, true
	}
	return e.variable(at)
}

// variable is what the variable or constant at a position is set to.
func (e *javaExpression) variable(at int) (int64, bool) {
	value, ok := e.source.value(at)
	if !ok || e.depth > 8 {
		return 0, false
	}
	return (&javaExpression{source: e.source, left: value, depth: e.depth + 1}).whole()
}
