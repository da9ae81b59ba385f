package mongodb_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"net"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An odd is a collection of documents that few programs write. It has their values of the member v, and the expected
// result.
type odd struct {
	name   string
	values []any
	want   string // the type of the field, and the values as JSON
	ferret bool   // whether FerretDB can store them
}

func nested(levels int) any {
	out := any(int32(1))
	for range levels {
		out = bson.D{{Key: "a", Value: out}}
	}
	return out
}

// odds are collections of unusual documents, each with its exact answer.
func odds(t *testing.T) []odd {
	decimal := func(text string) bson.Decimal128 {
		d, err := bson.ParseDecimal128(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	const beyond = 253402300800000 // 10000-01-01, in milliseconds
	return []odd{
		{"dots", []any{bson.D{{Key: "a.b", Value: int32(1)}, {Key: "a", Value: bson.D{{Key: "b", Value: int32(2)}}}}}, `json {"a.b":1,"a":{"b":2}}`, false},
		{"dollars", []any{bson.D{{Key: "$x", Value: int32(1)}, {Key: "$ref", Value: "c"}, {Key: "", Value: true}}}, `json {"$x":1,"$ref":"c","":true}`, false},
		{"twice", []any{bson.D{{Key: "a", Value: int32(1)}, {Key: "b", Value: int32(3)}, {Key: "a", Value: int32(2)}}}, `json {"a":1,"b":3}`, false},
		{"deep", []any{nested(98)}, "json " + strings.Repeat(`{"a":`, 98) + "1" + strings.Repeat("}", 98), true},
		{"deeper", []any{nested(100)}, "json " + strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100), false},
		{"too deep", []any{nested(103)}, "json " + strings.Repeat(`{"a":`, 100) + "null" + strings.Repeat("}", 100), false},
		{"dates", []any{bson.DateTime(beyond), bson.DateTime(-62167219200001), bson.DateTime(math.MaxInt64), bson.DateTime(math.MinInt64), bson.DateTime(-1)},
			`date "10000-01-01T00:00:00Z" "-0001-12-31T23:59:59.999Z" "Date(9223372036854775807)" "Date(-9223372036854775808)" "1969-12-31T23:59:59.999Z"`, false},
		{"doubles", []any{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), math.MaxFloat64, 5e-324}, `double "NaN" "Infinity" "-Infinity" -0 1.7976931348623157e+308 5e-324`, false},
		{"decimals", []any{decimal("NaN"), decimal("Infinity"), decimal("-Infinity"), decimal("-0"), decimal("0E-6176"), decimal("9.999999999999999999999999999999999E+6144"), decimal("1.10")},
			`decimal "NaN" "Infinity" "-Infinity" -0 0E-6176 9.999999999999999999999999999999999E+6144 1.10`, false},
		{"mixed", []any{int32(5), "5", 5.5, true, bson.D{{Key: "a", Value: int32(1)}}, bson.A{int32(5), "x"}, bson.DateTime(0), nil, oid(7)},
			`json 5 "5" 5.5 true {"a":1} [5,"x"] "1970-01-01T00:00:00Z" null "000000000000000000000007"`, true},
		{"scalars", []any{int32(5), "5", true, bson.DateTime(0), int64(math.MaxInt64)}, `any 5 "5" true "1970-01-01T00:00:00Z" 9223372036854775807`, true},
		{"kinds", []any{bson.Timestamp{T: 1, I: 2}, bson.Regex{Pattern: "a", Options: "i"}, bson.MinKey{}, bson.JavaScript("f()"), bson.DBPointer{DB: "d", Pointer: oid(1)}},
			`opaque "{\"$timestamp\":{\"t\":1,\"i\":2}}" "{\"$regularExpression\":{\"pattern\":\"a\",\"options\":\"i\"}}" "{\"$minKey\":1}" "{\"$code\":\"f()\"}"` +
				` "{\"$dbPointer\":{\"$ref\":\"d\",\"$id\":{\"$oid\":\"000000000000000000000001\"}}}"`, false},
		{"texts", []any{"a\x00b", "\xff\xfe", "\u202e\U0001F600", ""}, `string "a\u0000b" "�" "` + "\u202e\U0001F600" + `" ""`, false},
	}
}

