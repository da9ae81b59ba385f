package mongodb_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/writing"
)

// executorVariable makes the test binary an executor. Its value contains the first change, the fence, the number of
// records per change, the URL, and the server.
const executorVariable = "BAILIWICK_TEST_EXECUTOR"

func TestMain(m *testing.M) {
	if order := os.Getenv(executorVariable); order != "" {
		fmt.Fprintln(os.Stderr, execute(order))
		os.Exit(1)
	}
	code := m.Run()
	services.Stop()
	os.Exit(code)
}

func execute(order string) error {
	var e writing.Executor
	var url string
	var on server
	if _, err := fmt.Sscan(order, &e.From, &e.Fence, &e.Each, &url, &on); err != nil {
		return err
	}
	w, err := writable(context.Background(), url, on)
	if err != nil {
		return err
	}
	return e.Execute(w, os.Stdout)
}

// fields returns the fields in a list of "name type" words.
func fields(words string) (out []schema.Field) {
	types := map[string]schema.Type{"string": schema.String, "int": schema.Integer, "double": schema.Double, "bool": schema.Boolean, "date": schema.Date,
		"json": schema.JSON, "array": schema.Array, "bytes": schema.Bytes, "uuid": schema.UUID, "id": schema.String, "any": schema.Any, "decimal": schema.Decimal}
	for _, word := range strings.Split(words, ", ") {
		name, kind, _ := strings.Cut(word, " ")
		f := schema.Field{Name: name, Type: types[kind]}
		switch kind {
		case "id":
			f.Native, f.Generated, f.NotNull = "objectId", true, true
		case "int":
			f.Native = "int|long"
		}
		out = append(out, f)
	}
	return out
}

// written are the classes that the tests write to.
var written = map[string]schema.Class{
	"marks":    {Key: []string{"id"}, Fields: fields("id int, n int")},
	"hits":     {Key: []string{"_id"}, Fields: fields("_id id, nr int")},
	"projects": {Key: []string{"_id"}, Fields: fields("_id string, org string, name string, budget int")},
	"issues": {Key: []string{"_id"}, Fields: fields("_id id, project string, title string, votes int, meta json, tags array"),
		Relations: []schema.Relation{{Fields: []string{"project"}, Target: "projects", TargetFields: []string{"_id"}}}},
	"things": {Key: []string{"_id"}, Fields: fields("_id id, name string, n int, x double, yes bool, at date, uid uuid, raw bytes, doc json, tags array, what any, hidden string")},
}

// A server is a kind of server that tests write to.
type server int

const (
	ferret server = iota // without transactions, and its commands aren't atomic
	single               // the evaluator, with atomic commands and without transactions
	sets                 // the evaluator, with transactions
)

func writable(ctx context.Context, url string, on server) (*mongodb.Writable, error) {
	s, err := mongodb.Open(ctx, mongodb.Options{Name: "app", URL: url, Full: on != ferret, Single: on == single, Declared: written})
	if err != nil {
		return nil, err
	}
	return s.Writable(ctx, "")
}

// A ground is a database that the tests write to, with direct access for an outsider.
type ground struct {
	*mongo.Database
	url string
	on  server
}

// oid returns an ObjectId for the tests.
func oid(n int) bson.ObjectID { return bson.ObjectID{11: byte(n)} }

// newGround fills a database.
func newGround(t testing.TB, on server) ground {
	t.Helper()
	open := map[bool]func(testing.TB) string{true: services.FerretDB, false: services.Mingo}[on == ferret]
	g := ground{url: open(t), on: on}
	client, err := mongo.Connect(options.Client().ApplyURI(g.url))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Disconnect(context.Background()) })
	g.Database = client.Database(name(g.url))
	for collection, docs := range map[string][]any{
		"marks":    {bson.D{{Key: "id", Value: int32(0)}, {Key: "n", Value: int32(0)}}},
		"hits":     {bson.D{{Key: "nr", Value: int32(-1)}}},
		"projects": {project("p1", "acme", "one"), project("p2", "acme", "two"), project("p3", "other", "three"), project("p4", "acme", "four")},
		"issues": {bson.D{{Key: "_id", Value: oid(1)}, {Key: "project", Value: "p1"}, {Key: "title", Value: "a"}, {Key: "votes", Value: int32(1)},
			{Key: "meta", Value: bson.D{{Key: "at", Value: bson.DateTime(1000)}, {Key: "by", Value: oid(9)}, {Key: "n", Value: int64(1)}}}, {Key: "tags", Value: bson.A{"x", "y"}}},
			bson.D{{Key: "_id", Value: oid(3)}, {Key: "project", Value: "p3"}, {Key: "title", Value: "c"}}},
		"things": {bson.D{{Key: "_id", Value: oid(1)}, {Key: "name", Value: "first"}, {Key: "hidden", Value: "secret"}}},
	} {
		if _, err := g.Collection(collection).InsertMany(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
	}
	for collection, keys := range map[string]bson.D{"marks": {{Key: "id", Value: 1}}, "projects": {{Key: "org", Value: 1}, {Key: "name", Value: 1}}} {
		if _, err := g.Collection(collection).Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: keys, Options: options.Index().SetUnique(true)}); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func project(id, org, name string) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "org", Value: org}, {Key: "name", Value: name}, {Key: "budget", Value: int32(5)}}
}

