package bailiwick

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// An exam checks whether a change may be made now. It depends on the rules in force, the records that the change's
// agent sees, and the classes that describe its arguments. The same exam runs when a change is proposed, when a person
// looks at it and right before it is applied. The target makes further checks in its own transaction.
type exam struct {
	call    *Call          // of the agent with its current rights, and with the policy that decides
	found   *change.Change // nil while the change is being proposed
	request write.Request  // the writes. Actions make their writes again

	draft   writes.Draft
	plan    writes.Plan
	effects []change.Effect // the records before the writes, from a preview or from a read
	filed   *change.Change  // the change to file, while it is being proposed
	doubts  []write.Doubt   // about the arguments, for reviewers
}

// A check is one question of an exam.
type check struct {
	name string // in review.Check
	ask  func(*exam, context.Context) error
}

// checks are the questions of an exam, in order. docs/changes.md has a row for each.
var checks = []check{
	{"policy", (*exam).rules}, {"action", (*exam).action}, {"pointers", (*exam).pointers}, {"records", (*exam).records}, {"tenants", (*exam).tenants},
	{"pairs", (*exam).pairs}, {"unique", (*exam).unique}, {"dependence", (*exam).dependence}, {"review", (*exam).review}, {"described", (*exam).checkDoubts},
}

// but returns the checks except those with these names.
func but(names ...string) []check {
	return slices.DeleteFunc(slices.Clone(checks), func(c check) bool { return slices.Contains(names, c.name) })
}

// pass returns the first error of checks.
func (e *exam) pass(ctx context.Context, checks []check) error {
	for _, c := range checks {
		if err := c.ask(e, ctx); err != nil {
			return err
		}
	}
	return nil
}

// newExam returns the exam of a proposed change, with the current rights of its agent. It fails if the agent's
// credential is no longer valid.
func (g *Gateway) newExam(ctx context.Context, p *policy.Policy, found *change.Change) (*exam, error) {
	who, err := review.AgentOf(ctx, g.options.Refresher, found)
	if err != nil {
		return nil, err
	}
	return g.examinedFor(p, who, found)
}

// examinedFor is like examined, for the agent who with its current rights.
func (g *Gateway) examinedFor(p *policy.Policy, who identity.Principal, found *change.Change) (*exam, error) {
	if err := writes.CheckSchema(p, who, found); err != nil {
		return nil, err
	}
	list, err := found.ParseWrites()
	if err != nil {
		return nil, err
	}
	call := &Call{gateway: g, who: who, policy: p, record: &audit.Record{}}
	return &exam{call: call, found: found, request: write.Request{Writes: list, Origin: write.Origin{Action: found.Action}, Origins: found.Origins}}, nil
}

// rules checks the writes against the gates, the scopes, the views and the rules for values.
func (e *exam) rules(ctx context.Context) (err error) {
	if e.draft, err = writes.Propose(ctx, e.call.policy, e.call.who, e.request); err != nil {
		return e.call.instead(e.request, err)
	}
	if e.plan, err = e.draft.Plan(); err != nil {
		return err
	}
	e.call.from = e.plan.Source
	if call, ok := e.plan.Items[0].Write.(*write.Call); ok {
		e.call.recordClass(call.Source + "." + call.Operation)
	}
	return nil
}

// action runs the actions of a change again, and compares their writes with the proposed writes. The target's
// transaction compares only the fields that a write sets. It doesn't check an action's conditions on other fields and
// records, nor whether the action still exists.
func (e *exam) action(ctx context.Context) (err error) {
	if e.found == nil || !ofAction(e.found) {
		return nil
	}
	maker := review.Maker{Policy: e.call.policy, Who: e.call.who, Actions: e.call.Actions(""), Reader: reader{e.call}}
	e.request, err = maker.Request(ctx, e.found, e.call.gateway.options.Now())
	return err
}

// pointers refuses pointers to records that the agent doesn't see. A revert may restore earlier pointers.
func (e *exam) pointers(ctx context.Context) error {
	if e.found != nil && e.found.Action == writes.Revert {
		return nil
	}
	return e.call.look(ctx, e.plan.Pointers())
}

