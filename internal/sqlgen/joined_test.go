package sqlgen

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestJoined checks that a chain of concatenations becomes few calls. Each joins at most mostJoined texts, and the
// order stays.
func TestJoined(t *testing.T) {
	text := func(n int) plan.Expr { return plan.Const{Value: value.OfInt(int64(n)), T: schema.String} }
	var read func(texts []plan.Expr) (out []string, calls int)
	read = func(texts []plan.Expr) (out []string, calls int) {
		if len(texts) > mostJoined {
			t.Errorf("%d texts in one call", len(texts))
		}
		for _, x := range texts {
			if inner, ok := x.(plan.Apply); ok {
				more, n := read(flattenConcat(inner.Args))
				out, calls = append(out, more...), calls+n
			} else {
				out = append(out, x.(plan.Const).Value.String())
			}
		}
		return out, calls + 1
	}
	for _, tt := range []struct{ texts, calls int }{{2, 1}, {20, 1}, {100, 1}, {101, 2}, {250, 3}} {
		chain := []plan.Expr{text(0), text(1)}
		for n := 2; n < tt.texts; n++ {
			chain = []plan.Expr{plan.Apply{Op: plan.Concat, T: schema.String, Args: chain}, text(n)}
		}
		got, calls := read(flattenConcat(chain))
		if len(got) != tt.texts || calls != tt.calls {
			t.Errorf("%d texts: %d in %d calls, want %d", tt.texts, len(got), calls, tt.calls)
		}
		for n, s := range got {
			if s != value.OfInt(int64(n)).String() {
				t.Fatalf("text %d is %s", n, s)
			}
		}
	}
}
