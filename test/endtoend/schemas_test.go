package endtoend

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// schemaTables creates the tables of a tenant. A trigger writes to one of them without a schema name, like an
// application.
const schemaTables = `
CREATE TYPE mood AS ENUM ('low', 'high');
CREATE TABLE users (id serial PRIMARY KEY, name text UNIQUE);
CREATE TABLE issues (id bigserial PRIMARY KEY, title varchar(80) NOT NULL, mood mood DEFAULT 'low', moods mood[], author integer REFERENCES users (id), due timestamptz, meta jsonb);
CREATE TABLE log (id serial PRIMARY KEY, said text);
CREATE TABLE notes (id serial PRIMARY KEY, issue_id bigint REFERENCES issues (id) ON DELETE CASCADE, body text);
CREATE INDEX ON issues USING gin (to_tsvector('english', title));
CREATE VIEW high AS SELECT id, title FROM issues WHERE mood = 'high';
CREATE FUNCTION logged() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO log (said) VALUES (NEW.title); RETURN NEW; END';
CREATE TRIGGER logs AFTER INSERT OR UPDATE ON issues FOR EACH ROW EXECUTE FUNCTION logged();
`

// The function of the trigger, in its original form and with another body.
const (
	loggedHere      = `CREATE OR REPLACE FUNCTION logged() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO log (said) VALUES (NEW.title); RETURN NEW; END'`
	loggedElsewhere = `CREATE OR REPLACE FUNCTION logged() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO tenant_globex.log (said) VALUES (NEW.title); RETURN NEW; END'`
)

// schemaRule is the rule for a principal's schema. A tenant may have any name.
const schemaRule = `principal.tenant == "odd" ? string(principal.claims.schema) : "tenant_" + principal.tenant`

// hostileTenant is a tenant whose name would end a quoted identifier.
const hostileTenant = `"; DROP SCHEMA tenant_acme CASCADE; --'`

// A block is a database with one schema per tenant.
type block struct {
	*testing.T
	at string
	db *sql.DB
}

// newBlock creates the schemas tenant_acme (the template), tenant_globex, tenant_initech and the schema of a tenant
// with a hostile name.
func newBlock(t *testing.T) *block {
	t.Helper()
	b := &block{T: t, at: services.Postgres(t)}
	var err error
	if b.db, err = sql.Open("pgx", b.at); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.db.Close() })
	for _, name := range []string{"acme", "globex", "initech", hostileTenant} {
		b.tenant(name)
	}
	b.still()
	return b
}

// run runs statements in the schema of a tenant.
func (b *block) run(tenant, statements string) {
	b.Helper()
	db, err := sql.Open("pgx", within(b.T, b.at, "tenant_"+tenant))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(b.Context(), statements); err != nil {
		b.Fatalf("%s: %v", statements, err)
	}
}

// still stops the server's background statistics. The compared gateways read its estimates one after another.
func (b *block) still() {
	b.Helper()
	if _, err := b.db.ExecContext(b.Context(), `DO $$ DECLARE t regclass; BEGIN
		FOR t IN SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname LIKE 'tenant%' LOOP
			EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', t);
		END LOOP; END $$`); err != nil {
		b.Fatal(err)
	}
}

// tenant creates the schema of a tenant. The texts of its records contain the tenant's name.
func (b *block) tenant(name string) {
	b.Helper()
	b.run(name, `CREATE SCHEMA "tenant_`+strings.ReplaceAll(name, `"`, `""`)+`"`)
	b.run(name, schemaTables)
	mark := strings.ReplaceAll(name, "'", "''")
	b.run(name, fmt.Sprintf(`INSERT INTO users (name) VALUES ('ann of %[1]s'), ('ben of %[1]s');
		INSERT INTO issues (title, mood, moods, author, due, meta) SELECT 'issue ' || n || ' of %[1]s', CASE n %% 3 WHEN 0 THEN 'high' ELSE 'low' END::mood, '{low,high}', 1 + n %% 2, timestamptz '2026-01-01' + n * interval '1 day', '{"of": "x"}' FROM generate_series(1, 30 + %[2]d) n;
		INSERT INTO notes (issue_id, body) SELECT n, 'note ' || n || ' of %[1]s' FROM generate_series(1, 10) n`, mark, len(name)))
}

