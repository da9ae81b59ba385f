package spec

import "strings"

// An Operation is one HTTP call: a method and a path. It is read whole at load, but for its schemas.
type Operation struct {
	ID          string // unique in the document
	Declared    bool   // the document names it so; otherwise ID is made from Method and Path
	Method      string // GET, POST, …
	Path        string // the template: /teams/{teamId}
	Summary     string
	Description string
	Tags        []string
	Deprecated  bool
	Servers     []string    // where the document gives it servers of its own
	Parameters  []Parameter // path, query, header and cookie, in this order of places, as declared within one
	Body        *Body       // nil when it takes none
	Responses   []Response  // as declared
}

// Name returns method and path, which tell an operation in every document.
func (o *Operation) Name() string { return o.Method + " " + o.Path }

// Target returns the template of the path that is sent, and the query that always is. Documents that tell operations of
// one path apart write these, and a fragment, behind it: /messages?beta=true, /#Describe.
func (o *Operation) Target() (path, query string) {
	path, _, _ = strings.Cut(o.Path, "#")
	path, query, _ = strings.Cut(path, "?")
	return path, query
}

// Groups returns the services the operation belongs to: its tags, or the first word of its path that says something.
func (o *Operation) Groups() []string {
	if len(o.Tags) > 0 {
		return o.Tags
	}
	path := o.Path
	if at := prefix.FindString(path); len(at) < len(path) {
		path = path[len(at):]
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment != "" && segment[0] != '{' {
			return []string{segment}
		}
	}
	return []string{"other"}
}

// Parameter returns the parameter of that name at a place (path, query, header, cookie), or nil.
func (o *Operation) Parameter(in, name string) *Parameter {
	for i, p := range o.Parameters {
		if p.In == in && (p.Name == name || in == "header" && strings.EqualFold(p.Name, name)) {
			return &o.Parameters[i]
		}
	}
	return nil
}

// A Parameter is a named value outside of the body.
type Parameter struct {
	Name        string
	In          string // path, query, header or cookie
	Required    bool
	Deprecated  bool
	Description string
	Schema      Raw    // nil for any value
	MediaType   string // how the value is written as text, where it is JSON; "" otherwise
	Style       string // simple, label, matrix, form, spaceDelimited, pipeDelimited, tabDelimited, deepObject
	Explode     bool
	Reserved    bool // reserved characters stand as they are
	Example     Raw
}

// A Body is what an operation takes as its request's body.
type Body struct {
	Required    bool
	Description string
	Contents    []Content // in order; see Preferred
}

// Preferred returns the content that is sent when nobody chooses: JSON, then a form, then what is declared first; nil
// where there is none.
func (b *Body) Preferred() *Content { return preferred(b.Contents) }

// Preferred returns the content of an answer that tells most: JSON, then what is declared first; nil where there is none.
func (r *Response) Preferred() *Content { return preferred(r.Contents) }

func preferred(all []Content) *Content {
	for _, is := range []func(string) bool{IsJSON, IsForm, IsMultipart, func(string) bool { return true }} {
		for i := range all {
			if is(all[i].MediaType) {
				return &all[i]
			}
		}
	}
	return nil
}

// IsJSON reports whether a media type is JSON: application/json or one that ends in +json.
func IsJSON(mediaType string) bool {
	name := essence(mediaType)
	return name == "application/json" || name == "text/json" || name == "*/*" || name == "application/*" || strings.HasSuffix(name, "+json")
}

// IsForm reports whether a media type is a form in a URL's encoding.
func IsForm(mediaType string) bool { return essence(mediaType) == formType }

// IsMultipart reports whether a media type is a form in parts.
func IsMultipart(mediaType string) bool { return essence(mediaType) == multipartType }

// essence returns a media type without its parameters.
func essence(mediaType string) string {
	name, _, _ := strings.Cut(mediaType, ";")
	return strings.TrimSpace(name)
}

// A Content is a body in one media type.
type Content struct {
	MediaType string
	Schema    Raw // nil for any value
	Example   Raw
	Encoding  map[string]Encoding // of the properties of forms
}

// An Encoding says how a property of a form is written.
type Encoding struct {
	ContentType string
	Style       string // "" where the document doesn't say
	Explode     bool
	Reserved    bool
}

// A Response is what an operation answers with one status.
type Response struct {
	Status      string // 200, 2XX or default
	Description string
	Contents    []Content
	Headers     []string // their names
}

// Success returns the answer of a call that went well: the lowest 2xx, or else default; nil where none is declared.
func (o *Operation) Success() *Response {
	var best *Response
	for i := range o.Responses {
		r := &o.Responses[i]
		switch {
		case strings.HasPrefix(r.Status, "2"):
			if best == nil || best.Status == "default" || r.Status < best.Status {
				best = r
			}
		case r.Status == "default" && best == nil:
			best = r
		}
	}
	return best
}
