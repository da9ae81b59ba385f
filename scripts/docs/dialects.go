package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/mongogen"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A probe is a part of the pipeline language: its name, and a pipeline that uses it.
type probe struct{ group, name, stages string }

// probes returns all parts. The expressions are the examples of query.Families.
func probes() []probe {
	all := slices.Clone(stagesAndAccumulators)
	for _, f := range query.Families {
		name := strings.Join(f.Operators(), ", ")
		if f.Area == "Lists" && strings.HasPrefix(name, "$sum") {
			name += " of a list"
		}
		all = append(all, probe{"expressions", name, expressions(strings.Split(f.Examples, "\n")...)})
	}
	return all
}

var stagesAndAccumulators = []probe{
	{"stages", "$match", `{"$match": {"text": "a"}}`},
	{"stages", "$match with $expr", `{"$match": {"$expr": {"$gt": ["$whole", "$double"]}}}`},
	{"stages", "$inQuery, $notInQuery", `{"$match": {"link": {"$inQuery": {"className": "things", "where": {"text": "a"}}}}}`},
	{"stages", "$select, $dontSelect", `{"$match": {"text": {"$dontSelect": {"query": {"className": "things", "where": {}}, "key": "text"}}}}`},
	{"stages", "$project, $addFields, $set, $unset", `{"$addFields": {"x": "$text"}}, {"$project": {"x": 1}}, {"$set": {"y": 1}}, {"$unset": "y"}`},
	{"stages", "$group", `{"$group": {"_id": {"a": "$text", "b": "$list"}, "n": {"$sum": 1}}}`},
	{"stages", "$sort, $skip, $limit, $count", `{"$sort": {"double": -1}}, {"$skip": 1}, {"$limit": 2}, {"$count": "n"}`},
	{"stages", "$unwind", `{"$unwind": {"path": "$list", "includeArrayIndex": "i", "preserveNullAndEmptyArrays": true}}`},
	{"stages", "$unwind of a part of JSON", `{"$unwind": "$json.a.b"}`},
	{"stages", "$lookup", `{"$lookup": {"from": "things", "localField": "link", "foreignField": "id", "as": "x"}}`},
	{"stages", "$lookup and $unwind", `{"$lookup": {"from": "things", "localField": "link", "foreignField": "id", "as": "x"}}, {"$unwind": "$x"}`},
	{"stages", "$lookup whose pipeline sorts, limits or groups", `{"$lookup": {"from": "things", "localField": "id", "foreignField": "link", "as": "x", "pipeline": [{"$sort": {"double": -1}}, {"$limit": 1}]}}`},
	{"stages", "$lookup with let, in its $match", `{"$lookup": {"from": "things", "let": {"d": "$double"}, "as": "x", "pipeline": [{"$match": {"$expr": {"$gt": ["$double", "$$d"]}}}]}}`},
	{"stages", "$lookup with let, in other stages", `{"$lookup": {"from": "things", "let": {"d": "$double"}, "as": "x", "pipeline": [{"$match": {"$expr": {"$gt": ["$double", "$$d"]}}}, {"$group": {"_id": "$text", "n": {"$sum": 1}}}]}}`},
	{"stages", "$graphLookup", `{"$graphLookup": {"from": "things", "startWith": "$link", "connectFromField": "link", "connectToField": "id", "as": "x", "depthField": "d"}}`},
	{"stages", "$unionWith", `{"$unionWith": {"coll": "things", "pipeline": [{"$match": {"text": "a"}}]}}`},
	{"stages", "$facet", `{"$facet": {"a": [{"$sortByCount": "$text"}], "b": [{"$limit": 3}]}}`},
	{"stages", "$bucket", `{"$bucket": {"groupBy": "$double", "boundaries": [0, 1, 2], "default": "else"}}`},
	{"stages", "$bucketAuto", `{"$bucketAuto": {"groupBy": "$double", "buckets": 4}}`},
	{"stages", "$setWindowFields", `{"$setWindowFields": {"partitionBy": "$text", "sortBy": {"date": 1}, "output": {"a": {"$rank": {}}, "b": {"$sum": "$double", "window": {"documents": [-6, 0]}}, "c": {"$shift": {"output": "$whole", "by": -1, "default": 0}}}}}`},
	{"stages", "$fill", `{"$fill": {"partitionBy": "$text", "sortBy": {"date": 1}, "output": {"whole": {"method": "locf"}, "double": {"method": "linear"}, "flag": {"value": false}}}}`},
	{"stages", "$densify", `{"$densify": {"field": "date", "partitionByFields": ["text"], "range": {"step": 1, "unit": "day", "bounds": ["2026-01-01", "2026-01-04"]}}}`},
	{"stages", "$sortByCount", `{"$sortByCount": "$text"}`},
	{"stages", "$replaceRoot, $replaceWith", `{"$replaceWith": {"$mergeObjects": [{"a": "$text"}, {"b": "$whole"}]}}`},
	{"stages", "$sample", `{"$sample": {"size": 3}}`},
	{"stages", "$redact", `{"$redact": {"$cond": [{"$eq": ["$text", "a"]}, "$$KEEP", "$$PRUNE"]}}`},

	{"accumulators", "$sum, $avg", accumulate(`{"$sum": "$double"}`, `{"$avg": "$decimal"}`, `{"$sum": "$whole"}`)},
	{"accumulators", "$min, $max", accumulate(`{"$min": "$date"}`, `{"$max": "$text"}`, `{"$max": "$flag"}`)},
	{"accumulators", "$min, $max of JSON", accumulate(`{"$min": "$json.a"}`)},
	{"accumulators", "$count", accumulate(`{"$count": {}}`)},
	{"accumulators", "$first, $last", accumulate(`{"$first": "$text"}`, `{"$last": "$json.a"}`)},
	{"accumulators", "$push, $addToSet", accumulate(`{"$push": "$date"}`, `{"$addToSet": "$json.a"}`)},
	{"accumulators", "$percentile, $median", accumulate(`{"$percentile": {"input": "$double", "p": [0.5, 0.95]}}`, `{"$median": {"input": "$decimal"}}`)},
	{"accumulators", "$stdDevPop, $stdDevSamp", accumulate(`{"$stdDevPop": "$double"}`, `{"$stdDevSamp": "$whole"}`)},
}

