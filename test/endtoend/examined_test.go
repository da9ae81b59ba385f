package endtoend

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/source/parse"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A ground is an office with functions that write to its tracker like another program.
type ground struct {
	*office
	parcels    *parcels
	bot, judge identity.Principal
	before     string                                             // the change that other changes wait for
	id         func(class string, n int) string                   // returns the key of a record
	set        func(class string, n int, field string, value any) // sets a field of a record
}

// grounds opens a ground for each kind of source that supports writes. The function may change the options.
var grounds = map[string]func(*testing.T, func(*bailiwick.Options, *change.Options)) *ground{
	"sqlite": sqlGround(newOffice), "postgres": sqlGround(postgresOffice), "mariadb": sqlGround(mariadbOffice),
	"mongodb": documentGround(func(t *testing.T) mongodb.Options { return mongodb.Options{URL: services.Mingo(t), Full: true} }),
	"ferretdb": documentGround(func(t *testing.T) mongodb.Options {
		return mongodb.Options{URL: services.FerretDB(t)}
	}),
	"parse": parseGround,
}

func plainKey(_ string, n int) string { return fmt.Sprint(n) }

func sqlGround(open func(*testing.T, func(*bailiwick.Options, *change.Options)) *office) func(*testing.T, func(*bailiwick.Options, *change.Options)) *ground {
	return func(t *testing.T, more func(*bailiwick.Options, *change.Options)) *ground {
		o := open(t, func(b *bailiwick.Options, c *change.Options) {
			b.Rules = policy.Rules{Version: "v1", Gates: policy.Gates{RawWrites: policy.Review}, Classes: map[string]policy.ClassRule{
				"issues": {Tenant: &policy.TenantRule{Field: "org"}, Denied: []string{"secret_note"}}, "comments": {Tenant: &policy.TenantRule{Through: "issue_id"}}, "spans": {}, "shares": {}}}
			more(b, c)
		})
		o.run(`INSERT INTO spans (id, lo, hi) VALUES (1, 10, 20)`)
		both := `'["acme"]'`
		if o.driver == "pgx" {
			both = `'{acme}'`
		}
		o.run(`INSERT INTO shares (id, title, orgs) VALUES (1, 'shared', ` + both + `)`)
		return &ground{office: o, id: plainKey, set: func(class string, n int, field string, value any) {
			o.run("UPDATE "+class+" SET "+field+" = ? WHERE id = ?", value, n)
		}}
	}
}

func documentGround(of func(*testing.T) mongodb.Options) func(*testing.T, func(*bailiwick.Options, *change.Options)) *ground {
	return func(t *testing.T, more func(*bailiwick.Options, *change.Options)) *ground {
		dbs := map[*office]*mongo.Database{}
		o := documentOffice(t, dbs, of(t), more)
		return &ground{office: o, id: plainKey, set: func(class string, n int, field string, value any) {
			if err := dbs[o].Collection(class).FindOneAndUpdate(o.Context(), bson.D{{Key: "id", Value: n}}, bson.D{{Key: "$set", Value: bson.D{{Key: field, Value: value}}}}).Err(); err != nil {
				o.Fatal(err)
			}
		}}
	}
}

// asMaster sends a request to Parse Server with the master key and returns the answer.
func asMaster(t *testing.T, s services.ParseServer, method, path, body string) []byte {
	t.Helper()
	r, err := http.NewRequest(method, s.URL()+path, strings.NewReader(body)) //nolint:noctx // it also runs when the test has ended
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Parse-Application-Id", s.AppID)
	r.Header.Set("X-Parse-Master-Key", s.MasterKey)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode/100 != 2 {
		t.Fatal(method, path, resp.Status, string(text), err)
	}
	return text
}

