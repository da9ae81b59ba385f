package bailiwick

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Propose checks r against policy, lets its source preview it, and files it as a change for review. It applies the
// change at once only if rules and gates allow this write without review. While a change is pending, the same request
// returns that change.
func (c *Call) Propose(ctx context.Context, r write.Request) (*review.Sheet, error) {
	old, err := c.replacedChange(ctx, r)
	if err != nil {
		return nil, err
	}
	filed, same, err := c.draftChange(ctx, r)
	if err != nil {
		return nil, err
	}
	if same {
		return nil, &problem.Error{Code: problem.Conflict, Kind: "unchanged", Detail: "no change was filed: each field of the update already has this value",
			Suggestion: "nothing waits for review. Go on, or read the record again if you expected another value"}
	}
	kept, err := c.file(ctx, filed, old)
	if err != nil {
		return nil, err
	}
	c.did = audit.Proposed
	if kept.State == change.Granted {
		c.runs = kept.ID
		if kept, err = c.gateway.settleSoon(ctx, kept, change.Approved{}); err != nil && problem.Of(err).Store {
			err = problem.MayRun(c.runs, problem.Of(err).Err)
		}
		if err != nil {
			return nil, err
		}
	}
	return c.sheetOf(ctx, kept), nil
}

// Preview returns the change that Propose would file for r, without filing it.
func (c *Call) Preview(ctx context.Context, r write.Request) (*review.Sheet, error) {
	filed, _, err := c.draftChange(ctx, r)
	if err != nil {
		return nil, err
	}
	filed.State, filed.Digest = change.Pending, filed.Sum()
	return c.sheetOf(ctx, filed), nil
}

// draftChange returns the change for r, judged by the rules but not filed. same reports whether it changes nothing that the
// caller sees.
func (c *Call) draftChange(ctx context.Context, r write.Request) (filed *change.Change, same bool, err error) {
	if c.gateway.options.Changes == nil {
		return nil, false, noChanges()
	}
	if len(r.Writes) > 0 {
		c.recordClass(r.Writes[0].Target())
	}
	e := exam{call: c, request: r}
	if err := e.pass(ctx, checks); err != nil {
		return nil, false, err
	}
	return e.filed, e.plan.ChangesNothing(e.effects), nil
}

// preview returns the preview of a draft by the named source.
func (g *Gateway) preview(ctx context.Context, draft writes.Draft, name string) (change.Preview, error) {
	w, err := g.writer(name)
	if err != nil {
		return change.Preview{}, err
	}
	plan, err := draft.Plan()
	if err != nil {
		return change.Preview{}, err
	}
	p, err := w.Preview(ctx, draft)
	plan.NoteReferences(p.Effects)
	return p, err
}

// writer returns the named source as a Writer, or a problem.Unsupported if it is read-only.
func (g *Gateway) writer(name string) (source.Writer, error) {
	w, ok := source.WriterOf(g.options.Sources[name])
	if !ok {
		return nil, &problem.Error{Code: problem.Unsupported, Kind: "read_only", Detail: fmt.Sprintf("the source %s can only be read", name)}
	}
	if g.options.Functions != nil {
		return overFunctions(w, g.options.Functions), nil
	}
	return w, nil
}

// dependences refuses to wait for a change that isn't the caller's, or that will never be applied.
func (c *Call) dependences(ctx context.Context, after []string) error {
	for i, id := range after {
		before, err := c.mine(ctx, id)
		if err == nil && before.State.IsFinal() && before.State != change.Applied {
			err = &problem.Error{Code: problem.Conflict, Kind: "dependence", Detail: fmt.Sprintf("the change %s is %s and will never be applied: nothing can wait for it", before.ID, before.State),
				Suggestion: "propose this without after, or propose the other again and name its new change_id"}
		}
		if err != nil {
			p := problem.Of(err)
			p.Pointer = fmt.Sprintf("/after/%d", i)
			return p
		}
	}
	return nil
}

