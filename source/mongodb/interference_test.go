package mongodb_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// tasks are the classes of the two databases: tasks of an organisation, and notes that belong to it through their
// task.
var tasks = map[string]schema.Class{
	"tasks": {Key: []string{"_id"}, Fields: []schema.Field{{Name: "_id", Type: schema.String}, {Name: "org", Type: schema.String},
		{Name: "title", Type: schema.String}, {Name: "n", Type: schema.Integer}, {Name: "x", Type: schema.Double}, {Name: "at", Type: schema.Date},
		{Name: "meta", Type: schema.JSON}, {Name: "secret", Type: schema.String}, {Name: "deleted", Type: schema.Boolean}}},
	"notes": {Key: []string{"_id"}, Fields: []schema.Field{{Name: "_id", Type: schema.String}, {Name: "task", Type: schema.String}, {Name: "text", Type: schema.String}},
		Relations: []schema.Relation{{Fields: []string{"task"}, Target: "tasks", TargetFields: []string{"_id"}}}},
}

// world fills a database. The records of acme are the same in all databases, and the other records depend on twin.
//
// In a large database, hidden values have megabytes: the secret of a visible record, and all values of some hidden
// records.
func world(t *testing.T, url string, twin uint64, full, large bool) *mongodb.Source {
	t.Helper()
	db := database(t, url)
	task := func(id, org string, r *rand.Rand) bson.D {
		return bson.D{{Key: "_id", Value: id}, {Key: "org", Value: org}, {Key: "title", Value: fmt.Sprint("title ", r.IntN(5))}, {Key: "n", Value: int64(r.IntN(10))},
			{Key: "x", Value: float64(r.IntN(20)) / 4}, {Key: "at", Value: bson.DateTime(int64(r.IntN(1e9)) * 1000)}, {Key: "meta", Value: bson.D{{Key: "k", Value: int32(r.IntN(3))}}},
			{Key: "deleted", Value: r.IntN(4) == 0}}
	}
	var all, notes []any
	visible := rand.New(rand.NewPCG(1, 1))
	for i := range 12 {
		d := task(fmt.Sprint("a", i), "acme", visible)
		if d[len(d)-1].Value == true { // hidden by the canonical rule, so it may differ
			d = task(fmt.Sprint("a", i), "acme", rand.New(rand.NewPCG(twin, 7)))
			d[len(d)-1].Value = true
		}
		secret := fmt.Sprint("secret of ", twin)
		if large && i%6 == 5 {
			secret = strings.Repeat(secret, 300_000)
		}
		all = append(all, append(d, bson.E{Key: "secret", Value: secret}))
		notes = append(notes, bson.D{{Key: "_id", Value: fmt.Sprint("n", i)}, {Key: "task", Value: fmt.Sprint("a", i)}, {Key: "text", Value: "t"}})
	}
	hidden := rand.New(rand.NewPCG(twin, 3))
	for i := range int(10 + 30*twin) { // another organisation. One database has more of these records than the gateway may ever read
		id := fmt.Sprint("g", i)
		d := task(id, "globex", hidden)
		if twin == 1 && i%3 == 0 { // types that no description contains
			d = bson.D{{Key: "_id", Value: id}, {Key: "org", Value: bson.D{{Key: "acme", Value: "acme"}}}, {Key: "n", Value: "not a number"}, {Key: "x", Value: bson.A{"acme"}}, {Key: "at", Value: "soon"}, {Key: "meta", Value: int32(4)}}
		}
		if large && i < 4 {
			d = append(d, bson.E{Key: "more", Value: strings.Repeat("x", 5<<20)})
			d[2].Value = strings.Repeat("t", 3<<20) // the title
		}
		all = append(all, d)
		notes = append(notes, bson.D{{Key: "_id", Value: fmt.Sprint("m", i)}, {Key: "task", Value: id}, {Key: "text", Value: fmt.Sprint("of ", twin)}})
	}
	for name, docs := range map[string][]any{"tasks": all, "notes": notes} {
		if _, err := db.Collection(name).InsertMany(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
	}
	s, err := mongodb.Open(t.Context(), mongodb.Options{Name: "suite", URL: url, Full: full, Declared: tasks, LocalRows: 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// interfere runs the same queries on two databases that differ only in records that the principal can't see.
func interfere(t *testing.T, open func(testing.TB) string, full, large bool) {
	deleted := query.Compare{Path: query.Path{"deleted"}, Op: query.Ne, Value: value.OfBool(true)}
	rules := policy.Rules{Unlisted: true, Gates: policy.Gates{Writes: policy.On, RawWrites: policy.On}, Classes: map[string]policy.ClassRule{
		"tasks": {Tenant: &policy.TenantRule{Field: "org"}, Canonical: deleted, Denied: []string{"secret"}},
		"notes": {Tenant: &policy.TenantRule{Through: "task"}}}}
	who := identity.Principal{ID: "test", Kind: identity.Agent, Tenant: "acme", Scopes: []identity.Scope{identity.Read}}
	worlds := []*mongodb.Source{world(t, open(t), 0, full, false), world(t, open(t), 1, full, large)}
	classes, _, err := worlds[0].Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(rules, classes)
	if err != nil {
		t.Fatal(err)
	}
	answered, refused := 0, 0
	asked := questionsOf(t)
	if large {
		asked = thinned(asked)
	}
	for _, q := range asked {
		permit, err := p.Read(who, q)
		if err != nil {
			t.Fatalf("%v: %v", q, err)
		}
		var answers [2]string
		for i, s := range worlds {
			rows, err := sourcetest.Collect(t.Context(), s, permit)
			answers[i] = fmt.Sprint(rows)
			if err != nil {
				refused++
				answers[i] = fmt.Sprint(problem.Of(err).Code, problem.Of(err).Detail)
			} else if len(rows) > 0 {
				answered++
			}
			if strings.Contains(answers[i], "globex") || strings.Contains(answers[i], "secret") || strings.Contains(answers[i], "upstream") {
				t.Errorf("%v: %s", q, answers[i])
			}
		}
		if answers[0] != answers[1] {
			t.Errorf("%+v\n%s\nbut in the other world\n%s", q, answers[0], answers[1])
		}
	}
	proposed(t, p, worlds, large)
	t.Logf("%d answers with records, %d refusals", answered, refused)
	if answered < 100 && !large {
		t.Errorf("only %d answers have records", answered)
	}
}

// thinned returns every thirteenth element, because servers read megabytes for each.
func thinned[E any](all []E) (some []E) {
	for i := 0; i < len(all); i += 13 {
		some = append(some, all[i])
	}
	return some
}

// proposed proposes the same writes in both databases. The agent must see the same results and the same reasons of
// refusals. Only people may see whether the server would refuse.
func proposed(t *testing.T, p *policy.Policy, worlds []*mongodb.Source, large bool) {
	t.Helper()
	who := identity.Principal{ID: "test", Kind: identity.Agent, Tenant: "acme", Scopes: []identity.Scope{identity.Read, identity.Write, identity.Delete}}
	into := make([]*mongodb.Writable, len(worlds))
	for i, w := range worlds {
		var err error
		if into[i], err = w.Writable(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { into[i].Close() })
	}
	shown, refused := 0, 0
	ids := []string{"a0", "a5", "g0", "g3", "g39", "none"}
	var all []write.Write
	for _, id := range ids {
		for _, data := range []string{`{"title":"x"}`, `{"org":"globex"}`, `{"meta":{"k":1,"more":[1]}}`, `{"n":null,"x":2}`, `{"deleted":true}`} {
			all = append(all, &write.Update{Class: "tasks", ID: id, Data: readValue(t, data)}, &write.Create{Class: "tasks", Data: readValue(t, `{"_id":"`+id+`",`+data[1:])})
		}
		all = append(all, &write.Delete{Class: "tasks", ID: id}, &write.Create{Class: "notes", Data: readValue(t, `{"_id":"new","task":"`+id+`"}`)},
			&write.Update{Class: "notes", ID: "n1", Data: readValue(t, `{"task":"`+id+`"}`)})
	}
	for i := range 12 {
		all = append(all, &write.Delete{Class: "notes", ID: fmt.Sprint("n", i)}, &write.Delete{Class: "notes", ID: fmt.Sprint("m", i)})
	}
	if large {
		all = thinned(all)
	}
	for _, w := range all {
		var seen [2]string
		for i := range into {
			draft, err := writes.Propose(context.Background(), p, who, write.Request{Writes: []write.Write{w}})
			var preview change.Preview
			if err == nil {
				preview, err = into[i].Preview(t.Context(), draft)
			}
			if err != nil {
				refused++
				seen[i] = fmt.Sprint(problem.Of(err).Code, problem.Of(err).Detail, problem.Of(err).Suggestion)
				continue
			}
			shown++
			seen[i] = fmt.Sprint(preview.Kind, preview.Effects, preview.Cascades)
		}
		if seen[0] != seen[1] {
			t.Errorf("%s\n%s\nbut in the other world\n%s", write.Print(w), seen[0], seen[1])
		}
		if strings.Contains(seen[0], "secret") {
			t.Errorf("%s: %s", write.Print(w), seen[0])
		}
	}
	t.Logf("%d writes shown, %d refused", shown, refused)
	if (shown < 50 || refused < 50) && !large {
		t.Error("too few of either")
	}
}

func readValue(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// questionsOf returns finds, counts and pipelines over both classes.
func questionsOf(t *testing.T) []query.Query {
	t.Helper()
	read := func(text string) value.Value { t.Helper(); return readValue(t, text) }
	var out []query.Query
	for _, where := range []string{`{}`, `{"n":{"$gte":3}}`, `{"title":{"$regex":"[13]$"}}`, `{"org":"globex"}`, `{"meta.k":1}`, `{"meta.k":{"$gt":0}}`, `{"$nor":[{"n":1}]}`,
		`{"x":{"$ne":2.5}}`, `{"at":null}`, `{"_id":{"$in":["a1","g1","a2"]}}`, `{"n":{"$exists":false}}`, `{"title":{"$startsWith":"title"}}`, `{"x":"acme"}`} {
		f, err := query.ParseWhere(read(where), "/where")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, &query.Count{Class: "tasks", Where: f})
		for _, order := range []string{"", "n", "-x,n", "-at", "title"} {
			by, err := query.ParseOrder(order, "/order")
			if err != nil {
				t.Fatal(err)
			}
			for _, limit := range []int{2, 50} {
				out = append(out, &query.Find{Class: "tasks", Where: f, Order: by, Limit: limit})
			}
		}
	}
	for class, pipelines := range map[string][]string{
		"tasks": {`[{"$group":{"_id":"$title","n":{"$sum":1},"s":{"$sum":"$x"},"m":{"$max":"$n"}}}]`, `[{"$count":"n"}]`, `[{"$group":{"_id":null,"a":{"$avg":"$x"},"l":{"$push":"$n"}}}]`,
			`[{"$sort":{"x":-1}},{"$limit":3},{"$project":{"y":{"$divide":["$n","$x"]},"year":{"$year":"$at"}}}]`, `[{"$bucketAuto":{"groupBy":"$n","buckets":3}}]`,
			`[{"$lookup":{"from":"notes","localField":"_id","foreignField":"task","as":"notes"}},{"$project":{"notes":1}}]`, `[{"$sample":{"size":3}}]`,
			`[{"$unionWith":{"coll":"notes"}}]`, `[{"$match":{"$expr":{"$gt":["$n",{"$add":["$x",1]}]}}}]`, `[{"$unwind":"$meta"},{"$limit":4}]`},
		"notes": {`[{"$count":"n"}]`, `[{"$match":{"task.title":"title 1"}}]`, `[{"$group":{"_id":"$task.org","n":{"$sum":1}}}]`, `[{"$lookup":{"from":"tasks","localField":"task","foreignField":"_id","as":"t"}}]`},
	} {
		for _, text := range pipelines {
			stages, err := query.ParsePipeline(read(text), "")
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			out = append(out, &query.Pipeline{Class: class, Stages: stages, Limit: 100})
		}
	}
	for _, include := range [][]query.Path{nil, {{"task"}}} {
		out = append(out, &query.Find{Class: "notes", Include: include, Limit: 5}, &query.Find{Class: "notes", Include: include, Limit: 50})
	}
	return out
}

// TestNonInterferenceFerretDB checks that records outside of the view change no answer and no error.
func TestNonInterferenceFerretDB(t *testing.T) { interfere(t, services.FerretDB, false, false) }

// TestNonInterferenceMingo is the same test with pipelines that the server runs, in an evaluator that is independent
// of ours.
func TestNonInterferenceMingo(t *testing.T) { interfere(t, services.Mingo, true, false) }

// TestNonInterferenceLarge checks that the size of hidden values changes no answer either. Reads are limited, but a
// value is too large only because of its visible size.
func TestNonInterferenceLarge(t *testing.T) {
	t.Run("FerretDB", func(t *testing.T) { interfere(t, services.FerretDB, false, true) })
	t.Run("Mingo", func(t *testing.T) { interfere(t, services.MingoLarge, true, true) })
}
