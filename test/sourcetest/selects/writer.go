// Package selects writes random SELECT statements that are valid: names are visible and types match.
//
// The possible expressions are in a table of forms by kind. TestWriterIsComplete checks that the table contains every
// supported SQL function. Only tests import it.
package selects

import (
	"fmt"
	"strings"
)

// A Kind is the type of an expression.
type Kind byte

// The values of Kind. Lists contain whole numbers.
const (
	Integer Kind = iota
	Double
	Text
	Boolean
	Instant
	Day
	JSON
	list
)

// letters contains the letters of the kinds in forms.
const letters = "idtbsyjl"

// A Column is a named value of a table.
type Column struct {
	Name string
	Kind Kind
}

// A Table is a table that statements read. Key is the Integer column that identifies a record. Parent is the column
// that contains the key of another record of the table, or "".
type Table struct {
	Name, Key, Parent string
	Columns           []Column
}

// A named contains the columns that FROM makes visible under an alias.
type named struct {
	alias   string
	columns []Column
}

// A Writer writes statements.
type Writer struct {
	Draw    func(n int) int // returns a number from 0 to n
	Tables  []Table
	Foreign int // percentage of expressions in the syntax of other databases

	aliases int
	own     bool                // the statement contains syntax of other databases
	last    string              // the last expression that was filled into a form
	window  string              // the named window of the current SELECT, if it is used
	with    map[string][]Column // the tables defined by WITH
}

// A scope contains the tables that an expression can use: those of its SELECT, and those of the surrounding SELECT.
type scope struct{ tables, outer []named }

func (w *Writer) oneOf(choices ...string) string { return choices[w.Draw(len(choices)-1)] }
func (w *Writer) kind() Kind                     { return Kind(w.Draw(int(Day))) }
func (w *Writer) chance(percent int) bool        { return w.Draw(99) >= 100-percent }

func (w *Writer) alias() string {
	w.aliases++
	return fmt.Sprintf("t%d", w.aliases)
}

// column returns a column of a kind in the scope, or "".
func (w *Writer) column(s scope, is Kind) string {
	var found []string
	add := func(tables []named) {
		for _, t := range tables {
			for _, c := range t.columns {
				if c.Kind == is {
					found = append(found, t.alias+"."+c.Name)
				}
			}
		}
	}
	add(s.tables)
	if len(s.outer) > 0 && w.chance(30) {
		add(s.outer)
	}
	if len(found) == 0 {
		return ""
	}
	return w.oneOf(found...)
}

func (w *Writer) literal(is Kind) string { return w.oneOf(constants[is]...) }

// expr returns an expression of a kind, in parentheses if necessary.
func (w *Writer) expr(s scope, is Kind, depth int) string {
	if depth <= 0 || w.chance(35) {
		if c := w.column(s, is); c != "" && w.chance(80) {
			return c
		}
		return w.literal(is)
	}
	if is >= JSON {
		return w.form(s, depth-1, forms[is]...)
	}
	switch w.Draw(9) {
	case 0:
		return fmt.Sprintf("coalesce(%s, %s)", w.expr(s, is, depth-1), w.expr(s, is, depth-1))
	case 1:
		return w.caseOf(s, is, depth)
	case 2:
		return fmt.Sprintf("nullif(%s, %s)", w.expr(s, is, depth-1), w.expr(s, is, depth-1))
	case 3:
		if is != Boolean {
			return fmt.Sprintf("%s(%s, %s)", w.oneOf("greatest", "least"), w.expr(s, is, depth-1), w.expr(s, is, depth-1))
		}
	case 4:
		if sub, ok := w.scalar(s, is, depth); ok {
			return sub
		}
	}
	if w.chance(w.Foreign) {
		w.own = true
		return w.form(s, depth-1, foreign[is]...)
	}
	return w.form(s, depth-1, forms[is]...)
}

// form fills in one of several forms. {i} is an expression of a kind, {c} is a condition, {=} is the last expression
// again, and {a|b} is one of the texts.
func (w *Writer) form(s scope, depth int, choices ...string) string {
	rest, out := w.oneOf(choices...), ""
	for {
		before, after, ok := strings.Cut(rest, "{")
		out += before
		if !ok {
			return out
		}
		hole, behind, _ := strings.Cut(after, "}")
		rest = behind
		switch is := strings.Index(letters, hole); {
		case hole == "c":
			out += w.condition(s, depth)
		case hole == "=":
			out += w.last
		case len(hole) == 1 && is >= 0:
			x := w.expr(s, Kind(is), depth)
			w.last = x
			out += x
		default:
			out += w.oneOf(strings.Split(hole, "|")...)
		}
	}
}

func (w *Writer) caseOf(s scope, is Kind, depth int) string {
	var b strings.Builder
	b.WriteString("CASE")
	if w.chance(30) {
		of := w.kind()
		b.WriteString(" " + w.expr(s, of, depth-1))
		for range w.Draw(1) + 1 {
			fmt.Fprintf(&b, " WHEN %s THEN %s", w.expr(s, of, depth-1), w.expr(s, is, depth-1))
		}
	} else {
		for range w.Draw(1) + 1 {
			fmt.Fprintf(&b, " WHEN %s THEN %s", w.condition(s, depth-1), w.expr(s, is, depth-1))
		}
	}
	if w.chance(70) {
		b.WriteString(" ELSE " + w.expr(s, is, depth-1))
	}
	return b.String() + " END"
}

// condition returns a condition in three-valued logic.
func (w *Writer) condition(s scope, depth int) string {
	if depth <= 0 {
		return w.comparison(s, 0)
	}
	switch w.Draw(9) {
	case 0, 1:
		return w.form(s, depth-1, "({c} {AND|OR} {c})")
	case 2:
		return w.form(s, depth-1, "NOT ({c})")
	case 3:
		return w.form(s, depth-1, "({c}) IS {TRUE|FALSE|NOT TRUE|NOT FALSE|NULL|NOT NULL|UNKNOWN|NOT UNKNOWN}")
	case 4, 5:
		return w.subCondition(s, depth)
	}
	return w.comparison(s, depth-1)
}

func (w *Writer) comparison(s scope, depth int) string {
	if w.chance(25) {
		return w.form(s, depth, conditions...)
	}
	is := w.kind()
	x := w.expr(s, is, depth)
	switch w.Draw(6) {
	case 0:
		return fmt.Sprintf("%s IS %sNULL", x, w.oneOf("", "NOT "))
	case 1:
		return fmt.Sprintf("%s %sIN (%s, %s)", x, w.oneOf("", "NOT "), w.literal(is), w.expr(s, is, depth))
	case 2:
		return fmt.Sprintf("%s %sBETWEEN %s%s AND %s", x, w.oneOf("", "NOT "), w.oneOf("", "", "", "SYMMETRIC "), w.expr(s, is, depth), w.expr(s, is, depth))
	case 3:
		return fmt.Sprintf("%s IS %sDISTINCT FROM %s", x, w.oneOf("", "NOT "), w.expr(s, is, depth))
	case 4:
		if is == Boolean {
			return x
		}
	}
	return fmt.Sprintf("%s %s %s", x, w.oneOf("=", "<>", "<", "<=", ">", ">="), w.expr(s, is, depth))
}
