package config

import (
	"path/filepath"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// Metadata is a source of object descriptions that a development environment caches on disk.
type Metadata struct {
	Roots       []string      // the folders below which files may be read. Never empty
	Connection  string        // the only connection to use, or "" for all
	Environment string        // the environment whose descriptions become classes. "" means the default
	Objects     identity.List // the visible objects
}

// shape returns the shape of the section metadata of a source.
func (m *Metadata) shape() yamlconf.Shape {
	return yamlconf.Object([]yamlconf.Key{
		{Name: "roots", Doc: "The folders below which anything may be read: workspaces, and the projects that agents name. A relative one starts at this file's folder", Must: true, Shape: folders(&m.Roots)},
		{Name: "connection", Doc: "The only connection that is described. All unless named", Shape: yamlconf.Words(&m.Connection)},
		{Name: "environment", Doc: "Whose descriptions become classes, and what is read where an agent names none. Default default", Shape: yamlconf.Words(&m.Environment)},
		{Name: "objects", Doc: "Which objects are shown", Shape: yamlconf.Object(listKeys(&m.Objects, "object names"), yamlconf.NotEmpty)},
	}, nil)
}

// folders returns the shape of a list of paths. A relative path begins at the folder of the file that contains it.
func folders(into *[]string) yamlconf.Shape {
	inner := yamlconf.List(into, "folders", func(path string) string {
		if strings.HasPrefix(path, "~") {
			return "~ is not expanded. Write ${HOME} for it"
		}
		return ""
	})
	return yamlconf.Shape{Schema: inner.Schema, Read: func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		inner.Read(r, n, at)
		for i, path := range *into {
			if !filepath.IsAbs(path) {
				(*into)[i] = filepath.Join(n.Folder(), path)
			}
		}
	}}
}

// kinds records the keys of a source that select its kind. Exactly one of them must be set.
type kinds struct {
	given   []string
	schemas []string // the schemas that the URL names
}

// of returns a shape that reads the key called name and records it.
func (k *kinds) of(name string, s yamlconf.Shape) yamlconf.Shape {
	return yamlconf.Shape{Schema: s.Schema, Null: s.Null, Read: func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		k.given = append(k.given, name)
		s.Read(r, n, at)
	}}
}

// check reports a source without a kind or with several, and keys that belong to another kind.
func (k *kinds) check(s *Source) func(r *yamlconf.Reader, n yamlconf.Node, at string) {
	return func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		switch len(k.given) {
		case 0:
			r.Wrong(n.Start(), at, "needs the key url, metadata or openapi")
			return
		case 1:
		default:
			r.WrongAt(at+"/"+k.given[1], "the source has "+k.given[0]+" already, and is one thing")
		}
		s.parses(r, n, at)
		if s.Schemas == nil && s.Schema == "" {
			s.Schemas = k.schemas
		}
		if s.OpenAPI != nil {
			for _, key := range []string{"schemas", "schema", "template", "tables", "rename", "ssh", "write_url"} {
				if r.HasAt(at + "/" + key) {
					r.WrongAt(at+"/"+key, "only databases have it. Take it out")
				}
			}
			return
		}
		if key, why := s.wrongSchemas(func(key string) bool { return r.HasAt(at + "/" + key) }); why != "" {
			r.WrongAt(at+"/"+key, why)
		}
		kind := s.Kind()
		if s.Schemas != nil && !kind.Schemas && (s.URL != "" || s.Metadata != nil) {
			r.WrongAt(at+"/schemas", "only "+namesOf(func(k Kind) bool { return k.Schemas })+" have schemas. Take it out")
		}
		if s.Rename != nil && (s.Metadata != nil || s.IsParse()) {
			r.WrongAt(at+"/rename", "only tables of databases can be renamed. Take it out")
		}
		if s.SSH != nil && !kind.SSH {
			r.WrongAt(at+"/ssh", "only "+namesOf(func(k Kind) bool { return k.SSH })+" are reached through an SSH server. Take it out")
		}
		if s.LocalRows > 0 && s.URL != "" && !kind.LocalRows {
			r.WrongAt(at+"/local_rows", "only "+namesOf(func(k Kind) bool { return k.LocalRows })+" take it. Take it out")
		}
		if s.Collections != nil && !kind.Collections {
			r.WrongAt(at+"/collections", "only MongoDB has collections. Take it out")
		}
		if why := s.wrongWriteURL(); why != "" && s.Metadata == nil {
			r.WrongAt(at+"/write_url", why)
		}
		if s.Metadata != nil && s.WriteURL != "" {
			r.WrongAt(at+"/write_url", "only databases are written to. Take it out")
		}
		if s.Metadata != nil && (s.Tables.Only != nil || s.Tables.Except != nil) {
			r.WrongAt(at+"/tables", "only databases have tables. Write metadata.objects")
		}
	}
}

// parses checks the section parse, which belongs to the url of a Parse Server.
func (s *Source) parses(r *yamlconf.Reader, n yamlconf.Node, at string) {
	switch {
	case s.Parse == nil && s.IsParse():
		r.Wrong(n.Start(), at, "needs the key parse: app_id, master_key, and whom agents act as")
	case s.Parse == nil:
	case !s.IsParse():
		r.WrongAt(at+"/parse", "is for a Parse Server, whose url begins with parse+https://")
	case s.WriteURL != "":
		r.WrongAt(at+"/write_url", "Parse Server is written to over its API. Take it out")
	default:
		if key, why := s.Parse.check(); why != "" {
			r.WrongAt(at+"/parse/"+key, why)
		}
	}
}
