// Package action holds named domain writes: create_issue, archive, whatever an application calls what it does.
//
// It stands beside policy/writes, before it. An action is declared once, compiled against the catalogue when the rules
// are loaded, and turns the arguments of a call into a write.Request that is then proposed like any other: through the
// asker's views, for a person to review. It decides about no class. It refuses a declaration that names what isn't
// there, and arguments that break its schema, its transitions or its requirements: nothing is proposed then.
package action

import (
	"context"
	"encoding/json"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/internal/rules/expression"
	"github.com/bailiwick-dev/bailiwick/internal/rules/schemacheck"
	"github.com/bailiwick-dev/bailiwick/internal/rules/template"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Kind is what an action does.
type Kind string

// What actions do. HTTP is an operation of an API source, SQL a statement of the owner's, Go a function of the program.
const (
	Create Kind = "create"
	Update Kind = "update"
	Delete Kind = "delete"
	SQL    Kind = "sql"
	HTTP   Kind = "http"
	Go     Kind = "go"
)

// Dos are all of them.
func Dos() []Kind { return []Kind{Create, Update, Delete, SQL, HTTP, Go} }

// A Declaration is an action as its owner writes it. A template is a value in which {"$cel": text} stands for what CEL
// says of input, record, the lookups, now and principal.
type Declaration struct {
	Name        string
	On          string      // the class: "source.Class", or a bare name that one source has
	Title       string      // for people; "" takes the name
	Description string      // for agents
	Summary     value.Value // template of the line that reviewers read first; Null leaves it to what is written
	Do          Kind

	Input     value.Value // the JSON Schema of the arguments, an Object; Null for none
	Record    value.Value // template of the id of the record that it is about; Null leaves it to the caller
	Set       value.Value // templates by field (by parameter for sql, by argument for go and http); Null for none
	Permitted []string    // fields that arguments of the same names set, besides Set

	Permission identity.Scope // write, delete or schema; "" takes delete for Delete and else write
	DryRun     bool           // it can be tried (supports_dry_run)
	Review     write.Mode     // how it may run; "" leaves it to the rules
	Tool       bool           // it is a tool of its own, of its name

	Transitions map[string]map[string][]string // by field of the record: what may follow each value
	Require     []Requirement
	Lookup      map[string]Lookup // by the name that expressions use

	CheckAgainst schemacheck.Declaration // the class that describes what the arguments are for; the zero one for none

	Statement string // of SQL: the text, with :name for each parameter
	API       string // of HTTP: the source
	Operation string // of HTTP: the operation of it
}

// A Requirement is what must be true of a call.
type Requirement struct {
	That    string // CEL that is true or false; what fails is false
	Message string // what the agent is told when it is false
	Field   string // the argument that it is about; "" for none
}

// A Lookup is a record that expressions can ask about, as the asker sees it.
type Lookup struct {
	Class string
	ID    value.Value // template; where it yields nothing, the record is null
}

// An Action is a declaration that was compiled. It never changes and may be used by many at once.
type Action struct {
	Declaration
	Class *schema.Class
	Scope identity.Scope // that a caller needs

	schema      *argcheck.Schema
	shown       json.RawMessage // the schema of Input, compact
	defaults    []value.Member
	record      *template.Template
	summary     *template.Template
	set         []template.Named
	permitted   []string
	lookups     []lookup
	require     []requirement
	transitions []transition
	check       *schemacheck.Check // nil for none
	statement   string             // what identifies it: its SHA-256 in hex
}

type lookup struct {
	name  string
	class string // "source.Class"
	id    *template.Template
}

type requirement struct {
	Requirement
	that *expression.Expression
}

type transition struct {
	field    string
	next     map[string][]string
	argument string // that sets the field; "" where it is more than one argument
}

// Schema returns the JSON Schema of the action's arguments, compact.
func (a *Action) Schema() json.RawMessage { return a.shown }

// Checked returns what the arguments are checked against; nil for nothing.
func (a *Action) Checked() *schemacheck.Check { return a.check }

// Arguments returns the names of its arguments.
func (a *Action) Arguments() []string { return a.schema.Names() }

// Parameters returns the names of what it sets.
func (a *Action) Parameters() []string {
	names := make([]string, len(a.set))
	for i, n := range a.set {
		names[i] = n.Name
	}
	return names
}

// Called returns the names by which lists of principals can name it.
func (a *Action) Called() []string {
	return []string{a.Name, a.Class.Name + "." + a.Name, a.Class.FullName() + "." + a.Name}
}

// WantsRecord reports whether a caller has to say which record it is about.
func (a *Action) WantsRecord() bool { return a.record == nil && (a.Do == Update || a.Do == Delete) }

// TakesRecord reports whether a caller can say which record it is about.
func (a *Action) TakesRecord() bool { return a.record == nil && a.Do != Create && !a.Class.Recordless }

// Tries reports whether a dry run runs it, and takes it back: always for records and statements of a database.
func (a *Action) Tries() bool { return a.DryRun || a.Do != HTTP && a.Do != Go }

// Op returns the kind of the write that it makes.
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

// A Reader gives records and classes as the asker sees them.
type Reader interface {
	// Record returns the record of class ("source.Class") that has the key id, an Object of its visible fields; Null
	// where there is none for the asker.
	Record(ctx context.Context, class, id string) (value.Value, error)
	// Described returns class as its source describes it now, and as the asker sees it.
	Described(ctx context.Context, class string) (schemacheck.Described, error)
}
