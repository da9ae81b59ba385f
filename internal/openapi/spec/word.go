package spec

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
)

// These verbs in names of operations indicate a class, regardless of the method.
var (
	destroys = []string{"delete", "destroy", "purge", "prune", "wipe", "erase", "revoke", "cancel", "terminate", "truncate", "uninstall", "remove", "kill", "drop", "abort", "anonymize", "anonymise", "evict", "eviction", "execute", "eval"}
	acts     = []string{"logout", "signout", "unsubscribe", "restart", "reset", "trigger", "run", "accept", "confirm", "execute", "start", "stop", "send", "approve", "reject", "rotate", "renew",
		"generate", "regenerate", "cron", "unlock", "disable", "enable", "join", "leave", "kick", "resend", "retry", "redeliver"}
	tunnels = []string{"exec", "attach", "portforward", "port-forward", "proxy", "websocket", "ws", "shell", "terminal", "vnc", "eval"}
	fillers = []string{"batch", "bulk", "mass", "force", "admin", "async"}
)

// byWord returns the least strict class that the verbs in op's name allow, or false if they don't indicate one. A
// verb counts at the start of the last path segment, of the declared id, and of the summary. A tunnel name must be
// the whole segment.
func byWord(op *Operation) (Class, bool) {
	path, _ := op.Target()
	segments := strings.Split(strings.Trim(path, "/"), "/")
	last := segments[len(segments)-1]
	inner := ""
	if len(segments) > 1 && strings.HasPrefix(last, "{") {
		inner = segments[len(segments)-2]
	}
	var names []string
	if !strings.HasPrefix(last, "{") {
		names = append(names, last[strings.LastIndexByte(last, '.')+1:])
	}
	if _, verb, ok := strings.Cut(last, "}:"); ok {
		names = append(names, verb)
	}
	if op.Declared {
		names = append(names, ShortName(op.ID))
	}
	reads := op.Method == "GET" || op.Method == "HEAD"
	verbs := func(words []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(words, verb(name)) }) ||
			slices.Contains(words, verb(op.Summary)) || slices.Contains(words, strings.TrimSuffix(verb(op.Summary), "s"))
	}
	switch {
	case verbs(destroys):
		return ClassDestructive, true
	case slices.Contains(tunnels, strings.ToLower(last)) && !plugsIn(op, last, reads) || strings.EqualFold(inner, "proxy") || upgrades(op):
		return ClassDestructive, true
	case !reads && strings.EqualFold(last, "console"): // a GET only returns the output so far
		return ClassDestructive, true
	case !reads && slices.Contains(tunnels, strings.ToLower(segments[0])) && verbs([]string{"start"}): // POST /exec/{id}/start
		return ClassDestructive, true
	case isRuin(op, reads):
		return ClassDestructive, true
	case reads && verbs(acts) && !onlyAsks(op):
		return ClassWrite, true
	}
	return 0, false
}

// upgrades reports whether the connection of op becomes a channel, by status 101.
func upgrades(op *Operation) bool {
	return slices.ContainsFunc(op.Responses, func(r Response) bool { return r.Status == "101" })
}

// verb returns the first word of a name, without words that only say how much or how. It returns "" if there is none.
func verb(name string) string {
	for _, word := range secretnames.Words(name) {
		if !slices.Contains(fillers, word) {
			return word
		}
	}
	return ""
}
