package mariadb

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// begins tests the first character of JSON, which determines its type. The result is null for null.
func (dialect) begins(x, with string) string { return "LEFT(" + x + ", 1) = '" + with + "'" }

// isNumber tests whether JSON is a number.
func (dialect) isNumber(x string) string { return "LEFT(" + x + ", 1) BETWEEN '-' AND '9'" }

// unquoteJSON returns the text of a JSON string.
func (m dialect) unquoteJSON(x string) string { return "(JSON_UNQUOTE(" + x + ")" + nopad + ")" }

// key returns a text that is identical for equal JSON values. Its order is the order of the values, except for lists
// and objects.
func (m dialect) key(s sqlgen.Scope, x string) string {
	x = s.Atom(x)
	return "CASE LEFT(" + x + ", 1) WHEN '{' THEN CONCAT('3', JSON_NORMALIZE(" + x + ")" + nopad + ")" +
		" WHEN '[' THEN CONCAT('4', JSON_NORMALIZE(" + x + ")" + nopad + ") ELSE " + m.scalar(x) + " END"
}

// place returns a text whose order is the order of JSON values. All objects are equal, and so are all lists.
func (m dialect) place(s sqlgen.Scope, x string) string {
	x = s.Atom(x)
	return "CASE LEFT(" + x + ", 1) WHEN '{' THEN '3' WHEN '[' THEN '4' ELSE " + m.scalar(x) + " END"
}

// scalar returns the key of a scalar. For a number, the key consists of the sign, the exponent and the digits in the
// form of JSON_NORMALIZE (-1.25E4). If the number is negative, exponent and digits are complemented.
func (m dialect) scalar(x string) string {
	n := "(JSON_NORMALIZE(" + x + ")" + nopad + ")"
	exponent, digits := "LEAST(GREATEST(CAST(SUBSTRING_INDEX("+n+", 'E', -1) AS SIGNED), -400000), 400000)", "SUBSTRING_INDEX("+n+", 'E', 1)"
	return "CASE LEFT(" + x + ", 1) WHEN '\"' THEN CONCAT('2', " + m.unquoteJSON(x) + ") WHEN 't' THEN '61' WHEN 'f' THEN '60'" +
		" WHEN '-' THEN CASE " + n + " WHEN '0.0E0' THEN '11' ELSE CONCAT('10', LPAD(500000 - " + exponent + ", 7, '0'), 10 + CAST(" + digits + " AS DECIMAL(40,38)), " + n + ") END" +
		" ELSE CASE " + n + " WHEN '0.0E0' THEN '11' ELSE CONCAT('12', LPAD(500000 + " + exponent + ", 7, '0'), " + digits + ") END END"
}

// pathTo returns the JSON path to a part of nested objects.
func pathTo(path query.Path) string {
	var b strings.Builder
	b.WriteByte('$')
	for _, part := range path {
		b.WriteString(`."` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(part) + `"`)
	}
	return b.String()
}

// notNull returns the result x of a JSON function or a column, with null for JSON's null. The server must know that x
// is JSON. Otherwise the string "null" would become null too.
func (dialect) notNull(x string) string { return "NULLIF(" + x + nopad + ", 'null')" }

// Part implements sqlgen.Dialect.
func (m dialect) Part(s sqlgen.Scope, x string, path query.Path) (string, error) {
	return m.notNull("JSON_EXTRACT(" + x + ", " + s.Arg(pathTo(path), "") + ")"), nil
}

// SetPart implements sqlgen.Dialect.
func (m dialect) SetPart(s sqlgen.Scope, x string, path query.Path, v string) (string, error) {
	return "(JSON_SET(" + x + ", " + s.Arg(pathTo(path), "") + ", JSON_EXTRACT(COALESCE(" + v + ", 'null'), '$'))" + nopad + ")", nil
}

// Object implements sqlgen.Dialect. It concatenates texts, so numbers keep their form.
func (dialect) Object(s sqlgen.Scope, names, values []string) string {
	if len(names) == 0 {
		return "'{}'"
	}
	var parts []string
	for i, name := range names {
		before := ","
		if i == 0 {
			before = "{"
		}
		parts = append(parts, s.Arg(before+string(value.AppendQuote(nil, name))+":", ""), "COALESCE("+values[i]+", 'null')")
	}
	return "CONCAT(" + strings.Join(parts, ", ") + ", '}')"
}

// List implements sqlgen.Dialect.
func (dialect) List(_ sqlgen.Scope, values []string) string {
	if len(values) == 0 {
		return "'[]'"
	}
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = "COALESCE(" + v + ", 'null')"
	}
	return "CONCAT('[', " + strings.Join(parts, ", ',', ") + ", ']')"
}

