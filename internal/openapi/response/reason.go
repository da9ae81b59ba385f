package response

import (
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A reason is the code and message that an API gives for a failure.
type reason struct{ code, message string }

// readReason reads the reason from the visible part of the response. It appends other parts of the response
// unchanged, in one line.
func (w *walker) readReason(op *spec.Operation, r *calls.HTTPResponse) reason {
	body := inJSON(decodeBody(r))
	if len(body) == 0 {
		return reason{}
	}
	read, err := value.Read(body, maxDepth)
	if err != nil {
		if lines, ok := eachLine(body); ok {
			read, err = lines, nil
		}
	}
	if err != nil && body[0] == '<' && !isHTML(r.MediaType, body) {
		read, err = readXML(body)
	}
	if err == nil {
		read, ok := w.walk(read, w.nodeOf(w.responseSchemas(op, r.Status)), open)
		if !ok {
			return reason{}
		}
		out := reasonOf(read, 0)
		out = reason{code: token(out.code), message: sentence(out.message)}
		out.message = withRest(out, read)
		return out
	}
	if strings.HasPrefix(r.MediaType, "text/") && !isHTML(r.MediaType, body) || r.MediaType == "" || spec.IsJSON(r.MediaType) && body[0] != '<' {
		return reason{message: sentence(string(body))}
	}
	return reason{}
}

// isHTML reports whether a body is a page for browsers. Its text describes the server rather than the failure.
func isHTML(media string, body []byte) bool {
	head := bytes.ToLower(body[:min(len(body), 200)])
	return strings.Contains(media, "html") || bytes.Contains(head, []byte("<html")) || bytes.Contains(head, []byte("<!doctype"))
}

// eachLine reads a JSON Lines body as a list. It returns false if a line isn't JSON.
func eachLine(body []byte) (value.Value, bool) {
	var list []value.Value
	for line := range bytes.Lines(body) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		v, err := value.Read(line, maxDepth)
		if err != nil {
			return value.Value{}, false
		}
		list = append(list, v)
	}
	return value.OfArray(list), list != nil
}

// readXML reads XML as objects whose members are the elements by name, without namespaces. Elements with the same
// name become a list.
func readXML(body []byte) (value.Value, error) {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // the body is already UTF-8
	var element func(depth int) (value.Value, error)
	element = func(depth int) (value.Value, error) {
		var members []value.Member
		var text strings.Builder
		for {
			t, err := d.Token()
			if err == io.EOF && depth == 0 {
				return value.OfObject(members), nil
			}
			if err != nil {
				return value.Value{}, err
			}
			switch t := t.(type) {
			case xml.CharData:
				text.Write(t)
			case xml.StartElement:
				if depth > maxDepth/2 {
					return value.Value{}, io.ErrUnexpectedEOF
				}
				in, err := element(depth + 1)
				if err != nil {
					return value.Value{}, err
				}
				for _, a := range t.Attr {
					if in.Kind() == value.Object && a.Name.Local != "xmlns" && a.Name.Space != "xmlns" {
						in = value.OfObject(append(slices.Clone(in.Members()), value.Member{Name: a.Name.Local, Value: value.OfString(a.Value)}))
					}
				}
				members = gather(members, t.Name.Local, in)
			case xml.EndElement:
				if members == nil {
					return value.OfString(strings.TrimSpace(text.String())), nil
				}
				return value.OfObject(members), nil
			}
		}
	}
	return element(0)
}

// gather adds a member. Several members with one name become a list.
func gather(members []value.Member, name string, v value.Value) []value.Member {
	at := slices.IndexFunc(members, func(m value.Member) bool { return m.Name == name })
	switch {
	case at < 0:
		return append(members, value.Member{Name: name, Value: v})
	case members[at].Value.Kind() == value.Array:
		members[at].Value = value.OfArray(append(slices.Clone(members[at].Value.List()), v))
	default:
		members[at].Value = value.OfArray([]value.Value{members[at].Value, v})
	}
	return members
}

