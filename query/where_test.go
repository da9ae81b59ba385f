package query

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

func TestParseWhere(t *testing.T) {
	for _, tt := range []struct{ in, out string }{
		{`{}`, `{}`},
		{`{"a":1}`, `{"a":{"$eq":1}}`},
		{`{"a":null}`, `{"a":{"$eq":null}}`},
		{`{"a":{"b":1}}`, `{"a":{"$eq":{"b":1}}}`},
		{`{"a":{"$gt":9007199254740993,"$lte":1.50}}`, `{"$and":[{"a":{"$gt":9007199254740993}},{"a":{"$lte":1.50}}]}`},
		{`{"a":{"$in":[1,"x",null]},"b":{"$nin":[]}}`, `{"$and":[{"a":{"$in":[1,"x",null]}},{"b":{"$nin":[]}}]}`},
		{`{"a":{"$all":[]}}`, `{"a":{"$in":[]}}`},
		{`{"a":{"$all":[1,2]}}`, `{"$and":[{"a":{"$eq":1}},{"a":{"$eq":2}}]}`},
		{`{"$nor":[{"a":1},{"b":2}]}`, `{"$nor":[{"a":{"$eq":1}},{"b":{"$eq":2}}]}`},
		{`{"a":{"$not":{"$gt":5}}}`, `{"$not":{"a":{"$gt":5}}}`},
		{`{"a":{"$regex":"^x y","$options":"ix"}}`, `{"a":{"$regex":"^xy","$options":"i"}}`},
		{`{"a":{"$options":"i","$regex":"x"}}`, `{"a":{"$regex":"x","$options":"i"}}`},
		{`{"a":{"$elemMatch":{"$gt":1,"$lt":5}}}`, `{"a":{"$elemMatch":{"$and":[{"$gt":1},{"$lt":5}]}}}`},
		{`{"a":{"$elemMatch":{"b":1,"$or":[{"c":2},{"d":{"$exists":false}}]}}}`,
			`{"a":{"$elemMatch":{"$and":[{"b":{"$eq":1}},{"$or":[{"c":{"$eq":2}},{"d":{"$exists":false}}]}]}}}`},
		{`{"a.b.c":{"$size":2},"d":{"$startsWith":"x"}}`, `{"$and":[{"a.b.c":{"$size":2}},{"d":{"$startsWith":"x"}}]}`},
		{`{"a":{"$geoWithin":{"$box":[[1,2],[3.5,4]]}}}`, `{"a":{"$geoWithin":{"$box":[[1,2],[3.5,4]]}}}`},
		{`{"a":{"$geoWithin":{"$centerSphere":[[1,-2],1e-3]}}}`, `{"a":{"$geoWithin":{"$centerSphere":[[1,-2],0.001]}}}`},
		{`{"a":{"$near":{"$geometry":{"type":"Point","coordinates":[1,-2]},"$maxDistance":63781,"$minDistance":6378.1}}}`, `{"a":{"$nearSphere":[1,-2],"$maxDistance":0.01,"$minDistance":0.001}}`},
		{`{"a":{"$nearSphere":{"$geometry":{"type":"Point","coordinates":[1,-2]}}}}`, `{"a":{"$nearSphere":[1,-2]}}`},
		{`{"a":{"$maxDistance":0.5,"$nearSphere":[1,-2]}}`, `{"a":{"$nearSphere":[1,-2],"$maxDistance":0.5}}`},
		{`{"a":{"$nearSphere":{"__type":"GeoPoint","latitude":-2,"longitude":1},"$maxDistanceInKilometers":637.1}}`, `{"a":{"$nearSphere":[1,-2],"$maxDistance":0.1}}`},
		{`{"a":{"$nearSphere":[1,-2],"$maxDistanceInMiles":1979.5}}`, `{"a":{"$nearSphere":[1,-2],"$maxDistance":0.5}}`},
		{`{"a":{"$nearSphere":[1,-2],"$maxDistanceInRadians":1000}}`, `{"a":{"$nearSphere":[1,-2]}}`},
		{`{"$and":[{"b":1},{"a":{"$nearSphere":[1,-2]}}]}`, `{"$and":[{"b":{"$eq":1}},{"a":{"$nearSphere":[1,-2]}}]}`},
		{`{"a":{"$inQuery":{"className":"b","where":{"c":1}}}}`, `{"a":{"$inQuery":{"className":"b","where":{"c":{"$eq":1}}}}}`},
		{`{"a":{"$not":{"$notInQuery":{"where":{},"className":"b"}}}}`, `{"$not":{"a":{"$notInQuery":{"className":"b"}}}}`},
		{`{"a":{"$select":{"key":"d.e","query":{"className":"b","where":{"c":1}}}}}`,
			`{"a":{"$select":{"query":{"className":"b","where":{"c":{"$eq":1}}},"key":"d.e"}}}`},
		{`{"a":{"$dontSelect":{"key":"d","query":{"className":"b"}}}}`, `{"a":{"$dontSelect":{"query":{"className":"b"},"key":"d"}}}`},
		{`{"a":{"__type":"Date","iso":"2026-01-31T10:00:00+01:00"}}`, `{"a":{"$eq":{"__type":"Date","iso":"2026-01-31T09:00:00Z"}}}`},
	} {
		f, err := ParseWhere(read(t, tt.in), "/where")
		if err != nil || Print(f).String() != tt.out {
			t.Errorf("ParseWhere(%s) = %s, %v; want %s", tt.in, Print(f), err, tt.out)
			continue
		}
		again, err := ParseWhere(Print(f), "/where")
		if err != nil || Print(again).String() != tt.out {
			t.Errorf("%s reads back as %s, %v", tt.out, Print(again), err)
		}
	}
}

