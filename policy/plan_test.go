package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// market returns classes with a key of two fields, one of which is a pointer, with a single key, with a hidden key and
// without a key. They have pointers to their own class, to no class, of two fields, twice of one field, and one in
// JSON.
func market() []schema.Class {
	fields := func(list ...any) (out []schema.Field) {
		for i := 0; i < len(list); i += 2 {
			out = append(out, schema.Field{Name: list[i].(string), Type: list[i+1].(schema.Type)})
		}
		return out
	}
	to := func(target string, fields ...string) schema.Relation {
		return schema.Relation{Fields: fields, Target: target, TargetFields: []string{"id", "name"}[:len(fields)]}
	}
	return []schema.Class{
		{Source: "app", Name: "shops", Table: "shops", Key: []string{"id"}, Relations: []schema.Relation{to("people", "boss")},
			Fields: fields("id", schema.Integer, "name", schema.String, "boss", schema.Integer, "sign", schema.Bytes)},
		{Source: "app", Name: "orders", Table: "orders", Key: []string{"shop", "no"},
			Fields: fields("note", schema.String, "shop", schema.Integer, "no", schema.Integer, "buyer", schema.Integer, "meta", schema.JSON, "area", schema.Opaque,
				"created", schema.Date, "created_on", schema.String, "gone", schema.Boolean, "lost", schema.Integer),
			Relations: []schema.Relation{to("shops", "shop"), to("people", "no", "note"), to("people", "buyer"), to("shops", "buyer"), to("nothing", "lost"), to("people", "meta")}},
		{Source: "app", Name: "people", Table: "people", Key: []string{"id"}, Relations: []schema.Relation{to("people", "boss")},
			Fields: fields("id", schema.Integer, "name", schema.String, "boss", schema.Integer, "bio", schema.String)},
		{Source: "app", Name: "teams", Table: "teams", Key: []string{"id"}, Relations: []schema.Relation{to("people", "head")},
			Fields: fields("id", schema.Integer, "head", schema.Integer, "heads", schema.String)},
		{Source: "app", Name: "logs", Table: "logs", Fields: fields("line", schema.String, "at", schema.Date)},
		{Source: "app", Name: "keys", Table: "keys", Key: []string{"a", "b"}, Fields: fields("a", schema.Integer, "b", schema.Integer, "c", schema.Integer)},
		{Source: "crm", Name: "leads", Table: "leads", Key: []string{"id"}, Fields: fields("id", schema.Integer)},
	}
}

