package postgres

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// pgArguments is the maximum number of arguments of one function call. PostgreSQL allows 100.
const pgArguments = 80

// Part implements sqlgen.Dialect. A key that is a text selects only from objects.
func (dialect) Part(s sqlgen.Scope, x string, path query.Path) (string, error) {
	return "nullif(" + pgWalk(s, x, path) + ", 'null')", nil
}

func pgWalk(s sqlgen.Scope, x string, path query.Path) string {
	if len(path) == 0 {
		return x
	}
	for _, part := range path {
		x += " -> " + s.Arg(part, "text")
	}
	return "(" + x + ")"
}

// SetPart implements sqlgen.Dialect. It tests the types first, because jsonb_set would also accept indexes of lists.
func (dialect) SetPart(s sqlgen.Scope, x string, path query.Path, v string) (string, error) {
	x = s.Atom(x)
	tests, places := make([]string, len(path)), make([]string, len(path))
	for i := range path {
		tests[i] = "jsonb_typeof(" + pgWalk(s, x, path[:i]) + ") = 'object'"
		places[i] = s.Arg(path[i], "text")
	}
	return "(CASE WHEN " + strings.Join(tests, " AND ") + " THEN jsonb_set(" + x + ", ARRAY[" + strings.Join(places, ", ") + "], coalesce(" + v + ", 'null')) ELSE " + x + " END)", nil
}

// Object implements sqlgen.Dialect.
func (dialect) Object(s sqlgen.Scope, names, values []string) string {
	if len(names) == 0 {
		return "'{}'::jsonb"
	}
	var parts []string
	for from := 0; from < len(names); from += pgArguments / 2 {
		var args []string
		for i := from; i < min(len(names), from+pgArguments/2); i++ {
			args = append(args, s.Arg(names[i], "text"), values[i])
		}
		parts = append(parts, "jsonb_build_object("+strings.Join(args, ", ")+")")
	}
	return pgConcat(parts)
}

// List implements sqlgen.Dialect.
func (dialect) List(_ sqlgen.Scope, values []string) string {
	if len(values) == 0 {
		return "'[]'::jsonb"
	}
	var parts []string
	for from := 0; from < len(values); from += pgArguments {
		parts = append(parts, "jsonb_build_array("+strings.Join(values[from:min(len(values), from+pgArguments)], ", ")+")")
	}
	return pgConcat(parts)
}

func pgConcat(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return "(" + strings.Join(parts, " || ") + ")"
}

// As implements sqlgen.Dialect.
func (p dialect) As(s sqlgen.Scope, x string, _, t schema.Type) string {
	x = s.Atom(x)
	number := func() string {
		return s.Atom("(CASE jsonb_typeof(" + x + ") WHEN 'number' THEN " + x + "::numeric END)")
	}
	text := "(CASE jsonb_typeof(" + x + ") WHEN 'string' THEN " + x + " #>> '{}' END" + pgC + ")"
	switch t {
	case schema.String:
		return text
	case schema.Integer:
		n := number()
		return "(CASE WHEN " + n + " = trunc(" + n + ") AND " + n + " " + pgIntegers + " THEN " + n + "::int8 END)"
	case schema.Double:
		return pgDouble(number())
	case schema.Decimal:
		return pgDecimal(number())
	case schema.Boolean:
		return "(CASE jsonb_typeof(" + x + ") WHEN 'boolean' THEN " + x + "::boolean END)"
	case schema.Date:
		return p.dateOfText(s, text)
	}
	return x
}

// ToJSON implements sqlgen.Dialect.
func (dialect) ToJSON(_ sqlgen.Scope, x string, from schema.Type) string {
	switch from {
	case schema.JSON, schema.Array:
		return x
	case schema.Date:
		x = pgDateText(x, from)
	case schema.Bytes:
		x = "translate(encode(" + x + ", 'base64'), chr(10), '')"
	}
	return "to_jsonb(" + x + ")"
}

