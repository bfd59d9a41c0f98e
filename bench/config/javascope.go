package config

import "unicode"

// javaVariable is the variable that a name stands for. Two names stand for the same one if
// these are equal.
type javaVariable struct {
	kind javaKind
	at   int // of a local variable or a field its declaration, of a parameter the block
}

// javaKind is where a variable comes from.
type javaKind int

const (
	undeclared javaKind = iota // of a class that the text does not have, or of a text that was cut out
	declared
	parameter // its value comes from the caller
	foreign   // of another object
)

// javaScopes says which block each token of a source is in, and what is declared where.
type javaScopes struct {
	blocks   []int            // of each token the position of the { around it; -1 if there is none
	declared map[string][]int // positions of names where they are declared
	assigned map[string][]int // and where they are given a value
	classes  map[string]int   // the block of each class
}

// notTypes are words before a name that do not declare it.
var notTypes = map[string]bool{"return": true, "else": true, "new": true, "throw": true, "case": true, "do": true, "instanceof": true, "import": true, "package": true, "yield": true, "in": true}

// scopes looks through a source once.
func (j *javaSource) scopes() {
	s := javaScopes{blocks: make([]int, len(j.tokens)), declared: map[string][]int{}, assigned: map[string][]int{}, classes: map[string]int{}}
	block := -1
	for i, t := range j.tokens {
		if t.is("}") && block >= 0 {
			block = s.blocks[block]
		}
		s.blocks[i] = block
		switch {
		case t.is("{"):
			block = i
		case !t.word():
		default:
			if j.declares(i) {
				s.declared[t.text] = append(s.declared[t.text], i)
			}
			if j.assigns(i) {
				s.assigned[t.text] = append(s.assigned[t.text], i)
			}
			if j.namesClass(i) {
				k := i
				for k < len(j.tokens) && !j.at(k).is("{") {
					k++
				}
				s.classes[t.text] = k
			}
		}
	}
	j.javaScopes = s
}

// declares tells whether the name at a position is declared there: long name =, val name: Long.
func (j javaSource) declares(i int) bool {
	before, behind := j.at(i-1), j.at(i+1)
	gets := behind.is("=") && !j.at(i+2).is("=") && !j.at(i+2).is(">")
	switch {
	case before.is(">") || before.is("]"):
		return gets
	case before.word():
		return !notTypes[before.text] && before.line == j.at(i).line && (gets || behind.is(";") || behind.is(":"))
	}
	return false
}

// assigns tells whether the name at a position is given a value there, or another one.
func (j javaSource) assigns(i int) bool {
	one, two, three := j.at(i+1).text, j.at(i+2).text, j.at(i+3).text
	switch {
	case j.valueFrom(i) >= 0:
		return true
	case one == "+" || one == "-":
		return two == "=" || two == one
	case one == "*" || one == "/" || one == "%" || one == "&" || one == "|" || one == "^":
		return two == "="
	case one == "<" || one == ">":
		return two == one && three == "="
	}
	before := j.at(i - 1)
	return (before.is("+") || before.is("-")) && j.at(i-2).is(before.text)
}

// valueFrom is where the value begins that the name at a position is given with =, or -1.
func (j javaSource) valueFrom(i int) int {
	k := i + 1
	if j.at(k).is(":") { // name: Type = …
		for k < len(j.tokens) && !j.at(k).is("=") && !j.at(k).is(";") && j.at(k).line == j.at(i).line {
			k++
		}
	}
	if !j.at(k).is("=") || j.at(k+1).is("=") || j.at(k+1).is(">") {
		return -1
	}
	return k + 1
}

// namesClass tells whether a class has the name at a position.
func (j javaSource) namesClass(i int) bool {
	switch j.at(i - 1).text {
	case "class", "interface", "enum", "record", "object", "trait":
		return !j.at(i-1).quoted && !j.at(i-2).is(".")
	}
	return false
}

// header is from where to where what stands before a block goes.
func (j javaSource) header(block int) (from, to int) {
	for from = block; from > 0; from-- {
		if before := j.at(from - 1); before.is(";") || before.is("{") || before.is("}") {
			break
		}
	}
	return from, block
}

// isClass tells whether a block is the body of a class, in which fields may be declared below
// what uses them. So it is with what is in no block.
func (j javaSource) isClass(block int) bool {
	if block < 0 {
		return true
	}
	from, to := j.header(block)
	for i := from; i < to; i++ {
		if j.at(i).is("companion") || j.namesClass(i) {
			return true
		}
	}
	return false
}

