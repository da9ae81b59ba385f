package bailiwick

import (
	"context"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/internal/review/visibility"
	"github.com/bailiwick-dev/bailiwick/internal/rules/schemacheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Described returns a class, "source.Class", to check arguments against: the whole class, as its source describes it
// now if it implements source.Live, and the caller's view of it. A missing class is not an error: Why says so.
func (c *Call) Described(ctx context.Context, class string) (schemacheck.Described, error) {
	from, name, _ := strings.Cut(class, ".")
	live, ok := c.gateway.options.Sources[from].(source.Live)
	if !ok {
		known, _, _, err := c.policy.Shown(class)
		if err != nil {
			return schemacheck.Described{Why: "it isn't there any more"}, nil
		}
		v, err := c.policy.View(c.who, class, "", true)
		if err != nil {
			v = nil // the caller has no view, for whatever reason
		}
		return schemacheck.Described{Class: known, View: v}, nil
	}
	now, err := live.Class(ctx, name)
	switch {
	case ctx.Err() != nil:
		return schemacheck.Described{}, ctx.Err()
	case err != nil:
		return schemacheck.Described{Why: problem.Of(err).Detail}, nil
	}
	return schemacheck.Described{Class: &now, View: c.policy.Fresh(c.who, &now)}, nil
}

// Fits checks the arguments of a call against the class that a declaration names; names lists the possible arguments.
// It returns the doubts for write.Request.Doubts, which the caller may not be allowed to see.
func (c *Call) Fits(ctx context.Context, d schemacheck.Declaration, names []string, args value.Value) ([]write.Doubt, error) {
	wrong := ""
	check := schemacheck.Compile(c.policy, d, names, func(_ []string, format string, args ...any) { wrong = fmt.Sprintf(format, args...) })
	if wrong != "" || check == nil { // it compiled when the rules were loaded
		return []write.Doubt{{Class: d.Class, Text: "the arguments could not be checked: " + wrong}}, nil
	}
	class, err := c.Described(ctx, check.Class)
	if err != nil {
		return nil, err
	}
	return check.Arguments(class, args, "")
}

// doubts returns the doubts recorded when a change was proposed, with details only if the reviewer sees the class and
// field.
func (c *Call) doubts(found *change.Change) []review.Check {
	seen := visibility.Of(c.policy, c.who, c.gateway.masks)
	var out []review.Check
	for _, d := range found.Doubts {
		detail := "a value doesn't fit a class that you may not see"
		s := seen(d.Class)
		_, seen := s.Fields[d.Field]
		if s.Class != "" && s.Masks[d.Field] == nil && (seen || d.Field == "") {
			detail = s.Class + ": " + d.Text
		}
		out = append(out, review.Check{Name: "described", Detail: detail})
	}
	return out
}
