package classify

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/rules/denylist"
)

// Verbs in names of operations that indicate a class, whatever the method.
var (
	destroys = []string{"delete", "destroy", "purge", "prune", "wipe", "erase", "revoke", "cancel", "terminate", "truncate", "uninstall"}
	acts     = []string{"logout", "signout", "unsubscribe", "restart", "reset", "trigger", "run", "accept", "confirm", "execute", "start", "stop"}
	tunnels  = []string{"exec", "attach", "portforward", "proxy", "websocket", "ws", "shell"}
)

// byWord returns the least class that the verbs in op's name require, or false if there is none. A verb counts at the
// start of the last path segment or of the id that the document declares; a tunnel name must be the whole segment.
func byWord(op *spec.Operation) (Class, bool) {
	path, _ := op.Target()
	segments := strings.Split(strings.Trim(path, "/"), "/")
	last := segments[len(segments)-1]
	inner := ""
	if len(segments) > 1 && strings.HasPrefix(last, "{") {
		inner = segments[len(segments)-2]
	}
	verbs := []string{""}
	if !strings.HasPrefix(last, "{") {
		verbs = append(verbs, denylist.Words(last)[0])
	}
	if _, verb, ok := strings.Cut(last, "}:"); ok {
		verbs = append(verbs, denylist.Words(verb)[0])
	}
	if op.Declared {
		verbs = append(verbs, denylist.Words(spec.ShortName(op.ID))[0])
	}
	says := func(words []string) bool {
		return slices.ContainsFunc(verbs, func(verb string) bool { return slices.Contains(words, verb) })
	}
	reads := op.Method == "GET" || op.Method == "HEAD"
	switch {
	case says(destroys):
		return Destructive, true
	case slices.Contains(tunnels, strings.ToLower(last)) || strings.EqualFold(inner, "proxy") || slices.ContainsFunc(op.Responses, func(r spec.Response) bool { return r.Status == "101" }):
		return Destructive, true
	case reads && says(acts):
		return Write, true
	}
	return 0, false
}
