package statements

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// A kind is the type of an expression that a writer writes.
type kind byte

const (
	integer kind = iota
	double
	text
	boolean
	instant
	day
)

// A column is a named value of a table in FROM.
type column struct {
	name string
	kind kind
}

// A table is what FROM makes visible under an alias.
type table struct {
	alias   string
	columns []column
}

// tables are those of the shop that random statements read: JSON is left out.
var tables = map[string][]column{
	"customers": {{"id", integer}, {"name", text}, {"city", text}, {"joined", instant}, {"vip", boolean}, {"credit", double}},
	"products":  {{"id", integer}, {"name", text}, {"kind", text}, {"price", double}, {"stock", integer}},
	"orders":    {{"id", integer}, {"customer_id", integer}, {"status", text}, {"placed", instant}, {"shipped", instant}, {"note", text}},
	"staff":     {{"id", integer}, {"name", text}, {"boss_id", integer}, {"pay", integer}, {"team", text}},
	"items":     {{"order_id", integer}, {"line", integer}, {"product_id", integer}, {"qty", integer}, {"discount", double}},
}

var names = []string{"customers", "products", "orders", "staff", "items"}

// A writer writes random SELECTs that have a meaning: names are visible and types fit.
type writer struct {
	t       *rapid.T
	aliases int
	with    map[string][]column // the tables of WITH
}

// A scope is what an expression sees: the tables of its SELECT, and those of the SELECT around it.
type scope struct {
	tables []table
	outer  []table
}

func (w *writer) oneOf(choices ...string) string { return rapid.SampledFrom(choices).Draw(w.t, "one") }
func (w *writer) upTo(n int) int                 { return rapid.IntRange(0, n).Draw(w.t, "n") }
func (w *writer) kind() kind                     { return kind(w.upTo(int(day))) }
func (w *writer) chance(percent int) bool        { return w.upTo(99) >= 100-percent }

func (w *writer) alias() string {
	w.aliases++
	return fmt.Sprintf("t%d", w.aliases)
}

