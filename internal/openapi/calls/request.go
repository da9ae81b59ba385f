package calls

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An HTTPRequest is an HTTP request without a host. The same arguments always give the same bytes.
type HTTPRequest struct {
	Method string
	Path   string      // percent-encoded, begins with "/". It is appended unchanged to the base URL
	Query  string      // encoded, without "?", or ""
	Header http.Header // without credentials. It has Accept, and Content-Type if there is a body
	Body   []byte      // nil without a body

	Server      string   // the address that replaces the API's, or ""
	Credentials []string // the names of its credentials, or nil for all configured ones
}

// Target returns path and query in the form of a request line.
func (r *HTTPRequest) Target() string {
	if r.Query == "" {
		return r.Path
	}
	return r.Path + "?" + r.Query
}

// BuildRequest builds the request of c. It returns problem.InvalidArgument for values that can't be encoded: invalid
// path segments, headers of more than one line, and values that are nested too deeply in a query. It refuses the zero
// Checked with problem.Internal.
func BuildRequest(c validate.Checked, o RequestOptions) (*HTTPRequest, error) {
	op := c.Operation()
	if op == nil {
		return nil, &problem.Error{Code: problem.Internal, Detail: "Internal error", Kind: "unchecked_call"}
	}
	r := &HTTPRequest{Method: op.Method, Header: http.Header{}}
	// The path in the document may have a query, which comes first.
	path, fixedQuery := op.Target()
	var query []string
	if fixedQuery != "" {
		query = append(query, escapePath(fixedQuery))
	}
	for _, v := range c.Values() {
		p := v.Parameter
		switch p.In {
		case "path":
			text, err := pathText(p, v.Value)
			if err != nil {
				return nil, err
			}
			path = strings.ReplaceAll(path, "{"+p.Name+"}", text)
		case "query":
			pairs, err := o.queryPairs(p, v.Value)
			if err != nil {
				return nil, err
			}
			query = append(query, pairs...)
		case "header":
			if err := setHeader(r.Header, p, v.Value); err != nil {
				return nil, err
			}
		case "cookie":
			if err := addCookie(r.Header, p, v.Value); err != nil {
				return nil, err
			}
		default:
			return nil, refuse("/"+p.In, "a %s parameter can't be sent", p.In)
		}
	}
	var err error
	if r.Path, err = finish(path); err != nil {
		return nil, err
	}
	r.Query = strings.Join(query, "&")
	r.Header.Set("Accept", accept(op))
	return r, r.setBody(c, o)
}

// finish encodes the fixed parts of a path and checks the result.
func finish(path string) (string, error) {
	if strings.ContainsAny(path, "{}") {
		return "", refuse("/path", "a path parameter is missing")
	}
	for _, segment := range strings.Split(path, "/")[1:] {
		if Climbs(segment) {
			return "", refuse("/path", `a segment of a path can't be "." or ".."`)
		}
	}
	return escapePath(path), nil
}

// Climbs reports whether a path segment can be read as "." or "..", as a whole or in a part between slashes. Some
// servers and proxies decode slashes before they look for such segments, or decode twice. Some treat a backslash as a
// slash, or drop the text after a semicolon.
func Climbs(segment string) bool {
	for range 8 {
		for part := range strings.FieldsFuncSeq(segment, func(r rune) bool { return r == '/' || r == '\\' }) {
			if plain, _, _ := strings.Cut(part, ";"); plain == "." || plain == ".." {
				return true
			}
		}
		text := decode(segment)
		if text == segment {
			return false
		}
		segment = text
	}
	return true // encoded too often to be legitimate
}

