// Package spec reads OpenAPI documents, and limits them to the parts that one principal may see.
//
//	JSON or YAML ─Read→ Document ─NewClassifier→ class of each operation ─NewView: Filter→ View
//
// It reads OpenAPI 3.0, 3.1 and Swagger 2.0, which is mapped to OpenAPI 3. A document is read once. Schemas remain
// raw JSON, and references are resolved on demand. An invalid operation is omitted with a warning that names it. An
// invalid document is refused with the location of the error. The package itself reads no files and no network. Its
// caller passes an Opener.
//
// A Classifier assigns an access class to each operation. The first matching rule of the operator decides. Without
// one, the HTTP method decides and, with RPCNames, the name of a POST operation. An operation without a class is
// Destructive. A rule that matches no operation is refused with the nearest name.
//
// SuspicionOf finds operations that agents probably should not call, such as operations that create credentials or
// grant rights. It is a heuristic that uses paths, ids and summaries. Package calls refuses calls of these operations
// until a rule of the owner names them.
//
// Packages search, validate and response use a View instead of a Document, so they can't reveal hidden parts. Hidden
// and missing names give the same response. Suggestions of near names contain only visible names. Headers reserved
// for the gateway (Authorization, Cookie, Host, X-Forwarded-*, …) are not parameters.
package spec

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Dialect is the OpenAPI version family of a document, which determines how its schemas are read.
type Dialect uint8

// The dialects.
const (
	Swagger2  Dialect = iota + 1 // Swagger 2.0
	OpenAPI30                    // OpenAPI 3.0
	OpenAPI31                    // OpenAPI 3.1 and later 3.x: schemas are JSON Schema 2020-12
)

// A Document is an OpenAPI document. After Load, its content doesn't change. It is safe for concurrent use.
type Document struct {
	Title       string
	Version     string // of the API
	Description string
	Dialect     Dialect
	Servers     []string // URLs with the defaults of their variables. In Swagger 2.0, scheme, host and basePath
	Tags        []Tag    // as declared. Operations may have tags that are not declared
	Operations  []*Operation
	Schemes     []Scheme  // the security schemes, as declared
	Warnings    []Warning // the omitted or changed parts, in order

	root    Raw
	files   map[string]Raw    // the other files, by name. A file that can't be read is nil
	parts   map[string]Raw    // the parts that references can name, by reference: "#/components/schemas/Team"
	names   map[string]string // the name of a schema that agents see, by reference
	schemas []string          // references of the schemas, in order
	byName  map[string]string // references by name
	byID    map[string]*Operation
	read    sync.Map // cache of the named schemas, by reference
}

// A Tag is a group of operations.
type Tag struct{ Name, Description string }

// A Warning reports a part of a document that was omitted or changed, and its place.
type Warning struct {
	Where string // the operation ("GET /teams"), an RFC 6901 pointer, or a file
	Text  string
	File  bool // a file can't be read
}

// String returns the location and the text.
func (w Warning) String() string { return w.Where + ": " + w.Text }

// Load reads the document in b. It returns problem.InvalidArgument if b is not an OpenAPI document.
func Load(b []byte) (*Document, error) { return Read(bytes.NewReader(b), int64(len(b)), nil) }

// Read reads the document in from, of about size bytes. It reads the files that the document refers to with open, or
// none if open is nil. It uses little more memory than the document without its space. Each file that can't be read
// gives one warning. Read returns problem.InvalidArgument if the text is not an OpenAPI document.
func Read(from io.Reader, size int64, open Opener) (*Document, error) {
	root, warnings, err := parse(from, size)
	if err != nil {
		return nil, &problem.Error{Code: problem.InvalidArgument, Detail: "not a JSON or YAML document: " + err.Error(), Err: err}
	}
	d := &Document{root: root, Warnings: warnings, parts: map[string]Raw{}, names: map[string]string{}, byName: map[string]string{},
		byID: map[string]*Operation{}}
	more := &files{d: d, open: open}
	root = more.follow(root)
	d.root = root
	// Paths are read last. They need the components, and the members of a document come in any order.
	var paths Raw
	sections := map[string]Raw{}
	for name, v := range root.Members() {
		switch name {
		case "openapi", "swagger":
			d.Dialect = dialect(name, v)
		case "info":
			d.Title, d.Version, d.Description = v.Get("title").Text(), scalar(v.Get("version")), v.Get("description").Text()
		case "tags":
			for t := range v.Elements() {
				d.Tags = append(d.Tags, Tag{t.Get("name").Text(), t.Get("description").Text()})
			}
		case "paths":
			paths = v
		default:
			sections[name] = v
		}
	}
	switch {
	case d.Dialect == 0:
		return nil, problem.New(problem.InvalidArgument, `not an OpenAPI document: it needs "openapi": "3.0…" or "3.1…", or "swagger": "2.0"`)
	case paths != nil && paths.Kind() != '{':
		return nil, problem.New(problem.InvalidArgument, "/paths must be an object")
	}
	// Schemas get their names before operations are read, because operations refer to them.
	d.components(sections)
	more.name()
	d.nameSchemas()
	if d.Dialect == Swagger2 {
		d.Servers = host(sections)
	} else {
		d.Servers = servers(sections["servers"])
	}
	d.Schemes = d.schemes(sections)
	(&reader{d: d, root: sections, security: requirements(sections["security"])}).paths(paths)
	d.identify(d.Operations)
	return d, nil
}

