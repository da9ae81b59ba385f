package interpret

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// narrowed plans a pipeline over the orders of shop. It begins to evaluate the pipeline over records that arrive one by
// one.
func narrowed(t *testing.T, p *policy.Policy, from classRows, pipeline string, b *Budget) (*policy.Plan, *Narrowed, Records) {
	t.Helper()
	v, err := value.Read([]byte(pipeline), 0)
	if err != nil {
		t.Fatal(pipeline, err)
	}
	stages, err := query.ParsePipeline(v, "")
	if err != nil {
		t.Fatal(pipeline, err)
	}
	permit, err := p.Read(reader, &query.Pipeline{Class: "orders", Stages: stages, Limit: 100})
	if err != nil {
		t.Fatal(pipeline, err)
	}
	planned, err := permit.Plan()
	if err != nil {
		t.Fatal(err)
	}
	records := from.records
	n, err := Narrow(t.Context(), &planned, 0, records, b)
	if err != nil {
		t.Fatal(pipeline, err)
	}
	return &planned, n, records
}

// TestNarrow compares results that are computed record by record with results over all records.
func TestNarrow(t *testing.T) {
	from, p := shop(t)
	for _, pipeline := range []string{
		`[{"$match": {}}]`,
		`[{"$match": {"total": {"$gt": 5}}}, {"$project": {"n": {"$size": "$lines"}, "total": 1}}, {"$sort": {"n": -1}}]`,
		`[{"$group": {"_id": "$customer", "n": {"$sum": 1}, "all": {"$push": "$total"}, "s": {"$sum": "$total"}, "m": {"$max": "$total"}}}]`,
		`[{"$sort": {"at": -1}}, {"$group": {"_id": null, "first": {"$first": "$id"}, "last": {"$last": "$at"}, "ids": {"$addToSet": "$customer"}}}]`,
		`[{"$group": {"_id": {"$size": {"$ifNull": ["$lines", []]}}, "lines": {"$max": "$lines"}, "a": {"$avg": "$id"}, "b": {"$avg": "$id"}}}, {"$match": {"a": {"$gt": 0}}}]`,
		`[{"$match": {"id": {"$gt": 100}}}, {"$count": "n"}]`,
		`[{"$bucketAuto": {"groupBy": "$total", "buckets": 2}}]`,
		`[{"$unwind": "$lines"}, {"$project": {"sku": "$lines.sku"}}]`,
		`[{"$lookup": {"from": "customers", "localField": "customer", "foreignField": "id", "as": "who"}}, {"$project": {"who": 1}}]`,
		`[{"$match": {"customer.name": "Ann"}}, {"$group": {"_id": "$customer.name", "n": {"$sum": 1}}}]`,
		`[{"$setWindowFields": {"partitionBy": "$customer", "sortBy": {"total": 1}, "output": {"r": {"$rank": {}}}}}, {"$project": {"r": 1}}]`,
		`[{"$facet": {"a": [{"$count": "n"}], "b": [{"$match": {"id": 2}}]}}]`,
		`[{"$sample": {"size": 2}}]`,
		`[{"$sort": {"total": 1}}, {"$limit": 2}, {"$group": {"_id": "$customer"}}]`,
	} {
		planned, n, records := narrowed(t, p, from, pipeline, &Budget{})
		want, err := Rows(t.Context(), planned, records)
		if err != nil {
			t.Fatal(pipeline, err)
		}
		for _, row := range base(t, planned, from) {
			if err := n.Take(row); err != nil {
				t.Fatal(pipeline, err)
			}
		}
		got, err := n.Rows()
		if err != nil {
			t.Fatal(pipeline, err)
		}
		if g, w := listed(t, got), listed(t, want); g != w {
			t.Errorf("%s\n%s\nwant\n%s", pipeline, g, w)
		}
	}
}

// base returns the visible records of the first view of a plan's Program.
func base(t *testing.T, planned *policy.Plan, from classRows) []value.Row {
	t.Helper()
	r := &reading{ctx: t.Context(), records: from.records, plan: planned}
	rows := r.from(planned.Program, given{})
	if r.err != nil {
		t.Fatal(r.err)
	}
	return rows
}

func listed(t *testing.T, rows iter.Seq2[value.Row, error]) string {
	t.Helper()
	var out []string
	for row, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(row))
	}
	return strings.Join(out, "\n")
}

// TestNarrowKeeps checks that only columns that later stages read count in the budget. A long text counts if records
// are sorted by it. It doesn't count if no stage reads it, or if only its length is grouped.
func TestNarrowKeeps(t *testing.T) {
	for _, tt := range []struct {
		pipeline string
		want     problem.Code
	}{
		{`[{"$group": {"_id": {"$size": {"$ifNull": ["$lines", []]}}}}]`, ""},
		{`[{"$group": {"_id": "$customer", "n": {"$sum": 1}}}]`, ""},
		{`[{"$setWindowFields": {"sortBy": {"total": 1}, "output": {"r": {"$rank": {}}}}}, {"$project": {"r": 1}}]`, ""},
		{`[{"$match": {"id": 99}}]`, ""},
		{`[{"$group": {"_id": "$lines"}}]`, problem.Unsupported},
		{`[{"$setWindowFields": {"sortBy": {"lines": 1}, "output": {"r": {"$rank": {}}}}}, {"$project": {"r": 1}}]`, problem.Unsupported},
		{`[{"$match": {}}]`, problem.Unsupported},
	} {
		from, p := shop(t)
		planned, n, _ := narrowed(t, p, from, tt.pipeline, &Budget{Bytes: 5_000})
		lines := -1
		for i, c := range planned.Program.Base.Columns {
			if c.Field.Name == "lines" {
				lines = i
			}
		}
		var err error
		for _, row := range base(t, planned, from) {
			row[lines] = value.OfArray([]value.Value{value.OfString(strings.Repeat("x", 2_000))})
			if err == nil {
				err = n.Take(row)
			}
		}
		if problem.CodeOf(err) != tt.want {
			t.Errorf("%s: %v, want %q", tt.pipeline, err, tt.want)
		}
	}
}

// TestLive checks the columns on which a pipeline depends.
func TestLive(t *testing.T) {
	from, p := shop(t)
	for pipeline, want := range map[string]string{
		`[{"$project": {"total": 1}}]`: "id total",
		`[{"$match": {"customer": 1}}, {"$sort": {"at": 1}}, {"$project": {"total": 1}}]`:  "id customer total at",
		`[{"$unwind": "$lines"}, {"$group": {"_id": "$lines.sku"}}]`:                       "id lines",
		`[{"$lookup": {"from": "customers", "pipeline": [], "as": "c"}}, {"$count": "n"}]`: "id customer total at lines gone",
	} {
		planned, _, _ := narrowed(t, p, from, pipeline, &Budget{})
		var got []string
		for i, is := range planned.Program.Live() {
			if is {
				got = append(got, planned.Program.Base.Columns[i].Field.Name)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", pipeline, s, want)
		}
	}
	var none plan.Program
	if len(none.Live()) != 0 {
		t.Error("columns of nothing")
	}
}
