// Package review presents a change to one viewer: a person who decides about it, or the agent that proposed it.
//
//	change.Change ─New: Visibility of each class→ Sheet ─Checks, history→ console, commands, JSON API, tools
//
// All of these show the same Sheet, so everyone decides about the same content. Fields that the viewer may not see are
// counted. Neither their names nor their values appear in a sheet.
//
// VisibilityOf computes, under the rules in force, a principal's visibility of the classes and operations that a change
// writes. A value whose mask can't be computed is shown as null. Callers pass the Checks for or against a decision.
//
// ReadHistory adds the audit records of the change and of the agent's calls before it. OpenedValues adds which long
// values the reviewer has opened. A Feed returns the events of changes that one reviewer may see.
//
// A change waits for days, and credentials may be revoked meanwhile. AgentOf and CheckParties return its parties as
// they are now. A Maker lets the actions of a change propose their writes again, and compares them with the proposed
// ones.
//
// Inert and Visible make text of agents harmless to show. JoinsEmoji accepts the invisible characters of emoji, because
// elsewhere such a character hides something.
package review

import (
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Visibility is the part of a class that a viewer may see. The zero Visibility shows nothing.
type Visibility struct {
	Class  string                 // as the viewer addresses it, or "" if the viewer doesn't see it at all. Of a call: the operation
	Key    []string               // the fields that identify a record (policy.View.Key). If empty, no key is shown
	Fields map[string]schema.Type // the visible fields, by name, or nil
	Label  string                 // the field that holds the label of a record, or ""
	Points map[string]Pointer     // the targets of the pointers among Fields, by name
	Masks  map[string]Masked      // the masks of Fields, by name. A masked field blocks an approval as a hidden one does

	// Call replaces Fields for a call: it reports whether the viewer sees members of this name, anywhere in the request
	// and in the changed thing. It returns nil for a class.
	Call func(name string) bool
	// Denied is the number of fields of the class that the rules show to no principal. A delete removes them too.
	Denied int
}

// A Pointer is the target of a field: the record of Class whose Key it holds.
type Pointer struct{ Class, Key string }

// field returns the type of a field with these values, and whether the viewer sees it.
func (s Visibility) field(name string, values ...value.Value) (schema.Type, bool) {
	if s.Call == nil {
		t, seen := s.Fields[name]
		return t, seen
	}
	return schema.Any, s.Call(name) && !slices.ContainsFunc(values, s.hides)
}

// without returns v without the hidden members.
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

// hides reports whether a member in v is hidden.
func (s Visibility) hides(v value.Value) bool {
	return slices.ContainsFunc(v.List(), s.hides) ||
		slices.ContainsFunc(v.Members(), func(m value.Member) bool { return !s.Call(m.Name) || s.hides(m.Value) })
}

// Masked returns the masked form of a value, for a viewer who may not see it whole.
type Masked func(value.Value) value.Value

// A Row is a change as listed in the queue.
type Row struct {
	ID        string       `json:"id"`
	State     change.State `json:"state"`
	Title     string       `json:"title"` // by the gateway: which records change, and how
	Op        string       `json:"op"`
	Source    string       `json:"source"`
	Classes   []string     `json:"classes"`
	Rows      int          `json:"rows"`
	Fields    []string     `json:"fields"`
	Risk      change.Risk  `json:"risk"`
	Approvals int          `json:"approvals"` // distinct people who approved so far
	Need      int          `json:"need"`
	Agent     string       `json:"agent"`
	Owner     string       `json:"owner"`
	Says      string       `json:"says,omitzero"` // one sentence about it, by SaidBy. It is not checked
	SaidBy    string       `json:"said_by,omitzero"`
	Reason    string       `json:"reason,omitzero"` // as the agent wrote it
	Created   time.Time    `json:"created_at"`
	Updated   time.Time    `json:"updated_at"`
	Expires   time.Time    `json:"expires_at"`
	Digest    string       `json:"digest"`
	Broken    bool         `json:"break_glass,omitzero"`    // someone approved this digest past four eyes and the number of approvals
	Mine      bool         `json:"decided_by_you,omitzero"` // the viewer has decided about this digest
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
	Asker       string           `json:"asked_by,omitzero"` // the person who asked for it in the agent's name, and who then wrote Reason
	Items       []Item           `json:"items"`
	Refused     string           `json:"refused,omitzero"`        // for reviewers: why the source refused the write when it was tried
	Others      []Other          `json:"conflicts,omitzero"`      // changes that wait and write the same records, of those that the viewer may know of
	MoreOthers  bool             `json:"more_conflicts,omitzero"` // there are more than Others, which are the newest
	Cascades    []change.Cascade `json:"cascades,omitzero"`       // of classes that the viewer sees
	Checks      []Check          `json:"checks,omitzero"`         // for reviewers: made with the sheet
	CanApprove  bool             `json:"can_approve"`
	CanReject   bool             `json:"can_reject"`
	CanRevert   bool             `json:"can_revert"`
	NoRevert    string           `json:"no_revert,omitzero"`    // of an applied change: why it can't be taken back
	Lasting     []string         `json:"irreversible,omitzero"` // for reviewers, before it is applied: values that a revert couldn't restore
	CanAsk      bool             `json:"can_request_changes"`
	CanEdit     bool             `json:"can_edit"`
	Replaces    string           `json:"replaces,omitzero"`    // the version before this one
	ReplacedBy  string           `json:"replaced_by,omitzero"` // the version after this one
	Version     int              `json:"version"`              // from 1
	Since       []Item           `json:"since,omitzero"`       // the differences from the version before. Op is "added", "dropped" or "changed"
	Thread      []Said           `json:"thread,omitzero"`      // the thread of people and the agent about it and the versions before, oldest first
	History     []change.Step    `json:"history"`
	Outcome     string           `json:"outcome,omitzero"`   // one sentence, or "" until it ended
	Answer      value.Value      `json:"answer,omitzero"`    // of a call that was made: the API's response, if the viewer sees all of it
	Locations   []string         `json:"locations,omitzero"` // of calls that were made: the addresses of their results, as the API gave them
	Refusal     *problem.Reply   `json:"refusal,omitzero"`   // of a call that the API refused: its response
	Input       value.Value      `json:"-"`                  // the arguments of Tool
	Record      int64            `json:"audit_seq,omitzero"`
	RecordHash  string           `json:"audit_hash,omitzero"`
	Trail       []Read           `json:"read_trail,omitzero"` // for reviewers: calls of the agent before it proposed
}

// An Other is a change that waits and writes a record of this one.
type Other struct {
	ID     string       `json:"id"`
	Title  string       `json:"title"`
	Agent  string       `json:"agent"`
	State  change.State `json:"state"`
	Fields []string     `json:"fields,omitzero"` // that both set, as far as the viewer sees them
}

// An Item is the effect of a change on one record.
type Item struct {
	Op     string `json:"op"`
	Class  string `json:"class"`
	Key    string `json:"key,omitzero"`    // of the record, as text, or "" for one not created yet
	Label  string `json:"label,omitzero"`  // what the record is called
	Action string `json:"action,omitzero"` // of one of several writes: the action that made it
	// Says is one sentence for reviewers by the template of Action, with the agent's values. It is not checked.
	Says   string         `json:"says,omitzero"`
	About  []Fact         `json:"about,omitzero"`  // of a call, for reviewers: facts about the thing that it acts on
	Takes  []change.Taken `json:"takes,omitzero"`  // of one of several calls: the values that it takes from the answers of those before it
	Came   string         `json:"came,omitzero"`   // of one of several calls, once they stopped: its outcome. See Made
	Unread string         `json:"unread,omitzero"` // of a call: that its target was not read, or that the present value isn't known, or ""
	Moved  string         `json:"moved,omitzero"`  // the state of the record since: Changed or Gone, as far as the viewer sees it, or ""
	Fields []Field        `json:"fields"`
	Hidden int            `json:"hidden_fields,omitzero"` // number of written fields that the viewer may not see
	Denied int            `json:"denied_fields,omitzero"` // of a delete, for reviewers: number of its fields that the rules show to no principal

	points map[string]Pointer // of the class
}

// The outcomes of one of several calls.
const (
	Made    = "carried out"
	Failed  = "failed"
	Unsure  = "it may have happened or not"
	NotSent = "not sent"
)

// A Fact is a member of the thing that a call acts on.
type Fact struct {
	Name  string `json:"name"`
	Value Shown  `json:"value"`
}

// A Field is one difference.
type Field struct {
	// Path is the field, or a path below it like a JSON pointer: custom/tags/0. It is input/… for an action and
	// request/… for a call.
	Path   string `json:"path"`
	Type   string `json:"type"` // of the field. Below the field, the kind of the value
	Before Shown  `json:"before"`
	After  Shown  `json:"after"`
	Now    *Shown `json:"now,omitzero"`       // the current value, where the record has moved since it was looked at
	Same   bool   `json:"unchanged,omitzero"` // asked for, and already the present value
	Source bool   `json:"by_source,omitzero"` // set by the source, such as a default or a trigger. It may differ when it runs
	Words  []Word `json:"words,omitzero"`     // the difference of the two texts word by word, if both are texts
	Unread int    `json:"unread,omitzero"`    // changed characters that are not shown here. See Sheet.Whole
	Opened bool   `json:"opened,omitzero"`    // the viewer has opened all unread parts

	was, is *value.Value // the values themselves, or nil if absent or masked
}

// Exact returns the value after the change, not made readable, or "" if the viewer doesn't see it.
func (f Field) Exact() string {
	if f.is == nil {
		return ""
	}
	return f.is.String()
}

// A Shown is a value in readable form.
type Shown struct {
	Kind string `json:"kind"` // "absent", "null", "empty", "text", "number", "boolean", "date", "json", "bytes", "masked", "reference", "unknown" or "unread": see docs/changes.md
	// Text is the value as Visible returns it, cut at MaxShown characters. For a masked value, it is the rest that the
	// mask leaves.
	Text   string `json:"text,omitzero"`
	Length int    `json:"length,omitzero"` // characters of the whole value, if Text was cut
	Digest string `json:"sha256,omitzero"` // of the whole value as UTF-8, in hex, if Text was cut
	Label  string `json:"label,omitzero"`  // of a pointer: the label of its target, as far as the viewer sees it

	cut int // characters that are not in Text
}

// MaxShown is the number of characters shown of a value to agents, and to reviewers when a sheet has no room for more.
const MaxShown = 500

// Limits of a reviewer's sheet. Sheet.Whole opens values over them.
const (
	maxWhole  = 4000    // characters of one value, or of one changed part of a text
	maxBreaks = 59      // line breaks in it
	maxRoom   = 100_000 // bytes of all values
)

// A Word is a part of two compared texts: in both, only before (removed), or only after (added).
type Word struct {
	Text string `json:"text"` // as Visible returns it. For a cut part, the number of omitted characters: "1234"
	Kind string `json:"kind"` // "same", "removed" or "added", or "cut" for a part of its neighbour that is too long to show
}

// A Check is one condition of a decision, evaluated when the sheet was made.
type Check struct {
	Name   string `json:"name"` // "policy", "target", "constraints", "described", "four_eyes", "sight", "dependence", "expiry"
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // one sentence
}

// A Read is one call that the agent made before it proposed.
type Read struct {
	Tool    string    `json:"tool"`
	Class   string    `json:"class,omitzero"`
	Outcome string    `json:"outcome"`
	Rows    int       `json:"rows"`
	At      time.Time `json:"at"`
}
