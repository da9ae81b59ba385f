// Package masks tests the results for masked fields. It is a part of the suite for sources.
//
// It complements package sourcetest and uses its datasets. Only tests import it. A source returns masked fields
// without a mask, in its own kind of value. Run then applies packages redact and shape, like a gateway. It compares
// the results with answers written by hand.
package masks

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/redact"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/canonical"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Run reads masked fields from a source. The limits are those that the source declares for sourcetest.
func Run(t *testing.T, open sourcetest.Open, limits sourcetest.Limits) {
	var data sourcetest.Dataset
	for _, table := range sourcetest.Tables() {
		if _, lacks := limits[table.Needs]; !lacks {
			data.Tables = append(data.Tables, table)
		}
	}
	s := &subject{source: open(t, data)}
	var err error
	if s.classes, _, err = s.source.Describe(t.Context()); err != nil {
		t.Fatalf("describe: %v", err)
	}
	t.Run("answers", s.answers)
	t.Run("hashes", func(t *testing.T) {
		_, inexact := limits[sourcetest.ExactDecimals]
		s.hashes(t, inexact)
	})
}

// A subject is the source under test.
type subject struct {
	source  source.Source
	classes []schema.Class
}

// rules contains the rules for most test rows. With keyless, only the masked fields of a class are visible.
var (
	rules = map[string]policy.ClassRule{
		"orgs":     {Mask: map[string]policy.Mask{"name": policy.Partial, "settings": policy.Null}},
		"users":    {Mask: map[string]policy.Mask{"name": policy.Null}},
		"comments": {Mask: map[string]policy.Mask{"body": policy.Partial, "hidden": policy.Null}},
	}
	named = map[string]policy.ClassRule{"users": {Mask: map[string]policy.Mask{"name": policy.Pseudonym}}}

	keyless = map[string]policy.ClassRule{"orgs": {Denied: []string{"id"}, Mask: map[string]policy.Mask{"name": policy.Null, "settings": policy.Null}}}
)

