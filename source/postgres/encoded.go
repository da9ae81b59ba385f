package postgres

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Optional implements sqlgen.Dialect. PostgreSQL 18.0 to 18.4 at least take a column for a constant if a condition
// inside of the table sets it to the constant. They do so where the table has no row, too. Then the pointer of a
// missing record led to one.
func (dialect) Optional(x string) string { return optional(x) }

func optional(x string) string { return "CASE WHEN " + x + " IS NOT NULL THEN " + x + " END" }

// EqualOptional implements sqlgen.Optional.
func (p dialect) EqualOptional(_ sqlgen.Scope, x, y string, t schema.Type) string {
	x, y = p.sides(plan.Eq, x, y, t)
	return "(" + x + " = " + optional(y) + ")"
}

// byBytes returns a text so that it is ordered by code points.
func byBytes(x string, encoded bool) string {
	if encoded {
		return "convert_to(" + x + ", 'UTF8')"
	}
	return x + pgC
}

// pattern returns a regular expression in PostgreSQL's form. It is refused where the encoding of the database says which
// characters are between two others.
func (p dialect) pattern(r query.Regex) (string, error) {
	if p.encoded {
		return "", problem.New(problem.Unsupported, "the encoding of the database isn't UTF-8: it can't run regular expressions")
	}
	return regexes().Translate(r)
}

// regexes returns the syntax of advanced regular expressions. Their dot matches the newline too.
func regexes() sqlgen.RegexSyntax {
	return sqlgen.RegexSyntax{Database: "PostgreSQL", All: ".", End: `\Z`, Escapes: [2]string{`\u%04X`, `\U%08X`}, Least: 1, Repeats: 255}
}
