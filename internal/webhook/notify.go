// Package webhook notifies other systems and people of events of changes, by signed webhooks and by mail.
//
//	change.Event ─Feed→ Delivery in the Store ─Sender→ Message or Letter → receiver
//	failure ─retries→ dead, shown to people in the console
//
// It follows the events of package change with a cursor in the store. A restart loses nothing, and only one replica
// sends each notification. A Delivery that still fails after its retries is marked dead.
//
// A notification says which change had which event, and where to look at it. It contains a title, values of records and
// words of an agent only if the hook names a person. They are then limited to that person's view of the change. The
// receiver finds no markup in them. Addresses that aren't allowed are refused, and so are redirects.
//
// Mail is sent by SMTP. Without TLS the package sends no letter and no password, unless the server is of a private
// network and the configuration allows it. Errors are worded here, because those of mail servers may contain anything.
package webhook

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
)

// A Hook is a destination of notifications.
type Hook struct {
	Name     string
	URL      string             // http only if Private
	Secret   []byte             // the signing key. Nil sends unsigned, as for Slack's own addresses
	Events   []change.EventKind // the subscribed events. Nil means usual
	Form     Form               // "" means Webhook
	Private  bool               // allows addresses of private networks and of this machine
	Attempts int                // attempts until a delivery is dead. 0 means 12, which takes some hours

	When   *expression.Condition // only events of changes for which it holds. Nil means all
	Quiet  *Quiet                // when nothing is sent. Nil means never
	Tenant string                // only events of this tenant. "" means of all
	As     Person                // whose view of the change is shown. Zero shows neither title nor values
	People map[string]Person     // by account in the receiver's system, the people who decide there. Nil takes no answers
	To     string                // for the form Email: the address
	Digest time.Duration         // of the form Email: one letter in this time, about all events of it, or 0 for one each
}

// A Person is someone who has been invited or has signed in.
type Person struct{ Owner, Tenant string }

// Answers reports whether people decide in the receiver's system about the changes that h sends.
func (h *Hook) Answers() bool { return len(h.People) > 0 && h.Secret != nil && h.As.Owner != "" }

// A Form is the format of a notification.
type Form string

// The formats.
const (
	Webhook Form = "webhook" // JSON for programs, by standardwebhooks.com
	Slack   Form = "slack"   // {"text": …, "blocks": …}, for Slack and compatible systems
	Email   Form = "mail"    // text and HTML, by SMTP
)

// usual returns the events that hooks get by default.
func usual() []change.EventKind {
	return []change.EventKind{change.EventCreated, change.EventApproved, change.EventRejected, change.EventApplied, change.EventFailed, change.EventStale,
		change.EventUnknown, change.EventExpired, change.EventCommented, change.EventAsked, change.EventAnswered, Withheld}
}

// AllEvents returns the events that a hook can subscribe to.
func AllEvents() []change.EventKind {
	return append(usual(), change.EventDecided, change.EventCancelled, change.EventRenewed, change.EventSettled, change.EventReplaced)
}

// wants reports whether h gets e. Every hook of the tenant gets events of breaking the glass.
func (h *Hook) wants(e change.Event) bool {
	events := h.Events
	if events == nil {
		events = usual()
	}
	return (h.Tenant == "" || h.Tenant == e.Tenant) && (e.Broken || slices.Contains(events, e.Kind))
}

// A State is the state of a delivery.
type State string

// The states of a delivery.
const (
	Waiting State = "waiting" // to be sent or retried
	Sent    State = "sent"
	Dead    State = "dead" // out of attempts. A person can have it sent again
)

// States returns all states.
func States() []State { return []State{Waiting, Sent, Dead} }

// A Delivery is the notification of one hook about one event.
type Delivery struct {
	ID       int64        `json:"id"` // set by the store
	Hook     string       `json:"webhook"`
	Event    change.Event `json:"event"`
	State    State        `json:"state"`
	Attempts int          `json:"attempts"`        // begun, since it was last requested
	Due      time.Time    `json:"due_at"`          // when the next attempt is due, if it waits. In Feed, the first: zero for at once
	Status   int          `json:"status,omitzero"` // HTTP status of the last response, or 0
	Failure  string       `json:"failure,omitzero"`
	Updated  time.Time    `json:"updated_at"`

	Fence int64 `json:"-"` // number of claims
}

// A Store keeps deliveries and the cursor in the events. It is safe for use by several goroutines, and by several
// processes that share it. Times are those of its clock.
type Store interface {
	// FedTo returns the Seq of the event up to which deliveries were made. begun is false before the first Feed.
	FedTo(ctx context.Context) (seq int64, begun bool, err error)

	// Feed stores deliveries, due at once or at their Due, and moves the cursor from from to to. It does both or
	// neither. It fails with ErrMoved if the cursor is no longer at from. The first Feed has from -1. It drops
	// deliveries that ended more than SentKept or DeadKept ago.
	Feed(ctx context.Context, from, to int64, list []Delivery) error

	// Claim returns at most n due deliveries of these hooks and increments their Attempts. None of them can be claimed
	// again during lease.
	Claim(ctx context.Context, hooks []string, n int, lease time.Duration) ([]Delivery, error)

	// Finish stores State, Status and Failure of a claimed delivery. If the delivery still waits, it is due again after
	// that duration. Finish fails with ErrMoved if the delivery has been claimed again since.
	Finish(ctx context.Context, d Delivery, after time.Duration) error

	// Deliveries returns the deliveries that match f, newest first, and whether there are more.
	Deliveries(ctx context.Context, f Filter) (found []Delivery, more bool, err error)

	// Redeliver makes a sent or dead delivery wait again, from its first attempt. It fails with ErrNone if there is
	// no such delivery.
	Redeliver(ctx context.Context, id int64) error
}

// A Filter selects deliveries: those that match all of its non-zero fields.
type Filter struct {
	State  State
	Hook   string
	Change string // the id of a change
	Before int64  // only deliveries older than this id
	Limit  int    // at most 200. 0 means 50
}

// Most returns the maximum number of deliveries that f selects.
func (f Filter) Most() int { return min(cmp.Or(f.Limit, 50), 200) }

// How long ended deliveries are kept.
const (
	SentKept = 7 * 24 * time.Hour
	DeadKept = 90 * 24 * time.Hour
)

// The errors of stores.
var (
	ErrMoved = errors.New("notify: somebody was faster")
	ErrNone  = errors.New("notify: there is no such delivery")
)
