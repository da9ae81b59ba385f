// Package schema describes the classes of a source: their fields, types, keys and relations.
//
// A source returns its description once, when it is loaded. Package policy narrows the description to views. The
// description includes details for adapters, such as native type names, which agents never see.
package schema

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/value"
)

// A Type is the type of a field. All sources use the same types.
type Type uint8

// The types. A field of type Any may contain values of any kind, as an untyped SQLite column does.
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
	Opaque // shown as text. It can't be sorted, and it can be filtered only if the Field has a Form
)

var typeNames = [...]string{"any", "string", "integer", "double", "decimal", "boolean", "date", "day", "uuid", "bytes", "json", "array", "opaque"}

// TypeNames returns the names of the types that values can be declared to have: all but Opaque.
func TypeNames() []string { return slices.Clone(typeNames[:Opaque]) }

// TypeOf returns the type with a name of TypeNames, and false for other names.
func TypeOf(name string) (Type, bool) {
	i := slices.Index(typeNames[:Opaque], name)
	return Type(max(i, 0)), i >= 0
}

// String returns the name of t as agents see it.
func (t Type) String() string { return typeNames[t] }

// Open reports whether values of t can have any length. That includes texts, JSON, bytes, and types that only the
// source knows.
func (t Type) Open() bool {
	switch t {
	case String, JSON, Array, Bytes, Any, Opaque:
		return true
	}
	return false
}

// IsStructured reports whether values of t have parts to which a dotted path can refer.
func (t Type) IsStructured() bool { return t == JSON || t == Array }

// A Class is a named collection of records in a source: a table or a view.
type Class struct {
	Source      string // the source's name in the configuration
	Name        string // as agents write it
	Space       string // the SQL schema that contains the class, or "" for the default schema
	Spaces      Spaces // the schemas with this class, one per tenant, or nil for a class in one schema
	Table       string // the name of the table in the source
	Description string // the source's own comment
	View        bool   // a database view, not a table
	Recordless  bool   // only a description: its records can't be read here
	Fields      []Field
	Key         []string // the names of the fields that identify a record, or empty
	Relations   []Relation
	Indexes     []Index
	Text        []TextIndex
	Guard       *Guard // the permissions of the source itself, or nil if only the owner's rules apply
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
	From        []string      // the fields of the class from which the source computes the value, directly or indirectly. Nil if there are none or they are unknown
	Origins     []Origin      // the columns of other tables from which the values are computed, for example in a view, or nil
	Untraced    string        // the reason why Origins may contain too much, or "" if Origins is exact
	Default     string        // the source's default expression, or ""
	Values      []value.Value // the values that an enum or a check constraint allows, or nil for any values
	Length      int           // the maximum number of characters, or 0 for no limit
	Least       int           // the minimum number of characters that a check constraint allows
	Bounds      []Bound       // the limits from its type and check constraints. A value must satisfy all of them
	Digits      int           // the maximum number of digits of a decimal, or 0 for no limit
	Scaled      bool          // Scale is set: the number of digits after the decimal point, or of the fractional seconds of a date
	Scale       int
	Unordered   bool   // the column has its own collation, so an equality must name the binary collation
	Unicode     bool   // its texts have the character set of the source's expressions, so they need no conversion
	Typing      Typing // whether the column can contain values of other types
	Atomic      bool   // for type Any: each value is a text, a number, a boolean or bytes, but never a list or an object

	Strays, Looked int // for a source without declared types: Looked values were inspected, and Strays of them have another type than Type

	Mixed bool // for a part of a key: the column also contains values of other types

	Form    string // for a type that only the source knows: the form of its texts, such as "a duration in ISO 8601: P1DT2H", otherwise ""
	Ordered bool   // for a type with a Form: the source orders its texts by their meaning
	Point   bool   // for a type with a Form: each value is a point on the earth, with the longitude first
	Endless bool   // for a date: it can also be infinite or outside of the years 1 to 9999. Such a date is a text in answers

	Beyond string // values in the column that expressions read as null, or, for a double, that make a sum null: "NaN or infinite", or ""

	Element *Field // for a list: its elements, if the source declares their type. The element has the name of the list

	Stored *Stored // the form in which the source stores the field, if the owner's rules declare its type, otherwise nil
}

// Single reports whether each value of f is a scalar. A source without declared types may still store a list in it.
func (f *Field) Single() bool { return !f.Type.IsStructured() && (f.Type != Any || f.Atomic) }

// Operators lists the conditions that a field of a type with a Form supports.
func (f *Field) Operators() string {
	switch {
	case f.Ordered:
		return "$eq, $ne, $gt, $gte, $lt, $lte, $in, $nin and $exists"
	case f.Point:
		return "$geoWithin, $near, $eq, $ne, $in, $nin and $exists"
	}
	return "$eq, $ne, $in, $nin and $exists"
}

// A Typing describes how a source treats values that aren't of a column's type, if a column can contain values of any
// type.
type Typing uint8

// The typings. Other sources use the first one.
const (
	Loose      Typing = iota // the source stores them unchanged, or its behaviour is unknown
	Converting               // the source stores them unchanged, except that it converts a value that equals a value of the type
	Strict                   // the source refuses them
)

// A Bound requires a relation of a number or a date to Value, or to another field of the record. Op is "<", "<=", ">",
// ">=" or "<>".
type Bound struct {
	Op    string
	Value value.Value
	Field string // the other field, or "" to compare with Value. With a Field, Value is null
}

// Words returns the requirement of b without the compared value, such as "at most".
func (b Bound) Words() string {
	return map[string]string{"<": "less than", "<=": "at most", ">": "more than", ">=": "at least", "<>": "other than"}[b.Op]
}

// Holds reports whether v satisfies b. A value that can't be compared does.
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

// A Relation means that Fields contain the key, TargetFields, of a record of Target.
type Relation struct {
	Fields       []string
	Target       string // the name of a class of the same source
	TargetFields []string
	Declared     bool // declared by the owner's rules. The source doesn't enforce it
	List         bool // the field is a list of such keys. Then the relation is Declared
}

// An Index is an index of a Class that queries can use.
type Index struct {
	Name   string
	Fields []string // leading fields in order, up to the first expression
	More   bool     // the index also has an expression, a predicate or included values
	Unique bool     // no two records have the same values, and the index has no predicate
}

// A TextIndex is a full-text index. The index determines how texts are split into words and which word forms match.
type TextIndex struct {
	Name    string   // the name in the source
	Fields  []string // the text fields that it can search, separately
	Key     string   // the field whose value the index returns for a match, or "" if the index belongs to the class itself
	Config  string   // the source's name for the text configuration, or "" if the index implies it
	NoNulls bool     // it treats null as empty text
	Column  string   // the field with the words of all Fields, which can only be searched together, or ""
	Kept    bool     // a trigger updates Column. Older records may have other words, so the Fields are searched as well
}

// A Reference is a foreign key that the source enforces. It may refer to hidden fields and classes.
type Reference struct {
	Name            string // the name of the constraint, or ""
	Space, Table    string // the referencing table, as in Class
	Fields          []string
	ToSpace, To     string // the referenced table
	Targets         []string
	Delete, Changed Rule // the rule if the target of a record is deleted, or gets another key
}

// A Rule is the effect of a change of the target on the records of a Reference.
type Rule uint8

// The rules.
const (
	Refuse  Rule = iota // refuse the write, because the records would have no target
	Cascade             // delete or change the records, too
	SetNull             // set the fields of the records to null or to their default
)
