package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
)

// countTimeout limits the count of the records of one class.
const countTimeout = 20 * time.Second

// Undeclared counts, for each pointer and each type that the rules of c declare, the records for which it doesn't hold: the
// pointer leads to no record, or the value isn't in the form of the type. It returns a warning for each that has some.
// catalogue is that of the sources of c.
func Undeclared(ctx context.Context, c *config.Config, catalogue []schema.Class) ([]string, error) {
	bare := policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{}}
	for name, rule := range c.Rules.Classes {
		if len(rule.Pointers)+len(rule.Types) > 0 {
			bare.Classes[name] = policy.ClassRule{Pointers: rule.Pointers, Types: rule.Types}
		}
	}
	if len(bare.Classes) == 0 {
		return nil, nil
	}
	p, err := policy.New(bare, catalogue)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range c.Sources {
		var in []string
		for _, name := range slices.Sorted(maps.Keys(bare.Classes)) {
			if class, _, _, err := p.Shown(name); err == nil && class.Source == s.Name {
				in = append(in, name)
			}
		}
		if in == nil {
			continue
		}
		warnings, err := undeclaredIn(ctx, c, s, p, in)
		if err != nil {
			return nil, err
		}
		out = append(out, warnings...)
	}
	return out, nil
}

// undeclaredIn is Undeclared for these classes of one source.
func undeclaredIn(ctx context.Context, c *config.Config, s config.Source, p *policy.Policy, classes []string) (out []string, err error) {
	opened, err := OpenSource(ctx, c, s)
	if err != nil {
		return nil, err
	}
	defer CloseAfter(opened, &err)
	warn := func(at, what string, n int64, err error) {
		switch {
		case err != nil:
			out = append(out, at+": it could not be checked in time, or the source refused")
		case n > 0:
			out = append(out, fmt.Sprintf("%s: in %d records %s", at, n, what))
		}
	}
	for _, name := range classes {
		rule := p.Rules().Classes[name]
		for _, field := range slices.Sorted(maps.Keys(rule.Pointers)) {
			n, err := dangling(ctx, opened, p, name, field)
			warn("classes."+name+".pointers."+field, "it leads to no record of "+rule.Pointers[field].Class, n, err)
		}
		for _, field := range slices.Sorted(maps.Keys(rule.Types)) {
			n, err := unlike(ctx, opened, p, name, field)
			warn("classes."+name+".types."+field, fmt.Sprintf("it holds no %s, and is shown as null", rule.Types[field]), n, err)
		}
	}
	return out, ctx.Err()
}

// checker may read everything.
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
	return counted(ctx, s, p, v, query.And{
		query.Compare{Path: query.Path{field}, Op: query.Ne},
		query.Compare{Path: query.Path{field, to.TargetKey}, Op: query.Eq},
	})
}

// unlike counts the records of a class whose field has a value, but none of the type that the rules of p declare.
func unlike(ctx context.Context, s source.Source, p *policy.Policy, class, field string) (int64, error) {
	v, err := p.View(checker(), class, "", true)
	if err != nil {
		return 0, err
	}
	shown, err := counted(ctx, s, p, v, query.Exists{Path: query.Path{field}, Want: true})
	if err != nil {
		return 0, err
	}
	bare, err := policy.New(policy.Rules{Unlisted: true}, p.Catalogue())
	if err != nil {
		return 0, err
	}
	if v, err = bare.View(checker(), v.Class().FullName(), "", true); err != nil {
		return 0, err
	}
	held, err := counted(ctx, s, bare, v, query.Exists{Path: query.Path{field}, Want: true})
	return held - shown, err
}

// counted counts the records of v, a view of p, for which where holds.
func counted(ctx context.Context, s source.Source, p *policy.Policy, v *policy.View, where query.Filter) (int64, error) {
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
