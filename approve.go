package bailiwick

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Approve implements Reviewer.
func (d *reviewer) Approve(ctx context.Context, id, digest, comment string) (*review.Sheet, error) {
	return d.approve(ctx, "approve", id, change.Verdict{Digest: digest, Comment: comment})
}

// BreakGlass implements Reviewer.
func (d *reviewer) BreakGlass(ctx context.Context, id, digest, reason string) (*review.Sheet, error) {
	return d.approve(ctx, "break_glass", id, change.Verdict{Digest: digest, Comment: reason, Broken: true})
}

// approve approves the change id if the current rules still allow it to the reviewer and to the agent. The last
// required approval starts the change, once its record is in the audit.
func (d *reviewer) approve(ctx context.Context, name, id string, v change.Verdict) (*review.Sheet, error) {
	return d.sheet(ctx, name, id, audit.Approved, func(ctx context.Context, c *Call, found *change.Change) (*change.Change, error) {
		if err := c.approvable(ctx, found, v); err != nil {
			return nil, err
		}
		done, held, err := c.changes().ApproveFor(ctx, id, c.who, v, d.gateway.holder)
		if err != nil || done.State != change.Granted && done.State != change.Applying {
			return done, err
		}
		if err := d.gateway.record(ctx, id); err != nil {
			return nil, err
		}
		return d.gateway.settleSoon(ctx, done, held)
	})
}

// approvable returns nil if the reviewer may give the verdict v. It checks that they see all of the change and have
// opened the values that its sheet cuts. It also makes the other checks for which the queue lacks data.
func (c *Call) approvable(ctx context.Context, found *change.Change, v change.Verdict) error {
	if check, err := c.sightCheck(ctx, found); err != nil {
		return undecidedError("what you see of it can't be looked at now", err)
	} else if !check.OK && !(v.Broken && check.Name == deniedCheck) {
		return &problem.Error{Code: problem.PermissionDenied, Kind: check.Name, Detail: check.Detail}
	}
	s := review.New(found, review.VisibilityOf(c.policy, c.who, c.gateway.masks), review.Viewer{Human: c.who.Owner, Reviewer: true})
	unopened, err := review.OpenedValues(ctx, c.gateway.options.Used, c.who.Person(), s)
	if err != nil {
		return storeError(err)
	}
	for _, check := range unopened {
		if !check.OK {
			return &problem.Error{Code: problem.Conflict, Kind: "unopened", Detail: check.Detail, Suggestion: `open it in the console, or with "bailiwick changes value"`}
		}
	}
	if _, err := c.queue().Admits(c.who, found); err != nil && !v.Broken {
		return err
	}
	if doubts := review.VisibilityDoubts(found, review.VisibilityOf(c.policy, c.who, c.gateway.masks)); doubts != nil && !v.Broken {
		return &problem.Error{Code: problem.Conflict, Kind: "described", Detail: doubts[0].Detail}
	}
	e, err := c.gateway.newExam(ctx, c.policy, found)
	if err == nil {
		err = e.rules(ctx)
	}
	if err != nil {
		return &problem.Error{Code: problem.Conflict, Kind: "policy", Detail: policyCheck(err).Detail}
	}
	if check := c.dependence(ctx, found); found.State == change.Pending && !check.OK {
		return &problem.Error{Code: problem.Conflict, Kind: check.Name, Detail: check.Detail, Suggestion: "reject it, or ask its agent to propose it anew"}
	}
	if err := c.checkReachable(ctx, found, e.draft); err != nil {
		return undecidedError("the target can't be asked now", err)
	}
	return nil
}

// undecidedError returns the error of an approval if the source failed with err: the same call may succeed later.
func undecidedError(what string, err error) error {
	p := *problem.Of(err) // a copy
	p.Detail = what + " (" + p.Detail + "). Nothing was decided"
	if p.Retryable() {
		p.Suggestion = "Send the same again later"
	}
	return &p
}

