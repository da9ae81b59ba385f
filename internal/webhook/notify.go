// Package webhook tells other systems what happens to changes: webhooks that are signed, tried again and, at last, kept
// as dead where people see them.
//
// It stands beside change, whose events it follows with a cursor that the store keeps: a restart loses nothing, and of
// replicas one sends. No value of a record, no title and no words of an agent leave with it: what is sent says what
// happened to which change, and where people look at it. It refuses addresses that nobody has allowed, and redirects.
package webhook

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
)

// A Hook is where notifications go.
type Hook struct {
	Name     string
	URL      string             // http only where Private
	Secret   []byte             // signs what is sent; nil signs nothing, which Slack's own addresses want
	Events   []change.EventKind // that it is told of; nil for Usual
	Form     Form               // "" is Webhook
	Private  bool               // addresses of private networks and of this machine are allowed
	Attempts int                // until a delivery is dead; 0 takes 12, which takes some hours
}

// A Form is how a notification is written.
type Form string

// The forms.
const (
	Webhook Form = "webhook" // JSON for programs, by standardwebhooks.com
	Slack   Form = "slack"   // {"text": …}, which Slack and what is compatible show
)

// Usual are the events that hooks are told of.
func Usual() []change.EventKind {
	return []change.EventKind{change.EventCreated, change.EventApproved, change.EventRejected, change.EventApplied, change.EventFailed, change.EventStale,
		change.EventUnknown, change.EventExpired, change.EventCommented}
}

// Known are the events that a hook can be told of.
func Known() []change.EventKind {
	return append(Usual(), change.EventDecided, change.EventCancelled, change.EventRenewed, change.EventSettled)
}

// wants reports whether h is told of e. All are told when somebody breaks the glass.
func (h *Hook) wants(e change.Event) bool {
	events := h.Events
	if events == nil {
		events = Usual()
	}
	return e.Broken || slices.Contains(events, e.Kind)
}

// A State is where a delivery stands.
type State string

// The states.
const (
	Waiting State = "waiting" // to be sent, or to be tried again
	Sent    State = "sent"
	Dead    State = "dead" // it was tried often enough; a person can have it sent again
)

// States are all states.
func States() []State { return []State{Waiting, Sent, Dead} }

// A Delivery is one event for one hook.
type Delivery struct {
	ID       int64        `json:"id"` // the store gives it
	Hook     string       `json:"hook"`
	Event    change.Event `json:"event"`
	State    State        `json:"state"`
	Attempts int          `json:"attempts"`        // begun, since it was last asked for
	Due      time.Time    `json:"due_at"`          // when it is tried next, if it waits
	Status   int          `json:"status,omitzero"` // HTTP, of the last answer; 0 for none
	Failure  string       `json:"failure,omitzero"`
	Updated  time.Time    `json:"updated_at"`

	Fence int64 `json:"-"` // counts claims
}

// A Store keeps deliveries, and how far the events have been followed. It is safe for use by several goroutines, and by
// several processes that share it. Times are those of its clock.
type Store interface {
	// FedTo returns the Seq of the event up to which deliveries were made; false before the first Feed.
	FedTo(ctx context.Context) (seq int64, begun bool, err error)

	// Feed keeps deliveries, due now, and sets the event up to which they were made from one to another: all of it, or
	// ErrMoved when that isn't from any more. From -1 begins. Those that have been over for SentKept or DeadKept are
	// forgotten.
	Feed(ctx context.Context, from, to int64, list []Delivery) error

	// Claim returns at most n deliveries of these hooks that are due, counts Attempts up, and lets nobody else claim them
	// for lease.
	Claim(ctx context.Context, hooks []string, n int, lease time.Duration) ([]Delivery, error)

	// Finish keeps State, Status and Failure of a claimed delivery, which is due again after that long if it waits.
	// ErrMoved says that it was claimed by another since.
	Finish(ctx context.Context, d Delivery, after time.Duration) error

	// Deliveries returns those that f asks for, the newest first, and whether there are more.
	Deliveries(ctx context.Context, f Filter) (found []Delivery, more bool, err error)

	// Redeliver makes a delivery that is sent or dead wait again, from its first attempt. ErrNone says that there is no
	// such one.
	Redeliver(ctx context.Context, id int64) error
}

// A Filter asks for deliveries: those that have all that isn't zero in it.
type Filter struct {
	State  State
	Hook   string
	Change string // the id of a change
	Before int64  // an id: only older ones
	Limit  int    // at most 200; 0 takes 50
}

// Most is how many deliveries f wants at most.
func (f Filter) Most() int { return min(cmp.Or(f.Limit, 50), 200) }

// How long deliveries are kept that are over.
const (
	SentKept = 7 * 24 * time.Hour
	DeadKept = 90 * 24 * time.Hour
)

// The errors of stores.
var (
	ErrMoved = errors.New("notify: somebody was faster")
	ErrNone  = errors.New("notify: there is no such delivery")
)
