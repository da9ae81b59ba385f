// Package review presents a change to one viewer: a person who decides about it, or the agent that proposed it.
//
//	change.Change ─New: Visibility of each class→ Sheet ─Checks, history→ console, commands, JSON API, tools
//
// The console, the commands, the JSON API and the tools show the same Sheet, so everyone decides about the same
// content. A sheet counts hidden fields but contains neither their names nor their values.
//
// VisibilityOf computes, under the rules in force, a principal's visibility of the classes and operations that a
// change writes. A value whose mask can't be computed is shown as null. Callers add the Checks that a decision
// depends on.
//
// ReadHistory adds the audit records of the change and of the agent's calls before it. OpenedValues adds the long
// values that the reviewer has opened. A Feed returns the events that one reviewer may see.
//
// A change may wait for days, and credentials may be revoked in the meantime. AgentOf and CheckParties therefore read
// the current principals of the agent and the approvers. A Maker runs the actions of a change again and compares the
// new writes with the proposed writes.
//
// Inert and Visible make agents' texts safe to show. JoinsEmoji accepts the invisible characters within emoji.
// Elsewhere an invisible character could hide text.
package review

import (
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Visibility describes the part of a class that a viewer may see. The zero Visibility shows nothing.
type Visibility struct {
	Class  string                 // as the viewer addresses it, or "" if hidden. For a call: the operation
	Key    []string               // the fields that identify a record (policy.View.Key). If empty, no key is shown
	Fields map[string]schema.Type // the visible fields, by name, or nil
	Label  string                 // the field that contains the label of a record, or ""
	Code   []plan.NamePart        // the short name of a record (policy.View.Code), or nil
	Link   []plan.NamePart        // the address of a record in its application (policy.View.Link), or nil
	Parent string                 // the pointer to the record to which a record belongs (policy.View.Parent), or ""
	Points map[string]Pointer     // the targets of the pointers among Fields, by name
	Masks  map[string]Masked      // the masks of Fields, by name. A masked field blocks an approval like a hidden field

	// Call replaces Fields for a call. It reports whether the viewer sees members of this name, anywhere in the
	// request and in the changed object. It is nil for a class.
	Call func(name string) bool
	// Denied is the number of fields of the class that the rules show to no principal. A delete also removes these
	// fields.
	Denied int
}

// A Pointer is the target of a pointer field: the class, and the key field whose value the pointer contains.
type Pointer struct{ Class, Key string }

// field returns the type of a field, and whether the viewer sees the field and these values of it.
func (s Visibility) field(name string, values ...value.Value) (schema.Type, bool) {
	if s.Call == nil {
		t, seen := s.Fields[name]
		return t, seen
	}
	return schema.Any, s.Call(name) && !slices.ContainsFunc(values, s.hides)
}

// without returns v without its hidden members.
func (s Visibility) without(v value.Value) value.Value {
	switch v.Kind() {
	case value.Object:
		var members []value.Member
		for _, m := range v.Members() {
			if s.Call(m.Name) {
				members = append(members, value.Member{Name: m.Name, Value: s.without(m.Value)})
			}
		}
		return value.OfObject(members)
	case value.Array:
		list := make([]value.Value, len(v.List()))
		for i, e := range v.List() {
			list[i] = s.without(e)
		}
		return value.OfArray(list)
	}
	return v
}

// hides reports whether v contains a hidden member.
func (s Visibility) hides(v value.Value) bool {
	return slices.ContainsFunc(v.List(), s.hides) ||
		slices.ContainsFunc(v.Members(), func(m value.Member) bool { return !s.Call(m.Name) || s.hides(m.Value) })
}

// Masked returns the masked form of a value.
type Masked func(value.Value) value.Value

// A Row is a change in the list of the queue.
type Row struct {
	ID        string         `json:"id"`
	State     change.State   `json:"state"`
	Title     string         `json:"title"` // written by the gateway: which records change, and how
	Op        string         `json:"op"`
	Source    string         `json:"source"`
	Classes   []string       `json:"classes"`
	Rows      int            `json:"rows"`
	Creates   int64          `json:"creates,omitzero"` // records that are created. Not known for calls of APIs
	Updates   int64          `json:"updates,omitzero"` // records that are updated, also by the database along with others in classes that the viewer sees
	Deletes   int64          `json:"deletes,omitzero"` // the same for deleted records
	Fields    []string       `json:"fields"`
	Risk      change.Risk    `json:"risk"`
	Approvals int            `json:"approvals"` // distinct people who approved so far
	Need      int            `json:"need"`
	Agent     string         `json:"agent"`
	Owner     string         `json:"owner"`
	Asker     string         `json:"asked_by,omitzero"` // the person who requested the change through the agent and wrote Reason
	Says      string         `json:"says,omitzero"`     // one sentence about the change by SaidBy. The gateway doesn't check it
	SaidBy    string         `json:"said_by,omitzero"`
	Reason    string         `json:"reason,omitzero"` // as the agent wrote it
	Created   time.Time      `json:"created_at"`
	Updated   time.Time      `json:"updated_at"`
	Expires   time.Time      `json:"expires_at"`
	Digest    string         `json:"digest"`
	Reviewers []change.Panel `json:"reviewers,omitzero"`      // for reviewers, before the change is approved: whose approval is missing, if the rules say whose
	Broken    bool           `json:"break_glass,omitzero"`    // someone approved this digest with break glass
	Mine      bool           `json:"decided_by_you,omitzero"` // the viewer has decided about this digest
}

// A Sheet is a change as one viewer may see it. GET /api/changes/{id} returns it.
type Sheet struct {
	Row
	Tool        string           `json:"tool"`
	Action      string           `json:"action,omitzero"`
	Preview     string           `json:"preview"` // change.Executed or change.Computed
	Rule        string           `json:"rule,omitzero"`
	Policy      string           `json:"policy_version"`
	Correlation string           `json:"correlation_id"`
	After       []string         `json:"after,omitzero"`
	Reverts     string           `json:"reverts,omitzero"`
	Items       []Item           `json:"items"`
	Refused     string           `json:"refused,omitzero"`        // for reviewers: why the source refused the write during the preview
	Others      []Other          `json:"conflicts,omitzero"`      // open changes that write the same records, if the viewer may know of them
	MoreOthers  bool             `json:"more_conflicts,omitzero"` // there are more than Others. Others contains the newest
	Cascades    []change.Cascade `json:"cascades,omitzero"`       // only of classes that the viewer sees
	Checks      []Check          `json:"checks,omitzero"`         // for reviewers, computed with the sheet
	CanApprove  bool             `json:"can_approve"`
	CanReject   bool             `json:"can_reject"`
	CanRevert   bool             `json:"can_revert"`
	NoRevert    string           `json:"no_revert,omitzero"`    // for an applied change: why it can't be reverted
	Lasting     []string         `json:"irreversible,omitzero"` // for reviewers, before the change is applied: values that a revert couldn't restore
	CanAsk      bool             `json:"can_request_changes"`
	CanEdit     bool             `json:"can_edit"`
	Replaces    string           `json:"replaces,omitzero"`    // the previous version
	ReplacedBy  string           `json:"replaced_by,omitzero"` // the next version
	Version     int              `json:"version"`              // from 1
	Since       []Item           `json:"since,omitzero"`       // the differences from the previous version. Op is "added", "dropped" or "changed"
	Thread      []Said           `json:"thread,omitzero"`      // the comments and decisions of people and the agent about all versions, oldest first
	History     []change.Step    `json:"history"`
	Outcome     string           `json:"outcome,omitzero"`   // one sentence, or "" before the end
	Answer      value.Value      `json:"answer,omitzero"`    // for a call that was made: the API's response, if the viewer sees all of it
	Locations   []string         `json:"locations,omitzero"` // for calls that were made: the addresses of their results, as returned by the API
	Refusal     *problem.Reply   `json:"refusal,omitzero"`   // for a call that the API refused: the API's response
	Input       value.Value      `json:"-"`                  // the arguments of Tool
	Record      int64            `json:"audit_seq,omitzero"`
	RecordHash  string           `json:"audit_hash,omitzero"`
	Trail       []Read           `json:"read_trail,omitzero"`       // for reviewers: calls that the agent made before it proposed the change
	TrailSince  time.Time        `json:"read_trail_since,omitzero"` // no call before this time was looked up. Zero if Trail has all calls of the half hour
}

// An Other is an open change that writes a record of this change.
type Other struct {
	ID     string       `json:"id"`
	Title  string       `json:"title"`
	Agent  string       `json:"agent"`
	State  change.State `json:"state"`
	Fields []string     `json:"fields,omitzero"` // fields that both changes set, if the viewer sees them
}

// An Item is the effect of a change on one record.
type Item struct {
	Op     string `json:"op"`
	Class  string `json:"class"`
	Key    string `json:"key,omitzero"`    // of the record, as text, or "" before the record exists
	Label  string `json:"label,omitzero"`  // the label of the record
	Link   string `json:"link,omitzero"`   // for reviewers: the address of the record in its application, or ""
	Action string `json:"action,omitzero"` // for one of several writes: the action that made it
	// Says is one sentence for reviewers from the template of Action, with the agent's values. The gateway doesn't
	// check it.
	Says   string         `json:"says,omitzero"`
	About  []Fact         `json:"about,omitzero"`  // for a call, for reviewers: facts about the object that it changes
	Takes  []change.Taken `json:"takes,omitzero"`  // for one of several calls: the values that it copies from the answers of earlier calls
	Came   string         `json:"came,omitzero"`   // for one of several calls, once one failed: its outcome, such as Made
	Unread string         `json:"unread,omitzero"` // for a call: a note that its target was not read or that the current value isn't known, or ""
	Viewed bool           `json:"viewed,omitzero"` // for reviewers: the viewer has marked it as viewed
	Moved  string         `json:"moved,omitzero"`  // Changed or Gone if the viewer sees that the record changed since, or ""
	Fields []Field        `json:"fields"`
	Hidden int            `json:"hidden_fields,omitzero"` // number of written fields that the viewer may not see
	Denied int            `json:"denied_fields,omitzero"` // for a delete, for reviewers: number of its fields that the rules show to no principal

	points map[string]Pointer // the pointers of the class
}

// The outcomes of one of several calls that stopped.
const (
	Made    = "carried out"
	Failed  = "failed"
	Unsure  = "it may have happened or not"
	NotSent = "not sent"
)

// A Fact is a member of the object that a call changes.
type Fact struct {
	Name  string `json:"name"`
	Value Shown  `json:"value"`
}

// A Field is one difference within a record.
type Field struct {
	// Path is the field, or a path below it like a JSON pointer: custom/tags/0. Paths of an action start with input/,
	// and paths of a call start with request/.
	Path   string `json:"path"`
	Type   string `json:"type"` // of the field. Below the field, the kind of the value
	Before Shown  `json:"before"`
	After  Shown  `json:"after"`
	Now    *Shown `json:"now,omitzero"`       // the current value, if the record has changed since the preview
	Same   bool   `json:"unchanged,omitzero"` // the requested value equals the current value
	Source bool   `json:"by_source,omitzero"` // set by the source, for example by a default or a trigger. The value may differ when the change is applied
	Words  []Word `json:"words,omitzero"`     // the word-by-word difference, if both values are texts
	Unread int    `json:"unread,omitzero"`    // changed characters that are not shown here. See Sheet.Whole
	Opened bool   `json:"opened,omitzero"`    // the viewer has opened all unread parts

	was, is *value.Value // the values, or nil if absent or masked
}

// Exact returns the unmodified value after the change, or "" if the viewer doesn't see it.
func (f Field) Exact() string {
	if f.is == nil {
		return ""
	}
	return f.is.String()
}

// A Shown is a value in readable form.
type Shown struct {
	Kind string `json:"kind"` // "absent", "null", "empty", "text", "number", "boolean", "date", "json", "bytes", "masked", "reference", "unknown" or "unread": see docs/changes.md
	// Text is the value as Visible returns it, cut at MaxShown characters. For a masked value, it is the masked form.
	Text   string `json:"text,omitzero"`
	Length int    `json:"length,omitzero"` // characters of the whole value if Text is cut, otherwise 0
	Digest string `json:"sha256,omitzero"` // SHA-256 of the whole value as UTF-8, in hex, if Text is cut
	Label  string `json:"label,omitzero"`  // for a pointer: the label of its target, if the viewer sees it

	cut int // characters that are not in Text
}

// MaxShown is the maximum number of characters shown of a value. It applies to agents, and to reviewers when the
// sheet is full.
const MaxShown = 500

// Limits of a reviewer's sheet. Sheet.Whole returns values that exceed them.
const (
	maxWhole  = 4000    // characters of one value, or of one changed part of a text
	maxBreaks = 59      // line breaks within one value
	maxRoom   = 100_000 // bytes of all values
)

// A Word is a part of two compared texts. It occurs in both texts, only before (removed), or only after (added).
type Word struct {
	Text string `json:"text"` // as Visible returns it. For a cut part, the number of omitted characters: "1234"
	Kind string `json:"kind"` // "same", "removed" or "added", or "cut" for a part of the adjacent word that is too long to show
}

// A Check is one condition of a decision, with its result at the time of the sheet.
type Check struct {
	Name   string `json:"name"` // "policy", "target", "constraints", "described", "four_eyes", "sight", "dependence", "expiry"
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // one sentence
}

// A Read is one call that the agent made before it proposed the change.
type Read struct {
	Tool    string    `json:"tool"`
	Class   string    `json:"class,omitzero"`
	Outcome string    `json:"outcome"`
	Rows    int       `json:"rows"`
	At      time.Time `json:"at"`
}