// decode percent-decodes s. It keeps invalid escapes unchanged.
func decode(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// escapePath percent-encodes bytes of a document's path that are not allowed in a URL.
func escapePath(path string) string {
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`|?#", c) >= 0 {
			const hex = "0123456789ABCDEF"
			b.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// accept returns the Accept header for the operation's response.
func accept(op *spec.Operation) string {
	ok := op.Success()
	if ok == nil || len(ok.Contents) == 0 {
		return "application/json, */*;q=0.5"
	}
	if c := ok.PreferredContent(); oneLine(c.MediaType) && c.MediaType != "*/*" {
		if spec.IsJSON(c.MediaType) {
			return c.MediaType + ", */*;q=0.5"
		}
		return c.MediaType
	}
	return "*/*"
}

// setHeader sets a header parameter.
func setHeader(h http.Header, p spec.Parameter, v value.Value) error {
	at := pointer("/headers", p.Name)
	if spec.RefusedHeader(p.Name) || !token(p.Name) {
		return refuse(at, "the header %q can't be set", problem.Cut(p.Name))
	}
	text, err := simple(p, v, func(s string) string { return s })
	if err != nil {
		return err
	}
	if !oneLine(text) {
		return refuse(at, "the header %s is a text of one line", p.Name)
	}
	h.Set(p.Name, text)
	return nil
}

// addCookie adds a cookie parameter to the header Cookie, in the style form: a list or an object is one value with commas.
func addCookie(h http.Header, p spec.Parameter, v value.Value) error {
	at := pointer("/cookies", p.Name)
	if !token(p.Name) {
		return refuse(at, "the cookie %q can't be set", problem.Cut(p.Name))
	}
	text, err := simple(p, v, func(s string) string { return encode(s, "!#$&'()*+/:<=>?@[]^`{|}") })
	if err != nil {
		return err
	}
	pair := p.Name + "=" + text
	if before := h.Get("Cookie"); before != "" {
		pair = before + "; " + pair
	}
	h.Set("Cookie", pair)
	return nil
}

// oneLine reports whether text is a valid header value.
func oneLine(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) < 0
}

// token reports whether name is a valid header name (RFC 9110).
func token(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return !(r == '!' || '#' <= r && r <= '\'' || r == '*' || r == '+' || r == '-' || r == '.' || r == '^' || r == '_' || r == '`' || r == '|' || r == '~' ||
			'0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}) < 0
}

// emptyForm sets the body of a call without a body to an empty form, if the operation accepts a form. Some servers for
// forms, such as Stripe's mock, refuse a POST without the media type of a form. Servers for JSON refuse an empty text
// with the media type of JSON.
func (r *HTTPRequest) emptyForm(op *spec.Operation) {
	if op.Body == nil || op.Method != http.MethodPost && op.Method != http.MethodPut && op.Method != http.MethodPatch {
		return
	}
	if media := op.Body.PreferredContent().MediaType; spec.IsForm(media) && oneLine(media) {
		r.Body = []byte{}
		r.Header.Set("Content-Type", media)
	}
}

// setBody encodes the body by its media type: JSON, a form, a multipart form, a text, or bytes from base64. A range of media types,
// such as */*, is sent as JSON.
func (r *HTTPRequest) setBody(c validate.Checked, o RequestOptions) error {
	v, content := c.Body()
	if content == nil {
		r.emptyForm(c.Operation())
		return nil
	}
	media := content.MediaType
	if !oneLine(media) || strings.Contains(media, "*") {
		media = "application/json"
	}
	var err error
	switch {
	case validate.IsLines(content.MediaType) && v.Kind() == value.Array:
		for _, one := range v.List() {
			r.Body = append(one.AppendJSON(r.Body), '\n')
		}
	case spec.IsJSON(content.MediaType), validate.IsText(content.MediaType) && v.Kind() != value.String:
		r.Body = v.AppendJSON(nil)
	case spec.IsForm(content.MediaType):
		r.Body, err = o.form(content, v)
	case spec.IsMultipart(content.MediaType):
		r.Body, media, err = parts(c, content, v)
	case c.Text():
		r.Body = []byte(v.Text())
	default:
		r.Body, err = base64.StdEncoding.DecodeString(v.Text())
	}
	if err != nil {
		return err
	}
	if r.Body == nil {
		r.Body = []byte{}
	}
	r.Header.Set("Content-Type", media)
	return nil
}
