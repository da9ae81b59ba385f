package sqlgen_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/test/dialecttest"
)

// selectPermit returns the permit for a caller's SELECT over the classes of TestPipelines. database is an index into
// databases.
func selectPermit(t *testing.T, database int, text string) policy.Permit {
	t.Helper()
	q, err := query.ParseSQL(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	q.Limit, q.Now = 100, time.Date(2026, 1, 31, 10, 20, 30, 0, time.UTC)
	tenant := policy.ClassRule{Tenant: &policy.TenantRule{Field: "org"}}
	p, err := policy.New(policy.Rules{Classes: map[string]policy.ClassRule{"issues": tenant, "users": tenant, "parts": tenant}}, tracker(database))
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(reader, q)
	if err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return permit
}

// selectSQL returns the statement for the permit of selectPermit.
func selectSQL(t *testing.T, database int, text string) string {
	t.Helper()
	st, err := sqlgen.SQL(selectPermit(t, database, text), databases[database].dialect)
	if err != nil {
		return fmt.Sprintf("%s: %s", problem.CodeOf(err), problem.Of(err).Detail)
	}
	return st.Text + "\n            " + arguments(st.Args)
}

// TestSelects shows callers' SELECTs and the statements for databases side by side. A line of testdata/selects.txt that
// begins with > is a caller's SELECT.
func TestSelects(t *testing.T) {
	dialecttest.CompareGolden(t, "testdata/selects.txt", names(databases), func(database int, question string) string { return selectSQL(t, database, question) })
}
