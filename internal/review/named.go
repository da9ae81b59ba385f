package review

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Pointing is a pointer whose targets a title names.
type Pointing struct {
	From, Field string   // the class with the pointer, "source.Class", and the pointer
	To          Pointer  // its target
	Fields      []string // the fields of the target that name it
	Values      []value.Value
}

// Pointings returns the pointers whose targets the title of c names and that c.Named lacks, as far as the agent sees
// them. After their targets are added to c.Named, it returns the pointers of these records.
func Pointings(c *change.Change, visibility func(class string) Visibility) []Pointing {
	out := pointings{change: c}
	for _, e := range c.Effects {
		s := through(e, visibility)
		if s.Call != nil || s.Class == "" || e.Op == write.OpSchema {
			continue
		}
		for _, record := range []value.Value{e.Before, e.After} {
			for _, p := range slices.Concat(s.Code, s.Link) {
				if p.Of != "" {
					out.add(e.Class, s, p.Field, record, []string{p.Of})
				}
			}
			if s.Parent != "" && e.Op != write.OpUpdate {
				out.add(e.Class, s, s.Parent, record, namers(visibility(s.Points[s.Parent].Class)))
			}
			for _, field := range e.Asked[:min(len(e.Asked), 2)] {
				if _, points := s.Points[field]; points && e.Op == write.OpUpdate {
					out.add(e.Class, s, field, record, namers(visibility(s.Points[field].Class)))
				}
			}
		}
	}
	for _, n := range c.Named {
		s := visibility(n.Class)
		for _, p := range s.Code {
			if p.Of != "" {
				out.add(n.Class, s, p.Field, n.Record, []string{p.Of})
			}
		}
	}
	return out.found
}

// pointings collects the pointers of a change.
type pointings struct {
	change *change.Change
	found  []Pointing
}

// add adds the pointer that record has in field, unless the change already knows its target.
func (p *pointings) add(class string, s Visibility, field string, record value.Value, fields []string) {
	to, points := s.Points[field]
	v, _ := record.Get(field)
	if !points || v.IsNull() || len(fields) == 0 || s.Masks[field] != nil || (titler{change: p.change}).lookUp(class, field, record) != nil {
		return
	}
	i := slices.IndexFunc(p.found, func(have Pointing) bool { return have.From == class && have.Field == field })
	if i < 0 {
		i, p.found = len(p.found), append(p.found, Pointing{From: class, Field: field, To: to})
	}
	one := &p.found[i]
	for _, f := range fields {
		if !slices.Contains(one.Fields, f) {
			one.Fields = append(one.Fields, f)
		}
	}
	if !slices.ContainsFunc(one.Values, func(have value.Value) bool { return have.String() == v.String() }) {
		one.Values = append(one.Values, v)
	}
}

// namers returns the fields that name a record: its label and the fields of its short name.
func namers(s Visibility) (out []string) {
	if s.Label != "" {
		out = append(out, s.Label)
	}
	for _, p := range s.Code {
		if p.Field != "" && !slices.Contains(out, p.Field) {
			out = append(out, p.Field)
		}
	}
	return out
}
