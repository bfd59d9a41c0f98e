package config

import (
	"slices"
	"strings"
)

// withoutCheckpoints finds where a Java source has a job that nothing in it turns checkpoints on for.
// A name of the setting anywhere may do that in a way that is not followed here, and is enough to
// say nothing; so is the batch mode, which has no checkpoints and shows files at the end.
func (j javaSource) withoutCheckpoints(f *File) {
	at := -1 // of the environment: where it is made, or else where it is named first
	for i, t := range j.tokens {
		switch {
		case j.sets(i, checkpointInterval) || j.batch(i):
			return
		case !t.is("StreamExecutionEnvironment") || j.imported(i):
		case j.at(i+1).is(".") && (at < 0 || f.environmentGiven):
			at, f.environmentGiven = i, false
		case at < 0:
			at, f.environmentGiven = i, true
		}
	}
	if at < 0 {
		return
	}
	f.NoCheckpoints = j.at(at).line
	f.environment = j.nameAt(j.assignedTo(at))
	if f.environment == "" {
		f.environment = "env"
		for i := range j.tokens {
			switch {
			case !j.tokens[i].is("StreamExecutionEnvironment"):
			case j.at(i + 1).word():
				f.environment = j.at(i + 1).text // Java: the type and then the name
			case j.at(i-1).is(":") && j.at(i-2).word():
				f.environment = j.at(i - 2).text
			}
		}
	}
}

// sets tells whether a setting is named at a position.
func (j javaSource) sets(i int, x jobSetting) bool {
	t := j.tokens[i]
	return t.quoted && strings.Contains(t.text, x.key) || !t.quoted && (t.text == x.constant || slices.Contains(x.methods, t.text))
}

// batch tells whether the batch mode is named at a position.
func (j javaSource) batch(i int) bool {
	t := j.tokens[i]
	switch {
	case t.is("BATCH"):
		return j.at(i-1).is(".") && j.at(i-2).is("RuntimeExecutionMode") || j.at(i-1).is("(") && j.at(i-2).is("setRuntimeMode")
	case t.quoted && strings.EqualFold(t.text, "batch"):
		key := j.at(i - 2)
		return j.at(i-1).is(",") && (key.quoted && key.text == "execution.runtime-mode" || key.is("RUNTIME_MODE"))
	}
	return t.is("inBatchMode")
}

// imported tells whether a name stands in an import.
func (j javaSource) imported(i int) bool {
	for k := i; k >= 0 && j.at(k).line == j.at(i).line && !j.at(k).is(";"); k-- {
		if j.at(k).is("import") {
			return true
		}
	}
	return false
}

// withoutCheckpoints finds whether a script has a sink that nothing in it turns checkpoints on for. In
// it may stand more than statements, as a program around them, which may do so in its own words.
func (f *File) withoutCheckpoints(tokens []sqlToken, batch bool) {
	if f.Checkpoint > 0 || batch || len(f.Sinks) == 0 {
		return
	}
	f.NoCheckpoints = f.Sinks[0].Line
	if f.CheckpointLine > 0 {
		f.NoCheckpoints = f.CheckpointLine // it is turned off there
		return
	}
	for i, t := range tokens {
		read := i > 0 && (tokens[i-1].is("set") || tokens[i-1].is("reset"))
		if !read && (strings.Contains(t.text, checkpointInterval.key) || strings.Contains(t.text, checkpointInterval.constant) || slices.Contains(checkpointInterval.methods, afterPoint(t.text))) {
			f.NoCheckpoints = 0
		}
	}
}

// afterPoint is the last of the names that have points between them.
func afterPoint(text string) string { return text[strings.LastIndex(text, ".")+1:] }
