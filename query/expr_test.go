package query

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// parsed parses an expression in which only the variables ROOT and CURRENT are defined.
func parsed(v value.Value, at string) (Expr, error) {
	o := operand{parser: &parser{}, v: v, site: site{at: at}}
	x := o.expr()
	return x, o.err
}

func TestParseExpr(t *testing.T) {
	rows := []struct{ in, out string }{
		{`"text"`, `"text"`}, {`""`, `""`}, {`1`, `1`}, {`-1.50`, `-1.50`}, {`true`, `true`}, {`null`, `null`},
		{`"$a"`, `"$a"`}, {`"$a.b.c"`, `"$a.b.c"`}, {`"$a.0"`, `"$a.0"`},
		{`"$$ROOT"`, `"$$ROOT"`}, {`"$$CURRENT"`, `"$$ROOT"`}, {`"$$ROOT.a.b"`, `"$a.b"`}, {`"$$CURRENT.a"`, `"$a"`},
		{`[]`, `[]`}, {`{}`, `{}`}, {`[1,"x",[null,{"a":{"b":true}}]]`, `[1,"x",[null,{"a":{"b":true}}]]`}, {`[1,"$x"]`, `[1,"$x"]`},
		{`{"a":1,"b":{"c":"$d"}}`, `{"a":1,"b":{"c":"$d"}}`},
		{`{"$literal":1}`, `1`}, {`{"$literal":"$a"}`, `{"$literal":"$a"}`}, {`{"$literal":[1,"x"]}`, `[1,"x"]`}, {`{"$literal":null}`, `null`},
		{`{"$literal":[1,"$x"]}`, `{"$literal":[1,"$x"]}`}, {`{"$literal":{"a.b":{"$add":1}}}`, `{"$literal":{"a.b":{"$add":1}}}`},
		{`{"$date":"2026-01-31T10:00:00+01:00"}`, `{"$date":"2026-01-31T09:00:00Z"}`}, {`{"$date":"2026-01-31"}`, `{"$date":"2026-01-31"}`},
		{`{"__type":"Date","iso":"2026-01-31T10:00:00Z"}`, `{"$date":"2026-01-31T10:00:00Z"}`},
		{`{"__type":"Pointer","className":"b","objectId":"1"}`, `{"$literal":{"__type":"Pointer","className":"b","objectId":"1"}}`},

		{`{"$cond":["$a",1,2]}`, `{"$cond":["$a",1,2]}`}, {`{"$cond":{"else":2,"if":"$a","then":1}}`, `{"$cond":["$a",1,2]}`},
		{`{"$switch":{"branches":[{"case":"$a","then":1},{"then":2,"case":"$b"}]}}`, `{"$switch":{"branches":[{"case":"$a","then":1},{"case":"$b","then":2}]}}`},
		{`{"$switch":{"default":3,"branches":[{"case":"$a","then":1}]}}`, `{"$switch":{"branches":[{"case":"$a","then":1}],"default":3}}`},
		{`{"$filter":{"input":"$a","cond":{"$gt":["$$this",1]}}}`, `{"$filter":{"input":"$a","cond":{"$gt":["$$this",1]}}}`},
		{`{"$filter":{"input":"$a","as":"this","cond":"$$this.b.c"}}`, `{"$filter":{"input":"$a","cond":"$$this.b.c"}}`},
		{`{"$filter":{"limit":2,"input":"$a","as":"x","cond":"$$x"}}`, `{"$filter":{"input":"$a","as":"x","cond":"$$x","limit":2}}`},
		{`{"$map":{"input":"$a","in":"$$this"}}`, `{"$map":{"input":"$a","in":"$$this"}}`},
		{`{"$map":{"input":"$a","as":"x","in":{"$map":{"input":"$$x","in":["$$x","$$this"]}}}}`, `{"$map":{"input":"$a","as":"x","in":{"$map":{"input":"$$x","in":["$$x","$$this"]}}}}`},
		{`{"$reduce":{"input":"$a","initialValue":0,"in":{"$add":["$$value","$$this"]}}}`, `{"$reduce":{"input":"$a","initialValue":0,"in":{"$add":["$$value","$$this"]}}}`},

		// a single argument, by itself and in a list
		{`{"$abs":"$a"}`, `{"$abs":"$a"}`}, {`{"$abs":["$a"]}`, `{"$abs":"$a"}`}, {`{"$size":[["$a"]]}`, `{"$size":[["$a"]]}`},
		{`{"$size":[[1,2]]}`, `{"$size":[[1,2]]}`}, {`{"$size":{"$literal":[1,2]}}`, `{"$size":[[1,2]]}`}, {`{"$sum":["$a","$b"]}`, `{"$sum":["$a","$b"]}`},
		{`{"$round":"$a"}`, `{"$round":"$a"}`}, {`{"$slice":["$a",1]}`, `{"$slice":["$a",1]}`},
		{`{"$isArray":[{}]}`, `{"$isArray":{}}`},
		{`{"$year":"$a"}`, `{"$year":"$a"}`}, {`{"$year":["$a"]}`, `{"$year":"$a"}`}, {`{"$year":{"date":"$a"}}`, `{"$year":"$a"}`},
		{`{"$year":{"$date":"2026-01-31"}}`, `{"$year":{"date":{"$date":"2026-01-31"}}}`},
		{`{"$year":{"__type":"Date","iso":"2026-01-31"}}`, `{"$year":{"date":{"$date":"2026-01-31"}}}`},
		{`{"$year":{"timezone":"Europe/Oslo","date":"$a"}}`, `{"$year":{"date":"$a","timezone":"Europe/Oslo"}}`},
		{`{"$dateTrunc":{"date":"$a","unit":"day","binSize":1}}`, `{"$dateTrunc":{"date":"$a","unit":"day"}}`},
	}
	for _, sig := range Signatures {
		for n := sig.Min; n <= max(sig.Max, len(sig.Names), sig.Min+1); n++ {
			if sig.Max == 0 || sig.Max < 0 || n <= sig.Max {
				rows = append(rows, struct{ in, out string }{written(sig, n), written(sig, n)})
			}
		}
	}
	for _, tt := range rows {
		x, err := parsed(read(t, tt.in), "")
		if err != nil || string(printExpr(x).AppendJSON(nil)) != tt.out {
			t.Errorf("parsed(%s) = %s, %v; want %s", tt.in, printExpr(x).AppendJSON(nil), err, tt.out)
			continue
		}
		again, err := parsed(printExpr(x), "")
		if diff := cmp.Diff(x, again, noPlace); err != nil || diff != "" {
			t.Errorf("%s reads back otherwise: %v %s", tt.out, err, diff)
		}
	}
}

