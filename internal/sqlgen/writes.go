package sqlgen

import (
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Writes describes how to write to a database: the texts of its statements, how its driver accepts values, and how to
// read an owner's statement. A source that is read-only has the zero Writes. A text "" or a nil map or function means
// that the database doesn't require it. This is allowed only for fields with "or" in their comments.
type Writes struct {
	EmptyInsert    string // inserts a record with default values
	MarkerColumns  string // the columns of the marker table, and the text after them
	MarkerConflict string // ends the INSERT of a marker, so that an existing marker stays
	Now            string // the time of the database
	CreateTable    string // begins a CREATE TABLE
	Generated      string // the definition of a key column that the database generates

	RowLock      string // or "": ends the SELECT of a record t, so that the record can't change
	MarkerLock   string // or "": ends the SELECT of a marker, so that the marker can't change
	OverrideKeys string // or "": allows an INSERT to set a generated key
	TableOptions string // or "": ends a CREATE TABLE

	Types    map[string]string // the column types for fields of a new class, by type
	KeyTypes map[string]string // as Types, for the key of a new class

	Columns   func(place string) string // the SELECT of the columns of a table, whose name is at a place
	LockTable func(table string) string // or nil: locks a table against other transactions

	// Bind returns a value in the form that the driver accepts for a column of f. f is nil if the statement gives the
	// value no type. A number for a column of doubles is a Decimal that a double represents exactly, or NaN or an
	// infinity. A list is for a column of lists.
	Bind func(v value.Value, f *schema.Field) any
	// Place returns the text of the value of f at a place. If it is nil, that is the place itself.
	Place func(place string, f *schema.Field) string
	// Exact returns a column in a form that the database compares with its own operator. If it is nil, that is the
	// column itself.
	Exact func(x string, f *schema.Field) string
	// Ranges contains the least and the greatest integer of narrower columns, by native type. If it is nil, every
	// column has 64 bits.
	Ranges map[string][2]int64
	// Single is the native type of a floating-point number of 32 bits, or "".
	Single string
	// Whole reports whether a column of doubles stores whole numbers as integers. If it is nil, no column does.
	Whole func(f *schema.Field) bool
	// Infinite reports whether a column of numbers can store NaN or an infinity. If it is nil, no column can.
	Infinite func(f *schema.Field, x float64) bool
	// Moment returns an instant in the form of another value of the column. It is nil if the database has types for
	// dates.
	Moment func(f *schema.Field, at time.Time, like any) any

	Quotes   string   // the characters that begin a quoted part of a statement
	Escapes  string   // or "": the quotes within which a backslash escapes the next character
	Comments []string // the texts that begin a comment to the end of the line
	Dollars  bool     // a tag such as $body$ begins a quoted part
	Nested   bool     // a comment of /* and */ can contain others
	Run      []string // the texts that begin a comment whose content the database runs, or nil
}

// Missing returns the names of the required fields that ws doesn't set.
func (ws Writes) Missing() []string {
	var names []string
	for name, missing := range map[string]bool{
		"EmptyInsert": ws.EmptyInsert == "", "MarkerColumns": ws.MarkerColumns == "", "MarkerConflict": ws.MarkerConflict == "", "Now": ws.Now == "",
		"CreateTable": ws.CreateTable == "", "Generated": ws.Generated == "", "Types": ws.Types == nil, "KeyTypes": ws.KeyTypes == nil,
		"Columns": ws.Columns == nil, "Bind": ws.Bind == nil, "Quotes": ws.Quotes == "", "Comments": ws.Comments == nil,
	} {
		if missing {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Clock returns an instant in UTC in the form that databases read, with a blank and only as many digits of a second as
// necessary.
func Clock(at value.Value) string {
	return time.UnixMicro(at.Micros()).UTC().Format("2006-01-02 15:04:05.999999")
}
