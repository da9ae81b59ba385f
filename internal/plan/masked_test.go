package plan

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestCheckMasks has a row for each forbidden use of a masked column. The masked column is #1, email.
func TestCheckMasks(t *testing.T) {
	hidden := &Mask{Kind: MaskHash, Field: "app.users.email"}
	id := Column{Path: query.Path{"id"}, Type: schema.Integer}
	email := Column{Path: query.Path{"email"}, Type: schema.String, Mask: hidden}
	bare := Column{Path: query.Path{"email"}, Type: schema.String}
	list := Column{Path: query.Path{"list"}, Type: schema.JSON}
	byID := []Place{{Column: 0}}
	in := Shape{Columns: []Column{id, email}, Order: byID}
	with := func(columns ...Column) Shape { return Shape{Columns: columns, Order: byID} }
	view := func(stages ...Stage) *Program { return &Program{Base: in, Stages: stages} }
	ref, secret := Ref{0, schema.Integer}, Ref{1, schema.String}
	upper := Apply{Op: Upper, Args: []Expr{secret}, T: schema.String}
	drop := &Map{Columns: []Expr{ref}, Shape: with(id)}
	null := Const{T: schema.String}
	for _, tt := range []struct {
		name string
		p    *Program
		want string
	}{
		{"nothing", view(), ""},
		{"passed on", view(&Map{Columns: []Expr{ref, secret}, Shape: in}, &Slice{Limit: 1, Shape: in}, &Sample{N: 1, Shape: in}), ""},
		{"left out", view(drop), ""},
		{"without its mask", view(&Map{Columns: []Expr{ref, secret}, Shape: with(id, bare)}), "column 1 lost its mask: (id:integer, email:string) by #0"},
		{"computed", view(&Map{Columns: []Expr{ref, upper}, Shape: in}), "an expression names a masked column: #1"},
		{"deep inside", view(&Map{Columns: []Expr{ref, Case{If: []Expr{Matches{X: Convert{X: Part{X: ToJSON{X: secret}}}}}, Then: []Expr{null}, Else: null}}, Shape: in}), "an expression names a masked column: #1"},
		{"ordered by", view(&Slice{Shape: Shape{Columns: in.Columns, Order: []Place{{Column: 1}}}}), "a masked column decides an order: (id:integer, email:string as hash) by #1"},
		{"filtered", view(&Filter{Where: query.And{query.Not{Part: query.Exists{Path: query.Path{"email"}}}}, Shape: in}), "a filter names the masked column email"},
		{"filtered by a class", view(&Filter{Where: query.InQuery{Path: query.Path{"email"}}, Shape: in}), "a filter names the masked column email"},
		{"filtered by an expression", view(&Filter{If: upper, Shape: in}), "an expression names a masked column: #1"},
		{"a filter that shows it", view(&Filter{Shape: with(id, bare)}), "column 1 lost its mask: (id:integer, email:string) by #0"},
		{"grouped", view(&Group{Keys: []Expr{secret}, Shape: with(bare)}), "an expression names a masked column: #1"},
		{"accumulated", view(&Group{Keys: []Expr{ref}, Accumulators: []Accumulator{{Op: Max, X: secret}}, Shape: with(id, bare)}), "an expression names a masked column: #1"},
		{"the first of a group", view(&Group{Keys: []Expr{ref}, Accumulators: []Accumulator{{Op: First, X: secret}}, Shape: with(id, email)}), ""},
		{"the first without its mask", view(&Group{Keys: []Expr{ref}, Accumulators: []Accumulator{{Op: First, X: secret}}, Shape: with(id, bare)}), "column 1 lost its mask: (id:integer, email:string) by #0"},
		{"the first of what is made of it", view(&Group{Keys: []Expr{ref}, Accumulators: []Accumulator{{Op: First, X: upper}}, Shape: with(id, email)}), "an expression names a masked column: #1"},
		{"the last of a group", view(&Group{Keys: []Expr{ref}, Accumulators: []Accumulator{{Op: Last, X: secret}}, Shape: with(id, email)}), "an expression names a masked column: #1"},
		{"counted", view(&Group{Accumulators: []Accumulator{{Op: Count}}, Shape: with(id)}), ""},
		{"dividing windows", view(&Windows{By: []int{1}, Shape: in}), "an expression names a masked column: #1"},
		{"ordering windows", view(&Windows{Order: []Place{{Column: 1}}, Shape: in}), "an expression names a masked column: #1"},
		{"in a window", view(&Windows{Functions: []Window{{Kind: Shifted, Accumulator: Accumulator{X: secret}}}, Shape: in}), "an expression names a masked column: #1"},
		{"in buckets", view(&Buckets{By: secret, Shape: with(id)}), "an expression names a masked column: #1"},
		{"unwound", view(&Unwind{List: ToJSON{X: secret}, Shape: in}), "an expression names a masked column: #1"},
		{"joined on", view(&Join{Right: view(), On: []Pair{{secret, ref}}, Shape: with(id, email, id, email)}), "an expression names a masked column: #1"},
		{"joined with", view(&Join{Right: view(), On: []Pair{{ref, secret}}, Shape: with(id, email, id, email)}), "an expression names a masked column: #1"},
		{"joined", view(&Join{Right: view(), On: []Pair{{ref, ref}}, Shape: with(id, email, id, email)}), ""},
		{"joined without its mask", view(&Join{Right: view(), On: []Pair{{ref, ref}}, Shape: with(id, email, id, bare)}), "column 3 lost its mask: (id:integer, email:string as hash, id:integer, email:string) by #0"},
		{"in a document", view(&Nest{Right: view(), On: []Pair{{ref, ref}}, Shape: with(id, email, list)}), "a document holds the masked column email"},
		{"beside a document", view(&Nest{Right: view(drop), On: []Pair{{ref, ref}}, Shape: with(id, email, list)}), ""},
		{"from inside", view(&Nest{Right: view(&Filter{If: Outer{Up: 1, Column: 1}, Shape: in}, drop), Correlated: true, Shape: with(id, email, list)}), "an expression names a masked column: outer1#1"},
		{"reached", view(&Closure{Right: view(drop), Start: ref, From: 0, To: 0, Shape: with(id, email, list)}), ""},
		{"reached from", view(&Closure{Right: view(drop), Start: secret, From: 0, To: 0, Shape: with(id, email, list)}), "an expression names a masked column: #1"},
		{"reached by", view(&Closure{Right: view(), Start: ref, From: 0, To: 1, Shape: with(id, email, list)}), "a masked column leads on: (id:integer, email:string as hash) by #0"},
		{"reached documents", view(&Closure{Right: view(), Start: ref, From: 0, To: 0, Shape: with(id, email, list)}), "a document holds the masked column email"},
		{"united", view(&Union{Right: view(), Left: []Expr{ref, secret}, Added: []Expr{ref, null}, Shape: in}), ""},
		{"united without its mask", view(&Union{Right: view(), Left: []Expr{ref, null}, Added: []Expr{ref, secret}, Shape: with(id, bare)}), "column 1 lost its mask: (id:integer, email:string) by #0"},
		{"in a facet", view(&Facet{Branches: []*Program{{From: Input, Base: in, Stages: []Stage{drop}}}, Shape: Shape{Columns: []Column{list}}}), ""},
		{"in a facet's documents", view(&Facet{Branches: []*Program{{From: Input, Base: in}}, Shape: Shape{Columns: []Column{list}}}), "a document holds the masked column email"},
		{"the wider of a pair", view(&Map{Columns: []Expr{ref, Over{Input: List{Elements: []Expr{Widen{X: secret}}}, Body: Const{Value: value.OfInt(1)}}}, Shape: in}), "an expression names a masked column: #1"},
	} {
		got := ""
		if err := CheckMasks(tt.p); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
