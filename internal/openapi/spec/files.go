package spec

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// maxFiles limits how many files a document may refer to, and maxBytes their total size. For example, DigitalOcean's
// document has 2,900 files.
const (
	maxFiles = 5000
	maxBytes = 64 << 20
)

// An Opener returns the bytes of a file that a document refers to. The name is a slash-separated path relative to the
// document, or a URL. The Opener decides which files may be read. Its error is a message for operators.
type Opener func(name string) ([]byte, error)

// ErrElsewhere is the error of an Opener for a file outside the document's folder or host.
var ErrElsewhere = errors.New("it is outside of the document's folder or host")

// Folder checks a name for an Opener of files. It returns the name if it is a path within the document's folder, and
// ErrElsewhere otherwise.
func Folder(name string) (string, error) {
	if u, err := url.Parse(name); err != nil || u.Scheme != "" || u.Host != "" || path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") {
		return "", ErrElsewhere
	}
	return name, nil
}

// Origin returns the URL of a file for an Opener of URLs. The URL must have the scheme, host and port of the
// document's URL. Otherwise Origin returns ErrElsewhere.
func Origin(document, name string) (string, error) {
	base, err := url.Parse(document)
	if err != nil {
		return "", ErrElsewhere
	}
	to, err := base.Parse(name)
	if err != nil || to.Scheme != base.Scheme || to.Host != base.Host || to.User != nil {
		return "", ErrElsewhere
	}
	return to.String(), nil
}

// files reads the files that a document refers to. It makes the references in each file absolute: the name of the
// file, #, and the place in the file.
type files struct {
	d     *Document
	open  Opener
	to    []string // references into files, in order, without duplicates
	known map[string]bool
	size  int // of the files that were read, in bytes
}

// external reports whether a JSON text refers to another file. It doesn't parse the text.
func external(b []byte) bool {
	for {
		at := bytes.Index(b, []byte(`"$ref"`))
		if at < 0 {
			return false
		}
		b = bytes.TrimLeft(b[at+len(`"$ref"`):], " \t\r\n:")
		if len(b) > 1 && b[0] == '"' && b[1] != '#' {
			return true
		}
	}
}

// mapsFiles reports whether a discriminator in a JSON text may select a schema in another file. It doesn't parse the
// text.
func mapsFiles(b []byte) bool {
	for {
		at := bytes.Index(b, []byte(`"mapping"`))
		if at < 0 {
			return false
		}
		b = b[at+len(`"mapping"`):]
		object, _, _ := bytes.Cut(b, []byte("}"))
		if slices.ContainsFunc([]string{".json", ".yaml", ".yml"}, func(end string) bool { return bytes.Contains(object, []byte(end)) }) {
			return true
		}
	}
}

// inFile reports whether a value in a discriminator's mapping refers to a file. Otherwise it is the name of a schema,
// or a reference within the same file.
func inFile(to string) bool {
	file, _, place := strings.Cut(to, "#")
	end := strings.ToLower(path.Ext(file))
	return end == ".json" || end == ".yaml" || end == ".yml" || place && file != ""
}

// follow reads the files that root refers to, and returns root with absolute references.
func (f *files) follow(root Raw) Raw {
	if !external(root) && !mapsFiles(root) {
		return root
	}
	f.d.files, f.known = map[string]Raw{}, map[string]bool{}
	root = f.absolute(nil, root, "", "")
	for at := 0; at < len(f.to); at++ { // reading a file adds more
		file, _, _ := strings.Cut(f.to[at], "#")
		if _, read := f.d.files[file]; read {
			continue
		}
		f.d.files[file] = nil
		raw, err := f.read(file)
		if err != nil {
			f.d.Warnings = append(f.d.Warnings, Warning{Where: file, Text: fmt.Sprintf("can't be read, and what it describes is unknown: %v", err), File: true})
			continue
		}
		f.d.files[file] = f.absolute(nil, raw, file, "")
	}
	return root
}

// read reads another file of the document, at most maxFiles of them.
func (f *files) read(name string) (Raw, error) {
	if f.open == nil {
		return nil, errors.New("other files are not read here")
	}
	if len(f.d.files) > maxFiles {
		return nil, fmt.Errorf("there are more than %d files", maxFiles)
	}
	large := fmt.Errorf("the files have more than %d bytes together", maxBytes)
	if f.size > maxBytes {
		return nil, large
	}
	b, err := f.open(name)
	if err != nil {
		return nil, err
	}
	if f.size += len(b); f.size > maxBytes {
		return nil, large
	}
	raw, _, err := parse(bytes.NewReader(b), int64(len(b)))
	if err != nil { // a short schema is often one line of YAML: {type: string, maxLength: 20}
		if flow, other := readYAML(b); other == nil {
			return flow, nil
		}
	}
	return raw, err
}

// absolute appends r with absolute references. r is in the file cur. The argument in is the name of the member that
// contains r, or "discriminator/mapping" for the mapping of a discriminator.
func (f *files) absolute(dst []byte, r Raw, cur, in string) Raw {
	switch r.Kind() {
	case '{':
		dst = append(dst, '{')
		first := true
		for name, m := range r.Members() {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(appendJSONString(dst, name), ':')
			if m.Kind() == '"' && (name == "$ref" || strings.HasPrefix(m.Text(), "#/") || in == "discriminator/mapping" && inFile(m.Text())) {
				dst = appendJSONString(dst, f.refer(m.Text(), cur))
				continue
			}
			if in == "discriminator" {
				name = in + "/" + name
			}
			dst = f.absolute(dst, m, cur, name)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for e := range r.Elements() {
			if dst[len(dst)-1] != '[' {
				dst = append(dst, ',')
			}
			dst = f.absolute(dst, e, cur, "")
		}
		return append(dst, ']')
	}
	return append(dst, r...)
}

// refer returns the absolute form of a reference in the file cur. If cur is "", the reference is in the document
// itself.
func (f *files) refer(ref, cur string) string {
	file, place, _ := strings.Cut(ref, "#")
	switch u, err := url.Parse(cur); {
	case file == "":
		file = cur
	case err == nil && u.Scheme != "":
		if to, err := u.Parse(file); err == nil {
			file = to.String()
		}
	case !strings.Contains(file, "://"):
		if plain, err := url.PathUnescape(file); err == nil {
			file = plain
		}
		file = path.Join(path.Dir(cur), file)
	}
	if file == "" {
		return ref
	}
	ref = file + "#" + place
	if !f.known[ref] {
		f.known[ref] = true
		f.to = append(f.to, ref)
	}
	return ref
}

// name adds the schemas in the files to the schemas of the document. Every referenced value that looks like a schema
// counts. Its name is the last part of the reference, or the name of the file. A schema whose name is already taken
// is not added.
func (f *files) name() {
	taken := map[string]bool{}
	for _, ref := range f.d.schemas {
		taken[keyOf(ref)] = true
	}
	for _, ref := range f.to {
		r := f.d.Lookup(ref)
		if !slices.ContainsFunc([]string{"type", "properties", "allOf", "oneOf", "anyOf", "enum", "items"}, func(name string) bool { return r.Get(name) != nil }) || r.Get("in") != nil {
			continue
		}
		if key := keyOf(ref); !taken[key] && key != "" {
			taken[key] = true
			f.d.parts[ref] = r
			f.d.schemas = append(f.d.schemas, ref)
		}
	}
}
