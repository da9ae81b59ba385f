package mongodb

import (
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// TestOriginsOfViews checks the origins of the fields a, b, c, l and _id of views, whose pipelines read users.
func TestOriginsOfViews(t *testing.T) {
	for _, tt := range []struct{ pipeline, want string }{
		{`[]`, "_id=users._id a=users.a b=users.b c=users.c l=users.l"},
		{`[{"$match": {"x": 1}}, {"$sort": {"x": 1}}, {"$limit": 5}]`, "_id=users._id a=users.a b=users.b c=users.c l=users.l"},
		{`[{"$project": {"a": 1, "b": "$secret"}}]`, "_id=users._id a=users.a b=users.secret c= l="},
		{`[{"$project": {"a": {"$concat": ["$first", " ", "$last.name"]}, "_id": 0}}]`, "_id= a=users.first users.last b= c= l="},
		{`[{"$project": {"b": 0}}]`, "_id=users._id a=users.a b= c=users.c l=users.l"},
		{`[{"$addFields": {"a": "$token", "b.x": {"$toUpper": "$mail"}}}]`, "_id=users._id a=users.token b=users.mail users.b c=users.c l=users.l"},
		{`[{"$set": {"a": "$token"}}, {"$set": {"b": "$a"}}, {"$unset": "a"}]`, "_id=users._id a= b=users.token c=users.c l=users.l"},
		{`[{"$group": {"_id": "$city", "a": {"$max": "$token"}, "b": {"$push": "$$ROOT"}}}]`, "_id=users.city a=users.token b=users.* c= l="},
		{`[{"$lookup": {"from": "keys", "localField": "k", "foreignField": "_id", "as": "l"}}]`, "_id=users._id a=users.a b=users.b c=users.c l=users.l keys.*"},
		{`[{"$replaceRoot": {"newRoot": "$doc"}}]`, "untraced $replaceRoot: users.*"},
		{`[{"$unionWith": {"coll": "old", "pipeline": [{"$lookup": {"from": "keys", "as": "k"}}]}}]`, "untraced $unionWith: users.* old.* keys.*"},
		{`[{"$facet": {"a": [{"$lookup": {"from": "keys", "as": "k"}}]}}]`, "untraced $facet: users.* keys.*"},
		{`[{"$setWindowFields": {"output": {"a": {"$sum": "$x"}}}}]`, "untraced $setWindowFields: users.*"},
	} {
		view := found{Type: "view"}
		var of struct{ Pipeline []bson.D }
		if err := bson.UnmarshalExtJSON([]byte(`{"pipeline": `+tt.pipeline+`}`), false, &of); err != nil {
			t.Fatal(err)
		}
		view.Options.ViewOn, view.Options.Pipeline = "users", of.Pipeline
		class := schema.Class{View: true}
		for _, name := range strings.Fields("_id a b c l") {
			class.Fields = append(class.Fields, schema.Field{Name: name})
		}
		view.trace(&class)
		var got []string
		for _, f := range class.Fields {
			var from []string
			for _, o := range f.Origins {
				column := o.Column
				if column == "" {
					column = "*"
				}
				from = append(from, o.Table+"."+column)
			}
			got = append(got, f.Name+"="+strings.Join(from, " "))
			if f.Untraced != "" {
				_, stage, _ := strings.Cut(f.Untraced, "stage ")
				stage, _, _ = strings.Cut(stage, " ")
				got = []string{fmt.Sprintf("untraced %s: %s", stage, strings.Join(from, " "))}
				break
			}
		}
		if said := strings.Join(got, " "); said != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.pipeline, said, tt.want)
		}
	}
}