// gateway opens a gateway for the block with one schema per tenant.
func (b *block) gateway(more func(*bailiwick.Options)) *bailiwick.Gateway {
	b.Helper()
	src := b.source()
	src.Divide("tenant_acme")
	o := bailiwick.Options{Sources: map[string]source.Source{"app": src}, Audit: forgetful{}, Secret: make([]byte, 32),
		Rules: policy.Rules{Version: "1", Unlisted: true, Schemas: map[string]string{"app": schemaRule}}}
	if more != nil {
		more(&o)
	}
	o.Limits.PerMinute, o.Limits.Burst = 1e9, 1e9
	g, _, err := bailiwick.New(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	return g
}

func (b *block) source() *postgres.Source {
	b.Helper()
	src, err := postgres.Open(b.Context(), "app", b.at)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { src.Close() })
	return src
}

// oracle opens a gateway whose source is the single schema of a tenant. With "", the source has no classes.
func (b *block) oracle(tenant string) *bailiwick.Gateway {
	b.Helper()
	src := b.source()
	src.Choose(func(space, table string) (string, bool) {
		if space != "tenant_"+tenant {
			return "", false
		}
		return table, true
	})
	return b.gateway(func(o *bailiwick.Options) {
		o.Sources, o.Rules.Schemas = map[string]source.Source{"app": src}, nil
	})
}

func toolsOf(t *testing.T, g *bailiwick.Gateway) *tool.Set {
	t.Helper()
	set, err := tool.NewSet(g, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// ofTenant returns an agent of a tenant.
func ofTenant(tenant string) identity.Principal {
	return identity.Principal{ID: "bot", Owner: "ann", Tenant: tenant, Scopes: []identity.Scope{identity.Read, identity.Explain}}
}

// schemaCalls contains calls of all read tools, including names of schemas that agents may guess.
var schemaCalls = [][2]string{
	{"get_all_schemas", `{}`},
	{"get_schema", `{"class_name": "issues"}`},
	{"get_schema", `{"class_name": "app.issues"}`},
	{"get_schema", `{"class_name": "tenant_globex.issues"}`},
	{"get_schema", `{"class_name": "tenant_globex_issues"}`},
	{"query_class", `{"class_name": "issues", "limit": 7, "order": ["-due"]}`},
	{"query_class", `{"class_name": "issues", "where": {"mood": "high"}, "include": ["author"]}`},
	{"query_class", `{"class_name": "notes", "where": {"issue_id": "3"}, "include": ["issue_id.author"]}`},
	{"query_class", `{"class_name": "high"}`},
	{"query_class", `{"class_name": "log", "limit": 3}`},
	{"get_object", `{"class_name": "issues", "object_id": "31"}`},
	{"get_objects", `{"class_name": "issues", "ids": ["1", "36", "999"]}`},
	{"get_sample_objects", `{"class_name": "notes"}`},
	{"count_objects", `{"class_name": "issues"}`},
	{"count_objects", `{"class_name": "issues", "where": {"author.name": {"$regex": "^ann"}}}`},
	{"distinct", `{"class_name": "users", "field": "name"}`},
	{"group_by", `{"class_name": "issues", "field": "mood"}`},
	{"group_by_date", `{"class_name": "issues", "field": "due", "interval": "month"}`},
	{"text_search", `{"class_name": "issues", "search": "issue"}`},
	{"aggregate", `{"class_name": "notes", "pipeline": [{"$lookup": {"from": "issues", "localField": "issue_id", "foreignField": "id", "as": "i"}}, {"$unwind": "$i"}, {"$group": {"_id": "$i.mood", "n": {"$sum": 1}}}]}`},
	{"aggregate", `{"class_name": "notes", "pipeline": [{"$lookup": {"from": "tenant_globex.issues", "localField": "issue_id", "foreignField": "id", "as": "i"}}]}`},
	{"query_sql", `{"sql": "SELECT i.title, u.name FROM issues i JOIN users u ON u.id = i.author ORDER BY i.id LIMIT 3"}`},
	{"query_sql", `{"sql": "SELECT count(*) FROM issues WHERE id IN (SELECT issue_id FROM notes)"}`},
	{"query_sql", `{"sql": "SELECT * FROM tenant_globex.issues"}`},
	{"query_sql", `{"sql": "SELECT * FROM \"tenant_globex\".\"issues\""}`},
	{"query_sql", `{"sql": "SELECT * FROM public.issues LIMIT 1"}`},
	{"query_sql", `{"sql": "SELECT table_schema, table_name FROM information_schema.tables ORDER BY 2"}`},
	{"query_sql", `{"sql": "SELECT * FROM information_schema.columns ORDER BY table_name, ordinal_position"}`},
	{"query_sql", `{"sql": "SELECT relname FROM pg_catalog.pg_class ORDER BY 1"}`},
	{"query_sql", `{"sql": "SELECT nspname FROM pg_catalog.pg_namespace"}`},
	{"export_data", `{"class_name": "issues", "format": "csv"}`},
}

// sealed matches a cursor. A cursor is bound to the schema, so the oracle returns a different one.
var sealed = regexp.MustCompile(`"cursor":"[^"]*"`)

// schemaAnswers returns the answers to all calls of a principal, page by page.
func schemaAnswers(t *testing.T, set *tool.Set, p identity.Principal) []string {
	t.Helper()
	var out []string
	for _, c := range schemaCalls {
		args, err := value.Read([]byte(c[1]), 0)
		if err != nil {
			t.Fatal(c, err)
		}
		for range 3 {
			got, next := answer(set, p, tool.Request{Name: c[0], Arguments: args})
			out = append(out, c[0]+" "+c[1]+"\n"+sealed.ReplaceAllString(got, "cursor"))
			if strings.HasPrefix(got, "FAILED") {
				t.Errorf("%s %s: %s", c[0], c[1], got)
			}
			if args = next; next.IsNull() {
				break
			}
		}
	}
	return out
}

// different returns the first pair of answers with different bytes, or "".
func different(a, b []string) string {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("%s\nand\n%s", strings.Join(a[min(i, len(a)):min(i+1, len(a))], ""), strings.Join(b[min(i, len(b)):min(i+1, len(b))], ""))
		}
	}
	return ""
}

