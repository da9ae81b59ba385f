package endtoend

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
)

// queriesFor returns the queries that the owner of a world declares. A world that isn't a twin has more of them, which no
// principal may ask. Their names are near to those of the others.
func queriesFor(t testing.TB, r policy.Rules) []declared.Declaration {
	if !slices.Contains(r.Classes["users"].Visible, "role") {
		return nil // another database, or other rules
	}
	read := func(text string) value.Value {
		v, err := value.Read([]byte(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	text := `"text": {"type": "string"}`
	all := []declared.Declaration{
		{Name: "issues_with", SQL: "SELECT id, title, status, points FROM issues WHERE title <> :text AND (:least IS NULL OR points >= :least) ORDER BY id",
			Limit: 2, Input: read(`{"required": ["text"], "properties": {` + text + `, "least": {"type": "number"}}}`)},
		{Name: "people", Tool: true, Limit: 3, Input: read(`{"properties": {` + text + `}}`),
			Find: read(`{"class": "users", "where": {"role": {"$ne": {"$input": "text"}}}, "keys": ["id", "name", "role", "phone", "boss_id.name"], "order": "id"}`)},
		{Name: "per_status", Input: read(`{"properties": {` + text + `}}`),
			Pipeline: read(`{"class": "issues", "stages": [{"$match": {"title": {"$ne": {"$input": "text"}}}}, {"$group": {"_id": "$status", "n": {"$count": {}}, "as": {"$max": {"$concat": ["$title", {"$input": "text"}]}}}}]}`)},
		{Name: "ours", SQL: "SELECT count(*) AS n FROM users", When: `principal.id == "token:2"`},
	}
	if _, ok := r.Classes["vaults"]; ok {
		all = append(all,
			declared.Declaration{Name: "vault_codes", Description: "Codes of vaults.", SQL: "SELECT code FROM vaults"},
			declared.Declaration{Name: "peoples", Tool: true, Find: read(`{"class": "vaults"}`)},
			declared.Declaration{Name: "issues_wit", SQL: "SELECT i.id FROM issues i JOIN vaults v ON v.id = i.vault_id"},
			declared.Declaration{Name: "others", SQL: "SELECT count(*) AS n FROM users", When: `principal.id == "token:9"`})
	}
	return all
}

// declaredCall returns the arguments of a call of run_query, or of the tool of a query.
func (a *asker) declaredCall(name string) []string {
	var args []string
	rarely := func(format string, v any) {
		if a.IntN(8) == 0 {
			args = append(args, fmt.Sprintf(format, v))
		}
	}
	rarely(`"limit": %d`, 1+a.IntN(3))
	rarely(`"format": %q`, pick(a.Rand, "csv", "json", "table"))
	rarely(`"cursor": %q`, "x")
	rarely(`"dry_run": %t`, true)
	word := pick(a.Rand, `"a"`, `"dev"`, `"$title"`, `"' OR 1=1 --"`, `"Todo"`, `""`, a.literal())
	if name != declared.RunTool {
		rarely(`"text": %s`, word)
		rarely(`"code": %s`, word)
		return args
	}
	if a.IntN(8) == 0 { // the list of queries
		return args
	}
	var in []string
	if a.IntN(4) > 0 {
		in = append(in, `"text": `+word)
	}
	if a.IntN(5) == 0 {
		in = append(in, `"least": `+pick(a.Rand, "1", "2.5", `"x"`, a.literal()))
	}
	asked := pick(a.Rand, "issues_with", "issues_with", "issues_with", "people", "per_status", "per_status", "ours", "vault_codes", "peoples", "issues_wit", "others", "absent", "issue_with", "vault_code", "ous")
	args = append(args, fmt.Sprintf(`"name": %q`, asked))
	if in != nil || a.IntN(2) == 0 {
		args = append(args, `"input": {`+strings.Join(in, ",")+`}`)
	}
	return args
}
