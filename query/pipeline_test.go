package query

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/value"
)

// noPlace compares what is asked, not where it stood.
var noPlace = cmp.Options{
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".At" }, cmp.Ignore()),
	cmp.Comparer(func(a, b value.Value) bool {
		return string(a.AppendJSON(nil)) == string(b.AppendJSON(nil)) && a.Kind() == b.Kind()
	}),
}

func TestParsePipeline(t *testing.T) {
	for _, tt := range []struct{ in, out string }{
		{`[{"$match":{}}]`, `[{"$match":{}}]`},
		{`[{"$match":{"a":1,"$expr":{"$gt":["$a","$b"]}}}]`, `[{"$match":{"a":{"$eq":1},"$expr":{"$gt":["$a","$b"]}}}]`},
		{`[{"$match":{"$expr":"$a"}}]`, `[{"$match":{"$expr":"$a"}}]`},
		{`[{"$match":{"$and":[{"$expr":"$a"},{"b":1},{"$expr":"$c","d":2}]}}]`,
			`[{"$match":{"$and":[{"b":{"$eq":1}},{"d":{"$eq":2}}],"$expr":{"$and":["$a","$c"]}}}]`},
		{`[{"$match":{"$and":[{"$expr":"$a"}]}}]`, `[{"$match":{"$expr":"$a"}}]`},

		{`[{"$project":{"a":1,"b.c":true}}]`, `[{"$project":{"a":1,"b.c":1}}]`},
		{`[{"$project":{"_id":0,"a":1}}]`, `[{"$project":{"_id":0,"a":1}}]`},
		{`[{"$project":{"a":1,"_id":false}}]`, `[{"$project":{"_id":0,"a":1}}]`},
		{`[{"$project":{"_id":1,"a":1}}]`, `[{"$project":{"_id":1,"a":1}}]`},
		{`[{"$project":{"_id":0}}]`, `[{"$project":{"_id":0}}]`},
		{`[{"$project":{"_id":0,"a":0}}]`, `[{"$project":{"_id":0,"a":0}}]`},
		{`[{"$project":{"a":{"b":1,"c":{"d":"$x"}},"e":{"$literal":1},"f":{"$literal":true},"g":"text","h":null}}]`,
			`[{"$project":{"a.b":1,"a.c.d":"$x","e":{"$literal":1},"f":{"$literal":true},"g":"text","h":null}}]`},
		{`[{"$project":{"a":{"b":0},"c.d":false}}]`, `[{"$project":{"a.b":0,"c.d":0}}]`},
		{`[{"$addFields":{"a":1,"b":{"c":{"$literal":"$x"}}}}]`, `[{"$addFields":{"a":1,"b.c":{"$literal":"$x"}}}]`},
		{`[{"$set":{"a":[1,{"x":"$y"}],"b":[1,{"x":"y"}]}}]`, `[{"$addFields":{"a":[1,{"x":"$y"}],"b":[1,{"x":"y"}]}}]`},
		{`[{"$set":{"a":{"__type":"Date","iso":"2026-01-31"}}}]`, `[{"$addFields":{"a":{"$date":"2026-01-31"}}}]`},
		{`[{"$unset":"a"}]`, `[{"$project":{"a":0}}]`},
		{`[{"$unset":["a","b.c","_id"]}]`, `[{"$project":{"a":0,"b.c":0,"_id":0}}]`},

		{`[{"$group":{"_id":null,"n":{"$count":{}}}}]`, `[{"$group":{"_id":null,"n":{"$count":{}}}}]`},
		{`[{"$group":{"n":{"$sum":1},"_id":{"a":"$a","b":{"$year":"$c"}}}}]`, `[{"$group":{"_id":{"a":"$a","b":{"$year":"$c"}},"n":{"$sum":1}}}]`},
		{`[{"$sort":{"b":-1,"a.c":1}}]`, `[{"$sort":{"b":-1,"a.c":1}}]`},
		{`[{"$skip":0},{"$limit":1},{"$limit":10.0}]`, `[{"$skip":0},{"$limit":1},{"$limit":10}]`},
		{`[{"$count":"n"}]`, `[{"$count":"n"}]`},
		{`[{"$unwind":"$a.b"}]`, `[{"$unwind":"$a.b"}]`},
		{`[{"$unwind":{"path":"$a","preserveNullAndEmptyArrays":false}}]`, `[{"$unwind":"$a"}]`},
		{`[{"$unwind":{"preserveNullAndEmptyArrays":true,"includeArrayIndex":"i","path":"$a"}}]`,
			`[{"$unwind":{"path":"$a","includeArrayIndex":"i","preserveNullAndEmptyArrays":true}}]`},
		{`[{"$lookup":{"as":"c","from":"b","localField":"a","foreignField":"d.e"}}]`,
			`[{"$lookup":{"from":"b","localField":"a","foreignField":"d.e","as":"c"}}]`},
		{`[{"$lookup":{"as":"c","from":"b","let":{"x":"$a"},"pipeline":[{"$match":{"$expr":{"$eq":["$a","$$x"]}}}]}}]`,
			`[{"$lookup":{"from":"b","let":{"x":"$a"},"pipeline":[{"$match":{"$expr":{"$eq":["$a","$$x"]}}}],"as":"c"}}]`},
		{`[{"$lookup":{"as":"c","from":"b","pipeline":[]}}]`, `[{"$lookup":{"from":"b","pipeline":[],"as":"c"}}]`},
		{`[{"$lookup":{"as":"c","from":"b","let":{"x":"$a"},"pipeline":[{"$lookup":{"as":"c","from":"b","let":{"y":"$$x.z"},"pipeline":[{"$set":{"d":["$$x","$$y"]}}]}}]}}]`,
			`[{"$lookup":{"from":"b","let":{"x":"$a"},"pipeline":[{"$lookup":{"from":"b","let":{"y":"$$x.z"},"pipeline":[{"$addFields":{"d":["$$x","$$y"]}}],"as":"c"}}],"as":"c"}}]`},
		{`[{"$graphLookup":{"from":"b","startWith":"$a","connectFromField":"p","connectToField":"id","as":"c"}}]`,
			`[{"$graphLookup":{"from":"b","startWith":"$a","connectFromField":"p","connectToField":"id","as":"c","maxDepth":10}}]`},
		{`[{"$graphLookup":{"from":"b","startWith":"$a","connectFromField":"p","connectToField":"id","as":"c","maxDepth":0,"depthField":"n","restrictSearchWithMatch":{"d":1}}}]`,
			`[{"$graphLookup":{"from":"b","startWith":"$a","connectFromField":"p","connectToField":"id","as":"c","maxDepth":0,"depthField":"n","restrictSearchWithMatch":{"d":{"$eq":1}}}}]`},
		{`[{"$unionWith":"b"}]`, `[{"$unionWith":{"coll":"b"}}]`},
		{`[{"$unionWith":{"pipeline":[{"$limit":1}],"coll":"b"}}]`, `[{"$unionWith":{"coll":"b","pipeline":[{"$limit":1}]}}]`},
		{`[{"$facet":{"a":[{"$limit":1}],"b":[{"$count":"n"}]}}]`, `[{"$facet":{"a":[{"$limit":1}],"b":[{"$count":"n"}]}}]`},
		{`[{"$bucket":{"groupBy":"$a","boundaries":[0,1.5,10]}}]`, `[{"$bucket":{"groupBy":"$a","boundaries":[0,1.5,10]}}]`},
		{`[{"$bucket":{"groupBy":"$a","boundaries":[{"$date":"2026-01-01"},{"__type":"Date","iso":"2026-02-01"}],"default":"other","output":{"n":{"$sum":1}}}}]`,
			`[{"$bucket":{"groupBy":"$a","boundaries":[{"$date":"2026-01-01"},{"$date":"2026-02-01"}],"default":"other","output":{"n":{"$sum":1}}}}]`},
		{`[{"$bucketAuto":{"groupBy":"$a","buckets":4,"output":{"n":{"$avg":"$b"}}}}]`, `[{"$bucketAuto":{"groupBy":"$a","buckets":4,"output":{"n":{"$avg":"$b"}}}}]`},
		{`[{"$sortByCount":"$a"}]`, `[{"$sortByCount":"$a"}]`},
		{`[{"$replaceRoot":{"newRoot":{"a":"$b"}}}]`, `[{"$replaceRoot":{"newRoot":{"a":"$b"}}}]`},
		{`[{"$replaceWith":"$a"}]`, `[{"$replaceRoot":{"newRoot":"$a"}}]`},
		{`[{"$sample":{"size":3}}]`, `[{"$sample":{"size":3}}]`},
		{`[{"$redact":"$$KEEP"},{"$redact":"$$DESCEND"},{"$redact":"$$PRUNE"}]`, `[{"$match":{"$expr":true}},{"$match":{"$expr":true}},{"$match":{"$expr":false}}]`},
		{`[{"$redact":{"$cond":["$a","$$KEEP","$$PRUNE"]}}]`, `[{"$match":{"$expr":"$a"}}]`},
		{`[{"$redact":{"$cond":{"if":"$a","then":"$$PRUNE","else":"$$DESCEND"}}}]`, `[{"$match":{"$expr":{"$not":"$a"}}}]`},
		{`[{"$redact":{"$cond":["$a","$$KEEP","$$DESCEND"]}}]`, `[{"$match":{"$expr":true}}]`},
	} {
		stages, err := ParsePipeline(read(t, tt.in), "/pipeline")
		if err != nil || PrintPipeline(stages).String() != tt.out {
			t.Errorf("ParsePipeline(%s) = %s, %v; want %s", tt.in, PrintPipeline(stages), err, tt.out)
			continue
		}
		again, err := ParsePipeline(PrintPipeline(stages), "/pipeline")
		if diff := cmp.Diff(stages, again, noPlace); err != nil || diff != "" {
			t.Errorf("%s reads back otherwise: %v %s", tt.out, err, diff)
		}
	}
}
