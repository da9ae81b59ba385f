package calls

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Reference is an argument that an earlier call or write of the same change determines. Its value is a part of the
// call's answer, or a value of the written record. Its form is a text such as "$1.id": the number of the call or write,
// from 1, and the place of the value in the answer.
type Reference struct {
	At   string   // the JSON pointer of the argument: "/path/id"
	Call int      // from 1
	Path []string // names of members, and numbers of elements from 0. It is not empty

	text bool // the document says that the value is a text
}

// String returns the reference as it is written.
func (r Reference) String() string { return fmt.Sprintf("$%d.%s", r.Call, strings.Join(r.Path, ".")) }

// referring matches a reference. A price, "$1.50", isn't one.
var referring = regexp.MustCompile(`^\$([1-9][0-9]{0,2})\.([A-Za-z_][^.\s]*(?:\.[^.\s]+)*)$`)

// ParseReference returns the reference in v, or false for another value.
func ParseReference(v value.Value) (r Reference, ok bool) {
	found := referring.FindStringSubmatch(v.Text())
	if v.Kind() != value.String || found == nil {
		return r, false
	}
	n, err := strconv.Atoi(found[1])
	return Reference{Call: n, Path: strings.Split(found[2], ".")}, err == nil
}

// replaceReferences returns a with each reference replaced by the value from the function by. It stops at the first error.
func replaceReferences(a validate.Arguments, by func(Reference) (value.Value, error)) (validate.Arguments, error) {
	var failed error
	var walk func(v value.Value, at string) value.Value
	walk = func(v value.Value, at string) value.Value {
		switch v.Kind() {
		case value.String:
			r, ok := ParseReference(v)
			if !ok || failed != nil {
				return v
			}
			r.At = at
			v, failed = by(r)
		case value.Array:
			list := make([]value.Value, len(v.List()))
			for i, e := range v.List() {
				list[i] = walk(e, fmt.Sprintf("%s/%d", at, i))
			}
			return value.OfArray(list)
		case value.Object:
			members := slices.Clone(v.Members())
			for i, m := range members {
				members[i].Value = walk(m.Value, at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(m.Name))
			}
			return value.OfObject(members)
		}
		return v
	}
	a.Path, a.Query, a.Headers, a.Cookies = walk(a.Path, "/path"), walk(a.Query, "/query"), walk(a.Headers, "/headers"), walk(a.Cookies, "/cookies")
	if a.HasBody {
		a.Body = walk(a.Body, "/body")
	}
	return a, failed
}

// Refers reports whether there is a reference in a.
func Refers(a validate.Arguments) bool {
	found := false
	replaceReferences(a, func(Reference) (value.Value, error) { //nolint:errcheck // it returns none
		found = true
		return value.Value{}, nil
	})
	return found
}

// references returns the references in a, the arguments of a call after the calls in earlier. It refuses a reference to
// a later call, and a reference to a value that the document doesn't have in the answer.
func references(a validate.Arguments, earlier []Permit) ([]Reference, error) {
	var all []Reference
	_, err := replaceReferences(a, func(r Reference) (value.Value, error) {
		if r.Call > len(earlier) {
			return value.Value{}, &problem.Error{Code: problem.InvalidArgument, Kind: "reference", Pointer: r.At,
				Detail:     fmt.Sprintf("%s names call %d, and this is call %d: only an earlier call has answered by then", r, r.Call, len(earlier)+1),
				Suggestion: "put that call before this one. To send the text as it is, propose this call as a change of its own"}
		}
		plan, err := earlier[r.Call-1].Plan()
		if err != nil {
			return value.Value{}, &problem.Error{Code: problem.PermissionDenied, Kind: "reference", Pointer: r.At, Err: err,
				Detail: fmt.Sprintf("%s names write %d, which is not a call and has no answer", r, r.Call)}
		}
		kind, err := answersWith(&plan, r)
		r.text = len(kind) == 1 && kind[0] == "string"
		all = append(all, r)
		return value.OfString(r.String()), err
	})
	return all, err
}