// parseGround opens a ground for Parse Server with its own classes.
func parseGround(t *testing.T, more func(*bailiwick.Options, *change.Options)) *ground {
	t.Helper()
	s := services.ParseAlone(t) // suites of other packages have classes of these names
	master := func(method, path, body string) (answer struct{ ObjectID string }) {
		t.Helper()
		_ = json.Unmarshal(asMaster(t, s, method, path, body), &answer)
		return answer
	}
	master("POST", "/schemas/issues", `{"className":"issues","fields":{"org":{"type":"String"},"title":{"type":"String"},"status":{"type":"String"},"n":{"type":"Number"},"secret_note":{"type":"String"}}}`)
	master("POST", "/schemas/comments", `{"className":"comments","fields":{"issue_id":{"type":"Pointer","targetClass":"issues"},"body":{"type":"String"}}}`)
	t.Cleanup(func() {
		for _, class := range []string{"comments", "issues"} {
			master("DELETE", "/purge/"+class, "")
			master("DELETE", "/schemas/"+class, "")
		}
	})
	ids := map[int]string{1: master("POST", "/classes/issues", `{"org":"acme","title":"one","status":"Todo"}`).ObjectID, 2: master("POST", "/classes/issues", `{"org":"acme","title":"two","status":"Todo"}`).ObjectID}
	read, err := parse.Open(parse.Options{Name: "app", URL: s.URL(), AppID: s.AppID, MasterKey: s.MasterKey, As: parse.Master})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close() })
	into, err := read.Writable()
	if err != nil {
		t.Fatal(err)
	}
	o := newOffice(t, func(b *bailiwick.Options, c *change.Options) {
		b.Sources = map[string]source.Source{"app": into}
		if more != nil {
			more(b, c)
		}
	})
	return &ground{office: o, id: func(_ string, n int) string { return ids[n] }, set: func(class string, n int, field string, value any) {
		body, err := json.Marshal(map[string]any{field: value})
		if err != nil {
			t.Fatal(err)
		}
		master("PUT", "/classes/"+class+"/"+ids[n], string(body))
	}}
}

// rule replaces the rules of the classes and of review.
func (g *ground) rule(with func(*policy.Rules)) {
	g.Helper()
	rules := g.rules
	rules.Version, rules.Classes = "v2", maps.Clone(rules.Classes)
	with(&rules)
	if err := g.gateway.SetRules(g.Context(), rules, g.actions()); err != nil {
		g.Fatal(err)
	}
}

// actions returns the actions of every ground. One requires the title of its record, and the argument of another is
// described by a class.
func (g *ground) actions() []action.Declaration {
	return []action.Declaration{
		{Name: "close", On: "issues", Do: action.Update, Input: read(g.T, `{"type":"object","properties":{}}`), Set: read(g.T, `{"n": 5}`),
			Require: []action.Requirement{{That: `record.title == "one"`, Message: "it must be called one"}}},
		{Name: "size", On: "issues", Do: action.Update, Input: read(g.T, `{"type":"object","properties":{"n":{"type":"integer"},"size":{"type":"string"}}}`), Permitted: []string{"n"},
			CheckAgainst: writes.Declaration{Class: "org.Parcel"}},
	}
}

// parcels is a source that describes a class whose allowed sizes can change.
type parcels struct{ sizes []string }

func (p *parcels) class() schema.Class {
	f := schema.Field{Name: "size", Type: schema.String}
	for _, s := range p.sizes {
		f.Values = append(f.Values, value.OfString(s))
	}
	return schema.Class{Source: "org", Name: "Parcel", Recordless: true, Fields: []schema.Field{f, {Name: "n", Type: schema.Integer}}}
}

func (p *parcels) Describe(context.Context) ([]schema.Class, []string, error) {
	return []schema.Class{p.class()}, nil, nil
}

func (p *parcels) Class(context.Context, string) (schema.Class, error) { return p.class(), nil }

func (p *parcels) Read(context.Context, policy.Permit) (source.Rows, error) {
	return nil, problem.New(problem.Unsupported, "it has no records")
}

// An examined is a row of the table. It contains the proposal and the changes to the environment.
type examined struct {
	asks  string   // a write for propose_changes. {1} and {2} stand for the keys of issues
	only  []string // the sources that the row applies to. Nil means all
	move  func(g *ground)
	after bool                // the change waits for another change
	rules func(*policy.Rules) // the rules at the beginning. Nil means those of the ground
}

const five = `{"op":"update","class_name":"issues","object_id":"{1}","data":{"n":5}}`

