package endtoend

import (
	"database/sql"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The notes about groups of bills.
const (
	dueLost   = "due count as null in "
	dates     = ": each is infinite, or outside of the years 1 to 9999"
	oneDate   = ": it is infinite, or outside of the years 1 to 9999"
	anyNumber = "NaN, infinite, or 1e600 and beyond"
)

// unreads contains queries on bills and the note of each answer, or "".
var unreads = [][3]string{
	// The omitted values are counted for the groups in the answer.
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
	{"export_data", `{"class_name": "bills", "pipeline": [{"$group": {"_id": "$kind", "latest": {"$max": "$due"}}}]}`, "3 values of due count as null in latest" + dates},
	{"export_data", `{"class_name": "bills", "format": "jsonl", "pipeline": [{"$group": {"_id": "$kind", "top": {"$max": "$id"}}}]}`, ""},
	// If the count can't be computed, the note must not claim that nothing is omitted.
	{"query_sql", `{"sql": "SELECT k.id, t.m FROM kinds k JOIN (SELECT kind, max(due) AS m FROM bills GROUP BY kind) AS t ON t.kind = k.id"}`, "if a value of due is infinite"},
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$facet": {"a": [{"$group": {"_id": null, "m": {"$max": "$due"}}}]}}]}`, "if a value of due is infinite"},
	{"query_sql", `{"sql": "SELECT b.id, (SELECT max(due) FROM bills x WHERE x.kind = b.kind) AS m FROM bills b"}`, "if a value of due is infinite"},
}

// unreadsOfMariaDB contains such queries for MariaDB.
var unreadsOfMariaDB = [][3]string{
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$group": {"_id": null, "latest": {"$max": "$due"}, "day": {"$min": "$day"}}}]}`, "1 value of due counts as null in latest: it is 0000-00-00, or a date that isn't in the calendar"},
	{"aggregate", `{"class_name": "bills", "pipeline": [{"$group": {"_id": null, "latest": {"$max": "$due"}, "day": {"$min": "$day"}}}]}`, "2 values of day count as null in day: each is 0000-00-00, or a date that isn't in the calendar"},
	{"query_sql", `{"sql": "SELECT kind, max(due) AS latest FROM bills WHERE kind = 'a' GROUP BY kind"}`, ""},
	{"query_sql", `{"sql": "SELECT sum(total) AS s FROM bills"}`, "1 value of total counts as null in s: it is 1e35 or beyond"},
	{"query_sql", `{"sql": "SELECT paid, count(*) AS n FROM bills GROUP BY paid"}`, "1 value of paid counts as null in paid: it is neither 0 nor 1"},
	{"query_sql", `{"sql": "SELECT sum(small) AS s, max(ratio) AS r, avg(ratio) AS a FROM bills"}`, ""},
}

// unreadsOfSQLite contains such queries for SQLite.
var unreadsOfSQLite = [][3]string{
	{"query_sql", `{"sql": "SELECT sum(ratio) AS r FROM bills"}`, "1 value of ratio is infinite: r is null for a group with such a value"},
	{"query_sql", `{"sql": "SELECT kind, avg(ratio) AS r FROM bills WHERE kind = 'a' GROUP BY kind"}`, ""},
	{"query_sql", `{"sql": "SELECT max(ratio) AS r, sum(id) AS i FROM bills"}`, ""},
}

// billsOf returns the tools for bills. The column hidden decides which bills are hidden.
func billsOf(t *testing.T, src source.Source) *tool.Set {
	t.Helper()
	rules := policy.Rules{Version: "1", Classes: map[string]policy.ClassRule{"kinds": {}, "bills": {Canonical: query.Compare{Path: query.Path{"hidden"}, Op: query.Eq, Value: value.OfInt(0)}}}}
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": src}, Rules: rules, Audit: forgetful{},
		Limits: limit.Options{PerMinute: 1e9, Burst: 1e9}})
	if err != nil {
		t.Fatal(err)
	}
	return toolsOf(t, g)
}