func trade(t *testing.T) *Policy {
	t.Helper()
	p, err := New(Rules{Unlisted: true, Disclose: true, Version: "v1", Classes: map[string]ClassRule{
		"orders": {Large: []string{"note"}, Canonical: rule(t, `{"gone": {"$ne": true}}`)},
		"people": {Large: []string{"bio"}},
		"shops":  {Large: []string{"sign"}},
		"keys":   {Denied: []string{"b"}},
	}}, market())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// planned formats a permit: the columns (@ its join, # an id, > the join that it leads to), the joins, the order, the
// filter and the rest, or the refusal.
func planned(permit Permit, err error) string {
	if err != nil {
		e := problem.Of(err)
		return fmt.Sprintf("%s %s: %s %v", e.Code, e.Pointer, e.Detail, e.Near)
	}
	plan := permit.plan
	var out []string
	for _, c := range plan.Columns {
		text := c.Path.String()
		if c.Join >= 0 {
			text += fmt.Sprint("@", c.Join)
		}
		if c.ID {
			text += "#"
		}
		if plan.Program != nil && !slices.ContainsFunc(plan.Views, func(v *View) bool { return v.Field(c.Field.Name) == c.Field }) {
			text += ":" + fmt.Sprint(c.Field.Type)
		}
		if c.Leads >= 0 {
			text += fmt.Sprint(">", c.Leads)
		}
		out = append(out, text)
	}
	for _, o := range plan.Order {
		name := o.Field.Name
		if o.Join >= 0 {
			name = fmt.Sprintf("%d.%s", o.Join, name)
		}
		out = append(out, map[bool]string{true: "desc", false: "by"}[o.Desc]+":"+name)
	}
	if plan.Unique {
		out = append(out, "unique")
	}
	if plan.Where != nil {
		out = append(out, "where "+query.Print(plan.Where).String())
	}
	for _, v := range plan.Views {
		out = append(out, "view "+v.Name())
	}
	if plan.Program != nil {
		out = append(out, fmt.Sprintf("limit %d %t", plan.Limit, plan.Auto))
	}
	if plan.Truncated != nil {
		out = append(out, fmt.Sprint(plan.Truncated))
	}
	if l := layers(plan.View); l != "" {
		out = append(out, l)
	}
	return strings.Join(out, " ")
}

// TestFinds checks the plans of finds.
func TestFinds(t *testing.T) {
	paths := func(names ...string) (out []query.Path) {
		for _, n := range names {
			out = append(out, query.ParsePath(n))
		}
		return out
	}
	sorts := func(names ...string) (out []query.Sort) {
		for _, n := range names {
			name, desc := strings.CutPrefix(n, "-")
			out = append(out, query.Sort{Path: query.ParsePath(name), Desc: desc})
		}
		return out
	}
	for _, tt := range []struct {
		name string
		ask  query.Query
		want string
	}{
		{"all", &query.Find{Class: "orders"}, `note shop# no# buyer# meta area created created_on gone lost by:shop by:no unique canonical {"gone":{"$ne":true}}`},
		{"a sample", &query.Find{Class: "orders", Sample: true}, `shop# no# buyer# meta area created created_on gone lost desc:created desc:shop desc:no unique canonical {"gone":{"$ne":true}}`},
		{"the key first", &query.Find{Class: "orders", Keys: paths("created")}, `shop# no# created by:shop by:no unique canonical {"gone":{"$ne":true}}`},
		{"the key where it is named", &query.Find{Class: "orders", Keys: paths("created", "no", "shop")}, `created no# shop# by:shop by:no unique canonical {"gone":{"$ne":true}}`},
		{"the key is more than the name of a path", &query.Find{Class: "orders", Keys: paths("created", "shop.name")}, `shop#>0 no# created shop.id@0# shop.name@0 by:shop by:no unique canonical {"gone":{"$ne":true}}`},
		{"parts", &query.Find{Class: "orders", Keys: paths("meta.a", "meta.b", "meta.a", "no")}, `shop# meta.a meta.b no# by:shop by:no unique canonical {"gone":{"$ne":true}}`},
		{"parts, then all", &query.Find{Class: "orders", Keys: paths("meta.a", "no", "meta.b", "meta")}, `shop# no# meta by:shop by:no unique canonical {"gone":{"$ne":true}}`},
		{"all, then a part", &query.Find{Class: "orders", Keys: paths("meta", "meta.a")}, `shop# no# meta by:shop by:no unique canonical {"gone":{"$ne":true}}`},
		{"included", &query.Find{Class: "shops", Include: paths("boss")}, "id# name boss#>0 sign boss.id@0# boss.name@0 boss.boss@0# by:id unique map[boss:[bio]]"},
		{"two included", &query.Find{Class: "orders", Keys: paths("no"), Include: paths("shop", "buyer")}, `shop#>0 no# shop.id@0# shop.name@0 shop.boss@0# buyer#>1 buyer.id@1# buyer.name@1 buyer.boss@1# by:shop by:no unique map[buyer:[bio] shop:[sign]] canonical {"gone":{"$ne":true}}`},
		{"one within another", &query.Find{Class: "people", Keys: paths("id"), Include: paths("boss", "boss.boss")}, "id# boss#>0 boss.id@0# boss.name@0 boss.boss@0#>1 boss.boss.id@1# boss.boss.name@1 boss.boss.boss@1# by:id unique map[boss:[bio] boss.boss:[bio]]"},
		{"nothing left out", &query.Find{Class: "orders", Keys: paths("shop.name"), Include: paths("shop")}, `shop#>0 no# shop.id@0# shop.name@0 by:shop by:no unique canonical {"gone":{"$ne":true}}`},
		{"a pointer in JSON, and a part of it", &query.Find{Class: "orders", Keys: paths("meta.a"), Include: paths("meta")}, `shop# no# meta>0 meta.id@0# by:shop by:no unique canonical {"gone":{"$ne":true}}`},
		{"no pointer", &query.Find{Class: "orders", Include: paths("buyr")}, `invalid_query /include/0: unknown field "buyr" of orders [buyer]`},
		{"no pointer but a field", &query.Find{Class: "orders", Include: paths("lost")}, "invalid_query /include/0: lost of orders is not a pointer []"},
		{"no pointer, but like one", &query.Find{Class: "teams", Keys: paths("heads"), Include: paths("heads")}, "invalid_query /include/0: heads of teams is not a pointer [head]"},
		{"nothing behind it", &query.Find{Class: "orders", Include: paths("created.x")}, "invalid_query /include/0: created of orders is not a pointer []"},
		{"nor behind that", &query.Find{Class: "orders", Include: paths("created.x.y")}, "invalid_query /include/0: created of orders is not a pointer []"},

		{"order", &query.Find{Class: "orders", Keys: paths("no"), Order: sorts("-created", "note", "created", "-no")}, `shop# no# desc:created by:note desc:no by:shop unique canonical {"gone":{"$ne":true}}`},
		{"order by JSON", &query.Find{Class: "orders", Order: sorts("meta")}, "unsupported_by_source /order: meta can't be ordered by: its type is json []"},
		{"order by a part of it", &query.Find{Class: "orders", Order: sorts("meta.a")}, "unsupported_by_source /order: meta.a can't be ordered by: its type is json []"},
		{"order behind a pointer", &query.Find{Class: "orders", Order: sorts("buyer.name")}, `note shop# no# buyer# meta area created created_on gone lost by:0.name by:shop by:no unique canonical {"gone":{"$ne":true}}`},
		{"order by what the database alone knows", &query.Find{Class: "orders", Order: sorts("area")}, "unsupported_by_source /order: area can't be ordered by: its type is opaque []"},
		{"order without a key", &query.Find{Class: "logs", Order: sorts("-at")}, "line at desc:at by:line"},

		{"by id", &query.Find{Class: "shops", Keys: paths("id"), IDs: []string{"2", "x", "3"}}, `id# by:id unique where {"id":{"$in":[2,3]}}`},
		{"by an id of two fields, live or not", &query.Find{Class: "orders", Keys: paths("no"), IDs: []string{`["1", "2"]`, `[3, 4]`}}, `shop# no# by:shop by:no unique where {"$or":[{"$and":[{"shop":{"$eq":1}},{"no":{"$eq":2}}]},{"$and":[{"shop":{"$eq":3}},{"no":{"$eq":4}}]}]}`},
		{"by what is none", &query.Find{Class: "orders", Keys: paths("no"), IDs: []string{"1", "[1]", "[1,2,3]", "[1,", `{"a": [1, 2]}`}}, `shop# no# by:shop by:no unique where {"shop":{"$in":[]}}`},
		{"by no id at all", &query.Find{Class: "shops", Keys: paths("id"), IDs: []string{}}, `id# by:id unique where {"id":{"$in":[]}}`},
		{"by an id of hidden fields", &query.Find{Class: "keys", IDs: []string{"[1, 2]"}}, `access_denied /class_name: the rules keep the field "b" of keys from you []`},
		{"by id where there is none", &query.Find{Class: "logs", IDs: []string{"1"}}, "unsupported_by_source /class_name: records of logs have no id []"},
		{"live or not", &query.Find{Class: "orders", Keys: paths("no"), Raw: true}, "shop# no# by:shop by:no unique"},
		{"counted", &query.Count{Class: "orders", Where: rule(t, `{"no": 1}`)}, `where {"no":{"$eq":1}} canonical {"gone":{"$ne":true}}`},
		{"a count of nothing", &query.Count{Class: "odders"}, `not_found /class_name: there is no class "odders" [orders]`},
		{"a condition on another source", &query.Count{Class: "shops", Where: rule(t, `{"id": {"$inQuery": {"className": "leads"}}}`)}, "unsupported_by_source /id/$inQuery/className: leads is in another source than shops. Query each source by itself []"},
		{"two conditions on one class", &query.Count{Class: "orders", Where: rule(t, `{"shop": {"$inQuery": {"className": "shops"}}, "buyer": {"$inQuery": {"className": "people"}}, "$or": [{"shop": {"$inQuery": {"className": "shops"}}}]}`)}, `where {"$and":[{"shop":{"$select":{"query":{"className":"shops"},"key":"id"}}},{"buyer":{"$select":{"query":{"className":"people"},"key":"id"}}},{"$or":[{"shop":{"$select":{"query":{"className":"shops"},"key":"id"}}}]}]} view shops view people canonical {"gone":{"$ne":true}}`},
	} {
		got := planned(trade(t).Read(agent(), tt.ask))
		if got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// TestRelationsOfView checks that only single-field pointers to existing classes are relations, one for each field.
func TestRelationsOfView(t *testing.T) {
	v, err := trade(t).View(agent(), "orders", "", false)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(v.Relations()), "[{shop shops id false} {buyer people id false} {meta people id false}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPipelines checks the plans of pipelines.
func TestPipelines(t *testing.T) {
	for _, tt := range []struct {
		name, class, stages string
		most                int
		want                string
	}{
		{"none", "shops", "", 0, "id# name boss# sign view shops limit 5 true"},
		{"a count", "shops", `[{"$count": "n"}]`, 0, "n:integer view shops limit 1 false"},
		{"facets", "shops", `[{"$facet": {"a": [{"$count": "n"}]}}]`, 0, "a:json view shops limit 1 false"},
		{"a limit", "shops", `[{"$limit": 7}]`, 0, "id# name boss# sign view shops limit 7 false"},
		{"at most as many", "shops", `[{"$limit": 7}]`, 7, "id# name boss# sign view shops limit 7 false"},
		{"too many", "shops", `[{"$limit": 8}]`, 7, "invalid_query /pipeline/0/$limit: a closing $limit is at most 7 here []"},
		{"another stage", "shops", `[{"$limit": 8}, {"$match": {"id": 1}}]`, 7, "id# name boss# sign view shops limit 5 true"},
		{"what is in no class", "orders", `[{"$group": {"_id": "$shop", "n": {"$sum": 1}}}]`, 0, `_id#:integer n:integer view orders limit 5 true canonical {"gone":{"$ne":true}}`},
		{"some of it", "shops", `[{"$project": {"name": 1}}]`, 0, "name view shops limit 5 true"},
		{"a field from another class", "shops", `[{"$lookup": {"from": "people", "localField": "boss", "foreignField": "id", "as": "a"}}, {"$unwind": "$a"}, {"$project": {"a.name": 1}}]`, 0, "a.name view shops view people limit 5 true"},
		{"one class twice", "orders", `[{"$lookup": {"from": "people", "localField": "buyer", "foreignField": "id", "as": "a"}}, {"$lookup": {"from": "people", "localField": "shop", "foreignField": "id", "as": "b"}}]`, 0, `note shop# no# buyer# meta# area created created_on gone lost a:json b:json view orders view people limit 5 true canonical {"gone":{"$ne":true}}`},
		{"no class", "nothing", "", 0, `not_found /class_name: there is no class "nothing" []`},
		{"no field", "shops", `[{"$match": {"idd": 1}}]`, 0, `invalid_query /pipeline/0/$match/idd: unknown field "idd" of shops [id]`},
	} {
		var stages []query.Stage
		if tt.stages != "" {
			var err error
			if stages, err = query.ParsePipeline(claims(t, tt.stages), "/pipeline"); err != nil {
				t.Fatal(err)
			}
		}
		got := planned(trade(t).Read(agent(), &query.Pipeline{Class: tt.class, Stages: stages, Limit: 5, Most: tt.most}))
		if got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// TestRelations checks that a query with more classes than databases join is refused.
func TestRelations(t *testing.T) {
	var crowd []schema.Class
	var asked query.Or
	for i := range MaxRelations + 2 {
		name := fmt.Sprintf("c%02d", i)
		crowd = append(crowd, schema.Class{Source: "app", Name: name, Table: name, Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}}})
		if i > 0 {
			asked = append(asked, rule(t, `{"id": {"$select": {"query": {"className": "`+name+`"}, "key": "id"}}}`))
		}
	}
	p, err := New(Rules{Unlisted: true}, crowd)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Read(agent(), &query.Count{Class: "c00", Where: asked[:MaxRelations]}); err != nil {
		t.Error(err)
	}
	if _, err = p.Read(agent(), &query.Count{Class: "c00", Where: asked}); err == nil || problem.Of(err).Detail != "the query names too many classes" {
		t.Errorf("one more: %v", err)
	}
}

// TestFrom checks where the page after a position begins.
func TestFrom(t *testing.T) {
	permit, err := trade(t).Read(agent(), &query.Find{Class: "orders", Order: []query.Sort{{Path: query.Path{"created"}}}})
	if err != nil {
		t.Fatal(err)
	}
	three := []value.Value{value.OfInt(1), value.OfInt(2), value.OfInt(3)}
	for _, tt := range []struct {
		permit Permit
		at     Position
		want   string
	}{
		{permit, Position{Skip: 5}, "[] 5"},
		{permit, Position{After: three}, "[1 2 3] 0"},
		{permit, Position{After: three[:2]}, "invalid_argument: the cursor belongs to another query"},
		{permit, Position{After: three[:0]}, "invalid_argument: the cursor belongs to another query"},
		{Permit{}, Position{}, "permission_denied: no permit"},
	} {
		next, err := tt.permit.From(tt.at)
		got := ""
		if plan, none := next.Plan(); err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(plan.After, " ", plan.Skip, none)
		}
		if got != tt.want && got != tt.want+"<nil>" && got != tt.want+" <nil>" {
			t.Errorf("%+v: %s, want %s", tt.at, got, tt.want)
		}
	}
	if plan, err := permit.Plan(); err != nil || plan.After != nil || plan.Skip != 0 {
		t.Errorf("the permit was changed: %v %d %v", plan.After, plan.Skip, err)
	}
}