// TestOdd reads the unusual documents. It reads all of them from a server that returns them byte by byte. If FerretDB
// can store a value, the test reads it from FerretDB.
func TestOdd(t *testing.T) {
	rows := odds(t)
	kept := map[string][]bson.Raw{}
	url := services.FerretDB(t)
	db := database(t, url)
	for _, r := range rows {
		for i, v := range r.values {
			doc, err := bson.Marshal(bson.D{{Key: "_id", Value: int32(i)}, {Key: "v", Value: v}})
			if err != nil {
				t.Fatalf("%s: %v", r.name, err)
			}
			kept[r.name] = append(kept[r.name], doc)
			_, err = db.Collection(strings.ReplaceAll(r.name, " ", "_")).InsertOne(t.Context(), bson.Raw(doc))
			if r.ferret && err != nil {
				t.Errorf("%s: FerretDB doesn't store %v: %v", r.name, v, err)
			}
		}
	}
	wire := open(t, wired(t, kept))
	ferret := open(t, url)
	for _, r := range rows {
		for _, s := range []*mongodb.Source{wire, ferret} {
			name := r.name
			if s == ferret {
				if name = strings.ReplaceAll(name, " ", "_"); !r.ferret {
					continue
				}
			}
			if got := told(t, s, name, 50); got != r.want {
				t.Errorf("%s, FerretDB %v:\n got %s\nwant %s", r.name, s == ferret, got, r.want)
			}
		}
	}
	// Conditions over values of several types. The value 5 also finds lists that contain it, as everywhere.
	classes, _, err := ferret.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		class, where string
		want         int64
	}{
		{"mixed", `{"v":5}`, 2}, {"mixed", `{"v":"5"}`, 1}, {"mixed", `{"v":{"$gt":1}}`, 3}, {"mixed", `{"v":{"$exists":true}}`, 8}, {"mixed", `{"v":null}`, 1}, {"mixed", `{"v.a":1}`, 1},
		{"mixed", `{"v":{"$in":[5,"5",true]}}`, 4}, {"mixed", `{"v":{"$elemMatch":{"$eq":5}}}`, 1}, {"mixed", `{"v":"000000000000000000000007"}`, 1}, {"mixed", `{"v":{"$ne":5}}`, 7},
		{"scalars", `{"v":5}`, 1}, {"scalars", `{"v":{"$gte":5}}`, 2}, {"scalars", `{"v":9223372036854775807}`, 1}, {"scalars", `{"v":9223372036854775806}`, 0}, {"scalars", `{"v":{"$regex":"5"}}`, 1},
	} {
		where, err := query.ParseWhere(readValue(t, tt.where), "/where")
		if err != nil {
			t.Fatal(err)
		}
		permit, err := p.Read(identity.Principal{ID: "test", Scopes: []identity.Scope{identity.Read}}, &query.Count{Class: tt.class, Where: where})
		if err != nil {
			t.Errorf("%s %s: %v", tt.class, tt.where, err)
			continue
		}
		got, err := sourcetest.Collect(t.Context(), ferret, permit)
		if err != nil || len(got) != 1 || got[0][0].Int() != tt.want {
			t.Errorf("%s %s: %v, %v; want %d", tt.class, tt.where, got, err, tt.want)
		}
	}
}

// TestOddNames reads documents with names that no field can have, and documents that violate the format. None may
// cause a panic, and a warning must name the omitted members.
func TestOddNames(t *testing.T) {
	good, err := bson.Marshal(bson.D{{Key: "_id", Value: int32(1)}, {Key: "a.b", Value: int32(1)}, {Key: "$x", Value: int32(2)}, {Key: "v", Value: int32(3)}, {Key: "v", Value: int32(4)}})
	if err != nil {
		t.Fatal(err)
	}
	broken := bytes.Clone(good)
	broken[len(broken)-8] = 0x7e // a type that doesn't exist in BSON
	large, err := bson.Marshal(bson.D{{Key: "_id", Value: int32(3)}, {Key: "v", Value: strings.Repeat("x", 16<<20-100)}})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, wired(t, map[string][]bson.Raw{"names": {good}, "broken": {broken}, "large": {large, large}}))
	_, warnings, err := s.Describe(t.Context())
	said := strings.Join(warnings, "\n")
	if err != nil || !strings.Contains(said, `names: documents have members called "$x", which can't be a field`) || !strings.Contains(said, `called "a.b"`) {
		t.Errorf("%v, %s", err, said)
	}
	if got := told(t, s, "names", 50); got != "integer 3" {
		t.Errorf("names: %s", got)
	}
	if got := told(t, s, "broken", 50); got != "no v" {
		t.Errorf("broken: %s", got)
	}
	if got := told(t, s, "large", 50); got != "string null null" { // every source cuts values of this length
		t.Errorf("two documents of 16 MB: %d bytes, %.100s", len(got), got)
	}
}

