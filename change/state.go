package change

import "slices"

// A State is the state of a change.
type State string

// The states of a change.
const (
	Pending   State = "pending"           // waits for approval
	Returned  State = "changes_requested" // a person asked the agent for changes. The agent answers or replaces it
	Granted   State = "approved"          // enough people approved it. It is about to be applied, or waits for others
	Applying  State = "applying"          // an executor holds its lease and applies it
	Applied   State = "applied"           // done, exactly once
	Rejected  State = "rejected"          // a person rejected it
	Expired   State = "expired"           // its time ran out before it was decided or applied
	Cancelled State = "cancelled"         // its agent withdrew it
	Stale     State = "stale"             // the records have changed. It needs a new preview
	Failed    State = "failed"            // nothing was written. Of several calls, the Receipt lists those that were made before one failed
	Unknown   State = "unknown"           // the target did not answer: a person must settle it
	Replaced  State = "replaced"          // another version of it is reviewed instead
)

// An EventKind is a kind of event in the life of a change.
type EventKind string

// The events of a change. An event causes each transition.
const (
	EventCreated   EventKind = "created"
	EventDecided   EventKind = "decided" // approved by one person of several
	EventApproved  EventKind = "approved"
	EventRejected  EventKind = "rejected"
	EventCommented EventKind = "commented"
	EventCancelled EventKind = "cancelled"
	EventExpired   EventKind = "expired"
	EventClaimed   EventKind = "claimed"
	EventSending   EventKind = "sending" // about to be sent to a target that keeps no marker: it can't be sent again
	EventApplied   EventKind = "applied"
	EventFailed    EventKind = "failed"
	EventStale     EventKind = "stale"
	EventUnknown   EventKind = "unknown"
	EventRenewed   EventKind = "previewed" // a new preview with another digest: approvals start over
	EventSettled   EventKind = "settled"
	EventAsked     EventKind = "changes_requested"
	EventAnswered  EventKind = "answered" // by its agent, without a new version
	EventReplaced  EventKind = "replaced"
)

// States returns all states, in the order of a change's life.
func States() []State {
	return []State{Pending, Returned, Granted, Applying, Applied, Rejected, Expired, Cancelled, Replaced, Stale, Failed, Unknown}
}

// transitions is the state table: the next state by state and event. A missing entry is a refused transition.
var transitions = map[State]map[EventKind]State{
	Pending: {EventDecided: Pending, EventApproved: Granted, EventRejected: Rejected, EventCommented: Pending, EventCancelled: Cancelled,
		EventExpired: Expired, EventRenewed: Pending, EventStale: Stale, EventAsked: Returned, EventAnswered: Pending, EventReplaced: Replaced},
	Returned: {EventAnswered: Pending, EventReplaced: Replaced, EventRenewed: Pending, EventCommented: Returned, EventRejected: Rejected, EventCancelled: Cancelled,
		EventExpired: Expired},
	Granted:  {EventClaimed: Applying, EventExpired: Expired, EventCommented: Granted, EventCancelled: Cancelled, EventRejected: Rejected},
	Applying: {EventClaimed: Applying, EventSending: Applying, EventApplied: Applied, EventFailed: Failed, EventStale: Stale, EventUnknown: Unknown},
	Stale: {EventRenewed: Pending, EventRejected: Rejected, EventCommented: Stale, EventCancelled: Cancelled, EventExpired: Expired, EventAsked: Returned,
		EventAnswered: Stale, EventReplaced: Replaced},
	Unknown:  {EventSettled: Unknown, EventApplied: Applied, EventFailed: Failed, EventCommented: Unknown},
	Applied:  {EventCommented: Applied},
	Rejected: {EventCommented: Rejected},
	Failed:   {EventCommented: Failed},
}

// IsFinal reports whether s is final. Then a change can only get comments.
func (s State) IsFinal() bool {
	return slices.Contains([]State{Applied, Rejected, Expired, Cancelled, Replaced, Failed}, s)
}

// Next returns the state after event in s, and whether this transition exists.
func (s State) Next(event EventKind) (State, bool) {
	to, ok := transitions[s][event]
	return to, ok
}
