// Package large tests values that are too large to be read. It is a part of the suite for sources.
//
// It complements package sourcetest. Only tests import it.
package large

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/value"
)

// mostBytes is the maximum size of one value in reads of largeTables, in bytes.
const mostBytes = 1000

// largeTables contains values below, at and above mostBytes. The limit counts bytes and not characters.
func largeTables() []sourcetest.Table {
	text := func(n int) string { return strings.Repeat("x", n) }
	return []sourcetest.Table{
		{Name: "works", Key: []string{"id"}, Columns: []sourcetest.Column{{Name: "id", Is: schema.Integer, Required: true}, {Name: "body", Is: schema.String, MySQL: "longtext COLLATE utf8mb4_nopad_bin"},
			{Name: "doc", Is: schema.JSON}, {Name: "raw", Is: schema.Bytes}},
			Rows: "\n" + strings.Join([]string{
				fmt.Sprintf(`[1, %q, {"a":1,"b":"s"}, "aGk="]`, text(10)),
				fmt.Sprintf(`[2, %q, {"a":2,"b":%q}, %q]`, text(mostBytes), text(mostBytes), strings.Repeat("QUJD", 400)),
				fmt.Sprintf(`[3, %q, null, null]`, text(mostBytes+1)),
				fmt.Sprintf(`[4, %q, null, null]`, strings.Repeat("é", mostBytes/2+1)),
				`[5, null, null, null]`}, "\n") + "\n"},
		{Name: "notes", Key: []string{"id"}, Columns: []sourcetest.Column{{Name: "id", Is: schema.Integer, Required: true}, {Name: "work", Is: schema.Integer}},
			Foreign: []schema.Relation{{Fields: []string{"work"}, Target: "works", TargetFields: []string{"id"}}},
			Rows:    "\n[1, 1]\n[2, 3]\n[3, null]\n"},
	}
}

// A subject is the source under test with a policy that shows all of it.
type subject struct {
	source source.Source
	policy *policy.Policy
}

func newSubject(t *testing.T, open sourcetest.Open, tables []sourcetest.Table) *subject {
	from := open(t, sourcetest.Dataset{Tables: tables})
	classes, _, err := from.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	return &subject{from, p}
}

// Run tests values that exceed the reader's limit. Each must be returned as a Cut with its size, and never whole or
// null. The returned records and their order must not change.
func Run(t *testing.T, open sourcetest.Open) {
	s := newSubject(t, open, largeTables())
	s.pieces(t)
	for _, tt := range []struct {
		class, keys, order, pipeline string
		want                         []string // long values are shown by their lengths
	}{
		{class: "works", want: []string{`1 10 {"a":1,"b":"s"} 2`, "2 1000 cut cut", "3 cut1001 null null", "4 cut1002 null null", "5 null null null"}},
		{class: "works", keys: "doc.a,body", order: "-body", want: []string{"4 null cut1002", "3 null cut1001", "2 cut 1000", "1 1 10", "5 null null"}},
		{class: "works", keys: "id", order: "body", want: []string{"5", "1", "2", "3", "4"}},
		{class: "notes", keys: "work.body", want: []string{"1 1 1 10", "2 3 3 cut1001", "3 null null null"}},
		{class: "works", pipeline: `[{"$project": {"body": 1}}, {"$sort": {"body": -1}}]`, want: []string{"cut1002", "cut1001", "1000", "10", "null"}},
		{class: "works", pipeline: `[{"$match": {"id": {"$lt": 5}}}, {"$group": {"_id": "$body", "n": {"$count": {}}}}]`, want: []string{"10 1", "1000 1", "cut1001 1", "cut1002 1"}},
		{class: "works", pipeline: `[{"$project": {"_id": 0, "id": 1, "x": {"$concat": ["$body", "!"]}}}]`, want: []string{"1 11", "2 cut1001", "3 cut1002", "4 cut1003", "5 null"}},
		{class: "works", pipeline: `[{"$match": {"id": {"$lte": 2}}}, {"$group": {"_id": null, "all": {"$push": "$body"}}}]`, want: []string{"null cut"}},
		{class: "works", pipeline: `[{"$match": {"id": {"$lte": 2}}}, {"$group": {"_id": null, "all": {"$addToSet": "$body"}}}]`, want: []string{"null cut"}},
		{class: "works", pipeline: `[{"$match": {"id": {"$lte": 2}}}, {"$group": {"_id": null, "n": {"$push": "$id"}}}, {"$project": {"_id": 0, "k": {"$size": "$n"}}}]`, want: []string{"2"}},
		{class: "notes", pipeline: `[{"$lookup": {"from": "works", "localField": "work", "foreignField": "id", "as": "w"}}, {"$project": {"_id": 0, "id": 1, "w": {"$map": {"input": "$w", "in": "$$this.body"}}}}]`,
			want: []string{`1 ["xxxxxxxxxx"]`, "2 cut", "3 []"}},
	} {
		name := fmt.Sprintf("%s keys %s order %s %s", tt.class, tt.keys, tt.order, tt.pipeline)
		var q query.Query
		if tt.pipeline != "" {
			q = &query.Pipeline{Class: tt.class, Stages: stages(t, tt.pipeline), Limit: 100}
		} else {
			order, err := query.ParseOrder(tt.order, "/order")
			if err != nil {
				t.Fatal(err)
			}
			q = &query.Find{Class: tt.class, Keys: paths(tt.keys), Order: order, Limit: 100}
		}
		if got, err := s.readCells(t, q); err != nil || strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%s: %v\n got %q\nwant %q", name, err, got, tt.want)
		}
	}
}

