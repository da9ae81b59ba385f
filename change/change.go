// Package change manages writes that need approval: a change is proposed, shown as an exact diff, approved by people
// and applied once.
//
// A request that policy allows becomes a Change, and people decide about it. Before an approved change is applied,
// policy checks it again under the rules in force at that time. Only the request is stored, never the permission. The
// package refuses every transition that is not in its state table. It refuses a decision if its digest differs from
// that of the content that would run. It also refuses decisions of the human behind the proposing agent.
package change

import (
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Change is a proposed write and its outcome. It is stored as one JSON document. All times are those of the store's
// clock, in UTC.
type Change struct {
	ID      string `json:"id"`      // 34 characters, sortable by the time of creation. Older ones have 26
	Version int64  `json:"version"` // incremented by each Swap of the store. 1 for a new one
	State   State  `json:"state"`

	// The content that would run. Digest covers all of it.
	Source   string         `json:"source"`
	Schema   string         `json:"schema,omitzero"`   // the schema that it writes, in a source with one schema per tenant
	Op       write.Op       `json:"op"`                // the operation of all Writes, or "group" if they differ
	Writes   []value.Value  `json:"writes"`            // as write.Print prints them
	Effects  []Effect       `json:"effects"`           // one for each of Writes, in order
	Cascades []Cascade      `json:"cascades,omitzero"` // other records deleted or changed with it, for reviewers
	Preview  string         `json:"preview"`           // Executed or Computed
	Refusal  string         `json:"refusal,omitzero"`  // why the source would refuse it, for reviewers only: a constraint may reveal hidden records
	Doubts   []write.Doubt  `json:"doubts,omitzero"`   // objections found when it was proposed, for reviewers who see the records
	Against  *write.Against `json:"against,omitzero"`  // the class that its arguments were checked against. Nil if there is none, and for actions
	Digest   string         `json:"digest"`            // see Sum. In hex

	// Facts that the server computes.
	Tool    string     `json:"tool"`
	Action  string     `json:"action,omitzero"` // the action that made Writes, or "" if there is none or several
	Named   []Named    `json:"named,omitzero"`  // records to which the records of Effects point, for titles
	Title   string     `json:"title"`           // one line, by the gateway. In older changes it may be the text that is now in Says
	Classes []string   `json:"classes"`         // "source.Class", sorted
	Fields  []string   `json:"fields"`          // the fields that Writes set, sorted, without duplicates
	Rows    int        `json:"rows"`            // number of records in Writes
	Mode    write.Mode `json:"mode"`
	Need    int        `json:"need"`            // people who must approve
	Panels  []Panel    `json:"panels,omitzero"` // the reviewers of the rules, if any names some. Each panel must approve
	Risk    Risk       `json:"risk"`
	Rule    string     `json:"rule,omitzero"` // which rules decided Need and Risk: "review[1]", or "" for the defaults
	Policy  string     `json:"policy"`        // the version of the rules under which it was proposed

	Origins []write.Origin `json:"origins,omitzero"` // for each of several Writes, if an action made any of them. Otherwise Action made all
	Now     time.Time      `json:"now,omitzero"`     // the time that expressions of actions used, or zero without an action, and in older changes

	// Who proposed it, and why.
	Agent       Party       `json:"agent"`
	Asker       *Party      `json:"asked_by,omitzero"` // the person who requested it in the agent's name (a revert), or nil if the agent did
	Reason      string      `json:"reason,omitzero"`   // as the agent wrote it, untrusted
	Says        string      `json:"says,omitzero"`     // one sentence by the agent, or by the template of Action with the agent's values, untrusted
	Input       value.Value `json:"input"`             // the arguments of the tool call
	Correlation string      `json:"correlation_id"`
	After       []string    `json:"after,omitzero"`       // changes that must be applied before this one
	Reverts     string      `json:"reverts,omitzero"`     // the change that this one reverts
	Replaces    string      `json:"replaces,omitzero"`    // the previous version
	ReplacedBy  string      `json:"replaced_by,omitzero"` // the next version, which is reviewed instead
	Earlier     []Edition   `json:"earlier,omitzero"`     // the events of earlier versions, oldest first

	Created   time.Time  `json:"created_at"`
	Updated   time.Time  `json:"updated_at"`
	Expires   time.Time  `json:"expires_at"`
	Decisions []Decision `json:"decisions,omitzero"` // about the current Digest. Decisions about earlier digests are in History
	Lease     Lease      `json:"lease,omitzero"`
	Outcome   *Outcome   `json:"outcome,omitzero"` // nil until it ended
	History   []Step     `json:"history"`          // every transition, oldest first
}

// How a preview was made.
const (
	Executed = "executed" // the write ran in a transaction that was rolled back
	Computed = "computed" // computed from the request and the current record
)

// A Risk tells reviewers how carefully they should look at a change.
type Risk string

// The risks, from lowest to highest.
const (
	Low    Risk = "low"
	Medium Risk = "medium"
	High   Risk = "high"
)

// An Effect is the effect of one write on one record.
type Effect struct {
	Op       write.Op    `json:"op"`
	Class    string      `json:"class"`             // "source.Class", or the operation of an API
	Key      string      `json:"key"`               // the record's id as get_object takes it, or "" for a record not created yet
	Before   value.Value `json:"before"`            // an Object of all fields of the class that the rules show, or Null if there is no record
	After    value.Value `json:"after"`             // likewise, or Null for a deleted record
	Version  string      `json:"version,omitzero"`  // the field of Before that changes with the record, if the rules name one
	Destroys bool        `json:"destroys,omitzero"` // for a call: it may destroy data permanently
	About    value.Value `json:"about,omitzero"`    // for a call: the object on which it acts, as read for the preview. Null if it is Before or not known
	Takes    []Taken     `json:"takes,omitzero"`    // values from earlier calls or writes of the change
	Asked    []string    `json:"asked"`             // the requested fields, in class order. The source sets other fields that differ in After

	Present  Present     `json:"present,omitzero"`   // for a call: the parts of Before that are not known
	NotKnown []string    `json:"not_known,omitzero"` // for a call: the paths of After (data/name) that are not in Before, although the record may have them
	Listed   *Listed     `json:"listed,omitzero"`    // which part of the collection that a call changes was read, or nil for other calls
	Read     value.Value `json:"read,omitzero"`      // for a call: digests of the parts of the answer from which Before was read, as the agent sees it. Null if nothing was read
}

// A Listed describes which part of the collection that a call changes was read, as the agent sees it.
type Listed struct {
	Rows  int64  `json:"rows"`           // number of records that were read
	Total *int64 `json:"total,omitzero"` // number of all records according to the API, or nil if it doesn't report that
}

// A Present names the unknown part of the current state before a call. It is "" if the state was read.
type Present string

// The unknown parts.
const (
	PresentUnknown Present = "unknown" // the object that the call changes. A person must decide
	PresentUnread  Present = "unread"  // nothing was read, and the call makes something new or runs something
)

// A Taken is a value that comes from an earlier call or write of the same change. It can be an argument of a call, from
// an earlier answer. Or it is a field of a record, from the key of a record that an earlier write creates.
type Taken struct {
	At   string `json:"at"`   // the JSON pointer of the argument, "/path/id", or of the field, "/data/issue_id"
	Call int    `json:"call"` // the number of the earlier call or write, from 1
	Path string `json:"path"` // the place in the answer as names with dots between them, or the name of the key field
}

// A Named is a record to which a record of a change points, with the fields that name it. It is read when the change is
// proposed, as the agent sees it.
type Named struct {
	From   string      `json:"from"`   // the class with the pointer, "source.Class"
	Field  string      `json:"field"`  // the pointer
	Key    string      `json:"key"`    // its value, as text
	Class  string      `json:"class"`  // the class of the record, "source.Class"
	Record value.Value `json:"record"` // an Object of the fields that name it
}

// A Cascade is the number of records of another class that are deleted or changed along with a record.
type Cascade struct {
	Class   string `json:"class"`
	Effect  string `json:"effect"` // "delete", "set_null" or "update"
	Records int64  `json:"records"`
}

// A Preview is the expected effect of writes, which a source reports.
type Preview struct {
	Kind     string // Executed or Computed
	Effects  []Effect
	Cascades []Cascade
	Refusal  string // see Change
}

// A Party is a principal as stored in a change, with enough data to find the principal again.
type Party struct {
	Principal string `json:"principal"`
	Name      string `json:"name,omitzero"`
	Kind      string `json:"kind"`
	Owner     string `json:"owner,omitzero"`  // the human, or ""
	Origin    string `json:"origin,omitzero"` // the principal whose credential it derives from, or its own ID
	Tenant    string `json:"tenant,omitzero"`
	TokenID   string `json:"token_id,omitzero"`
	Frozen    []byte `json:"frozen"` // encoded by identity.Freeze. Policy evaluates it again when the change is applied
}

// A Decision is a person's decision about a digest.
type Decision struct {
	By      Party     `json:"by"`
	Approve bool      `json:"approve"`
	Digest  string    `json:"digest"`
	Comment string    `json:"comment,omitzero"` // as the person wrote it. Shown to the agent
	As      []string  `json:"as,omitzero"`      // the reviewers of the rules that the person was: see Panel
	At      time.Time `json:"at"`
	Single  bool      `json:"single_operator,omitzero"` // the person is the agent's owner. The configuration allows it
	Broken  bool      `json:"break_glass,omitzero"`     // approved without four eyes and the required number of approvals
}

// An Edition is a replaced version of a change.
type Edition struct {
	ID      string `json:"id"`
	Reason  string `json:"reason,omitzero"` // see Change
	Digest  string `json:"digest"`
	History []Step `json:"history"`
}

// A Lease is the right to apply a change for a limited time. Fence increases with every lease of the change. A target
// refuses an executor if it has already seen a higher fence.
type Lease struct {
	Holder string    `json:"holder"`
	Fence  int64     `json:"fence"`
	Until  time.Time `json:"until"`         // set by the store
	From   time.Time `json:"from,omitzero"` // set by the store: when it was taken, minus its length. A clock that was set back can show an earlier time. Then the lease has run out too
	Sent   bool      `json:"sent,omitzero"` // sending to a target that keeps no marker has begun: it must not be sent again
	Done   *Receipt  `json:"done,omitzero"` // for several calls: those made before the current one, or nil
	Had    []int     `json:"had,omitzero"`  // for each call that creates a record: the number of matching records before it was sent. -1 if it isn't looked for
}

// An Outcome is how a change ended.
type Outcome struct {
	Detail  string         `json:"detail,omitzero"`  // written by the gateway, for every reader
	Code    string         `json:"code,omitzero"`    // the error_code of a failure
	Kind    string         `json:"kind,omitzero"`    // the actual reason of a failure, for operators
	Receipt *Receipt       `json:"receipt,omitzero"` // for several calls, also if the change failed or is unknown: the receipt of those that were made
	Reply   *problem.Reply `json:"reply,omitzero"`   // for a call: the API's refusal
	Now     []Effect       `json:"now,omitzero"`     // for a stale change: the current records, in Before
	Settled *Party         `json:"settled,omitzero"` // the person who settled an unknown outcome
}

// A Receipt is the result of an apply, which a source reports.
type Receipt struct {
	Keys  []string      `json:"keys"` // for each write, the key of its record, also of new ones, in the form for get_object
	Rows  int64         `json:"rows"` // number of records written
	After []value.Value `json:"after,omitzero"`
	Again bool          `json:"again,omitzero"` // an earlier attempt had already written it
	Note  string        `json:"note,omitzero"`  // for calls: the unknown parts of the answers, and why. "" if everything is known
}

// A Step is one transition of a change.
type Step struct {
	State   State     `json:"state"`
	Event   EventKind `json:"event"`
	By      string    `json:"by,omitzero"`          // the name of the human or the agent, or "" for the server
	Comment string    `json:"comment,omitzero"`     // as By wrote it
	Digest  string    `json:"digest,omitzero"`      // the digest to which the step refers
	Broken  bool      `json:"break_glass,omitzero"` // approved without four eyes and the required number of approvals
	At      time.Time `json:"at"`
	Actor   *Actor    `json:"actor,omitzero"` // the principal that took the step. Nil in steps older than step records
}

// An Actor is the principal that took a step, and the rules in force then, for the audit record of the step.
type Actor struct {
	Principal string `json:"principal"`
	Owner     string `json:"owner,omitzero"`
	Tenant    string `json:"tenant,omitzero"`
	TokenID   string `json:"token_id,omitzero"`
	Policy    string `json:"policy,omitzero"` // the version of the rules

	Credential string `json:"credential,omitzero"` // for EventSending: as audit.Record.Credential
}
