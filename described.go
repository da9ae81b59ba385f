package bailiwick

import (
	"context"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/policy/against"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/review"
	"github.com/bailiwick-dev/bailiwick/review/sight"
	"github.com/bailiwick-dev/bailiwick/source"
)

// Described returns a class, "source.Class", for a check of arguments against it that an owner has asked for: all of it, as
// its source describes it now where it can tell, and the asker's view of it. That it isn't there is no error.
func (c *Call) Described(ctx context.Context, class string) (against.Described, error) {
	from, name, _ := strings.Cut(class, ".")
	live, ok := c.gateway.options.Sources[from].(source.Live)
	if !ok {
		known, _, _, err := c.policy.Shown(class)
		if err != nil {
			return against.Described{Why: "it isn't there any more"}, nil
		}
		v, err := c.policy.View(c.who, class, "", true)
		if err != nil {
			v = nil // the asker sees none, for whatever reason
		}
		return against.Described{Class: known, View: v}, nil
	}
	now, err := live.Class(ctx, name)
	switch {
	case ctx.Err() != nil:
		return against.Described{}, ctx.Err()
	case err != nil:
		return against.Described{Why: problem.Of(err).Detail}, nil
	}
	return against.Described{Class: &now, View: c.policy.Fresh(c.who, &now)}, nil
}

// doubts are what spoke against a change when it was proposed, as far as the person sees what that is about.
func (c *Call) doubts(found *change.Change) []review.Check {
	seen := sight.Of(c.policy, c.who, c.gateway.masks)
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
