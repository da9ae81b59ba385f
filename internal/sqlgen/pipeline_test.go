package sqlgen_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/test/dialecttest"
)

var _ = flag.Bool("update", false, "write the golden files anew")

var where, pipeline, arguments, reader = dialecttest.Where, dialecttest.Pipeline, dialecttest.Arguments, dialecttest.Reader()

// names returns the names of databases.
func names(all []database) []string {
	var out []string
	for _, d := range all {
		out = append(out, d.name)
	}
	return out
}

// natives are the database types of the fields in TestPipelines, in the order of databases.
var natives = map[schema.Type][3]string{
	schema.String: {"TEXT", "text", "varchar"}, schema.Integer: {"INTEGER", "int4", "int"}, schema.Decimal: {"NUMERIC", "numeric", "decimal"},
	schema.Boolean: {"BOOLEAN", "bool", "tinyint"}, schema.Date: {"DATETIME", "timestamptz", "datetime"}, schema.JSON: {"JSON", "jsonb", "longtext"},
}

// A database is a dialect for which the tests show statements.
type database struct {
	name    string
	dialect sqlgen.Dialect
}

var databases = []database{{"sqlite", sqlite.Dialect()}, {"postgresql", postgres.Dialect()}, {"mariadb", mariadb.Dialect()}}

// tracker returns the classes of TestPipelines in the database with this index.
func tracker(database int) []schema.Class {
	class := func(name string, fields ...schema.Field) schema.Class {
		for i := range fields {
			fields[i].Native = natives[fields[i].Type][database]
		}
		fields[0].NotNull = true
		return schema.Class{Source: "app", Name: name, Table: name, Key: []string{fields[0].Name}, Fields: fields}
	}
	field := func(name string, t schema.Type) schema.Field { return schema.Field{Name: name, Type: t} }
	issues := class("issues", field("id", schema.Integer), field("org", schema.String), field("status", schema.String), field("estimate", schema.Integer),
		field("author", schema.Integer), field("opened", schema.Date), field("meta", schema.JSON))
	issues.Relations = []schema.Relation{{Fields: []string{"author"}, Target: "users", TargetFields: []string{"id"}}}
	users := class("users", field("id", schema.Integer), field("org", schema.String), field("name", schema.String), field("boss", schema.Integer))
	parts := class("parts", schema.Field{Name: "code", Type: schema.String, Length: 200}, field("org", schema.String), schema.Field{Name: "note", Type: schema.String, Length: 201},
		field("L2", schema.Integer), field("price", schema.Decimal))
	return []schema.Class{issues, users, parts}
}

// pipelinePermit returns the permit for stages, in JSON, over a class. database is an index into databases. The permit
// applies the rules of a tenant.
func pipelinePermit(t *testing.T, database int, class, stages string) policy.Permit {
	t.Helper()
	tenant := policy.ClassRule{Tenant: &policy.TenantRule{Field: "org"}}
	p, err := policy.New(policy.Rules{Classes: map[string]policy.ClassRule{"issues": tenant, "users": tenant, "parts": tenant}}, tracker(database))
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(reader, &query.Pipeline{Class: class, Stages: pipeline(t, stages), Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return permit
}

// pipelineSQL returns the statement for the permit of pipelinePermit.
func pipelineSQL(t *testing.T, database int, class, stages string) string {
	t.Helper()
	st, err := sqlgen.SQL(pipelinePermit(t, database, class, stages), databases[database].dialect)
	if err != nil {
		return fmt.Sprintf("%s: %s", problem.CodeOf(err), problem.Of(err).Detail)
	}
	return st.Text + "\n            " + arguments(st.Args)
}

// TestPipelines shows pipelines and their statements side by side. A line of testdata/pipelines.txt that begins with >
// contains a class and the stages over it.
func TestPipelines(t *testing.T) {
	dialecttest.CompareGolden(t, "testdata/pipelines.txt", names(databases), func(database int, question string) string {
		class, stages, _ := strings.Cut(question, " ")
		return pipelineSQL(t, database, class, stages)
	})
}
