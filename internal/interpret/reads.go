package interpret

import (
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
)

// Reads reports which fields of a view a find or a count reads, and which of them it requires whole. It filters, orders
// or joins by the whole fields. Of other fields, it requires only the part that is returned. For pipelines, and for
// views other than the plan's and its joins', both functions return true for all fields.
func Reads(p *policy.Plan, v *policy.View) (read, whole func(name string) bool) {
	if p.Program != nil {
		return all, all
	}
	known := v == p.View
	for _, j := range p.Joins {
		known = known || v == j.View
	}
	needs := map[string]bool{} // the value reports whether the whole field is required
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