// bed opens the database for writing.
func (g ground) bed(t testing.TB) writing.Bed {
	t.Helper()
	w, err := writable(t.Context(), g.url, g.on)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return writing.Bed{Writable: w, Marks: g, Groups: g.on == sets, Shows: change.Computed}
}

// Set implements writing.Marks.
func (g ground) Set(id, n int64) error {
	return g.change("marks", bson.D{{Key: "id", Value: id}}, "$set", bson.D{{Key: "n", Value: int32(n)}})
}

// Add implements writing.Marks.
func (g ground) Add(id int64) (int64, error) {
	err := g.change("marks", bson.D{{Key: "id", Value: id}}, "$inc", bson.D{{Key: "n", Value: int32(1)}})
	return map[bool]int64{true: 1}[err == nil], err
}

// change changes one document.
func (g ground) change(collection string, find bson.D, op string, to any) error {
	return uninterrupted(func() error {
		return g.Collection(collection).FindOneAndUpdate(context.Background(), find, bson.D{{Key: op, Value: to}}).Err()
	})
}

// uninterrupted repeats f while FerretDB answers that it was interrupted. On SQLite, the end of a cancelled command
// interrupts the next statement of its connection, which may belong to another caller.
func uninterrupted(f func() error) error {
	for range 1000 {
		err := f()
		if c, is := errors.AsType[mongo.CommandError](err); !is || !strings.HasSuffix(c.Message, "interrupted (9)") {
			return err
		}
		time.Sleep(10 * time.Millisecond) // the interruptions last as long as the other caller's statement
	}
	return errors.New("a thousand commands were interrupted")
}

// Get implements writing.Marks.
func (g ground) Get(id int64) (n, records int64, err error) {
	var all []struct{ N int64 }
	err = uninterrupted(func() error {
		cursor, err := g.Collection("marks").Find(context.Background(), bson.D{{Key: "id", Value: id}})
		if err != nil {
			return err
		}
		return cursor.All(context.Background(), &all)
	})
	if err != nil || len(all) == 0 {
		return 0, 0, err
	}
	return all[len(all)-1].N, int64(len(all)), nil
}

// hits returns the counts of the records that executors have made, for writing.Kills.
func (g ground) hits() writing.Hits {
	each := map[bool]int{false: 1, true: 2}[g.on == sets]
	return writing.Hits{Each: each, Loose: g.on != sets, Of: func(t *testing.T, change string, n int) (int, bool) {
		t.Helper()
		if g.on == sets { // the two counts are read one after the other, so an abandoned transaction must end first
			if err := g.change("marks", bson.D{{Key: "id", Value: 0}}, "$inc", bson.D{{Key: "n", Value: 1}}); err != nil {
				t.Fatal(err)
			}
		}
		made, err := g.Collection("hits").CountDocuments(t.Context(), bson.D{{Key: "nr", Value: n}})
		if err != nil {
			t.Fatal(err)
		}
		entries := bson.A{} // each killed executor may leave an entry
		for i := range 100 {
			entries = append(entries, fmt.Sprint(change, "#", i))
		}
		marks, err := g.Collection("bailiwick_applied").CountDocuments(t.Context(), bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: entries}}}, {Key: "kind", Value: "applied"}})
		if err != nil {
			t.Fatal(err)
		}
		return int(made), marks == 1
	}}
}

