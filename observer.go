package bailiwick

import (
	"context"
	"slices"
	"sort"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
)

// An Observer is notified of every call, for metrics, traces and logs. It decides nothing, and it must not keep the
// principal or the arguments after the call.
type Observer interface {
	// Begin is called before anything is decided about a call. The context that it returns becomes the call's
	// context, so the spans of its steps (package span) are children of the span in it.
	Begin(ctx context.Context, who identity.Principal, ask CallSpec) context.Context
	// End is called with the record of a call, after the log has kept it, and the call's error.
	End(ctx context.Context, who identity.Principal, r *audit.Record, err error)
}

// keys returns the argument names for the record, sorted. A name that the tool doesn't take is recorded as "?",
// because it could contain anything.
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
func (g *Gateway) PolicyVersion() string { return g.force.Load().policy.Version() }
