package scaffold

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// table makes a class from fields written as "name:type", with "!" after a type that is never null, or as
// "name>target" for a pointer. The first field is the key.
func table(name string, fields ...string) schema.Class {
	types := map[string]schema.Type{"int": schema.Integer, "text": schema.String, "bool": schema.Boolean, "date": schema.Date,
		"json": schema.JSON, "bytes": schema.Bytes}
	c := schema.Class{Source: "app", Name: name, Table: name}
	for _, f := range fields {
		f, notNull := strings.CutSuffix(f, "!")
		name, target, points := strings.Cut(f, ">")
		name, typ, _ := strings.Cut(name, ":")
		if points {
			c.Relations = append(c.Relations, schema.Relation{Fields: []string{name}, Target: target, TargetFields: []string{"id"}})
			typ = "int"
		}
		c.Fields = append(c.Fields, schema.Field{Name: name, Type: types[typ], NotNull: notNull})
	}
	c.Key = []string{c.Fields[0].Name}
	return c
}

// rules returns the rule of each class on one line, without comments.
func rules(t *testing.T, classes ...schema.Class) string {
	t.Helper()
	d, err := Of(Source{Name: "app", URL: "sqlite:app.db"}, classes)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(d.Text, "classes:\n")
	var out []string
	for line := range strings.Lines(text) {
		line, _, _ := strings.Cut(strings.TrimRight(line, "\n"), "#")
		switch {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "    "):
			out[len(out)-1] += " " + strings.TrimSpace(line)
		default:
			out = append(out, strings.TrimPrefix(strings.TrimSpace(line), "app."))
		}
	}
	return strings.Join(out, "\n")
}

func TestGuesses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		classes []schema.Class
		want    string
	}{
		{"nothing to guess", []schema.Class{table("notes", "id:int", "title:text")}, `notes: {}`},
		{"spellings of a tenant", []schema.Class{table("a", "id:int", "organisation_id:int"), table("b", "id:int", "organisationId:int"), table("c", "id:int", "OrganisationID:int")},
			"a: tenant: {field: organisation_id, is: principal.tenant}\nb: tenant: {field: organisationId, is: principal.tenant}\nc: tenant: {field: OrganisationID, is: principal.tenant}"},
		{"the word of most classes", []schema.Class{table("a", "id:int", "account_id:int", "tenant_id:int"), table("b", "id:int", "account_id:int")},
			"a: tenant: {field: account_id, is: principal.tenant}\nb: tenant: {field: account_id, is: principal.tenant}"},
		{"the tenant itself, by what points to it", []schema.Class{table("firms", "id:int"), table("a", "id:int", "company_id>firms!")},
			"firms: tenant: {field: id, is: principal.tenant}\na: tenant: {field: company_id, is: principal.tenant}"},
		{"a chain, the shortest way", []schema.Class{table("a", "id:int", "org_id:int"), table("b", "id:int", "a_id>a!"), table("c", "id:int", "b_id>b!"), table("d", "id:int", "c_id>c!", "b_id>b")},
			"a: tenant: {field: org_id, is: principal.tenant}\nb: tenant: {through: a_id}\nc: tenant: {through: b_id}\nd: tenant: {through: b_id}"},
		{"through a thing before a person", []schema.Class{table("users", "id:int", "org_id:int"), table("jobs", "id:int", "org_id:int"), table("logs", "id:int", "user_id>users!", "job_id>jobs!")},
			"users: tenant: {field: org_id, is: principal.tenant}\njobs: tenant: {field: org_id, is: principal.tenant}\nlogs: tenant: {through: job_id}"},
		{"a ring without a tenant is hidden", []schema.Class{table("a", "id:int", "org_id:int"), table("x", "id:int", "y_id>y!"), table("y", "id:int", "x_id>x!", "y_id>y")},
			"a: tenant: {field: org_id, is: principal.tenant}\nx: hidden: true\ny: hidden: true"},
		{"a pointer to a hidden class is no way", []schema.Class{table("sessions", "id:int", "org_id:int"), table("x", "id:int", "s_id>sessions!")},
			"sessions: hidden: true\nx: hidden: true"},
		{"credential stores", []schema.Class{table("ApiKeys", "id:int"), table("oauth_grants", "id:int"), table("password_resets", "id:int"), table("tokens", "id:int"), table("tokenised_cards", "id:int")},
			"ApiKeys: hidden: true\noauth_grants: hidden: true\npassword_resets: hidden: true\ntokens: hidden: true\ntokenised_cards: {}"},
		{"nothing but credentials", []schema.Class{table("x", "password:text", "api_token:text")}, "x: hidden: true"},
		{"live records", []schema.Class{table("a", "id:int", "deletedAt:date", "archived:bool"), table("b", "id:int", "is_deleted:int"), table("c", "id:int", "deleted_at:date!", "archived:text")},
			"a: canonical: {deletedAt: null, archived: {$ne: true}}\nb: canonical: {is_deleted: {$ne: 1}}\nc: {}"},
		{"heavy fields, never keys and pointers", []schema.Class{table("a", "body:text", "html:text", "raw_payload:json", "scan:bytes", "content>b"), table("b", "id:int")},
			"a: large: [html, raw_payload, scan]\nb: {}"},
		{"not for outsiders", []schema.Class{table("a", "id:int", "internal_note:text", "internal:text")}, "a: denied: [internal_note]"},
	} {
		if got := rules(t, tt.classes...); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

func TestNoTables(t *testing.T) {
	d, err := Of(Source{Name: "app", URL: "sqlite:app.db"}, nil)
	if err != nil || d.Classes != 0 || d.Confirm != 0 || strings.Contains(d.Text, "\nclasses:") {
		t.Errorf("%+v, %v", d, err)
	}
}
