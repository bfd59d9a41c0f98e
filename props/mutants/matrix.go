package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// matrix prints the results and tells whether all mutants were caught.
func matrix(w io.Writer, results []Result, withPrograms bool) (ok bool) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "mutant\tcaught by\tjudge\tprograms\toperations")
	caught := 0
	for _, r := range results {
		rule := string(r.Rule)
		switch {
		case r.Err != nil:
			rule = "ERROR"
		case rule == "":
			rule = "SURVIVED"
		case !r.Caught():
			rule += " INSTEAD OF " + join(r.Mutant)
		default:
			caught++
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\n", r.Name, rule, r.Judge, r.Programs, r.Length)
	}
	table.Flush()
	fmt.Fprintf(w, "%d of %d mutants caught\n", caught, len(results))
	for _, r := range results {
		switch {
		case r.Err != nil:
			fmt.Fprintf(w, "\n%v\n", r.Err)
		case withPrograms || r.Rule != "" && !r.Caught():
			fmt.Fprintf(w, "\n%s: %s\n%s: %s\n%s", r.Name, r.What, r.Rule, r.Detail, r.Program)
		}
	}
	return caught == len(results)
}

func join(m Mutant) string {
	words := make([]string, len(m.Rules))
	for i, rule := range m.Rules {
		words[i] = string(rule)
	}
	return strings.Join(words, ", ")
}
