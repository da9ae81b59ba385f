package parse

import (
	"context"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Compile implements source.Compiler. It returns the statement that runs in the database. Over REST, it returns the
// first request and a description of the steps that the gateway computes.
func (s *Source) Compile(p policy.Permit) (string, error) {
	if s.direct != nil {
		if c, ok := s.direct.(source.Compiler); ok {
			return c.Compile(p)
		}
		return "", nil
	}
	plan, err := p.Plan()
	if err != nil {
		return "", err
	}
	r, err := s.reading(context.Background(), &plan)
	if err != nil {
		return "", err
	}
	u := r.reads(plan.View)
	v, where, rest := plan.View, plan.Where, "every condition again, the order, and what pointers lead to"
	switch {
	case plan.Program != nil && plan.Program.From < 0:
		return "-- done here: all of it", nil
	case plan.Program != nil:
		v, where = plan.Views[plan.Program.From], query.And(plan.Program.Leading())
		u = r.begins()
		rest = fmt.Sprintf("%d stages", len(plan.Program.Stages))
	case plan.Count:
		c, where, exact, err := r.countCondition()
		if err != nil {
			return "", err
		}
		if exact {
			return "GET /classes/" + c.Table + "?count=1&limit=0&where=" + string(blank(where).AppendJSON(nil)), nil
		}
		rest = "every condition again, and the count"
	}
	// The first request, without the values in its where.
	w, err := r.walk(v, where, u)
	if err != nil {
		return "", err
	}
	text := "GET /classes/" + w.class.Table + "?keys=" + w.keys()
	if w.class.pairs() {
		text, _, _ = strings.Cut(text, "?")
		text += "?"
	}
	if !w.where.IsNull() {
		text += "&where=" + string(blank(w.where).AppendJSON(nil))
	}
	return strings.Replace(text, "?&", "?", 1) + "\n-- done here, over the records that this returns page by page: " + rest, nil
}

// Explain implements source.Explainer. Over REST it returns "", because the plan of the database is not available.
func (s *Source) Explain(ctx context.Context, p policy.Permit) (string, error) {
	if e, ok := s.direct.(source.Explainer); ok {
		return e.Explain(ctx, p)
	}
	return "", nil
}

// blank returns a where object with "?" in place of its values.
func blank(v value.Value) value.Value {
	switch v.Kind() {
	case value.Array, value.Object:
		if _, typed := v.Get("__type"); typed {
			return value.OfString("?")
		}
		return v.Map(blank)
	case value.Null, value.Bool:
		return v
	}
	return value.OfString("?")
}
