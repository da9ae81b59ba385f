package endtoend

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Fields of each class by the type that expressions require. Most calls of the pipeline tools use these fields.
var (
	numbersOf = map[string][]string{"users": {"age"}, "issues": {"estimate", "points"}, "comments": {"id"}, "shifts": {"day", "slot"}, "events": {"n"}, "labels": {"id"}, "shares": {"id"}, "parts": {"share_id"}, "readings": {"price", "price", "cost", "meta.a"}}
	textsOf   = map[string][]string{"users": {"name", "role"}, "issues": {"title", "status"}, "comments": {"body"}, "shifts": {"org_id"}, "events": {"kind"},
		"labels": {"name"}, "orgs": {"id", "name"}, "readings": {"note", "at", "addr", "waited"}, "shares": {"title"}, "parts": {"note"}}
	linksOf = map[string][]string{ // from, local field, foreign field
		"users":    {`"users" "boss_id" "id"`, `"users" "id" "boss_id"`, `"issues" "id" "assignee_id"`, `"comments" "id" "author_id"`, `"vaults" "vault_id" "id"`},
		"issues":   {`"users" "assignee_id" "id"`, `"comments" "id" "issue_id"`, `"vaults" "vault_id" "id"`, `"isues" "id" "id"`, `"users" "watcher_ids" "id"`},
		"comments": {`"issues" "issue_id" "id"`, `"users" "author_id" "id"`},
		"shifts":   {`"users" "who" "id"`},
		"readings": {`"users" "user_ids" "id"`, `"labels" "label_ids" "id"`},
		"labels":   {`"readings" "id" "label_ids"`},
		"shares":   {`"parts" "id" "share_id"`, `"users" "owner_id" "id"`, `"orgs" "orgs" "id"`},
		"parts":    {`"shares" "share_id" "id"`},
	}
)

func (a *asker) of(fields map[string][]string) string {
	if own := fields[a.asked]; own != nil && a.IntN(25) > 0 {
		return "$" + pick(a.Rand, own...)
	}
	return "$" + a.field()
}

// number returns a numeric expression. Many of them would fail on some records if expressions were not total.
func (a *asker) number(depth int) string {
	if depth == 0 || a.IntN(3) == 0 {
		if a.IntN(4) == 0 {
			return pick(a.Rand, "0", "1", "-3", "0.5", "9223372036854775807", "1e300", "1000000007")
		}
		if a.asked == "issues" && a.IntN(6) == 0 {
			return `"$custom.a"`
		}
		return fmt.Sprintf("%q", a.of(numbersOf))
	}
	x, y := a.number(depth-1), a.number(depth-1)
	switch a.IntN(12) {
	case 11:
		return pick(a.Rand, fmt.Sprintf(`{"$cmp": [%s, %s]}`, x, y), `{"$toDecimal": `+x+`}`,
			`{"$convert": {"input": `+x+`, "to": "int", "onError": -1, "onNull": 0}}`)
	case 8:
		return fmt.Sprintf(`{"$pow": [%s, %s]}`, x, pick(a.Rand, "2", "3", "0.5", "-1", "0", "1000", y))
	case 9, 10:
		return fmt.Sprintf(`{"$size": %s}`, a.set(depth-1))
	case 0, 1, 2:
		return fmt.Sprintf(`{%q: [%s, %s]}`, pick(a.Rand, "$add", "$subtract", "$multiply", "$divide", "$divide"), x, y)
	case 3:
		if a.IntN(6) == 0 {
			return fmt.Sprintf(`{"$bitNot": {"$toLong": %s}}`, x)
		}
		return a.byTypes(pick(a.Rand, schema.Integer, schema.Integer, schema.Double), depth-1)
	case 4:
		return fmt.Sprintf(`{%q: %s}`, pick(a.Rand, "$abs", "$ceil", "$floor", "$round", "$trunc"), x)
	case 5:
		return fmt.Sprintf(`{%q: %q}`, pick(a.Rand, "$toInt", "$toDouble", "$toLong"), a.of(textsOf))
	case 6:
		return fmt.Sprintf(`{"$cond": [%s, %s, %s]}`, a.truth(depth-1), x, y)
	case 7:
		switch date, is := map[string]string{"issues": "$due", "readings": "$made"}[a.asked]; {
		case is && a.IntN(2) == 0:
			return fmt.Sprintf(`{%q: %q}`, pick(a.Rand, "$month", "$dayOfMonth", "$dayOfYear", "$dayOfWeek", "$isoDayOfWeek", "$isoWeekYear", "$hour", "$minute", "$second", "$millisecond"), date)
		case a.asked == "issues":
			return pick(a.Rand, `{"$year": "$due"}`, `{"$subtract": ["$due", "$deleted_at"]}`, `{"$size": {"$ifNull": ["$custom.tags", []]}}`,
				`{"$isoWeek": {"date": "$due", "timezone": "Europe/Oslo"}}`, `{"$toLong": "$due"}`, `{"$dateDiff": {"startDate": "$due", "endDate": "2026-02-03", "unit": "week"}}`)
		}
	}
	return fmt.Sprintf(`{"$ifNull": [%s, %s]}`, x, y)
}