// column returns a column of a kind that the scope has, or "".
func (w *writer) column(s scope, is kind) string {
	var found []string
	add := func(tables []table) {
		for _, t := range tables {
			for _, c := range t.columns {
				if c.kind == is {
					found = append(found, t.alias+"."+c.name)
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

func (w *writer) literal(is kind) string {
	switch is {
	case integer:
		return w.oneOf("0", "1", "2", "3", "7", "10", "100", "310", "(-1)", "NULL::integer")
	case double:
		return w.oneOf("0.5", "2.25", "7.0", "-20.25", "100.5", "1e6", "NULL::double precision")
	case text:
		return w.oneOf("'Oslo'", "'Rome'", "'paid'", "'a'", "''", "'eva'", "'home'", "'O''Neil'", "'%'", "NULL::text")
	case boolean:
		return w.oneOf("true", "false", "NULL::boolean")
	case day:
		return w.oneOf("date '2026-01-20'", "date '2024-02-29'", "date '2026-03-31'", "current_date", "NULL::date")
	}
	return w.oneOf("timestamptz '2026-01-20 10:15:30Z'", "timestamptz '2024-02-29 23:59:59Z'", "timestamptz '2026-03-31 00:00:00Z'", "NULL::timestamptz")
}

// expr returns an expression of a kind, in parentheses where it needs them.
func (w *writer) expr(s scope, is kind, depth int) string {
	if depth <= 0 || w.chance(35) {
		if c := w.column(s, is); c != "" && w.chance(80) {
			return c
		}
		return w.literal(is)
	}
	switch w.upTo(9) {
	case 0:
		return fmt.Sprintf("coalesce(%s, %s)", w.expr(s, is, depth-1), w.expr(s, is, depth-1))
	case 1:
		return w.caseOf(s, is, depth)
	case 2:
		return fmt.Sprintf("nullif(%s, %s)", w.expr(s, is, depth-1), w.expr(s, is, depth-1))
	case 3:
		if is != boolean {
			return fmt.Sprintf("%s(%s, %s)", w.oneOf("greatest", "least"), w.expr(s, is, depth-1), w.expr(s, is, depth-1))
		}
	case 4:
		if sub, ok := w.scalar(s, is, depth); ok {
			return sub
		}
	}
	switch is {
	case integer:
		return w.integer(s, depth-1)
	case double:
		return w.double(s, depth-1)
	case text:
		return w.text(s, depth-1)
	case boolean:
		return "(" + w.condition(s, depth-1) + ")"
	case day:
		return w.day(s, depth-1)
	}
	return w.instant(s, depth-1)
}

func (w *writer) caseOf(s scope, is kind, depth int) string {
	var b strings.Builder
	b.WriteString("CASE")
	if w.chance(30) {
		of := w.kind()
		b.WriteString(" " + w.expr(s, of, depth-1))
		for range w.upTo(1) + 1 {
			fmt.Fprintf(&b, " WHEN %s THEN %s", w.expr(s, of, depth-1), w.expr(s, is, depth-1))
		}
	} else {
		for range w.upTo(1) + 1 {
			fmt.Fprintf(&b, " WHEN %s THEN %s", w.condition(s, depth-1), w.expr(s, is, depth-1))
		}
	}
	if w.chance(70) {
		b.WriteString(" ELSE " + w.expr(s, is, depth-1))
	}
	return b.String() + " END"
}

func (w *writer) integer(s scope, depth int) string {
	switch w.upTo(7) {
	case 7:
		return fmt.Sprintf("(%s - %s)", w.expr(s, day, depth), w.expr(s, day, depth))
	case 0, 1:
		return fmt.Sprintf("(%s %s %s)", w.expr(s, integer, depth), w.oneOf("+", "-", "*", "/", "%"), w.expr(s, integer, depth))
	case 2:
		return fmt.Sprintf("abs(%s)", w.expr(s, integer, depth))
	case 3:
		return fmt.Sprintf("length(%s)", w.expr(s, text, depth))
	case 4:
		return fmt.Sprintf("extract(%s FROM %s)::integer", w.oneOf("year", "month", "day", "hour", "quarter", "dow", "doy"), w.instantOr(s, depth))
	case 5:
		return fmt.Sprintf("position(%s in %s)", w.literalText(), w.expr(s, text, depth))
	}
	return fmt.Sprintf("(- %s)", w.expr(s, integer, depth))
}

func (w *writer) instantOr(s scope, depth int) string {
	if w.chance(20) {
		return w.zoned(s, depth)
	}
	return w.expr(s, instant, depth)
}

func (w *writer) literalText() string { return w.oneOf("'a'", "'o'", "'Os'", "''", "'%'") }

func (w *writer) double(s scope, depth int) string {
	switch w.upTo(4) {
	case 0:
		return fmt.Sprintf("(%s %s %s)", w.expr(s, double, depth), w.oneOf("+", "-", "*"), w.expr(s, double, depth))
	case 1:
		return fmt.Sprintf("(%s %s %s)", w.expr(s, double, depth), w.oneOf("+", "-", "*", "/"), w.expr(s, integer, depth))
	case 2:
		return fmt.Sprintf("%s(%s)", w.oneOf("abs", "floor", "ceil", "trunc"), w.expr(s, double, depth))
	case 3:
		return fmt.Sprintf("%s::double precision", w.expr(s, integer, depth))
	}
	return fmt.Sprintf("(- %s)", w.expr(s, double, depth))
}

func (w *writer) text(s scope, depth int) string {
	switch w.upTo(9) {
	case 8:
		return fmt.Sprintf("%s(%s, %d%s)", w.oneOf("lpad", "rpad"), w.expr(s, text, depth), w.upTo(7)-1, w.oneOf("", ", '0'", ", 'ab'", ", ''"))
	case 9:
		if w.chance(50) {
			return fmt.Sprintf("repeat(%s, %d)", w.expr(s, text, depth), w.upTo(3))
		}
		return fmt.Sprintf("repeat(%s, (%s %% 90)::integer)", w.literalText(), w.expr(s, integer, depth))
	case 0:
		return fmt.Sprintf("%s(%s)", w.oneOf("upper", "lower", "trim"), w.expr(s, text, depth))
	case 1:
		return fmt.Sprintf("(%s || %s)", w.expr(s, text, depth), w.expr(s, text, depth))
	case 2:
		return fmt.Sprintf("substring(%s FROM %d FOR %d)", w.expr(s, text, depth), w.upTo(3)+1, w.upTo(3))
	case 3:
		return fmt.Sprintf("%s(%s, %d)", w.oneOf("left", "right"), w.expr(s, text, depth), w.upTo(4))
	case 4:
		return fmt.Sprintf("replace(%s, %s, %s)", w.expr(s, text, depth), w.literalText(), w.literalText())
	case 5:
		return fmt.Sprintf("concat(%s, %s)", w.expr(s, text, depth), w.expr(s, text, depth))
	case 6:
		return fmt.Sprintf("to_char(%s, %s)", w.expr(s, instant, depth), w.oneOf("'YYYY-MM'", "'YYYY-MM-DD'", "'HH24:MI'"))
	}
	return fmt.Sprintf("%s::text", w.expr(s, rapid.SampledFrom([]kind{integer, day}).Draw(w.t, "kind"), depth))
}

func (w *writer) instant(s scope, depth int) string {
	if w.chance(50) {
		return fmt.Sprintf("date_trunc('%s', %s)", w.oneOf("year", "quarter", "month", "week", "day", "hour"), w.expr(s, instant, depth))
	}
	return fmt.Sprintf("(%s %s interval '%s')", w.expr(s, instant, depth), w.oneOf("+", "-"), w.oneOf("1 day", "2 hours", "1 month", "3 weeks", "90 minutes"))
}

// zoned returns what clocks somewhere show at an instant.
func (w *writer) zoned(s scope, depth int) string {
	return fmt.Sprintf("((%s) AT TIME ZONE '%s')", w.expr(s, instant, depth), w.oneOf("Europe/Oslo", "America/New_York", "Asia/Kolkata", "UTC"))
}

func (w *writer) day(s scope, depth int) string {
	if w.chance(60) {
		if w.chance(25) {
			return w.zoned(s, depth) + "::date"
		}
		return w.expr(s, instant, depth) + "::date"
	}
	return fmt.Sprintf("(%s %s %s)", w.expr(s, day, depth), w.oneOf("+", "-"), w.oneOf("1", "30", "(-7)"))
}

// condition returns a condition of three values.
func (w *writer) condition(s scope, depth int) string {
	if depth <= 0 {
		return w.comparison(s, 0)
	}
	switch w.upTo(9) {
	case 0, 1:
		return fmt.Sprintf("(%s %s %s)", w.condition(s, depth-1), w.oneOf("AND", "OR"), w.condition(s, depth-1))
	case 2:
		return fmt.Sprintf("NOT (%s)", w.condition(s, depth-1))
	case 3:
		return fmt.Sprintf("(%s) IS %s", w.condition(s, depth-1), w.oneOf("TRUE", "FALSE", "NOT TRUE", "NOT FALSE", "NULL", "NOT NULL"))
	case 4, 5:
		return w.subCondition(s, depth)
	}
	return w.comparison(s, depth-1)
}

func (w *writer) comparison(s scope, depth int) string {
	is := w.kind()
	x := w.expr(s, is, depth)
	switch w.upTo(7) {
	case 0:
		return fmt.Sprintf("%s IS %sNULL", x, w.oneOf("", "NOT "))
	case 1:
		return fmt.Sprintf("%s %sIN (%s, %s)", x, w.oneOf("", "NOT "), w.literal(is), w.expr(s, is, depth))
	case 2:
		return fmt.Sprintf("%s %sBETWEEN %s AND %s", x, w.oneOf("", "NOT "), w.expr(s, is, depth), w.expr(s, is, depth))
	case 3:
		return fmt.Sprintf("%s IS %sDISTINCT FROM %s", x, w.oneOf("", "NOT "), w.expr(s, is, depth))
	case 4:
		if is == text {
			return fmt.Sprintf("%s %s%s %s", x, w.oneOf("", "NOT "), w.oneOf("LIKE", "ILIKE"), w.oneOf("'%a%'", "'E%'", "'_va'", "'%'", "'%\\%'", "''"))
		}
	case 5:
		if is == boolean {
			return x
		}
	}
	return fmt.Sprintf("%s %s %s", x, w.oneOf("=", "<>", "<", "<=", ">", ">="), w.expr(s, is, depth))
}
