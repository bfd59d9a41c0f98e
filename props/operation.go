package props

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sinklab/fsmem"
	"sinklab/sinkcore/sim"
)

// Operations returns the operations of a trace and those of this package:
//
//	crash N before|after   the process dies at the N-th file-system operation from now, without or with its effect
//	powerloss SURVIVAL     the computer loses its power; what survives is an fsmem.Survival
//	fault RULE             an fsmem.Rule is in force from now on
//	heal                   no rule is, and no crash is to come
//	recover [PARALLELISM]  the process dies, is restored from the newest completed checkpoint, or from nothing if there
//	                       is none, and the source sends again what came after it
//	replay                 the source sends again what came after the checkpoint restored
//	savepoint ID           a checkpoint that nobody is told has completed
//	clock MS               the clock jumps, also backwards, and no timer fires
//	sweep                  the process dies and orphans are removed; checkpoints that can be restored are retained
//
// While no process runs, operations other than restore, recover, powerloss, heal,
// sweep, fault, crash, clock and open are passed over. The map is the caller's to add to.
func Operations() sim.Syntax {
	syntax := sim.Operations()
	syntax["crash"] = parseCrash
	syntax["powerloss"] = parsePowerLoss
	syntax["fault"] = parseFault
	syntax["heal"] = parseWord("heal", Heal{})
	syntax["recover"] = parseRecover
	syntax["replay"] = parseWord("replay", Replay{})
	syntax["savepoint"] = parseSavepoint
	syntax["clock"] = parseClock
	syntax["sweep"] = parseWord("sweep", Sweep{})
	return syntax
}

// sessionOnly is embedded by operations that need more than a runner to play them: a model
// of the source, a disk that can lose its power. [Play] has both.
type sessionOnly struct{}

// Play is an error: a session plays it otherwise.
func (sessionOnly) Play(*sim.Runner) error {
	return fmt.Errorf("%w: only props.Play can play this", sim.ErrProgram)
}

// parseWord reads an operation without arguments.
func parseWord(name string, o sim.Operation) sim.ParseFunc {
	return func(args []string) (sim.Operation, error) {
		if len(args) != 0 {
			return nil, fmt.Errorf("want %q", name)
		}
		return o, nil
	}
}

// integer reads a whole number.
func integer(what, word string, least int64) (int64, error) {
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil || n < least {
		return 0, fmt.Errorf("%s %q: want a whole number of at least %d", what, word, least)
	}
	return n, nil
}

// Crash lets the process die at a file-system operation. The computer goes on, and with it
// all that was handed to the file system, synced or not. If the program ends, or the
// process, before it does so many operations, nothing happens.
type Crash struct {
	sessionOnly
	At    int64 // counted from 1
	After bool  // with its effect
}

func parseCrash(args []string) (sim.Operation, error) {
	if len(args) != 2 || args[1] != "before" && args[1] != "after" {
		return nil, fmt.Errorf("want %q", "crash N before|after")
	}
	n, err := integer("operation", args[0], 1)
	return Crash{At: n, After: args[1] == "after"}, err
}

// String is the operation as it is parsed.
func (c Crash) String() string {
	when := "before"
	if c.After {
		when = "after"
	}
	return "crash " + strconv.FormatInt(c.At, 10) + " " + when
}

// PowerLoss cuts the power: the process dies, and of what was not synced the survival says
// how much is found on the disk.
type PowerLoss struct {
	sessionOnly
	Survival fsmem.Survival
}

func parsePowerLoss(args []string) (sim.Operation, error) {
	survival, err := fsmem.ParseSurvival(strings.Join(args, " "))
	return PowerLoss{Survival: survival}, err
}

// String is the operation as it is parsed.
func (p PowerLoss) String() string { return "powerloss " + p.Survival.String() }

// Fault puts a rule in force until the next heal, powerloss, sweep or open, or until the
// process crashes. Several may be in force at once.
type Fault struct {
	sessionOnly
	Rule fsmem.Rule
}

func parseFault(args []string) (sim.Operation, error) {
	rule, err := fsmem.ParseRule(strings.Join(args, " "))
	return Fault{Rule: rule}, err
}

// String is the operation as it is parsed.
func (f Fault) String() string { return "fault " + f.Rule.String() }

// Heal ends all faults, and a crash that has not come. A sink that met one stays as it is:
// that the disk is well again does not bring back what it lost.
type Heal struct{ sessionOnly }

// String is "heal".
func (Heal) String() string { return "heal" }

// Recover does what an engine does after a failure, and may be played at any time.
type Recover struct {
	sessionOnly
	Parallelism int // 0: as before
}

func parseRecover(args []string) (sim.Operation, error) {
	switch len(args) {
	case 0:
		return Recover{}, nil
	case 1:
		n, err := integer("parallelism", args[0], 1)
		if err == nil && n > maxParallelism {
			err = fmt.Errorf("parallelism %d is more than %d", n, maxParallelism)
		}
		return Recover{Parallelism: int(n)}, err
	}
	return nil, fmt.Errorf("want %q", "recover [PARALLELISM]")
}

// maxParallelism keeps a typing error from asking for all the memory.
const maxParallelism = 64

// String is the operation as it is parsed.
func (r Recover) String() string {
	if r.Parallelism == 0 {
		return "recover"
	}
	return "recover " + strconv.Itoa(r.Parallelism)
}

// Replay sends again what came after the restored checkpoint, in order, unless something
// else was written since: then the source has given it up.
type Replay struct{ sessionOnly }

// String is "replay".
func (Replay) String() string { return "replay" }

// Savepoint is a checkpoint that is stored and not completed. Its files are published by
// the next checkpoint that is, or by its restore.
type Savepoint struct {
	sessionOnly
	ID int64
}

func parseSavepoint(args []string) (sim.Operation, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("want %q", "savepoint ID")
	}
	id, err := integer("checkpoint id", args[0], 0)
	return Savepoint{ID: id}, err
}

// String is the operation as it is parsed.
func (s Savepoint) String() string { return "savepoint " + strconv.FormatInt(s.ID, 10) }

// Clock moves the clock without letting a timer fire: somebody sets it. The next advance
// lets those fire that are due by then.
type Clock struct {
	sessionOnly
	By int64 // milliseconds, negative for backwards
}

func parseClock(args []string) (sim.Operation, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("want %q", "clock MS")
	}
	n, err := integer("time", args[0], -1<<40)
	return Clock{By: n}, err
}

// String is the operation as it is parsed.
func (c Clock) String() string { return "clock " + strconv.FormatInt(c.By, 10) }

// Sweep removes orphans, if the factory is a [Sweeper]. The process dies before, and none
// runs afterwards.
type Sweep struct{ sessionOnly }

// String is "sweep".
func (Sweep) String() string { return "sweep" }

// sorted gives the keys of a map in order, for everything that can see it.
func sorted[V any](m map[int64]V) []int64 {
	keys := make([]int64, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
