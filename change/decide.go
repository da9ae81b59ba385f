package change

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Eligible returns nil if p may decide about c. p must be a human credential with the scope review and an owner. It
// must be neither the human behind the agent nor the person who requested the change, unless Options.Single allows
// that. Otherwise it returns a problem.PermissionDenied.
func (q *Queue) Eligible(p identity.Principal, c *Change) error {
	refuse := func(kind, detail string) error {
		return &problem.Error{Code: problem.PermissionDenied, Kind: kind, Detail: detail}
	}
	by := PartyOf(p)
	switch {
	case p.Kind != identity.Human || p.Above != nil:
		return refuse("not_human", "only a person can decide about a change")
	case !p.Has(identity.Review):
		return &problem.Error{Code: problem.PermissionDenied, Kind: "scope", Scope: string(identity.Review), Detail: "deciding about a change needs the scope review"}
	case by.Human() == "":
		return refuse("no_owner", "the credential doesn't say which person it belongs to")
	case q.o.Single:
		return nil
	case by.Human() == c.Agent.Human() || p.ID == cmp.Or(c.Agent.Origin, c.Agent.Principal):
		return refuse("four_eyes", "the change was proposed by an agent of yours: another person decides about it")
	case c.Asker != nil && by.Human() == c.Asker.Human():
		return refuse("four_eyes", "you asked for this change: another person decides about it")
	}
	return nil
}

// A Verdict is a person's decision about the digest they have seen.
type Verdict struct {
	Digest  string
	Comment string
	Broken  bool // approve without four eyes and the required number of approvals
}

// Approve records that p approves the digest v.Digest. When enough people have approved it, the change is approved.
// Approve refuses a principal that isn't Eligible or has already approved, and a digest other than the current one.
// Breaking the glass (v.Broken) requires the scope operator and a comment, but no other approval.
func (q *Queue) Approve(ctx context.Context, id string, p identity.Principal, v Verdict) (*Change, error) {
	c, _, err := q.ApproveFor(ctx, id, p, v, "")
	return c, err
}

// ApproveFor does Approve and, in the same transaction, Claim by holder. It claims the change only if it is then
// approved and waits for no other change. The log must also have all its steps at the end of the transaction. Otherwise
// ApproveFor returns the zero Approved.
func (q *Queue) ApproveFor(ctx context.Context, id string, p identity.Principal, v Verdict, holder string) (c *Change, held Approved, err error) {
	if c, err = q.Get(ctx, id); err != nil {
		return nil, held, err
	}
	as, err := q.mayApprove(c, p, v)
	if err != nil {
		return nil, held, err
	}
	by := PartyOf(p)
	d := Decision{By: by, Approve: true, Digest: v.Digest, Comment: v.Comment, As: as, Broken: v.Broken, Single: q.own(by, c)}
	if d.At, err = q.store.Now(ctx); err != nil {
		return nil, held, storeError(err)
	}
	c.Decisions = append(c.Decisions, d)
	event := EventDecided
	if v.Broken || len(c.Approvers()) >= c.Need && len(c.Missing()) == 0 {
		event = EventApproved
	}
	if err := c.take(event, Step{By: by.Owner, Comment: loud(d), Broken: d.Broken, Actor: q.actor(by)}); err != nil {
		return nil, held, err
	}
	if event == EventApproved && holder != "" && len(c.After) == 0 && q.o.Audited {
		claimed := *c
		claimed.History = slices.Clone(c.History)
		guard, err := q.claim(&claimed, holder)
		if err == nil {
			err = q.swap(ctx, &claimed, guard)
		}
		if err == nil {
			return &claimed, Approved{&claimed}, nil
		}
		if problem.Of(err).Kind != "unrecorded" { // an earlier process has left records in the outbox
			return nil, held, err
		}
	}
	if err := q.swap(ctx, c, Guard{Unexpired: true}); err != nil {
		return nil, held, err
	}
	return c, held, nil
}

// mayApprove returns the reviewers of c that principal is if they may approve c with v. Otherwise the error has the
// reason. Breaking the glass only overrides the rule of four eyes and the reviewers, and requires the scope operator and
// a reason. All other rules still apply. The digest must be the current digest of c.
func (q *Queue) mayApprove(c *Change, principal identity.Principal, v Verdict) ([]string, error) {
	err := q.Eligible(principal, c)
	p := problem.Of(err)
	switch {
	case err != nil && !(v.Broken && p.Kind == "four_eyes"):
		return nil, err
	case v.Broken && !principal.Has(identity.Operator):
		return nil, &problem.Error{Code: problem.PermissionDenied, Kind: "scope", Scope: string(identity.Operator), Detail: "breaking the glass needs the scope operator"}
	case v.Broken && strings.TrimSpace(v.Comment) == "":
		return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: "/reason", Detail: "breaking the glass needs a reason"}
	case c.State != Pending:
		return nil, &problem.Error{Code: problem.Conflict, Kind: "state", Detail: "the change is " + string(c.State) + ": it doesn't wait for approval"}
	case v.Digest != c.Digest:
		return nil, &problem.Error{Code: problem.Conflict, Kind: "digest", Pointer: "/digest", Detail: "the change is not what you looked at", Suggestion: "look at it again"}
	case slices.Contains(c.Approvers(), PartyOf(principal).Human()) && !v.Broken:
		return nil, &problem.Error{Code: problem.Conflict, Kind: "decided", Detail: "you have approved this change already: another person has to"}
	}
	as, err := q.Admits(principal, c)
	if v.Broken {
		return as, nil
	}
	return as, err
}