// checkReachable calls the API of a change if the preview of the change calls it, and returns an error if the API
// doesn't answer. Without this check, an approval while the API is down would make the change fail for good. Other
// errors of the preview are ignored here: the apply reports them.
func (c *Call) checkReachable(ctx context.Context, found *change.Change, draft writes.Draft) error {
	if found.Op != write.OpCall {
		return nil
	}
	if _, err := c.gateway.preview(ctx, draft, found.Source); err != nil && problem.Of(err).Retryable() {
		return err
	}
	return nil
}

// Reject implements Reviewer.
func (d *reviewer) Reject(ctx context.Context, id, reason string) (*review.Sheet, error) {
	return d.sheet(ctx, "reject", id, audit.Rejected, func(ctx context.Context, c *Call, _ *change.Change) (*change.Change, error) {
		return c.changes().Reject(ctx, id, c.who, reason)
	})
}

// sheet returns a change as shown to the calling reviewer, with the checks that decide whether they can approve it now.
// live adds the read trail of the agent, which may read much of the audit. It also asks the source whether an applied
// change can still be reverted.
func (c *Call) sheet(ctx context.Context, found *change.Change, live bool) (*review.Sheet, error) {
	g := c.gateway
	viewer := review.Viewer{Human: c.who.Owner, Reviewer: true}
	if live {
		viewer.Now = c.present(ctx, found)
	}
	s := review.New(found, review.VisibilityOf(c.policy, c.who, g.masks), viewer)
	c.refer(ctx, s, true)
	c.others(ctx, found, s, review.Viewer{Human: c.who.Owner, Reviewer: true})
	queue := c.queue()
	_, rejectable := found.State.Next(change.EventRejected)
	eligible := queue.Eligible(c.who, found)
	s.CanReject = rejectable && (eligible == nil || problem.Of(eligible).Kind == "four_eyes")
	unopened, err := review.OpenedValues(ctx, g.options.Used, c.who.Person(), s)
	if err != nil {
		return nil, storeError(err)
	}
	if err := review.ViewedItems(ctx, g.options.Used, c.who.Person(), s); err != nil {
		return nil, storeError(err)
	}
	if found.State == change.Pending || found.State == change.Stale {
		s.Checks = slices.Insert(c.checks(ctx, found, eligible), 2, unopened...)
		s.CanApprove = found.State == change.Pending
		for _, check := range s.Checks {
			s.CanApprove = s.CanApprove && check.OK && !s.Mine
		}
	}
	c.setConversationRights(ctx, found, s)
	if found.State == change.Applied {
		back, err := c.inverse(ctx, found, "")
		if err == nil && live { // after a decision that has just applied it, the current record isn't read
			_, err = c.reverting(ctx, found, back)
		}
		if s.CanRevert = err == nil; err != nil {
			s.NoRevert = review.NewCheck("revert", err, "").Detail
		}
	}
	if err := review.ReadHistory(ctx, g.options.History, found, s, live); err != nil {
		return nil, storeError(err)
	}
	return s, nil
}

// others adds the other waiting changes that write a record of found. A reviewer gets the changes that they may see,
// and an agent only its own. The sheet is complete without them, so errors are ignored.
func (c *Call) others(ctx context.Context, found *change.Change, s *review.Sheet, viewer review.Viewer) {
	if found.State.IsFinal() || found.Op == write.OpCall || len(found.Targets()) == 0 {
		return
	}
	f := change.Filter{States: []change.State{change.Pending, change.Stale, change.Granted}, Source: found.Source, Records: found.Targets(), Schemas: c.policy.Schemas(c.who), Limit: 200}
	switch {
	case !viewer.Reviewer:
		f.Principal, f.Limit = c.who.ID, 20
	case c.who.Tenant != "":
		f.Tenant, f.Tenanted = c.who.Tenant, true
	}
	if waiting, more, err := c.gateway.options.Changes.Store().List(ctx, f); err == nil {
		s.MoreOthers = more
		s.Overlap(found, c.ownChanges(waiting), review.VisibilityOf(c.policy, c.who, c.gateway.masks), viewer)
	}
}

