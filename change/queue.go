package change

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Options are what a Queue works by. Store is needed; the zero of each other field is good.
type Options struct {
	Store  Store
	Life   time.Duration // how long a change waits for people; 0 takes 24 h
	Most   int           // pending changes of one person, or of one principal without an owner; 0 takes 50
	Lease  time.Duration // how long an executor may take before another one begins anew; 0 takes 60 s
	Single bool          // the human behind the proposing agent may decide alone, and the record says so
}

// A Queue is the changes that wait, and all that can become of them. It keeps nothing itself, so that any process that
// shares the store goes on where another stopped. It is safe for use by several goroutines.
type Queue struct {
	store  Store
	o      Options
	policy string // see Under
}

// NewQueue returns a Queue over a store.
func NewQueue(o Options) *Queue {
	o.Life, o.Most, o.Lease = cmp.Or(o.Life, 24*time.Hour), cmp.Or(o.Most, 50), cmp.Or(o.Lease, time.Minute)
	return &Queue{store: o.Store, o: o}
}

// Store returns what keeps the changes, for those who only look.
func (q *Queue) Store() Store { return q.store }

// Single reports whether the human behind an agent may decide about its changes.
func (q *Queue) Single() bool { return q.o.Single }

// PartyOf returns who as a change keeps it.
func PartyOf(p identity.Principal) Party {
	return Party{Principal: p.ID, Name: p.Name, Kind: string(p.Kind), Owner: p.Owner, Origin: p.Origin(), Tenant: p.Tenant, TokenID: p.TokenID, Frozen: identity.Freeze(p)}
}

// Human returns the name of the human that p is or acts for, as it is compared: another spelling is not a second voice.
func (p Party) Human() string { return identity.Person(p.Owner) }

// Account returns whose pending changes p's count among: those of its human, or of the principal that it comes from.
func (p Party) Account() string { return cmp.Or(p.Human(), p.Origin, p.Principal) }

// Propose files c, which has been judged, and returns it as it is kept: another one where the same was pending already.
// A change that a rule lets through at once is filed as approved by that rule.
func (q *Queue) Propose(ctx context.Context, c *Change) (*Change, error) {
	if c.Mode == write.Deny {
		return nil, Denied()
	}
	c.ID, c.State, c.Digest = newID(), Pending, c.Sum()
	by, actor := c.Agent.Name, q.actor(c.Agent)
	if c.Asker != nil {
		by, actor = c.Asker.Owner, q.actor(*c.Asker)
	}
	c.History = []Step{{State: Pending, Event: EventCreated, By: by, Digest: c.Digest, Actor: actor}}
	kept, err := q.store.Put(context.WithoutCancel(ctx), c, q.o.Life, q.o.Most)
	if err != nil {
		return nil, failed(err)
	}
	if kept.Mode == write.Allow && kept.ID == c.ID {
		if err := q.move(ctx, kept, EventApproved, Step{Actor: actor, Comment: "let through by " + cmp.Or(c.Rule, "a rule of the class")}, Guard{Unexpired: true}); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// newID returns a new id: 34 characters whose order is that of the time they were made, with 120 random bits. It begins
// as a ULID does, which ids of 26 characters are.
func newID() string {
	return strings.ToLower(ulid.MustNew(ulid.Timestamp(time.Now()), rand.Reader).String() + rand.Text()[:8])
}

// Get returns the change called id.
func (q *Queue) Get(ctx context.Context, id string) (*Change, error) {
	c, err := q.store.Get(ctx, strings.ToLower(id))
	if err != nil {
		return nil, failed(err)
	}
	return c, nil
}

// GetOf returns the change called id, if it is of's.
func (q *Queue) GetOf(ctx context.Context, id string, of Of) (*Change, error) {
	c, err := q.store.GetOf(ctx, strings.ToLower(id), of)
	if err != nil {
		return nil, failed(err)
	}
	return c, nil
}

// Denied refuses what a rule denies.
func Denied() *problem.Error {
	return &problem.Error{Code: problem.PermissionDenied, Kind: "review_denied", Detail: "a rule of the application's owners denies this write"}
}

// NotFound refuses a change that isn't there for the asker, whether or not it is for others.
func NotFound() *problem.Error {
	return &problem.Error{Code: problem.NotFound, Detail: "there is no such change"}
}

// failed says what an error of a store means to the asker.
func failed(err error) error {
	switch {
	case errors.Is(err, ErrNone):
		return NotFound()
	case errors.Is(err, ErrMoved):
		return &problem.Error{Code: problem.Conflict, Kind: "moved", Detail: "the change has moved on since it was read", Suggestion: "look at it again"}
	case errors.Is(err, ErrExpired):
		return &problem.Error{Code: problem.Conflict, Kind: "expired", Detail: "the change has expired"}
	case errors.Is(err, ErrUnrecorded):
		return &problem.Error{Code: problem.Conflict, Kind: "unrecorded", Detail: "what was decided about the change is not in the audit yet", Suggestion: "try again soon"}
	case errors.Is(err, ErrFull):
		return &problem.Error{Code: problem.BudgetExceeded, Kind: "pending_changes", Detail: "too many changes of yours wait for review",
			Suggestion: "wait until some are decided, or cancel those that are no longer needed"}
	}
	return &problem.Error{Code: problem.Internal, Detail: "Internal error", Kind: "change_store", Err: err}
}

// move takes c one step on by the table, and c is then as it is kept. Where somebody was faster c is of no more use. An
// asker who has gone doesn't end it halfway: whether the step was taken would not be known.
func (q *Queue) move(ctx context.Context, c *Change, event EventKind, step Step, g Guard) error {
	to, ok := c.State.Next(event)
	if !ok {
		return &problem.Error{Code: problem.Conflict, Kind: "state", Detail: "the change is " + string(c.State) + ": that can't be done with it any more"}
	}
	step.State, step.Event, step.Digest = to, event, cmp.Or(step.Digest, c.Digest)
	c.State, c.History = to, append(c.History, step)
	if err := q.store.Swap(context.WithoutCancel(ctx), c, g); err != nil {
		return failed(err)
	}
	return nil
}
