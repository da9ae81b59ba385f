package endtoend

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/source/parse"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A sharing is an office with records that belong to several tenants. The record "shared" belongs to acme and globex,
// and the record "theirs" to globex. The list of "nested" contains a list, if the source supports that. The list of
// "nobodys" is empty.
type sharing struct {
	*office
	shared string                    // the key of the record "shared"
	orgs   func(title string) string // returns the list of a record in the form of the source
}

// sharingRules changes the options of an office to those of a sharing.
func sharingRules(o *bailiwick.Options, _ *change.Options) {
	o.Rules = policy.Rules{Version: "lists", Gates: policy.Gates{RawWrites: policy.Review}, Classes: map[string]policy.ClassRule{"shares": {Tenant: &policy.TenantRule{Field: "orgs", Contains: true}}}}
}

// sharings opens a sharing for each kind of source that supports writes.
func sharings() map[string]func(*testing.T) sharing {
	out := map[string]func(*testing.T) sharing{
		"FerretDB": func(t *testing.T) sharing { return documentSharing(t, mongodb.Options{URL: services.FerretDB(t)}) },
		"Mingo": func(t *testing.T) sharing {
			return documentSharing(t, mongodb.Options{URL: services.Mingo(t), Full: true})
		},
		"Parse": parseSharing,
	}
	for name, open := range sqlOffices {
		out[name] = func(t *testing.T) sharing { return sqlSharing(open(t, sharingRules)) }
	}
	return out
}

func sqlSharing(o *office) sharing {
	lists := []string{`'["acme", "globex"]'`, `'["globex"]'`, `'[]'`, `'[["acme"]]'`}
	if o.driver == "pgx" && o.holds(`SELECT data_type FROM information_schema.columns WHERE table_name = 'shares' AND column_name = 'orgs'`) == "ARRAY" {
		lists = []string{`'{acme,globex}'`, `'{globex}'`, `'{}'`, `'{{acme}}'`}
	}
	for i, title := range []string{"shared", "theirs", "nobodys", "nested"} {
		o.run(fmt.Sprintf("INSERT INTO shares (id, title, orgs) VALUES (%d, '%s', %s)", 50+i, title, lists[i]))
	}
	return sharing{o, "50", func(title string) string { return o.holds("SELECT orgs FROM shares WHERE title = '" + title + "'") }}
}

func documentSharing(t *testing.T, of mongodb.Options) sharing {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(of.URL))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Disconnect(context.Background()) })
	db := client.Database(of.URL[strings.LastIndexByte(of.URL, '/')+1:])
	record := func(id int, title string, orgs any) any {
		return bson.D{{Key: "_id", Value: fmt.Sprint(id)}, {Key: "title", Value: title}, {Key: "orgs", Value: orgs}}
	}
	if _, err := db.Collection("shares").InsertMany(t.Context(), []any{record(50, "shared", bson.A{"acme", "globex"}), record(51, "theirs", bson.A{"globex"}),
		record(52, "nobodys", bson.A{}), record(53, "nested", bson.D{{Key: "0", Value: "acme"}})}); err != nil {
		t.Fatal(err)
	}
	of.Name, of.Declared = "app", map[string]schema.Class{"shares": {Key: []string{"_id"}, Fields: []schema.Field{{Name: "_id", Type: schema.String, Native: "string", NotNull: true},
		{Name: "title", Type: schema.String, Native: "string"}, {Name: "orgs", Type: schema.Array}}}}
	src, err := mongodb.Open(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	into, err := src.Writable(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { into.Close() })
	o := newOffice(t, func(b *bailiwick.Options, c *change.Options) {
		b.Sources = map[string]source.Source{"app": into}
		sharingRules(b, c)
	})
	return sharing{o, "50", func(title string) string {
		var doc struct{ Orgs any }
		if err := db.Collection("shares").FindOne(t.Context(), bson.D{{Key: "title", Value: title}}).Decode(&doc); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(doc.Orgs)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}}
}