// checks returns the live checks of a change that waits for review.
func (c *Call) checks(ctx context.Context, found *change.Change, eligible error) []review.Check {
	out := []review.Check{review.NewCheck("four_eyes", eligible, "you may decide about this")}
	sight, failed := c.sightCheck(ctx, found)
	if failed != nil {
		sight = review.NewCheck("sight", failed, "")
	}
	e, err := c.gateway.newExam(ctx, c.policy, found)
	if err == nil {
		err = e.rules(ctx)
	}
	out = append(out, sight, policyCheck(err))
	if err == nil && ofAction(found) {
		out = append(out, review.NewCheck("action", e.action(ctx), "the action would propose it still"))
	}
	out = append(out, c.target(ctx, found, e, err)...)
	if err == nil {
		out = append(out, e.failedChecks(ctx)...)
	}
	out = append(out, review.VisibilityDoubts(found, review.VisibilityOf(c.policy, c.who, c.gateway.masks))...)
	out = append(out, c.expiryCheck(ctx, found))
	if len(found.After) > 0 {
		out = append(out, c.dependence(ctx, found))
	}
	if len(found.Panels) > 0 {
		as, err := c.queue().Admits(c.who, found)
		out = append(out, review.NewCheck("reviewers", err, "you are one of its reviewers: "+strings.Join(as, ", ")))
	}
	return out
}

// failedChecks returns the other checks of an exam that a change doesn't pass. A failed check doesn't stop the others.
func (e *exam) failedChecks(ctx context.Context) (out []review.Check) {
	for _, c := range but("policy", "action") { // the sheet always shows these two
		if err := c.ask(e, ctx); err != nil {
			out = append(out, review.NewCheck(c.name, err, ""))
		}
	}
	return out
}

// dependence checks the changes that found waits for. If one of them has ended without being applied, found would never
// be applied.
func (c *Call) dependence(ctx context.Context, found *change.Change) review.Check {
	before, err := c.gateway.options.Changes.Before(ctx, found)
	detail := "what it waits for has been applied"
	switch {
	case err != nil || before == nil:
	case before.State.IsFinal():
		err = &problem.Error{Code: problem.Conflict, Detail: fmt.Sprintf("it was to run after %s, which is %s: it would never be applied", before.ID, before.State)}
	default:
		detail = "it will wait, once approved, until what it depends on has been applied"
	}
	return review.NewCheck("dependence", err, detail)
}

// expiryCheck returns the check, by the store's clock, that the change has not expired.
func (c *Call) expiryCheck(ctx context.Context, found *change.Change) review.Check {
	now, err := c.gateway.options.Changes.Store().Now(ctx)
	if err == nil && !now.Before(found.Expires) {
		err = &problem.Error{Code: problem.Conflict, Detail: "its time is over"}
	}
	return review.NewCheck("expiry", err, "it waits until "+found.Expires.Format("2006-01-02 15:04 UTC"))
}

// policyCheck returns the check that the rules in force let the agent propose the change. err is the error of its
// draft.
func policyCheck(err error) review.Check {
	return review.NewCheck("policy", err, "the rules in force allow it to the agent")
}

