package calls

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A route is the path template of an operation, split by segments. Like in servers, it matches ignoring case.
type route struct {
	op       *spec.Operation
	segments []segment
}

// A segment is a literal text, or a pattern with the names of its variables.
type segment struct {
	literal string
	pattern *regexp.Regexp // nil for a literal
	names   []string
}

// routesOf parses the path templates of a document.
func routesOf(d *spec.Document) []route {
	var all []route
	for _, op := range d.Operations {
		r := route{op: op}
		for _, text := range segmentsOf(pathOf(op)) {
			s := segment{literal: text, names: spec.Variables(text)}
			if len(s.names) > 0 {
				pattern := regexp.QuoteMeta(text)
				for _, name := range s.names {
					pattern = strings.Replace(pattern, regexp.QuoteMeta("{"+name+"}"), "(.+)", 1)
				}
				s.pattern = regexp.MustCompile("(?is)^" + pattern + "$")
			}
			r.segments = append(r.segments, s)
		}
		all = append(all, r)
	}
	return all
}

func pathOf(op *spec.Operation) string {
	path, _ := op.Target()
	return path
}

// segmentsOf splits a path. Like many servers, it drops empty segments.
func segmentsOf(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" })
}

// match reports whether a path matches the route, and returns the values of its variables.
func (r route) match(path []string) (values []value.Member, ok bool) {
	if len(path) != len(r.segments) {
		return nil, false
	}
	for i, s := range r.segments {
		if s.pattern == nil {
			if !strings.EqualFold(s.literal, path[i]) {
				return nil, false
			}
			continue
		}
		found := s.pattern.FindStringSubmatch(path[i])
		if found == nil {
			return nil, false
		}
		for n, name := range s.names {
			values = append(values, value.Member{Name: name, Value: value.OfString(found[n+1])})
		}
	}
	return values, true
}

// before reports whether a server prefers r to other. That is so if r has the literal at the first segment where only
// one of them has a literal.
func (r route) before(other route) bool {
	for i := range min(len(r.segments), len(other.segments)) {
		if a, b := r.segments[i].pattern == nil, other.segments[i].pattern == nil; a != b {
			return a
		}
	}
	return false
}

// decodeSegments splits a path after percent-decoding it repeatedly: some servers decode twice, and some decode slashes before
// they split the path.
func decodeSegments(path string) []string {
	for range 8 {
		plain, err := url.PathUnescape(path)
		if err != nil || plain == path {
			break
		}
		path = plain
	}
	return segmentsOf(path)
}

// sameMethod reports whether a server may route both methods to the same operation.
func sameMethod(a, b string) bool {
	reads := func(m string) bool { return m == "GET" || m == "HEAD" }
	return a == b || reads(a) && reads(b)
}

// leads refuses a call whose path a server may route to another operation. /teams/{id} with the id "mine" calls
// /teams/mine, and then that operation's rules apply. If the other operation is hidden, the refusal looks like an API's
// 404.
func (r *Reach) leads(p identity.Principal, op *spec.Operation, path string) error {
	segments := decodeSegments(path)
	var own *route
	for i, at := range r.api.routes {
		if at.op == op {
			own = &r.api.routes[i]
		}
	}
	_, fits := own.match(segments) // if not, a value contains slashes, and any route that fits is another
	for _, other := range r.api.routes {
		values, ok := other.match(segments)
		if !ok || other.op == op || !sameMethod(other.op.Method, op.Method) || fits && !other.before(*own) {
			continue
		}
		if err := r.admits(p, op, other.op, values); err != nil {
			return err
		}
	}
	return nil
}

