package response

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A cutting contains the values that Fit needs to cut an answer again to a smaller size.
type cutting struct {
	p      *pager
	l      list          // the list of the cut body
	seen   []value.Value // the items of the list before fields were picked
	all    int           // the number of items of that list in the API's response
	whole  bool          // no item of the list is hidden or filtered out
	where  bool
	next   value.Value // changes to the arguments for the API's next page
	at     string      // the path of the body in the whole response
	first  int64       // the number of items of the API's list before this response
	begun  bool        // first is known
	skip   int         // items or characters before the first one shown
	of     int         // items or characters before the cut
	text   bool        // the body is a text
	joined bool        // the body consists of several pages
	notes  []string    // notes that aren't about cuts
	losses []loss
}

// part fills a with the part of body that o requests, cut to the budget.
func (a *Answer) part(o Options, body value.Value, k *cutting) error {
	if o.At != "" {
		found, err := find(body, o.At)
		if err != nil {
			return err
		}
		body, k.at, k.next, k.whole, k.l = found, o.At, value.Value{}, false, mainList(found)
		a.Total, a.Further, k.seen, k.p = nil, false, k.l.of(found), nil
	}
	k.text, k.skip = body.Kind() == value.String, max(o.From, 1)-1
	switch {
	case k.text:
		k.of = utf8.RuneCountInString(body.Text())
		body = value.OfString(after(body.Text(), k.skip))
	case k.l.is:
		k.of = len(k.seen)
		k.skip = min(k.skip, k.of)
		if list := k.l.of(body); k.skip > 0 && len(list) == k.of { // the requested fields may not include the list
			body = k.l.with(body, list[k.skip:])
		}
	case k.skip > 0:
		return &problem.Error{Code: problem.InvalidArgument, Pointer: "/from", Detail: "the answer is not a text and has no list, so it has no item to begin from",
			Suggestion: "at opens a part of it: a list or a text"}
	}
	if first := max(o.From, 1); first > max(k.of, 1) && (k.text || k.l.is && k.next.IsNull()) {
		a.note("from: there are only %d %s", k.of, map[bool]string{true: "characters", false: "items"}[k.text])
	}
	a.Body, k.notes, a.cut = body, a.Notes, k
	a.Fit(max(cmp.Or(o.Budget, DefaultBudget), MinBudget))
	return nil
}

// further sets whether the API has more items than the filter has examined, as far as the API reports it.
func (a *Answer) further(k *cutting) {
	a.Further = !k.next.IsNull() || k.p.goesBeyond() || k.begun && k.p.total != nil && *k.p.total > k.first+int64(a.Looked)
}

// after returns s without its first n characters.
func after(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[i:]
		}
		n--
	}
	return ""
}

// Fit cuts the body of a to at most budget bytes of JSON, or to MinBudget if that is larger. It describes how to get
// the rest. It may be called again with a lower budget.
func (a *Answer) Fit(budget int) {
	k := a.cut
	if k == nil {
		return
	}
	c := &cutter{was: k.losses, begin: k.begin(), skip: k.skip}
	a.Body = c.fit(a.Body, max(budget, MinBudget), k.at)
	a.Next, a.Rest = k.next, nil
	shown := k.l.of(a.Body)
	has := len(shown)
	if k.l.is && !k.text {
		a.Skipped, a.Shown, a.Of = k.skip, has, k.of
	}
	cut := k.l.is && has > 0 && k.skip+has < k.of
	if cut {
		// The API's next page comes after the items that were cut here. Those items have to be reached first.
		keep := has
		if a.Next = (value.Value{}); k.p != nil && k.skip == 0 && !k.where && !k.joined {
			keep, a.Next = k.p.after(k.seen[:has], k.all, k.whole)
		}
		if keep < has {
			a.Body = k.l.shorten(a.Body, keep)
			a.Shown = keep
			c.correctKeptCount(k.begin(), keep)
		}
		if a.Next.IsNull() {
			a.Rest = &Rest{k.at, k.skip + keep + 1}
		}
	}
	k.losses = c.all()
	if !cut && a.Next.IsNull() {
		a.Rest = c.rest(a.Body, k)
	}
	a.Part = len(k.losses) > 0 || a.Further || !a.Next.IsNull()
	a.Notes = append(slices.Clone(k.notes), c.notes(k, a)...)
	if k.p != nil && !k.joined {
		a.Notes = append(a.Notes, k.p.notes...)
	}
}

