package agent

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// tagged returns the tools over tasks whose tag_ids are a list of pointers. Tag 3 belongs to another tenant, tag 4 isn't
// live, and tag 9 doesn't exist.
func tagged(t *testing.T) *tool.Set {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{
		`CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, secret TEXT)`,
		`CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT, org TEXT, made TEXT, notes TEXT, owner_id INTEGER REFERENCES people (id), gone BOOLEAN)`,
		`CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT, tag_ids JSON, lead_id INTEGER REFERENCES people (id))`,
		`INSERT INTO people VALUES (1, 'Ann', 'x'), (2, 'Bob', 'y')`,
		`INSERT INTO tags VALUES (1, 'red', 'acme', 'm', 'n', 1, 0), (2, 'blue', 'acme', 'm', 'n', 2, 0), (3, 'theirs', 'globex', 'm', 'n', 1, 0), (4, 'old', 'acme', 'm', 'n', 1, 1)`,
		`INSERT INTO tasks VALUES (1, 'a', '[2, 1]', 1), (2, 'b', '[3]', 2), (3, 'c', '[9, 1, "x", 4]', NULL), (4, 'd', '[]', NULL), (5, 'e', NULL, NULL), (6, 'f', '[9]', NULL)`,
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(s, err)
		}
	}
	live := query.Compare{Path: query.Path{"gone"}, Op: query.Ne, Value: value.OfBool(true)}
	set, _ := served(t, "app", path, policy.Rules{Classes: map[string]policy.ClassRule{
		"people": {Denied: []string{"secret"}},
		"tags": {Tenant: &policy.TenantRule{Field: "org", Is: `"acme"`}, Canonical: live, Large: []string{"notes"}, Denied: []string{"made"}, Fields: map[string]policy.FieldRule{
			"gone": {Values: []policy.FieldValue{{Value: "false", Meaning: "in use"}, {Value: "true"}}}, "name": {Values: []policy.FieldValue{{Value: "red"}, {Value: "1"}}}}},
		"tasks": {Pointers: map[string]policy.Pointer{"tag_ids": {Class: "tags"}}},
	}})
	return set
}

