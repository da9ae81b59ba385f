package database

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/value"
)

// natives are statements of an owner, their parameters, the columns that the owner declares ("name type"), and the
// answer. An answer that begins with ! is the error for the caller, and the error for operators.
var natives = []struct{ statement, params, returns, want string }{
	{"SELECT id, name FROM sales ORDER BY id", ``, "id integer, name string", `1 "ann" | 2 "bob" | 3 null`},
	{"SELECT name, sum(total) AS total FROM sales WHERE total >= :least GROUP BY name ORDER BY 1", `{"least": 10.25}`, "name string, total decimal", `"ann" 10.25 | "bob" 20.25`},
	{"SELECT id FROM sales WHERE name = :name OR ':name' = name", `{"name": "' OR 1=1 --"}`, "id integer", ``},
	{"SELECT id FROM sales WHERE name = :name AND id = :id AND name = :name", `{"name": "ann", "id": 1}`, "id integer", `1`},
	{"SELECT on_day, sold FROM sales WHERE id = 1", ``, "on_day day, sold date", `"2026-01-02" "2026-01-02T03:04:05Z"`},
	{"SELECT on_day AS sold FROM sales WHERE id = 1", ``, "sold date", `"2026-01-02T00:00:00Z"`},
	{"WITH a AS (SELECT id FROM sales) SELECT count(*) AS n FROM a -- :none", ``, "n integer", `3`},
	{"VALUES (1, 'x;y')", ``, "* integer, * string", `1 "x;y"`},
	// The result isn't what the owner declares.
	{"SELECT id, name FROM sales", ``, "id integer", "!upstream_error: the statement returns the columns id, name, and returns says id"},
	{"SELECT name AS id, id AS name FROM sales", ``, "name integer, id string", "!upstream_error: the statement returns the columns id, name, and returns says name, id"},
	{"SELECT name FROM sales", ``, "name integer", "!upstream_error: the column name has a value of type string, and returns says integer"},
	{"SELECT name FROM sales", ``, "name decimal", "!upstream_error: the column name has a value of type"},
	// It doesn't run.
	{"SELECT id FROM nothing_here", ``, "id integer", "!upstream_error: "},
	{"SELECT id FROM sales WHERE id = :id", `{}`, "id integer", "!upstream_error: it has no value for :id"},
	{"DELETE FROM sales", ``, "id integer", "!upstream_error: it contains DELETE, and a query only reads. Put quotes around the word if it is a name"},
	{"SELECT id FROM sales; SELECT name FROM sales", ``, "id integer", "!upstream_error: it has several statements. Write one"},
	{"SELECT 1 INTO x", ``, "id integer", "!upstream_error: it contains INTO, and a query only reads. Put quotes around the word if it is a name"},
	{"SET x = 1", ``, "id integer", "!upstream_error: it must begin with SELECT, WITH, VALUES or TABLE"},
}