// answers tests records as callers receive them. Each row is a find with keys and include, a pipeline, or a SELECT.
func (s *subject) answers(t *testing.T) {
	for _, tt := range []struct {
		rules                  map[string]policy.ClassRule
		class, ask, keys, also string
		want                   string
	}{
		{rules, "orgs", `{}`, "", "", `[{"id":"ACME","name":"O•••","settings":null},{"id":"acme","name":"A•••","settings":null},{"id":"globex","name":"G•••","settings":null}]`},
		{rules, "orgs", `{"id":"acme"}`, "settings.plan", "name", `[{"id":"acme","name":"A•••","settings":{"plan":null}}]`},
		{rules, "users", `{"id":{"$gte":2,"$lte":3}}`, "name", "org.name", `[{"id":"2","name":null,"org":{"id":"acme","name":"A•••"}},{"id":"3","name":null,"org":{"id":"globex","name":"G•••"}}]`},
		{rules, "comments", `{"id":{"$in":[3,6]}}`, "body", "author.org", `[{"author":{"id":"3","org":"globex"},"body":"t•••","id":"3"},{"author":null,"body":"•••","id":"6"}]`},
		{named, "users", `{"id":{"$lte":2}}`, "", "", `[{"boss":null,"id":"1","name":"User 1","org":"acme"},{"boss":"1","id":"2","name":"User 2","org":"acme"}]`},
		{named, "users", `{"id":{"$lte":2}}`, "name", "boss.name", `[{"boss":null,"id":"1","name":"User 1"},{"boss":{"id":"1","name":"User 1"},"id":"2","name":"User 2"}]`},
		{named, "users", `[{"$match": {"id": {"$lte": 2}}}, {"$project": {"who": "$name"}}]`, "", "", `[{"who":"User 1"},{"who":"User 2"}]`},
		{named, "users", `[{"$match": {"id": {"$lte": 5}}}, {"$group": {"_id": "$name", "n": {"$count": {}}}}, {"$sort": {"n": -1}}]`, "", "", `[{"_id":"User 1","n":1},{"_id":"User 2","n":1},{"_id":"User 3","n":1},{"_id":"User 4","n":1},{"_id":"User 5","n":1}]`},
		{named, "comments", `[{"$match": {"id": {"$lte": 5}}}, {"$group": {"_id": "$author.name", "n": {"$count": {}}}}]`, "", "", `[{"_id":"User 1","n":1},{"_id":"User 2","n":1},{"_id":"User 3","n":1},{"_id":"User 4","n":1},{"_id":"User 5","n":1}]`},
		{named, "users", `[{"$sortByCount": "$name"}, {"$limit": 1}]`, "", "", `[{"_id":"User 1","count":1}]`},
		{named, "users", `[{"$group": {"_id": "$org", "all": {"$push": "$$ROOT"}}}, {"$limit": 1}]`, "", "", `[{"_id":null,"all":[{"boss":"1","id":"4","org":null}]}]`},
		{named, "users", `SELECT id, name FROM users WHERE id <= 2 ORDER BY id`, "", "", `[{"id":"1","name":"User 1"},{"id":"2","name":"User 2"}]`},
		{named, "users", `SELECT u.id, u.name, count(*) AS n FROM comments c JOIN users u ON u.id = c.author WHERE c.id <= 5 GROUP BY u.id ORDER BY u.id LIMIT 2`, "", "", `[{"id":"1","n":1,"name":"User 1"},{"id":"2","n":1,"name":"User 2"}]`},
		{named, "users", `SELECT name, 1 AS x FROM users WHERE id <= 2 UNION ALL SELECT name, 2 FROM users WHERE id = 2 ORDER BY x`, "", "", `[{"name":"User 1","x":1},{"name":"User 2","x":1},{"name":"User 2","x":2}]`},
		{named, "users", `SELECT name FROM users WHERE id <= 2 UNION SELECT name FROM users WHERE id = 2`, "", "", `[{"name":"User 1"},{"name":"User 2"}]`},
		{named, "users", `SELECT name FROM users WHERE id <= 2 EXCEPT SELECT name FROM users WHERE id = 2`, "", "", `[{"name":"User 1"}]`},
		{named, "users", `SELECT who, count(*) AS n FROM (SELECT name AS who FROM users WHERE id <= 2 UNION ALL SELECT name FROM users WHERE id = 2) t GROUP BY who ORDER BY n`, "", "", `[{"n":1,"who":"User 1"},{"n":2,"who":"User 2"}]`},
		{keyless, "orgs", `{}`, "", "", `[{"name":null,"settings":null},{"name":null,"settings":null},{"name":null,"settings":null}]`},
		{rules, "orgs", `[{"$sort": {"id": -1}}, {"$limit": 2}]`, "", "", `[{"id":"globex","name":"G•••","settings":null},{"id":"acme","name":"A•••","settings":null}]`},
		{rules, "orgs", `[{"$project": {"who": "$name", "a.b": "$name", "c": "$settings"}}, {"$limit": 1}]`, "", "", `[{"a":{"b":"O•••"},"c":null,"who":"O•••"}]`},
		{rules, "users", `[{"$match": {"id": 2}}, {"$lookup": {"from": "orgs", "localField": "org", "foreignField": "id", "as": "o"}}, {"$unwind": "$o"}, {"$project": {"name": 1, "o": 1}}]`, "", "",
			`[{"name":null,"o":{"id":"acme","name":"A•••","settings":null}}]`},
		{rules, "users", `[{"$match": {"id": {"$gte": 3, "$lte": 4}}}, {"$lookup": {"from": "orgs", "localField": "org", "foreignField": "id", "as": "o"}}, {"$unwind": {"path": "$o", "preserveNullAndEmptyArrays": true}}, {"$project": {"o": 1}}]`, "", "",
			`[{"o":{"id":"globex","name":"G•••","settings":null}},{"o":null}]`},
		{rules, "users", `[{"$match": {"id": 1}}, {"$lookup": {"from": "orgs", "localField": "org", "foreignField": "id", "as": "o"}}]`, "", "",
			`[{"boss":null,"id":"1","name":null,"o":[{"id":"acme"}],"org":"acme"}]`},
		{rules, "users", `[{"$match": {"id": 1}}, {"$lookup": {"from": "comments", "let": {"u": "$id"}, "pipeline": [{"$match": {"$expr": {"$eq": ["$author", "$$u"]}}}, {"$sort": {"id": -1}}, {"$limit": 1}], "as": "c"}}, {"$project": {"c": 1}}]`, "", "",
			`[{"c":[{"author":"1","id":"8","stars":1}]}]`},
		{rules, "users", `[{"$match": {"id": 3}}, {"$graphLookup": {"from": "users", "startWith": "$boss", "connectFromField": "boss", "connectToField": "id", "as": "b"}}, {"$project": {"name": 1, "b": 1}}]`, "", "",
			`[{"b":[{"boss":"1","id":"2","org":"acme"},{"boss":null,"id":"1","org":"acme"}],"name":null}]`},
		{rules, "orgs", `[{"$facet": {"all": [{"$project": {"id": 1, "name": 1}}], "n": [{"$count": "n"}]}}]`, "", "", `[{"all":[{"id":"ACME"},{"id":"acme"},{"id":"globex"}],"n":[{"n":3}]}]`},
		{rules, "orgs", `[{"$group": {"_id": null, "all": {"$push": "$$ROOT"}, "last": {"$last": "$$ROOT"}}}]`, "", "", `[{"_id":null,"all":[{"id":"ACME"},{"id":"acme"},{"id":"globex"}],"last":{"id":"globex"}}]`},
		{rules, "orgs", `[{"$project": {"name": 1}}, {"$unionWith": {"coll": "orgs", "pipeline": [{"$limit": 1}, {"$project": {"id": 1, "name": 1}}]}}]`, "", "",
			`[{"id":null,"name":"O•••"},{"id":null,"name":"A•••"},{"id":null,"name":"G•••"},{"id":"ACME","name":"O•••"}]`},
		{rules, "orgs", `[{"$sample": {"size": 2}}, {"$count": "n"}]`, "", "", `[{"n":2}]`},
		{rules, "orgs", "SELECT o.id, o.name, count(u.id) AS n FROM orgs o LEFT JOIN users u ON u.org = o.id WHERE o.id <> 'ACME' GROUP BY o.id, o.name ORDER BY o.id", "", "",
			`[{"id":"acme","n":2,"name":"A•••"},{"id":"globex","n":1,"name":"G•••"}]`},
		{rules, "orgs", "SELECT o.name, o.settings, count(*) AS n FROM users u JOIN orgs o ON o.id = u.org WHERE o.id <> 'ACME' GROUP BY u.org ORDER BY u.org", "", "",
			`[{"n":2,"name":"A•••","settings":null},{"n":1,"name":"G•••","settings":null}]`},
		{rules, "orgs", "SELECT name AS who FROM orgs GROUP BY name, id HAVING count(*) > 0 ORDER BY id DESC", "", "", `[{"who":"G•••"},{"who":"A•••"},{"who":"O•••"}]`},
		{keyless, "orgs", `[{"$skip": 1}]`, "", "", `[{"name":null,"settings":null},{"name":null,"settings":null}]`},
		{keyless, "orgs", `[{"$sample": {"size": 1}}]`, "", "", `[{"name":null,"settings":null}]`},
		{keyless, "orgs", `[{"$group": {"_id": null, "all": {"$push": "$$ROOT"}}}]`, "", "", `[{"_id":null,"all":[{},{},{}]}]`},
		{keyless, "orgs", `[{"$addFields": {"x": 1}}, {"$unionWith": {"coll": "orgs", "pipeline": [{"$limit": 1}]}}, {"$limit": 4}, {"$facet": {"a": [{"$skip": 2}]}}]`, "", "", `[{"a":[{"x":1},{"x":null}]}]`},
		{keyless, "orgs", `[{"$addFields": {"x": 1}}, {"$lookup": {"from": "users", "pipeline": [{"$match": {"id": 1}}], "as": "u"}}, {"$limit": 1}]`, "", "",
			`[{"name":null,"settings":null,"u":[{"boss":null,"id":"1","name":"Ann","org":"acme"}],"x":1}]`},
	} {
		got, err := s.leave(t, tt.rules, read(t, tt.class, tt.ask, tt.keys, tt.also))
		if text := numberPseudonyms(canonical.Of(got).String()); err != nil || text != tt.want {
			t.Errorf("%s %s %s %s\n got %s %v\nwant %s", tt.class, tt.ask, tt.keys, tt.also, text, err, tt.want)
		}
	}
}

