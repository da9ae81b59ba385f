package change

import (
	"context"
	"errors"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// A Store keeps changes. It decides nothing but three things that only it can: whether a change is still what somebody
// read (Version), what time it is, and whether there is room. It is safe for use by several goroutines, and by several
// processes that share it.
type Store interface {
	// Put files a new change with Version 1, Created and Updated now, Expires after life, and the event EventCreated.
	// When a change of the same Agent.Principal, Source and Digest is pending already it files nothing and returns that
	// one. It fails with ErrFull when the agents of Agent.Account() have most changes pending.
	Put(ctx context.Context, c *Change, life time.Duration, most int) (*Change, error)

	// Get returns the change called id, or ErrNone.
	Get(ctx context.Context, id string) (*Change, error)

	// GetOf is Get for who may know of some changes alone: of a change that isn't of's it is ErrNone, from the same
	// statement and after the same work as where there is none.
	GetOf(ctx context.Context, id string, of Of) (*Change, error)

	// List returns the changes that f asks for, the newest first, at most f.Limit, and whether there are more.
	List(ctx context.Context, f Filter) (found []*Change, more bool, err error)

	// Counts returns how many changes f asks for, by state. It looks at no page of f, and at no State.
	Counts(ctx context.Context, f Filter) (map[State]int, error)

	// Put and Swap keep the record of the step that a change takes, where it has one, in their transaction: the outbox
	// has it until it is in the audit.
	audit.Outbox

	// Swap puts c in the place of the change with c.ID and c.Version, counts Version up, sets Updated and, of the steps
	// at the end of History that have no time, At; and keeps an Event of the last step. All of it happens or nothing: it
	// fails with ErrMoved when the change has another version, and with what g asks for. On success c is as it is kept.
	Swap(ctx context.Context, c *Change, g Guard) error

	// Due returns the ids of changes that something is to be done with, at most limit: approved ones that wait for no other
	// that can still be applied, applying ones whose lease has run out, and pending, stale and approved ones that have expired.
	Due(ctx context.Context, limit int) ([]string, error)

	// Events returns what happened behind the event with Seq after, in order, at most limit. Seq of events that are
	// visible only ever grows: none appears behind one that was seen.
	Events(ctx context.Context, after int64, limit int) ([]Event, error)

	// LastEvent returns the Seq of the newest event; 0 when there is none.
	LastEvent(ctx context.Context) (int64, error)

	// Await returns when there may be events behind after, or when ctx ends: within 500 ms of an event of any process
	// that shares the store.
	Await(ctx context.Context, after int64) error

	// Now returns the store's time, in UTC and whole microseconds.
	Now(ctx context.Context) (time.Time, error)
}

// An Of says whose changes somebody may know of: those of a principal, or those of a tenant. The zero Of has none.
type Of struct {
	Principal string // Agent.Principal
	Tenant    string // Agent.Tenant, where Principal is ""
}

// A Guard is what a Swap wants besides the version; the zero Guard wants nothing.
type Guard struct {
	Unexpired bool          // Expires is later than now, by the store's clock; else ErrExpired
	Expired   bool          // Expires isn't later than now; else ErrMoved
	Recorded  bool          // the outbox has no record of the change's steps; else ErrUnrecorded
	Lapsed    bool          // Lease.Until of the change that is kept is not later than now; else ErrMoved
	Lease     time.Duration // sets Lease.Until this long after now; 0 leaves it
	Life      time.Duration // sets Expires this long after now; 0 leaves it
}

// The errors of stores.
var (
	ErrNone    = errors.New("change: there is no such change")
	ErrMoved   = errors.New("change: somebody was faster")
	ErrExpired = errors.New("change: it has expired")
	ErrFull    = errors.New("change: the account has too many changes pending")

	// ErrUnrecorded says that what was decided about a change isn't in the audit yet.
	ErrUnrecorded = errors.New("change: its steps are not recorded")
)

// A Filter asks for changes: those that have all that isn't zero in it.
type Filter struct {
	States    []State // any of these; nil for all
	Principal string  // Agent.Principal
	Owner     string  // Agent.Owner
	Tenant    string  // Agent.Tenant, where Tenanted
	Tenanted  bool
	Source    string
	Class     string // one of Classes
	Op        string
	Risk      Risk
	Text      string // stands in the title, reason or an id, without regard to case
	Before    string // an id: only older ones; the next page begins behind the last id of this one
	Limit     int    // at most 200; 0 takes 50
}

// An Event is one thing that happened to a change.
type Event struct {
	Seq    int64     `json:"seq"`
	Change string    `json:"change_id"`
	Kind   EventKind `json:"event"`
	State  State     `json:"state"` // after it
	By     string    `json:"by,omitzero"`
	Tenant string    `json:"tenant,omitzero"`
	Agent  string    `json:"agent"`                // the principal that proposed
	Broken bool      `json:"break_glass,omitzero"` // decided past the rules: whoever is told of any event is told of it
	At     time.Time `json:"at"`
}
