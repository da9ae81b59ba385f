// Package review is what one viewer sees of a change: the sheet that a person decides by, and an agent reads of its own.
//
// It stands between change and the doors to people: the console, the command line, the JSON API and the tools all show
// the same Sheet, so that nobody decides about something else than another saw. It computes no right: the root package
// hands it what the viewer may see (a Sight for each class) and what speaks against a decision (Checks). A field that the
// viewer may not see is counted, and neither its name nor its value stands anywhere in a sheet.
package review

import (
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Sight is what a viewer may see of a class. The zero Sight sees nothing.
type Sight struct {
	Class  string                 // as the viewer addresses it; "" where the viewer doesn't see it at all. Of a call: the operation
	Key    []string               // the fields that identify a record (policy.View.Key); without them no key is shown
	Fields map[string]schema.Type // the fields that the viewer sees, by name; nil for none
	Masks  map[string]Masked      // of Fields: how they leave for this viewer; a masked one blocks an approval like a hidden one

	// Call says of a call, instead of Fields, whether the viewer sees what has a name, wherever it stands in what is sent
	// and in what it changes; nil for a class.
	Call func(name string) bool
}

// field is the type of a field that has these values, and whether the viewer sees it.
func (s Sight) field(name string, values ...value.Value) (schema.Type, bool) {
	if s.Call == nil {
		t, seen := s.Fields[name]
		return t, seen
	}
	return schema.Any, s.Call(name) && !slices.ContainsFunc(values, s.hides)
}

// without returns v without what isn't seen.
func (s Sight) without(v value.Value) value.Value {
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

// hides reports whether something in v isn't seen.
func (s Sight) hides(v value.Value) bool {
	return slices.ContainsFunc(v.List(), s.hides) ||
		slices.ContainsFunc(v.Members(), func(m value.Member) bool { return !s.Call(m.Name) || s.hides(m.Value) })
}

// Masked is how a value leaves for a viewer who may not see it whole.
type Masked func(value.Value) value.Value

// A Row is a change in the queue.
type Row struct {
	ID        string       `json:"id"`
	State     change.State `json:"state"`
	Title     string       `json:"title"`
	Op        string       `json:"op"`
	Source    string       `json:"source"`
	Classes   []string     `json:"classes"`
	Rows      int          `json:"rows"`
	Fields    []string     `json:"fields"`
	Risk      change.Risk  `json:"risk"`
	Approvals int          `json:"approvals"` // distinct people so far
	Need      int          `json:"need"`
	Agent     string       `json:"agent"`
	Owner     string       `json:"owner"`
	Reason    string       `json:"reason,omitzero"` // the agent's words
	Created   time.Time    `json:"created_at"`
	Updated   time.Time    `json:"updated_at"`
	Expires   time.Time    `json:"expires_at"`
	Digest    string       `json:"digest"`
	Broken    bool         `json:"break_glass,omitzero"`    // somebody approved this digest past four eyes and the number of approvals
	Mine      bool         `json:"decided_by_you,omitzero"` // the viewer has decided about this digest
}

// A Sheet is a change as one viewer may see it. It is what GET /api/changes/{id} answers.
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
	Asker       string           `json:"asked_by,omitzero"` // the person who asked for it in the agent's name, and whose words Reason has then
	Items       []Item           `json:"items"`
	Cascades    []change.Cascade `json:"cascades,omitzero"` // of classes that the viewer sees
	Checks      []Check          `json:"checks,omitzero"`   // live; reviewers alone
	CanApprove  bool             `json:"can_approve"`
	CanReject   bool             `json:"can_reject"`
	CanRevert   bool             `json:"can_revert"`
	Decisions   []Said           `json:"decisions,omitzero"`
	Comments    []Said           `json:"comments,omitzero"`
	History     []change.Step    `json:"history"`
	Outcome     string           `json:"outcome,omitzero"` // one sentence; "" until it ended
	Answer      value.Value      `json:"answer,omitzero"`  // of a call that was made: what the API answered, where the viewer sees all of it
	Record      int64            `json:"audit_seq,omitzero"`
	RecordHash  string           `json:"audit_hash,omitzero"`
	Trail       []Read           `json:"read_trail,omitzero"` // what the agent called before it proposed; reviewers alone
}

// An Item is what happens to one record.
type Item struct {
	Op     string  `json:"op"`
	Class  string  `json:"class"`
	Key    string  `json:"key,omitzero"` // of the record, as text; "" for one that is still to be made
	Fields []Field `json:"fields"`
	Hidden int     `json:"hidden_fields,omitzero"` // fields that are written and that the viewer may not see
}

// A Field is one difference.
type Field struct {
	Path   string `json:"path"` // the field, or the parts of a JSON pointer below it: custom/tags/0; input/… of an action, request/… of a call
	Type   string `json:"type"` // of the field; below it the kind of the value
	Before Shown  `json:"before"`
	After  Shown  `json:"after"`
	Now    *Shown `json:"now,omitzero"`       // of a stale change: what the record holds
	Source bool   `json:"by_source,omitzero"` // the source's doing: a default or a trigger, which may come out otherwise when it runs
	Words  []Word `json:"words,omitzero"`     // the two texts word by word, where both are texts
}

// A Shown is a value as a person reads it.
type Shown struct {
	Kind   string `json:"kind"`            // "absent", "null", "empty", "text", "number", "boolean", "date", "json", "bytes" or "masked"
	Text   string `json:"text,omitzero"`   // as Visible writes it; cut at MaxShown characters of the value. Of a masked one: what its mask leaves
	Length int    `json:"length,omitzero"` // characters of the whole, where Text was cut
	Digest string `json:"sha256,omitzero"` // of the whole as UTF-8, in hex, where Text was cut
}

// MaxShown is how many characters of a value are shown (design 05).
const MaxShown = 500

// A Word is a part of two texts: in both, only before (removed), or only after (added).
type Word struct {
	Text string `json:"text"` // as Visible writes it; of a cut part, how many characters are left out: "1234"
	Kind string `json:"kind"` // "same", "removed" or "added"; "cut" for a part of the one beside it that is too long to show
}

// A Check is one thing that speaks for or against a decision, found when the sheet was made.
type Check struct {
	Name   string `json:"name"` // "policy", "target", "constraints", "described", "four_eyes", "sight", "dependence", "expiry"
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // one sentence
}

// Said is what a person said.
type Said struct {
	By      string    `json:"by"`
	Approve *bool     `json:"approve,omitzero"` // nil for a comment
	Text    string    `json:"text,omitzero"`
	Loud    string    `json:"loud,omitzero"` // "single operator" or "break glass"
	At      time.Time `json:"at"`
}

// A Read is one call that the agent made before it proposed.
type Read struct {
	Tool    string    `json:"tool"`
	Class   string    `json:"class,omitzero"`
	Outcome string    `json:"outcome"`
	Rows    int       `json:"rows"`
	At      time.Time `json:"at"`
}
