package pipelines

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/mask"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/redact"
	"github.com/bailiwick-dev/bailiwick/value"
)

// masks tests what leaves of masked fields that stages pass on, and that documents of whole records hold none.
func (s *subject) masks(t *testing.T) {
	rules := map[string]policy.ClassRule{
		"orgs":     {Mask: map[string]policy.Mask{"name": policy.Partial, "settings": policy.Null}},
		"users":    {Mask: map[string]policy.Mask{"name": policy.Null}},
		"comments": {Mask: map[string]policy.Mask{"body": policy.Partial}},
	}
	keyless := map[string]policy.ClassRule{"orgs": {Denied: []string{"id"}, Mask: map[string]policy.Mask{"name": policy.Null, "settings": policy.Null}}}
	for _, tt := range []struct {
		rules           map[string]policy.ClassRule
		class, pipeline string
		rows            string
	}{
		{rules, "orgs", `[{"$sort": {"id": -1}}]`,
			`[{"id":"globex","name":"G•••","settings":null},{"id":"acme","name":"A•••","settings":null},{"id":"ACME","name":"O•••","settings":null}]`},
		{rules, "orgs", `[{"$project": {"who": "$name", "a.b": "$name", "c": "$settings"}}, {"$limit": 1}]`, `[{"who":"O•••","a":{"b":"O•••"},"c":null}]`},
		{rules, "users", `[{"$match": {"id": {"$lte": 2}}}, {"$lookup": {"from": "orgs", "localField": "org", "foreignField": "id", "as": "o"}}, {"$unwind": "$o"}, {"$project": {"name": 1, "o": 1}}]`,
			`[{"name":null,"o":{"id":"acme","name":"A•••","settings":null}},{"name":null,"o":{"id":"acme","name":"A•••","settings":null}}]`},
		{rules, "users", `[{"$match": {"id": {"$gte": 3, "$lte": 4}}}, {"$lookup": {"from": "orgs", "localField": "org", "foreignField": "id", "as": "o"}}, {"$unwind": {"path": "$o", "preserveNullAndEmptyArrays": true}}, {"$project": {"o": 1}}]`,
			`[{"o":{"id":"globex","name":"G•••","settings":null}},{"o":null}]`},
		{rules, "users", `[{"$match": {"id": {"$lte": 1}}}, {"$lookup": {"from": "orgs", "localField": "org", "foreignField": "id", "as": "o"}}]`,
			`[{"id":"1","name":null,"org":"acme","boss":null,"o":[{"id":"acme"}]}]`},
		{rules, "users", `[{"$match": {"id": 1}}, {"$lookup": {"from": "comments", "let": {"u": "$id"}, "pipeline": [{"$match": {"$expr": {"$eq": ["$author", "$$u"]}}}, {"$sort": {"id": -1}}, {"$limit": 1}], "as": "c"}}, {"$project": {"c": 1}}]`,
			`[{"c":[{"author":"1","hidden":null,"id":"8","stars":1}]}]`},
		{rules, "users", `[{"$match": {"id": 3}}, {"$graphLookup": {"from": "users", "startWith": "$boss", "connectFromField": "boss", "connectToField": "id", "as": "b"}}, {"$project": {"name": 1, "b": 1}}]`,
			`[{"name":null,"b":[{"boss":"1","id":"2","org":"acme"},{"boss":null,"id":"1","org":"acme"}]}]`},
		{rules, "orgs", `[{"$facet": {"all": [{"$project": {"id": 1, "name": 1}}], "n": [{"$count": "n"}]}}]`, `[{"all":[{"id":"ACME"},{"id":"acme"},{"id":"globex"}],"n":[{"n":3}]}]`},
		{rules, "orgs", `[{"$group": {"_id": null, "all": {"$push": "$$ROOT"}, "last": {"$last": "$$ROOT"}}}]`, `[{"_id":null,"all":[{"id":"ACME"},{"id":"acme"},{"id":"globex"}],"last":{"id":"globex"}}]`},
		{rules, "orgs", `[{"$project": {"name": 1}}, {"$unionWith": {"coll": "orgs", "pipeline": [{"$limit": 1}, {"$project": {"id": 1, "name": 1}}]}}]`,
			`[{"name":"O•••","id":null},{"name":"A•••","id":null},{"name":"G•••","id":null},{"name":"O•••","id":"ACME"}]`},
		{rules, "orgs", `[{"$sample": {"size": 2}}, {"$count": "n"}]`, `[{"n":2}]`},
		{keyless, "orgs", `[{"$skip": 1}]`, `[{"name":null,"settings":null},{"name":null,"settings":null}]`},
		{keyless, "orgs", `[{"$sample": {"size": 2}}]`, `[{"name":null,"settings":null},{"name":null,"settings":null}]`},
		{keyless, "orgs", `[{"$group": {"_id": null, "all": {"$push": "$$ROOT"}}}]`, `[{"_id":null,"all":[{},{},{}]}]`},
		{keyless, "orgs", `[{"$addFields": {"x": 1}}, {"$unionWith": {"coll": "orgs", "pipeline": [{"$limit": 1}]}}, {"$limit": 4}, {"$facet": {"a": [{"$skip": 2}]}}]`, `[{"a":[{"x":1},{"x":null}]}]`},
		{keyless, "orgs", `[{"$addFields": {"x": 1}}, {"$lookup": {"from": "users", "pipeline": [{"$match": {"id": 1}}], "as": "u"}}, {"$limit": 1}]`,
			`[{"name":null,"settings":null,"x":1,"u":[{"boss":null,"id":"1","name":"Ann","org":"acme"}]}]`},
	} {
		got, err := s.leave(t, s.rules(t, tt.rules), parse(t, tt.class, tt.pipeline))
		if err != nil {
			t.Errorf("%s %s: %v", tt.class, tt.pipeline, err)
			continue
		}
		if got.String() != tt.rows {
			t.Errorf("%s %s\n got %s\nwant %s", tt.class, tt.pipeline, got, tt.rows)
		}
	}
}

// leave reads the records of q as they leave.
func (s *subject) leave(t *testing.T, p *policy.Policy, q query.Query) (value.Value, error) {
	t.Helper()
	permit, err := p.Read(reader, q)
	if err != nil {
		return value.Value{}, err
	}
	plan, err := permit.Plan()
	if err != nil {
		return value.Value{}, err
	}
	raw, err := s.source.Read(t.Context(), permit)
	if err != nil {
		return value.Value{}, err
	}
	rows, err := redact.Apply(permit, mask.NewKey([]byte("secret")), raw)
	if err != nil {
		return value.Value{}, err
	}
	var out []value.Value
	for row, err := range rows.All() {
		if err != nil {
			return value.Value{}, err
		}
		out = append(out, object(&plan, row.Values))
	}
	return value.OfArray(out), nil
}
