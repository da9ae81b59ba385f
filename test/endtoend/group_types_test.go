package endtoend

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestGroupByOwnTypes groups by columns whose types only PostgreSQL has. The groups must match the texts in answers.
func TestGroupByOwnTypes(t *testing.T) {
	at := services.Postgres(t)
	db, err := sql.Open("pgx", at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE hosts (id int PRIMARY KEY, addr inet, waited interval, net cidr, span int4range, doc tsvector);
		INSERT INTO hosts VALUES (1, '10.0.0.1', '90 minutes', '10.0.0.0/8', '[1,4]', 'a'), (2, '10.0.0.1/32', '1 hour 30 minutes', '10.0.0.0/8', '[1,5)', 'a'), (3, '10.0.0.1/16', '1 day', NULL, 'empty', NULL), (4, NULL, NULL, '::/0', NULL, 'b')`); err != nil {
		t.Fatal(err)
	}
	src, err := postgres.Open(t.Context(), "app", at)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": src}, Rules: policy.Rules{Version: "1", Unlisted: true}, Audit: forgetful{},
		Limits: limit.Options{PerMinute: 1e9, Burst: 1e9}})
	if err != nil {
		t.Fatal(err)
	}
	set := toolsOf(t, g)
	for _, tt := range [][3]string{
		{"aggregate", `{"class_name": "hosts", "pipeline": [{"$group": {"_id": "$addr", "n": {"$sum": 1}}}]}`, `[{"_id":null,"n":1},{"_id":"10.0.0.1","n":2},{"_id":"10.0.0.1/16","n":1}]`},
		{"aggregate", `{"class_name": "hosts", "pipeline": [{"$group": {"_id": {"a": "$net", "b": "$span"}, "n": {"$sum": 1}}}, {"$match": {"_id.a": "10.0.0.0/8"}}]}`, `[{"_id":{"a":"10.0.0.0/8","b":"[1,5)"},"n":2}]`},
		{"aggregate", `{"class_name": "hosts", "pipeline": [{"$sortByCount": "$waited"}]}`, `[{"_id":"PT1H30M","count":2},{"_id":null,"count":1},{"_id":"P1D","count":1}]`},
		{"group_by", `{"class_name": "hosts", "field": "addr"}`, `10.0.0.1`},
		{"distinct", `{"class_name": "hosts", "field": "addr"}`, `10.0.0.1/16`},
		{"aggregate", `{"class_name": "hosts", "pipeline": [{"$group": {"_id": "$doc"}}]}`, `"unsupported_by_source"`},
	} {
		args, err := value.Read([]byte(tt[1]), 0)
		if err != nil {
			t.Fatal(err)
		}
		who := identity.Principal{ID: "p", Scopes: []identity.Scope{identity.Read}}
		got, _ := answer(set, who, tool.Request{Name: tt[0], Arguments: args})
		if !strings.Contains(got, tt[2]) {
			t.Errorf("%s %s\n got %s\nwant %s", tt[0], tt[1], got, tt[2])
		}
	}
}
