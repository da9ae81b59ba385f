// Package suspect finds operations of an HTTP API that agents probably should not call: those whose paths and ids
// suggest that they create credentials, grant rights, decide approvals or change limits.
//
// It is a heuristic for any API and can be wrong in both directions, so it enforces nothing: it is used when a
// configuration is first written and when one is audited, and a person confirms its findings.
package suspect

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/classify"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/rules/denylist"
)

// A Kind is what an operation is suspected of. "" is nothing.
type Kind string

// The kinds.
const (
	Credentials Kind = "credentials" // creates, changes or revokes credentials, or signs in
	Rights      Kind = "rights"      // changes permissions
	Approvals   Kind = "approvals"   // decides an approval
	Limits      Kind = "limits"      // changes what an account may use
	Shows       Kind = "shows"       // only reads, but its response may contain credentials
)

// Kinds returns all kinds, those that should be forbidden first.
func Kinds() []Kind { return []Kind{Credentials, Rights, Approvals, Limits, Shows} }

// Reason returns the reason as a text for agents, to follow "is not for agents: ".
func (k Kind) Reason() string {
	switch k {
	case Credentials:
		return "it makes, changes or ends credentials or sign-ins"
	case Rights:
		return "it changes who may do what"
	case Approvals:
		return "it decides about an approval, which people do"
	case Limits:
		return "it changes what the account may use"
	case Shows:
		return "its answer may hold credentials"
	}
	return ""
}

// words lists the terms that indicate each kind of change; a term of two words matches them in that order.
var words = []struct {
	kind Kind
	say  []string
}{
	{Credentials, []string{"token", "secret", "credential", "cred", "auth", "password", "passwd", "passphrase", "passkey", "apikey", "api key", "access key", "private key", "ssh key", "recovery code",
		"mfa", "otp", "totp", "2fa", "two factor", "webauthn", "login", "logout", "signin", "sign in", "signout", "sign out", "signup", "sign up", "oauth", "sso", "saml",
		"impersonate", "impersonation", "account register", "user register", "auth register", "user session", "auth session", "account session"}},
	{Approvals, []string{"approve", "approval", "reject", "rejection"}},
	{Rights, []string{"iam", "permission", "role", "grant", "acl", "service account", "identity provider", "workload identity", "workload identitie"}},
	{Limits, []string{"quota", "rate limit", "limit", "license", "licence", "entitlement"}},
}

// Of returns what op, of the given class, is suspected of.
func Of(op *spec.Operation, class classify.Class) Kind {
	name, summary := spoken(op)
	for _, w := range words {
		said := name
		if w.kind == Credentials || w.kind == Rights {
			said += summary // for the other kinds, summaries mention the terms too often
		}
		if !slices.ContainsFunc(w.say, func(s string) bool { return strings.Contains(said, " "+s+" ") }) {
			continue
		}
		switch {
		case class != classify.Read:
			return w.kind
		case w.kind == Credentials:
			return Shows
		}
	}
	return ""
}

// Writes reports whether op looks as if it changed something although its method is GET.
func Writes(op *spec.Operation) bool {
	return op.Method == "GET" && says(op, "logout", "verify", "confirm", "unsubscribe", "accept", "cancel", "delete", "remove", "reset", "restart", "run", "trigger", "callback")
}

// Reads reports whether op looks as if it only read although its method is POST.
func Reads(op *spec.Operation) bool {
	return op.Method == "POST" && says(op, "check", "search", "query", "validate", "preview", "lookup", "find", "count", "list", "get", "diff", "estimate", "exists", "explain")
}

// says reports whether the last segment of the path, or of the declared id, begins with one of those words.
func says(op *spec.Operation, any ...string) bool {
	last := op.Path[strings.LastIndexByte(strings.TrimSuffix(op.Path, "/"), '/')+1:]
	if op.Declared && slices.Contains(any, first(spec.ShortName(op.ID))) {
		return true
	}
	return !strings.HasPrefix(last, "{") && slices.Contains(any, first(last))
}

func first(name string) string {
	if all := denylist.Words(name); len(all) > 0 {
		return all[0]
	}
	return ""
}

// spoken returns the words of op's path and id, and of its summary, in the singular and separated by spaces.
func spoken(op *spec.Operation) (name, summary string) {
	var b strings.Builder
	add := func(text string) {
		for _, w := range denylist.Words(text) {
			if len(w) > 3 && !strings.HasSuffix(w, "ss") {
				w = strings.TrimSuffix(w, "s")
			}
			b.WriteString(w + " ")
		}
	}
	b.WriteByte(' ')
	for part := range strings.SplitSeq(op.Path, "/") {
		if !strings.Contains(part, "{") {
			add(part)
		}
	}
	if op.Declared {
		b.WriteString("/ ") // so that words of two names don't match as one term
		add(op.ID)
	}
	name = b.String()
	b.Reset()
	b.WriteString("/ ")
	add(op.Summary)
	return name, b.String()
}
