package calls

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// places lists the parts of a call's arguments.
var places = []string{"path", "query", "headers", "cookies", "body", "media"}

// Arguments decodes the arguments of a call from a write.Call: an Object with path, query, headers, cookies, body and
// media. For an unknown member it fails with InvalidArgument.
func Arguments(v value.Value) (validate.Arguments, error) {
	var a validate.Arguments
	for _, m := range v.Members() {
		if !slices.Contains(places, m.Name) {
			return a, &problem.Error{Code: problem.InvalidArgument, Pointer: "/request/" + m.Name,
				Detail: fmt.Sprintf("a call has no %q%s", problem.Cut(m.Name), problem.DidYouMean(problem.Nearest(m.Name, places, 1)))}
		}
	}
	a.Path, _ = v.Get("path")
	a.Query, _ = v.Get("query")
	a.Headers, _ = v.Get("headers")
	a.Cookies, _ = v.Get("cookies")
	a.Body, a.HasBody = v.Get("body")
	media, _ := v.Get("media")
	a.Media = media.Text()
	return a, nil
}

// EncodeArguments encodes arguments for a write.Call. Arguments decodes them.
func EncodeArguments(a validate.Arguments) value.Value {
	var members []value.Member
	put := func(name string, v value.Value, given bool) {
		if given {
			members = append(members, value.Member{Name: name, Value: v})
		}
	}
	put("path", a.Path, !a.Path.IsNull())
	put("query", a.Query, !a.Query.IsNull())
	put("headers", a.Headers, !a.Headers.IsNull())
	put("cookies", a.Cookies, !a.Cookies.IsNull())
	put("body", a.Body, a.HasBody)
	put("media", value.OfString(a.Media), a.Media != "")
	return value.OfObject(members)
}

// Exact describes the request r exactly, for a change. Reviewers approve this description, and nothing else is sent. A
// body that is not text is encoded in base64.
func Exact(r *HTTPRequest) value.Value {
	text := value.OfString
	members := []value.Member{{Name: "method", Value: text(r.Method)}, {Name: "target", Value: text(r.Target())}}
	var headers []value.Member
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		headers = append(headers, value.Member{Name: name, Value: text(strings.Join(r.Header[name], ", "))})
	}
	members = append(members, value.Member{Name: "headers", Value: value.OfObject(headers)})
	switch {
	case r.Body == nil:
	case utf8.Valid(r.Body):
		members = append(members, value.Member{Name: "body", Value: text(string(r.Body))})
	default:
		members = append(members, value.Member{Name: "base64", Value: text(base64.StdEncoding.EncodeToString(r.Body))})
	}
	return value.OfObject(members)
}
