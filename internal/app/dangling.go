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

// danglingTimeout limits the count of one pointer's records.
const danglingTimeout = 20 * time.Second

// Dangling counts, for each pointer that the rules of c declare, the records that it leads nowhere from, and returns a
// warning for each pointer that doesn't hold. catalogue is that of the sources of c.
func Dangling(ctx context.Context, c *config.Config, catalogue []schema.Class) ([]string, error) {
	bare := policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{}}
	for name, rule := range c.Rules.Classes {
		if len(rule.Pointers) > 0 {
			bare.Classes[name] = policy.ClassRule{Pointers: rule.Pointers}
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
		warnings, err := danglingIn(ctx, c, s, p, in)
		if err != nil {
			return nil, err
		}
		out = append(out, warnings...)
	}
	return out, nil
}

// danglingIn is Dangling for the pointers of these classes of one source.
func danglingIn(ctx context.Context, c *config.Config, s config.Source, p *policy.Policy, classes []string) (out []string, err error) {
	opened, err := OpenSource(ctx, c, s)
	if err != nil {
		return nil, err
	}
	defer CloseAfter(opened, &err)
	for _, name := range classes {
		pointers := p.Rules().Classes[name].Pointers
		for _, field := range slices.Sorted(maps.Keys(pointers)) {
			n, err := dangling(ctx, opened, p, name, field)
			at := fmt.Sprintf("classes.%s.pointers.%s: ", name, field)
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err != nil:
				out = append(out, at+"it could not be checked in time, or the source refused")
			case n > 0:
				out = append(out, fmt.Sprintf("%sin %d records it leads to no record of %s", at, n, pointers[field].Class))
			}
		}
	}
	return out, nil
}

// dangling counts the records of a class whose pointer leads to no record.
func dangling(ctx context.Context, s source.Source, p *policy.Policy, class, field string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, danglingTimeout)
	defer cancel()
	who := identity.Principal{ID: "check", Scopes: []identity.Scope{identity.Read}}
	v, err := p.View(who, class, "", true)
	if err != nil {
		return 0, err
	}
	to, _ := v.Pointer(field)
	permit, err := p.Read(who, &query.Count{Class: v.Class().FullName(), Where: query.And{
		query.Compare{Path: query.Path{field}, Op: query.Ne},
		query.Compare{Path: query.Path{field, to.TargetKey}, Op: query.Eq},
	}})
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
