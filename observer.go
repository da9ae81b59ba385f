package bailiwick

import (
	"context"
	"slices"
	"sort"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
)

// An Observer is told of every call: for metrics, traces and logs. It decides nothing, and it must not keep who asks or
// the arguments beyond the call.
type Observer interface {
	// Begin is told of a call before anything is decided about it. The context that it returns is that of the call, so
	// the spans of its steps (package span) are children of the one in there.
	Begin(ctx context.Context, who identity.Principal, ask CallSpec) context.Context
	// End is told what a call came to: its record, after the log has kept it, and its error.
	End(ctx context.Context, who identity.Principal, r *audit.Record, err error)
}

// keys are the names of the arguments, sorted, as the record has them: a name that the tool doesn't take can be
// anything, and is "?" there.
func (a *CallSpec) keys() []string {
	var out []string
	strange := false
	for _, m := range a.Arguments.Members() {
		if a.Takes == nil || slices.Contains(a.Takes, m.Name) {
			out = append(out, m.Name)
		} else {
			strange = true
		}
	}
	if strange {
		out = append(out, "?")
	}
	sort.Strings(out)
	return out
}

// PolicyVersion identifies the rules in force.
func (g *Gateway) PolicyVersion() string { return g.policy.Load().Version() }
