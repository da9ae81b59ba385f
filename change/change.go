// Package change manages writes that need approval: a change is proposed, shown as an exact diff, approved by people
// and applied once.
//
// A request that policy allows becomes a Change. People decide about it. Before an approved one is applied, policy
// checks it again under the rules in force then. Only the request is stored, never the permission. The package refuses
// every transition missing from its state table. It also refuses a decision about another digest than the one that
// would run, and a decision by the human behind the proposing agent.
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
	Schema   string         `json:"schema,omitzero"`   // that it writes, of a source with one schema per tenant
	Op       write.Op       `json:"op"`                // that of all Writes, or "group" when they differ
	Writes   []value.Value  `json:"writes"`            // as write.Print prints them
	Effects  []Effect       `json:"effects"`           // one for each of Writes, in order
	Cascades []Cascade      `json:"cascades,omitzero"` // other records deleted or changed with it, for reviewers
	Preview  string         `json:"preview"`           // Executed or Computed
	Refusal  string         `json:"refusal,omitzero"`  // why the source would refuse it, for reviewers only: a constraint may reveal hidden records
	Doubts   []write.Doubt  `json:"doubts,omitzero"`   // objections found when it was proposed, for reviewers who see the records
	Against  *write.Against `json:"against,omitzero"`  // the class that its arguments were checked against. Nil if there is none, and for actions
	Digest   string         `json:"digest"`            // see Sum. In hex

	// Facts worked out by the server.
	Tool    string     `json:"tool"`
	Action  string     `json:"action,omitzero"` // the action that made Writes, or "" if there is none or several
	Title   string     `json:"title"`           // one line, by the gateway. Of older changes it may be the text that Says holds now
	Classes []string   `json:"classes"`         // "source.Class", sorted
	Fields  []string   `json:"fields"`          // those that are set, sorted, without duplicates
	Rows    int        `json:"rows"`            // number of records that Writes name
	Mode    write.Mode `json:"mode"`
	Need    int        `json:"need"` // people who must approve
	Risk    Risk       `json:"risk"`
	Rule    string     `json:"rule,omitzero"` // which rules decided Need and Risk: "review[1]", or "" for the defaults
	Policy  string     `json:"policy"`        // the version of the rules under which it was proposed

	Origins []write.Origin `json:"origins,omitzero"` // for each of Writes, if any of several is of an action. Otherwise Action made all
	Now     time.Time      `json:"now,omitzero"`     // the time that expressions of actions used, or zero without an action, and in older changes

	// Who proposed it, and why.
	Agent       Party       `json:"agent"`
	Asker       *Party      `json:"asked_by,omitzero"` // the person who asked for it in the agent's name (a revert), or nil if the agent did
	Reason      string      `json:"reason,omitzero"`   // as the agent wrote it, untrusted
	Says        string      `json:"says,omitzero"`     // one sentence by the agent, or by the template of Action with the agent's values, untrusted
	Input       value.Value `json:"input"`             // the arguments of the tool call
	Correlation string      `json:"correlation_id"`
	After       []string    `json:"after,omitzero"`       // changes that must be applied before this one
	Reverts     string      `json:"reverts,omitzero"`     // the change that this one reverts
	Replaces    string      `json:"replaces,omitzero"`    // the version before this one
	ReplacedBy  string      `json:"replaced_by,omitzero"` // the version after this one, which is reviewed in its place
	Earlier     []Edition   `json:"earlier,omitzero"`     // the events of the versions before, oldest first

	Created   time.Time  `json:"created_at"`
	Updated   time.Time  `json:"updated_at"`
	Expires   time.Time  `json:"expires_at"`
	Decisions []Decision `json:"decisions,omitzero"` // about the current Digest. Those about earlier ones are in History
	Lease     Lease      `json:"lease,omitzero"`
	Outcome   *Outcome   `json:"outcome,omitzero"` // nil until it ended
	History   []Step     `json:"history"`          // every transition, oldest first
}

// How a preview was made.
const (
	Executed = "executed" // the write ran in a transaction that was rolled back
	Computed = "computed" // computed from the request and the current record
)

// A Risk is how carefully reviewers should look at a change.
type Risk string

// The risks, from lowest to highest.
const (
	Low    Risk = "low"
	Medium Risk = "medium"
	High   Risk = "high"
)

// An Effect is what one write does to one record.
type Effect struct {
	Op       write.Op    `json:"op"`
	Class    string      `json:"class"`             // "source.Class", or the operation of an API
	Key      string      `json:"key"`               // the record's id as get_object takes it, or "" for a record not created yet
	Before   value.Value `json:"before"`            // an Object of all fields of the class that the rules show, or Null if there is no record
	After    value.Value `json:"after"`             // likewise, or Null for a deleted record
	Version  string      `json:"version,omitzero"`  // the field of Before that changes whenever the record does, if the rules name one
	Destroys bool        `json:"destroys,omitzero"` // of a call: it may destroy data for good
	About    value.Value `json:"about,omitzero"`    // of a call: the object that it acts on, as it was read for the preview, or Null if that is Before, or unknown
	Takes    []Taken     `json:"takes,omitzero"`    // values from earlier calls or writes of the change
	Asked    []string    `json:"asked"`             // the requested fields, in class order. Others that differ in After are set by the source

	Present  Present     `json:"present,omitzero"`   // of a call: the parts of Before that are not known
	NotKnown []string    `json:"not_known,omitzero"` // of a call: the paths of After (data/name) that Before doesn't have, and the record may have all the same
	Listed   *Listed     `json:"listed,omitzero"`    // how much was read of the collection that a call changes, or nil for other calls
	Read     value.Value `json:"read,omitzero"`      // of a call: digests of the places of the answer that Before is from, as the agent sees it. Null if nothing was read
}

