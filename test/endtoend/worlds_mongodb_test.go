package endtoend

import (
	"context"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// TestNonInterferenceFerretDB compares answers for worlds in FerretDB, stored as documents. BAILIWICK_SOAK sets the
// number.
func TestNonInterferenceFerretDB(t *testing.T) {
	t.Parallel()
	interfereUpTo(t, pairs(t, 1500), func(_ string, twin bool) side {
		return documentSide(t, mongodb.Options{URL: services.FerretDB(t)}, twin)
	})
}

// TestNonInterferenceMingo does the same with MongoDB's features. An evaluator that is independent of ours runs the
// pipelines.
func TestNonInterferenceMingo(t *testing.T) {
	t.Parallel()
	interfereUpTo(t, pairs(t, 500), func(_ string, twin bool) side {
		return documentSide(t, mongodb.Options{URL: services.Mingo(t), Full: true}, twin)
	})
}

// TestNonInterferenceChangesFerretDB is TestNonInterferenceChanges for FerretDB.
func TestNonInterferenceChangesFerretDB(t *testing.T) {
	t.Parallel()
	dbs := map[*office]*mongo.Database{}
	open := func() *office { return documentOffice(t, dbs, mongodb.Options{URL: services.FerretDB(t)}, nil) }
	one, other := open(), open()
	hide := func(o *office, r *rand.Rand) {
		o.Helper()
		issues := dbs[o].Collection("issues")
		fail := func(err error) {
			if err != nil && !mongo.IsDuplicateKeyError(err) {
				o.Fatal(err)
			}
		}
		_, err := issues.DeleteMany(o.Context(), bson.D{{Key: "org", Value: "globex"}})
		fail(err)
		for range r.IntN(6) {
			id := int32(3 + r.IntN(8))
			_, err := issues.InsertOne(o.Context(), bson.D{{Key: "id", Value: id}, {Key: "org", Value: "globex"}, {Key: "title", Value: "x"}, {Key: "code", Value: string(rune('c' + r.IntN(6)))}})
			fail(err)
			_, err = dbs[o].Collection("comments").InsertOne(o.Context(), bson.D{{Key: "issue_id", Value: id}, {Key: "body", Value: "x"}})
			fail(err)
			_, err = issues.UpdateMany(o.Context(), bson.D{{Key: "org", Value: "acme"}}, bson.D{{Key: "$set", Value: bson.D{{Key: "secret_note", Value: r.IntN(5)}}}})
			fail(err)
		}
	}
	interfereByChanges(t, [2]*office{one, other}, 120, hide)
}

// documentOffice opens an office whose tracker is in a document database. It adds the database to dbs.
func documentOffice(t *testing.T, dbs map[*office]*mongo.Database, of mongodb.Options, more func(*bailiwick.Options, *change.Options)) *office {
	t.Helper()
	url := of.URL
	client, err := mongo.Connect(options.Client().ApplyURI(url))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Disconnect(context.Background()) })
	db := client.Database(url[strings.LastIndexByte(url, '/')+1:])
	document := func(pairs ...any) bson.D {
		out := bson.D{}
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
		}
		return out
	}
	for collection, docs := range map[string][]any{
		"issues": {document("id", int32(1), "org", "acme", "title", "one", "status", "Todo", "n", int64(9007199254740993), "secret_note", "psst", "code", "a"),
			document("id", int32(2), "org", "acme", "title", "two", "status", "Todo", "code", "b"), document("id", int32(9), "org", "globex", "title", "theirs", "code", "taken")},
		"comments": {document("issue_id", int32(1), "body", "hm"), document("issue_id", int32(1), "body", "so"), document("issue_id", int32(9), "body", "theirs")},
	} {
		if _, err := db.Collection(collection).InsertMany(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
	}
	for _, unique := range []string{"id", "code"} {
		if _, err := db.Collection("issues").Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: document(unique, 1), Options: options.Index().SetUnique(true)}); err != nil {
			t.Fatal(err)
		}
	}
	text := func(name string) schema.Field { return schema.Field{Name: name, Type: schema.String, Native: "string"} }
	whole := func(name string) schema.Field {
		return schema.Field{Name: name, Type: schema.Integer, Native: "int|long"}
	}
	of.Name, of.Declared = "app", map[string]schema.Class{
		"issues": {Key: []string{"id"}, Fields: []schema.Field{whole("id"), text("org"), text("title"), text("status"), whole("n"), text("secret_note"), text("code"), whole("points"), {Name: "meta", Type: schema.JSON}}},
		"comments": {Key: []string{"_id"}, Fields: []schema.Field{{Name: "_id", Type: schema.String, Native: "objectId", Generated: true, NotNull: true}, whole("issue_id"), text("body"), {Name: "reply_to", Type: schema.String, Native: "objectId"}},
			Relations: []schema.Relation{{Fields: []string{"issue_id"}, Target: "issues", TargetFields: []string{"id"}}, {Fields: []string{"reply_to"}, Target: "comments", TargetFields: []string{"_id"}}}}}
	s, err := mongodb.Open(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	into, err := s.Writable(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { into.Close() })
	o := newOffice(t, func(b *bailiwick.Options, c *change.Options) {
		b.Sources = map[string]source.Source{"app": into}
		if more != nil {
			more(b, c)
		}
	})
	dbs[o] = db
	return o
}