func TestParseWhereRefuses(t *testing.T) {
	many := `{"a":{"$in":[` + strings.TrimSuffix(strings.Repeat("1,", MaxIn+1), ",") + `]}}`
	wide := `{"$or":[` + strings.TrimSuffix(strings.Repeat(`{"a":1},`, MaxNodes+1), ",") + `]}`
	deep := strings.Repeat(`{"$and":[`, 9) + `{"a":1}` + strings.Repeat(`]}`, 9)
	for _, tt := range []struct{ in, pointer, detail string }{
		{`[]`, "/where", "where is an object, not an array"},
		{`{"$where":"1"}`, "/where/$where", "$where runs code in the database, which is never allowed"},
		{`{"a":{"$gtt":1}}`, "/where/a/$gtt", `unknown operator "$gtt"`},
		{`{"$gt":3}`, "/where/$gt", "$gt is an operator on the value of a field, and belongs under its name"},
		{`{"$nearSphere":[1,2]}`, "/where/$nearSphere", "$nearSphere is an operator on the value of a field, and belongs under its name"},
		{`{"$like":"a%"}`, "/where/$like", "$like is an operator on the value of a field, and belongs under its name"},
		{`{"a":1,"$or":[{"$in":[1]}]}`, "/where/$or/0/$in", "$in is an operator on the value of a field, and belongs under its name"},
		{`{"$not":{"$exists":true}}`, "/where/$not/$exists", "$exists is an operator on the value of a field, and belongs under its name"},
		{`{"$orr":[{"a":1}]}`, "/where/$orr", `unknown operator "$orr"`},
		{`{"a":{"$gt":1,"b":2}}`, "/where/a/b", `unknown operator "b"`},
		{`{"a":{"b":2,"$gt":1}}`, "/where/a/$gt", "operators and plain keys can't be in one object"},
		{`{"$or":[]}`, "/where/$or", "$or takes a list of where objects with at least one in it"},
		{`{"$and":[{}]}`, "/where/$and/0", "$and takes where objects with a condition in each"},
		{`{"a":{"$in":1}}`, "/where/a/$in", "$in takes a list"},
		{many, "/where/a/$in", "$in takes at most 1000 values, got 1001"},
		{wide, "/where/$or/200/a", "where has more than 200 conditions"},
		{deep, "/where/$and/0/$and/0/$and/0/$and/0/$and/0/$and/0/$and/0/$and/0", "where is nested deeper than 8"},
		{`{"a":{"$exists":1}}`, "/where/a/$exists", "$exists takes true or false"},
		{`{"a":{"$size":-1}}`, "/where/a/$size", "$size takes a whole number, 0 or more"},
		{`{"a":{"$regex":"("}}`, "/where/a/$regex", "not a regular expression in RE2 syntax: error parsing regexp: missing closing ): `(`"},
		{`{"a":{"$regex":"(a+)+"}}`, "/where/a/$regex", "a regular expression can't repeat what already repeats, as (a+)+ does"},
		{`{"a":{"$geoWithin":{"$polygon":[]}}}`, "/where/a/$geoWithin", `$geoWithin takes {"$box": [[west, south], [east, north]]} or {"$centerSphere": [[longitude, latitude], radians]}`},
		{`{"a":{"$geoWithin":{"$box":[[1,2],[0,3]]}}}`, "/where/a/$geoWithin/$box", "$box takes its south-west corner first. A box across the 180th meridian is two boxes in an $or"},
		{`{"a":{"$geoWithin":{"$centerSphere":[[1,2],500]}}}`, "/where/a/$geoWithin/$centerSphere", "$centerSphere takes [[longitude, latitude], radius], with the radius in radians, from 0 to 3.15: metres divided by 6378100"},
		{`{"$or":[{"a":{"$nearSphere":[1,2]}}]}`, "/where/$or/0/a/$nearSphere", "$nearSphere is allowed once, at the top of where or in an $and there, for it orders the records"},
		{`{"$nor":[{"a":{"$nearSphere":[1,2]}}]}`, "/where/$nor/0/a/$nearSphere", "$nearSphere is allowed once, at the top of where or in an $and there, for it orders the records"},
		{`{"$not":{"a":{"$nearSphere":[1,2]}}}`, "/where/$not/a/$nearSphere", "$nearSphere is allowed once, at the top of where or in an $and there, for it orders the records"},
		{`{"a":{"$not":{"$nearSphere":[1,2]}}}`, "/where/a/$not/$nearSphere", "$nearSphere is allowed once, at the top of where or in an $and there, for it orders the records"},
		{`{"a":{"$elemMatch":{"$nearSphere":[1,2]}}}`, "/where/a/$elemMatch/$nearSphere", "$nearSphere is allowed once, at the top of where or in an $and there, for it orders the records"},
		{`{"a":{"$inQuery":{"className":"b","where":{"c":{"$nearSphere":[1,2]}}}}}`, "/where/a/$inQuery/where/c/$nearSphere", "$nearSphere is allowed once, at the top of where or in an $and there, for it orders the records"},
		{`{"a":{"$nearSphere":[1,2]},"b":{"$nearSphere":[1,2]}}`, "/where/b/$nearSphere", "$nearSphere is allowed once, at the top of where or in an $and there, for it orders the records"},
		{`{"a":{"$near":[1,2]}}`, "/where/a/$near", `$near takes {"$geometry": {"type": "Point", "coordinates": [longitude, latitude]}, "$maxDistance": metres}`},
		{`{"a":{"$nearSphere":{"type":"Point","coordinates":[1,2]}}}`, "/where/a/$nearSphere", `$nearSphere takes {"$geometry": {"type": "Point", "coordinates": [longitude, latitude]}, "$maxDistance": metres}`},
		{`{"a":{"$nearSphere":[1,200]}}`, "/where/a/$nearSphere", "a point is [longitude, latitude], from -180 to 180 and from -90 to 90"},
		{`{"a":{"$near":{"$geometry":{"type":"Polygon"}}}}`, "/where/a/$near/$geometry", "a point is [longitude, latitude], from -180 to 180 and from -90 to 90"},
		{`{"a":{"$near":{"$geometry":[1,2],"$max":5}}}`, "/where/a/$near/$max", `$near has no key "$max". It takes $geometry, $maxDistance and $minDistance`},
		{`{"a":{"$near":{"$geometry":[1,2]},"$maxDistance":5}}`, "/where/a/$maxDistance", "$maxDistance stands inside of $near, beside $geometry, in metres"},
		{`{"a":{"$nearSphere":{"$geometry":[1,2]},"$maxDistance":5}}`, "/where/a/$maxDistance", "$maxDistance stands inside of $nearSphere, beside $geometry, in metres"},
		{`{"a":{"$nearSphere":[1,2],"$maxDistance":-5}}`, "/where/a/$maxDistance", "$maxDistance takes a number, 0 or more"},
		{`{"a":{"$nearSphere":[1,2],"$maxDistance":"5"}}`, "/where/a/$maxDistance", "$maxDistance takes a number, 0 or more"},
		{`{"a":{"$nearSphere":[1,2],"$maxDistance":1,"$maxDistanceInMiles":1}}`, "/where/a/$maxDistanceInMiles", "there is another greatest distance: give one"},
		{`{"a":{"$nearSphere":[1,2],"$maxDistance":1,"$minDistance":2}}`, "/where/a", "$minDistance is more than $maxDistance, and nothing is at such a distance"},
		{`{"a":{"$maxDistance":1}}`, "/where/a/$maxDistance", "$maxDistance goes with $nearSphere"},
		{`{"a":{"$regex":"a","$options":"g"}}`, "/where/a/$regex", `$options takes each of the letters i, m, s and x once. It is "g"`},
		{`{"a":{"$elemMatch":{"$options":"i"}}}`, "/where/a/$elemMatch/$options", "$options goes with $regex"},
		{`{"a":{"$options":"i"}}`, "/where/a/$options", "$options goes with $regex"},
		{`{"a":{"$regex":"` + strings.Repeat("a", 257) + `"}}`, "/where/a/$regex", "a regular expression has at most 256 characters"},
		{`{"a..b":1}`, "/where/a..b", `"a..b" is not a field name: a part of it is empty`},
		{`{"a":{"__type":"Date","iso":"soon"}}`, "/where/a", `a date is written {"__type": "Date", "iso": "2026-01-31T13:00:00Z"}`},
		{`{"a/b":{"__type":"Dat"}}`, "/where/a~1b/__type", `unknown __type "Dat"`},
		{`{"a":{"$not":1}}`, "/where/a/$not", `$not takes operators, as in {"$not": {"$gt": 5}}; use $ne for a value`},
		{`{"a":{"$gt":[1]}}`, "/where/a/$gt", "$gt takes a number, a string, a date or a boolean, not an array"},
		{`{"a":{"$lt":[1,{"b":1e1000}]}}`, "/where/a/$lt/1/b", "the number is out of range: at most 1,000 digits and an exponent within ±999"},
		{`{"a":{"$text":{}}}`, "/where/a/$text", "$text is not supported"},
		{`{"$expr":true}`, "/where/$expr", "$expr is allowed at the top of a $match, or in a $and there, alone"},
		{`{"a":{"$inQuery":1}}`, "/where/a/$inQuery", "$inQuery takes an object with className and where, not an integer"},
		{`{"a":{"$inQuery":{"where":{}}}}`, "/where/a/$inQuery", "$inQuery needs className"},
		{`{"a":{"$inQuery":{"className":""}}}`, "/where/a/$inQuery/className", "className takes the name of a class, not an empty one"},
		{`{"a":{"$inQuery":{"className":"b","limit":1}}}`, "/where/a/$inQuery/limit", `$inQuery has no key "limit". It takes className and where`},
		{`{"a":{"$notInQuery":{"className":"b","where":[]}}}`, "/where/a/$notInQuery/where", "where is an object, not an array"},
		{`{"a":{"$select":{"query":{"className":"b"}}}}`, "/where/a/$select", "$select needs key"},
		{`{"a":{"$select":{"key":"b"}}}`, "/where/a/$select", "$select needs query"},
		{`{"a":{"$dontSelect":{"key":"$b","query":{"className":"b"}}}}`, "/where/a/$dontSelect/key", `"$b" is not a field name: it begins with $`},
		{`{"a":{"$elemMatch":{"b":{"$inQuery":{"className":"b"}}}}}`, "/where/a/$elemMatch/b/$inQuery", "$inQuery isn't allowed inside of $elemMatch"},
		{`{"a":{"$inQuery":{"className":"b","where":{"c":{"$gtt":1}}}}}`, "/where/a/$inQuery/where/c/$gtt", `unknown operator "$gtt"`},
		{nestIn(5), "/where/a/$inQuery/where/a/$inQuery/where/a/$inQuery/where/a/$inQuery/where", "where is nested deeper than 8"},
		{`{"a":{"$inQuery":{"className":"b","where":` + wide + `}}}`, "/where/a/$inQuery/where/$or/200/a", "where has more than 200 conditions"},
	} {
		f, err := ParseWhere(read(t, tt.in), "/where")
		p := problem.Of(err)
		if err == nil || p.Pointer != tt.pointer || p.Detail != tt.detail {
			t.Errorf("ParseWhere(%.80s) = %v, %v; want %s %s", tt.in, f, err, tt.pointer, tt.detail)
		}
	}
	_, err := ParseWhere(read(t, `{"a":{"$gtt":1}}`), "")
	if got := problem.Of(err).Near; !reflect.DeepEqual(got, []string{"$gt", "$gte", "$eq"}) && (len(got) == 0 || got[0] != "$gt") {
		t.Errorf("near $gtt: %q", got)
	}
}

