package declared

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Page says which part of the records a call wants.
type Page struct {
	Limit  int    // at most the query's own. 0 means that
	Cursor string // of the earlier page, or "" for the first one
}

// Take returns the arguments of a call in the form of the query's schema, with notes about arguments in another form,
// or the faults of each argument. at is the JSON pointer of the arguments.
func (q *Query) Take(in value.Value, at string) (value.Value, []string, error) {
	if in.IsNull() {
		in = value.OfObject(nil)
	}
	in, notes := q.arguments.Take(in, true)
	if err := q.arguments.Check(in); err != nil {
		return in, nil, problem.Of(err).MapPointers(func(p string) string { return at + p })
	}
	for _, m := range in.Members() {
		if n := len(m.Value.List()); n > query.MaxIn {
			return in, nil, &problem.Error{Code: problem.InvalidArgument, Pointer: at + query.Pointer("", m.Name),
				Detail: fmt.Sprintf("a list has at most %d values, and this one has %d", query.MaxIn, n)}
		}
	}
	return in, notes, nil
}

// Ask returns the query of who for arguments that Take returned.
func (q *Query) Ask(who identity.Principal, in value.Value, p Page) (query.Query, error) {
	return q.ask(who, q.arguments.WithDefaults(in), p)
}

// ask returns the query with its arguments filled in. An argument that isn't given is null.
func (q *Query) ask(who identity.Principal, in value.Value, p Page) (query.Query, error) {
	limit := q.Rows()
	if p.Limit > 0 {
		limit = min(limit, p.Limit)
	}
	given := map[string]value.Value{}
	for _, name := range q.Arguments() {
		given[name], _ = in.Get(name)
	}
	if _, ok := q.form.(*query.SQL); !ok { // a list that isn't given has no elements
		for _, name := range q.lists {
			if given[name].IsNull() {
				given[name] = value.OfArray(nil)
			}
		}
	}
	switch form := q.form.(type) {
	case *query.SQL:
		out := *form
		out.Params, out.Limit, out.Most, out.Cursor = given, limit, limit, p.Cursor
		return &out, nil
	case *query.Find:
		out := *form
		out.Where, out.Limit, out.Cursor = fill(out.Where, given), limit, p.Cursor
		return &out, nil
	case *query.Native:
		out := *form
		if err := q.addParameters(who, given); err != nil {
			return nil, err
		}
		out.Params, out.Limit, out.Cursor = given, limit, p.Cursor
		return &out, nil
	case *query.Pipeline:
		out := *form
		out.Stages, out.Limit, out.Most = fill(out.Stages, given), limit, MaxLimit
		return &out, nil
	}
	return nil, problem.New(problem.Internal, "a declared query of unknown form")
}

// Explain returns err, which a query of q got, without the places of a text that the caller doesn't see.
func (q *Query) Explain(err error) error {
	if err == nil {
		return nil
	}
	p := *problem.Of(err)
	if p.Pointer == "/"+CursorArgument {
		return err
	}
	if p.Code == problem.InvalidQuery || p.Code == problem.InvalidArgument || p.Code == problem.Unsupported {
		said := p.Detail
		if m := placeInText.FindStringSubmatch(said); m != nil {
			said = m[3]
		}
		p.Detail = "the query " + q.Name + " can't run with these arguments: " + said
		p.Pointer = ""
	}
	return &p
}
