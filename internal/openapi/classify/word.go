package classify

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/rules/denylist"
)

// Words that say what an operation does, whatever its method.
var (
	destroys = []string{"delete", "destroy", "purge", "prune", "wipe", "erase", "revoke", "cancel", "terminate", "truncate", "uninstall"}
	acts     = []string{"logout", "signout", "unsubscribe", "restart", "reset", "trigger", "run", "accept", "confirm", "execute", "start", "stop"}
	tunnels  = []string{"exec", "attach", "portforward", "proxy", "websocket", "ws", "shell"}
)

// byWord returns the class that the words of op ask for at least; false where they ask for none. A word counts where it
// begins the last part of the path, or of the id that the document gives; a tunnel where it is all of that part.
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
