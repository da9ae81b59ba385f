package query

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// noPlace ignores JSON pointers in comparisons.
var noPlace = cmp.Options{
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".At" }, cmp.Ignore()),
	cmpopts.EquateEmpty(),
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

func TestParsePipelineRefuses(t *testing.T) {
	list := func(n int, s string) string { return "[" + strings.TrimSuffix(strings.Repeat(s+",", n), ",") + "]" }
	members := func(n int, s string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf(`"f%d":%s`, i, s)
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	deep := strings.Repeat(`[{"$unionWith":{"coll":"b","pipeline":`, 3) + `[{"$set":{"a":` + strings.Repeat(`{"$not":`, 17) + `1` + strings.Repeat(`}`, 17) + `}}]` + strings.Repeat(`}}]`, 3)
	for _, tt := range []struct{ in, pointer, detail string }{
		{`{}`, "", "a pipeline is a list of stages, not an object"},
		{`[]`, "", "a pipeline has at least one stage"},
		{list(MaxStages+1, `{"$limit":1}`), "", "a pipeline has at most 20 stages, got 21"},
		{`[{"$unionWith":{"coll":"b","pipeline":` + list(MaxStages+1, `{"$limit":1}`) + `}}]`, "/0/$unionWith/pipeline", "a pipeline has at most 20 stages, got 21"},
		{list(MaxStages, `{"$project":`+members(20, "1")+`}`), "/19/$project/f0", "a pipeline has at most 400 stages, fields and expressions in all"},
		{deep, "/0/$unionWith/pipeline/0/$unionWith/pipeline/0/$unionWith/pipeline/0/$set/a" + strings.Repeat("/$not", 17), "a pipeline is nested deeper than 20"},
		{`[1]`, "/0", `a stage is an object with one key, as in {"$match": {"status": "open"}}`},
		{`[{}]`, "/0", `a stage is an object with one key, as in {"$match": {"status": "open"}}`},
		{`[{"$limit":1},{"$limit":1,"$skip":1}]`, "/1", `a stage is an object with one key, as in {"$match": {"status": "open"}}`},
		{`[{"match":{}}]`, "/0/match", `unknown stage "match"`},
		{`[{"$out":"b"}]`, "/0/$out", "$out writes, and a pipeline only reads"},
		{`[{"$merge":{"into":"b"}}]`, "/0/$merge", "$merge writes, and a pipeline only reads"},
		{`[{"$where":"1"}]`, "/0/$where", "$where runs code in the database, which is never allowed"},
		{`[{"$collStats":{}}]`, "/0/$collStats", "$collStats is not supported"},
		{`[{"$indexStats":{}}]`, "/0/$indexStats", "$indexStats is not supported"},
		{`[{"$planCacheStats":{}}]`, "/0/$planCacheStats", "$planCacheStats is not supported"},
		{`[{"$currentOp":{}}]`, "/0/$currentOp", "$currentOp is not supported"},
		{`[{"$search":{}}]`, "/0/$search", "$search is not supported"},
		{`[{"$searchMeta":{}}]`, "/0/$searchMeta", "$searchMeta is not supported"},
		{`[{"$setWindowFields":{}}]`, "/0/$setWindowFields", "$setWindowFields needs output"},
		{`[{"$setWindowFields":{"output":{}}}]`, "/0/$setWindowFields/output", `output takes an object of functions, as in {"place": {"$rank": {}}}`},
		{`[{"$setWindowFields":{"output":{"a":{"$rank":{}}}}}]`, "/0/$setWindowFields/output/a", "$rank needs sortBy"},
		{`[{"$setWindowFields":{"sortBy":{"a":2},"output":{"a":{"$rank":{}}}}}]`, "/0/$setWindowFields/sortBy/a", "a field of sortBy is 1 for ascending or -1 for descending"},
		{`[{"$setWindowFields":{"sortBy":{"a":1},"output":{"a":{"$rank":1}}}}]`, "/0/$setWindowFields/output/a/$rank", "$rank takes an empty object"},
		{`[{"$setWindowFields":{"sortBy":{"a":1},"output":{"a":{"$rank":{},"window":{"documents":["current",1]}}}}}]`, "/0/$setWindowFields/output/a", "$rank takes no window"},
		{`[{"$setWindowFields":{"output":{"a":{}}}}]`, "/0/$setWindowFields/output/a", `"a" takes a function, as in {"$sum": "$amount", "window": {"documents": ["unbounded", "current"]}}`},
		{`[{"$setWindowFields":{"output":{"a":{"$sum":1,"$avg":1}}}}]`, "/0/$setWindowFields/output/a/$avg", "a takes one function and a window"},
		{`[{"$setWindowFields":{"output":{"a":{"$push":"$b"}}}}]`, "/0/$setWindowFields/output/a/$push", "$push is not a function of $setWindowFields"},
		{`[{"$setWindowFields":{"output":{"a":{"$derivative":{}}}}}]`, "/0/$setWindowFields/output/a/$derivative", "$derivative is not supported"},
		{`[{"$setWindowFields":{"output":{"a":{"$summ":"$b"}}}}]`, "/0/$setWindowFields/output/a/$summ", `unknown window function "$summ"`},
		{`[{"$setWindowFields":{"output":{"a":{"$sum":"$b","window":{"documents":[-1,0]}}}}}]`, "/0/$setWindowFields/output/a/window/documents", "bounds other than unbounded need sortBy"},
		{`[{"$setWindowFields":{"sortBy":{"a":1},"output":{"a":{"$sum":"$b","window":{"documents":[1,0]}}}}}]`, "/0/$setWindowFields/output/a/window/documents", "the lower bound is above the upper one"},
		{`[{"$setWindowFields":{"sortBy":{"a":1},"output":{"a":{"$sum":"$b","window":{"documents":["now",0]}}}}}]`, "/0/$setWindowFields/output/a/window/documents/0", "documents takes a whole number from -1000000 to 1000000"},
		{`[{"$setWindowFields":{"sortBy":{"a":1},"output":{"a":{"$sum":"$b","window":{"range":[-1,0]}}}}}]`, "/0/$setWindowFields/output/a/window", "a window by range is not supported"},
		{`[{"$setWindowFields":{"sortBy":{"a":1},"output":{"a":{"$shift":{"output":"$b"}}}}}]`, "/0/$setWindowFields/output/a/$shift", "$shift needs by"},
		{`[{"$group":{"_id":1,"a":{"$percentile":{"input":"$b","p":[]}}}}]`, "/0/$group/a/$percentile/p", "p takes a list of numbers from 0 to 1, as in [0.5, 0.95]"},
		{`[{"$group":{"_id":1,"a":{"$percentile":{"input":"$b","p":[95]}}}}]`, "/0/$group/a/$percentile/p/0", "p takes numbers from 0 to 1 with at most 6 decimal places"},
		{`[{"$group":{"_id":1,"a":{"$median":{"input":"$b","method":"continuous"}}}}]`, "/0/$group/a/$median/method", "the method is approximate or discrete"},
		{`[{"$densify":{}}]`, "/0/$densify", "$densify needs field"},
		{`[{"$densify":{"field":"a","range":{"step":0.5,"bounds":"full"}}}]`, "/0/$densify/range/bounds", "bounds takes a list of the first value and the one before which it ends"},
		{`[{"$densify":{"field":"a","range":{"step":"1","bounds":[1,2]}}}]`, "/0/$densify/range/step", "step takes a number above 0"},
		{`[{"$densify":{"field":"a","range":{"step":1,"bounds":[1,null]}}}]`, "/0/$densify/range/bounds/1", "a bound takes a number, a string, a date or a boolean, not null"},
		{`[{"$densify":{"field":"a","partitionByFields":"b","range":{"step":1,"bounds":[1,2]}}}]`, "/0/$densify/partitionByFields", `partitionByFields takes a list of fields, as in ["region"]`},
		{`[{"$fill":{}}]`, "/0/$fill", "$fill needs output"},
		{`[{"$fill":{"output":{}}}]`, "/0/$fill/output", `output takes an object of fields, as in {"price": {"method": "locf"}} or {"price": {"value": 0}}`},
		{`[{"$fill":{"output":{"a":0}}}]`, "/0/$fill/output/a", "a field of $fill takes a value or a method"},
		{`[{"$fill":{"output":{"a":{"method":"locf"}}}}]`, "/0/$fill/output/a/method", "a method of $fill needs sortBy"},
		{`[{"$fill":{"sortBy":{"b":1},"output":{"a":{"method":"nearest"}}}}]`, "/0/$fill/output/a/method", `the method is locf or linear. {"value": …} fills with a value`},
		{`[{"$fill":{"sortBy":{"b":1,"c":1},"output":{"a":{"method":"linear"}}}}]`, "/0/$fill/output/a/method", "linear takes a sortBy of one field, whose values it computes with"},
		{`[{"$fill":{"partitionBy":"$b","partitionByFields":["b"],"output":{"a":{"value":0}}}}]`, "/0/$fill/partitionByFields", "$fill takes partitionBy or partitionByFields, not both"},
		{`[{"$geoNear":{}}]`, "/0/$geoNear", "$geoNear is not supported"},
		{`[{"$documents":[]}]`, "/0/$documents", "$documents is not supported"},

		{`[{"$match":1}]`, "/0/$match", "$match takes a where object, not an integer"},
		{`[{"$match":{"a":{"$gtt":1}}}]`, "/0/$match/a/$gtt", `unknown operator "$gtt"`},
		{`[{"$match":{"$or":[{"$expr":1}]}}]`, "/0/$match/$or/0/$expr", "$expr is allowed at the top of a $match, or in a $and there, alone"},
		{`[{"$match":{"a":{"$nearSphere":[1,2]}}}]`, "/0/$match/a/$nearSphere", "$nearSphere is allowed once, at the top of where or in an $and there, for it orders the records"},
		{`[{"$match":{"$not":{"$expr":1}}}]`, "/0/$match/$not/$expr", "$expr is allowed at the top of a $match, or in a $and there, alone"},
		{`[{"$match":{"$and":[{"$and":[{"$expr":1}]}]}}]`, "/0/$match/$and/0/$and/0/$expr", "$expr is allowed at the top of a $match, or in a $and there, alone"},
		{`[{"$match":{"a":{"$inQuery":{"className":"b","where":{"$expr":1}}}}}]`, "/0/$match/a/$inQuery/where/$expr", "$expr is allowed at the top of a $match, or in a $and there, alone"},
		{`[{"$match":{"a":{"$elemMatch":{"$expr":1}}}}]`, "/0/$match/a/$elemMatch/$expr", "$expr is allowed at the top of a $match, or in a $and there, alone"},
		{`[{"$match":{"$expr":{"$ad":1}}}]`, "/0/$match/$expr/$ad", `unknown operator "$ad"`},
		{list(3, `{"$match":`+members(80, "1")+`}`), "/2/$match/f40", "where has more than 200 conditions"},

		{`[{"$project":{}}]`, "/0/$project", `$project takes an object of fields, as in {"title": 1}`},
		{`[{"$project":["a"]}]`, "/0/$project", `$project takes an object of fields, as in {"title": 1}`},
		{`[{"$project":{"a":1,"b":0}}]`, "/0/$project/b", `$project can't keep some fields and drop others, but for "_id": 0`},
		{`[{"$project":{"a":0,"b":"$c"}}]`, "/0/$project/b", `$project can't keep some fields and drop others, but for "_id": 0`},
		{`[{"$project":{"_id":1,"b":0}}]`, "/0/$project/b", `$project can't keep some fields and drop others, but for "_id": 0`},
		{`[{"$project":{"_id.a":0,"b":1}}]`, "/0/$project/b", `$project can't keep some fields and drop others, but for "_id": 0`},
		{`[{"$project":{"a":2}}]`, "/0/$project/a", "a number in $project is 1 to keep a field or 0 to drop it"},
		{`[{"$project":{"a":0.5}}]`, "/0/$project/a", "a number in $project is 1 to keep a field or 0 to drop it"},
		{`[{"$project":{"a":{}}}]`, "/0/$project/a", `"a" is given an empty object`},
		{`[{"$project":{"a":{"b":1,"$add":1}}}]`, "/0/$project/a/$add", "operators and plain keys can't be in one object"},
		{`[{"$project":{"$a":1}}]`, "/0/$project/$a", `"$a" is not a field name: it begins with $`},
		{`[{"$project":{"a":1,"a.b":1}}]`, "/0/$project/a.b", `"a.b" is named beside "a"`},
		{`[{"$project":{"a":{"b":1},"a.b":"$c"}}]`, "/0/$project/a.b", `"a.b" is named beside "a.b"`},
		{`[{"$project":{"a.b.c.d.e":{"f.g.h":{"i":1}}}}]`, "/0/$project/a.b.c.d.e/f.g.h/i", "a path has at most 8 parts"},
		{`[{"$set":{}}]`, "/0/$set", `$set takes an object of fields to compute, as in {"total": {"$add": ["$a", "$b"]}}`},
		{`[{"$addFields":1}]`, "/0/$addFields", `$addFields takes an object of fields to compute, as in {"total": {"$add": ["$a", "$b"]}}`},
		{`[{"$addFields":{"a":{"b":{}}}}]`, "/0/$addFields/a/b", `"b" is given an empty object`},
		{`[{"$addFields":{"a.b":1,"a":1}}]`, "/0/$addFields/a", `"a" is named beside "a.b"`},
		{`[{"$unset":1}]`, "/0/$unset", "$unset takes the name of a field, not an integer"},
		{`[{"$unset":[]}]`, "/0/$unset", "$unset takes the name of a field, or a list of them"},
		{`[{"$unset":["a",1]}]`, "/0/$unset/1", "$unset takes the name of a field, not an integer"},
		{`[{"$unset":["a","a"]}]`, "/0/$unset/1", `"a" is named beside "a"`},

		{`[{"$group":1}]`, "/0/$group", "$group takes an object with _id and accumulators, not an integer"},
		{`[{"$group":{"n":{"$count":{}}}}]`, "/0/$group", "$group needs _id"},
		{`[{"$group":{"_id":{"$ad":1}}}]`, "/0/$group/_id/$ad", `unknown operator "$ad"`},
		{`[{"$group":{"_id":null,"n":1}}]`, "/0/$group/n", `"n" takes one accumulator, as in {"$sum": "$amount"}`},
		{`[{"$group":{"_id":null,"n":{"$sum":1,"$avg":1}}}]`, "/0/$group/n", `"n" takes one accumulator, as in {"$sum": "$amount"}`},
		{`[{"$group":{"_id":null,"n":{"$add":1}}}]`, "/0/$group/n/$add", `unknown accumulator "$add"`},
		{`[{"$group":{"_id":null,"n":{"$accumulator":{}}}}]`, "/0/$group/n/$accumulator", "$accumulator runs code in the database, which is never allowed"},
		{`[{"$group":{"_id":null,"n":{"$count":1}}}]`, "/0/$group/n/$count", "$count takes an empty object"},
		{`[{"$group":{"_id":null,"n.m":{"$sum":1}}}]`, "/0/$group/n.m", `"n.m" can't have a dot: it names one field`},
		{`[{"$sort":{}}]`, "/0/$sort", `$sort takes an object of fields, as in {"created_at": -1}`},
		{`[{"$sort":"a"}]`, "/0/$sort", `$sort takes an object of fields, as in {"created_at": -1}`},
		{`[{"$sort":{"a":0}}]`, "/0/$sort/a", "a field of $sort is 1 for ascending or -1 for descending"},
		{`[{"$sort":{"a":"down"}}]`, "/0/$sort/a", "a field of $sort is 1 for ascending or -1 for descending"},
		{`[{"$sort":{"a":{"$meta":"textScore"}}}]`, "/0/$sort/a/$meta", "$meta is not supported"},
		{`[{"$sort":` + members(MaxSort+1, "1") + `}]`, "/0/$sort", "$sort takes at most 8 fields, got 9"},
		{`[{"$skip":-1}]`, "/0/$skip", "$skip takes a whole number, 0 or more"},
		{`[{"$skip":1.5}]`, "/0/$skip", "$skip takes a whole number, 0 or more"},
		{`[{"$limit":0}]`, "/0/$limit", "$limit takes a whole number, 1 or more"},
		{`[{"$limit":"5"}]`, "/0/$limit", "$limit takes a whole number, 1 or more"},
		{`[{"$count":1}]`, "/0/$count", "$count takes the name of a field, not an integer"},
		{`[{"$count":""}]`, "/0/$count", `"" is not a field name: a part of it is empty`},
		{`[{"$count":"a.b"}]`, "/0/$count", `"a.b" can't have a dot: it names one field`},
		{`[{"$unwind":"a"}]`, "/0/$unwind", `$unwind takes a path that begins with $, as in "$labels"`},
		{`[{"$unwind":{"path":1}}]`, "/0/$unwind/path", `$unwind takes a path that begins with $, as in "$labels"`},
		{`[{"$unwind":{}}]`, "/0/$unwind", "$unwind needs path"},
		{`[{"$unwind":{"path":"$a","preserve":true}}]`, "/0/$unwind/preserve", `$unwind has no key "preserve". It takes path, includeArrayIndex and preserveNullAndEmptyArrays`},
		{`[{"$unwind":{"path":"$a","includeArrayIndex":"$i"}}]`, "/0/$unwind/includeArrayIndex", `"$i" is not a field name: it begins with $`},
		{`[{"$unwind":{"path":"$a","preserveNullAndEmptyArrays":1}}]`, "/0/$unwind/preserveNullAndEmptyArrays", "preserveNullAndEmptyArrays takes true or false"},

		{`[{"$lookup":1}]`, "/0/$lookup", "$lookup takes an object with from, localField, foreignField, let, pipeline and as, not an integer"},
		{`[{"$lookup":{"as":"c"}}]`, "/0/$lookup", "$lookup needs from"},
		{`[{"$lookup":{"from":1,"as":"c"}}]`, "/0/$lookup/from", "from takes the name of a class, not an integer"},
		{`[{"$lookup":{"from":"b"}}]`, "/0/$lookup", "$lookup needs as"},
		{`[{"$lookup":{"from":"b","as":"$c"}}]`, "/0/$lookup/as", `"$c" is not a field name: it begins with $`},
		{`[{"$lookup":{"from":"b","as":"c"}}]`, "/0/$lookup", "$lookup needs localField and foreignField, or pipeline"},
		{`[{"$lookup":{"from":"b","as":"c","localField":"a"}}]`, "/0/$lookup", "$lookup takes localField and foreignField together"},
		{`[{"$lookup":{"from":"b","as":"c","localField":"$a","foreignField":"b"}}]`, "/0/$lookup/localField", `"$a" is not a field name: it begins with $`},
		{`[{"$lookup":{"from":"b","as":"c","localField":"a","foreignField":"b","let":{"x":1}}}]`, "/0/$lookup/let", "let goes with pipeline"},
		{`[{"$lookup":{"from":"b","as":"c","let":1,"pipeline":[]}}]`, "/0/$lookup/let", "let takes an object of variables, not an integer"},
		{`[{"$lookup":{"from":"b","as":"c","let":{"X":1},"pipeline":[]}}]`, "/0/$lookup/let/X", `"X" can't be a variable: write a small letter, then letters, digits and _`},
		{`[{"$lookup":{"from":"b","as":"c","let":{"x":1,"y":"$$x"},"pipeline":[]}}]`, "/0/$lookup/let/y", `unknown variable "$$x"`},
		{`[{"$lookup":{"from":"b","as":"c","let":{"x":1},"pipeline":[]}},{"$set":{"d":"$$x"}}]`, "/1/$set/d", `unknown variable "$$x"`},
		{`[{"$lookup":{"from":"b","as":"c","pipeline":[{"$facet":{"a":[{"$limit":1}]}}]}}]`, "/0/$lookup/pipeline/0/$facet", "$facet isn't allowed inside of $lookup"},
		{`[{"$lookup":{"from":"b","as":"c","pipeline":[{"$unionWith":{"coll":"b","pipeline":[{"$facet":{"a":[{"$limit":1}]}}]}}]}}]`,
			"/0/$lookup/pipeline/0/$unionWith/pipeline/0/$facet", "$facet isn't allowed inside of $lookup"},
		{`[{"$graphLookup":{"from":"b","as":"c"}}]`, "/0/$graphLookup", "$graphLookup needs startWith"},
		{`[{"$graphLookup":{"from":"b","as":"c","startWith":"$a","connectToField":"id"}}]`, "/0/$graphLookup", "$graphLookup needs connectFromField"},
		{`[{"$graphLookup":{"from":"b","as":"c","startWith":"$a","connectFromField":"id"}}]`, "/0/$graphLookup", "$graphLookup needs connectToField"},
		{`[{"$graphLookup":{"from":"b","as":"c","startWith":"$a","connectFromField":"p","connectToField":"id","maxDepth":101}}]`,
			"/0/$graphLookup/maxDepth", "maxDepth takes a whole number from 0 to 100"},
		{`[{"$graphLookup":{"from":"b","as":"c","startWith":"$a","connectFromField":"p","connectToField":"id","depthField":"a.b"}}]`,
			"/0/$graphLookup/depthField", `"a.b" can't have a dot: it names one field`},
		{`[{"$graphLookup":{"from":"b","as":"c","startWith":"$a","connectFromField":"p","connectToField":"id","restrictSearchWithMatch":{"$expr":1}}}]`,
			"/0/$graphLookup/restrictSearchWithMatch/$expr", "$expr is allowed at the top of a $match, or in a $and there, alone"},
		{`[{"$unionWith":1}]`, "/0/$unionWith", "$unionWith takes an object with coll and pipeline, not an integer"},
		{`[{"$unionWith":""}]`, "/0/$unionWith", "$unionWith takes the name of a class, not an empty one"},
		{`[{"$unionWith":{"pipeline":[]}}]`, "/0/$unionWith", "$unionWith needs coll"},
		{`[{"$unionWith":{"coll":"b","pipeline":[{"$out":"x"}]}}]`, "/0/$unionWith/pipeline/0/$out", "$out writes, and a pipeline only reads"},
		{`[{"$facet":{}}]`, "/0/$facet", `$facet takes an object of pipelines, as in {"total": [{"$count": "n"}]}`},
		{`[{"$facet":{"a":[]}}]`, "/0/$facet/a", "a pipeline of $facet has at least one stage"},
		{`[{"$facet":{"a":1}}]`, "/0/$facet/a", "a pipeline is a list of stages, not an integer"},
		{`[{"$facet":{"a.b":[{"$limit":1}]}}]`, "/0/$facet/a.b", `"a.b" can't have a dot: it names one field`},
		{`[{"$facet":{"a":[{"$facet":{"b":[{"$limit":1}]}}]}}]`, "/0/$facet/a/0/$facet", "$facet isn't allowed inside of $facet"},
		{`[{"$facet":` + members(MaxBranches+1, `[{"$limit":1}]`) + `}]`, "/0/$facet", "$facet takes at most 16 pipelines, got 17"},

		{`[{"$bucket":{"boundaries":[1,2]}}]`, "/0/$bucket", "$bucket needs groupBy"},
		{`[{"$bucket":{"groupBy":"$a"}}]`, "/0/$bucket", "$bucket needs boundaries"},
		{`[{"$bucket":{"groupBy":"$a","boundaries":[1]}}]`, "/0/$bucket/boundaries", "boundaries takes a list of at least 2 constants"},
		{`[{"$bucket":{"groupBy":"$a","boundaries":[1,1]}}]`, "/0/$bucket/boundaries/1", "boundaries are of one type and ascend"},
		{`[{"$bucket":{"groupBy":"$a","boundaries":[1,"x"]}}]`, "/0/$bucket/boundaries/1", "boundaries are of one type and ascend"},
		{`[{"$bucket":{"groupBy":"$a","boundaries":[1,null]}}]`, "/0/$bucket/boundaries/1", "a boundary takes a number, a string, a date or a boolean, not null"},
		{`[{"$bucket":{"groupBy":"$a","boundaries":["$a","$b"]}}]`, "/0/$bucket/boundaries/0", "a boundary takes a constant, not a path"},
		{`[{"$bucket":{"groupBy":"$a","boundaries":[{"$date":"x"},1]}}]`, "/0/$bucket/boundaries/0/$date", `a date is written {"$date": "2026-01-31T13:00:00Z"}`},
		{`[{"$bucket":{"groupBy":"$a","boundaries":[1,5],"default":1}}]`, "/0/$bucket/default", "default can't be within the boundaries, where it is a bucket of its own"},
		{`[{"$bucket":{"groupBy":"$a","boundaries":[1,5],"default":null}}]`, "/0/$bucket/default", "default takes a number, a string, a date or a boolean, not null"},
		{`[{"$bucket":{"groupBy":"$a","boundaries":[1,5],"output":{}}}]`, "/0/$bucket/output", `output takes an object of accumulators, as in {"total": {"$sum": "$amount"}}`},
		{`[{"$bucket":{"groupBy":"$a","boundaries":[1,5],"output":{"_id":{"$sum":1}}}}]`, "/0/$bucket/output/_id", "output can't name _id, which is the bucket"},
		{`[{"$bucketAuto":{"groupBy":"$a"}}]`, "/0/$bucketAuto", "$bucketAuto needs buckets"},
		{`[{"$bucketAuto":{"groupBy":"$a","buckets":0}}]`, "/0/$bucketAuto/buckets", "buckets takes a whole number from 1 to 1000"},
		{`[{"$bucketAuto":{"groupBy":"$a","buckets":1001}}]`, "/0/$bucketAuto/buckets", "buckets takes a whole number from 1 to 1000"},
		{`[{"$bucketAuto":{"groupBy":"$a","buckets":4,"granularity":"R5"}}]`, "/0/$bucketAuto/granularity", "granularity is not supported"},
		{`[{"$sortByCount":{"$ad":1}}]`, "/0/$sortByCount/$ad", `unknown operator "$ad"`},
		{`[{"$replaceRoot":"$a"}]`, "/0/$replaceRoot", "$replaceRoot takes an object with newRoot, not a string"},
		{`[{"$replaceRoot":{}}]`, "/0/$replaceRoot", "$replaceRoot needs newRoot"},
		{`[{"$replaceWith":"$$a"}]`, "/0/$replaceWith", `unknown variable "$$a"`},
		{`[{"$sample":3}]`, "/0/$sample", "$sample takes an object with size, not an integer"},
		{`[{"$sample":{"size":0}}]`, "/0/$sample/size", "size takes a whole number, 1 or more"},
		{`[{"$redact":"$$DROP"}]`, "/0/$redact", "$redact takes $$KEEP, $$PRUNE, or a $cond with one of them on each side"},
		{`[{"$redact":{"$cond":["$a","$$KEEP","$b"]}}]`, "/0/$redact", "$redact takes $$KEEP, $$PRUNE, or a $cond with one of them on each side"},
		{`[{"$redact":{"$cond":["$a","$$KEEP"]}}]`, "/0/$redact/$cond", "$cond takes 3 arguments, got 2"},
	} {
		stages, err := ParsePipeline(read(t, tt.in), "")
		p := problem.Of(err)
		if err == nil || p.Pointer != tt.pointer || p.Detail != tt.detail || stages != nil {
			t.Errorf("ParsePipeline(%.120s) = %v, %v at %v; want %s %s", tt.in, stages, err, p, tt.pointer, tt.detail)
		}
	}
}

// TestStagesAreRead checks that the parser accepts every listed stage and accumulator.
func TestStagesAreRead(t *testing.T) {
	for _, name := range Stages {
		_, err := ParsePipeline(value.OfArray([]value.Value{one(name, value.Value{})}), "")
		if p := problem.Of(err); p != nil && strings.HasPrefix(p.Detail, "unknown") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range Accumulators {
		operand := "{}"
		if name == "$percentile" || name == "$median" {
			operand = map[bool]string{true: `{"input":"$a"}`, false: `{"input":"$a","p":[0.5]}`}[name == "$median"]
		}
		group := fmt.Sprintf(`[{"$group":{"_id":null,"n":{%q:%s}}}]`, name, operand)
		if _, err := ParsePipeline(read(t, group), ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPipelineReadsBack checks that printed pipelines parse back to themselves.
func TestPipelineReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stages := generator{T: t}.stages(1, 3, 2)
		printed := PrintPipeline(stages)
		again, err := ParsePipeline(printed, "")
		if err != nil {
			t.Fatalf("%s: %v", printed, err)
		}
		if diff := cmp.Diff(stages, again, noPlace); diff != "" {
			t.Fatalf("%s reads back otherwise: %s", printed, diff)
		}
	})
}

func TestPipelineDigest(t *testing.T) {
	digest := func(class, in string, raw bool, limit int) [32]byte {
		stages, err := ParsePipeline(read(t, in), "/pipeline")
		if err != nil {
			t.Fatal(err)
		}
		return (&Pipeline{Class: class, Stages: stages, Raw: raw, Limit: limit}).Digest()
	}
	first := digest("a", `[{"$set":{"b":1}}]`, false, 10)
	if first != digest("a", `[{"$addFields":{"b":{"$literal":1}}}]`, false, 20) {
		t.Error("the same pipeline has two digests")
	}
	for _, other := range [][32]byte{digest("b", `[{"$set":{"b":1}}]`, false, 10), digest("a", `[{"$set":{"b":2}}]`, false, 10), digest("a", `[{"$set":{"b":1}}]`, true, 10)} {
		if first == other {
			t.Error("two pipelines have one digest")
		}
	}
}

func FuzzPipeline(f *testing.F) {
	for _, seed := range []string{
		`[{"$match":{"a":1,"$and":[{"$expr":{"$gt":["$a",{"$date":"2026-01-31"}]}},{"b":{"$inQuery":{"className":"c"}}}]}}]`,
		`[{"$project":{"_id":0,"a":{"b":1},"c":{"$literal":1}}},{"$unset":["d"]},{"$sort":{"a":-1}},{"$limit":3}]`,
		`[{"$group":{"_id":{"y":{"$year":{"date":"$a","timezone":"+01:00"}}},"n":{"$count":{}},"s":{"$sum":"$b"}}}]`,
		`[{"$lookup":{"from":"b","let":{"x":"$a"},"pipeline":[{"$match":{"$expr":{"$eq":["$$x","$c"]}}}],"as":"d"}},{"$unwind":"$d"}]`,
		`[{"$facet":{"a":[{"$count":"n"}],"b":[{"$bucket":{"groupBy":"$c","boundaries":[1,2],"default":"x"}}]}}]`,
		`[{"$redact":{"$cond":["$a","$$PRUNE","$$KEEP"]}},{"$set":{"a":{"$reduce":{"input":"$b","initialValue":0,"in":{"$add":["$$value","$$this"]}}}}}]`,
		`[{"$graphLookup":{"from":"a","startWith":"$p","connectFromField":"p","connectToField":"id","as":"up"}},{"$unionWith":"b"},{"$sample":{"size":1}}]`,
		`[{"$set":{"a":{"$switch":{"branches":[{"case":{"$in":["$b",["x","$c"]]},"then":"$$ROOT"}]}}}}]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		v, err := value.Read([]byte(in), 60)
		if err != nil {
			return
		}
		stages, err := ParsePipeline(v, "")
		if err != nil {
			if problem.CodeOf(err) == problem.Internal {
				t.Errorf("%s: %v", in, err)
			}
			return
		}
		out := PrintPipeline(stages)
		again, err := ParsePipeline(out, "")
		// Printing may add a $and or a $not. Only that may be rejected.
		if err != nil {
			if d := problem.Of(err).Detail; !strings.Contains(d, "deeper than") && !strings.Contains(d, "more than") && !strings.Contains(d, "at most") {
				t.Errorf("%s prints as %s: %v", in, out, err)
			}
			return
		}
		if diff := cmp.Diff(stages, again, noPlace); diff != "" {
			t.Errorf("%s prints as %s, which is another: %s", in, out, diff)
		}
	})
}

// TestPageNamesAll checks that docs/pipelines.md mentions every stage, accumulator and operator.
func TestPageNamesAll(t *testing.T) {
	page, err := os.ReadFile("../docs/pipelines.md")
	if err != nil {
		t.Fatal(err)
	}
	names := append(slices.Clone(Stages), Accumulators...)
	for _, sig := range Signatures {
		names = append(names, sig.Op)
	}
	for _, name := range append(names, "$cond", "$switch", "$filter", "$map", "$reduce", "$literal", "$date") {
		if !strings.Contains(string(page), "`"+name+"`") && !strings.Contains(string(page), `{"`+name+`"`) {
			t.Errorf("docs/pipelines.md doesn't tell what %s is", name)
		}
	}
}

// TestPageIsRead checks that the JSON examples in docs/pipelines.md are valid pipelines.
func TestPageIsRead(t *testing.T) {
	page, err := os.ReadFile("../docs/pipelines.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "```json\n")
	example, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("no example")
	}
	if _, err := ParsePipeline(read(t, example), ""); err != nil {
		t.Error(err)
	}
}