// These are names of members that contain the message and the code of a failure, normalized by plain. The most
// specific names come first.
var (
	messages = []string{"detail", "message", "errordescription", "errormessage", "errormessages", "msg", "description", "reason", "faultstring", "issue", "text", "title"}
	codes    = []string{"code", "errorcode", "reasoncode", "errcode", "faultcode", "status", "type"}
	nested   = []string{"error", "fault", "errors", "err", "exception", "details", "fieldviolations", "violations", "causes", "rootcause", "data", "result", "body", "envelope", "response", "errorresponse", "extensions", "root"}
	fields   = []string{"field", "path", "pointer", "param", "parameter", "property", "propertypath", "propertyname", "target", "loc", "location", "attribute", "source", "in", "name"}
)

// reasonOf reads {code, error}, {error: {code, message}}, {message}, problem+json, {errors: […]} and similar forms.
func reasonOf(v value.Value, depth int) reason {
	switch v.Kind() {
	case value.String:
		return reason{message: v.Text()}
	case value.Array:
		return combineReasons(v.List(), depth)
	case value.Object:
	default:
		return reason{}
	}
	var out reason
	for _, name := range codes {
		if code := member(v, name); out.code == "" && (code.Kind() == value.String || name == "code" && code.IsNumber()) {
			out.code = code.String()
		}
	}
	for _, name := range messages {
		if out.message != "" {
			break
		}
		switch m := member(v, name); m.Kind() {
		case value.String:
			out.message = m.Text()
		case value.Array: // {message: ["name is too short"]}, {detail: [{loc, msg}]}
			if depth <= maxReasons && name != "title" && name != "text" && name != "description" && name != "issue" && name != "reason" {
				out.message = combineReasons(m.List(), depth+1).message
			}
		case value.Object: // OData: {message: {lang, value}}
			out.message = member(m, "value").Text()
		}
	}
	if depth > maxReasons {
		return out
	}
	return inner(v, out, depth)
}

// maxReasons is the maximum depth at which reasons are searched.
const maxReasons = 4

// inner adds the reasons inside an error to it. Inner reasons are more exact. So their code replaces the code of the
// error, and their message is appended.
func inner(v value.Value, out reason, depth int) reason {
	for _, name := range nested {
		in := member(v, name)
		if text := in.Text(); in.Kind() == value.String && out.message != "" && out.code == "" && token(text) != "" {
			out.code = text // as in the OAuth form {error: invalid_grant, error_description: …}
			continue
		}
		if in.Kind() == value.String && name != "error" && name != "err" && name != "errors" && name != "exception" && name != "fault" {
			continue
		}
		found := reasonOf(in, depth+1)
		if in.Kind() == value.Object && found.message == "" {
			found = byField(in, depth+1)
		} else if name == "errors" && in.Kind() == value.Object {
			found = byField(in, depth+1)
		}
		first := name == "error" || name == "fault" || name == "err" || name == "exception"
		if found.message != "" && (out.message == "" || !first && !strings.Contains(out.message, found.message)) {
			out.message = strings.TrimPrefix(out.message+": "+found.message, ": ")
		}
		if out.code == "" || name == "error" && found.code != "" {
			out.code = found.code
		}
	}
	if out.message == "" && depth == 0 {
		out.message = byField(v, depth+1).message
	}
	return out
}

// combineReasons combines the first few of several reasons.
func combineReasons(list []value.Value, depth int) reason {
	var out reason
	var all []string
	for _, e := range list[:min(len(list), 5)] {
		one := reasonOf(e, depth+1)
		if one.message == "" && one.code != "" { // {field: name, code: taken}
			one.message = one.code
		}
		if at := fieldOf(e); at != "" && one.message != "" {
			one.message = at + ": " + one.message
		}
		if one.message != "" {
			all = append(all, one.message)
		}
		if out.code == "" {
			out.code = one.code
		}
	}
	out.message = strings.Join(all, "; ")
	return out
}

// fieldOf returns the name of the field that a reason is about, or "".
func fieldOf(e value.Value) string {
	for _, name := range fields {
		switch at := member(e, name); at.Kind() {
		case value.String:
			if at.Text() != "" {
				return at.Text()
			}
		case value.Array: // ["body", "name"]
			var names []string
			for _, n := range at.List() {
				names = append(names, n.String())
			}
			if names != nil {
				return strings.Join(names, ".")
			}
		case value.Object: // JSON:API: {source: {pointer}}
			if in := fieldOf(at); in != "" {
				return in
			}
		}
	}
	return ""
}

