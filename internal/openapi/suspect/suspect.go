// Package suspect tells operations of an HTTP API that look as if they were not for agents: by the words of their paths
// and ids they make credentials, give rights, decide about approvals or move limits.
//
// It stands beside package access, and decides nothing: it is asked when a first configuration is written and when one is
// audited, and a person confirms what it says. It knows no API, and it can be wrong in both directions.
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
	Credentials Kind = "credentials" // it makes, changes or ends them, or signs somebody in
	Rights      Kind = "rights"      // it changes who may do what
	Approvals   Kind = "approvals"   // it decides about one
	Limits      Kind = "limits"      // it changes what an account may use
	Shows       Kind = "shows"       // it reads, and its answer may hold credentials
)

// Kinds are all kinds, those for nobody first.
func Kinds() []Kind { return []Kind{Credentials, Rights, Approvals, Limits, Shows} }

// Reason says it in words for agents, after "is not for agents: ".
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

// words are what tells each kind that changes something; two words stand together in that order.
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

// Of returns what op, which has that class, is suspected of.
func Of(op *spec.Operation, class classify.Class) Kind {
	name, summary := spoken(op)
	for _, w := range words {
		said := name
		if w.kind == Credentials || w.kind == Rights {
			said += summary // of the others, sentences speak without doing it
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

// Writes reports whether op, which reads by its method, looks as if it changed something all the same.
func Writes(op *spec.Operation) bool {
	return op.Method == "GET" && says(op, "logout", "verify", "confirm", "unsubscribe", "accept", "cancel", "delete", "remove", "reset", "restart", "run", "trigger", "callback")
}

// Reads reports whether op, which writes by its method, looks as if it only read.
func Reads(op *spec.Operation) bool {
	return op.Method == "POST" && says(op, "check", "search", "query", "validate", "preview", "lookup", "find", "count", "list", "get", "diff", "estimate", "exists", "explain")
}

// says reports whether the last part of the path, or of the id that the document gives, begins with one of those words.
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

// spoken are the words of what op is about, by its path and id and by its summary, each in the singular and between
// spaces.
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
		b.WriteString("/ ") // words of two names are not together
		add(op.ID)
	}
	name = b.String()
	b.Reset()
	b.WriteString("/ ")
	add(op.Summary)
	return name, b.String()
}
