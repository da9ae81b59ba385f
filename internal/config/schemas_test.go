package config_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// TestSchemaPerTenant reads the keys of a source with one schema per tenant. The fault for each wrong use must
// contain the correct form.
func TestSchemaPerTenant(t *testing.T) {
	for _, tt := range []struct{ keys, want string }{
		{"url: 'postgres://h/db', schema: {$cel: principal.tenant}, template: acme", ""},
		{"url: 'postgres://h/db?schema=x', schema: {$cel: \"'t_' + principal.tenant\"}, template: acme, tables: {only: [issues, acme.users]}, rename: {issues: tickets}", ""},
		{"url: 'postgres://h/db', schema: {$cel: principal.tenant}", "sources.s.schema: needs the key template: the name of one schema, whose tables become the classes and which the others are compared with"},
		{"url: 'postgres://h/db', template: acme", "sources.s.template: goes with the key schema: {$cel: principal.tenant}. A source that reads fixed schemas has the key schemas"},
		{"url: 'postgres://h/db', schema: {$cel: principal.tenant}, template: acme, schemas: [public]", "sources.s.schemas: can't be combined with schema, which yields one schema for each caller. Take one of them out"},
		{"url: 'postgres://h/db', schema: acme, template: acme", "sources.s.schema: must be an object with $cel, not text"},
		{"url: 'postgres://h/db', schema: {}, template: acme", "sources.s.schema: needs the key $cel"},
		{"url: 'postgres://h/db', schema: {$cel: ''}, template: acme", "sources.s.schema.$cel: is empty. It must be an expression, such as principal.tenant"},
		{"url: 'postgres://h/db', schema: {$cel: principal.tenent}, template: acme", `sources.s.schema.$cel: character 1 of the expression: a principal has no "tenent". Did you mean tenant?`},
		{"url: 'postgres://h/db', schema: {$cel: principal.tenant}, template: ''", "sources.s.schema: needs the key template"},
		{"url: 'sqlite:app.db', schema: {$cel: principal.tenant}, template: acme", "sources.s.schema: only PostgreSQL has one schema per tenant. Take it out"},
		{"url: 'mariadb://u@h/db', schema: {$cel: principal.tenant}, template: acme", "sources.s.schema: is only for PostgreSQL. In MariaDB a schema is a database, and a source reads the one of its url. Write a source for the database of each tenant"},
		{"url: 'mysql://u@h/db', template: acme", "sources.s.template: is only for PostgreSQL. In MariaDB a schema is a database"},
		{"openapi: {document: x.json}, schema: {$cel: principal.tenant}, template: acme", "sources.s.schema: only databases have it. Take it out"},
	} {
		c, err := config.Parse("f.yaml", []byte("sources: {s: {"+tt.keys+"}}\n"), func(string) (string, bool) { return "", false })
		got := ""
		if err != nil {
			got = err.Error()
		}
		if tt.want == "" && (got != "" || c.Rules.Schemas["s"] == "" || c.Sources[0].Schemas != nil) || !strings.Contains(got, tt.want) {
			t.Errorf("%s:\n got %s\nwant %s", tt.keys, got, tt.want)
		}
	}
}

// TestChooseTemplate checks that the tables of a template keep their own names. Keys can name them with and without
// the schema.
func TestChooseTemplate(t *testing.T) {
	ch := parsed(t, "sources: {s: {url: 'postgres://h/db', schema: {$cel: principal.tenant}, template: acme, tables: {except: [acme.secrets, drafts]}, rename: {acme.users: people}}}\n").Chooser("s")
	ch.Begin()
	for table, want := range map[string]string{"issues": "issues", "users": "people", "secrets": "", "drafts": ""} {
		if name, _ := ch.Choose("", table); name != want {
			t.Errorf("%s is the class %q, want %q", table, name, want)
		}
	}
	if err := ch.Faults(); err != nil {
		t.Error(err)
	}
}
