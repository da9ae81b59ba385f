// Package action defines named domain writes, such as create_issue or archive.
//
// An action is declared once and compiled against the catalogue when the rules are loaded. It converts the arguments
// of a call to a write.Request. The request is then proposed through the caller's views, like any other write. The
// package makes no decision about access to classes. It rejects a declaration that names something missing. It
// refuses a call whose arguments violate the schema, the transitions or the requirements. Nothing is proposed then.
package action

import (
	"context"
	"encoding/json"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Kind is the kind of an action.
type Kind string

// The values of Kind. HTTP calls an operation of an API source. SQL runs a statement that the owner wrote. Go calls a
// function of the program. Cloud calls a cloud function of an application on Parse Server.
const (
	Create Kind = "create"
	Update Kind = "update"
	Delete Kind = "delete"
	SQL    Kind = "sql"
	HTTP   Kind = "http"
	Go     Kind = "go"
	Cloud  Kind = "cloud"
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Create, Update, Delete, SQL, HTTP, Go, Cloud} }

// A Declaration is an action as its owner declares it. A template is a value in which {"$cel": text} is replaced by
// the value of a CEL expression. Expressions can use input, record, the lookups, now and principal.
type Declaration struct {
	Name        string
	On          string      // the class as "source.Class", or only its name if one source has it
	Title       string      // for people. "" means Name
	Description string      // for agents
	Summary     value.Value // template of the first line for reviewers. Null derives it from the writes
	Do          Kind

	Input     value.Value // the JSON Schema of the arguments, an Object, or Null
	Record    value.Value // template of the id of the action's record. With Null, the caller gives the id
	Set       value.Value // templates by field, or Null. By parameter for SQL, by argument for Go and HTTP
	Permitted []string    // further fields that arguments with the same names set

	Permission identity.Scope // write, delete or schema. "" means delete for the kind Delete, otherwise write
	DryRun     bool           // the action supports a dry run (supports_dry_run)
	Review     write.Mode     // the mode of its writes. With "", the rules decide
	Tool       bool           // also offer the action as a tool with its name

	Transitions map[string]map[string][]string // for each field of the record and each current value: the allowed next values
	Require     []Requirement
	Lookup      map[string]Lookup // lookups, by their name in expressions

	CheckAgainst writes.Declaration // the class that describes the arguments, or the zero value

	Statement string // for SQL: the text of the statement, with :name for each parameter
	API       string // for HTTP: the source
	Operation string // for HTTP: the operation of API
	Function  string // for Cloud: the name of the cloud function
}

// A Requirement is a condition that a call must satisfy. That is a CEL expression over input, record, the lookups,
// now and principal that must yield true. An error counts as false. If it is false, the agent sees Message. Field is
// the argument that the requirement is about, or "".
type Requirement = expression.Requirement

// A Lookup is a record that expressions can use, as the caller sees it.
type Lookup struct {
	Class string
	ID    value.Value // template of the id. If its value is missing or null, the record is null
}

// An Action is a compiled Declaration. It is immutable and safe for use by several goroutines.
type Action struct {
	Declaration
	Class *schema.Class
	Scope identity.Scope // the scope that a caller requires

	arguments   *expression.Arguments
	shown       json.RawMessage // the compact JSON Schema of Input
	record      *expression.Template
	summary     *expression.Template
	set         []expression.NamedTemplate
	permitted   []string
	lookups     []lookup
	require     []expression.Requirements
	transitions []transition
	check       *writes.Check // nil if there is no such check
	statement   string        // the SHA-256 of Statement in hex
}

// A lookup is a record that an action reads before it evaluates expressions that use the record.
type lookup struct {
	name  string
	class string // "source.Class"
	id    *expression.Template
}

// A transition defines the allowed next values for each value of a field.
type transition struct {
	field    string
	next     map[string][]string
	argument string // the argument that sets the field, or "" if no single argument does
}

// Schema returns the JSON Schema of the action's arguments, compact.
func (a *Action) Schema() json.RawMessage { return a.shown }

// ArgumentCheck returns the check of the arguments, or nil.
func (a *Action) ArgumentCheck() *writes.Check { return a.check }

// Arguments returns the names of the action's arguments.
func (a *Action) Arguments() []string { return a.arguments.Names() }

// Parameters returns the names in Set.
func (a *Action) Parameters() []string {
	names := make([]string, len(a.set))
	for i, n := range a.set {
		names[i] = n.Name
	}
	return names
}

// Names returns the names by which the lists of a principal can refer to it.
func (a *Action) Names() []string {
	return []string{a.Name, a.Class.Name + "." + a.Name, a.Class.FullName() + "." + a.Name}
}

// WantsRecord reports whether the caller must give the id of a record.
func (a *Action) WantsRecord() bool { return a.record == nil && (a.Do == Update || a.Do == Delete) }

// TakesRecord reports whether the caller can give the id of a record.
func (a *Action) TakesRecord() bool { return a.record == nil && a.Do != Create && !a.Class.Recordless }

// Tries reports whether a dry run executes the action and rolls it back. HTTP, Go and Cloud require DryRun for that.
func (a *Action) Tries() bool { return a.DryRun || a.Do != HTTP && a.Do != Go && a.Do != Cloud }

// Op returns the operation of the action's write.
func (a *Action) Op() write.Op {
	switch a.Do {
	case Create:
		return write.OpCreate
	case Update:
		return write.OpUpdate
	case Delete:
		return write.OpDelete
	case HTTP:
		return write.OpCall
	}
	return write.OpAction
}

// A Reader reads records and classes as the caller sees them.
type Reader interface {
	// Record returns the visible fields of the record of class ("source.Class") with the key id, as an Object. It
	// returns Null if the caller sees no such record.
	Record(ctx context.Context, class, id string) (value.Value, error)
	// DescribeClass returns the source's current description of a class ("source.Class"), as the caller sees it.
	DescribeClass(ctx context.Context, class string) (writes.Described, error)
}
