package policy

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestUses has a row for each place in a query where a class or a field is named, and the names recorded.
func TestUses(t *testing.T) {
	classes := catalogue()
	classes[1].Text = []schema.TextIndex{{Fields: []string{"title"}}}
	p, err := New(Rules{Unlisted: true, Classes: map[string]ClassRule{
		"app.users": {Denied: []string{"org"}}, "app.nodes": {Hidden: true}, "other.users": {Hidden: true},
	}}, classes)
	if err != nil {
		t.Fatal(err)
	}
	where := func(text string) query.Filter {
		doc, err := value.Read([]byte(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		f, err := query.ParseWhere(doc, "/where")
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	pipeline := func(class, text string) query.Query {
		doc, err := value.Read([]byte(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		stages, err := query.ParsePipeline(doc, "/pipeline")
		if err != nil {
			t.Fatal(err)
		}
		return &query.Pipeline{Class: class, Stages: stages, Limit: 10}
	}
	for _, tt := range []struct {
		name string
		q    query.Query
		want string
	}{
		{"all of a class", &query.Find{Class: "issues", Limit: 5}, "app.issues"},
		{"where", &query.Find{Class: "issues", Where: where(`{"title":"x","$or":[{"state":"open"},{"meta.a":1}]}`), Limit: 5},
			"app.issues app.issues.meta app.issues.state app.issues.title"},
		{"keys, order and a field twice", &query.Find{Class: "issues", Keys: []query.Path{{"title"}, {"meta", "a"}}, Order: []query.Sort{{Path: query.Path{"title"}}}, Limit: 5},
			"app.issues app.issues.meta app.issues.title"},
		{"order alone", &query.Find{Class: "issues", Order: []query.Sort{{Path: query.Path{"title"}}}, Limit: 5}, "app.issues app.issues.title"},
		{"behind a pointer", &query.Find{Class: "comments", Keys: []query.Path{{"issue", "owner", "name"}}, Limit: 5},
			"app.comments app.comments.issue app.issues app.issues.owner app.users app.users.name"},
		{"include", &query.Find{Class: "issues", Include: []query.Path{{"owner"}}, Limit: 5}, "app.issues app.issues.owner app.users"},
		{"an inner query", &query.Count{Class: "comments", Where: where(`{"issue":{"$inQuery":{"className":"issues","where":{"state":"open"}}}}`)},
			"app.comments app.comments.issue app.issues app.issues.id app.issues.state"},
		{"a search", &query.Find{Class: "issues", Search: &literals.Search{Terms: []string{"x"}, Fields: []string{"title"}}, Limit: 5}, "app.issues app.issues.title"},
		{"a pipeline", pipeline("issues", `[{"$match":{"state":"open"}},{"$lookup":{"from":"users","localField":"owner","foreignField":"id","as":"who"}},
			{"$group":{"_id":"$due","n":{"$sum":1}}},{"$sort":{"n":-1}}]`), "app.issues app.issues.due app.issues.owner app.issues.state app.users app.users.id"},
		{"a denied field", &query.Find{Class: "users", Where: where(`{"org":7}`), Limit: 5}, "app.users app.users.org"},
		{"a denied key", &query.Find{Class: "users", Keys: []query.Path{{"name"}, {"password_hash"}}, Limit: 5}, "app.users app.users.name app.users.password_hash"},
		{"a denied order", &query.Find{Class: "users", Order: []query.Sort{{Path: query.Path{"org"}}}, Limit: 5}, "app.users app.users.org"},
		{"a denied field in a pipeline", pipeline("users", `[{"$project":{"x":"$org"}}]`), "app.users app.users.org"},
		{"a hidden class", &query.Find{Class: "nodes", Limit: 5}, "app.nodes"},
		{"a hidden class in a pipeline", pipeline("issues", `[{"$lookup":{"from":"nodes","localField":"owner","foreignField":"id","as":"x"}}]`), "app.issues app.nodes"},
		{"what doesn't exist", &query.Find{Class: "nothing ' --", Limit: 5}, ""},
		{"a field that doesn't exist", &query.Find{Class: "users", Where: where(`{"secret words":7}`), Limit: 5}, "app.users"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var u Uses
			noting := p.Noting(&u)
			_, err := noting.Read(agent(), tt.q)
			if got := strings.Join(u.List(noting), " "); got != tt.want {
				t.Errorf("got  %s\nwant %s\n%v", got, tt.want, err)
			}
		})
	}
	var u Uses
	if got := u.List(p); got != nil {
		t.Errorf("nothing: %v", got)
	}
	for range 2 {
		u.names(p.classes[0])
		u.reads(&p.classes[0].Fields[0])
	}
	u.reads(&schema.Field{Name: "of no class"})
	if got := strings.Join(u.List(p), " "); got != "app.comments app.comments.id" || len(u.classes) != 1 || len(u.fields) != 2 {
		t.Errorf("%s of %d classes and %d fields", got, len(u.classes), len(u.fields))
	}
	if p.uses != nil {
		t.Error("noting changed the policy itself")
	}
}
