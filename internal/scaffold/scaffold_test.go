package scaffold

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// table returns a class with fields written as "name:type". A "!" after the type means not null. "name>target" is a
// pointer, and "name:type<field" is generated from another field. The first field is the key.
func table(name string, fields ...string) schema.Class {
	types := map[string]schema.Type{"int": schema.Integer, "text": schema.String, "bool": schema.Boolean, "date": schema.Date,
		"json": schema.JSON, "bytes": schema.Bytes}
	c := schema.Class{Source: "app", Name: name, Table: name}
	for _, f := range fields {
		f, notNull := strings.CutSuffix(f, "!")
		f, from, made := strings.Cut(f, "<")
		name, target, points := strings.Cut(f, ">")
		name, typ, _ := strings.Cut(name, ":")
		if points {
			c.Relations = append(c.Relations, schema.Relation{Fields: []string{name}, Target: target, TargetFields: []string{"id"}})
			typ = "int"
		}
		field := schema.Field{Name: name, Type: types[typ], NotNull: notNull}
		if made {
			field.Generated, field.From = true, []string{from}
		}
		c.Fields = append(c.Fields, field)
	}
	c.Key = []string{c.Fields[0].Name}
	return c
}

// rules returns the rule of each class on one line, without comments.
func rules(t *testing.T, classes ...schema.Class) string {
	t.Helper()
	d, err := Of(Source{Name: "app", URL: "sqlite:app.db"}, classes, Evidence{}, Answers{})
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
		{"the word of most classes", []schema.Class{table("a", "id:int", "account_id:int", "shop_id:int"), table("b", "id:int", "account_id:int")},
			"a: tenant: {field: account_id, is: principal.tenant}\nb: tenant: {field: account_id, is: principal.tenant}"},
		{"the tenant itself, by what points to it", []schema.Class{table("firms", "id:int"), table("a", "id:int", "company_id>firms!"), table("b", "id:int", "company_id>firms!")},
			"firms: tenant: {field: id, is: principal.tenant}\na: tenant: {field: company_id, is: principal.tenant}\nb: tenant: {field: company_id, is: principal.tenant}"},
		{"a text is no tenant", []schema.Class{table("a", "id:int", "company:text"), table("b", "id:int", "company:text"), table("c", "id:int", "a_id>a")}, "a: {}\nb: {}\nc: {}"},
		{"a customer's company is no tenant", []schema.Class{table("companies", "id:int"), table("contacts", "id:int", "company_id>companies!"), table("deals", "id:int", "contact_id>contacts!"), table("notes", "id:int", "deal_id>deals!")},
			"companies: {}\ncontacts: {}\ndeals: {}\nnotes: {}"},
		{"a store that most classes don't lead to", []schema.Class{table("store", "id:int"), table("staff", "id:int", "store_id>store!"), table("inventory", "id:int", "store_id>store!"), table("film", "id:int"), table("actor", "id:int"), table("city", "id:int")},
			"store: {}\nstaff: {}\ninventory: {}\nfilm: {}\nactor: {}\ncity: {}"},
		{"a team", []schema.Class{table("teams", "id:int"), table("members", "id:int", "team_id>teams!"), table("boards", "id:int", "team_id>teams!"), table("cards", "id:int", "board_id>boards!")},
			"teams: tenant: {field: id, is: principal.tenant}\nmembers: tenant: {field: team_id, is: principal.tenant}\nboards: tenant: {field: team_id, is: principal.tenant}\ncards: tenant: {through: board_id}"},
		{"a chain, the shortest way", []schema.Class{table("a", "id:int", "org_id:int"), table("b", "id:int", "a_id>a!"), table("c", "id:int", "b_id>b!"), table("d", "id:int", "c_id>c!", "b_id>b!")},
			"a: tenant: {field: org_id, is: principal.tenant}\nb: tenant: {through: a_id}\nc: tenant: {through: b_id}\nd: tenant: {through: b_id}"},
		{"a pointer that may be null is no way", []schema.Class{table("a", "id:int", "org_id:int"), table("b", "id:int", "org_id:int"), table("c", "id:int", "a_id>a!"), table("d", "id:int", "a_id>a")},
			"a: tenant: {field: org_id, is: principal.tenant}\nb: tenant: {field: org_id, is: principal.tenant}\nc: tenant: {through: a_id}\nd: hidden: true"},
		{"through a thing before a person", []schema.Class{table("users", "id:int", "org_id:int"), table("jobs", "id:int", "org_id:int"), table("logs", "id:int", "user_id>users!", "job_id>jobs!")},
			"users: tenant: {field: org_id, is: principal.tenant}\njobs: tenant: {field: org_id, is: principal.tenant}\nlogs: tenant: {through: job_id}"},
		{"a ring without a tenant is hidden", []schema.Class{table("a", "id:int", "org_id:int"), table("b", "id:int", "org_id:int"), table("x", "id:int", "y_id>y!"), table("y", "id:int", "x_id>x!", "y_id>y")},
			"a: tenant: {field: org_id, is: principal.tenant}\nb: tenant: {field: org_id, is: principal.tenant}\nx: hidden: true\ny: hidden: true"},
		{"a pointer to a hidden class is no way", []schema.Class{table("sessions", "id:int", "org_id:int"), table("a", "id:int", "org_id:int"), table("b", "id:int", "org_id:int"), table("x", "id:int", "s_id>sessions!")},
			"sessions: hidden: true\na: tenant: {field: org_id, is: principal.tenant}\nb: tenant: {field: org_id, is: principal.tenant}\nx: hidden: true"},
		{"credential stores", []schema.Class{table("ApiKeys", "id:int"), table("oauth_grants", "id:int"), table("password_resets", "id:int"), table("tokens", "id:int"), table("tokenised_cards", "id:int")},
			"ApiKeys: hidden: true\noauth_grants: hidden: true\npassword_resets: hidden: true\ntokens: hidden: true\ntokenised_cards: {}"},
		{"nothing but credentials", []schema.Class{table("x", "password:text", "api_token:text")}, "x: hidden: true"},
		{"live records", []schema.Class{table("a", "id:int", "deletedAt:date", "archived:bool"), table("b", "id:int", "is_deleted:int"), table("c", "id:int", "deleted_at:date!", "archived:text")},
			"a: canonical: {deletedAt: null, archived: {$ne: true}}\nb: canonical: {is_deleted: {$ne: 1}}\nc: {}"},
		{"heavy fields, never keys and pointers", []schema.Class{table("a", "body:text", "html:text", "raw_payload:json", "scan:bytes", "content>b"), table("b", "id:int")},
			"a: denied: [raw_payload, scan] large: [html]\nb: {}"},
		{"settings and connections", []schema.Class{table("app_settings", "id:int", "name:text", "value:text", "updated:date"), table("sso_connectors", "id:int", "name:text", "config:json")},
			"app_settings: denied: [value]\nsso_connectors: denied: [config]"},
		{"personal data", []schema.Class{table("users", "id:int", "name:text", "e_mail:text", "phoneNumber:text", "date_of_birth:date", "ip_address:text", "email_verified:bool", "login:text"), table("shops", "name:text", "street:text")},
			"users: mask: {name: pseudonym, e_mail: partial, phoneNumber: partial, date_of_birth: null}\nshops: mask: {street: partial}"},
		{"names of people beside their companies", []schema.Class{table("suppliers", "id:int", "company_name:text", "contact_name:text", "product_name:text"), table("orders", "id:int", "customerName:text", "ship_name:text")},
			"suppliers: mask: {contact_name: pseudonym}\norders: mask: {customerName: partial}"},
		{"personal data as a key stays", []schema.Class{table("people", "email:text", "salary:int")}, "people: mask: {salary: null}"},
		{"made from what isn't shown", []schema.Class{table("users", "id:int", "email:text", "password:text", "title:text", "search:text<email", "hint:text<password", "slug:text<title", "email_domain:text<email")},
			"users: mask: {email: partial} denied: [search, hint, email_domain]"},
		{"not for outsiders", []schema.Class{table("a", "id:int", "internal_note:text", "internal:text")}, "a: denied: [internal_note]"},
	} {
		if got := rules(t, tt.classes...); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestKeysOfSeveralFields checks a pointer of several fields. One of them must be recognised as the tenant of the
// target record.
func TestKeysOfSeveralFields(t *testing.T) {
	items := table("items", "id:int", "firm:int!", "order:int!")
	items.Relations = []schema.Relation{{Fields: []string{"firm", "order"}, Target: "orders", TargetFields: []string{"org_id", "id"}}}
	want := "orders: tenant: {field: org_id, is: principal.tenant}\nitems: tenant: {field: firm, is: principal.tenant}\nusers: tenant: {field: org_id, is: principal.tenant}"
	if got := rules(t, table("orders", "id:int", "org_id:int!"), items, table("users", "id:int", "org_id:int!")); got != want {
		t.Errorf("%s", got)
	}
}

// TestHostileNames drafts rules for names that have a special meaning in the file. The file must contain the same
// names in a readable form.
func TestHostileNames(t *testing.T) {
	for name, want := range map[string]string{"${HOME}": `"app.${HOME}": {}`, "a\u202etxt.b": `"app.a\u202etxt.b": {}`, "a\u0085b": `"app.a\u0085b": {}`, "x: {}\nstore: y": `"app.x: {}\nstore: y": {}`, "é": `"app.é": {}`} {
		d, err := Of(Source{Name: "app", URL: "sqlite:app.db"}, []schema.Class{table(name, "id:int", "title:text")}, Evidence{}, Answers{})
		if err != nil || !strings.Contains(d.Text, "\n  "+want+"\n") {
			t.Errorf("%q: %v\n%s", name, err, d.Text)
		}
	}
}

func TestNoTables(t *testing.T) {
	d, err := Of(Source{Name: "app", URL: "sqlite:app.db"}, nil, Evidence{}, Answers{})
	if err != nil || d.Classes != 0 || d.Confirm != 0 || strings.Contains(d.Text, "\nclasses:") {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestAnswers checks the effects of a person's answers. An unknown answer must return an error that lists the
// possible answers.
func TestAnswers(t *testing.T) {
	classes := []schema.Class{table("store", "id:int"), table("staff", "id:int", "email:text", "store_id>store!"), table("film", "id:int"), table("actor", "id:int")}
	of := func(a Answers) string {
		t.Helper()
		d, err := Of(Source{Name: "app", URL: "sqlite:app.db"}, classes, Evidence{}, a)
		if err != nil {
			return err.Error()
		}
		return d.Text
	}
	for _, tt := range []struct {
		answers  Answers
		has, not string
	}{
		{Answers{}, "# Not taken: store_id is in 1 of 4 classes, and means a record of store. 2 other classes lead to no tenant, and the rule hides them: film, actor.", "tenant: {field"},
		{Answers{Tenant: "store_id"}, "tenant: {field: store_id, is: principal.tenant}", "# Not taken"},
		{Answers{Tenant: None}, "# There are no tenants", "Not taken"},
		{Answers{Tenant: "org_id"}, "no class has a field org_id that could name a tenant. Such fields are store_id", "listen"},
		{Answers{}, "mask: {email: partial}", "denied:"},
		{Answers{Personal: Hide}, "denied: [email]", "mask:"},
		{Answers{Personal: Show}, "app.staff: {}", "mask:"},
		{Answers{Personal: "x"}, "Write mask, show or hide", "listen"},
		{Answers{}, "gates: {writes: off}", "gates: {writes: review"},
		{Answers{Writes: Review}, "gates: {writes: review, raw_writes: review}", "off"},
		{Answers{Writes: "on"}, "Write off or review", "listen"},
	} {
		if got := of(tt.answers); !strings.Contains(got, tt.has) || strings.Contains(got, tt.not) {
			t.Errorf("%+v:\n%s", tt.answers, got)
		}
	}
}

// TestEvidence checks the effects of sampled values.
func TestEvidence(t *testing.T) {
	class := table("notes", "id:int", "memo:text", "extra:json", "code_word:text", "body_md:text", "contact:text", "sha:text", "shape:json", "none:json", "photo:bytes", "digest_of:bytes")
	e := Evidence{Fields: map[string]samples.Seen{}}
	tally := func(field string, values ...string) {
		var y samples.Tally
		for _, v := range values {
			y.Add(value.OfString(v))
		}
		e.Fields["app.notes."+field] = y.Counts()
	}
	tally("memo", "hello", "$2b$12$KIXQ4b0eC1Jq8Qh3nV5o3uO9u5Hq0m1s3b8i7o6y5t4r3e2w1q0pa")
	tally("extra", `{"a": 1}`, `{"google": {"access_token": "ya29.x"}}`)
	tally("code_word", "x9K2mQ7pL4vT8nR3wY6zB1cD5", "Zm9vYmFyMTIzNDU2Nzg5MDEyMzQ1Njc4OTA=")
	tally("sha", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "d41d8cd98f00b204e9800998ecf8427e00000000")
	prose := []string{"a text of people about ghp_0123456789abcdef0123 and more"}
	for range 20 {
		prose = append(prose, "a text of people about this and that")
	}
	tally("body_md", prose...)
	tally("contact", "ada@example.com", "bob@example.com")
	var shapes []string
	for i := range 20 {
		shapes = append(shapes, fmt.Sprintf(`{"width": %d, "color": "red"}`, i))
	}
	tally("shape", shapes...)
	var photos, digests samples.Tally
	for i := range byte(20) {
		photos.Add(value.OfBytes(strings.Repeat(string([]byte{0xff, i, 0xd8}), 500)))
		digests.Add(value.OfBytes(strings.Repeat(string([]byte{0xff, i, 0xd8, 7}), 8)))
	}
	e.Fields["app.notes.photo"], e.Fields["app.notes.digest_of"] = photos.Counts(), digests.Counts()
	d, err := Of(Source{Name: "app", URL: "sqlite:app.db"}, []schema.Class{class}, e, Answers{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"denied: [memo, extra, code_word, none, digest_of]", "there are no values to tell from", "20 of 20 sampled values look like keys", "1 of 2 sampled values look like credentials", "2 of 2 sampled values look like keys or hashes", "mask: {contact: partial}"} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("no %q in\n%s", want, d.Text)
		}
	}
}

// TestAddresses checks how the address of a database is written. Only the variable for a removed password may be
// expanded.
func TestAddresses(t *testing.T) {
	for _, tt := range []struct {
		source Source
		want   []string
	}{
		{Source{Name: "app", URL: "mongodb://reader:${MONGODB_PASSWORD}@db.example/a${b}", WithPassword: true},
			[]string{`app: {url: "mongodb://reader:${MONGODB_PASSWORD}@db.example/a$${b}"}`, "environment variable MONGODB_PASSWORD"}},
		{Source{Name: "app", URL: "postgres://reader@db.example/shop", WithPassword: true}, []string{`app: {url: "postgres://reader@db.example/shop"}`, "environment variable PGPASSWORD"}},
		{Source{Name: "app", URL: "sqlite:${MONGODB_PASSWORD}.db"}, []string{`app: {url: "sqlite:$${MONGODB_PASSWORD}.db"}`}},
	} {
		d, err := Of(tt.source, []schema.Class{table("notes", "id:int", "title:text")}, Evidence{}, Answers{})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(d.Text, want) {
				t.Errorf("%s: it lacks %s:\n%s", tt.source.URL, want, d.Text)
			}
		}
	}
}

// TestFollows checks that init's comments on a view name the columns that the view is derived from.
func TestFollows(t *testing.T) {
	view := table("people", "id:int", "shown:text", "mail:text", "archived:bool", "login:text", "lost:text")
	view.View, view.Key = true, nil
	for i, from := range []schema.Origin{{Table: "users", Column: "id"}, {Table: "users", Column: "name"}, {Table: "users", Column: "password"}, {Table: "users", Column: "email"}, {Table: "other", Column: "login"}, {Table: "users"}} {
		view.Fields[i].Origins = []schema.Origin{from}
	}
	view.Fields[5].Untraced = "a form that isn't understood"
	got := rules(t, table("users", "id:int", "name:text", "email:text", "password:text"), view)
	want := "users: mask: {name: pseudonym, email: partial}\npeople: mask: {shown: null, archived: null} denied: [mail, lost]"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestSeveralFiles checks the configuration of a database whose classes don't fit into one file. All files together are
// sound, and each class is in one.
func TestSeveralFiles(t *testing.T) {
	const n = 2500
	var classes []schema.Class
	for i := range n {
		c := schema.Class{Source: "app", Name: fmt.Sprint("orders_", i), Table: fmt.Sprint("orders_", i), Key: []string{"id"}}
		for _, name := range []string{"id", "org_id", "status", "email", "phone"} {
			c.Fields = append(c.Fields, schema.Field{Name: name, Type: schema.String})
		}
		classes = append(classes, c)
	}
	if _, err := Of(Source{Name: "app", URL: "sqlite:app.db"}, classes, Evidence{}, Answers{}); err == nil || !strings.Contains(err.Error(), "with --out") {
		t.Errorf("to standard output: %v", err)
	}
	d, err := Of(Source{Name: "app", URL: "sqlite:app.db", File: "conf.yaml"}, classes, Evidence{}, Answers{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(d.Text, "classes:\n") || len(d.Included) < 2 || d.Included[0].Name != "conf.classes-01.yaml" {
		t.Fatalf("%d files\n%s", len(d.Included), d.Text)
	}
	seen := 0
	for _, f := range d.Included {
		if !strings.Contains(d.Text, `- "`+f.Name+`"`) && !strings.Contains(d.Text, "- "+f.Name) {
			t.Errorf("%s isn't included", f.Name)
		}
		seen += strings.Count(f.Text, "\n  app.orders_")
	}
	if seen != n || d.Classes != n || d.Confirm < n {
		t.Errorf("%d classes in files, %d said, %d guesses", seen, d.Classes, d.Confirm)
	}
}