// TestSchemas compares the answers for a tenant's agents with those of a gateway for only that tenant's schema. For
// agents without a schema, it compares with a database without classes.
func TestSchemas(t *testing.T) {
	b := newBlock(t)
	b.run("odd", `CREATE SCHEMA tenant_odd`)
	b.run("odd", strings.Replace(schemaTables, "title varchar(80)", "title text", 1))
	b.run("less", `CREATE SCHEMA tenant_less; CREATE TABLE tenant_less.users (id serial PRIMARY KEY, name text UNIQUE)`)
	b.run("acme", `CREATE TABLE public.plans (id integer PRIMARY KEY)`)
	src := b.source()
	src.Divide("tenant_acme")
	_, warnings, err := src.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{
		`schema "tenant_less" differs from the template tenant_acme and is left out: it has no table high that the account may read`,
		`schema "tenant_odd" differs from the template tenant_acme and is left out: high: its column title has another type or another constraint`,
	}; !slices.Equal(warnings, want) {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(warnings, "\n"), strings.Join(want, "\n"))
	}
	set := toolsOf(t, b.gateway(nil))
	for _, tenant := range []string{"acme", "globex", "initech", hostileTenant} {
		got, want := schemaAnswers(t, set, ofTenant(tenant)), schemaAnswers(t, toolsOf(t, b.oracle(tenant)), ofTenant(tenant))
		quoted := `"tenant_` + strings.ReplaceAll(tenant, `"`, `""`) + `".`
		doubled := strings.ReplaceAll(quoted, "'", "''")
		named := strings.NewReplacer("tenant_"+tenant+".", "", doubled, "", strings.ReplaceAll(doubled, `"`, `\"`), "", quoted, "", strings.ReplaceAll(quoted, `"`, `\"`), "")
		for i := range got { // in the oracle, defaults and the agent's own words contain the schema's name
			got[i] = named.Replace(got[i])
		}
		for i := range want {
			want[i] = named.Replace(want[i])
		}
		if d := different(got, want); d != "" {
			t.Errorf("an agent of %s is told\n%s", tenant, d)
		}
		for _, other := range []string{"acme", "globex", "initech", "DROP"} {
			text := strings.Join(got, "\n")
			for _, c := range schemaCalls { // these calls name one of the schemas
				text = strings.ReplaceAll(text, c[1], "")
			}
			if tenant != other && strings.Contains(text, "of "+other) {
				t.Errorf("an agent of %s is told of %s", tenant, other)
			}
		}
	}
	nothing := schemaAnswers(t, toolsOf(t, b.oracle("nobody")), ofTenant("nobody"))
	for _, tenant := range []string{"", "nobody", "odd", "less", "Acme", "acme ", `acme"`, `acme"."issues`, "acme\x00", "acme'", "../tenant_acme", "\x00", "ACME", "\xff", "%"} {
		if d := different(schemaAnswers(t, set, ofTenant(tenant)), nothing); d != "" {
			t.Errorf("an agent of %q, which has no schema, is told\n%s", tenant, d)
		}
	}
	claims := []string{`{"schema": null}`, `{"schema": ""}`, `{"schema": 1}`, `{"schema": ["tenant_acme"]}`, `{"schema": {"tenant_acme": 1}}`, `{}`, `{"schema": "public"}`, `{"schema": "pg_catalog"}`, `{"schema": "\"tenant_acme\""}`}
	for _, c := range claims {
		p := ofTenant("odd")
		var err error
		if p.Claims, err = value.Read([]byte(c), 0); err != nil {
			t.Fatal(err)
		}
		if d := different(schemaAnswers(t, set, p), nothing); d != "" {
			t.Errorf("an agent with the claims %s is told\n%s", c, d)
		}
	}
	if d := different(schemaAnswers(t, toolsOf(t, b.gateway(func(o *bailiwick.Options) { o.Rules.Schemas = nil })), ofTenant("acme")), nothing); d != "" {
		t.Errorf("without a rule for schemas, an agent is told\n%s", d)
	}
}

