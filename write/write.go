// Package write defines the writes that can be requested: creating, updating and deleting records, classes, and named
// operations.
//
// It is the counterpart of package query: closed types that are parsed strictly and printed canonically. So exactly the
// approved write runs. It decides nothing. Package internal/writes says what a principal may write, and package change
// keeps a request until it is decided.
package write

import (
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/value"
)

// An Op is the kind of a write, as named in rules and shown to people.
type Op string

// The kinds of write.
const (
	OpCreate Op = "create"
	OpUpdate Op = "update"
	OpDelete Op = "delete"
	OpAction Op = "action" // a named operation of the application: SQL defined by its owner, or Go
	OpCall   Op = "call"   // a request to an HTTP API
	OpSchema Op = "schema" // a class is created or deleted, or gets further fields
)

// A Mode says whether a write needs approval.
type Mode string

// The modes.
const (
	Review Mode = "review" // people must approve it first
	Allow  Mode = "allow"  // it runs at once
	Deny   Mode = "deny"   // it can't even be proposed
)

// A Write is a *Create, *Update, *Delete, *Action, *Call, *CreateClass, *AddFields or *DeleteClass, and nothing else.
type Write interface {
	// Op returns the kind.
	Op() Op
	// Target returns the name of the class, action or operation, as the caller wrote it.
	Target() string
	write()
}

// A Create creates a record of Class. Data is an Object of values by field.
type Create struct {
	Class string // here and below: "source.Class", or a name that only one source has
	Data  value.Value
}

// An Update sets fields of the record of Class that has the key ID. Data is an Object of values by field, at least one.
type Update struct {
	Class string
	ID    string // as get_object takes it: the text of the key, or a JSON list of texts for a key of several fields
	Data  value.Value
}

// A Delete deletes the record of Class that has the key ID.
type Delete struct {
	Class string
	ID    string
}

// An Action runs a named operation, defined by the configuration or the embedding program, on Input, an Object.
type Action struct {
	Class  string // the class it is declared on: "source.Class"
	Name   string // of the action
	ID     string // the record it is about, or ""
	Input  value.Value
	Source string // the name of the source it runs on
}

// A Call sends a request to a configured HTTP API.
type Call struct {
	Source    string      // the name of the API in the configuration
	Operation string      // its id
	Request   value.Value // an Object: path, query, headers, cookies, body, media
	Sends     value.Value // the exact request on the wire, an Object: method, target, headers, and body or base64, or Null before policy has set it
}

// A CreateClass creates a class. Fields is an Array of objects {name, type, required, values}.
type CreateClass struct {
	Source string // its name in the configuration
	Class  string // without the source
	Fields value.Value
}

// An AddFields adds fields to a class. Fields is as that of a CreateClass.
type AddFields struct {
	Class  string
	Fields value.Value
}

// A DeleteClass deletes a class that holds no records.
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

// An Origin says how a write came about.
type Origin struct {
	Action string   `json:"action,omitzero"` // the action that made it, or "" if it was requested directly
	Says   string   `json:"says,omitzero"`   // one sentence about it, by the template of the action or by the caller, unchecked
	Mode   Mode     `json:"-"`               // the mode set by the owner of the action. "" leaves it to the rules
	Reads  []Record `json:"-"`               // the records that the action was checked with
}

// A Record is the record of Class, "source.Class", that has the key ID.
type Record struct{ Class, ID string }

// A Request is a set of writes over one source, at most MaxWrites, to be done all or not at all.
type Request struct {
	Writes   []Write
	Origin               // of all Writes, unless Origins has one for each
	Origins  []Origin    // in the order of Writes, or nil if all have the same
	Now      time.Time   // the time that expressions of actions used, or zero if there is no action
	Tool     string      // the tool that was called
	Title    string      // the gateway's own title, or "" to derive one from the writes
	Input    value.Value // the arguments of the tool call, for the record
	Reason   string      // the caller's reason, unchecked
	After    []string    // changes that must be applied first
	Replaces string      // the caller's change of which this is another version, or ""
	Doubts   []Doubt     // objections that the caller may not see, or nil
	Against  *Against    // the class to check the arguments with again. Nil without one, and for actions
}

// From returns the origin of the i-th write.
func (r *Request) From(i int) Origin {
	if i < len(r.Origins) {
		return r.Origins[i]
	}
	return r.Origin
}

// Join appends the writes of other, which keep their origin. Each of the two has writes of one origin, or of several.
func (r *Request) Join(other Request) {
	if r.Origins == nil {
		r.Origins = slices.Repeat([]Origin{r.Origin}, len(r.Writes))
	}
	for i, w := range other.Writes {
		r.Writes, r.Origins = append(r.Writes, w), append(r.Origins, other.From(i))
	}
	r.Doubts = append(r.Doubts, other.Doubts...)
}

// A Doubt is an objection to a write, shown to reviewers only. The caller may not see the records it is about.
type Doubt struct {
	Class string `json:"class"`          // "source.Class" of the class that describes the values
	Field string `json:"field,omitzero"` // of Class, or "" if it is about the whole class
	Text  string `json:"text"`           // one sentence
}

// Against says which class describes the arguments of a call, and how: see Declaration of package internal/writes.
type Against struct {
	Class     string            `json:"class"`
	Fields    map[string]string `json:"fields,omitzero"` // by argument, its field
	Record    string            `json:"record,omitzero"`
	Names     []string          `json:"names"`     // the possible arguments
	Arguments value.Value       `json:"arguments"` // an Object
}

// MaxWrites is the maximum number of writes in one request.
const MaxWrites = 100
