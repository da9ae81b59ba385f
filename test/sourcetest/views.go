package sourcetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
)

// include tests the records that pointers lead to. They must be in the order of the plan's columns.
func (s *subject) include(t *testing.T) {
	for _, tt := range []struct {
		class, keys, include, where string
		rows                        []string
		needs                       Ability // required to store the target records
	}{
		{"users", "name,boss.name", "", "", []string{
			"1,Ann,null,null,null", "2,Bob,1,1,Ann", "3,Cat,2,2,Bob", "4,Dan,1,1,Ann", "5,Eve,99,null,null",
			"9007199254740993,Big,9007199254740993,9007199254740993,Big"}, ""},
		{"users", "boss.boss.name", "", `{"id":{"$lte":4}}`, []string{
			"1,null,null,null,null,null", "2,1,1,null,null,null", "3,2,2,1,1,Ann", "4,1,1,null,null,null"}, ""},
		{"users", "name", "org", `{"id":{"$ne":3}}`, []string{
			`1,Ann,acme,acme,Acme,{"plan":{"name":"pro"},"flags":[{"on":true},{"on":false},3]}`,
			`2,Bob,acme,acme,Acme,{"plan":{"name":"pro"},"flags":[{"on":true},{"on":false},3]}`,
			"4,Dan,null,null,null,null", "5,Eve,gone,null,null,null", `9007199254740993,Big,ACME,ACME,Other,{"plan":"none"}`}, ""},
		{"users", "org.settings.plan.name,org.settings.flags.on", "", `{"org":{"$ne":null}}`, []string{
			"1,acme,acme,pro,[true,false,null]", "2,acme,acme,pro,[true,false,null]", "3,globex,globex,null,null", "5,gone,null,null,null",
			"9007199254740993,ACME,ACME,null,null"}, ""},
		{"posts", "title,author.boss.org.name", "", `{"org":"globex"}`, []string{
			"globex,1,First,3,3,2,2,acme,acme,Acme", "globex,2,Other,77,null,null,null,null,null,null"}, ""},
		{"comments", "", "author", `{"id":{"$in":[1,6,7]}}`, []string{
			"1,1,one,5,false,1,Ann,acme,null", "6,null,six,null,false,null,null,null,null", "7,99,seven,2,false,null,null,null,null"}, ""},
		{"visits", "who.boss.name", "", "", []string{
			"1,1,1,null,null,null", "2,3,3,2,2,Bob", "3,null,null,null,null,null", "4,77,null,null,null,null", "5,2,2,1,1,Ann"}, ""},
		{"visits", "kind.b,mood.b", "", "", []string{
			"1,k1,k1,true,K1,K1,false", "2,K1,K1,false,9,9,true", "3,é,é,true,É,null,null", "4,k3,null,null,null,null,null", "5,null,null,null,k1,k1,true"}, EmptyBytes},
		{"visits", "id", "", `{"who.name":"Cat"}`, []string{"2"}, ""},
	} {
		q := &query.Find{Class: tt.class, Keys: paths(tt.keys), Include: paths(tt.include), Where: where(t, tt.where), Limit: 100}
		plan, rows, err := s.read(t.Context(), s.policy, reader, q)
		want := slices.DeleteFunc(tt.rows, func(row string) bool {
			return s.storableIDs(t, tt.class, strings.Join(strings.SplitN(row, ",", len(s.class(tt.class).Key)+1)[:len(s.class(tt.class).Key)], "/")) == ""
		})
		if err != nil || len(rows) != len(want) {
			t.Errorf("%s keys %s include %s: %d rows, %v; want %d", tt.class, tt.keys, tt.include, len(rows), err, len(want))
			continue
		}
		_, lacks := s.limits[tt.needs]
		s.met[tt.needs] = s.met[tt.needs] || lacks
		for i, row := range rows {
			if got := canonicalLine(row[:len(plan.Columns)]); got != canonicalText(t, want[i]) && !lacks {
				t.Errorf("%s keys %s include %s, record %d:\n got %s\nwant %s", tt.class, tt.keys, tt.include, i, got, want[i])
			}
		}
	}
}

