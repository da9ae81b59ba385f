package interpret

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A test reports whether a filter holds for a root of paths: a record, or an element of a list.
type test func(rooted) bool

// A rooted is a root of paths.
type rooted interface {
	// leaves returns the values at a path, if any.
	leaves(query.Path) []value.Value
}

func (r record) leaves(path query.Path) []value.Value {
	return leaves(r.value(path[0]), path[1:])
}

// An element is the root of the paths in an $elemMatch.
type element struct{ value.Value }

func (e element) leaves(path query.Path) []value.Value { return leaves(e.Value, path) }

// leaves returns the values at path in v. In a list, the path continues in each object of the list.
func leaves(v value.Value, path query.Path) []value.Value {
	if len(path) == 0 {
		return []value.Value{v}
	}
	switch v.Kind() {
	case value.Object:
		inner, _ := v.Get(path[0]) // a missing member is null
		return leaves(inner, path[1:])
	case value.Array:
		var all []value.Value
		for _, e := range v.List() {
			if e.Kind() == value.Object {
				all = append(all, leaves(e, path)...)
			}
		}
		return all
	}
	return nil
}

// An aim is the path of a condition. whole reports whether the condition is about the whole value at the path: see
// query.Whole.
type aim struct {
	path  query.Path
	whole bool
}

// some reports whether the function holds returns true for a value at the path, or for an element of a list at the
// path. If the condition is about the whole value, elements don't count, and the value must not be inside a list.
func (a aim) some(r rooted, holds func(value.Value) bool) bool {
	if a.whole {
		return !a.crossesList(r) && slices.ContainsFunc(r.leaves(a.path), holds)
	}
	return someCandidate(r.leaves(a.path), holds)
}

// crossesList reports whether the path continues inside a list.
func (a aim) crossesList(r rooted) bool {
	for n := 1; n < len(a.path); n++ {
		if slices.ContainsFunc(r.leaves(a.path[:n]), func(v value.Value) bool { return v.Kind() == value.Array }) {
			return true
		}
	}
	return false
}

// equals reports whether the value at the path equals v. Null also equals a missing value.
func (a aim) equals(r rooted, v value.Value) bool {
	if v.IsNull() && len(r.leaves(a.path)) == 0 && !(a.whole && a.crossesList(r)) {
		return true
	}
	return a.some(r, func(c value.Value) bool { return v.IsNull() && c.IsNull() || same(c, v) })
}

// someCandidate reports whether the function holds returns true for a leaf, or for an element of a leaf that is a list.
func someCandidate(of []value.Value, holds func(value.Value) bool) bool {
	return slices.ContainsFunc(of, func(leaf value.Value) bool {
		return holds(leaf) || slices.ContainsFunc(leaf.List(), holds)
	})
}

// predicate makes a test from a filter.
func (r *reading) predicate(f query.Filter) (test, error) {
	switch f := f.(type) {
	case query.And:
		parts, err := r.predicates(f)
		return func(r rooted) bool {
			return !slices.ContainsFunc(parts, func(p test) bool { return !p(r) })
		}, err
	case query.Or:
		parts, err := r.predicates(f)
		return func(r rooted) bool {
			return slices.ContainsFunc(parts, func(p test) bool { return p(r) })
		}, err
	case query.Not:
		part, err := r.predicate(f.Part)
		return func(r rooted) bool { return !part(r) }, err
	case query.Never:
		return func(rooted) bool { return false }, nil
	case query.Compare:
		return comparison(f), nil
	case query.In:
		return func(r rooted) bool {
			at := aim{f.Path, f.Whole}
			return f.Not != slices.ContainsFunc(f.Values, func(v value.Value) bool { return at.equals(r, v) })
		}, nil
	}
	return r.inner(f)
}