// TestParseRule checks the values that only rules can have, and the errors for agents that use them.
func TestParseRule(t *testing.T) {
	for _, tt := range []struct{ in, out, agent string }{
		{`{"a":{"$cel":"x"}}`, `{"a":{"$eq":{"$cel":"x"}}}`, `/where/a/$cel: unknown operator "$cel"`},
		{`{"a.b":{"$eq":{"$cel":"x"}}}`, `{"a.b":{"$eq":{"$cel":"x"}}}`, "/where/a.b/$eq/$cel: operators and plain keys can't be in one object"},
		{`{"a":{"$ne":{"$cel":"x"},"$gte":{"$cel":"y"}},"b":1}`, `{"$and":[{"$and":[{"a":{"$ne":{"$cel":"x"}}},{"a":{"$gte":{"$cel":"y"}}}]},{"b":{"$eq":1}}]}`,
			"/where/a/$ne/$cel: operators and plain keys can't be in one object"},
		{`{"a":{"$in":{"$cel":"x"}}}`, `{"a":{"$in":{"$cel":"x"}}}`, "/where/a/$in: $in takes a list"},
		{`{"a":{"$nin":{"$cel":"x"}}}`, `{"a":{"$nin":{"$cel":"x"}}}`, "/where/a/$nin: $nin takes a list"},
		{`{"a":{"$not":{"$lt":{"$cel":"x"}}}}`, `{"$not":{"a":{"$lt":{"$cel":"x"}}}}`, "/where/a/$not/$lt/$cel: operators and plain keys can't be in one object"},
		{`{"a":{"$elemMatch":{"$eq":{"$cel":"x"}}}}`, `{"a":{"$elemMatch":{"$eq":{"$cel":"x"}}}}`,
			"/where/a/$elemMatch/$eq/$cel: operators and plain keys can't be in one object"},
		{`{"$or":[{"a":{"$cel":"x"}},{"b":{"$cel":"y"}}]}`, `{"$or":[{"a":{"$eq":{"$cel":"x"}}},{"b":{"$eq":{"$cel":"y"}}}]}`, `/where/$or/0/a/$cel: unknown operator "$cel"`},
		// not allowed in rules either
		{`{"$cel":"x"}`, `/where/$cel: unknown operator "$cel"`, `/where/$cel: unknown operator "$cel"`},
		{`{"a":{"$cel":1}}`, "/where/a/$cel: $cel takes an expression as a string", `/where/a/$cel: unknown operator "$cel"`},
		{`{"a":{"$cel":""}}`, "/where/a/$cel: $cel takes an expression as a string", `/where/a/$cel: unknown operator "$cel"`},
		{`{"a":{"$gt":{"$cel":"x","b":1}}}`, "/where/a/$gt: $cel is the only key of its object", "/where/a/$gt/$cel: operators and plain keys can't be in one object"},
		{`{"a":{"$in":[{"$cel":"x"}]}}`, "/where/a/$in/0/$cel: operators and plain keys can't be in one object",
			"/where/a/$in/0/$cel: operators and plain keys can't be in one object"},
		{`{"a":{"b":{"$cel":"x"}}}`, "/where/a/b/$cel: operators and plain keys can't be in one object",
			"/where/a/b/$cel: operators and plain keys can't be in one object"},
		{`{"a":{"$all":{"$cel":"x"}}}`, "/where/a/$all: $all takes a list", "/where/a/$all: $all takes a list"},
		{`{"a":{"$startsWith":{"$cel":"x"}}}`, "/where/a/$startsWith: $startsWith takes a string", "/where/a/$startsWith: $startsWith takes a string"},
	} {
		for _, as := range []struct {
			parse func(value.Value, string) (Filter, error)
			want  string
		}{{ParseRule, tt.out}, {ParseWhere, tt.agent}} {
			f, err := as.parse(read(t, tt.in), "/where")
			got := Print(f).String()
			if err != nil {
				got = problem.Of(err).Pointer + ": " + problem.Of(err).Detail
			}
			if got != as.want {
				t.Errorf("%s:\n got %s\nwant %s", tt.in, got, as.want)
			}
			if err != nil {
				continue
			}
			if again, err := ParseRule(Print(f), "/where"); err != nil || Print(again).String() != got {
				t.Errorf("%s reads back as %s, %v", got, Print(again), err)
			}
		}
	}
	v := value.OfArray([]value.Value{value.OfInt(1), value.OfInt(2)})
	for want, d := range map[string]Deferred{
		`{"a":{"$nin":[1,2]}}`: {Path: Path{"a"}, Op: Ne, List: true},
		`{"a":{"$in":[1,2]}}`:  {Path: Path{"a"}, List: true},
		`{"a":{"$lt":[1,2]}}`:  {Path: Path{"a"}, Op: Lt},
	} {
		if got := Print(d.With(v)).String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// nestIn returns $inQuery nested n deep.
func nestIn(n int) string {
	return strings.Repeat(`{"a":{"$inQuery":{"className":"b","where":`, n) + `{"a":1}` + strings.Repeat(`}}}`, n)
}

func FuzzParseWhere(f *testing.F) {
	f.Add(`{"a":{"$elemMatch":{"$gt":1}},"$or":[{"b":{"$regex":"^x","$options":"im"}},{"c.d":{"$nin":[1,null]}}]}`)
	f.Add(`{"$nor":[{"a":{"$not":{"$size":2}}},{"b":{"__type":"Pointer","className":"x","objectId":"1"}}]}`)
	f.Add(`{"a":{"$cel":"x"},"b":{"$nin":{"$cel":"y"},"$gte":{"$cel":"z"}},"c":{"$elemMatch":{"$eq":{"$cel":"x"}}}}`)
	f.Fuzz(func(t *testing.T, in string) {
		v, err := value.Read([]byte(in), 0)
		if err != nil {
			return
		}
		where, refused := ParseWhere(v, "")
		if refused != nil && problem.CodeOf(refused) == problem.Internal {
			t.Errorf("%s: %v", in, refused)
		}
		rule, err := ParseRule(v, "")
		if refused == nil && (err != nil || Print(rule).String() != Print(where).String()) {
			t.Errorf("%s means %s, and in a rule %s, %v", in, Print(where), Print(rule), err)
		}
		if err != nil {
			return
		}
		out := Print(rule)
		again, err := ParseRule(out, "")
		// Printing may nest one level deeper than the original. Only that may be rejected.
		if err != nil && !strings.Contains(err.Error(), "deeper") && !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s prints as %s: %v", in, out, err)
		}
		if err == nil && Print(again).String() != out.String() {
			t.Errorf("%s prints as %s, then as %s", in, out, Print(again))
		}
		if refused == nil && err == nil {
			if _, err := ParseWhere(out, ""); err != nil {
				t.Errorf("%s prints as %s, which only rules can say: %v", in, out, err)
			}
		}
	})
}

func read(t *testing.T, s string) value.Value {
	t.Helper()
	v, err := value.Read([]byte(s), 30)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
