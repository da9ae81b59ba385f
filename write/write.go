// Package write defines the writes that can be requested: creating, updating and deleting records, classes, and named
// operations.
//
// It is the counterpart of package query. Its types are a closed set, parsed strictly and printed canonically, so that
// exactly the approved write runs. It makes no decisions. Package internal/writes determines what a principal may
// write. Package change stores a request until somebody decides about it.
package write

import (
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/value"
)

// An Op is the kind of a write. Rules use its name, and people see it.
type Op string

// The kinds of write.
const (
	OpCreate Op = "create"
	OpUpdate Op = "update"
	OpDelete Op = "delete"
	OpAction Op = "action" // a named operation of the application: SQL defined by its owner, or Go
	OpCall   Op = "call"   // a request to an HTTP API
	OpSchema Op = "schema" // a class is created or deleted, or new fields are added to it
)

// A Mode determines whether a write requires approval.
type Mode string

// The modes.
const (
	Review Mode = "review" // people must approve it first
	Allow  Mode = "allow"  // it runs immediately
	Deny   Mode = "deny"   // it can't even be proposed
)

// A Write is a *Create, *Update, *Delete, *Action, *Call, *CreateClass, *AddFields or *DeleteClass. There are no other
// types.
type Write interface {
	// Op returns the kind.
	Op() Op
	// Target returns the name of the class, action or operation, as the caller wrote it.
	Target() string
	write()
}

// A Create creates a record of Class. Data is an Object of values by field.
type Create struct {
	Class string // here and below: "source.Class", or a name that is unique among sources
	Data  value.Value
}

// An Update sets fields of the record of Class with the key ID. Data is an Object of values by field, with at least one
// field.
type Update struct {
	Class string
	ID    string // in the form of get_object: the text of the key, or a JSON list of texts for a key of several fields
	Data  value.Value
}

// A Delete deletes the record of Class with the key ID.
type Delete struct {
	Class string
	ID    string
}

// An Action runs a named operation, which the configuration or the embedding program defines. Input is an Object.
type Action struct {
	Class  string // the class that declares the action: "source.Class"
	Name   string // the name of the action
	ID     string // the record to which the action applies, or ""
	Input  value.Value
	Source string // the name of the source on which it runs
}

// A Call sends a request to a configured HTTP API.
type Call struct {
	Source    string      // the name of the API in the configuration
	Operation string      // the id of the operation
	Request   value.Value // an Object: path, query, headers, cookies, body, media
	Sends     value.Value // the exact request on the wire, or Null until policy sets it. An Object: method, target, headers, and body or base64
}

// A CreateClass creates a class. Fields is an Array of objects {name, type, required, values}.
type CreateClass struct {
	Source string // the name of the source in the configuration
	Class  string // the name of the class without the source
	Fields value.Value
}

// An AddFields adds fields to a class. Fields has the form of CreateClass.Fields.
type AddFields struct {
	Class  string
	Fields value.Value
}

// A DeleteClass deletes a class without records.
type DeleteClass struct{ Class string }

// Op implements Write.
func (*Create) Op() Op { return OpCreate }

// Op implements Write.
func (*Update) Op() Op { return OpUpdate }

// Op implements Write.
func (*Delete) Op() Op { return OpDelete }

// Op implements Write.
func (*Action) Op() Op { return OpAction }

// Op implements Write.
func (*Call) Op() Op { return OpCall }

// Op implements Write.
func (*CreateClass) Op() Op { return OpSchema }

// Op implements Write.
func (*AddFields) Op() Op { return OpSchema }

// Op implements Write.
func (*DeleteClass) Op() Op { return OpSchema }

// Target implements Write.
func (w *Create) Target() string { return w.Class }

// Target implements Write.
func (w *Update) Target() string { return w.Class }

// Target implements Write.
func (w *Delete) Target() string { return w.Class }

// Target implements Write.
func (w *Action) Target() string { return w.Name }

// Target implements Write.
func (w *Call) Target() string { return w.Operation }

// Target implements Write.
func (w *CreateClass) Target() string { return w.Class }

// Target implements Write.
func (w *AddFields) Target() string { return w.Class }

// Target implements Write.
func (w *DeleteClass) Target() string { return w.Class }

func (*Create) write()      {}
func (*Update) write()      {}
func (*Delete) write()      {}
func (*Action) write()      {}
func (*Call) write()        {}
func (*CreateClass) write() {}
func (*AddFields) write()   {}
func (*DeleteClass) write() {}

// An Origin describes how a write was made.
type Origin struct {
	Action string   `json:"action,omitzero"` // the action that made the write, or "" if it was requested directly
	Says   string   `json:"says,omitzero"`   // one unchecked sentence about the write, from the template of the action or from the caller
	Mode   Mode     `json:"-"`               // the mode set by the owner of the action. "" means that the rules determine it
	Reads  []Record `json:"-"`               // the records with which the action was checked
}

// A Record identifies the record of Class, "source.Class", by its key ID.
type Record struct{ Class, ID string }

// A Request is a set of at most MaxWrites writes to one source. Either all of them are done, or none.
type Request struct {
	Writes   []Write
	Origin               // the origin of all Writes, unless Origins is set
	Origins  []Origin    // by index of Writes, or nil if all have the same origin
	Now      time.Time   // the time that expressions of actions used, or zero without an action
	Tool     string      // the tool that was called
	Title    string      // the gateway's title, or "" to derive one from the writes
	Input    value.Value // the arguments of the tool call, for the audit
	Reason   string      // the caller's reason, unchecked
	After    []string    // changes that must be applied first
	Replaces string      // the caller's change that this one replaces with a new version, or ""
	Doubts   []Doubt     // objections that the caller may not see, or nil
	Against  *Against    // the class that describes the arguments, to check them again, or nil. Nil for actions
}

// From returns the origin of the i-th write.
func (r *Request) From(i int) Origin {
	if i < len(r.Origins) {
		return r.Origins[i]
	}
	return r.Origin
}

// Join appends the writes of other. All writes keep their origins.
func (r *Request) Join(other Request) {
	if r.Origins == nil {
		r.Origins = slices.Repeat([]Origin{r.Origin}, len(r.Writes))
	}
	for i, w := range other.Writes {
		r.Writes, r.Origins = append(r.Writes, w), append(r.Origins, other.From(i))
	}
	r.Doubts = append(r.Doubts, other.Doubts...)
}

// A Doubt is an objection to a write that only reviewers see. The caller may not see the records to which it refers.
type Doubt struct {
	Class string `json:"class"`          // the class that describes the values, as "source.Class"
	Field string `json:"field,omitzero"` // a field of Class, or "" if the doubt is about the whole class
	Text  string `json:"text"`           // one sentence
}

// Against names the class that describes the arguments of a call, and maps the arguments: see Declaration of package
// internal/writes.
type Against struct {
	Class     string            `json:"class"`
	Fields    map[string]string `json:"fields,omitzero"` // the field, by argument
	Record    string            `json:"record,omitzero"`
	Names     []string          `json:"names"`     // the possible arguments
	Arguments value.Value       `json:"arguments"` // an Object
}

// MaxWrites is the maximum number of writes in one request.
const MaxWrites = 100