// Elements implements sqlgen.Dialect.
func (m dialect) Elements(s sqlgen.Scope, x string) (from, element, position string) {
	x = s.Atom(x)
	alias := s.Alias("e")
	return m.table(alias, "CASE WHEN "+m.begins(x, "[")+" THEN "+x+" WHEN "+x+" IS NULL THEN '[]' ELSE CONCAT('[', "+x+", ']') END"),
		m.element(alias), "(CAST(" + alias + ".o AS SIGNED) - 1)"
}

// table returns a FROM item with the elements e of a list and their positions o from 1. It has no rows if list isn't
// a list.
func (dialect) table(alias, list string) string {
	return "JSON_TABLE(" + list + ", '$[*]' COLUMNS (o FOR ORDINALITY, e JSON PATH '$')) AS " + alias
}

func (m dialect) element(alias string) string { return m.notNull(alias + ".e") }

// gatherList returns the list of x for the rows of a table of elements that pass test. An empty test accepts all
// rows. The list is null if it is too large. The server itself would truncate it only a little later
// (group_concat_max_len).
func (m dialect) gatherList(s sqlgen.Scope, alias, list, x, test string) string {
	whole := s.Alias("l")
	where := ""
	if test != "" {
		where = " WHERE " + test
	}
	return "(SELECT CONCAT('[', COALESCE(GROUP_CONCAT(COALESCE(" + x + ", 'null') ORDER BY " + alias + ".o SEPARATOR ','), ''), ']') AS " + whole +
		" FROM " + m.table(alias, list) + where + " HAVING OCTET_LENGTH(" + whole + ") <= " + strconv.Itoa(plan.MostOver) + ")"
}

// A within is the Scope of elements. A value that is computed from an element can't be a column.
type within struct{ sqlgen.Scope }

// Atom implements sqlgen.Scope.
func (within) Atom(x string) string { return x }

// Over implements sqlgen.Dialect.
func (m dialect) Over(s sqlgen.Scope, o sqlgen.Over) (string, error) {
	if o.Do == plan.ReduceEach {
		return "", sqlgen.UnsupportedForm("MariaDB has no form of $reduce",
			"use $sum, $avg, $min, $max or $concatArrays over the list, or $unwind and $group")
	}
	list, alias := s.Atom(o.Input), s.Alias("e")
	body, err := o.Body(within{s}, m.element(alias), "")
	if err != nil {
		return "", err
	}
	if o.Do == plan.MapEach {
		return m.ofList(list, m.gatherList(s, alias, list, body, "")), nil
	}
	text := m.ofList(list, m.gatherList(s, alias, list, m.element(alias), body))
	if o.Limit == "" {
		return text, nil
	}
	limit, some := s.Atom(o.Limit), s.Alias("e")
	return "(CASE WHEN " + m.begins(list, "[") + " AND " + limit + " >= 1 THEN " + m.gatherList(s, some, text, m.element(some), some+".o <= "+limit) + " END)", nil
}

// ofList returns text if x is a list, and null otherwise.
func (m dialect) ofList(x, text string) string {
	return "(CASE WHEN " + m.begins(x, "[") + " THEN " + text + " END)"
}

// ofLists writes the operators on JSON. It returns "" for other operators.
func (m dialect) ofLists(s sqlgen.Scope, e plan.Apply, args []string) string {
	x := s.Atom(args[0])
	switch e.Op {
	case plan.Truth:
		return "COALESCE(CASE WHEN " + m.isNumber(x) + " THEN " + x + " REGEXP '^-?[0.]*[1-9]' ELSE " + x + " <> 'false' END, 0)"
	case plan.TypeOf:
		return "(CASE LEFT(" + x + ", 1) WHEN '\"' THEN 'string' WHEN '{' THEN 'object' WHEN '[' THEN 'array' WHEN 't' THEN 'bool' WHEN 'f' THEN 'bool'" +
			" ELSE CASE WHEN " + x + " IS NULL THEN 'null' ELSE 'number' END END)"
	case plan.IsList:
		return "COALESCE(" + m.begins(x, "[") + ", 0)"
	case plan.Size:
		return m.ofList(x, "JSON_LENGTH("+x+")")
	case plan.ElemAt:
		i := s.Atom(args[1])
		at := "(" + i + " + CASE WHEN " + i + " < 0 THEN JSON_LENGTH(" + x + ") ELSE 0 END)"
		return m.ofList(x, "CASE WHEN "+at+" BETWEEN 0 AND JSON_LENGTH("+x+") THEN "+m.notNull("JSON_EXTRACT("+x+", CONCAT('$[', "+at+", ']'))")+" END")
	case plan.InList:
		list, alias := s.Atom(args[1]), s.Alias("e")
		return "COALESCE(" + m.ofList(list, "EXISTS (SELECT 1 FROM "+m.table(alias, list)+" WHERE "+m.key(within{s}, m.element(alias))+" <=> "+m.key(s, x)+")") + ", 0)"
	case plan.SliceList:
		return m.slice(s, x, args[1:])
	case plan.JoinLists:
		tests := make([]string, len(args))
		for i := range args {
			args[i] = s.Atom(args[i])
			tests[i] = m.begins(args[i], "[")
		}
		return "(CASE WHEN " + strings.Join(tests, " AND ") + " THEN JSON_MERGE_PRESERVE('[]', " + strings.Join(args, ", ") + ")" + nopad + " END)"
	case plan.Common, plan.Without:
		return m.within(s, e.Op == plan.Common, x, s.Atom(args[1]))
	case plan.Pairs:
		return m.pairs(s, x)
	case plan.Gather:
		return m.gather(s, x)
	case plan.JoinTexts:
		return m.joinTexts(s, x, s.Atom(args[1]))
	case plan.SumList, plan.AvgList, plan.MinList, plan.MaxList:
		alias := s.Alias("e")
		op := map[plan.Op]plan.Accumulate{plan.SumList: plan.Sum, plan.AvgList: plan.Avg, plan.MinList: plan.Min, plan.MaxList: plan.Max}[e.Op]
		element := m.element(alias)
		number := m.As(within{s}, element, schema.JSON, schema.Double)
		text, _ := m.Accumulate(within{s}, op, number, schema.Double) // never fails for these operators
		return m.ofList(x, "(SELECT "+text+" FROM "+m.table(alias, x)+")")
	}
	return ""
}