func parseSharing(t *testing.T) sharing {
	t.Helper()
	s := services.Parse(t)
	asMaster(t, s, "POST", "/schemas/shares", `{"className":"shares","fields":{"title":{"type":"String"},"orgs":{"type":"Array"}}}`)
	t.Cleanup(func() {
		asMaster(t, s, "DELETE", "/purge/shares", "")
		asMaster(t, s, "DELETE", "/schemas/shares", "")
	})
	var made struct{ ObjectID string }
	if err := json.Unmarshal(asMaster(t, s, "POST", "/classes/shares", `{"title":"shared","orgs":["acme","globex"]}`), &made); err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{`{"title":"theirs","orgs":["globex"]}`, `{"title":"nobodys","orgs":[]}`, `{"title":"nested","orgs":[["acme"]]}`} {
		asMaster(t, s, "POST", "/classes/shares", body)
	}
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
		sharingRules(b, c)
	})
	return sharing{o, made.ObjectID, func(title string) string {
		var found struct {
			Results []struct{ Orgs json.RawMessage }
		}
		if err := json.Unmarshal(asMaster(t, s, "GET", "/classes/shares?where="+url.QueryEscape(`{"title":"`+title+`"}`), ""), &found); err != nil || len(found.Results) != 1 {
			t.Fatal(err, found)
		}
		return string(found.Results[0].Orgs)
	}}
}

var shownTitle = regexp.MustCompile(`"title":"(\w+)"`)