// admits refuses a call of op whose path also matches other, unless p may make that call as well.
func (r *Reach) admits(p identity.Principal, op, other *spec.Operation, values []value.Member) error {
	if !r.View.Has(other) {
		if _, err := r.View.Operation(other.ID); problem.CodeOf(err) == problem.SecurityBlocked {
			return err
		}
		kind, _ := r.api.why(p, other)
		return &problem.Error{Code: problem.NotFound, Kind: kind, Detail: "the API found nothing: 404 Not Found"}
	}
	if r.View.Class(other) != r.View.Class(op) {
		return &problem.Error{Code: problem.InvalidArgument, Kind: "another_operation", Pointer: "/path",
			Detail: "this is the path of " + other.ID, Suggestion: "call " + other.ID + " by its own id"}
	}
	_, err := r.bind(p, other, validate.Arguments{Path: value.OfObject(values)})
	return err
}

// PermitRedirect returns a permit to follow an API's redirect to path and query. Both are relative to the base URL and
// percent-encoded. It rejects a target that p's principal may not call. The text of its error continues "the API
// redirects". It names the target only if the principal may see it.
func (p Permit) PermitRedirect(ctx context.Context, path, query string) (Permit, error) {
	plan, err := p.Plan()
	if err != nil {
		return Permit{}, err
	}
	r, nowhere := p.reach, problem.New(problem.PermissionDenied, "to a target that is not an operation you can call")
	parts := segmentsOf(path)
	for i, part := range parts {
		if parts[i], err = url.PathUnescape(part); err != nil {
			return Permit{}, nowhere
		}
	}
	// The target's operation is the most specific matching route. If the principal doesn't see it, it counts as no
	// operation.
	var to *route
	var values []value.Member
	for i, at := range r.api.routes {
		if found, ok := at.match(parts); ok && at.op.Method == plan.Request.Method && (to == nil || at.before(*to)) {
			to, values = &r.api.routes[i], found
		}
	}
	if to == nil || !r.View.Has(to.op) {
		return Permit{}, nowhere
	}
	refused := func(why string) (Permit, error) {
		return Permit{}, problem.New(problem.PermissionDenied, "to "+to.op.ID+", which isn't called for you: "+why)
	}
	if r.View.Class(to.op) != spec.ClassRead {
		return refused("it isn't an operation that reads")
	}
	// The target is planned like a separate call, with the same checks of its arguments.
	args, err := r.parseQuery(to.op, query)
	if err != nil {
		return refused(problem.Of(err).Detail)
	}
	args.Path = value.OfObject(values)
	next, err := r.plan(ctx, plan.Who, to.op, args)
	if problem.CodeOf(err) == problem.NotFound {
		return Permit{}, nowhere
	} else if err != nil {
		return refused(problem.Of(err).Detail)
	}
	if strings.HasSuffix(path, "/") && !strings.HasSuffix(next.Request.Path, "/") { // a trailing slash is a common reason to redirect
		sent := *next.Request
		sent.Path += "/"
		next.Request = &sent
	}
	return Permit{next, r}, nil
}

// parseQuery parses the query of a URL as arguments of op, without the parameters that the credential sets.
func (r *Reach) parseQuery(op *spec.Operation, query string) (validate.Arguments, error) {
	all, err := url.ParseQuery(query)
	if err != nil {
		return validate.Arguments{}, problem.New(problem.InvalidArgument, "its query can't be read")
	}
	var members []value.Member
	for name, texts := range all {
		if slices.Contains(r.api.rules.Sends, Place{In: "query", Name: name}) {
			continue
		}
		p := op.Parameter("query", name)
		if p == nil || p.Style == "deepObject" || p.MediaType != "" {
			return validate.Arguments{}, problem.New(problem.InvalidArgument, "it gives what isn't a parameter of that")
		}
		v := value.OfString(texts[0])
		if s := r.View.Schema(p.Schema); len(texts) > 1 || s.Is("array") {
			if !p.Explode && len(texts) == 1 {
				texts = strings.Split(texts[0], ",")
			}
			list := make([]value.Value, len(texts))
			for i, text := range texts {
				list[i] = value.OfString(text)
			}
			v = value.OfArray(list)
		}
		members = append(members, value.Member{Name: name, Value: v})
	}
	slices.SortFunc(members, func(a, b value.Member) int { return strings.Compare(a.Name, b.Name) })
	return validate.Arguments{Query: value.OfObject(members)}, nil
}
