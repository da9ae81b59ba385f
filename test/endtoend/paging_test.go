package endtoend_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A pond is a class whose records are added and removed between the pages of an answer. Each record has an id, a
// number n and a group g.
type pond struct {
	source source.Source
	add    func(id, n int) error
	remove func(id int) error
	empty  func() error
}

func sqlPond(open func(*testing.T, []string) changing, key string) func(*testing.T) pond {
	return func(t *testing.T) pond {
		c := open(t, []string{"CREATE TABLE fish (id integer " + key + ", n integer, g varchar(9))"})
		return pond{c.source,
			func(id, n int) error {
				return c.run(fmt.Sprintf("INSERT INTO fish VALUES (%d, %d, 'g%d')", id, n, n%3))
			},
			func(id int) error { return c.run(fmt.Sprintf("DELETE FROM fish WHERE id = %d", id)) },
			func() error { return c.run("DELETE FROM fish") }}
	}
}

func documentPond(t *testing.T) pond {
	url := services.FerretDB(t)
	client, err := mongo.Connect(options.Client().ApplyURI(url))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Disconnect(context.Background()) })
	fish := client.Database(url[strings.LastIndexByte(url, '/')+1:]).Collection("fish")
	add := func(id, n int) error {
		_, err := fish.InsertOne(t.Context(), bson.D{{Key: "_id", Value: id}, {Key: "id", Value: id}, {Key: "n", Value: n}, {Key: "g", Value: fmt.Sprintf("g%d", n%3)}})
		return err
	}
	if err := add(1, 1); err != nil {
		t.Fatal(err)
	}
	opened, err := mongodb.Open(t.Context(), mongodb.Options{Name: "app", URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	return pond{opened, add,
		func(id int) error { _, err := fish.DeleteOne(t.Context(), bson.D{{Key: "id", Value: id}}); return err },
		func() error { _, err := fish.DeleteMany(t.Context(), bson.D{}); return err }}
}

// TestPaging adds and removes records between the pages of an answer. A record that exists all the time must occur
// exactly once, and no record may occur twice. A page that can't continue must say so.
func TestPaging(t *testing.T) {
	for name, open := range map[string]func(*testing.T) pond{
		"sqlite": sqlPond(changingSQLite, "PRIMARY KEY"), "postgres": sqlPond(changingPostgres, "PRIMARY KEY"), "mariadb": sqlPond(changingMariaDB, "PRIMARY KEY"),
		"sqlite without a key": sqlPond(changingSQLite, ""), "postgres without a key": sqlPond(changingPostgres, ""), "ferretdb": documentPond,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t)
			g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": p.source}, Rules: policy.Rules{Unlisted: true},
				Audit: &audit.Memory{}, Limits: limit.Options{PerMinute: 1e9, Burst: 1e9}})
			if err != nil {
				t.Fatal(err)
			}
			who := identity.Principal{ID: "agent", Scopes: []identity.Scope{identity.Read}}
			keyed := !strings.HasSuffix(name, "key")
			refused, turned := 0, 0
			for _, order := range []string{"", "n", "-n", "g,-n"} {
				find := func(cursor string, limit int) (*result.Page, error) {
					terms, err := query.ParseOrder(order, "/order")
					if err != nil {
						t.Fatal(err)
					}
					return g.Read(t.Context(), who, &query.Find{Class: "fish", Keys: []query.Path{{"id"}}, Order: terms, Limit: limit, Cursor: cursor})
				}
				for seed := range 2 {
					n, stops := p.paged(t, uint64(seed), "order "+order, find)
					if keyed && stops > 0 {
						t.Errorf("order %q: %d of %d pages couldn't go on, though a cursor has the key", order, stops, n)
					}
					refused, turned = refused+stops, turned+n
				}
			}
			for _, text := range []string{"SELECT id FROM fish", "SELECT id FROM fish ORDER BY n DESC", "SELECT g, n, id FROM fish ORDER BY g",
				"SELECT id, now() AS at FROM fish ORDER BY n", "SELECT id, sum(n * 0.1) AS s FROM fish GROUP BY id ORDER BY s",
				"SELECT a.id, count(*) AS m FROM fish a JOIN fish b ON a.id = b.id GROUP BY a.id ORDER BY a.id DESC"} {
				find := func(cursor string, limit int) (*result.Page, error) {
					q, err := query.ParseSQL(text)
					if err != nil {
						t.Fatal(err)
					}
					q.Limit, q.Cursor = limit, cursor
					return g.SQL(t.Context(), who, q)
				}
				for seed := range 2 {
					n, stops := p.paged(t, uint64(seed), text, find)
					refused, turned = refused+stops, turned+n
				}
			}
			t.Logf("%d of %d pages couldn't go on", refused, turned)
			if refused*10 > turned {
				t.Error("too many pages couldn't go on")
			}
		})
	}
}

// many is the number of records at the start.
const many = 36

// paged reads all pages of an answer while records are added and removed. It returns the number of pages, and how
// many of them couldn't continue.
func (p pond) paged(t *testing.T, seed uint64, what string, find func(cursor string, limit int) (*result.Page, error)) (turned, refused int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(what, err)
		}
	}
	fail(p.empty())
	passing := map[int]bool{} // the ids that are added or removed
	for id := range many {
		fail(p.add(2*id, r.IntN(40)))
		passing[2*id] = id%3 == 0
	}
	shown := map[string]int{}
	last := ""
	size := 1 + r.IntN(6)
	for cursor, more := "", true; more; turned++ {
		page, err := find(cursor, size)
		if problem.CodeOf(err) == problem.InvalidArgument && cursor != "" && passing[number(last)] {
			return turned, 1
		}
		fail(err)
		for i := range page.Count {
			v, err := value.Read(page.Record(i), 0)
			fail(err)
			id, _ := v.Get("id")
			last = id.String()
			shown[last]++
		}
		more, cursor = page.More, page.Cursor
		for range r.IntN(4) {
			id := 2*r.IntN(200) + 1
			if _, there := passing[id]; !there {
				fail(p.add(id, r.IntN(40)))
				passing[id] = true
			}
		}
		for range r.IntN(3) {
			if id := 6 * r.IntN(many/3); passing[id] {
				fail(p.remove(id))
			}
		}
	}
	for id := range many {
		if n := shown[fmt.Sprint(2*id)]; n != 1 && !passing[2*id] {
			t.Errorf("%s, seed %d, %d a page: the record %d is shown %d times", what, seed, size, 2*id, n)
		}
	}
	var twice []string
	for id, n := range shown {
		if n > 1 {
			twice = append(twice, id)
		}
	}
	if slices.Sort(twice); twice != nil {
		t.Errorf("%s, seed %d, %d a page: shown more than once: %v", what, seed, size, twice)
	}
	return turned, 0
}

// number parses an id as a number.
func number(id string) (n int) {
	_, _ = fmt.Sscan(id, &n)
	return n
}
