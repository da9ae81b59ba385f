package postgres

import (
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/condition"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/regex"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
)

// Encoded returns the conditions of a database whose encoding orders texts in another way than UTF-8. Texts are converted
// where they are ordered, and regular expressions are refused: their ranges are those of the encoding.
func Encoded() condition.Dialect { return conditions{encoded: true} }

// byBytes returns a text so that it is ordered by code points.
func byBytes(x string, encoded bool) string {
	if encoded {
		return "convert_to(" + x + ", 'UTF8')"
	}
	return x + pgC
}

// pattern returns a regular expression in PostgreSQL's form.
func (p conditions) pattern(r query.Regex) (string, error) {
	return dialect{encoded: p.encoded}.pattern(r)
}

// pattern returns a regular expression in PostgreSQL's form. It is refused where the encoding of the database says which
// characters are between two others.
func (p dialect) pattern(r query.Regex) (string, error) {
	if p.encoded {
		return "", problem.New(problem.Unsupported, "the encoding of the database isn't UTF-8: it can't run regular expressions")
	}
	return regex.PostgreSQL(r)
}