// parse reads JSON if the text begins with a brace, and YAML otherwise. Only JSON gives warnings.
func parse(from io.Reader, size int64) (Raw, []Warning, error) {
	text, isJSON, err := begins(from)
	switch {
	case err != nil:
		return nil, nil, err
	case isJSON:
		return readJSON(text, size)
	}
	b, err := readAll(text, size)
	if err != nil {
		return nil, nil, err
	}
	raw, err := readYAML(b)
	return raw, nil, err
}

// dialect returns the dialect that a document declares, or 0 for an unknown version. Versions 3.2 and later are read
// as 3.1.
func dialect(name string, v Raw) Dialect {
	switch text := scalar(v); {
	case name == "swagger" && (text == "2.0" || text == "2"):
		return Swagger2
	case name == "openapi" && (text == "3.0" || strings.HasPrefix(text, "3.0.")):
		return OpenAPI30
	case name == "openapi" && strings.HasPrefix(text, "3."):
		return OpenAPI31
	}
	return 0
}

// scalar returns the text of a string. It returns a number or literal as written, and "" for an object or array.
func scalar(r Raw) string {
	switch r.Kind() {
	case '"':
		return r.Text()
	case '{', '[':
		return ""
	}
	return string(r)
}

// components records the location of everything that a reference can name.
func (d *Document) components(sections map[string]Raw) {
	for name, section := range sections {
		switch name {
		case "components":
			for kind, of := range section.Members() {
				d.note("#/components/"+escape(kind), of, kind == "schemas")
			}
		case "definitions", "parameters", "responses":
			if d.Dialect == Swagger2 {
				d.note("#/"+name, section, name == "definitions")
			}
		}
	}
}

func (d *Document) note(at string, of Raw, schemas bool) {
	for name, v := range of.Members() {
		ref := at + "/" + escape(name)
		d.parts[ref] = v
		if schemas {
			d.schemas = append(d.schemas, ref)
		}
	}
}

// host returns the server URLs of a Swagger 2.0 document.
func host(sections map[string]Raw) []string {
	name, path := sections["host"].Text(), strings.TrimSuffix(sections["basePath"].Text(), "/")
	if name == "" {
		if path == "" {
			return nil
		}
		return []string{path}
	}
	schemes := sections["schemes"].Texts()
	if len(schemes) == 0 {
		schemes = []string{"https"}
	}
	slices.SortStableFunc(schemes, func(a, b string) int { return strings.Compare(b, a) }) // https before http
	var out []string
	for _, s := range schemes {
		if s == "https" || s == "http" {
			out = append(out, s+"://"+name+path)
		}
	}
	return out
}

// servers returns the URLs of OpenAPI 3 servers with their variables set to the defaults.
func servers(list Raw) []string {
	var out []string
	for s := range list.Elements() {
		url := s.Get("url").Text()
		for name, v := range s.Get("variables").Members() {
			url = strings.ReplaceAll(url, "{"+name+"}", scalar(v.Get("default")))
		}
		if url != "" {
			out = append(out, url)
		}
	}
	return out
}

// Operation returns the operation with that id, or nil.
func (d *Document) Operation(id string) *Operation { return d.byID[id] }

// FindOperation returns the operation with the given id, or with the given method and path. It returns nil if there
// is none. If no path matches exactly, a trailing slash is ignored.
func (d *Document) FindOperation(name string) *Operation {
	if op := d.byID[name]; op != nil {
		return op
	}
	var near *Operation
	for _, op := range d.Operations {
		switch {
		case op.Name() == name:
			return op
		case near == nil && strings.TrimSuffix(op.Name(), "/") == strings.TrimSuffix(name, "/"):
			near = op
		}
	}
	return near
}

func (d *Document) warn(where, format string, args ...any) {
	d.Warnings = append(d.Warnings, Warning{Where: where, Text: fmt.Sprintf(format, args...)})
}
