package tool

import (
	"context"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/rewrite"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// take converts the arguments of a call of t to the forms of its schema and the query language, or refuses them.
// Ambiguous forms add a note to the answer. It clamps numbers to their bounds only for tools that only read.
func (t *checked) take(c *bailiwick.Call, args value.Value) (value.Value, error) {
	args, notes := t.input.Take(args, t.Annotations.ReadOnly)
	c.Note(notes...)
	if t.Meant != nil {
		meant, err := t.Meant(c, args)
		if err != nil {
			return args, err
		}
		args = meant
	}
	members := args.Members()
	for i, m := range members {
		if m.Name != "where" && m.Name != "pipeline" {
			continue
		}
		read := rewrite.Query
		if m.Name == "where" {
			read = rewrite.Where
		}
		v, notes, err := read(m.Value, query.Pointer("", m.Name), c.Time())
		if err != nil {
			return args, err
		}
		members[i].Value = v
		c.Note(notes...)
	}
	return args, t.input.Check(args)
}

// explain adds the notes of the call to its result, without advice to call tools for which can is false.
func (r *Result) explain(ctx context.Context, c *bailiwick.Call, can func(tool string) bool) {
	explainAbsence(ctx, c)
	var notes []string
	for _, note := range c.Notes() {
		if note = Advice(note, can); note != "" {
			notes = append(notes, note)
		}
	}
	if n := len(r.Structured); len(notes) > 0 && n > 2 && r.Structured[n-1] == '}' {
		r.Structured = append(list(notes).AppendJSON(append(r.Structured[:n-1:n-1], `,"hints":`...)), '}')
	}
	definitions := c.Definitions()
	if n := len(r.Structured); len(definitions) > 0 && n > 2 && r.Structured[n-1] == '}' {
		r.Structured = append(list(definitions).AppendJSON(append(r.Structured[:n-1:n-1], `,"definitions":`...)), '}')
	}
	notes = append(notes, definitions...)
	if r.json {
		r.Text = string(r.Structured)
		return
	}
	for _, note := range notes {
		r.Text = strings.TrimPrefix(r.Text+"\n"+note, "\n")
	}
}
