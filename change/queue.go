package change

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Options configure a Queue. Store is required. The zero value of every other field is usable.
type Options struct {
	Store  Store
	Life   time.Duration // how long a change waits for approval. 0 means 24 h
	Most   int           // maximum number of pending changes per person, or per principal without an owner. 0 means 200
	Rate   int           // maximum number of changes per minute by the agents of one person, or by an agent without an owner. 0 means 60
	Lease  time.Duration // how long an executor may take before another one may start over. 0 means 60 s
	Single bool          // the human behind the proposing agent may decide without another person. The record notes that
	Edit   bool          // reviewers may replace a change with their own version

	// Audited means that Store is also the audit's log: one transaction stores a step and its record in the log.
	// Without Audited, the record waits in the outbox of Store until it is in the log.
	Audited bool
}

// A Queue manages the life of changes in a Store. It keeps no state itself, so any process that shares the store can
// continue where another stopped. It is safe for use by several goroutines.
type Queue struct {
	store  Store
	o      Options
	policy string // see Under
	rules  []Rule
}

// NewQueue returns a Queue over o.Store.
func NewQueue(o Options) *Queue {
	o.Life, o.Most, o.Lease = cmp.Or(o.Life, 24*time.Hour), cmp.Or(o.Most, 200), cmp.Or(o.Lease, time.Minute)
	o.Rate = cmp.Or(o.Rate, 60)
	return &Queue{store: o.Store, o: o}
}

// Store returns the underlying store, for readers.
func (q *Queue) Store() Store { return q.store }

// Single reports whether the human behind an agent may decide about its changes.
func (q *Queue) Single() bool { return q.o.Single }

// Edits reports whether reviewers may edit changes.
func (q *Queue) Edits() bool { return q.o.Edit }

// PartyOf returns p in the form in which a change stores it.
func PartyOf(p identity.Principal) Party {
	return Party{Principal: p.ID, Name: p.Name, Kind: string(p.Kind), Owner: p.Owner, Origin: p.Origin(), Tenant: p.Tenant, TokenID: p.TokenID, Frozen: identity.Freeze(p)}
}

// Human returns the name of the human that p is or acts for, in a canonical form. Other spellings and other addresses
// of the same mailbox have the same form. It drops a tag after a plus sign, as in ana+bot@example.org, and dots at the
// end of the name or of the part before @. It keeps differences that distinguish two people at some mail servers, such
// as dots inside of the name. Names of one person at different domains stay different.
func (p Party) Human() string {
	name, domain, mail := identity.Person(p.Owner), "", false
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name, domain, mail = name[:at], strings.TrimRight(name[at+1:], "."), true
	}
	bare := strings.TrimRight(name, ".")
	if at := strings.IndexByte(bare, '+'); at > 0 {
		bare = strings.TrimRight(bare[:at], ".")
	}
	bare = strings.TrimSpace(bare)
	if bare == "" {
		bare = name // dots only
	}
	if mail {
		return bare + "@" + domain
	}
	return bare
}

// Account returns the account for the limits of pending changes: p's human, or otherwise the principal from which it
// derives.
func (p Party) Account() string { return cmp.Or(identity.Person(p.Owner), p.Origin, p.Principal) }

// Propose files c, which Judge must have judged, and returns the stored change. If the same change is already pending,
// it returns the older one. A change in mode allow is approved at once. Propose fails with problem.PermissionDenied in
// mode deny, with problem.BudgetExceeded if too many changes are pending, and with problem.RateLimited if the agent
// proposes too fast.
func (q *Queue) Propose(ctx context.Context, c *Change) (*Change, error) { return q.file(ctx, c, nil) }

// Replace is like Propose, for the next version of old, and ends old. Approvals start over, and c is reviewed even if a
// rule would allow it without review. It fails with problem.Conflict if old can't be replaced any more.
func (q *Queue) Replace(ctx context.Context, old, c *Change) (*Change, error) {
	to, ok := old.State.Next(EventReplaced)
	if !ok {
		return nil, &problem.Error{Code: problem.Conflict, Kind: "state", Detail: "the change is " + string(old.State) + ": there is no other version of it any more",
			Suggestion: "propose a new change"}
	}
	c.RequireReview()
	c.Replaces, c.Earlier = old.ID, append(slices.Clone(old.Earlier), Edition{ID: old.ID, Reason: old.Reason, Digest: old.Digest, History: old.History})
	ended := *old
	ended.State, ended.Decisions = to, nil
	return q.file(ctx, c, &ended)
}

