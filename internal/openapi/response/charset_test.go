package response

import (
	"net/http"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
)

// TestCharsets has a row for each encoding of a response's text.
func TestCharsets(t *testing.T) {
	for _, row := range []struct{ media, body, want string }{
		{"application/json", `{"a":"ü"}`, `{"a":"ü"}`},
		{"application/json", "\xEF\xBB\xBF" + `{"a":"ü"}`, `{"a":"ü"}`},
		{"application/json", "\xFF\xFE{\x00\"\x00a\x00\"\x00:\x001\x00}\x00", `{"a":1}`},
		{"application/json", "\xFE\xFF\x00{\x00\"\x00a\x00\"\x00:\x001\x00}", `{"a":1}`},
		{"application/json", "{\x00\"\x00a\x00\"\x00:\x001\x00}\x00", `{"a":1}`},
		{"application/json", "\x00{\x00\"\x00a\x00\"\x00:\x001\x00}", `{"a":1}`},
		{"application/json; charset=utf-16", "\x00{\x00\"\x00a\x00\"\x00:\x00\xfc\x00}", "{\"a\":ü}"},
		{"application/json; charset=UTF-16LE", "{\x00\"\x00a\x00\"\x00:\x001\x00}\x00", `{"a":1}`},
		{"application/json", "{\x00\x00\x00}\x00\x00\x00", `{}`},
		{"application/json", "\x00\x00\x00{\x00\x00\x00}", `{}`},
		{"application/json", "\xFF\xFE\x00\x00{\x00\x00\x00}\x00\x00\x00", `{}`},
		{"application/json; charset=iso-8859-1", "{\"a\":\"\xfc\"}", `{"a":"ü"}`},
		{"application/json; charset=\"ISO-8859-1\"", "{\"a\":\"\xfc\"}", `{"a":"ü"}`},
		{"text/plain; charset=latin1", "gr\xfc\xdfe", `grüße`},
		{"text/plain; charset=windows-1252", "\x80 5", `€ 5`},
		{"text/plain; charset=iso-8859-15", "\xa4 5", `€ 5`},
		{"text/plain; charset=iso-8859-2", "\xb3", `ł`},
		{"text/plain; charset=koi8-r", "\xc1", `а`},
		{"text/plain; charset=iso-8859-1", "ü", `ü`}, // the header contradicts the text
		{"text/plain; charset=us-ascii", "a", `a`},
		{"text/plain; charset=unheard-of", "\xfc", "\xfc"},
		{"text/plain", "\xfc", "\xfc"},
	} {
		if got := string(decodeBody(&calls.HTTPResponse{Header: http.Header{"Content-Type": {row.media}}, Body: []byte(row.body)})); got != row.want {
			t.Errorf("%s %q: %q, want %q", row.media, row.body, got, row.want)
		}
	}
}
