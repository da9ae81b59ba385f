package response

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/rules/denylist"
)

// Secret reports whether a name says that its value is a credential: what rules/denylist denies in databases, and what
// further names carry them between programs. The token of a next page is none.
func Secret(name string) bool {
	words := denylist.Words(name)
	if last := words[len(words)-1]; last == "token" && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(paging, w) }) {
		return false
	}
	if denylist.Credential(name) {
		return true
	}
	for _, w := range words {
		if slices.Contains(carriers, w) {
			return true
		}
	}
	joined := strings.Join(words, "")
	return slices.ContainsFunc(keys, func(key string) bool { return strings.Contains(joined, key) })
}

var (
	paging   = []string{"page", "next", "prev", "previous", "continuation", "sync", "skip", "cursor"}
	carriers = []string{"authorization", "cookie", "cookies", "bearer", "jwt", "pwd", "cvv", "cvc", "pin"}
	keys     = []string{"accesskey", "signingkey", "encryptionkey", "sessionid", "connectionstring", "connectionurl"}
)

// coverOf says how a value leaves whose name is that of a credential. Numbers stay (expires_in, token_count), but for
// those that are the secret.
func coverOf(name string) cover {
	for _, w := range denylist.Words(name) {
		if w == "ssn" || w == "totp" || w == "pin" || w == "cvv" || w == "cvc" || strings.HasPrefix(w, "otp") || strings.HasPrefix(w, "pass") {
			return numbers
		}
	}
	return texts
}

// plain is a name in lower-case letters and digits alone: nextCursor, next_cursor and next-cursor are one.
func plain(name string) string {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return strings.Map(func(r rune) rune {
				switch {
				case 'A' <= r && r <= 'Z':
					return r + 'a' - 'A'
				case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
					return r
				}
				return -1
			}, name)
		}
	}
	return name
}
