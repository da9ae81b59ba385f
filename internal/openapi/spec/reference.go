package spec

import (
	"fmt"
	"net/url"
	"strings"
)

// maxHops is how many references may stand one behind the other.
const maxHops = 32

// follow returns what r leads to: itself, or what its $ref names, and the last reference on the way ("" for none).
func (d *Document) follow(r Raw) (Raw, string, error) {
	last := ""
	for range maxHops {
		ref := Reference(r)
		if ref == "" {
			return r, last, nil
		}
		to := d.Lookup(ref)
		if to == nil {
			return nil, "", fmt.Errorf("%q is not in the document", ref)
		}
		r, last = to, ref
	}
	return nil, "", fmt.Errorf("%q leads through more than %d references", last, maxHops)
}

// Reference returns the $ref of r in its plain form; "" where r is none.
func Reference(r Raw) string {
	ref := r.Get("$ref").Text()
	if strings.IndexByte(ref, '%') >= 0 {
		if plain, err := url.PathUnescape(ref); err == nil {
			return plain
		}
	}
	return ref
}

// Lookup returns what a reference within the document names; nil where that is nothing.
func (d *Document) Lookup(ref string) Raw {
	if r, ok := d.parts[ref]; ok {
		return r
	}
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	if rest == "" {
		return d.root
	}
	if rest[0] != '/' {
		return nil
	}
	written := strings.Split(rest[1:], "/")
	tokens := make([]string, len(written))
	for i, t := range written {
		tokens[i] = unescape(t)
	}
	// The parts are found without reading the whole document again.
	for n := min(3, len(tokens)); n > 1; n-- {
		if r, ok := d.parts["#/"+strings.Join(written[:n], "/")]; ok {
			return r.pointer(tokens[n:])
		}
	}
	return d.root.pointer(tokens)
}

// escape and unescape write a name as a token of an RFC 6901 pointer, and back.
func escape(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }

func unescape(s string) string { return strings.NewReplacer("~1", "/", "~0", "~").Replace(s) }
