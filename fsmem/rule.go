package fsmem

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Rule says which operations fail, and how. It is a comparable value; the zero
// value makes everything fail with EIO. It says when (Ops, Path, then Nth or Every,
// Times, Prob, each narrowing what those before let through) and what (the rest).
// An operation that no rule hits is not changed in any way.
//
// Its text form is the kinds of operations and then words in any order:
//
//	KINDS [path=GLOB] [nth=N | every=N] [times=N] [p=F seed=N]
//	      [stall=D] [short=N] [corrupt] [error=NAME] [after | clean]
//
// for example
//
//	rename path=*/part-* nth=3 error=EIO after
//	writes path=/out/** every=10 short=7 error=ENOSPC
//	sync error=EIO clean
//	reads p=0.01 seed=7 corrupt
//	any stall=2s
//
// KINDS are words of Op.String separated by commas, or any, opens, reads, writes. What
// cannot be meant is an error, as short for a rename, so a rule that is accepted can
// fire; whether it did, Fault.Fired tells.
type Rule struct {
	// Ops are the kinds it applies to; none means all that can fail.
	Ops Ops

	// Path is a pattern for the path of the operation, of a rename for either
	// path. "*", "?" and "[a-z]" match within a segment, as path.Match has it,
	// and "**" any number of whole segments. A pattern that begins with "/" is
	// matched with the whole path, another with as many of its last segments as
	// it has. Empty matches all. It cannot hold spaces. What is matched is the text
	// that the program passed, not what it leads to: links are not resolved, and an
	// operation on a handle has the path it was opened with.
	Path string

	// Of the operations that match, Nth selects one, counted from 1, and Every
	// each n-th. 0 selects all.
	Nth, Every uint64

	// Times ends the rule after it has fired so often; 0 is never. Nth=1 and Times=1
	// differ when something else, such as Prob, decides whether the first is hit.
	Times uint64

	// Prob is the probability with which a selected operation is hit, drawn from
	// a generator that starts with Seed. 0 is always. The same program meets the
	// same faults, if its operations come in the same order.
	Prob float64
	Seed uint64

	// Stall lets time pass on the Sleep of the options before the operation, as a
	// disk does that is busy or tries again. With nothing else it is no failure.
	Stall time.Duration

	// Short is the number of bytes after which a read or write ends, at the
	// latest one byte before it would be complete. A write gives
	// io.ErrShortWrite then unless Err is set. 0 is no limit.
	Short int

	// Corrupt inverts one bit of the bytes read: the lowest of the first byte. The
	// read succeeds; only a checksum finds it.
	Corrupt bool

	// Err is the error, wrapped as package os wraps it. 0 is EIO if the rule
	// says nothing else, and none otherwise. It must be one of those that a rule
	// can name, or the rule could not be printed.
	Err syscall.Errno

	// After applies the operation all the same, and gives the error then: what
	// was done is as good as unknown to the caller. A rename on a network file
	// system whose answer is lost is like that (rename(2), BUGS, on NFS). What has
	// to follow is to look, not to try again.
	After bool

	// Clean is for a Sync that fails: unsynced changes are forgotten as if they
	// had been written (fsync(2), EIO, on Linux). Reads show them, later syncs
	// succeed, and the next crash takes them. Nobody but an FS can do that; under
	// any other Layer, see Wrap, Sync merely fails. Package documentation says
	// what is left of a file and of a directory.
	Clean bool
}

