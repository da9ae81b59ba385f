package database

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/value"
)

// keywords lists the keywords of all tested databases (as of 2026-11-22), and names that one of them treats
// specially.
//
//go:embed testdata/keywords.txt
var keywords string

// TestKeywords checks that tables and columns may have any keyword as their name. The names occur in classes, tenant
// rules, conditions, orders, groups, joins, statements and writes.
func (d *Database) TestKeywords(t *testing.T) {
	const columns = 50
	var data sourcetest.Dataset
	rules := policy.Rules{Classes: map[string]policy.ClassRule{}}
	tables := slices.Collect(slices.Chunk(strings.Fields(keywords), columns))
	for i, words := range tables {
		table := sourcetest.Table{Name: words[0], Key: words[:1], Rows: `["` + strings.Join(words, `","`) + "\"]\n[\"2" + strings.Join(words, `","2`) + `"]`}
		for _, w := range words {
			table.Columns = append(table.Columns, sourcetest.Column{Name: w, Is: schema.String, MySQL: "varchar(30)"})
		}
		if i == 0 { // the second column points to the table itself
			table.Foreign = []schema.Relation{{Fields: words[1:2], Target: words[0], TargetFields: words[:1]}}
			table.Rows = strings.ReplaceAll(table.Rows, `"false"`, `"true"`)
			table.Rows = strings.ReplaceAll(table.Rows, `"2false"`, `"2true"`)
		}
		data.Tables = append(data.Tables, table)
		// The tenant is the value of the first column.
		rules.Classes[words[0]] = policy.ClassRule{Visible: words, Lift: words, Tenant: &policy.TenantRule{Field: words[0]}}
	}
	src := d.Load(t, data)
	classes, _, err := src.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(rules, classes)
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range tables {
		checkKeywordReads(t, p, words, func(permit policy.Permit) ([]value.Row, error) { return sourcetest.Collect(t.Context(), src, permit) })
	}
	d.checkKeywordRules(t)
	d.checkKeywordWrites(t)
}

// checkKeywordReads reads the single record of a class in several ways. Each column contains its own name. If the
// class points to itself, the second column contains the key.
func checkKeywordReads(t *testing.T, p *policy.Policy, words []string, collect func(policy.Permit) ([]value.Row, error)) {
	t.Helper()
	class, want := words[0], slices.Clone(words)
	points := class == "true"
	if points {
		want[1] = class
	}
	var conditions, ids []string
	for i, w := range words {
		conditions = append(conditions, `"`+w+`":"`+want[i]+`"`)
		ids = append(ids, `"`+w+`":"$`+w+`"`)
	}
	all := "{" + strings.Join(conditions, ",") + "}"
	asks := map[string]query.Query{
		"find":     &query.Find{Class: class, Where: mustParse(t, query.ParseWhere, all), Order: []query.Sort{{Path: query.Path{words[len(words)-1]}}}, Limit: 9},
		"pipeline": &query.Pipeline{Class: class, Stages: mustParse(t, query.ParsePipeline, `[{"$match":`+all+`},{"$group":{"_id":{`+strings.Join(ids, ",")+`}}},{"$replaceRoot":{"newRoot":"$_id"}}]`), Limit: 9},
		"sql":      statement(t, `SELECT "`+strings.Join(words, `","`)+`" FROM "`+class+`" WHERE "`+class+`" = '`+class+`'`),
	}
	wants := map[string][]string{"find": want, "pipeline": want, "sql": want}
	if points {
		asks["join"], wants["join"] = &query.Find{Class: class, Keys: []query.Path{{words[1], class}}, Limit: 9}, []string{class, class, class}
	}
	for kind, ask := range asks {
		permit, err := p.Read(identity.Principal{ID: "t", Tenant: class, Scopes: []identity.Scope{identity.Read}}, ask)
		if err != nil {
			t.Errorf("%s of %s: %v", kind, class, err)
			continue
		}
		rows, err := collect(permit)
		if err != nil || len(rows) != 1 {
			t.Errorf("%s of %s: %d records, %v; want one", kind, class, len(rows), err)
			continue
		}
		for i, w := range wants[kind] {
			if got := rows[0][i].Text(); got != w {
				t.Errorf("%s of %s: column %d holds %q, want %q", kind, class, i, got, w)
			}
		}
	}
}

// checkKeywordWrites creates a record that the database refuses. The check compares the refused record with the
// tenant rule.
func (d *Database) checkKeywordWrites(t *testing.T) {
	text, err := sqlgen.NewText(d.Dialect)
	if err != nil {
		t.Fatal(err)
	}
	w, _ := d.writable(t, d.Fresh(t), []string{`CREATE TABLE a (id INT PRIMARY KEY, ` + text.Name("true") + ` varchar(9))`, `INSERT INTO a VALUES (1, 'acme')`})
	rules := policy.Rules{Classes: map[string]policy.ClassRule{"a": {Tenant: &policy.TenantRule{Field: "true"}}}}
	for data, want := range map[string]string{
		`{"id":"2","true":"acme"}`:  `{"id":2,"true":"acme"} `,
		`{"id":"1","true":"acme"}`:  `{"id":1,"true":"acme"} `,
		`{"id":"1","true":"other"}`: `not_found`,
	} {
		if got := previewWithRules(t, w, rules, data); !strings.Contains(got, want) {
			t.Errorf("create %s: %s; want %s", data, got, want)
		}
	}
}

func statement(t *testing.T, text string) query.Query {
	t.Helper()
	q, err := query.ParseSQL(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func mustParse[T any](t *testing.T, parse func(value.Value, string) (T, error), text string) T {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	out, err := parse(v, "")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkKeywordRules checks rules on a class with columns named true and false. SQLite would read these names as
// constants.
func (d *Database) checkKeywordRules(t *testing.T) {
	data := sourcetest.Dataset{Tables: []sourcetest.Table{{Name: "flags", Key: []string{"id"}, Rows: "[1,1,1]\n[2,0,1]",
		Columns: []sourcetest.Column{{Name: "id", Is: schema.Integer}, {Name: "true", Is: schema.Integer}, {Name: "false", Is: schema.Integer}}}}}
	src := d.Load(t, data)
	classes, _, err := src.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for rule, want := range map[string]int{`{"id":{"$ne":2}}`: 1, `{"id":{"$in":[]}}`: 0, `{"id":1.5}`: 0, `{"$nor":[{"id":{"$gte":1}}]}`: 0} {
		p, err := policy.New(policy.Rules{Classes: map[string]policy.ClassRule{"flags": {Canonical: mustParse(t, query.ParseRule, rule)}}}, classes)
		if err != nil {
			t.Fatal(err)
		}
		permit, err := p.Read(identity.Principal{ID: "t", Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "flags", Limit: 9})
		if err != nil {
			t.Fatal(err)
		}
		if rows, err := sourcetest.Collect(t.Context(), src, permit); err != nil || len(rows) != want {
			t.Errorf("under the filter %s: %d records, %v; want %d\n%s", rule, len(rows), err, want, d.show(permit))
		}
	}
}
