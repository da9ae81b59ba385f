package bailiwick

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review/parties"
	"github.com/bailiwick-dev/bailiwick/internal/review/remade"
	"github.com/bailiwick-dev/bailiwick/internal/rules/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// AllActions returns the actions in force, sorted by name, also those that no principal may call.
func (g *Gateway) AllActions() []*action.Action { return g.force.Load().actions.All() }

// Actions returns the actions that p may call on a class, "source.Class", or on any for "", under the rules in force.
func (g *Gateway) Actions(p identity.Principal, class string) []*action.Action {
	now := g.force.Load()
	return usable(g.rules(context.Background(), now.policy), now.actions, p, class)
}

// MayAct reports whether p may call a under the rules in force: by the gates, its scope, its list of actions and its
// views.
func (g *Gateway) MayAct(p identity.Principal, a *action.Action) bool {
	return a.May(g.rules(context.Background(), g.force.Load().policy), p) == nil
}

func usable(rules *policy.Policy, actions *action.Set, p identity.Principal, class string) []*action.Action {
	return slices.DeleteFunc(actions.All(), func(a *action.Action) bool {
		return class != "" && a.Class.FullName() != class || a.May(rules, p) != nil
	})
}

// Actions returns the actions that the caller may call on a class, "source.Class", or on any for "".
func (c *Call) Actions(class string) []*action.Action {
	return usable(c.policy, cmp.Or(c.actions, c.gateway.force.Load().actions), c.who, class)
}

// Invoke returns the request that a call of an action makes, to be proposed. It reads records and writes nothing.
func (c *Call) Invoke(ctx context.Context, a *action.Action, by action.Invocation) (write.Request, error) {
	if by.Now.IsZero() {
		by.Now = c.gateway.options.Now()
	}
	return a.Request(ctx, action.Call{Who: c.who, Record: by.Record, Input: by.Args, At: by.At, Now: by.Now, Reader: reader{c}})
}

// instead adds to the refusal of a write the actions that the caller may use for it: those that set the refused field, or do
// the refused kind of write.
func (c *Call) instead(r write.Request, err error) error {
	refusal, of := errors.AsType[*writes.Refusal](err)
	p := problem.Of(err)
	if !of || p.Kind != "not_permitted" && p.Kind != "write_denied" || p.Suggestion != "" || r.From(refusal.Write).Action != "" {
		return err
	}
	w := r.Writes[refusal.Write]
	view, absent := c.policy.View(c.who, w.Target(), "", true)
	if absent != nil {
		return err
	}
	var by []string
	for _, a := range c.Actions(view.Class().FullName()) {
		if string(a.Do) != string(w.Op()) || refusal.Field != "" && !slices.Contains(append(a.Parameters(), a.Permitted...), refusal.Field) {
			continue
		}
		if by = append(by, "call_method with "+a.Name); a.Tool {
			by[len(by)-1] = a.Name
		}
	}
	if by != nil {
		p.Suggestion = "that is done by " + strings.Join(by, " or ")
	}
	return err
}

// A reader reads records as the principal of a call sees them.
type reader struct{ *Call }

// Record implements action.Reader.
func (r reader) Record(ctx context.Context, class, id string) (value.Value, error) {
	page, err := r.Get(ctx, &query.Find{Class: class, IDs: []string{id}, Limit: 1})
	if err != nil || page.Count == 0 {
		return value.Value{}, err
	}
	return value.Read(page.Record(0), 0)
}

// ofAction reports whether a write of c came from an action.
func ofAction(c *change.Change) bool {
	return slices.ContainsFunc(c.Actions(), func(name string) bool { return name != "" && name != writes.Revert })
}

// recheck returns nil if c comes from no action, or if its actions would still propose the same for its agent as of now. The
// target's transaction compares only what a write sets, not what an action requires of other fields and records, nor
// whether the action still exists. A change whose action is unknown is refused.
func (g *Gateway) recheck(ctx context.Context, p *policy.Policy, c *change.Change) error {
	if !ofAction(c) {
		return nil
	}
	principal, err := parties.Agent(ctx, g.options.Refresher, c)
	if err != nil {
		return err
	}
	call := &Call{gateway: g, who: principal, policy: p, record: &audit.Record{}}
	return remade.Maker{Policy: p, Who: principal, Actions: call.Actions(""), Reader: reader{call}}.Check(ctx, c, g.options.Now())
}

// fallen returns the outcome of a change that its action would no longer propose: it is stale, since the records may
// change back and a reviewer may renew it. If it was already written, it is applied.
func (e *execution) fallen(ctx context.Context, w source.Writer, c *change.Change, why error) (change.EventKind, change.Outcome, error) {
	if problem.CodeOf(why) == problem.Internal {
		return "", change.Outcome{}, why // it could not be checked: try again later
	}
	event, o, err := e.gateway.barred(ctx, w, c, why)
	if err != nil || event != change.EventFailed {
		return event, o, err
	}
	return change.EventStale, change.Outcome{Detail: o.Detail, Now: e.moved(ctx, w, c)}, nil
}

// moved returns the current records of c, for reviewers, if they differ from what was reviewed; else, or if they
// can't be read, nil.
func (e *execution) moved(ctx context.Context, w source.Writer, c *change.Change) []change.Effect {
	draft, err := (&Call{gateway: e.gateway, policy: e.policy}).draft(ctx, c)
	if err != nil {
		return nil
	}
	now, err := w.Preview(ctx, draft)
	if err != nil || c.Moved(now.Effects) == "" {
		return nil
	}
	return now.Effects
}