// onAll runs a test on FerretDB and on the evaluator without transactions, and on the evaluator with transactions.
func onAll(t *testing.T, run func(t *testing.T, on server)) {
	t.Run("FerretDB", func(t *testing.T) { run(t, ferret) })
	t.Run("Single", func(t *testing.T) { run(t, single) })
	t.Run("Mingo", func(t *testing.T) { run(t, sets) })
}

func TestWritingProtocol(t *testing.T) {
	onAll(t, func(t *testing.T, on server) {
		writing.Protocol(t, func(t testing.TB) writing.Bed { return newGround(t, on).bed(t) })
	})
}

// TestKilled kills and suspends executors a few times, or as often as the soak requires.
func TestKilled(t *testing.T) {
	kills, stops := 10, 4
	if soak, err := strconv.Atoi(os.Getenv("BAILIWICK_SOAK")); err == nil {
		kills, stops = max(kills, soak/100), max(stops, soak/2000)
	}
	onAll(t, func(t *testing.T, on server) {
		g := newGround(t, on)
		process := func(from int, fence int64) *exec.Cmd {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), executorVariable+"="+fmt.Sprint(from, " ", fence, " ", g.hits().Each, " ", g.url, " ", int(g.on)))
			return cmd
		}
		t.Run("Kills", func(t *testing.T) { writing.Kills(t, g.hits(), process, kills) })
		for _, c := range []string{"hits", "bailiwick_applied"} {
			if _, err := g.Collection(c).DeleteMany(t.Context(), bson.D{}); err != nil {
				t.Fatal(err)
			}
		}
		t.Run("Stops", func(t *testing.T) { writing.Stops(t, g.bed(t), g.hits(), process, stops) })
	})
}

// TestOutsiders has another client write the record that changes write. It omits FerretDB, which reads and then
// writes, so that its own clients lose each other's writes.
func TestOutsiders(t *testing.T) {
	t.Run("Single", func(t *testing.T) { writing.BedOutsiders(t, newGround(t, single).bed(t), 400, 12*time.Millisecond) })
	t.Run("Mingo", func(t *testing.T) { writing.BedOutsiders(t, newGround(t, sets).bed(t), 200, 12*time.Millisecond) })
}

// A wrote contains writes and their expected result, in the form of writing.Proposer.
type wrote struct {
	writes []string
	want   string
	others [2]string // the results on FerretDB and with transactions, if they differ
}

func (g ground) told(t *testing.T, p writing.Proposer, rows []wrote) {
	t.Helper()
	for _, r := range rows {
		want := r.want
		if other := r.others[map[bool]int{true: 1}[g.on == sets]]; other != "" {
			want = other
		}
		if got := p.PreviewAndApply(t, r.writes...); got != want {
			t.Errorf("%s\n got %s\nwant %s", strings.Join(r.writes, "\n"), got, want)
		}
	}
}

func one(text string) []string { return []string{text} }

