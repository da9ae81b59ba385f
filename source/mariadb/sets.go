package mariadb

import (
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
)

// within writes the distinct elements of the list x. If has is true, it writes only elements that the list y
// contains. Otherwise it writes only the other elements.
func (m dialect) within(s sqlgen.Scope, has bool, x, y string) string {
	in := within{s}
	e, other, before := s.Alias("e"), s.Alias("e"), s.Alias("e")
	test := "EXISTS (SELECT 1 FROM " + m.table(other, y) + " WHERE " + m.key(in, m.element(other)) + " <=> " + m.key(in, m.element(e)) + ")"
	if !has {
		test = "NOT " + test
	}
	test += " AND NOT EXISTS (SELECT 1 FROM " + m.table(before, x) + " WHERE " + before + ".o < " + e + ".o AND " +
		m.key(in, m.element(before)) + " <=> " + m.key(in, m.element(e)) + ")"
	return "(CASE WHEN " + m.begins(x, "[") + " AND " + m.begins(y, "[") + " THEN " + m.gatherList(s, e, x, m.element(e), test) + " END)"
}

// pairs writes the members of the object x as a list of {k, v}.
func (m dialect) pairs(s sqlgen.Scope, x string) string {
	e := s.Alias("e")
	name := m.unquoteJSON(m.element(e))
	path := `CONCAT('$."', REPLACE(REPLACE(` + name + `, '\\', '\\\\'), '"', '\\"'), '"')`
	pair := `CONCAT('{"k":', ` + m.element(e) + `, ',"v":', COALESCE(JSON_EXTRACT(` + x + ", " + path + "), 'null'), '}')"
	return "(CASE WHEN " + m.begins(x, "{") + " THEN " + m.all(s, "[]", pair, name, m.table(e, "JSON_KEYS("+x+")")) + " END)"
}

// gather writes the object of the list x of pairs, {k, v} or [k, v]. If a name occurs several times, the last value
// counts.
func (m dialect) gather(s sqlgen.Scope, x string) string {
	e, after := s.Alias("e"), s.Alias("e")
	member := func(alias, name, at string) string {
		x := m.element(alias)
		return "(CASE LEFT(" + x + ", 1) WHEN '{' THEN " + m.notNull("JSON_EXTRACT("+x+", '$."+name+"')") + " WHEN '[' THEN CASE JSON_LENGTH(" + x + ") WHEN 2 THEN " +
			m.notNull("JSON_EXTRACT("+x+", '$["+at+"]')") + " END END)"
	}
	name := member(e, "k", "0")
	text := func(alias string) string {
		k := member(alias, "k", "0")
		return "CASE LEFT(" + k + `, 1) WHEN '"' THEN ` + m.unquoteJSON(k) + " END"
	}
	last := " WHERE NOT EXISTS (SELECT 1 FROM " + m.table(after, x) + " WHERE " + after + ".o > " + e + ".o AND " + text(after) + " = " + text(e) + ")"
	wrong := s.Alias("e")
	valid := "NOT EXISTS (SELECT 1 FROM " + m.table(wrong, x) + " WHERE COALESCE(LEFT(" + member(wrong, "k", "0") + `, 1), '') <> '"')`
	pair := "CONCAT(" + name + ", ':', COALESCE(" + member(e, "v", "1") + ", 'null'))"
	return "(CASE WHEN " + m.begins(x, "[") + " AND " + valid + " THEN " + m.all(s, "{}", pair, e+".o", m.table(e, x)+last) + " END)"
}

// all writes the texts of x for the rows of from, in order, between two brackets. It writes null if they are too
// large.
func (m dialect) all(s sqlgen.Scope, brackets, x, order, from string) string {
	whole := s.Alias("l")
	return "(SELECT CONCAT('" + brackets[:1] + "', COALESCE(GROUP_CONCAT(" + x + " ORDER BY " + order + " SEPARATOR ','), ''), '" + brackets[1:] + "') AS " + whole +
		" FROM " + from + " HAVING OCTET_LENGTH(" + whole + ") <= " + strconv.Itoa(plan.MostOver) + ")"
}