// TestSchemasDrift creates a schema while the gateway is running, and changes it. Agents of its tenant may see its
// classes only while it matches the template.
func TestSchemasDrift(t *testing.T) {
	b := newBlock(t)
	g := b.gateway(nil)
	gone := true
	sees := func(tenant string, want bool) {
		t.Helper()
		warnings, err := g.RefreshDrifting(t.Context(), nil, false)
		if err != nil {
			t.Fatal(err)
		}
		closed := strings.Join(g.ClosureReasons(), "\n")
		if differs := regexp.MustCompile(`source app: schema "tenant_` + tenant + `" (differs from the template tenant_acme and )?is left out: `).MatchString(closed); differs == (want || gone) {
			t.Errorf("%s is reported: %v. %s", tenant, differs, closed)
		}
		if got := len(g.Views(ofTenant(tenant))) == 5; got != want {
			t.Errorf("classes of %s are seen: %v; want %v. Warnings: %s", tenant, got, want, warnings)
		}
		if got := g.Views(ofTenant("globex")); len(got) != 5 {
			t.Errorf("%d classes of another tenant", len(got))
		}
	}
	sees("late", false)
	b.tenant("late")
	gone = false
	sees("late", true)
	for _, change := range [][2]string{
		{"ALTER TABLE issues ADD extra int", "ALTER TABLE issues DROP extra"},
		{"ALTER TABLE issues RENAME meta TO data", "ALTER TABLE issues RENAME data TO meta"},
		{"DROP VIEW high", "CREATE VIEW high AS SELECT id, title FROM issues WHERE mood = 'high'"},
		{"ALTER TABLE notes DROP CONSTRAINT notes_pkey", "ALTER TABLE notes ADD PRIMARY KEY (id)"},
		{"ALTER TABLE notes DROP CONSTRAINT notes_issue_id_fkey", "ALTER TABLE notes ADD FOREIGN KEY (issue_id) REFERENCES issues (id)"},
		{"ALTER TABLE notes DROP CONSTRAINT notes_issue_id_fkey; ALTER TABLE notes ADD FOREIGN KEY (issue_id) REFERENCES tenant_globex.issues (id)",
			"ALTER TABLE notes DROP CONSTRAINT notes_issue_id_fkey; ALTER TABLE notes ADD FOREIGN KEY (issue_id) REFERENCES issues (id)"},
		{"ALTER TYPE mood ADD VALUE 'none'", "DROP VIEW high; ALTER TABLE issues ALTER mood DROP DEFAULT, DROP moods; ALTER TABLE issues ALTER mood TYPE text; DROP TYPE mood; CREATE TYPE mood AS ENUM ('low', 'high');" +
			"ALTER TABLE issues ALTER mood TYPE mood USING mood::mood, ADD moods mood[], ALTER mood SET DEFAULT 'low'; CREATE VIEW high AS SELECT id, title FROM issues WHERE mood = 'high'"},
		{"DROP INDEX issues_to_tsvector_idx", "CREATE INDEX ON issues USING gin (to_tsvector('english', title))"},
		{"ALTER TABLE issues ALTER mood SET DEFAULT 'high'", "ALTER TABLE issues ALTER mood SET DEFAULT 'low'"},
		{"ALTER TABLE issues ALTER id SET DEFAULT nextval('tenant_globex.issues_id_seq')", "ALTER TABLE issues ALTER id SET DEFAULT nextval('issues_id_seq')"},
		{"CREATE UNIQUE INDEX more ON issues (title)", "DROP INDEX more"},
		{"ALTER TABLE issues ADD CHECK (id > 0)", "ALTER TABLE issues DROP CONSTRAINT issues_id_check"},
		{"CREATE OR REPLACE VIEW high AS SELECT id, title FROM issues WHERE mood = 'low'", "CREATE OR REPLACE VIEW high AS SELECT id, title FROM issues WHERE mood = 'high'"},
		{"CREATE OR REPLACE VIEW high AS SELECT id, title FROM tenant_globex.issues WHERE mood = 'high'", "CREATE OR REPLACE VIEW high AS SELECT id, title FROM issues WHERE mood = 'high'"},
		{"ALTER VIEW high SET (security_barrier)", "ALTER VIEW high RESET (security_barrier)"},
		{"ALTER TABLE issues DISABLE TRIGGER logs", "ALTER TABLE issues ENABLE TRIGGER logs"},
		{"DROP TRIGGER logs ON issues", "CREATE TRIGGER logs AFTER INSERT OR UPDATE ON issues FOR EACH ROW EXECUTE FUNCTION logged()"},
		{"DROP TRIGGER logs ON issues; CREATE TRIGGER logs AFTER INSERT OR UPDATE ON issues FOR EACH ROW EXECUTE FUNCTION tenant_globex.logged()",
			"DROP TRIGGER logs ON issues; CREATE TRIGGER logs AFTER INSERT OR UPDATE ON issues FOR EACH ROW EXECUTE FUNCTION logged()"},
		{"CREATE TRIGGER more AFTER DELETE ON notes FOR EACH ROW EXECUTE FUNCTION logged()", "DROP TRIGGER more ON notes"},
		{loggedElsewhere, loggedHere},
		{"ALTER FUNCTION logged() SET search_path = tenant_globex", "ALTER FUNCTION logged() RESET search_path"},
		{"ALTER FUNCTION logged() SECURITY DEFINER", "ALTER FUNCTION logged() SECURITY INVOKER"},
		{"CREATE FUNCTION logged(int) RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION logged(int)"},
		{"CREATE RULE kept AS ON DELETE TO notes DO INSTEAD NOTHING", "DROP RULE kept ON notes"},
		{"CREATE TABLE tenant_globex.spy (id bigint REFERENCES issues (id) ON DELETE CASCADE)", "DROP TABLE tenant_globex.spy"},
		{"CREATE TABLE tenant_globex.spy (id bigint REFERENCES issues (id) ON DELETE SET NULL)", "DROP TABLE tenant_globex.spy"},
		{"CREATE TABLE public.spy (id bigint REFERENCES issues (id) ON UPDATE CASCADE)", "DROP TABLE public.spy"},
		{"CREATE TABLE far (id bigint PRIMARY KEY REFERENCES issues (id) ON DELETE CASCADE); CREATE TABLE tenant_globex.spy (id bigint REFERENCES far (id) ON DELETE CASCADE)", "DROP TABLE tenant_globex.spy, far"},
	} {
		b.run("late", change[0])
		sees("late", false)
		b.run("late", change[1])
		sees("late", true)
	}
	for _, same := range []string{"CREATE TABLE extra (id int)", "CREATE INDEX ON issues (due)", "COMMENT ON TABLE issues IS 'x'", "CREATE FUNCTION further() RETURNS int LANGUAGE sql AS 'SELECT 1'", "CREATE TABLE tenant_globex.friend (id bigint REFERENCES issues (id))",
		"DROP TABLE tenant_globex.friend", "ALTER TABLE issues ALTER meta SET STORAGE external"} {
		b.run("late", same)
		sees("late", true)
	}
	gone = true
	b.run("late", "DROP SCHEMA tenant_late CASCADE")
	sees("late", false)
	b.run("acme", "DROP SCHEMA tenant_acme CASCADE") // the template is removed. Other schemas are still compared with its former state
	sees("acme", false)
	b.tenant("later")
	sees("later", true)
	if err := g.Do(context.Background(), ofTenant("later"), bailiwick.CallSpec{Tool: "x", Needs: identity.Read}, func(_ context.Context, c *bailiwick.Call) (int, error) {
		if v := c.Views()[0]; v.Class().Space != "tenant_later" || v.Schema() != "tenant_later" {
			t.Errorf("the view of an agent of later is of %q", v.Class().Space)
		}
		return 0, nil
	}); err != nil {
		t.Error(err)
	}
}

