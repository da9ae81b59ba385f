package changes

import (
	"context"
	"slices"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Standing runs the action of a change again, for the principal of c, without proposing anything. Its error says why
// the action would no longer propose the change. It is a bailiwick.Standing.
func (r *Toolset) Standing(ctx context.Context, c *bailiwick.Call, found *change.Change) error {
	gone := &problem.Error{Code: problem.PermissionDenied, Kind: "action", Detail: "the agent has no action " + problem.Cut(found.Action) + " any more"}
	var a *action.Action
	var of called
	if found.Tool == methodTool {
		v, err := c.View(word(found.Input, "class_name"))
		if err == nil {
			a, err = r.named(c.Who(), v, found.Action)
		}
		if err != nil {
			return gone
		}
		if of, err = ofMethod(found.Input); err != nil {
			return err
		}
	} else {
		usable := r.usable(c.Who(), "")
		i := slices.IndexFunc(usable, func(a *action.Action) bool { return a.Tool && a.Name == found.Tool })
		if i < 0 {
			return gone
		}
		a, of = usable[i], ofTool(usable[i], found.Input)
	}
	_, err := r.request(ctx, c, a, of)
	return err
}