// byTypes returns an operator of query.Families with this result type, and arguments of suitable types.
func (a *asker) byTypes(gives schema.Type, depth int) string {
	sig := pick(a.Rand, slices.DeleteFunc(slices.Clone(query.Signatures), func(s query.Signature) bool { return s.Node == "" || s.Gives != gives })...)
	args := make([]string, max(sig.Min, sig.Max, len(sig.Names)))
	if sig.Max < 0 {
		args = make([]string, sig.Min+a.IntN(2))
	}
	for i := range args {
		switch sig.Takes[min(i, len(sig.Takes)-1)] {
		case schema.String:
			args[i] = pick(a.Rand, `"a"`, `"xy"`, fmt.Sprintf("%q", a.of(textsOf)), fmt.Sprintf("%q", a.of(textsOf)))
		case schema.Integer:
			args[i] = `{"$toLong": ` + a.number(max(depth, 0)) + `}`
		default:
			args[i] = a.number(max(depth, 0))
		}
		if sig.Names != nil {
			args[i] = fmt.Sprintf("%q: %s", sig.Names[i], args[i])
		}
	}
	if sig.Names != nil {
		return fmt.Sprintf("{%q: {%s}}", sig.Op, strings.Join(args, ", "))
	}
	return fmt.Sprintf("{%q: [%s]}", sig.Op, strings.Join(args, ", "))
}

// set returns an expression for a list. The list may come from hidden or dangling pointers.
func (a *asker) set(depth int) string {
	if depth > 0 && a.IntN(2) == 0 {
		if a.IntN(6) == 0 {
			return fmt.Sprintf(`{"$slice": [%s, %s]}`, a.set(depth-1), pick(a.Rand, "1", "-2"))
		}
		return fmt.Sprintf(`{%q: [%s, %s]}`, pick(a.Rand, "$setUnion", "$setIntersection", "$setDifference", "$concatArrays"), a.set(depth-1), a.set(depth-1))
	}
	of := func(name string) string { return fmt.Sprintf(`{"$ifNull": [%q, []]}`, name) }
	switch {
	case a.IntN(3) == 0:
		return fmt.Sprintf(`[%s, 1, 101]`, a.number(0))
	case a.asked == "issues":
		return pick(a.Rand, of("$watcher_ids"), of("$custom.tags"), `"$watcher_ids"`, `"$custom.tags"`, `"$watcher_ids.name"`, `{"$map": {"input": "$watcher_ids", "in": {"$add": ["$$this", 1]}}}`)
	case a.asked == "readings":
		return pick(a.Rand, of("$user_ids"), of("$label_ids"), of("$meta.tags"), `"$user_ids"`, `"$label_ids"`, `"$label_ids.name"`, `{"$filter": {"input": "$user_ids", "cond": {"$gt": ["$$this", 2]}}}`)
	}
	return fmt.Sprintf(`[%q, 2, 1]`, a.of(numbersOf))
}

// words returns a text expression that is computed from another text.
func (a *asker) words() string {
	x := a.of(textsOf)
	return pick(a.Rand, a.byTypes(schema.String, 1), fmt.Sprintf(`{"$type": %q}`, x), fmt.Sprintf(`{%q: {"input": %q}}`, pick(a.Rand, "$trim", "$ltrim", "$rtrim"), x),
		fmt.Sprintf(`{"$split": [%q, "a"]}`, x),
		fmt.Sprintf(`{%q: {"input": %q, "regex": "(a)|x"}}`, pick(a.Rand, "$regexFind", "$regexFindAll"), x))
}

