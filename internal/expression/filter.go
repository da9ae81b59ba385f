package expression

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
)

// Within reports whether f contains a comparison with an expression.
func Within(f query.Filter) bool {
	switch f := f.(type) {
	case query.Deferred:
		return true
	case query.And:
		return slices.ContainsFunc(f, Within)
	case query.Or:
		return slices.ContainsFunc(f, Within)
	case query.Not:
		return Within(f.Part)
	case query.ElemMatch:
		return Within(f.Match)
	case query.InQuery:
		return Within(f.Where)
	}
	return false
}

// Of compiles the expression of d. Errors in its text have the type *expressionFault.
func (c *Compiler) Of(d query.Deferred) (*Expression, error) {
	if d.List {
		return c.Compile(d.CEL, List)
	}
	return c.Compile(d.CEL, Scalar)
}

// Check returns the first error in f's expressions as a problem.InvalidArgument with its pointer. It returns nil if
// there is no error.
func (c *Compiler) Check(f query.Filter) error {
	_, err := Replace(f, func(d query.Deferred, _ bool) (query.Filter, error) {
		if _, err := c.Of(d); err != nil {
			return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: d.At, Detail: err.Error()}
		}
		return d, nil
	})
	return err
}

// Fill returns f with its expressions replaced by their values for p. It fails if an expression doesn't compile,
// fails or yields nothing, or if check refuses a comparison. check may be nil. It isn't called for comparisons within
// $elemMatch.
func (c *Compiler) Fill(f query.Filter, p identity.Principal, check func(query.Filter) error) (query.Filter, error) {
	return Replace(f, func(d query.Deferred, element bool) (query.Filter, error) {
		e, err := c.Of(d)
		if err != nil {
			return nil, err
		}
		v, err := e.Eval(p)
		if err != nil {
			return nil, err
		}
		made := d.With(v)
		if element || check == nil {
			return made, nil
		}
		return made, check(made)
	})
}

// Replace returns f with each deferred comparison replaced by the result of visit, or the first error of visit. The
// argument element of visit is true within an $elemMatch.
func Replace(f query.Filter, visit func(d query.Deferred, element bool) (query.Filter, error)) (query.Filter, error) {
	return walk{visit: visit}.filter(f)
}

// A walk replaces the Deferred conditions of a filter. element is true within an $elemMatch.
type walk struct {
	visit   func(query.Deferred, bool) (query.Filter, error)
	element bool
}

// filter returns f with each Deferred replaced by the result of visit. Within an $elemMatch, fields have no declared
// type, so visit also receives w.element.
func (w walk) filter(f query.Filter) (out query.Filter, err error) {
	switch f := f.(type) {
	case query.Deferred:
		return w.visit(f, w.element)
	case query.And:
		parts, err := w.all(f)
		return query.And(parts), err
	case query.Or:
		parts, err := w.all(f)
		return query.Or(parts), err
	case query.Not:
		f.Part, err = w.filter(f.Part)
		return f, err
	case query.ElemMatch:
		w.element = true
		f.Match, err = w.filter(f.Match)
		return f, err
	case query.InQuery:
		w.element = false
		f.Where, err = w.filter(f.Where)
		return f, err
	}
	return f, nil
}

// all applies filter to each part and returns a new list.
func (w walk) all(parts []query.Filter) ([]query.Filter, error) {
	out := slices.Clone(parts)
	for i := range out {
		var err error
		if out[i], err = w.filter(out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
