package mariadb

import (
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// mostGroups is the maximum number of groups that a replacement can refer to.
const mostGroups = 9

// findMatch writes FindMatch. To find the texts of the groups, it matches the whole match again and replaces it by
// each group. A condition in the expression distinguishes a group that took no part from an empty group.
func (m dialect) findMatch(s sqlgen.Scope, e plan.Apply, x string) (string, error) {
	if e.Op == plan.FindMatches {
		return "", sqlgen.UnsupportedForm("MariaDB has no form of $regexFindAll", "use $regexFind for the first part, or $split")
	}
	r := query.Regex{Pattern: e.Expression()}
	groups := r.Groups()
	if groups > mostGroups {
		return "", sqlgen.UnsupportedForm("MariaDB can be asked for at most "+strconv.Itoa(mostGroups)+" groups of a regular expression", "write (?:…) for groups that needn't be captured")
	}
	expression, err := regexes().Groups(r)
	if err != nil {
		return "", err
	}
	x = s.Atom(x)
	first := s.Arg(expression, "")
	part := s.Atom("(CASE WHEN OCTET_LENGTH(" + x + ") <= " + strconv.Itoa(plan.MostSearched) + " THEN REGEXP_SUBSTR(" + x + ", " + first + ") END)")
	whole, captures := `\A(?:`+expression+`)\z`, make([]string, groups)
	for i := range captures {
		n := strconv.Itoa(i + 1)
		text := "REGEXP_REPLACE(" + part + ", " + s.Arg(whole, "") + ", " + s.Arg(`\`+n, "") + ")"
		captures[i] = "CASE WHEN " + part + " REGEXP " + s.Arg(whole+"(?("+n+")|(?!))", "") + " THEN " + m.ToJSON(s, text, schema.String) + " END"
	}
	object := m.Object(s, []string{"match", "idx", "captures"}, []string{m.ToJSON(s, part, schema.String), "REGEXP_INSTR(" + x + ", " + first + ") - 1", m.List(s, captures)})
	return "(CASE WHEN " + part + " <> '' THEN " + object + " END)", nil
}
