package sqlgen

import (
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Prefix compiles the longest beginning of a plan's Program that the dialect can write. It returns the number of stages
// in that beginning. The rows contain all columns of the shape after these stages, including hidden ones, in order.
// There are at most limit + 1 rows. The argument most is the approximate maximum size of all their values, in bytes.
// The error is Unsupported if the dialect can't even write the view.
func Prefix(of *policy.Plan, d Dialect, limit, most int) (Statement, int, error) {
	var refused error
	for n := len(of.Program.Stages); n >= 0; n-- {
		program, p := *of.Program, *of
		program.Stages = program.Stages[:n]
		p.Program, p.Limit, p.Most = &program, limit, most
		st, err := (&writer{Dialect: d, plan: &p, whole: true}).statement()
		if err == nil {
			return st, n, nil
		}
		if problem.CodeOf(err) != problem.Unsupported {
			return Statement{}, 0, err
		}
		refused = err
	}
	return Statement{}, 0, refused
}

// A Part selects some records of a view. They are the records in which the field Key equals a value in In, or all
// records if Key is "". Limit and Most are as for Prefix.
type Part struct {
	Key         string
	In          []value.Value
	Limit, Most int
}

// Records compiles a query for records of a view. A row contains the visible fields in their order.
func Records(v *policy.View, d Dialect, n Part) (Statement, error) {
	p := &policy.Plan{View: v, Limit: n.Limit, Most: n.Most}
	for _, f := range v.Fields() {
		p.Columns = append(p.Columns, policy.Column{Path: query.Path{f.Name}, Field: f, Join: -1})
	}
	if n.Key != "" {
		p.Where = query.In{Path: query.Path{n.Key}, Values: n.In}
	}
	return (&writer{Dialect: d, plan: p}).statement()
}