// TestWrites tests the previews of single writes, and the records afterwards.
func TestWrites(t *testing.T) {
	onAll(t, func(t *testing.T, on server) {
		g := newGround(t, on)
		p := writing.NewProposer(t, g.bed(t))
		const id = "000000000000000000000001"
		g.told(t, p, []wrote{
			// keys
			{writes: one(`{"op":"create","class":"projects","data":{"_id":"p5","name":"five"}}`), want: ` → {"_id":"p5","org":"acme","name":"five","budget":null}; applied p5`},
			{writes: one(`{"op":"create","class":"marks","data":{"id":7,"n":1}}`), want: ` → {"id":7,"n":1}; applied 7`},
			{writes: one(`{"op":"update","class":"marks","id":"7","data":{"n":2}}`), want: `{"id":7,"n":1} → {"id":7,"n":2}; applied 7`},
			{writes: one(`{"op":"update","class":"marks","id":"7","data":{"n":2}}`), want: `{"id":7,"n":2} → {"id":7,"n":2}; applied 7`},
			{writes: one(`{"op":"update","class":"marks","id":"7","data":{"n":null}}`), want: `{"id":7,"n":2} → {"id":7,"n":null}; applied 7`},
			{writes: one(`{"op":"delete","class":"marks","id":"7"}`), want: `{"id":7,"n":null} → ; applied 7`},
			{writes: one(`{"op":"delete","class":"marks","id":"7"}`), want: `not_found: there is no record "7" in marks`},
			{writes: one(`{"op":"create","class":"issues","data":{"_id":"` + id + `","title":"x"}}`), want: `invalid_argument: _id is filled in by the source`},
			// unique indexes
			{writes: one(`{"op":"create","class":"projects","data":{"_id":"p6","name":"one"}}`),
				want: ` → {"_id":"p6","org":"acme","name":"one","budget":null}; refused: another record has the same org, name; conflict: another record has the same org, name`},
			{writes: one(`{"op":"create","class":"projects","data":{"_id":"p3","name":"hidden"}}`),
				want: ` → {"_id":"p3","org":"acme","name":"hidden","budget":null}; refused: another record has the same _id; conflict: another record has the same _id`},
			{writes: one(`{"op":"update","class":"projects","id":"p1","data":{"name":"two"}}`),
				want: `{"_id":"p1","org":"acme","name":"one","budget":5} → {"_id":"p1","org":"acme","name":"two","budget":5}; refused: another record has the same org, name; conflict: another record has the same org, name`},
			// outside of the view, and views that a write leaves
			{writes: one(`{"op":"update","class":"issues","id":"000000000000000000000003","data":{"title":"x"}}`), want: `not_found: there is no record "000000000000000000000003" in issues`},
			{writes: one(`{"op":"update","class":"issues","id":"000000000000000000000099","data":{"title":"x"}}`), want: `not_found: there is no record "000000000000000000000099" in issues`},
			{writes: one(`{"op":"delete","class":"projects","id":"p3"}`), want: `not_found: there is no record "p3" in projects`},
			{writes: one(`{"op":"create","class":"issues","data":{"project":"p3","title":"x"}}`), want: `not_found: there is no record "" in issues`},
			{writes: one(`{"op":"create","class":"issues","data":{"project":"none","title":"x"}}`), want: `not_found: there is no record "" in issues`},
			{writes: one(`{"op":"update","class":"issues","id":"` + id + `","data":{"project":"p3"}}`), want: `not_found: there is no record "` + id + `" in issues`},
			{writes: one(`{"op":"update","class":"projects","id":"p1","data":{"org":"other"}}`), want: `not_found: there is no record "p1" in projects`},
			{writes: one(`{"op":"create","class":"projects","data":{"_id":"p8","org":"other"}}`), want: `not_found: there is no record "" in projects`},
			// documents and lists
			{writes: one(`{"op":"update","class":"issues","id":"` + id + `","data":{"meta":{"by":"000000000000000000000009","at":"1970-01-01T00:00:01Z","n":2},"tags":["y"]}}`),
				want: `{"_id":"` + id + `","project":"p1","title":"a","votes":1,"meta":{"at":"1970-01-01T00:00:01Z","by":"000000000000000000000009","n":1},"tags":["x","y"]} → ` +
					`{"_id":"` + id + `","project":"p1","title":"a","votes":1,"meta":{"by":"000000000000000000000009","at":"1970-01-01T00:00:01Z","n":2},"tags":["y"]}; applied ` + id},
			{writes: one(`{"op":"update","class":"issues","id":"` + id + `","data":{"meta":{"a.b":1}}}`), want: `invalid_argument: meta: a member can't be called "a.b": a name is not empty, doesn't begin with $ and holds no dot`},
			{writes: one(`{"op":"update","class":"issues","id":"` + id + `","data":{"meta":{"x":{"$gt":1}}}}`), want: `invalid_argument: meta: a member can't be called "$gt": a name is not empty, doesn't begin with $ and holds no dot`},
			// several
			{writes: []string{`{"op":"update","class":"projects","id":"p1","data":{"budget":6}}`, `{"op":"update","class":"projects","id":"p2","data":{"budget":7}}`},
				others: [2]string{`unsupported_by_source: app has no transactions, so that 2 writes can't be made all or none`,
					`{"_id":"p1","org":"acme","name":"one","budget":5} → {"_id":"p1","org":"acme","name":"one","budget":6} & {"_id":"p2","org":"acme","name":"two","budget":5} → {"_id":"p2","org":"acme","name":"two","budget":7}; applied p1 p2`}},
			{writes: []string{`{"op":"update","class":"projects","id":"p2","data":{"budget":8}}`, `{"op":"update","class":"projects","id":"p1","data":{"name":"two"}}`},
				others: [2]string{`unsupported_by_source: app has no transactions, so that 2 writes can't be made all or none`,
					`{"_id":"p2","org":"acme","name":"two","budget":7} → {"_id":"p2","org":"acme","name":"two","budget":8} & {"_id":"p1","org":"acme","name":"one","budget":6} → {"_id":"p1","org":"acme","name":"two","budget":6}` +
						`; refused: write 2: another record has the same org, name; conflict: another record has the same org, name`}},
		})
		var p2 struct{ Budget int }
		if err := g.Collection("projects").FindOne(t.Context(), bson.D{{Key: "_id", Value: "p2"}}).Decode(&p2); err != nil || on == sets && p2.Budget != 7 {
			t.Errorf("a part of a group was written: %v %v", p2, err)
		}
		// Values that a write doesn't change keep their type.
		stored, err := g.Collection("issues").FindOne(t.Context(), bson.D{{Key: "_id", Value: oid(1)}}).Raw()
		if err != nil {
			t.Fatal(err)
		}
		if at, by := stored.Lookup("meta", "at").Type, stored.Lookup("meta", "by").Type; at != bson.TypeDateTime || by != bson.TypeObjectID {
			t.Errorf("meta holds %v and %v", at, by)
		}
		p.As(writes.Revert)
		g.told(t, p, []wrote{{writes: one(`{"op":"create","class":"issues","data":{"_id":"00000000000000000000002a","project":"p1","votes":3}}`),
			want: ` → {"_id":"00000000000000000000002a","project":"p1","title":null,"votes":3,"meta":null,"tags":null}; applied 00000000000000000000002a`},
			{writes: one(`{"op":"create","class":"projects","data":{"_id":"p9","org":"acme","name":"nine","budget":1}}`),
				want: ` → {"_id":"p9","org":"acme","name":"nine","budget":1}; applied p9`}})
	})
}