// change builds the change to file.
func (c *Call) change(r write.Request, plan *writes.Plan, p change.Preview) *change.Change {
	out := &change.Change{
		Source: plan.Source, Schema: plan.Schema(), Effects: p.Effects, Cascades: p.Cascades, Preview: p.Kind, Refusal: p.Refusal, Doubts: r.Doubts,
		Tool: r.Tool, Action: r.Action, Title: r.Title, Says: r.Says, Policy: plan.Version, Agent: change.PartyOf(c.who),
		Reason: r.Reason, Input: r.Input, Correlation: c.record.Correlation, After: r.After, Origins: r.Origins, Now: r.Now, Against: r.Against,
	}
	for i := range plan.Items {
		out.Writes = append(out.Writes, write.Print(plan.Items[i].Write))
	}
	switch made := out.Actions(); {
	case len(made) > 1:
	case made[0] == "":
		out.Origins = nil
	default:
		out.Action = made[0]
	}
	c.judge(out, r, plan)
	if out.Title == "" {
		out.Title = plan.Title()
	}
	return out
}

// judge applies the rules of review to out, the change for r.
func (c *Call) judge(out *change.Change, r write.Request, plan *writes.Plan) {
	change.Judge(out, c.policy.Rules().Review, c.who, plan.Mode(r))
	if c.gate(r) != policy.On || out.Doubts != nil || out.HasUnknownEffects() {
		out.RequireReview()
	}
}

// Changes returns the changes that the caller has proposed, the newest first, and whether there are more.
func (c *Call) Changes(ctx context.Context, f change.Filter) ([]review.Row, bool, error) {
	queue := c.gateway.options.Changes
	if queue == nil {
		return nil, false, nil
	}
	f.Principal, f.Schemas = c.who.ID, c.policy.Schemas(c.who)
	found, more, err := queue.Store().List(ctx, f)
	if err != nil {
		return nil, false, storeError(err)
	}
	found = c.ownChanges(found)
	rows, seen := make([]review.Row, len(found)), review.VisibilityOf(c.policy, c.who, c.gateway.masks)
	for i, one := range found {
		rows[i] = review.NewRow(one, seen, review.Viewer{})
	}
	c.record.Rows += len(rows)
	return rows, more, nil
}

// Change returns a change that the caller has proposed. Other changes are NotFound.
func (c *Call) Change(ctx context.Context, id string) (*review.Sheet, error) {
	found, err := c.mine(ctx, id)
	if err != nil {
		return nil, err
	}
	return c.viewerSheet(ctx, found, review.Viewer{Now: c.present(ctx, found)}), nil
}

// mine returns the change with the given ID if the caller proposed it.
func (c *Call) mine(ctx context.Context, id string) (*change.Change, error) {
	queue := c.gateway.options.Changes
	if queue == nil {
		return nil, change.NotFoundError()
	}
	found, err := c.own(queue.GetOf(ctx, id, change.Of{Principal: c.who.ID}))
	if err == nil {
		c.record.Change = found.ID
	}
	return found, err
}

// CancelChange withdraws a change that the caller has proposed and that is not being applied yet.
func (c *Call) CancelChange(ctx context.Context, id string) (*review.Sheet, error) {
	if _, err := c.mine(ctx, id); err != nil {
		return nil, err
	}
	done, err := c.changes().Cancel(ctx, id, c.who)
	if err != nil {
		return nil, err
	}
	c.record.Change, c.did = done.ID, audit.Withdrawn
	return c.sheetOf(ctx, done), nil
}

// WaitForChange waits until a change of the caller is no longer pending, granted or being applied, and returns it.
// After most, it returns the change in its current state.
func (c *Call) WaitForChange(ctx context.Context, id string, most time.Duration) (*review.Sheet, error) {
	if _, err := c.mine(ctx, id); err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	next, end, err := c.gateway.watch.On(ctx, id)
	if err != nil {
		return nil, storeError(err)
	}
	defer end()
	for {
		found, err := c.mine(ctx, id)
		if err != nil {
			return nil, err
		}
		if !slices.Contains([]change.State{change.Pending, change.Granted, change.Applying}, found.State) {
			return c.viewerSheet(ctx, found, review.Viewer{Now: c.present(ctx, found)}), nil
		}
		err = next(waiting)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case waiting.Err() != nil:
			return c.viewerSheet(ctx, found, review.Viewer{Now: c.present(ctx, found)}), nil
		case err != nil && !errors.Is(err, context.DeadlineExceeded):
			return nil, storeError(err)
		}
	}
}

// sheetOf returns a change as shown to the agent that proposed it.
func (c *Call) sheetOf(ctx context.Context, found *change.Change) *review.Sheet {
	return c.viewerSheet(ctx, found, review.Viewer{})
}