// file stores c as a new change, which replaces old unless old is nil. The store may return an earlier change instead,
// if the proposal was sent twice. A change that rules allow without review is approved at once, in a separate step with
// the rule's name.
func (q *Queue) file(ctx context.Context, c, old *Change) (*Change, error) {
	if c.Mode == write.Deny {
		return nil, DeniedError()
	}
	c.ID, c.State, c.Digest = newID(), Pending, c.Sum()
	by, actor := c.Agent.Name, q.actor(c.Agent)
	if c.Asker != nil {
		by, actor = c.Asker.Owner, q.actor(*c.Asker)
	}
	c.History = []Step{{State: Pending, Event: EventCreated, By: by, Digest: c.Digest, Actor: actor}}
	if old != nil {
		old.ReplacedBy = c.ID
		old.History = append(slices.Clone(old.History), Step{State: old.State, Event: EventReplaced, By: by, Digest: old.Digest, Actor: actor})
	}
	kept, err := q.store.Put(context.WithoutCancel(ctx), c, Filing{Life: q.o.Life, Most: q.o.Most, PerMinute: q.o.Rate, Replaces: old, Log: q.o.Audited})
	if err != nil {
		return nil, storeError(err)
	}
	if kept.Mode != write.Allow || kept.ID != c.ID {
		return kept, nil
	}
	err = q.move(ctx, kept, EventApproved, Step{Actor: actor, Comment: "let through by " + cmp.Or(c.Rule, "a rule of the class")}, Guard{Unexpired: true})
	if p := problem.Of(err); err != nil && p.Store {
		err = problem.MayRun(c.ID, p.Err) // it isn't known whether the step was stored
	}
	if err != nil {
		return nil, err
	}
	return kept, nil
}

// newID returns a new id of 34 characters, sortable by creation time, with 120 random bits. It begins like a ULID.
// Older ids are ULIDs of 26 characters.
func newID() string {
	return strings.ToLower(ulid.MustNew(ulid.Timestamp(time.Now()), rand.Reader).String() + rand.Text()[:8])
}

// Get returns the change with this id. It fails with problem.NotFound if there is none.
func (q *Queue) Get(ctx context.Context, id string) (*Change, error) {
	c, err := q.store.Get(ctx, strings.ToLower(id))
	if err != nil {
		return nil, storeError(err)
	}
	return c, nil
}

// GetOf returns the change with this id if the Of selects it. Otherwise it fails with problem.NotFound.
func (q *Queue) GetOf(ctx context.Context, id string, of Of) (*Change, error) {
	c, err := q.store.GetOf(ctx, strings.ToLower(id), of)
	if err != nil {
		return nil, storeError(err)
	}
	return c, nil
}

// DeniedError returns the refusal of a write that a rule denies.
func DeniedError() *problem.Error {
	return &problem.Error{Code: problem.PermissionDenied, Kind: "review_denied", Detail: "a rule of the application's owners denies this write"}
}

// NotFoundError returns the refusal of a change that the caller can't see, whether or not it exists.
func NotFoundError() *problem.Error {
	return &problem.Error{Code: problem.NotFound, Detail: "there is no such change"}
}

// storeError translates an error of a store into a problem for the caller.
func storeError(err error) error {
	switch {
	case errors.Is(err, ErrNone):
		return NotFoundError()
	case errors.Is(err, ErrMoved):
		return &problem.Error{Code: problem.Conflict, Kind: "moved", Detail: "the change has moved on since it was read", Suggestion: "look at it again"}
	case errors.Is(err, ErrExpired):
		return &problem.Error{Code: problem.Conflict, Kind: "expired", Detail: "the change has expired"}
	case errors.Is(err, ErrUnrecorded):
		return &problem.Error{Code: problem.Conflict, Kind: "unrecorded", Detail: "the decision about the change is not in the audit yet", Suggestion: "try again soon"}
	case errors.Is(err, ErrFull):
		return &problem.Error{Code: problem.BudgetExceeded, Kind: "pending_changes", Detail: "too many changes of yours wait for review",
			Suggestion: "wait until some are decided, or cancel those that are no longer needed"}
	case errors.Is(err, ErrFast):
		return &problem.Error{Code: problem.RateLimited, Kind: "proposals", Detail: "you propose changes faster than people can review them", RetryAfter: time.Minute,
			Suggestion: "put what belongs together into one propose_changes, or wait a minute"}
	}
	return problem.StoreError("change_store", err)
}

// move adds a step to c and stores it. c is then the stored change. After a conflict c must not be used again. move
// ignores the cancellation of ctx, because otherwise it would not be known whether the step was stored.
func (q *Queue) move(ctx context.Context, c *Change, event EventKind, step Step, g Guard) error {
	if err := c.take(event, step); err != nil {
		return err
	}
	return q.swap(ctx, c, g)
}

// take adds a step to c without storing it.
func (c *Change) take(event EventKind, step Step) error {
	to, ok := c.State.Next(event)
	if !ok {
		err := &problem.Error{Code: problem.Conflict, Kind: "state", Detail: "the change is " + string(c.State) + ": that can't be done with it any more"}
		if event == EventAnswered {
			err.Suggestion = "propose a new change, if it is still wanted"
		}
		return err
	}
	step.State, step.Event, step.Digest = to, event, cmp.Or(step.Digest, c.Digest)
	c.State, c.History = to, append(c.History, step)
	return nil
}

// swap stores the steps that were added to c.
func (q *Queue) swap(ctx context.Context, c *Change, g Guard) error {
	g.Log = q.o.Audited
	if err := q.store.Swap(context.WithoutCancel(ctx), c, g); err != nil {
		return storeError(err)
	}
	return nil
}
