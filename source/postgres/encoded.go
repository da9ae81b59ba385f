package postgres

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Optional implements sqlgen.Dialect. At least PostgreSQL 18.0 to 18.4 replace a column with a constant if a
// condition inside of the joined table requires that constant. They do so even where the table has no row. Without
// the CASE, a pointer to a missing record would match a record.
func (dialect) Optional(x string) string { return optional(x) }

func optional(x string) string { return "CASE WHEN " + x + " IS NOT NULL THEN " + x + " END" }

// EqualOptional implements sqlgen.Optional.
func (p dialect) EqualOptional(_ sqlgen.Scope, x, y string, t schema.Type) string {
	x, y = p.sides(plan.Eq, x, y, t)
	return "(" + x + " = " + optional(y) + ")"
}

// byBytes returns a text in a form that is ordered by code points.
func byBytes(x string, encoded bool) string {
	if encoded {
		return "convert_to(" + x + ", 'UTF8')"
	}
	return x + pgC
}

// pattern returns a regular expression in PostgreSQL's syntax. It fails if the encoding of the database defines the
// ranges of characters.
func (p dialect) pattern(r query.Regex) (string, error) {
	if p.encoded {
		return "", problem.New(problem.Unsupported, "the encoding of the database isn't UTF-8: it can't run regular expressions")
	}
	return regexes().Translate(r)
}

// regexes returns the syntax of advanced regular expressions. A dot also matches a newline.
func regexes() sqlgen.RegexSyntax {
	return sqlgen.RegexSyntax{Database: "PostgreSQL", All: ".", End: `\Z`, Escapes: [2]string{`\u%04X`, `\U%08X`}, Least: 1, Repeats: 255}
}