func accumulate(list ...string) string {
	var parts []string
	for i, a := range list {
		parts = append(parts, fmt.Sprintf(`"a%d": %s`, i, a))
	}
	return `{"$group": {"_id": "$text", ` + strings.Join(parts, ", ") + `}}`
}

func expressions(list ...string) string {
	var parts []string
	for i, e := range list {
		parts = append(parts, fmt.Sprintf(`"e%d": %s`, i, e))
	}
	return `{"$project": {` + strings.Join(parts, ", ") + `}}`
}

// dialects describes what each database supports, by compiling a pipeline with each part of the language for it.
func dialects() ([]byte, error) {
	class := schema.Class{Source: "app", Name: "things", Table: "things", Key: []string{"id"},
		Relations: []schema.Relation{{Fields: []string{"link"}, Target: "things", TargetFields: []string{"id"}}}}
	for name, t := range map[string]schema.Type{"id": schema.Integer, "link": schema.Integer, "text": schema.String, "whole": schema.Integer, "double": schema.Double,
		"decimal": schema.Decimal, "flag": schema.Boolean, "date": schema.Date, "day": schema.Day, "json": schema.JSON, "list": schema.JSON} {
		class.Fields = append(class.Fields, schema.Field{Name: name, Type: t})
	}
	p, err := policy.New(policy.Rules{Version: "1", Unlisted: true}, []schema.Class{class})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString(generated + "# What a source can do\n\nEvery part of the [pipeline language](pipelines.md), on each database. What one can't do is refused as `unsupported_by_source`, in these words; " +
		"nothing is approximated.\n\nFor MongoDB and FerretDB the tables say where a part runs when it is the first one of a pipeline: on the server, here (by Bailiwick, over the records of the view that are " +
		"left, at most `local_rows`), or begun there and finished here; of the forms that were tried, those with decimals, parts of JSON or operands of several types often run here. What follows a part that runs here runs here too; [mongodb.md](mongodb.md) says the same of conditions and writes. An application on " +
		"Parse Server is asked over REST for the records that the conditions at the beginning of a pipeline leave, and the rest runs here; with `direct` all of it runs in PostgreSQL ([parse.md](parse.md)).\n")
	group := ""
	var reasons []string
	for _, probe := range probes() {
		if probe.group != group {
			notes(&b, reasons)
			group, reasons = probe.group, nil
			fmt.Fprintf(&b, "\n## %s%s\n\n| | SQLite | PostgreSQL | MariaDB | MongoDB 7.0 | FerretDB 1.24 |\n|---|---|---|---|---|---|\n", strings.ToUpper(group[:1]), group[1:])
		}
		fmt.Fprintf(&b, "| %s |", cell(probe.name))
		for _, d := range []sqlgen.Dialect{sqlite.Dialect(), postgres.Dialect(), mariadb.Dialect()} {
			why, err := refusal(p, probe.stages, d)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", probe.name, err)
			}
			if why == "" {
				b.WriteString(" yes |")
				continue
			}
			reasons = append(reasons, why)
			fmt.Fprintf(&b, " no (%d) |", len(reasons))
		}
		for _, level := range []mongogen.Level{mongogen.MongoDB, mongogen.FerretDB} {
			where, err := runs(p, probe.stages, level)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", probe.name, err)
			}
			fmt.Fprintf(&b, " %s |", where)
		}
		b.WriteString("\n")
	}
	notes(&b, reasons)
	nativeTypes(&b)
	return b.Bytes(), nil
}

