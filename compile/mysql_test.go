package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/compile"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestMySQLWhere tests conditions as MariaDB gets them, with their arguments.
func TestMySQLWhere(t *testing.T) {
	p, err := policy.New(policy.Rules{Unlisted: true}, []schema.Class{{Source: "app", Name: "t", Table: "odd `t`", Key: []string{"id"}, Fields: []schema.Field{
		{Name: "id", Type: schema.Integer, Native: "int", NotNull: true}, {Name: "s", Type: schema.String, Native: "varchar", Unordered: true},
		{Name: "bin", Type: schema.String, Native: "varchar"}, {Name: "d", Type: schema.Decimal, Native: "decimal"},
		{Name: "at", Type: schema.Date, Native: "datetime", NotNull: true}, {Name: "raw", Type: schema.Bytes, Native: "blob"},
		{Name: "b", Type: schema.Boolean, Native: "tinyint"}, {Name: "bits", Type: schema.Integer, Native: "bit"}, {Name: "doc", Type: schema.JSON, Native: "longtext"}}}})
	if err != nil {
		t.Fatal(err)
	}
	const doc = "CASE WHEN JSON_VALID(v1.`doc`) THEN v1.`doc` ELSE JSON_QUOTE(v1.`doc`) END"
	for _, tt := range []struct{ where, want, args string }{
		{`{"s":"a"}`, "(v1.`s` = ? AND CONVERT(v1.`s` USING utf8mb4) COLLATE utf8mb4_nopad_bin = ?)", `[a a]`},
		{`{"s":{"$gt":"a"}}`, "CONVERT(v1.`s` USING utf8mb4) COLLATE utf8mb4_nopad_bin > ?", `[a]`},
		{`{"bin":{"$ne":"a"}}`, "((v1.`bin` = ?) IS NOT TRUE)", `[a]`},
		{`{"bin":{"$startsWith":"az"}}`, "(v1.`bin` >= ? AND v1.`bin` < ?)", `[az a{]`},
		{`{"bin":{"$regex":"^a.$","$options":"i"}}`, "(v1.`bin` REGEXP ?)", `[(?:\A[Aa][^\n]\z)]`},
		{`{"d":{"$lt":1.5}}`, "v1.`d` < CAST(? AS DECIMAL(65,38))", `[1.5]`},
		{`{"d":{"$lt":1e-40}}`, "v1.`d` <= CAST(? AS DECIMAL(65,38))", `[0]`},
		{`{"d":1e-40}`, "FALSE", `[]`},
		{`{"d":{"$gte":-1e70}}`, "v1.`d` IS NOT NULL", `[]`},
		{`{"at":null}`, "FALSE", `[]`},
		{`{"at":{"$gte":"2026-01-31"}}`, "(v1.`at` >= CAST(? AS DATETIME(6)) AND DAYOFMONTH(v1.`at`) BETWEEN 1 AND DAYOFMONTH(LAST_DAY(v1.`at`)))", `[2026-01-31 00:00:00.000000]`},
		{`{"raw":"aGk="}`, "v1.`raw` = UNHEX(?)", `[6869]`},
		{`{"b":true}`, "(v1.`b` = ? AND v1.`b` IN (0, 1))", `[1]`},
		{`{"bits":5}`, "(v1.`bits` + 0) = ?", `[5]`},
		{`{"doc.a":{"$size":2}}`, "EXISTS (SELECT 1 FROM JSON_TABLE(?, '$' COLUMNS (k0 LONGTEXT PATH '$[0]')) AS p1, JSON_TABLE(CASE JSON_TYPE(" + doc +
			") WHEN 'ARRAY' THEN " + doc + " WHEN 'OBJECT' THEN '[0]' ELSE '[]' END, '$[*]' COLUMNS (o FOR ORDINALITY)) AS n2 WHERE JSON_TYPE(JSON_EXTRACT(" + doc +
			", CONCAT('$', '[', n2.o - 1, ']'))) = 'OBJECT' AND (CASE JSON_TYPE(JSON_EXTRACT(" + doc + ", CONCAT('$', '[', n2.o - 1, ']', p1.k0))) WHEN 'ARRAY' THEN JSON_LENGTH(JSON_EXTRACT(" +
			doc + ", CONCAT('$', '[', n2.o - 1, ']', p1.k0))) END = ?))", `[[".\"a\""] 2]`},
		{`{"s":{"$regex":"\\pL{900}"}}`, "refused: unsupported_by_source: the regular expression grows too large for MariaDB; write it shorter", `[]`},
	} {
		v, err := value.Read([]byte(tt.where), 0)
		if err != nil {
			t.Fatal(err)
		}
		f, err := query.ParseWhere(v, "/where")
		if err != nil {
			t.Fatal(err)
		}
		permit, err := p.Read(identity.Principal{ID: "t", Scopes: []identity.Scope{identity.Read}}, &query.Count{Class: "t", Where: f})
		if err != nil {
			t.Fatal(err)
		}
		st, err := compile.SQL(permit, compile.MySQL)
		_, got, _ := strings.Cut(st.Text, " FROM `odd ``t``` AS t) AS v1 WHERE ")
		if err != nil {
			got = fmt.Sprintf("refused: %s: %s", problem.CodeOf(err), problem.Of(err).Detail)
		}
		if args := fmt.Sprint(st.Args); got != tt.want || args != tt.args {
			t.Errorf("%s\n got %s %s\nwant %s %s", tt.where, got, args, tt.want, tt.args)
		}
	}
}
