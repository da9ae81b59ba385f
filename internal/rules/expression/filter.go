package expression

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
)

// Within reports whether something in f is compared with an expression.
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

// Of returns the expression of d, compiled. What is wrong with it is a *Fault.
func (c *Compiler) Of(d query.Deferred) (*Expression, error) {
	if d.List {
		return c.Compile(d.CEL, List)
	}
	return c.Compile(d.CEL, Scalar)
}

// Check returns what is wrong with the first of f's expressions that is not right, as a problem.InvalidArgument with its
// place; nil when nothing is.
func (c *Compiler) Check(f query.Filter) error {
	_, err := Replace(f, func(d query.Deferred, _ bool) (query.Filter, error) {
		if _, err := c.Of(d); err != nil {
			return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: d.At, Detail: err.Error()}
		}
		return d, nil
	})
	return err
}

// Fill returns f with what its expressions say of who in their places, as a filter that anybody could write. An
// expression that can't be compiled, fails or yields nothing is an error, and so is what check, which may be nil,
// refuses: it is given each comparison that is made outside of $elemMatch.
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

// Replace returns f with visit's answers in the places of what is deferred, or the first error of visit. element tells
// whether that is in an $elemMatch.
func Replace(f query.Filter, visit func(d query.Deferred, element bool) (query.Filter, error)) (query.Filter, error) {
	return walk{visit: visit}.filter(f)
}

type walk struct {
	visit   func(query.Deferred, bool) (query.Filter, error)
	element bool
}

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
