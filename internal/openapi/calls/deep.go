package calls

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// RequestOptions configure the form of requests for one API.
type RequestOptions struct {
	Lists ListStyle // names of list entries in objects of queries and forms, which OpenAPI doesn't define
}

// ListStyle is the way to name the entries of a list in queries and forms.
type ListStyle string

// The ways to name entries. Lists of objects and of lists always use indices.
const (
	Brackets ListStyle = ""        // a[]=1&a[]=2
	Indices  ListStyle = "indices" // a[0]=1&a[1]=2
	repeat   ListStyle = "repeat"  // a=1&a=2
	comma    ListStyle = "comma"   // a=1,2
)

// maxDeep is the maximum nesting of values in a query.
const maxDeep = 8

// deep encodes a value with bracketed names: filter[a]=1&filter[b][c]=2, items[0][price]=3.
func (o RequestOptions) deep(at, name string, v value.Value, depth int) ([]string, error) {
	if depth > maxDeep {
		return nil, refuse(at, "objects lie too deep in each other")
	}
	var out []string
	add := func(at, name string, v value.Value) error {
		more, err := o.deep(at, name, v, depth+1)
		out = append(out, more...)
		return err
	}
	switch v.Kind() {
	case value.Object:
		for _, m := range v.Members() {
			if err := add(pointer(at, m.Name), name+"["+encode(m.Name, "")+"]", m.Value); err != nil {
				return nil, err
			}
		}
	case value.Array:
		if o.Lists == comma && !holdsObjects(v) && len(v.List()) > 0 {
			var texts []string
			for _, e := range v.List() {
				texts = append(texts, encode(e.String(), ""))
			}
			return []string{name + "=" + strings.Join(texts, ",")}, nil
		}
		for i, e := range v.List() {
			if err := add(fmt.Sprintf("%s/%d", at, i), name+o.entry(i, v), e); err != nil {
				return nil, err
			}
		}
	default:
		return []string{name + "=" + encode(v.String(), "")}, nil
	}
	return out, nil
}

// entry returns the suffix of the name of the i-th entry of a list.
func (o RequestOptions) entry(i int, list value.Value) string {
	switch {
	case o.Lists == Indices || holdsObjects(list):
		return "[" + strconv.Itoa(i) + "]"
	case o.Lists == repeat:
		return ""
	}
	return "[]"
}

// holdsObjects reports whether a list contains objects or lists.
func holdsObjects(v value.Value) bool {
	for _, e := range v.List() {
		if e.Kind() == value.Object || e.Kind() == value.Array {
			return true
		}
	}
	return false
}

// holdsLists reports whether an object contains objects or lists, which only the bracketed style can encode.
func holdsLists(v value.Value) bool {
	for _, m := range v.Members() {
		if m.Value.Kind() == value.Object || m.Value.Kind() == value.Array {
			return true
		}
	}
	return false
}
