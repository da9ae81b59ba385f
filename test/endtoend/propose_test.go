package endtoend

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"database/sql"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	sqlitesource "github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// An office is a gateway with changes, for a small tracker with two tenants.
type office struct {
	*testing.T
	gateway *bailiwick.Gateway
	store   *sqlite.Store
	tokens  *identity.Tokens
	db      *sql.DB // the tracker, for writes by other programs
	sources map[string]source.Source
	rules   policy.Rules
	queue   *change.Queue
	path    string // the path of the store
	driver  string // the driver of db, or "" for SQLite
}

const officeTables = `
CREATE TABLE issues (id INTEGER PRIMARY KEY, org TEXT NOT NULL, title TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'Todo' CHECK (status IN ('Todo', 'Done')),
  n INTEGER, secret_note TEXT, code TEXT UNIQUE, points INTEGER CHECK (points BETWEEN 0 AND 100), CHECK (n <> 7 OR org = ''));
CREATE TABLE spans (id INTEGER PRIMARY KEY, lo INTEGER, hi INTEGER, ceiling INTEGER, CONSTRAINT ordered CHECK (LO <= hi), CONSTRAINT low CHECK (ceiling > hi OR ceiling IS NULL));
CREATE TABLE shares (id INTEGER PRIMARY KEY, title TEXT NOT NULL, orgs JSON, org TEXT);
CREATE TABLE comments (id INTEGER PRIMARY KEY, issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE, body TEXT NOT NULL);
INSERT INTO issues (id, org, title, n, secret_note, code) VALUES (1, 'acme', 'one', 9007199254740993, 'psst', 'a'), (2, 'acme', 'two', NULL, NULL, 'b'), (9, 'globex', 'theirs', 1, NULL, 'taken');
INSERT INTO comments VALUES (1, 1, 'hm'), (2, 1, 'so'), (3, 9, 'theirs');
`

