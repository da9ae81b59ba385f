package response

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// A page is the pagination data in a response.
type page struct {
	total *int64
	count *int64 // the count of this page or of all pages, because APIs differ
	pages *int64
	more  *bool       // nil if unknown
	next  value.Value // the next page's cursor or number
	link  string      // the URL of the next page

	counts bool // total comes from a header
}

// around contains the names of objects with pagination data. The body itself is always searched.
var around = []string{"meta", "metadata", "pagination", "paging", "page", "pages", "pageinfo", "paginginfo", "responsemetadata", "cursors", "cursor", "links", "link", "next", "data", "result"}

// tell reads the pagination data from body and headers. A total in the headers also counts items that the view hides.
// It is therefore read only if all is true, which means that the view hides no items.
func (p *page) tell(body value.Value, h http.Header, all bool) {
	p.within(body, 0)
	for _, line := range h.Values("Link") {
		if to := nextLink(line); to != "" {
			p.link = to
		}
	}
	if !all {
		return
	}
	_, ranged, _ := strings.Cut(h.Get("Content-Range"), "/") // for example items 0-24/319
	for _, text := range []string{h.Get("X-Total-Count"), h.Get("X-Total"), h.Get("Total-Count"), h.Get("X-WP-Total"), h.Get("X-Pagination-Total-Count"), ranged} {
		if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil && n >= 0 && p.total == nil {
			p.total, p.counts = &n, true
		}
	}
}

// within reads pagination data from the members of v and of the objects in around, three levels deep. The name after
// counts only inside such an object, as in {cursors: {after: …}}.
func (p *page) within(v value.Value, depth int) {
	for _, m := range v.Members() {
		name := plain(m.Name)
		if m.Value.Kind() == value.Object {
			if depth < 3 && slices.Contains(around, name) {
				if name == "next" {
					p.url(href(m.Value))
				}
				p.within(m.Value, depth+1)
			}
			continue
		}
		if name != "after" || depth > 0 {
			p.member(name, m.Value)
		}
	}
}

// member reads one member by its normalized name. The value of next is a URL if it looks like one, and a cursor
// otherwise. A Boolean last means the opposite of more.
func (p *page) member(name string, v value.Value) {
	switch name {
	case "total", "totalcount", "totalitems", "totalresults", "totalelements", "totalsize", "totalrecords", "totalhits", "totalentries", "odatacount", "resultcount":
		set(&p.total, v)
	case "count":
		set(&p.count, v)
	case "totalpages", "pagecount", "lastpage", "numpages", "pages", "pagestotal":
		set(&p.pages, v)
	case "hasmore", "hasnext", "hasnextpage", "more", "istruncated", "moreresults":
		if v.Kind() == value.Bool {
			more := v.Bool()
			p.more = &more
		}
	case "last":
		if v.Kind() == value.Bool {
			more := !v.Bool()
			p.more = &more
		}
	case "nextcursor", "nextpagetoken", "nexttoken", "nextpage", "continuationtoken", "nextcontinuationtoken", "endcursor", "nextmarker", "nextcontinuation",
		"nextpagecursor", "after", "scrollid":
		p.cursor(v)
	case "next", "nextlink", "odatanextlink", "nexturl", "nextpageurl", "nextpagelink":
		if text := v.Text(); strings.Contains(text, "/") || strings.HasPrefix(text, "?") {
			p.url(text)
		} else {
			p.cursor(v)
		}
	}
}

// cursor sets the cursor of the next page. An empty cursor means that there is no next page.
func (p *page) cursor(v value.Value) {
	switch {
	case v.Kind() == value.String && v.Text() != "", v.Kind() == value.Int:
		p.next = v
	case (v.IsNull() || v.Kind() == value.String) && p.more == nil && p.next.IsNull() && p.link == "":
		more := false
		p.more = &more
	}
}

func (p *page) url(text string) {
	if text != "" {
		p.link = text
	}
}

func href(v value.Value) string {
	to, _ := v.Get("href")
	return to.Text()
}

// set sets *to to a non-negative number, which may be written as a string.
func set(to **int64, v value.Value) {
	n, ok := v.AsInt()
	if v.Kind() == value.String {
		parsed, err := strconv.ParseInt(v.Text(), 10, 64)
		n, ok = parsed, err == nil
	}
	if ok && n >= 0 && *to == nil {
		*to = &n
	}
}

// nextLink returns the target of rel=next in a Link header (RFC 8288).
func nextLink(line string) string {
	for line != "" {
		start := strings.IndexByte(line, '<')
		end := strings.IndexByte(line, '>')
		if start < 0 || end < start {
			return ""
		}
		target, rest := line[start+1:end], line[end+1:]
		params := rest
		if at := strings.Index(rest, "<"); at >= 0 {
			params, line = rest[:at], rest[at:]
		} else {
			line = ""
		}
		for param := range strings.SplitSeq(params, ";") {
			name, says, _ := strings.Cut(strings.Trim(param, " ,\t"), "=")
			if strings.EqualFold(strings.TrimSpace(name), "rel") && slices.Contains(strings.Fields(strings.ToLower(strings.Trim(says, `"' `))), "next") {
				return target
			}
		}
	}
	return ""
}

// queryOf returns the query of a URL, or nil if it is invalid.
func queryOf(link string) url.Values {
	u, err := url.Parse(link)
	if err != nil {
		return nil
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil
	}
	return q
}
