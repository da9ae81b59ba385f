package endtoend

import (
	"net/http"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/source/parse"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// Two actions and a write of a record.
const (
	renumbers = `{"op":"action","class_name":"issues","method_name":"renumber","object_id":"2","arguments":{"n":5}}`
	remarks   = `{"op":"action","class_name":"comments","method_name":"remark","arguments":{"issue_id":1,"body":"On it."}}`
	finishes  = `{"op":"update","class_name":"issues","object_id":"1","data":{"code":"c"}}`
)

// A desk is an office for groups. It can read the content of its tracker and act there like another program.
type desk struct {
	*office
	holding      func() string // returns the number of issue 2, the code of issue 1, and how many comments are "On it."
	moves, takes func()        // another program changes issue 1, or uses its new code
}

// severalActions checks groups of actions and a write until their end. Either all writes are applied or none.
func severalActions(t *testing.T, open func(*testing.T) desk) {
	const nothing, all = "null a 0", "5 c 1"
	for _, row := range []struct {
		name    string
		happens func(desk)
		state   change.State
		holds   string
	}{
		{"applied", func(desk) {}, change.Applied, all},
		{"a record has moved", func(d desk) { d.moves() }, change.Stale, "null moved 0"},
		{"the database refuses the last write", func(d desk) { d.takes() }, change.Failed, nothing},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := open(t)
			bot, ben := d.bot(), d.person("ben")
			id, err := d.proposed(bot, renumbers, remarks, finishes)
			if err != nil {
				t.Fatalf("%+v", problem.Of(err))
			}
			sheet, err := ben.Sheet(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			var made []string
			for _, item := range sheet.Items {
				made = append(made, string(item.Op)+" "+item.Action)
			}
			if got := strings.Join(made, ", "); got != "update renumber, create remark, update " || d.holding() != nothing {
				t.Error(got, d.holding())
			}
			row.happens(d)
			done, err := ben.Approve(t.Context(), id, sheet.Digest, "")
			if err != nil || done.State != row.state || d.holding() != row.holds {
				t.Fatalf("%s %q %v: %s, want %s %s", done.State, done.Outcome, err, d.holding(), row.state, row.holds)
			}
			if row.state != change.Applied {
				return
			}
			back, err := ben.Revert(t.Context(), id, "too early")
			if err != nil || len(back.Items) != 3 {
				t.Fatalf("%+v %v", back, err)
			}
			if done, err = d.person("rita").Approve(t.Context(), back.ID, back.Digest, ""); err != nil || done.State != change.Applied || d.holding() != nothing {
				t.Errorf("taken back: %s %q %v: %s", done.State, done.Outcome, err, d.holding())
			}
		})
	}
}

func TestSeveralActions(t *testing.T) {
	inOffices(t, func(t *testing.T, open func(*testing.T, func(*bailiwick.Options, *change.Options)) *office) {
		severalActions(t, func(t *testing.T) desk {
			o := open(t, func(o *bailiwick.Options, _ *change.Options) { o.Actions = groupActions(t) })
			return desk{o, func() string {
				n, code := o.holds("SELECT n FROM issues WHERE id = 2"), o.holds("SELECT code FROM issues WHERE id = 1")
				if n == "" {
					n = "null"
				}
				return n + " " + code + " " + o.holds("SELECT count(*) FROM comments WHERE body = 'On it.'")
			}, func() { o.run("UPDATE issues SET code = 'moved' WHERE id = 1") },
				func() { o.run("INSERT INTO issues (id, org, title, code) VALUES (50, 'globex', 'x', 'c')") }}
		})
	})
}