// errnos are the errors that rules can name: those that the manual pages of the
// calls here list for local file systems, and a few that network ones are known for.
var errnos = []struct {
	name  string
	errno syscall.Errno
}{
	{"EACCES", syscall.EACCES}, {"EAGAIN", syscall.EAGAIN}, {"EBADF", syscall.EBADF}, {"EBUSY", syscall.EBUSY},
	{"EDQUOT", syscall.EDQUOT}, {"EEXIST", syscall.EEXIST}, {"EFBIG", syscall.EFBIG}, {"EINTR", syscall.EINTR},
	{"EINVAL", syscall.EINVAL}, {"EIO", syscall.EIO}, {"EISDIR", syscall.EISDIR}, {"ELOOP", syscall.ELOOP},
	{"EMFILE", syscall.EMFILE}, {"ENAMETOOLONG", syscall.ENAMETOOLONG}, {"ENFILE", syscall.ENFILE},
	{"ENODEV", syscall.ENODEV}, {"ENOENT", syscall.ENOENT}, {"ENOMEM", syscall.ENOMEM}, {"ENOSPC", syscall.ENOSPC},
	{"ENOTDIR", syscall.ENOTDIR}, {"ENOTEMPTY", syscall.ENOTEMPTY}, {"ENXIO", syscall.ENXIO}, {"EPERM", syscall.EPERM},
	{"EROFS", syscall.EROFS}, {"ESTALE", syscall.ESTALE}, {"ETIMEDOUT", syscall.ETIMEDOUT}, {"EXDEV", syscall.EXDEV},
}

// errnoName is also for journals, where any errno may come up.
func errnoName(e syscall.Errno) string {
	for _, x := range errnos {
		if x.errno == e {
			return x.name
		}
	}
	return fmt.Sprintf("E%d", uintptr(e))
}

func errnoNamed(name string) (syscall.Errno, bool) {
	for _, x := range errnos {
		if x.name == name {
			return x.errno, true
		}
	}
	return 0, false
}

// effective is the error that a rule gives. A rule that says nothing means to fail; one
// that stalls, shortens or corrupts has said what it means.
func (r *Rule) effective() syscall.Errno {
	if r.Err == 0 && r.Stall == 0 && r.Short == 0 && !r.Corrupt {
		return syscall.EIO
	}
	return r.Err
}

// String returns the text form, in which ParseRule reads the same rule. The words are
// in a fixed order, and those that say nothing are left out.
func (r Rule) String() string {
	var b strings.Builder
	b.WriteString(r.Ops.String())
	word := func(yes bool, format string, args ...any) {
		if yes {
			fmt.Fprintf(&b, " "+format, args...)
		}
	}
	word(r.Path != "", "path=%s", r.Path)
	word(r.Nth != 0, "nth=%d", r.Nth)
	word(r.Every != 0, "every=%d", r.Every)
	word(r.Times != 0, "times=%d", r.Times)
	word(r.Prob != 0, "p=%s", strconv.FormatFloat(r.Prob, 'g', -1, 64))
	word(r.Seed != 0, "seed=%d", r.Seed)
	word(r.Stall != 0, "stall=%v", r.Stall)
	word(r.Short != 0, "short=%d", r.Short)
	word(r.Corrupt, "corrupt")
	word(r.Err != 0, "error=%s", errnoName(r.Err))
	word(r.After, "after")
	word(r.Clean, "clean")
	return b.String()
}

// RuleError says why a rule makes no sense: Rule is its text, Problem what is wrong
// with it. It is the only error of ParseRule and Inject, and the rule's author has
// to put it right.
type RuleError struct{ Rule, Problem string }

// Error quotes the rule as it was given, or as Rule.String has it.
func (e *RuleError) Error() string { return fmt.Sprintf("fsmem: rule %q: %s", e.Rule, e.Problem) }

