package response

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/rules/denylist"
)

// Secret reports whether a name says that its texts are credentials; see denylist.Carrier.
func Secret(name string) bool { return denylist.Carrier(name) }

// coverOf says how a value leaves whose name is that of a credential. Numbers stay (expires_in, token_count), but for
// those that are the secret.
func coverOf(name string) cover {
	for _, w := range denylist.Words(name) {
		if w == "ssn" || w == "totp" || w == "pwd" || w == "pin" || w == "cvv" || w == "cvc" || strings.HasPrefix(w, "otp") || strings.HasPrefix(w, "pass") {
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