// TestSeveralActionsMingo checks the same with MongoDB's features, including transactions.
func TestSeveralActionsMingo(t *testing.T) {
	dbs := map[*office]*mongo.Database{}
	severalActions(t, func(t *testing.T) desk {
		o := documentOffice(t, dbs, mongodb.Options{URL: services.Mingo(t), Full: true}, func(o *bailiwick.Options, _ *change.Options) { o.Actions = groupActions(t) })
		issues := dbs[o].Collection("issues")
		of := func(id int, field string) string {
			var doc bson.D
			if err := issues.FindOne(t.Context(), bson.D{{Key: "id", Value: id}}).Decode(&doc); err != nil {
				t.Fatal(err)
			}
			raw, err := bson.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			v := bson.Raw(raw).Lookup(field)
			if text, is := v.StringValueOK(); is {
				return text
			}
			if n, is := v.AsInt64OK(); is {
				return string(rune('0' + n))
			}
			return "null"
		}
		return desk{o, func() string {
			n, err := dbs[o].Collection("comments").CountDocuments(t.Context(), bson.D{{Key: "body", Value: "On it."}})
			if err != nil {
				t.Fatal(err)
			}
			return of(2, "n") + " " + of(1, "code") + " " + string(rune('0'+n))
		}, func() {
			if err := issues.FindOneAndUpdate(t.Context(), bson.D{{Key: "id", Value: 1}}, bson.D{{Key: "$set", Value: bson.D{{Key: "code", Value: "moved"}}}}).Err(); err != nil {
				t.Fatal(err)
			}
		}, func() {
			if _, err := issues.InsertOne(t.Context(), bson.D{{Key: "id", Value: int32(50)}, {Key: "org", Value: "globex"}, {Key: "title", Value: "x"}, {Key: "code", Value: "c"}}); err != nil {
				t.Fatal(err)
			}
		}}
	})
}

// TestSeveralActionsFerretDB checks a database without transactions. It must refuse a group before anything is filed,
// and suggest an alternative.
func TestSeveralActionsFerretDB(t *testing.T) {
	o := documentOffice(t, map[*office]*mongo.Database{}, mongodb.Options{URL: services.FerretDB(t)}, func(o *bailiwick.Options, _ *change.Options) { o.Actions = groupActions(t) })
	oneByOne(o, "app has no transactions, so that 3 writes can't be made all or none", renumbers, remarks, finishes)
}

// oneByOne checks that writes are refused as a group but can be filed one by one.
func oneByOne(o *office, why string, list ...string) {
	o.Helper()
	_, err := o.proposed(o.bot(), list...)
	p := problem.Of(err)
	if err == nil || p.Code != problem.Unsupported || p.Detail != why || !strings.Contains(p.Detail+p.Suggestion, "a change for each write") && !strings.Contains(p.Detail, "one write at a time") {
		o.Fatalf("%+v", p)
	}
	if found, _, err := o.queue.Store().List(o.Context(), change.Filter{}); err != nil || len(found) != 0 {
		o.Error("filed although it was refused:", len(found), err)
	}
	for _, one := range list {
		if _, err := o.proposed(o.bot(), one); err != nil {
			o.Errorf("%s: %+v", one, problem.Of(err))
		}
	}
}

// TestSeveralActionsParse checks the same for Parse Server, whose REST API has no transactions.
func TestSeveralActionsParse(t *testing.T) {
	s := services.Parse(t)
	master := func(method, path, body string) {
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
		resp.Body.Close()
		if resp.StatusCode/100 != 2 {
			t.Fatal(method, path, resp.Status)
		}
	}
	master("POST", "/schemas/Errand", `{"className":"Errand","fields":{"org":{"type":"String"},"title":{"type":"String"},"n":{"type":"Number"}}}`)
	t.Cleanup(func() {
		master("DELETE", "/purge/Errand", "")
		master("DELETE", "/schemas/Errand", "")
	})
	into, err := parse.Open(parse.Options{Name: "app", URL: s.URL(), AppID: s.AppID, MasterKey: s.MasterKey, As: parse.Master})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { into.Close() })
	writes, err := into.Writable()
	if err != nil {
		t.Fatal(err)
	}
	o := newOffice(t, func(o *bailiwick.Options, _ *change.Options) {
		o.Sources = map[string]source.Source{"app": writes}
		o.Rules = policy.Rules{Version: "v1", Gates: policy.Gates{RawWrites: policy.Review}, Classes: map[string]policy.ClassRule{"Errand": {Tenant: &policy.TenantRule{Field: "org"}}}}
		o.Actions = []action.Declaration{{Name: "run", On: "Errand", Do: action.Create, Permitted: []string{"title"},
			Input: read(t, `{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}`)}}
	})
	const runs, writesOne = `{"op":"action","class_name":"Errand","method_name":"run","arguments":{"title":"a"}}`, `{"op":"create","class_name":"Errand","data":{"title":"b"}}`
	oneByOne(o, "Parse Server has no transactions over REST: propose one write at a time", runs, writesOne)
}
