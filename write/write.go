// Package write says what is asked to be changed: records that come, change or go, classes, and named operations.
//
// It is a word beside query: closed types that are read strictly and printed canonically, so that what a person
// approved is, to the byte, what runs. It decides nothing: package policy/writes says who may, and a change keeps what
// was asked until a person has looked at it.
package write

import "github.com/bailiwick-dev/bailiwick/value"

// An Op is the kind of a write, as rules and people name it.
type Op string

// The kinds of write.
const (
	OpCreate Op = "create"
	OpUpdate Op = "update"
	OpDelete Op = "delete"
	OpAction Op = "action" // a named operation of the application itself: SQL of its owner, or Go
	OpCall   Op = "call"   // a request to an HTTP API
	OpSchema Op = "schema" // a class that comes or goes
)

// A Mode is how a write may run.
type Mode string

// The modes.
const (
	Review Mode = "review" // people approve it first
	Allow  Mode = "allow"  // it runs at once
	Deny   Mode = "deny"   // nobody may even propose it
)

// A Write is one thing to be done: *Create, *Update, *Delete, *Action, *Call, *CreateClass or *DeleteClass, and nothing
// else.
type Write interface {
	// Op returns the kind.
	Op() Op
	// Target returns the name of the class, action or operation, as the asker wrote it.
	Target() string
	write()
}

// A Create makes a record of Class. Data is an Object of values by field.
type Create struct {
	Class string
	Data  value.Value
}

// An Update sets fields of the record of Class that has the key ID. Data is an Object of values by field; at least one.
type Update struct {
	Class string
	ID    string // as get_object takes it: the text of the key, or a JSON list of texts for a key of several fields
	Data  value.Value
}

// A Delete takes away the record of Class that has the key ID.
type Delete struct {
	Class string
	ID    string
}

// An Action runs a named operation that the configuration or the embedding program defines, on its Input, an Object.
type Action struct {
	Class  string // the class that it is declared on
	Name   string
	ID     string // the record it is about; "" for none
	Input  value.Value
	Source string // where it runs
}

// A Call sends a request to an HTTP API of the configuration.
type Call struct {
	Source    string
	Operation string
	Request   value.Value // an Object: path, query, headers, body, media
	Sends     value.Value // what that is on the wire, to the byte, as operations.Exact has it; Null until policy has said
}

// A CreateClass makes a class of fields. Fields is an Array of objects {name, type, required, values}.
type CreateClass struct {
	Source string
	Class  string
	Fields value.Value
}

// A DeleteClass takes away a class that holds no records.
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
func (w *DeleteClass) Target() string { return w.Class }

func (*Create) write()      {}
func (*Update) write()      {}
func (*Delete) write()      {}
func (*Action) write()      {}
func (*Call) write()        {}
func (*CreateClass) write() {}
func (*DeleteClass) write() {}

// A Request is what somebody asks to be written, all of it or nothing: at most MaxWrites writes over one source.
type Request struct {
	Writes []Write
	Tool   string      // what was called
	Action string      // the action that the writes were made by; "" when they were asked for as they are
	Mode   Mode        // how the owner of the action lets it run; "" leaves it to the rules
	Title  string      // what a person reads first; "" takes one from the writes
	Input  value.Value // the arguments as asked, for the record
	Reason string      // why, in the asker's words: nobody has checked them
	After  []string    // changes that must have been applied before
	Doubts []Doubt     // what speaks against it and the asker may not be told; nil for nothing
}

// A Doubt is what speaks against a write, for the eyes of people who review: who asked for it doesn't see what it is about.
type Doubt struct {
	Class string `json:"class"`          // "source.Class", of what describes the values
	Field string `json:"field,omitzero"` // of Class; "" where it is about all of it
	Text  string `json:"text"`           // one sentence
}

// MaxWrites is how many writes one request may hold (design 05).
const MaxWrites = 100