// ParseRule reads the text form; the error is a *RuleError. It refuses what Inject
// would refuse, and also unknown words and words that come twice.
func ParseRule(text string) (Rule, error) {
	var r Rule
	bad := func(problem string) (Rule, error) { return Rule{}, &RuleError{text, problem} }
	words := strings.Fields(text)
	if len(words) == 0 {
		return bad("want a kind of operation first")
	}
	for i, word := range strings.Split(words[0], ",") {
		ops, ok := opsNamed(word)
		if !ok {
			return bad("unknown kind of operation " + strconv.Quote(word))
		}
		if ops == 0 && (i > 0 || words[0] != word) {
			return bad("any stands alone")
		}
		r.Ops |= ops
	}
	// Then words in any order, each once. A word is a flag or has a value, and for
	// each it is known which.
	seen := make(map[string]bool)
	for _, word := range words[1:] {
		key, value, hasValue := strings.Cut(word, "=")
		if seen[key] {
			return bad(key + " twice")
		}
		seen[key] = true
		var err error
		flag := false
		switch key {
		case "path":
			r.Path = value
		case "nth":
			r.Nth, err = strconv.ParseUint(value, 10, 64)
		case "every":
			r.Every, err = strconv.ParseUint(value, 10, 64)
		case "times":
			r.Times, err = strconv.ParseUint(value, 10, 64)
		case "p":
			r.Prob, err = strconv.ParseFloat(value, 64)
		case "seed":
			r.Seed, err = strconv.ParseUint(value, 10, 64)
		case "stall":
			r.Stall, err = time.ParseDuration(value)
		case "short":
			r.Short, err = strconv.Atoi(value)
		case "error":
			var ok bool
			if r.Err, ok = errnoNamed(value); !ok {
				return bad("unknown error " + strconv.Quote(value))
			}
		case "corrupt":
			r.Corrupt, flag = true, true
		case "after":
			r.After, flag = true, true
		case "clean":
			r.Clean, flag = true, true
		default:
			return bad("unknown word " + strconv.Quote(key))
		}
		if err != nil || hasValue == flag || hasValue && value == "" {
			return bad("value of " + key)
		}
	}
	if problem := r.problem(); problem != "" {
		return bad(problem)
	}
	return r, nil
}

// validate wraps what problem finds.
func (r *Rule) validate() error {
	if problem := r.problem(); problem != "" {
		return &RuleError{r.String(), problem}
	}
	return nil
}

// problem says what is wrong with a rule, "" if nothing is. The purpose of each check
// is that a rule which is accepted does all that it says: short does nothing to a
// rename, corrupt nothing to a read that fails, after nothing without an error.
func (r *Rule) problem() string {
	ops := r.Ops
	if ops == 0 {
		ops = canFail
	}
	// What a rule may do depends on the kinds, of which "any" is too many for all but
	// errors and stalls.
	within := func(set Ops) bool { return r.Ops != 0 && ops&^set == 0 }
	const reads, writes = 1<<OpRead | 1<<OpReadAt, 1<<OpWrite | 1<<OpWriteAt | 1<<OpWriteString
	switch {
	case ops&^canFail != 0:
		return "names an operation that cannot fail"
	case r.Nth != 0 && r.Every != 0:
		return "nth and every"
	case !(r.Prob >= 0 && r.Prob <= 1):
		return "p is not between 0 and 1"
	case r.Prob == 0 && r.Seed != 0:
		return "seed without p"
	case r.Stall < 0:
		return "stall is negative"
	case r.Short < 0:
		return "short is negative"
	case r.Short > 0 && !within(1<<OpRead|writes):
		return "short is for read and writes"
	case r.Short > 0 && r.After:
		return "short and after"
	case r.Short > 0 && r.Err != 0 && !within(writes):
		return "short and error is for writes"
	case r.Corrupt && !within(reads):
		return "corrupt is for reads"
	case r.Corrupt && r.Err != 0:
		return "corrupt and error"
	case r.Err != 0 && !known(r.Err):
		return "unknown error"
	case r.After && r.effective() == 0:
		return "after without error"
	case r.Clean && !within(1<<OpSync):
		return "clean is for sync"
	case r.Clean && (r.After || r.effective() == 0):
		return "clean needs an error, and not after"
	// The text form is cut at spaces, of all kinds that Unicode has.
	case len(strings.Fields("path="+r.Path)) != 1:
		return "path with a space"
	}
	return globProblem(r.Path)
}

func known(e syscall.Errno) bool {
	_, ok := errnoNamed(errnoName(e))
	return ok
}