// begin returns the path of the list or text whose first items or characters were skipped.
func (k *cutting) begin() string {
	path := k.at
	for _, name := range k.l.names {
		path = join(path, name)
	}
	return path
}

// rest returns where the first loss with a path continues, or nil if there is none.
func (c *cutter) rest(body value.Value, k *cutting) *Rest {
	for _, l := range c.all() {
		if r := c.after(l, body, k); r != nil {
			return r
		}
	}
	return nil
}

// after returns where the value that was cut by l continues, or nil if no path refers to it.
func (c *cutter) after(l loss, body value.Value, k *cutting) *Rest {
	here, rest := l.path, Rest{At: l.path}
	if item := fmt.Sprintf("%s[%d]", c.begin, c.skip); strings.HasPrefix(here, item) {
		here = c.begin + "[0]" + here[len(item):] // in the body, the list begins with the first item shown
	}
	here = strings.TrimPrefix(here, k.at)
	switch l.kind {
	case value.Array, value.String:
		rest.From = c.base(l.path) + l.kept + 1
	case value.Object:
		if rest.At = join(l.path, l.names[0]); strings.ContainsAny(l.names[0], "[.") || problem.Cut(oneLine(l.names[0])) != l.names[0] {
			return nil
		}
	default:
		return nil
	}
	if found, err := find(body, strings.TrimPrefix(here, ".")); err != nil || found.Kind() != l.kind {
		return nil
	}
	return &rest
}

// find returns the part of a body at a path in the form that notes use. A path consists of names after dots and of
// item numbers in brackets, from 0. A name that contains a dot is found too.
func find(body value.Value, path string) (value.Value, error) {
	at, rest := body, path
	for rest != "" {
		next, left, ok := step(at, rest)
		if !ok {
			p := &problem.Error{Code: problem.InvalidArgument, Pointer: "/at", Suggestion: "without at the answer is shown from its beginning"}
			name, _, _ := strings.Cut(strings.TrimPrefix(rest, "."), ".")
			var names []string
			for _, m := range at.Members() {
				names = append(names, m.Name)
			}
			p.Near = problem.Nearest(name, names, 3)
			p.Detail = fmt.Sprintf("at: the answer has nothing at %q%s", problem.Cut(oneLine(path)), problem.DidYouMean(p.Near))
			if at.Kind() == value.Array {
				p.Suggestion = fmt.Sprintf("the list there has %d items: [0] is the first", len(at.List()))
			}
			return value.Value{}, p
		}
		at, rest = next, left
	}
	return at, nil
}

// step follows the first part of a path. This is the longest name that matches a member.
func step(v value.Value, path string) (next value.Value, rest string, ok bool) {
	if number, left, is := strings.Cut(path, "]"); is && strings.HasPrefix(number, "[") {
		n, err := strconv.Atoi(number[1:])
		if err != nil || n < 0 || n >= len(v.List()) {
			return value.Value{}, "", false
		}
		return v.List()[n], left, true
	}
	path = strings.TrimPrefix(path, ".")
	best := ""
	for _, m := range v.Members() {
		if left, is := strings.CutPrefix(path, m.Name); is && len(m.Name) > len(best) && (left == "" || left[0] == '.' || left[0] == '[') {
			best, next, rest, ok = m.Name, m.Value, left, true
		}
	}
	return next, rest, ok
}

// partless returns the error for a request for a part of an answer that isn't JSON.
func partless(o Options, media string) error {
	pointer, what := "/at", "it has no parts"
	if o.Where != nil {
		pointer, what = "/where", "it has no list to filter"
	}
	return &problem.Error{Code: problem.InvalidArgument, Pointer: pointer, Detail: fmt.Sprintf("the API answered with %s: %s", media, what),
		Suggestion: "leave it out. To continue a text, use from"}
}