// listTables contains texts of 400 KB. Only two of the texts are different. There are 4 records of kind a and 11 of
// kind b.
func listTables() []sourcetest.Table {
	var rows strings.Builder
	for i := range 15 {
		fmt.Fprintf(&rows, "\n[%d, %q, %q]", i+1, map[bool]string{true: "a", false: "b"}[i < 4], strings.Repeat("xy"[i%2:i%2+1], 400_000))
	}
	return []sourcetest.Table{{Name: "logs", Key: []string{"id"}, Columns: []sourcetest.Column{{Name: "id", Is: schema.Integer, Required: true},
		{Name: "kind", Is: schema.String}, {Name: "body", Is: schema.String, MySQL: "longtext COLLATE utf8mb4_nopad_bin"}}, Rows: rows.String() + "\n"}}
}

// Lists tests lists that a pipeline gathers. A list above plan.ListBytes must be null, and a Cut where it is
// returned. Equal values in a set count once.
func Lists(t *testing.T, open sourcetest.Open) {
	s := newSubject(t, open, listTables())
	for _, tt := range []struct {
		pipeline string
		want     []string
	}{
		{`[{"$group": {"_id": "$kind", "all": {"$push": "$body"}}}]`, []string{"1 cut", "1 cut"}},
		{`[{"$group": {"_id": "$kind", "all": {"$push": "$body"}}}, {"$project": {"n": {"$size": "$all"}}}]`, []string{"1 4", "1 null"}},
		{`[{"$group": {"_id": null, "all": {"$push": {"id": "$id", "body": "$body"}}}}, {"$project": {"_id": 0, "n": {"$size": "$all"}}}]`, []string{"null"}},
		{`[{"$group": {"_id": "$kind", "all": {"$addToSet": "$body"}}}, {"$project": {"n": {"$size": "$all"}}}]`, []string{"1 2", "1 2"}},
		{`[{"$group": {"_id": "$kind", "all": {"$addToSet": {"$concat": [{"$toString": "$id"}, "$body"]}}}}, {"$project": {"n": {"$size": "$all"}}}]`, []string{"1 4", "1 null"}},
		{`[{"$bucketAuto": {"groupBy": "$id", "buckets": 1, "output": {"all": {"$push": "$body"}}}}, {"$project": {"_id": 0, "n": {"$size": "$all"}}}]`, []string{"null"}},
		{`[{"$match": {"id": {"$in": [1, 15]}}}, {"$lookup": {"from": "logs", "localField": "kind", "foreignField": "kind", "as": "all"}}, {"$project": {"id": 1, "n": {"$size": "$all"}}}]`,
			[]string{"1 4", "15 null"}},
		{`[{"$match": {"id": {"$in": [1, 15]}}}, {"$graphLookup": {"from": "logs", "startWith": "$kind", "connectFromField": "kind", "connectToField": "kind", "as": "all"}}, {"$project": {"id": 1, "n": {"$size": "$all"}}}]`,
			[]string{"1 4", "15 null"}},
		{`[{"$facet": {"all": [{"$match": {"kind": "b"}}], "few": [{"$match": {"kind": "a"}}]}}, {"$project": {"all": {"$size": "$all"}, "few": {"$size": "$few"}}}]`, []string{"null 4"}},
		{`[{"$match": {"kind": "a"}}, {"$group": {"_id": null, "all": {"$push": "$body"}}}, {"$project": {"_id": 0, "n": {"$size": {"$map": {"input": "$all", "in": {"$concat": ["$$this", "$$this", "$$this"]}}}}}}]`, []string{"null"}},
		{`[{"$match": {"kind": "a"}}, {"$group": {"_id": null, "a": {"$push": "$body"}, "b": {"$push": "$body"}, "c": {"$push": "$id"}}}, {"$project": {"_id": 0, "a": {"$size": "$a"}, "c": {"$size": "$c"}}}]`, []string{"null 4"}},
	} {
		if got, err := s.readCells(t, &query.Pipeline{Class: "logs", Stages: stages(t, tt.pipeline), Limit: 100}); err != nil || strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%s: %v\n got %q\nwant %q", tt.pipeline, err, got, tt.want)
		}
	}
}

