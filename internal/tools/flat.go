package tools

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Names returns the arguments of a call of an operation.
func Names() []string {
	return []string{"operationId", "source", "path", "query", "headers", "cookies", "body", "content_type"}
}

// placeArguments moves the arguments of the operation into path, query, headers or body. The agent may write them
// next to operationId, or in an object with a name such as parameters. Members named in own belong to the tool
// itself. An argument without a place stays, and the error names a similar parameter of the operation. placeArguments
// also accepts a concrete call in place of the id, see concrete.
func placeArguments(c *bailiwick.Call, args value.Value, own ...string) (value.Value, error) {
	own = append(Names(), own...)
	args, err := concrete(c, args)
	if err != nil {
		return args, err
	}
	known := func(m value.Member) bool { return slices.Contains(own, m.Name) }
	if args.Kind() != value.Object || !slices.ContainsFunc(args.Members(), func(m value.Member) bool { return !known(m) }) {
		return args, nil
	}
	id, _ := args.Get("operationId")
	source, _ := args.Get("source")
	v, op := operation(c, source.Text(), id.Text())
	if op == nil {
		return args, nil
	}
	out := value.OfObject(nil)
	for _, m := range spread(v, op, args.Members()) {
		in, ok := "", true
		if !known(m) {
			if in = place(v, op, m.Name); in == "" && onPath(v, op, m.Name, args) {
				in = "path"
			}
			if in == "" {
				if err := unknownArgumentError(m.Name, places(v, op)); err != nil {
					return args, err
				}
			}
		}
		if out, ok = put(out, in, m); !ok {
			return args, nil
		}
	}
	return out, nil
}

// unknownArgumentError returns the error for an unknown argument name that is similar to a known one. Otherwise it
// returns nil, and the check of the arguments reports the name.
func unknownArgumentError(name string, all map[string][]string) error {
	near := problem.Nearest(name, slices.Sorted(maps.Keys(all)), 1)
	if len(near) == 0 {
		for _, other := range slices.Sorted(maps.Keys(all)) {
			if len(name) > 1 && (strings.HasPrefix(strings.ToLower(other), strings.ToLower(name)) || strings.HasSuffix(strings.ToLower(other), strings.ToLower(name))) {
				near = append(near, other)
			}
		}
	}
	if len(near) != 1 {
		return nil
	}
	near = []string{all[near[0]][0] + "." + near[0]}
	return &problem.Error{Code: problem.InvalidArgument, Pointer: query.Pointer("", name), Near: near, Detail: fmt.Sprintf("unknown argument %q%s", problem.Cut(name), problem.DidYouMean(near))}
}

// spread returns the members, with an object named parameters or similar replaced by its own members.
func spread(v *spec.View, op *spec.Operation, all []value.Member) (out []value.Member) {
	for _, m := range all {
		if m.Value.Kind() == value.Object && slices.Contains([]string{"params", "parameters", "arguments", "args"}, m.Name) && place(v, op, m.Name) == "" {
			out = append(out, m.Value.Members()...)
			continue
		}
		out = append(out, m)
	}
	return out
}

// operation returns an operation and its view. It returns nil if the caller sees no operation with that id, or
// several.
func operation(c *bailiwick.Call, source, id string) (v *spec.View, found *spec.Operation) {
	for _, reach := range c.APIs() {
		if source != "" && reach.Name != source {
			continue
		}
		op, err := reach.View.Operation(id)
		switch {
		case problem.CodeOf(err) == problem.NotFound:
		case err != nil || found != nil:
			return nil, nil
		default:
			v, found = reach.View, op
		}
	}
	return v, found
}

// place returns the argument that contains a parameter of the operation: path, query, headers or body. It returns ""
// if there is none or more than one.
func place(v *spec.View, op *spec.Operation, name string) string {
	if found := places(v, op)[name]; len(found) == 1 {
		return found[0]
	}
	return ""
}

// onPath handles a name that the operation has in several places. It reports whether the name is a missing path
// parameter, because the operation can't be called without it.
func onPath(v *spec.View, op *spec.Operation, name string, args value.Value) bool {
	path, _ := args.Get("path")
	_, given := path.Get(name)
	return !given && slices.Contains(places(v, op)[name], "path")
}

// places returns all parameter names of the operation and the arguments that may contain each of them.
func places(v *spec.View, op *spec.Operation) map[string][]string {
	out := map[string][]string{}
	for _, p := range v.Parameters(op) {
		out[p.Name] = append(out[p.Name], strings.NewReplacer("header", "headers", "cookie", "cookies").Replace(p.In))
	}
	if op.Body != nil {
		for _, f := range v.Object(v.Schema(op.Body.PreferredContent().Schema)).Fields {
			out[f.Name] = append(out[f.Name], "body")
		}
	}
	return out
}

// put adds m to args, within the argument named by the parameter in. If that name is "", put adds m as an argument of
// its own or merges it into an object of the same name. It reports false if the place is occupied or the target is
// not an object.
func put(args value.Value, in string, m value.Member) (value.Value, bool) {
	if in == "" {
		given, has := args.Get(m.Name)
		if !has {
			return withMember(args, m), true
		}
		if given.Kind() != value.Object || m.Value.Kind() != value.Object {
			return args, false
		}
		for _, part := range m.Value.Members() {
			var ok bool
			if args, ok = put(args, m.Name, part); !ok {
				return args, false
			}
		}
		return args, true
	}
	object, has := args.Get(in)
	if !has {
		return withMember(args, value.Member{Name: in, Value: value.OfObject([]value.Member{m})}), true
	}
	if _, taken := object.Get(m.Name); taken || object.Kind() != value.Object {
		return args, false
	}
	members := slices.Clone(args.Members())
	at := slices.IndexFunc(members, func(m value.Member) bool { return m.Name == in })
	members[at].Value = withMember(object, m)
	return value.OfObject(members), true
}

func withMember(to value.Value, m value.Member) value.Value {
	return value.OfObject(append(slices.Clone(to.Members()), m))
}
