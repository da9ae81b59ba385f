// Package schema describes the classes of a source: their fields, types, keys and relations.
//
// A source returns its description once, when it is loaded. Package policy narrows it to views. Details that only an
// adapter needs, such as native type names, are included but never shown to an agent.
package schema

import "github.com/bailiwick-dev/bailiwick/value"

// A Type is the type of a field, the same set for every source.
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
	Array  // a list, compared as JSON
	Opaque // shown as text. Can't be sorted, and is filtered only if the Field has a Form
)

var typeNames = [...]string{"any", "string", "integer", "double", "decimal", "boolean", "date", "day", "uuid", "bytes", "json", "array", "opaque"}

// String returns the name of t as agents see it.
func (t Type) String() string { return typeNames[t] }

// Open reports whether values of t can be of any length: texts, JSON, bytes, and types only the source knows.
func (t Type) Open() bool {
	switch t {
	case String, JSON, Array, Bytes, Any, Opaque:
		return true
	}
	return false
}

// IsStructured reports whether values of t have parts that a dotted path can name.
func (t Type) IsStructured() bool { return t == JSON || t == Array }

// A Class is a named collection of records in a source: a table or a view.
type Class struct {
	Source      string // the source's name in the configuration
	Name        string // as agents write it
	Space       string // the SQL schema that contains it, or "" for the default one
	Spaces      Spaces // the schemas that each have it, one per tenant, or nil for a class of one schema
	Table       string // its name in the source
	Description string // the source's own comment
	View        bool   // a database view, not a table
	Recordless  bool   // only a description: its records can't be read here
	Fields      []Field
	Key         []string // the names of the fields that identify a record, or empty
	Relations   []Relation
	Indexes     []Index
	Text        []TextIndex
	Guard       *Guard // the grants of the source itself, or nil if it leaves that to the owner's rules
	Converts    bool   // the source can read a field in a type that the rules declare
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
	Generated   bool          // the source generates the value
	From        []string      // the fields of its class that the source computes the value from, also by way of others. Nil if none or unknown
	Origins     []Origin      // the columns of other tables that its values are made of, as of a view, or nil
	Untraced    string        // why Origins may hold more than its values are made of, or "" if Origins is exact
	Default     string        // the source's default expression, or ""
	Values      []value.Value // the values allowed by an enum or a check constraint, or nil for any
	Length      int           // the most characters, or 0 for any number
	Least       int           // the fewest characters that a check constraint takes
	Bounds      []Bound       // the numbers that its type and check constraints take. All of them hold
	Digits      int           // the most digits of a decimal, or 0 for any number
	Scaled      bool          // Scale is set: digits after the decimal point, or of fractional seconds of a date
	Scale       int
	Unordered   bool   // the column has its own collation, so equality must name the binary one
	Unicode     bool   // its texts are in the character set of the source's expressions, so that they needn't be converted to it
	Typing      Typing // whether the column can hold values of other types
	Atomic      bool   // of type any: each value is a text, a number, a truth value or bytes, never a list or an object

	Strays, Looked int // how many values, of how many that a source without declared types looked at, are of another type than Type, or 0

	Mixed bool // of a part of a key: the column also holds values of other types than its own

	Form    string // of a type that only the source knows: the form of its texts, such as "a duration in ISO 8601: P1DT2H", or "" for others
	Ordered bool   // of a type with a Form: the source compares its texts by their meaning, also as less and more
	Point   bool   // of a type with a Form: each value is a place on the earth, the longitude first
	Endless bool   // of a date: it can also be infinite, or outside of the years 1 to 9999, which is a text in answers

	Beyond string // values that the column may hold and that expressions read as null, or for a double, that have no sum: "NaN or infinite", or ""

	Element *Field // of a list: its elements, if the source declares what they are. Its name is that of the list

	Stored *Stored // how the source holds it, if the owner's rules declare its type, or nil if the source does
}

// Single reports whether each value of f is one scalar. A source without declared types may still hold a list in it.
func (f *Field) Single() bool { return !f.Type.IsStructured() && (f.Type != Any || f.Atomic) }

// Operators lists the conditions that a field of a type with a Form takes.
func (f *Field) Operators() string {
	switch {
	case f.Ordered:
		return "$eq, $ne, $gt, $gte, $lt, $lte, $in, $nin and $exists"
	case f.Point:
		return "$geoWithin, $near, $eq, $ne, $in, $nin and $exists"
	}
	return "$eq, $ne, $in, $nin and $exists"
}

// A Typing says how a source that can hold values of any type in a column treats values of other types than the
// field's.
type Typing uint8

// The typings. Sources whose columns hold one type leave it at the first.
const (
	Loose      Typing = iota // it keeps them, or doesn't say
	Converting               // it keeps them, except one that equals a value of the type, which is converted
	Strict                   // it refuses them
)

// A Bound compares a number or a date with Value, or with another field of the record. Op is one of "<", "<=", ">", ">=" and "<>".
type Bound struct {
	Op    string
	Value value.Value
	Field string // the other field, or "" for Value, which is null otherwise
}

// Words returns the requirement of b without the compared value: "at most".
func (b Bound) Words() string {
	return map[string]string{"<": "less than", "<=": "at most", ">": "more than", ">=": "at least", "<>": "other than"}[b.Op]
}

// Holds reports whether v is within b. A value that can't be compared is.
func (b Bound) Holds(v value.Value) bool {
	n, ok := value.Compare(v, b.Value)
	switch {
	case !ok:
		return true
	case b.Op == "<":
		return n < 0
	case b.Op == "<=":
		return n <= 0
	case b.Op == ">":
		return n > 0
	case b.Op == ">=":
		return n >= 0
	}
	return b.Op != "<>" || n != 0
}

// A Relation means that Fields of its class hold the key TargetFields of a record of Target.
type Relation struct {
	Fields       []string
	Target       string // the name of a class of the same source
	TargetFields []string
	Declared     bool // by the owner's rules, not by the source, which doesn't enforce it
	List         bool // the field is a list, each of whose elements is such a key. Then it is Declared
}

// An Index is an index of a Class that queries can use.
type Index struct {
	Name   string
	Fields []string // leading fields in order, up to the first expression
	More   bool     // it has more than Fields: an expression, a predicate, or included values
	Unique bool     // no two records have the same values (and it has no predicate)
}

// A TextIndex is a full-text index. The index determines how texts are split into words and which word forms match.
type TextIndex struct {
	Name    string   // in the source
	Fields  []string // the text fields that it can search, each by itself
	Key     string   // the field whose value the index returns for a match, or "" if it is an index of the class itself
	Config  string   // the source's name for the text configuration, or "" if the index implies it
	NoNulls bool     // it treats null as empty text
	Column  string   // the field that holds the words of all Fields, which can only be searched together, or ""
	Kept    bool     // a trigger keeps Column, so that records from before it may hold other words: the Fields are looked at as well
}

// A Reference is a foreign key as the source enforces it, including hidden fields and classes.
type Reference struct {
	Name            string // of the constraint, or ""
	Space, Table    string // the referencing table, as in Class
	Fields          []string
	ToSpace, To     string // the referenced table
	Targets         []string
	Delete, Changed Rule // the rule for records whose target is deleted, or gets another key
}

// A Rule is the effect of a source on the records of a Reference.
type Rule uint8

// The rules.
const (
	Refuse  Rule = iota // refuse the write that would leave them without a target
	Cascade             // delete or change them, too
	SetNull             // set their fields to null, or to their default
)