// TestWritesStale tests writes of records that others have changed since the review.
func TestWritesStale(t *testing.T) {
	onAll(t, func(t *testing.T, on server) {
		g := newGround(t, on)
		p := writing.NewProposer(t, g.bed(t))
		const votes = `{"op":"update","class":"issues","id":"000000000000000000000001","data":{"votes":7}}`
		const remove = `{"op":"delete","class":"issues","id":"000000000000000000000001"}`
		set := func(field string, to any) func() {
			return func() {
				if err := g.change("issues", bson.D{{Key: "_id", Value: oid(1)}}, "$set", bson.D{{Key: field, Value: to}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		drop := func() {
			if _, err := g.Collection("issues").DeleteOne(t.Context(), bson.D{{Key: "_id", Value: oid(1)}}); err != nil {
				t.Fatal(err)
			}
		}
		record := func(project, votes, meta string) string {
			return `{"_id":"000000000000000000000001","project":"` + project + `","title":null,"votes":` + votes + `,"meta":` + meta + `,"tags":null}`
		}
		for _, r := range []struct {
			write  string
			others func()
			want   string
		}{
			{votes, set("votes", int32(3)), "moved " + record("p1", "3", `{"a":1}`)},
			{votes, set("votes", nil), "moved " + record("p1", "null", `{"a":1}`)},
			{votes, set("votes", int64(1)), "applied " + record("p1", "7", `{"a":1}`)},
			{votes, set("meta", 4), "applied " + record("p1", "7", `4`)},
			{votes, set("project", "p3"), "moved null"},
			{votes, set("project", "p2"), "applied " + record("p2", "7", `{"a":1}`)},
			{votes, drop, "moved null"},
			{remove, set("meta", bson.D{{Key: "a", Value: int32(2)}}), "moved " + record("p1", "1", `{"a":2}`)},
			{remove, func() {}, "applied null"},
		} {
			drop()
			if _, err := g.Collection("issues").InsertOne(t.Context(), bson.D{{Key: "_id", Value: oid(1)}, {Key: "project", Value: "p1"}, {Key: "votes", Value: int32(1)}, {Key: "meta", Value: bson.D{{Key: "a", Value: int32(1)}}}}); err != nil {
				t.Fatal(err)
			}
			if got := p.Later(t, r.write, r.others); got != r.want {
				t.Errorf("%s\n got %s\nwant %s", r.write, got, r.want)
			}
		}
	})
}
