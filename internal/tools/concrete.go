package tools

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// concrete accepts an operationId that is a concrete call, such as GET /repos/acme/app/issues?per_page=5 or a URL. It
// replaces the concrete call by the id of the operation and adds the arguments from the path and the query. It
// returns other arguments unchanged. It refuses arguments that contradict the path or the query.
func concrete(c *bailiwick.Call, args value.Value) (value.Value, error) {
	id, _ := args.Get("operationId")
	source, _ := args.Get("source")
	if id.Kind() != value.String || !strings.Contains(id.Text(), "/") {
		return args, nil
	}
	var found value.Value
	var sources []string
	all := c.APIs()
	for _, reach := range all {
		if source.Text() != "" && reach.Name != source.Text() {
			continue
		}
		if IsOperation(reach.View, id.Text()) {
			return args, nil
		}
		at := reach.Locate(id.Text())
		if at == nil {
			continue
		}
		sources = append(sources, reach.Name)
		found = value.OfObject([]value.Member{{Name: "operationId", Value: value.OfString(at.Operation.ID)}})
		if len(all) > 1 {
			found = withMember(found, value.Member{Name: "source", Value: value.OfString(reach.Name)})
		}
		if len(at.Path) > 0 {
			found = withMember(found, value.Member{Name: "path", Value: value.OfObject(at.Path)})
		}
		if len(at.Query) > 0 {
			found = withMember(found, value.Member{Name: "query", Value: value.OfObject(at.Query)})
		}
	}
	switch len(sources) {
	case 0:
		return args, nil
	case 1:
		return beside(args, found)
	}
	return args, &problem.Error{Code: problem.InvalidArgument, Pointer: "/operationId", Near: sources[:min(len(sources), 5)],
		Detail: fmt.Sprintf("%s is a call of %s: say which with source", problem.Cut(id.Text()), strings.Join(sources, " and of "))}
}

// IsOperation reports whether name is the exact name of an operation.
func IsOperation(v *spec.View, name string) bool {
	_, err := v.Operation(name)
	return problem.CodeOf(err) != problem.NotFound
}

// beside returns args with the members of found added. Objects are merged, and contradictions return an error.
func beside(args, found value.Value) (value.Value, error) {
	out := value.OfObject(nil)
	for _, m := range args.Members() {
		own, has := found.Get(m.Name)
		switch {
		case m.Name == "operationId" && has:
			m.Value = own
		case has && m.Value.Kind() == value.Object && own.Kind() == value.Object:
			for _, part := range own.Members() {
				given, taken := m.Value.Get(part.Name)
				switch {
				case !taken:
					m.Value = withMember(m.Value, part)
				case given.String() != part.Value.String() && given.Text() != part.Value.Text():
					return args, &problem.Error{Code: problem.InvalidArgument, Pointer: query.Pointer("/"+m.Name, part.Name),
						Detail: fmt.Sprintf("operationId is a concrete call, which gives %s another value: give it once", problem.Cut(part.Name))}
				}
			}
		}
		out = withMember(out, m)
	}
	for _, m := range found.Members() {
		if _, has := args.Get(m.Name); !has {
			out = withMember(out, m)
		}
	}
	return out, nil
}
