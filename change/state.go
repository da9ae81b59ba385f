package change

import "slices"

// A State is where a change stands.
type State string

// The states (design 05).
const (
	Pending   State = "pending"   // waits for people
	Granted   State = "approved"  // enough people approved it; it is about to be applied
	Applying  State = "applying"  // an executor holds its lease
	Applied   State = "applied"   // done, once
	Rejected  State = "rejected"  // a person refused it
	Expired   State = "expired"   // nobody decided in time
	Cancelled State = "cancelled" // its agent took it back
	Stale     State = "stale"     // the records moved on; it needs a new preview
	Failed    State = "failed"    // nothing was written
	Unknown   State = "unknown"   // an HTTP target did not answer: a person settles it
)

// An EventKind is what happened to a change, for those who are told.
type EventKind string

// The events. Doing anything to a change is one of them.
const (
	EventCreated   EventKind = "created"
	EventDecided   EventKind = "decided" // approved by one person of several
	EventApproved  EventKind = "approved"
	EventRejected  EventKind = "rejected"
	EventCommented EventKind = "commented"
	EventCancelled EventKind = "cancelled"
	EventExpired   EventKind = "expired"
	EventClaimed   EventKind = "claimed"
	EventSending   EventKind = "sending" // it is about to be sent to a target that keeps no marker: it can't be sent again
	EventApplied   EventKind = "applied"
	EventFailed    EventKind = "failed"
	EventStale     EventKind = "stale"
	EventUnknown   EventKind = "unknown"
	EventRenewed   EventKind = "previewed" // a new preview: another digest, approvals begin anew
	EventSettled   EventKind = "settled"
)

// States are all states, in the order of a change's life.
func States() []State {
	return []State{Pending, Granted, Applying, Applied, Rejected, Expired, Cancelled, Stale, Failed, Unknown}
}

// transitions is the one table: from a state, by an event, to a state. What it doesn't have doesn't happen.
var transitions = map[State]map[EventKind]State{
	Pending: {EventDecided: Pending, EventApproved: Granted, EventRejected: Rejected, EventCommented: Pending, EventCancelled: Cancelled,
		EventExpired: Expired, EventRenewed: Pending, EventStale: Stale},
	Granted:  {EventClaimed: Applying, EventExpired: Expired, EventCommented: Granted, EventCancelled: Cancelled, EventRejected: Rejected},
	Applying: {EventClaimed: Applying, EventSending: Applying, EventApplied: Applied, EventFailed: Failed, EventStale: Stale, EventUnknown: Unknown},
	Stale:    {EventRenewed: Pending, EventRejected: Rejected, EventCommented: Stale, EventCancelled: Cancelled, EventExpired: Expired},
	Unknown:  {EventSettled: Unknown, EventApplied: Applied, EventFailed: Failed, EventCommented: Unknown},
	Applied:  {EventCommented: Applied},
	Rejected: {EventCommented: Rejected},
	Failed:   {EventCommented: Failed},
}

// Ended reports whether nothing more can become of a change in state s.
func (s State) Ended() bool {
	return slices.Contains([]State{Applied, Rejected, Expired, Cancelled, Failed}, s)
}

// Next returns the state that event leads to from s, and whether the table has such a step.
func (s State) Next(event EventKind) (State, bool) {
	to, ok := transitions[s][event]
	return to, ok
}
