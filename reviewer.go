package bailiwick

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Reviewer has the operations of people on changes. Each method is a separate call that requires the scope review and
// a human credential. It is limited and recorded like calls of tools. All user interfaces use it. No tool does.
//
// Errors are problem.Errors. NotFound means that the change doesn't exist or that the reviewer may not see it.
// PermissionDenied means that the reviewer may not make this decision, and gives the reason. Conflict means that
// another decision was first or that the digest differs.
type Reviewer interface {
	// Queue returns the changes matching f as the reviewer sees them, the newest first, and whether there are more. If
	// f.For is set, these are the changes that the reviewer may decide about and has not approved.
	Queue(ctx context.Context, f change.Filter) (rows []review.Row, more bool, err error)
	// Counts returns how many changes matching f are in each state, and how many of them wait for the caller if f.For is
	// set. A count of 1,001 means more than 1,000.
	Counts(ctx context.Context, f change.Filter) (all, mine map[change.State]int, err error)
	// Sheet returns a change with its live checks.
	Sheet(ctx context.Context, id string) (*review.Sheet, error)
	// Value returns a page of a field that a sheet shows only in part, or one of its values. It records that the
	// reviewer has opened it, because the reviewer can't approve values that they never opened.
	Value(ctx context.Context, id string, at review.Place) (*review.Whole, error)
	// Approve approves the content that digest identifies, and waits up to a few seconds for the outcome.
	Approve(ctx context.Context, id, digest, comment string) (*review.Sheet, error)
	// BreakGlass approves a change at once and without other people, even if it requires more approvals or the
	// reviewer's own agent proposed it. It requires a reason, and is recorded as breaking the glass.
	BreakGlass(ctx context.Context, id, digest, reason string) (*review.Sheet, error)
	// Reject ends a change for good. The agent sees the reason.
	Reject(ctx context.Context, id, reason string) (*review.Sheet, error)
	// Comment adds a comment without deciding. The agent sees it as untrusted text.
	Comment(ctx context.Context, id, text string) (*review.Sheet, error)
	// View records that the reviewer has viewed one record of a change, by its index in Sheet.Items. It decides nothing.
	View(ctx context.Context, id, digest string, item int) (*review.Sheet, error)
	// Ask returns a change to its agent. text says what should be different. Approvals start over.
	Ask(ctx context.Context, id, text string) (*review.Sheet, error)
	// Edit replaces a change with a new version with other values, if review.edit is set. The reviewer is its author,
	// so another person must decide about it.
	Edit(ctx context.Context, id string, e review.Revision) (*review.Sheet, error)
	// Renew previews a stale or pending change again: it gets another digest, and approvals start over.
	Renew(ctx context.Context, id string) (*review.Sheet, error)
	// Revert proposes a change that reverts an applied one.
	Revert(ctx context.Context, id, reason string) (*review.Sheet, error)
	// Settle records the outcome of a change whose target did not answer.
	Settle(ctx context.Context, id string, applied bool, reason string) (*review.Sheet, error)
	// Events returns the events with a Seq greater than after, of changes that the reviewer may see.
	Events(ctx context.Context, after int64) ([]change.Event, error)
	// Await waits for the next such event, or fails when ctx ends.
	Await(ctx context.Context, after int64) error
	// LastEvent returns the Seq of the newest event, from which a stream of new events can start.
	LastEvent(ctx context.Context) (int64, error)
}

// Reviewer returns p's operations on changes. correlation ties the records of one visit together.
func (g *Gateway) Reviewer(p identity.Principal, correlation string) Reviewer {
	return &reviewer{g, p, correlation}
}

// reviewer implements Reviewer.
type reviewer struct {
	gateway     *Gateway
	who         identity.Principal
	correlation string
}

// do runs one operation of a reviewer as a call of its own, recorded under name.
func (d *reviewer) do(ctx context.Context, name string, run func(context.Context, *Call) error) error {
	ask := CallSpec{Tool: "changes/" + name, Needs: identity.Review, Correlation: d.correlation}
	return d.gateway.Do(ctx, d.who, ask, func(ctx context.Context, c *Call) (int, error) {
		switch {
		case d.gateway.options.Changes == nil:
			return 0, noChanges()
		case d.who.Kind != identity.Human || d.who.Above != nil:
			return 0, &problem.Error{Code: problem.PermissionDenied, Kind: "not_human", Detail: "changes are reviewed by people"}
		}
		return 0, run(ctx, c)
	})
}

// sheet runs one operation on a change that the reviewer may see, and returns the resulting change. outcome is recorded
// on success.
func (d *reviewer) sheet(ctx context.Context, name, id, outcome string, act func(context.Context, *Call, *change.Change) (*change.Change, error)) (s *review.Sheet, err error) {
	err = d.do(ctx, name, func(ctx context.Context, c *Call) error {
		if act != nil {
			if err := c.decides(ctx); err != nil {
				return err
			}
		}
		found, err := c.reviewable(ctx, id)
		if err != nil {
			return err
		}
		c.record.Change = found.ID
		if act != nil {
			if found, err = act(ctx, c, found); err != nil {
				return err
			}
			c.did = outcome
		}
		s, err = c.sheet(ctx, found, act == nil)
		return err
	})
	return s, err
}