// written returns a call with its first n arguments in canonical form.
func written(sig Signature, n int) string {
	var args []string
	for i := range min(n, max(len(sig.Names), sig.Max, n)) {
		arg := `"$` + string(rune('a'+i)) + `"`
		if sig.Names != nil {
			if i == len(sig.Names) {
				break
			}
			arg = `"` + sig.Names[i] + `":` + arg
		}
		args = append(args, arg)
	}
	in := strings.Join(args, ",")
	switch {
	case sig.isPart() && n == 1:
		in = `"$a"`
	case sig.Names != nil:
		in = "{" + in + "}"
	case n > 1:
		in = "[" + in + "]"
	}
	return `{"` + sig.Op + `":` + in + `}`
}

func TestParseExprRefuses(t *testing.T) {
	deep := strings.Repeat(`{"$not":`, MaxExprDepth) + `"$a"` + strings.Repeat(`}`, MaxExprDepth)
	wide := `{"$add":["$a"` + strings.Repeat(`,"$a"`, MaxExprNodes) + `]}`
	for _, tt := range []struct{ in, pointer, detail string }{
		{`"$"`, "", `"" is not a field name: a part of it is empty`},
		{`"$a..b"`, "", `"a..b" is not a field name: a part of it is empty`},
		{`"$a.$b"`, "", `"a.$b" is not a field name: it begins with $`},
		{`"$a.b.c.d.e.f.g.h.i"`, "", "a path has at most 8 parts"},
		{`"$` + strings.Repeat("a", 129) + `"`, "", `"` + strings.Repeat("a", 64) + `…" is not a field name: it is longer than 128 bytes`},
		{`"$$this"`, "", `unknown variable "$$this"`},
		{`"$$"`, "", `unknown variable "$$"`},
		{`"$$ROOT."`, "", `"" is not a field name: a part of it is empty`},
		{`"$$NOW"`, "", "$$NOW is not supported"},
		{`"$$REMOVE"`, "", "$$REMOVE is not supported"},
		{`"$$KEEP"`, "", "$$KEEP is for $redact alone"},
		{`1e1000`, "", "the number is out of range: at most 1,000 digits and an exponent within ±999"},
		{`[1,1e1000]`, "/1", "the number is out of range: at most 1,000 digits and an exponent within ±999"},
		{`{"$literal":{"a":[1e1000]}}`, "/$literal/a/0", "the number is out of range: at most 1,000 digits and an exponent within ±999"},
		{`{"a":{"$ad":1}}`, "/a/$ad", `unknown operator "$ad"`},
		{`{"$let":{"vars":{},"in":1}}`, "/$let/vars", `vars takes an object of variables, as in {"total": {"$add": ["$a", "$b"]}}`},
		{`{"$let":{"vars":{"a":1,"b":"$$a"},"in":1}}`, "/$let/vars/b", `unknown variable "$$a"`},
		{`{"$let":{"vars":{"a":1},"in":"$$b"}}`, "/$let/in", `unknown variable "$$b"`},
		{`{"$sinh":1}`, "/$sinh", "$sinh is not supported"},
		{`{"$function":{}}`, "/$function", "$function runs code in the database, which is never allowed"},
		{`{"$add":1,"$abs":2}`, "/$abs", "an expression is one operator, got $abs beside $add"},
		{`{"$add":1,"b":2}`, "/b", "an expression is one operator, got b beside $add"},
		{`{"b":2,"$add":1}`, "/$add", "operators and plain keys can't be in one object"},
		{`{"a.b":1}`, "/a.b", `"a.b" can't have a dot: it names one field`},
		{`[{"a.b":1}]`, "/0/a.b", `"a.b" can't have a dot: it names one field`},
		{`{"":1}`, "/", `"" is not a field name: a part of it is empty`},
		{`{"$date":"soon"}`, "/$date", `a date is written {"$date": "2026-01-31T13:00:00Z"}`},
		{`{"$date":1}`, "/$date", `a date is written {"$date": "2026-01-31T13:00:00Z"}`},
		{`{"__type":"Dat"}`, "/__type", `unknown __type "Dat"`},
		{`{"$divide":[1,2,3]}`, "/$divide", "$divide takes 2 arguments, got 3"},
		{`{"$divide":"$a"}`, "/$divide", "$divide takes 2 arguments, got 1"},
		{`{"$add":[]}`, "/$add", "$add takes at least 1 argument, got 0"},
		{`{"$ifNull":["$a"]}`, "/$ifNull", "$ifNull takes at least 2 arguments, got 1"},
		{`{"$round":[1,2,3]}`, "/$round", "$round takes 1 or 2 arguments, got 3"},
		{`{"$abs":[1,2]}`, "/$abs", "$abs takes 1 argument, got 2"},
		{`{"$year":["$a","$b"]}`, "/$year", "$year takes 1 argument, got 2"},
		{`{"$year":{"timezone":"UTC"}}`, "/$year", "$year needs date"},
		{`{"$year":{}}`, "/$year", "$year needs date"},
		{`{"$year":{"date":"$a","tz":"UTC"}}`, "/$year/tz", `$year has no key "tz". It takes date and timezone`},
		{`{"$trim":"$a"}`, "/$trim", "$trim takes an object with input and chars, not a string"},
		{`{"$dateAdd":{"startDate":"$a","unit":"day"}}`, "/$dateAdd", "$dateAdd needs amount"},
		{`{"$dateTrunc":{"date":"$a","unit":"day","binSize":2}}`, "/$dateTrunc/binSize", "a binSize other than 1 is not supported"},
		{`{"$dateDiff":{"binSize":1,"startDate":"$a"}}`, "/$dateDiff/binSize", `$dateDiff has no key "binSize". It takes startDate, endDate, unit, timezone and startOfWeek`},
		{`{"$cond":["$a",1]}`, "/$cond", "$cond takes 3 arguments, got 2"},
		{`{"$cond":{"if":"$a","then":1}}`, "/$cond", "$cond needs else"},
		{`{"$cond":{"if":"$a","the":1}}`, "/$cond/the", `$cond has no key "the". It takes if, then and else`},
		{`{"$cond":1}`, "/$cond", "$cond takes an object with if, then and else, not an integer"},
		{`{"$switch":{"branches":[]}}`, "/$switch/branches", "branches takes a list with at least one case and then"},
		{`{"$switch":{}}`, "/$switch", "$switch needs branches"},
		{`{"$switch":{"branches":[{"case":1}]}}`, "/$switch/branches/0", "a branch needs then"},
		{`{"$switch":{"branches":[1]}}`, "/$switch/branches/0", "a branch takes an object with case and then, not an integer"},
		{`{"$filter":{"input":"$a"}}`, "/$filter", "$filter needs cond"},
		{`{"$filter":{"input":"$a","cond":"$$that"}}`, "/$filter/cond", `unknown variable "$$that"`},
		{`{"$filter":{"input":"$$this","cond":1}}`, "/$filter/input", `unknown variable "$$this"`},
		{`{"$map":{"input":"$a","as":"X","in":1}}`, "/$map/as", `"X" can't be a variable: write a small letter, then letters, digits and _`},
		{`{"$map":{"input":"$a","as":1,"in":1}}`, "/$map/as", "as takes the name of a variable, not an integer"},
		{`{"$map":{"input":"$a","as":"x","in":"$$this"}}`, "/$map/in", `unknown variable "$$this"`},
		{`{"$map":{"input":"$a","in":"$$value"}}`, "/$map/in", `unknown variable "$$value"`},
		{`{"$reduce":{"input":"$a","in":1}}`, "/$reduce", "$reduce needs initialValue"},
		{`{"$reduce":{"input":"$a","as":"x","initialValue":0,"in":1}}`, "/$reduce/as", `$reduce has no key "as". It takes input, initialValue and in`},
		{`{"$reduce":{"input":"$a","initialValue":"$$value","in":1}}`, "/$reduce/initialValue", `unknown variable "$$value"`},
		{deep, strings.Repeat("/$not", MaxExprDepth), "a pipeline is nested deeper than 20"},
		{wide, "/$add/399", "a pipeline has at most 400 stages, fields and expressions in all"},
	} {
		x, err := parsed(read(t, tt.in), "")
		p := problem.Of(err)
		if err == nil || p.Pointer != tt.pointer || p.Detail != tt.detail {
			t.Errorf("parsed(%.80s) = %v, %s %v; want %s %s", tt.in, x, p.Pointer, err, tt.pointer, tt.detail)
		}
	}
}