// isCompanion tells whether the names of a block are those of the class around it (Kotlin).
func (j javaSource) isCompanion(block int) bool {
	if block < 0 {
		return false
	}
	from, to := j.header(block)
	for i := from; i < to; i++ {
		if j.at(i).is("companion") {
			return true
		}
	}
	return false
}

// hasParameter tells whether a name is a parameter of the method or function that a block is of.
func (j javaSource) hasParameter(block int, name string) bool {
	from, to := j.header(block)
	for i := from; i < to; i++ {
		if !j.at(i).is(name) || j.at(i-1).is(".") {
			continue
		}
		before, behind := j.at(i-1), j.at(i+1)
		typed := before.word() && !notTypes[before.text] || before.is(">") || before.is("]") || before.is(".") // long name, T... name
		if (typed && (behind.is(",") || behind.is(")")) || behind.is(":")) && j.opening(i) >= from {
			return true
		}
		if arrow := j.at(to - 2); arrow.is("-") && j.at(to-1).is(">") {
			return true // name -> {
		}
	}
	return false
}

// declaredIn is where a name is declared in a block itself, before a position unless it is a
// class.
func (j javaSource) declaredIn(block int, name string, before int) (int, bool) {
	for _, d := range j.declared[name] {
		in := j.blocks[d]
		if in == block && (d <= before || j.isClass(block)) || j.isCompanion(in) && j.blocks[in] == block {
			return d, true
		}
	}
	return 0, false
}

// variable is what the name at a position stands for: what is declared in the innermost block
// around it, and fields last.
func (j javaSource) variable(i int) javaVariable {
	name, block, fields := j.at(i).text, -1, false
	if i >= 0 && i < len(j.blocks) {
		block = j.blocks[i]
	}
	if j.at(i - 1).is(".") {
		of := j.at(i - 2)
		class, known := j.classes[of.text]
		switch {
		case of.is("this"):
			fields = true
		case !of.word() || !known && !unicode.IsUpper([]rune(of.text)[0]):
			return javaVariable{kind: foreign}
		default:
			if !known {
				class = -1 // the class around a text that was cut out
			}
			if d, ok := j.declaredIn(class, name, i); ok {
				return javaVariable{declared, d}
			}
			return javaVariable{kind: foreign}
		}
	}
	for ; ; block = j.blocks[block] {
		if !fields || j.isClass(block) {
			if d, ok := j.declaredIn(block, name, i); ok {
				return javaVariable{declared, d}
			}
			if block >= 0 && !fields && j.hasParameter(block, name) {
				return javaVariable{parameter, block}
			}
		}
		if block < 0 {
			return javaVariable{kind: undeclared}
		}
	}
}

// assignments are the positions at which the variable at a position is given a value.
func (j javaSource) assignments(i int) (all []int) {
	v := j.variable(i)
	if v.kind == foreign {
		return nil
	}
	for _, k := range j.assigned[j.at(i).text] {
		if j.variable(k) == v {
			all = append(all, k)
		}
	}
	return all
}

// value is what the variable at a position is set to. False if that is not in the text, or if
// it is set more than once, as nobody follows here which of them counts.
func (j javaSource) value(i int) ([]javaToken, bool) {
	v, all := j.variable(i), j.assignments(i)
	if len(all) != 1 || v.kind == parameter || v.kind == undeclared && !j.encloses(j.blocks[all[0]], i) {
		return nil, false
	}
	from := j.valueFrom(all[0])
	if from < 0 {
		return nil, false
	}
	return j.tokens[from:j.statementEnd(from)], true
}

// encloses tells whether a position is in a block, or in one within it.
func (j javaSource) encloses(block, i int) bool {
	for at := j.blocks[i]; at != block; at = j.blocks[at] {
		if at < 0 {
			return false
		}
	}
	return true
}

// statementEnd is where the statement ends that an expression is the end of: at a semicolon, at
// the end of the block, or in a language without semicolons where another one begins on a line
// of its own.
func (j javaSource) statementEnd(from int) int {
	depth := 0
	for i := from; i < len(j.tokens); i++ {
		t, before := j.at(i), j.at(i-1)
		switch {
		case t.is("(") || t.is("[") || t.is("{"):
			depth++
		case t.is(")") || t.is("]") || t.is("}"):
			if depth--; depth < 0 {
				return i
			}
		case depth > 0:
		case t.is(";"):
			return i
		case i > from && t.line > before.line && (t.word() || t.is("@")) && !before.is("new") &&
			(before.quoted || before.word() || isDigit(before.text[0]) || before.is(")") || before.is("]") || before.is("}")):
			return i
		}
	}
	return len(j.tokens)
}
