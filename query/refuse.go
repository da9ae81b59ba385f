package query

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// What MongoDB and Parse Server know and nothing here does, by name, so that the refusal can say so. $where and its
// like run code, and write stages change data: those are refused for what they are.
var (
	laterOps = []string{"$text", "$nearSphere", "$near", "$geoWithin", "$geoIntersects", "$maxDistance", "$maxDistanceInMiles",
		"$maxDistanceInKilometers", "$maxDistanceInRadians", "$type", "$mod", "$jsonSchema", "$comment", "$rand",
		"$bitsAllSet", "$bitsAnySet", "$bitsAllClear", "$bitsAnyClear", "$relatedTo", "$containedBy"}
	laterStages = []string{"$collStats", "$indexStats", "$planCacheStats", "$currentOp", "$setWindowFields", "$densify", "$fill",
		"$geoNear", "$documents", "$search", "$searchMeta", "$vectorSearch", "$rankFusion", "$scoreFusion", "$listSessions",
		"$listLocalSessions", "$listSampledQueries", "$listSearchIndexes", "$querySettings", "$queryStats", "$changeStream",
		"$changeStreamSplitLargeEvent", "$shardedDataDistribution"}
	laterAccumulators = []string{"$firstN", "$lastN", "$minN", "$maxN", "$top", "$topN", "$bottom", "$bottomN", "$mergeObjects",
		"$median", "$percentile", "$concatArrays", "$setUnion"}
	laterExprs = []string{"$let", "$acos", "$acosh", "$allElementsTrue", "$anyElementTrue", "$arrayToObject", "$asin", "$asinh",
		"$atan", "$atan2", "$atanh", "$binarySize", "$bitAnd", "$bitNot", "$bitOr", "$bitXor", "$bsonSize", "$cos", "$cosh",
		"$dateFromParts", "$dateFromString", "$dateToParts", "$degreesToRadians", "$exp", "$firstN", "$getField",
		"$indexOfArray", "$indexOfBytes", "$isNumber", "$lastN", "$ln", "$log", "$log10", "$maxN", "$median", "$meta", "$minN",
		"$objectToArray", "$percentile", "$pow", "$radiansToDegrees", "$rand", "$range", "$regexFind", "$regexFindAll",
		"$replaceOne", "$reverseArray", "$sampleRate", "$setDifference", "$setEquals", "$setField", "$setIntersection",
		"$setIsSubset", "$setUnion", "$sin", "$sinh", "$sortArray", "$sqrt", "$stdDevPop", "$stdDevSamp", "$strLenBytes",
		"$strcasecmp", "$substr", "$substrBytes", "$tan", "$tanh", "$toHashedIndexKey", "$toObjectId", "$toUUID", "$tsIncrement",
		"$tsSecond", "$unsetField", "$week", "$zip"}
	codeOps     = []string{"$where", "$function", "$accumulator"}
	writeStages = []string{"$out", "$merge"}
)

// instead is what does the work of an operator that isn't supported.
var instead = map[string]string{
	"$let":            "Write the expression at each place where the variable stands, or compute it in an $addFields before.",
	"$substr":         "Use $substrCP, which counts characters.",
	"$substrBytes":    "Use $substrCP, which counts characters.",
	"$strLenBytes":    "Use $strLenCP, which counts characters.",
	"$indexOfBytes":   "Use $indexOfCP, which counts characters.",
	"$week":           "Use $isoWeek with $isoWeekYear.",
	"$dateFromString": "Use $toDate.",
	"$replaceOne":     "Use $replaceAll.",
	"$regexFind":      "Use $regexMatch, or $indexOfCP with $substrCP.",
	"$isNumber":       "Use $type.",
	"$getField":       `Write the path: "$a.b".`,
	"$text":           "Use $regex or $startsWith.",
	"$documents":      "Begin with the class that the pipeline runs on.",
	"$search":         "Use $match with $regex or $startsWith.",
	"$firstN":         "Use $push, then $slice.",
	"$lastN":          "Use $push, then $slice.",
	"$top":            "Use $sort, then $first.",
	"$bottom":         "Use $sort, then $last.",
	"$mergeObjects":   "Use $push, then $reduce with $mergeObjects.",
}

// unknown refuses the operator called name, which is none of known, for what it is; what is "operator", "stage" or
// "accumulator".
func unknown(what, name, at string, known []string) error {
	e := &problem.Error{Code: problem.InvalidQuery, Pointer: at}
	later := map[string][]string{"operator": laterOps, "expression": laterExprs, "stage": laterStages, "accumulator": laterAccumulators}[what]
	switch {
	case slices.Contains(writeStages, name):
		e.Code, e.Detail = problem.SecurityBlocked, name+" writes, and a pipeline only reads"
		e.Suggestion = "Leave the stage out: the results come back as the answer. Data is changed with the tools for changes alone."
	case slices.Contains(codeOps, name):
		e.Code, e.Detail = problem.SecurityBlocked, name+" runs code in the database, which is never allowed"
		e.Suggestion = "Say it with the operators of the query language."
	case slices.Contains(later, name):
		e.Code, e.Detail, e.Suggestion = problem.Unsupported, name+" is not supported", instead[name]
	default:
		if what == "expression" {
			what = "operator"
		}
		e.Detail, e.Near = fmt.Sprintf("unknown %s %q", what, problem.Cut(name)), problem.Nearest(name, known, 3)
	}
	return e
}

func invalid(at, detail string) error {
	return &problem.Error{Code: problem.InvalidQuery, Pointer: at, Detail: detail}
}

// hinted is invalid with what to do instead.
func hinted(at, detail, suggestion string) error {
	return &problem.Error{Code: problem.InvalidQuery, Pointer: at, Detail: detail, Suggestion: suggestion}
}
