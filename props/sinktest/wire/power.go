package wire

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"sinklab/fsmem"
)

// Exchange is a request, its answer, and what the process has done with files in between.
type Exchange struct {
	Request    json.RawMessage `json:"request"`
	Operations []Operation     `json:"operations,omitempty"`
	Answer     json.RawMessage `json:"answer"`
}

// Recording is what has gone over the wire in the life of a sink. It is kept as lines of JSON.
type Recording struct {
	Exchanges []Exchange
	dir       string // as the requests call it
}

// Observe adds an exchange; give it to Options.Observe. When another sink starts the recording begins
// anew. The directory is called /out, and states are left out, since nothing is restored from a recording.
func (r *Recording) Observe(line, raw []byte, operations []Operation) {
	var q request
	var a answer
	if json.Unmarshal(line, &q) != nil || json.Unmarshal(raw, &a) != nil {
		return // killed before it could answer
	}
	if q.Dir != "" {
		*r = Recording{dir: q.Dir}
		q.Dir = recordedDir
	}
	q.State, a.State = nil, nil
	var e Exchange
	e.Request, _ = json.Marshal(q) // plain fields
	e.Answer, _ = json.Marshal(a)
	for _, o := range operations {
		o.Path, o.To = r.name(o.Path), r.name(o.To)
		e.Operations = append(e.Operations, o)
	}
	r.Exchanges = append(r.Exchanges, e)
}

const recordedDir = "/out"

// name is a path below the directory as it is recorded.
func (r *Recording) name(real string) string {
	if rest, below := strings.CutPrefix(real, r.dir); below {
		return recordedDir + rest
	}
	return real
}

// ReadRecording reads what Write has written.
func ReadRecording(in io.Reader) (Recording, error) {
	var r Recording
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		var e Exchange
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return Recording{}, fmt.Errorf("line %d is no exchange: %w", n, err)
		}
		r.Exchanges = append(r.Exchanges, e)
	}
	return r, lines.Err()
}

// Write writes a recording, an exchange a line.
func (r Recording) Write(out io.Writer) error {
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	for _, e := range r.Exchanges {
		if err := lines.Encode(e); err != nil {
			return err
		}
	}
	return nil
}

// Cut is a moment at which the power fails, and what is found afterwards.
type Cut struct {
	Request   string // the request under way, such as "commit 1", or the last one that was answered
	Operation string // the last operation before; "" is the answer to the request
	States    int    // that may be found on the disk

	// Lost counts the states in which a record that the newest prepared checkpoint covers is in no file
	// at all, visible or hidden: whatever the sink does with that checkpoint, it is lost. Records
	// are the ones of the worst state, which is what the survival leaves.
	Lost     int
	Records  []string
	Survival fsmem.Survival

	// Vanished counts the states in which a file is not there that a reader could see
	// when the commit was answered. A restore may make it visible again.
	Vanished int
}

// String is the cut on one line.
func (c Cut) String() string {
	where := c.Request
	if c.Operation != "" {
		where += ", after " + c.Operation
	}
	text := fmt.Sprintf("%s: %d states", where, c.States)
	if c.Lost > 0 {
		text += fmt.Sprintf(", %d without %s (%s)", c.Lost, strings.Join(c.Records, " "), c.Survival)
	}
	if c.Vanished > 0 {
		text += fmt.Sprintf(", in %d a visible file has vanished", c.Vanished)
	}
	return text
}

// PowerCuts plays the recording on a file system in memory and cuts the power after every operation and every
// answer: it looks at every state that the disk may be in then, under a model. A sink that keeps its
// records has no cut with Lost or Vanished under fsmem.Ordered. Under fsmem.Unordered a rename may leave neither name,
// and every sink that publishes by renaming loses records.
//
// The error is that of fsmem.FS.Outcomes if there are too many states, or that of an operation that
// makes no sense.
func (r Recording) PowerCuts(model fsmem.Model) ([]Cut, error) {
	p := power{fs: fsmem.New(fsmem.Options{}), model: model, covered: map[string]bool{}, confirmed: map[string]bool{}}
	disk := NewDisk(p.fs, recordedDir, recordedDir)
	defer disk.Close()
	for _, e := range r.Exchanges {
		var q request
		if err := json.Unmarshal(e.Request, &q); err != nil {
			return nil, err
		}
		name := q.Do
		if q.Checkpoint != nil {
			name += fmt.Sprintf(" %d", *q.Checkpoint)
		}
		if q.Record != nil {
			name += " " + *q.Record
		}
		for _, o := range e.Operations {
			if err := disk.Play(o); err != nil {
				return nil, fmt.Errorf("%s: %s %s: %w", name, o.Do, o.Path, err)
			}
			text := o.Do
			if o.Path != "" {
				text += " " + path.Base(o.Path)
			}
			if err := p.cut(name, text); err != nil {
				return nil, err
			}
		}
		if err := p.answered(q, e.Answer); err != nil {
			return nil, err
		}
		if err := p.cut(name, ""); err != nil {
			return nil, err
		}
	}
	return p.cuts, nil
}

// power is the play of a recording.
type power struct {
	fs        *fsmem.FS
	model     fsmem.Model
	written   []string
	covered   map[string]bool // records, by the newest prepared checkpoint
	confirmed map[string]bool // files that were visible when a commit was answered
	cuts      []Cut
}

// answered notes what the answer to a request promises.
func (p *power) answered(q request, text []byte) error {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil || a.Error != nil {
		return err // nothing was promised
	}
	switch q.Do {
	case "write":
		if q.Record != nil {
			p.written = append(p.written, *q.Record)
		}
	case "prepare":
		for _, record := range p.written {
			p.covered[record] = true
		}
	case "commit":
		_, visible, err := contents(p.fs)
		for _, name := range visible {
			p.confirmed[name] = true
		}
		return err
	}
	return nil
}

// cut looks at all that may be found if the power fails now.
func (p *power) cut(request, operation string) error {
	outcomes, err := p.fs.Outcomes(p.model)
	if err != nil {
		return fmt.Errorf("%s, after %s: %w", request, operation, err)
	}
	c := Cut{Request: request, Operation: operation}
	for survival, after := range outcomes.All() {
		c.States++
		held, visible, err := contents(after)
		if err != nil {
			return err
		}
		var gone []string
		for _, record := range p.written {
			if p.covered[record] && !held[record] {
				gone = append(gone, record)
			}
		}
		if len(gone) > 0 {
			c.Lost++
			if len(gone) > len(c.Records) {
				c.Records, c.Survival = gone, survival
			}
		}
		for name := range p.confirmed {
			if !slices.Contains(visible, name) {
				c.Vanished++
				break
			}
		}
	}
	p.cuts = append(p.cuts, c)
	return nil
}

// contents are the records that are in any file, and the files that a reader sees.
func contents(fsys afero.Fs) (held map[string]bool, visible []string, err error) {
	held = map[string]bool{}
	err = afero.Walk(fsys, recordedDir, func(name string, info fs.FileInfo, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == recordedDir {
			return nil
		}
		if err != nil || info.IsDir() {
			return err
		}
		content, err := afero.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(content)) {
			if record, whole := strings.CutSuffix(line, "\n"); whole {
				held[record] = true
			}
		}
		if hidden := path.Base(name)[0]; hidden != '.' && hidden != '_' {
			visible = append(visible, name)
		}
		return nil
	})
	return held, visible, err
}