// newOffice opens an office. The function more may change its options.
func newOffice(t *testing.T, more func(*bailiwick.Options, *change.Options)) *office {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "tracker.db")
	db, err := sql.Open("sqlite", path+"?_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec(officeTables); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "bailiwick.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	reads, err := sqlitesource.Open(t.Context(), "app", path)
	if err != nil {
		t.Fatal(err)
	}
	src, err := reads.Writable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	o := &office{T: t, path: filepath.Join(dir, "bailiwick.db"), store: store, db: db, tokens: identity.NewTokens(identity.TokenOptions{Store: store, Audit: store})}
	o.rules = policy.Rules{Version: "v1", Gates: policy.Gates{RawWrites: policy.Review}, Classes: map[string]policy.ClassRule{
		"issues":   {Tenant: &policy.TenantRule{Field: "org"}, Denied: []string{"secret_note"}},
		"comments": {Tenant: &policy.TenantRule{Through: "issue_id"}},
	}}
	changes := change.Options{Store: store, Rate: 100_000}
	options := bailiwick.Options{Sources: map[string]source.Source{"app": src}, Audit: store, History: store, Refresher: o.tokens}
	if more != nil {
		more(&options, &changes)
	}
	o.sources = options.Sources
	if options.Rules.Version == "" {
		o.rules.Schemas = options.Rules.Schemas
		options.Rules = o.rules
	}
	o.rules = options.Rules
	o.queue = change.NewQueue(changes)
	options.Changes = o.queue
	if o.gateway, _, err = bailiwick.New(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	return o
}

// token creates a credential and returns its principal.
func (o *office) token(kind identity.Kind, owner, tenant string, scopes ...identity.Scope) identity.Principal {
	o.Helper()
	operator := identity.Principal{ID: "cli", Kind: identity.Human, Scopes: []identity.Scope{identity.Operator}}
	kept, _, err := o.tokens.Create(o.Context(), operator, identity.Token{Name: string(kind) + " of " + owner, Kind: kind, Owner: owner, Tenant: tenant, Scopes: scopes})
	if err != nil {
		o.Fatal(err)
	}
	p, err := kept.Principal()
	if err != nil {
		o.Fatal(err)
	}
	return p
}

func (o *office) bot() identity.Principal {
	return o.token(identity.Agent, "ana", "acme", identity.Read, identity.Write, identity.Delete)
}

func (o *office) person(name string) bailiwick.Reviewer {
	return o.gateway.Reviewer(o.token(identity.Human, name, "acme", identity.Read, identity.Review), "visit")
}

// propose proposes writes as p. The writes are JSON.
func (o *office) propose(p identity.Principal, writes string) (s *review.Sheet, err error) {
	o.Helper()
	doc, err := value.Read([]byte(writes), 0)
	if err != nil {
		o.Fatal(err)
	}
	list := doc.List()
	if doc.Kind() == value.Object {
		list = []value.Value{doc}
	}
	r := write.Request{Tool: "propose_changes", Reason: "because", Input: doc}
	for _, v := range list {
		w, err := write.Parse(v, "")
		if err != nil {
			o.Fatal(err)
		}
		r.Writes = append(r.Writes, w)
	}
	return o.ask(p, policy.WriteRaw, r)
}

// ask proposes r as p. It uses a tool for this kind of writes.
func (o *office) ask(p identity.Principal, kind policy.Write, r write.Request) (s *review.Sheet, err error) {
	err = o.gateway.Do(o.Context(), p, bailiwick.CallSpec{Tool: r.Tool, Needs: identity.Write, Writes: kind, Proposes: true, Correlation: "c1"},
		func(ctx context.Context, c *bailiwick.Call) (int, error) {
			s, err = c.Propose(ctx, r)
			return 0, err
		})
	return s, err
}

// holds returns the text of a single value in the tracker.
func (o *office) holds(query string) string {
	o.Helper()
	var text sql.NullString
	if err := o.db.QueryRow(query).Scan(&text); err != nil {
		return err.Error()
	}
	return text.String
}

func kindOf(err error) string {
	if err == nil {
		return ""
	}
	return problem.Of(err).Kind
}

// TestChange follows a change from an agent's proposal to a person's revert.
func TestChange(t *testing.T) {
	o := newOffice(t, nil)
	bot := o.bot()
	s, err := o.propose(bot, `{"op": "update", "class": "issues", "id": "1", "data": {"status": "Done", "n": 9007199254740995}}`)
	if err != nil {
		t.Fatal(err)
	}
	if s.State != change.Pending || s.Title != `Issue 1 "one": status Todo → Done, n 9007199254740993 → 9007199254740995` || s.Need != 1 || s.Risk != change.Low || o.holds("SELECT status FROM issues WHERE id = 1") != "Todo" {
		t.Fatalf("%+v", s)
	}
	again, err := o.propose(bot, `{"op": "update", "class": "issues", "id": "1", "data": {"n": 9007199254740995, "status": "Done"}}`)
	if err != nil || again.ID != s.ID {
		t.Error("the same wish is another change", err)
	}
	if _, err := o.person("Ana ").Approve(t.Context(), s.ID, s.Digest, ""); kindOf(err) != "four_eyes" {
		t.Error("the agent's human approved:", err)
	}
	ben := o.person("ben")
	sheet, err := ben.Sheet(t.Context(), s.ID)
	if err != nil {
		t.Fatal(err)
	}
	var diff strings.Builder
	for _, f := range sheet.Items[0].Fields {
		fmt.Fprintf(&diff, "%s %s→%s\n", f.Path, f.Before.Text, f.After.Text)
	}
	if want := "status Todo→Done\nn 9007199254740993→9007199254740995\n"; diff.String() != want || !sheet.CanApprove {
		t.Errorf("%s%+v", diff.String(), sheet.Checks)
	}
	if _, err := ben.Approve(t.Context(), s.ID, strings.Repeat("0", 64), ""); kindOf(err) != "digest" {
		t.Error("another digest was approved:", err)
	}
	done, err := ben.Approve(t.Context(), s.ID, s.Digest, "fine")
	if err != nil || done.State != change.Applied || o.holds("SELECT status || n FROM issues WHERE id = 1") != "Done9007199254740995" {
		t.Fatalf("%+v %v", done, err)
	}
	if _, err := ben.Approve(t.Context(), s.ID, s.Digest, ""); kindOf(err) != "state" {
		t.Error("approved twice:", err)
	}
	back, err := ben.Revert(t.Context(), s.ID, "not yet")
	if err != nil || back.State != change.Pending {
		t.Fatal(back, err)
	}
	// A revert is listed with its own id.
	rows, _, err := ben.Queue(t.Context(), change.Filter{States: []change.State{change.Pending}})
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	if _, err := ben.Approve(t.Context(), rows[0].ID, rows[0].Digest, ""); kindOf(err) != "four_eyes" {
		t.Error("who asked for the revert approved it:", err)
	}
	if done, err = o.person("cleo").Approve(t.Context(), rows[0].ID, rows[0].Digest, ""); err != nil || done.State != change.Applied ||
		o.holds("SELECT status || n FROM issues WHERE id = 1") != "Todo9007199254740993" {
		t.Fatalf("%+v %v", done, err)
	}
	report, err := audit.Verify(t.Context(), o.store)
	if err != nil || !report.Whole() {
		t.Error(report, err)
	}
}

// TestChangeRefused checks each reason for which a change or an approval is refused.
func TestChangeRefused(t *testing.T) {
	o := newOffice(t, nil)
	bot := o.bot()
	for _, tt := range []struct{ name, writes, want string }{
		{"another tenant's record", `{"op": "update", "class": "issues", "id": "9", "data": {"title": "x"}}`, "not_found"},
		{"no such record", `{"op": "update", "class": "issues", "id": "8", "data": {"title": "x"}}`, "not_found"},
		{"a hidden field", `{"op": "update", "class": "issues", "id": "1", "data": {"secret_note": "x"}}`, "invalid_query"},
		{"no such field", `{"op": "update", "class": "issues", "id": "1", "data": {"secret_nope": "x"}}`, "invalid_query"},
		{"a value of another type", `{"op": "update", "class": "issues", "id": "1", "data": {"n": "x"}}`, "invalid_argument"},
		{"a value outside of the enum", `{"op": "update", "class": "issues", "id": "1", "data": {"status": "Dne"}}`, "invalid_argument"},
		{"null where there must be something", `{"op": "update", "class": "issues", "id": "1", "data": {"title": null}}`, "invalid_argument"},
		{"the key", `{"op": "update", "class": "issues", "id": "1", "data": {"id": "3"}}`, "invalid_argument"},
		{"another tenant", `{"op": "create", "class": "issues", "data": {"title": "x", "org": "globex"}}`, "not_found"},
		{"nothing that is needed", `{"op": "create", "class": "issues", "data": {"n": 1}}`, "invalid_argument"},
		{"a pointer to another tenant's record", `{"op": "create", "class": "comments", "data": {"issue_id": "9", "body": "x"}}`, "invalid_argument"},
		{"a pointer to nothing", `{"op": "create", "class": "comments", "data": {"issue_id": "8", "body": "x"}}`, "invalid_argument"},
	} {
		_, err := o.propose(bot, tt.writes)
		if string(problem.CodeOf(err)) != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
	// Only reviewers see a conflict with a hidden record.
	s, err := o.propose(bot, `{"op": "create", "class": "issues", "data": {"title": "x", "code": "taken"}}`)
	if err != nil || strings.Contains(review.Text(s), "unique") {
		t.Error(s, err)
	}
	sheet, err := o.person("ben").Sheet(t.Context(), s.ID)
	if err != nil || sheet.CanApprove {
		t.Errorf("%+v %v", sheet.Checks, err)
	}
	if _, err := o.gateway.Reviewer(o.token(identity.Human, "zed", "globex", identity.Review, identity.Read), "").Sheet(t.Context(), s.ID); problem.CodeOf(err) != problem.NotFound {
		t.Error("another tenant's person sees the change:", err)
	}
	if _, err := o.gateway.Reviewer(bot, "").Sheet(t.Context(), s.ID); problem.CodeOf(err) != problem.PermissionDenied {
		t.Error("an agent sits at the desk:", err)
	}
}

// TestChangeRefusedByTheDatabase checks writes that the database would refuse. The agent must learn so at once if the
// reason is a rule over visible fields or a visible record. If the reason is a record that the agent doesn't see,
// only people may learn it.
func TestChangeRefusedByTheDatabase(t *testing.T) {
	o := newOffice(t, nil)
	bot := o.bot()
	for _, c := range []struct{ writes, want string }{
		{`{"op": "create", "class": "issues", "data": {"title": "x", "points": -1}}`, `/data/points points must be at least 0, not -1`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"code": "b"}}`, `/data/code another record of issues has the same code; change the record "2", or write another value`},
		{`[{"op": "update", "class": "issues", "id": "1", "data": {"n": 1}}, {"op": "create", "class": "issues", "data": {"title": "y", "code": "b"}}]`,
			`/writes/1/data/code another record of issues has the same code; change the record "2", or write another value`},
		{`[{"op": "update", "class": "issues", "id": "1", "data": {"n": 1}}, {"op": "create", "class": "comments", "data": {"body": "y", "issue_id": 9}}]`,
			`/writes/1/data/issue_id issue_id leads to no record of issues`},
		{`{"op": "update", "class": "issues", "id": "1", "data": {"code": "a", "n": 1}}`, ""},                                           // its own value
		{`{"op": "update", "class": "issues", "id": "1", "data": {"code": "taken"}}`, "another record has the same code"},               // the value of a hidden record
		{`[{"op": "delete", "class": "issues", "id": "2"}, {"op": "update", "class": "issues", "id": "1", "data": {"code": "b"}}]`, ""}, // the delete frees the value
		{`{"op": "update", "class": "issues", "id": "1", "data": {"n": 7}}`, "a constraint on n, org doesn't hold: n <> 7 OR org = ''"}, // a constraint over several fields
	} {
		s, err := o.propose(bot, c.writes)
		got := ""
		if err != nil {
			p := problem.Of(err)
			got = p.Pointer + " " + p.Detail
			if p.Suggestion != "" {
				got += "; " + p.Suggestion
			}
		} else {
			if s.Refused != "" {
				t.Errorf("%s: its agent is shown %q", c.writes, s.Refused)
			}
			if s, err = o.person("ben").Sheet(t.Context(), s.ID); err != nil {
				t.Fatal(err)
			}
			got = s.Refused
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.writes, got, c.want)
		}
	}
}

// TestChangeMoved checks what stops an approved change: a write in the meantime, rules that no longer allow it, and a
// principal that no longer exists.
func TestChangeMoved(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(o *office, bot identity.Principal, sheet *review.Sheet) error // performs the approval
		want change.State
		kind string
	}{
		{"nothing has moved", func(o *office, _ identity.Principal, s *review.Sheet) error { return nil }, change.Applied, ""},
		{"another field has moved", func(o *office, _ identity.Principal, s *review.Sheet) error {
			_, err := o.db.Exec("UPDATE issues SET title = 'other' WHERE id = 1")
			return err
		}, change.Applied, ""},
		{"the field has moved", func(o *office, _ identity.Principal, s *review.Sheet) error {
			_, err := o.db.Exec("UPDATE issues SET n = n + 1 WHERE id = 1")
			return err
		}, change.Stale, ""},
		{"the record has gone to another tenant", func(o *office, _ identity.Principal, s *review.Sheet) error {
			_, err := o.db.Exec("UPDATE issues SET org = 'globex' WHERE id = 1")
			return err
		}, change.Pending, "sight"},
		{"the agent's token was revoked", func(o *office, bot identity.Principal, s *review.Sheet) error {
			return o.tokens.Revoke(o.Context(), identity.Local("ops"), bot.TokenID)
		}, change.Pending, "policy"},
		{"the class is hidden now", func(o *office, bot identity.Principal, s *review.Sheet) error {
			rules := o.rules
			rules.Version, rules.Classes = "v2", map[string]policy.ClassRule{"issues": {Hidden: true}}
			return o.gateway.SetRules(o.Context(), rules, nil)
		}, change.Pending, "sight"},
		{"the gate is shut now", func(o *office, bot identity.Principal, s *review.Sheet) error {
			rules := o.rules
			rules.Version, rules.Gates.RawWrites = "v2", policy.Off
			return o.gateway.SetRules(o.Context(), rules, nil)
		}, change.Pending, "policy"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := newOffice(t, nil)
			bot := o.bot()
			s, err := o.propose(bot, `{"op": "update", "class": "issues", "id": "1", "data": {"n": 5}}`)
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.do(o, bot, s); err != nil {
				t.Fatal(err)
			}
			_, err = o.person("ben").Approve(t.Context(), s.ID, s.Digest, "")
			if kindOf(err) != tt.kind {
				t.Errorf("%v, want %s", err, tt.kind)
			}
			kept, err := o.store.Get(t.Context(), s.ID)
			if err != nil || kept.State != tt.want {
				t.Errorf("%s %v, want %s", kept.State, err, tt.want)
			}
			if n := o.holds("SELECT n FROM issues WHERE id = 1"); (n == "5") != (tt.want == change.Applied) {
				t.Errorf("%s: n is %s", kept.State, n)
			}
		})
	}
}

// TestChangeRecorded checks under which name the audit records each step of a change. A person's decision must be
// recorded under the person's name and not the agent's.
func TestChangeRecorded(t *testing.T) {
	o := newOffice(t, nil)
	s, err := o.propose(o.bot(), `{"op": "update", "class": "issues", "id": "1", "data": {"status": "Done"}}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.person("ben").Approve(t.Context(), s.ID, s.Digest, ""); err != nil {
		t.Fatal(err)
	}
	var steps []string
	err = o.store.Records(t.Context(), 1, func(r audit.Record) bool {
		if r.Change == s.ID {
			steps = append(steps, r.Tool+" "+r.Outcome+" "+r.Owner)
		}
		return true
	})
	want := []string{"changes/created proposed ana", "propose_changes proposed ana", "changes/approved approved ben", "changes/claimed applying ana",
		"changes/applied applied ana", "changes/approve approved ben"}
	if err != nil || !slices.Equal(steps, want) {
		t.Errorf("%v\n%s", err, strings.Join(steps, "\n"))
	}
}
