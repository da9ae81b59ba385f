package calls

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

func refuse(at, format string, args ...any) error {
	return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Kind: "request", Detail: fmt.Sprintf(format, args...)}
}

func pointer(at, name string) string {
	return at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// pathText encodes a path parameter as one segment, or a part of one.
func pathText(p spec.Parameter, v value.Value) (string, error) {
	at := pointer("/path", p.Name)
	text, err := "", error(nil)
	switch p.Style {
	case "label":
		text, err = encodeLabelOrMatrix(p, v, ".", func(string) string { return "" })
	case "matrix":
		text, err = encodeLabelOrMatrix(p, v, ";", func(name string) string { return name + "=" })
	default:
		text, err = simple(p, v, requestSegment)
	}
	switch {
	case err != nil:
		return "", err
	case text == "" || strings.Trim(text, ".;=,") == "" && p.Style != "simple" && p.Style != "":
		return "", refuse(at, "the path parameter %s must not be empty", p.Name)
	case text == "." || text == "..":
		return "", refuse(at, `the path parameter %s can't be "." or ".."`, p.Name)
	}
	return text, nil
}

// requestSegment percent-encodes all but unreserved characters (RFC 3986), so that the text is one segment for every reader.
func requestSegment(s string) string { return encode(s, "") }

// encode percent-encodes s except letters, digits, -._~ and the characters in keep.
func encode(s, keep string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 || strings.IndexByte(keep, c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

// simple encodes a value in the simple style: lists as a,b, objects as a,1,b,2 or, exploded, a=1,b=2.
func simple(p spec.Parameter, v value.Value, escape func(string) string) (string, error) {
	if p.MediaType != "" {
		return escape(string(v.AppendJSON(nil))), nil
	}
	at := pointer("/"+place(p), p.Name)
	var out []string
	switch v.Kind() {
	case value.Array:
		for _, e := range v.List() {
			text, err := scalar(at, e)
			if err != nil {
				return "", err
			}
			out = append(out, escape(text))
		}
	case value.Object:
		for _, m := range v.Members() {
			text, err := scalar(pointer(at, m.Name), m.Value)
			if err != nil {
				return "", err
			}
			if p.Explode {
				out = append(out, escape(m.Name)+"="+escape(text))
			} else {
				out = append(out, escape(m.Name), escape(text))
			}
		}
	default:
		text, err := scalar(at, v)
		return escape(text), err
	}
	return strings.Join(out, ","), nil
}

// encodeLabelOrMatrix encodes a value in the label or matrix style: each item is prefixed with mark and, for matrix, a name.
func encodeLabelOrMatrix(p spec.Parameter, v value.Value, mark string, begin func(name string) string) (string, error) {
	at := pointer("/path", p.Name)
	if !p.Explode || v.Kind() != value.Array && v.Kind() != value.Object {
		text, err := simple(p, v, requestSegment)
		return mark + begin(requestSegment(p.Name)) + text, err
	}
	var b strings.Builder
	for _, e := range v.List() {
		text, err := scalar(at, e)
		if err != nil {
			return "", err
		}
		b.WriteString(mark + begin(requestSegment(p.Name)) + requestSegment(text))
	}
	for _, m := range v.Members() {
		text, err := scalar(pointer(at, m.Name), m.Value)
		if err != nil {
			return "", err
		}
		b.WriteString(mark + requestSegment(m.Name) + "=" + requestSegment(text))
	}
	return b.String(), nil
}

// place returns the name of a parameter's location in the arguments.
func place(p spec.Parameter) string {
	if p.In == "header" {
		return "headers"
	}
	return p.In
}

// scalar returns the text of a value that is neither list nor object. Null is empty.
func scalar(at string, v value.Value) (string, error) {
	if v.Kind() == value.Array || v.Kind() == value.Object {
		return "", refuse(at, "a list or an object can't stand here")
	}
	return v.String(), nil
}

// queryPairs encodes a query parameter as name=value pairs.
func (o RequestOptions) queryPairs(p spec.Parameter, v value.Value) ([]string, error) {
	at := pointer("/query", p.Name)
	keep := ""
	if p.Reserved {
		keep = ":/?[]@!$'()*," // reserved characters except those that end a pair, a value or the query. Some APIs end pairs at ";"
	}
	name := encode(p.Name, "[]")
	one := func(text string) []string { return []string{name + "=" + encode(text, keep)} }
	switch {
	case p.MediaType != "":
		return one(string(v.AppendJSON(nil))), nil
	case p.Style == "deepObject", holdsLists(v), holdsObjects(v):
		return o.deep(at, name, v, 0)
	case v.Kind() == value.Array:
		return listPairs(p, v, name, keep)
	case v.Kind() == value.Object:
		return objectPairs(p, v, name, keep)
	}
	text, err := scalar(at, v)
	return one(text), err
}

// between returns the separator of list elements in a single value.
func between(style string) string {
	switch style {
	case "spaceDelimited":
		return "%20"
	case "pipeDelimited":
		return "%7C"
	case "tabDelimited":
		return "%09"
	}
	return ","
}

// listPairs returns the name=value pairs of a list in a query. With explode there is one pair for each element.
// Otherwise there is one pair with the elements joined by the style's separator. An empty list has no pairs.
func listPairs(p spec.Parameter, v value.Value, name, keep string) ([]string, error) {
	at := pointer("/query", p.Name)
	var texts, out []string
	for i, e := range v.List() {
		text, err := scalar(fmt.Sprintf("%s/%d", at, i), e)
		if err != nil {
			return nil, err
		}
		texts = append(texts, encode(text, keep))
		out = append(out, name+"="+encode(text, keep))
	}
	if p.Explode {
		return out, nil
	}
	if len(texts) == 0 {
		return nil, nil
	}
	return []string{name + "=" + strings.Join(texts, between(p.Style))}, nil
}

// objectPairs returns the pairs of an object in a query. With explode there is one pair for each member, with the
// member's name. Otherwise there is one pair with names and values in turn.
func objectPairs(p spec.Parameter, v value.Value, name, keep string) ([]string, error) {
	at := pointer("/query", p.Name)
	var texts, out []string
	for _, m := range v.Members() {
		text, err := scalar(pointer(at, m.Name), m.Value)
		if err != nil {
			return nil, err
		}
		texts = append(texts, encode(m.Name, ""), encode(text, keep))
		out = append(out, encode(m.Name, "")+"="+encode(text, keep))
	}
	if p.Explode {
		return out, nil
	}
	if len(texts) == 0 {
		return nil, nil
	}
	return []string{name + "=" + strings.Join(texts, between(p.Style))}, nil
}
