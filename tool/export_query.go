package tool

import (
	"context"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// ofQuery returns x with the answer of a declared query. row_cap takes the place of the query's own limit, which is that
// of a page.
func (x *export) ofQuery(ctx context.Context, c *bailiwick.Call, args arguments) (*export, error) {
	for _, name := range []string{"class_name", "where", "keys", "include", "order", "limit", "skip", "pipeline"} {
		if args.has(name) {
			return nil, invalid("/"+name, name+" and query exclude each other")
		}
	}
	var err error
	if x.declared, err = c.FindQuery(ctx, args.text("query"), "/query"); err != nil {
		return nil, err
	}
	in, _ := args.Get("input")
	if x.asked, err = c.TakeQuery(x.declared, in, declared.Page{}, "/input"); err != nil {
		return nil, err
	}
	x.asked = limitedTo(x.asked, x.cap)
	return x, nil
}

// limitedTo returns a copy of q with another maximum number of records.
func limitedTo(q query.Query, n int) query.Query {
	switch q := q.(type) {
	case *query.Find:
		out := *q
		out.Limit = n
		return &out
	case *query.SQL:
		out := *q
		out.Limit, out.Most = n, n
		return &out
	case *query.Pipeline:
		out := *q
		out.Limit, out.Most = n, n
		return &out
	case *query.Native:
		out := *q
		out.Limit = n
		return &out
	}
	return q
}

// subject returns what is exported, as the first member of the answer.
func (x *export) subject() value.Member {
	if x.declared != nil {
		return text("query", x.declared.Name)
	}
	return text("class_name", x.class)
}
