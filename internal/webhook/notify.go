// Package webhook notifies other systems and people about events of changes. It sends signed webhooks and e-mail.
//
//	change.Event ─Feed→ Delivery in the Store ─Sender→ Message or Letter → receiver
//	failure ─retries→ dead, shown to people in the console
//
// A cursor in the store marks the last event that was processed. A restart therefore loses no event, and only one
// replica sends each notification. A Delivery that still fails after its retries is marked dead.
//
// A notification contains the id of the change, the event and a link. It contains a title, record values and words of
// an agent only if the hook names a person. It is then limited to that person's view of the change, and its texts
// contain no working markup. The sender refuses addresses that aren't allowed, and redirects.
//
// Mail is sent by SMTP. Without TLS the package sends no letter and no password, unless the server is in a private
// network and the configuration allows it. Errors are rewritten here, because a mail server's error may contain any
// text.
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
	URL      string             // http is allowed only with Private
	Secret   []byte             // the signing key. With nil, messages are unsigned, which suits Slack's own addresses
	Events   []change.EventKind // the subscribed events. Nil means the events of usual
	Form     Form               // "" means Webhook
	Private  bool               // allow addresses of private networks and of this machine
	Attempts int                // maximum attempts for a delivery. 0 means 12, which takes several hours

	When   *expression.Condition // select events of changes that satisfy this condition. Nil selects all
	Quiet  *Quiet                // the hours without notifications. Nil means none
	Tenant string                // select events of this tenant. "" selects all tenants
	As     Person                // show the change as this person sees it. The zero Person shows neither title nor values
	People map[string]Person     // the people who may decide in the receiver's system, by their account there. With nil, decisions are not accepted
	To     string                // the address, for the form Email
	Digest time.Duration         // for the form Email: the interval for which one letter combines all events. 0 means one letter for each event
}

// A Person is someone who was invited or has signed in.
type Person struct{ Owner, Tenant string }

// Answers reports whether people can decide about changes in the receiver's system.
func (h *Hook) Answers() bool { return len(h.People) > 0 && h.Secret != nil && h.As.Owner != "" }

// A Form is the format of a notification.
type Form string

// The formats.
const (
	Webhook Form = "webhook" // JSON for programs, by standardwebhooks.com
	Slack   Form = "slack"   // {"text": …, "blocks": …}, for Slack and compatible systems
	Email   Form = "mail"    // text and HTML, by SMTP
)

// usual returns the default events of a hook.
func usual() []change.EventKind {
	return []change.EventKind{change.EventCreated, change.EventApproved, change.EventRejected, change.EventApplied, change.EventFailed, change.EventStale,
		change.EventUnknown, change.EventExpired, change.EventCommented, change.EventAsked, change.EventAnswered, Withheld}
}

// AllEvents returns the events that a hook can subscribe to.
func AllEvents() []change.EventKind {
	return append(usual(), change.EventDecided, change.EventCancelled, change.EventRenewed, change.EventSettled, change.EventReplaced)
}

// wants reports whether h subscribes to e. Every hook of the tenant receives break-glass events.
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
	Dead    State = "dead" // no attempts left. A person can request another delivery
)

// States returns all states.
func States() []State { return []State{Waiting, Sent, Dead} }

// A Delivery is the notification of one hook about one event.
type Delivery struct {
	ID       int64        `json:"id"` // set by the store
	Hook     string       `json:"webhook"`
	Event    change.Event `json:"event"`
	State    State        `json:"state"`
	Attempts int          `json:"attempts"`        // attempts since the delivery was last requested
	Due      time.Time    `json:"due_at"`          // the time of the next attempt. In Feed: the time of the first attempt, or zero for at once
	Status   int          `json:"status,omitzero"` // HTTP status of the last response, or 0
	Failure  string       `json:"failure,omitzero"`
	Updated  time.Time    `json:"updated_at"`

	Fence int64 `json:"-"` // number of claims so far
}

// A Store stores deliveries and the cursor. Several goroutines and processes may use it concurrently. Times are those
// of the store's clock.
type Store interface {
	// FedTo returns the sequence number of the last event whose deliveries were stored. begun is false before the
	// first Feed.
	FedTo(ctx context.Context) (seq int64, begun bool, err error)

	// Feed stores deliveries and moves the cursor between two sequence numbers, in one transaction. A delivery is due
	// at once or at its Due. Feed fails with ErrMoved if the cursor has moved meanwhile. The first Feed starts from
	// -1. Feed also deletes deliveries that ended more than SentKept or DeadKept ago.
	Feed(ctx context.Context, from, to int64, list []Delivery) error

	// Claim returns at most n due deliveries of these hooks and increments their Attempts. It doesn't return them
	// again during the lease.
	Claim(ctx context.Context, hooks []string, n int, lease time.Duration) ([]Delivery, error)

	// Finish stores State, Status and Failure of a claimed delivery. A delivery that is still Waiting becomes due
	// again after the given duration. Finish fails with ErrMoved if the delivery was claimed again meanwhile.
	Finish(ctx context.Context, d Delivery, after time.Duration) error

	// Deliveries returns the deliveries that match f, newest first, and whether there are more.
	Deliveries(ctx context.Context, f Filter) (found []Delivery, more bool, err error)

	// Redeliver makes a sent or dead delivery wait for a new first attempt. It fails with ErrNone if the delivery
	// doesn't exist.
	Redeliver(ctx context.Context, id int64) error
}

// A Filter selects the deliveries that match all of its non-zero fields.
type Filter struct {
	State  State
	Hook   string
	Change string // the id of a change
	Before int64  // only deliveries older than this id
	Limit  int    // at most 200. 0 means 50
}

// Most returns the maximum number of deliveries in one result for f.
func (f Filter) Most() int { return min(cmp.Or(f.Limit, 50), 200) }

// How long ended deliveries are stored.
const (
	SentKept = 7 * 24 * time.Hour
	DeadKept = 90 * 24 * time.Hour
)

// The errors of stores.
var (
	ErrMoved = errors.New("notify: somebody was faster")
	ErrNone  = errors.New("notify: there is no such delivery")
)
