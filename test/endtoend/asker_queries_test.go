package endtoend

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

// queriesFor returns the queries that the owner of a world declares, with those in the own SQL of the source's database. A
// world that isn't a twin has more of them, which no principal may ask. Their names are near to those of the others.
func queriesFor(t testing.TB, src source.Source, r policy.Rules, metrics []metric.Declaration) []declared.Declaration {
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
	if metrics != nil {
		all = append(all, declared.Declaration{Name: "measured", Limit: 2, SQL: "SELECT status, MEASURE(points) AS points, MEASURE(each) AS each FROM issues GROUP BY status ORDER BY status"})
	}
	if slices.ContainsFunc(metrics, func(m metric.Declaration) bool { return m.Name == "theirs" }) { // not in the twin
		all = append(all, declared.Declaration{Name: "measure", SQL: "SELECT MEASURE(theirs) AS n FROM users"})
	}
	return append(all, nativesFor(src, r, read)...)
}

// nativesFor returns the queries in the own SQL of the database. No view applies to them, so they select the caller's
// records themselves. Masks apply to their columns. read parses a document.
func nativesFor(src source.Source, r policy.Rules, read func(string) value.Value) []declared.Declaration {
	text, roles := ":text", ""
	switch src.(type) {
	case *sqlite.Source:
		roles = "SELECT coalesce(group_concat(role, '/'), '') AS roles FROM (SELECT role FROM users WHERE org_id = :org ORDER BY id)"
	case *postgres.Source:
		text, roles = ":text::text", "SELECT coalesce(string_agg(role, '/' ORDER BY id), '') AS roles FROM users WHERE org_id = :org"
	case *mariadb.Source:
		roles = "SELECT coalesce(group_concat(role ORDER BY id SEPARATOR '/'), '') AS roles FROM users WHERE org_id = :org"
	}
	if roles == "" || r.Schemas != nil {
		return nil
	}
	own, column := read(`{"org": {"$cel": "principal.tenant"}}`), policy.ReturnedColumn{Name: "roles", Type: schema.String}
	all := []declared.Declaration{
		{Name: "directory", Source: "app", Limit: 2, Parameters: own, Input: read(`{"properties": {"text": {"type": "string"}}}`),
			Native:  "SELECT id, name, phone FROM users WHERE org_id = :org AND (" + text + " IS NULL OR name <> " + text + ") ORDER BY id",
			Returns: []policy.ReturnedColumn{{Name: "id", Type: schema.Integer}, {Name: "name", Type: schema.String}, {Name: "phone", Type: schema.String, Mask: policy.Partial}}},
		{Name: "role_list", Source: "app", Parameters: own, Native: roles, Returns: []policy.ReturnedColumn{column}},
	}
	if _, ok := r.Classes["vaults"]; ok {
		all = append(all,
			declared.Declaration{Name: "directories", Source: "app", Native: "SELECT code FROM vaults", Returns: []policy.ReturnedColumn{column}, When: `principal.id == "token:9"`},
			declared.Declaration{Name: "role_lists", Source: "app", Native: roles, Returns: []policy.ReturnedColumn{column}, Parameters: read(`{"org": {"$cel": "principal.claims.region"}}`)})
	}
	return all
}

// exportedQuery returns the arguments of an export of a declared query.
func (a *asker) exportedQuery() []string {
	args := a.declaredCall(declared.RunTool)
	for i, arg := range args {
		args[i] = strings.Replace(arg, `"name":`, `"query":`, 1)
	}
	return slices.DeleteFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, `"query"`) && !strings.HasPrefix(arg, `"input"`) })
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
	asked := pick(a.Rand, "directory", "directory", "directory", "role_list", "directories", "role_lists", "measured", "measured", "measure", "issues_with", "issues_with", "issues_with", "people", "per_status", "per_status", "ours", "vault_codes", "peoples", "issues_wit", "others", "absent", "issue_with", "vault_code", "ous")
	args = append(args, fmt.Sprintf(`"name": %q`, asked))
	if (strings.HasPrefix(asked, "role") || strings.HasPrefix(asked, "measure")) && a.IntN(4) > 0 { // it takes no arguments
		in = nil
	}
	if in != nil || a.IntN(2) == 0 {
		args = append(args, `"input": {`+strings.Join(in, ",")+`}`)
	}
	return args
}
