package agent

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestPostgresTypes reads and filters the types that only PostgreSQL has, and searches a column that a trigger keeps. A
// record from before the trigger, whose column holds a word of a hidden field, isn't found by it.
func TestPostgresTypes(t *testing.T) {
	at := services.Postgres(t)
	db, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	for _, s := range []string{
		`CREATE TABLE hosts (id int PRIMARY KEY, ip inet, net cidr, mac macaddr, opens time, zoned timetz, wait interval, cost money, title text, body text, secret text, words tsvector)`,
		`INSERT INTO hosts VALUES (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'Old one', 'nothing', 'xyzzy', to_tsvector('english', 'xyzzy older'))`,
		`CREATE TRIGGER keep BEFORE INSERT OR UPDATE ON hosts FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger(words, 'pg_catalog.english', title, body)`,
		`CREATE INDEX ON hosts USING gin (words)`,
		`INSERT INTO hosts VALUES (1, '10.0.0.1', '10.0.0.0/8', '08:00:2B:01:02:03', '09:30', '09:30+02', '1 day 2 hours', '1234.50', 'Mail server', 'sends letters', 'sesame'),
			(2, '10.0.0.7/8', '10.1.0.0/16', NULL, '09:30:00.5', '10:00-01', '90 minutes', '-3', 'Web server', NULL, 'sesame'),
			(3, '2001:db8::1', '2001:db8::/32', NULL, '24:00', NULL, '-1 mon', '0', NULL, 'letters of the web', 'sesame')`,
	} {
		if _, err := db.Exec(t.Context(), s); err != nil {
			t.Fatal(s, err)
		}
	}
	src, err := postgres.Open(t.Context(), "app", at)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": src}, Audit: forgetful{}, Secret: make([]byte, 32), Now: demo.Clock,
		Limits: limit.Options{PerMinute: 1e9, Burst: 1e9}, Rules: policy.Rules{Classes: map[string]policy.ClassRule{"hosts": {Denied: []string{"secret"}, Canonical: query.Exists{Path: query.Path{"id"}, Want: true}}}}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewSet(g, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ call, want string }{
		{`query_class {"class_name":"hosts","keys":["ip","net","mac","opens","zoned","wait","cost"],"limit":3}`,
			`[{"id":"1","ip":"10.0.0.1","net":"10.0.0.0/8","mac":"08:00:2b:01:02:03","opens":"09:30:00","zoned":"09:30:00+02","wait":"P1DT2H","cost":1234.50},` +
				`{"id":"2","ip":"10.0.0.7/8","net":"10.1.0.0/16","mac":null,"opens":"09:30:00.5","zoned":"10:00:00-01","wait":"PT1H30M","cost":-3.00},` +
				`{"id":"3","ip":"2001:db8::1","net":"2001:db8::/32","mac":null,"opens":"24:00:00","zoned":null,"wait":"P-1M","cost":0.00}]`},
		{`where {"ip":"10.0.0.1"}`, "1"}, {`where {"ip":{"$in":["2001:db8::1","10.0.0.7/8"]}}`, "2 3"}, {`where {"ip":{"$ne":"10.0.0.1"}}`, "2 3 4"}, {`where {"ip":null}`, "4"},
		{`where {"net":"10.1.0.0/16"}`, "2"}, {`where {"mac":"08:00:2b:01:02:03"}`, "1"}, {`where {"wait":"PT1H30M"}`, "2"}, {`where {"zoned":"09:30:00+02"}`, "1"},
		{`where {"opens":"09:30:00"}`, "1"}, {`where {"opens":{"$gt":"09:30:00"}}`, "2 3"}, {`where {"opens":{"$gte":"09:30:00","$lt":"10"}}`, "1 2"},
		{`where {"cost":{"$gt":1}}`, "1"}, {`where {"cost":1234.5}`, "1"}, {`where {"cost":{"$in":[0,-3]}}`, "2 3"},
		{`where {"wait":{"$gt":"PT1H"}}`, "1 2"}, {`where {"wait":{"$gt":"soon"}}`, `wait is a duration in ISO 8601: P1DT2H30M, and "soon" is not one`},
		{`query_class {"class_name":"hosts","keys":["id"],"order":"-opens"}`, `[{"id":"3"},{"id":"2"},{"id":"1"},{"id":"4"}]`},
		{`query_class {"class_name":"hosts","keys":["id"],"order":"cost"}`, `[{"id":"4"},{"id":"2"},{"id":"3"},{"id":"1"}]`},
		{`query_class {"class_name":"hosts","order":"wait"}`, `wait can't be ordered by: its type is opaque`},
		{`aggregate {"class_name":"hosts","pipeline":[{"$match":{"ip":"10.0.0.1"}},{"$project":{"ip":1,"opens":1,"cost":1}}]}`, `[{"ip":"10.0.0.1","opens":"09:30:00","cost":1234.50}]`},
		{`aggregate {"class_name":"hosts","pipeline":[{"$group":{"_id":null,"sum":{"$sum":"$cost"},"last":{"$max":"$opens"}}}]}`, `[{"_id":null,"sum":1231.50,"last":"24:00:00"}]`},
		{`text_search {"class_name":"hosts","query":"letter","keys":["id"]}`, `[{"id":"3"},{"id":"1"}]`},
		{`text_search {"class_name":"hosts","query":"servers -mail","keys":["id"]}`, `[{"id":"2"}]`},
		{`text_search {"class_name":"hosts","query":"xyzzy","keys":["id"]}`, `[]`},
		{`text_search {"class_name":"hosts","query":"older","keys":["id"]}`, `[]`},
	} {
		call := tt.call
		where, short := strings.CutPrefix(call, "where ")
		if short {
			call = `query_class {"class_name":"hosts","keys":["id"],"order":"id","where":` + where + `}`
		}
		res, err := set.Call(t.Context(), reader(), request(t, call))
		got := ""
		if err != nil {
			got = problem.Of(err).Detail
		} else {
			doc, err := value.Read(res.Structured, 0)
			if err != nil {
				t.Fatal(err)
			}
			rows, _ := doc.Get("results")
			if got = string(rows.AppendJSON(nil)); short {
				ids := []string{}
				for _, r := range rows.List() {
					id, _ := r.Get("id")
					ids = append(ids, id.Text())
				}
				got = strings.Join(ids, " ")
			}
		}
		if got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.call, got, tt.want)
		}
	}
	res, err := set.Call(t.Context(), reader(), request(t, `get_schema {"class_name":"hosts"}`))
	if err != nil || !strings.Contains(res.Text, "P1DT2H30M") || !strings.Contains(res.Text, "an IP network: 10.0.0.0/8") || !strings.Contains(res.Text, "13:05:00") {
		t.Errorf("%v, %s", err, res.Text)
	}
}