// saysUnread runs queries and checks the note of each answer.
func saysUnread(t *testing.T, set *tool.Set, queries [][3]string) {
	t.Helper()
	who := identity.Principal{ID: "p", Scopes: []identity.Scope{identity.Read}}
	for _, tt := range queries {
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

// TestUnread checks that an answer says which stored values its groups omit, and how many. It counts only values that
// the caller sees.
func TestUnread(t *testing.T) {
	at := services.Postgres(t)
	db, err := sql.Open("pgx", at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE kinds (id text PRIMARY KEY); INSERT INTO kinds VALUES ('a'), ('b');
		CREATE TABLE bills (id int PRIMARY KEY, kind text, due timestamptz, day date, total numeric, tax numeric(6,2), ratio float8, money money, hidden int NOT NULL);
		INSERT INTO bills VALUES (1, 'a', '2026-01-02', '2026-01-02', 1, 1, 1, 1, 0), (2, 'a', 'infinity', 'infinity', 'NaN', 1, 1, 1, 0), (3, 'a', '10000-01-01', NULL, 2, 'NaN', 'NaN', 1, 0),
			(4, 'a', NULL, '-infinity', 'Infinity', NULL, NULL, NULL, 0), (5, 'b', '-infinity', '2026-01-01', 5, 1, 1, 1, 0),
			(6, 'b', 'infinity', 'infinity', 'NaN', 'NaN', 'Infinity', 1, 1)`); err != nil {
		t.Fatal(err)
	}
	src, err := postgres.Open(t.Context(), "app", at)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	saysUnread(t, billsOf(t, src), unreads)
}

// TestUnreadMariaDB checks the same for MariaDB.
func TestUnreadMariaDB(t *testing.T) {
	at := services.MariaDB(t)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	db, err := sql.Open("mysql", u.User.Username()+":"+password+"@tcp("+u.Host+")"+u.Path+"?multiStatements=true")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `SET sql_mode = 'ALLOW_INVALID_DATES';
		CREATE TABLE kinds (id varchar(9) PRIMARY KEY);
		CREATE TABLE bills (id int PRIMARY KEY, kind varchar(9), due datetime NOT NULL, day date, total decimal(65,0), small decimal(9,2), ratio double, paid boolean, hidden int NOT NULL);
		INSERT INTO bills VALUES (1, 'a', '2026-01-02', '2026-01-02', 1, 1, 1, 1, 0), (2, 'b', '0000-00-00', '2026-02-31', 1e40, 1, 1, 7, 0), (3, 'b', '2026-01-01', '0000-00-00', 1, 1, 1, NULL, 0),
			(4, 'b', '0000-00-00', '0000-00-00', 1e40, 1, 1, 7, 1)`); err != nil {
		t.Fatal(err)
	}
	src, err := mariadb.Open(t.Context(), "app", at)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	saysUnread(t, billsOf(t, src), unreadsOfMariaDB)
}

// TestUnreadSQLite checks the same for SQLite.
func TestUnreadSQLite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bills.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE kinds (id text PRIMARY KEY);
		CREATE TABLE bills (id integer PRIMARY KEY, kind text, ratio real, hidden integer NOT NULL);
		INSERT INTO bills VALUES (1, 'a', 1, 0), (2, 'b', 9e999, 0), (3, 'b', 2, 0), (4, 'b', -9e999, 1)`); err != nil {
		t.Fatal(err)
	}
	src, err := sqlite.Open(t.Context(), "app", file)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	saysUnread(t, billsOf(t, src), unreadsOfSQLite)
}

// TestNonInterferenceUnread groups dates that expressions read as null, in worlds that differ in hidden data. The
// notes must be the same.
func TestNonInterferenceUnread(t *testing.T) {
	for name, open := range map[string]func(*testing.T, bool) side{"postgres": postgresSide, "mariadb": mariadbSide} {
		t.Run(name, func(t *testing.T) {
			sides := []side{open(t, false), open(t, false), open(t, true)}
			for i := range sides {
				if err := sides[i].puts(t, rules(sides[i].twin)); err != nil {
					t.Fatal(err)
				}
			}
			got := tally{}
			for seed := range uint64(20) {
				unreadOfWorld(t, sides, seed, &got)
			}
			if t.Logf("%+v", got); got.unread < got.answered/10 {
				t.Errorf("too few answers have a note: %+v", got)
			}
		})
	}
}

// unreadOfWorld runs grouped queries on one world and compares the answers of all sides.
func unreadOfWorld(t *testing.T, sides []side, seed uint64, got *tally) {
	m := &maker{rand.New(rand.NewPCG(firstSeed(t)+seed, 3)), profiles()[seed%3]}
	seen := m.visible()
	for i, s := range sides {
		w := seen
		if i < 2 {
			w = m.whole(seen)
		}
		if err := s.loads(w); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if m.noTwin {
		sides = sides[:2]
	}
	for _, q := range [][2]string{
		{"aggregate", `{"class_name": "issues", "pipeline": [{"$group": {"_id": "$status", "latest": {"$max": "$due"}, "n": {"$sum": 1}}}]}`},
		{"aggregate", `{"class_name": "issues", "pipeline": [{"$group": {"_id": {"$year": "$due"}, "n": {"$sum": 1}}}, {"$sort": {"_id": 1}}, {"$limit": 2}]}`},
		{"aggregate", `{"class_name": "issues", "pipeline": [{"$facet": {"a": [{"$group": {"_id": null, "latest": {"$max": "$due"}}}]}}]}`},
		{"query_sql", `{"sql": "SELECT max(due) AS latest, min(deleted_at) AS gone FROM issues"}`},
		{"query_sql", `{"sql": "SELECT u.role, max(i.due) AS latest FROM issues i JOIN users u ON u.id = i.assignee_id GROUP BY u.role"}`},
		{"query_sql", `{"sql": "SELECT max(born) AS b FROM users"}`},
		{"export_data", `{"class_name": "issues", "format": "csv", "pipeline": [{"$group": {"_id": "$status", "latest": {"$max": "$due"}}}]}`},
	} {
		args, err := value.Read([]byte(q[1]), 0)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := compare(sides, m.who, tool.Request{Name: q[0], Arguments: args}, got); wrong != "" {
			t.Errorf("seed %d: %s", seed, wrong)
		}
	}
}
