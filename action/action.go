// Package action defines named domain writes, such as create_issue or archive.
//
// An action is declared once and compiled against the catalogue when the rules are loaded. It turns the arguments of
// a call into a write.Request, which is then proposed like any other: through the caller's views, for a person to
// review. It makes no decision about classes. It refuses a declaration that names something missing. It also refuses
// arguments that break its schema, its transitions or its requirements, and then nothing is proposed.
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

// The kinds. HTTP calls an operation of an API source, SQL runs a statement of the owner's, and Go calls a function of
// the program. Cloud calls a cloud function of an application on Parse Server.
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
// the value of a CEL expression over input, record, the lookups, now and principal.
type Declaration struct {
	Name        string
	On          string      // the class: "source.Class", or a bare name if only one source has it
	Title       string      // for people. "" means Name
	Description string      // for agents
	Summary     value.Value // template of the first line shown to reviewers. Null derives it from the writes
	Do          Kind

	Input     value.Value // the JSON Schema of the arguments, an Object, or Null
	Record    value.Value // template of the id of the record it is about. Null lets the caller give it
	Set       value.Value // templates by field (by parameter for SQL, by argument for Go and HTTP), or Null
	Permitted []string    // fields set by arguments of the same names, besides Set

	Permission identity.Scope // write, delete or schema. "" means delete for Delete, else write
	DryRun     bool           // it supports a dry run (supports_dry_run)
	Review     write.Mode     // the mode of its writes. "" leaves it to the rules
	Tool       bool           // it is also offered as a tool of its name

	Transitions map[string]map[string][]string // by field of the record, then by value: the values that may follow
	Require     []Requirement
	Lookup      map[string]Lookup // by name in expressions

	CheckAgainst writes.Declaration // the class that describes the arguments, or the zero value

	Statement string // for SQL: the text, with :name for each parameter
	API       string // for HTTP: the source
	Operation string // for HTTP: the operation of API
	Function  string // for Cloud: the cloud function
}

// A Requirement is a condition that a call must meet. That is a CEL expression over input, record, the lookups, now and
// principal that yields true. An error counts as false. Message is shown to the agent if it doesn't hold, and Field
// names the argument that it is about, or "".
type Requirement = expression.Requirement

// A Lookup is a record that expressions can use, as the caller sees it.
type Lookup struct {
	Class string
	ID    value.Value // template. If its value is absent or null, the record is null
}

// An Action is a compiled Declaration. It is immutable and safe for use by several goroutines.
type Action struct {
	Declaration
	Class *schema.Class
	Scope identity.Scope // the scope that a caller needs

	arguments   *expression.Arguments
	shown       json.RawMessage // the schema of Input, compact
	record      *expression.Template
	summary     *expression.Template
	set         []expression.NamedTemplate
	permitted   []string
	lookups     []lookup
	require     []expression.Requirements
	transitions []transition
	check       *writes.Check // nil without such a check
	statement   string        // the SHA-256 of Statement in hex
}

// A lookup is a record that an action reads before its expressions are evaluated, which name it.
type lookup struct {
	name  string
	class string // "source.Class"
	id    *expression.Template
}

// A transition says which values of a field may follow each of its values.
type transition struct {
	field    string
	next     map[string][]string
	argument string // the argument that sets the field, or "" if it isn't a single one
}

// Schema returns the JSON Schema of the action's arguments, compact.
func (a *Action) Schema() json.RawMessage { return a.shown }

// ArgumentCheck returns the check of the arguments, or nil.
func (a *Action) ArgumentCheck() *writes.Check { return a.check }

// Arguments returns the names of its arguments.
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

// Tries reports whether a dry run executes it and rolls it back: always, except for HTTP, Go and Cloud without DryRun.
func (a *Action) Tries() bool { return a.DryRun || a.Do != HTTP && a.Do != Go && a.Do != Cloud }

// Op returns the operation of the write that it makes.
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
	// Record returns the record of class ("source.Class") with the key id, an Object of its visible fields, or Null if
	// the caller sees none.
	Record(ctx context.Context, class, id string) (value.Value, error)
	// Described returns the current description of class by its source, as the caller sees it.
	DescribeClass(ctx context.Context, class string) (writes.Described, error)
}
