package change

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// A Store keeps changes. It only decides what no other part can decide: whether a change is still the version that was
// read, what time it is, and whether there is room. Several goroutines may use it, and several processes may share it.
type Store interface {
	// Put stores a new change with Version 1, Created and Updated now, Expires after f.Life, and an EventCreated. If a
	// change of the same Agent.Principal, Source and Digest is already pending, it stores nothing and returns that
	// change. It fails with ErrFull if the agents of Agent.Account() have f.Most changes pending. It fails with ErrFast
	// if they have filed f.PerMinute within a minute. In the same transaction it stores f.Replaces like Swap with
	// Guard.Unexpired. Changes that wait for f.Replaces then wait for c.
	Put(ctx context.Context, c *Change, f Filing) (*Change, error)

	// Get returns the change with this id, or ErrNone.
	Get(ctx context.Context, id string) (*Change, error)

	// GetOf is like Get, restricted to the changes that the Of selects. For any other change it fails with ErrNone. It
	// then runs the same statement and does the same work as for a change that doesn't exist.
	GetOf(ctx context.Context, id string, of Of) (*Change, error)

	// List returns the changes that match f, newest first, at most f.Limit, and whether there are more.
	List(ctx context.Context, f Filter) (found []*Change, more bool, err error)

	// Counts returns the number of changes that match f, by state: all without regard to f.For, and those of f.For that
	// have not ended. It ignores f's States, Before and Limit. A count of 1,001 means more than 1,000.
	Counts(ctx context.Context, f Filter) (all, mine map[State]int, err error)

	// Put and Swap store the audit records of the steps, if there are any, in the same transaction. The records go to
	// the outbox, and stay there until they are in the audit log. With Log they go directly to the log, which the store
	// must be too.
	audit.Outbox

	// Swap replaces the change with c.ID and c.Version by c, increments Version and sets Updated. It sets At of the
	// steps at the end of History without a time. It stores an Event for each of these steps, but at least for the last
	// step. All of this is one transaction. It fails with ErrMoved if the stored change has another version, and with
	// the error of a condition of g that is not met. On success c is the stored change.
	Swap(ctx context.Context, c *Change, g Guard) error

	// Due returns the ids of at most limit changes that need work. These are approved changes that wait for no other
	// applicable change, and changes in state applying whose lease has run out. Pending, stale and approved changes
	// that have expired need work too.
	Due(ctx context.Context, limit int) ([]string, error)

	// Events returns at most limit events after the one with Seq after, in order. The Seq of visible events only grows:
	// no event appears later with a Seq below that of a visible one.
	Events(ctx context.Context, after int64, limit int) ([]Event, error)

	// LastEvent returns the Seq of the newest event, or 0 if there is none.
	LastEvent(ctx context.Context) (int64, error)

	// Await returns when there may be events after Seq after, or when ctx ends. It returns within 500 ms of an event,
	// also of another process that shares the store.
	Await(ctx context.Context, after int64) error

	// Now returns the store's time, in UTC and whole microseconds.
	Now(ctx context.Context) (time.Time, error)
}

// An Of selects the changes that a caller may know: those of a principal, or those of a tenant. The zero Of selects
// none.
type Of struct {
	Principal string // Agent.Principal
	Tenant    string // Agent.Tenant, if Principal is ""
}

// A Filing has the conditions of a Put, and the times that it sets.
type Filing struct {
	Life      time.Duration
	Most      int     // maximum number of pending changes of the account
	PerMinute int     // maximum number of new changes of the account per minute. 0 means any number
	Replaces  *Change // the previous version in the form to store, or nil
	Log       bool    // the records of the steps go into the audit log, not the outbox
}

// A Guard has conditions of a Swap besides the version, and the times that it sets. The zero Guard has no condition.
type Guard struct {
	Unexpired bool          // Expires is later than now by the store's clock. Otherwise ErrExpired
	Expired   bool          // Expires isn't later than now. Otherwise ErrMoved
	Recorded  bool          // the outbox has no record of the change's steps. Otherwise ErrUnrecorded
	Lapsed    bool          // now is not between the stored Lease.From and Lease.Until. Otherwise ErrMoved
	Lease     time.Duration // sets Lease.Until to now plus this, and Lease.From to now minus this. 0 leaves them
	Life      time.Duration // sets Expires to now plus this. 0 leaves it
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
	Schemas   map[string]string // by source with one schema per tenant: the schema of the changes, or "". Changes of other sources match
	Class     string            // one of Classes
	Records   []Target          // changes that have not ended and write any of these
	Op        string
	Risk      Risk
	Text      string // words that the change has, or the beginnings of words, ignoring case and accents. See Sees
	// Sees reports in which values Text is found: those of a field of a class ("source.Class"). The field is "" for the
	// name of the class, and "#" for the key of a record. For a call it is the path of a member, such as data/name.
	// Without Sees, Text is found only in ids, people, agents, reasons, comments and states.
	Sees   func(class, field string) bool
	For    string   // Party.Human of a person who has not approved the current digest, and is not an author of it unless Own
	As     []string // the reviewers in the rules that For is (Queue.Roles): changes that wait for other reviewers don't match
	Own    bool     // also changes by For: those that their agents proposed or that they requested
	Before string   // only changes older than this id. For the next page, the last id of this one
	Limit  int      // at most 200. 0 means 50
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

// An Event is an event in the life of a change.
type Event struct {
	Seq    int64     `json:"seq"`
	Change string    `json:"change_id"`
	Kind   EventKind `json:"event"`
	State  State     `json:"state"` // the state after the event
	By     string    `json:"by,omitzero"`
	Tenant string    `json:"tenant,omitzero"`
	Agent  string    `json:"agent"`                // the principal that proposed the change
	Broken bool      `json:"break_glass,omitzero"` // approved by breaking the glass: every subscriber gets this event
	At     time.Time `json:"at"`

	// For an event about a hidden field instead of a change: "source.Class.field", and why it is hidden.
	Field string `json:"field,omitzero"`
	Why   string `json:"why,omitzero"`
}
