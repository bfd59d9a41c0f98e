package wire

import (
	"strings"
	"testing"
)

// What a process says is what the documentation has, to the letter.
func TestParse(t *testing.T) {
	now, before := int64(5), int64(-5)
	requests := map[string]request{}
	for _, do := range []string{"new", "restore", "write", "prepare", "commit", "abort", "end", "close"} {
		requests[do] = request{Do: do, Now: &now}
	}
	requests["tick"] = request{Do: "tick", Now: &now}
	requests["early tick"] = request{Do: "tick", Now: &before}
	for _, test := range []struct {
		do, line, want string // "" is well
	}{
		{"write", `{}`, ""},
		{"write", `{"error":"no room"}`, ""},
		{"write", `{"error":""}`, ""},
		{"tick", `{}`, ""},
		{"tick", `{"next":5}`, ""},
		{"early tick", `{"next":-4}`, ""},
		{"prepare", `{"state":""}`, ""},
		{"prepare", `{"state":"eA=="}`, ""},
		{"prepare", `{"error":"no room"}`, ""},

		{"write", `{"eror":"x"}`, `"eror" has no place in it, and it is to "write"`},
		{"write", `{"Error":"x"}`, `"Error" has no place`},
		{"write", `null`, "want a JSON object"},
		{"write", `[]`, "array"},
		{"write", `7`, "number"},
		{"write", ``, "unexpected end"},
		{"write", `{} {}`, "after top-level value"},
		{"write", `{"error":7}`, "number"},
		{"write", `{"error":null}`, `"error" is null: leave it out`},
		{"write", `{"state":"eA=="}`, `"state" has no place`},
		{"commit", `{"next":5}`, `"next" has no place`},
		{"prepare", `{}`, `it has no "state"`},
		{"prepare", `{"state":null}`, `"state" is null`},
		{"prepare", `{"state":"?"}`, "base64"},
		{"prepare", `{"state":"eA==","error":"no room"}`, `"state" has no place`},
		{"tick", `{"next":-1}`, "before 1970"},
		{"tick", `{"next":1.5}`, "1.5"},
		{"tick", `{"next":"5"}`, "string"},
		{"new", `{"do":"new","dir":"/d","now":0,"seed":7}`, `"dir" has no place`},
		{"write", `{"state":"` + strings.Repeat("A", 4000) + `"}`, `AAA"… is no answer`},

		{"write", `{"file":"mkdir","path":"/d"}`, ""},
		{"write", `{"file":"open","path":"/d/x","fd":3,"flags":["create"]}`, ""},
		{"write", `{"file":"write","fd":3,"data":{"base64":"/wA="}}`, ""},
		{"write", `{"file":"write","fd":3,"data":""}`, ""},
		{"write", `{"file":"truncate","path":"/d/x"}`, ""},
		{"write", `{"file":"sync","fd":3}`, ""},

		{"write", `{"file":""}`, `no operation on files ""`},
		{"write", `{"file":7}`, "number"},
		{"write", `{"file":"copy","path":"/d/x"}`, `no operation on files "copy"`},
		{"write", `{"file":"mkdir"}`, `it has no "path"`},
		{"write", `{"file":"mkdir","path":"d"}`, `"path" is not absolute`},
		{"write", `{"file":"rename","path":"/d","to":"x"}`, `"to" is not absolute`},
		{"write", `{"file":"mkdir","path":"/d","mode":7}`, `"mode" has no place`},
		{"write", `{"file":"open","path":"/d/x","fd":0}`, `"fd" is less than 1`},
		{"write", `{"file":"sync"}`, `neither "path" nor "fd"`},
		{"write", `{"file":"seek","fd":3,"at":-1}`, `"at" is less than 0`},
		{"write", `{"file":"write","fd":3,"data":{"bas64":"/wA="}}`, "bas64"},
		{"write", `{"file":"write","fd":3,"data":{}}`, "neither a string nor"},
		{"write", `{"file":"write","fd":3,"data":7}`, "number"},
	} {
		o, _, err := parse(requests[test.do], []byte(test.line+"\n"))
		if test.want == "" {
			if err != nil || (o != nil) != strings.Contains(test.line, "file") {
				t.Errorf("%s, %s: %v", test.do, test.line, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "is no answer") {
			t.Errorf("%s, %s: %v, want %q in it", test.do, test.line, err, test.want)
		}
	}
}
