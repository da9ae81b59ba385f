package secretnames

import (
	"slices"
	"strings"
)

// attributes lists last words of names that describe a credential but don't contain it: token_expires_at,
// password_policy.
var attributes = []string{"id", "ids", "at", "on", "by", "date", "dates", "time", "times", "timestamp", "ts", "expires", "expire", "expiry", "expiration", "expired", "expiring", "created", "updated", "changed", "change", "modified", "used", "last",
	"lastused", "ttl", "lifetime", "validity", "valid", "duration", "age", "days", "hours", "minutes", "seconds", "timeout", "interval", "count", "counts", "counter", "attempts", "attempt", "tries", "retries", "failures", "failed", "failure",
	"total", "max", "min", "maximum", "minimum", "length", "len", "size", "limit", "limits", "type", "types", "kind", "name", "names", "label", "title", "description", "comment", "policy", "policies", "rule", "rules",
	"method", "methods", "mode", "algorithm", "algorithms", "algo", "alg", "format", "strategy", "status", "state", "enabled", "disabled", "required", "allowed", "supported", "forced", "protected", "verified", "confirmed", "version", "scope",
	"scopes", "permission", "permissions", "issuer", "audience", "endpoint", "field", "fields", "usage", "identity", "owner", "role", "order", "position", "color", "storage", "provider", "location", "placeholder", "strength", "complexity",
	"score", "in", "from", "billing", "lengths", "idle", "sent", "requirement", "requirements", "requested", "consent", "timezone", "currency", "price", "cost", "rate", "budget", "quota", "consumption", "tracking", "exempt", "compromised", "rotated", "rotation"}

// asking lists first words of names that contain a boolean or an amount: has_password, max_tokens.
var asking = []string{"is", "has", "had", "was", "can", "must", "should", "may", "allow", "allows", "allowed", "requires", "required", "force", "need", "needs", "num", "max", "min", "shows", "hides", "uses", "trace", "count", "total"}

// whole lists endings that name a credential although they look like an attribute. Examples are a session ID, the ID of
// an AWS access key, and the secret ID of an AppRole.
var whole = [][]string{{"session", "id"}, {"sessionid"}, {"access", "key", "id"}, {"accesskeyid"}, {"secret", "id"}, {"secretid"}}

// squashedEnds lists endings of words in which a credential and its attribute are written together. The longer
// attributes are included.
var squashedEnds = append([]string{"update", "reset"}, attributes...)

// about reports whether a name with these words only describes a credential instead of containing one.
func about(words []string) bool {
	if len(words) > 1 && slices.Contains(asking, words[0]) {
		return true
	}
	for _, end := range whole {
		if len(words) >= len(end) && slices.Equal(words[len(words)-len(end):], end) {
			return false
		}
	}
	last := words[len(words)-1]
	if words[0] == "encrypted" {
		return len(words) > 1 && last == "at"
	}
	return len(words) > 1 && (slices.Contains(attributes, last) || last == "update" || last == "updates") || isCompoundWord(last)
}

// isCompoundWord reports whether one word is a credential followed by attributes without separators: tokenexpiry,
// lastpasswordupdate.
func isCompoundWord(word string) bool {
	rest := word
	for cut := true; cut; {
		cut = false
		for _, a := range squashedEnds {
			if stem, ok := strings.CutSuffix(rest, a); ok && len(a) >= 4 && stem != "" {
				rest, cut = stem, true
			}
		}
	}
	return rest != word && marksCredential([]string{rest}) && !slices.ContainsFunc([]string{"code", "key"}, func(end string) bool { return strings.HasSuffix(word, end) })
}
