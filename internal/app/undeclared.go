package app

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// DeclarationWarnings checks each pointer and each type that the rules of c declare. It counts the records in which
// the pointer leads to no record, or the value isn't in the form of the type. It returns a warning for each
// declaration with such records. catalogue must be the catalogue of c's sources.
func DeclarationWarnings(ctx context.Context, c *config.Config, catalogue []schema.Class) ([]string, error) {
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
			if class, _, _, err := p.VisibleClass(name); err == nil && class.Source == s.Name {
				in = append(in, name)
			}
		}
		if in == nil {
			continue
		}
		warnings, err := sourceDeclarationWarnings(ctx, c, s, p, in)
		if err != nil {
			return nil, err
		}
		out = append(out, warnings...)
	}
	return out, nil
}

// sourceDeclarationWarnings does the work of DeclarationWarnings for the given classes of one source.
func sourceDeclarationWarnings(ctx context.Context, c *config.Config, s config.Source, p *policy.Policy, classes []string) (_ []string, err error) {
	opened, err := openAsOperator(ctx, c, s)
	if err != nil {
		return nil, err
	}
	defer CloseAfter(opened, &err)
	return WrongDeclarations(ctx, opened, p, classes), ctx.Err()
}

// openAsOperator opens and describes a source. For a Parse Server, it uses the master key, because an operator isn't
// a user of the server. It reads only described classes.
func openAsOperator(ctx context.Context, c *config.Config, s config.Source) (_ Opened, err error) {
	if s.Parse != nil {
		all := *s.Parse
		all.As, all.Session, all.User, all.Role = "master", "", "", ""
		s.Parse = &all
	}
	opened, err := OpenSource(ctx, c, s)
	if err != nil {
		return nil, err
	}
	if _, _, err := opened.Describe(ctx); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}
