package typecheck

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/query"
)

// TestOperatorsAreBound checks that each operator of query.Families has either a binder or a node with types.
func TestOperatorsAreBound(t *testing.T) {
	bound := map[string]bool{}
	for _, s := range query.Signatures {
		bound[s.Op] = true
		_, node := plan.OpOf(s.Node)
		switch {
		case node == (binders[s.Op] != nil):
			t.Errorf("%s has the node %q and a binder, or neither", s.Op, s.Node)
		case node && (len(s.Takes) == 0 || s.Names == nil && s.Max >= 0 && len(s.Takes) > s.Max || s.Pairs && s.Min > 2):
			t.Errorf("%s: the types %v don't fit its arguments", s.Op, s.Takes)
		}
	}
	for op := range binders {
		if !bound[op] {
			t.Errorf("query.Families has no %s", op)
		}
	}
}
