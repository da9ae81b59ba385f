package spec

import (
	"fmt"
	"net/url"
	"strings"
)

// maxHops is the maximum length of a chain of references.
const maxHops = 32

// follow resolves the $ref of r, if any. It returns the value and the last reference of the chain, or "" if r is not
// a reference.
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

// Reference returns the $ref of r, percent-decoded, or "" if r is not a reference.
func Reference(r Raw) string {
	ref := r.Get("$ref").Text()
	if strings.IndexByte(ref, '%') >= 0 {
		if plain, err := url.PathUnescape(ref); err == nil {
			return plain
		}
	}
	return ref
}

// Lookup returns the target of a reference into the document or one of its files, or nil.
func (d *Document) Lookup(ref string) Raw {
	if r, ok := d.parts[ref]; ok {
		return r
	}
	file, rest, ok := strings.Cut(ref, "#")
	if !ok {
		return nil
	}
	root := d.root
	if file != "" {
		root = d.files[file]
	}
	if rest == "" {
		return root
	}
	if rest[0] != '/' {
		return nil
	}
	written := strings.Split(rest[1:], "/")
	tokens := make([]string, len(written))
	for i, t := range written {
		tokens[i] = unescape(t)
	}
	// This finds the known parts without scanning the whole document again.
	for n := min(3, len(tokens)); n > 1 && file == ""; n-- {
		if r, ok := d.parts["#/"+strings.Join(written[:n], "/")]; ok {
			return r.pointer(tokens[n:])
		}
	}
	return root.pointer(tokens)
}

// escape and unescape convert a name to and from a token of an RFC 6901 pointer.
func escape(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1")
}

func unescape(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
}
