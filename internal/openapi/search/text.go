package search

import (
	"bytes"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// oneLine flattens a text to one line. It cuts the text at a word, to at most the given number of characters.
func oneLine(s string, most int) string {
	if len(s) > 8*most { // the rest would be cut anyway
		s = s[:8*most]
	}
	s = strings.ToValidUTF8(s, "�")
	flat := strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || !unicode.IsPrint(r) }), " ")
	if utf8.RuneCountInString(flat) <= most {
		return flat
	}
	runes := []rune(flat)[:most-1]
	for i := len(runes); i > most/2; i-- {
		if i < len(runes) && runes[i] == ' ' {
			runes = runes[:i]
			break
		}
	}
	return strings.TrimRight(string(runes), " ,;:.") + "…"
}

// prose returns a description on one line, without HTML and Markdown, cut at a word.
func prose(s string, most int) string {
	if len(s) > 16*most {
		s = s[:16*most]
	}
	s = link.ReplaceAllString(html.UnescapeString(tag.ReplaceAllString(s, " ")), "$1")
	return oneLine(emphasis.ReplaceAllString(s, ""), most)
}

var (
	tag      = regexp.MustCompile(`</?[a-zA-Z][^<>]*(>|$)`)                           // an HTML element, even if it was cut
	link     = regexp.MustCompile(`!?\[([^\]\n]*)\]\([^)\n]*(?:\)|$)`)                // [text](address)
	emphasis = regexp.MustCompile("(?m)^\\s*(?:#+|[*-]|>|```\\w*)\\s+|\\*\\*|__|```") // headings, items, bold, fences
)

// name returns a name from the document. It quotes the name if it is empty, too long or contains unprintable
// characters.
func name(s string) string {
	if s == "" || strings.IndexFunc(s, func(r rune) bool { return unicode.IsControl(r) || !unicode.IsPrint(r) }) >= 0 || len(s) > 200 {
		return strconv.Quote(oneLine(s, 200))
	}
	return s
}

// maxValue is the maximum length of a default or an example in a description, in bytes.
const maxValue = 40

// shortJSON returns a value as JSON if it is short. It omits objects, because one of their fields may be hidden.
func shortJSON(r spec.Raw) (string, bool) {
	if r == nil || len(r) > 4*maxValue || bytes.IndexByte(r, '{') >= 0 {
		return "", false
	}
	text := string(r.Compact())
	if len(text) > maxValue || text == `""` || text == "null" || !utf8.ValidString(text) {
		return "", false
	}
	return oneLine(text, maxValue), true
}

// known describes well-known types.
var known = map[string]string{
	"google.protobuf.Timestamp":   `ISO 8601, e.g. "2024-01-15T01:30:15Z"`,
	"google.protobuf.Duration":    `seconds, e.g. "3.5s"`,
	"google.protobuf.FieldMask":   `names of fields, e.g. "title,engine"`,
	"google.protobuf.Empty":       "no fields",
	"google.protobuf.Any":         "any message, its kind in @type",
	"google.protobuf.Struct":      "any JSON object",
	"google.protobuf.Value":       "any JSON value",
	"google.protobuf.ListValue":   "any JSON list",
	"google.protobuf.NullValue":   "null",
	"google.protobuf.StringValue": "a text or null",
	"google.protobuf.BoolValue":   "true, false or null",
	"google.protobuf.Int32Value":  "a number or null",
	"google.protobuf.Int64Value":  "a number as text, or null",
	"google.protobuf.DoubleValue": "a number or null",
	"google.protobuf.BytesValue":  "base64 or null",
	"google.type.Date":            "year, month, day",
}