// TestListsOfPointers queries the records behind a list of pointers in every form. A record of another tenant, one that
// isn't live and one that doesn't exist must look the same.
func TestListsOfPointers(t *testing.T) {
	set := tagged(t)
	for _, tt := range []struct{ call, want string }{
		{`query_class {"class_name":"tasks","include":["tag_ids"],"keys":["title"]}`,
			`[{"id":"1","title":"a","tag_ids":[{"id":"2","name":"blue","org":"acme","owner_id":"2","gone":false},{"id":"1","name":"red","org":"acme","owner_id":"1","gone":false}]},` +
				`{"id":"2","title":"b","tag_ids":[3]},{"id":"3","title":"c","tag_ids":[9,{"id":"1","name":"red","org":"acme","owner_id":"1","gone":false},"x",4]},` +
				`{"id":"4","title":"d","tag_ids":[]},{"id":"5","title":"e","tag_ids":null},{"id":"6","title":"f","tag_ids":[9]}]`},
		{`query_class {"class_name":"tasks","keys":["tag_ids.name"],"limit":1}`, `[{"id":"1","tag_ids":[{"id":"2","name":"blue"},{"id":"1","name":"red"}]}]`},
		{`query_class {"class_name":"tasks","keys":["tag_ids.owner_id.name"],"limit":1}`,
			`[{"id":"1","tag_ids":[{"id":"2","owner_id":{"id":"2","name":"Bob"}},{"id":"1","owner_id":{"id":"1","name":"Ann"}}]}]`},
		{`query_class {"class_name":"tasks","keys":["lead_id.name","tag_ids.name"],"limit":1}`, `[{"id":"1","lead_id":{"id":"1","name":"Ann"},"tag_ids":[{"id":"2","name":"blue"},{"id":"1","name":"red"}]}]`},
		{`query_class {"class_name":"tasks","keys":["title"],"where":{"tag_ids.name":"red"}}`, `[{"id":"1","title":"a"},{"id":"3","title":"c"}]`},
		{`query_class {"class_name":"tasks","keys":["title"],"where":{"tag_ids.name":"theirs"}}`, `[]`},
		{`query_class {"class_name":"tasks","keys":["title"],"where":{"tag_ids.name":"old"}}`, `[]`},
		{`query_class {"class_name":"tasks","keys":["title"],"where":{"tag_ids.owner_id.name":"Bob"}}`, `[{"id":"1","title":"a"}]`},
		{`query_class {"class_name":"tasks","keys":["title"],"where":{"tag_ids":{"$inQuery":{"className":"tags","where":{"name":{"$in":["red","theirs"]}}}}}}`,
			`[{"id":"1","title":"a"},{"id":"3","title":"c"}]`},
		{`query_class {"class_name":"tasks","keys":["title"],"where":{"lead_id":{"$select":{"query":{"className":"people","where":{"name":"Ann"}},"key":"_id"}}}}`, `[{"id":"1","title":"a"}]`},
		{`query_class {"class_name":"tasks","keys":["title"],"where":{"lead_id":{"$dontSelect":{"query":{"className":"people","where":{"name":"Bob"}},"key":"objectId"}},"id":1}}`, `[{"id":"1","title":"a"}]`},
		{`query_class {"class_name":"tasks","keys":["title"],"where":{"tag_ids":"1"}}`, `[{"id":"1","title":"a"},{"id":"3","title":"c"}]`},
		{`query_class {"class_name":"tasks","keys":["title"],"where":{"tag_ids":9}}`, `[{"id":"3","title":"c"},{"id":"6","title":"f"}]`},
		{`aggregate {"class_name":"tasks","pipeline":[{"$unwind":"$tag_ids"},{"$group":{"_id":"$tag_ids.name","n":{"$sum":1}}},{"$sort":{"n":-1,"_id":1}}]}`,
			`[{"_id":null,"n":5},{"_id":"red","n":2},{"_id":"blue","n":1}]`},
		{`aggregate {"class_name":"tasks","pipeline":[{"$match":{"tag_ids.name":"blue"}},{"$project":{"title":1}}]}`, `[{"title":"a"}]`},
		{`get_object {"class_name":"tasks","object_id":"1","include":["tag_ids"],"keys":["tag_ids.name"]}`, `{"id":"1","tag_ids":[{"id":"2","name":"blue"},{"id":"1","name":"red"}]}`},
		{`get_objects {"class_name":"tasks","ids":["1"],"keys":["tag_ids.name"]}`, `{"1":{"id":"1","tag_ids":[{"id":"2","name":"blue"},{"id":"1","name":"red"}]}}`},
		{`query_class {"class_name":"tasks","keys":["tag_ids.made"]}`, `unknown field "made" of tags`},
		{`query_class {"class_name":"tasks","keys":["tag_ids.nothing"]}`, `unknown field "nothing" of tags`},
		{`query_class {"class_name":"tasks","order":"tag_ids.name"}`, `tag_ids is a list of pointers: $unwind it first, in a pipeline`},
		{`export_data {"class_name":"tasks","include":["tag_ids"]}`, `tag_ids is a list of pointers, and an export has no records inside of a record`},
		{`group_by {"class_name":"tasks","field":"tag_ids.name"}`, `tag_ids is a list of pointers: $unwind it first, in a pipeline`},
	} {
		res, err := set.Call(t.Context(), reader(), request(t, tt.call))
		got := ""
		if err != nil {
			got = problem.Of(err).Detail
		} else {
			doc, err := value.Read(res.Structured, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"results", "object", "objects"} {
				if v, ok := doc.Get(name); ok {
					got = string(v.AppendJSON(nil))
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.call, got, tt.want)
		}
	}
	res, err := set.Call(t.Context(), reader(), request(t, `get_schema {"class_name":"tasks"}`))
	if err != nil || !strings.Contains(res.Text, "tag_ids list -> tags") || !strings.Contains(res.Text, "list -> pointers, which") {
		t.Errorf("%v, %s", err, res.Text)
	}
}
