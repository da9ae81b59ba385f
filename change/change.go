// Package change holds writes that wait for a person: proposed, shown as an exact diff, approved, applied once.
//
// It stands between policy and the second look of policy: a request that policy let through becomes a Change; people
// decide about it; an Approved is what policy turns into a permit, with the rules of that moment. What is kept is the
// request, never the permission. It refuses every step that its one table of states doesn't have, a decision over
// another digest than the one that would run, and a decision of the human behind the proposing agent.
package change

import (
	"time"

	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Change is a write that has not happened, or what became of it. It is kept whole as one JSON document; all times are
// those of the store's clock, in UTC.
type Change struct {
	ID      string `json:"id"`      // 34 characters, sortable by the time of creation; older ones have 26
	Version int64  `json:"version"` // counted up by each Swap of the store; 1 for a new one
	State   State  `json:"state"`

	// What would run. Digest stands for all of it.
	Source   string        `json:"source"`
	Op       write.Op      `json:"op"`                // that of all Writes; "group" when they differ
	Writes   []value.Value `json:"writes"`            // as write.Print prints them
	Effects  []Effect      `json:"effects"`           // one for each of Writes
	Cascades []Cascade     `json:"cascades,omitzero"` // what else goes or changes with it, for reviewers
	Preview  string        `json:"preview"`           // Executed or Computed
	Refusal  string        `json:"refusal,omitzero"`  // why the source would refuse it, in our words, for reviewers: constraints tell of hidden records
	Doubts   []write.Doubt `json:"doubts,omitzero"`   // what spoke against it when it was proposed, for reviewers who see what it is about
	Digest   string        `json:"digest"`            // see Digest; in hex

	// Facts that the server worked out.
	Tool    string     `json:"tool"`
	Action  string     `json:"action,omitzero"` // the action that made Writes
	Title   string     `json:"title"`           // one line
	Classes []string   `json:"classes"`         // "source.Class", sorted
	Fields  []string   `json:"fields"`          // that are set, sorted, each once
	Rows    int        `json:"rows"`            // records that Writes name
	Mode    write.Mode `json:"mode"`
	Need    int        `json:"need"` // people who must approve
	Risk    Risk       `json:"risk"`
	Rule    string     `json:"rule,omitzero"` // which rules decided Need and Risk: "review[1]"; "" for the defaults
	Policy  string     `json:"policy"`        // the version of the rules that let it be proposed

	// Who and why.
	Agent       Party       `json:"agent"`
	Asker       *Party      `json:"asked_by,omitzero"` // the person who asked for it in the agent's name: a revert; nil where the agent did
	Reason      string      `json:"reason,omitzero"`   // in the agent's words; untrusted
	Input       value.Value `json:"input"`             // the arguments as asked
	Correlation string      `json:"correlation_id"`
	After       []string    `json:"after,omitzero"`   // changes that must have been applied before
	Reverts     string      `json:"reverts,omitzero"` // the change that this one takes back

	Created   time.Time  `json:"created_at"`
	Updated   time.Time  `json:"updated_at"`
	Expires   time.Time  `json:"expires_at"`
	Decisions []Decision `json:"decisions,omitzero"` // about the Digest as it is now; those about earlier ones stand in History
	Comments  []Comment  `json:"comments,omitzero"`
	Lease     Lease      `json:"lease,omitzero"`
	Outcome   *Outcome   `json:"outcome,omitzero"` // nil until it ended
	History   []Step     `json:"history"`          // every transition, in order
}

// How a preview was made.
const (
	Executed = "executed" // the write ran in a transaction that was rolled back
	Computed = "computed" // worked out from the request and the record as it is
)

// A Risk is how much care a change asks of reviewers.
type Risk string

// The risks, from the least to the most.
const (
	Low    Risk = "low"
	Medium Risk = "medium"
	High   Risk = "high"
)

// An Effect is what one write does to one record.
type Effect struct {
	Op       write.Op    `json:"op"`
	Class    string      `json:"class"`             // "source.Class"; the operation of an API
	Key      string      `json:"key"`               // the record's id as get_object takes it; "" for one that is still to be made
	Before   value.Value `json:"before"`            // an Object of all fields that the rules show of the class; Null for none
	After    value.Value `json:"after"`             // likewise; Null for a record that goes
	Version  string      `json:"version,omitzero"`  // the field of Before that tells by moving that the record did, where the rules name one
	Destroys bool        `json:"destroys,omitzero"` // of a call: what it takes away may not come back
	Asked    []string    `json:"asked"`             // the fields that were asked for, in the order of the class; others in which After differs are the source's doing
}

// A Cascade is how many records of another class go or change when a record goes.
type Cascade struct {
	Class   string `json:"class"`
	Effect  string `json:"effect"` // "delete", "set_null" or "update"
	Records int64  `json:"records"`
}

// A Preview is what a source says that writes would do.
type Preview struct {
	Kind     string // Executed or Computed
	Effects  []Effect
	Cascades []Cascade
	Refusal  string // see Change
}

// A Party is a principal as a change keeps it: enough to find it again.
type Party struct {
	Principal string `json:"principal"`
	Name      string `json:"name,omitzero"`
	Kind      string `json:"kind"`
	Owner     string `json:"owner,omitzero"`  // the human
	Origin    string `json:"origin,omitzero"` // the principal with a credential that it comes from; its own id unless it was derived
	Tenant    string `json:"tenant,omitzero"`
	TokenID   string `json:"token_id,omitzero"`
	Frozen    []byte `json:"frozen"` // as identity.Freeze keeps it; policy asks it again when the change is applied
}

// A Decision is what a person decided about a digest.
type Decision struct {
	By      Party     `json:"by"`
	Approve bool      `json:"approve"`
	Digest  string    `json:"digest"`
	Comment string    `json:"comment,omitzero"` // in the person's words; the agent reads it
	At      time.Time `json:"at"`
	Single  bool      `json:"single_operator,omitzero"` // the person is the agent's owner; the configuration allows it
	Broken  bool      `json:"break_glass,omitzero"`     // decided past the rules, loudly
}

// A Comment is what a person says about a change without deciding.
type Comment struct {
	By   Party     `json:"by"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// A Lease is the right to apply a change for a while. Fence counts up with every lease of the change: a target refuses
// whoever comes with a lower one than it has seen.
type Lease struct {
	Holder string    `json:"holder"`
	Fence  int64     `json:"fence"`
	Until  time.Time `json:"until"`         // the store sets it
	Sent   bool      `json:"sent,omitzero"` // somebody has begun to send it to a target that keeps no marker: nobody sends it again
}

// An Outcome is how a change ended.
type Outcome struct {
	Detail  string   `json:"detail,omitzero"` // in our words, for everybody
	Code    string   `json:"code,omitzero"`   // the error_code of a failure
	Kind    string   `json:"kind,omitzero"`   // the true reason of a failure, for operators
	Receipt *Receipt `json:"receipt,omitzero"`
	Now     []Effect `json:"now,omitzero"`     // of a stale change: the records as they are, in Before
	Settled *Party   `json:"settled,omitzero"` // the person who said what became of an unknown one
}

// A Receipt is what a source says it has done.
type Receipt struct {
	Keys  []string      `json:"keys"` // of each write's record, those of new ones too, as get_object takes them
	Rows  int64         `json:"rows"` // that were written
	After []value.Value `json:"after,omitzero"`
	Again bool          `json:"again,omitzero"` // an earlier attempt had done it already
}

// A Step is one transition of a change.
type Step struct {
	State   State     `json:"state"`
	Event   EventKind `json:"event"`
	By      string    `json:"by,omitzero"`          // the name of the human or the agent; "" for the server itself
	Comment string    `json:"comment,omitzero"`     // likewise in their words
	Digest  string    `json:"digest,omitzero"`      // that the step was about
	Broken  bool      `json:"break_glass,omitzero"` // decided past the rules
	At      time.Time `json:"at"`
	Actor   *Actor    `json:"actor,omitzero"` // whose step it is; nil in steps that are older than their records
}

// An Actor is whose step one is, and by which rules: what its record says beside the step.
type Actor struct {
	Principal string `json:"principal"`
	Owner     string `json:"owner,omitzero"`
	Tenant    string `json:"tenant,omitzero"`
	TokenID   string `json:"token_id,omitzero"`
	Policy    string `json:"policy,omitzero"` // the version of the rules
}