// answersWith checks the field of a reference. If the principal's view describes the answer of plan's operation, it
// must declare the field, and the field must not be masked. Otherwise answersWith refuses, because a change that stops
// halfway is worse than a refused one. It returns the declared types of the value, or nil for any.
func answersWith(plan *Plan, r Reference) ([]string, error) {
	var at spec.Raw
	if ok := plan.Operation.Success(); ok != nil {
		for i := range ok.Contents {
			if spec.IsJSON(ok.Contents[i].MediaType) {
				at = ok.Contents[i].Schema
				break
			}
		}
	}
	path := r.Path
	if at != nil && len(path) > 1 && path[0] == "body" && plan.View.Object(plan.View.Schema(at)).Items != nil {
		path = path[1:] // an answer that is not an object is its member body
	}
	masked := ""
	for _, name := range path {
		if secretnames.Carrier(name) {
			masked = name
		}
		if at == nil {
			break
		}
		o := plan.View.Object(plan.View.Schema(at))
		if o.Items != nil {
			if _, err := strconv.Atoi(name); err != nil {
				return nil, missing(plan, r, name, []string{"0"})
			}
			at = o.Items
			continue
		}
		var names []string
		var next spec.Raw
		for _, f := range o.Fields {
			if names = append(names, f.Name); f.Name == name {
				next = f.Schema
			}
		}
		if next == nil && len(names) > 0 && !o.Open && len(o.Choices) == 0 {
			return nil, missing(plan, r, name, names)
		}
		at = next
	}
	var kind []string
	if at != nil {
		kind = plan.View.Schema(at).Types
	}
	if masked != "" && (len(kind) == 0 || slices.Contains(kind, "string")) {
		return nil, &problem.Error{Code: problem.PermissionDenied, Kind: "reference", Pointer: r.At,
			Detail: fmt.Sprintf("%s: %q is masked in answers, since its name is that of a credential: it is in no other call", r, problem.Cut(masked))}
	}
	return kind, nil
}

// missing returns the refusal of a reference to a value that isn't in an answer. known are the names in the answer.
func missing(plan *Plan, r Reference, name string, known []string) error {
	near := problem.Nearest(name, known, 2)
	return &problem.Error{Code: problem.InvalidArgument, Kind: "reference", Pointer: r.At, Near: near,
		Detail: fmt.Sprintf("%s: call %d, %s, doesn't answer with %q%s", r, r.Call, plan.Operation.ID, problem.Cut(name), problem.Instead(near, known, "has", 12))}
}

// Later reports whether p has references, so that Answered makes the call that can be sent.
func (p Permit) Later() bool { return p.plan != nil && len(p.plan.References) > 0 }

// WithAnswers returns the permit for the call p after the earlier calls have answered. answers are their answers in order,
// as the principal sees them and without masked values, or Null. Answered applies all rules again to the values, and
// accepts only texts, numbers and booleans. Values that the principal doesn't see are never sent for it.
func (p Permit) WithAnswers(ctx context.Context, answers []value.Value) (Permit, error) {
	plan, err := p.Plan()
	if err != nil || !p.Later() {
		return p, err
	}
	args, err := replaceReferences(plan.asked, func(r Reference) (value.Value, error) {
		if r.Call > len(answers) {
			return value.Value{}, problem.New(problem.PermissionDenied, "no answer")
		}
		v := answers[r.Call-1]
		for _, name := range r.Path {
			if v.Kind() == value.Array {
				i, err := strconv.Atoi(name)
				if err != nil || i < 0 || i >= len(v.List()) {
					v = value.Value{}
				} else {
					v = v.List()[i]
				}
				continue
			}
			v, _ = v.Get(name)
		}
		if v.Kind() != value.String && v.Kind() != value.Bool && !v.IsNumber() {
			return v, &problem.Error{Code: problem.Upstream, Kind: "reference", Pointer: r.At, Detail: fmt.Sprintf("%s is not a value in the answer of call %d", r, r.Call)}
		}
		return v, nil
	})
	if err != nil {
		return Permit{}, err
	}
	return p.reach.Permit(ctx, plan.Who, Request{Operation: plan.Operation.ID, Arguments: args, Writes: true})
}