// TestNative runs statements of an owner in the database's own SQL. Arguments are only values, and a result that the owner
// didn't declare is refused. refused are more statements of the adapter, which must fail. values are the names of the
// columns of VALUES.
func (d *Database) TestNative(t *testing.T, values [2]string, refused ...string) {
	src := d.OpenWith(t, "CREATE TABLE sales (id INTEGER PRIMARY KEY, name VARCHAR(40), total NUMERIC(10,2), on_day DATE, sold TIMESTAMP NULL)",
		"INSERT INTO sales VALUES (1, 'ann', 10.25, '2026-01-02', '2026-01-02 03:04:05'), (2, 'bob', 20.25, NULL, NULL), (3, NULL, 1, NULL, NULL)")
	for _, tt := range natives {
		returns := tt.returns
		for _, name := range values {
			returns = strings.Replace(returns, "*", name, 1)
		}
		if got := answerNative(t, src, ownStatement{tt.statement, tt.params, returns, 10, policy.Position{}}); !strings.HasPrefix(got, tt.want) || got != tt.want && !strings.HasPrefix(tt.want, "!") {
			t.Errorf("%s\n got %s\nwant %s", tt.statement, got, tt.want)
		}
	}
	for _, statement := range refused {
		if got := answerNative(t, src, ownStatement{statement, "", "n integer", 10, policy.Position{}}); !strings.HasPrefix(got, "!upstream_error") {
			t.Errorf("%s: %s", statement, got)
		}
	}
	if got := answerNative(t, src, ownStatement{"SELECT id FROM sales ORDER BY id", "", "id integer", 1, policy.Position{}}); got != "1 | 2" {
		t.Errorf("a page with one record more: %s", got)
	}
	if got := answerNative(t, src, ownStatement{"SELECT id FROM sales ORDER BY id", "", "id integer", 1, policy.Position{Skip: 1}}); got != "2 | 3" {
		t.Errorf("the second page: %s", got)
	}
	if got := answerNative(t, src, ownStatement{"SELECT name FROM sales WHERE id = 1", "", "name string partial", 1, policy.Position{}}); got != `"ann"` {
		t.Errorf("a value before it is masked: %s", got)
	}
	long := "SELECT repeat(name, 1000) AS name FROM sales WHERE id = 1"
	if d.Kind == sourcetest.SQLite {
		long = "SELECT replace(hex(zeroblob(1000)), '00', name) AS name FROM sales WHERE id = 1"
	}
	if got := answerNative(t, src, ownStatement{long, "", "name string", 1, policy.Position{}}); got != "cut 3000" {
		t.Errorf("a long value: %.80s", got)
	}
}

// AnswerNative returns the answer of a statement of an owner over src, which is called app. The columns that the owner
// declares are "name type". A failed answer is a ! with the code and the error for operators.
func AnswerNative(t *testing.T, src source.Source, statement, returns string) string {
	t.Helper()
	return answerNative(t, src, ownStatement{statement, "", returns, 10, policy.Position{}})
}

// An ownStatement is a statement of an owner with its parameters and returned columns, and the page to read.
type ownStatement struct {
	statement, params, returns string
	limit                      int
	at                         policy.Position
}

// answerNative returns the answer of a statement, with values of at most 1,000 bytes, or the error after a !.
func answerNative(t *testing.T, src source.Source, of ownStatement) string {
	t.Helper()
	rule := policy.NativeRule{Source: "app", Text: of.statement}
	for _, column := range strings.Split(of.returns, ", ") {
		parts := append(strings.Fields(column), "")
		kind, ok := schema.TypeOf(parts[1])
		if !ok {
			t.Fatal(column)
		}
		rule.Returns = append(rule.Returns, policy.ReturnedColumn{Name: parts[0], Type: kind, Mask: policy.Mask(parts[2])})
	}
	p, err := policy.New(policy.Rules{Native: map[string]policy.NativeRule{"own": rule}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]value.Value{}
	if of.params != "" {
		v, err := value.Read([]byte(of.params), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range v.Members() {
			given[m.Name] = m.Value
		}
	}
	permit, err := p.Read(identity.Principal{ID: "t", Scopes: []identity.Scope{identity.Read}}, &query.Native{Name: "own", Params: given, Limit: of.limit})
	if err == nil {
		permit, err = permit.From(of.at)
	}
	if err == nil {
		permit, err = permit.Within(1000)
	}
	if err != nil {
		t.Fatal(err)
	}
	failed := func(err error) string {
		p := problem.Of(err)
		return fmt.Sprintf("!%s: %v", p.Code, p.Err)
	}
	rows, err := src.Read(t.Context(), permit)
	if err != nil {
		return failed(err)
	}
	var out []string
	for row, err := range rows {
		if err != nil {
			return failed(err)
		}
		var parts []string
		for _, v := range row {
			if v.Kind() == value.Cut {
				parts = append(parts, fmt.Sprint("cut ", v.Size()))
				continue
			}
			parts = append(parts, string(v.AppendJSON(nil)))
		}
		out = append(out, strings.Join(parts, " "))
	}
	return strings.Join(out, " | ")
}
