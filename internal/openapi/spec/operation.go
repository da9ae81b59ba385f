package spec

import (
	"slices"
	"strings"
)

// An Operation is one HTTP method and path. It is read completely at load, except for its schemas.
type Operation struct {
	ID          string // unique in the document
	Declared    bool   // whether the document declares ID. Otherwise ID is made from Method and Path
	Method      string // GET, POST, …
	Path        string // the template, such as /teams/{teamId}
	Summary     string
	Description string
	Tags        []string
	Deprecated  bool
	Servers     []string // the servers that the document declares for this operation, if any
	// Alternatives, one of which a call must satisfy. Empty requires nothing. Nil if not declared.
	Security   []Requirement
	Parameters []Parameter // ordered by location (path, query, header, cookie), then as declared
	Body       *Body       // nil if the operation has no body
	Responses  []Response  // as declared
	Links      []Link      // from successful responses to operations of the document
}

// Name returns method and path, which identify an operation in every document.
func (o *Operation) Name() string { return o.Method + " " + o.Path }

// Target returns the path template to send, and the fixed query. Some documents append a query or a fragment to the
// path, to distinguish operations with the same path: /messages?beta=true, /#Describe.
func (o *Operation) Target() (path, query string) {
	path, _, _ = strings.Cut(o.Path, "#")
	path, query, _ = strings.Cut(path, "?")
	return path, query
}

// Groups returns the groups of the operation: its tags, or the first significant segment of its path.
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

// Parameter returns the parameter with the given name and location (path, query, header, cookie), or nil.
func (o *Operation) Parameter(in, name string) *Parameter {
	for i, p := range o.Parameters {
		if p.In == in && (p.Name == name || in == "header" && strings.EqualFold(p.Name, name)) {
			return &o.Parameters[i]
		}
	}
	return nil
}

// A Parameter is a named value outside the body.
type Parameter struct {
	Name        string
	In          string // path, query, header or cookie
	Required    bool
	Deprecated  bool
	Description string
	Schema      Raw    // nil accepts any value
	MediaType   string // the encoding of the value if it is JSON, else ""
	Style       string // simple, label, matrix, form, spaceDelimited, pipeDelimited, tabDelimited, deepObject
	Explode     bool
	Reserved    bool // reserved characters are not encoded
	Example     Raw
}

// A Body is the request body of an operation.
type Body struct {
	Required    bool
	Description string
	Contents    []Content // in order. See PreferredContent
}

// PreferredContent returns the content that is sent by default: JSON, else a form, else the first declared content.
// It returns nil if there is no content.
func (b *Body) PreferredContent() *Content { return preferredContent(b.Contents) }

// PreferredContent returns the content to describe: JSON, else a form, else the first declared content. It returns
// nil if there is no content.
func (r *Response) PreferredContent() *Content { return preferredContent(r.Contents) }

// preferredContent returns the content that is easiest to write: JSON, else a form, else a multipart form, else the
// first content. It returns nil if there is no content.
func preferredContent(all []Content) *Content {
	for _, is := range []func(string) bool{IsJSON, IsForm, IsMultipart, func(string) bool { return true }} {
		for i := range all {
			if is(all[i].MediaType) {
				return &all[i]
			}
		}
	}
	return nil
}

// IsJSON reports whether a media type is JSON, such as application/json or one that ends in +json.
func IsJSON(mediaType string) bool {
	name := essence(mediaType)
	return name == "application/json" || name == "text/json" || name == "*/*" || name == "application/*" || strings.HasSuffix(name, "+json")
}

// IsForm reports whether a media type is a URL-encoded form.
func IsForm(mediaType string) bool { return essence(mediaType) == formType }

// IsMultipart reports whether a media type is a multipart form.
func IsMultipart(mediaType string) bool { return essence(mediaType) == multipartType }

// essence returns a media type without its parameters.
func essence(mediaType string) string {
	name, _, _ := strings.Cut(mediaType, ";")
	return strings.TrimSpace(name)
}

// A Content is a body in one media type.
type Content struct {
	MediaType string
	Schema    Raw // nil accepts any value
	Example   Raw
	Encoding  map[string]Encoding // for the properties of forms
}

// An Encoding defines how a property of a form is encoded.
type Encoding struct {
	ContentType string
	Style       string // "" if the document gives none
	Explode     bool
	Reserved    bool
}

// A Link describes how to call another operation after this one.
type Link struct {
	To         string            // the operation's id, or its method and path
	Parameters map[string]string // its parameters, by name, as expressions: $request.body#/name
}

// A Response is an operation's response with one status.
type Response struct {
	Status      string // 200, 2XX or default
	Description string
	Contents    []Content
	Headers     []string // their names
}

// Answers returns the media types of successful responses without duplicates. It omits ranges such as */*.
func (o *Operation) Answers() (out []string) {
	for i := range o.Responses {
		if r := &o.Responses[i]; strings.HasPrefix(r.Status, "2") || r == o.Success() {
			for _, c := range r.Contents {
				if !strings.Contains(c.MediaType, "*") && !slices.Contains(out, c.MediaType) {
					out = append(out, c.MediaType)
				}
			}
		}
	}
	return out
}

// Success returns the response of a successful call: the response with the lowest 2xx status, else default. It
// returns nil if neither is declared.
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