// own reports whether c belongs to by: their agent proposed it, or they requested it.
func (q *Queue) own(by Party, c *Change) bool {
	return by.Human() == c.Agent.Human() || c.Asker != nil && by.Human() == c.Asker.Human()
}

// loud returns the comment on a decision for the history. It begins with the exception, if there is one.
func loud(d Decision) string {
	switch {
	case d.Broken:
		return "BREAK GLASS: " + d.Comment
	case d.Single && d.Comment == "":
		return "single operator"
	case d.Single:
		return "single operator: " + d.Comment
	}
	return d.Comment
}

// Approvers returns the distinct people who have approved c's current digest.
func (c *Change) Approvers() []string {
	var out []string
	for _, d := range c.Decisions {
		if d.Approve && d.Digest == c.Digest && !slices.Contains(out, d.By.Human()) {
			out = append(out, d.By.Human())
		}
	}
	return out
}

// Reject ends c permanently. Every Eligible principal and the agent's own human may reject it. The agent sees the
// reason.
func (q *Queue) Reject(ctx context.Context, id string, p identity.Principal, reason string) (*Change, error) {
	c, err := q.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	// The agent's own human may always reject it: a rejection requires no second person.
	if err := q.Eligible(p, c); err != nil && problem.Of(err).Kind != "four_eyes" {
		return nil, err
	}
	by := PartyOf(p)
	d := Decision{By: by, Digest: c.Digest, Comment: reason}
	if d.At, err = q.store.Now(ctx); err != nil {
		return nil, storeError(err)
	}
	c.Decisions = append(c.Decisions, d)
	return c, q.move(ctx, c, EventRejected, Step{By: by.Owner, Comment: reason, Actor: q.actor(by)}, Guard{})
}

// Comment adds a person's comment to a change. The caller must check that p may see the change.
func (q *Queue) Comment(ctx context.Context, id string, p identity.Principal, text string) (*Change, error) {
	c, err := q.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) == "" {
		return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: "/comment", Detail: "a comment needs words"}
	}
	by := PartyOf(p)
	return c, q.move(ctx, c, EventCommented, Step{By: cmp.Or(by.Owner, by.Name, by.Principal), Comment: text, Actor: q.actor(by)}, Guard{})
}

// Ask returns a pending or stale change to its agent. text says what should be different. Approvals start over. Every
// Eligible principal and the agent's own human may return it.
func (q *Queue) Ask(ctx context.Context, id string, p identity.Principal, text string) (*Change, error) {
	c, err := q.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := q.Eligible(p, c); err != nil && problem.Of(err).Kind != "four_eyes" {
		return nil, err
	}
	if strings.TrimSpace(text) == "" {
		return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: "/text", Detail: "the agent needs to know what should be different"}
	}
	c.Decisions = nil
	by := PartyOf(p)
	return c, q.move(ctx, c, EventAsked, Step{By: by.Owner, Comment: text, Actor: q.actor(by)}, Guard{Unexpired: true, Life: q.o.Life})
}

// Answer adds a text of the agent p to a change that it has proposed. A returned change waits for approval again. For a
// change of another principal it fails with problem.NotFound.
func (q *Queue) Answer(ctx context.Context, id string, p identity.Principal, text string) (*Change, error) {
	c, err := q.GetOf(ctx, id, Of{Principal: p.ID})
	if err != nil {
		return nil, err
	}
	if last := c.History[len(c.History)-1]; last.Event == EventAnswered && last.Comment == text {
		return c, nil // this call is a repetition
	}
	g := Guard{Unexpired: true}
	if c.State == Returned {
		g.Life = q.o.Life
	}
	return c, q.move(ctx, c, EventAnswered, Step{By: p.Name, Comment: text, Actor: q.actor(PartyOf(p))}, g)
}

// Cancel withdraws a change that p has proposed. For a change of another principal it fails with problem.NotFound.
func (q *Queue) Cancel(ctx context.Context, id string, p identity.Principal) (*Change, error) {
	c, err := q.GetOf(ctx, id, Of{Principal: p.ID})
	if err != nil {
		return nil, err
	}
	return c, q.move(ctx, c, EventCancelled, Step{By: p.Name, Actor: q.actor(PartyOf(p))}, Guard{})
}

// Renew gives a pending or stale change the new preview p, which the caller has made. The change gets a new digest and
// a new expiry, and approvals start over.
func (q *Queue) Renew(ctx context.Context, c *Change, p Preview, by identity.Principal) error {
	c.Effects, c.Cascades, c.Preview, c.Refusal = p.Effects, p.Cascades, p.Kind, p.Refusal
	c.Decisions, c.Outcome = nil, nil
	c.Digest = c.Sum()
	return q.move(ctx, c, EventRenewed, Step{By: by.Owner, Actor: q.actor(PartyOf(by))}, Guard{Life: q.o.Life})
}

// Settle records the outcome of a change whose target did not answer. Every Eligible principal may settle it.
func (q *Queue) Settle(ctx context.Context, id string, p identity.Principal, applied bool, reason string) (*Change, error) {
	c, err := q.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := q.Eligible(p, c); err != nil {
		return nil, err
	}
	if c.State != Unknown {
		return nil, &problem.Error{Code: problem.Conflict, Kind: "state", Detail: "the change is " + string(c.State) + ": there is nothing to settle"}
	}
	by, event := PartyOf(p), EventFailed
	if applied {
		event = EventApplied
	}
	c.Outcome.Settled, c.Outcome.Detail = &by, reason // set by Finish
	return c, q.move(ctx, c, event, Step{By: by.Owner, Comment: reason, Actor: q.actor(by)}, Guard{})
}