// TestSchemasRestart stops the gateway, changes the schema of a tenant, and adds a foreign key from outside to the
// template. It then starts another gateway, which must serve the other schemas and report the omitted ones.
func TestSchemasRestart(t *testing.T) {
	b := newBlock(t)
	first := toolsOf(t, b.gateway(nil))
	before := map[string][]string{}
	for _, tenant := range []string{"globex", hostileTenant} {
		before[tenant] = schemaAnswers(t, first, ofTenant(tenant))
	}
	b.run("initech", loggedElsewhere)
	b.run("globex", "CREATE TABLE public.spy (id bigint REFERENCES tenant_acme.issues (id) ON DELETE CASCADE)")
	g := b.gateway(nil)
	second := toolsOf(t, g)
	for tenant, want := range before {
		if d := different(schemaAnswers(t, second, ofTenant(tenant)), want); d != "" {
			t.Errorf("after the restart, an agent of %s is told\n%s", tenant, d)
		}
	}
	for _, tenant := range []string{"initech", "acme"} {
		if n := len(g.Views(ofTenant(tenant))); n != 0 {
			t.Errorf("an agent of %s sees %d classes", tenant, n)
		}
	}
	want := []string{
		`source app: schema "tenant_acme" is left out: by the foreign key spy_id_fkey of public.spy, a write in this schema also deletes or changes records of another one. Drop the foreign key, or declare it with NO ACTION`,
		`source app: schema "tenant_initech" differs from the template tenant_acme and is left out: its function logged has another definition`,
	}
	if got := g.ClosureReasons(); !slices.Equal(got, want) {
		t.Errorf("closed\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	b.run("acme", "DROP SCHEMA tenant_acme CASCADE")
	src := b.source()
	src.Divide("tenant_acme")
	_, _, err := src.Describe(t.Context())
	if _, ok := errors.AsType[*source.NoTemplate](err); !ok || !strings.Contains(err.Error(), `"tenant_globex"`) {
		t.Errorf("without the template: %v", err)
	}
}
