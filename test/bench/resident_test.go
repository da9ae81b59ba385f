package bench_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/garbage"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

var resident = map[string]*regexp.Regexp{"VmHWM": regexp.MustCompile(`VmHWM:\s+(\d+) kB`), "VmRSS": regexp.MustCompile(`VmRSS:\s+(\d+) kB`)}

// memoryNow returns a figure of the process's memory in RAM in bytes. It includes the memory of Go and of SQLite.
func memoryNow(t *testing.T, figure string) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	kb, err := strconv.ParseInt(string(resident[figure].FindSubmatch(b)[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}

// residentGrowth runs run and returns two numbers of bytes. most is the maximum growth of the process's memory in
// RAM. after is the growth at the end, after unused memory is returned to the system.
func residentGrowth(t *testing.T, run func()) (most, after int64) {
	t.Helper()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // reset the peak
		t.Fatal(err)
	}
	before := memoryNow(t, "VmRSS")
	run()
	most = memoryNow(t, "VmHWM") - before
	debug.FreeOSMemory()
	return most, memoryNow(t, "VmRSS") - before
}

// many contains databases with 200,000 records of 400 bytes in events (50,000 in MariaDB, which groups slowly). Each
// also has a file of 100 MB and a file of 2 MB in files.
var many = []struct {
	kind       string
	statements []string
}{
	{"sqlite", []string{"CREATE TABLE events (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, text TEXT NOT NULL)",
		"INSERT INTO events WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 200000) SELECT i, i % 7, printf('%0400d', i * 7919 % 200003) FROM s",
		"CREATE TABLE files (id INTEGER PRIMARY KEY, title TEXT, body TEXT)",
		"INSERT INTO files VALUES (1, 'large', hex(zeroblob(50000000))), (2, 'middle', hex(zeroblob(1000000)))",
		texts("notes", "INTEGER", "TEXT"), texts("pages", "INTEGER", "TEXT"), texts("books", "INTEGER", "TEXT"),
		"INSERT INTO notes SELECT id, n, printf('%016d', id * 7919 % 200003) || replace(hex(zeroblob(1000)), '00000000', '012A4567') FROM events WHERE id <= 5000",
		"INSERT INTO pages SELECT id, n, printf('%016d', id * 7919 % 200003) || replace(hex(zeroblob(45000)), '00000000', '012A4567') FROM events WHERE id <= 2000",
		"INSERT INTO books SELECT id, n, printf('%016d', id * 7919 % 200003) || replace(hex(zeroblob(4000000)), '00000000', '012A4567') FROM events WHERE id <= 60"}},
	{"postgres", []string{"CREATE TABLE events (id bigint PRIMARY KEY, n int NOT NULL, text text NOT NULL)",
		"INSERT INTO events SELECT i, i % 7, lpad((i * 7919 % 200003)::text, 400, '0') FROM generate_series(1, 200000::bigint) AS i",
		"CREATE TABLE files (id bigint PRIMARY KEY, title text, body text)",
		"INSERT INTO files VALUES (1, 'large', repeat('0', 100000000)), (2, 'middle', repeat('0', 2000000))",
		texts("notes", "bigint", "text"), texts("pages", "bigint", "text"), texts("books", "bigint", "text"),
		"INSERT INTO notes SELECT id, n, repeat(md5(id::text), 63) FROM events WHERE id <= 5000",
		"INSERT INTO pages SELECT id, n, repeat(md5(id::text), 2813) FROM events WHERE id <= 2000",
		"INSERT INTO books SELECT id, n, repeat(md5(id::text), 250000) FROM events WHERE id <= 60", "ANALYZE"}},
	{"mariadb", []string{"CREATE TABLE events (id bigint PRIMARY KEY, n int NOT NULL, text varchar(400) NOT NULL)",
		"INSERT INTO events SELECT seq, seq % 7, lpad(seq * 7919 % 200003, 400, '0') FROM seq_1_to_50000",
		"CREATE TABLE files (id bigint PRIMARY KEY, title varchar(40), body longtext)",
		"INSERT INTO files VALUES (1, 'large', repeat('0', 15000000)), (2, 'middle', repeat('0', 2000000))", // the server's packets have at most 16 MB
		texts("notes", "bigint", "text"), texts("pages", "bigint", "mediumtext"), texts("books", "bigint", "longtext"),
		"INSERT INTO notes SELECT id, n, repeat(md5(id), 63) FROM events WHERE id <= 5000",
		"INSERT INTO pages SELECT id, n, repeat(md5(id), 2813) FROM events WHERE id <= 2000",
		"INSERT INTO books SELECT id, n, repeat(md5(id), 250000) FROM events WHERE id <= 60"}},
	{"mongodb", nil},
	{"parse", nil},
}

// texts returns the statement for a table of texts. notes has 5,000 texts of 2 kB, pages has 2,000 of 90 kB, and
// books has 60 of 8 MB.
func texts(table, id, text string) string {
	return "CREATE TABLE " + table + " (id " + id + " PRIMARY KEY, n int NOT NULL, text " + text + " NOT NULL)"
}

// filled creates a database of many and returns its address.
func filled(t *testing.T, kind string, statements []string) string {
	t.Helper()
	var db *sql.DB
	var err error
	address := ""
	switch kind {
	case "mongodb":
		return filledDocuments(t)
	case "sqlite":
		address = filepath.Join(t.TempDir(), "events.db")
		db, err = sql.Open("sqlite", address+"?_pragma=synchronous(0)")
		address = "sqlite:" + address
	case "postgres":
		address = services.Postgres(t)
		db = stdlib.OpenDBFromPool(pool(t, address))
	case "mariadb":
		address = services.MariaDB(t)
		db = openMariaDB(t, address)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return address
}

// A heavy is a call that reads or tries to read much data.
type heavy struct {
	name string
	want problem.Code // the code of the expected refusal, or "" if the call is answered
	run  func(context.Context, *bailiwick.Call) error
}

// heavies returns the heavy calls for a kind of database.
func heavies(t *testing.T, kind string) []heavy {
	file := ""
	if kind == "parse" {
		file = "fileNumber"
	}
	of := func(class, pipeline string) func(context.Context, *bailiwick.Call) error {
		if kind == "parse" {
			pipeline = strings.NewReplacer(`["$id", 20]`, `[{"$toInt": "$num"}, 20]`, `"$id"`, `"$num"`, `{"id"`, `{"num"`).Replace(pipeline)
		}
		return func(ctx context.Context, c *bailiwick.Call) error {
			_, err := c.Aggregate(ctx, &query.Pipeline{Class: class, Stages: stages(t, pipeline), Limit: 200, Most: 1000})
			return err
		}
	}
	aggregate := func(pipeline string) func(context.Context, *bailiwick.Call) error { return of("events", pipeline) }
	get := func(part *query.Part) func(context.Context, *bailiwick.Call) error {
		return func(ctx context.Context, c *bailiwick.Call) error {
			_, err := c.Get(ctx, &query.Find{Class: "files", IDs: []string{file + "1"}, Part: part, Limit: 1})
			return err
		}
	}
	update := func(id string) func(context.Context, *bailiwick.Call) error {
		return func(ctx context.Context, c *bailiwick.Call) error {
			data := value.OfObject([]value.Member{{Name: "title", Value: value.OfString("other")}})
			_, err := c.Propose(ctx, write.Request{Writes: []write.Write{&write.Update{Class: "files", ID: file + id, Data: data}}, Tool: "update_object", Reason: "A test.", Input: data})
			return err
		}
	}
	heavies := []heavy{
		{"a group of few", "", aggregate(`[{"$group": {"_id": "$n", "c": {"$sum": 1}}}]`)},
		{"a group of each value", "", aggregate(`[{"$group": {"_id": "$text"}}]`)},
		{"a sort of all", "", aggregate(`[{"$sort": {"text": -1}}, {"$limit": 10}]`)},
		{"`$push` of all", problem.BudgetExceeded, aggregate(`[{"$group": {"_id": null, "all": {"$push": "$text"}}}]`)},
		{"`$addToSet` of all", problem.BudgetExceeded, aggregate(`[{"$group": {"_id": null, "all": {"$addToSet": "$text"}}}]`)},
		{"`$size` of `$push` of all", "", aggregate(`[{"$group": {"_id": null, "all": {"$push": "$text"}}}, {"$project": {"n": {"$size": "$all"}}}]`)},
		{"`$addToSet` of all ids", problem.BudgetExceeded, aggregate(`[{"$group": {"_id": null, "all": {"$addToSet": "$id"}}}]`)},
		{"`$lookup` of all", problem.BudgetExceeded, aggregate(`[{"$limit": 1}, {"$lookup": {"from": "events", "pipeline": [], "as": "all"}}]`)},
		{"`$facet` of all", problem.BudgetExceeded, aggregate(`[{"$facet": {"all": [{"$match": {}}]}}]`)},
		{"twenty lists of all", "", aggregate(`[{"$group": {"_id": null` + lists(20, `"l%d": {"$push": "$text"}`) + `}}, {"$project": {"n": {"$size": "$l1"}}}]`)},
		{"`$map` over 4,000 records", "", aggregate(`[{"$match": {"id": {"$lte": 4000}}}, {"$group": {"_id": null, "all": {"$push": "$text"}}},
			{"$project": {"n": {"$size": {"$map": {"input": "$all", "in": {"$concat": ["$$this", "$$this", "$$this", "$$this"]}}}}}}]`)},
		{"get_object of a value of 100 MB", "", get(nil)},
		{"a piece of it", "", get(&query.Part{Field: "body", Offset: 5_000_000, Length: 1000})},
		{"a change beside it", problem.BudgetExceeded, update("1")},
		{"a change beside 2 MB", "", update("2")},
	}
	for _, class := range []string{"notes", "pages", "books"} {
		const most = problem.BudgetExceeded // or an answer
		for name, h := range map[string]heavy{
			"a sort":                    {"", most, of(class, `[{"$sort": {"text": -1}}, {"$limit": 10}]`)},
			"a group by text":           {"", most, of(class, `[{"$group": {"_id": "$text", "c": {"$sum": 1}}}, {"$count": "n"}]`)},
			"a group by text, shown":    {"", most, of(class, `[{"$group": {"_id": "$text", "c": {"$sum": 1}}}]`)},
			"a group by a part of text": {"", "", of(class, `[{"$group": {"_id": {"$substrCP": ["$text", 0, 3]}, "c": {"$sum": 1}}}]`)},
			"the lengths of texts":      {"", "", of(class, `[{"$group": {"_id": "$n", "l": {"$avg": {"$strLenCP": "$text"}}}}]`)},
			"the greatest of texts":     {"", most, of(class, `[{"$group": {"_id": "$n", "l": {"$max": "$text"}}}]`)},
			"the first of texts":        {"", most, of(class, `[{"$sort": {"id": 1}}, {"$group": {"_id": "$n", "l": {"$first": "$text"}}}]`)},
			"a window":                  {"", most, of(class, `[{"$setWindowFields": {"partitionBy": "$n", "sortBy": {"text": 1}, "output": {"r": {"$rank": {}}}}}, {"$project": {"r": 1}}]`)},
			"distinct texts":            {"", most, of(class, `[{"$group": {"_id": "$n", "s": {"$addToSet": "$text"}}}]`)},
			"twenty joined":             {"", most, of(class, `[{"$project": {"l": {"$strLenCP": {"$concat": [`+strings.Repeat(`"$text", `, 19)+`"$text"]}}}}, {"$sort": {"l": 1}}]`)},
			"a doubling":                {"", most, of(class, `[{"$project": {"l": {"$strLenCP": {"$reduce": {"input": [`+strings.Repeat("1, ", 39)+`1], "initialValue": "$text", "in": {"$concat": ["$$value", "$$value"]}}}}}}]`)},
			"lists of texts":            {"", most, of(class, `[{"$group": {"_id": {"$mod": ["$id", 20]}, "l": {"$push": "$text"}}}, {"$project": {"n": {"$size": "$l"}}}]`)},
			"texts split and joined":    {"", "", of(class, `[{"$limit": 100}, {"$project": {"n": {"$size": {"$split": ["$text", "A"]}}}}]`)},
		} {
			heavies = append(heavies, heavy{class + ": " + name, h.want, h.run})
		}
	}
	slices.SortFunc(heavies[15:], func(a, b heavy) int { return strings.Compare(a.name, b.name) })
	return heavies
}

// lists formats n texts with their number, each after a comma.
func lists(n int, form string) (out string) {
	for i := range n {
		out += ", " + fmt.Sprintf(form, i)
	}
	return out
}

// TestResident measures the memory in RAM for calls on large data in each database, with one and with sixteen
// concurrent calls. It also measures the memory that remains afterwards.
func TestResident(t *testing.T) {
	if os.Getenv("BAILIWICK_RESIDENT") == "" {
		t.Skip("LEFT OUT: the memory of calls over large data takes minutes and gigabytes of disk; see make soak")
	}
	for _, m := range many {
		t.Run(m.kind, func(t *testing.T) {
			source, address := "{url: sqlite:none}", ""
			if m.kind == "parse" {
				source = filledParse(t)
			} else {
				address = filled(t, m.kind, m.statements)
			}
			c, err := config.Parse("bailiwick.yaml", []byte("sources: {tracker: "+source+"}\nstore: sqlite:none\npolicy: {unlisted: visible}\ngates: {raw_writes: review}\n"),
				func(string) (string, bool) { return "", false })
			if err != nil {
				t.Fatal(err)
			}
			if address != "" {
				c.Sources[0].URL = address
			}
			c.Store = "sqlite:" + filepath.Join(t.TempDir(), "bailiwick.db")
			c.Limits = config.Limits{Rate: config.Rate{Calls: 1e9, Per: time.Minute}, Burst: 1e9, Concurrency: 1e6, Pending: 1e9}
			c.Limits.Proposals = 10_000
			plant, err := app.Build(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			defer plant.Close()
			defer runtime.KeepAlive(garbage.TuneCollector())
			for _, h := range heavies(t, m.kind) {
				if m.kind == "mariadb" && strings.HasSuffix(h.name, ": a doubling") {
					continue // this source doesn't support $reduce
				}
				for _, calls := range []int{1, 16} {
					t.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(h.name, "/", "_"), calls), func(t *testing.T) {
						begun := time.Now()
						most, after := residentGrowth(t, func() { h.call(t, plant.Gateway, calls, refusals[m.kind]...) })
						t.Logf("%d at once: +%d MB, afterwards +%d MB, %v", calls, most>>20, after>>20, time.Since(begun).Round(time.Millisecond))
						if bound := map[int]int64{1: mostGrowth, 16: 512 << 20}[calls]; most > bound || after > mostGrowth {
							t.Errorf("%d at once: +%d bytes, want at most %d; afterwards +%d", calls, most, bound, after)
						}
					})
				}
			}
		})
	}
}

// refusals contains the codes with which a kind of database may refuse any of the calls. FerretDB doesn't support all
// stages of MongoDB, and Parse Server supports none. The gateway evaluates these stages itself within limits.
var refusals = map[string][]problem.Code{"mongodb": {problem.BudgetExceeded, problem.Unsupported}, "parse": {problem.BudgetExceeded, problem.Unsupported}}

// call makes concurrent calls and waits for them. The codes in also are accepted in addition to the expected code.
func (h heavy) call(t *testing.T, g *bailiwick.Gateway, calls int, also ...problem.Code) {
	who := agent()
	who.Scopes = []identity.Scope{identity.Read, identity.Write}
	spec := bailiwick.CallSpec{Tool: "aggregate", Needs: identity.Write, Writes: policy.WriteRaw, Proposes: true, Timeout: 5 * time.Minute}
	var all sync.WaitGroup
	for range calls {
		all.Go(func() {
			err := g.Do(t.Context(), who, spec, func(ctx context.Context, c *bailiwick.Call) (int, error) { return 0, h.run(ctx, c) })
			if code := problem.CodeOf(err); err != nil && code != h.want && !slices.Contains(also, code) && !(calls > 1 && (code == problem.RateLimited || code == problem.Timeout)) {
				t.Error(h.name, err, errors.Unwrap(err))
			}
		})
	}
	all.Wait()
}
