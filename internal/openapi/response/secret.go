package response

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
)

// secret reports whether values with the given name are credentials. See secretnames.Carrier.
func secret(name string) bool { return secretnames.Carrier(name) }

// coverOf returns how much is masked under the name of a credential. Numbers are not masked (expires_in,
// token_count), unless the credential itself can be a number.
func coverOf(name string) cover {
	for _, w := range secretnames.Words(name) {
		if w == "ssn" || w == "totp" || w == "pwd" || w == "pin" || w == "cvv" || w == "cvc" || strings.HasPrefix(w, "otp") || strings.HasPrefix(w, "pass") {
			return numbers
		}
	}
	return texts
}

// plain returns name reduced to lower-case letters and digits: nextCursor, next_cursor and next-cursor are the same.
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
