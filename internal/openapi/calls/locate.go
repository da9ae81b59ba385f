package calls

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Located is the operation and the arguments of a concrete call, such as GET /teams/7/members?limit=5.
type Located struct {
	Operation *spec.Operation
	Path      []value.Member
	Query     []value.Member
}

// concrete matches a method, if any, and a path or a URL.
var concrete = regexp.MustCompile(`^(?:([A-Za-z]+)\s+)?((?:https?://|/)\S*)$`)

// Locate returns the operation of r for a concrete call: a method and a path or URL. Without a method, the call is a
// GET. It finds only operations that the principal sees. Like servers, it prefers a literal segment to a parameter. It
// returns nil if text is not a concrete call, or a call of another API.
func (r *Reach) Locate(text string) *Located {
	m := concrete.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return nil
	}
	to, err := url.Parse(m[2])
	if err != nil || to.User != nil || to.Host != "" && !r.api.rules.serves(to) {
		return nil
	}
	methods := []string{strings.ToUpper(m[1])}
	if m[1] == "" {
		methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}
	}
	query := pairs(to.RawQuery)
	for _, method := range methods {
		for _, path := range r.api.rules.below(to.EscapedPath()) {
			if at, values := r.matching(method, path, query); at != nil {
				return &Located{Operation: at.op, Path: values, Query: r.arguments(at.op, query)}
			}
		}
	}
	return nil
}

// serves reports whether a URL begins with the address of the API, or of a server of its document.
func (r Rules) serves(to *url.URL) bool {
	of := append([]string{r.Base}, r.Document.Servers...)
	for at := range r.Servers {
		of = append(of, at)
	}
	return slices.ContainsFunc(of, func(server string) bool {
		at, err := url.Parse(server)
		return err == nil && strings.EqualFold(at.Scheme, to.Scheme) && strings.EqualFold(at.Host, to.Host)
	})
}

// below returns a path without the path of the API's address or of a server of the document, the longest first. It also
// returns the whole path.
func (r Rules) below(path string) []string {
	out := []string{path}
	of := append([]string{r.Base}, r.Document.Servers...)
	for at := range r.Servers {
		of = append(of, at)
	}
	for _, server := range of {
		at, err := url.Parse(server)
		if err != nil {
			continue
		}
		if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(at.EscapedPath(), "/")); ok && strings.HasPrefix(rest, "/") {
			out = append(out, rest)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return len(a) - len(b) })
	return slices.Compact(out)
}

// placeholder matches a segment that is a placeholder for a value: {id} or :id.
var placeholder = regexp.MustCompile(`^(\{.*\}|:[A-Za-z_]\w*)$`)

// matching returns the most specific visible route for a method and a path, and the values of its variables. If routes
// only differ by a query in the document, the route whose query the call has is more specific.
func (r *Reach) matching(method, path string, query [][2]string) (best *route, values []value.Member) {
	parts := segmentsOf(path)
	for i, part := range parts {
		plain, err := url.PathUnescape(part)
		if err != nil {
			return nil, nil
		}
		parts[i] = plain
	}
	fixed := -1
	for i, at := range r.api.routes {
		if at.op.Method != method || !r.View.Has(at.op) {
			continue
		}
		found, ok := at.match(parts)
		_, text := at.op.Target()
		of := pairs(text)
		if !ok || slices.ContainsFunc(of, func(p [2]string) bool { return !slices.Contains(query, p) }) {
			continue
		}
		if best == nil || at.before(*best) || !best.before(at) && len(of) > fixed {
			best, values, fixed = &r.api.routes[i], found, len(of)
		}
	}
	// Drop values in the form of placeholders: the call is then the template of an operation.
	values = slices.DeleteFunc(values, func(m value.Member) bool { return placeholder.MatchString(m.Value.Text()) })
	return best, values
}

// pairs splits a query into decoded names and values.
func pairs(query string) (out [][2]string) {
	for pair := range strings.SplitSeq(query, "&") {
		name, v, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		text, wrong := url.QueryUnescape(v)
		if pair != "" && err == nil && wrong == nil {
			out = append(out, [2]string{plain, text})
		}
	}
	return out
}

// brackets matches the name of a member of a parameter: filter[name], ids[].
var brackets = regexp.MustCompile(`^([^\[\]]+)\[([^\[\]]*)\]$`)

// arguments returns the pairs of a query as the arguments of op, in their order. It keeps names that op doesn't have,
// so that the check of the arguments refuses them. It omits the pairs that the document fixes in the path of op.
func (r *Reach) arguments(op *spec.Operation, query [][2]string) (out []value.Member) {
	_, text := op.Target()
	fixed := pairs(text)
	add := func(name string, v value.Value) {
		at := slices.IndexFunc(out, func(m value.Member) bool { return m.Name == name })
		switch {
		case at < 0:
			out = append(out, value.Member{Name: name, Value: v})
		case v.Kind() == value.Object && out[at].Value.Kind() == value.Object:
			out[at].Value = value.OfObject(append(slices.Clone(out[at].Value.Members()), v.Members()...))
		case out[at].Value.Kind() == value.Array:
			out[at].Value = value.OfArray(append(slices.Clone(out[at].Value.List()), v))
		default:
			out[at].Value = value.OfArray([]value.Value{out[at].Value, v})
		}
	}
	for _, pair := range query {
		name, v := pair[0], value.OfString(pair[1])
		p := op.Parameter("query", name)
		list := false
		if p != nil {
			s := r.View.Schema(p.Schema)
			list = !p.Explode && s.Is("array")
		}
		m := brackets.FindStringSubmatch(name)
		switch {
		case slices.Contains(fixed, pair):
			continue
		case p == nil && m != nil && m[2] == "" && op.Parameter("query", m[1]) != nil:
			name, v = m[1], value.OfArray([]value.Value{v})
			if at := slices.IndexFunc(out, func(m value.Member) bool { return m.Name == name }); at >= 0 {
				v = v.List()[0]
			}
		case p == nil && m != nil && op.Parameter("query", m[1]) != nil:
			name, v = m[1], value.OfObject([]value.Member{{Name: m[2], Value: v}})
		case p != nil && p.MediaType != "":
			if read, err := value.Read([]byte(pair[1]), 0); err == nil {
				v = read
			}
		case list:
			var all []value.Value
			for text := range strings.SplitSeq(pair[1], ",") {
				all = append(all, value.OfString(text))
			}
			v = value.OfArray(all)
		}
		add(name, v)
	}
	return out
}