func (a *asker) truth(depth int) string {
	switch a.IntN(8) {
	case 7:
		return pick(a.Rand, `{"$isArray": `+a.set(depth)+`}`, `{"$toBool": `+a.number(depth)+`}`)
	case 3:
		return fmt.Sprintf(`{"$in": [%s, %s]}`, a.number(0), a.set(depth))
	case 0:
		return fmt.Sprintf(`{%q: [%q, %s]}`, pick(a.Rand, "$eq", "$ne", "$gt", "$lte"), a.of(textsOf), pick(a.Rand, `"a"`, `"Todo"`, "null"))
	case 1:
		return fmt.Sprintf(`{"$not": {"$eq": [%s, null]}}`, a.number(depth))
	case 2:
		return fmt.Sprintf(`{"$regexMatch": {"input": %q, "regex": "a|x"}}`, a.of(textsOf))
	}
	return fmt.Sprintf(`{%q: [%s, %s]}`, pick(a.Rand, "$eq", "$gt", "$gte", "$lt"), a.number(depth), a.number(depth))
}

// expression returns an expression of any type.
func (a *asker) expression() string {
	switch a.IntN(10) {
	case 8:
		return a.set(2)
	case 9:
		return pick(a.Rand, `{"$objectToArray": "$custom"}`, `{"$objectToArray": "$meta"}`, `{"$arrayToObject": [[{"k": "a", "v": `+a.number(0)+`}]]}`,
			fmt.Sprintf(`{"$arrayElemAt": [%s, %s]}`, a.set(1), a.number(0)), `{"$mergeObjects": ["$custom", {"a": `+a.number(0)+`}]}`,
			fmt.Sprintf(`{"$dateSubtract": {"startDate": "$due", "unit": "day", "amount": %s}}`, a.number(0)), `{"$dateFromParts": {"year": 2026, "month": {"$toInt": `+a.number(0)+`}}}`)
	case 0:
		if a.IntN(2) == 0 {
			return a.words()
		}
		return fmt.Sprintf("%q", a.of(textsOf))
	case 1:
		return fmt.Sprintf("%q", "$"+a.field())
	case 2:
		return fmt.Sprintf(`{"$concat": [%q, "-", {"$toString": %s}]}`, a.of(textsOf), a.number(1))
	case 3:
		if a.asked == "readings" {
			return pick(a.Rand, `{"$dateTrunc": {"date": "$made", "unit": "day"}}`, `{"$dateToString": {"date": "$made", "format": "%Y-%m"}}`, `{"$toLong": "$made"}`,
				`{"$toString": "$price"}`, `{"$dateFromString": {"dateString": "$note", "onError": null}}`, `{"$map": {"input": "$user_ids", "in": {"$toString": "$$this"}}}`)
		}
		if a.asked == "issues" {
			return pick(a.Rand, `{"$dateTrunc": {"date": "$due", "unit": "week", "timezone": "America/New_York"}}`, `{"$dateToString": {"date": "$due", "format": "%Y-%m"}}`,
				`{"$toDate": "$points"}`, `{"$dateAdd": {"startDate": "$due", "unit": "month", "amount": "$points"}}`, `{"$map": {"input": "$custom.tags", "in": {"$toDate": "$$this"}}}`)
		}
		return fmt.Sprintf(`{"$toDate": %q}`, a.of(textsOf))
	case 4:
		return a.truth(2)
	case 5:
		return a.byTypes(schema.String, 2)
	}
	return a.number(2)
}

func (a *asker) accumulators() string {
	parts := make([]string, 1+a.IntN(3))
	for i := range parts {
		switch a.IntN(4) {
		case 0:
			parts[i] = fmt.Sprintf(`"v%d": {"$sum": 1}`, i)
		case 1:
			parts[i] = fmt.Sprintf(`"v%d": {%q: %s}`, i, pick(a.Rand, "$first", "$last", "$push", "$addToSet", "$min", "$max"), a.expression())
		case 2:
			parts[i] = fmt.Sprintf(`"v%d": {"$percentile": {"input": %s, "p": [0, 0.5, 0.9]}}`, i, a.number(2))
		default:
			parts[i] = fmt.Sprintf(`"v%d": {%q: %s}`, i, pick(a.Rand, "$sum", "$avg", "$min", "$max", "$stdDevPop"), a.number(2))
		}
	}
	return strings.Join(parts, ", ")
}

