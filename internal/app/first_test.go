package app_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/scaffold"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// helpdesk is a database of customers and their tickets, valid for both SQLite and PostgreSQL.
const helpdesk = `
CREATE TABLE customers (id integer PRIMARY KEY, first_name text, last_name text, email text, city text);
CREATE TABLE tickets (id integer PRIMARY KEY, customer_id integer REFERENCES customers (id), subject varchar(120), body text, state varchar(10));
CREATE TABLE ticket_notes (id integer PRIMARY KEY, ticket_id integer REFERENCES tickets (id), note text);
CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer, customer_name text, total integer);
CREATE TABLE parts (id integer PRIMARY KEY, title varchar(80), description text);
CREATE VIEW open_tickets AS SELECT t.id, c.last_name AS who, t.body AS said FROM tickets t JOIN customers c ON c.id = t.customer_id WHERE t.state = 'open';
INSERT INTO customers VALUES (1, 'Ada', 'Quill', 'ada@example.com', 'Oslo'), (2, 'Bob', 'Quill', 'bob@example.com', 'Bergen'), (3, 'Cleo', 'Marsh', 'cleo@example.com', 'Oslo');
INSERT INTO tickets VALUES (1, 1, 'Parcel late', 'It never came. Call me at +49 171 1234567 please.', 'open'), (2, 2, 'Wrong colour', 'My card 4111 1111 1111 1111 was charged twice.', 'open'),
	(3, 1, 'Thanks', 'All is well now, thank you.', 'done'), (4, 3, 'Mail', 'Write to cleo@example.com from now on.', 'done');
INSERT INTO orders VALUES (1, 1, 'Ada Quill', 5), (2, 1, 'Ada Quill', 7);
INSERT INTO parts VALUES (1, 'Cup', 'A cup that is made of clay.'), (2, 'Bowl', 'A bowl that is made of wood.');`

// TestFirstConfiguration runs init on a help desk, and queries it with the generated configuration. Names of
// customers can be distinguished and grouped, and tickets are readable without data that identifies people. No masked
// value reaches an agent, not even through a database view.
func TestFirstConfiguration(t *testing.T) {
	for name, fill := range map[string]func(t *testing.T, dir string) string{
		"sqlite": func(t *testing.T, dir string) string {
			db, err := sql.Open("sqlite", filepath.Join(dir, "desk.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec(helpdesk); err != nil {
				t.Fatal(err)
			}
			return "sqlite:" + filepath.Join(dir, "desk.db")
		},
		"postgres": func(t *testing.T, _ string) string {
			at := services.Postgres(t)
			admin, err := pgx.Connect(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			defer admin.Close(t.Context())
			if _, err := admin.PgConn().Exec(t.Context(), helpdesk).ReadAll(); err != nil {
				t.Fatal(err)
			}
			return at
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := fill(t, dir)
			classes, _, evidence, err := app.Look(t.Context(), config.Source{Name: "desk", URL: at})
			if err != nil {
				t.Fatal(err)
			}
			d, err := scaffold.Of(scaffold.Source{Name: "desk", URL: at}, classes, evidence, scaffold.Answers{})
			if err != nil {
				t.Fatal(err)
			}
			const usual = "{pattern: [email, phone, iban, card]}"
			for _, want := range []string{
				"mask: {first_name: pseudonym, last_name: pseudonym, email: partial}",
				"mask: {body: " + usual + "}",
				"mask: {note: " + usual + "}", // an empty table
				"mask: {customer_name: partial}",
				"# mask: {description: " + usual + "}   # free text: none of 2 sampled values has such data",
				"mask: {said: null, who: null}",
			} {
				if !strings.Contains(d.Text, want+"\n") {
					t.Errorf("it lacks %s:\n%s", want, d.Text)
				}
			}
			file := filepath.Join(dir, "bailiwick.yaml")
			if err := os.WriteFile(file, []byte(strings.Replace(d.Text, "store: sqlite:bailiwick.db", "store: sqlite:"+filepath.Join(dir, "store.db"), 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := config.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := app.Build(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			bot := identity.Principal{ID: "token:1", Kind: identity.Agent, Owner: "ana", Scopes: []identity.Scope{identity.Read}}
			call := func(name, arguments string) string {
				t.Helper()
				args, err := value.Read([]byte(arguments), 0)
				if err != nil {
					t.Fatal(err)
				}
				a, err := p.Tools.Call(t.Context(), bot, tool.Request{Name: name, Arguments: args})
				if err != nil {
					return fmt.Sprintf("%+v", err)
				}
				return a.Text + string(a.Structured)
			}
			all := call("query_class", `{"class_name": "tickets", "keys": ["id", "body"]}`)
			for _, want := range []string{"Call me at [phone] please.", "My card [card] was charged twice.", "Write to [email] from now on.", "All is well now, thank you."} {
				if !strings.Contains(all, want) {
					t.Errorf("no %q in %s", want, all)
				}
			}
			grouped := call("query_sql", `{"sql": "SELECT c.last_name, count(*) AS n FROM tickets t JOIN customers c ON c.id = t.customer_id GROUP BY c.last_name ORDER BY n DESC"}`)
			if n := len(regexp.MustCompile(`"Customer [0-9A-Z]{4}"`).FindAllString(grouped, -1)); n < 3 {
				t.Errorf("%d customers in %s", n, grouped)
			}
			shown := all + grouped
			for _, class := range []string{"customers", "open_tickets", "orders", "ticket_notes"} {
				shown += call("query_class", `{"class_name": "`+class+`"}`)
			}
			for _, canary := range []string{"Ada", "Bob", "Cleo", "Quill", "Marsh", "1234567", "4111", "@example"} {
				if strings.Contains(shown, canary) {
					t.Errorf("an agent is shown %s: %s", canary, shown)
				}
			}
		})
	}
}
