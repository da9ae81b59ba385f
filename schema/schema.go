// Package schema says what exists: the classes of a source, their fields, types, keys and relations.
//
// It is a word. A source describes itself in these terms once, at load; policy narrows them to views. Storage
// details that only an adapter needs (its native type name) travel along and never reach an agent.
package schema

import "github.com/bailiwick-dev/bailiwick/value"

// A Type is the type of a field, one set for every source.
type Type uint8

// The types. Any is a field whose values may be of any kind (an untyped SQLite column).
const (
	Any Type = iota
	String
	Integer // 64 bits
	Double  // IEEE 754
	Decimal // exact
	Boolean
	Date   // an instant
	Day    // a calendar date
	UUID   // written lower case with hyphens
	Bytes  // raw bytes, base64 in JSON
	JSON   // any JSON value, in a JSON column
	Array  // a list; compared as JSON
	Opaque // shown as text; it can't be filtered or sorted
)

var typeNames = [...]string{"any", "string", "integer", "double", "decimal", "boolean", "date", "day", "uuid", "bytes", "json", "array", "opaque"}

// String names t as agents read it.
func (t Type) String() string { return typeNames[t] }

// Open reports whether values of t are of any length: texts, JSON, bytes, and what is known to the source alone.
func (t Type) Open() bool {
	switch t {
	case String, JSON, Array, Bytes, Any, Opaque:
		return true
	}
	return false
}

// Structured reports whether values of t have parts that a dotted path can name.
func (t Type) Structured() bool { return t == JSON || t == Array }

// A Class is a named collection of records in a source: a table or a view.
type Class struct {
	Source      string // the source's name in the configuration
	Name        string // as agents write it
	Space       string // the SQL schema it stands in; "" for the default one
	Table       string // its name in the source
	Description string // the source's own comment
	View        bool   // a view of the database, not a table
	Recordless  bool   // a description alone: no record of it can be read here
	Fields      []Field
	Key         []string // the names of the fields that identify a record; empty when nothing does
	Relations   []Relation
	Indexes     []Index
	Text        []TextIndex
}

// FullName returns "source.Class".
func (c *Class) FullName() string { return c.Source + "." + c.Name }

// Field returns the field called name, or nil.
func (c *Class) Field(name string) *Field {
	for i := range c.Fields {
		if c.Fields[i].Name == name {
			return &c.Fields[i]
		}
	}
	return nil
}

// FieldNames returns the names of the fields, in their order.
func (c *Class) FieldNames() []string {
	names := make([]string, len(c.Fields))
	for i := range c.Fields {
		names[i] = c.Fields[i].Name
	}
	return names
}

// A Field is one column of a Class.
type Field struct {
	Name        string
	Type        Type
	Native      string        // the source's own name of the type, for adapters
	Description string        // the source's own comment
	NotNull     bool          // it can't be null
	Required    bool          // it can't be null and has no default
	Generated   bool          // the source fills it in
	Default     string        // the source's default as it writes it; "" for none
	Values      []value.Value // all it may hold, from an enum or a check constraint; nil when open
	Length      int           // most characters; 0 when open
	Digits      int           // most digits of a decimal; 0 when open
	Scaled      bool          // Scale tells how many digits a decimal keeps behind the point, or a date behind the second
	Scale       int
	Unordered   bool // its column compares by a rule of its own, so equality must name the binary one
}

// A Relation says that Fields of its class hold the key TargetFields of a record of Target.
type Relation struct {
	Fields       []string
	Target       string // the name of a class of the same source
	TargetFields []string
}

// An Index is an access path.
type Index struct {
	Name   string
	Fields []string // leading fields in order; an index over an expression ends before it
	More   bool     // it has more than Fields, over any fields: an expression, a predicate, values beside its order
	Unique bool     // no two records have the same values (and it has no predicate)
}

// A TextIndex finds the records in whose texts words stand. What a word is, and which forms of it are one, is up to it.
type TextIndex struct {
	Name    string   // in the source
	Fields  []string // texts that it can be asked about, each by itself
	Key     string   // the field whose value the index gives for a record it finds; "" where it is an index of the class itself
	Config  string   // what makes words of the texts, as the source calls it; "" where the index knows
	NoNulls bool     // it takes null for an empty text
	Column  string   // the field that keeps the words of all Fields, which can only be asked about together; "" for none
}

// A Reference is a foreign key as the source enforces it, fields and classes that nobody may see included.
type Reference struct {
	Name            string // of the constraint; "" where it has none
	Space, Table    string // what holds it, as in Class
	Fields          []string
	ToSpace, To     string // what it leads to
	Targets         []string
	Delete, Changed Rule // what becomes of records whose target goes, or gets another key
}

// A Rule is what a source does to the records of a Reference.
type Rule uint8

// The rules.
const (
	Refuse  Rule = iota // it refuses the write that would leave them without a target
	Cascade             // they go or change too
	SetNull             // their fields become null, or their default
)