// records sets the records before the writes. For a proposal they come from a preview of the source. Otherwise it reads
// them through the agent's views, if a check compares fields that the writes don't set.
func (e *exam) records(ctx context.Context) error {
	if e.found == nil {
		preview, err := e.call.gateway.preview(ctx, e.draft, e.plan.Source)
		if err != nil {
			return err
		}
		e.effects, e.filed = preview.Effects, e.call.change(e.request, &e.plan, preview)
		e.call.nameTargets(ctx, e.filed)
		return nil
	}
	e.effects = slices.Clone(e.found.Effects)
	for i := range min(len(e.effects), len(e.plan.Items)) {
		if find := e.plan.Items[i].CompareQuery(); find != nil {
			now, err := e.call.one(ctx, find)
			if err != nil {
				return err
			}
			e.effects[i].Before = now
		}
	}
	return nil
}

// one returns the record that a query finds, as the caller sees it, or Null.
func (c *Call) one(ctx context.Context, find *query.Find) (out value.Value, err error) {
	rows, err := c.gateway.rows(ctx, c.policy, c.who, find, 0)
	if err != nil {
		return out, err
	}
	for row, err := range rows.All() {
		if err != nil {
			return out, err
		}
		var members []value.Member
		for i, column := range rows.Plan().Columns {
			members = append(members, value.Member{Name: column.Path[0], Value: row.Values[i]})
		}
		out = value.OfObject(members)
	}
	return out, nil
}

// look refuses a write that the source would refuse, if the caller's own views show the reason.
func (c *Call) look(ctx context.Context, lookups []writes.Lookup) error {
	for i := range lookups {
		rows, err := c.gateway.rows(ctx, c.policy, c.who, lookups[i].Find, 0)
		if err != nil {
			return err
		}
		var found []value.Row
		for row, err := range rows.All() {
			if err != nil {
				return err
			}
			found = append(found, slices.Clone(row.Values))
		}
		if err := lookups[i].Refusal(rows.Plan().Columns, found); err != nil {
			return err
		}
	}
	return nil
}

func (e *exam) tenants(context.Context) error { return e.plan.Tenants(e.effects) }

func (e *exam) pairs(context.Context) error { return e.plan.Pairs(e.effects) }

func (e *exam) unique(ctx context.Context) error { return e.call.look(ctx, e.plan.Unique(e.effects)) }

// dependence refuses to wait for a change that will never be applied. A change that waits fails when that ends.
func (e *exam) dependence(ctx context.Context) error {
	if e.found != nil {
		return nil
	}
	return e.call.dependences(ctx, e.request.After)
}

// review applies the rules of review to the change. It fails if they now deny the change, or now require more approvals
// than before, or the approval of other reviewers.
func (e *exam) review(context.Context) error {
	if e.found == nil {
		if e.filed.Mode == write.Deny {
			return change.DeniedError()
		}
		return nil
	}
	judged := *e.found
	e.call.judge(&judged, e.request, &e.plan)
	broken := slices.ContainsFunc(e.found.Decisions, func(d change.Decision) bool { return d.Broken })
	switch had := max(e.found.Need, len(e.found.Approvers())); {
	case judged.Mode == write.Deny:
		return change.DeniedError()
	case judged.Need > had && !broken:
		return &problem.Error{Code: problem.Conflict, Kind: "review", Detail: fmt.Sprintf("the rules ask for %s now, and asked for %d when it was proposed", people(judged.Need), e.found.Need)}
	case !e.found.Covers(&judged) && !broken:
		return &problem.Error{Code: problem.Conflict, Kind: "review", Detail: "the rules ask for other people's approval now than when it was proposed"}
	}
	return nil
}

func people(n int) string {
	if n == 1 {
		return "1 approval"
	}
	return fmt.Sprintf("%d approvals", n)
}

