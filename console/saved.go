package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// savedCookie is the cookie with the filters that the visitor has saved in this browser.
const savedCookie = "bailiwick-filters"

func readKeptFilters(v *visit) keptFilters {
	cookie, err := v.r.Cookie(savedCookie)
	if err != nil {
		return keptFilters{}
	}
	return parseKeptFilters(cookie.Value)
}

// savedFilters returns links to the filters that the visitor has saved.
func savedFilters(v *visit) []chip {
	var out []chip
	for name, filter := range readKeptFilters(v) {
		out = append(out, chip{Label: name, Href: address(filter), Here: v.r.URL.RequestURI() == address(filter)})
	}
	slices.SortFunc(out, func(a, b chip) int { return strings.Compare(a.Label, b.Label) })
	return out
}

// saveFilter saves the filter of the queue from which it is called under a name, or removes the saved filter with
// that name.
func (c *Console) saveFilter(v *visit) error {
	in := queueOf(v.r.PostForm.Get("in"))
	all, name := readKeptFilters(v), strings.TrimSpace(v.r.PostForm.Get("name"))
	delete(all, name)
	if at, err := url.Parse(in); err == nil && v.r.PostForm.Get("remove") == "" {
		all.Keep(name, at.Query())
	}
	kept := plainCookie(v.r, savedCookie, all.Encode())
	kept.MaxAge = 365 * 24 * 3600
	http.SetCookie(v.w, kept)
	http.Redirect(v.w, v.r, in, http.StatusSeeOther)
	return nil
}
