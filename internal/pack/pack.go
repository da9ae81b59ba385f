// Package pack defines tools over single operations of an HTTP API, declared in files.
//
//	*.yaml of a folder ─Read→ Pack ─Compile: API document→ Tools ─arguments→ Outcome: result, or a write to propose
//
// There is one file for each domain of the API. All files in a folder form a pack. A file is parsed strictly and
// compiled against the API's document. A missing operation, parameter or field is reported with its position.
//
// A Tool turns the arguments of a call into the operation to run. It reads through the Reader of the call, which
// allows only operations that the principal may call. It sends no requests itself and makes no decisions. Writes are
// proposed as changes. Package internal/tools offers the tools to agents.
//
// ReadRequirements and ReadAgainst read the keys require and check_against, which actions can also declare. They
// check only the syntax. Package expression compiles requirements, and package writes checks arguments against
// classes.
package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Pack is a set of tools over the operations of one API, as declared in its files.
type Pack struct {
	Name     string
	Digest   string // SHA-256 of all its files, in hex, shortened to 32 characters
	Document []byte // the part of the API's OpenAPI document that the tools need, or nil if the pack has none
	// The classes of operations whose methods don't determine them. The operator's rules take precedence.
	Access   []spec.ClassRule
	ReadBack []calls.ReadBack // how to settle calls whose response was lost
	Partial  []string         // PUT operations, as in spec.ClassRule, that don't change omitted fields

	files []file
}

// A file is a file of a pack.
type file struct {
	document yamlconf.Document
	tools    []declaration
	access   []spec.ClassRule
	partial  []string
	readBack []calls.ReadBack
}

// documents are the possible names of the API's document in the folder of a pack.
var documents = [...]string{"document.json", "document.yaml"}

// IsFile reports whether a file with the given name belongs to a pack: *.yaml, or document.json.
func IsFile(name string) bool {
	return slices.Contains(documents[:], name) || path.Ext(name) == ".yaml"
}

// Load reads the pack in the root folder of fsys. See Read.
func Load(fsys fs.FS, name string) (*Pack, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("read the pack %s: %w", name, err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if e.IsDir() || !IsFile(e.Name()) {
			continue
		}
		if files[e.Name()], err = fs.ReadFile(fsys, e.Name()); err != nil {
			return nil, fmt.Errorf("read the pack %s: %w", name, err)
		}
	}
	return Read(name, files)
}

// Read parses a pack from its files, by name: *.yaml with tools, and document.json or document.yaml with the API's
// document. name is the pack's name in messages. Faults are in a *yamlconf.Error, with line and column.
func Read(name string, files map[string][]byte) (*Pack, error) {
	p, all, digest := &Pack{Name: name}, &yamlconf.Error{}, sha256.New()
	for _, of := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(digest, "%q %q\n", of, files[of])
		switch isDocument := slices.Contains(documents[:], of); {
		case isDocument && p.Document != nil:
			all.Faults = append(all.Faults, yamlconf.PositionFault{File: path.Join(name, of), Message: "the pack has another document. Keep one"})
		case isDocument:
			p.Document = files[of]
		default:
			p.read(path.Join(name, of), files[of], all)
		}
	}
	if len(all.Faults) == 0 && len(p.files) == 0 {
		all.Faults = []yamlconf.PositionFault{{File: name, Message: "the folder has no pack: no file ends in .yaml"}}
	}
	if len(all.Faults) > 0 {
		return nil, all
	}
	p.Digest = hex.EncodeToString(digest.Sum(nil)[:16])
	return p, p.distinct()
}

// read parses one file.
func (p *Pack) read(name string, data []byte, all *yamlconf.Error) {
	var f file
	none := func(string) (string, error) { return "", errors.New("a pack reads no other files") }
	doc, err := yamlconf.Read(name, data, f.shape(), yamlconf.Options{Secret: none})
	if e, ok := errors.AsType[*yamlconf.Error](err); ok {
		all.Faults = append(all.Faults, e.Faults...)
		all.More += e.More
		return
	}
	f.document = doc
	p.files = append(p.files, f)
	p.ReadBack = append(p.ReadBack, f.readBack...)
	p.Access, p.Partial = append(p.Access, f.access...), append(p.Partial, f.partial...)
}

// distinct refuses two tools with the same name.
func (p *Pack) distinct() error {
	all, seen := &yamlconf.Error{}, map[string]bool{}
	for _, f := range p.files {
		for i, d := range f.tools {
			if seen[d.name] {
				all.Faults = append(all.Faults, f.document.Wrong("another tool of the pack has the name", "tools", fmt.Sprint(i), "name"))
			}
			seen[d.name] = true
		}
	}
	if all.Faults != nil {
		return all
	}
	return nil
}

// ToolAnnotations yields the names of the pack's tools with their annotations, in the order of the files.
func (p *Pack) ToolAnnotations(yield func(name string, a Annotations) bool) {
	for _, f := range p.files {
		for _, d := range f.tools {
			if !yield(d.name, d.annotations) {
				return
			}
		}
	}
}

// UnderscoreName returns the name of a tool for clients that allow only letters, digits and _: platform_list_teams.
func UnderscoreName(name string) string { return strings.NewReplacer(".", "_", "-", "_").Replace(name) }

// near returns the end of a message that suggests a similar name.
func near(got string, known []string) string {
	return problem.DidYouMean(problem.Nearest(got, known, 2))
}