// numberPseudonyms replaces the pseudonyms in an answer by numbers in the order of their appearance, because two
// sources have different pseudonyms.
func numberPseudonyms(answer string) string {
	seen := map[string]string{}
	return regexp.MustCompile(`"User [2-9B-Z]{4,13}"`).ReplaceAllStringFunc(answer, func(name string) string {
		if seen[name] == "" {
			seen[name] = fmt.Sprintf(`"User %d"`, len(seen)+1)
		}
		return seen[name]
	})
}

// hashes tests every type that can be hashed. Equal values must have the same hash. The hash must differ from the
// value.
func (s *subject) hashes(t *testing.T, inexact bool) {
	for _, tt := range []struct{ class, field string }{
		{"comments", "body"}, {"comments", "stars"}, {"numbers", "n"}, {"numbers", "d"}, {"texts", "s"}, {"times", "at"}, {"times", "day"}, {"kinds", "u"}, {"kinds", "raw"},
	} {
		if inexact && tt.field == "d" {
			continue // this source has doubles instead
		}
		q := read(t, tt.class, `{}`, tt.field, "")
		raw, err := s.leave(t, nil, q)
		if err != nil {
			t.Fatalf("%s.%s: %v", tt.class, tt.field, err)
		}
		hashed, err := s.leave(t, map[string]policy.ClassRule{tt.class: {Mask: map[string]policy.Mask{tt.field: policy.Hash}}}, q)
		if err != nil || len(hashed.List()) != len(raw.List()) {
			t.Fatalf("%s.%s hashed: %s, %v; of %s", tt.class, tt.field, hashed, err, raw)
		}
		is := func(list value.Value, i int) value.Value { v, _ := list.List()[i].Get(tt.field); return v }
		for i := range raw.List() {
			x, hash := is(raw, i), is(hashed, i)
			if hash.IsNull() != x.IsNull() || !hash.IsNull() && len(hash.Text()) != 16 {
				t.Errorf("%s.%s: %v leaves as %v", tt.class, tt.field, x, hash)
			}
			for j := range i {
				if value.Equal(x, is(raw, j)) != value.Equal(hash, is(hashed, j)) {
					t.Errorf("%s.%s: %v and %v leave as %v and %v", tt.class, tt.field, x, is(raw, j), hash, is(hashed, j))
				}
			}
		}
	}
}

