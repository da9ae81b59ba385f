package calls

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
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
				place, at = &args.Cookies, "/cookies/"
			}
			b.object(place, p.Name, at, true)
		}
		for _, p := range op.Parameters {
			if explodes(p) {
				b.bindMember(r.api.there, p, &args.Query)
			}
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

// explodes reports whether the members of an object for p are sent under their own names, like separate parameters.
func explodes(p spec.Parameter) bool {
	return p.In == "query" && p.Explode && p.MediaType == "" && p.Style != "deepObject"
}

// bindMember binds a member of the object for p.
func (b *binding) bindMember(there *spec.View, p spec.Parameter, query *value.Value) {
	declares := slices.ContainsFunc(there.Object(there.Schema(p.Schema)).Fields, func(f spec.FieldFilter) bool { return f.Name == b.Name })
	given, ok := query.Get(p.Name)
	if !ok && declares {
		given = value.OfObject(nil)
	}
	if given.Kind() != value.Object {
		return
	}
	b.object(&given, b.Name, "/query/"+p.Name+"/", declares)
	*query = with(*query, p.Name, given)
}

// with returns an object with v as its member called name.
func with(object value.Value, name string, v value.Value) value.Value {
	members := slices.Clone(object.Members())
	at := slices.IndexFunc(members, func(m value.Member) bool { return m.Name == name })
	if at < 0 {
		return value.OfObject(append(members, value.Member{Name: name, Value: v}))
	}
	members[at].Value = v
	return value.OfObject(members)
}

// object binds the member called name of an object. Header names are case-insensitive, and except for parameters other
// spellings are bound too. If set is true, a missing member is added.
func (b *binding) object(object *value.Value, name, at string, set bool) {
	given := false
	parameter := at == "/path/" || at == "/query/" || at == "/headers/" || at == "/cookies/"
	for _, m := range object.Members() {
		if m.Name == name || at == "/headers/" && strings.EqualFold(m.Name, name) || !parameter && spells(m.Name, name) {
			given = given || m.Name == name || parameter
			b.equal(m.Value, at+m.Name)
		}
	}
	if !given && set && b.err == nil {
		must := b.value()
		*object = value.OfObject(append(object.Members()[:len(object.Members()):len(object.Members())], value.Member{Name: name, Value: must}))
	}
}

// equal refuses a value other than the required one. Every element of a list must equal it.
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

// body binds a top-level field of a body, of each object in a list, or the effect of a JSON Patch on it. A body that
// isn't an object, such as a text in XML, can't be bound. It is refused if the operation declares the field.
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
		b.form(op, args.Body)
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

// inBody reports three facts about the body of op, in the contents of the given media type, or in all contents if media
// is "". at: it has a top-level field called name. patched: a list there is a JSON Patch. items: the elements of a list
// have the field.
func inBody(v *spec.View, op *spec.Operation, media, name string) (at, patched, items bool) {
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

// form binds the members of objects in a form that are sent under their own names.
func (b *binding) form(op *spec.Operation, body value.Value) {
	for _, c := range op.Body.Contents {
		for _, m := range body.Members() {
			if e := c.Encoding[m.Name]; spec.IsForm(c.MediaType) && e.Style != "" && explodes(spec.Parameter{In: "query", Style: e.Style, Explode: e.Explode}) {
				b.object(&m.Value, b.Name, "/body/"+m.Name+"/", false)
			}
		}
	}
}

// patch binds the effect of one operation of a JSON Patch (RFC 6902). The operation may set the field only to the
// required value. The field is at the top of the document, or of an element if the document is a list.
func (b *binding) patch(one value.Value, at string) {
	for _, key := range []string{"path", "from"} {
		pointer, given := one.Get(key)
		if key == "from" && !given {
			continue
		}
		names := validate.PointerNames(pointer.Text())
		plain := len(names) == strings.Count(pointer.Text(), "/")  // without empty names, and after the first slash
		whole := pointer.Kind() != value.String || len(names) == 0 // the document itself, or no pointer
		for len(names) > 0 && validate.IsElementName(names[0]) {
			names = names[1:]
		}
		op, _ := one.Get("op")
		to, set := one.Get("value")
		switch {
		case whole:
		case len(names) == 0: // an element of a list
			if key == "path" {
				b.object(&to, b.Name, at+"/value/", false)
			}
			continue
		case !spells(names[0], b.Name):
			continue
		case len(names) == 1 && plain && names[0] == b.Name && key == "path" && set &&
			(op.Text() == "add" || op.Text() == "replace" || op.Text() == "test"):
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