// viewerSheet is sheetOf for viewer, which is the agent with its current view of the records.
func (c *Call) viewerSheet(ctx context.Context, found *change.Change, viewer review.Viewer) *review.Sheet {
	s := review.New(found, review.VisibilityOf(c.policy, c.who, c.gateway.masks), viewer)
	c.refer(ctx, s, false)
	c.others(ctx, found, s, review.Viewer{})
	c.compareVersions(ctx, found, s, review.Viewer{})
	return s
}

// file files a judged change, as the next version of old if that isn't nil, or returns the same one if it is already
// pending. A change that can't be recorded, or whose filing failed, is withdrawn when the call ends.
func (c *Call) file(ctx context.Context, filed, old *change.Change) (kept *change.Change, err error) {
	if old == nil {
		kept, err = c.changes().Propose(ctx, filed)
	} else {
		kept, err = c.changes().Replace(ctx, old, filed)
	}
	if err == nil {
		err = c.gateway.record(ctx, kept.ID)
	}
	if err == nil && old != nil {
		err = c.gateway.record(ctx, old.ID)
	}
	if filed.ID != "" && (err != nil || kept.ID == filed.ID) {
		c.filed = filed.ID
	}
	if err == nil {
		c.record.Change = kept.ID
	}
	return kept, err
}

// queue returns the queue under the rules of this call.
func (c *Call) queue() *change.Queue {
	return c.gateway.options.Changes.Under(c.policy.Version(), c.policy.Rules().Review...)
}

// changes returns the queue. Its steps name the rules of this call.
func (c *Call) changes() *change.Queue {
	c.steps = true
	return c.queue()
}

// Revert implements Reviewer. The new change has the rights of the agent that proposed the original. Neither that
// agent's owner nor the person who requests the revert may approve it.
func (d *reviewer) Revert(ctx context.Context, id, reason string) (*review.Sheet, error) {
	return d.sheet(ctx, "revert", id, audit.Proposed, func(ctx context.Context, c *Call, found *change.Change) (*change.Change, error) {
		back, err := c.inverse(ctx, found, reason)
		if err != nil {
			return nil, err
		}
		filed, err := c.reverting(ctx, found, back)
		if err != nil {
			return nil, err
		}
		return c.file(ctx, filed, nil)
	})
}

// An inverse is the request that reverts a change, with its draft and plan under the rules.
type inverse struct {
	request write.Request
	draft   writes.Draft
	plan    writes.Plan
}

// inverse returns the inverse of found, or an error with the reason why there is none. It doesn't ask the source, which
// may still refuse the revert.
func (c *Call) inverse(ctx context.Context, found *change.Change, reason string) (back inverse, err error) {
	list, err := found.Inverse()
	if err != nil {
		return back, err
	}
	agent, err := review.AgentOf(ctx, c.gateway.options.Refresher, found)
	if err != nil {
		return back, err
	}
	if err := writes.CheckSchema(c.policy, agent, found); err != nil {
		return back, err
	}
	back.request = write.Request{Writes: list, Tool: "revert", Origin: write.Origin{Action: writes.Revert, Mode: write.Review}, Title: "revert " + found.ID, Reason: reason,
		Input: value.OfObject([]value.Member{{Name: "change_id", Value: value.OfString(found.ID)}})}
	if back.draft, err = writes.Propose(ctx, c.policy, agent, back.request); err != nil {
		return back, err
	}
	if back.plan, err = back.draft.Plan(); err != nil {
		return back, err
	}
	return back, whole(&back.plan)
}

// reverting returns the change that reverts found, not yet filed.
func (c *Call) reverting(ctx context.Context, found *change.Change, back inverse) (*change.Change, error) {
	preview, err := c.gateway.preview(ctx, back.draft, back.plan.Source)
	if err != nil {
		return nil, err
	}
	if err := found.CheckRevertible(preview.Effects); err != nil {
		return nil, err
	}
	filed := c.change(back.request, &back.plan, preview)
	by := change.PartyOf(c.who)
	filed.Agent, filed.Asker, filed.Reverts, filed.Named = found.Agent, &by, found.ID, found.Named
	return filed, nil
}

// whole refuses to recreate a record whose class has fields that no view shows, because their values were not kept.
func whole(plan *writes.Plan) error {
	for i := range plan.Items {
		if plan.Items[i].Op == write.OpCreate && review.DeniedFields(plan.Items[i].View) > 0 {
			return &problem.Error{Code: problem.Conflict, Kind: "not_whole", Detail: "the record had more than is ever shown: it can't be brought back whole"}
		}
	}
	return nil
}