// read parses a query: a SELECT, a pipeline, or a find with the fields in ask.
func read(t *testing.T, class string, ask ...string) query.Query {
	t.Helper()
	if strings.HasPrefix(ask[0], "SELECT ") {
		q, err := query.ParseSQL(ask[0])
		if err != nil {
			t.Fatalf("%s: %v", ask[0], err)
		}
		q.Limit = 1000
		return q
	}
	v, err := value.Read([]byte(ask[0]), 0)
	if err != nil {
		t.Fatalf("%s: %v", ask[0], err)
	}
	if v.Kind() == value.Array {
		stages, err := query.ParsePipeline(v, "/pipeline")
		if err != nil {
			t.Fatalf("%s: %v", ask[0], err)
		}
		return &query.Pipeline{Class: class, Stages: stages, Limit: 1000}
	}
	find := &query.Find{Class: class, Limit: 100}
	if find.Where, err = query.ParseWhere(v, "/where"); err != nil {
		t.Fatalf("%s: %v", ask[0], err)
	}
	for _, key := range ask[1:] {
		if key != "" {
			find.Keys = append(find.Keys, query.ParsePath(key))
		}
	}
	return find
}

// leave reads the records of q in the form that callers receive.
func (s *subject) leave(t *testing.T, rules map[string]policy.ClassRule, q query.Query) (value.Value, error) {
	t.Helper()
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: rules}, s.classes)
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{ID: "test", Scopes: []identity.Scope{identity.Read}}, q)
	if err != nil {
		return value.Value{}, err
	}
	raw, err := s.source.Read(t.Context(), permit)
	if err != nil {
		return value.Value{}, err
	}
	rows, err := redact.Apply(permit, plan.NewMaskKey([]byte("secret")), raw)
	if err != nil {
		return value.Value{}, err
	}
	page, err := result.NewPage(rows, result.MaxBudget)
	if err != nil {
		return value.Value{}, err
	}
	return value.Read(page.AppendJSON(nil), 0)
}
