package tool

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// explainAbsence adds a note to c if a query of c found nothing. The note has the number of records that the canonical
// filter excluded, or otherwise explains how to find texts in another case.
func explainAbsence(ctx context.Context, c *bailiwick.Call) {
	last, shown := c.Last()
	if asked := c.Empty(); asked != nil {
		v, err := c.View(asked.From())
		if err == nil && (v.Canonical() == nil || !canonical(ctx, c, asked, v)) {
			within, cancel := context.WithTimeout(ctx, mostTime)
			defer cancel()
			texts(within, c, asked, v)
		}
	}
	if last == nil {
		return
	}
	within, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	switch q := last.(type) {
	case *query.SQL:
		beside(within, c, q, shown)
	default:
		besideFilter(within, c, q, shown)
	}
}

// mostTime is the maximum time of the queries for the notes of one call.
const mostTime = 2 * time.Second

// canonical notes how many records the canonical filter of v excluded, and reports whether it did.
func canonical(ctx context.Context, c *bailiwick.Call, asked query.Query, v *policy.View) bool {
	if !v.CanonicalOpen() {
		return false // the caller may not count the excluded records
	}
	if s, is := asked.(*query.SQL); is && absentNames(s, v) {
		c.Note(fmt.Sprintf("%s holds its live records alone: the canonical filter %s is part of every statement. query_class takes "+
			`"apply_canonical_filter": false, which asks for the others too`, v.Name(), query.Print(v.Canonical()).String()))
		return true
	}
	where, ok := condition(asked)
	if !ok {
		return false
	}
	n, _, err := c.Count(ctx, &query.Count{Class: asked.From(), Where: where, Raw: true})
	if err != nil || n == 0 {
		return false // no note if the second query fails
	}
	if _, steps := asked.(*query.Pipeline); steps { // the reason may be its other stages, or nulls in its records
		if live, _, err := c.Count(ctx, &query.Count{Class: asked.From(), Where: where}); err != nil || live > 0 {
			return false
		}
	}
	rule := "Its canonical filter"
	if v.CanName(v.Canonical()) {
		rule = "The canonical filter " + query.Print(v.Canonical()).String()
	}
	c.Note(fmt.Sprintf("no live record of %s matches. %s leaves out %d that match. query_class takes "+
		`"apply_canonical_filter": false, which asks for these too`, v.Name(), rule, n))
	return true
}

// absentNames reports whether a statement names a field of v's canonical filter and the caller sees all fields of the
// filter.
func absentNames(s *query.SQL, v *policy.View) bool {
	rule, text := query.Print(v.Canonical()).String(), strings.ToLower(s.Text)
	return v.CanName(v.Canonical()) && slices.ContainsFunc(v.Fields(), func(f *schema.Field) bool {
		return strings.Contains(rule, strconv.Quote(f.Name)) && strings.Contains(text, strings.ToLower(f.Name))
	})
}

// condition returns the filter of a query on the records of its class. It also reports whether the canonical filter
// applies.
func condition(q query.Query) (query.Filter, bool) {
	switch q := q.(type) {
	case *query.Count:
		return q.Where, !q.Raw
	case *query.Find:
		return q.Where, !q.Raw && q.IDs == nil && q.Search == nil && q.Skip == 0 && q.Cursor == ""
	case *query.Pipeline:
		if len(q.Stages) > 0 {
			if first, ok := q.Stages[0].(query.Match); ok {
				return first.Where, !q.Raw && first.If == nil
			}
		}
		return nil, !q.Raw
	}
	return nil, false
}