// examinedRows returns the rows of the table in docs/changes.md by name.
func examinedRows() map[string]examined {
	const update = `{"op":"update","class_name":"issues","object_id":"{1}","data":`
	sqls := []string{"sqlite", "postgres", "mariadb"}
	issues := func(r *policy.Rules, rule policy.ClassRule) {
		rule.Tenant = &policy.TenantRule{Field: "org"}
		r.Classes["issues"] = rule
	}
	return map[string]examined{
		"credential": {asks: five, move: func(g *ground) {
			if err := g.tokens.Revoke(g.Context(), identity.Local("ops"), g.bot.TokenID); err != nil {
				g.Fatal(err)
			}
		}},
		"rules": {asks: five, move: func(g *ground) {
			g.rule(func(r *policy.Rules) { issues(r, policy.ClassRule{Permitted: []string{"title"}}) })
		}},
		"values": {asks: update + `{"status":"Done"}}`, move: func(g *ground) {
			g.rule(func(r *policy.Rules) {
				issues(r, policy.ClassRule{Fields: map[string]policy.FieldRule{"status": {Values: []policy.FieldValue{{Value: "Todo"}}}}})
			})
		}},
		"record":   {asks: five, move: func(g *ground) { g.set("issues", 1, "org", "globex") }},
		"unmoved":  {asks: five, move: func(g *ground) { g.set("issues", 1, "n", 4) }},
		"pointers": {asks: `{"op":"create","class_name":"comments","data":{"issue_id":"{2}","body":"x"}}`, move: func(g *ground) { g.set("issues", 2, "org", "globex") }},
		"tenants": {asks: `{"op":"update","class_name":"shares","object_id":"1","data":{"orgs":["acme","globex"]}}`, only: []string{"sqlite", "postgres"}, move: func(g *ground) {
			g.rule(func(r *policy.Rules) {
				r.Classes["shares"] = policy.ClassRule{Tenant: &policy.TenantRule{Field: "orgs", Contains: true}}
			})
		}},
		"pairs":       {asks: `{"op":"update","class_name":"spans","object_id":"1","data":{"lo":15}}`, only: sqls, move: func(g *ground) { g.set("spans", 1, "hi", 12) }},
		"unique":      {asks: update + `{"code":"z"}}`, only: append([]string{"mongodb", "ferretdb"}, sqls...), move: func(g *ground) { g.set("issues", 2, "code", "z") }},
		"constraints": {asks: update + `{"code":"z"}}`, only: append([]string{"mongodb", "ferretdb"}, sqls...), move: func(g *ground) { g.set("issues", 9, "code", "z") }},
		"action":      {asks: `{"op":"action","class_name":"issues","object_id":"{1}","method_name":"close"}`, move: func(g *ground) { g.set("issues", 1, "title", "other") }},
		"check_against": {asks: `{"op":"action","class_name":"issues","object_id":"{1}","method_name":"size","arguments":{"n":5,"size":"large"}}`,
			move: func(g *ground) { g.parcels.sizes = []string{"small"} }},
		"require": {only: []string{}}, // tested by TestRequireOnce in internal/tools
		"review": {asks: five, move: func(g *ground) {
			g.rule(func(r *policy.Rules) { r.Review = []change.Rule{{Name: "review[0]", Mode: write.Deny}} })
		}},
		"approvals": {asks: five, move: func(g *ground) {
			g.rule(func(r *policy.Rules) { r.Review = []change.Rule{{Name: "review[0]", Approvals: 2}} })
		}},
		"named": {asks: five, move: func(g *ground) {
			g.rule(func(r *policy.Rules) { r.Review = reviewedBy("judge", "cleo") })
		}},
		"teams": {asks: five, rules: func(r *policy.Rules) { r.Review = reviewedBy("judge", "cleo") }, move: func(g *ground) {
			g.rule(func(r *policy.Rules) { r.Review = reviewedBy("cleo") })
		}},
		"after": {asks: five, after: true, move: func(g *ground) {
			if _, err := g.person("ben").Reject(g.Context(), g.before, "no"); err != nil {
				g.Fatal(err)
			}
		}},
		"reviewers": {asks: five, move: func(g *ground) {
			if err := g.tokens.Revoke(g.Context(), identity.Local("ops"), g.judge.TokenID); err != nil {
				g.Fatal(err)
			}
		}},
	}
}

// reviewedBy returns a rule by which only the people of a team approve.
func reviewedBy(people ...string) []change.Rule {
	return []change.Rule{{Name: "review[0]", Reviewers: []change.Reviewer{{Name: "team:billing", People: people}}}}
}

// tableOfChecks parses the rows of the table in docs/changes.md by name. Each row contains the result if the check
// fails when a change is proposed, when it is reviewed, and when it is applied.
func tableOfChecks(t *testing.T) map[string][3]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/changes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "| check | asks | proposed | looked at | applied |\n|---|---|---|---|---|\n")
	if !found {
		t.Fatal("docs/changes.md has no table of checks")
	}
	out := map[string][3]string{}
	for line := range strings.SplitSeq(rest, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 7 {
			break
		}
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		out[cells[1]] = [3]string(cells[3:6])
	}
	return out
}

// asks proposes the write of a row. It returns the id of the change and the result, "filed" or "refused".
func (g *ground) asks(row examined) (id, came string) {
	g.Helper()
	w := strings.NewReplacer("{1}", g.id("issues", 1), "{2}", g.id("issues", 2)).Replace(row.asks)
	if _, err := g.tokens.Refresh(g.Context(), g.bot); err != nil { // each call with a token does this, too
		return "", "refused"
	}
	id, err := g.proposedAfter(g.bot, g.before, w)
	if err != nil {
		g.Log(w, err)
		return "", "refused"
	}
	return id, "filed"
}

