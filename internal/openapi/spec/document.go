// Package spec reads OpenAPI documents, and limits them to the parts that one principal may see.
//
//	JSON or YAML ─Read→ Document ─NewClassifier→ class of each operation ─NewView: Filter→ View
//
// It reads OpenAPI 3.0, 3.1 and Swagger 2.0, which is mapped to OpenAPI 3. A document is read once. Schemas remain raw
// JSON, and references are resolved on demand. An invalid operation is omitted with a warning that names it. An invalid
// document is refused with the location of the error. The package accesses no files and no network: its caller passes
// an Opener.
//
// A Classifier assigns an access class to each operation. The first matching rule of the operator decides, then the
// HTTP method, then, with RPCNames, the name of a POST operation. An operation without a class is Destructive. A rule
// that matches no operation is refused with the nearest name.
//
// SuspicionOf finds operations that agents probably should not call, such as those that create credentials or grant
// rights. It is a heuristic by paths and ids. Package calls holds such operations until a rule of the owner names them.
//
// Packages search, validate and response use a View instead of a Document, so they can't reveal anything hidden. Hidden
// and missing names give the same response, and near names come only from visible ones. Headers reserved for the
// gateway (Authorization, Cookie, Host, X-Forwarded-*, …) are not parameters.
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

// A Document is an OpenAPI document. It does not change visibly after Load and is safe for concurrent use.
type Document struct {
	Title       string
	Version     string // of the API
	Description string
	Dialect     Dialect
	Servers     []string // URLs with the defaults of their variables. In Swagger 2.0, scheme, host and basePath
	Tags        []Tag    // as declared. Operations may have further ones
	Operations  []*Operation
	Schemes     []Scheme  // the security schemes, as declared
	Warnings    []Warning // the omitted or changed parts, in order

	root    Raw
	files   map[string]Raw    // the other files, by name, or nil for one that can't be read
	parts   map[string]Raw    // by reference: "#/components/schemas/Team"
	names   map[string]string // the schema's name for agents, by reference
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

// Read reads the document in from, of about size bytes, and with open the files that it refers to. It takes memory for the
// document without its space, and little more. A file that can't be read gets one warning. A nil open reads none. It
// returns problem.InvalidArgument if the text is not an OpenAPI document.
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
	// Paths are read last: they need the components, whatever the order of the members.
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
	// Names come before operations, whose schemas refer to them.
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

// parse reads JSON if the text begins with a brace, else YAML. Only JSON gives warnings.
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

// dialect returns the dialect that a document declares, or 0 for a version that isn't known. 3.2 and later are read as 3.1.
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

// scalar returns the text of a string, and a number or literal as written.
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

// FindOperation returns the operation with that id or that method and path, or nil. If no path matches exactly, a trailing
// slash is ignored.
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
