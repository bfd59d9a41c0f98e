package sinktest

import (
	"slices"
	"strconv"
	"strings"
)

// shrink makes a program as short and simple as it can while broken stays true for it.
// It is delta debugging over lines (Zeller and Hildebrandt, "Simplifying and Isolating
// Failure-Inducing Input", 2002): take away ever smaller runs of them until no
// single one can go, then try simpler words, and again until nothing changes. The same
// program always gives the same result.
//
// It is for broken to insist on one rule: else a program that breaks a rare rule
// shrinks to one that breaks a frequent one.
func shrink(program lines, broken func(lines) bool) lines {
	best := program
	// A candidate must come down in size, or shrinking might not end.
	try := func(candidate lines) bool {
		candidate = sensible(candidate)
		if !simpler(candidate, best) || !broken(candidate) {
			return false
		}
		best = candidate
		return true
	}
	for changed := true; changed; {
		changed = removeRuns(&best, try)
		changed = removePairs(&best, try) || changed
		changed = simplifyLines(&best, try) || changed
		changed = delayLines(&best, try) || changed
	}
	try(renumbered(best))
	return best
}

// simpler orders programs: the shorter first, then the one with the smaller text.
func simpler(a, b lines) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	s, t := plain(a), plain(b)
	if len(s) != len(t) {
		return len(s) < len(t)
	}
	return cost(a) < cost(b) || cost(a) == cost(b) && s < t
}

// plain is the text as its length counts: a savepoint is less simple than a checkpoint,
// whose name is longer.
func plain(l lines) string { return strings.ReplaceAll(l.text(), "savepoint", "savepoint..") }

// cost adds up the numbers in a program.
func cost(l lines) (sum int) {
	for _, line := range l {
		n := 0
		for _, c := range []byte(line + " ") {
			if c < '0' || c > '9' {
				sum, n = sum+n, 0
				continue
			}
			n = min(n*10+int(c-'0'), 1<<30)
		}
	}
	return sum
}

// removeRuns takes away runs of lines, never the first, which opens the sink.
func removeRuns(best *lines, try func(lines) bool) (changed bool) {
	for size := (len(*best) - 1) / 2; size >= 1; {
		removed := false
		for from := len(*best) - size; from >= 1; from-- {
			if from+size > len(*best) {
				continue
			}
			if try(slices.Delete(slices.Clone(*best), from, from+size)) {
				removed, changed = true, true
			}
		}
		if !removed || size > len(*best)-1 {
			size /= 2
		}
	}
	return changed
}

// removePairs takes away two lines that are apart, such as a crash and the recovery
// from it.
func removePairs(best *lines, try func(lines) bool) (changed bool) {
	for i := 1; i < len(*best); i++ {
		for j := i + 2; j < len(*best); j++ {
			candidate := slices.Delete(slices.Clone(*best), j, j+1)
			if try(slices.Delete(candidate, i, i+1)) {
				changed = true
				j = i + 1
			}
		}
	}
	return changed
}

// simplifyLines tries simpler words in each line.
func simplifyLines(best *lines, try func(lines) bool) (changed bool) {
	for i := range *best {
		for i < len(*best) {
			improved := false
			for _, line := range alternatives((*best)[i]) {
				candidate := slices.Clone(*best)
				candidate[i] = line
				if try(candidate) {
					improved, changed = true, true
					break
				}
			}
			if !improved {
				break
			}
		}
	}
	return changed
}

// delayLines moves a line that counts operations of the file system to a later place, from
// which there are fewer to count.
func delayLines(best *lines, try func(lines) bool) (changed bool) {
	for i := 1; i < len(*best); i++ {
		prefix, n, suffix := counting((*best)[i])
		for moved := false; !moved && n > 1; n-- {
			for to := len(*best) - 1; to > i && !moved; to-- {
				candidate := slices.Delete(slices.Clone(*best), i, i+1)
				moved = try(slices.Insert(candidate, to, prefix+strconv.Itoa(n-1)+suffix))
			}
			changed = changed || moved
		}
	}
	return changed
}