// decides gives the caller the current rights of its credential in the store. It fails if another process has revoked
// the credential.
func (c *Call) decides(ctx context.Context) error {
	if c.gateway.options.Refresher == nil {
		return nil
	}
	now, err := c.gateway.options.Refresher.Refresh(ctx, c.who)
	if err != nil {
		return err
	}
	if !now.Has(identity.Review) || now.Kind != identity.Human {
		return &problem.Error{Code: problem.PermissionDenied, Kind: "scope", Scope: string(identity.Review), Detail: "your credential no longer has the scope review"}
	}
	c.who = now
	return nil
}

// reviewable returns a change if the reviewer may see it. It must belong to their tenant, if they have one, and to
// their schema.
func (c *Call) reviewable(ctx context.Context, id string) (found *change.Change, err error) {
	if c.who.Tenant != "" {
		found, err = c.gateway.options.Changes.GetOf(ctx, id, change.Of{Tenant: c.who.Tenant})
	} else {
		found, err = c.gateway.options.Changes.Get(ctx, id)
	}
	return c.own(found, err)
}

// own returns found. If found writes to another schema than the caller's, in a source with one schema per tenant, it
// returns the error for a change that doesn't exist.
func (c *Call) own(found *change.Change, err error) (*change.Change, error) {
	if err == nil && c.policy.Schema(c.who, found.Source) != found.Schema {
		return nil, change.NotFoundError()
	}
	return found, err
}

// ownChanges returns the changes for which own has no error.
func (c *Call) ownChanges(found []*change.Change) []*change.Change {
	return slices.DeleteFunc(found, func(one *change.Change) bool { _, err := c.own(one, nil); return err != nil })
}

// scopeFilter limits f to what the reviewer may find.
func (d *reviewer) scopeFilter(c *Call, f change.Filter) (change.Filter, error) {
	f.Schemas = c.policy.Schemas(c.who)
	if f.Text = strings.TrimSpace(f.Text); f.Text != "" {
		if err := review.CheckSearch(f.Text); err != nil {
			return f, err
		}
		f.Sees = review.FindsIn(review.VisibilityOf(c.policy, d.who, d.gateway.masks))
	}
	if d.who.Tenant != "" {
		f.Tenant, f.Tenanted = d.who.Tenant, true
	}
	if f.For != "" { // the filter can only select the caller's own decisions
		f.For, f.Own, f.As = change.PartyOf(d.who).Human(), d.gateway.options.Changes.Single(), c.queue().Roles(d.who)
	}
	return f, nil
}

// Queue implements Reviewer.
func (d *reviewer) Queue(ctx context.Context, f change.Filter) (rows []review.Row, more bool, err error) {
	err = d.do(ctx, "list", func(ctx context.Context, c *Call) error {
		f, err := d.scopeFilter(c, f)
		if err != nil {
			return err
		}
		var found []*change.Change
		if found, more, err = d.gateway.options.Changes.Store().List(ctx, f); err != nil {
			return storeError(err)
		}
		seen := review.VisibilityOf(c.policy, d.who, d.gateway.masks)
		for _, one := range c.ownChanges(found) {
			rows = append(rows, review.NewRow(one, seen, d.viewer()))
		}
		c.record.Rows = len(rows)
		return nil
	})
	return rows, more, err
}

func (d *reviewer) viewer() review.Viewer { return review.Viewer{Human: d.who.Owner, Reviewer: true} }

// noChanges is the error of a gateway without a queue for changes.
func noChanges() error {
	return &problem.Error{Code: problem.Unsupported, Kind: "no_changes", Detail: "this gateway takes no changes"}
}

// storeError returns the error for the caller when changes can't be read or kept.
func storeError(err error) error {
	return problem.StoreError("change_store", err)
}

// Counts implements Reviewer.
func (d *reviewer) Counts(ctx context.Context, f change.Filter) (all, mine map[change.State]int, err error) {
	err = d.do(ctx, "count", func(ctx context.Context, c *Call) (err error) {
		if f, err = d.scopeFilter(c, f); err != nil {
			return err
		}
		if all, mine, err = d.gateway.options.Changes.Store().Counts(ctx, f); err != nil {
			return storeError(err)
		}
		return nil
	})
	return all, mine, err
}

// Sheet implements Reviewer.
func (d *reviewer) Sheet(ctx context.Context, id string) (*review.Sheet, error) {
	return d.sheet(ctx, "show", id, "", nil)
}

