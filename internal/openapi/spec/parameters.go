package spec

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An input collects the body parameters of a Swagger 2.0 operation.
type input struct {
	consumes []string
	whole    *Parameter // in: body
	form     []Raw      // in: formData
}

var places = []string{"path", "query", "header", "cookie"}

// parameters reads the parameters of the path and of the operation. The operation's parameters override those with
// the same name in the path.
func (r *reader) parameters(op *Operation, in *input, lists ...Raw) error {
	var all []Parameter
	for _, list := range lists {
		for v := range list.Elements() {
			v, _, err := r.d.follow(v)
			if err != nil {
				return fmt.Errorf("a parameter: %w", err)
			}
			p, err := r.parameter(v, in)
			if err != nil {
				return err
			}
			if p == nil {
				continue
			}
			same := func(q Parameter) bool { return q.In == p.In && q.Name == p.Name }
			if at := slices.IndexFunc(all, same); at >= 0 {
				all[at] = *p
			} else {
				all = append(all, *p)
			}
		}
	}
	all, err := r.fill(op, all)
	if err != nil {
		return err
	}
	op.Parameters = make([]Parameter, 0, len(all))
	for _, place := range places {
		for _, p := range all {
			if p.In == place {
				op.Parameters = append(op.Parameters, p)
			}
		}
	}
	return nil
}

// variable matches a variable of a path template.
var variable = regexp.MustCompile(`\{([^{}/]+)\}`)

// Variables returns the names of the variables of a path template, in order.
func Variables(path string) []string {
	var out []string
	for _, m := range variable.FindAllStringSubmatch(path, -1) {
		out = append(out, m[1])
	}
	return out
}

// fill checks the path against its parameters. An undeclared variable becomes a string parameter. A path parameter
// without a variable is omitted.
func (r *reader) fill(op *Operation, all []Parameter) ([]Parameter, error) {
	path, query := op.Target()
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(query+variable.ReplaceAllString(path, ""), "{}") {
		return nil, errors.New("its path is not a template")
	}
	names := Variables(path)
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("its path has {%s} twice", name)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(p Parameter) bool { return p.In == "path" && p.Name == name }) {
			r.d.warn(op.Name(), "the path parameter %s is not declared. It is taken for text", name)
			all = append(all, Parameter{Name: name, In: "path", Required: true, Style: "simple", Schema: Raw(`{"type":"string"}`)})
		}
	}
	return slices.DeleteFunc(all, func(p Parameter) bool {
		unknown := p.In == "path" && !slices.Contains(names, p.Name)
		if unknown {
			r.d.warn(op.Name(), "the path has no {%s}. The parameter is left out", p.Name)
		}
		return unknown
	}), nil
}

// declared is a parameter as the document declares it, before its location is known.
type declared struct {
	Parameter
	content, explode, examples Raw
	format                     string // collectionFormat
}

// member reads one member of a parameter of OpenAPI or Swagger 2.0, and skips unknown members. Members come in any
// order. So values that depend on the location, such as the default of style, are set later.
func (p *declared) member(name string, m Raw) {
	switch name {
	case "name":
		p.Name = m.Text()
	case "in":
		p.In = m.Text()
	case "required":
		p.Required = m.True()
	case "deprecated":
		p.Deprecated = m.True()
	case "description":
		p.Description = m.Text()
	case "schema":
		p.Schema = m
	case "style":
		p.Style = m.Text()
	case "explode":
		p.explode = m
	case "allowReserved":
		p.Reserved = m.True()
	case "example", "x-example":
		p.Example = m
	case "examples":
		p.examples = m
	case "content":
		p.content = m
	case "collectionFormat":
		p.format = m.Text()
	}
}

// parameter reads one parameter. It returns nil for a Swagger 2.0 parameter that is part of the body.
func (r *reader) parameter(v Raw, in *input) (*Parameter, error) {
	p := declared{}
	for name, m := range v.Members() {
		p.member(name, m)
	}
	swagger := r.d.Dialect == Swagger2
	switch {
	case p.Name == "" && p.In != "body":
		return nil, errors.New("a parameter has no name")
	case swagger && p.In == "body":
		in.whole = &p.Parameter
		return nil, r.leads(&p.Parameter)
	case swagger && p.In == "formData":
		in.form = slices.DeleteFunc(in.form, func(f Raw) bool { return f.Get("name").Text() == p.Name })
		in.form = append(in.form, v)
		return nil, nil
	case !slices.Contains(places, p.In) || swagger && p.In == "cookie":
		return nil, fmt.Errorf("the parameter %s stands in %q", p.Name, p.In)
	}
	p.Required = p.Required || p.In == "path"
	if swagger {
		p.Schema = v
		p.Style, p.Explode = collection(p.In, p.format)
		return &p.Parameter, nil
	}
	if p.Example == nil {
		p.Example = r.example(p.examples)
	}
	for mediaType, c := range p.content.Members() {
		p.Schema, p.MediaType = c.Get("schema"), strings.ToLower(mediaType)
		break
	}
	// These are the defaults of OpenAPI 3. The style depends on the location, and explode on the style.
	if p.Style == "" {
		p.Style = "simple"
		if p.In == "query" || p.In == "cookie" {
			p.Style = "form"
		}
	}
	p.Explode = p.Style == "form" || p.Style == "deepObject"
	if p.explode != nil {
		p.Explode = p.explode.True()
	}
	return &p.Parameter, r.leads(&p.Parameter)
}

// leads checks that the reference to a parameter's schema can be resolved.
func (r *reader) leads(p *Parameter) error {
	if _, _, err := r.d.follow(p.Schema); err != nil {
		return fmt.Errorf("the schema of the parameter %s: %w", p.Name, err)
	}
	return nil
}