// TestHints checks the code, the similar names and the suggestion of errors.
func TestHints(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want problem.Error
	}{
		{`[{"$mach":{}}]`, problem.Error{Code: problem.InvalidQuery, Near: []string{"$match"}}},
		{`[{"$out":"x"}]`, problem.Error{Code: problem.SecurityBlocked,
			Suggestion: "Leave it out: the answer is the result of the pipeline. Data is changed only with the tools for changes."}},
		{`[{"$search":{}}]`, problem.Error{Code: problem.Unsupported, Suggestion: "Use $match with $regex or $startsWith."}},
		{`[{"$geoNear":{}}]`, problem.Error{Code: problem.Unsupported, Suggestion: "Call query_class with $near in where, or find records with $match and $geoWithin."}},
		{`[{"$match":{"$where":"1"}}]`, problem.Error{Code: problem.SecurityBlocked, Suggestion: "Say it with the operators of the query language."}},
		{`[{"$match":{"a":{"$geoIntersects":{}}}}]`, problem.Error{Code: problem.Unsupported}},
		{`[{"$lookup":{"form":"b"}}]`, problem.Error{Code: problem.InvalidQuery, Near: []string{"from"}}},
		{`[{"$group":{"_id":null,"n":{"$summ":1}}}]`, problem.Error{Code: problem.InvalidQuery, Near: []string{"$sum"}}},
		{`[{"$group":{"_id":null,"n":{"$top":1}}}]`, problem.Error{Code: problem.InvalidQuery}},
		{`[{"$group":{"_id":null,"n":{"$topN":{"n":0,"sortBy":{"a":1},"output":"$a"}}}}]`, problem.Error{Code: problem.InvalidQuery}},
		{`[{"$group":{"_id":null,"n":{"$maxN":{"n":1,"input":{"$add":["$a",1]}}}}}]`, problem.Error{Code: problem.InvalidQuery, Suggestion: `Compute it in an $addFields before the group, and write "$name".`}},
		{`[{"$group":{"_id":null,"n":{"$top":{"sortBy":{"a":1},"output":"$a"}},"m":{"$first":"$b"}}}]`, problem.Error{Code: problem.Unsupported, Suggestion: "Write two groups, in a $facet or in two calls."}},
		{`[{"$bucket":{"groupBy":"$a","boundaries":[1,2],"output":{"n":{"$firstN":{"n":1,"input":"$a"}}}}}]`, problem.Error{Code: problem.Unsupported, Near: []string{"$first", "$last", "$push", "$min", "$max"}}},
		{`[{"$set":{"a":{"$divde":[1,2]}}}]`, problem.Error{Code: problem.InvalidQuery, Near: []string{"$divide"}}},
		{`[{"$set":{"a":{"$range":{}}}}]`, problem.Error{Code: problem.Unsupported}},
		{`[{"$set":{"a":"$$NOW"}}]`, problem.Error{Code: problem.Unsupported, Suggestion: `Write the instant: {"$date": "2026-01-31T13:00:00Z"}.`}},
		{`[{"$set":{"a":{"$filter":{"input":"$b","as":"item","cond":"$$itm"}}}}]`, problem.Error{Code: problem.InvalidQuery, Near: []string{"$$item"}}},
		{`[{"$lookup":{"from":"b","as":"c","let":{"owner":"$a"},"pipeline":[{"$match":{"$expr":"$$ownr"}}]}}]`, problem.Error{Code: problem.InvalidQuery, Near: []string{"$$owner"}}},
		{`[{"$set":{"a":{"$trim":{"inptu":"$b"}}}}]`, problem.Error{Code: problem.InvalidQuery, Near: []string{"input"}}},
		{`[]`, problem.Error{Code: problem.InvalidQuery, Suggestion: `Use {"$match": {}} for all records.`}},
	} {
		_, err := ParsePipeline(read(t, tt.in), "/pipeline")
		got := problem.Of(err)
		if got == nil || got.Code != tt.want.Code || got.Suggestion != tt.want.Suggestion || !cmp.Equal(got.Near, append([]string{}, tt.want.Near...)) && len(got.Near)+len(tt.want.Near) > 0 {
			t.Errorf("ParsePipeline(%s): %+v; want %+v", tt.in, got, tt.want)
		}
	}
}