// counting splits a line around the number of an operation of the file system, which is
// 0 if there is none.
func counting(line string) (prefix string, n int, suffix string) {
	words := strings.SplitAfter(line, " ")
	for i, word := range words {
		number := strings.TrimPrefix(strings.TrimSpace(word), "nth=")
		if words[0] != "crash " && number == strings.TrimSpace(word) || i == 0 {
			continue
		}
		n, err := strconv.Atoi(number)
		if err != nil {
			continue
		}
		at := len(strings.Join(words[:i], "")) + strings.Index(word, number)
		return line[:at], n, line[at+len(number):]
	}
	return line, 0, ""
}

// alternatives lists simpler lines than a line.
func alternatives(line string) []string {
	words := strings.Fields(line)
	var out []string
	with := func(i int, word string) {
		w := slices.Clone(words)
		w[i] = word
		out = append(out, strings.Join(w, " "))
	}
	smaller := func(i int, prefix string, least int) {
		n, err := strconv.Atoi(strings.TrimPrefix(words[i], prefix))
		if err != nil {
			return
		}
		for _, m := range []int{least, least + 1, least + 2, n / 2, n - 1} {
			if m >= least && m < n {
				with(i, prefix+strconv.Itoa(m))
			}
		}
	}
	switch words[0] {
	case "open":
		if last := len(words) - 1; strings.HasPrefix(words[last], "parallelism=") {
			out = append(out, strings.Join(words[:last], " "))
			smaller(last, "parallelism=", 2)
		}
	case "write":
		if i := strings.LastIndexByte(words[1], '/'); i >= 0 {
			with(1, words[1][i+1:])
			with(1, "a"+words[1][i:])
		}
		if len(words) == 3 {
			out = append(out, strings.Join(words[:2], " "))
			smaller(2, "", 0)
		}
	case "crash":
		smaller(1, "", 1)
	case "recover":
		if len(words) == 2 {
			out = append(out, "recover")
			smaller(1, "", 1)
		}
	case "restore":
		if len(words) == 3 {
			out = append(out, strings.Join(words[:2], " "))
			smaller(2, "", 1)
		}
	case "complete":
		if len(words) == 3 {
			out = append(out, strings.Join(words[:2], " "))
		}
	case "savepoint":
		with(0, "checkpoint")
	case "advance", "clock":
		smaller(1, "", 1)
	case "end":
		out = append(out, "end")
	case "powerloss":
		for _, keep := range []string{"none", "all", "names", "data"} {
			out = append(out, "powerloss "+keep)
		}
		for seed := range 10 {
			out = append(out, "powerloss seed="+strconv.Itoa(seed))
		}
	case "fault":
		for i, word := range words {
			switch {
			case strings.HasPrefix(word, "nth="):
				smaller(i, "nth=", 1)
			case word == "clean" || strings.HasPrefix(word, "path=") || strings.HasPrefix(word, "short="):
				out = append(out, strings.Join(slices.Delete(slices.Clone(words), i, i+1), " "))
			}
		}
	}
	return out
}

// renumbered counts records from 0 and checkpoints from 1, in the order in which they come.
func renumbered(l lines) lines {
	records, ids := map[string]string{}, map[string]string{}
	number := func(m map[string]string, word, prefix string, first int) string {
		n, ok := m[word]
		if !ok {
			n = prefix + strconv.Itoa(len(m)+first)
			m[word] = n
		}
		return n
	}
	out := slices.Clone(l)
	for i, line := range l {
		words := strings.Fields(line)
		switch words[0] {
		case "write":
			at := strings.LastIndexByte(words[1], '/') + 1
			words[1] = words[1][:at] + number(records, words[1], "r", 0)
		case "checkpoint", "savepoint", "complete", "abort", "restore":
			words[1] = number(ids, words[1], "", 1)
		}
		out[i] = strings.Join(words, " ")
	}
	return out
}
