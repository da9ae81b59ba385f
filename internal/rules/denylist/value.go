package denylist

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
)

// verifier matches what passwords are stored as: the forms of crypt(3), of Django and of LDAP.
var verifier = regexp.MustCompile(`^(?:\$(?:[1-9]|2[abxy]?|P|H|S|argon2\w*|scrypt|pbkdf2[\w-]*|y|7)\$|(?:pbkdf2_\w+|bcrypt\w*|argon2\w*|scrypt|sha1|md5)\$|\{(?:SSHA\d*|SHA\d*|SMD5|CRYPT|PBKDF2[\w-]*|ARGON2)\})\S{8,}$`)

// Value reports whether a text holds a credential, by its shape alone: a key or token of a known form, a private key, a URL
// with a password, a stored password, or JSON in which one of these or a member named like a credential has a value. It is
// for looking at samples once; it is never used for answers.
func Value(text string) bool {
	trimmed := strings.TrimSpace(text)
	if verifier.MatchString(trimmed) || Mask(text, "") != text {
		return true
	}
	var parsed any
	return json.Unmarshal([]byte(trimmed), &parsed) == nil && holds(parsed)
}

// holds reports whether a part of parsed JSON is a credential.
func holds(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if text, _ := member.(string); text != "" && Carrier(name) || holds(member) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			if holds(item) {
				return true
			}
		}
	case string:
		return Value(v)
	}
	return false
}

// Random reports whether a text looks like a key, a token or a hash of no known form: one word of at least 24 characters
// that mixes letters and digits, but no UUID, date or path. Identifiers and checksums look the same, so that one such
// value says little.
func Random(text string) bool {
	if len(text) < 24 || len(text) > 1024 {
		return false
	}
	var digits, letters, dashes, turns int
	var before rune
	for i, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r < 0x80 && unicode.IsLetter(r):
			letters++
		case r == '-', r == '_':
			dashes++
		case r == '+', r == '/', r == '=':
		default:
			return false
		}
		if i > 0 && class(r) != class(before) {
			turns++
		}
		before = r
	}
	return digits >= 3 && letters >= 3 && turns >= len(text)/6 && dashes <= len(text)/10
}

// class returns the class of a character for counting how often it changes: random texts change it often, words don't.
func class(r rune) int {
	switch {
	case unicode.IsDigit(r):
		return 0
	case unicode.IsUpper(r):
		return 1
	case unicode.IsLower(r):
		return 2
	}
	return 3
}