func (a *asker) lookup() string {
	links := linksOf[a.asked]
	if links == nil {
		links = linksOf["issues"]
	}
	var from, local, foreign string
	fmt.Sscanf(pick(a.Rand, links...), "%q %q %q", &from, &local, &foreign)
	outer := a.asked
	a.asked = from
	inner := ""
	switch a.IntN(5) {
	case 0:
		inner = fmt.Sprintf(`, "pipeline": [{"$match": %s}]`, a.where(1))
	case 1:
		inner = fmt.Sprintf(`, "pipeline": [{"$addFields": {"x": %s}}]`, a.expression())
	case 2:
		inner = fmt.Sprintf(`, "pipeline": [{"$match": {"$expr": %s}}]`, a.truth(2))
	case 3:
		inner = fmt.Sprintf(`, "pipeline": [{"$sort": {%q: -1}}, {"$limit": 2}]`, a.field())
	case 4:
		inner = fmt.Sprintf(`, "let": {"n": %s}, "pipeline": [{"$match": {"$expr": {"$gte": [%s, "$$n"]}}}]`, `{"$toDouble": "$`+local+`"}`, a.number(1))
	}
	a.asked = outer
	return fmt.Sprintf(`{"$lookup": {"from": %q, "localField": %q, "foreignField": %q, "as": "found"%s}}`, from, local, foreign, inner)
}

func (a *asker) stage() string {
	switch a.IntN(17) {
	case 0, 1:
		return `{"$match": ` + a.where(1) + `}`
	case 2, 3:
		return `{"$match": {"$expr": ` + a.truth(3) + `}}`
	case 4:
		return fmt.Sprintf(`{"$addFields": {"x": %s, "name": %s}}`, a.expression(), a.expression())
	case 5:
		return fmt.Sprintf(`{"$sort": {%q: %s}}`, a.field(), pick(a.Rand, "1", "-1"))
	case 6:
		return fmt.Sprintf(`{"$project": {"y": %s, %q: 1}}`, a.expression(), a.field())
	case 7:
		return a.lookup()
	case 8:
		return a.lookup() + fmt.Sprintf(`, {"$unwind": {"path": "$found", "preserveNullAndEmptyArrays": %t}}`, a.IntN(2) == 0)
	case 9:
		return fmt.Sprintf(`{"$unwind": {"path": %q, "preserveNullAndEmptyArrays": true}}`, pick(a.Rand, "$custom.tags", "$custom.a", "$custom", "$found", "$watcher_ids", "$watcher_ids", "$user_ids", "$label_ids"))
	case 10:
		return fmt.Sprintf(`{"$unionWith": %q}`, pick(a.Rand, "users", "labels", "vaults", "comments"))
	case 11:
		return fmt.Sprintf(`{"$facet": {"a": [{"$sortByCount": %s}], "b": [{"$group": {"_id": null, %s}}]}}`, a.expression(), a.accumulators())
	case 13:
		return fmt.Sprintf(`{"$setWindowFields": {"partitionBy": %s, "sortBy": {%q: 1}, "output": {"w": %s, "v": {"$sum": %s, "window": {"documents": [-1, %s]}}}}}`, a.expression(), a.field(),
			pick(a.Rand, `{"$rank": {}}`, `{"$denseRank": {}}`, `{"$documentNumber": {}}`, `{"$avg": `+a.number(1)+`}`, `{"$shift": {"output": `+a.expression()+`, "by": -1}}`), a.number(2),
			pick(a.Rand, "0", "1", `"unbounded"`))
	case 14:
		return fmt.Sprintf(`{"$fill": {"partitionBy": %s, "sortBy": {%q: 1}, "output": {%q: %s, "estimate": {"method": %q}}}}`, a.expression(), a.field(), a.field(),
			pick(a.Rand, `{"value": `+a.expression()+`}`, `{"method": "locf"}`), pick(a.Rand, "locf", "linear"))
	case 15:
		return fmt.Sprintf(`{"$densify": {"field": %q%s, "range": {"step": 1, %s}}}`, a.field(), pick(a.Rand, "", fmt.Sprintf(`, "partitionByFields": [%q]`, a.field())),
			pick(a.Rand, `"bounds": [0, 5]`, `"unit": "day", "bounds": ["2026-01-01", "2026-01-05"]`))
	case 12:
		return fmt.Sprintf(`{"$bucketAuto": {"groupBy": %s, "buckets": 3}}`, a.number(1))
	}
	return pick(a.Rand, `{"$limit": 3}`, `{"$skip": 1}`, `{"$sample": {"size": 3}}`, `{"$count": "n"}`,
		`{"$graphLookup": {"from": "users", "startWith": "$boss_id", "connectFromField": "boss_id", "connectToField": "id", "as": "chain", "depthField": "d"}}`)
}