// inner makes the test of a condition on the value at a path.
func (r *reading) inner(f query.Filter) (test, error) {
	switch f := f.(type) {
	case query.Exists:
		return func(r rooted) bool {
			return f.Want == slices.ContainsFunc(r.leaves(f.Path), func(v value.Value) bool { return !v.IsNull() })
		}, nil
	case query.Regex:
		expression, err := regexp.Compile(f.Expression())
		return func(r rooted) bool {
			return aim{f.Path, f.Whole}.some(r, func(v value.Value) bool {
				return v.Kind() == value.String && expression.MatchString(v.Text())
			})
		}, err
	case query.StartsWith:
		return func(r rooted) bool {
			return aim{f.Path, f.Whole}.some(r, func(v value.Value) bool {
				return v.Kind() == value.String && strings.HasPrefix(v.Text(), f.Prefix)
			})
		}, nil
	case query.GeoWithin:
		if f.Text {
			return func(r rooted) bool { return aim{f.Path, f.Whole}.some(r, f.Area.HoldsText) }, nil
		}
		return func(r rooted) bool { return aim{f.Path, f.Whole}.some(r, f.Area.Holds) }, nil
	case query.Size:
		return func(r rooted) bool {
			return slices.ContainsFunc(r.leaves(f.Path), func(v value.Value) bool {
				return v.Kind() == value.Array && int64(len(v.List())) == f.N
			})
		}, nil
	case query.ElemMatch:
		match, err := r.predicate(f.Match)
		return func(r rooted) bool {
			return slices.ContainsFunc(r.leaves(f.Path), func(v value.Value) bool {
				return slices.ContainsFunc(v.List(), func(e value.Value) bool { return match(element{e}) })
			})
		}, err
	case query.InQuery:
		return r.inQuery(f)
	}
	return nil, problem.New(problem.Internal, fmt.Sprintf("interpret: there is no filter %T", f))
}

// inQuery makes a test that a value is the key of a record in another view.
func (r *reading) inQuery(f query.InQuery) (test, error) {
	if f.View < 1 || f.View > len(r.plan.Views) || len(f.Key) == 0 {
		return nil, problem.New(problem.Internal, fmt.Sprintf("the plan has no view %d with a key %q", f.View, f.Key))
	}
	v := r.plan.Views[f.View-1]
	records, err := r.view(Need{View: v})
	if err == nil && f.Where != nil {
		records, err = r.keep(records, f.Where, rootsOf(v.Class()))
	}
	var keys []value.Value
	for _, row := range records {
		keys = append(keys, record{v.Class(), row}.leaves(f.Key)...)
	}
	return func(of rooted) bool {
		found := someCandidate(of.leaves(f.Path), func(c value.Value) bool {
			return slices.ContainsFunc(keys, func(key value.Value) bool { return same(c, key) })
		})
		return found != f.Not
	}, err
}

// predicates makes a test from each part. An empty list is an error, because the parser never makes one.
func (r *reading) predicates(parts []query.Filter) ([]test, error) {
	if len(parts) == 0 {
		return nil, problem.New(problem.InvalidQuery, "an empty list of conditions")
	}
	out := make([]test, len(parts))
	for i, p := range parts {
		var err error
		if out[i], err = r.predicate(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// comparison makes the test of a comparison. As in MongoDB, Eq and the orders hold if a value at the path, or an
// element of a list there, satisfies them. Ne holds if no value is equal. Values of different types aren't ordered.
func comparison(f query.Compare) test {
	at := aim{f.Path, f.Whole}
	switch f.Op {
	case query.Eq:
		return func(r rooted) bool { return at.equals(r, f.Value) }
	case query.Ne:
		return func(r rooted) bool { return !at.equals(r, f.Value) }
	}
	stands := map[query.Op]func(int) bool{
		query.Gt: func(c int) bool { return c > 0 }, query.Gte: func(c int) bool { return c >= 0 },
		query.Lt: func(c int) bool { return c < 0 }, query.Lte: func(c int) bool { return c <= 0 },
	}[f.Op]
	return func(r rooted) bool {
		return at.some(r, func(c value.Value) bool {
			order, alike := value.Compare(c, f.Value)
			return alike && stands(order)
		})
	}
}