// Elements implements sqlgen.Dialect.
func (dialect) Elements(s sqlgen.Scope, x string) (from, element, position string) {
	x, e := s.Atom(x), s.Alias("e")
	from = "LATERAL jsonb_array_elements(CASE WHEN jsonb_typeof(" + x + ") = 'array' THEN " + x + " WHEN " + x + " IS NOT NULL THEN jsonb_build_array(" + x + ") END) WITH ORDINALITY AS " + e + "(v, o)"
	return from, "nullif(" + e + ".v, 'null')", "(" + e + ".o - 1)"
}

// Over implements sqlgen.Dialect.
func (p dialect) Over(s sqlgen.Scope, o sqlgen.Over) (string, error) {
	x := s.Atom(o.Input)
	e := s.Alias("e")
	in := &pgElement{Scope: s, names: []string{e}}
	if o.Do == plan.ReduceEach {
		return p.reduce(in, x, e, o)
	}
	body, err := o.Body(in, "nullif("+e+".v, 'null')", "")
	if err != nil {
		return "", err
	}
	from := " FROM " + pgElements(x) + " WITH ORDINALITY AS " + e + "(v, o)" + in.lets()
	// The collected values come from a derived table. Otherwise an aggregate with only outer columns would belong to
	// the outer query.
	inner, test := body+" AS v, "+e+".o"+from, ""
	if o.Do == plan.SelectEach {
		inner = e + ".v, " + e + ".o" + from + " WHERE " + body
		if o.Limit != "" {
			limit := s.Atom(o.Limit)
			inner += " ORDER BY " + e + ".o LIMIT greatest(" + limit + ", 0)"
			test = " AND " + limit + " > 0"
		}
	}
	q := s.Alias("e")
	list := p.Collect(s, sqlgen.Gathered{X: q + ".v", Terms: []string{q + ".o"}, Size: q + ".n", Most: plan.MostOver})
	return "(CASE WHEN jsonb_typeof(" + x + ") = 'array'" + test + " THEN (SELECT " + list + " FROM (SELECT " + q + ".v, " + q + ".o, sum(" + p.Size(s, q+".v") +
		") OVER () AS n FROM (SELECT " + inner + ") AS " + q + ") AS " + q + ") END)", nil
}

// reduce writes a recursion over the list, one element per step.
func (p dialect) reduce(in *pgElement, x, e string, o sqlgen.Over) (string, error) {
	body, err := o.Body(in, "nullif("+x+" -> "+e+".o, 'null')", e+".v")
	if err != nil {
		return "", err
	}
	next, first := in.Alias("e"), in.Alias("e")
	bounded := func(of string) string {
		return "CASE WHEN octet_length(" + of + ".v::text) <= " + strconv.Itoa(plan.MostBefore) + " THEN " + of + ".v END"
	}
	return "(CASE WHEN jsonb_typeof(" + x + ") = 'array' THEN (WITH RECURSIVE " + e + "(o, v) AS (SELECT 0, " + bounded(first) + " FROM (SELECT " + o.Initial + " AS v OFFSET 0) AS " + first + " UNION ALL SELECT " + e + ".o + 1, " + bounded(next) + " FROM " + e + in.lets() +
		" CROSS JOIN LATERAL (SELECT " + body + " AS v OFFSET 0) AS " + next +
		" WHERE " + e + ".o < jsonb_array_length(" + x + ")) SELECT nullif(" + e + ".v, 'null') FROM " + e + " ORDER BY " + e + ".o DESC LIMIT 1) END)", nil
}

// A pgElement is the scope of an element. It computes a repeated text once, in a column beside the element.
type pgElement struct {
	sqlgen.Scope
	names []string // the aliases of the element and of the columns beside it
	texts []string
}

// Atom implements sqlgen.Scope.
func (e *pgElement) Atom(x string) string {
	inside := false
	for _, name := range e.names {
		inside = inside || strings.Contains(x, name+".")
	}
	if !inside {
		return e.Scope.Atom(x)
	}
	if !strings.ContainsAny(x, " (") {
		return x
	}
	name := e.Alias("e")
	e.names, e.texts = append(e.names, name), append(e.texts, x)
	return name + ".v"
}

func (e *pgElement) lets() string {
	var b strings.Builder
	for i, x := range e.texts {
		b.WriteString(" CROSS JOIN LATERAL (SELECT " + x + " AS v OFFSET 0) AS " + e.names[i+1])
	}
	return b.String()
}
