package response

import (
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A role is the function of a parameter in pagination.
type role uint8

const (
	none role = iota
	byCursor
	byPage
	byOffset
	bySize
)

// roles lists the parameter names of each role, normalized by plain.
var roles = map[role][]string{
	byCursor: {"cursor", "pagetoken", "nexttoken", "nextpagetoken", "nextcursor", "continuationtoken", "continuation", "marker", "startcursor", "skiptoken", "bookmark", "scrollid",
		"after", "startingafter", "aftercursor", "pagecursor", "paginationtoken", "startafter", "pagingtoken", "pageafter", "aftertoken"},
	byPage:   {"page", "pagenumber", "pageno", "pagenum", "pageindex", "currentpage", "p"},
	byOffset: {"offset", "skip", "start", "startat", "startindex", "pageoffset", "firstresult"},
	bySize: {"limit", "perpage", "pagesize", "size", "pagelimit", "top", "maxresults", "max", "take", "count", "maxpagesize", "resultsperpage", "itemsperpage",
		"rowsperpage", "first", "maxitems", "pageperpage"},
}

// A parameter is a parameter that controls pagination.
type parameter struct {
	in     string // query or body
	name   string
	schema spec.Schema
	role   role
	given  value.Value // the requested value, else the default, or null if there is neither
}

// A pager computes the arguments of the call that gets the next page.
type pager struct {
	page
	v      *spec.View
	op     *spec.Operation
	a      validate.Arguments
	params []parameter
	notes  []string
}

// newPager finds the parameters of op that control pagination, in the query and in a JSON body, with their values in
// a.
func newPager(v *spec.View, op *spec.Operation, a validate.Arguments) *pager {
	p := &pager{v: v, op: op, a: a}
	for _, q := range v.Parameters(op) {
		if q.In == "query" {
			p.add("query", q.Name, v.Schema(q.Schema), a.Query)
		}
	}
	if op.Body != nil {
		if c := op.Body.PreferredContent(); c != nil && spec.IsJSON(c.MediaType) {
			for _, f := range v.Object(v.Schema(c.Schema)).Fields {
				p.add("body", f.Name, v.Schema(f.Schema), a.Body)
			}
		}
	}
	return p
}

// add adds a parameter if its name has a role in pagination and no other parameter has that role. Pages, offsets and
// sizes must be numbers. The value is the given value or the default.
func (p *pager) add(in, name string, s spec.Schema, given value.Value) {
	for _, role := range []role{byCursor, byPage, byOffset, bySize} {
		if !slices.Contains(roles[role], plain(name)) || role != byCursor && !s.Is("integer") && !s.Is("number") || p.param(role) != nil {
			continue
		}
		v, ok := given.Get(name)
		if !ok && s.Default != nil {
			if read, err := value.Read(s.Default, 1); err == nil {
				v = read
			}
		}
		p.params = append(p.params, parameter{in, name, s, role, v})
		return
	}
}

func (p *pager) param(r role) *parameter {
	for i := range p.params {
		if p.params[i].role == r {
			return &p.params[i]
		}
	}
	return nil
}

// number returns the integer given for a parameter. The integer may be given as a string.
func (q *parameter) number() (int64, bool) {
	if q == nil {
		return 0, false
	}
	if n, ok := q.given.AsInt(); ok {
		return n, true
	}
	n, err := strconv.ParseInt(q.given.Text(), 10, 64)
	return n, err == nil
}

// next returns the argument changes for the next page, or null if there is none or it is unknown. The page had the
// given number of items. seen contains the visible items.
func (p *pager) next(items int, seen []value.Value) value.Value {
	p.useCount(items)
	if p.more != nil && !*p.more && p.link == "" {
		return value.Value{}
	}
	if p.link != "" {
		if next := p.linkChanges(); !next.IsNull() {
			return next
		}
	}
	cursor := p.param(byCursor)
	if !p.page.next.IsNull() {
		if cursor != nil {
			return call(cursor, p.page.next)
		}
		if n, ok := p.page.next.AsInt(); ok && p.param(byPage) != nil {
			return call(p.param(byPage), value.OfInt(n))
		}
		p.note("the API has a further page, and the operation no parameter that asks for it")
		return value.Value{}
	}
	if p.more != nil && items == len(seen) {
		if next := p.behind(seen); !next.IsNull() {
			return next
		}
	}
	return p.counting(items)
}

// goesBeyond reports whether the API states that it has more items than this page, even if no call can get them.
func (p *pager) goesBeyond() bool {
	return !p.page.next.IsNull() || p.link != "" || p.more != nil && *p.more
}

// behind returns the arguments that continue after the last item of seen, for an API with pages by item id.
func (p *pager) behind(seen []value.Value) value.Value {
	cursor := p.param(byCursor)
	if cursor == nil || len(seen) == 0 || plain(cursor.name) != "startingafter" {
		return value.Value{}
	}
	id, ok := seen[len(seen)-1].Get("id")
	if !ok || id.IsNull() {
		return value.Value{}
	}
	return call(cursor, id)
}

// useCount uses p.count as the total if it is larger than the number of items on this page.
func (p *pager) useCount(items int) {
	if p.total == nil && p.count != nil && *p.count > int64(items) {
		p.total = p.count
	}
}

// counting does the work of next for APIs that number pages or items.
func (p *pager) counting(items int) value.Value {
	size, sized := p.param(bySize).number()
	full := items > 0 && sized && int64(items) >= size
	if q := p.param(byOffset); q != nil {
		if at, ok := p.start(); ok && p.goesOn(at+int64(items), full) {
			return call(q, value.OfInt(at+int64(items)))
		}
		return value.Value{}
	}
	q := p.param(byPage)
	if q == nil || items == 0 || p.byCursor() {
		return value.Value{}
	}
	n, ok := q.number()
	if !ok {
		n = q.firstPage()
	}
	behind := int64(items)
	if n > q.firstPage() {
		behind += (n - q.firstPage()) * max(size, int64(items))
	}
	if p.pages != nil && n-q.firstPage()+1 < *p.pages || p.pages == nil && p.goesOn(behind, full) {
		return call(q, value.OfInt(n+1))
	}
	return value.Value{}
}

// goesOn reports whether there are more items after the first behind items. The API's own data decides. Without it, a
// full page means that there are more.
func (p *pager) goesOn(behind int64, full bool) bool {
	switch {
	case p.more != nil:
		return *p.more
	case p.total != nil:
		return *p.total > behind
	}
	return full
}

// firstPage returns the number of the first page: 0 if the document says so, otherwise 1.
func (q *parameter) firstPage() int64 {
	for _, r := range []spec.Raw{q.schema.Default, q.schema.Raw.Get("minimum")} {
		if string(r) == "0" {
			return 0
		}
	}
	return 1
}

// byCursor reports whether the page was requested by a cursor. Then its offset is unknown.
func (p *pager) byCursor() bool {
	q := p.param(byCursor)
	return q != nil && !q.given.IsNull()
}

// start returns the number of items before the requested page, if known.
func (p *pager) start() (int64, bool) {
	if p.byCursor() {
		return 0, false
	}
	if q := p.param(byOffset); q != nil {
		n, ok := q.number()
		return n, (ok || q.given.IsNull()) && n >= 0
	}
	q := p.param(byPage)
	if q == nil {
		return 0, false
	}
	n, ok := q.number()
	if !ok && !q.given.IsNull() {
		return 0, false
	}
	if n -= q.firstPage(); !ok || n == 0 {
		return 0, true
	}
	size, sized := p.param(bySize).number()
	return n * size, sized && n > 0 && size > 0 && n < 1<<31 && size < 1<<31
}

// linkChanges returns the argument changes from the next page's URL, for parameters that the operation has.
func (p *pager) linkChanges() value.Value {
	var changes []value.Member
	q := queryOf(p.link)
	for _, has := range p.v.Parameters(p.op) {
		if has.In != "query" || len(q[has.Name]) != 1 {
			continue
		}
		s := p.v.Schema(has.Schema)
		to := value.OfString(q.Get(has.Name))
		if n, err := strconv.ParseInt(to.Text(), 10, 64); err == nil && !(s.Is("string") && len(s.Types) > 0) {
			to = value.OfInt(n)
		}
		if now, ok := p.a.Query.Get(has.Name); !ok || now.String() != to.String() {
			changes = append(changes, value.Member{Name: has.Name, Value: to})
		}
	}
	if len(changes) == 0 {
		if p.page.next.IsNull() && len(p.params) == 0 {
			p.note("the API has a further page, and the operation no parameter that asks for it")
		}
		return value.Value{}
	}
	return within("query", changes...)
}

func (p *pager) note(text string) { p.notes = append(p.notes, text) }

func call(q *parameter, v value.Value) value.Value {
	return within(q.in, value.Member{Name: q.name, Value: v})
}

func within(in string, members ...value.Member) value.Value {
	return value.OfObject([]value.Member{{Name: in, Value: value.OfObject(members)}})
}

// after returns how many of the visible items that fit should be shown. It also returns the arguments that continue
// after them, or null if the API can't continue there. whole reports that no item of the page is hidden.
func (p *pager) after(seen []value.Value, all int, whole bool) (int, value.Value) {
	p.useCount(all)
	fit := len(seen)
	if next := p.behind(seen); !next.IsNull() {
		return fit, next
	}
	at, ok := p.start()
	if !ok || !whole {
		return fit, value.Value{}
	}
	if q := p.param(byOffset); q != nil {
		return fit, call(q, value.OfInt(at+int64(fit)))
	}
	// All pages have the same size, so the next page must begin at a multiple of the size. Showing slightly fewer
	// items allows a larger page size.
	size, keep := int64(0), int64(0)
	for s := int64(fit); s >= (int64(fit)+1)/2; s-- {
		if k := int64(fit) - (at+int64(fit))%s; k > keep {
			size, keep = s, k
		}
	}
	limit, q := p.param(bySize), p.param(byPage)
	if limit == nil || limit.in != q.in || keep == 0 {
		return fit, value.Value{}
	}
	return int(keep), within(q.in, value.Member{Name: q.name, Value: value.OfInt((at+keep)/size + q.firstPage())},
		value.Member{Name: limit.name, Value: value.OfInt(size)})
}
