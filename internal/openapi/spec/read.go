package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// methods are the members of a path item that are operations, in the order in which operations are listed.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// A reader reads operations from the paths of a document.
type reader struct {
	d    *Document
	root map[string]Raw // the document's other members

	security []Requirement // for operations that don't declare security
}

// paths reads the operations of all paths, in the order of the document. It omits an operation or a path that can't
// be read, with a warning, so that the rest of the API stays usable.
func (r *reader) paths(paths Raw) {
	for path, item := range paths.Members() {
		if strings.HasPrefix(path, "x-") {
			continue
		}
		item, _, err := r.d.follow(item)
		if err == nil && item.Kind() != '{' {
			err = errors.New("must be an object")
		}
		if err != nil {
			r.d.warn(path, "left out: %v", err)
			continue
		}
		shared, on := Raw(nil), []string(nil)
		for name, v := range item.Members() {
			switch name {
			case "parameters":
				shared = v
			case "servers":
				on = servers(v)
			}
		}
		for name, v := range item.Members() {
			if !slices.Contains(methods, name) {
				continue
			}
			op := &Operation{Method: strings.ToUpper(name), Path: path, Servers: on}
			v, _, err := r.d.follow(v) // in a document of several files, each operation may be in its own file
			if err == nil {
				err = r.operation(op, v, shared)
			}
			if err != nil {
				r.d.warn(op.Name(), "left out: %v", err)
				continue
			}
			r.d.Operations = append(r.d.Operations, op)
		}
	}
}

// operation reads operation v into op. shared contains the parameters of its path. All members are collected first,
// because they come in any order, and the parameters, body and responses depend on consumes and produces.
func (r *reader) operation(op *Operation, v, shared Raw) error {
	if v.Kind() != '{' {
		return errors.New("must be an object")
	}
	op.Security = r.security
	in := input{consumes: r.root["consumes"].Texts()}
	produces := r.root["produces"].Texts()
	var body, responses, own Raw
	for name, m := range v.Members() {
		switch name {
		case "operationId":
			op.ID = m.Text()
		case "summary":
			op.Summary = m.Text()
		case "description":
			op.Description = m.Text()
		case "tags":
			op.Tags = distinct(m.Texts())
		case "deprecated":
			op.Deprecated = m.True()
		case "servers":
			op.Servers = servers(m)
		case "security":
			op.Security = requirements(m)
		case "parameters":
			own = m
		case "requestBody":
			body = m
		case "responses":
			responses = m
		case "consumes":
			in.consumes = m.Texts()
		case "produces":
			produces = m.Texts()
		}
	}
	if err := r.parameters(op, &in, shared, own); err != nil {
		return err
	}
	if err := r.body(op, &in, body); err != nil {
		return err
	}
	return r.responses(op, responses, produces)
}

// distinct returns the words without duplicates and without empty words.
func distinct(words []string) []string {
	var out []string
	for _, w := range words {
		if w != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// body reads the request body of op. In Swagger 2.0, the body consists of the parameters in body and formData, which
// are in the argument in. A body without contents is treated as absent.
func (r *reader) body(op *Operation, in *input, body Raw) error {
	if r.d.Dialect == Swagger2 {
		op.Body = in.body()
		return nil
	}
	if body == nil {
		return nil
	}
	body, _, err := r.d.follow(body)
	if err != nil {
		return fmt.Errorf("its request body: %w", err)
	}
	if body.Kind() != '{' {
		return errors.New("its request body must be an object")
	}
	out := &Body{Required: body.Get("required").True(), Description: body.Get("description").Text()}
	if out.Contents, err = r.contents(body.Get("content")); err != nil {
		return fmt.Errorf("its request body: %w", err)
	}
	if len(out.Contents) > 0 {
		op.Body = out
	}
	return nil
}

// responses reads the responses of op by status: "200", "4XX" or "default". In Swagger 2.0, produces contains their
// media types.
func (r *reader) responses(op *Operation, responses Raw, produces []string) error {
	for status, v := range responses.Members() {
		if strings.HasPrefix(status, "x-") {
			continue
		}
		v, _, err := r.d.follow(v)
		if err != nil {
			return fmt.Errorf("its answer %s: %w", status, err)
		}
		out := Response{Status: strings.ToUpper(status), Description: v.Get("description").Text()}
		if out.Status == "DEFAULT" {
			out.Status = "default"
		}
		for name := range v.Get("headers").Members() {
			out.Headers = append(out.Headers, name)
		}
		if r.d.Dialect == Swagger2 {
			out.Contents = swaggerContents(v, produces)
		} else if out.Contents, err = r.contents(v.Get("content")); err != nil {
			return fmt.Errorf("its answer %s: %w", status, err)
		}
		op.Responses = append(op.Responses, out)
		if strings.HasPrefix(out.Status, "2") {
			op.Links = append(op.Links, r.links(v.Get("links"))...)
		}
	}
	return nil
}

// links reads the links of a response. It omits a link with a dangling reference, because links are optional.
func (r *reader) links(links Raw) (out []Link) {
	for _, v := range links.Members() {
		v, _, err := r.d.follow(v)
		if err != nil {
			continue
		}
		link := Link{To: v.Get("operationId").Text(), Parameters: map[string]string{}}
		if path, method, ok := cutLast(strings.TrimPrefix(v.Get("operationRef").Text(), "#/paths/")); ok {
			link.To = strings.ToUpper(method) + " " + unescape(path)
		}
		for name, m := range v.Get("parameters").Members() {
			link.Parameters[strings.TrimPrefix(name, "path.")] = m.Text()
		}
		out = append(out, link)
	}
	return out
}

func cutLast(ref string) (before, after string, ok bool) {
	at := strings.LastIndexByte(ref, '/')
	if at < 0 {
		return "", "", false
	}
	return ref[:at], ref[at+1:], true
}

// contents reads the media types of a body or a response, in order and in lower case. example takes precedence over
// examples. A schema with a dangling reference is an error, which makes the caller omit the operation.
func (r *reader) contents(content Raw) ([]Content, error) {
	var out []Content
	for mediaType, v := range content.Members() {
		c := Content{MediaType: strings.ToLower(strings.TrimSpace(mediaType))}
		for name, m := range v.Members() {
			switch name {
			case "schema":
				c.Schema = m
			case "example":
				c.Example = m
			case "examples":
				if c.Example == nil {
					c.Example = r.example(m)
				}
			case "encoding":
				c.Encoding = encodings(m)
			}
		}
		if _, _, err := r.d.follow(c.Schema); err != nil {
			return nil, fmt.Errorf("the schema of %s: %w", mediaType, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// example returns the value of the first named example.
func (r *reader) example(examples Raw) Raw {
	for _, e := range examples.Members() {
		if e, _, err := r.d.follow(e); err == nil {
			return e.Get("value")
		}
	}
	return nil
}

// encodings reads how the fields of a form are encoded. Without a style, explode is true, as for the style form.
func encodings(r Raw) map[string]Encoding {
	out := map[string]Encoding{}
	for name, v := range r.Members() {
		e := Encoding{ContentType: v.Get("contentType").Text(), Style: v.Get("style").Text(), Reserved: v.Get("allowReserved").True()}
		e.Explode = e.Style == "form" || e.Style == ""
		if explode := v.Get("explode"); explode != nil {
			e.Explode = explode.True()
		}
		out[name] = e
	}
	return out
}
