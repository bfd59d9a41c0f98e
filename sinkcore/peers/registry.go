package peers

import (
	"slices"
	"strings"
)

// registration is how a kind of peers is made.
type registration struct {
	name    string
	example string // the options without which it is refused, in the syntax of Parse
	build   func() (options []option, done func() Peer)
}

// register makes the registration of a type of peers.
//
// Build makes a new value for each call and binds the options to it, so what one caller
// parses is never seen by another. Example is not a default: the engine has none for these
// options.
func register[T Peer, P interface {
	*T
	options() []option
}](example string) registration {
	var zero T
	return registration{zero.Name(), example, func() ([]option, func() Peer) {
		p := P(new(T))
		return p.options(), func() Peer { return *p }
	}}
}

// registrations lists every peer, those of one engine together.
//
// The order is that of every list and table that is made of all peers.
var registrations = []registration{
	register[FlinkFileSink](""),
	register[FlinkFileSinkBulk](""),
	register[FlinkSQL](""),
	register[FlinkKafka]("sink.transactional-id-prefix=job properties.transaction.timeout.ms=900000"),
	register[Iceberg](""),
	register[Arroyo](""),
	register[ArroyoV2](""),
	register[ArroyoLocal](""),
	register[KafkaConnectHDFS]("flush.size=1000"),
	register[KafkaConnectS3]("flush.size=1000"),
	register[AivenS3](""),
	register[Spark](""),
	register[BentoS3](""),
	register[VectorS3](""),
	register[VectorFile](""),
	register[FluentdFile](""),
	register[Firehose](""),
	register[Hudi](""),
	register[Delta](""),
}

// All gives each peer once, with its defaults and the options that it cannot do without. The
// order is always the same, and the slice is the caller's.
func All() []Peer {
	list := make([]Peer, 0, len(registrations))
	for _, r := range registrations {
		p, err := Parse(strings.TrimSpace(r.name + " " + r.example))
		if err == nil { // a test sees to it that none is missing
			list = append(list, p)
		}
	}
	return list
}

// Names lists the names that [Parse] knows, in the order of [All].
func Names() []string {
	names := make([]string, 0, len(registrations))
	for _, r := range registrations {
		names = append(names, r.name)
	}
	return names
}

// Parse reads what a peer prints: its name, then words option=value in any order, with the
// peer's own names of its options. A value with spaces stands in single quotes.
//
//	flink-filesink withRolloverInterval=59000
//	kafka-connect-s3 flush.size=1000 rotate.schedule.interval.ms=60000 timezone=Europe/Berlin
//	flink-sql sink.rolling-policy.rollover-interval='10 min' format=json
//
// The error is an [*OptionError]: for an unknown name or option it says which is nearest,
// and what the engine refuses at its start is refused here. An option that comes twice is
// refused, although some engines take the last one.
func Parse(line string) (Peer, error) {
	words, problem := split(line)
	if problem != "" {
		return nil, &OptionError{Problem: problem}
	}
	if len(words) == 0 {
		return nil, &OptionError{Problem: "a peer is needed: " + strings.Join(Names(), ", ")}
	}
	name := words[0]
	at := slices.IndexFunc(registrations, func(r registration) bool { return r.name == name })
	if at < 0 {
		return nil, &OptionError{Value: name, Problem: "no peer has the name " + name + "; " + notOneOf(name, Names())}
	}
	options, done := registrations[at].build()
	known := make([]string, 0, len(options))
	for _, o := range options {
		known = append(known, o.name)
	}
	given := map[string]bool{}
	for _, word := range words[1:] {
		key, value, ok := strings.Cut(word, "=")
		switch {
		case !ok:
			return nil, &OptionError{Peer: name, Option: word, Problem: "want option=value"}
		case given[key]:
			return nil, &OptionError{Peer: name, Option: key, Value: value, Problem: "is given twice"}
		}
		given[key] = true
		i := slices.Index(known, key)
		if i < 0 {
			return nil, &OptionError{Peer: name, Option: key, Value: value, Problem: "has no such option; " + notOneOf(key, known)}
		}
		if problem := options[i].read(value); problem != "" {
			return nil, &OptionError{Peer: name, Option: key, Value: value, Problem: problem}
		}
	}
	p := done()
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return p, nil
}

// split cuts a line at spaces that are not in single quotes, and takes the quotes away.
//
// There is no escape: no value that an engine takes here holds a single quote.
func split(line string) (words []string, problem string) {
	var word strings.Builder
	quoted, started := false, false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, started = !quoted, true
		case !quoted && (r == ' ' || r == '\t' || r == '\n'):
			if started {
				words = append(words, word.String())
			}
			word.Reset()
			started = false
		default:
			word.WriteRune(r)
			started = true
		}
	}
	if quoted {
		return nil, "a single quote is not closed"
	}
	if started {
		words = append(words, word.String())
	}
	return words, ""
}