// The types of columns in documents. FerretDB has no text indexes, and it doesn't store lists within lists.
var (
	columnTypes = map[string]schema.Field{"text": {Type: schema.String, Native: "string"}, "integer": {Type: schema.Integer, Native: "int|long"}, "%double": {Type: schema.Double, Native: "double"},
		"%time": {Type: schema.Date, Native: "date"}, "%uuid": {Type: schema.String, Native: "string"}, "%json": {Type: schema.JSON}, "boolean": {Type: schema.Boolean, Native: "bool"},
		"bigint": {Type: schema.Integer, Native: "int|long"}, "%inet": {Type: schema.String, Native: "string"}, "%cidr": {Type: schema.String, Native: "string"},
		"%interval": {Type: schema.String, Native: "string"}, "%clock": {Type: schema.String, Native: "string"}, "%money": {Type: schema.String, Native: "string"},
		"%lexemes": {Type: schema.String, Native: "string"}}
	reference = regexp.MustCompile(`(?:^(\w+) .*|FOREIGN KEY \((\w+)\) )REFERENCES (\w+) \((\w+)\)`)
	listed    = regexp.MustCompile(`\[\s*\[`)
)

// columnsOf returns the columns of a table in a world ("name type …") and its other declarations.
func (t table) columnsOf(twin bool) (columns, beside []string) {
	switch {
	case !twin:
		return append(slices.Clone(t.columns), t.hidden...), append(slices.Clone(t.after), t.behind...)
	case t.name == "events":
		return append(slices.Clone(t.columns), "org_id text"), t.after // required by the tenant rule
	}
	return t.columns, t.after
}

// collections describes the tables as collections.
func collections(twin bool) map[string]schema.Class {
	out := map[string]schema.Class{}
	for _, t := range tables {
		if twin && t.secret {
			continue
		}
		c := schema.Class{Name: t.name}
		columns, beside := t.columnsOf(twin)
		for _, column := range columns {
			words := strings.Fields(column)
			f := columnTypes[words[1]]
			f.Name = words[0]
			c.Fields = append(c.Fields, f)
			if strings.Contains(column, "PRIMARY KEY") {
				c.Key = []string{f.Name}
			}
		}
		if slices.Contains(beside, "PRIMARY KEY (day, slot)") {
			c.Key = []string{"day", "slot"}
		}
		c.Relations = t.relations(twin)
		out[t.name] = c
	}
	return out
}

// relations returns the foreign keys of a table, for sources without foreign keys.
func (t table) relations(twin bool) (out []schema.Relation) {
	columns, beside := t.columnsOf(twin)
	for _, text := range append(slices.Clone(columns), beside...) {
		if m := reference.FindStringSubmatch(text); m != nil {
			out = append(out, schema.Relation{Fields: []string{m[1] + m[2]}, Target: m[3], TargetFields: []string{m[4]}})
		}
	}
	return out
}

// documentSide opens a side whose tables are collections in the database of o.
func documentSide(t *testing.T, o mongodb.Options, twin bool) side {
	url := o.URL
	client, err := mongo.Connect(options.Client().ApplyURI(url))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Disconnect(context.Background()) })
	db := client.Database(url[strings.LastIndexByte(url, '/')+1:])
	declared := collections(twin)
	index := func(class string, unique bool, fields ...string) {
		keys := bson.D{}
		for _, f := range fields {
			keys = append(keys, bson.E{Key: f, Value: 1})
		}
		if _, err := db.Collection(class).Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: keys, Options: options.Index().SetUnique(unique)}); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range declared {
		if err := db.CreateCollection(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if c.Key != nil {
			index(name, true, c.Key...)
		}
	}
	index("issues", false, "org_id", "status")
	if !twin {
		index("issues", false, "score", "status")
		index("users", false, "rank")
	}
	o.Name, o.Declared = "app", declared
	src, err := mongodb.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return side{twin: twin, source: src, fill: func(w world) error {
		for name, c := range declared {
			if _, err := db.Collection(name).DeleteMany(t.Context(), bson.D{}); err != nil {
				return err
			}
			var docs []any
			for _, r := range w[name] {
				docs = append(docs, documentOf(t, c.Fields, r))
			}
			if docs == nil {
				continue
			}
			if _, err := db.Collection(name).InsertMany(t.Context(), docs); err != nil {
				return err
			}
		}
		return nil
	}}
}

// documentOf converts a record to a document.
func documentOf(t *testing.T, fields []schema.Field, r record) bson.D {
	out := bson.D{}
	for _, f := range fields {
		v := r[f.Name]
		text, isText := v.(string)
		switch {
		case v == nil:
			continue
		case f.Type == schema.Date:
			at, err := time.Parse(time.DateTime, text)
			if err != nil {
				t.Fatal(err)
			}
			v = bson.NewDateTimeFromTime(at)
		case f.Type == schema.JSON:
			if listed.MatchString(text) {
				text = `{"a": "a list of lists"}`
			}
			var doc bson.D
			if err := bson.UnmarshalExtJSON([]byte(`{"v": `+text+`}`), false, &doc); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			v = doc[0].Value
		case f.Type == schema.Double && !isText:
			if whole, is := v.(int); is {
				v = float64(whole)
			}
		}
		out = append(out, bson.E{Key: f.Name, Value: v})
	}
	return out
}