// byField reads the form {name: [is too short]}, also nested by field.
func byField(v value.Value, depth int) reason {
	var all []string
	for _, m := range v.Members() {
		if len(all) == 5 || depth > maxReasons {
			break
		}
		if m.Value.Kind() == value.String && slices.Contains(aside, plain(m.Name)) {
			continue
		}
		one := reasonOf(m.Value, depth+1)
		if one.message == "" && m.Value.Kind() == value.Object {
			one = byField(m.Value, depth+1)
		}
		if one.message != "" {
			all = append(all, m.Name+": "+one.message)
		}
	}
	return reason{message: strings.Join(all, "; ")}
}

// aside contains names of members without information about the reason, normalized by plain. Server traces are never
// shown.
var aside = []string{"timestamp", "time", "date", "path", "instance", "requestid", "traceid", "traceparent", "correlationid", "fbtraceid", "errorid", "logid", "reqid", "hostid",
	"documentationurl", "documentation", "docs", "moreinfo", "helpurl", "href", "url", "link", "links", "infolink", "version", "apiversion", "locale", "lang", "lang1033",
	"stack", "stacktrace", "trace", "exception", "exceptiontype", "backtrace", "debug", "file", "line", "class", "innererror", "context", "@type", "type", "title", "status", "statuscode", "code", "error",
	"schema", "jsonapi", "object", "kind", "apiversion", "level", "severity", "method"}

// withRest returns the message of out. If the response contains further text, withRest appends the whole response in
// one line.
func withRest(out reason, read value.Value) string {
	if !hasMoreText(out, read) {
		return out.message
	}
	shown := withoutTraces(read)
	line := cutBytes(withoutSecrets(oneLine(string(shown.AppendJSON(nil)))), maxRest)
	if out.message == "" {
		return line
	}
	return out.message + " (the answer: " + line + ")"
}

// maxRest is the maximum size of an answer that is added to a message, in bytes.
const maxRest = 600

// hasMoreText reports whether v contains a meaningful text that out doesn't contain.
func hasMoreText(out reason, v value.Value) bool {
	switch v.Kind() {
	case value.String:
		text := sentence(v.Text())
		return text != "" && !strings.Contains(text, Masked) && !strings.Contains(out.message, strings.TrimSuffix(text, "…")) && (out.code == "" || token(text) != out.code)
	case value.Array:
		return slices.ContainsFunc(v.List(), func(e value.Value) bool { return hasMoreText(out, e) })
	}
	return slices.ContainsFunc(v.Members(), func(m value.Member) bool {
		text := m.Value.Kind() != value.Object && m.Value.Kind() != value.Array
		return !(text && slices.Contains(aside, plain(m.Name))) && !ofServer(m.Name) && hasMoreText(out, m.Value)
	})
}

// withoutTraces returns v without server traces, and with each text cleaned by sentence.
func withoutTraces(v value.Value) value.Value {
	switch v.Kind() {
	case value.String:
		return value.OfString(sentence(v.Text()))
	case value.Array:
		list := make([]value.Value, len(v.List()))
		for i, e := range v.List() {
			list[i] = withoutTraces(e)
		}
		return value.OfArray(list)
	case value.Object:
		var members []value.Member
		for _, m := range v.Members() {
			if !ofServer(m.Name) {
				members = append(members, value.Member{Name: oneLine(m.Name), Value: withoutTraces(m.Value)})
			}
		}
		return value.OfObject(members)
	}
	return v
}

// ofServer reports whether members with the given name describe the server's internals.
func ofServer(name string) bool {
	n := plain(name)
	return strings.Contains(n, "trace") || strings.Contains(n, "stack") || slices.Contains([]string{"debug", "file", "exception", "innererror"}, n)
}

// cutBytes shortens s to at most most bytes, between characters.
func cutBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-len("…")], "") + "…"
}

// member returns the member of v whose name, normalized by plain, is name.
func member(v value.Value, name string) value.Value {
	for _, m := range v.Members() {
		if plain(m.Name) == name {
			return m.Value
		}
	}
	return value.Value{}
}