func notes(b *bytes.Buffer, reasons []string) {
	for i, r := range reasons {
		fmt.Fprintf(b, "\n(%d) %s\n", i+1, r)
	}
}

// read returns the permit for a pipeline.
func read(p *policy.Policy, stages string) (policy.Permit, error) {
	v, err := value.Read([]byte("["+stages+"]"), 100)
	if err != nil {
		return policy.Permit{}, err
	}
	q := &query.Pipeline{Class: "things", Limit: 200}
	if q.Stages, err = query.ParsePipeline(v, "/pipeline"); err != nil {
		return policy.Permit{}, err
	}
	return p.Read(identity.Principal{ID: "docs", Scopes: []identity.Scope{identity.Read}}, q)
}

// refusal returns why a dialect doesn't support a pipeline, or "" if it does.
func refusal(p *policy.Policy, stages string, d sqlgen.Dialect) (string, error) {
	permit, err := read(p, stages)
	if err != nil {
		return "", err
	}
	_, err = sqlgen.SQL(permit, d)
	if problem.CodeOf(err) == problem.Unsupported {
		return problem.Of(err).Detail, nil
	}
	return "", err
}

// forms splits a stage that computes several values into stages that compute one of them each.
func forms(stages string) ([]string, error) {
	v, err := value.Read([]byte(stages), 100)
	if err != nil || len(v.Members()) != 1 {
		return []string{stages}, nil // several stages
	}
	op := v.Members()[0]
	var base, parts []value.Member
	for _, m := range op.Value.Members() {
		if (op.Name == "$project" || op.Name == "$group") && len(m.Name) == 2 && (m.Name[0] == 'a' || m.Name[0] == 'e') {
			parts = append(parts, m)
		} else {
			base = append(base, m)
		}
	}
	if len(parts) < 2 {
		return []string{stages}, nil
	}
	var out []string
	for _, p := range parts {
		one := value.OfObject([]value.Member{{Name: op.Name, Value: value.OfObject(append(slices.Clone(base), p))}})
		out = append(out, string(one.AppendJSON(nil)))
	}
	return out, nil
}

// runs says where a probe runs with a server of MongoDB's protocol.
func runs(p *policy.Policy, stages string, level mongogen.Level) (string, error) {
	all, err := forms(stages)
	if err != nil {
		return "", err
	}
	server, begun := 0, false
	for _, form := range all {
		permit, err := read(p, form)
		if err != nil {
			return "", err
		}
		plan, err := permit.Plan()
		if err != nil {
			return "", err
		}
		w := mongogen.Writer{Level: level, Plan: &plan}
		command, err := w.Program()
		if err != nil {
			return "", err
		}
		if begun = begun || command.Stages > 0; command.Stages == len(plan.Program.Stages) {
			server++
		}
	}
	switch {
	case server == len(all):
		return "server", nil
	case server > 0:
		return fmt.Sprintf("server, %d of %d forms", server, len(all)), nil
	case begun:
		return "server, then here", nil
	}
	return "here", nil
}
