package interpret

import (
	"runtime"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// joinedBy returns a Reduce that joins texts, and an equivalent Reduce that isn't optimised.
func joinedBy(input, initial value.Value, parts ...plan.Expr) (quick, plain plan.Over) {
	body := plan.ToJSON{X: plan.Apply{Op: plan.Concat, T: schema.String, Args: parts}}
	quick = plan.Over{Do: plan.ReduceEach, Input: plan.Const{Value: input, T: schema.JSON}, Initial: plan.Const{Value: initial, T: schema.JSON}, Body: body}
	plain = quick
	plain.Body = plan.Case{If: []plan.Expr{lit("true", schema.Boolean)}, Then: []plan.Expr{body}, T: schema.JSON}
	return quick, plain
}

// TestJoinedTexts compares a Reduce that joins texts with the equivalent general Reduce.
func TestJoinedTexts(t *testing.T) {
	text := func(e plan.Expr) plan.Expr { return plan.As{X: e, T: schema.String} }
	concat := func(es ...plan.Expr) plan.Expr {
		return plan.Apply{Op: plan.Concat, T: schema.String, Args: es}
	}
	before := text(plan.Before{})
	inner, _ := joinedBy(value.OfArray([]value.Value{value.OfString("x"), value.OfString("y")}), value.OfString("-"), before, text(plan.Element{}), text(plan.Element{Up: 1}))
	parts := []plan.Expr{before, text(plan.Element{}), lit(`"ü"`, schema.String), lit("null", schema.String), concat(before, text(plan.Element{})), text(inner),
		plan.Apply{Op: plan.Upper, T: schema.String, Args: []plan.Expr{before}}, concat(before, before)}
	initials := []value.Value{{}, value.OfInt(12), value.OfString(""), value.OfString("ab"), value.OfString(strings.Repeat(`a"`, 100_000)), value.OfString(strings.Repeat("a", plan.MostBefore+1))}
	var lists []value.Value
	for _, l := range []string{`[]`, `["a"]`, `["a","","\"b"]`, `["a",null,"c"]`, `[1,"c"]`, `["a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a"]`} {
		v, err := value.Read([]byte(l), 0)
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, v)
	}
	var all [][]plan.Expr
	for _, p := range parts {
		all = append(all, []plan.Expr{p})
		for _, q := range parts {
			all = append(all, []plan.Expr{p, q}, []plan.Expr{p, q, before})
		}
	}
	answered := 0
	for _, initial := range initials {
		for _, list := range lists {
			for i, some := range all {
				quick, plain := joinedBy(list, initial, some...)
				r, other := &reading{ctx: t.Context()}, &reading{ctx: t.Context()}
				got, want := (&place{reading: r}).eval(quick), (&place{reading: other}).eval(plain)
				if r.err != nil || other.err != nil || got.Kind() != want.Kind() || !want.IsNull() && !value.Equal(got, want) {
					t.Fatalf("parts %d, initial of %d bytes, list %s: %.60s, want %.60s (%v, %v)", i, len(initial.Text()), list, got, want, r.err, other.err)
				}
				if got.Kind() == value.String && list.List() != nil {
					answered++
				}
			}
		}
	}
	if answered < 500 {
		t.Error("too few texts were made:", answered)
	}
}

// TestJoinedTextsTakeNoMemory doubles a text until it is too large, for one record after another, and measures the
// memory.
func TestJoinedTextsTakeNoMemory(t *testing.T) {
	before := plan.As{X: plan.Before{}, T: schema.String}
	double, _ := joinedBy(value.OfArray(make([]value.Value, 40)), value.OfString(strings.Repeat("a", 2000)), before, before)
	at := &place{reading: &reading{ctx: t.Context()}}
	at.eval(double) // this allocates the memory that later calls reuse
	const times = 20
	var begun, ended runtime.MemStats
	runtime.ReadMemStats(&begun)
	for range times {
		if v := at.eval(double); !v.IsNull() {
			t.Fatal("a text of", len(v.Text()), "bytes")
		}
	}
	runtime.ReadMemStats(&ended)
	if each := (ended.TotalAlloc - begun.TotalAlloc) / times; each > 64<<10 {
		t.Error(each, "bytes for each record")
	}
}
