package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
)

// countTimeout is the maximum time to count the records of one class.
const countTimeout = 20 * time.Second

// WrongDeclarations checks the pointers and types that the rules of p declare for classes of s. It returns a warning
// for each declaration that is wrong for some records or could not be checked.
func WrongDeclarations(ctx context.Context, s source.Source, p *policy.Policy, classes []string) (out []string) {
	p = p.AtMost().InAnySchema()
	warn := func(at, what string, n int64, err error) {
		switch {
		case err != nil:
			out = append(out, at+": it could not be checked in time, or the source refused")
		case n > 0:
			out = append(out, fmt.Sprintf("%s: in %d of the records %s", at, n, what))
		}
	}
	for _, name := range classes {
		rule := p.Rules().Classes[name]
		for _, field := range slices.Sorted(maps.Keys(rule.Pointers)) {
			n, err := dangling(ctx, s, p, name, field)
			warn("classes."+name+".pointers."+field, "it leads to no record of "+rule.Pointers[field].Class, n, err)
		}
		for _, field := range slices.Sorted(maps.Keys(rule.Types)) {
			n, err := unlike(ctx, s, p, name, field)
			warn("classes."+name+".types."+field, fmt.Sprintf("it holds no %s, and is shown as null", rule.Types[field]), n, err)
		}
	}
	return out
}

// confirmedRules returns the given rules, which declare pointers of classes of s, reduced to the pointers that the
// records confirm. A pointer is confirmed if at least one record has it and each one leads to a record. doubts
// contains the other lists of pointers, and pointers that no record has.
func confirmedRules(ctx context.Context, s source.Source, rules map[string]policy.ClassRule, classes []schema.Class) (_, doubts map[string]policy.ClassRule) {
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: rules}, classes)
	if err != nil {
		return nil, nil
	}
	p, doubts = p.AtMost().InAnySchema(), map[string]policy.ClassRule{}
	for name, rule := range rules {
		for _, field := range slices.Sorted(maps.Keys(rule.Pointers)) {
			n, err := dangling(ctx, s, p, name, field)
			v, wrong := p.View(checker(), name, "", true)
			held := int64(0)
			if err == nil && n == 0 && wrong == nil {
				if held, err = countRecords(ctx, s, p, v, query.Exists{Path: query.Path{field}, Want: true}); held > 0 {
					continue
				}
			}
			if wrong == nil && err == nil {
				if to, _ := v.Pointer(field); to.List || n == 0 && held == 0 {
					doubt := policy.ClassRule{Pointers: maps.Clone(doubts[name].Pointers)}
					if doubt.Pointers == nil {
						doubt.Pointers = map[string]policy.Pointer{}
					}
					doubt.Pointers[field], doubts[name] = rule.Pointers[field], doubt
				}
			}
			delete(rule.Pointers, field)
		}
	}
	return rules, doubts
}

// checker returns a principal that may read everything.
func checker() identity.Principal {
	return identity.Principal{ID: "check", Scopes: []identity.Scope{identity.Read}}
}

// dangling counts the records of a class whose pointer leads to no record.
func dangling(ctx context.Context, s source.Source, p *policy.Policy, class, field string) (int64, error) {
	v, err := p.View(checker(), class, "", true)
	if err != nil {
		return 0, err
	}
	to, _ := v.Pointer(field)
	if to.List { // a list in which no element leads to a record
		return countRecords(ctx, s, p, v, query.And{
			query.Exists{Path: query.Path{field}, Want: true}, query.Not{Part: query.Size{Path: query.Path{field}, N: 0}},
			query.InQuery{Path: query.Path{field}, Class: to.Target, Not: true},
		})
	}
	return countRecords(ctx, s, p, v, query.And{
		query.Compare{Path: query.Path{field}, Op: query.Ne},
		query.Compare{Path: query.Path{field, to.TargetKey}, Op: query.Eq},
	})
}

// unlike counts the records of a class in which a field has a value, but no value of the type that the rules of p
// declare.
func unlike(ctx context.Context, s source.Source, p *policy.Policy, class, field string) (int64, error) {
	v, err := p.View(checker(), class, "", true)
	if err != nil {
		return 0, err
	}
	shown, err := countRecords(ctx, s, p, v, query.Exists{Path: query.Path{field}, Want: true})
	if err != nil {
		return 0, err
	}
	bare, err := policy.New(policy.Rules{Unlisted: true}, p.Catalogue())
	if err != nil {
		return 0, err
	}
	bare = bare.AtMost().InAnySchema()
	if v, err = bare.View(checker(), v.Class().FullName(), "", true); err != nil {
		return 0, err
	}
	held, err := countRecords(ctx, s, bare, v, query.Exists{Path: query.Path{field}, Want: true})
	return held - shown, err
}

// countRecords counts the records of v, a view of p, that match where.
func countRecords(ctx context.Context, s source.Source, p *policy.Policy, v *policy.View, where query.Filter) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	permit, err := p.Read(checker(), &query.Count{Class: v.Class().FullName(), Where: where})
	if err != nil {
		return 0, err
	}
	rows, err := s.Read(ctx, permit)
	if err != nil {
		return 0, err
	}
	for row, err := range rows {
		if err != nil {
			return 0, err
		}
		return row[0].Int(), nil
	}
	return 0, ctx.Err()
}