// titles returns the distinct sorted titles in the answer for p, or the refusal.
func titles(t *testing.T, set *tool.Set, p identity.Principal, name, args string) string {
	res, err := set.Call(t.Context(), p, tool.Request{Name: name, Arguments: claimDocument(t, args)})
	if err != nil {
		return problem.Of(err).Error()
	}
	var out []string
	for _, m := range shownTitle.FindAllStringSubmatch(string(res.Structured), -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// TestTenantLists tries to assign records to other tenants through a list of tenants. With contains, a new record
// must belong only to the agent's tenant, and an update must not change the list. A list in a field that an ordinary
// filter compares makes the record invisible to all.
func TestTenantLists(t *testing.T) {
	for name, open := range sharings() {
		t.Run(name, func(t *testing.T) {
			o := open(t)
			bot, ben := o.bot(), o.person("ben")
			update := func(data string) string {
				return fmt.Sprintf(`{"op": "update", "class": "shares", "id": %q, "data": %s}`, o.shared, data)
			}
			for _, orgs := range []string{`["acme","globex"]`, `["globex"]`, `["globex","acme"]`, `[]`, `["acme","acme"]`, `[["acme"]]`, `null`, `"acme"`, `{"0":"acme"}`} {
				if _, err := o.propose(bot, `{"op": "create", "class": "shares", "data": {"title": "x", "orgs": `+orgs+`}}`); err == nil {
					t.Errorf("a record of %s was proposed", orgs)
				}
				if _, err := o.propose(bot, update(`{"title": "x", "orgs": `+orgs+`}`)); (err == nil) != (orgs == `["acme","globex"]`) {
					t.Errorf("an update to %s: %v", orgs, err)
				}
			}
			if _, err := o.propose(bot, update(`{"orgs": ["acme"]}`)); kindOf(err) != "tenant_list" {
				t.Errorf("another tenant is taken out: %v", err)
			}
			for title, data := range map[string]string{"filled": `{"title": "filled"}`, "given": `{"title": "given", "orgs": ["acme"]}`} {
				s, err := o.propose(bot, `{"op": "create", "class": "shares", "data": `+data+`}`)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := ben.Approve(t.Context(), s.ID, s.Digest, ""); err != nil {
					t.Fatal(err)
				}
				o.until(s.ID, change.Applied)
				if got := o.orgs(title); got != `["acme"]` && got != "{acme}" {
					t.Errorf("%s holds %s", data, got)
				}
			}
			o.counts(bot)
			o.found(bot)
		})
	}
}

// counts checks the number of records that each principal sees, after bot has created two.
func (o sharing) counts(bot identity.Principal) {
	globex := o.token(identity.Agent, "gil", "globex", identity.Read)
	filtered := o.token(identity.Agent, "ana", "acme", identity.Read)
	filtered.Filters = map[string]query.Filter{"shares": query.Compare{Path: query.Path{"orgs"}, Op: query.Eq, Value: value.OfString("acme")}}
	for _, tt := range []struct {
		who  identity.Principal
		want int64
	}{{bot, 3}, {globex, 2}, {filtered, 0}} {
		if err := o.as(tt.who, func(ctx context.Context, c *bailiwick.Call) error {
			n, _, err := c.Count(ctx, &query.Count{Class: "shares"})
			if err == nil && n != tt.want {
				err = fmt.Errorf("%s sees %d records, want %d", tt.who.Tenant, n, tt.want)
			}
			return err
		}); err != nil {
			o.Error(err)
		}
	}
}

// found checks that bot can't find a record of other tenants through conditions, joins, unions or keys.
func (o sharing) found(bot identity.Principal) {
	set, err := tool.NewSet(o.gateway, tool.Data(tool.Options{})...)
	if err != nil {
		o.Fatal(err)
	}
	const all = "filled given shared"
	for _, tt := range []struct{ tool, args, want string }{
		{"query_class", `{"class_name": "shares"}`, all},
		{"query_class", `{"class_name": "shares", "where": {"orgs": "globex"}}`, "shared"},
		{"query_class", `{"class_name": "shares", "where": {"$or": [{"orgs": "globex"}, {"title": {"$in": ["theirs", "nested", "nobodys"]}}]}}`, "shared"},
		{"query_class", `{"class_name": "shares", "where": {"orgs": {"$elemMatch": {"$eq": "globex"}}}}`, "shared"},
		{"query_class", `{"class_name": "shares", "where": {"orgs": {"$ne": "acme"}}}`, ""},
		{"query_class", `{"class_name": "shares", "where": {"orgs": {"$size": 0}}}`, ""},
		{"query_class", `{"class_name": "shares", "where": {"title": {"$select": {"query": {"className": "shares", "where": {"orgs": "globex"}}, "key": "title"}}}}`, "shared"},
		{"aggregate", `{"class_name": "shares", "pipeline": [{"$project": {"title": 1}}]}`, all},
		{"aggregate", `{"class_name": "shares", "pipeline": [{"$lookup": {"from": "shares", "localField": "title", "foreignField": "title", "as": "s"}}, {"$unwind": "$s"}, {"$project": {"title": "$s.title"}}]}`, all},
		{"aggregate", `{"class_name": "shares", "pipeline": [{"$limit": 1}, {"$unionWith": "shares"}, {"$project": {"title": 1}}]}`, all},
		{"query_sql", `{"sql": "SELECT title FROM shares"}`, all},
		{"query_sql", `{"sql": "SELECT b.title FROM shares a CROSS JOIN shares b"}`, all},
		{"query_sql", `{"sql": "SELECT b.title FROM shares a RIGHT JOIN shares b ON a.title = b.title AND a.title = 'shared'"}`, all},
		{"query_sql", `{"sql": "SELECT max(title) AS title FROM shares WHERE title IN (SELECT title FROM shares) OR title = 'theirs'"}`, "shared"},
		{"query_sql", `{"sql": "SELECT (SELECT max(b.title) FROM shares b WHERE b.title >= a.title) AS title FROM shares a"}`, "shared"},
		{"query_sql", `{"sql": "SELECT title FROM shares a WHERE EXISTS (SELECT 1 FROM shares b WHERE b.title = 'theirs' OR b.title = 'nested')"}`, ""},
		{"query_sql", `{"sql": "WITH t AS (SELECT title FROM shares) SELECT title FROM t UNION SELECT title FROM shares"}`, all},
	} {
		if got := titles(o.T, set, bot, tt.tool, tt.args); got != tt.want {
			o.Errorf("%s %s:\n got %s\nwant %s", tt.tool, tt.args, got, tt.want)
		}
	}
}