// A Listed says how much was read of the collection that a call changes, as the agent sees it.
type Listed struct {
	Rows  int64  `json:"rows"`           // the records that were read
	Total *int64 `json:"total,omitzero"` // how many records the API says that there are, or nil if it doesn't say
}

// A Present says what is not known of the present state of what a call changes, or "" if it was read.
type Present string

// The reasons why the present state is not known.
const (
	PresentUnknown Present = "unknown" // the object that the call changes: a person decides
	PresentUnread  Present = "unread"  // nothing was read, and the call makes something new or runs something
)

// A Taken is a value that an earlier call or write of the same change determines. It is an argument of a call, taken from an earlier
// answer. Or it is a field of a record, taken from the key of a record that an earlier write creates.
type Taken struct {
	At   string `json:"at"`   // the JSON pointer of the argument, "/path/id", or of the field, "/data/issue_id"
	Call int    `json:"call"` // the number of the earlier call or write, from 1
	Path string `json:"path"` // the place in the answer, names with dots between them, or the name of the key field
}

// A Cascade is the number of records of another class that are deleted or changed along with a record.
type Cascade struct {
	Class   string `json:"class"`
	Effect  string `json:"effect"` // "delete", "set_null" or "update"
	Records int64  `json:"records"`
}

// A Preview is what a source reports that writes would do.
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
	Frozen    []byte `json:"frozen"` // as identity.Freeze encodes it. Policy evaluates it again when the change is applied
}

// A Decision is what a person decided about a digest.
type Decision struct {
	By      Party     `json:"by"`
	Approve bool      `json:"approve"`
	Digest  string    `json:"digest"`
	Comment string    `json:"comment,omitzero"` // as the person wrote it. Shown to the agent
	At      time.Time `json:"at"`
	Single  bool      `json:"single_operator,omitzero"` // the person is the agent's owner. The configuration allows it
	Broken  bool      `json:"break_glass,omitzero"`     // approved past four eyes and the number of approvals
}

// An Edition is a version of a change that another one has replaced.
type Edition struct {
	ID      string `json:"id"`
	Reason  string `json:"reason,omitzero"` // see Change
	Digest  string `json:"digest"`
	History []Step `json:"history"`
}

// A Lease is the right to apply a change for a limited time. Fence increases with every lease of the change. A target
// refuses an executor with a lower fence than it has seen.
type Lease struct {
	Holder string    `json:"holder"`
	Fence  int64     `json:"fence"`
	Until  time.Time `json:"until"`         // set by the store
	From   time.Time `json:"from,omitzero"` // set by the store: the time that it was taken, less its length. Before that time, which only a clock set back shows, it has run out, too
	Sent   bool      `json:"sent,omitzero"` // sending to a target that keeps no marker has begun: it must not be sent again
	Done   *Receipt  `json:"done,omitzero"` // of several calls: those carried out before the one that is being sent, or nil
	Had    []int     `json:"had,omitzero"`  // of each call: the records that matched what it makes before it was sent, or -1 for one that isn't looked for
}

// An Outcome is how a change ended.
type Outcome struct {
	Detail  string         `json:"detail,omitzero"`  // in our own text, for every reader
	Code    string         `json:"code,omitzero"`    // the error_code of a failure
	Kind    string         `json:"kind,omitzero"`    // the actual reason of a failure, for operators
	Receipt *Receipt       `json:"receipt,omitzero"` // of several calls also if it failed or is unknown: of those carried out
	Reply   *problem.Reply `json:"reply,omitzero"`   // of a call: the API's refusal
	Now     []Effect       `json:"now,omitzero"`     // of a stale change: the current records, in Before
	Settled *Party         `json:"settled,omitzero"` // the person who settled an unknown outcome
}

// A Receipt is what a source reports that it has done.
type Receipt struct {
	Keys  []string      `json:"keys"` // of each write's record, new ones included, as get_object takes them
	Rows  int64         `json:"rows"` // number of records written
	After []value.Value `json:"after,omitzero"`
	Again bool          `json:"again,omitzero"` // an earlier attempt had done it already
	Note  string        `json:"note,omitzero"`  // of calls: the parts of the answers that aren't known, and why. "" if all is known
}

// A Step is one transition of a change.
type Step struct {
	State   State     `json:"state"`
	Event   EventKind `json:"event"`
	By      string    `json:"by,omitzero"`          // the name of the human or the agent, or "" for the server
	Comment string    `json:"comment,omitzero"`     // as By wrote it
	Digest  string    `json:"digest,omitzero"`      // the digest the step was about
	Broken  bool      `json:"break_glass,omitzero"` // approved past four eyes and the number of approvals
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

	Credential string `json:"credential,omitzero"` // of sending: as audit.Record.Credential
}
