package yamlconf

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

var (
	scheme    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
	reference = regexp.MustCompile(`\$\{[^}]*\}`)
)

// inURL returns the value v in the form that replaces a reference in text. The argument at is the byte position of
// the reference. If text is a URL, the value can't change other parts of the URL. It is percent-encoded in the name,
// the password, the path and the query. A host can't be encoded, so a value with URL delimiters is an error there. A
// reference before "://" is not part of a URL, so its value may be a whole URL.
func inURL(text string, at int, v string) (string, error) {
	text = reference.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("x", len(s)) })
	begins := scheme.FindString(text)
	if begins == "" || at < len(begins) {
		return v, nil
	}
	rest, at := text[len(begins):], at-len(begins)
	authority := strings.IndexAny(rest, "/?#")
	if authority < 0 {
		authority = len(rest)
	}
	switch query := strings.IndexByte(rest, '?'); {
	case at < strings.LastIndexByte(rest[:authority], '@'):
		return escape(v), nil
	case at < authority:
		if strings.ContainsAny(v, "/?#@ \t\r\n") {
			return "", errors.New("the value stands for the host of a URL, and no host contains /, ?, #, @ or a space")
		}
		return v, nil
	case query >= 0 && query < at:
		return escape(v), nil
	}
	parts := strings.Split(v, "/")
	for i, p := range parts {
		parts[i] = escape(p)
	}
	return strings.Join(parts, "/"), nil
}

// escape percent-encodes all characters except letters, digits and -._~.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
