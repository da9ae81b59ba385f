package search

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// alsoBytes and alsoBytesWeak limit the total size of the ids of further operations in a search result, in bytes. A
// search without a good match names more, because the right operation is often among them.
const alsoBytes, alsoBytesWeak = 400, 900

// also names further operations in one line, by their ids only.
func (p *printer) also(all []*spec.Operation) {
	if ids := idsOf(all[:fitting(all, alsoBytes)]); len(ids) > 0 {
		p.line(0, "Also: "+formatIDs(ids))
	}
}

// A search without a good match lists services. If it found nothing, maxElsewhere is the maximum number of services
// that are described in full. maxNames is the maximum number that is listed by name, and maxOthers the maximum beside
// further operations.
const maxElsewhere, maxNames, maxOthers = 12, 60, 24

// elsewhere lists other places to search after a search without a good match. First come further operations grouped
// by service, beginning with the service of the best operation. The other services follow.
func (p *printer) elsewhere(r Result) {
	if len(r.Operations) == 0 && len(r.Services) <= maxElsewhere {
		p.line(0, "Services:")
		p.services(r.Services)
		return
	}
	ids := map[string][]string{}
	var order []string
	for _, op := range r.Also[:fitting(r.Also, alsoBytesWeak)] {
		in := cmp.Or(r.Service, op.Groups()[0])
		if ids[in] == nil {
			order = append(order, in)
		}
		ids[in] = append(ids[in], name(op.ID))
	}
	if len(order) > 0 {
		p.line(0, "Also, by service:")
	}
	sizes := map[string]int{}
	var others []string
	for _, s := range r.Services {
		sizes[s.Name] = s.Operations
		if ids[s.Name] == nil {
			others = append(others, fmt.Sprintf("%s (%d)", name(s.Name), s.Operations))
		}
	}
	for _, in := range order {
		p.line(0, fmt.Sprintf("%s (%d): %s", name(in), sizes[in], formatIDs(ids[in])))
	}
	if len(others) == 0 {
		return
	}
	title, most, more := "Services: ", maxNames, ""
	if len(order) > 0 {
		title, most = "Other services: ", maxOthers
	}
	if n := len(others) - most; n > 0 {
		others, more = others[:most], fmt.Sprintf(" … and %d more", n)
	}
	p.line(0, title+strings.Join(others, ", ")+more)
}

// fitting returns how many of the first operations have ids of at most size bytes in total.
func fitting(all []*spec.Operation, size int) int {
	for i, op := range all {
		if size -= len(spec.ShortName(op.ID)) + len(", "); size < 0 {
			return i
		}
	}
	return len(all)
}

func idsOf(all []*spec.Operation) (out []string) {
	for _, op := range all {
		out = append(out, name(op.ID))
	}
	return out
}

// formatIDs returns the ids as one text, in their order. Ids that are equal up to the last dot or slash are combined
// at the position of the first: issues/{list, get}. An id that contains a character of this notation is written
// separately.
func formatIDs(ids []string) string {
	parts := func(id string) (start, end string) {
		if at := strings.LastIndexAny(id, "./") + 1; at < len(id) && !strings.ContainsAny(id, "{}, \"") {
			return id[:at], id[at:]
		}
		return "", id
	}
	ends := map[string][]string{}
	for _, id := range ids {
		start, end := parts(id)
		ends[start] = append(ends[start], end)
	}
	var out []string
	for _, id := range ids {
		switch start, _ := parts(id); {
		case start == "" || len(ends[start]) == 1:
			out = append(out, id)
		case ends[start] != nil:
			out = append(out, start+"{"+strings.Join(ends[start], ", ")+"}")
			ends[start] = nil
		}
	}
	return strings.Join(out, ", ")
}
