package interpret

import (
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
)

// Reads returns which fields of a view a find or a count reads, and which of them it needs whole. The query finds,
// orders or joins by the latter. Of the other fields it needs only the part that is returned. For a view that isn't its
// own or that of a join, and for pipelines, it returns all fields.
func Reads(p *policy.Plan, v *policy.View) (read, whole func(name string) bool) {
	if p.Program != nil {
		return all, all
	}
	known := v == p.View
	for _, j := range p.Joins {
		known = known || v == j.View
	}
	needs := map[string]bool{} // and whether whole
	use := func(join int, name string, whole bool) {
		if join < 0 && v == p.View || join >= 0 && v == p.Joins[join].View {
			needs[name] = needs[name] || whole
		}
	}
	for _, c := range p.Columns {
		use(c.Join, c.Field.Name, c.Piece != nil)
	}
	for _, o := range p.Order {
		use(o.Join, o.Field.Name, true)
	}
	for i, j := range p.Joins {
		use(j.From, j.Field, true)
		use(i, j.Key, true)
	}
	if p.Search != nil {
		for _, in := range p.Search.In {
			for _, name := range in.Fields {
				use(-1, name, true)
			}
		}
	}
	err := query.Conditions(p.Where, func(_ query.Filter, path query.Path) error {
		if join, f := p.Column(path[0]); f != nil {
			use(join, f.Name, true)
		}
		return nil
	})
	if !known || err != nil {
		return all, all
	}
	return func(name string) bool { _, is := needs[name]; return is }, func(name string) bool { return needs[name] }
}

func all(string) bool { return true }
