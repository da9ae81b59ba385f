package policy

import (
	"fmt"
	"math"
	"slices"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
)

// piece adds the key, a piece of one field, and the size of that field as the last two columns.
func (p *projection) piece(part *query.Part) error {
	const at = "/part/field"
	v := p.plan.View
	f := v.Field(part.Field)
	if f == nil {
		return v.unknownFieldError(part.Field, at)
	}
	v.policy.uses.reads(f)
	m := v.Mask(f.Name)
	switch {
	case m != nil && m.Kind != Inside:
		return m.Refuse(f.Name, at)
	case !f.Type.Open() || slices.Contains(v.Key(), f.Name):
		return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Suggestion: "name it in keys",
			Detail: fmt.Sprintf("part reads texts, JSON and bytes beside the id. %s is of type %s", f.Name, f.Type)}
	case part.Offset < 0 || part.Offset >= math.MaxInt32 || part.Length < 1 || part.Length > math.MaxInt32:
		return &problem.Error{Code: problem.InvalidArgument, Pointer: "/part", Detail: "a part has an offset from 0 and a length from 1, of 31 bits each"}
	}
	p.identify(nil)
	for i := range p.plan.Columns {
		p.plan.Columns[i].Leads = -1
	}
	some := Column{Path: query.Path{f.Name, "part"}, Join: -1, Field: f, Piece: &Piece{Offset: part.Offset, Length: part.Length}, Leads: -1}
	size := Column{Path: query.Path{f.Name, "size"}, Join: -1, Field: f, Piece: &Piece{Size: true}, Leads: -1}
	if m != nil {
		some.Mask, some.After, some.Piece = m, some.Piece, nil
		size.Mask, size.After, size.Piece = m, size.Piece, nil
	}
	p.plan.Columns = append(p.plan.Columns, some, size)
	return nil
}
