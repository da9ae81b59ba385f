package postgres

import (
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
)

// findMatches writes FindMatch and FindMatches. A match begins after the earlier matches and the pieces between them.
// Older servers have no function that returns the position of a match.
func (p dialect) findMatches(s sqlgen.Scope, e plan.Apply, x string) (string, error) {
	r := query.Regex{Pattern: e.Expression()}
	if _, err := p.pattern(r); err != nil {
		return "", err
	}
	expression, err := regexes().Groups(r)
	if err != nil {
		return "", err
	}
	x = s.Atom(x)
	pattern, f, m := s.Arg("("+expression+")", "text"), s.Alias("f"), s.Alias("m")
	short := x + " IS NOT NULL AND octet_length(" + x + ") <= " + strconv.Itoa(plan.MostSearched)
	part := "jsonb_build_object('match', " + f + ".m[1], 'idx', " + f + ".i::int8, 'captures', to_jsonb(" + f + ".m[2:]))"
	if e.Op == plan.FindMatch {
		return "(CASE WHEN " + short + " THEN (SELECT " + part + " FROM (SELECT " + m + ".m, length((regexp_split_to_array(" + x + pgC + ", " + pattern + "))[1]) AS i FROM regexp_matches(" +
			x + pgC + ", " + pattern + ") AS " + m + "(m)) AS " + f + ") END)", nil
	}
	most := strconv.Itoa(plan.MostMatches)
	placed := "SELECT " + m + ".m, " + m + ".o, sum(length(" + m + ".piece)) OVER (ORDER BY " + m + ".o) + coalesce(sum(length(" + m + ".m[1])) OVER (ORDER BY " + m +
		".o ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS i FROM ROWS FROM (regexp_matches(" + x + pgC + ", " + pattern + ", 'g'), regexp_split_to_table(" + x + pgC + ", " + pattern +
		")) WITH ORDINALITY AS " + m + "(m, piece, o) WHERE " + m + ".o <= " + most + " + 1"
	return "(CASE WHEN " + short + " THEN (SELECT CASE WHEN count(*) <= " + most + " THEN coalesce(jsonb_agg(" + part + " ORDER BY " + f + ".o), '[]') END FROM (" + placed + ") AS " + f +
		" WHERE " + f + ".m IS NOT NULL) END)", nil
}