// joinTexts returns the texts in a list, each with the separator before it, and then removes the first separator. The
// separator of GROUP_CONCAT can't be an argument. Lists and separators are too short for the server to truncate the
// text.
func (m dialect) joinTexts(s sqlgen.Scope, list, separator string) string {
	alias := s.Alias("e")
	text := m.As(within{s}, m.element(alias), schema.JSON, schema.String)
	return m.ofList(list, "(SELECT SUBSTR(GROUP_CONCAT(CONCAT("+separator+", "+text+") ORDER BY "+alias+".o SEPARATOR ''), CHAR_LENGTH("+separator+") + 1) FROM "+m.table(alias, list)+")")
}

// slice writes a SliceList of x, with the position and length in args.
func (m dialect) slice(s sqlgen.Scope, x string, args []string) string {
	from, alias := s.Atom(args[0]), s.Alias("e")
	start := "CASE WHEN " + from + " < 0 THEN GREATEST(JSON_LENGTH(" + x + ") + " + from + ", 0) ELSE " + from + " END"
	test := "CAST(" + alias + ".o AS SIGNED) > " + start
	some := from + " IS NOT NULL"
	if len(args) > 1 {
		n := s.Atom(args[1])
		test += " AND CAST(" + alias + ".o AS SIGNED) - " + start + " <= " + n
		some += " AND " + n + " > 0"
	}
	return "(CASE WHEN " + m.begins(x, "[") + " AND " + some + " THEN " + m.gatherList(s, alias, x, m.element(alias), test) + " END)"
}

// Pick implements sqlgen.Dialect.
func (m dialect) Pick(s sqlgen.Scope, x, when string, t schema.Type) string {
	if t == schema.UUID { // its maximum is computed from the text
		return "CAST(MAX(CASE WHEN " + when + " THEN " + m.Widen(s, x, t, schema.String) + " END) AS UUID)"
	}
	return "MAX(CASE WHEN " + when + " THEN " + x + " END)"
}

// Collect implements sqlgen.Dialect.
func (m dialect) Collect(s sqlgen.Scope, l sqlgen.Gathered) string {
	order := ""
	if len(l.Terms) > 0 {
		order = " ORDER BY " + strings.Join(nullsApart(l.Terms), ", ")
	}
	x := l.X
	if len(x) > 4<<10 { // a column below would prevent an index on the collected records
		x = s.Atom(x)
	}
	x = "COALESCE(" + x + ", 'null')"
	if l.When != "" {
		x = "CASE WHEN " + l.When + " THEN " + x + " END"
	}
	return "(CASE WHEN COALESCE(SUM(OCTET_LENGTH(" + x + ") + " + strconv.Itoa(plan.ListElement) + "), 0) <= " + strconv.Itoa(l.Most) +
		" THEN CONCAT('[', COALESCE(GROUP_CONCAT(" + x + order + " SEPARATOR ','), ''), ']') END)"
}

// nullsApart adds separate terms that order nulls, because GROUP_CONCAT orders them between -1 and 1.
func nullsApart(terms []string) []string {
	var out []string
	for _, t := range terms {
		if x, ok := strings.CutSuffix(t, " DESC"); ok {
			out = append(out, x+" IS NULL", t)
		} else {
			out = append(out, t+" IS NOT NULL", t)
		}
	}
	return out
}