// Value implements Reviewer.
func (d *reviewer) Value(ctx context.Context, id string, at review.Place) (w *review.Whole, err error) {
	err = d.do(ctx, "value", func(ctx context.Context, c *Call) error {
		found, err := c.reviewable(ctx, id)
		if err != nil {
			return err
		}
		c.record.Change = found.ID
		s := review.New(found, review.VisibilityOf(c.policy, c.who, d.gateway.masks), d.viewer())
		if w, err = s.Whole(at); err != nil {
			return err
		}
		if err := review.OpenValues(ctx, d.gateway.options.Used, d.who.Person(), s, w); err != nil {
			return storeError(err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// Comment implements Reviewer.
func (d *reviewer) Comment(ctx context.Context, id, text string) (*review.Sheet, error) {
	return d.sheet(ctx, "comment", id, "", func(ctx context.Context, c *Call, _ *change.Change) (*change.Change, error) {
		return c.changes().Comment(ctx, id, c.who, text)
	})
}

// View implements Reviewer.
func (d *reviewer) View(ctx context.Context, id, digest string, item int) (*review.Sheet, error) {
	return d.sheet(ctx, "view", id, "", func(ctx context.Context, c *Call, found *change.Change) (*change.Change, error) {
		s := review.New(found, review.VisibilityOf(c.policy, c.who, c.gateway.masks), review.Viewer{Human: c.who.Owner, Reviewer: true})
		switch {
		case digest != found.Digest:
			return nil, &problem.Error{Code: problem.Conflict, Kind: "digest", Pointer: "/digest", Detail: "the change is not what you looked at", Suggestion: "look at it again"}
		case item < 0 || item >= len(s.Items):
			return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: "/item", Detail: fmt.Sprintf("the change has no record %d. The first is 0, and there are %d", item, len(s.Items))}
		}
		if err := review.ViewItem(ctx, c.gateway.options.Used, c.who.Person(), s, item); err != nil {
			return nil, storeError(err)
		}
		return found, nil
	})
}

// Settle implements Reviewer.
func (d *reviewer) Settle(ctx context.Context, id string, applied bool, reason string) (*review.Sheet, error) {
	return d.sheet(ctx, "settle", id, "", func(ctx context.Context, c *Call, _ *change.Change) (*change.Change, error) {
		return c.changes().Settle(ctx, id, c.who, applied, reason)
	})
}

// Renew implements Reviewer. The rules of review judge the change again, and its doubts are checked again.
func (d *reviewer) Renew(ctx context.Context, id string) (*review.Sheet, error) {
	return d.sheet(ctx, "renew", id, "", func(ctx context.Context, c *Call, found *change.Change) (*change.Change, error) {
		e, err := d.gateway.newExam(ctx, c.policy, found)
		if err == nil {
			err = e.pass(ctx, but("review", "described"))
		}
		if err == nil {
			err = e.checkDoubts(ctx)
		}
		if p := problem.Of(err); p != nil && p.Kind == "described" {
			err = nil // the reviewer reads the doubts then
		}
		if err != nil {
			return nil, err
		}
		preview, err := d.gateway.preview(ctx, e.draft, found.Source)
		if err != nil {
			return nil, err
		}
		found.Doubts, found.Effects = e.doubts, preview.Effects
		if e.call.judge(found, e.request, &e.plan); found.Mode == write.Deny {
			return nil, change.DeniedError()
		}
		found.RequireReview()
		return found, c.changes().Renew(ctx, found, preview, c.who)
	})
}

// Events implements Reviewer.
func (d *reviewer) Events(ctx context.Context, after int64) (events []change.Event, err error) {
	if err := d.may(); err != nil {
		return nil, err
	}
	if events, _, err = d.feed().Next(ctx, after); err != nil {
		return nil, storeError(err)
	}
	return events, nil
}

func (d *reviewer) feed() review.Feed {
	out := review.Feed{Store: d.gateway.options.Changes.Store(), Tenant: d.who.Tenant}
	c := &Call{gateway: d.gateway, who: d.who, policy: d.gateway.force.Load().policy}
	if c.policy.Rules().Schemas != nil {
		out.Sees = func(ctx context.Context, e change.Event) bool {
			_, err := c.own(d.gateway.options.Changes.Get(ctx, e.Change))
			return err == nil
		}
	}
	return out
}

// Await implements Reviewer.
func (d *reviewer) Await(ctx context.Context, after int64) error {
	if err := d.may(); err != nil {
		return err
	}
	return d.feed().Await(ctx, after)
}

// LastEvent implements Reviewer.
func (d *reviewer) LastEvent(ctx context.Context) (int64, error) {
	if err := d.may(); err != nil {
		return 0, err
	}
	last, err := d.gateway.options.Changes.Store().LastEvent(ctx)
	if err != nil {
		return 0, storeError(err)
	}
	return last, nil
}

// may is the check of do for operations that are too frequent to be recorded as calls: the event feed of an open
// page.
func (d *reviewer) may() error {
	switch {
	case d.gateway.options.Changes == nil:
		return noChanges()
	case d.who.Kind != identity.Human || d.who.Above != nil || !d.who.Has(identity.Review):
		return &problem.Error{Code: problem.PermissionDenied, Kind: "scope", Scope: string(identity.Review), Detail: "changes are reviewed by people with the scope review"}
	}
	return nil
}