// views tests that every record that is read, joined or counted satisfies the rules that restrict the principal.
func (s *subject) views(t *testing.T) {
	rules := map[string]policy.ClassRule{
		"orgs":  {Tenant: &policy.TenantRule{Field: "id"}},
		"users": {Tenant: &policy.TenantRule{Field: "org"}, Visible: []string{"id", "name", "boss"}},
		"posts": {Tenant: &policy.TenantRule{Field: "org"}, Canonical: where(t, `{"deleted":{"$ne":true}}`)},
		"comments": {Tenant: &policy.TenantRule{Through: "author"}, Canonical: where(t, `{"hidden":{"$ne":true}}`),
			Visible: []string{"id", "author", "body", "hidden"}},
	}
	p := s.rules(t, rules)
	acme, other := reader, reader
	acme.Tenant, other.Tenant = "acme", "ACME"
	narrow := acme
	narrow.Filters = map[string]query.Filter{"comments": where(t, `{"stars":{"$gte":5}}`), "posts": where(t, `{"meta.tags":{"$elemMatch":{"$eq":"x"}}}`)}
	for _, tt := range []struct {
		name, class, where string
		who                identity.Principal
		raw                bool
		ask                []string
		want               string
	}{
		{"tenant", "orgs", "", acme, false, nil, "acme"},
		{"tenant by bytes", "users", "", other, false, nil, "9007199254740993"},
		{"tenant and where", "users", `{"$or":[{"id":1},{"id":3}]}`, acme, false, nil, "1"},
		{"not can't widen", "users", `{"$not":{"id":1}}`, acme, false, nil, "2"},
		{"canonical", "posts", "", acme, false, nil, "acme/1 acme/3"},
		{"canonical off", "posts", "", acme, true, nil, "acme/1 acme/2 acme/3"},
		{"canonical off by id", "posts", "", acme, false, []string{`["acme",2]`, `["globex",1]`}, "acme/2"},
		{"through", "comments", "", acme, false, nil, "1 8"},
		{"through, canonical off", "comments", "", acme, true, nil, "1 2 8"},
		{"through by id", "comments", "", acme, false, []string{"2", "3", "4", "6"}, "2"},
		{"through, by bytes", "comments", "", other, false, nil, "9"},
		{"principal", "comments", "", narrow, false, nil, "1"},
		{"principal inside JSON", "posts", "", narrow, false, nil, "acme/1"},
		{"principal by id", "comments", "", narrow, false, []string{"8"}, ""},
	} {
		q := &query.Find{Class: tt.class, Where: where(t, tt.where), Raw: tt.raw, IDs: tt.ask, Limit: 100}
		plan, rows, err := s.read(t.Context(), p, tt.who, q)
		if want := s.storableIDs(t, tt.class, tt.want); err != nil || ids(plan, rows) != want {
			t.Errorf("%s: %v, %v; want %s", tt.name, rows, err, want)
		}
		if tt.ask != nil {
			continue
		}
		_, count, err := s.read(t.Context(), p, tt.who, &query.Count{Class: tt.class, Where: q.Where, Raw: tt.raw})
		if err != nil || len(count) != 1 || int(count[0][0].Int()) != len(rows) {
			t.Errorf("%s: count %v, %v; want %d", tt.name, count, err, len(rows))
		}
	}
	s.viewsBehind(t, p, acme)
}

// viewsBehind checks a pointer to a record outside the view. The pointer and the fields behind it must be null.
func (s *subject) viewsBehind(t *testing.T, p *policy.Policy, acme identity.Principal) {
	t.Helper()
	plan, rows, err := s.read(t.Context(), p, acme, &query.Find{Class: "posts", Keys: paths("author.name"), Raw: true, Limit: 10})
	for i, want := range []string{"acme,1,1,1,Ann", "acme,2,2,2,Bob", "acme,3,null,null,null"} {
		if err != nil || len(rows) != 3 || line(rows[i][:len(plan.Columns)]) != want {
			t.Errorf("include within the view: %v, %v; want %s", rows, err, want)
		}
	}
	boss := map[string]policy.ClassRule{"users": {Canonical: where(t, `{"name":{"$ne":"Ann"}}`)}}
	plan, rows, err = s.read(t.Context(), s.rules(t, boss), reader, &query.Find{Class: "users", Keys: paths("boss.name"), Where: where(t, `{"id":{"$lte":4}}`), Limit: 10})
	for i, want := range []string{"2,1,null,null", "3,2,2,Bob", "4,1,null,null"} {
		if err != nil || len(rows) != 3 || line(rows[i][:len(plan.Columns)]) != want {
			t.Errorf("include of what is not live: %v, %v; want %s", rows, err, want)
		}
	}
}
