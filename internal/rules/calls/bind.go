package calls

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/visible"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// bind sets the arguments that the parameter rules determine, and refuses arguments that contradict them.
func (r *Reach) bind(principal identity.Principal, op *spec.Operation, args validate.Arguments) (validate.Arguments, error) {
	for _, rule := range r.api.parameters {
		if !rule.about(op) {
			continue
		}
		b := binding{parameter: rule, who: principal}
		for _, p := range op.Parameters {
			if p.Name != rule.Name && !(p.In == "header" && strings.EqualFold(p.Name, rule.Name)) {
				continue
			}
			place, at := &args.Path, "/path/"
			switch p.In {
			case "query":
				place, at = &args.Query, "/query/"
			case "header":
				place, at = &args.Headers, "/headers/"
			case "cookie":
				continue
			}
			b.object(place, p.Name, at, true)
		}
		b.body(r, op, &args)
		if b.err != nil {
			return args, b.err
		}
	}
	return args, nil
}

// A binding applies one rule to the arguments of one call.
type binding struct {
	parameter
	who identity.Principal
	err error
}

// value returns the value that the rule requires.
func (b *binding) value() value.Value {
	v, err := b.is.Eval(b.who)
	for above := b.who.Above; above != nil && err == nil; above = above.Above {
		var theirs value.Value
		if theirs, err = b.is.Eval(*above); err == nil && theirs.String() != v.String() {
			err = errors.New("it is another for the principal that this one was derived from")
		}
	}
	if err != nil {
		b.err = &problem.Error{Code: problem.PermissionDenied, Kind: "parameter_rule", Err: err,
			Detail: fmt.Sprintf("which %s you may use can't be told", b.Name)}
	}
	return v
}

// object binds the member called name of an object; header names are case-insensitive, and in bodies other spellings are bound too. If set
// is true, a missing member is added.
func (b *binding) object(object *value.Value, name, at string, set bool) {
	given := false
	for _, m := range object.Members() {
		body := strings.HasPrefix(at, "/body/")
		if m.Name == name || at == "/headers/" && strings.EqualFold(m.Name, name) || body && spells(m.Name, name) {
			given = given || m.Name == name || !body
			b.equal(m.Value, at+m.Name)
		}
	}
	if !given && set && b.err == nil {
		must := b.value()
		*object = value.OfObject(append(object.Members()[:len(object.Members()):len(object.Members())], value.Member{Name: name, Value: must}))
	}
}

// equal refuses a value other than the required one; every element of a list must equal it.
func (b *binding) equal(given value.Value, at string) {
	if given.Kind() == value.Array {
		for i, v := range given.List() {
			b.equal(v, fmt.Sprintf("%s/%d", at, i))
		}
		return
	}
	must := b.value()
	if b.err == nil && (given.Kind() == value.Object || given.IsNull() || given.String() != must.String()) {
		b.err = &problem.Error{Code: problem.PermissionDenied, Kind: "parameter_rule", Pointer: at, Detail: "this " + b.Name + " is not one that you may use"}
	}
}

// spells reports whether an API may read a member of a body as the one called name: many ignore case, and forms name parts in brackets.
func spells(given, name string) bool {
	whole, _, _ := strings.Cut(given, "[")
	return strings.EqualFold(whole, name)
}

// body binds a top-level field of a body, of each object in a list, or what a JSON Patch does to it. A body that isn't an object, such as
// a text in XML, can't be bound, and is refused where the operation declares the field.
func (b *binding) body(r *Reach, op *spec.Operation, args *validate.Arguments) {
	if op.Body == nil || b.err != nil {
		return
	}
	at, patched, items := inBody(r.View, op, args.Media, b.Name)
	switch {
	case !args.HasBody && (op.Body.Required || !at):
	case !args.HasBody, args.Body.IsNull() && at:
		args.Body, args.HasBody = value.OfObject(nil), true
		b.object(&args.Body, b.Name, "/body/", true)
	case args.Body.Kind() == value.Object:
		b.object(&args.Body, b.Name, "/body/", at)
	case args.Body.Kind() == value.Array && patched:
		for i, one := range args.Body.List() {
			b.patch(one, fmt.Sprintf("/body/%d", i))
		}
	case args.Body.Kind() == value.Array:
		list := make([]value.Value, len(args.Body.List()))
		for i, item := range args.Body.List() {
			if list[i] = item; item.Kind() == value.Object {
				b.object(&list[i], b.Name, fmt.Sprintf("/body/%d/", i), items)
			}
		}
		args.Body = value.OfArray(list)
	default:
		if at, _, items := inBody(r.api.there, op, "", b.Name); at || items {
			b.refuse("/body", "the body is an object here: its "+b.Name+" is not one that you choose")
		}
	}
}

// inBody reports whether the body of op has a top-level field called name in a content of that media type, or in any if it is "";
// whether a list is a JSON Patch there; and whether the elements of a list have the field.
func inBody(v *visible.View, op *spec.Operation, media, name string) (at, patched, items bool) {
	has := func(r spec.Raw) bool {
		for _, f := range v.Object(v.Schema(r)).Fields {
			if f.Name == name {
				return true
			}
		}
		return false
	}
	for i := range op.Body.Contents {
		c := &op.Body.Contents[i]
		at = at || has(c.Schema)
		if elements := v.Schema(c.Schema).Items; elements != nil {
			items = items || has(elements)
		}
		patched = patched || validate.IsPatch(c.MediaType) && (media == "" || strings.EqualFold(media, c.MediaType))
	}
	return at, patched, items
}

// patch binds what one operation of a JSON Patch (RFC 6902) does: it may set the field to the value that it must have.
func (b *binding) patch(one value.Value, at string) {
	for _, key := range []string{"path", "from"} {
		pointer, given := one.Get(key)
		if key == "from" && !given {
			continue
		}
		name, below, deep := strings.Cut(strings.TrimPrefix(pointer.Text(), "/"), "/")
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		whole := pointer.Kind() != value.String || !strings.HasPrefix(pointer.Text(), "/") // the document itself, or no pointer
		if !whole && !spells(name, b.Name) {
			continue
		}
		op, _ := one.Get("op")
		to, set := one.Get("value")
		if !whole && !deep && below == "" && name == b.Name && key == "path" && set && (op.Text() == "add" || op.Text() == "replace" || op.Text() == "test") {
			b.equal(to, at+"/value")
			continue
		}
		b.refuse(at+"/"+key, "this would change "+b.Name+", which is not one that you choose")
	}
}

func (b *binding) refuse(at, detail string) {
	if b.err == nil {
		b.err = &problem.Error{Code: problem.PermissionDenied, Kind: "parameter_rule", Pointer: at, Detail: detail}
	}
}
