package response

import (
	"net/http"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
)

// longestTag and longestLocation are the maximum lengths of an ETag and of a Location that are returned.
const (
	longestTag      = 200
	longestLocation = 1000
)

// headers sets the fields of a from headers that describe the whole body. These headers change with each part of the
// body. So they are returned only if the caller sees all of it. Then nothing is hidden from the caller in any body, and
// nothing is masked in this one.
func (a *Answer) headers(w *walker, header http.Header) {
	if !w.v.Whole() || w.covered+w.shaped+w.dropped > 0 {
		return
	}
	if tag := header.Get("ETag"); len(tag) <= longestTag && printable(tag) && secretnames.Mask(tag, Masked) == tag {
		a.ETag = tag
	}
	a.Location = Location(header)
}

// Location returns the Location in the headers of a response, without parts that look like a credential, or "".
func Location(header http.Header) string {
	to := strings.TrimSpace(header.Get("Location"))
	if len(to) > longestLocation || !printable(to) {
		return ""
	}
	return secretnames.Mask(to, Masked)
}

// printable reports whether a header can be shown as it is.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}