func open(t *testing.T, url string) *mongodb.Source {
	t.Helper()
	s, err := mongodb.Open(t.Context(), mongodb.Options{Name: "suite", URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// told returns the type of the field v of a class, and its values as JSON, or the code of the error.
func told(t *testing.T, s *mongodb.Source, class string, limit int) string {
	t.Helper()
	classes, _, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{ID: "test", Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: class, Keys: []query.Path{{"v"}}, Limit: limit})
	if err != nil {
		return "no v"
	}
	plan, err := permit.Plan()
	if err != nil {
		t.Fatal(err)
	}
	var field *schema.Field
	at := -1
	for i, c := range plan.Columns {
		if c.Path.String() == "v" {
			field, at = c.Field, i
		}
	}
	out := field.Type.String()
	rows, err := sourcetest.Collect(t.Context(), s, permit)
	if err != nil {
		return out + " " + string(problem.CodeOf(err))
	}
	for _, row := range rows {
		out += " " + shownJSON(row[at])
	}
	return out
}

func shownJSON(v value.Value) string { return string(v.AppendJSON(nil)) }

// wired starts a server of MongoDB's wire protocol that ignores the query and returns the documents byte by byte. It
// is for documents that no server accepts from a client. It returns the URL of a database.
func wired(t *testing.T, collections map[string][]bson.Raw) string {
	t.Helper()
	return serving(t, func(command bson.Raw) []byte { return answerTo(command, collections) })
}

// serving starts a server of MongoDB's wire protocol, and returns the URL of a database.
func serving(t *testing.T, answer func(command bson.Raw) []byte) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for answered(conn, answer) == nil {
				}
			}()
		}
	}()
	return "mongodb://" + listener.Addr().String() + "/suite"
}

// answered reads a message and answers it.
func answered(conn net.Conn, answer func(bson.Raw) []byte) error {
	const query, reply, message = 2004, 1, 2013
	head := make([]byte, 16)
	if _, err := io.ReadFull(conn, head); err != nil {
		return err
	}
	body := make([]byte, binary.LittleEndian.Uint32(head)-16)
	if _, err := io.ReadFull(conn, body); err != nil {
		return err
	}
	kind, at, out := uint32(message), 5, make([]byte, 21) // the flags, and the kind of the section
	if binary.LittleEndian.Uint32(head[12:]) == query {
		kind, at, out = reply, 4+bytes.IndexByte(body[4:], 0)+1+8, make([]byte, 36)
		binary.LittleEndian.PutUint32(out[32:], 1)
	}
	out = append(out, answer(bson.Raw(body[at:]))...)
	binary.LittleEndian.PutUint32(out, uint32(len(out)))
	copy(out[8:], head[4:8])
	binary.LittleEndian.PutUint32(out[12:], kind)
	_, err := conn.Write(out)
	return err
}

// page returns a cursor over documents without parsing them.
func page(name string, docs []bson.Raw) bsoncore.Document {
	all := bsoncore.NewArrayBuilder()
	for _, d := range docs {
		all.AppendDocument(bsoncore.Document(d))
	}
	cursor := bsoncore.NewDocumentBuilder().AppendInt64("id", 0).AppendString("ns", "suite."+name).AppendArray("firstBatch", all.Build()).Build()
	return bsoncore.NewDocumentBuilder().AppendDocument("cursor", cursor).AppendDouble("ok", 1).Build()
}

func marshalled(doc bson.D) []byte {
	out, err := bson.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return out
}

func answerTo(command bson.Raw, collections map[string][]bson.Raw) []byte {
	first, err := command.IndexErr(0)
	if err != nil {
		return marshalled(bson.D{{Key: "ok", Value: 0}})
	}
	switch name, _ := first.Value().StringValueOK(); first.Key() {
	case "buildInfo":
		return marshalled(bson.D{{Key: "version", Value: "7.0.0"}, {Key: "ok", Value: 1.0}})
	case "listCollections":
		var all []bson.Raw
		for name := range collections {
			all = append(all, marshalled(bson.D{{Key: "name", Value: name}, {Key: "type", Value: "collection"}, {Key: "options", Value: bson.D{}}}))
		}
		return page("$cmd.listCollections", all)
	case "listIndexes":
		return page(name, []bson.Raw{marshalled(bson.D{{Key: "v", Value: 2}, {Key: "key", Value: bson.D{{Key: "_id", Value: 1}}}, {Key: "name", Value: "_id_"}})})
	case "aggregate":
		return page(name, collections[name])
	}
	return marshalled(bson.D{{Key: "ismaster", Value: true}, {Key: "isWritablePrimary", Value: true}, {Key: "helloOk", Value: true}, {Key: "maxBsonObjectSize", Value: 16 << 20}, {Key: "maxMessageSizeBytes", Value: 256 << 20},
		{Key: "maxWriteBatchSize", Value: 1000}, {Key: "minWireVersion", Value: 0}, {Key: "maxWireVersion", Value: 21}, {Key: "ok", Value: 1.0}})
}
