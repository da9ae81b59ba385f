// Package pack holds tools over single operations of an HTTP API, declared in files: one file for each domain of the API,
// all files of a folder together a pack.
//
// It stands beside action, before the way: a file is read strictly, and compiled against the document of an API, so that
// an operation, a parameter or a field that isn't there is refused with its place. A compiled Tool turns the arguments of
// a call into the operation that it asks for; it reads through whoever it is handed, sends nothing and decides about
// nothing: what a call may reach is policy's word, and what writes is proposed. Package tool/packs offers them to agents.
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

	"github.com/bailiwick-dev/bailiwick/internal/openapi/classify"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Pack is tools over the operations of one API, as its files declare them.
type Pack struct {
	Name     string
	Digest   string          // of all of its files
	Document []byte          // of the API, as far as the tools need it: an OpenAPI document; nil where the pack has none
	Access   []classify.Rule // the classes of operations that their methods don't tell; an operator's own rules come first
	Partial  []string        // operations, as in access.Rule, that replace and yet leave what they aren't given as it is

	files []file
}

// A file is one file of a pack.
type file struct {
	document yamlconf.Document
	tools    []declaration
	access   []classify.Rule
	partial  []string
}

// documents are the names that the document of an API can have in the folder of a pack.
var documents = [...]string{"document.json", "document.yaml"}

// IsFile reports whether a file of that name is read of a pack's folder: *.yaml, and document.json.
func IsFile(name string) bool {
	return slices.Contains(documents[:], name) || path.Ext(name) == ".yaml"
}

// Load reads the pack in the folder at the top of fsys; see Read.
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

// Read reads a pack: all files by their names, *.yaml with tools and document.json or document.yaml, the document of the
// API. name is what the pack is called in messages. What is wrong is in a *strict.Error, with line and column.
func Read(name string, files map[string][]byte) (*Pack, error) {
	p, all, digest := &Pack{Name: name}, &yamlconf.Error{}, sha256.New()
	for _, of := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(digest, "%q %q\n", of, files[of])
		switch isDocument := slices.Contains(documents[:], of); {
		case isDocument && p.Document != nil:
			all.Faults = append(all.Faults, yamlconf.PositionFault{File: path.Join(name, of), Message: "the pack has another document; keep one"})
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

// read adds one file.
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
	p.Access, p.Partial = append(p.Access, f.access...), append(p.Partial, f.partial...)
}

// distinct refuses two tools of one name.
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

// Declared returns the pack's tools by name with what they do, in the order of the files.
func (p *Pack) Declared(yield func(name string, a Annotations) bool) {
	for _, f := range p.files {
		for _, d := range f.tools {
			if !yield(d.name, d.annotations) {
				return
			}
		}
	}
}

// Underscored is a name of a tool for clients that take letters, digits and _ alone: platform_list_teams.
func Underscored(name string) string { return strings.NewReplacer(".", "_", "-", "_").Replace(name) }

// near ends a message with what may have been meant.
func near(got string, known []string) string {
	return problem.DidYouMean(problem.Nearest(got, known, 2))
}
