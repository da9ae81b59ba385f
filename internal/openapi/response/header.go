package response

import (
	"net/http"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
)

// longestTag and longestLocation are the maximum lengths of a returned ETag and Location, in bytes.
const (
	longestTag      = 200
	longestLocation = 1000
)

// headers sets the fields of a from headers that describe the whole body. A hidden part of the body can change these
// headers. So they are returned only if the caller sees the whole body: the view hides no part of any body, and
// nothing in this body is masked.
func (a *Answer) headers(w *walker, header http.Header) {
	if !w.v.Whole() || w.covered+w.shaped+w.dropped > 0 {
		return
	}
	if tag := header.Get("ETag"); len(tag) <= longestTag && printable(tag) && secretnames.Mask(tag, Masked) == tag {
		a.ETag = tag
	}
	a.Location = Location(header)
}

// Location returns the Location header of a response, with likely credentials masked. It returns "" if there is none
// or it is not printable.
func Location(header http.Header) string {
	to := strings.TrimSpace(header.Get("Location"))
	if len(to) > longestLocation || !printable(to) {
		return ""
	}
	return secretnames.Mask(to, Masked)
}

// printable reports whether a header contains only printable ASCII characters.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}
