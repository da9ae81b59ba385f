package change

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// A Store keeps changes. It decides only questions that no other part can: whether a change is still the version that
// was read, what time it is, and whether there is room. It is safe for use by several goroutines, and by several
// processes that share it.
type Store interface {
	// Put stores a new change with Version 1, Created and Updated now, Expires after f.Life, and an EventCreated. If a
	// change of the same Agent.Principal, Source and Digest is already pending, it stores nothing and returns that
	// one. It fails with ErrFull when the agents of Agent.Account() have f.Most changes pending, and with ErrFast when
	// they have filed f.PerMinute within a minute. f.Replaces is stored in the same transaction, as Swap
	// would with Guard.Unexpired, and what waits for it waits for c from then on: both are stored, or neither.
	Put(ctx context.Context, c *Change, f Filing) (*Change, error)

	// Get returns the change with this id, or ErrNone.
	Get(ctx context.Context, id string) (*Change, error)

	// GetOf is Get restricted to the changes of of. For any other change it fails with ErrNone, from the same
	// statement and after the same work as for one that doesn't exist.
	GetOf(ctx context.Context, id string, of Of) (*Change, error)

	// List returns the changes that match f, newest first, at most f.Limit, and whether there are more.
	List(ctx context.Context, f Filter) (found []*Change, more bool, err error)

	// Counts returns the number of changes that match f, by state. It ignores f's States, Before and Limit.
	Counts(ctx context.Context, f Filter) (map[State]int, error)

	// Put and Swap store the audit records of the steps, if they have one, in the same transaction. The records go to
	// the outbox, where they stay until they are in the audit log. With Log they go to that log, which the store is as
	// well.
	audit.Outbox

	// Swap replaces the change with c.ID and c.Version by c, increments Version and sets Updated. It sets At of the
	// steps at the end of History that have none. It stores an Event for each of these steps, at least for the last. It
	// does all of this or nothing. It fails with ErrMoved if the stored change has another version, and with the error
	// of a condition of g that doesn't hold. On success c is the stored change.
	Swap(ctx context.Context, c *Change, g Guard) error

	// Due returns the ids of at most limit changes that need work. These are approved ones that wait for no other
	// applicable change, and applying ones whose lease has run out. Pending, stale and approved ones that have expired
	// need work too.
	Due(ctx context.Context, limit int) ([]string, error)

	// Events returns at most limit events after the one with Seq after, in order. The Seq of visible events only
	// grows: none appears later with a Seq below one already seen.
	Events(ctx context.Context, after int64, limit int) ([]Event, error)

	// LastEvent returns the Seq of the newest event, or 0 if there is none.
	LastEvent(ctx context.Context) (int64, error)

	// Await returns when there may be events after Seq after, within 500 ms of an event of any process that shares
	// the store, or when ctx ends.
	Await(ctx context.Context, after int64) error

	// Now returns the store's time, in UTC and whole microseconds.
	Now(ctx context.Context) (time.Time, error)
}

// An Of selects the changes that a caller may know of: those of a principal, or those of a tenant. The zero Of
// selects none.
type Of struct {
	Principal string // Agent.Principal
	Tenant    string // Agent.Tenant, if Principal is ""
}

// A Filing holds the conditions of a Put, and the times that it sets.
type Filing struct {
	Life      time.Duration
	Most      int     // pending changes of the account
	PerMinute int     // changes of the account, or 0 for any number
	Replaces  *Change // the version before, as it is to be stored, or nil
	Log       bool    // the records of the steps go into the audit log, not the outbox
}

// A Guard holds conditions of a Swap besides the version, and the times that it sets. The zero Guard has none.
type Guard struct {
	Unexpired bool          // Expires is later than now, by the store's clock, or else ErrExpired
	Expired   bool          // Expires isn't later than now, or else ErrMoved
	Recorded  bool          // the outbox has no record of the change's steps, or else ErrUnrecorded
	Lapsed    bool          // now is not from Lease.From up to Lease.Until, as stored, or else ErrMoved
	Lease     time.Duration // sets Lease.Until to this long after now and Lease.From to this long before. 0 leaves them
	Life      time.Duration // sets Expires to this long after now. 0 leaves it
	Log       bool          // the records of the steps go into the audit log, not the outbox
}

// The errors of stores.
var (
	ErrNone    = errors.New("change: there is no such change")
	ErrMoved   = errors.New("change: somebody was faster")
	ErrExpired = errors.New("change: it has expired")
	ErrFull    = errors.New("change: the account has too many changes pending")
	ErrFast    = errors.New("change: the account has filed too many changes within a minute")

	// ErrUnrecorded reports that a decision about a change isn't in the audit log yet.
	ErrUnrecorded = errors.New("change: its steps are not recorded")
)

// A Filter selects changes: those that match all of its non-zero fields.
type Filter struct {
	States    []State // any of these, or nil for all
	Principal string  // Agent.Principal
	Owner     string  // Agent.Owner
	Tenant    string  // Agent.Tenant, if Tenanted
	Tenanted  bool
	Source    string
	Schemas   map[string]string // by source with one schema per tenant: the schema whose changes are meant, or "". Changes of other sources match
	Class     string            // one of Classes
	Records   []Target          // changes that have not ended and write any of these
	Op        string
	Risk      Risk
	Text      string // part of the title, the reason or an id, ignoring case
	For       string // Party.Human of a person who has not approved the current digest, and is not an author of it unless Own
	Own       bool   // also changes that For is the author of: their agents', and those that they asked for
	Before    string // only changes older than this id. For the next page, the last id of this one
	Limit     int    // at most 200. 0 means 50
}

// A Target is a record that a change writes.
type Target struct{ Class, Key string } // as in Effect. Key is not ""

// Targets returns the records that c writes, without those it creates.
func (c *Change) Targets() []Target {
	var out []Target
	for _, e := range c.Effects {
		if at := (Target{e.Class, e.Key}); e.Key != "" && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

// An Event is something that happened to a change.
type Event struct {
	Seq    int64     `json:"seq"`
	Change string    `json:"change_id"`
	Kind   EventKind `json:"event"`
	State  State     `json:"state"` // the state after the event
	By     string    `json:"by,omitzero"`
	Tenant string    `json:"tenant,omitzero"`
	Agent  string    `json:"agent"`                // the principal that proposed
	Broken bool      `json:"break_glass,omitzero"` // approved past the rules: every subscriber gets this event
	At     time.Time `json:"at"`

	// Of an event that is about a field and no change: "source.Class.field", and why it is hidden.
	Field string `json:"field,omitzero"`
	Why   string `json:"why,omitzero"`
}
