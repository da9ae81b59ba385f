package sqlgen

import (
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Writes is how a database is written. It has the texts in which its statements differ from those of others. It says how its driver takes
// values, and how a statement of the owner is read. A source that only reads has the zero Writes. The text "" and a nil map or function mean that the
// database needs none, as far as their comments begin with "or".
type Writes struct {
	EmptyInsert    string // inserts a record of defaults
	MarkerColumns  string // the columns of the table of markers, and what follows them
	MarkerConflict string // ends the INSERT of a marker, so that an existing one stays
	Now            string // the time of the database
	CreateTable    string // begins the statement
	Generated      string // the column of a key that the database generates

	RowLock      string // or "": ends the SELECT of a record t, so that it can't change
	MarkerLock   string // or "": ends the SELECT of a marker, so that it can't change
	OverrideKeys string // or "": lets an INSERT set a generated key
	TableOptions string // or "": ends a CREATE TABLE

	Types    map[string]string // the types that fields of a new class may have
	KeyTypes map[string]string // the same for a field that is the key

	Columns   func(place string) string // the SELECT of the columns of the table whose name is at a place
	LockTable func(table string) string // or nil: locks a table against other transactions

	// Bind returns a value as the driver takes it for a column of f, or where nothing gives it a type (f is nil). A number for a column
	// of doubles is a Decimal that a double holds, or NaN or an infinity. A list is one for a column of lists.
	Bind func(v value.Value, f *schema.Field) any
	// Place returns the text of the value of f at a place, or nil: the place itself.
	Place func(place string, f *schema.Field) string
	// Exact returns a column as an operator of the database itself compares it, or nil: the column itself.
	Exact func(x string, f *schema.Field) string
	// Ranges has the integers that narrower columns hold, by the native type, or nil: every column holds 64 bits.
	Ranges map[string][2]int64
	// Single is the native type of a number of 32 bits, or "".
	Single string
	// Whole reports whether a column of doubles holds whole numbers as integers, or nil: none does.
	Whole func(f *schema.Field) bool
	// Infinite reports whether a column of numbers holds NaN or an infinity, or nil: none does.
	Infinite func(f *schema.Field, x float64) bool
	// Moment returns an instant in the form of another value of the column, or nil: the database has types for dates.
	Moment func(f *schema.Field, at time.Time, like any) any

	Quotes   string   // the characters that begin a quoted part of a statement
	Escapes  string   // or "": those within which a backslash escapes the next character
	Comments []string // what begins a comment to the end of the line
	Dollars  bool     // a tag such as $body$ begins a quoted part
}

// Missing returns the names of what a database that is written must say, and ws does not.
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

// Clock returns an instant in UTC as databases read it: with a blank, and with the digits of a second that it has.
func Clock(at value.Value) string {
	return time.UnixMicro(at.Micros()).UTC().Format("2006-01-02 15:04:05.999999")
}