// checkDoubts checks the arguments against the class that describes them. It refuses a change with doubts that no
// reviewer has read. The error doesn't contain the doubts, because the agent reads it.
func (e *exam) checkDoubts(ctx context.Context) error {
	if e.found == nil {
		return nil // the author of the request has checked it
	}
	e.doubts = e.request.Doubts
	if a := e.found.Against; a != nil {
		more, err := e.call.Fits(ctx, *a)
		if err != nil {
			return err
		}
		e.doubts = append(slices.Clone(e.doubts), more...)
	}
	if slices.ContainsFunc(e.doubts, func(d write.Doubt) bool { return !slices.Contains(e.found.Doubts, d) }) {
		return &problem.Error{Code: problem.Conflict, Kind: "described", Detail: "the class that its arguments were checked against has changed: a person has to look at it again"}
	}
	return nil
}

// ofAction reports whether a write of c came from an action.
func ofAction(c *change.Change) bool {
	return slices.ContainsFunc(c.Actions(), func(name string) bool { return name != "" && name != writes.Revert })
}

// AllActions returns all actions in force, sorted by name, including actions that no principal may call.
func (g *Gateway) AllActions() []*action.Action { return g.force.Load().actions.All() }

// Actions returns the actions that p may call on class ("source.Class", or "" for any class) under the rules in force.
func (g *Gateway) Actions(p identity.Principal, class string) []*action.Action {
	now := g.force.Load()
	return usable(g.rules(context.Background(), now.policy), now.actions, p, class)
}

// MayAct reports whether p may call a under the rules in force. It checks the gates, p's scopes, its list of actions
// and its views.
func (g *Gateway) MayAct(p identity.Principal, a *action.Action) bool {
	return a.May(g.rules(context.Background(), g.force.Load().policy), p) == nil
}

func usable(rules *policy.Policy, actions *action.Set, p identity.Principal, class string) []*action.Action {
	return slices.DeleteFunc(actions.All(), func(a *action.Action) bool {
		return class != "" && a.Class.FullName() != class || a.May(rules, p) != nil
	})
}

// Actions returns the actions that the caller may call on class ("source.Class", or "" for any class).
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

// instead adds the actions that the caller may use instead to the refusal of a write. They set the refused field, or
// make the refused kind of write.
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
		switch {
		case a.Tool:
			by = append(by, a.Name)
		case c.MayCall("propose_changes"):
			by = append(by, fmt.Sprintf(`propose_changes with {"op": "action", "class_name": %q, "method_name": %q, …}`, view.Name(), a.Name))
		default:
			by = append(by, "call_method with "+a.Name)
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

// staleOutcome returns the outcome of a change that could no longer be proposed. If the source has already written it, it is
// applied. Otherwise it is stale, because the records may change back and a reviewer may renew it.
func (e *execution) staleOutcome(ctx context.Context, w source.Writer, c *change.Change, why error) (change.EventKind, change.Outcome, error) {
	if p := problem.Of(why); p.Code == problem.Internal || p.Store {
		return "", change.Outcome{}, why // it could not be checked: try again later
	}
	event, o, err := e.gateway.blockApply(ctx, w, c, why)
	if err != nil || event != change.EventFailed {
		return event, o, err
	}
	return change.EventStale, change.Outcome{Detail: o.Detail, Now: e.movedEffects(ctx, w, c)}, nil
}

// movedEffects returns the current records of c, for reviewers, if they differ from the reviewed ones. If they don't differ or
// can't be read, it returns nil.
func (e *execution) movedEffects(ctx context.Context, w source.Writer, c *change.Change) []change.Effect {
	again, err := e.gateway.examinedFor(e.policy, e.who, c)
	if err != nil || again.rules(ctx) != nil {
		return nil
	}
	now, err := w.Preview(ctx, again.draft)
	if err != nil || c.Difference(now.Effects) == "" {
		return nil
	}
	return now.Effects
}

// ofClass reports whether c creates or removes a class.
func ofClass(c *change.Change) bool {
	return slices.ContainsFunc(c.Effects, func(e change.Effect) bool { return e.Op == write.OpSchema })
}