// openGround opens a ground for a row.
func openGround(t *testing.T, open func(*testing.T, func(*bailiwick.Options, *change.Options)) *ground, row examined) *ground {
	t.Helper()
	org := &parcels{sizes: []string{"small", "large"}}
	g := open(t, func(b *bailiwick.Options, _ *change.Options) {
		b.Sources["org"] = org
		b.Actions = (&ground{office: &office{T: t}}).actions()
	})
	g.parcels, g.bot = org, g.office.bot()
	if row.rules != nil {
		rules := g.rules
		row.rules(&rules)
		g.rule(row.rules)
		g.queue = g.queue.Under("v2", rules.Review...)
	}
	g.judge = g.token(identity.Human, "judge", "acme", identity.Read, identity.Review)
	if row.after {
		id, err := g.proposedAfter(g.bot, "", `{"op":"update","class_name":"issues","object_id":"`+g.id("issues", 2)+`","data":{"title":"x"}}`)
		if err != nil {
			t.Fatal(err)
		}
		g.before = id
	}
	return g
}

// TestChecked changes the environment at three times: before a change is proposed, before a person reviews it, and
// between the approval and applying it. It does so for each row of the table in docs/changes.md and each source that
// the row applies to. The result must be that of the table, and nothing may be written.
func TestChecked(t *testing.T) {
	rows, table := examinedRows(), tableOfChecks(t)
	if a, b := slices.Sorted(maps.Keys(rows)), slices.Sorted(maps.Keys(table)); !slices.Equal(a, b) {
		t.Fatalf("rows\n%s\nin docs/changes.md, and\n%s\nin the test", b, a)
	}
	for source, open := range grounds {
		for name, row := range rows {
			if row.only != nil && !slices.Contains(row.only, source) {
				continue
			}
			t.Run(source+"/"+name, func(t *testing.T) { openGround(t, open, row).checked(row, table[name]) })
		}
	}
}

// checked tests one row with three changes.
func (g *ground) checked(row examined, want [3]string) {
	g.Helper()
	ctx := g.Context()
	if want[0] == "" || want[1] == "" || want[2] == "" {
		g.Fatalf("%q", want)
	}
	id, came := g.asks(row)
	if came != "filed" {
		g.Fatal("it isn't proposed at all")
	}
	c, err := g.queue.Get(ctx, id)
	if err != nil {
		g.Fatal(err)
	}
	if c, err = g.queue.Approve(ctx, id, g.judge, change.Verdict{Digest: c.Digest}); err != nil || c.State != change.Granted {
		g.Fatal(c, err)
	}
	second := row
	second.asks = strings.NewReplacer(`"n":5`, `"n":6`, `"body":"x"`, `"body":"y"`, `"lo":15`, `"lo":16`, `"Done"}`, `"Done","n":6}`, `"code":"z"`, `"code":"z","n":6`, `"orgs"`, `"title":"y","orgs"`).Replace(row.asks)
	looked := ""
	if second.asks != row.asks { // another change that waits
		if looked, _ = g.asks(second); looked == "" {
			g.Fatal("the second isn't proposed")
		}
	}
	row.move(g)
	if _, came := g.asks(row); want[0] != "–" && came != want[0] {
		g.Errorf("proposed after it has moved: %s, want %s", came, want[0])
	}
	if looked != "" && want[1] != "–" {
		s, err := g.person("cleo").Sheet(ctx, looked)
		if err != nil || s.CanApprove != (want[1] == "as before") {
			g.Errorf("looked at after it has moved: it can be approved: %v, want %s; %v %+v", s.CanApprove, want[1], err, s.Checks)
		}
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); g.gateway.Execute(running, failing(g.T)) }()
	defer func() { stop(); <-ended }()
	g.ended(id)
	c, err = g.queue.Get(ctx, id)
	if err != nil || string(c.State) != want[2] {
		g.Fatalf("applied after it has moved: %s, want %s; %v %+v", c.State, want[2], err, c.Outcome)
	}
	if c.Outcome == nil || !strings.HasSuffix(c.Outcome.Detail, "Nothing was written") || c.Outcome.Receipt != nil {
		g.Errorf("%+v", c.Outcome)
	}
}

// ended waits until a change has ended.
func (g *ground) ended(id string) {
	g.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := g.queue.Get(g.Context(), id)
		if err != nil || c.State != change.Granted && c.State != change.Applying {
			return
		}
		if time.Now().After(end) {
			g.Fatalf("%s is %s", id, c.State)
		}
	}
}