func (a *asker) pipeline() string {
	var stages []string
	for range a.IntN(4) {
		stages = append(stages, a.stage())
	}
	if a.IntN(2) == 0 {
		stages = append(stages, fmt.Sprintf(`{"$group": {"_id": %s, %s}}`, pick(a.Rand, "null", a.expression(), `{"k": `+a.expression()+`}`), a.accumulators()))
	}
	if stages == nil {
		stages = append(stages, a.stage())
	}
	return "[" + strings.Join(stages, ", ") + "]"
}

// analysis returns the arguments of one of the pipeline tools, except class_name.
func (a *asker) analysis(name string) []string {
	where := func() []string {
		if a.IntN(3) == 0 {
			return []string{`"where": ` + a.where(1)}
		}
		return nil
	}
	rarely := func(args []string, more ...string) []string {
		for _, one := range more {
			if a.IntN(10) == 0 {
				args = append(args, one)
			}
		}
		return args
	}
	bare := func(fields map[string][]string) string { return strings.TrimPrefix(a.of(fields), "$") }
	switch name {
	case "aggregate":
		return rarely([]string{`"pipeline": ` + a.pipeline()}, `"compact_pointers": false`, `"apply_canonical_filter": false`)
	case "explain_query":
		if a.IntN(2) == 0 {
			return []string{`"where": ` + a.where(2)}
		}
		return []string{`"pipeline": ` + a.pipeline()}
	case "group_by":
		args := append(where(), fmt.Sprintf(`"field": %q`, a.field()), fmt.Sprintf(`"sort": %q`, pick(a.Rand, "value_desc", "value_asc", "key_desc", "key_asc")))
		if a.IntN(2) == 0 {
			args = append(args, fmt.Sprintf(`"operation": %q, "value_field": %q`, pick(a.Rand, "sum", "avg", "min", "max"), bare(numbersOf)))
		}
		return rarely(append(args, fmt.Sprintf(`"dry_run": %t`, a.IntN(8) == 0)), `"flatten_arrays": true`, `"limit": 2`)
	case "group_by_date":
		return append(rarely(where(), `"sort": "value_desc"`, `"limit": 2`, `"dry_run": true`, fmt.Sprintf(`"operation": "sum", "value_field": %q`, bare(numbersOf))), fmt.Sprintf(`"field": %q, "interval": %q, "fill": %t`, pick(a.Rand, "due", "due", "due", "deleted_at", "made", a.field()),
			pick(a.Rand, "year", "month", "week", "day", "hour"), a.IntN(2) == 0), fmt.Sprintf(`"timezone": %q`, pick(a.Rand, "UTC", "Europe/Oslo", "+05:30")))
	case "distinct":
		return append(rarely(where(), `"dry_run": true`, `"sort": "desc"`), fmt.Sprintf(`"field": %q, "limit": %d`, a.field(), 1+a.IntN(4)))
	}
	args := append(where(), fmt.Sprintf(`"format": %q, "row_cap": %d`, pick(a.Rand, "csv", "markdown", "table", "jsonl"), 1+a.IntN(5)))
	if a.IntN(6) == 0 {
		return append(args[len(args)-1:], `"pipeline": `+a.pipeline())
	}
	args = rarely(args, `"limit": 2`, `"skip": 1`, fmt.Sprintf(`"order": %q`, a.field()), fmt.Sprintf(`"include": [%q]`, a.pointer()))
	switch a.IntN(4) {
	case 0, 1:
		return append(args, `"keys": `+a.fields(3))
	case 2:
		return append(args, fmt.Sprintf(`"columns": [{"n": %q}, %q]`, a.field(), a.field()))
	}
	return args
}