// target previews the change again from its new draft. It checks that the records are those that were reviewed, and
// that the source accepts the change. err is the error of the draft, which fails the check.
func (c *Call) target(ctx context.Context, found *change.Change, e *exam, err error) []review.Check {
	var now change.Preview
	if err == nil {
		now, err = c.gateway.preview(ctx, e.draft, found.Source)
	}
	if err == nil {
		field := found.Difference(now.Effects)
		if field != "" && found.Op == write.OpCall { // values that differ with each read of the API have not moved
			if again, failed := c.gateway.preview(ctx, e.draft, found.Source); failed == nil {
				field = found.MovedAgain(now.Effects, again.Effects)
			}
		}
		if field != "" {
			err = &problem.Error{Code: problem.Conflict, Detail: "the target has moved since the preview" + c.movedSuffix(found, field)}
		}
	}
	unchanged := review.NewCheck("target", err, unchangedText(found))
	if err != nil {
		return []review.Check{unchanged}
	}
	if now.Kind == change.Computed && now.Refusal == "" {
		return []review.Check{unchanged} // a computed preview can't know all that the target would refuse
	}
	var refusal error
	if now.Refusal != "" {
		refusal = &problem.Error{Code: problem.Conflict, Detail: now.Refusal}
	}
	return []review.Check{unchanged, review.NewCheck("constraints", refusal, "the source takes it")}
}

// unchangedText returns the text of a check that found no difference from the preview, as far as it looked. It also
// says if some values were not read.
func unchangedText(found *change.Change) string {
	is := func(p change.Present) bool {
		return slices.ContainsFunc(found.Effects, func(e change.Effect) bool { return e.Present == p && e.About.IsNull() })
	}
	switch {
	case found.HasUnknownEffects():
		return "the present value of what it changes is not known, whole or in part. What was read is as it was previewed"
	case is(change.PresentUnread):
		return "nothing was read of what it changes"
	}
	return "the target is as it was previewed"
}

// movedSuffix returns ": " and the difference of a change, or "". The reviewer must see all of the change and the
// fields that its rules compare.
func (c *Call) movedSuffix(found *change.Change, moved string) string {
	sight := review.VisibilityOf(c.policy, c.who, c.gateway.masks)
	hidden, _ := review.HiddenCount(found, sight)
	for _, e := range found.Effects {
		if _, seen := sight(e.Class).Fields[e.Version]; e.Version != "" && !seen {
			hidden++
		}
	}
	if hidden > 0 {
		return ""
	}
	return ": " + moved
}

// deniedCheck is the name of the check that fails for a delete of fields that the rules hide from every reviewer. Breaking the glass passes it.
const deniedCheck = "denied"

// sightCheck returns the check that the reviewer sees everything that would be written, which an approval requires.
// Otherwise the reviewer can't approve it.
func (c *Call) sightCheck(ctx context.Context, found *change.Change) (review.Check, error) {
	unseen, denied := review.HiddenCount(found, review.VisibilityOf(c.policy, c.who, c.gateway.masks))
	for _, e := range found.Effects {
		if unseen > 0 {
			break
		}
		there, err := c.sees(ctx, e)
		if err != nil {
			return review.Check{}, err
		}
		if !there {
			return review.Check{Name: "sight", Detail: "a record that it writes is gone, or hidden from you: somebody who sees it decides. If nobody sees it any more, the change can be rejected"}, nil
		}
	}
	if unseen > 0 {
		return review.Check{Name: "sight", Detail: "it writes what you may not see: somebody who sees all of it decides"}, nil
	}
	if denied > 0 {
		return review.Check{Name: deniedCheck, Detail: fmt.Sprintf("it deletes what the rules show to nobody (fields: %d): only breaking the glass approves that", denied)}, nil
	}
	return review.Check{Name: "sight", OK: true, Detail: "no part of it is hidden from you"}, nil
}

// sees reports whether the reviewer sees the record of an effect.
func (c *Call) sees(ctx context.Context, e change.Effect) (bool, error) {
	if e.Key == "" || e.Op == write.OpSchema || e.Op == write.OpCall {
		return true, nil
	}
	rows, err := c.gateway.rows(ctx, c.policy, c.reading(), &query.Find{Class: e.Class, IDs: []string{e.Key}, Limit: 1}, 0)
	if err != nil {
		return false, err
	}
	for _, err := range rows.All() {
		return err == nil, err
	}
	return false, nil
}
