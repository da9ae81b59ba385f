package interpret

import (
	"context"
	"iter"
	"testing"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A classRows contains the records of classes, by name.
type classRows struct{ rows map[string][]value.Row }

// Read evaluates a permit over the records.
func (h classRows) Read(ctx context.Context, p policy.Permit) (iter.Seq2[value.Row, error], error) {
	planned, err := p.Plan()
	if err != nil {
		return nil, err
	}
	return Rows(ctx, &planned, h.records)
}

// records implements Records.
func (h classRows) records(ctx context.Context, n Need) ([]value.Row, error) {
	return Visible(ctx, n.View, func(c *schema.Class) ([]value.Row, error) { return h.rows[c.Name], nil })
}

// shop returns a source with orders and notes. Deleted orders and their notes are hidden from every principal.
func shop(t *testing.T) (classRows, *policy.Policy) {
	t.Helper()
	orders := columns([]int{1}, "id integer", "customer integer", "total decimal", "at date", "lines json", "gone boolean", "note string")
	customers := columns([]int{1}, "id integer", "name string")
	rows := map[string][]value.Row{
		"orders": rowsOf(orders, `
			[3, 2, 12.50, "2026-03-31T22:30:00Z", [{"sku":"a","n":2},{"sku":"b","n":1}], false, "x"]
			[1, 1, 7.25, "2026-01-10T10:00:00Z", [{"sku":"a","n":1}], null, "y"]
			[2, 1, null, "2026-03-01T10:00:00Z", [], false, "z"]
			[4, 2, 1000, "2026-03-31T22:30:00Z", null, true, "x"]
			[5, 9, 0.01, null, [{"sku":"c","n":5}], false, null]`),
		"customers": rowsOf(customers, `[1,"Ann"]
			[2,"Bob"]
			[3,"Cid"]`),
	}
	var classes []schema.Class
	for _, c := range []struct {
		name  string
		shape []schema.Field
	}{{"orders", fieldsOf(orders.Columns)}, {"customers", fieldsOf(customers.Columns)}} {
		classes = append(classes, schema.Class{Source: "memory", Name: c.name, Table: c.name, Key: []string{"id"}, Fields: c.shape})
	}
	classes[0].Relations = []schema.Relation{{Fields: []string{"customer"}, Target: "customers", TargetFields: []string{"id"}}}
	live := query.Compare{Path: query.Path{"gone"}, Op: query.Ne, Value: value.OfBool(true)}
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"orders": {Canonical: live, Denied: []string{"note"}}}}, classes)
	if err != nil {
		t.Fatal(err)
	}
	return classRows{rows}, p
}

func ask(t *testing.T, s classRows, p *policy.Policy, text string) (iter.Seq2[value.Row, error], error) {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	stages, err := query.ParsePipeline(v, "/pipeline")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	permit, err := p.Read(reader, &query.Pipeline{Class: "orders", Stages: stages, Limit: 2})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s.Read(t.Context(), permit)
}

// TestPipelines reads pipelines through views. Each returns at most limit + 1 records.
func TestPipelines(t *testing.T) {
	s, p := shop(t)
	for _, tt := range []struct{ pipeline, want string }{
		{`[{"$match":{}},{"$project":{"total":1}}]`, "7.25d\nnull\n12.50d"},
		{`[{"$sort":{"total":-1}},{"$project":{"id":1,"_id":0}},{"$limit":9}]`, "3\n1\n5\n2"},
		{`[{"$group":{"_id":"$customer","sum":{"$sum":"$total"},"n":{"$sum":1}}},{"$sort":{"sum":-1}}]`, "2 12.5d 1\n1 7.25d 2\n9 0.01d 1"},
		{`[{"$group":{"_id":{"$dateToString":{"date":"$at","format":"%Y-%m","timezone":"Europe/Oslo"}},"ids":{"$push":"$id"}}},{"$match":{"_id":{"$ne":null}}}]`,
			"\"2026-01\" [\"1\"]\n\"2026-03\" [\"2\"]\n\"2026-04\" [\"3\"]"},
		{`[{"$unwind":"$lines"},{"$group":{"_id":"$lines.sku","n":{"$sum":"$lines.n"}}}]`, "\"a\" 3f\n\"b\" 1f\n\"c\" 5f"},
		{`[{"$lookup":{"from":"customers","localField":"customer","foreignField":"id","as":"c"}},{"$project":{"c":1}},{"$skip":1}]`,
			`[{"id":"1","name":"Ann"}]` + "\n" + `[{"id":"2","name":"Bob"}]` + "\n[]"},
		{`[{"$match":{"customer":{"$inQuery":{"className":"customers","where":{"name":"Bob"}}}}},{"$count":"n"}]`, "1"},
		{`[{"$match":{"total":{"$gt":1}}},{"$count":"n"}]`, "2"},
		{`[{"$match":{"id":99}},{"$count":"n"}]`, "0"},
		{`[{"$facet":{"a":[{"$count":"n"}],"b":[{"$match":{"id":1}},{"$project":{"id":1}}]}}]`, `[{"n":4}] [{"id":"1"}]`},
		{`[{"$project":{"customer":1}},{"$unionWith":{"coll":"customers","pipeline":[{"$match":{"id":3}},{"$project":{"customer":"$id"}}]}},{"$skip":2}]`, "2\n9\n3"},
	} {
		rows, err := ask(t, s, p, tt.pipeline)
		if err != nil {
			t.Errorf("%s: %v", tt.pipeline, err)
			continue
		}
		var all []value.Row
		for row, err := range rows {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, row)
		}
		if got := table(all); got != tt.want {
			t.Errorf("%s\n%s\nwant\n%s", tt.pipeline, got, tt.want)
		}
	}
}

func TestPipelineEnds(t *testing.T) {
	s, p := shop(t)
	permit, err := p.Read(reader, &query.Pipeline{Class: "orders", Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rows, err := s.Read(ctx, permit)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range rows {
		if n++; n == 2 && problem.CodeOf(err) != problem.Cancelled {
			t.Errorf("the second row of a cancelled query: %v", err)
		}
		cancel()
	}
	if n != 2 {
		t.Errorf("%d rows and errors, want 2", n)
	}
	if _, err := s.Read(ctx, permit); problem.CodeOf(err) != problem.Cancelled {
		t.Errorf("a cancelled query: %v", err)
	}
}