// pieces tests reading a value in pieces: characters of text and JSON, and bytes of bytes.
func (s *subject) pieces(t *testing.T) {
	for _, tt := range []struct {
		part query.Part
		id   string
		want string // the key, the length of the piece, the length of the whole value, and the piece
	}{
		{query.Part{Field: "body", Offset: 0, Length: 4}, "4", "4 501 éééé"},
		{query.Part{Field: "body", Offset: 499, Length: 10}, "4", "4 501 éé"},
		{query.Part{Field: "body", Offset: 501, Length: 10}, "4", "4 501 "},
		{query.Part{Field: "body", Offset: 0, Length: 10}, "5", "5 null "},
		{query.Part{Field: "raw", Offset: 1, Length: 1}, "1", "1 2 i"},
		{query.Part{Field: "raw", Offset: 1198, Length: 5}, "2", "2 1200 BC"},
	} {
		q := &query.Find{Class: "works", IDs: []string{tt.id}, Part: &tt.part, Limit: 1}
		columns, rows, err := s.read(t, 0, q)
		if err != nil || len(rows) != 1 || columns != 3 {
			t.Errorf("%+v of %s: %v, %v", tt.part, tt.id, rows, err)
			continue
		}
		row := rows[0]
		if got := fmt.Sprintf("%s %s %s", row[0].AppendJSON(nil), row[2].AppendJSON(nil), row[1].Text()); got != tt.want {
			t.Errorf("%+v of %s: %q, want %q", tt.part, tt.id, got, tt.want)
		}
	}
}

// readCells runs q with values of at most mostBytes. It returns the rows in the form of the expected rows.
func (s *subject) readCells(t *testing.T, q query.Query) ([]string, error) {
	columns, rows, err := s.read(t, mostBytes, q)
	out := make([]string, len(rows))
	for i, row := range rows {
		cells := make([]string, columns)
		for j, v := range row[:len(cells)] {
			cells[j] = cellText(v)
		}
		out[i] = strings.Join(cells, " ")
	}
	return out, err
}

// read runs q with values of at most most bytes. It returns the number of columns and the rows.
func (s *subject) read(t *testing.T, most int, q query.Query) (int, []value.Row, error) {
	permit, err := s.policy.Read(identity.Principal{ID: "test", Scopes: []identity.Scope{identity.Read}}, q)
	if err != nil {
		return 0, nil, err
	}
	if permit, err = permit.Within(most); err != nil {
		return 0, nil, err
	}
	plan, err := permit.Plan()
	if err != nil {
		return 0, nil, err
	}
	rows, err := sourcetest.Collect(t.Context(), s.source, permit)
	return len(plan.Columns), rows, err
}

// cellText formats a value. It shows text and bytes by their lengths. It shows a Cut by its size if all sources
// return the same size.
func cellText(v value.Value) string {
	switch {
	case v.Kind() == value.Cut && v.Size() > mostBytes+3:
		return "cut"
	case v.Kind() == value.Cut:
		return fmt.Sprintf("cut%d", v.Size())
	case v.Kind() == value.String || v.Kind() == value.Bytes:
		return fmt.Sprint(len(v.Text()))
	}
	return string(v.AppendJSON(nil))
}

func stages(t *testing.T, text string) []query.Stage {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	list, err := query.ParsePipeline(v, "/pipeline")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func paths(text string) []query.Path {
	if text == "" {
		return nil
	}
	var out []query.Path
	for _, p := range strings.Split(text, ",") {
		out = append(out, query.ParsePath(p))
	}
	return out
}
