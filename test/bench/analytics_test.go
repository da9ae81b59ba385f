package bench_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// The shop of the analytical questions. sales is the number of sales that one question reads, all of one tenant.
const (
	sales     = 200_000
	customers = 5_000
)

// An analysis is one question in two forms: as a tool call, and as handwritten SQL whose rows are only read.
type analysis struct {
	name string
	tool string
	args string
	sql  string
}

var analyses = []analysis{
	{"group", "aggregate", `{"class_name": "sales", "pipeline": [{"$group": {"_id": "$status", "n": {"$sum": 1}, "amount": {"$sum": "$amount"}}}]}`,
		`SELECT status, count(*), sum(amount) FROM sales WHERE org = 'acme' GROUP BY status ORDER BY status`},
	{"top10", "aggregate", `{"class_name": "sales", "pipeline": [{"$group": {"_id": "$customer_id", "amount": {"$sum": "$amount"}}},
		{"$sort": {"amount": -1}}, {"$limit": 10}]}`,
		`SELECT customer_id, sum(amount) AS a FROM sales WHERE org = 'acme' GROUP BY customer_id ORDER BY a DESC, customer_id LIMIT 10`},
	{"lookup", "aggregate", `{"class_name": "sales", "pipeline": [{"$lookup": {"from": "customers", "localField": "customer_id", "foreignField": "id", "as": "c"}},
		{"$unwind": "$c"}, {"$group": {"_id": "$c.country", "amount": {"$sum": "$amount"}}}]}`,
		`SELECT c.country, sum(s.amount) FROM sales AS s JOIN customers AS c ON c.id = s.customer_id WHERE s.org = 'acme' AND c.org = 'acme' GROUP BY c.country ORDER BY c.country`},
	{"facet", "aggregate", `{"class_name": "sales", "pipeline": [{"$facet": {"status": [{"$sortByCount": "$status"}],
		"all": [{"$group": {"_id": null, "n": {"$sum": 1}, "amount": {"$sum": "$amount"}}}]}}]}`,
		`SELECT status, count(*) AS n, NULL FROM sales WHERE org = 'acme' GROUP BY status UNION ALL SELECT NULL, count(*), sum(amount) FROM sales WHERE org = 'acme'`},
	{"export10000", "export_data", `{"class_name": "sales", "format": "csv", "row_cap": 10000, "keys": ["id", "customer_id", "status", "amount", "placed"]}`,
		`SELECT id, customer_id, status, amount, placed FROM sales WHERE org = 'acme' ORDER BY id LIMIT 10000`},
}

const shopTables = `CREATE TABLE customers (id %int PRIMARY KEY, org %text NOT NULL, country %text NOT NULL);
CREATE TABLE sales (id %int PRIMARY KEY, org %text NOT NULL, customer_id %int NOT NULL REFERENCES customers (id), status %text NOT NULL,
	amount %int NOT NULL, placed %time NOT NULL);`

// shop fills a database with the sales.
func shop(t testing.TB, db *sql.DB, types map[string]string) {
	t.Helper()
	ddl := shopTables
	for name, typ := range types {
		ddl = strings.ReplaceAll(ddl, name, typ)
	}
	r := rand.New(rand.NewPCG(1, 2))
	exec := func(statement string) {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%v: %.200s", err, statement)
		}
	}
	for _, s := range strings.SplitAfter(strings.TrimSpace(ddl), ";\n") {
		exec(s)
	}
	insert := func(into string, n int, row func(i int) string) {
		for i := 0; i < n; i += 1000 {
			rows := make([]string, 0, 1000)
			for j := range min(1000, n-i) {
				rows = append(rows, row(i+j))
			}
			exec("INSERT INTO " + into + " VALUES " + strings.Join(rows, ","))
		}
	}
	insert("customers", customers, func(i int) string {
		return fmt.Sprintf("(%d, 'acme', '%s')", i, []string{"NO", "SE", "DK", "FI", "DE", "FR", "US"}[r.IntN(7)])
	})
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	insert("sales", sales, func(i int) string {
		return fmt.Sprintf("(%d, 'acme', %d, '%s', %d, '%s')", i, r.IntN(customers), []string{"open", "paid", "sent", "returned"}[r.IntN(4)], r.IntN(1000),
			start.Add(time.Duration(r.IntN(300*24*3600))*time.Second).Format(time.DateTime))
	})
}

