package endtoend

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/testservices"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The notes of groups over bills.
const (
	dueLost   = "due count as null in "
	dates     = ": each is infinite, or outside of the years 1 to 9999"
	oneDate   = ": it is infinite, or outside of the years 1 to 9999"
	anyNumber = "NaN, infinite, or 1e600 and beyond"
)

// unreads are queries over bills, and the note that each answer has: "" for none.
var unreads = [][3]string{
	// What is left out is counted, of the groups that the answer shows.
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$group": {"_id": null, "latest": {"$max": "$due"}, "first": {"$min": "$due"}}}]}`, "3 values of due count as null in latest, first" + dates},
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$group": {"_id": "$kind", "latest": {"$max": "$due"}}}, {"$match": {"_id": "a"}}]}`, "2 values of due count as null in latest" + dates},
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$group": {"_id": "$kind", "latest": {"$max": "$due"}}}, {"$sort": {"_id": -1}}, {"$limit": 1}]}`, "1 value of due counts as null in latest" + oneDate},
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$match": {"id": 1}}, {"$group": {"_id": null, "latest": {"$max": "$due"}}}]}`, ""},
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$group": {"_id": null, "n": {"$sum": 1}, "k": {"$max": "$kind"}, "i": {"$max": "$id"}}}]}`, ""},
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$group": {"_id": null, "all": {"$sum": "$total"}}}]}`, "2 values of total count as null in all: each is " + anyNumber},
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$group": {"_id": null, "all": {"$avg": {"$multiply": ["$tax", 2]}}}}]}`, "1 value of tax counts as null in all: it is NaN"},
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$addFields": {"y": {"$year": "$due"}}}, {"$project": {"y": 1}}, {"$group": {"_id": "$y", "n": {"$sum": 1}}}]}`, "3 values of due count as null in _id" + dates},
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$group": {"_id": "$kind", "latest": {"$max": "$due"}}}, {"$group": {"_id": null, "l": {"$min": "$latest"}}}]}`, "3 values of due count as null in l" + dates},
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$group": {"_id": "$kind", "latest": {"$max": "$due"}}}, {"$project": {"latest": 0}}]}`, ""},
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$bucketAuto": {"groupBy": "$id", "buckets": 2, "output": {"latest": {"$max": "$due"}}}}]}`, "3 values of due count as null in latest" + dates},
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$bucket": {"groupBy": "$id", "boundaries": [0, 4, 100], "output": {"day": {"$max": "$day"}}}}]}`, "2 values of day count as null in day" + dates},
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$group": {"_id": "$kind", "x": {"$sum": "$ratio"}}}]}`, "1 value of ratio is NaN or infinite: x is null for a group with such a value"},
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$group": {"_id": "$kind", "x": {"$max": "$ratio"}}}]}`, ""},
	{"group_by", `{"class_name": "bills", "field": "kind", "operation": "max", "value_field": "due"}`, "3 values of due count as null in "},
	{"query_sql", `{"sql": "SELECT max(due) AS latest, count(*) AS n FROM bills"}`, "3 values of due count as null in latest" + dates},
	{"query_sql", `{"sql": "SELECT kind, max(due) AS latest FROM bills GROUP BY kind HAVING count(*) > 3 ORDER BY 2 LIMIT 5"}`, "2 values of due count as null in latest" + dates},
	{"query_sql", `{"sql": "SELECT kind, coalesce(sum(b.total), 0) + 1 AS s FROM bills b JOIN kinds k ON k.id = b.kind GROUP BY kind"}`, "2 values of total count as null in s: each is " + anyNumber},
	{"query_sql", `{"sql": "SELECT DISTINCT m FROM (SELECT kind, max(due) AS m FROM bills GROUP BY kind) AS t"}`, "3 values of due count as null in m" + dates},
	{"query_sql", `{"sql": "SELECT count(due) AS n FROM bills"}`, "3 values of due count as null in n" + dates},
	{"query_sql", `{"sql": "SELECT sum(money) AS n, max(id) AS i FROM bills"}`, ""},
	// A count that can't be carried on is not claimed to be none.
	{"query_sql", `{"sql": "SELECT k.id, t.m FROM kinds k JOIN (SELECT kind, max(due) AS m FROM bills GROUP BY kind) AS t ON t.kind = k.id"}`, "if a value of due is infinite"},
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$facet": {"a": [{"$group": {"_id": null, "m": {"$max": "$due"}}}]}}]}`, "if a value of due is infinite"},
	{"query_sql", `{"sql": "SELECT b.id, (SELECT max(due) FROM bills x WHERE x.kind = b.kind) AS m FROM bills b"}`, "if a value of due is infinite"},
}

// TestUnread shows that an answer says which stored values its groups leave out, and how many of those that the asker sees.
func TestUnread(t *testing.T) {
	at := testservices.Postgres(t)
	db, err := sql.Open("pgx", at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE kinds (id text PRIMARY KEY); INSERT INTO kinds VALUES ('a'), ('b');
		CREATE TABLE bills (id int PRIMARY KEY, kind text, due timestamptz, day date, total numeric, tax numeric(6,2), ratio float8, money money, hidden bool NOT NULL DEFAULT false);
		INSERT INTO bills VALUES (1, 'a', '2026-01-02', '2026-01-02', 1, 1, 1, 1, false), (2, 'a', 'infinity', 'infinity', 'NaN', 1, 1, 1, false), (3, 'a', '10000-01-01', NULL, 2, 'NaN', 'NaN', 1, false),
			(4, 'a', NULL, '-infinity', 'Infinity', NULL, NULL, NULL, false), (5, 'b', '-infinity', '2026-01-01', 5, 1, 1, 1, false),
			(6, 'b', 'infinity', 'infinity', 'NaN', 'NaN', 'Infinity', 1, true)`); err != nil {
		t.Fatal(err)
	}
	src, err := postgres.Open(t.Context(), "app", at)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	rules := policy.Rules{Version: "1", Classes: map[string]policy.ClassRule{"kinds": {}, "bills": {Canonical: query.Compare{Path: query.Path{"hidden"}, Op: query.Eq, Value: value.OfBool(false)}}}}
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": src}, Rules: rules, Audit: forgetful{},
		Limits: limit.Options{PerMinute: 1e9, Burst: 1e9}})
	if err != nil {
		t.Fatal(err)
	}
	set := toolsOf(t, g)
	who := identity.Principal{ID: "p", Scopes: []identity.Scope{identity.Read}}
	for _, tt := range unreads {
		args, err := value.Read([]byte(tt[1]), 0)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := answer(set, who, tool.Request{Name: tt[0], Arguments: args})
		said := strings.Contains(got, "as null in") || strings.Contains(got, "is null for a group with such") || strings.Contains(got, "was not counted")
		if strings.Contains(got, `{"Code"`) || !strings.Contains(got, tt[2]) || said != (tt[2] != "") {
			t.Errorf("%s %s\n got %s\nwant %q", tt[0], tt[1], got, tt[2])
		}
	}
}