// analysts opens the shop in each database. It returns a reader for handwritten queries and the tools.
func analysts(t testing.TB) []struct {
	name string
	raw  reader
	set  *tool.Set
} {
	type analyst = struct {
		name string
		raw  reader
		set  *tool.Set
	}
	tenant := &policy.TenantRule{Field: "org"}
	rules := policy.Rules{Version: "1", Classes: map[string]policy.ClassRule{"sales": {Tenant: tenant}, "customers": {Tenant: tenant}}}
	on := func(name string, s source.Source, raw reader) analyst {
		g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"tracker": s}, Rules: rules, Audit: &sealed{}, Limits: unlimited(),
			Budget: 4 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return analyst{name, raw, benchTools(t, g)}
	}
	var out []analyst

	path := filepath.Join(t.TempDir(), "shop.db")
	lite, err := sql.Open("sqlite", path+"?_pragma=synchronous(0)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lite.Close() })
	shop(t, lite, map[string]string{"%int": "INTEGER", "%text": "TEXT", "%time": "DATETIME"})
	out = append(out, on("sqlite", sqliteSource(t, path), counted(lite)))

	address := services.Postgres(t)
	pool := pool(t, address)
	outside := stdlib.OpenDBFromPool(pool)
	t.Cleanup(func() { outside.Close() })
	shop(t, outside, map[string]string{"%int": "bigint", "%text": "text", "%time": "timestamptz"})
	if _, err := pool.Exec(t.Context(), "VACUUM ANALYZE"); err != nil {
		t.Fatal(err)
	}
	pg, err := postgres.Open(t.Context(), "tracker", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pg.Close() })
	out = append(out, on("postgres", pg, countedPool(pool)))

	address = services.MariaDB(t)
	maria := openMariaDB(t, address)
	shop(t, maria, map[string]string{"%int": "bigint", "%text": "varchar(40)", "%time": "datetime"})
	my, err := mariadb.Open(t.Context(), "tracker", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { my.Close() })
	return append(out, on("mariadb", my, counted(maria)))
}

func openMariaDB(t testing.TB, address string) *sql.DB {
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.DBName = "tcp", u.Host, u.User.Username(), strings.TrimPrefix(u.Path, "/")
	cfg.Passwd, _ = u.User.Password()
	cfg.Params = map[string]string{"time_zone": "'+00:00'"}
	db, err := sql.Open("mysql", cfg.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// A reader runs a statement and returns the number of rows. It passes each row to take unless take is nil.
type reader func(ctx context.Context, statement string, take func(columns []string, row []any)) (int, error)

// counted returns a reader that reads and counts all rows.
func counted(db *sql.DB) reader {
	return func(ctx context.Context, statement string, take func([]string, []any)) (int, error) {
		rows, err := db.QueryContext(ctx, statement)
		if err != nil {
			return 0, err
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			return 0, err
		}
		cells, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		n := 0
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				return 0, err
			}
			if take != nil {
				take(columns, cells)
			}
			n++
		}
		return n, rows.Err()
	}
}

func countedPool(p *pgxpool.Pool) reader {
	return func(ctx context.Context, statement string, take func([]string, []any)) (int, error) {
		rows, err := p.Query(ctx, statement)
		if err != nil {
			return 0, err
		}
		defer rows.Close()
		var columns []string
		for _, f := range rows.FieldDescriptions() {
			columns = append(columns, f.Name)
		}
		n := 0
		for rows.Next() {
			row, err := rows.Values()
			if err != nil {
				return 0, err
			}
			if take != nil {
				take(columns, row)
			}
			n++
		}
		return n, rows.Err()
	}
}

// BenchmarkAnalysis compares the cost of an analytical question with that of the same handwritten query.
func BenchmarkAnalysis(b *testing.B) {
	for _, on := range analysts(b) {
		b.Run(on.name, func(b *testing.B) {
			for _, q := range analyses {
				b.Run(q.name+"/raw", func(b *testing.B) {
					for b.Loop() {
						if _, err := on.raw(b.Context(), q.sql, nil); err != nil {
							b.Fatal(err)
						}
					}
				})
				call := request(b, q.tool, q.args)
				b.Run(q.name+"/gateway", func(b *testing.B) {
					for b.Loop() {
						if _, err := on.set.Call(b.Context(), agent(), call); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}

// TestSameAnalyses checks that both sides of a comparison return the same number of rows.
func TestSameAnalyses(t *testing.T) {
	for _, on := range analysts(t) {
		for _, q := range analyses {
			want, err := on.raw(t.Context(), q.sql, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Results []json.RawMessage `json:"results"`
				Rows    int               `json:"row_count"`
			}
			if err := json.Unmarshal(answer(t, on.set, request(t, q.tool, q.args)), &got); err != nil {
				t.Fatal(err)
			}
			if q.name == "facet" {
				var f struct{ Status, All []json.RawMessage }
				if len(got.Results) != 1 || json.Unmarshal(got.Results[0], &f) != nil {
					t.Fatalf("%s: %s", on.name, got.Results)
				}
				got.Results = append(f.Status, f.All...)
			}
			if n := max(len(got.Results), got.Rows); n != want {
				t.Errorf("%s %s: %d rows, by hand %d", on.name, q.name, n, want)
			}
		}
	}
}
